/* SPDX-License-Identifier: Apache-2.0 */
/* What lies past the tightly coupled memory, and the stack. */
#include "cpu_case.h"

/* Past the TCM a load waits for memory; a store waits for the one before it only. */
static void test_past_tcm(void **state)
{
    const uint64_t read = 42, write = 83; /* cycles of LATENCY_PS and of twice that, rounded up */
    struct cpu_program program = {.host = case_begin(case_make(1000, 100, TCM))};
    (void)state;
    case_add(&program, LUI_A0);
    case_add(&program, LW_A1);
    case_add(&program, SW_A1);
    case_add(&program, SW_A1_4);
    /* load: 2 and its wait; store: 3; the second begins 3 cycles after it and waits for it, and so does tohost's */
    const uint64_t cycles = case_cycles_of(&program);
    const uint64_t *counts = program.host->counts;
    assert_int_equal(cycles, 1 + 2 + read + 3 + 3 + (write - 3) + (write - 3 - 2));
    assert_int_equal(counts[STAT_memory_reads], 1);
    assert_int_equal(counts[STAT_memory_writes], 3); /* with tohost's */
    assert_int_equal(program.host->request_bytes[CNNVP_READ], 4);
    assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 12);
    assert_int_equal(counts[STAT_tcm_bytes], 0x400);
    assert_int_equal(counts[STAT_sram_bytes], 0);
    case_finish(program.host);
}

/* add sp, a0, x0; lw a1, 0(sp) */
#define MV_SP_A0 UINT32_C(0x00050113)
#define LW_A1_SP UINT32_C(0x00012583)

/* Runs from sp = 0x80001000 on a stack that ends `above` it; 0: not said where. */
static void run_on_stack(uint32_t above, uint64_t reads, unsigned warnings)
{
    struct cnnvp_host *h = case_begin(case_make(1000, 100, TCM));
    static const struct cnnvp_program_range held = {MACHINE_RAM, 0x400};
    struct cnnvp_cpu_program program = {
        .entry = MACHINE_RAM,
        .tohost = MACHINE_RAM + 0x100,
        .held = &held,
        .held_count = 1,
        .stack = above == 0 ? 0 : MACHINE_RAM + 0x1000 + above};
    const uint32_t words[] = {LUI_A0, MV_SP_A0, LW_A1_SP, LW_A1_SP, 0x80000537, 0x00100593, 0x10b52023};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        case_put(h, 4 * i, words[i]);
    assert_int_equal(case_offer(h, &program), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->finished, 1);
    assert_int_equal(h->counts[STAT_memory_reads], reads);
    assert_int_equal(h->warnings, warnings);
    case_finish(h);
}

/* The stack's last bytes are held wherever it ends; a stack that nobody tells of is off chip, and is named once. */
static void test_stack(void **state)
{
    (void)state;
    run_on_stack(0x100, 0, 0);
    run_on_stack(0x10, 0, 0);
    run_on_stack(0xfc, 0, 0);
    run_on_stack(0, 2, 1);
}

static void test_open_memory_port(void **state)
{
    struct cpu_program program = {.host = case_make(1000, 100, TCM)};
    (void)state;
    program.host->open = 1;
    case_begin(program.host);
    case_add(&program, LUI_A0);
    case_add(&program, LW_A1);
    assert_int_equal(case_cycles_of(&program), 3);
    assert_int_equal(program.host->warnings, 1);
    case_finish(program.host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_past_tcm),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_open_memory_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
