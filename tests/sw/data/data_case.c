/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "data_case.h"

#include <dirent.h>
#include <unistd.h>

static char folder[] = "/tmp/cnnvp_data_XXXXXX";

int data_enter(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

int data_leave(void **state)
{
    (void)state;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return -1;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        (void)unlink(entry->d_name);
    (void)closedir(entries);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

void data_put(const char *file, const void *bytes, size_t size)
{
    FILE *stream = fopen(file, "wb");
    assert_non_null(stream);
    /* cppcheck-suppress uninitvar ; the callers fill what they hand over */
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

void data_put_gzip(const char *file, const void *bytes, size_t size)
{
    gzFile stream = gzopen(file, "wb");
    assert_non_null(stream);
    assert_int_equal(gzwrite(stream, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(stream), Z_OK);
}

size_t data_header(uint8_t *to, uint8_t rank, const uint32_t *dims)
{
    const uint8_t start[4] = {0, 0, 8, rank};
    memcpy(to, start, 4);
    for (size_t i = 0; i < rank; ++i)
        for (size_t byte = 0; byte < 4; ++byte)
            to[4 + 4 * i + byte] = (uint8_t)(dims[i] >> (24 - 8 * byte));
    return 4u + 4u * rank;
}

size_t data_make_images(uint8_t *to, uint32_t count, uint32_t height, uint32_t width)
{
    const size_t start = data_header(to, 3, (const uint32_t[]){count, height, width});
    for (size_t i = 0; i < (size_t)count * height * width; ++i)
        to[start + i] = (uint8_t)(i * 7 + 1);
    return start + (size_t)count * height * width;
}

size_t data_make_labels(uint8_t *to, uint32_t count)
{
    const size_t start = data_header(to, 1, &count);
    for (size_t i = 0; i < count; ++i)
        to[start + i] = (uint8_t)(i % 3);
    return start + count;
}

void data_put_idx(uint32_t count, uint32_t height, uint32_t width)
{
    uint8_t bytes[4096];
    data_put(DATA_IMAGES, bytes, data_make_images(bytes, count, height, width));
    data_put(DATA_LABELS, bytes, data_make_labels(bytes, count));
}

void data_must_fail(const char *text, const char *reason)
{
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_dataset_new(text, 0, &dataset, &error), CNNVP_BAD_INPUT);
    assert_null(dataset);
    if (strstr(error.text, reason) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", reason, error.text);
}

cnnvp_dataset *data_must_read(const char *text, uint64_t limit)
{
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    if (cnnvp_dataset_new(text, limit, &dataset, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return dataset;
}
