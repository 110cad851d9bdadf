/* SPDX-License-Identifier: Apache-2.0 */
/* Stops of a debugger. */
#include "rv32_case.h"

/* A loop of four instructions is stopped at each of them, from the cache or not, and is otherwise as without. */
static void test_stops_on_execute(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), addi(A0, A0, 1), addi(A0, A0, 1), jump(-12)};
    struct machine *m = rv32_begin(code, COUNT(code));
    uint32_t address = 0;
    (void)state;
    assert_int_equal(rv32_go(m, 8, 8), CNNVP_RV32_BUDGET);
    for (uint32_t at = 0; at < COUNT(code); ++at) {
        assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), 0);
        assert_int_equal(rv32_go(m, 100, at), CNNVP_RV32_HIT);
        assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_EXECUTE);
        assert_int_equal(address, RAM + 4u * at);
        assert_int_equal(rv32_go(m, 100, 4), CNNVP_RV32_HIT);  /* once round */
        assert_int_equal(rv32_go(m, 4, 4), CNNVP_RV32_BUDGET); /* the limit comes first */
        assert_int_equal(rv32_go(m, 100, 0), CNNVP_RV32_HIT);
        assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), 0);
        assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), -1);
        assert_int_equal(rv32_go(m, 8 - at, 8 - at), CNNVP_RV32_BUDGET);
    }
    assert_int_equal(rv32_csr_of(m, MINSTRET), 8 + 4 * 16);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), (8 + 4 * 16) / 4 * 3);
    for (uint32_t i = 0; i < CNNVP_RV32_MAX_STOPS; ++i)
        assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 64u + 4u * i, 0), 0);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM, 0), -1);
    rv32_end(m);
}

/* In RAM and at a device, behind the instruction; bytes beside the stop do not count. */
static void test_stops_on_data(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), lui(T1, RAM), lw(A1, T0, 0x24), sw(A1, T1, 0x104), lw(A2, T1, 0x100), jump(-12)};
    struct machine *m = rv32_begin(code, COUNT(code));
    uint32_t address = 0;
    (void)state;
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_WRITE, RAM + 0x107, 4), 0);
    assert_int_equal(rv32_go(m, 100, 4), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_WRITE);
    assert_int_equal(address, RAM + 0x107);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_ACCESS, RAM + 0x100, 4), 0);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_READ, MACHINE_DEVICE + 0x24, 1), 0);
    assert_int_equal(rv32_go(m, 100, 1), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_ACCESS);
    assert_int_equal(address, RAM + 0x100);
    assert_int_equal(rv32_go(m, 100, 2), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_READ);
    assert_int_equal(address, MACHINE_DEVICE + 0x24);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_READ, MACHINE_DEVICE + 0x24, 1), 0);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_WRITE, RAM + 0x107, 4), 0);
    assert_int_equal(rv32_go(m, 100, 2), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_ACCESS, RAM + 0x100, 4), 0);
    assert_int_equal(rv32_go(m, 91, 91), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_READ, RAM, 0), -1); /* no byte */
    rv32_end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops_on_execute),
        cmocka_unit_test(test_stops_on_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
