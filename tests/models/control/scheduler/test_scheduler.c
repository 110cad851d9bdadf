/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler alone: what it pushes for random chains against the recursion of S004; a full queue; wrong tables. */
#include "scheduler_case.h"
#include "random.h"

static void a_full_queue_is_waited_for(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    struct table table;
    make_table(&chain, 4, &table);
    struct element *element = open_scheduler(&table);
    element->room = 3;
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 1000 * CYCLE);
    assert_int_equal(element->count, 3);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 1);
    assert_true(fake_count(element->scheduler, "queue_waits") > 10);
    element->room = 60000;
    fake_run(&element->sim, 10000 * CYCLE);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 2);
    assert_int_equal(fake_read(element->scheduler, "STEPS"), 40);
    fake_reset(element->scheduler);
    assert_int_equal(fake_read(element->scheduler, "STEPS"), 0);
    close_scheduler(element);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    static const struct {
        uint32_t word, value;
    } wrong[] = {{0, 0},          {0, 1},    {0, 65}, {0, 0xffffffff}, {1, 0x1010}, {2, 0},
                 {4, 0xffffffff}, {4, 5000}, {7, 0},  {7, 3},          {8, 16384}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct table table;
        make_table(&chain, 4, &table);
        table.words[wrong[i].word] = wrong[i].value;
        struct element *element = open_scheduler(&table);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 100000 * CYCLE);
        if (wrong[i].word != 4 || wrong[i].value != 5000) /* an empty list in the memory's rest */
            assert_int_equal(fake_read(element->scheduler, "STATUS"), 4);
        close_scheduler(element);
    }
    /* any word at all: it ends, and touches nothing beyond its memory */
    uint64_t random = 5;
    for (uint32_t i = 0; i < 300; ++i) {
        struct table table;
        make_table(&chain, 4, &table);
        for (uint32_t k = 0; k < 3; ++k)
            table.words[below(&random, table.count)] ^= 1u << below(&random, 32);
        struct element *element = open_scheduler(&table);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 2000 * CYCLE);
        close_scheduler(element);
    }
    struct table table;
    make_table(&chain, 4, &table);
    struct element *element = open_scheduler(&table);
    element->refuses = 1;
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 100000 * CYCLE);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 4);
    close_scheduler(element);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_is_waited_for),
        cmocka_unit_test(wrong_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
