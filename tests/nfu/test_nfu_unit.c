/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NFU as a unit between real buffers, on a host without SystemC: commands, time, statistics, spans, links, and what
 * a guest can write into a descriptor.
 */
#include "buffer/buffer.h"
#include "fake_host.h"
#include "nfu/nfu.h"
#include "nfu_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *nfu;
    struct cnnvp_host *input;
    struct cnnvp_host *weight;
    struct cnnvp_host *output;
};

/* Registers of the window descriptor, by position. */
enum { IN_ADDR, ROW_STRIDE, CHANNEL_STRIDE, IN_CHANNELS, OUT_CHANNELS, OUT_H, OUT_W, KERNEL, STRIDE, DILATION, WEIGHT_ADDR,
       BIAS_ADDR, OUT_ADDR, ACC_ADDR, OUT_STRIDE, FORMAT, VALID_ROWS, VALID_COLS, SEED };
enum { M_IN_ADDR, M_INPUTS, M_OUTPUTS, M_WEIGHT_ADDR, M_BIAS_ADDR, M_OUT_ADDR, M_ACC_ADDR, M_FORMAT };

static void begin(struct bench *b, uint64_t mhz, int timing_only)
{
    fake_sim_init(&b->sim, mhz, 0, 0);
    b->sim.timing_only = timing_only;
    b->nfu = fake_add(&b->sim, &cnnvp_unit_nfu);
    b->input = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->weight = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->output = fake_add(&b->sim, &cnnvp_unit_buffer);
    fake_connect(b->nfu, "input", b->input, "port");
    fake_connect(b->nfu, "weight", b->weight, "port");
    fake_connect(b->nfu, "output", b->output, "port");
    fake_set(b->nfu, "clock_mhz", mhz);
}

static void start(struct bench *b)
{
    assert_int_equal(fake_start(b->input), CNNVP_OK);
    assert_int_equal(fake_start(b->weight), CNNVP_OK);
    assert_int_equal(fake_start(b->output), CNNVP_OK);
    assert_int_equal(fake_start(b->nfu), CNNVP_OK);
}

static void end(struct bench *b)
{
    fake_sim_free(&b->sim);
}

/* Debug access to a buffer's storage. */
static void *peek(struct cnnvp_host *buffer, uint32_t half, uint32_t address, uint64_t size)
{
    struct cnnvp_access access = {.op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = size,
                                  .address = (uint64_t)address | (uint64_t)half << 31};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return access.data;
}

static void poke(struct cnnvp_host *buffer, uint32_t half, uint32_t address, const int16_t *words, uint64_t count)
{
    memcpy(peek(buffer, half, address, count * 2u), words, count * 2u);
}

static int send(struct bench *b, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(b->nfu, "command", &access);
    fake_run(&b->sim, b->sim.now + access.delay);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

/* LeNet-5's second convolution, dense: 6 -> 16 maps of 10x10, 5x5. */
static struct nfu_case lenet_c3(void)
{
    return (struct nfu_case){.opcode = OP_CONV, .status = 8u, .in_channels = 6, .out_channels = 16, .out_h = 10,
                             .out_w = 10, .kx = 5, .ky = 5, .sx = 1, .sy = 1, .dx = 1, .dy = 1,
                             .format = 12u | 6u << 8 | 1u << 16};
}

static void load(struct bench *b, const struct nfu_case *c, struct cnnvp_command *command)
{
    poke(b->input, 1, 64, c->input, c->input_words);
    poke(b->weight, 1, 128, c->weights, c->weight_words);
    poke(b->weight, 1, 2, c->bias, c->bias_words);
    *command = nfu_case_command(c);
    command->halves = CNNVP_HALF_INPUT | CNNVP_HALF_WEIGHT | CNNVP_HALF_OUTPUT;
    command->tag = 3;
    command->sequence = 41;
    command->descriptor[IN_ADDR] = 64;
    command->descriptor[WEIGHT_ADDR] = 128;
    command->descriptor[BIAS_ADDR] = 2;
    command->descriptor[OUT_ADDR] = 256;
    command->descriptor[OUT_STRIDE] = 128;
}

static void check_c3_results(struct bench *b, const struct nfu_case *c)
{
    uint64_t clipped = 0;
    for (uint32_t o = 0; o < 16u; ++o)
        for (uint32_t i = 0; i < 100u; ++i) {
            const int16_t *word = peek(b->output, 1, 256u + (o * 128u + i) * 2u, 2);
            assert_int_equal(*word, cnnvp_round_fx16(c->sums[o * 100u + i], 12, CNNVP_ROUNDING_NEAREST, 0, &clipped));
        }
    assert_int_equal(fake_count(b->nfu, "saturations"), clipped);
    assert_true(clipped > 0);
}

/* The whole path of one command, in both depths and at a clock whose edges are not whole picoseconds apart. */
static void check_c3(uint64_t detail, uint64_t mhz, int timing_only)
{
    struct bench b;
    struct cnnvp_command command;
    struct nfu_random random = {11u};
    struct nfu_case c = lenet_c3();
    cnnvp_time delay = 0;
    begin(&b, mhz, timing_only);
    fake_set(b.nfu, "detail", detail);
    start(&b);
    nfu_case_data(&c, &random);
    nfu_case_expect(&c, 48);
    if (timing_only) {
        command = nfu_case_command(&c);
        command.tag = 3;
        command.sequence = 41;
        command.descriptor[OUT_STRIDE] = 128;
    } else {
        load(&b, &c, &command);
    }
    fake_run(&b.sim, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(send(&b, &command, &delay), CNNVP_OK);
    if (!timing_only)
        check_c3_results(&b, &c);

    const uint64_t compute = 96u * 4u * 25u;
    const uint64_t words = 96u * (100u + 4u * 5u * 10u * 2u + 4u * 10u * 2u);
    const uint64_t busy = compute + 64u + 2u + 64u;
    assert_int_equal(fake_count(b.nfu, "commands"), 1);
    assert_int_equal(fake_count(b.nfu, "compute_cycles"), compute);
    assert_int_equal(fake_count(b.nfu, "bias_cycles"), 64);
    assert_int_equal(fake_count(b.nfu, "fill_cycles"), 2);
    assert_int_equal(fake_count(b.nfu, "writeout_cycles"), 64);
    assert_int_equal(fake_count(b.nfu, "input_port_cycles"), 0);
    assert_int_equal(fake_count(b.nfu, "busy_cycles"), busy);
    assert_int_equal(fake_count(b.nfu, "input_words"), words);
    assert_int_equal(fake_count(b.nfu, "weight_words"), compute + 64u);
    assert_int_equal(fake_count(b.nfu, "output_words"), 1600);
    assert_int_equal(fake_count(b.nfu, "macs"), 240000);
    assert_int_equal(fake_count(b.input, "read_rotating_words"), words);
    assert_int_equal(fake_count(b.weight, "read_sequential_words"), compute + 64u);
    assert_int_equal(fake_count(b.output, "write_words"), 1600);
    assert_int_equal(delay, cnnvp_edge_time(mhz, 1001 + busy) - cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.nfu->span_count, 1);
    assert_string_equal(b.nfu->spans[0].name, "conv");
    assert_int_equal(b.nfu->spans[0].tag, 3);
    assert_int_equal(b.nfu->spans[0].flow, 41);
    assert_int_equal(b.nfu->spans[0].begin, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.nfu->spans[0].end, cnnvp_edge_time(mhz, 1001 + busy));
    assert_int_equal(b.nfu->warnings, 0);
    nfu_case_free(&c);
    end(&b);
}

static void test_command(void **state)
{
    (void)state;
    check_c3(0, 1000, 0);
    check_c3(1, 1000, 0);
    check_c3(0, 333, 0);
    check_c3(1, 333, 0);
    check_c3(0, 1000, 1);
    check_c3(1, 1000, 1);
}

/* A narrow input buffer lengthens the command by what its port says. */
static void test_port_stall(void **state)
{
    struct bench b;
    struct cnnvp_command command;
    struct nfu_random random = {12u};
    struct nfu_case c = lenet_c3();
    cnnvp_time delay = 0;
    (void)state;
    begin(&b, 700, 0);
    fake_set(b.input, "width_words", 2);
    start(&b);
    nfu_case_data(&c, &random);
    load(&b, &c, &command);
    assert_int_equal(send(&b, &command, &delay), CNNVP_OK);
    const uint64_t compute = 9600u;
    const uint64_t words = 96u * 580u;
    assert_int_equal(fake_count(b.nfu, "input_port_cycles"), words / 2u - compute);
    assert_int_equal(fake_count(b.nfu, "busy_cycles"), words / 2u + 130u);
    assert_int_equal(delay, cnnvp_edge_time(700, words / 2u + 130u));
    nfu_case_free(&c);
    end(&b);
}

/* Partial sums over two commands, the second with bias and write-out, equal one command over all channels. */
static void test_partial(void **state)
{
    struct bench b;
    struct cnnvp_command command;
    struct nfu_random random = {13u};
    struct nfu_case c = {.opcode = OP_MATMUL, .in_channels = 100, .out_channels = 90, .format = 14u | 3u << 8};
    uint64_t clipped = 0;
    (void)state;
    begin(&b, 1000, 0);
    start(&b);
    nfu_case_data(&c, &random);
    c.status = 8u;
    nfu_case_expect(&c, 48);
    poke(b.input, 0, 0, c.input, c.input_words);
    poke(b.weight, 0, 0, c.weights, c.weight_words);
    poke(b.weight, 0, 20000, c.bias, c.bias_words);
    c.status = 4u; /* initialise, partial */
    c.in_channels = 60;
    command = nfu_case_command(&c);
    command.descriptor[M_ACC_ADDR] = 4096;
    assert_int_equal(send(&b, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(b.nfu, "writeout_cycles"), 2u * 4u);
    assert_int_equal(fake_count(b.nfu, "output_words"), 360);
    c.status = 1u | 8u; /* accumulate, bias */
    c.in_channels = 40;
    command = nfu_case_command(&c);
    command.descriptor[M_IN_ADDR] = 120;
    command.descriptor[M_WEIGHT_ADDR] = 60u * 90u * 2u;
    command.descriptor[M_BIAS_ADDR] = 20000;
    command.descriptor[M_OUT_ADDR] = 512;
    command.descriptor[M_ACC_ADDR] = 4096;
    assert_int_equal(send(&b, &command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(b.nfu, "writeout_cycles"), 2u * 4u + 2u * 5u);
    for (uint32_t i = 0; i < 90u; ++i) {
        const int16_t *word = peek(b.output, 0, 512u + i * 2u, 2);
        assert_int_equal(*word, cnnvp_round_fx16(c.sums[i], 14, CNNVP_ROUNDING_TRUNCATE, 0, &clipped));
    }
    nfu_case_free(&c);
    end(&b);
}

/* One register, or the command itself, changed so that it must be refused. */
struct malformed {
    uint32_t opcode;
    uint32_t status;
    uint32_t reg;
    uint32_t value;
    int expected;
};

static const struct malformed window_faults[] = {
    {OP_CONV, 0, IN_ADDR, 1, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_ADDR, 0x80000000u, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_ADDR, 0x7ffffffeu, CNNVP_E_ADDR},
    {OP_CONV, 0, ROW_STRIDE, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, 13, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, ROW_STRIDE, 0x100000, CNNVP_E_ADDR},
    {OP_CONV, 0, CHANNEL_STRIDE, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, CHANNEL_STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_CHANNELS, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, IN_CHANNELS, 4000, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_CHANNELS, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_CHANNELS, 1000, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_H, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_H, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_W, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_W, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, KERNEL, 0, CNNVP_E_INVAL},
    {OP_CONV, 0, KERNEL, 5, CNNVP_E_INVAL},
    {OP_CONV, 0, KERNEL, 5u << 16, CNNVP_E_INVAL},
    {OP_CONV, 0, KERNEL, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, STRIDE, 1, CNNVP_E_INVAL},
    {OP_CONV, 0, STRIDE, 1u << 16, CNNVP_E_INVAL},
    {OP_CONV, 0, STRIDE, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, DILATION, 1, CNNVP_E_INVAL},
    {OP_CONV, 0, DILATION, UINT32_MAX, CNNVP_E_INVAL},
    {OP_CONV, 0, WEIGHT_ADDR, 3, CNNVP_E_INVAL},
    {OP_CONV, 0, WEIGHT_ADDR, 0xfffffffeu, CNNVP_E_INVAL},
    {OP_CONV, 0, WEIGHT_ADDR, 0x10000, CNNVP_E_ADDR},
    {OP_CONV, 8, BIAS_ADDR, 5, CNNVP_E_INVAL},
    {OP_CONV, 8, BIAS_ADDR, 0x7ffffffeu, CNNVP_E_ADDR},
    {OP_CONV, 0, OUT_ADDR, 7, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_ADDR, 0x80000000u, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_ADDR, 0x7ff0, CNNVP_E_ADDR},
    {OP_CONV, 1, ACC_ADDR, 4, CNNVP_E_INVAL},
    {OP_CONV, 1, ACC_ADDR, 0x7ff8, CNNVP_E_ADDR},
    {OP_CONV, 4, ACC_ADDR, 0xfffffff8u, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_STRIDE, 99, CNNVP_E_INVAL},
    {OP_CONV, 0, OUT_STRIDE, UINT32_MAX, CNNVP_E_ADDR},
    {OP_CONV, 0, FORMAT, 64, CNNVP_E_INVAL},
    {OP_CONV, 0, FORMAT, 0xc0, CNNVP_E_INVAL},
    {OP_CONV, 0, FORMAT, 64u << 8, CNNVP_E_INVAL},
    {OP_CONV, 0, FORMAT, 0xc0u << 8, CNNVP_E_INVAL},
    {OP_CONV, 0, FORMAT, 3u << 16, CNNVP_E_INVAL},
    {OP_CONV, 0, FORMAT, 1u << 18, CNNVP_E_INVAL},
    {OP_CONV, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_CONV, 0x40, SEED, 0, CNNVP_E_INVAL},
    {OP_POOL, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_POOL, 0x08, SEED, 0, CNNVP_E_INVAL},
    {OP_POOL, 0, VALID_ROWS, 5u | 4u << 16, CNNVP_E_INVAL},
    {OP_POOL, 0, VALID_COLS, 5u | 4u << 16, CNNVP_E_INVAL},
    {OP_POOL, 0, IN_CHANNELS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_STEP, 3, SEED, 0, CNNVP_E_INVAL},
    {OP_STEP, 0x60, SEED, 0, CNNVP_E_INVAL},
    {OP_STEP, 0x80, SEED, 0, CNNVP_E_INVAL},
    {0x84, 0, SEED, 0, CNNVP_E_INVAL},
    {0, 0, SEED, 0, CNNVP_E_INVAL},
    {UINT32_MAX, UINT32_MAX, SEED, 0, CNNVP_E_INVAL},
};

static const struct malformed matmul_faults[] = {
    {OP_MATMUL, 0, M_IN_ADDR, 1, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_IN_ADDR, 0x7ffffffeu, CNNVP_E_ADDR},
    {OP_MATMUL, 0, M_INPUTS, 0, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_INPUTS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_INPUTS, 40000, CNNVP_E_ADDR},
    {OP_MATMUL, 0, M_OUTPUTS, 0, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_OUTPUTS, UINT32_MAX, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_OUTPUTS, 40000, CNNVP_E_ADDR},
    {OP_MATMUL, 0, M_WEIGHT_ADDR, 1, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_WEIGHT_ADDR, 0xfff0, CNNVP_E_ADDR},
    {OP_MATMUL, 8, M_BIAS_ADDR, 1, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_OUT_ADDR, 1, CNNVP_E_INVAL},
    {OP_MATMUL, 4, M_ACC_ADDR, 2, CNNVP_E_INVAL},
    {OP_MATMUL, 0, M_FORMAT, UINT32_MAX, CNNVP_E_INVAL},
    {OP_MATMUL, 3, M_FORMAT, 0, CNNVP_E_INVAL},
    {OP_MATMUL, 0x10, M_FORMAT, 0, CNNVP_E_INVAL},
};

static void check_refused(struct bench *b, struct cnnvp_command *command, int expected, uint64_t *rejected)
{
    const uint32_t warnings = b->nfu->warnings;
    cnnvp_time delay = 1;
    const int status = send(b, command, &delay);
    if (status != expected)
        print_error("opcode %02x status %02x: answered %d, expected %d, after \"%s\"\n", command->opcode, command->status,
                    status, expected, b->nfu->message);
    assert_int_equal(status, expected);
    assert_int_equal(delay, 0);
    assert_int_equal(b->nfu->warnings, warnings + 1u);
    assert_int_equal(fake_count(b->nfu, "rejected"), ++*rejected);
    assert_int_equal(fake_count(b->nfu, "commands"), 0);
    assert_int_equal(fake_count(b->output, "write_words"), 0);
}

static void test_malformed(void **state)
{
    struct bench b;
    struct nfu_random random = {14u};
    struct nfu_case window = lenet_c3();
    struct nfu_case matmul = {.opcode = OP_MATMUL, .in_channels = 64, .out_channels = 10};
    uint64_t rejected = 0;
    (void)state;
    begin(&b, 1000, 0);
    start(&b);
    nfu_case_data(&window, &random);
    nfu_case_data(&matmul, &random);
    for (size_t i = 0; i < sizeof window_faults / sizeof window_faults[0]; ++i) {
        const struct malformed *fault = &window_faults[i];
        struct cnnvp_command command = nfu_case_command(&window);
        command.opcode = fault->opcode;
        command.status = fault->status;
        command.descriptor[fault->reg] = fault->value;
        check_refused(&b, &command, fault->expected, &rejected);
    }
    for (size_t i = 0; i < sizeof matmul_faults / sizeof matmul_faults[0]; ++i) {
        const struct malformed *fault = &matmul_faults[i];
        struct cnnvp_command command = nfu_case_command(&matmul);
        command.status = fault->status;
        command.descriptor[fault->reg] = fault->value;
        check_refused(&b, &command, fault->expected, &rejected);
    }
    struct cnnvp_command command = nfu_case_command(&matmul);
    command.count = 8;
    check_refused(&b, &command, CNNVP_E_INVAL, &rejected);
    command = nfu_case_command(&window);
    command.count = 9;
    check_refused(&b, &command, CNNVP_E_INVAL, &rejected);
    nfu_case_free(&window);
    nfu_case_free(&matmul);
    end(&b);
}

/* Sizes that are possible one by one but together take years. */
static void test_endless(void **state)
{
    struct bench b;
    struct nfu_case c = {.opcode = OP_CONV, .in_channels = 1024, .out_channels = 1, .out_h = 100, .out_w = 100,
                         .kx = 1000, .ky = 1000, .sx = 1, .sy = 1, .dx = 1, .dy = 1, .in_row_stride = 1100,
                         .in_channel_stride = 1};
    uint64_t rejected = 0;
    (void)state;
    begin(&b, 1000, 0);
    fake_set(b.nfu, "rows", 1);
    fake_set(b.nfu, "cols", 1);
    start(&b);
    struct cnnvp_command command = nfu_case_command(&c);
    check_refused(&b, &command, CNNVP_E_INVAL, &rejected);
    assert_non_null(strstr(b.nfu->message, "2^40 cycles"));
    end(&b);
}

/* Any bits at all in a command: refused or carried out, never a crash or an overflow (run under sanitizers), and a small
 * buffer bounds the work. */
static void test_garbage(void **state)
{
    struct nfu_random random = {15u};
    uint32_t accepted = 0;
    (void)state;
    for (uint64_t detail = 0; detail < 2u; ++detail) {
        struct bench b;
        begin(&b, 1000, 0);
        fake_set(b.nfu, "detail", detail);
        fake_set(b.nfu, "acc_bits", 64);
        fake_set(b.input, "size", 2048);
        fake_set(b.weight, "size", 2048);
        fake_set(b.output, "size", 4096);
        start(&b);
        for (uint32_t i = 0; i < 30000u; ++i) {
            struct nfu_case c;
            nfu_case_random(&c, &random);
            struct cnnvp_command command = nfu_case_command(&c);
            nfu_case_free(&c);
            for (uint32_t change = nfu_range(&random, 0, 3); change > 0; --change) {
                const uint32_t at = nfu_range(&random, 0, CNNVP_DESCRIPTOR_MAX - 1u);
                const uint32_t bits = (uint32_t)(nfu_random(&random) >> 32);
                command.descriptor[at] = bits >> nfu_range(&random, 0, 31);
            }
            b.nfu->span_count = 0;
            accepted += send(&b, &command, NULL) == CNNVP_OK;
        }
        end(&b);
    }
    assert_in_range(accepted, 5000, 55000);
}

static void test_port_misuse(void **state)
{
    struct bench b;
    struct cnnvp_command command = {0};
    (void)state;
    begin(&b, 1000, 0);
    start(&b);
    struct cnnvp_access access = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    assert_int_equal(fake_access(b.nfu, "command", &access), CNNVP_E_ACCESS);
    access.op = CNNVP_COMMAND;
    access.size = 4;
    assert_int_equal(fake_access(b.nfu, "command", &access), CNNVP_E_INVAL);
    access.size = sizeof command;
    access.data = NULL;
    assert_int_equal(fake_access(b.nfu, "command", &access), CNNVP_E_INVAL);
    end(&b);
}

/* Reads as 1: the bias layer of S000, whose weights then are the biases. */
static void test_ones(void **state)
{
    struct bench b;
    const int16_t weights[] = {100, -200, 300};
    struct nfu_case c = {.opcode = OP_CONV, .status = 0x10u, .in_channels = 1, .out_channels = 3, .out_h = 4, .out_w = 4,
                         .kx = 1, .ky = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1, .in_row_stride = 4,
                         .in_channel_stride = 16};
    (void)state;
    begin(&b, 1000, 0);
    start(&b);
    poke(b.weight, 0, 0, weights, 3);
    struct cnnvp_command command = nfu_case_command(&c);
    assert_int_equal(send(&b, &command, NULL), CNNVP_OK);
    const int16_t *out = peek(b.output, 0, 0, 96);
    for (uint32_t i = 0; i < 48u; ++i)
        assert_int_equal(out[i], weights[i / 16u]);
    assert_int_equal(fake_count(b.input, "read_ones_words"), 48);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),  cmocka_unit_test(test_port_stall), cmocka_unit_test(test_partial),
        cmocka_unit_test(test_ones),     cmocka_unit_test(test_malformed),  cmocka_unit_test(test_port_misuse),
        cmocka_unit_test(test_endless),  cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
