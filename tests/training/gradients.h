/* SPDX-License-Identifier: Apache-2.0 */
/* The gradients of a step on the platform beside those of the same step in binary64: for a test and for a table. */
#ifndef TEST_TRAINING_GRADIENTS_H
#define TEST_TRAINING_GRADIENTS_H

#include "cnnvp_train.h"

/* What the platform's gradients are compared with, in binary64: the float network's own step from first to last, or the
 * way back alone, from what the engine computes forward. */
enum gradient_judge { GRADIENT_FLOAT_STEP, GRADIENT_FROM_FORWARD };

/* A step, and its setting. */
struct gradient_case {
    const char *network, *dataset;
    enum cnnvp_train_bn bn;
    enum cnnvp_train_block block;
    enum cnnvp_train_errors errors;
    enum gradient_judge judge;
    uint32_t bits; /* of mantissas */
    uint32_t batch;
    uint32_t seed;
    uint32_t steps; /* on the platform before the one that is compared, which starts from what they have learned */
    float rate;     /* of these; 0 stands for 0.05 */
};

/* A tensor's gradients. */
struct gradient {
    const char *layer, *tensor;
    uint64_t values;
    double cosine; /* of the angle between both */
};

typedef void gradient_taker(void *context, const struct gradient *gradient);

/* Calls `take` for each tensor, from the last layer to the first. */
CNNVP_MUST_USE cnnvp_result gradients_compare(const struct gradient_case *c, gradient_taker *take, void *context,
                                              struct cnnvp_error *error);

#endif
