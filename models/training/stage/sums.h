/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a channel's values in a fixed order, the arithmetic of `sum` and of batch norm on its way back.
 *
 * Sums are binary64 in eight partial sums, value i of a tile's plane in number i mod 8, brought together as
 * ((0+4)+(2+6))+((1+5)+(3+7)), planes in order: the same bits on every host. Integer sums of the PE module are exact in
 * binary32 or 64 up to 24 or 53 bits.
 */
#ifndef CNNVP_STAGE_SUMS_H
#define CNNVP_STAGE_SUMS_H

#include "cnnvp_tile.h"

/* Fixed-order sums of n values: x, and dy * (x - mean). */
double cnnvp_sum(const float *x, uint64_t n);
double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean);

/* Takes a plane of n values in. Values that are not finite count as such and nothing else. */
void cnnvp_sum_add(const float *x, uint64_t n, struct cnnvp_sums *sums);
/* Mean of what came in, 0 of nothing; and the squares around it of a plane. */
double cnnvp_sum_mean(const struct cnnvp_sums *sums);
void cnnvp_sum_add_squares(const float *x, uint64_t n, struct cnnvp_sums *sums);

#endif
