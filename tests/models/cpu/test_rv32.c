/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core as its host sees it: exact counts at device accesses, limits, stops, interrupts, idleness, double faults,
 * memory maps, debugging. Instructions themselves are tested by the guest programs beside this file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rv32_machine.h"

#define RAM MACHINE_RAM
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ZERO = 0, T0 = 5, T1 = 6, A0 = 10, A1 = 11, A2 = 12 };
enum { MTVEC = 0x305, MEPC = 0x341, MCAUSE = 0x342, MIE = 0x304, MSTATUS = 0x300, MCYCLE = 0xb00, MINSTRET = 0xb02 };

static uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return (imm & 0xfffu) << 20 | rs1 << 15 | rd << 7 | 0x13u;
}

static uint32_t lui(uint32_t rd, uint32_t imm)
{
    return (imm & 0xfffff000u) | rd << 7 | 0x37u;
}

static uint32_t lw(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return (imm & 0xfffu) << 20 | rs1 << 15 | 2u << 12 | rd << 7 | 0x03u;
}

static uint32_t sw(uint32_t rs2, uint32_t rs1, uint32_t imm)
{
    return (imm >> 5 & 0x7fu) << 25 | rs2 << 20 | rs1 << 15 | 2u << 12 | (imm & 31u) << 7 | 0x23u;
}

/* imm: even, -256 .. 254 */
static uint32_t jump(int imm)
{
    uint32_t u = (uint32_t)imm;
    return (u >> 20 & 1u) << 31 | (u >> 1 & 0x3ffu) << 21 | (u >> 11 & 1u) << 20 | (u & 0xff000u) | 0x6fu;
}

#define WFI 0x10500073u
#define ECALL 0x00000073u
#define NOP 0x00000013u
#define FENCE_I 0x0000100fu

static struct machine *setup(const uint32_t *words, size_t count)
{
    struct machine *m = malloc(sizeof *m);
    assert_non_null(m);
    assert_int_equal(machine_init(m), 0);
    machine_poke(m, RAM, words, count);
    cnnvp_rv32_reset(m->core, RAM);
    return m;
}

static void teardown(struct machine *m)
{
    machine_fini(m);
    free(m);
}

static enum cnnvp_rv32_reason run(struct machine *m, uint64_t limit, uint64_t expected)
{
    uint64_t executed;
    m->limit = limit;
    enum cnnvp_rv32_reason reason = cnnvp_rv32_run(m->core, limit, &executed);
    assert_int_equal(executed, expected);
    m->slots_before_run += executed;
    return reason;
}

static uint32_t csr(struct machine *m, unsigned number)
{
    uint32_t value;
    assert_int_equal(cnnvp_rv32_csr(m->core, number, &value), 0);
    return value;
}

static void test_limit_is_exact(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), addi(A0, A0, 1), addi(A0, A0, 1), jump(-12)};
    (void)state;
    for (uint32_t limit = 0; limit < 13; ++limit) {
        struct machine *m = setup(code, COUNT(code));
        assert_int_equal(run(m, limit, limit), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(m->core, A0), limit - limit / 4);
        assert_int_equal(cnnvp_rv32_pc(m->core), RAM + limit % 4 * 4);
        assert_int_equal(csr(m, MINSTRET), limit);
        /* and again from the middle, now with everything in the cache */
        assert_int_equal(run(m, 40 - limit, 40 - limit), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(m->core, A0), 30);
        teardown(m);
    }
}

static void test_pieces_equal_one_run(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), lw(A0, T0, 0x20), addi(A1, A1, 1), sw(A1, T0, 0x24), lw(A2, T0, 0x20), jump(-16)};
    struct machine *whole = setup(code, COUNT(code));
    (void)state;
    (void)machine_run(whole, 1000, 1000);
    for (uint64_t quantum = 1; quantum < 20; ++quantum) {
        struct machine *m = setup(code, COUNT(code));
        struct cnnvp_rv32_stats a, b;
        (void)machine_run(m, 1000, quantum);
        for (unsigned i = 0; i < 32; ++i)
            assert_int_equal(cnnvp_rv32_reg(m->core, i), cnnvp_rv32_reg(whole->core, i));
        cnnvp_rv32_get_stats(m->core, &a);
        cnnvp_rv32_get_stats(whole->core, &b);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(a.loads, 400);
        assert_int_equal(a.stores, 200);
        assert_int_equal(a.mmio, 600);
        teardown(m);
    }
    teardown(whole);
}

#define MUL_A1 0x02b585b3u    /* mul a1, a1, a1 */
#define DIV_A1 0x02b5d5b3u    /* divu a1, a1, a1 */
#define BNE_NEVER 0x00001263u /* bne x0, x0 */
#define BEQ_NEXT 0x00000263u  /* beq x0, x0 to the next instruction */

/* Instructions of each class, wherever a run ends, and whatever of their block a device access or a trap leaves out: a
 * loop of 10 instructions in three blocks. */
static void test_counts_by_class(void **state)
{
    const uint32_t code[] = {lui(T0, MACHINE_DEVICE), MUL_A1,    lw(A0, T0, 0x20), DIV_A1,   MUL_A1, BEQ_NEXT,
                             sw(A1, T0, 0x24),        BNE_NEVER, DIV_A1,           jump(-36)};
    (void)state;
    for (uint64_t quantum = 1; quantum < 25; ++quantum) {
        struct machine *m = setup(code, COUNT(code));
        struct cnnvp_rv32_stats s;
        uint64_t executed;
        for (uint64_t done = 0; done < 200; done += quantum) {
            const uint64_t now = done + quantum, rounds = now / 10, rest = now % 10;
            (void)cnnvp_rv32_run(m->core, quantum, &executed);
            cnnvp_rv32_get_stats(m->core, &s);
            assert_int_equal(s.slots, now);
            assert_int_equal(s.multiplies, 2 * rounds + (rest > 1) + (rest > 4));
            assert_int_equal(s.divides, 2 * rounds + (rest > 3) + (rest > 8));
            assert_int_equal(s.jumps, 2 * rounds + (rest > 5));
            assert_int_equal(s.loads, rounds + (rest > 2));
            assert_int_equal(s.stores, rounds + (rest > 6));
        }
        teardown(m);
    }
}

/* A load in the middle of a block traps, again and again; what follows it there is never counted. More instructions
 * than a chunk has. */
static void test_counts_in_traps(void **state)
{
    const uint32_t code[] = {MUL_A1, lw(A0, ZERO, 0), MUL_A1, DIV_A1, jump(0)};
    struct machine *m = setup(code, COUNT(code));
    struct cnnvp_rv32_stats s;
    (void)state;
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM), 0);
    assert_int_equal(run(m, 1000000, 1000000), CNNVP_RV32_BUDGET);
    cnnvp_rv32_get_stats(m->core, &s);
    assert_int_equal(s.slots, 1000000);
    assert_int_equal(s.exceptions, 500000);
    assert_int_equal(s.loads, 500000);
    assert_int_equal(s.multiplies, 500000);
    assert_int_equal(s.divides, 0);
    assert_int_equal(s.jumps, 0);
    teardown(m);
}

/* One run of more instructions than a chunk counts, all of one class. */
static void test_counts_of_chunks(void **state)
{
    const uint32_t code[] = {MUL_A1, MUL_A1, MUL_A1, jump(-12)};
    struct machine *m = setup(code, COUNT(code));
    struct cnnvp_rv32_stats s;
    (void)state;
    assert_int_equal(run(m, 1000000, 1000000), CNNVP_RV32_BUDGET);
    cnnvp_rv32_get_stats(m->core, &s);
    assert_int_equal(s.multiplies, 750000);
    assert_int_equal(s.jumps, 250000);
    teardown(m);
}

/* The device reads the number of instructions before it, whatever the place in the block. */
static void test_count_at_access(void **state)
{
    const uint32_t code[] = {lui(T0, MACHINE_DEVICE), NOP, NOP, lw(A0, T0, 0x20), NOP, lw(A1, T0, 0x20), WFI};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 7), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3);
    assert_int_equal(cnnvp_rv32_reg(m->core, A1), 5);
    teardown(m);
}

/* A device access changes the limit of the run it is part of, down or up. */
static void test_limit_from_callback(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), addi(A0, ZERO, 4), sw(A0, T0, 0x18), NOP, NOP, NOP, NOP, NOP, NOP};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 6), CNNVP_RV32_BUDGET); /* the store is slot 2, the timer due 4 later */
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM + 24);
    teardown(m);
}

static void test_stop_and_exit_from_callback(void **state)
{
    const uint32_t code[] = {lui(T0, MACHINE_DEVICE), addi(A0, ZERO, 42), sw(A0, T0, 0x30), addi(A0, A0, 1), WFI};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 3), CNNVP_RV32_EXIT);
    assert_int_equal(cnnvp_rv32_exit_status(m->core), 42);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 42);
    cnnvp_rv32_stop(m->core);
    assert_int_equal(run(m, 100, 0), CNNVP_RV32_STOPPED);
    assert_int_equal(run(m, 100, 2), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 43);
    teardown(m);
}

static void test_wfi(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), WFI, addi(A0, A0, 1), WFI, jump(0)};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 2), CNNVP_RV32_WFI);
    assert_false(cnnvp_rv32_wakeup(m->core));
    assert_false(cnnvp_rv32_can_wake(m->core));
    assert_int_equal(run(m, 100, 0), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MIE, 1u << CNNVP_RV32_MEIP), 0);
    assert_true(cnnvp_rv32_can_wake(m->core));
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MTIP, 1);
    assert_int_equal(run(m, 100, 0), CNNVP_RV32_WFI);
    cnnvp_rv32_idle(m->core, 50);
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MEIP, 1);
    assert_true(cnnvp_rv32_wakeup(m->core));
    /* MIE is off: it goes on; the second WFI finds an interrupt pending and does not wait */
    assert_int_equal(run(m, 100, 3), CNNVP_RV32_IDLE_LOOP);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 2);
    assert_int_equal(csr(m, MCYCLE), 55);
    assert_int_equal(csr(m, MINSTRET), 5);
    teardown(m);
}

static void test_idle_loop(void **state)
{
    const uint32_t code[] = {NOP, jump(0)};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 2), CNNVP_RV32_IDLE_LOOP);
    assert_false(cnnvp_rv32_can_wake(m->core));
    assert_int_equal(run(m, 100, 1), CNNVP_RV32_IDLE_LOOP);
    cnnvp_rv32_skip(m->core, 97);
    assert_int_equal(csr(m, MINSTRET), 100);
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM + 4);
    /* with an interrupt that can be taken the jump is executed once more, then left */
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM), 0);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MIE, 1u << CNNVP_RV32_MSIP), 0);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MSTATUS, 8), 0);
    assert_true(cnnvp_rv32_can_wake(m->core));
    cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MSIP, 1);
    assert_int_equal(run(m, 1, 1), CNNVP_RV32_BUDGET);
    assert_int_equal(csr(m, MCAUSE), 0x80000003u);
    assert_int_equal(csr(m, MEPC), RAM + 4);
    teardown(m);
}

/* A guest that jumps into nothing without a handler is reported, and the log says how it came about. */
static void test_double_fault(void **state)
{
    const uint32_t code[] = {lui(T0, 0x40000000), 0x00028067u /* jr t0 */};
    struct cnnvp_rv32_trap traps[CNNVP_RV32_TRAP_LOG];
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 4), CNNVP_RV32_DOUBLE_FAULT);
    assert_int_equal(cnnvp_rv32_trap_log(m->core, traps), 2);
    assert_int_equal(traps[0].pc, 0x40000000);
    assert_int_equal(traps[0].cause, CNNVP_RV32_FETCH_FAULT);
    assert_int_equal(traps[0].tval, 0x40000000);
    assert_int_equal(traps[0].slot, 3);
    assert_int_equal(traps[1].pc, 0);
    assert_int_equal(run(m, 100, 0), CNNVP_RV32_DOUBLE_FAULT);
    cnnvp_rv32_set_pc(m->core, RAM);
    assert_int_equal(run(m, 1, 1), CNNVP_RV32_BUDGET);
    teardown(m);
}

/* A handler that traps later than in its first instruction is the guest's business. */
static void test_no_double_fault(void **state)
{
    const uint32_t code[] = {ECALL, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, ECALL};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM + 32), 0);
    assert_int_equal(run(m, 1001, 1001), CNNVP_RV32_BUDGET);
    struct cnnvp_rv32_stats stats;
    cnnvp_rv32_get_stats(m->core, &stats);
    assert_int_equal(stats.exceptions, 501);
    assert_int_equal(stats.retired, 500);
    teardown(m);
}

static void test_tohost(void **state)
{
    const uint32_t code[] = {
        lui(T0, RAM + 0x1000), addi(A0, ZERO, 7), sw(ZERO, T0, 0x100), sw(A0, T0, 0x104), sw(A0, T0, 0x100), NOP};
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, 0x1000), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1102), -1);
    assert_int_equal(cnnvp_rv32_watch_tohost(m->core, RAM + 0x1100), 0);
    assert_int_equal(run(m, 100, 5), CNNVP_RV32_EXIT);
    assert_int_equal(cnnvp_rv32_exit_status(m->core), 3);
    teardown(m);
}

static void test_map_rules(void **state)
{
    struct machine *m = setup(NULL, 0);
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
    teardown(m);
    free(more);
}

/* Code in one region works on data in another, to and fro, up to the last byte of the address space. */
static void test_two_regions(void **state)
{
    const uint32_t code[] = {lui(T0, 0xfffff000), lui(T1, RAM + 0x2000), addi(A0, A0, 5), sw(A0, T0, 0x0),
                             sw(A0, T1, 0),       lw(A1, T0, 0),         sw(A1, T1, 4),   lw(A2, T1, 4),
                             sw(A2, ZERO, 0xffc), lw(A1, ZERO, 0xffc),   jump(-32)};
    struct machine *m = setup(code, COUNT(code));
    uint8_t *more = calloc(1, 4096);
    (void)state;
    assert_int_equal(cnnvp_rv32_map_ram(m->core, 0xfffff000, 4096, more), 0);
    assert_int_equal(run(m, 2 + 9 * 10, 2 + 9 * 10), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A1), 50);
    assert_int_equal(more[0], 50);
    assert_int_equal(more[4092], 50);
    assert_int_equal(m->accesses, 0);
    teardown(m);
    free(more);
}

/* Code that another initiator writes: cnnvp_rv32_invalidate or the guest's fence.i. */
static void test_code_from_outside(void **state)
{
    const uint32_t code[] = {addi(A0, ZERO, 1), jump(-4)};
    const uint32_t two = addi(A0, ZERO, 2);
    const uint32_t three = addi(A0, ZERO, 3);
    const uint32_t fence = FENCE_I;
    struct machine *m = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(m, 100, 100), CNNVP_RV32_BUDGET);
    machine_poke(m, RAM, &two, 1);
    cnnvp_rv32_invalidate(m->core, 0, UINT32_MAX);
    assert_int_equal(run(m, 100, 100), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 2);
    machine_poke(m, RAM + 0x100, &fence, 1);
    machine_poke(m, RAM, &three, 1);
    cnnvp_rv32_set_pc(m->core, RAM + 0x100);
    assert_int_equal(run(m, 1, 1), CNNVP_RV32_BUDGET);
    cnnvp_rv32_set_pc(m->core, RAM);
    assert_int_equal(run(m, 100, 100), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3);
    teardown(m);
}

/* More code than the cache of blocks holds: 40000 blocks, several times round. */
static void test_cache_overflow(void **state)
{
    enum { BLOCKS = 40000 };
    struct machine *m = setup(NULL, 0);
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        const uint32_t block[] = {addi(A0, A0, 1), jump(i + 1 < BLOCKS ? 4 : -(int)(8 * i + 4))};
        machine_poke(m, RAM + 8 * i, block, 2);
    }
    assert_int_equal(run(m, 6 * BLOCKS, 6 * BLOCKS), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3 * BLOCKS);
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM);
    teardown(m);
}

static int fetch_rom(void *context, uint32_t address, uint16_t *half)
{
    const uint32_t *rom = context;
    if (address < 0x2000 || address >= 0x2010)
        return -1;
    *half = (uint16_t)(rom[(address - 0x2000) / 4] >> 8 * (address & 2u));
    return 0;
}

/* Code outside RAM, instruction by instruction through the bus. */
static void test_fetch_callback(void **state)
{
    uint32_t rom[] = {addi(A0, ZERO, 3), 0x0505u | 0x0505u << 16 /* c.addi a0, 1, twice */, jump(4), addi(A0, A0, 7)};
    struct cnnvp_rv32_config config = {.bus = {.context = rom, .fetch = fetch_rom}, .cycles = {.jump = 3}};
    struct cnnvp_rv32 *core = malloc(cnnvp_rv32_size());
    uint64_t executed;
    uint32_t value;
    (void)state;
    assert_int_equal(cnnvp_rv32_init(core, &config), 0);
    cnnvp_rv32_reset(core, 0x2000);
    assert_int_equal(cnnvp_rv32_run(core, 4, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(executed, 6); /* the jump begins within the limit and ends after it */
    assert_int_equal(cnnvp_rv32_run(core, 1, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(core, A0), 12);
    assert_int_equal(cnnvp_rv32_run(core, 100, &executed), CNNVP_RV32_DOUBLE_FAULT);
    assert_int_equal(cnnvp_rv32_csr(core, MEPC, &value), 0);
    assert_int_equal(cnnvp_rv32_csr(core, MCYCLE, &value), 0);
    assert_int_equal(value, 3 + 3 + 1 + 2);
    /* no load and no store callback: data accesses outside RAM fault */
    rom[0] = lw(A0, ZERO, 16);
    cnnvp_rv32_reset(core, 0x2000);
    assert_int_equal(cnnvp_rv32_run(core, 1, &executed), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_csr(core, MCAUSE, &value), 0);
    assert_int_equal(value, CNNVP_RV32_LOAD_FAULT);
    cnnvp_rv32_fini(core);
    free(core);
}

static void test_reset_and_two_cores(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), jump(-4)};
    struct machine *a = setup(code, COUNT(code));
    struct machine *b = setup(code, COUNT(code));
    (void)state;
    assert_int_equal(run(a, 10, 10), CNNVP_RV32_BUDGET);
    assert_int_equal(run(b, 20, 20), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(a->core, A0), 5);
    assert_int_equal(cnnvp_rv32_reg(b->core, A0), 10);
    cnnvp_rv32_set_irq(a->core, CNNVP_RV32_MEIP, 1);
    cnnvp_rv32_reset(a->core, RAM + 4);
    assert_int_equal(cnnvp_rv32_reg(a->core, A0), 0);
    assert_int_equal(cnnvp_rv32_pc(a->core), RAM + 4);
    assert_int_equal(csr(a, 0x344), 1u << CNNVP_RV32_MEIP);
    assert_int_equal(csr(a, MINSTRET), 0);
    cnnvp_rv32_set_reg(a->core, 0, 5);
    cnnvp_rv32_set_reg(a->core, 99, 5);
    assert_int_equal(cnnvp_rv32_reg(a->core, 0), 0);
    assert_int_equal(cnnvp_rv32_reg(a->core, 99), 0);
    teardown(a);
    teardown(b);
}

static void test_debug_csrs(void **state)
{
    struct machine *m = setup(NULL, 0);
    uint32_t value;
    (void)state;
    assert_int_equal(cnnvp_rv32_csr(m->core, 0x180, &value), -1);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, 0xf14, 1), -1);
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MCYCLE, 1000), 0);
    assert_int_equal(csr(m, MCYCLE), 1000);
    teardown(m);
}

/* A loop of four instructions is stopped at each of them, from the cache or not, and is otherwise as without. */
static void test_stops_on_execute(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), addi(A0, A0, 1), addi(A0, A0, 1), jump(-12)};
    struct machine *m = setup(code, COUNT(code));
    uint32_t address = 0;
    (void)state;
    assert_int_equal(run(m, 8, 8), CNNVP_RV32_BUDGET);
    for (uint32_t at = 0; at < COUNT(code); ++at) {
        assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), 0);
        assert_int_equal(run(m, 100, at), CNNVP_RV32_HIT);
        assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_EXECUTE);
        assert_int_equal(address, RAM + 4u * at);
        assert_int_equal(run(m, 100, 4), CNNVP_RV32_HIT);  /* once round */
        assert_int_equal(run(m, 4, 4), CNNVP_RV32_BUDGET); /* the limit comes first */
        assert_int_equal(run(m, 100, 0), CNNVP_RV32_HIT);
        assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), 0);
        assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 4u * at, 0), -1);
        assert_int_equal(run(m, 8 - at, 8 - at), CNNVP_RV32_BUDGET);
    }
    assert_int_equal(csr(m, MINSTRET), 8 + 4 * 16);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), (8 + 4 * 16) / 4 * 3);
    for (uint32_t i = 0; i < CNNVP_RV32_MAX_STOPS; ++i)
        assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM + 64u + 4u * i, 0), 0);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_EXECUTE, RAM, 0), -1);
    teardown(m);
}

/* In RAM and at a device, behind the instruction; bytes beside the stop do not count. */
static void test_stops_on_data(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), lui(T1, RAM), lw(A1, T0, 0x24), sw(A1, T1, 0x104), lw(A2, T1, 0x100), jump(-12)};
    struct machine *m = setup(code, COUNT(code));
    uint32_t address = 0;
    (void)state;
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_WRITE, RAM + 0x107, 4), 0);
    assert_int_equal(run(m, 100, 4), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_WRITE);
    assert_int_equal(address, RAM + 0x107);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_ACCESS, RAM + 0x100, 4), 0);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_READ, MACHINE_DEVICE + 0x24, 1), 0);
    assert_int_equal(run(m, 100, 1), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_ACCESS);
    assert_int_equal(address, RAM + 0x100);
    assert_int_equal(run(m, 100, 2), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_last_hit(m->core, &address), CNNVP_RV32_ON_READ);
    assert_int_equal(address, MACHINE_DEVICE + 0x24);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_READ, MACHINE_DEVICE + 0x24, 1), 0);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_WRITE, RAM + 0x107, 4), 0);
    assert_int_equal(run(m, 100, 2), CNNVP_RV32_HIT);
    assert_int_equal(cnnvp_rv32_remove_stop(m->core, CNNVP_RV32_ON_ACCESS, RAM + 0x100, 4), 0);
    assert_int_equal(run(m, 91, 91), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_add_stop(m->core, CNNVP_RV32_ON_READ, RAM, 0), -1); /* no byte */
    teardown(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_pieces_equal_one_run),
        cmocka_unit_test(test_counts_by_class),
        cmocka_unit_test(test_counts_in_traps),
        cmocka_unit_test(test_counts_of_chunks),
        cmocka_unit_test(test_count_at_access),
        cmocka_unit_test(test_limit_from_callback),
        cmocka_unit_test(test_stop_and_exit_from_callback),
        cmocka_unit_test(test_wfi),
        cmocka_unit_test(test_idle_loop),
        cmocka_unit_test(test_double_fault),
        cmocka_unit_test(test_no_double_fault),
        cmocka_unit_test(test_tohost),
        cmocka_unit_test(test_map_rules),
        cmocka_unit_test(test_two_regions),
        cmocka_unit_test(test_code_from_outside),
        cmocka_unit_test(test_cache_overflow),
        cmocka_unit_test(test_fetch_callback),
        cmocka_unit_test(test_reset_and_two_cores),
        cmocka_unit_test(test_debug_csrs),
        cmocka_unit_test(test_stops_on_execute),
        cmocka_unit_test(test_stops_on_data),
    };
    return cmocka_run_group_tests_name("rv32", tests, NULL, NULL);
}
