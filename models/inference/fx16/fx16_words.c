/* SPDX-License-Identifier: Apache-2.0 */
#include "fx16_words.h"

/* Ties to even, shift 1 .. 62: the usual case, in a form that compilers vectorise. */
static uint64_t round_nearest(const int64_t *sums, uint64_t count, uint32_t shift, int16_t *words)
{
    const uint64_t mask = (UINT64_C(1) << shift) - 1u;
    const uint64_t half = (mask + 1u) >> 1;
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t negative = sums[i] < 0 ? UINT64_MAX : 0;
        /* floor(sum / 2^shift): the bits above `shift`, sign kept */
        const uint64_t floor = (((uint64_t)sums[i] ^ negative) >> shift) ^ negative;
        const uint64_t rest = (uint64_t)sums[i] & mask;
        int64_t value = (int64_t)(floor + (rest + (floor & 1u) > half ? 1u : 0u));
        clipped += (value > INT16_MAX ? 1u : 0u) + (value < INT16_MIN ? 1u : 0u);
        value = value > INT16_MAX ? INT16_MAX : value;
        value = value < INT16_MIN ? INT16_MIN : value;
        words[i] = (int16_t)value;
    }
    return clipped;
}

static uint64_t clip_words(const int64_t *sums, uint64_t count, int16_t *words)
{
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i) {
        int64_t value = sums[i];
        clipped += (value > INT16_MAX ? 1u : 0u) + (value < INT16_MIN ? 1u : 0u);
        value = value > INT16_MAX ? INT16_MAX : value;
        value = value < INT16_MIN ? INT16_MIN : value;
        words[i] = (int16_t)value;
    }
    return clipped;
}

uint64_t cnnvp_fx16_round_words(const int64_t *sums, uint64_t count, int32_t shift, uint32_t rounding, uint64_t seed,
                                uint64_t first, int16_t *words)
{
    if (rounding == CNNVP_ROUNDING_NEAREST && shift >= 1 && shift <= 62)
        return round_nearest(sums, count, (uint32_t)shift, words);
    if (shift == 0)
        return clip_words(sums, count, words);
    uint64_t clipped = 0;
    if (rounding == CNNVP_ROUNDING_STOCHASTIC)
        for (uint64_t i = 0; i < count; ++i)
            words[i] = cnnvp_round_fx16(
                sums[i], shift, CNNVP_ROUNDING_STOCHASTIC, cnnvp_round_random(seed, first + i), &clipped);
    else
        for (uint64_t i = 0; i < count; ++i)
            words[i] = cnnvp_round_fx16(sums[i], shift, rounding, 0, &clipped);
    return clipped;
}
