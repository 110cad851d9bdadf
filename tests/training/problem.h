/* SPDX-License-Identifier: Apache-2.0 */
/* Small networks and data sets for training, and the reference that begins with the same weights. */
#ifndef TEST_TRAINING_PROBLEM_H
#define TEST_TRAINING_PROBLEM_H

#include "cnnvp_train.h"
#include "train_reference.h"

enum problem_kind {
    PROBLEM_NORMED = 0, /* two convolutions with batch norm, one with a pool; a matrix without bias */
    PROBLEM_BIASED = 1, /* a convolution with bias and a pool, two matrices with bias */
    PROBLEM_KINDS = 2
};

enum { PROBLEM_CHANNELS = 2, PROBLEM_SIDE = 8, PROBLEM_CLASSES = 3, PROBLEM_LAYERS = 3 };

struct problem {
    char network[64];  /* files */
    char dataset[160]; /* as --dataset takes it */
    char evaluation[160];
    const struct train_layer *shapes;
};

/* Writes files of `images` and `evaluation_images` images; they go with problem_free. */
void problem_new(struct problem *problem, enum problem_kind kind, uint64_t seed, uint32_t images,
                 uint32_t evaluation_images);
void problem_free(struct problem *problem);

/* The reference with the weights that the import draws for `seed`. */
void problem_reference(const struct problem *problem, uint64_t seed, uint32_t batch,
                       const struct train_options *options, struct train_net *net);

#endif
