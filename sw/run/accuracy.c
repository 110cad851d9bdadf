/* SPDX-License-Identifier: Apache-2.0 */
/* Compares outputs with labels: values.accuracy of the statistics. */
#include <inttypes.h>

#include "compiler.h"
#include "run.h"

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

cnnvp_result cnnvp_labels_check(const char *file, const struct cnnvp_array *labels, struct cnnvp_error *error)
{
    if (labels->type == CNNVP_ARRAY_F32)
        return cnnvp_config_error(error, file, "labels are whole numbers, not float32");
    if (labels->rank < 1 || cnnvp_array_count(labels) != labels->shape[0])
        return cnnvp_config_error(error, file, "labels are one number for each image, shape [N]");
    return CNNVP_DONE;
}

/* ---- counting ---- */

static size_t count_right(const struct cnnvp_array *output, const struct cnnvp_array *labels, size_t images)
{
    size_t classes = cnnvp_array_count(output) / images, right = 0;
    for (size_t i = 0; i < images; ++i)
        right += cnnvp_top_class((const float *)output->data + i * classes, classes) == (uint64_t)label_at(labels, i);
    return right;
}

cnnvp_result cnnvp_accuracy_count(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                  const struct cnnvp_array *labels, struct cnnvp_accuracy *accuracy,
                                  struct cnnvp_error *error)
{
    size_t images = output->rank ? output->shape[0] : 0;
    if (images == 0 || output->type != CNNVP_ARRAY_F32 || cnnvp_array_count(reference) != cnnvp_array_count(output))
        return cnnvp_config_error(error, NULL, "--labels: the network has no output for each image");
    if (labels->shape[0] != images)
        return cnnvp_config_error(error, NULL, "--labels: %zu labels for %zu images", labels->shape[0], images);
    size_t classes = cnnvp_array_count(output) / images;
    for (size_t i = 0; i < images; ++i) {
        int64_t label = label_at(labels, i);
        if (label < 0 || (uint64_t)label >= classes)
            return cnnvp_config_error(
                error, NULL, "--labels: label %zu is %" PRId64 "; the network has classes 0 to %zu", i, label,
                classes - 1);
    }
    *accuracy = (struct cnnvp_accuracy){.images = images,
                                        .correct = count_right(output, labels, images),
                                        .reference_correct = count_right(reference, labels, images)};
    return CNNVP_DONE;
}

json_t *cnnvp_accuracy_json(const struct cnnvp_accuracy *accuracy)
{
    const double images = (double)accuracy->images;
    return json_pack(
        "{s:I, s:I, s:f, s:I, s:f}", "images", (json_int_t)accuracy->images, "correct", (json_int_t)accuracy->correct,
        "top1", (double)accuracy->correct / images, "reference_correct", (json_int_t)accuracy->reference_correct,
        "reference_top1", (double)accuracy->reference_correct / images);
}
