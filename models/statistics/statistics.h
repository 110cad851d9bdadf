/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module and the sum module of S001 with their buffers (max-min buffer, sum buffer), free of any
 * host: one entry a channel (Part B 1-3, 1-13), taken of complete sums, over all images of the batch (1-27). They
 * work in backward as well (1-24).
 *
 * A channel's values are numbered as they come: image after image, position after position. Sums are binary64 in eight
 * partial sums, value i in number i mod 8 of its image's plane, brought together as ((0+4)+(2+6))+((1+5)+(3+7)),
 * planes in order: the same bits on every host. An integer sum of the PE module is exact in binary32 or 64 up to 24
 * or 53 bits.
 */
#ifndef CNNVP_STATISTICS_H
#define CNNVP_STATISTICS_H

#include <stdint.h>

struct cnnvp_channel_statistics {
    float min, max;          /* of finite values; 0 where there are none */
    uint64_t min_at, max_at; /* numbers of the first such values */
    double sum;
    uint64_t count;          /* values so far */
    uint64_t finite;         /* of which finite; the others count into no sum */
};

/* A tensor [images][channels][plane]. */
struct cnnvp_tensor_shape {
    uint64_t images;
    uint64_t channels;
    uint64_t plane;
};

/* Before the first group of images. */
void cnnvp_statistics_clear(struct cnnvp_channel_statistics *channels, uint64_t count);

/* Takes a group of images in; groups follow each other in the order of the batch. */
void cnnvp_statistics_add(const struct cnnvp_tensor_shape *shape, const float *values,
                          struct cnnvp_channel_statistics *channels);

/* Fixed-order sums of n values: x, (x - mean)^2, and dy * (x - mean). */
double cnnvp_sum(const float *x, uint64_t n);
double cnnvp_sum_of_squares(const float *x, uint64_t n, double mean);
double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean);

#endif
