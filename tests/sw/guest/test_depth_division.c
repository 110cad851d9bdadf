/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a feature map's blocks: Morton numbers by counting, or as preset. */
#include "test.h"

#include "binary/network_binary.h"
#include "depth.h"
#include "fake_element.h"

/* Blocks as x * 10 + y, from the first one on; after the last comes the first. */
static void check_order(uint32_t bits_x, uint32_t bits_y, const uint32_t *expected, uint32_t count)
{
    const struct cnnvp_binary_level level = {.bits_x = bits_x, .bits_y = bits_y};
    const struct cnnvp_guest guest = {.machine = NULL};
    struct cnnvp_division division = {0, 0, 0};
    for (uint32_t i = 0; i <= count; ++i) {
        assert_int_equal(division.x * 10u + division.y, expected[i % count]);
        cnnvp_next_block(&guest, &level, &division);
    }
}

/* Bits of x and y in turn, x first; the rest of the longer one on top. */
static void test_counting(void **state)
{
    static const uint32_t square[] = {0, 10, 1, 11, 20, 30, 21, 31, 2, 12, 3, 13, 22, 32, 23, 33};
    static const uint32_t wide[] = {0, 10, 1, 11, 20, 30, 21, 31, 40, 50, 41, 51, 60, 70, 61, 71};
    static const uint32_t tall[] = {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17};
    static const uint32_t row[] = {0, 10, 20, 30};
    static const uint32_t column[] = {0, 1, 2, 3};
    static const uint32_t one[] = {0};
    (void)state;
    check_order(2, 2, square, 16);
    check_order(3, 1, wide, 16);
    check_order(1, 3, tall, 16);
    check_order(2, 0, row, 4);
    check_order(0, 2, column, 4);
    check_order(0, 0, one, 1);
}

static void test_preset(void **state)
{
    enum { AT = 64, BLOCKS = 4 };
    static const uint32_t order[BLOCKS] = {0, 1, 0x10001, 0x10000}; /* clockwise */
    uint8_t memory[AT + sizeof order] = {0};
    struct fake_element element = {.memory = memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    const struct cnnvp_guest guest = {.machine = &machine};
    const struct cnnvp_binary_level level = {.bits_x = 1, .bits_y = 1, .order = CNNVP_MEMORY_BASE + AT};
    struct cnnvp_division division = {0, 0, 0};
    (void)state;
    memcpy(memory + AT, order, sizeof order);
    for (uint32_t i = 1; i <= 2u * BLOCKS; ++i) {
        cnnvp_next_block(&guest, &level, &division);
        assert_int_equal(division.x | division.y << 16, order[i % BLOCKS]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counting), cmocka_unit_test(test_preset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
