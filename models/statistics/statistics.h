/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module of S001 (kind `statistics`) and its arithmetic, free of any host: extremes of channels and
 * where they lie, for the max-min buffer (Part B 1-3, 1-13), taken of complete sums, over all images of the batch
 * (1-27). It works in backward as well (1-24).
 *
 * A channel's values are numbered through the batch; of equal extremes the one with the smaller number counts, so no
 * order of tiles matters. Values that are not finite are left out.
 */
#ifndef CNNVP_STATISTICS_H
#define CNNVP_STATISTICS_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_statistics;

/* An entry without values. */
struct cnnvp_extremes cnnvp_extremes_none(void);

/* Takes n values in, the first of which has number `first`. */
void cnnvp_extremes_add(const float *x, uint64_t n, uint64_t first, struct cnnvp_extremes *extremes);

/* The same without the values numbered a and b. */
void cnnvp_extremes_add_apart(const float *x, uint64_t n, uint64_t first, uint64_t a, uint64_t b,
                              struct cnnvp_extremes *extremes);

/* The largest magnitude, 0 without values. */
float cnnvp_extremes_magnitude(const struct cnnvp_extremes *extremes);

#endif
