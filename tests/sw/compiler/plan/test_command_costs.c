/* SPDX-License-Identifier: Apache-2.0 */
/* A cost is known of the very command that it was kept for, until another one takes its place. */

#include <stdlib.h>

#include "test.h"

#include "command_costs.h"

#define PLACES 4u

static struct cnnvp_command command_of(uint32_t number)
{
    return (struct cnnvp_command){.opcode = 2, .count = 2, .descriptor = {5, number}};
}

static void a_command_is_known_by_all_of_it(void **state)
{
    struct cnnvp_command_costs *costs = cnnvp_command_costs_new(1);
    const struct cnnvp_command command = command_of(7);
    struct cnnvp_command others[] = {command, command, command, command, command};
    (void)state;
    assert_non_null(costs);
    assert_int_equal(cnnvp_command_cost(costs, &command), 0);
    cnnvp_command_cost_keep(costs, &command, 1200);
    assert_int_equal(cnnvp_command_cost(costs, &command), 1200);
    ++others[0].opcode;
    ++others[1].status;
    ++others[2].halves;
    ++others[3].immediate;
    ++others[4].descriptor[1];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        assert_int_equal(cnnvp_command_cost(costs, &others[i]), 0);
    cnnvp_command_costs_free(costs);
}

/* Of more commands than there are places as many are known at most, each with its own cost, the last one among them. */
static void the_last_one_is_known(void **state)
{
    struct cnnvp_command_costs *costs = cnnvp_command_costs_new(PLACES);
    size_t known = 0;
    (void)state;
    assert_non_null(costs);
    for (uint32_t i = 1; i <= 100; ++i) {
        const struct cnnvp_command command = command_of(i);
        cnnvp_command_cost_keep(costs, &command, i);
        assert_int_equal(cnnvp_command_cost(costs, &command), i);
    }
    for (uint32_t i = 1; i <= 100; ++i) {
        const struct cnnvp_command command = command_of(i);
        const uint64_t ps = cnnvp_command_cost(costs, &command);
        assert_true(ps == 0 || ps == i);
        known += ps != 0;
    }
    assert_in_range(known, 2, PLACES);
    cnnvp_command_costs_free(costs);
}

/* What is not known is noted, with the cost that is kept then. */
static void what_is_asked_is_noted(void **state)
{
    struct cnnvp_command_costs *costs = cnnvp_command_costs_new(1024);
    struct cnnvp_asked_list list = {.count = 0};
    (void)state;
    assert_non_null(costs);
    cnnvp_command_costs_note(costs, &list);
    for (uint32_t i = 1; i <= 20; ++i) {
        const struct cnnvp_command command = command_of(i);
        assert_int_equal(cnnvp_command_cost(costs, &command), 0);
        if (i % 3 != 0)
            cnnvp_command_cost_keep(costs, &command, 100u * i);
    }
    const struct cnnvp_command known = command_of(1);
    assert_int_equal(cnnvp_command_cost(costs, &known), 100);
    assert_int_equal(list.count, 20);
    for (uint32_t i = 1; i <= 20; ++i) {
        const struct cnnvp_command command = command_of(i);
        assert_memory_equal(&list.all[i - 1u].command, &command, sizeof command);
        assert_int_equal(list.all[i - 1u].ps, i % 3 != 0 ? 100u * i : 0);
    }
    free(list.all);
    cnnvp_command_costs_free(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_known_by_all_of_it),
        cmocka_unit_test(the_last_one_is_known),
        cmocka_unit_test(what_is_asked_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
