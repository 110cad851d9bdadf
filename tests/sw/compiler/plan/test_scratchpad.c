/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the halves of a buffer: of random extents that are there for random times, or for ever, each one lies at
 * the lowest offset that is free from the edge, in the first half that has one, as found by trying every offset; what
 * is said to be missing is, and what is said to be free below all of them is.
 */

#include "test.h"

#include "random.h"
#include "scratchpad.h"

#define EXTENTS 8u
#define ROOM 40u

struct drawn {
    struct cnnvp_place places[EXTENTS];
    size_t count;
};

static uint64_t offset_of(const struct cnnvp_scratchpad *pad, const struct cnnvp_place *place)
{
    return pad->from_top ? pad->room[place->half] - place->address - place->bytes : place->address;
}

static int is_free(const struct cnnvp_scratchpad *pad, const struct drawn *drawn, uint32_t half, uint64_t offset)
{
    const struct cnnvp_place *wanted = &drawn->places[drawn->count];
    for (size_t i = 0; i < drawn->count; ++i) {
        const struct cnnvp_place *other = &drawn->places[i];
        for (uint64_t byte = offset; byte < offset + wanted->bytes; ++byte)
            if (other->half == half && wanted->begin <= other->end && other->begin <= wanted->end &&
                byte >= offset_of(pad, other) && byte < offset_of(pad, other) + other->bytes)
                return 0;
    }
    return 1;
}

static uint64_t lowest(const struct cnnvp_scratchpad *pad, const struct drawn *drawn, uint32_t half)
{
    uint64_t offset = 0;
    while (!is_free(pad, drawn, half, offset))
        ++offset;
    return offset;
}

/* 1: it has a place. */
static int expect_place(struct cnnvp_scratchpad *pad, struct drawn *drawn, uint32_t first, uint32_t only)
{
    struct cnnvp_place *place = &drawn->places[drawn->count];
    uint64_t lack = UINT64_MAX, missing = UINT64_MAX;
    const int found = cnnvp_scratchpad_put(pad, first, only, place, &lack);
    for (uint32_t i = 0; i < pad->halves; ++i) {
        const uint32_t half = (first + i) % pad->halves;
        if (only != CNNVP_SCRATCHPAD_ANY && half != only)
            continue;
        const uint64_t offset = lowest(pad, drawn, half);
        if (offset + place->bytes <= pad->room[half]) {
            assert_true(found);
            assert_int_equal(place->half, half);
            assert_int_equal(offset_of(pad, place), offset);
            ++drawn->count;
            return 1;
        }
        if (offset + place->bytes - pad->room[half] < missing)
            missing = offset + place->bytes - pad->room[half];
    }
    assert_false(found);
    assert_int_equal(lack, missing);
    return 0;
}

/* Byte by byte: nothing that is there in these steps lies below what is said to be free. */
static void expect_free_below(const struct cnnvp_scratchpad *pad, const struct drawn *drawn, uint32_t half, size_t step)
{
    uint64_t top = 0;
    int taken = 0;
    while (top < pad->room[half] && !taken) {
        for (size_t i = 0; i < drawn->count; ++i)
            taken |= drawn->places[i].half == half && drawn->places[i].begin <= step && step <= drawn->places[i].end &&
                     drawn->places[i].address == top;
        top += !taken;
    }
    assert_int_equal(cnnvp_scratchpad_free_below(pad, half, step, step, pad->room[half]), top);
}

static void each_has_the_lowest_free_offset(void **state)
{
    uint64_t random = 3;
    size_t found = 0, refused = 0;
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        struct drawn drawn = {.count = 0};
        struct cnnvp_scratchpad pad = {.halves = 1 + below(&random, 2),
                                       .room = {1 + below(&random, ROOM), 1 + below(&random, ROOM)},
                                       .from_top = (int)below(&random, 2)};
        int placed = 1;
        while (drawn.count < EXTENTS && placed) {
            struct cnnvp_place *place = &drawn.places[drawn.count];
            place->bytes = 1 + below(&random, 12);
            place->begin = below(&random, 10);
            place->end = place->begin + below(&random, 4);
            if (below(&random, 3) == 0) {
                place->begin = 0;
                place->end = CNNVP_FOR_EVER;
            }
            placed = expect_place(&pad, &drawn, below(&random, pad.halves),
                                  below(&random, 4) != 0 ? CNNVP_SCRATCHPAD_ANY : below(&random, 4));
            found += placed != 0;
            refused += placed == 0;
        }
        expect_free_below(&pad, &drawn, below(&random, pad.halves), below(&random, 13));
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
