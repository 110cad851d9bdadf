/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are fitted to a network, and their order. */
#include "data_case.h"

static void images_are_centred(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    data_put_idx(4, 3, 2);
    cnnvp_dataset *dataset = data_must_read(DATA_IDX, 0);
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
    data_put_idx(4, 3, 2);
    cnnvp_dataset *dataset = data_must_read(DATA_IDX, 0);
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
        cmocka_unit_test(images_are_centred),
        cmocka_unit_test(images_must_fit),
        cmocka_unit_test(order_is_a_permutation),
    };
    return cmocka_run_group_tests(tests, data_enter, data_leave);
}
