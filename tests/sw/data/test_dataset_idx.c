/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files that come back byte for byte, and damaged ones. */
#include "data_case.h"

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
    data_put_idx(9, 5, 4);
    check_idx(data_must_read(DATA_IDX, 0), 9, 5, 4);
    check_idx(data_must_read(DATA_IDX, 2), 2, 5, 4);
    check_idx(data_must_read(DATA_IDX, 9), 9, 5, 4);
    check_idx(data_must_read(DATA_IDX, 100), 9, 5, 4);
    data_put_gzip(DATA_IMAGES, bytes, data_make_images(bytes, 9, 5, 4));
    check_idx(data_must_read(DATA_IDX, 0), 9, 5, 4);
    data_put_gzip(DATA_LABELS, bytes, data_make_labels(bytes, 9));
    check_idx(data_must_read(DATA_IDX, 0), 9, 5, 4);
    check_idx(data_must_read(DATA_IDX, 7), 7, 5, 4);
}

static void idx_has_channels(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    const size_t start = data_header(bytes, 4, (const uint32_t[]){2, 3, 2, 2});
    for (size_t i = 0; i < 24; ++i)
        bytes[start + i] = (uint8_t)i;
    data_put(DATA_IMAGES, bytes, start + 24);
    data_put(DATA_LABELS, bytes, data_make_labels(bytes, 2));
    cnnvp_dataset *dataset = data_must_read(DATA_IDX, 0);
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
    const size_t size = data_make_images(bytes, 9, 5, 4);
    data_put_idx(9, 5, 4);
    for (size_t cut = 0; cut < size; ++cut) {
        data_put(DATA_IMAGES, bytes, cut);
        data_must_fail(DATA_IDX, cut < 4    ? "not an IDX file"
                                 : cut < 16 ? "cut off within its header"
                                            : "cut off in image");
    }
    bytes[size] = 0;
    data_put(DATA_IMAGES, bytes, size + 1);
    data_must_fail(DATA_IDX, "it has more elements than its header says");
    bytes[2] = 0x0d;
    data_put(DATA_IMAGES, bytes, size);
    data_must_fail(DATA_IDX, "IDX type 0x0d; unsigned bytes (0x08)");
    bytes[2] = 8;
    bytes[3] = 9;
    data_put(DATA_IMAGES, bytes, size);
    data_must_fail(DATA_IDX, "9 dimensions");
    data_put(DATA_IMAGES, bytes, data_header(bytes, 3, (const uint32_t[]){4, 0, 4}));
    data_must_fail(DATA_IDX, "dimension 1 is 0");
    /* claims of gigabytes in a file of bytes */
    data_put(DATA_IMAGES, bytes, data_header(bytes, 3, (const uint32_t[]){UINT32_MAX, 65536, 65536}));
    data_must_fail(DATA_IDX, "more than 1 GiB; use fewer (--limit)");
    data_put(DATA_IMAGES, bytes, data_header(bytes, 3, (const uint32_t[]){1, 32768, 32768}));
    data_must_fail(DATA_IDX, "cut off in image 0 of 1");
}

static void images_and_labels_belong_together(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    data_put_idx(9, 5, 4);
    data_put(DATA_LABELS, bytes, data_make_labels(bytes, 8));
    data_must_fail(DATA_IDX, "8 labels for the 9 images of dataset_images");
    data_put(DATA_LABELS, bytes, data_make_labels(bytes, 9) - 1);
    data_must_fail(DATA_IDX, "cut off in label 8 of 9");
    data_put(DATA_LABELS, bytes, data_make_images(bytes, 9, 1, 1));
    data_must_fail(DATA_IDX, "labels are [N]");
    data_must_fail("idx:dataset_labels", "two files are needed");
    data_must_fail("idx:a,b,c", "two files are needed");
    data_must_fail("idx:,dataset_labels", "the name of a file is empty");
    data_must_fail("idx:dataset_absent,dataset_labels", "dataset_absent: No such file");
    data_must_fail("idx:.,dataset_labels", "a folder; a file is needed");
    data_must_fail("mnist:dataset_images", "idx:IMAGES,LABELS or cifar10:FILE[,FILE...] is needed");
    data_put_idx(9, 5, 4);
    data_must_fail("idx:dataset_labels,dataset_images", "are images and labels exchanged?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_comes_back),
        cmocka_unit_test(idx_has_channels),
        cmocka_unit_test(damaged_idx_is_refused),
        cmocka_unit_test(images_and_labels_belong_together),
    };
    return cmocka_run_group_tests(tests, data_enter, data_leave);
}
