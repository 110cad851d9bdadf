/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum module of S001 (kind `sum`): sums of channels for the sum buffer (Part B
 * 1-3, 1-13), over all images of the batch (1-27), and, for standard batch norm, sums of squares around the mean.
 */
#ifndef CNNVP_SUM_H
#define CNNVP_SUM_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_sum;

#endif
