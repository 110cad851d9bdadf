/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU and its 0/1 matrix. See relu.h. */
#include "relu.h"

#include <string.h>

void cnnvp_relu_forward(float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

void cnnvp_relu_forward_keep(float *x, uint64_t n, uint8_t *matrix)
{
    memset(matrix, 0, (size_t)cnnvp_tile_packed(n, 1u));
    for (uint64_t i = 0; i < n; i += 8u) {
        const unsigned bits = n - i < 8u ? (unsigned)(n - i) : 8u;
        unsigned byte = 0;
        for (unsigned b = 0; b < bits; ++b)
            byte |= (unsigned)(x[i + b] > 0.0f) << b;
        matrix[i / 8u] = (uint8_t)byte;
    }
    cnnvp_relu_forward(x, n);
}
