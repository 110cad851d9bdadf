/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels: values.accuracy of the statistics; what members of `values` mean. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

const struct cnnvp_value_help cnnvp_value_table[] = {
#define CNNVP_VALUE(object, name, unit, needs, help) {#object, #name, unit, needs, help},
#include "values.def"
};
const size_t cnnvp_value_count = sizeof cnnvp_value_table / sizeof *cnnvp_value_table;

char *cnnvp_values_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    (void)fprintf(stream,
                  "values: members of `values` in the statistics, beside those of the units; absent with "
                  "--timing-only\n\n  %-34s  %-8s  %-10s  %s\n",
                  "name", "unit", "with", "help");
    for (size_t i = 0; i < cnnvp_value_count; ++i) {
        const struct cnnvp_value_help *value = &cnnvp_value_table[i];
        char name[64], with[32];
        (void)snprintf(name, sizeof name, "values.%s.%s", value->object, value->name);
        (void)snprintf(with, sizeof with, "%s%s", *value->needs ? "--" : "train", value->needs);
        (void)fprintf(stream, "  %-34s  %-8s  %-10s  %s\n", name, value->unit, with, value->help);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- labels ---- */

static size_t count_of(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
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

cnnvp_result cnnvp_labels_check(const char *file, const struct cnnvp_array *labels, struct cnnvp_error *error)
{
    if (labels->type == CNNVP_ARRAY_F32)
        return cnnvp_config_error(error, file, "labels are whole numbers, not float32");
    if (labels->rank < 1 || count_of(labels) != labels->shape[0])
        return cnnvp_config_error(error, file, "labels are one number for each image, shape [N]");
    return CNNVP_DONE;
}

/* ---- counting ---- */

static size_t count_right(const struct cnnvp_array *output, const struct cnnvp_array *labels, size_t images)
{
    size_t classes = count_of(output) / images, right = 0;
    for (size_t i = 0; i < images; ++i)
        right += cnnvp_top_class((const float *)output->data + i * classes, classes) == (uint64_t)label_at(labels, i);
    return right;
}

cnnvp_result cnnvp_accuracy_count(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                  const struct cnnvp_array *labels, struct cnnvp_accuracy *accuracy,
                                  struct cnnvp_error *error)
{
    size_t images = output->rank ? output->shape[0] : 0;
    if (images == 0 || output->type != CNNVP_ARRAY_F32 || count_of(reference) != count_of(output))
        return cnnvp_config_error(error, NULL, "--labels: the network has no output for each image");
    if (labels->shape[0] != images)
        return cnnvp_config_error(error, NULL, "--labels: %zu labels for %zu images", labels->shape[0], images);
    size_t classes = count_of(output) / images;
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

char *cnnvp_accuracy_json(const struct cnnvp_accuracy *accuracy)
{
    const double images = (double)accuracy->images;
    json_t *object = json_pack(
        "{s:I, s:I, s:f, s:I, s:f}", "images", (json_int_t)accuracy->images, "correct", (json_int_t)accuracy->correct,
        "top1", (double)accuracy->correct / images, "reference_correct", (json_int_t)accuracy->reference_correct,
        "reference_top1", (double)accuracy->reference_correct / images);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    return text;
}
