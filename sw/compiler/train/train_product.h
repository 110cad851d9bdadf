/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward and error on the training engine: a product of slices of channels of the first operand with kernels, tile of
 * results by tile (guest/train_product.c), and how it is cut.
 *
 * Which tiles are looked at depends on the layer alone; of those that fit, the one is taken that needs the least time
 * by the estimate, and a little of traffic, so larger buffers are not slower by it.
 */
#ifndef CNNVP_COMPILER_TRAIN_PRODUCT_H
#define CNNVP_COMPILER_TRAIN_PRODUCT_H

#include "train_plan.h"

struct cnnvp_train_product {
    const struct cnnvp_train_target *target;
    uint32_t images;       /* of a group */
    uint32_t groups;
    int scattered;         /* the first operand's images lie apart, a transfer each */
    uint64_t lead;         /* ps that the core is ahead of the element when it begins */
    uint64_t in_channels;
    uint64_t out_channels;
    uint64_t in_height;
    uint64_t in_width;
    uint64_t out_height;
    uint64_t out_width;
    uint64_t taps;
    uint64_t kernels;      /* at a time: groups are multiples, or all */
    uint32_t kx, ky, sy;
    int connected;
    int bias;
    int error;             /* rows of the first operand lie sy apart in the result, not the other way */
    int by_channel;        /* S001's order: sums go to memory for each channel */
    enum cnnvp_train_image_block block;   /* of the first operand */
    int kernel_exponents;  /* 1: one for each kernel of the layer */
};

/* Rows of the first operand that so many of the results need. */
uint64_t cnnvp_train_product_rows(const struct cnnvp_train_product *p, uint64_t rows);

/* What all transfers of a group of images take at least, one after the other, in ps. */
uint64_t cnnvp_train_product_memory(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles);

/* What tiles compete by; with mantissas wider than 8 bits it is no time. */
uint64_t cnnvp_train_product_price(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles);

/* 0: not even the smallest tile fits. */
int cnnvp_train_product_cut(const struct cnnvp_train_product *p, struct cnnvp_train_tiles *tiles);

/* train_time.c: what it takes, in ps, by a replay of the instructions that the guest pushes, for two groups of images
 * at most; *lead is the core's behind it. Less than `bound`, roughly and quickly, it cannot take. */
uint64_t cnnvp_train_product_time(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles,
                                  uint64_t *lead);
uint64_t cnnvp_train_product_bound(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles);

#endif
