/* SPDX-License-Identifier: Apache-2.0 */
/* Traps within traps. */
#include "rv32_case.h"

/* A guest that jumps into nothing without a handler is reported, and the log says how it came about. */
static void test_double_fault(void **state)
{
    const uint32_t code[] = {lui(T0, 0x40000000), 0x00028067u /* jr t0 */};
    struct cnnvp_rv32_trap traps[CNNVP_RV32_TRAP_LOG];
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 4), CNNVP_RV32_DOUBLE_FAULT);
    assert_int_equal(cnnvp_rv32_trap_log(m->core, traps), 2);
    assert_int_equal(traps[0].pc, 0x40000000);
    assert_int_equal(traps[0].cause, CNNVP_RV32_FETCH_FAULT);
    assert_int_equal(traps[0].tval, 0x40000000);
    assert_int_equal(traps[0].slot, 3);
    assert_int_equal(traps[1].pc, 0);
    assert_int_equal(rv32_go(m, 100, 0), CNNVP_RV32_DOUBLE_FAULT);
    cnnvp_rv32_set_pc(m->core, RAM);
    assert_int_equal(rv32_go(m, 1, 1), CNNVP_RV32_BUDGET);
    rv32_end(m);
}

/* A handler that traps later than in its first instruction is the guest's business, until it does nothing else. */
static void test_no_double_fault(void **state)
{
    const uint32_t code[] = {ECALL, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, ECALL};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM + 32), 0);
    assert_int_equal(rv32_go(m, 1001, 1001), CNNVP_RV32_BUDGET);
    struct cnnvp_rv32_stats stats;
    cnnvp_rv32_get_stats(m->core, &stats);
    assert_int_equal(stats.exceptions, 501);
    assert_int_equal(stats.retired, 500);
    assert_int_equal(rv32_go(m, 10000, 1000), CNNVP_RV32_DOUBLE_FAULT);
    rv32_end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_fault),
        cmocka_unit_test(test_no_double_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
