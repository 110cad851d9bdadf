/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the halves of a buffer: of random extents that are there for random times each one lies at the lowest
 * offset that is free, in the first half that has one, as found by trying every offset; and what is said to be missing
 * is.
 */

#include "test.h"

#include "random.h"
#include "scratchpad.h"

#define EXTENTS 8u
#define ROOM 40u

struct drawn {
    struct cnnvp_extent extents[EXTENTS];
    size_t first[EXTENTS], last[EXTENTS];
};

static struct cnnvp_extent extent_of(const void *of, size_t number)
{
    return ((const struct drawn *)of)->extents[number];
}

static int together(const void *of, size_t number, size_t other)
{
    const struct drawn *drawn = of;
    return drawn->first[number] <= drawn->last[other] && drawn->first[other] <= drawn->last[number];
}

static int is_free(const struct drawn *drawn, size_t number, uint32_t half, uint64_t offset)
{
    for (size_t i = 0; i < number; ++i)
        for (uint64_t byte = offset; byte < offset + drawn->extents[number].bytes; ++byte)
            if (drawn->extents[i].half == half && together(drawn, number, i) && byte >= drawn->extents[i].offset &&
                byte < drawn->extents[i].offset + drawn->extents[i].bytes)
                return 0;
    return 1;
}

static uint64_t lowest(const struct drawn *drawn, size_t number, uint32_t half)
{
    uint64_t offset = 0;
    while (!is_free(drawn, number, half, offset))
        ++offset;
    return offset;
}

/* 1: it has a place. */
static int expect_place(const struct cnnvp_scratchpad *pad, struct drawn *drawn, size_t number, uint32_t first,
                        uint32_t only)
{
    struct cnnvp_extent *extent = &drawn->extents[number];
    uint64_t lack = UINT64_MAX, missing = UINT64_MAX;
    const int found = cnnvp_scratchpad_find(pad, number, first, only, extent, &lack);
    for (uint32_t i = 0; i < pad->halves; ++i) {
        const uint32_t half = (first + i) % pad->halves;
        if (only != CNNVP_SCRATCHPAD_ANY && half != only)
            continue;
        const uint64_t offset = lowest(drawn, number, half);
        if (offset + extent->bytes <= pad->room[half]) {
            assert_true(found);
            assert_int_equal(extent->half, half);
            assert_int_equal(extent->offset, offset);
            return 1;
        }
        if (offset + extent->bytes - pad->room[half] < missing)
            missing = offset + extent->bytes - pad->room[half];
    }
    assert_false(found);
    assert_int_equal(lack, missing);
    return 0;
}

static void each_has_the_lowest_free_offset(void **state)
{
    uint64_t random = 3;
    size_t found = 0, refused = 0;
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        struct drawn drawn = {.extents = {{0}}};
        const struct cnnvp_scratchpad pad = {
            1 + below(&random, 2), {1 + below(&random, ROOM), 1 + below(&random, ROOM)}, &drawn, extent_of, together};
        int placed = 1;
        for (size_t i = 0; i < EXTENTS && placed; ++i) {
            drawn.extents[i].bytes = 1 + below(&random, 12);
            drawn.first[i] = below(&random, 10);
            drawn.last[i] = drawn.first[i] + below(&random, 4);
            placed = expect_place(&pad, &drawn, i, below(&random, pad.halves),
                                  below(&random, 4) != 0 ? CNNVP_SCRATCHPAD_ANY : below(&random, 4));
            found += placed != 0;
            refused += placed == 0;
        }
    }
    assert_true(found > 20000 && refused > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_the_lowest_free_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
