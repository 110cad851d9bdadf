/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the inner loops, and the choice of one at run time. All variants give the same sums. */
#include "fx16_kernels.h"

#include <string.h>

#define UNROLL CNNVP_SIMD_UNROLL(8)
#define KERNELS "inference/fx16/fx16_kernels.inc"
#include "simd_variants.inc"

CNNVP_SIMD_CHOICE(struct fx16_kernels, cnnvp_fx16_kernels)
