/* SPDX-License-Identifier: Apache-2.0 */
/* Memory maps, and tohost. */
#include "rv32_case.h"

static void test_tohost(void **state)
{
    const uint32_t code[] = {
        lui(T0, RAM + 0x1000), addi(A0, ZERO, 7), sw(ZERO, T0, 0x100), sw(A0, T0, 0x104), sw(A0, T0, 0x100), NOP};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, 0x1000), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1102), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1100), 0);
    assert_int_equal(rv32_go(m, 100, 5), CNNVP_RV32_EXIT);
    assert_int_equal(cnnvp_rv32_exit_status(m->core), 3);
    rv32_end(m);
}

static void test_map_rules(void **state)
{
    struct machine *m = rv32_begin(NULL, 0);
    uint8_t *more = calloc(1, 4096);
    (void)state;
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 0, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 100, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1010, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff100, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, RAM + 4096, 4096, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, RAM - 256, 512, more), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x1000, 4096, NULL), -1);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff000, 4096, more), 0);
    for (uint32_t i = 2; i < CNNVP_RV32_MAX_REGIONS; ++i)
        assert_int_equal(cnnvp_rv32_map_ram(m->core, i << 16, 256, more), 0);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x900000, 256, more), -1);
    cnnvp_rv32_unmap_ram(m->core, 0x40000);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x900000, 256, more), 0);
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0x40000, 256, more), -1);
    rv32_end(m);
    free(more);
}

/* Code in one region works on data in another, to and fro, up to the last byte of the address space. */
static void test_two_regions(void **state)
{
    const uint32_t code[] = {lui(T0, 0xfffff000), lui(T1, RAM + 0x2000), addi(A0, A0, 5), sw(A0, T0, 0x0),
                             sw(A0, T1, 0),       lw(A1, T0, 0),         sw(A1, T1, 4),   lw(A2, T1, 4),
                             sw(A2, ZERO, 0xffc), lw(A1, ZERO, 0xffc),   jump(-32)};
    struct machine *m = rv32_begin(code, COUNT(code));
    uint8_t *more = calloc(1, 4096);
    (void)state;
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff000, 4096, more), 0);
    assert_int_equal(rv32_go(m, 2 + 9 * 10, 2 + 9 * 10), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A1), 50);
    assert_int_equal(more[0], 50);
    assert_int_equal(more[4092], 50);
    assert_int_equal(m->accesses, 0);
    rv32_end(m);
    free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tohost),
        cmocka_unit_test(test_map_rules),
        cmocka_unit_test(test_two_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
