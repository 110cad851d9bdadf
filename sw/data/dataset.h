/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the readers of data sets. */
#pragma once

#include <zlib.h>

#include "base.h"
#include "cnnvp_data.h"

/* Maximum size of all images in bytes. */
#define CNNVP_DATASET_BYTES_MAX ((uint64_t)1 << 30)
#define CNNVP_DATASET_SIDE_MAX 65536u

struct cnnvp_dataset {
    uint64_t images;
    uint32_t channels, height, width;
    uint8_t *pixels;
    uint8_t *labels;
    /* for messages: the files of images and labels, the first one if there are several */
    char *image_source;
    char *label_source;
};

/* Sets image_source and label_source. */
CNNVP_MUST_USE cnnvp_result cnnvp_data_sources(struct cnnvp_dataset *dataset, const char *images, const char *labels,
                                               struct cnnvp_error *error);

/* ---- a file, decompressed on reading if it is gzip ---- */

struct cnnvp_data_file {
    const char *name;
    gzFile stream;
    struct cnnvp_error *error;
};

CNNVP_MUST_USE cnnvp_result cnnvp_data_open(const char *name, struct cnnvp_data_file *file, struct cnnvp_error *error);
void cnnvp_data_close(struct cnnvp_data_file *file);
/* Reads `size` bytes; *got is less only at the end of the file. A damaged or truncated gzip file is an error. */
CNNVP_MUST_USE cnnvp_result cnnvp_data_some(struct cnnvp_data_file *file, void *data, size_t size, size_t *got);
/* Appends `size` bytes to the `used` bytes of a buffer. The buffer grows as data arrives, so a false size in a file
 * cannot make it much larger than the file's content. *got is less than `size` only at the end of the file. */
CNNVP_MUST_USE cnnvp_result cnnvp_data_append(struct cnnvp_data_file *file, uint8_t **buffer, size_t used, size_t size,
                                              size_t *got);

/* ---- formats ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_data_idx(char *files, uint64_t limit, struct cnnvp_dataset *dataset,
                                           struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_data_cifar10(char *files, uint64_t limit, struct cnnvp_dataset *dataset,
                                               struct cnnvp_error *error);
