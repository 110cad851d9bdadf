/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module of S001 (kind `statistics`): extremes of channels and
 * where they lie, for the max-min buffer (Part B 1-3, 1-13), taken of complete sums, over all images of the batch
 * (1-27). It works in backward as well (1-24).
 */
#ifndef CNNVP_STATISTICS_H
#define CNNVP_STATISTICS_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_statistics;

#endif
