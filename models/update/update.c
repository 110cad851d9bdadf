/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic gradient descent with momentum. See update.h. */
#include "update.h"

void cnnvp_update_master(const struct cnnvp_update_rule *rule, const float *gradient, uint64_t n, float *velocity,
                         float *values)
{
    for (uint64_t i = 0; i < n; ++i) {
        float step = gradient[i];
        if (velocity != NULL) {
            const float kept = rule->momentum * velocity[i];
            step = kept + gradient[i];
            velocity[i] = step;
        }
        const float change = rule->rate * step;
        values[i] = values[i] - change;
    }
}

int cnnvp_update_narrow(const struct cnnvp_update_rule *rule, const struct cnnvp_bfp_format *format,
                        const struct cnnvp_bfp_layout *layout, const float *gradient, float *velocity, float *work,
                        int8_t *mantissas, int8_t *exponents, struct cnnvp_bfp_counts *counts)
{
    if (!cnnvp_bfp_format_valid(format) || format->mantissa_bits > 8u)
        return CNNVP_E_INVAL;
    const int status = cnnvp_bfp_decode(format->mantissa_bits, layout, mantissas, exponents, work);
    if (status != CNNVP_OK)
        return status;
    cnnvp_update_master(rule, gradient, layout->images * layout->channels * layout->plane, velocity, work);
    return cnnvp_bfp_encode(format, layout, work, mantissas, exponents, counts);
}

void cnnvp_update_scale_gradient(const float *factors, uint64_t channels, uint64_t per_channel, float *gradient)
{
    for (uint64_t c = 0; c < channels; ++c)
        for (uint64_t i = 0; i < per_channel; ++i)
            gradient[c * per_channel + i] = gradient[c * per_channel + i] * factors[c];
}
