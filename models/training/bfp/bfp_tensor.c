/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block floating point of whole tensors: maps blocks to runs of contiguous values. A block consists of `runs` runs of
 * `length` values, `step` apart; block b begins at b * `first`.
 */
#include "cnnvp_bfp.h"

struct division {
    uint64_t blocks;
    uint64_t first;
    uint64_t runs;
    uint64_t step;
    uint64_t length;
};

/* Returns false if the layout is empty or has 2^60 values or more. */
static bool divide(const struct cnnvp_bfp_layout *layout, struct division *division)
{
    const uint64_t limit = UINT64_C(1) << 60;
    if (layout->images == 0 || layout->channels == 0 || layout->plane == 0 || layout->images > limit)
        return false;
    if (layout->channels > limit / layout->images || layout->plane > limit / layout->images / layout->channels)
        return false;
    const uint64_t image = layout->channels * layout->plane;
    switch (layout->block) {
    case CNNVP_BFP_BLOCK_TENSOR:
        *division = (struct division){1, 0, 1, 0, layout->images * image};
        return true;
    case CNNVP_BFP_BLOCK_IMAGE:
        *division = (struct division){layout->images, image, 1, 0, image};
        return true;
    case CNNVP_BFP_BLOCK_CHANNEL:
        *division = (struct division){layout->channels, layout->plane, layout->images, image, layout->plane};
        return true;
    default:
        return false;
    }
}

uint64_t cnnvp_bfp_blocks(const struct cnnvp_bfp_layout *layout)
{
    struct division division;
    return divide(layout, &division) ? division.blocks : 0;
}

static int8_t block_exponent(const struct division *division, uint64_t block, const float *values,
                             struct cnnvp_bfp_counts *counts)
{
    float max = 0.0f;
    for (uint64_t r = 0; r < division->runs; ++r) {
        const float m = cnnvp_bfp_max(values + block * division->first + r * division->step, division->length);
        max = m > max ? m : max;
    }
    return cnnvp_bfp_exponent(max, counts);
}

int cnnvp_bfp_encode(const struct cnnvp_bfp_format *format, const struct cnnvp_bfp_layout *layout, const float *values,
                     void *mantissas, int8_t *exponents, struct cnnvp_bfp_counts *counts)
{
    const uint32_t bytes = cnnvp_bfp_bytes(format->mantissa_bits);
    struct division division;
    if (!cnnvp_bfp_format_valid(format) || !divide(layout, &division))
        return CNNVP_E_INVAL;
    for (uint64_t b = 0; b < division.blocks; ++b) {
        exponents[b] = block_exponent(&division, b, values, counts);
        for (uint64_t r = 0; r < division.runs; ++r) {
            const uint64_t at = b * division.first + r * division.step;
            cnnvp_bfp_quantise(format, exponents[b], at, values + at, division.length, (char *)mantissas + at * bytes,
                               counts);
        }
    }
    return CNNVP_OK;
}

int cnnvp_bfp_decode(uint32_t mantissa_bits, const struct cnnvp_bfp_layout *layout, const void *mantissas,
                     const int8_t *exponents, float *values)
{
    const struct cnnvp_bfp_format format = {.mantissa_bits = mantissa_bits};
    const uint32_t bytes = cnnvp_bfp_bytes(mantissa_bits);
    struct division division;
    if (!cnnvp_bfp_format_valid(&format) || !divide(layout, &division))
        return CNNVP_E_INVAL;
    for (uint64_t b = 0; b < division.blocks; ++b)
        for (uint64_t r = 0; r < division.runs; ++r) {
            const uint64_t at = b * division.first + r * division.step;
            cnnvp_bfp_dequantise(mantissa_bits, exponents[b], (const char *)mantissas + at * bytes, division.length,
                                 values + at);
        }
    return CNNVP_OK;
}
