/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic gradient descent with momentum. Implements momentum.h. */
#include "momentum.h"

void cnnvp_update_values(float rate, float momentum, const float *restrict gradient, uint64_t n,
                         float *restrict velocity, float *restrict values)
{
    if (velocity == NULL) {
        for (uint64_t i = 0; i < n; ++i) {
            const float change = rate * gradient[i];
            values[i] = values[i] - change;
        }
        return;
    }
    for (uint64_t i = 0; i < n; ++i) {
        const float kept = momentum * velocity[i];
        const float step = kept + gradient[i];
        const float change = rate * step;
        velocity[i] = step;
        values[i] = values[i] - change;
    }
}
