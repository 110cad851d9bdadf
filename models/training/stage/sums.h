/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a channel's values in a fixed order: the arithmetic of `sum` and of batch norm backward.
 *
 * Sums are binary64. Value i of a tile's plane is added to partial sum i mod 8, and the eight partial sums are added as
 * ((0+4)+(2+6))+((1+5)+(3+7)), planes in order. This gives the same bits on every host. Integer sums of the PE module
 * are exact in binary32 or binary64 up to 24 or 53 bits.
 */
#pragma once

#include "cnnvp_tile.h"

/* Fixed-order sums of n values: x, and dy * (x - mean). */
double cnnvp_sum(const float *x, uint64_t n);
double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean);

/* Adds a plane of n values. Values that are not finite are only counted as such. */
void cnnvp_sum_add(const float *x, uint64_t n, struct cnnvp_sums *sums);
/* Mean of the values added, 0 if there are none; and adding the squares of a plane's distances from it. */
double cnnvp_sum_mean(const struct cnnvp_sums *sums);
void cnnvp_sum_add_squares(const float *x, uint64_t n, struct cnnvp_sums *sums);
