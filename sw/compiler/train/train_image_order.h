/* SPDX-License-Identifier: Apache-2.0 */
/* In which order a training takes its images. */
#ifndef CNNVP_COMPILER_TRAIN_IMAGE_ORDER_H
#define CNNVP_COMPILER_TRAIN_IMAGE_ORDER_H

#include "compiler.h"

struct cnnvp_train_image_order {
    uint64_t images;   /* of an epoch, below 2^32 */
    uint64_t seed;     /* of an order by chance */
    int in_order;      /* 1: as they lie */
    uint32_t *numbers; /* of `epochs` epochs, those of a file; NULL: of none */
    uint64_t epochs;   /* 1: of each one */
};

/* `shuffle`: "on" or NULL, "off", or a file with the numbers of the images of one epoch or of all, from 0 on, between
 * white space. To be cleared, whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_image_order_read(const char *shuffle, uint64_t seed, uint64_t images,
                                                         uint64_t epochs, struct cnnvp_train_image_order *order,
                                                         struct cnnvp_error *error);
void cnnvp_train_image_order_clear(struct cnnvp_train_image_order *order);
/* Of an epoch, `images` numbers. */
void cnnvp_train_image_order_of(const struct cnnvp_train_image_order *order, uint64_t epoch, uint32_t *numbers);

#endif
