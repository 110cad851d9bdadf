/* SPDX-License-Identifier: Apache-2.0 */
/* The reference trainer for a network's file: a chain of convolutions and matrices. */
#ifndef TEST_TRAINING_CHAIN_H
#define TEST_TRAINING_CHAIN_H

#include "onnx.h"
#include "train_reference.h"

/* Ready for its first step, with the weights that `cnnvp train` draws for the same import. Free with train_net_free. */
CNNVP_MUST_USE cnnvp_result chain_new(const char *network, const struct cnnvp_train_import_options *import,
                                      uint32_t batch, const struct train_options *options, struct train_net *net,
                                      struct cnnvp_error *error);

#endif
