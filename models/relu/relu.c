/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU, forward and backward. See relu.h. */
#include "relu.h"

void cnnvp_relu_forward(const float *x, uint64_t n, float *y, uint8_t *positive)
{
    for (uint64_t i = 0; i < n; ++i) {
        const uint8_t is_positive = x[i] > 0.0f;
        y[i] = is_positive ? x[i] : 0.0f;
        positive[i] = is_positive;
    }
}

void cnnvp_relu_backward(const float *dy, const uint8_t *positive, uint64_t n, float *dx)
{
    for (uint64_t i = 0; i < n; ++i)
        dx[i] = positive[i] != 0 ? dy[i] : 0.0f;
}
