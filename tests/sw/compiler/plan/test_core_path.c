/* SPDX-License-Identifier: Apache-2.0 */
/* What a network waits for, in cases that are worked out by hand: work is even within a layer. */
#include "test.h"

#include "core_path.h"
#include "random.h"

#define NEAR 0.001

struct path_case {
    struct cnnvp_core_stage stages[3];
    size_t count;
    double queue, ps, waits[3];
};

static void paths_are_those_worked_out(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        {{{10, 1, 0}}, 1, 100, 10, {1}}, /* the core alone is slower, */
        {{{1, 10, 0}}, 1, 100, 10, {0}}, /* or the units are */
        /* The units wait for the first layer's instructions; the second layer's are there in time. */
        {{{10, 1, 0}, {1, 10, 0}}, 2, 100, 20, {1, 0}},
        /* The core pushes the second layer's while the units do the first: it works all the time, */
        {{{1, 10, 0}, {10, 1, 0}}, 2, 100, 11, {1, 1}},
        /* but not where the queue holds next to nothing of them: each layer takes the longer of both. */
        {{{1, 10, 0}, {10, 1, 0}}, 2, 0.01, 20, {0, 1}},
        /* Half of the second layer's instructions have room: its other half comes after the first. */
        {{{0, 10, 0}, {10, 0, 0}}, 2, 5, 15, {0, 1}},
        {{{4, 1, 0}, {1, 8, 0}, {4, 1, 0}}, 3, 100, 13, {1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct path_case c = cases[i];
        assert_float_equal(cnnvp_core_path(c.stages, c.count, c.queue), c.ps, c.ps / 100);
        for (size_t k = 0; k < c.count; ++k)
            assert_float_equal(c.stages[k].waits, c.waits[k], NEAR);
    }
}

/* Never shorter than the core's work or the units', never longer than both. */
static void paths_lie_between_their_bounds(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int n = 0; n < 200; ++n) {
        struct cnnvp_core_stage stages[20];
        double core = 0, units = 0;
        for (size_t i = 0; i < 20; ++i) {
            stages[i] = (struct cnnvp_core_stage){below(&random, 1000), below(&random, 1000), 0};
            core += stages[i].core;
            units += stages[i].units;
        }
        const double ps = cnnvp_core_path(stages, 20, 1 + below(&random, 3000));
        assert_true(ps >= (core > units ? core : units) * (1 - NEAR) && ps <= core + units);
        for (size_t i = 0; i < 20; ++i)
            assert_true(stages[i].waits >= 0 && stages[i].waits <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_those_worked_out),
        cmocka_unit_test(paths_lie_between_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
