/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a training takes its images. */
#pragma once

#include "compiler.h"

struct cnnvp_train_image_order {
    uint64_t images;   /* images per epoch, below 2^32 */
    uint64_t seed;     /* seed of a random order */
    int in_order;      /* 1: the order of the data set */
    uint32_t *numbers; /* image numbers of `epochs` epochs from a file; NULL: no file */
    uint64_t epochs;   /* epochs in `numbers`; 1: the same order in each epoch */
};

/* Reads --shuffle: "on" or NULL, "off", or a file with the numbers of the images, from 0 on, of one epoch or of all,
 * between white space. Clear the order whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_image_order_read(const char *shuffle, uint64_t seed, uint64_t images,
                                                         uint64_t epochs, struct cnnvp_train_image_order *order,
                                                         struct cnnvp_error *error);
void cnnvp_train_image_order_clear(struct cnnvp_train_image_order *order);
/* Writes the `images` numbers of an epoch. */
void cnnvp_train_image_order_of(const struct cnnvp_train_image_order *order, uint64_t epoch, uint32_t *numbers);
