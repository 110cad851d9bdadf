/* SPDX-License-Identifier: Apache-2.0 */
/* CIFAR-10 files that come back byte for byte, and damaged ones. */
#include "data_case.h"

static const char records_file[] = "dataset_records";
static const char cifar[] = "cifar10:dataset_records";

enum { RECORD = 3073 };

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
    data_put(records_file, records, 150 * RECORD);
    check_cifar(data_must_read(cifar, 0), 150, 150);
    check_cifar(data_must_read(cifar, 1), 1, 150);
    check_cifar(data_must_read(cifar, 64), 64, 150);
    check_cifar(data_must_read(cifar, 149), 149, 150);
    check_cifar(data_must_read("cifar10:dataset_records,dataset_records", 0), 300, 150);
    check_cifar(data_must_read("cifar10:dataset_records,dataset_records", 200), 200, 150);
    /* what is after the limit is not looked at */
    check_cifar(data_must_read("cifar10:dataset_records,dataset_absent", 150), 150, 150);
    data_put_gzip(records_file, records, 150 * RECORD);
    check_cifar(data_must_read(cifar, 0), 150, 150);
    free(records);
}

static void damaged_cifar_is_refused(void **state)
{
    (void)state;
    uint8_t *records = make_records(70);
    data_put(records_file, records, 70 * RECORD - 1);
    data_must_fail(cifar, "cut off in record 69; CIFAR-10's have 3073 bytes");
    data_put(records_file, records, 100);
    data_must_fail(cifar, "cut off in record 0");
    data_put(records_file, records, 0);
    data_must_fail(cifar, "the file is empty");
    records[66 * RECORD] = 10;
    data_put(records_file, records, 70 * RECORD);
    data_must_fail(cifar, "record 66 has label 10; CIFAR-10 has 0 to 9");
    data_must_fail("cifar10:dataset_absent", "dataset_absent: No such file");
    data_must_fail("cifar10:", "the name of a file is empty");
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cifar_comes_back),
        cmocka_unit_test(damaged_cifar_is_refused),
    };
    return cmocka_run_group_tests(tests, data_enter, data_leave);
}
