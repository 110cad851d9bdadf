/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction costs, by its address, worked out by hand. */
#include "rv32_case.h"

enum { PAGE = CNNVP_PROFILE_PAGE / 2, BYTES = 4096, HANDLER = 0x100, LOAD = 3, MULTIPLY = 5, JUMP = 2 };

#define MUL_A0 UINT32_C(0x02a50533)       /* mul a0, a0, a0 */
#define BNEZ_A0_BACK UINT32_C(0xfe051ee3) /* bne a0, x0 to the instruction before */
#define LW_FAULTS UINT32_C(0x00002583)    /* lw a1, 0(x0): there is no memory */

struct rig {
    struct cnnvp_rv32 *core;
    uint8_t *ram;
    struct cnnvp_core_cost costs[PAGE]; /* of the first page; those of others are lost */
    struct cnnvp_profiler profiler;
    uint32_t pages; /* that were asked for */
};

static struct cnnvp_core_cost *page(void *context, uint32_t address)
{
    struct rig *rig = context;
    ++rig->pages;
    return address == RAM ? rig->costs : NULL;
}

static struct rig *rig_new(const uint32_t *code, size_t size)
{
    const struct cnnvp_rv32_config config = {.cycles = {.load = LOAD, .multiply = MULTIPLY, .jump = JUMP}};
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    rig->core = malloc(cnnvp_rv32_size());
    rig->ram = calloc(1, BYTES);
    assert_true(rig->core != NULL && rig->ram != NULL);
    assert_int_equal(cnnvp_rv32_init(rig->core, &config), 0);
    assert_int_equal(cnnvp_rv32_map_ram(rig->core, RAM, BYTES, rig->ram), 0);
    memcpy(rig->ram, code, size);
    rig->profiler = (struct cnnvp_profiler){.context = rig, .page = page};
    cnnvp_rv32_profile(rig->core, &rig->profiler);
    cnnvp_rv32_reset(rig->core, RAM);
    return rig;
}

static void rig_free(struct rig *rig)
{
    cnnvp_rv32_fini(rig->core);
    free(rig->core);
    free(rig->ram);
    free(rig);
}

static void check(const struct cnnvp_core_cost *cost, uint64_t instructions, uint64_t cycles, uint64_t stalls,
                  uint64_t sleep)
{
    assert_int_equal(cost->instructions, instructions);
    assert_int_equal(cost->cycles, cycles);
    assert_int_equal(cost->stalls, stalls);
    assert_int_equal(cost->sleep, sleep);
}

static enum cnnvp_rv32_reason run(struct rig *rig, uint64_t limit)
{
    uint64_t executed;
    return cnnvp_rv32_run(rig->core, limit, &executed);
}

/* A loop of three rounds, cut within or not; a trap, whose handler sleeps in a page that is lost. */
static void test_program(void **state)
{
    const uint32_t code[] = {
        addi(A0, ZERO, 3),
        addi(A0, A0, (uint32_t)-1),
        BNEZ_A0_BACK,
        MUL_A0,
        lui(T0, RAM),
        lw(A1, T0, 0),
        LW_FAULTS,
        NOP,
        NOP};
    (void)state;
    for (uint64_t limit = 1; limit <= 1000; limit *= 10) {
        struct rig *rig = rig_new(code, sizeof code);
        const uint32_t wfi = WFI;
        memcpy(rig->ram + HANDLER, &wfi, sizeof wfi);
        assert_int_equal(cnnvp_rv32_set_csr(rig->core, MTVEC, RAM + HANDLER), 0);
        while (run(rig, limit) == CNNVP_RV32_BUDGET)
            continue;
        cnnvp_rv32_idle(rig->core, 40);
        check(&rig->costs[0], 1, 1, 0, 0);
        check(&rig->costs[2], 3, 3, 0, 0);
        check(&rig->costs[4], 3, 2 * JUMP + 1, 0, 0); /* taken twice */
        check(&rig->costs[6], 1, MULTIPLY, 0, 0);
        check(&rig->costs[10], 1, LOAD, 0, 0);
        check(&rig->costs[12], 0, LOAD, 0, 0); /* it takes its time, but is not retired */
        check(&rig->costs[14], 0, 0, 0, 0);
        check(cnnvp_rv32_cost(rig->core), 11, 1 + 3 + 2 * JUMP + 1 + MULTIPLY + 1 + LOAD + LOAD + 1 + 40, 0, 40);
        rig_free(rig);
    }
}

/* Standing still without a sleep is a stall of the next instruction; a jump to itself is executed on in one step. */
static void test_idle(void **state)
{
    const uint32_t code[] = {NOP, jump(0)};
    struct rig *rig = rig_new(code, sizeof code);
    (void)state;
    assert_int_equal(run(rig, 1), CNNVP_RV32_BUDGET);
    cnnvp_rv32_idle(rig->core, 7);
    check(&rig->costs[2], 0, 7, 7, 0);
    assert_int_equal(run(rig, 100), CNNVP_RV32_IDLE_LOOP);
    const struct cnnvp_core_cost before = rig->costs[2];
    cnnvp_rv32_skip(rig->core, 9);
    check(&rig->costs[2], before.instructions + 9, before.cycles + 9 * JUMP, 7, 0);
    assert_int_equal(rig->pages, 1);
    rig_free(rig);
}

struct watch {
    struct cnnvp_rv32 *core;
    uint32_t accesses;
};

static int compare(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    struct watch *watch = context;
    struct cnnvp_rv32_stats stats;
    (void)access;
    (void)address;
    (void)size;
    ++watch->accesses;
    cnnvp_rv32_get_stats(watch->core, &stats);
    assert_int_equal(cnnvp_rv32_cost(watch->core)->instructions, stats.retired);
    assert_int_equal(cnnvp_rv32_cost(watch->core)->cycles, stats.cycles);
    return 0;
}

/* In an access that takes time, in which a run may end, the profile has what the statistics have. */
static void test_access(void **state)
{
    const uint32_t code[] = {lui(T0, RAM), lw(A1, T0, 0x400), NOP, sw(A1, T0, 0x404), NOP, lw(A1, T0, 0x408), NOP, NOP};
    const uint32_t no_code[2] = {CNNVP_RV32_NO_CODE, CNNVP_RV32_NO_CODE};
    struct watch watch = {NULL, 0};
    const struct cnnvp_rv32_config config = {.bus = {.context = &watch, .memory = compare, .there = {.code = no_code}},
                                             .cycles = {.load = LOAD, .multiply = MULTIPLY, .jump = JUMP},
                                             .fetch_bytes = 16};
    struct rig *rig = rig_new(code, sizeof code);
    (void)state;
    cnnvp_rv32_fini(rig->core);
    watch.core = rig->core;
    assert_int_equal(cnnvp_rv32_init(rig->core, &config), 0);
    assert_int_equal(cnnvp_rv32_map_ram(rig->core, RAM, BYTES, rig->ram), 0);
    cnnvp_rv32_profile(rig->core, &rig->profiler);
    cnnvp_rv32_reset(rig->core, RAM);
    assert_int_equal(run(rig, 5 + 2 * LOAD + 1), CNNVP_RV32_BUDGET);
    assert_int_equal(watch.accesses, 3 + 2); /* two pieces of code */
    check(cnnvp_rv32_cost(rig->core), 8, 6 + 2 * LOAD, 0, 0);
    check(&rig->costs[2], 1, LOAD, 0, 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program), cmocka_unit_test(test_access), cmocka_unit_test(test_idle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
