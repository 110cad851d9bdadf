/* SPDX-License-Identifier: Apache-2.0 */
/* What the tightly coupled memory holds, and how tables come that it does not hold all of. */
#include "cpu_case.h"

#define TABLES (MACHINE_RAM + 0x4000)
#define LUI_TABLE(number) (UINT32_C(0x80004537) + 0x1000u * (number)) /* lui a0, to a table */
#define LW_A1_1024 UINT32_C(0x40052583)                               /* lw a1, 1024(a0) */

static const struct cnnvp_program_range code = {MACHINE_RAM, 0x400};

static void run(struct cnnvp_host *h, struct cnnvp_cpu_program *program)
{
    assert_int_equal(case_offer(h, program), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
}

static uint64_t tcm_bytes(struct cnnvp_host *h, struct cnnvp_cpu_program *program)
{
    h->counts[STAT_tcm_bytes] = 0;
    run(h, program);
    return h->counts[STAT_tcm_bytes];
}

/* What is left of the TCM is the stack's; of what does not fit the first part is held, and the size that would do said.
 */
static void test_held(void **state)
{
    struct cnnvp_host *h = case_begin(case_make(1000, 100, TCM));
    const struct cnnvp_program_range ranges[] = {
        {MACHINE_RAM, 0x101}, {MACHINE_RAM + 0x8010, 0x300}, {MACHINE_RAM + 0x200, 0x600}};
    struct cnnvp_cpu_program program = {.entry = MACHINE_RAM, .held = ranges, .held_count = 3};
    (void)state;
    case_put(h, 0, 0x0000006f); /* j . */
    assert_int_equal(tcm_bytes(h, &program), 0x200 + 0x600 + 0x400);
    program.stack = MACHINE_RAM + 0x10010;
    assert_int_equal(tcm_bytes(h, &program), 4096);
    program.stack = 0xfffffff0; /* its last granule ends where addresses do */
    assert_int_equal(tcm_bytes(h, &program), 4096);
    assert_int_equal(h->warnings, 0);
    const struct cnnvp_program_range large = {MACHINE_RAM, 0x2001};
    program.held = &large;
    program.held_count = 1;
    assert_int_equal(tcm_bytes(h, &program), 4096);
    assert_int_equal(h->warnings, 1);
    assert_non_null(strstr(h->last_warning, "use -s cpu.tcm_size=9KiB"));
    case_finish(h);
}

/* Reads the first word of tables in this order, then ends, at *cycles. Table n lies at TABLES + n * 0x1000. */
static struct cnnvp_host *read_tables(const struct cnnvp_program_table *tables, uint32_t count, const uint32_t *order,
                                      uint32_t reads, uint64_t quantum, uint64_t *cycles)
{
    struct cpu_program words = {.host = case_begin(case_make(1000, quantum, TCM))};
    struct cnnvp_cpu_program program = {
        .entry = MACHINE_RAM,
        .tohost = MACHINE_RAM + 0x100,
        .held = &code,
        .tables = tables,
        .held_count = 1,
        .table_count = count};
    for (uint32_t i = 0; i < reads; ++i) {
        case_add(&words, LUI_TABLE(order[i] % 16u));
        case_add(&words, order[i] < 16u ? LW_A1 : LW_A1_1024);
    }
    case_add(&words, 0x80000537);           /* lui a0, 0x80000 */
    case_add(&words, UINT32_C(0x00100593)); /* addi a1, x0, 1 */
    case_add(&words, 0x10b52023);           /* sw a1, 0x100(a0) */
    run(words.host, &program);
    assert_int_equal(words.host->finished, 1);
    *cycles = words.host->now / 1000 - 2; /* without the two instructions of the end */
    return words.host;
}

static void make_tables(struct cnnvp_program_table *tables, uint32_t count, uint32_t size)
{
    for (uint32_t i = 0; i < count; ++i)
        tables[i] = (struct cnnvp_program_table){.address = TABLES + 0x1000 * i, .size = size, .step = i};
}

/* Tables that all fit are there from the start. */
static void test_all_fit(void **state)
{
    static const uint32_t order[] = {0, 1, 2, 0, 2};
    struct cnnvp_program_table tables[3];
    uint64_t cycles;
    (void)state;
    make_tables(tables, 3, 0x400);
    struct cnnvp_host *h = read_tables(tables, 3, order, 5, 100, &cycles);
    assert_int_equal(cycles, 5 * (1 + 2));
    assert_int_equal(h->counts[STAT_tcm_bytes], 4096);
    assert_int_equal(h->counts[STAT_table_bytes] + h->counts[STAT_memory_reads] + h->request_bytes[CNNVP_READ], 0);
    case_finish(h);
}

/*
 * Room for three of four. Each read is preceded by an instruction of a cycle and takes 2; a request takes 42 cycles.
 * Step 2, at 7, makes room for table 3; step 3 comes at 10 and waits for it until 49, which makes room for table 0;
 * that is read at 52, and waits until 91.
 */
static void test_stream(void **state)
{
    static const uint32_t order[] = {0, 1, 2, 3, 0};
    static const uint64_t quanta[] = {1, 7, 100000};
    struct cnnvp_program_table tables[4];
    (void)state;
    make_tables(tables, 4, 0x400);
    for (size_t q = 0; q < 3; ++q) {
        uint64_t cycles;
        struct cnnvp_host *h = read_tables(tables, 4, order, 5, quanta[q], &cycles);
        assert_int_equal(cycles, 93);
        assert_int_equal(h->counts[STAT_table_stall_cycles], (49 - 10) + (91 - 52));
        assert_int_equal(h->counts[STAT_memory_stall_cycles], h->counts[STAT_table_stall_cycles]);
        /* table 1 is on its way again when the program ends */
        assert_int_equal(h->counts[STAT_table_bytes], 3 * 0x400);
        assert_int_equal(h->request_bytes[CNNVP_READ], 3 * 0x400);
        assert_int_equal(h->counts[STAT_memory_reads], 0);
        assert_int_equal(h->counts[STAT_tcm_bytes], 4096);
        assert_int_equal(h->counts[STAT_sram_bytes], 3 * 0x400 + (5 + 1) * 4);
        case_finish(h);
    }
}

/* The words of the step before are there beside the one at work, also when the next one's are awaited. */
static void test_step_before(void **state)
{
    static const uint32_t order[] = {0, 1, 0, 1, 0};
    struct cnnvp_program_table tables[4];
    uint64_t cycles;
    (void)state;
    make_tables(tables, 4, 0x400);
    struct cnnvp_host *h = read_tables(tables, 4, order, 5, 100, &cycles);
    assert_int_equal(h->counts[STAT_memory_reads], 0);
    case_finish(h);
}

/* A step that is larger than the room: its first table is held, the second is read in off-chip memory; nothing is
 * refused. */
static void test_large_step(void **state)
{
    static const uint32_t order[] = {0, 1, 2, 3, 3};
    struct cnnvp_program_table tables[4];
    uint64_t cycles;
    (void)state;
    make_tables(tables, 4, 0x400);
    tables[1].size = 0xd00;
    tables[2].step = 1;
    tables[3].step = 2;
    struct cnnvp_host *h = read_tables(tables, 4, order, 5, 100, &cycles);
    assert_int_equal(h->counts[STAT_memory_reads], 1);
    assert_int_equal(h->counts[STAT_tcm_bytes], 4096);
    assert_int_equal(h->warnings, 0);
    case_finish(h);
}

/* Work that begins again before its last step, or goes on further ahead, finds its tables after a wait. */
static void test_elsewhere(void **state)
{
    static const uint32_t again[] = {0, 1, 2, 3, 4, 5, 0, 1}, ahead[] = {0, 5, 6};
    struct cnnvp_program_table tables[8];
    uint64_t cycles;
    (void)state;
    make_tables(tables, 8, 0x400);
    struct cnnvp_host *h = read_tables(tables, 8, again, 8, 100, &cycles);
    assert_int_equal(h->counts[STAT_memory_reads], 0);
    assert_true(h->counts[STAT_table_stall_cycles] > 0);
    case_finish(h);
    h = read_tables(tables, 8, ahead, 3, 100, &cycles);
    assert_int_equal(h->counts[STAT_memory_reads], 0);
    assert_true(h->counts[STAT_table_stall_cycles] >= 42);
    case_finish(h);
}

/* Two that work side by side, each in its own step, with half of the room each. */
static void test_users(void **state)
{
    static const uint32_t order[] = {0, 4, 1, 2, 5, 3, 6, 7};
    struct cnnvp_program_table tables[8];
    uint64_t cycles;
    (void)state;
    make_tables(tables, 8, 0x300);
    for (uint32_t i = 4; i < 8; ++i) {
        tables[i].user = 1;
        tables[i].step -= 4;
    }
    struct cnnvp_host *h = read_tables(tables, 8, order, 8, 100, &cycles);
    assert_int_equal(h->counts[STAT_memory_reads], 0);
    assert_true(h->counts[STAT_table_bytes] >= 4 * 0x300);
    assert_int_equal(h->counts[STAT_tcm_bytes], 0x400 + 4 * 0x300);
    case_finish(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),        cmocka_unit_test(test_all_fit),    cmocka_unit_test(test_stream),
        cmocka_unit_test(test_step_before), cmocka_unit_test(test_large_step), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
