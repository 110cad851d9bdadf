/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for interrupts. */
#include "rv32_case.h"

static void test_wfi(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), WFI, addi(A0, A0, 1), WFI, jump(0)};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 2), CNNVP_RV32_WFI);
    assert_false(cnnvp_rv32_wakeup(m->core));
    assert_false(cnnvp_rv32_can_wake(m->core));
    assert_int_equal(rv32_go(m, 100, 0), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MIE, 1u << CNNVP_RV32_MEIP), 0);
    assert_true(cnnvp_rv32_can_wake(m->core));
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MTIP, 1);
    assert_int_equal(rv32_go(m, 100, 0), CNNVP_RV32_WFI);
    cnnvp_rv32_idle(m->core, 50);
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MEIP, 1);
    assert_true(cnnvp_rv32_wakeup(m->core));
    /* MIE is off: it goes on; the second WFI finds an interrupt pending and does not wait */
    assert_int_equal(rv32_go(m, 100, 3), CNNVP_RV32_IDLE_LOOP);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 2);
    assert_int_equal(rv32_csr_of(m, MCYCLE), 55);
    assert_int_equal(rv32_csr_of(m, MINSTRET), 5);
    rv32_end(m);
}

static void test_idle_loop(void **state)
{
    const uint32_t code[] = {NOP, jump(0)};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 2), CNNVP_RV32_IDLE_LOOP);
    assert_false(cnnvp_rv32_can_wake(m->core));
    assert_int_equal(rv32_go(m, 100, 1), CNNVP_RV32_IDLE_LOOP);
    cnnvp_rv32_skip(m->core, 97);
    assert_int_equal(rv32_csr_of(m, MINSTRET), 100);
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM + 4);
    /* with an interrupt that can be taken the jump is executed once more, then left */
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM), 0);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MIE, 1u << CNNVP_RV32_MSIP), 0);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MSTATUS, 8), 0);
    assert_true(cnnvp_rv32_can_wake(m->core));
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MSIP, 1);
    assert_int_equal(rv32_go(m, 1, 1), CNNVP_RV32_BUDGET);
    assert_int_equal(rv32_csr_of(m, MCAUSE), 0x80000003u);
    assert_int_equal(rv32_csr_of(m, MEPC), RAM + 4);
    rv32_end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wfi),
        cmocka_unit_test(test_idle_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
