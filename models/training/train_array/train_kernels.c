/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of the PE module's inner loops, and the choice of one at run time. All variants give the same sums. */
#include "train_kernels.h"

#include <string.h>

#define UNROLL CNNVP_SIMD_UNROLL(16)
#define KERNELS "training/train_array/train_kernels.inc"
#include "simd_variants.inc"

CNNVP_SIMD_CHOICE(struct train_kernels, cnnvp_train_kernels)
