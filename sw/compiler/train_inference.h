/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference on the training engine: forward with the batch norms' stored values, groups of as many images as the engine
 * has arrays (the last one shorter), softmax and its output data buffer at the end. Number formats follow from the
 * data.
 */
#ifndef CNNVP_COMPILER_TRAIN_INFERENCE_H
#define CNNVP_COMPILER_TRAIN_INFERENCE_H

#include "network.h"

struct cnnvp_train_inference;

/* Reads and plans network->file; fills images and input of the network as for the other engines. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_inference_make(struct cnnvp_network *network, const cnnvp_config *config,
                                                       const struct cnnvp_network_options *options,
                                                       struct cnnvp_error *error);
void cnnvp_train_inference_free(struct cnnvp_train_inference *inference);

/* What cnnvp_network_load and cnnvp_network_output do. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_inference_load(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                       struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_train_inference_output(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                         struct cnnvp_array *output, struct cnnvp_error *error);

/* Number format of values in binary32, in place of fraction bits. */
#define CNNVP_TRAIN_FLOAT INT32_MIN

/* 1: after a run memory has the last image's values of this tensor of network->graph. */
int cnnvp_train_inference_holds(const struct cnnvp_network *network, int32_t tensor);
/* Those values, and how many fraction bits their mantissas have, or CNNVP_TRAIN_FLOAT. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_inference_tensor(const struct cnnvp_network *network,
                                                         cnnvp_platform *platform, int32_t tensor, float *values,
                                                         int32_t *frac, struct cnnvp_error *error);

#endif
