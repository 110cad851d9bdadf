/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction element with cycles written out by hand, its registers, back-pressures, errors and recovery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "instruction/element.h"
#include "rig.h"

#define RECEIVE(buffer, halves, takes) w_tile(ISA_receive, buffer, 0, halves, TAKES(takes) | PENDS)
#define CONV(halves, takes) w_tile(ISA_conv, 0, 0, halves, TAKES(takes))
#define STORE(halves, takes) w_tile(ISA_store, 2, 0, halves, TAKES(takes) | PENDS)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static struct rig *started(void)
{
    struct rig *rig = rig_new(1000);
    rig_start(rig);
    rig_to(rig, 10);
    return rig;
}

static void check_cycles(const struct rig *rig, const uint64_t *cycles, uint32_t count)
{
    assert_int_equal(rig->count, count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(rig->commands[i].cycle, cycles[i]);
}

/* Pushed at 10, fetched at 11, decoded at 12, issued at 13; one a cycle from there on. */
static void test_pipeline(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        w_ri(ISA_set, 5, 77), w_imm(ISA_layer, 3), CONV(0, 20), w_tile(ISA_vmac, 0x0d, 5, 3, TAKES(4))};
    const uint64_t cycles[] = {15, 16};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 200);
    check_cycles(rig, cycles, 2);
    const struct cnnvp_command *conv = &rig->commands[0].command;
    const struct cnnvp_command *vmac = &rig->commands[1].command;
    assert_int_equal(conv->opcode, ISA_conv);
    assert_int_equal(conv->tag, 3);
    assert_int_equal(conv->sequence, 3);
    assert_int_equal(conv->count, 19);
    assert_int_equal(conv->descriptor[5], 77);
    assert_int_equal(vmac->opcode, ISA_vmac);
    assert_int_equal(vmac->status, 0x0d);
    assert_int_equal(vmac->halves, 3);
    assert_int_equal(vmac->sequence, 4);
    assert_int_equal(vmac->count, 15);
    assert_int_equal(vmac->descriptor[0], 77);
    /* 10 .. 14 without a layer (it comes into effect at 14), 14 waiting for the pipeline, 15 .. 34 the array's own */
    assert_int_equal(fake_count(rig->element, "idle_cycles"), 4);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_instruction", 3), 1);
    assert_int_equal(rig_accounted(rig), 5);
    rig_free(rig);
}

/* While the array works on half 0, half 1 is loaded; each waits only for what it uses. */
static void test_pingpong(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        w_imm(ISA_layer, 1), RECEIVE(0, 0, 100), CONV(0, 50), RECEIVE(0, 1, 100), CONV(1, 50), w_imm(ISA_irq, 1)};
    /* receive 14 .. 114, conv 114 .. 164, receive into the other half 115 .. 215, conv 215 .. 265 */
    const uint64_t cycles[] = {14, 114, 115, 215};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    check_cycles(rig, cycles, 4);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    assert_int_equal(fake_read(rig->element, "EVENT_COUNT"), 1);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_input", 1), 100 + 51);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_output", 1), 0);
    /* 10 .. 13 idle, 13 for the instruction */
    assert_int_equal(rig_accounted(rig) + 50 + 50, 265 - 10);
    assert_int_equal(fake_count(rig->element, "buffer_wait_cycles"), 99 + 99);
    rig_free(rig);
}

static void test_units_and_halves(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        CONV(0, 100),                                  /* 13: input 0, weight 0, output 0 */
        STORE(4, 30),                                  /* 14: output 1 */
        w_tile(ISA_request, 0, 0, 0, TAKES(1)),        /* 15: no buffer */
        RECEIVE(1, 2, 40),                             /* 16: weight 1, beside the store */
        RECEIVE(0, 1, 10),                             /* 56: read channel */
        w_tile(ISA_move, 0x8, 0, 5, TAKES(5) | PENDS), /* 66: output 1 to input 1 */
        w_tile(ISA_fill, 0, 0, 1, TAKES(5) | PENDS),   /* 71: input 1 */
        w_tile(ISA_vmac, 0x2c, 0, 5, TAKES(7)),        /* 76: input 1, immediate, output 1 */
        w_tile(ISA_vmac, 0x0c, 0, 5, TAKES(7)),        /* 83: vector unit */
        w_tile(ISA_pool, 0, 0, 5, TAKES(7)),           /* 113: array */
        RECEIVE(1, 2, 10),                             /* 114: weight 1, which pool does not use */
    };
    const uint64_t cycles[] = {13, 14, 15, 16, 56, 66, 71, 76, 83, 113, 114};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    check_cycles(rig, cycles, COUNT(cycles));
    rig_free(rig);
}

static void test_strict_order(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "order", 1);
    rig_start(rig);
    rig_to(rig, 10);
    const uint64_t words[] = {CONV(0, 100), STORE(4, 30), w_ri(ISA_set, 1, 1), RECEIVE(1, 2, 40)};
    const uint64_t cycles[] = {13, 113, 144};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    check_cycles(rig, cycles, COUNT(cycles));
    rig_free(rig);
}

static void test_queue_full(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "queue_depth", 16);
    fake_set(rig->element, "sequence_depth", 4);
    rig_start(rig);
    rig_to(rig, 10);
    assert_int_equal(fake_read(rig->element, "QUEUE_DEPTH"), 16);
    assert_int_equal(fake_read(rig->element, "SEQUENCE_DEPTH"), 4);
    rig_push(rig, CONV(0, 100));
    rig_push(rig, CONV(0, 100));
    for (uint32_t i = 0; i < 14; ++i)
        rig_push(rig, w_none(ISA_nop));
    assert_int_equal(fake_read(rig->element, "FREE"), 0);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x3); /* busy, full */
    rig_push(rig, w_none(ISA_nop));
    assert_int_equal(fake_read(rig->element, "IRQ_STATUS"), IRQ_REFUSED);
    assert_int_equal(fake_count(rig->element, "refused"), 1);
    assert_int_equal(rig->element->warnings, 1);
    rig_push(rig, w_none(ISA_nop)); /* one warning is enough */
    assert_int_equal(rig->element->warnings, 1);
    /* fetched at 11 .. 14; the first leaves the sequence at 13, its place is taken at 15; then the sequence is full */
    rig_to(rig, 14);
    assert_int_equal(fake_read(rig->element, "FREE"), 4);
    rig_to(rig, 100);
    assert_int_equal(fake_read(rig->element, "FREE"), 5);
    assert_int_equal(fake_read(rig->element, "PC"), 5);
    /* 113: the second conv issues; the six words from 113 on make the room of 10 at 117 */
    (void)fake_write(rig->element, "IRQ_ENABLE", IRQ_SPACE);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_REFUSED);
    (void)fake_write(rig->element, "SPACE_THRESHOLD", 10);
    rig_to(rig, 116);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    rig_finish(rig, 1000);
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);
    assert_int_equal(rig->element->irq_changed[PORT_irq], 117000);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_SPACE);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    (void)fake_write(rig->element, "SPACE_THRESHOLD", 16);
    assert_int_equal(rig->element->irq_level[PORT_irq], 1); /* there is room already */
    assert_int_equal(fake_count(rig->element, "queue_peak"), 16);
    assert_int_equal(rig_count(rig, "pushed_words"), 16);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 16);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4); /* empty */
    rig_free(rig);
}

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

/* A loop's body stays in the queue: room comes only when the loop ends. */
static void test_loop_holds_queue(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "queue_depth", 16);
    rig_start(rig);
    rig_to(rig, 10);
    rig_push(rig, w_ri(ISA_set, 1, 2));
    rig_push(rig, w_ri(ISA_loop, 1, 8));
    for (uint32_t i = 0; i < 14; ++i)
        rig_push(rig, w_none(ISA_nop));
    rig_to(rig, 30); /* second round: fetched at 23 .. 30 */
    assert_int_equal(fake_read(rig->element, "FREE"), 16 - 6);
    rig_to(rig, 29 + 8);
    assert_int_equal(fake_read(rig->element, "STATUS") & 4u, 4);
    rig_finish(rig, 100);
    assert_int_equal(fake_count(rig->element, "instructions"), 2 + 16 + 6);
    rig_free(rig);
}

/* The end of the loop makes much room at once, exactly when its last word is fetched, though nothing looks before. */
static void test_loop_gives_room(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    fake_set(rig->element, "queue_depth", 16);
    rig_start(rig);
    rig_to(rig, 10);
    rig_push(rig, w_ri(ISA_set, 1, 3));
    rig_push(rig, w_ri(ISA_loop, 1, 8));
    for (uint32_t i = 0; i < 14; ++i)
        rig_push(rig, w_none(ISA_nop));
    (void)fake_write(rig->element, "IRQ_ENABLE", IRQ_SPACE);
    (void)fake_write(rig->element, "SPACE_THRESHOLD", 5);
    rig_finish(rig, 100); /* rounds are fetched at 15 .. 22, 23 .. 30, 31 .. 38 */
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);
    assert_int_equal(rig->element->irq_changed[PORT_irq], 38000);
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

static void check_error(struct rig *rig, uint32_t cause, uint32_t pc, uint64_t word, int32_t status)
{
    assert_int_equal(fake_read(rig->element, "IRQ_STATUS") & IRQ_ERROR, IRQ_ERROR);
    assert_int_equal(fake_read(rig->element, "STATUS") & 8u, 8);
    assert_int_equal(fake_read(rig->element, "ERROR_CAUSE"), cause);
    assert_int_equal(fake_read(rig->element, "ERROR_PC"), pc);
    assert_int_equal(fake_read(rig->element, "ERROR_WORD_LO"), (uint32_t)word);
    assert_int_equal(fake_read(rig->element, "ERROR_WORD_HI"), (uint32_t)(word >> 32));
    assert_int_equal((int32_t)fake_read(rig->element, "ERROR_STATUS"), status);
}

/* One failing word; the next goes on when the error is cleared, not before. */
static void fails_and_goes_on(const uint64_t *words, uint32_t failing, uint32_t cause, int32_t status)
{
    struct rig *rig = started();
    (void)fake_write(rig->element, "IRQ_ENABLE", IRQ_ERROR);
    rig_push_all(rig, words, failing + 1u);
    rig_push(rig, w_tile(ISA_fill, 0, 10, 0, TAKES(1)));
    rig_to(rig, 500);
    const uint32_t before = rig->count;
    check_error(rig, cause, failing, words[failing], status);
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);
    assert_int_equal(rig->element->warnings, 1);
    assert_int_equal(fake_count(rig->element, "errors"), 1);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    assert_int_equal(fake_read(rig->element, "STATUS") & 8u, 0);
    rig_finish(rig, 600);
    assert_int_equal(rig->count, before + 1u);
    assert_int_equal(rig->commands[before].cycle, 501);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4);
    rig_free(rig);
}

static void test_illegal_words(void **state)
{
    (void)state;
    const uint64_t illegal[] = {
        UINT64_C(0xff00000000000000),        /* no such opcode */
        w_none(ISA_nop) | 1u,                /* operand bits */
        w_none(ISA_nop) | UINT64_C(1) << 48, /* status bits */
        w_imm(ISA_layer, 1) | UINT64_C(1) << 32,
        w_imm(ISA_layer, CNNVP_MAX_TAG + 1u), /* statistics have no more layers */
        w_ri(ISA_set, 1, 1) | UINT64_C(1) << 39,
        w_rr(ISA_mov, 1, 1) | 1u,
        w_rrr(ISA_add, 1, 1, 1) | 1u,
        w_tile(ISA_conv, 0x40, 0, 0, 0),
        w_tile(ISA_conv, 0, 0, 8, 0),
    };
    for (uint32_t i = 0; i < COUNT(illegal); ++i)
        fails_and_goes_on(&illegal[i], 0, ERROR_illegal, 0);
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

static void test_unit_errors(void **state)
{
    (void)state;
    const uint64_t descriptor[] = {w_tile(ISA_conv, 0, 238, 0, TAKES(5))};
    const uint64_t refused[] = {w_tile(ISA_conv, 0, 237, 0, REFUSE)};
    const uint64_t failed[] = {w_tile(ISA_receive, 0, 0, 0, TAKES(50) | PENDS | FAILS)};
    fails_and_goes_on(descriptor, 0, ERROR_descriptor, 0);
    fails_and_goes_on(refused, 0, ERROR_unit, CNNVP_E_INVAL);
    fails_and_goes_on(failed, 0, ERROR_completion, CNNVP_E_MEMORY);
}

/* What is in flight when an error stops the element completes. */
static void test_error_with_work_in_flight(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {RECEIVE(0, 0, 100), w_none(ISA_nop) | 1u, CONV(0, 10)};
    rig_push_all(rig, words, COUNT(words));
    rig_to(rig, 50);
    check_error(rig, ERROR_illegal, 1, words[1], 0);
    rig_to(rig, 200);
    assert_int_equal(rig->count, 1);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 2);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    rig_finish(rig, 300);
    const uint64_t cycles[] = {13, 201};
    check_cycles(rig, cycles, 2);
    assert_int_equal(fake_count(rig->element, "idle_cycles") + 10, 211 - 10); /* no layer */
    rig_free(rig);
}

/* A full DMA is asked again when something of its own completes; one with nothing to wait for is an error. */
static void test_refused_for_now(void **state)
{
    (void)state;
    struct rig *rig = rig_new(1000);
    rig->capacity = 2;
    rig_start(rig);
    rig_to(rig, 10);
    const uint64_t request = w_tile(ISA_request, 0, 0, 0, TAKES(50) | PENDS);
    const uint64_t words[] = {request, request, request, w_none(ISA_sync), w_imm(ISA_irq, 1)};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    const uint64_t cycles[] = {13, 14, 63};
    check_cycles(rig, cycles, 3);
    assert_int_equal(rig->commands[2].command.sequence, 3);
    assert_int_equal(fake_read(rig->element, "EVENT_COUNT"), 1);
    assert_int_equal(fake_count(rig->element, "unit_wait_cycles"), 63 - 15);
    rig_free(rig);

    rig = rig_new(1000);
    rig->capacity = 0;
    rig_start(rig);
    rig_to(rig, 10);
    rig_push(rig, request);
    rig_to(rig, 100);
    check_error(rig, ERROR_unit, 0, request, CNNVP_E_STATE);
    rig_free(rig);
}

/* The guest's reset: queue, registers and errors go; a command in flight completes and keeps its buffer until then. */
static void test_guest_reset(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {w_ri(ISA_set, 1, 9), RECEIVE(0, 0, 100), w_none(ISA_nop) | 1u, w_none(ISA_nop)};
    rig_push_all(rig, words, COUNT(words));
    rig_to(rig, 50);
    check_error(rig, ERROR_illegal, 2, words[2], 0);
    (void)fake_write(rig->element, "CTRL", 3);
    assert_int_equal(fake_read(rig->element, "CTRL"), 1);
    assert_int_equal(fake_read(rig->element, "IRQ_STATUS"), 0);
    assert_int_equal(fake_read(rig->element, "ERROR_CAUSE"), 0);
    assert_int_equal(fake_read(rig->element, "FREE"), 4096);
    assert_int_equal(fake_read(rig->element, "QUEUE_DEPTH"), 4096);
    assert_int_equal(fake_read(rig->element, "COMPLETED") + fake_read(rig->element, "PC"), 0);
    assert_int_equal(rig->forgotten, 1);
    rig_push(rig, CONV(0, 10));
    rig_push(rig, w_imm(ISA_irq, 2));
    rig_finish(rig, 400);
    const uint64_t cycles[] = {14, 114};
    check_cycles(rig, cycles, 2);
    assert_int_equal(rig->commands[1].command.descriptor[1], 0);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 2);
    assert_int_equal(fake_read(rig->element, "EVENT"), 2);
    rig_free(rig);
}

/* The platform's reset in the middle of everything. */
static void test_platform_reset(void **state)
{
    (void)state;
    struct rig *rig = started();
    (void)fake_write(rig->element, "FETCH_ADDR", RIG_MEMORY);
    (void)fake_write(rig->element, "FETCH_WORDS", 64);
    rig_to(rig, 11);
    fake_reset(rig->element);
    fake_reset(rig->workers[2]);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4);
    assert_int_equal(fake_read(rig->element, "FETCH_WORDS"), 0);
    (void)fake_write(rig->element, "CTRL", 1);
    rig_push(rig, CONV(0, 10));
    rig_finish(rig, 100);
    const uint64_t cycles[] = {14};
    check_cycles(rig, cycles, 1);
    rig_free(rig);
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

/* The time after the last completion counts only if work follows. */
static void test_waiting_for_the_host(void **state)
{
    (void)state;
    struct rig *rig = started();
    rig_push(rig, w_imm(ISA_layer, 2));
    rig_push(rig, CONV(0, 10)); /* 14 .. 24 */
    rig_to(rig, 60);
    rig->element->unit->flush(rig->element->self);
    assert_int_equal(fake_count(rig->element, "stall_cycles_host"), 0);
    rig_push(rig, CONV(0, 10)); /* 63 .. 73 */
    rig_finish(rig, 5000);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_host", 2), 60 - 24);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_instruction", 2), 14 - 13 + 63 - 60);
    assert_int_equal(rig_accounted(rig) + 20, 73 - 10);
    rig_free(rig);
}

/* A disabled element keeps its words. */
static void test_disabled(void **state)
{
    (void)state;
    struct rig *rig = started();
    (void)fake_write(rig->element, "CTRL", 0);
    rig_push(rig, CONV(0, 10));
    rig_to(rig, 50);
    assert_int_equal(rig->count, 0);
    (void)fake_write(rig->element, "CTRL", 1);
    rig_finish(rig, 100);
    const uint64_t cycles[] = {53};
    check_cycles(rig, cycles, 1);
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

static void test_stray_completion(void **state)
{
    (void)state;
    struct rig *rig = started();
    struct cnnvp_completion completion = {99, CNNVP_OK, 0};
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &completion, .size = sizeof completion};
    assert_int_equal(fake_access(rig->element, "done", &access), CNNVP_E_INVAL);
    access.size = 4;
    assert_int_equal(fake_access(rig->element, "done", &access), CNNVP_E_ACCESS);
    rig_free(rig);
}

/* One word of each opcode: the table knows all, with the smallest operands. */
static void test_opcode_table(void **state)
{
    (void)state;
    uint32_t known = 0;
    for (uint32_t code = 0; code < 256; ++code) {
        assert_int_equal(cnnvp_isa_legal((uint64_t)code << 56), cnnvp_isa_opcode(code) != NULL);
        known += cnnvp_isa_opcode(code) != NULL;
    }
    uint32_t listed = 0;
#define CNNVP_OPCODE(name, code, class_, format, unit, descriptor, status_mask, help) \
    assert_string_equal(cnnvp_isa_opcode(code)->mnemonic, #name);                     \
    ++listed;
#include "instruction/opcodes.def"
    assert_int_equal(known, listed); /* no code twice */
    /* the status fields of an opcode make up its mask */
    uint32_t masks[256] = {0};
#define CNNVP_STATUS(mnemonic, name, lsb, width, help)                              \
    assert_int_equal(masks[ISA_##mnemonic] & (((1u << (width)) - 1u) << (lsb)), 0); \
    masks[ISA_##mnemonic] |= ((1u << (width)) - 1u) << (lsb);
#include "instruction/opcodes.def"
    for (uint32_t code = 0; code < 256; ++code)
        if (cnnvp_isa_opcode(code) != NULL)
            assert_int_equal(cnnvp_isa_opcode(code)->status_mask, masks[code]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipeline),         cmocka_unit_test(test_pingpong),
        cmocka_unit_test(test_units_and_halves), cmocka_unit_test(test_strict_order),
        cmocka_unit_test(test_queue_full),       cmocka_unit_test(test_loops),
        cmocka_unit_test(test_loop_holds_queue), cmocka_unit_test(test_loop_gives_room),
        cmocka_unit_test(test_branches),         cmocka_unit_test(test_sync_irq_halt),
        cmocka_unit_test(test_illegal_words),    cmocka_unit_test(test_bad_targets),
        cmocka_unit_test(test_unit_errors),      cmocka_unit_test(test_error_with_work_in_flight),
        cmocka_unit_test(test_refused_for_now),  cmocka_unit_test(test_guest_reset),
        cmocka_unit_test(test_platform_reset),   cmocka_unit_test(test_fetch_from_memory),
        cmocka_unit_test(test_fetch_error),      cmocka_unit_test(test_waiting_for_the_host),
        cmocka_unit_test(test_disabled),         cmocka_unit_test(test_endless_program),
        cmocka_unit_test(test_stray_completion), cmocka_unit_test(test_opcode_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
