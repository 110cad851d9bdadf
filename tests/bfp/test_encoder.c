/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding module: known bit strings, and every width there and back. */
#include "bfp/encoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_encoder_bytes(0, 8), 0);
    assert_int_equal(cnnvp_encoder_bytes(9, 8), 9);
    assert_int_equal(cnnvp_encoder_bytes(9, 1), 2);
    assert_int_equal(cnnvp_encoder_bytes(3, 24), 9);
    assert_int_equal(cnnvp_encoder_bytes(5, 2), 2);
    assert_int_equal(cnnvp_encoder_bytes(UINT64_C(1) << 62, 1), UINT64_C(1) << 59);
    assert_true(cnnvp_encoder_bytes(UINT64_MAX, 32) == UINT64_MAX);
    assert_true(cnnvp_encoder_bytes(UINT64_MAX, 8) == UINT64_MAX);
}

static void test_known(void **state)
{
    const int8_t five[] = {1, -1, -16, 15};       /* 00001 11111 10000 01111 from bit 0 up */
    const uint8_t packed5[] = {0xe1, 0xc3, 0x07}; /* 1 + 31 * 2^5 + 16 * 2^10 + 15 * 2^15 = 0x7c3e1 */
    const int8_t bytes[] = {-128, 127, 0, -1};
    const uint8_t same[] = {0x80, 0x7f, 0x00, 0xff};
    const uint8_t bits[] = {1, 0, 1, 1, 0, 0, 0, 1, 1};
    const uint8_t packed1[] = {0x8d, 0x01};
    const uint8_t positions[] = {3, 0, 1, 2};
    uint8_t out[8] = {0};
    (void)state;
    cnnvp_encoder_pack(five, 4, 5, out);
    assert_memory_equal(out, packed5, 3);
    cnnvp_encoder_pack(bytes, 4, 8, out);
    assert_memory_equal(out, same, 4);
    cnnvp_encoder_pack_bits(bits, 9, 1, out);
    assert_memory_equal(out, packed1, 2);
    cnnvp_encoder_pack_bits(positions, 4, 2, out);
    assert_int_equal(out[0], 0x93);
}

static void test_round_trip(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (uint32_t width = 1; width <= 24; ++width)
        for (uint64_t n = 0; n < 40; ++n) {
            const uint64_t bytes = cnnvp_encoder_bytes(n, width);
            uint8_t *packed = malloc(bytes + 1);
            int32_t in[40], out[40];
            int8_t in8[40], out8[40];
            uint8_t raw[40], back[40];
            assert_non_null(packed);
            packed[bytes] = 0xa5; /* nothing is written behind the end */
            for (uint64_t i = 0; i < n; ++i) {
                in[i] = (int32_t)(next(&random) % (UINT64_C(1) << width)) - (int32_t)(1u << (width - 1u));
                in8[i] = (int8_t)(width <= 8 ? in[i] : 0);
                raw[i] = (uint8_t)(next(&random) % (UINT64_C(1) << (width < 8 ? width : 8)));
            }
            cnnvp_encoder_pack_wide(in, n, width, packed);
            cnnvp_encoder_unpack_wide(packed, n, width, out);
            assert_int_equal(n == 0 ? 0 : memcmp(in, out, n * sizeof in[0]), 0);
            if (width <= 8) {
                uint8_t *narrow = malloc(bytes + 1);
                assert_non_null(narrow);
                cnnvp_encoder_pack(in8, n, width, narrow);
                assert_int_equal(bytes == 0 ? 0 : memcmp(narrow, packed, bytes), 0);
                cnnvp_encoder_unpack(narrow, n, width, out8);
                assert_int_equal(n == 0 ? 0 : memcmp(in8, out8, n), 0);
                cnnvp_encoder_pack_bits(raw, n, width, narrow);
                cnnvp_encoder_unpack_bits(narrow, n, width, back);
                assert_int_equal(n == 0 ? 0 : memcmp(raw, back, n), 0);
                free(narrow);
            }
            assert_int_equal(packed[bytes], 0xa5);
            free(packed);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
