/* SPDX-License-Identifier: Apache-2.0 */
/* Exponents from the max-min buffer. See quantiser.h. */
#include "quantiser.h"

static float larger(float a, float b)
{
    return a > b ? a : b;
}

float cnnvp_quantiser_extreme(const struct cnnvp_channel_statistics *channel, float scale, float offset, bool relu)
{
    const float low_product = scale * channel->min;
    const float high_product = scale * channel->max;
    const float low = low_product + offset;
    const float high = high_product + offset;
    if (relu)
        return larger(larger(low, high), 0.0f);
    return larger(low < 0.0f ? -low : low, high < 0.0f ? -high : high);
}

int cnnvp_quantiser_run(const struct cnnvp_bfp_format *format, const struct cnnvp_tensor_shape *shape,
                        enum cnnvp_bfp_block block, uint64_t first_image, const float *values, const float *extremes,
                        int8_t *mantissas, int8_t *exponents, struct cnnvp_bfp_counts *counts)
{
    const uint64_t image = shape->channels * shape->plane;
    const bool by_channel = block == CNNVP_BFP_BLOCK_CHANNEL;
    float all = 0.0f;
    if (!cnnvp_bfp_format_valid(format) || format->mantissa_bits > 8u || block == CNNVP_BFP_BLOCK_IMAGE)
        return CNNVP_E_INVAL;
    for (uint64_t c = 0; c < shape->channels; ++c)
        all = larger(all, extremes[c]);
    for (uint64_t b = 0; b < (by_channel ? shape->channels : 1u); ++b)
        exponents[b] = cnnvp_bfp_exponent(by_channel ? extremes[b] : all, counts);
    for (uint64_t n = 0; n < shape->images; ++n)
        for (uint64_t c = 0; c < shape->channels; ++c) {
            const uint64_t at = n * image + c * shape->plane;
            cnnvp_bfp_quantise(format, exponents[by_channel ? c : 0], first_image * image + at, values + at,
                               shape->plane, mantissas + at, counts);
        }
    return CNNVP_OK;
}
