/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of one input and one output that tests of the network binary make, compiled for two images. */
#ifndef CNNVP_BINARY_CASE_H
#define CNNVP_BINARY_CASE_H

#include "fake_platform.h"
#include "network.h"
#include "onnx_builder.h"

/* A network with the input x, maps of this size, and the output y. */
void binary_case_begin(struct builder *builder, int64_t channels, int64_t height, int64_t width);

/* Compiles what has been built so far; the caller frees *network. */
CNNVP_MUST_USE cnnvp_result binary_case_build(struct builder *builder, const struct fake_config *config, int on_chip,
                                              cnnvp_network **network, struct cnnvp_error *error);

#endif
