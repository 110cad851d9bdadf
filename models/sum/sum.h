/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum module of S001 (kind `sum`) and its arithmetic, free of any host: sums of channels for the sum buffer (Part B
 * 1-3, 1-13), over all images of the batch (1-27), and, for standard batch norm, sums of squares around the mean.
 *
 * Sums are binary64 in eight partial sums, value i of a tile's plane in number i mod 8, brought together as
 * ((0+4)+(2+6))+((1+5)+(3+7)), planes in order: the same bits on every host. Integer sums of the PE module are exact in
 * binary32 or 64 up to 24 or 53 bits.
 */
#ifndef CNNVP_SUM_H
#define CNNVP_SUM_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_sum;

/* Fixed-order sums of n values: x, (x - mean)^2, and dy * (x - mean). */
double cnnvp_sum(const float *x, uint64_t n);
double cnnvp_sum_of_squares(const float *x, uint64_t n, double mean);
double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean);

/* Values among n that are neither infinite nor NaN. */
uint64_t cnnvp_sum_finite(const float *x, uint64_t n);

/* Takes a plane of n values in. Values that are not finite count as such and nothing else. */
void cnnvp_sum_add(const float *x, uint64_t n, struct cnnvp_sums *sums);
/* Mean of what came in, 0 of nothing; and the squares around it of a plane. */
double cnnvp_sum_mean(const struct cnnvp_sums *sums);
void cnnvp_sum_add_squares(const float *x, uint64_t n, struct cnnvp_sums *sums);

#endif
