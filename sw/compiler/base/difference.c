/* SPDX-License-Identifier: Apache-2.0 */
/* Compares results with those of the float reference model. */
#include <math.h>

#include "compiler.h"

size_t cnnvp_top_class(const float *values, size_t classes)
{
    size_t best = 0;
    for (size_t i = 1; i < classes; ++i)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* The number of classes of an array [N, classes] or [N, classes, 1, ...]; 0: the array has another shape. */
static size_t classes_of(const struct cnnvp_array *array)
{
    for (size_t i = 2; i < array->rank; ++i)
        if (array->shape[i] != 1)
            return 0;
    return array->rank >= 2 && array->shape[1] > 1 ? array->shape[1] : 0;
}

cnnvp_result cnnvp_compare(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                           struct cnnvp_difference *difference, struct cnnvp_error *error)
{
    const size_t count = cnnvp_array_count(output);
    const size_t classes = classes_of(output);
    const float *values = output->data;
    const float *exact = reference->data;
    *difference = (struct cnnvp_difference){0};
    if (output->type != CNNVP_ARRAY_F32 || reference->type != CNNVP_ARRAY_F32 || count != cnnvp_array_count(reference))
        return cnnvp_compiler_error(
            error, "what is compared is not float32, or has %zu and %zu elements", count, cnnvp_array_count(reference));
    for (size_t i = 0; i < count; ++i) {
        const double distance = fabs((double)values[i] - (double)exact[i]);
        const double magnitude = fabs((double)exact[i]);
        difference->signal += magnitude * magnitude;
        difference->noise += distance * distance;
        difference->largest = distance > difference->largest ? distance : difference->largest;
        difference->magnitude = magnitude > difference->magnitude ? magnitude : difference->magnitude;
    }
    difference->images = classes != 0 ? output->shape[0] : 0;
    for (size_t i = 0; i < difference->images; ++i)
        difference->agreeing +=
            cnnvp_top_class(values + i * classes, classes) == cnnvp_top_class(exact + i * classes, classes);
    return CNNVP_DONE;
}

double cnnvp_sqnr(const struct cnnvp_difference *difference)
{
    if (isnan(difference->noise))
        return NAN;
    if (!(difference->noise > 0.0))
        return INFINITY;
    return difference->signal > 0.0 ? 10.0 * log10(difference->signal / difference->noise) : -INFINITY;
}
