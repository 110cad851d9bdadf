/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data sets for training and evaluation: labelled images of one size, read into memory completely. Independent of the
 * platform. The rules of cnnvp.h for results, errors and threads apply.
 */
#ifndef CNNVP_DATA_H
#define CNNVP_DATA_H

#include "cnnvp_network.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct cnnvp_dataset cnnvp_dataset;

struct cnnvp_dataset_info {
    uint64_t images;
    uint32_t channels, height, width;
    uint32_t classes; /* the largest label + 1 */
};

/*
 * Reads a data set:
 *   idx:IMAGES,LABELS       IDX files of unsigned bytes, images [N][H][W] or [N][C][H][W], labels [N]; plain or gzip
 *   cifar10:FILE[,FILE...]  the binary version of CIFAR-10: records of a label byte and 3 x 32 x 32 bytes; plain or
 * gzip Reads at most the first `limit` images; 0: all. More than 1 GiB of images is refused. Free with
 * cnnvp_dataset_free.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_dataset_new(const char *text, uint64_t limit, cnnvp_dataset **dataset,
                                              struct cnnvp_error *error);
void cnnvp_dataset_free(cnnvp_dataset *dataset);

/*
 * Fits the images to a network's input and checks the labels. Smaller images are centred and surrounded by zeros; an
 * odd row or column is added below or to the right. BAD_INPUT if the channels differ, the images are larger, or a label
 * is not below `classes`.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_dataset_fit(cnnvp_dataset *dataset, uint32_t channels, uint32_t height,
                                              uint32_t width, uint32_t classes, struct cnnvp_error *error);

/* The same for the input and outputs of a network (cnnvp_network_find). A vector input takes images with as many
 * values. Sizes that the file leaves open as symbols come from `shapes`, as in struct cnnvp_network_options, or else
 * from the images. */
CNNVP_MUST_USE cnnvp_result cnnvp_dataset_fit_network(cnnvp_dataset *dataset, const char *onnx_file,
                                                      const char *const *shapes, size_t shape_count,
                                                      struct cnnvp_error *error);

void cnnvp_dataset_describe(const cnnvp_dataset *dataset, struct cnnvp_dataset_info *info);

/* [channels][height][width]; a byte stands for x / 255. Valid until the data set is fitted or freed. */
const uint8_t *cnnvp_dataset_image(const cnnvp_dataset *dataset, uint64_t index);
uint32_t cnnvp_dataset_label(const cnnvp_dataset *dataset, uint64_t index);

/* xxh3 of sizes, images and labels. Data sets with the same hash train alike. */
uint64_t cnnvp_dataset_hash(const cnnvp_dataset *dataset);

/* The order of `count` images in an epoch: a permutation of 0 .. count - 1 that depends only on seed, epoch and
 * count. */
void cnnvp_dataset_order(uint64_t seed, uint64_t epoch, uint32_t count, uint32_t *order);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
