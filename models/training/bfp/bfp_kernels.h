/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops of the conversions to mantissas of at most 8 bits, in variants for the host's vector units. All variants
 * give identical bits. */
#pragma once

#include "cnnvp_bfp.h"

/* Parameters of a run of values. */
struct bfp_run {
    int32_t shift;  /* right shift of the significand = shift - exponent field */
    uint32_t limit; /* largest mantissa, 2^(w-1) - 1 */
};

struct bfp_tally {
    uint64_t saturated;
    uint64_t nonfinite;
};

/* At most 2^31 values a call. */
struct bfp_kernels {
    const char *name;
    uint32_t (*max_bits)(const float *values, size_t n); /* bits of the largest finite magnitude */
    void (*floats)(const struct bfp_run *run, uint32_t rounding, uint64_t seed, uint64_t first, const float *values,
                   size_t n, int8_t *mantissas, struct bfp_tally *tally);
};

/* The fastest variant that this machine can run. */
const struct bfp_kernels *cnnvp_bfp_kernels(void);
/* The index-th variant that this machine can run; NULL after the last. */
const struct bfp_kernels *cnnvp_bfp_kernels_variant(size_t index);
