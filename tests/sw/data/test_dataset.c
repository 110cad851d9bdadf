/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets that are read back byte for byte, and files that are damaged in every way the formats allow. */
#include "cnnvp_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

static const char images_file[] = "dataset_images";
static const char labels_file[] = "dataset_labels";
static const char idx[] = "idx:dataset_images,dataset_labels";
static const char records_file[] = "dataset_records";
static const char cifar[] = "cifar10:dataset_records";

enum { RECORD = 3073 };

static void put(const char *file, const void *bytes, size_t size)
{
    FILE *stream = fopen(file, "wb");
    assert_non_null(stream);
    /* cppcheck-suppress uninitvar ; the callers fill what they hand over */
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void put_gzip(const char *file, const void *bytes, size_t size)
{
    gzFile stream = gzopen(file, "wb");
    assert_non_null(stream);
    assert_int_equal(gzwrite(stream, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(stream), Z_OK);
}

/* An IDX header of unsigned bytes; returns its size. */
static size_t header(uint8_t *to, uint8_t rank, const uint32_t *dims)
{
    const uint8_t start[4] = {0, 0, 8, rank};
    memcpy(to, start, 4);
    for (size_t i = 0; i < rank; ++i)
        for (size_t byte = 0; byte < 4; ++byte)
            to[4 + 4 * i + byte] = (uint8_t)(dims[i] >> (24 - 8 * byte));
    return 4u + 4u * rank;
}

/* Pixel i is i * 7 + 1, label i is i mod 3. Returns the size. */
static size_t make_images(uint8_t *to, uint32_t count, uint32_t height, uint32_t width)
{
    const size_t start = header(to, 3, (const uint32_t[]){count, height, width});
    for (size_t i = 0; i < (size_t)count * height * width; ++i)
        to[start + i] = (uint8_t)(i * 7 + 1);
    return start + (size_t)count * height * width;
}

static size_t make_labels(uint8_t *to, uint32_t count)
{
    const size_t start = header(to, 1, &count);
    for (size_t i = 0; i < count; ++i)
        to[start + i] = (uint8_t)(i % 3);
    return start + count;
}

static void put_idx(uint32_t count, uint32_t height, uint32_t width)
{
    uint8_t bytes[4096];
    put(images_file, bytes, make_images(bytes, count, height, width));
    put(labels_file, bytes, make_labels(bytes, count));
}

static void must_fail(const char *text, const char *reason)
{
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_dataset_new(text, 0, &dataset, &error), CNNVP_BAD_INPUT);
    assert_null(dataset);
    if (strstr(error.text, reason) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", reason, error.text);
}

static cnnvp_dataset *must_read(const char *text, uint64_t limit)
{
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    if (cnnvp_dataset_new(text, limit, &dataset, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return dataset;
}

static void check_idx(cnnvp_dataset *dataset, uint64_t count, uint32_t height, uint32_t width)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    assert_int_equal(info.images, count);
    assert_int_equal(info.channels, 1);
    assert_int_equal(info.height, height);
    assert_int_equal(info.width, width);
    assert_int_equal(info.classes, count < 3 ? count : 3);
    for (uint64_t i = 0; i < count; ++i) {
        assert_int_equal(cnnvp_dataset_label(dataset, i), i % 3);
        for (uint64_t p = 0; p < height * width; ++p)
            assert_int_equal(cnnvp_dataset_image(dataset, i)[p], (uint8_t)((i * height * width + p) * 7 + 1));
    }
    cnnvp_dataset_free(dataset);
}

static void idx_comes_back(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    put_idx(9, 5, 4);
    check_idx(must_read(idx, 0), 9, 5, 4);
    check_idx(must_read(idx, 2), 2, 5, 4);
    check_idx(must_read(idx, 9), 9, 5, 4);
    check_idx(must_read(idx, 100), 9, 5, 4);
    put_gzip(images_file, bytes, make_images(bytes, 9, 5, 4));
    check_idx(must_read(idx, 0), 9, 5, 4);
    put_gzip(labels_file, bytes, make_labels(bytes, 9));
    check_idx(must_read(idx, 0), 9, 5, 4);
    check_idx(must_read(idx, 7), 7, 5, 4);
}

static void idx_has_channels(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    const size_t start = header(bytes, 4, (const uint32_t[]){2, 3, 2, 2});
    for (size_t i = 0; i < 24; ++i)
        bytes[start + i] = (uint8_t)i;
    put(images_file, bytes, start + 24);
    put(labels_file, bytes, make_labels(bytes, 2));
    cnnvp_dataset *dataset = must_read(idx, 0);
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    assert_int_equal(info.channels, 3);
    assert_int_equal(cnnvp_dataset_image(dataset, 1)[5], 17);
    cnnvp_dataset_free(dataset);
}

static void damaged_idx_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    const size_t size = make_images(bytes, 9, 5, 4);
    put_idx(9, 5, 4);
    for (size_t cut = 0; cut < size; ++cut) {
        put(images_file, bytes, cut);
        must_fail(idx, cut < 4 ? "not an IDX file" : cut < 16 ? "cut off within its header" : "cut off in image");
    }
    bytes[size] = 0;
    put(images_file, bytes, size + 1);
    must_fail(idx, "it has more elements than its header says");
    bytes[2] = 0x0d;
    put(images_file, bytes, size);
    must_fail(idx, "IDX type 0x0d; unsigned bytes (0x08)");
    bytes[2] = 8;
    bytes[3] = 9;
    put(images_file, bytes, size);
    must_fail(idx, "9 dimensions");
    put(images_file, bytes, header(bytes, 3, (const uint32_t[]){4, 0, 4}));
    must_fail(idx, "dimension 1 is 0");
    /* claims of gigabytes in a file of bytes */
    put(images_file, bytes, header(bytes, 3, (const uint32_t[]){UINT32_MAX, 65536, 65536}));
    must_fail(idx, "more than 1 GiB; use fewer (--limit)");
    put(images_file, bytes, header(bytes, 3, (const uint32_t[]){1, 32768, 32768}));
    must_fail(idx, "cut off in image 0 of 1");
}

static void images_and_labels_belong_together(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    put_idx(9, 5, 4);
    put(labels_file, bytes, make_labels(bytes, 8));
    must_fail(idx, "8 labels for the 9 images of dataset_images");
    put(labels_file, bytes, make_labels(bytes, 9) - 1);
    must_fail(idx, "cut off in label 8 of 9");
    put(labels_file, bytes, make_images(bytes, 9, 1, 1));
    must_fail(idx, "labels are [N]");
    must_fail("idx:dataset_labels", "two files are needed");
    must_fail("idx:a,b,c", "two files are needed");
    must_fail("idx:,dataset_labels", "the name of a file is empty");
    must_fail("idx:dataset_absent,dataset_labels", "dataset_absent: No such file");
    must_fail("idx:.,dataset_labels", "a folder; a file is needed");
    must_fail("mnist:dataset_images", "idx:IMAGES,LABELS or cifar10:FILE[,FILE...] is needed");
    put_idx(9, 5, 4);
    must_fail("idx:dataset_labels,dataset_images", "are images and labels exchanged?");
}

static void damaged_gzip_is_refused(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    static uint8_t packed[65536];
    put_idx(9, 5, 4);
    put_gzip(images_file, bytes, make_images(bytes, 9, 5, 4));
    FILE *stream = fopen(images_file, "rb");
    assert_non_null(stream);
    const size_t size = fread(packed, 1, sizeof packed, stream);
    assert_int_equal(fclose(stream), 0);
    put(images_file, packed, size - 1);
    must_fail(idx, "dataset_images: ");
    put(images_file, packed, size / 2);
    must_fail(idx, "dataset_images: ");
    packed[size / 2] ^= 0x55;
    put(images_file, packed, size);
    must_fail(idx, "dataset_images: ");
}

static uint8_t *make_records(size_t count)
{
    uint8_t *records = calloc(count, RECORD);
    assert_non_null(records);
    for (size_t i = 0; i < count; ++i) {
        records[i * RECORD] = (uint8_t)(i % 10);
        for (size_t p = 1; p < RECORD; ++p)
            records[i * RECORD + p] = (uint8_t)(i * 31 + p);
    }
    return records;
}

static void check_cifar(cnnvp_dataset *dataset, uint64_t count, uint64_t in_file)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    assert_int_equal(info.images, count);
    assert_int_equal(info.channels, 3);
    assert_int_equal(info.height, 32);
    assert_int_equal(info.width, 32);
    for (uint64_t i = 0; i < count; ++i) {
        assert_int_equal(cnnvp_dataset_label(dataset, i), i % in_file % 10);
        for (size_t p = 1; p < RECORD; p += 97)
            assert_int_equal(cnnvp_dataset_image(dataset, i)[p - 1], (uint8_t)(i % in_file * 31 + p));
    }
    cnnvp_dataset_free(dataset);
}

static void cifar_comes_back(void **state)
{
    (void)state;
    uint8_t *records = make_records(150);
    put(records_file, records, 150 * RECORD);
    check_cifar(must_read(cifar, 0), 150, 150);
    check_cifar(must_read(cifar, 1), 1, 150);
    check_cifar(must_read(cifar, 64), 64, 150);
    check_cifar(must_read(cifar, 149), 149, 150);
    check_cifar(must_read("cifar10:dataset_records,dataset_records", 0), 300, 150);
    check_cifar(must_read("cifar10:dataset_records,dataset_records", 200), 200, 150);
    /* what is after the limit is not looked at */
    check_cifar(must_read("cifar10:dataset_records,dataset_absent", 150), 150, 150);
    put_gzip(records_file, records, 150 * RECORD);
    check_cifar(must_read(cifar, 0), 150, 150);
    free(records);
}

static void damaged_cifar_is_refused(void **state)
{
    (void)state;
    uint8_t *records = make_records(70);
    put(records_file, records, 70 * RECORD - 1);
    must_fail(cifar, "cut off in record 69; CIFAR-10's have 3073 bytes");
    put(records_file, records, 100);
    must_fail(cifar, "cut off in record 0");
    put(records_file, records, 0);
    must_fail(cifar, "the file is empty");
    records[66 * RECORD] = 10;
    put(records_file, records, 70 * RECORD);
    must_fail(cifar, "record 66 has label 10; CIFAR-10 has 0 to 9");
    must_fail("cifar10:dataset_absent", "dataset_absent: No such file");
    must_fail("cifar10:", "the name of a file is empty");
    free(records);
}

static void images_are_centred(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    put_idx(4, 3, 2);
    cnnvp_dataset *dataset = must_read(idx, 0);
    const uint64_t before = cnnvp_dataset_hash(dataset);
    assert_int_equal(cnnvp_dataset_fit(dataset, 1, 3, 2, 3, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_dataset_hash(dataset), before);
    assert_int_equal(cnnvp_dataset_fit(dataset, 1, 6, 4, 3, &error), CNNVP_DONE);
    assert_int_not_equal(cnnvp_dataset_hash(dataset), before);
    for (uint32_t n = 0; n < 4; ++n)
        for (uint32_t y = 0; y < 6; ++y)
            for (uint32_t x = 0; x < 4; ++x) {
                const int inside = y >= 1 && y < 4 && x >= 1 && x < 3;
                const uint8_t want = inside ? (uint8_t)((n * 6 + (y - 1) * 2 + x - 1) * 7 + 1) : 0;
                assert_int_equal(cnnvp_dataset_image(dataset, n)[y * 4 + x], want);
            }
    cnnvp_dataset_free(dataset);
}

static void images_must_fit(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    put_idx(4, 3, 2);
    cnnvp_dataset *dataset = must_read(idx, 0);
    assert_int_equal(cnnvp_dataset_fit(dataset, 1, 2, 2, 3, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "1 channels of 3 x 2; the network takes 1 of 2 x 2"));
    assert_int_equal(cnnvp_dataset_fit(dataset, 3, 3, 2, 3, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_dataset_fit(dataset, 1, 3, 2, 2, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "label 2 of image 2 is out of range; the network has 2 classes, 0 to 1"));
    assert_int_equal(cnnvp_dataset_fit(dataset, 1, 65536, 65536, 3, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "more than 1 GiB"));
    cnnvp_dataset_free(dataset);
}

/* Each image once an epoch; other orders in other epochs and with other seeds. First places are spread evenly. */
static void order_is_a_permutation(void **state)
{
    (void)state;
    uint32_t order[257], again[257], first[8] = {0};
    uint8_t seen[257];
    for (uint32_t count = 0; count <= 257; ++count) {
        memset(seen, 0, sizeof seen);
        cnnvp_dataset_order(5, 3, count, order);
        for (uint32_t i = 0; i < count; ++i) {
            assert_true(order[i] < count);
            assert_int_equal(seen[order[i]]++, 0);
        }
    }
    cnnvp_dataset_order(5, 3, 257, again);
    assert_memory_equal(order, again, sizeof order);
    cnnvp_dataset_order(5, 4, 257, again);
    assert_memory_not_equal(order, again, sizeof order);
    cnnvp_dataset_order(6, 3, 257, again);
    assert_memory_not_equal(order, again, sizeof order);
    for (uint64_t epoch = 0; epoch < 8000; ++epoch) {
        cnnvp_dataset_order(1, epoch, 8, order);
        ++first[order[0]];
    }
    for (size_t i = 0; i < 8; ++i)
        assert_in_range(first[i], 850, 1150); /* 1000, five standard deviations */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_comes_back),           cmocka_unit_test(idx_has_channels),
        cmocka_unit_test(damaged_idx_is_refused),   cmocka_unit_test(images_and_labels_belong_together),
        cmocka_unit_test(damaged_gzip_is_refused),  cmocka_unit_test(cifar_comes_back),
        cmocka_unit_test(damaged_cifar_is_refused), cmocka_unit_test(images_are_centred),
        cmocka_unit_test(images_must_fit),          cmocka_unit_test(order_is_a_permutation),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(images_file);
    (void)unlink(labels_file);
    (void)unlink(records_file);
    return failed;
}
