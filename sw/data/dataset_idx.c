/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads IDX files, the format of MNIST: two zero bytes, the type (8: unsigned byte), the number of dimensions, each
 * dimension as a big-endian 32-bit number, then the elements.
 */
#include <inttypes.h>
#include <string.h>

#include "dataset.h"

#define TYPE_BYTE 8
#define RANK_MAX 4

static cnnvp_result read_header(struct cnnvp_data_file *file, uint8_t *rank, uint32_t dims[RANK_MAX])
{
    uint8_t bytes[4 + 4 * RANK_MAX];
    size_t got;
    CNNVP_TRY(cnnvp_data_some(file, bytes, 4, &got));
    if (got != 4 || bytes[0] != 0 || bytes[1] != 0)
        return cnnvp_config_error(
            file->error, NULL, "%s: not an IDX file; it must begin with two zero bytes", file->name);
    if (bytes[2] != TYPE_BYTE)
        return cnnvp_config_error(
            file->error, NULL, "%s: elements of IDX type 0x%02x; unsigned bytes (0x08) are needed", file->name,
            bytes[2]);
    *rank = bytes[3];
    if (*rank < 1 || *rank > RANK_MAX)
        return cnnvp_config_error(
            file->error, NULL, "%s: %u dimensions; images have 3 or 4, labels 1", file->name, *rank);
    CNNVP_TRY(cnnvp_data_some(file, bytes + 4, 4u * *rank, &got));
    if (got != 4u * *rank)
        return cnnvp_config_error(file->error, NULL, "%s: cut off within its header", file->name);
    for (size_t i = 0; i < *rank; ++i)
        dims[i] = (uint32_t)bytes[4 + 4 * i] << 24 | (uint32_t)bytes[5 + 4 * i] << 16 |
                  (uint32_t)bytes[6 + 4 * i] << 8 | (uint32_t)bytes[7 + 4 * i];
    return CNNVP_DONE;
}

/* Refuses a file with data after the last element. */
static cnnvp_result check_end(struct cnnvp_data_file *file)
{
    uint8_t byte;
    size_t got;
    CNNVP_TRY(cnnvp_data_some(file, &byte, 1, &got));
    return got == 0
               ? CNNVP_DONE
               : cnnvp_config_error(file->error, NULL, "%s: it has more elements than its header says", file->name);
}

/* Reads the first `wanted` of `all` elements of `size` bytes each. */
static cnnvp_result read_elements(struct cnnvp_data_file *file, const char *what, uint64_t all, uint64_t wanted,
                                  uint64_t size, uint8_t **data)
{
    size_t got = 0;
    CNNVP_TRY(cnnvp_data_append(file, data, 0, (size_t)(wanted * size), &got));
    if (got != wanted * size)
        return cnnvp_config_error(file->error, NULL, "%s: cut off in %s %" PRIu64 " of %" PRIu64, file->name, what,
                                  (uint64_t)got / size, all);
    return wanted == all ? check_end(file) : CNNVP_DONE;
}

static cnnvp_result read_images(struct cnnvp_data_file *file, uint64_t limit, struct cnnvp_dataset *dataset,
                                uint64_t *all)
{
    uint8_t rank;
    uint32_t dims[RANK_MAX];
    CNNVP_TRY(read_header(file, &rank, dims));
    if (rank < 3)
        return cnnvp_config_error(file->error, NULL,
                                  "%s: %u dimensions; images are [N][height][width] or "
                                  "[N][channels][height][width]%s",
                                  file->name, rank, rank == 1 ? " (are images and labels exchanged?)" : "");
    dataset->channels = rank == 4 ? dims[1] : 1;
    dataset->height = dims[rank - 2];
    dataset->width = dims[rank - 1];
    for (size_t i = 0; i < rank; ++i)
        if (dims[i] == 0 || (i > 0 && dims[i] > CNNVP_DATASET_SIDE_MAX))
            return cnnvp_config_error(file->error, NULL, "%s: dimension %zu is %" PRIu32 "; %s is possible", file->name,
                                      i, dims[i], i == 0 ? "1 and more" : "1 to 65536");
    *all = dims[0];
    dataset->images = limit != 0 && limit < *all ? limit : *all;
    const uint64_t plane = (uint64_t)dataset->height * dataset->width;
    if (plane > CNNVP_DATASET_BYTES_MAX / dataset->channels ||
        dataset->images > CNNVP_DATASET_BYTES_MAX / (plane * dataset->channels))
        return cnnvp_config_error(file->error, NULL,
                                  "%s: %" PRIu64 " images of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                                  " bytes are more than 1 GiB; use fewer (--limit)",
                                  file->name, dataset->images, dataset->channels, dataset->height, dataset->width);
    return read_elements(file, "image", *all, dataset->images, plane * dataset->channels, &dataset->pixels);
}

static cnnvp_result read_labels(struct cnnvp_data_file *file, const char *images_name, uint64_t all,
                                struct cnnvp_dataset *dataset)
{
    uint8_t rank;
    uint32_t dims[RANK_MAX];
    CNNVP_TRY(read_header(file, &rank, dims));
    if (rank != 1)
        return cnnvp_config_error(file->error, NULL, "%s: %u dimensions; labels are [N]", file->name, rank);
    if (dims[0] != all)
        return cnnvp_config_error(file->error, NULL, "%s: %" PRIu32 " labels for the %" PRIu64 " images of %s",
                                  file->name, dims[0], all, images_name);
    return read_elements(file, "label", all, dataset->images, 1, &dataset->labels);
}

cnnvp_result cnnvp_data_idx(char *files, uint64_t limit, struct cnnvp_dataset *dataset, struct cnnvp_error *error)
{
    char *labels_name = strchr(files, ',');
    if (labels_name == NULL || strchr(labels_name + 1, ',') != NULL)
        return cnnvp_config_error(error, NULL, "data set \"idx:%s\": two files are needed, idx:IMAGES,LABELS", files);
    *labels_name++ = '\0';
    CNNVP_SCOPED(cnnvp_data_close) struct cnnvp_data_file images = {0};
    CNNVP_SCOPED(cnnvp_data_close) struct cnnvp_data_file labels = {0};
    uint64_t all = 0;
    CNNVP_TRY(cnnvp_data_open(files, &images, error));
    CNNVP_TRY(cnnvp_data_open(labels_name, &labels, error));
    CNNVP_TRY(read_images(&images, limit, dataset, &all));
    CNNVP_TRY(read_labels(&labels, files, all, dataset));
    return cnnvp_data_sources(dataset, files, labels_name, error);
}
