/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values through a pipeline clock by clock: what each stage works on, in which order, whatever registers lie between;
 * clocks by the closed form.
 */
#include "stage/step.h"
#include "random.h"

#include "test.h"

enum { IMAGES = 5, VALUES = 23 };

struct seen {
    uint32_t stages;
    uint32_t count;
    uint32_t events[3 * IMAGES * VALUES]; /* stage * IMAGES * VALUES + value, in the order of work */
};

static void pass(struct seen *seen, uint32_t image, uint64_t index, struct cnnvp_step_value *value, uint32_t stage)
{
    assert_true(image < IMAGES && index < VALUES);
    const uint32_t self = image * VALUES + (uint32_t)index;
    if (stage == 0)
        value->number = (int32_t)self;
    assert_int_equal(value->number, self); /* it has come along */
    seen->events[seen->count++] = stage * IMAGES * VALUES + self;
}

static void first(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    pass(context, image, index, value, 0);
}

static void second(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    pass(context, image, index, value, 1);
}

static void third(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    pass(context, image, index, value, 2);
}

static const cnnvp_step_fn stages[] = {first, second, third};

struct step_shape {
    const struct cnnvp_step *step;
    uint64_t turns, beats; /* groups of images, and what each takes */
    uint64_t clocks;
};

/* One value of each set and lane, in this order. */
static uint32_t expect_beat(const struct step_shape *shape, const struct seen *seen, uint64_t beat, uint32_t stage,
                            uint32_t n)
{
    const struct cnnvp_step *step = shape->step;
    const uint32_t image = (uint32_t)(beat / shape->beats) * step->sets;
    const uint32_t index = (uint32_t)(beat % shape->beats) * step->lanes;
    for (uint32_t s = image; s < image + step->sets && s < step->images; ++s)
        for (uint32_t l = index; l < index + step->lanes && l < step->values; ++l)
            assert_int_equal(seen->events[n++], stage * IMAGES * VALUES + s * VALUES + l);
    return n;
}

/* A beat enters when it has been taken for `interval` clocks, and moves on by a register each clock. The first stage is
 * at the entrance, the last where values leave, one between halfway; what came first is worked on first. */
static void check_order(const struct step_shape *shape, const struct seen *seen)
{
    const struct cnnvp_step *step = shape->step;
    uint32_t n = 0;
    for (uint64_t clock = 0; clock < shape->clocks; ++clock)
        for (uint64_t place = step->pipeline + 1u; place-- > 0;) {
            const uint64_t since = clock + 1u - place; /* clocks of taking when the beat here entered */
            const uint64_t beat = since / step->interval - 1u;
            if (clock < place || since % step->interval != 0 || beat >= shape->turns * shape->beats)
                continue;
            for (uint32_t s = 0; s < seen->stages; ++s) {
                const uint64_t at = seen->stages == 1u ? step->pipeline : s * step->pipeline / (seen->stages - 1u);
                n = at == place ? expect_beat(shape, seen, beat, s, n) : n;
            }
        }
    assert_int_equal(n, seen->count);
}

static void test_random(void **state)
{
    uint64_t random = 14;
    (void)state;
    for (int run = 0; run < 400; ++run) {
        struct seen seen = {.stages = 1u + next_bits(&random) % 3u};
        const struct cnnvp_step step = {
            .images = 1u + next_bits(&random) % IMAGES,
            .values = 1u + next_bits(&random) % VALUES,
            .sets = 1u + next_bits(&random) % 6u,
            .lanes = 1u + next_bits(&random) % 9u,
            .interval = 1u + next_bits(&random) % 4u,
            .pipeline = next_bits(&random) % 7u,
            .stage_count = seen.stages,
            .stages = stages,
            .context = &seen};
        struct step_shape shape = {.step = &step,
                                   .turns = (step.images + step.sets - 1u) / step.sets,
                                   .beats = (step.values + step.lanes - 1u) / step.lanes};
        assert_int_equal(cnnvp_step(&step, &shape.clocks), CNNVP_OK);
        assert_int_equal(shape.clocks, shape.turns * shape.beats * step.interval + step.pipeline);
        assert_int_equal(seen.count, seen.stages * step.images * step.values);
        check_order(&shape, &seen);
    }
}

/* Without stages only time passes. */
static void test_time(void **state)
{
    const struct cnnvp_step step = {
        .images = 3, .values = 10, .sets = 2, .lanes = 4, .interval = 5, .pipeline = 2, .context = NULL};
    uint64_t clocks;
    (void)state;
    assert_int_equal(cnnvp_step(&step, &clocks), CNNVP_OK);
    assert_int_equal(clocks, 2 * 3 * 5 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
