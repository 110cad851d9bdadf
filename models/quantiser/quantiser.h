/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantiser of S001, free of any host: block floating point (bfp/bfp.h) whose exponent comes from the max-min
 * buffer, without another sweep over the data (S001 C7, Part B 1-25): extremes of a channel before batch norm are
 * mapped through it and through ReLU, both of which are monotone also in binary32, and the largest magnitude gives
 * the exponent.
 */
#ifndef CNNVP_QUANTISER_H
#define CNNVP_QUANTISER_H

#include "bfp/bfp.h"
#include "statistics/statistics.h"

/* The largest magnitude of scale * x + offset (with ReLU: of its positive part) for x in min .. max, rounded as
 * batch norm does. */
float cnnvp_quantiser_extreme(const struct cnnvp_channel_statistics *channel, float scale, float offset, bool relu);

/*
 * Mantissas of a group of images of a tensor under exponents from extremes: one of each channel (`extremes`, as
 * above). Blocks are the tensor or the channel; `first_image` is the group's place in the batch, so that stochastic
 * rounding numbers values through the batch. `exponents` has 1 entry or one for each channel. CNNVP_OK or
 * CNNVP_E_INVAL.
 */
CNNVP_MUST_USE int cnnvp_quantiser_run(const struct cnnvp_bfp_format *format, const struct cnnvp_tensor_shape *shape,
                                       enum cnnvp_bfp_block block, uint64_t first_image, const float *values,
                                       const float *extremes, int8_t *mantissas, int8_t *exponents,
                                       struct cnnvp_bfp_counts *counts);

#endif
