/* SPDX-License-Identifier: Apache-2.0 */
/* The core as its host sees it: exact counts at device accesses, limits, stops, resets. Instructions themselves are
 * tested by the guest programs beside this file. */
#include "rv32_case.h"

static void test_limit_is_exact(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), addi(A0, A0, 1), addi(A0, A0, 1), jump(-12)};
    (void)state;
    for (uint32_t limit = 0; limit < 13; ++limit) {
        struct machine *m = rv32_begin(code, COUNT(code));
        assert_int_equal(rv32_go(m, limit, limit), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(m->core, A0), limit - limit / 4);
        assert_int_equal(cnnvp_rv32_pc(m->core), RAM + limit % 4 * 4);
        assert_int_equal(rv32_csr_of(m, MINSTRET), limit);
        /* and again from the middle, now with everything in the cache */
        assert_int_equal(rv32_go(m, 40 - limit, 40 - limit), CNNVP_RV32_BUDGET);
        assert_int_equal(cnnvp_rv32_reg(m->core, A0), 30);
        rv32_end(m);
    }
}

static void test_pieces_equal_one_run(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), lw(A0, T0, 0x20), addi(A1, A1, 1), sw(A1, T0, 0x24), lw(A2, T0, 0x20), jump(-16)};
    struct machine *whole = rv32_begin(code, COUNT(code));
    (void)state;
    (void)machine_run(whole, 1000, 1000);
    for (uint64_t quantum = 1; quantum < 20; ++quantum) {
        struct machine *m = rv32_begin(code, COUNT(code));
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
        rv32_end(m);
    }
    rv32_end(whole);
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
        struct machine *m = rv32_begin(code, COUNT(code));
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
        rv32_end(m);
    }
}

/* A load in the middle of a block traps, again and again; what follows it there is never counted. More instructions
 * than a chunk has. */
static void test_counts_in_traps(void **state)
{
    const uint32_t code[] = {MUL_A1, MUL_A1, MUL_A1, MUL_A1, lw(A0, ZERO, 0), MUL_A1, DIV_A1, jump(0)};
    struct machine *m = rv32_begin(code, COUNT(code));
    struct cnnvp_rv32_stats s;
    (void)state;
    assert_int_equal(cnnvp_rv32_set_csr(m->core, MTVEC, RAM), 0);
    assert_int_equal(rv32_go(m, 1000000, 1000000), CNNVP_RV32_BUDGET);
    cnnvp_rv32_get_stats(m->core, &s);
    assert_int_equal(s.slots, 1000000);
    assert_int_equal(s.exceptions, 200000);
    assert_int_equal(s.loads, 200000);
    assert_int_equal(s.multiplies, 800000);
    assert_int_equal(s.divides, 0);
    assert_int_equal(s.jumps, 0);
    rv32_end(m);
}

/* One run of more instructions than a chunk counts, all of one class. */
static void test_counts_of_chunks(void **state)
{
    const uint32_t code[] = {MUL_A1, MUL_A1, MUL_A1, jump(-12)};
    struct machine *m = rv32_begin(code, COUNT(code));
    struct cnnvp_rv32_stats s;
    (void)state;
    assert_int_equal(rv32_go(m, 1000000, 1000000), CNNVP_RV32_BUDGET);
    cnnvp_rv32_get_stats(m->core, &s);
    assert_int_equal(s.multiplies, 750000);
    assert_int_equal(s.jumps, 250000);
    rv32_end(m);
}

/* The device reads the number of instructions before it, whatever the place in the block. */
static void test_count_at_access(void **state)
{
    const uint32_t code[] = {lui(T0, MACHINE_DEVICE), NOP, NOP, lw(A0, T0, 0x20), NOP, lw(A1, T0, 0x20), WFI};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 7), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 3);
    assert_int_equal(cnnvp_rv32_reg(m->core, A1), 5);
    rv32_end(m);
}

/* A device access changes the limit of the run it is part of, down or up. */
static void test_limit_from_callback(void **state)
{
    const uint32_t code[] = {
        lui(T0, MACHINE_DEVICE), addi(A0, ZERO, 4), sw(A0, T0, 0x18), NOP, NOP, NOP, NOP, NOP, NOP};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 6), CNNVP_RV32_BUDGET); /* the store is slot 2, the timer due 4 later */
    assert_int_equal(cnnvp_rv32_pc(m->core), RAM + 24);
    rv32_end(m);
}

static void test_stop_and_exit_from_callback(void **state)
{
    const uint32_t code[] = {lui(T0, MACHINE_DEVICE), addi(A0, ZERO, 42), sw(A0, T0, 0x30), addi(A0, A0, 1), WFI};
    struct machine *m = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(m, 100, 3), CNNVP_RV32_EXIT);
    assert_int_equal(cnnvp_rv32_exit_status(m->core), 42);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 42);
    cnnvp_rv32_stop(m->core);
    assert_int_equal(rv32_go(m, 100, 0), CNNVP_RV32_STOPPED);
    assert_int_equal(rv32_go(m, 100, 2), CNNVP_RV32_WFI);
    assert_int_equal(cnnvp_rv32_reg(m->core, A0), 43);
    rv32_end(m);
}

static void test_reset_and_two_cores(void **state)
{
    const uint32_t code[] = {addi(A0, A0, 1), jump(-4)};
    struct machine *a = rv32_begin(code, COUNT(code));
    struct machine *b = rv32_begin(code, COUNT(code));
    (void)state;
    assert_int_equal(rv32_go(a, 10, 10), CNNVP_RV32_BUDGET);
    assert_int_equal(rv32_go(b, 20, 20), CNNVP_RV32_BUDGET);
    assert_int_equal(cnnvp_rv32_reg(a->core, A0), 5);
    assert_int_equal(cnnvp_rv32_reg(b->core, A0), 10);
    cnnvp_rv32_set_irq(a->core, CNNVP_RV32_MEIP, 1);
    cnnvp_rv32_reset(a->core, RAM + 4);
    assert_int_equal(cnnvp_rv32_reg(a->core, A0), 0);
    assert_int_equal(cnnvp_rv32_pc(a->core), RAM + 4);
    assert_int_equal(rv32_csr_of(a, 0x344), 1u << CNNVP_RV32_MEIP);
    assert_int_equal(rv32_csr_of(a, MINSTRET), 0);
    cnnvp_rv32_set_reg(a->core, 0, 5);
    cnnvp_rv32_set_reg(a->core, 99, 5);
    assert_int_equal(cnnvp_rv32_reg(a->core, 0), 0);
    assert_int_equal(cnnvp_rv32_reg(a->core, 99), 0);
    rv32_end(a);
    rv32_end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_exact),      cmocka_unit_test(test_pieces_equal_one_run),
        cmocka_unit_test(test_counts_by_class),     cmocka_unit_test(test_counts_in_traps),
        cmocka_unit_test(test_counts_of_chunks),    cmocka_unit_test(test_count_at_access),
        cmocka_unit_test(test_limit_from_callback), cmocka_unit_test(test_stop_and_exit_from_callback),
        cmocka_unit_test(test_reset_and_two_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
