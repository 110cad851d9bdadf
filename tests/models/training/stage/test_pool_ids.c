/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of maxima, packed and unpacked. */
#include "training/stage/pool_ids.h"

#include "test.h"

/* Positions in every width, the bits in a known order, and nothing written past the end. */
static void test_ids(void **state)
{
    const uint8_t known[] = {3, 0, 1, 2, 1};
    uint8_t packed[41];
    (void)state;
    cnnvp_pool_ids_pack(known, 5, 2, packed);
    assert_int_equal(packed[0], 0x93);
    assert_int_equal(packed[1], 0x01);
    for (uint32_t width = 1; width <= 8; ++width)
        for (size_t n = 0; n <= 40; ++n) {
            uint8_t ids[40], back[40];
            const size_t bytes = (n * width + 7u) / 8u;
            for (size_t i = 0; i < n; ++i)
                ids[i] = (uint8_t)(cnnvp_round_random(width, n * 64u + i) >> (64u - width));
            packed[bytes] = 0xa5;
            cnnvp_pool_ids_pack(ids, n, width, packed);
            assert_int_equal(packed[bytes], 0xa5);
            cnnvp_pool_ids_unpack(packed, n, width, back);
            for (size_t i = 0; i < n; ++i)
                assert_int_equal(back[i], ids[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
