/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is among the tasks of several accelerators, and whom an interrupt makes ready. */
#include "test.h"

#include "accelerators.h"

enum { PLIC = 0x40000000, TASKS = 3, ELEMENT_LINE = 10, SCHEDULER_LINE = 20 };

struct rig {
    struct cnnvp_tasks tasks;
    struct cnnvp_machine machine;
    struct cnnvp_guest guests[TASKS]; /* lines ELEMENT_LINE + i and SCHEDULER_LINE + i */
    uint32_t claimed, completed;      /* lines */
};

static uint32_t read_register(void *host, uint32_t address)
{
    const struct rig *rig = host;
    return address >= PLIC ? rig->claimed : 0;
}

static void write_register(void *host, uint32_t address, uint32_t value)
{
    struct rig *rig = host;
    if (address >= PLIC)
        rig->completed = value;
}

static void start(struct rig *rig)
{
    static const struct cnnvp_binary binary = {.magic = 0}; /* all units at 0 */
    *rig = (struct rig){.tasks = {.plic = PLIC, .count = TASKS, .current = TASKS}};
    rig->machine = (struct cnnvp_machine){rig, read_register, write_register, NULL, NULL, NULL};
    rig->tasks.machine = &rig->machine;
    for (uint32_t i = 0; i < TASKS; ++i) {
        rig->tasks.guests[i] = &rig->guests[i];
        rig->guests[i] = (struct cnnvp_guest){
            .machine = &rig->machine,
            .binary = &binary,
            .element_irq = ELEMENT_LINE + i,
            .scheduler_irq = SCHEDULER_LINE + i,
            .element = {.machine = &rig->machine}};
    }
}

/* The one after the present one that is ready; the caller of all is the last, after which comes the first. */
static void test_turns(void **state)
{
    static struct rig rig;
    (void)state;
    start(&rig);
    assert_int_equal(cnnvp_tasks_ready(&rig.tasks), 0);
    assert_int_equal(cnnvp_tasks_turn(&rig.tasks), 0);
    assert_int_equal(rig.tasks.current, TASKS);
    for (uint32_t i = 0; i < TASKS; ++i)
        rig.tasks.ready[i] = 1;
    for (uint32_t i = 0; i < 2 * TASKS; ++i) {
        assert_int_equal(cnnvp_tasks_ready(&rig.tasks), 1);
        assert_int_equal(cnnvp_tasks_turn(&rig.tasks), 1);
        assert_int_equal(rig.tasks.current, i % TASKS);
        assert_int_equal(rig.tasks.turns[i % TASKS], i / TASKS + 1);
        rig.tasks.ready[i % TASKS] = 1; /* it has something to do again, but the others come first */
    }
    for (uint32_t i = 0; i < TASKS; ++i)
        rig.tasks.ready[i] = i == 1;
    rig.tasks.current = 1;
    assert_int_equal(cnnvp_tasks_turn(&rig.tasks), 1); /* alone, it goes on */
    assert_int_equal(rig.tasks.current, 1);
    rig.tasks.ready[TASKS] = 1;
    assert_int_equal(cnnvp_tasks_ready(&rig.tasks), 1);
    assert_int_equal(cnnvp_tasks_turn(&rig.tasks), 1);
    assert_int_equal(rig.tasks.current, TASKS);
    assert_int_equal(cnnvp_tasks_ready(&rig.tasks), 0);
}

static void interrupt(struct rig *rig, uint32_t line, uint32_t ready)
{
    rig->claimed = line;
    rig->completed = 0;
    memset(rig->tasks.ready, 0, sizeof rig->tasks.ready);
    assert_int_equal(cnnvp_tasks_interrupt(&rig->tasks), line != 0);
    assert_int_equal(rig->completed, line);
    for (uint32_t i = 0; i <= TASKS; ++i)
        assert_int_equal(rig->tasks.ready[i], ready == i);
}

static void test_interrupts(void **state)
{
    static struct rig rig;
    (void)state;
    start(&rig);
    interrupt(&rig, 0, TASKS + 1); /* nothing is pending */
    interrupt(&rig, ELEMENT_LINE + 1, 1);
    assert_int_equal(rig.guests[1].element.interrupts, 1);
    assert_int_equal(rig.guests[0].element.interrupts, 0);
    interrupt(&rig, SCHEDULER_LINE + 2, 2);
    interrupt(&rig, 5, TASKS + 1); /* nobody's */
    rig.tasks.has_ended[1] = 1;    /* the caller waits for what its element still does */
    interrupt(&rig, ELEMENT_LINE + 1, TASKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_interrupts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
