/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update: weights and velocities by the rule of stage/momentum.h to the bit; time, counts, the weights that go
 * on for their extremes, and what is refused.
 */
#include "block_rig.h"
#include "random.h"
#include "cnnvp_tile.h"
#include "units.h"

#include <stdbool.h>

#include "test.h"

enum { CHANNELS = 4, PLANE = 11, ALL = CHANNELS * PLANE, CYCLES = (ALL + 2) / 3 };

struct data {
    float weights[ALL], velocities[ALL], gradient[ALL];
};

static void make(struct data *data)
{
    uint64_t random = 6;
    for (int i = 0; i < ALL; ++i) {
        data->weights[i] = next_float(&random);
        data->velocities[i] = next_float(&random);
        data->gradient[i] = next_float(&random);
    }
}

/* Each operation rounded to binary32. */
static void expect(struct data *data, bool momentum)
{
    for (int i = 0; i < ALL; ++i) {
        volatile float step = data->gradient[i];
        if (momentum) {
            const volatile float kept = 0.9f * data->velocities[i];
            step = kept + step;
            data->velocities[i] = step;
        }
        const volatile float change = 0.05f * step;
        data->weights[i] = data->weights[i] - change;
    }
}

static void check(int timing_only, bool momentum)
{
    struct data got, want;
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_UPDATE, 1, CHANNELS, 1, PLANE);
    make(&got);
    want = got;
    tile.flags = momentum ? CNNVP_TILE_MOMENTUM : 0;
    tile.rate = 0.05f;
    tile.momentum = 0.9f;
    if (!timing_only) {
        tile.values = got.weights;
        tile.velocities = got.velocities;
        tile.errors = got.gradient;
        expect(&want, momentum);
    }
    block_rig_begin(&rig, &cnnvp_unit_update, timing_only);
    block_rig_start(&rig);
    block_rig_do(&rig, &tile, CYCLES);
    block_rig_expect_next(&rig, &tile, ALL, 4);
    assert_int_equal(rig.next_kind, CNNVP_TILE_EXTREMES);
    assert_int_equal(tile.kind, CNNVP_TILE_UPDATE);
    assert_memory_equal(&got, &want, sizeof got);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(rig.block, "values"), ALL * (momentum ? 2 : 1));
    block_rig_end(&rig);
}

static void test_weights(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only) {
        check(timing_only, false);
        check(timing_only, true);
    }
}

static void test_refused(void **state)
{
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_update, 1u << CNNVP_TILE_UPDATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
