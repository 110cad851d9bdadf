/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels and beside the float model's. */
#include "accuracy.h"

#include <inttypes.h>

#include "cli.h"

static size_t count_of(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream)
{
    const double images = (double)accuracy->images;
    (void)fprintf(stream,
                  "%-20s  %.2f %% (%" PRIu64 " of %" PRIu64 "), float model %.2f %% (%" PRIu64 " of %" PRIu64 ")\n",
                  "top-1 accuracy", 100.0 * (double)accuracy->correct / images, accuracy->correct, accuracy->images,
                  100.0 * (double)accuracy->reference_correct / images, accuracy->reference_correct, accuracy->images);
}

void accuracy_print_difference(const char *name, const struct cnnvp_array *output, const struct cnnvp_array *reference,
                               FILE *stream)
{
    size_t count = count_of(output);
    if (output->type != CNNVP_ARRAY_F32 || reference->type != CNNVP_ARRAY_F32 || count != count_of(reference))
        return;
    const float *values = output->data, *exact = reference->data;
    double largest = 0, magnitude = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)values[i] - (double)exact[i];
        double size = (double)exact[i];
        difference = difference < 0 ? -difference : difference;
        size = size < 0 ? -size : size;
        largest = difference > largest ? difference : largest;
        magnitude = size > magnitude ? size : magnitude;
    }
    if (magnitude > 0)
        (void)fprintf(stream, "%-20s  %s%s%.3f %% of the largest magnitude, at most\n", "off the float model",
                      name ? name : "", name ? ": " : "", 100.0 * largest / magnitude);
}
