/* SPDX-License-Identifier: Apache-2.0 */
/* The queue and the sequence: when words are fetched, decoded and issued. */
#include "instruction_case.h"

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
    assert_int_equal(conv->count, 20);
    assert_int_equal(conv->descriptor[5], 77);
    assert_int_equal(vmac->opcode, ISA_vmac);
    assert_int_equal(vmac->status, 0x0d);
    assert_int_equal(vmac->halves, 3);
    assert_int_equal(vmac->sequence, 4);
    assert_int_equal(vmac->count, 16);
    assert_int_equal(vmac->descriptor[0], 77);
    /* 10 .. 14 without a layer (it comes into effect at 14), 14 waiting for the pipeline, 15 .. 34 the array's own */
    assert_int_equal(fake_count(rig->element, "idle_cycles"), 4);
    assert_int_equal(fake_tag_count(rig->element, "stall_cycles_instruction", 3), 1);
    assert_int_equal(rig_accounted(rig), 5);
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
    assert_int_equal(fake_counter(rig->element, "queue"), 16);
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
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);   /* there is room already */
    assert_int_equal(fake_counter(rig->element, "queue"), 0); /* as a trace shows it: what is fetched leaves */
    assert_int_equal(fake_count(rig->element, "queue_peak"), 16);
    assert_int_equal(rig_count(rig, "pushed_words"), 16);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 16);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4); /* empty */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipeline),        cmocka_unit_test(test_strict_order),
        cmocka_unit_test(test_queue_full),      cmocka_unit_test(test_loop_holds_queue),
        cmocka_unit_test(test_loop_gives_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
