/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, cross-entropy and its gradient. See softmax.h. */
#include "softmax.h"

#include "elementary/elementary.h"

#include <float.h>

/* x as it counts, and whether it was finite. */
static float usable(float x, uint32_t *nonfinite)
{
    if (x >= -FLT_MAX && x <= FLT_MAX)
        return x;
    ++*nonfinite;
    return x > 0.0f ? FLT_MAX : -FLT_MAX;
}

/* One image. p and gradient may be x: values are read before they are written. */
static void classify(uint32_t classes, const float *x, const uint32_t *label, double factor, float *p, float *gradient,
                     struct cnnvp_softmax_result *result)
{
    uint32_t ignored = 0;
    double sum = 0.0;
    *result = (struct cnnvp_softmax_result){0};
    float max = usable(x[0], &result->nonfinite);
    for (uint32_t c = 1; c < classes; ++c) {
        const float value = usable(x[c], &result->nonfinite);
        if (value > max) {
            max = value;
            result->predicted = c;
        }
    }
    for (uint32_t c = 0; c < classes; ++c)
        sum += cnnvp_elementary_exp((double)usable(x[c], &ignored) - (double)max);
    if (label != NULL)
        result->loss = cnnvp_elementary_ln(sum) - ((double)usable(x[*label], &ignored) - (double)max);
    for (uint32_t c = 0; c < classes; ++c) {
        const double probability = cnnvp_elementary_exp((double)usable(x[c], &ignored) - (double)max) / sum;
        p[c] = (float)probability;
        if (gradient != NULL)
            gradient[c] = (float)((probability - (label != NULL && *label == c ? 1.0 : 0.0)) * factor);
    }
}

int cnnvp_softmax_classify(uint64_t images, uint32_t classes, const float *x, const uint32_t *labels, double factor,
                           float *p, float *gradient, struct cnnvp_softmax_result *results)
{
    if (classes == 0)
        return CNNVP_E_INVAL;
    for (uint64_t n = 0; labels != NULL && n < images; ++n)
        if (labels[n] >= classes)
            return CNNVP_E_INVAL;
    for (uint64_t n = 0; n < images; ++n)
        classify(classes, x + n * classes, labels != NULL ? &labels[n] : NULL, factor, p + n * classes,
                 gradient != NULL ? gradient + n * classes : NULL, &results[n]);
    return CNNVP_OK;
}
