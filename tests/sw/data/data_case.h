/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets that tests write, each test in a folder of its own. */
#ifndef CNNVP_TESTS_DATA_CASE_H
#define CNNVP_TESTS_DATA_CASE_H

#include "cnnvp_data.h"

#include "test.h"
#include <zlib.h>

#define DATA_IMAGES "dataset_images"
#define DATA_LABELS "dataset_labels"
#define DATA_IDX "idx:dataset_images,dataset_labels"

/* Setup and teardown of a group: the present folder is a new one, and is removed. */
int data_enter(void **state);
int data_leave(void **state);

void data_put(const char *file, const void *bytes, size_t size);
void data_put_gzip(const char *file, const void *bytes, size_t size);
/* An IDX header of unsigned bytes; returns its size. */
size_t data_header(uint8_t *to, uint8_t rank, const uint32_t *dims);
/* Pixel i is i * 7 + 1, label i is i mod 3. Returns the size. */
size_t data_make_images(uint8_t *to, uint32_t count, uint32_t height, uint32_t width);
size_t data_make_labels(uint8_t *to, uint32_t count);
void data_put_idx(uint32_t count, uint32_t height, uint32_t width);
void data_must_fail(const char *text, const char *reason);
cnnvp_dataset *data_must_read(const char *text, uint64_t limit);

#endif
