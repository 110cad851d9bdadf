/* SPDX-License-Identifier: Apache-2.0 */
/* What is pushed, word by word. */
#include "scheduler_case.h"
#include "random.h"

static void expect(const struct element *element, uint32_t *at, uint32_t high, uint32_t low)
{
    assert_true(*at < element->count);
    assert_int_equal(element->high_words[*at], high);
    assert_int_equal(element->low_words[*at], low);
    ++*at;
}

static void pushes_what_the_recursion_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint32_t block = 1u << below(&random, 4);
        const struct chain chain = chain_random(random, block);
        struct table table;
        make_table(&chain, block, &table);
        struct element *element = open_scheduler(&table);
        const uint32_t image = below(&random, 3);
        (void)fake_write(element->scheduler, "IMAGE", image);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 1000000 * CYCLE);
        assert_int_equal(fake_read(element->scheduler, "STATUS"), 2);
        struct steps steps = steps_of(&chain, block);
        uint32_t at = 0;
        uint32_t next = 0; /* the step that loads next */
        for (uint32_t i = 0; i < steps.count; ++i) {
            const struct step *step = &steps.all[i];
            const uint32_t place = step->layer << 8;
            expect(element, &at, (uint32_t)CALCULATE << 24 | place | (i % 2 == 0 ? 4u : 0),
                   step->x | step->y << 8 | image << 28);
            if (step->layer == 0) {
                for (next = i + 1; next < steps.count && steps.all[next].layer != 0; ++next)
                    continue;
                if (next < steps.count)
                    expect(element, &at, (uint32_t)AHEAD << 24 | place,
                           steps.all[next].x | steps.all[next].y << 8 | image << 28);
            }
            expect(element, &at, (uint32_t)GATHERED << 24 | place,
                   (step->x | step->y << 8 | image << 28) + (step->gathered << 16));
            if (step->gathered == step->target)
                expect(element, &at, (uint32_t)EMIT << 24 | place, step->next_x | step->next_y << 8 | image << 28);
        }
        assert_int_equal(element->count, at);
        assert_int_equal(fake_count(element->scheduler, "steps"), steps.count);
        assert_int_equal(fake_count(element->scheduler, "words"), at);
        free(steps.all);
        close_scheduler(element);
    }
}

/* Assignments that change nothing are left out; at the next start nothing is known. */
static void assignments_are_elided(void **state)
{
    (void)state;
    struct table table = {
        .words = {2,
                  0x0001,
                  1,
                  0,
                  9,
                  0x0001,
                  1,
                  1,
                  0,
                  /* list */ 1,
                  3u << 16,
                  14,
                  0,
                  0,
                  /* layer 5, r7 = 1, r7 = 1 */ 5,
                  0x01000000,
                  1,
                  0x40000700,
                  1,
                  0x40000700},
        .count = 20};
    struct element *element = open_scheduler(&table);
    for (uint32_t run = 1; run <= 2; ++run) {
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, run * 1000 * CYCLE);
        assert_int_equal(element->count, 2 * run); /* of six words */
        assert_int_equal(fake_count(element->scheduler, "elided"), 4 * run);
    }
    close_scheduler(element);
}

/* One that depends on data is pushed in any case, as the element knows it. */
static void kept_assignments_are_pushed(void **state)
{
    (void)state;
    struct table table = {.words = {2, 0x0001, 1, 0, 9, 0x0001, 1, 1, 0, /* list */ 1, 3u << 16, 14, 0, 0,
                                    /* r7 = 1 three times, the second one kept */
                                    1, 0x40000700, 1, 0x40000701, 1, 0x40000700},
                          .count = 20};
    struct element *element = open_scheduler(&table);
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 1000 * CYCLE);
    assert_int_equal(element->count, 3); /* the first, and the kept one of both blocks */
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(element->high_words[i], 0x40000700);
        assert_int_equal(element->low_words[i], 1);
    }
    assert_int_equal(fake_count(element->scheduler, "elided"), 3);
    close_scheduler(element);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_what_the_recursion_says),
        cmocka_unit_test(assignments_are_elided),
        cmocka_unit_test(kept_assignments_are_pushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
