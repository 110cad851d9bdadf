/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels and beside the float model's. */
#include "accuracy.h"

#include "cli.h"

static size_t count_of(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

static int64_t label_at(const struct cnnvp_array *labels, size_t index)
{
    switch (labels->type) {
    case CNNVP_ARRAY_U8:
        return ((const uint8_t *)labels->data)[index];
    case CNNVP_ARRAY_I16:
        return ((const int16_t *)labels->data)[index];
    case CNNVP_ARRAY_I64:
        return ((const int64_t *)labels->data)[index];
    case CNNVP_ARRAY_F32:
        break;
    }
    return -1;
}

cnnvp_result accuracy_check_labels(const char *file, const struct cnnvp_array *labels)
{
    if (labels->type == CNNVP_ARRAY_F32)
        return cli_bad("%s: labels are whole numbers, not float32", file);
    if (labels->rank < 1 || count_of(labels) != labels->shape[0])
        return cli_bad("%s: labels are one number for each image, shape [N]", file);
    return CNNVP_DONE;
}

/* The first of the largest values of an image. */
static size_t top_class(const float *values, size_t classes)
{
    size_t best = 0;
    for (size_t i = 1; i < classes; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

static size_t count_right(const struct cnnvp_array *output, const struct cnnvp_array *labels, size_t images)
{
    size_t classes = count_of(output) / images, right = 0;
    for (size_t i = 0; i < images; i++) {
        int64_t label = label_at(labels, i);
        const float *values = (const float *)output->data + i * classes;
        right += label >= 0 && top_class(values, classes) == (uint64_t)label;
    }
    return right;
}

cnnvp_result accuracy_check(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                            const struct cnnvp_array *labels)
{
    size_t images = output->rank ? output->shape[0] : 0;
    if (images == 0 || output->type != CNNVP_ARRAY_F32 || count_of(reference) != count_of(output))
        return cli_bad("--labels: the network has no output for each image");
    if (labels->shape[0] != images)
        return cli_bad("--labels: %zu labels for %zu images", labels->shape[0], images);
    size_t classes = count_of(output) / images;
    for (size_t i = 0; i < images; i++) {
        int64_t label = label_at(labels, i);
        if (label < 0 || (uint64_t)label >= classes)
            return cli_bad("--labels: label %zu is %lld; the network has classes 0 to %zu", i, (long long)label,
                           classes - 1);
    }
    return CNNVP_DONE;
}

void accuracy_print(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                    const struct cnnvp_array *labels, FILE *stream)
{
    size_t images = output->shape[0];
    size_t right = count_right(output, labels, images), right_float = count_right(reference, labels, images);
    (void)fprintf(stream, "%-20s  %.2f %% (%zu of %zu), float model %.2f %% (%zu of %zu)\n", "top-1 accuracy",
                  100.0 * (double)right / (double)images, right, images,
                  100.0 * (double)right_float / (double)images, right_float, images);
}

void accuracy_print_difference(const struct cnnvp_array *output, const struct cnnvp_array *reference, FILE *stream)
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
        (void)fprintf(stream, "%-20s  %.3f %% of the largest magnitude, at most\n", "off the float model",
                      100.0 * largest / magnitude);
}
