/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window engine as a unit between real buffers, on a host without SystemC: narrow ports, few banks, and what is
 * refused. What is refused for every FX16 array alike is the subject of tests/models/inference/nfu, any bits in a
 * command that of tests/models/inference/window_engine.
 */
#include "array_rig.h"
#include "nfu_case.h"

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_window;

/* LeNet-5's second convolution, dense: 6 -> 16 maps of 10x10, 5x5, with bias. */
enum {
    C3_COMPUTE = 2 * 4 * 100,
    C3_BIAS = 2 * 101,
    C3_LOADS = 2 * 4 * 9,
    C3_PIPELINE = 8,
    C3_BUSY = C3_COMPUTE + C3_BIAS + C3_LOADS + C3_PIPELINE
};

static void begin(struct array_rig *rig, uint64_t mhz, int timing_only)
{
    array_rig_begin(rig, &cnnvp_unit_window, mhz, timing_only);
    /* as in the preset */
    fake_set(rig->input, "width_words", 72);
    fake_set(rig->input, "banks", 24);
    fake_set(rig->output, "width_words", 128);
}

static struct cnnvp_command command_of(const struct nfu_case *c)
{
    struct cnnvp_command command = nfu_case_command(c);
    command.halves = CNNVP_HALF_INPUT | CNNVP_HALF_WEIGHT | CNNVP_HALF_OUTPUT;
    command.tag = 3;
    command.sequence = 41;
    command.descriptor[IN_ADDR] = 64;
    command.descriptor[WEIGHT_ADDR] = 128;
    command.descriptor[BIAS_ADDR] = 2;
    command.descriptor[OUT_ADDR] = 256;
    command.descriptor[ACC_ADDR] = 8192;
    return command;
}

static void load(struct array_rig *rig, const struct nfu_case *c)
{
    array_rig_poke(rig->input, 1, 64, c->input, c->input_words);
    array_rig_poke(rig->weight, 1, 128, c->weights, c->weight_words);
    array_rig_poke(rig->weight, 1, 2, c->bias, c->bias_words);
}

/*
 * Narrow buffers lengthen a command by what their ports take in each clock, those with few banks by what their banks
 * do. Eight sweeps of ten rows, each a first position with 9 words of 6 channels and nine with 3; taps of 6 x 8 pairs,
 * 8 biases; sums of 8 channels at 200 places, written (24 words), three times read and written (48), read and written
 * out (32).
 */
static void check_port_stalls(bool few)
{
    struct array_rig rig;
    uint64_t random = 12;
    struct nfu_case c = nfu_case_lenet_c3();
    begin(&rig, 700, 0);
    fake_set(rig.input, "width_words", 4);
    fake_set(rig.input, "banks", few ? 2 : 24); /* three rows of eight channels side by side: 12 of them in one of 2 */
    fake_set(rig.weight, "width_words", 8);
    fake_set(rig.weight, "banks", few ? 3 : 8); /* kernels of eight output channels, whose results leave side by side */
    fake_set(rig.output, "width_words", 16);
    fake_set(rig.output, "banks", few ? 4 : 8);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c);
    struct cnnvp_command command = command_of(&c);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    const uint64_t input = few ? 80 * (14 - 1) + 720 * (12 - 1) : 80 * (14 - 1) + 720 * (5 - 1);
    const uint64_t weight = 72 * (6 - 1) + (few ? 2 * (3 - 1) : 0);
    const uint64_t output = 200u * ((2u - 1u) + 3u * (few ? 4u - 1u : 3u - 1u) + (few ? 4u - 1u : 2u - 1u));
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), input);
    assert_int_equal(fake_count(rig.array, "weight_port_cycles"), weight);
    assert_int_equal(fake_count(rig.array, "output_port_cycles"), output);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), C3_BUSY + input + weight + output);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_port_stalls(void **state)
{
    (void)state;
    check_port_stalls(false);
    check_port_stalls(true);
}

/* The latency of the buffer's SRAMs counts once, for the map. The bias's ones do not come from there. */
static void test_latency(void **state)
{
    struct array_rig rig;
    uint64_t random = 12;
    struct nfu_case c = nfu_case_lenet_c3();
    (void)state;
    begin(&rig, 1000, 0);
    fake_set(rig.input, "latency", 5);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c);
    assert_int_equal(array_rig_do(&rig, command_of(&c)), C3_BUSY + 5);
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), 5);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* What this engine asks for beyond the decoding that all arrays share. */
static void test_refused(void **state)
{
    struct array_rig rig;
    uint64_t random = 14;
    struct nfu_case c = nfu_case_lenet_c3();
    struct nfu_case step = nfu_case_lenet_c3();
    (void)state;
    begin(&rig, 1000, 0);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c);
    step.opcode = OP_STEP;
    step.status = 0;
    nfu_case_data(&step, &random);
    struct cnnvp_command command = command_of(&step);
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "takes conv alone");
    /* Several passes keep their sums: their place is checked though nothing else of the command would use it. */
    command = command_of(&c);
    command.descriptor[ACC_ADDR] = 8193;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "even and below 2^31");
    command.descriptor[ACC_ADDR] = 0x80000000u;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "even and below 2^31");
    command.descriptor[ACC_ADDR] = 32768 - 1600 * 6 + 2;
    array_rig_check_refused(&rig, command, CNNVP_E_ADDR, "leaves a buffer half");
    command = command_of(&c);
    command.opcode = 0x84;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "takes conv alone");
    command.opcode = 0;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "takes conv alone");
    command = command_of(&c);
    command.count = 3;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "descriptor");
    /* one pass: nothing is kept, and acc_addr does not matter */
    command = command_of(&c);
    command.status = 0;
    command.descriptor[7] = 3u | 3u << 16;
    command.descriptor[ACC_ADDR] = 0x80000001u;
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    nfu_case_free(&c);
    nfu_case_free(&step);
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port_stalls), cmocka_unit_test(test_latency), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
