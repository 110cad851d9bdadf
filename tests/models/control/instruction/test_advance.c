/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, branches, interrupts, programs in memory. */
#include "instruction_case.h"

/* Two cycles for entering a loop, none for going round; nested; skipped with count 0. */
static void test_loops(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        w_ri(ISA_set, 1, 3),      /* 13 */
        w_ri(ISA_set, 2, 2),      /* 14 */
        w_ri(ISA_loop, 1, 4),     /* 15; body fetched from 16 on */
        w_rri(ISA_addi, 3, 3, 1), /* 18 */
        w_ri(ISA_loop, 2, 2),     /* 19; body from 20 on */
        w_rri(ISA_addi, 4, 4, 1), /* 22, 24 */
        w_rri(ISA_addi, 5, 5, 2), /* 23, 25; the outer loop's next round: 26, 27, 30 .. 33; 34, 35, 38 .. 41 */
        w_ri(ISA_loop, 99, 2),    /* 42: no rounds; next fetched at 43 */
        w_none(ISA_halt),         w_none(ISA_halt), w_tile(ISA_store, 2, 3, 0, TAKES(1)), /* 45 */
    };
    const uint64_t cycles[] = {45};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    check_cycles(rig, cycles, 1);
    assert_int_equal(rig->commands[0].command.descriptor[0], 3);
    assert_int_equal(rig->commands[0].command.descriptor[1], 6);
    assert_int_equal(rig->commands[0].command.descriptor[2], 12);
    rig_free(rig);
}

static void test_branches(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        w_ri(ISA_set, 1, 5), w_ri(ISA_set, 2, (uint32_t)-5), w_branch(ISA_blt, 2, 1, 2), /* signed: taken */
        w_none(ISA_halt),    w_branch(ISA_bge, 2, 1, 2),                                 /* not taken */
        w_ri(ISA_set, 3, 1), w_branch(ISA_beq, 1, 1, 3),     w_none(ISA_halt),
        w_none(ISA_halt),    w_branch(ISA_bne, 1, 1, 2),     w_imm(ISA_jump, 4), /* to a word that is still to come */
        w_none(ISA_halt),
    };
    rig_push_all(rig, words, COUNT(words));
    rig_to(rig, 100);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4);
    assert_int_equal(fake_read(rig->element, "PC"), 14);
    assert_int_equal(fake_read(rig->element, "FREE"), 4096);
    rig_push(rig, w_none(ISA_halt));
    rig_push(rig, w_none(ISA_halt));
    rig_push(rig, w_tile(ISA_fill, 0, 3, 0, TAKES(1)));
    rig_finish(rig, 200);
    const uint64_t cycles[] = {103};
    check_cycles(rig, cycles, 1);
    assert_int_equal(rig->commands[0].command.descriptor[0], 1);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 9);
    rig_free(rig);
}

/* sync, irq and halt wait for everything; enable continues after a halt. */
static void test_sync_irq_halt(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        RECEIVE(0, 0, 100), w_none(ISA_sync), CONV(2, 40), w_imm(ISA_irq, 1234), w_none(ISA_halt), CONV(2, 40)};
    (void)fake_write(rig->element, "IRQ_ENABLE", IRQ_EVENT);
    rig_push_all(rig, words, COUNT(words));
    rig_to(rig, 153); /* receive 13 .. 113, sync 113, conv 114 .. 154, irq 154 */
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    assert_int_equal(fake_read(rig->element, "EVENT"), 0);
    rig_to(rig, 300);
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);
    assert_int_equal(rig->element->irq_changed[PORT_irq], 154000);
    assert_int_equal(fake_read(rig->element, "EVENT"), 1234);
    assert_int_equal(fake_read(rig->element, "EVENT_COUNT"), 1);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x11); /* busy, halted */
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_EVENT);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    (void)fake_write(rig->element, "CTRL", 1);
    rig_finish(rig, 400);
    const uint64_t cycles[] = {13, 114, 303};
    check_cycles(rig, cycles, 3);
    /* conv in the halt's shadow: waiting at the halt is the host's */
    assert_int_equal(rig_accounted(rig) + 40 + 40, 343 - 10);
    rig_free(rig);
}

static void test_bad_targets(void **state)
{
    (void)state;
    const uint64_t backward[] = {w_none(ISA_nop), w_imm(ISA_jump, (uint32_t)-1)};
    const uint64_t itself[] = {w_none(ISA_nop), w_imm(ISA_jump, 0)};
    const uint64_t far_back[] = {w_imm(ISA_jump, UINT32_C(0x80000000))};
    const uint64_t too_long[] = {w_ri(ISA_set, 1, 2), w_ri(ISA_loop, 1, 4097)};
    const uint64_t crossing[] = {w_ri(ISA_set, 1, 1), w_ri(ISA_loop, 1, 1), w_ri(ISA_loop, 1, 2)};
    const uint64_t too_deep[] = {w_ri(ISA_set, 1, 1),  w_ri(ISA_loop, 1, 9), w_ri(ISA_loop, 1, 8),
                                 w_ri(ISA_loop, 1, 7), w_ri(ISA_loop, 1, 6), w_ri(ISA_loop, 1, 5)};
    fails_and_goes_on(backward, 1, ERROR_target, 0);
    fails_and_goes_on(itself, 1, ERROR_target, 0);
    fails_and_goes_on(far_back, 0, ERROR_target, 0);
    fails_and_goes_on(too_long, 1, ERROR_target, 0);
    fails_and_goes_on(crossing, 2, ERROR_target, 0);
    fails_and_goes_on(too_deep, 5, ERROR_nesting, 0);
}

static void put_word(struct rig *rig, uint32_t index, uint64_t word)
{
    for (uint32_t byte = 0; byte < 8; ++byte)
        rig->sim.memory[index * 8u + byte] = (uint8_t)(word >> (8u * byte));
}

static void test_fetch_from_memory(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "queue_depth", 64);
    rig->sim.memory_latency = 40000;
    rig_start(rig);
    for (uint32_t i = 0; i < 100; ++i)
        put_word(rig, i, i == 99 ? w_imm(ISA_irq, 5) : w_rri(ISA_addi, 1, 1, 1));
    rig_to(rig, 10);
    (void)fake_write(rig->element, "FETCH_ADDR", RIG_MEMORY);
    (void)fake_write(rig->element, "FETCH_WORDS", 40);
    (void)fake_write(rig->element, "FETCH_WORDS", 60); /* more of the same program */
    assert_int_equal(fake_read(rig->element, "FETCH_WORDS"), 100);
    assert_int_equal(fake_read(rig->element, "FREE"), 0);
    assert_int_equal(fake_read(rig->element, "STATUS") & 0x20u, 0x20);
    rig_push(rig, w_none(ISA_nop)); /* refused */
    (void)fake_write(rig->element, "FETCH_ADDR", 0);
    assert_int_equal(fake_count(rig->element, "refused"), 2);
    rig_finish(rig, 2000);
    assert_int_equal(fake_read(rig->element, "EVENT"), 5);
    assert_int_equal(fake_read(rig->element, "FETCH_WORDS"), 0);
    assert_int_equal(fake_read(rig->element, "FETCH_ADDR"), RIG_MEMORY + 800u);
    assert_int_equal(rig->sim.records[0].size, 256); /* the default of 32 words is half of this queue */
    assert_int_equal(rig->sim.records[3].size, 32);
    assert_int_equal(rig->sim.record_count, 4);
    assert_int_equal(((const struct element *)rig->element->self)->r[1], 99);
    /* the first word comes at 50; all waiting is for instructions and for no unit */
    assert_int_equal(fake_count(rig->element, "idle_cycles"), rig_accounted(rig));
    rig_free(rig);
}

static void test_fetch_error(void **state)
{
    (void)state;
    struct rig *rig = started();
    rig->sim.memory_error_address = RIG_MEMORY + 8;
    rig_push(rig, w_none(ISA_nop));
    rig_to(rig, 20);
    (void)fake_write(rig->element, "FETCH_ADDR", RIG_MEMORY);
    (void)fake_write(rig->element, "FETCH_WORDS", 10);
    rig_to(rig, 30);
    check_error(rig, ERROR_fetch, 1, 0, CNNVP_E_MEMORY);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    (void)fake_write(rig->element, "FETCH_ADDR", 0x100); /* refused by the memory at once */
    (void)fake_write(rig->element, "FETCH_WORDS", 10);
    rig_to(rig, 40);
    check_error(rig, ERROR_fetch, 1, 0, CNNVP_E_ADDR);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    rig_push(rig, CONV(0, 1));
    rig_finish(rig, 100);
    assert_int_equal(rig->count, 1);
    rig_free(rig);
}

/* A program without end does not hold the simulation still. */
static void test_endless_program(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        w_ri(ISA_set, 1, 2), w_ri(ISA_loop, 1, 2), w_none(ISA_nop), w_imm(ISA_jump, (uint32_t)-1)};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 1000000);
    assert_in_range(fake_count(rig->element, "instructions"), 400000, 600000);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_sync_irq_halt),
        cmocka_unit_test(test_bad_targets),
        cmocka_unit_test(test_fetch_from_memory),
        cmocka_unit_test(test_fetch_error),
        cmocka_unit_test(test_endless_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
