/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are packed, and damaged on the way. */
#include "data_case.h"

static void damaged_gzip_is_refused(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    static uint8_t packed[65536];
    data_put_idx(9, 5, 4);
    data_put_gzip(DATA_IMAGES, bytes, data_make_images(bytes, 9, 5, 4));
    FILE *stream = fopen(DATA_IMAGES, "rb");
    assert_non_null(stream);
    const size_t size = fread(packed, 1, sizeof packed, stream);
    assert_int_equal(fclose(stream), 0);
    data_put(DATA_IMAGES, packed, size - 1);
    data_must_fail(DATA_IDX, "dataset_images: ");
    data_put(DATA_IMAGES, packed, size / 2);
    data_must_fail(DATA_IDX, "dataset_images: ");
    packed[size / 2] ^= 0x55;
    data_put(DATA_IMAGES, packed, size);
    data_must_fail(DATA_IDX, "dataset_images: ");
}

static void pointers_of_git_lfs_are_named(void **state)
{
    (void)state;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n";
    data_put_idx(9, 5, 4);
    data_put(DATA_IMAGES, pointer, strlen(pointer));
    data_must_fail(DATA_IDX, "dataset_images: a Git LFS pointer: git lfs pull");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(pointers_of_git_lfs_are_named),
    };
    return cmocka_run_group_tests(tests, data_enter, data_leave);
}
