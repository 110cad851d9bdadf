/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extremes of a channel's values and their positions: the arithmetic of `statistics` and `quantise`.
 *
 * A channel's values are numbered through the batch. Of equal extremes the one with the smaller number counts, so the
 * order of tiles does not matter. Values that are not finite are left out.
 */
#pragma once

#include "cnnvp_tile.h"

/* Adds n values; the first has number `first`. */
void cnnvp_extremes_add(const float *x, uint64_t n, uint64_t first, struct cnnvp_extremes *extremes);

/* The same, leaving out the values with numbers a and b. */
void cnnvp_extremes_add_apart(const float *x, uint64_t n, uint64_t first, uint64_t a, uint64_t b,
                              struct cnnvp_extremes *extremes);

/* The largest magnitude; 0 if there are no values. */
float cnnvp_extremes_magnitude(const struct cnnvp_extremes *extremes);
