/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the conversion loops, and the choice of one at run time. */
#include "bfp_kernels.h"

#include <string.h>

#define MAGNITUDE UINT32_C(0x7fffffff)
#define INFINITE 0x7f800000
/* Random numbers that are generated together. */
#define RANDOMS 256u

#define KERNELS "training/bfp/bfp_kernels.inc"
#include "simd_variants.inc"

CNNVP_SIMD_CHOICE(struct bfp_kernels, cnnvp_bfp_kernels)
