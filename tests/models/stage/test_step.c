/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values through a pipeline clock by clock: each passes every stage once and in order, whatever registers lie between;
 * the order in which a stage takes values; clocks by the closed form.
 */
#include "stage/step.h"
#include "train_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 5, VALUES = 23 };

struct seen {
    uint32_t passed[IMAGES][VALUES]; /* stages that a value has passed */
    uint32_t order[IMAGES * VALUES]; /* of the last stage: image * VALUES + index */
    uint32_t left;
    uint32_t stages;
};

static void pass(struct seen *seen, uint32_t image, uint64_t index, struct cnnvp_step_value *value, uint32_t stage)
{
    assert_true(image < IMAGES && index < VALUES);
    const int32_t self = (int32_t)(image * VALUES + index);
    if (stage == 0)
        value->number = self;
    assert_int_equal(value->number, self); /* it has come along */
    assert_int_equal(seen->passed[image][index], stage);
    ++seen->passed[image][index];
    if (stage + 1u == seen->stages)
        seen->order[seen->left++] = (uint32_t)self;
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

/* Images, one to each set, go together; of each so many lanes' values a clock. */
static void check_order(const struct cnnvp_step *step, const struct seen *seen)
{
    uint32_t n = 0;
    for (uint32_t image = 0; image < step->images; image += step->sets)
        for (uint32_t index = 0; index < step->values; index += step->lanes)
            for (uint32_t s = image; s < image + step->sets && s < step->images; ++s)
                for (uint32_t l = index; l < index + step->lanes && l < step->values; ++l)
                    assert_int_equal(seen->order[n++], s * VALUES + l);
    assert_int_equal(n, seen->left);
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
        const uint64_t turns = (step.images + step.sets - 1u) / step.sets;
        const uint64_t beats = (step.values + step.lanes - 1u) / step.lanes;
        uint64_t clocks;
        assert_int_equal(cnnvp_step(&step, &clocks), CNNVP_OK);
        assert_int_equal(clocks, turns * beats * step.interval + step.pipeline);
        assert_int_equal(seen.left, step.images * step.values);
        check_order(&step, &seen);
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
