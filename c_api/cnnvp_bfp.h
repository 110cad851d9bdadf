/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block floating point (S001 C9 and Fig. 4, Part B 1-11 to 1-15). Independent of any host.
 *
 * A block of values shares one exponent; each value keeps a two's complement mantissa of `mantissa_bits` = w bits:
 *
 *   value = mantissa * 2^(exponent - (w - 2))
 *   exponent = floor(log2 max|x|),  mantissa = round(x * 2^(w - 2 - exponent))
 *
 * The largest value of a block thus has a mantissa of magnitude 2^(w-2) .. 2^(w-1). BFP8 is w = 8. Rules:
 * - The exponent is an 8-bit signed number. Outside -128 .. 127 it is clamped and counted. A block of zeros has -128
 *   and is not counted.
 * - A mantissa that rounds to 2^(w-1) saturates to 2^(w-1) - 1 and is counted; -2^(w-1) is representable and stays.
 * - NaN becomes 0. An infinity becomes the largest mantissa of its sign. Both are counted, and neither affects the
 *   exponent.
 * - Stochastic rounding of element i of a tensor uses cnnvp_round_random(seed, i), so the order of work does not
 *   matter.
 *
 * All results come from integer arithmetic on the bits of IEEE 754 binary32, or from one rounding of an exact binary64.
 * They are therefore the same bits with every compiler.
 *
 * Mantissas are int8_t up to w = 8, as the engine stores them, and int32_t up to w = 24, which is wide enough to show
 * errors of a formula that quantisation would hide.
 */
#ifndef CNNVP_BFP_H
#define CNNVP_BFP_H

#include "cnnvp_command.h"

#include <stdbool.h>

enum { CNNVP_BFP_MIN_BITS = 2, CNNVP_BFP_MAX_BITS = 24, CNNVP_BFP_MIN_EXPONENT = -128, CNNVP_BFP_MAX_EXPONENT = 127 };

/* A further rounding mode after enum cnnvp_round_mode. */
enum {
    CNNVP_BFP_ROUNDING_CARRIED = 4 /* to nearest, with the rounding error added to the next value; cnnvp_bfp_quantise
                                    * only */
};

/* Bytes of a mantissa of this width. */
static inline uint32_t cnnvp_bfp_bytes(uint32_t mantissa_bits)
{
    return mantissa_bits > 8u ? 4u : 1u;
}

/* Which values share an exponent (Part B 1-14). */
enum cnnvp_bfp_block {
    CNNVP_BFP_BLOCK_TENSOR = 0,
    CNNVP_BFP_BLOCK_IMAGE = 1,
    CNNVP_BFP_BLOCK_CHANNEL = 2 /* one for all images */
};

struct cnnvp_bfp_format {
    uint32_t mantissa_bits; /* 2 .. 24 */
    uint32_t rounding;      /* enum cnnvp_round_mode or one of the modes above */
    uint64_t seed;          /* of stochastic rounding */
};

/* A tensor [images][channels][plane] and its blocks. For kernels, images is 1 and channels are the output channels. */
struct cnnvp_bfp_layout {
    uint64_t images;
    uint64_t channels;
    uint64_t plane; /* values of one channel of one image */
    enum cnnvp_bfp_block block;
};

/* Counts of events. Conversions only add to them. */
struct cnnvp_bfp_counts {
    uint64_t saturated;         /* results clipped */
    uint64_t nonfinite;         /* NaN and infinities among the inputs */
    uint64_t exponents_clamped; /* block exponents outside 8 bits */
};

/* True if width and rounding mode are valid; the mode CARRIED is not. */
bool cnnvp_bfp_format_valid(const struct cnnvp_bfp_format *format);

/* ---- one block (bfp.c) ---- */

/* The largest finite magnitude of n values; 0 for n = 0. */
float cnnvp_bfp_max(const float *values, uint64_t n);

/* The block exponent for the largest magnitude `max`. The sign of max does not matter; a non-finite max counts as 0. */
int8_t cnnvp_bfp_exponent(float max, struct cnnvp_bfp_counts *counts);

/*
 * Quantises n values to mantissas with a given exponent. Values too large for it saturate and are counted. `first` is
 * the index of the first value in its tensor.
 *
 * CARRIED: the n values belong to one map. Each value first receives the rounding error left by the values before it,
 * so the mantissas add up to the sum of the values within half a unit. Gradients need such sums. Backward batch norm
 * leaves many values of one sign below half a unit beside few large ones; plain rounding to nearest would turn them all
 * into 0.
 *
 * The arithmetic is in integers; one mantissa unit has 2^16 parts. parts = x in parts, rounded to nearest even; sum =
 * parts + remainder, where the first remainder is 0; mantissa = floor(sum / 2^16 + 1/2); remainder = sum - mantissa *
 * 2^16. A clipped mantissa leaves the remainder 0. A non-finite value leaves the remainder unchanged.
 */
void cnnvp_bfp_quantise(const struct cnnvp_bfp_format *format, int8_t exponent, uint64_t first, const float *values,
                        uint64_t n, void *mantissas, struct cnnvp_bfp_counts *counts);

/* mantissa * 2^(exponent - (w - 2)) in binary32. Exact for w <= 8. For wider mantissas a subnormal result is rounded to
 * nearest even. -2^128, which binary32 cannot hold, becomes the most negative finite float. */
void cnnvp_bfp_dequantise(uint32_t mantissa_bits, int8_t exponent, const void *mantissas, uint64_t n, float *values);

/* The scale of products: a sum of mantissa products has the value sum * 2^scale. */
static inline int32_t cnnvp_bfp_product_scale(uint32_t bits_a, int8_t exponent_a, uint32_t bits_b, int8_t exponent_b)
{
    return (int32_t)exponent_a - ((int32_t)bits_a - 2) + (int32_t)exponent_b - ((int32_t)bits_b - 2);
}

/* sums * 2^scale in binary32, rounded once to nearest even. Results beyond the largest finite float saturate to it and
 * are counted. The 64-bit form first rounds sums of more than 53 bits to 53 bits. scale: -900 .. 900. */
void cnnvp_bfp_sums_to_float(int32_t scale, const int32_t *sums, uint64_t n, float *values,
                             struct cnnvp_bfp_counts *counts);
void cnnvp_bfp_wide_to_float(int32_t scale, const int64_t *sums, uint64_t n, float *values,
                             struct cnnvp_bfp_counts *counts);

/* ---- whole tensors (bfp_tensor.c) ---- */

/* Number of exponents of a tensor; 0 if the layout is invalid. */
uint64_t cnnvp_bfp_blocks(const struct cnnvp_bfp_layout *layout);

/* Finds each block's exponent and quantises. `exponents` has cnnvp_bfp_blocks() entries. CNNVP_OK or CNNVP_E_INVAL. */
CNNVP_MUST_USE int cnnvp_bfp_encode(const struct cnnvp_bfp_format *format, const struct cnnvp_bfp_layout *layout,
                                    const float *values, void *mantissas, int8_t *exponents,
                                    struct cnnvp_bfp_counts *counts);
CNNVP_MUST_USE int cnnvp_bfp_decode(uint32_t mantissa_bits, const struct cnnvp_bfp_layout *layout,
                                    const void *mantissas, const int8_t *exponents, float *values);

/* ---- the definition ---- */

/*
 * round(magnitude * 2^-shift) with the given sign, clipped to w bits; *saturated grows by 1 if it was clipped.
 * Stochastic: rounds away from zero if the low `shift` bits exceed random mod 2^shift, and never if shift is 56 or
 * more.
 */
static inline int32_t cnnvp_bfp_round(uint64_t magnitude, int32_t shift, bool negative, uint32_t rounding,
                                      uint64_t random, uint32_t mantissa_bits, uint64_t *saturated)
{
    const uint64_t limit = (UINT64_C(1) << (mantissa_bits - 1u)) - (negative ? 0u : 1u);
    uint64_t rounded;
    if (shift <= 0) {
        const uint32_t left = (uint32_t) - (int64_t)shift;
        rounded = magnitude == 0 ? 0 : left > 62u || magnitude > (limit >> left) ? limit + 1u : magnitude << left;
    } else {
        const uint64_t rest = shift > 63 ? magnitude : magnitude & ((UINT64_C(1) << shift) - 1u);
        const uint64_t half = shift > 64 ? UINT64_MAX : UINT64_C(1) << (shift - 1);
        rounded = shift > 63 ? 0 : magnitude >> shift;
        if (rounding == CNNVP_ROUNDING_NEAREST)
            rounded += rest > half || (rest == half && (rounded & 1u) != 0);
        else if (rounding == CNNVP_ROUNDING_STOCHASTIC)
            rounded += shift <= 55 && rest > (random & ((UINT64_C(1) << (shift & 63)) - 1u));
        else if (rounding == CNNVP_ROUNDING_FLOOR)
            rounded += negative && rest != 0;
    }
    if (rounded > limit) {
        ++*saturated;
        rounded = limit;
    }
    return negative ? -(int32_t)rounded : (int32_t)rounded;
}

#endif
