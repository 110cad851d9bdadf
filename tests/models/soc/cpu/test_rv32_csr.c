/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and counters as a debugger reads and writes them. */
#include "rv32_case.h"

static void test_debug_csrs(void **state)
{
    struct machine *m = rv32_begin(NULL, 0);
    uint32_t value;
    (void)state;
    assert_int_equal(cnnvp_rv32_csr(m->core, 0x180, &value), -1);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0xf14, 1), -1);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MCYCLE, 1000), 0);
    assert_int_equal(rv32_csr_of(m, MCYCLE), 1000);
    rv32_end(m);
}

/* Bits that are not there keep their value; an address that nothing has and one that only reads refuse a write. */
static void test_masks(void **state)
{
    static const struct {
        unsigned number;
        uint32_t written, read;
    } cases[] = {
        {0x300, UINT32_MAX, 0x1888}, {0x300, 0, 0x1800},       {0x301, 0, 0x40001105}, {0x304, UINT32_MAX, 0x888},
        {0x305, UINT32_MAX, ~2u},    {0x341, UINT32_MAX, ~1u}, {0x344, UINT32_MAX, 0}, {0x340, 0x12345678, 0x12345678},
        {0x3a0, UINT32_MAX, 0},      {0x3bf, 0x5555, 0x5555},  {0x33f, UINT32_MAX, 0}, {0x7a4, UINT32_MAX, 1},
    };
    static const unsigned none[] = {0, 0x2ff, 0x302, 0x303, 0x307, 0x322, 0x345, 0x3c0, 0x7a5, 0xb01, 0xb20, 0xfff};
    struct machine *m = rv32_begin(NULL, 0);
    uint32_t value;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); ++i) {
        assert_int_equal(cnnvp_rv32_set_csr(m->core, cases[i].number, cases[i].written), 0);
        assert_int_equal(rv32_csr_of(m, cases[i].number), cases[i].read);
    }
    for (size_t i = 0; i < COUNT(none); ++i) {
        assert_int_equal(cnnvp_rv32_csr(m->core, none[i], &value), -1);
        assert_int_equal(cnnvp_rv32_set_csr(m->core, none[i], 0), -1);
        assert_null(cnnvp_rv32_csr_name(none[i]));
    }
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0xc00, 0), -1);
    assert_string_equal(cnnvp_rv32_csr_name(0xb80), "mcycleh");
    rv32_end(m);
}

/* Counters have 64 bits in two registers, and stand still where they are inhibited. */
static void test_counters(void **state)
{
    const uint32_t code[] = {NOP, NOP, NOP, jump(-12)};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MCYCLE, UINT32_MAX - 1), 0);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0xb80, 7), 0);
    assert_int_equal(rv32_go(m, 5, 5), CNNVP_RV32_BUDGET);
    assert_int_equal(rv32_csr_of(m, MCYCLE), 3);
    assert_int_equal(rv32_csr_of(m, 0xc80), 8);
    assert_int_equal(rv32_csr_of(m, MINSTRET), 5);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0x320, 4), 0);
    assert_int_equal(rv32_go(m, 5, 5), CNNVP_RV32_BUDGET);
    assert_int_equal(rv32_csr_of(m, MINSTRET), 5);
    assert_int_equal(rv32_csr_of(m, MCYCLE), 8);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0x320, 1), 0);
    assert_int_equal(rv32_go(m, 5, 5), CNNVP_RV32_BUDGET);
    assert_int_equal(rv32_csr_of(m, MINSTRET), 10);
    assert_int_equal(rv32_csr_of(m, MCYCLE), 8);
    rv32_end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debug_csrs),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
