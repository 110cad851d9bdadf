/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are refused. */
#include "window_case.h"

enum { OPCODE = 100, STATUS, REGISTERS };

static void test_refusals(void **state)
{
    static const struct {
        uint32_t opcode, reg, value;
        int expected;
        const char *why;
    } faults[] = {
        {OP_vpool, STATUS, 8, CNNVP_E_INVAL, "status bits of"},
        {OP_vconv, STATUS, 0x40, CNNVP_E_INVAL, "status bits of"},
        {OP_vconv, STATUS, 3, CNNVP_E_INVAL, "update is 0, 1 or 2"},
        {OP_vpool, REGISTERS, 15, CNNVP_E_INVAL, "the descriptor is not that of the opcode"},
        {OP_vpool, ROW_STRIDE, 4, CNNVP_E_INVAL, "in_row_stride is at least the words"},
        {OP_vpool, VALID_ROWS, 4u | 3u << 16, CNNVP_E_INVAL, "first is at most end"},
        {OP_vconv, IN_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_vconv, WEIGHT_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_vpool, OUT_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_conv, OPCODE, OP_conv, CNNVP_E_INVAL, "no such instruction"},
        {OP_pool, OPCODE, OP_pool, CNNVP_E_INVAL, "no such instruction"},
    };
    struct pair pair;
    const struct shape shape = {16, 1, 4096, 0, 0};
    struct nfu_case c = nfu_case_window(OP_CONV, 2, 2, 4, 4, 3, 3, 1, 1);
    (void)state;
    pair_open(&pair, &shape);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct cnnvp_command command = command_of(&c);
        command.opcode = faults[i].opcode;
        if (faults[i].reg == STATUS)
            command.status = faults[i].value;
        else if (faults[i].reg == REGISTERS)
            command.count = faults[i].value;
        else if (faults[i].reg != OPCODE)
            command.descriptor[faults[i].reg] = faults[i].value;
        assert_int_equal(run(&pair, pair.bench.vector, &command), faults[i].expected);
        if (strstr(pair.bench.vector->message, faults[i].why) == NULL)
            fail_msg("'%s' does not say '%s'", pair.bench.vector->message, faults[i].why);
    }
    assert_int_equal(fake_count(pair.bench.vector, "rejected"), sizeof faults / sizeof faults[0]);
    assert_int_equal(fake_count(pair.bench.vector, "commands"), 0);
    /* an array does not take them */
    struct cnnvp_command command = command_of(&c);
    command.opcode = OP_vconv;
    assert_int_equal(run(&pair, pair.nfu, &command), CNNVP_E_INVAL);
    bench_close(&pair.bench);
}

/* 2^12 * 2^12 taps of 2^24 results, in a buffer that is large enough. */
static void test_endless(void **state)
{
    struct pair pair;
    const struct shape shape = {1, 1, 4096, 1, 0};
    struct nfu_case c = nfu_case_window(OP_POOL, 1, 1, 4096, 4096, 4096, 4096, 1, 1);
    struct cnnvp_command command = command_of(&c);
    (void)state;
    command.opcode = OP_vpool;
    pair_open(&pair, &shape);
    assert_int_equal(run(&pair, pair.bench.vector, &command), CNNVP_E_INVAL);
    assert_non_null(strstr(pair.bench.vector->message, "at most 2^40 cycles"));
    bench_close(&pair.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
