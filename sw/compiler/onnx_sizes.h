/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the network's input: the file's, and what settles those that it leaves open as symbols. */
#ifndef CNNVP_COMPILER_ONNX_SIZES_H
#define CNNVP_COMPILER_ONNX_SIZES_H

#include "compiler.h"

/* NULL for the struct: nothing settles them. */
struct cnnvp_onnx_sizes {
    const char *const *shapes; /* each "[NAME=]1x3x320x320": struct cnnvp_network_options */
    size_t shape_count;
    const struct cnnvp_array *images; /* their shape counts, aligned at the last size; may be NULL */
};

#endif
