/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction element with cycles written out by hand, its registers, back-pressures, errors and recovery. */
#include "instruction_case.h"

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

/* A table in the weight half that the array reads, as after each convolution with a function. */
static void test_weights_are_read_by_two(void **state)
{
    (void)state;
    struct rig *rig = started();
    const uint64_t words[] = {
        CONV(0, 100),                           /* 13: input 0, weight 0, output 0 */
        w_tile(ISA_vact, 0x06, 0, 4, TAKES(7)), /* 14: output 1, table in weight 0 */
        w_tile(ISA_vact, 0x02, 0, 4, TAKES(7)), /* 21: vector unit; table in input 0, so it waits for the array: 113 */
        RECEIVE(1, 0, 10),                      /* 114: weight 0, which both have read */
        w_tile(ISA_vact, 0x06, 0, 4, TAKES(7)), /* 124 */
    };
    const uint64_t cycles[] = {13, 14, 113, 114, 124};
    rig_push_all(rig, words, COUNT(words));
    rig_finish(rig, 400);
    check_cycles(rig, cycles, COUNT(cycles));
    rig_free(rig);
}

static void test_unit_errors(void **state)
{
    (void)state;
    const uint64_t descriptor[] = {w_tile(ISA_conv, 0, 237, 0, TAKES(5))};
    const uint64_t refused[] = {w_tile(ISA_conv, 0, 236, 0, REFUSE)};
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
    assert_int_equal(fake_counter(rig->element, "queue"), 0);
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
    for (uint32_t i = 0; i < 2; ++i) {
        rig_push(rig, w_none(ISA_nop));
        assert_int_equal(fake_counter(rig->element, "queue"), 1);
        fake_reset(rig->element);
        assert_int_equal(fake_counter(rig->element, "queue"), 0);
    }
    assert_int_equal(fake_count(rig->element, "queue_peak"), 64); /* of the program, not the sum */
    (void)fake_write(rig->element, "CTRL", 1);
    rig_push(rig, CONV(0, 10));
    rig_finish(rig, 100);
    const uint64_t cycles[] = {14};
    check_cycles(rig, cycles, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pingpong),
        cmocka_unit_test(test_units_and_halves),
        cmocka_unit_test(test_weights_are_read_by_two),
        cmocka_unit_test(test_unit_errors),
        cmocka_unit_test(test_error_with_work_in_flight),
        cmocka_unit_test(test_refused_for_now),
        cmocka_unit_test(test_guest_reset),
        cmocka_unit_test(test_platform_reset),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_stray_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
