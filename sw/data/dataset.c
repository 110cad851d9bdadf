/* SPDX-License-Identifier: Apache-2.0 */
/* The functions cnnvp_dataset_* of cnnvp_data.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cnnvp_command.h"
#include "dataset.h"

cnnvp_result cnnvp_data_sources(struct cnnvp_dataset *dataset, const char *images, const char *labels,
                                struct cnnvp_error *error)
{
    dataset->image_source = strdup(images);
    dataset->label_source = strdup(labels);
    return dataset->image_source != NULL && dataset->label_source != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

static cnnvp_result read_text(const char *text, uint64_t limit, struct cnnvp_dataset *dataset,
                              struct cnnvp_error *error)
{
    static const struct {
        const char *prefix;
        cnnvp_result (*read)(char *files, uint64_t limit, struct cnnvp_dataset *dataset, struct cnnvp_error *error);
    } formats[] = {{"idx:", cnnvp_data_idx}, {"cifar10:", cnnvp_data_cifar10}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        const size_t length = strlen(formats[i].prefix);
        if (strncmp(text, formats[i].prefix, length) != 0)
            continue;
        CNNVP_FREED char *files = strdup(text + length);
        CNNVP_TRY_MEMORY(files != NULL, error);
        return formats[i].read(files, limit, dataset, error);
    }
    return cnnvp_config_error(
        error, NULL, "data set \"%.500s\": idx:IMAGES,LABELS or cifar10:FILE[,FILE...] is needed", text);
}

CNNVP_DROP(cnnvp_dataset)

cnnvp_result cnnvp_dataset_new(const char *text, uint64_t limit, cnnvp_dataset **dataset, struct cnnvp_error *error)
{
    *dataset = NULL;
    CNNVP_SCOPED(cnnvp_dataset_drop) cnnvp_dataset *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    CNNVP_TRY(read_text(text, limit, made, error));
    *dataset = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_dataset_free(cnnvp_dataset *dataset)
{
    if (dataset == NULL)
        return;
    free(dataset->pixels);
    free(dataset->labels);
    free(dataset->image_source);
    free(dataset->label_source);
    free(dataset);
}

static uint64_t image_bytes(const struct cnnvp_dataset *dataset)
{
    return (uint64_t)dataset->channels * dataset->height * dataset->width;
}

/* Centres all images in height x width, with zeros around them. */
static cnnvp_result enlarge(struct cnnvp_dataset *dataset, uint32_t height, uint32_t width, struct cnnvp_error *error)
{
    const uint64_t maps = dataset->images * dataset->channels;
    if ((uint64_t)height * width > CNNVP_DATASET_BYTES_MAX / maps)
        return cnnvp_config_error(error, NULL,
                                  "%" PRIu64 " images of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                                  " bytes are more than 1 GiB; use fewer (--limit)",
                                  dataset->images, dataset->channels, height, width);
    uint8_t *pixels = calloc(maps, (size_t)height * width);
    CNNVP_TRY_MEMORY(pixels != NULL, error);
    const uint64_t top = (height - dataset->height) / 2;
    const uint64_t left = (width - dataset->width) / 2;
    for (uint64_t map = 0; map < maps; ++map)
        for (uint64_t y = 0; y < dataset->height; ++y)
            memcpy(pixels + (map * height + top + y) * width + left,
                   dataset->pixels + (map * dataset->height + y) * dataset->width, dataset->width);
    free(dataset->pixels);
    dataset->pixels = pixels;
    dataset->height = height;
    dataset->width = width;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_dataset_fit(cnnvp_dataset *dataset, uint32_t channels, uint32_t height, uint32_t width,
                               uint32_t classes, struct cnnvp_error *error)
{
    if (dataset->channels != channels || dataset->height > height || dataset->width > width)
        return cnnvp_config_error(
            error, NULL,
            "%s: its images have %" PRIu32 " channels of %" PRIu32 " x %" PRIu32 "; the network takes %" PRIu32
            " of %" PRIu32 " x %" PRIu32 " or smaller ones",
            dataset->image_source, dataset->channels, dataset->height, dataset->width, channels, height, width);
    for (uint64_t i = 0; i < dataset->images; ++i)
        if (dataset->labels[i] >= classes)
            return cnnvp_config_error(
                error, NULL,
                "%s: label %u of image %" PRIu64 " is out of range; the network has %" PRIu32 " classes, 0 to %" PRIu32,
                dataset->label_source, dataset->labels[i], i, classes, classes - 1);
    if (dataset->height == height && dataset->width == width)
        return CNNVP_DONE;
    return enlarge(dataset, height, width, error);
}

void cnnvp_dataset_describe(const cnnvp_dataset *dataset, struct cnnvp_dataset_info *info)
{
    *info = (struct cnnvp_dataset_info){dataset->images, dataset->channels, dataset->height, dataset->width, 0};
    for (uint64_t i = 0; i < dataset->images; ++i)
        if (dataset->labels[i] >= info->classes)
            info->classes = dataset->labels[i] + 1u;
}

const uint8_t *cnnvp_dataset_image(const cnnvp_dataset *dataset, uint64_t index)
{
    return dataset->pixels + index * image_bytes(dataset);
}

uint32_t cnnvp_dataset_label(const cnnvp_dataset *dataset, uint64_t index)
{
    return dataset->labels[index];
}

uint64_t cnnvp_dataset_hash(const cnnvp_dataset *dataset)
{
    const uint64_t sizes[] = {dataset->images, dataset->channels, dataset->height, dataset->width};
    const uint64_t parts[] = {
        XXH3_64bits(sizes, sizeof sizes), XXH3_64bits(dataset->pixels, dataset->images * image_bytes(dataset)),
        XXH3_64bits(dataset->labels, dataset->images)};
    return XXH3_64bits(parts, sizeof parts);
}

void cnnvp_dataset_order(uint64_t seed, uint64_t epoch, uint32_t count, uint32_t *order)
{
    const uint64_t own = cnnvp_round_random(seed, epoch);
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    for (uint32_t left = count; left > 1; --left) {
        /* uniform, with a bias below 2^-32 */
        const uint32_t pick = (uint32_t)((cnnvp_round_random(own, left) >> 32) * left >> 32);
        const uint32_t kept = order[left - 1];
        order[left - 1] = order[pick];
        order[pick] = kept;
    }
}
