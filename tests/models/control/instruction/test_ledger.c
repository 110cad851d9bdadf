/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a cycle is. */
#include "instruction_case.h"

/* The time after the last completion counts only if work follows. */
static void test_waiting_for_the_host(void **state)
{
    (void)state;
    struct rig *rig = started();
    rig_push(rig, w_imm(ISA_layer, 2));
    rig_push(rig, CONV(0, 10)); /* 14 .. 24 */
    rig_to(rig, 60);
    rig->element->unit->flush(rig->element->self);
    assert_int_equal(fake_count(rig->element, "stall_cycles_host"), 0);
    rig_push(rig, CONV(0, 10)); /* 63 .. 73 */
    rig_finish(rig, 5000);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_host", 2), 60 - 24);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_instruction", 2), 14 - 13 + 63 - 60);
    assert_int_equal(rig_accounted(rig) + 20, 73 - 10);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_for_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
