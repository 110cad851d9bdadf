/* SPDX-License-Identifier: Apache-2.0 */
/* Extremes through batch norm. See quantise.h. */
#include "quantise.h"

static float maximum(float a, float b)
{
    return a > b ? a : b;
}

static float magnitude(float x)
{
    return x < 0.0f ? -x : x;
}

float cnnvp_quantise_extreme(const struct cnnvp_extremes *extremes, float scale, float offset, bool relu)
{
    if (!(extremes->min <= extremes->max))
        return 0.0f;
    const float low_product = scale * extremes->min;
    const float high_product = scale * extremes->max;
    const float low = low_product + offset;
    const float high = high_product + offset;
    if (relu)
        return maximum(maximum(low, high), 0.0f);
    return maximum(magnitude(low), magnitude(high));
}

float cnnvp_quantise_extreme_back(const struct cnnvp_extremes *errors, const struct cnnvp_norm *norm)
{
    const float largest = cnnvp_quantise_extreme(errors, norm->dy_scale, norm->dy_offset, false);
    const float product_at_max = norm->dy_scale * norm->dy_at_max;
    const float product_at_min = norm->dy_scale * norm->dy_at_min;
    const float at_max = product_at_max + norm->dy_offset;
    const float at_min = product_at_min + norm->dy_offset;
    return maximum(largest, maximum(magnitude(at_max + norm->extreme), magnitude(at_min - norm->extreme)));
}
