/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The systolic array as a unit between real buffers, on a host without SystemC: results bit by bit, time, statistics,
 * narrow buffers, what is refused and what it is made of. Costs are the subject of test_systolic_cost.c.
 */
#include "array_rig.h"
#include "nfu_case.h"
#include "random.h"

#include "reference/reference.h"
#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_systolic;

static void begin(struct array_rig *rig, uint64_t dataflow)
{
    array_rig_begin(rig, &cnnvp_unit_systolic, 700, 0);
    fake_set(rig->array, "dataflow", dataflow);
}

static struct cnnvp_command command_of(const struct nfu_case *c)
{
    struct cnnvp_command command = nfu_case_command(c);
    const int dense = c->opcode == OP_MATMUL;
    command.halves = CNNVP_HALF_INPUT | CNNVP_HALF_WEIGHT | CNNVP_HALF_OUTPUT;
    command.tag = 3;
    command.sequence = 41;
    command.descriptor[dense ? (int)M_IN_ADDR : (int)IN_ADDR] = 64;
    command.descriptor[dense ? (int)M_WEIGHT_ADDR : (int)WEIGHT_ADDR] = 8192;
    command.descriptor[dense ? (int)M_BIAS_ADDR : (int)BIAS_ADDR] = 2;
    command.descriptor[dense ? (int)M_OUT_ADDR : (int)OUT_ADDR] = 256;
    return command;
}

static void load(struct array_rig *rig, const struct nfu_case *c)
{
    array_rig_poke(rig->input, 1, 64, c->input, c->input_words);
    array_rig_poke(rig->weight, 1, 8192, c->weights, c->weight_words);
    array_rig_poke(rig->weight, 1, 2, c->bias, c->bias_words);
}

/* LeNet-5's second convolution, 6 -> 16 maps of 10x10, 5x5, with bias: K 150, N 16, P 100 on 16 x 16 PEs. */
enum { C3_FOLDS = 10, C3_COMPUTE = C3_FOLDS * 100, C3_FILL = 16 + 30 + 2 };

static void check_c3(uint64_t dataflow, uint64_t compute, uint64_t fill)
{
    struct array_rig rig;
    uint64_t random = 11, clipped = 0;
    struct nfu_case c = nfu_case_lenet_c3();
    cnnvp_time delay = 0;
    begin(&rig, dataflow);
    fake_set(rig.input, "line_words", 64); /* out of the way */
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    load(&rig, &c);
    struct cnnvp_command command = command_of(&c);
    assert_int_equal(array_rig_send(&rig, &command, &delay), CNNVP_OK);
    const int16_t *words = array_rig_peek(rig.output, 1, 256, c.results * 2u);
    for (uint64_t i = 0; i < c.results; ++i)
        assert_int_equal(words[i], cnnvp_round_fx16(c.sums[i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped));
    const uint64_t waits = fake_count(rig.array, "input_port_cycles");
    assert_int_equal(fake_count(rig.array, "saturations"), clipped);
    assert_int_equal(fake_count(rig.array, "compute_cycles"), compute);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), fill);
    assert_int_equal(fake_count(rig.array, "weight_port_cycles"), 0);
    assert_int_equal(fake_count(rig.array, "output_port_cycles"), 0);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), compute + fill + waits);
    assert_int_equal(fake_count(rig.array, "macs"), 240000);
    assert_int_equal(fake_count(rig.output, "write_words"), 1600);
    assert_int_equal(delay, cnnvp_edge_time(700, compute + fill + waits));
    assert_int_equal(rig.array->span_count, 1);
    assert_string_equal(rig.array->spans[0].name, "conv");
    assert_int_equal(rig.array->warnings, 0);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

static void test_command(void **state)
{
    (void)state;
    check_c3(0, C3_COMPUTE, C3_FILL);
    check_c3(1, 7 * 150, C3_FILL);           /* 100 positions in 7 folds */
    check_c3(2, C3_FOLDS * 7 * 16, C3_FILL); /* each of 16 outputs, as long as a fold loads */
}

/* Any command gives what its definition says, depthwise ones too, whatever stays in the PEs. */
static void test_results(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (uint32_t commands = 0; commands < 300u;) {
        struct array_rig rig;
        struct nfu_case c = {0};
        uint64_t clipped = 0;
        nfu_case_random(&c, &random);
        if (commands % 4u == 3u)
            nfu_case_scale(&c, &random);
        if ((c.opcode == OP_CONV || c.opcode == OP_MATMUL) && (c.status & 0x87u) == 0 && c.results < 2000u &&
            c.weight_words < 20000u && c.input_words < 8000u) {
            begin(&rig, commands % 3u);
            fake_set(rig.array, "rows", between(&random, 1, 20));
            fake_set(rig.array, "cols", between(&random, 1, 20));
            fake_set(rig.array, "write_out", 2);
            fake_set(rig.input, "size", 1u << 20);
            fake_set(rig.weight, "size", 1u << 20);
            array_rig_start(&rig);
            load(&rig, &c);
            c.format = c.status & SCALE ? 0 : 12u;
            nfu_case_expect(&c, 48);
            struct cnnvp_command command = command_of(&c);
            assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
            const int16_t *words = array_rig_peek(rig.output, 1, 256, c.results * 2u);
            const uint64_t each = c.opcode == OP_MATMUL ? 1u : (uint64_t)c.out_h * c.out_w;
            for (uint64_t i = 0; i < c.results; ++i)
                assert_int_equal(words[i], c.status & SCALE
                                               ? cnnvp_reference_scale(c.sums[i], c.bias + i / each * 4u, 0, 0, 0)
                                               : cnnvp_round_fx16(c.sums[i], 12, CNNVP_ROUNDING_TRUNCATE, 0, &clipped));
            assert_int_equal(fake_count(rig.array, "scaled_words"), c.status & SCALE ? c.results : 0);
            array_rig_end(&rig);
            ++commands;
        }
        nfu_case_free(&c);
    }
}

/* A port of 8 words takes two clocks for 16 rows, a row of weights, 16 results. */
static void test_port_stalls(void **state)
{
    struct array_rig rig;
    uint64_t random = 12;
    struct nfu_case c = nfu_case_window(OP_CONV, 32, 16, 6, 5, 1, 1, 1, 1);
    (void)state;
    begin(&rig, 0);
    fake_set(rig.input, "size", 1u << 20);
    fake_set(rig.input, "width_words", 8);
    fake_set(rig.weight, "width_words", 8);
    fake_set(rig.output, "width_words", 8);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c);
    struct cnnvp_command command = command_of(&c);
    assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(rig.array, "input_port_cycles"), 60);
    assert_int_equal(fake_count(rig.array, "weight_port_cycles"), 32);
    assert_int_equal(fake_count(rig.array, "output_port_cycles"), 30);
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* 4 inputs and 4, 8 or 16 neurons, each with a record of 4 words, on 4 x 4 PEs: the weights and records, 8 words a
 * neuron, cross a port of one word in a clock. With 4 neurons the array needs 1 cycle, and 4 + 6 + 2 + 3 to fill; 4
 * words in a clock make that 12 more. */
static void test_biases_wait(void **state)
{
    (void)state;
    for (uint32_t neurons = 4; neurons <= 16; neurons *= 2u) {
        struct array_rig rig;
        const struct nfu_case c = {.opcode = OP_MATMUL, .status = SCALE, .in_channels = 4, .out_channels = neurons};
        begin(&rig, 0);
        fake_set(rig.array, "rows", 4);
        fake_set(rig.array, "cols", 4);
        fake_set(rig.array, "write_out", 2);
        fake_set(rig.weight, "width_words", 1);
        array_rig_start(&rig);
        assert_int_equal(array_rig_do(&rig, command_of(&c)), neurons * 8u);
        array_rig_end(&rig);
    }
}

/* Maps side by side that share a bank wait; depthwise, each PE reads a word of its own. 16 maps of 4x5 results are 20
 * positions; 16 of them, in four rows, are loaded at a time by `is`. */
static void test_banks(void **state)
{
    static const struct {
        uint64_t dataflow;
        uint32_t status, banks;
        uint64_t compute, late;
        uint32_t line, stride;
    } known[] = {
        {0, 0, 16, 20, 0, 64, 1},
        {0, 0, 8, 20, 20, 64, 1},
        {0, 0, 4, 20, 60, 64, 1},
        {0, 0x20, 48, 20, 0, 64, 1},
        {0, 0x20, 16, 20, 40, 64, 1},
        {1, 0, 16, 32, 0, 64, 1},
        {1, 0, 8, 32, 16, 64, 1},
        {1, 0x20, 48, 18, 9, 64, 1},
        {2, 0, 16, 32, 0, 64, 1},
        {2, 0, 1, 32, 16 * 3, 64, 1},
        {2, 0x20, 1, 32, 16 * 9 * 3, 64, 1},
        {2, 0, 16, 32, 32, 4, 2},
    };
    uint64_t random = 12;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        struct array_rig rig;
        const int alone = known[i].status != 0;
        struct nfu_case c =
            nfu_case_window(OP_CONV, 16, 16, 4, 5, alone ? 3 : 1, alone ? 3 : 1, known[i].stride, known[i].stride);
        begin(&rig, known[i].dataflow);
        c.status = known[i].status;
        fake_set(rig.input, "size", 1u << 20);
        fake_set(rig.input, "banks", known[i].banks);
        fake_set(rig.input, "line_words", known[i].line);
        fake_set(rig.input, "width_words", 256);
        array_rig_start(&rig);
        nfu_case_data(&c, &random);
        load(&rig, &c);
        struct cnnvp_command command = command_of(&c);
        assert_int_equal(array_rig_send(&rig, &command, NULL), CNNVP_OK);
        assert_int_equal(fake_count(rig.array, "compute_cycles"), known[i].compute);
        assert_int_equal(fake_count(rig.array, "input_port_cycles"), known[i].late);
        nfu_case_free(&c);
        array_rig_end(&rig);
    }
}

/* 8 of C3's 10 folds read and write each sum, in two cycles where there is one port and one bank. */
static void test_one_port(void **state)
{
    static const struct {
        uint64_t banks, ports, waits;
    } known[] = {{1, 1, 800}, {2, 1, 0}, {1, 2, 0}};
    uint64_t random = 13;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        struct array_rig rig;
        struct nfu_case c = nfu_case_lenet_c3();
        cnnvp_time delay = 0;
        begin(&rig, 0);
        fake_set(rig.array, "accumulator_banks", known[i].banks);
        fake_set(rig.array, "accumulator_ports", known[i].ports);
        array_rig_start(&rig);
        nfu_case_data(&c, &random);
        load(&rig, &c);
        struct cnnvp_command command = command_of(&c);
        assert_int_equal(array_rig_send(&rig, &command, &delay), CNNVP_OK);
        const uint64_t busy = C3_COMPUTE + C3_FILL + known[i].waits + fake_count(rig.array, "input_port_cycles");
        assert_int_equal(fake_count(rig.array, "accumulator_cycles"), known[i].waits);
        assert_int_equal(fake_count(rig.array, "busy_cycles"), busy);
        assert_int_equal(delay, cnnvp_edge_time(700, busy));
        nfu_case_free(&c);
        array_rig_end(&rig);
    }
}

static void test_refused(void **state)
{
    struct array_rig rig;
    uint64_t random = 14;
    struct nfu_case c = nfu_case_lenet_c3();
    (void)state;
    begin(&rig, 0);
    fake_set(rig.array, "depthwise", 0);
    array_rig_start(&rig);
    nfu_case_data(&c, &random);
    load(&rig, &c);
    struct cnnvp_command command = command_of(&c);
    command.opcode = OP_POOL;
    command.status = 0;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "takes conv and matmul");
    command.opcode = OP_STEP;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "takes conv and matmul");
    command = command_of(&c);
    command.status = 0x20;
    array_rig_check_refused(&rig, command, CNNVP_E_INVAL, "depthwise is vector");
    nfu_case_free(&c);
    array_rig_end(&rig);
}

/* A layer with a kernel of no taps has tiles as one of a single tap has. */
static void test_no_taps(void **state)
{
    struct array_rig rig;
    struct nfu_case c = nfu_case_window(OP_CONV, 3, 4, 8, 8, 1, 1, 1, 1);
    struct cnnvp_command command = nfu_case_command(&c);
    const struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &command, .size = sizeof command};
    struct cnnvp_tiling tiling = {.struct_size = sizeof tiling};
    (void)state;
    begin(&rig, 0);
    array_rig_start(&rig);
    command.descriptor[KERNEL] = 0;
    assert_int_equal(cnnvp_unit_systolic.tiling(rig.array->self, 0, &access, &tiling), CNNVP_OK);
    assert_int_equal(tiling.in, 16);
    array_rig_end(&rig);
}

/* 16 columns of one 48-bit sum are 96 bytes. */
static void test_accumulators(void **state)
{
    struct array_rig rig;
    (void)state;
    begin(&rig, 0);
    fake_set(rig.array, "accumulator_banks", 1);
    fake_set(rig.array, "accumulator_size", 95);
    assert_int_not_equal(fake_start(rig.array), CNNVP_OK);
    array_rig_end(&rig);
    begin(&rig, 0);
    fake_set(rig.array, "accumulator_banks", 1);
    fake_set(rig.array, "accumulator_size", 96);
    array_rig_start(&rig);
    array_rig_end(&rig);
    begin(&rig, 1); /* os has none */
    fake_set(rig.array, "accumulator_size", 2);
    array_rig_start(&rig);
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),     cmocka_unit_test(test_results),  cmocka_unit_test(test_port_stalls),
        cmocka_unit_test(test_banks),       cmocka_unit_test(test_one_port), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_biases_wait), cmocka_unit_test(test_no_taps),  cmocka_unit_test(test_accumulators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
