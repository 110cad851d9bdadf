/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong to a network. */
#ifndef CNNVP_COMPILER_NETWORK_DATA_H
#define CNNVP_COMPILER_NETWORK_DATA_H

#include <stdint.h>

/* A hash of the files beside an ONNX file that have data of its tensors; 0: there is none. */
uint64_t cnnvp_network_data_hash(const char *file);

#endif
