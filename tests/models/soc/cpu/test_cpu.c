/* SPDX-License-Identifier: Apache-2.0 */
/* Quanta, clocks, ends of runs, and what instructions take. */
#include "cpu_case.h"

/* Quantum and whatever else goes on change nothing; time, reports and every statistic are the same. */
static void test_quantum(void **state)
{
    static const uint64_t quanta[] = {1, 2, 7, 100, 1000000};
    static const uint64_t clocks[] = {1000, 333, 100};
    const char *elf = getenv("UNIT_ELF"); /* of guest/unit.S */
    (void)state;
    if (elf == NULL)
        skip();
    for (unsigned c = 0; c < 9; ++c) {
        const uint64_t mhz = clocks[c % 3];
        struct cnnvp_host *expected = case_run_elf(elf, mhz, 10000, 0, c / 3);
        assert_int_equal(expected->finished, 1);
        assert_int_equal(expected->code, 7);
        assert_int_equal(expected->report_count, 60 * 6);
        assert_string_equal(expected->console, "first second");
        for (unsigned q = 0; q < 10; ++q) {
            struct cnnvp_host *h = case_run_elf(elf, mhz, quanta[q / 2], q % 2 ? 1370 : 0, c / 3);
            assert_int_equal(h->now, expected->now);
            assert_int_equal(h->report_count, expected->report_count);
            assert_memory_equal(h->reports, expected->reports, sizeof h->reports);
            assert_memory_equal(h->counts, expected->counts, sizeof h->counts);
            assert_int_equal(h->worked, expected->worked);
            case_finish(h);
        }
        /* cycles and time say the same: the last instruction is the exit, at `now` */
        assert_true(expected->counts[STAT_cycles] - 1u == cnnvp_edge_at_or_after(mhz, expected->now));
        assert_true((expected->counts[STAT_memory_stall_cycles] != 0) == (c / 3 != IDEAL));
        if (mhz == 1000) /* a cycle is 1000 ps; jumps to themselves are sleep, too */
            assert_in_range(expected->worked, 1000u * expected->counts[STAT_instructions] / 2u,
                            1000u * (expected->counts[STAT_cycles] - 1u - expected->counts[STAT_wfi_cycles]));
        case_finish(expected);
    }
}

static void test_tohost(void **state)
{
    static const uint32_t words[][2] = {{1, 0}, {3, 1}, {0x55, 0x2a}};
    (void)state;
    for (unsigned i = 0; i < 3; ++i) {
        struct cnnvp_host *h = case_start(1000, 10000);
        case_put(h, 0, 0x80001537);                     /* lui a0, 0x80001 */
        case_put(h, 4, words[i][0] << 20 | 0x00000593); /* addi a1, x0, word */
        case_put(h, 8, 0x00b52023);                     /* sw a1, 0(a0) */
        case_put(h, 12, 0x0000006f);                    /* j . */
        case_run(h, MACHINE_RAM, MACHINE_RAM + 0x1000);
        assert_int_equal(h->finished, 1);
        assert_int_equal(h->code, words[i][1]);
        assert_int_equal(h->now, 2000);
        assert_int_equal(h->counts[STAT_instructions], 3);
        case_finish(h);
    }
}

/* The guest can never go on: the run ends with status 1 and says why. */
static void test_dead_ends(void **state)
{
    static const struct {
        uint32_t code;
        const char *reason;
    } cases[] = {{0x10500073 /* wfi */, "sleeps"}, {0x0000006f /* j . */, "endless loop"}, {0, "trap handler"}};
    (void)state;
    for (unsigned i = 0; i < 3; ++i) {
        struct cnnvp_host *h = case_start(1000, 10000);
        case_put(h, 0, cases[i].code);
        case_run(h, MACHINE_RAM, 0);
        assert_non_null(strstr(h->reason, cases[i].reason));
        assert_int_equal(h->finished, 1);
        assert_int_equal(h->code, 1);
        assert_true(h->errors > 0);
        case_finish(h);
    }
}

/* The host stops the process in mid-run; it starts again from the beginning. Without a program nothing runs. */
static void test_stop_and_restart(void **state)
{
    struct cnnvp_host *h = case_start(1000, 100);
    (void)state;
    cnnvp_unit_cpu.process(h->self);
    assert_int_equal(h->now, 0);
    case_put(h, 0, 0x00150513); /* addi a0, a0, 1 */
    case_put(h, 4, 0xffdff06f); /* j -4 */
    h->stop_at = 1000000;
    case_run(h, MACHINE_RAM, 0);
    assert_int_equal(h->now, 1000000);
    assert_int_equal(h->counts[STAT_instructions], 1000);
    h->stop_at = 3000000;
    cnnvp_unit_cpu.reset(h->self);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->counts[STAT_instructions], 3000);
    assert_int_equal(h->finished, 0);
    case_finish(h);
}

/* The time CSR counts from the reset, as mtime does: after a reset at 2.5 us it is 0 again, not 25 ticks of 100 ns. */
static void test_time_from_reset(void **state)
{
    static const uint32_t words[] = {
        0xc01025f3,        /* csrr a1, time */
        0x00159593,        /* slli a1, a1, 1 */
        0x0015e593,        /* ori a1, a1, 1 */
        LUI_A0,     SW_A1, /* ends with the time as status */
    };
    struct cnnvp_host *h = case_start(1000, 100);
    (void)state;
    case_put(h, 0, 0x00000013); /* nop */
    case_put(h, 4, 0xffdff06f); /* j -4 */
    h->stop_at = 2500000;
    case_run(h, MACHINE_RAM, MACHINE_RAM + 0x1000);
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        case_put(h, 4u * i, words[i]);
    h->stop_at = CNNVP_TIME_NEVER;
    cnnvp_unit_cpu.reset(h->self);
    cnnvp_unit_cpu.process(h->self);
    assert_int_equal(h->finished, 1);
    assert_int_equal(h->code, 0);
    case_finish(h);
}

static void test_classes(void **state)
{
    static const struct {
        uint32_t word;
        uint64_t cycles, loads, stores, multiplies, divides, jumps; /* of one */
    } cases[] = {{LW_A1, 2, 1, 0, 0, 0, 0},  {SW_A1, 3, 0, 1, 0, 0, 0}, {MUL, 4, 0, 0, 1, 0, 0},
                 {DIV, 35, 0, 0, 0, 1, 0},   {JUMP, 3, 0, 0, 0, 0, 1},  {BEQ_TAKEN, 3, 0, 0, 0, 0, 1},
                 {AMO_A1, 4, 1, 1, 0, 0, 0}, {BNE, 1, 0, 0, 0, 0, 0},   {0x00000013, 1, 0, 0, 0, 0, 0}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct cpu_program program = {.host = case_begin(case_make(1000, 100, IDEAL))};
        case_add(&program, LUI_A0);
        for (unsigned n = 0; n < 3; ++n)
            case_add(&program, cases[i].word);
        assert_int_equal(case_cycles_of(&program), 1 + 3 * cases[i].cycles);
        const uint64_t *counts = program.host->counts;
        assert_int_equal(counts[STAT_instructions], 1 + 3 + 3); /* the end's: two and a store */
        assert_int_equal(counts[STAT_loads], 3 * cases[i].loads);
        assert_int_equal(counts[STAT_stores], 3 * cases[i].stores + 1);
        assert_int_equal(counts[STAT_multiplies], 3 * cases[i].multiplies);
        assert_int_equal(counts[STAT_divides], 3 * cases[i].divides);
        assert_int_equal(counts[STAT_jumps], 3 * cases[i].jumps);
        case_finish(program.host);
    }
}

/* Instructions and memory take no time, and a program that waits by itself takes its own in the end. */
static void test_timing_off(void **state)
{
    static const uint64_t quanta[] = {1, 1000, 100000000};
    const uint64_t cycles = (UINT64_C(2) << 21) + 5u; /* of the loop and beside it */
    (void)state;
    for (unsigned i = 0; i < 6; ++i) {
        struct cpu_program program = {.host = case_make(1000, quanta[i / 2], CACHE)};
        program.host->params[PARAM_timing] = 1;
        for (unsigned p = PARAM_load_cycles; p <= PARAM_jump_cycles; ++p)
            program.host->params[p] = 1;
        (void)case_begin(program.host);
        case_add(&program, LUI_A0);
        case_add(&program, LW_A1);
        case_add(&program, i % 2 ? UINT32_C(0x002005b7) : UINT32_C(0x00100593)); /* lui a1, 2^21 >> 12; li a1, 1 */
        case_add(&program, UINT32_C(0xfff58593));                                /* addi a1, a1, -1 */
        case_add(&program, UINT32_C(0xfe059ee3));                                /* bne a1, x0, to that */
        case_add(&program, LUI_A0 + 0x1000);                                     /* lui a0, 0x80002: tohost */
        case_add(&program, UINT32_C(0x00100593));                                /* addi a1, x0, 1 */
        case_add(&program, EXIT);
        case_run(program.host, MACHINE_RAM, MACHINE_RAM + 0x2000);
        assert_int_equal(program.host->code, 0);
        assert_int_equal(program.host->request_bytes[CNNVP_READ], 0);
        assert_int_equal(program.host->now, i % 2 ? (cycles - (UINT64_C(1) << 20)) * 1000u : 0);
        case_finish(program.host);
    }
}

static void test_bad_commands(void **state)
{
    struct cnnvp_host *h = case_start(1000, 100);
    struct cnnvp_access access = {.op = CNNVP_READ};
    uint32_t word = 0;
    (void)state;
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_control, &access), CNNVP_E_ACCESS);
    access = (struct cnnvp_access){.op = CNNVP_COMMAND, .data = &word, .size = sizeof word};
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_control, &access), CNNVP_E_INVAL);
    cnnvp_unit_cpu.signal(h->self, PORT_irq, 99, 1);
    case_finish(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantum),      cmocka_unit_test(test_tohost),
        cmocka_unit_test(test_dead_ends),    cmocka_unit_test(test_stop_and_restart),
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_timing_off),
        cmocka_unit_test(test_bad_commands), cmocka_unit_test(test_time_from_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
