/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PE module as a unit between real buffers, on a host without SystemC: commands, time, statistics, spans, links,
 * and what a guest can write into a descriptor.
 */
#include "buffer/buffer.h"
#include "fake_host.h"
#include "train_array/train_array.h"
#include "train_case.h"

#include "cnnvp_tile.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HALF_BYTES = 1 << 20 };

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *array;
    struct cnnvp_host *input;
    struct cnnvp_host *weight;
    struct cnnvp_host *output;
};

static void begin(struct bench *b, uint64_t mhz, int timing_only)
{
    fake_sim_init(&b->sim, mhz, 0, 0);
    b->sim.timing_only = timing_only;
    b->array = fake_add(&b->sim, &cnnvp_unit_train_array);
    b->input = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->weight = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->output = fake_add(&b->sim, &cnnvp_unit_buffer);
    fake_connect(b->array, "input", b->input, "port");
    fake_connect(b->array, "weight", b->weight, "port");
    fake_connect(b->array, "output", b->output, "port");
    fake_set(b->array, "clock_mhz", mhz);
    fake_set(b->input, "size", 2 * HALF_BYTES);
    fake_set(b->weight, "size", 2 * HALF_BYTES);
    fake_set(b->output, "size", 2 * HALF_BYTES);
    /* wide enough for every port of the module at once */
    fake_set(b->input, "width_words", 4096);
    fake_set(b->weight, "width_words", 4096);
    fake_set(b->output, "width_words", 4096);
}

static void start(struct bench *b)
{
    assert_int_equal(fake_start(b->input), CNNVP_OK);
    assert_int_equal(fake_start(b->weight), CNNVP_OK);
    assert_int_equal(fake_start(b->output), CNNVP_OK);
    assert_int_equal(fake_start(b->array), CNNVP_OK);
}

static void end(struct bench *b)
{
    fake_sim_free(&b->sim);
}

/* Debug access to a buffer's storage from the start of a half. */
static char *half_of(struct cnnvp_host *buffer, uint32_t half)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = HALF_BYTES, .address = (uint64_t)half << 31};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return access.data;
}

/* The same of a buffer without halves of a tile's size. */
static char *half_held(struct cnnvp_host *buffer)
{
    struct cnnvp_access access = {.op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = 1024};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return access.data;
}

static void load(struct bench *b, const struct train_case *c, uint32_t halves)
{
    const uint64_t bytes = c->bits > 8 ? 4 : 1;
    char *in = half_of(b->input, halves & 1u);
    char *second = half_of(b->weight, halves >> 1 & 1u);
    memcpy(in, c->in_raw, c->in_values * bytes);
    memcpy(in + train_case_in_exp_addr(c), c->in_exps, c->in_exp_count);
    memcpy(second, c->second_raw, c->second_values * bytes);
    memcpy(second + train_case_second_exp_addr(c), c->second_exps, c->second_exp_count);
    memcpy(half_of(b->output, halves >> 2 & 1u), c->before, c->result_bytes);
}

static int send(struct bench *b, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(b->array, "command", &access);
    fake_run(&b->sim, b->sim.now + access.delay);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

/* 6 -> 40 maps of 10x10, 5x5 kernels, five images: partial groups everywhere. */
static struct train_case layer(uint32_t opcode)
{
    return (struct train_case){
        .opcode = opcode,
        .bits = 8,
        .images = 5,
        .cin = 6,
        .cout = 40,
        .h = 10,
        .w = 10,
        .oh = 10,
        .ow = 10,
        .kx = 5,
        .ky = 5,
        .sx = 1,
        .sy = 1,
        .px = 2,
        .py = 2,
        .accumulate = true,
        .second_exp_out = 1};
}

/* The whole path of one command, in both depths and at a clock whose edges are not whole picoseconds apart. */
static void check_forward(uint64_t detail, uint64_t mhz, int timing_only)
{
    struct bench b;
    struct train_random random = {11u};
    struct train_case c = layer(T_FORWARD);
    cnnvp_time delay = 0;
    begin(&b, mhz, timing_only);
    fake_set(b.array, "detail", detail);
    start(&b);
    train_case_fill(&c, &random, false, true);
    c.command.halves = timing_only ? 0 : 5;
    if (!timing_only)
        load(&b, &c, 5);
    fake_run(&b.sim, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(send(&b, &c.command, &delay), CNNVP_OK);
    if (!timing_only) {
        const int16_t *scales = (const int16_t *)(const void *)(half_of(b.output, 1) + train_case_out_exp_addr(&c));
        assert_memory_equal(half_of(b.output, 1), c.after, c.result_bytes);
        for (int o = 0; o < 40; ++o)
            assert_int_equal(scales[o], c.in_exps[0] + c.second_exps[o] - 12);
        assert_int_equal(fake_count(b.array, "saturations"), c.saturated);
        assert_true(c.saturated > 0);
    }
    const uint64_t sets = 6u * 4u; /* channels, pieces */
    const uint64_t compute = 2u * 2u * sets * 100u * 3u;
    const uint64_t results = 5u * 40u * 100u;
    assert_int_equal(fake_count(b.array, "commands"), 1);
    assert_int_equal(fake_count(b.array, "compute_cycles"), compute);
    assert_int_equal(fake_count(b.array, "fill_cycles"), 5);
    assert_int_equal(fake_count(b.array, "writeout_cycles"), 1);
    assert_int_equal(fake_count(b.array, "busy_cycles"), compute + 6u);
    assert_int_equal(fake_count(b.array, "input_words"), 5u * 2u * sets * 100u * 9u);
    assert_int_equal(fake_count(b.array, "weight_words"), 2u * 40u * sets * 9u);
    assert_int_equal(fake_count(b.array, "output_words"), results * sets);
    assert_int_equal(fake_count(b.array, "partial_words"), results * sets);
    assert_int_equal(fake_count(b.array, "macs"), results * 6u * 25u);
    assert_int_equal(fake_count(b.array, "exponents"), 1u + 40u + 40u);
    /* buffers count 16-bit words: two mantissas; and the exponents of the read ports */
    assert_int_equal(fake_count(b.input, "read_rotating_words"), 5u * 2u * sets * 100u * 9u / 2u);
    assert_int_equal(delay, cnnvp_edge_time(mhz, 1001 + compute + 6u) - cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.array->span_count, 1);
    assert_string_equal(b.array->spans[0].name, "tforward");
    assert_int_equal(b.array->spans[0].tag, 3);
    assert_int_equal(b.array->spans[0].flow, 7);
    assert_int_equal(b.array->spans[0].begin, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.array->spans[0].end, cnnvp_edge_time(mhz, 1001 + compute + 6u));
    assert_int_equal(b.array->warnings, 0);
    train_case_free(&c);
    end(&b);
}

static void test_command(void **state)
{
    (void)state;
    for (uint64_t detail = 0; detail < 2u; ++detail) {
        check_forward(detail, 200, 0);
        check_forward(detail, 333, 0);
        check_forward(detail, 200, 1);
    }
}

/* Every opcode, 8 and 16 bits, integers and binary32, through the unit in both depths. */
static void test_all(void **state)
{
    struct train_random random = {12u};
    (void)state;
    for (uint32_t i = 0; i < 96u; ++i) {
        struct train_case c;
        struct bench b;
        const uint32_t bits = i % 3u == 0 ? 16u : 8u;
        train_case_random(&c, &random, bits);
        begin(&b, 200, 0);
        fake_set(b.array, "detail", i & 1u);
        fake_set(b.array, "mantissa_bits", bits);
        fake_set(b.array, "fc_rows", i >> 1 & 1u);
        fake_set(b.array, "gradient", i >> 2 & 1u);
        start(&b);
        c.command.halves = i & 7u;
        load(&b, &c, i & 7u);
        assert_int_equal(send(&b, &c.command, NULL), CNNVP_OK);
        assert_memory_equal(half_of(b.output, i >> 2 & 1u), c.after, c.result_bytes);
        assert_int_equal(fake_count(b.array, "saturations"), c.saturated);
        train_case_free(&c);
        end(&b);
    }
}

/* A narrow port of this many banks, in which the addresses of a cycle take so many turns. */
struct narrow_port {
    uint32_t opcode;
    uint32_t port;
    uint64_t banks, turns;
};

/* It lengthens the command by what its buffer says, whichever edge of the clock it begins at. */
static void check_port_stall(const struct narrow_port *narrow, uint64_t edge, uint64_t detail)
{
    static const char *const stats[] = {"input_port_cycles", "weight_port_cycles", "output_port_cycles"};
    static const char *const words[] = {"input_words", "weight_words", "output_words"};
    struct bench b;
    struct train_random random = {13u};
    struct train_case c = layer(narrow->opcode);
    cnnvp_time delay = 0;
    c.second_exp_out = 0;
    c.h = c.w = c.oh = c.ow = 4;
    c.kx = c.ky = 3;
    c.px = c.py = 1;
    begin(&b, 700, 0);
    struct cnnvp_host *const buffers[] = {b.input, b.weight, b.output};
    for (uint32_t port = 0; port < 3u; ++port)
        fake_set(buffers[port], "banks", 1024);
    fake_set(b.array, "detail", detail);
    fake_set(buffers[narrow->port], "detail", detail);
    fake_set(buffers[narrow->port], "banks", narrow->banks);
    fake_set(buffers[narrow->port], "width_words", 1);
    start(&b);
    train_case_fill(&c, &random, false, false);
    load(&b, &c, 0);
    fake_run(&b.sim, cnnvp_edge_time(700, edge));
    assert_int_equal(send(&b, &c.command, &delay), CNNVP_OK);
    const uint64_t compute = fake_count(b.array, "compute_cycles");
    const uint64_t others = fake_count(b.array, "fill_cycles") + fake_count(b.array, "writeout_cycles");
    const uint64_t spread = compute + (narrow->port == 2u ? fake_count(b.array, "writeout_cycles") : 0);
    /* of mantissas two go into a 16-bit word, of sums each takes two */
    const uint64_t crossed = fake_count(b.array, words[narrow->port]);
    const uint64_t needed = (narrow->port == 2u ? 2u * crossed : (crossed + 1u) / 2u) * narrow->turns;
    const uint64_t stall = needed > spread ? needed - spread : 0;
    assert_int_equal(fake_count(b.array, stats[narrow->port]), stall);
    assert_int_equal(fake_count(b.array, "busy_cycles"), compute + others + stall);
    assert_int_equal(delay, cnnvp_edge_time(700, edge + compute + others + stall) - cnnvp_edge_time(700, edge));
    train_case_free(&c);
    end(&b);
}

/* Maps that are read side by side, three rows of each: one for each of four arrays; of errors one for each of 32
 * columns. Sums leave 128 columns. */
static void test_port_stall(void **state)
{
    static const struct narrow_port ports[] = {
        {T_GRADIENT, 0, 12, 1}, {T_GRADIENT, 0, 11, 2}, {T_GRADIENT, 1, 96, 1},  {T_GRADIENT, 1, 95, 2},
        {T_FORWARD, 0, 12, 1},  {T_FORWARD, 0, 4, 3},   {T_GRADIENT, 2, 128, 1}, {T_FORWARD, 2, 127, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; ++i)
        for (uint64_t edge = 0; edge < 7; ++edge)
            check_port_stall(&ports[i], edge, edge % 2u);
}

/* One register, or the command itself, changed so that it must be refused with nothing done. */
struct malformed {
    uint32_t opcode;
    uint32_t reg;
    uint32_t value;
    int expected;
};

enum { OPCODE = 100, STATUS, COUNT };

static const struct malformed faults[] = {
    {T_FORWARD, OPCODE, 0x80, CNNVP_E_INVAL},
    {T_FORWARD, OPCODE, 0xa6, CNNVP_E_INVAL},
    {T_FORWARD, STATUS, 4, CNNVP_E_INVAL},
    {T_FORWARD, COUNT, 20, CNNVP_E_INVAL},
    {T_FORWARD, OPCODE, T_GRADIENT, CNNVP_E_INVAL},
    {T_FORWARD, 0, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 0, UINT32_C(1) << 31, CNNVP_E_INVAL},
    {T_FORWARD, 1, UINT32_MAX, CNNVP_E_INVAL},
    {T_FORWARD, 2, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 4, 0, CNNVP_E_INVAL},
    {T_FORWARD, 5, 0, CNNVP_E_INVAL},
    {T_FORWARD, 5, 65536, CNNVP_E_INVAL},
    {T_FORWARD, 6, 0, CNNVP_E_INVAL},
    {T_FORWARD, 7, UINT32_MAX, CNNVP_E_INVAL},
    {T_FORWARD, 8, 10, CNNVP_E_INVAL},
    {T_FORWARD, 9, 5, CNNVP_E_INVAL},
    {T_FORWARD, 10, 1, CNNVP_E_INVAL},
    {T_FORWARD, 11, 5, CNNVP_E_INVAL},
    {T_FORWARD, 12, HALF_BYTES - 8, CNNVP_E_ADDR},
    {T_FORWARD, 13, 2, CNNVP_E_INVAL},
    {T_FORWARD, 13, HALF_BYTES - 4, CNNVP_E_ADDR},
    {T_FORWARD, 14, 99, CNNVP_E_INVAL},
    {T_FORWARD, 15, 0, CNNVP_E_INVAL},
    {T_FORWARD, 16, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 17, 1u << 16, CNNVP_E_INVAL},
    {T_FORWARD, 18, HALF_BYTES, CNNVP_E_ADDR},
    {T_FORWARD, 19, 1u << 16, CNNVP_E_INVAL},
    {T_FORWARD, 20, 1, CNNVP_E_INVAL},
    {T_FORWARD, 20, HALF_BYTES, CNNVP_E_ADDR},
    {T_GRADIENT, 17, 5, CNNVP_E_INVAL},
    {T_GRADIENT, 19, 1, CNNVP_E_INVAL},
    {T_GRADIENT, 21, 1u << 16, CNNVP_E_INVAL},
    {T_GRADIENT, 12, 0, CNNVP_E_INVAL},
    {T_GRADIENT, 11, UINT32_MAX, CNNVP_E_INVAL},
    {T_GRADIENT, 8, HALF_BYTES, CNNVP_E_ADDR},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct bench b;
        struct train_random random = {14u};
        struct train_case c = layer(faults[i].opcode);
        begin(&b, 200, 0);
        start(&b);
        train_case_fill(&c, &random, false, false);
        load(&b, &c, 0);
        if (faults[i].reg == OPCODE)
            c.command.opcode = faults[i].value;
        else if (faults[i].reg == STATUS)
            c.command.status = faults[i].value;
        else if (faults[i].reg == COUNT)
            c.command.count = faults[i].value;
        else
            c.command.descriptor[faults[i].reg] = faults[i].value;
        const int status = send(&b, &c.command, NULL);
        if (status != faults[i].expected)
            print_error("fault %zu: %d, %s\n", i, status, b.array->message);
        assert_int_equal(status, faults[i].expected);
        assert_int_equal(fake_count(b.array, "rejected"), 1);
        assert_int_equal(fake_count(b.array, "commands"), 0);
        assert_true(b.array->warnings == 1);
        assert_memory_equal(half_of(b.output, 0), c.before, c.result_bytes);
        train_case_free(&c);
        end(&b);
    }
}

/* Whatever lies in the registers: a status, no crash, no access outside. Small buffers keep accepted commands short. */
static void test_garbage(void **state)
{
    struct train_random random = {15u};
    uint32_t accepted = 0;
    (void)state;
    for (uint32_t detail = 0; detail < 2u; ++detail) {
        struct bench b;
        begin(&b, 200, 0);
        fake_set(b.array, "detail", detail);
        fake_set(b.input, "size", 4096);
        fake_set(b.weight, "size", 4096);
        fake_set(b.output, "size", 8192);
        start(&b);
        for (uint32_t i = 0; i < 8000u; ++i) {
            struct train_case c;
            train_case_random(&c, &random, 8);
            for (uint32_t change = train_range(&random, 0, 3); change > 0; --change) {
                const uint32_t at = train_range(&random, 0, CNNVP_DESCRIPTOR_MAX - 1u);
                const uint32_t drop = train_range(&random, 0, 31);
                c.command.descriptor[at] = train_range(&random, 0, UINT32_MAX) >> drop;
            }
            /* strides of 0 let little memory stand for much work: keep the sum of it bearable */
            if (c.command.descriptor[5] < 64u && c.command.descriptor[2] < 64u)
                accepted += send(&b, &c.command, NULL) == CNNVP_OK;
            b.array->span_count = 0;
            train_case_free(&c);
        }
        end(&b);
    }
    assert_in_range(accepted, 800, 15200);
}

static void test_misuse(void **state)
{
    struct bench b;
    struct cnnvp_command command = {0};
    (void)state;
    begin(&b, 200, 0);
    start(&b);
    struct cnnvp_access access = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_ACCESS);
    access.op = CNNVP_COMMAND;
    access.size = 4;
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_INVAL);
    access.size = sizeof command;
    access.data = NULL;
    assert_int_equal(fake_access(b.array, "command", &access), CNNVP_E_INVAL);
    end(&b);
    begin(&b, 200, 0);
    fake_set(b.array, "rows", 2);
    fake_set(b.array, "fc_rows", 1);
    assert_int_equal(fake_start(b.array), CNNVP_E_INVAL);
    assert_int_equal(b.array->config_errors, 1);
    end(&b);
}

/* Biases: a channel of ones in no buffer (Part B 0-8), in both depths and widths: forward added in binary32, gradients
 * exact; the cycles are the cause bias, and no input is read. */
static void check_bias(uint64_t detail, uint32_t bits)
{
    enum { IMAGES = 2, OUT = 5, H = 3, W = 4, AREA = H * W };
    struct bench b;
    begin(&b, 200, 0);
    fake_set(b.array, "detail", detail);
    fake_set(b.array, "mantissa_bits", bits);
    fake_set(b.output, "width_words", 4096);
    start(&b);
    const bool wide = bits > 8;
    float *results = (float *)(void *)half_of(b.output, 0);
    char *second = half_of(b.weight, 0);
    int8_t *exponent = (int8_t *)half_of(b.weight, 0) + 0x1000;
    *exponent = -2;
    for (int i = 0; i < IMAGES * OUT * AREA; ++i) {
        results[i] = (float)i / 8.0f;
        if (wide)
            ((int32_t *)(void *)second)[i] = i * 7 % 200 - 100;
        else
            ((int8_t *)second)[i] = (int8_t)(i * 7 % 200 - 100);
    }
    struct cnnvp_command command = {
        .opcode = 0xa0,
        .status = 7,
        .sequence = 1,
        .count = 21,
        /* a forward tile whose input registers mean nothing */
        .descriptor = {99,   99,          99,          99,          W | H << 16, IMAGES, 1,
                       OUT,  W | H << 16, 1 | 1 << 16, 1 | 1 << 16, 0,           0,      0,
                       AREA, OUT * AREA,  77,          77,          0x1000,      0,      0}};
    assert_int_equal(send(&b, &command, NULL), CNNVP_OK);
    for (int i = 0; i < IMAGES * OUT * AREA; ++i) {
        const double bias = ldexp((i / AREA % OUT) * 7 % 200 - 100, -2 - ((int)bits - 2));
        const volatile float sum = (float)i / 8.0f + (float)bias;
        assert_true(results[i] == sum);
    }
    const uint64_t forward = (uint64_t)AREA * 3u;
    assert_int_equal(fake_count(b.array, "bias_cycles"), forward);
    assert_int_equal(fake_count(b.array, "compute_cycles"), 0);
    assert_int_equal(fake_count(b.array, "input_words"), 0);
    assert_int_equal(fake_count(b.input, "read_bytes"), 0);
    /* the gradient: sums of errors, exact */
    struct cnnvp_command gradient = {
        .opcode = 0xa2,
        .status = 4,
        .sequence = 2,
        .count = 23,
        .descriptor = {0, 0, 0,    0,          W | H << 16, IMAGES,      1,           OUT,
                       0, W, AREA, OUT * AREA, W | H << 16, 1 | 1 << 16, 1 | 1 << 16, 0,
                       0, 1, 0,    0,          0x1000,      0,           0x800}};
    assert_int_equal(send(&b, &gradient, NULL), CNNVP_OK);
    for (int o = 0; o < OUT; ++o) {
        int64_t want = 0;
        for (int n = 0; n < IMAGES; ++n)
            for (int i = 0; i < AREA; ++i)
                want += ((n * OUT + o) * AREA + i) * 7 % 200 - 100;
        want *= INT64_C(1) << (bits - 2);
        const char *sum = half_of(b.output, 0) + (size_t)o * (wide ? 8u : 4u);
        assert_true((wide ? *(const int64_t *)(const void *)sum : *(const int32_t *)(const void *)sum) == want);
    }
    /* ones have exponent 0: the scale is the errors' own, and that of the ones' mantissas */
    assert_int_equal(*(const int16_t *)(const void *)(half_of(b.output, 0) + 0x800), -2 - 2 * ((int)bits - 2));
    assert_true(fake_count(b.array, "bias_cycles") > forward);
    assert_int_equal(fake_count(b.array, "compute_cycles"), 0);
    command.descriptor[6] = 2; /* two channels of ones are no bias */
    assert_int_equal(send(&b, &command, NULL), CNNVP_E_INVAL);
    end(&b);
}

/* Scales in the max-min buffer in place of the output half, where one is connected. */
static void test_bias_and_held_scales(void **state)
{
    (void)state;
    for (uint64_t detail = 0; detail < 2; ++detail) {
        check_bias(detail, 8);
        check_bias(detail, 16);
    }
    for (int connected = 0; connected < 2; ++connected) {
        struct bench b;
        struct train_random random = {21u};
        struct train_case c = layer(T_FORWARD);
        begin(&b, 200, 0);
        struct cnnvp_host *held = fake_add(&b.sim, &cnnvp_unit_buffer);
        fake_set(held, "pingpong", 0);
        if (connected)
            fake_connect(b.array, "scales", held, "port");
        assert_int_equal(fake_start(held), CNNVP_OK);
        start(&b);
        train_case_fill(&c, &random, false, true);
        load(&b, &c, 0);
        c.command.descriptor[20] = CNNVP_TILE_HELD | 0x40;
        assert_int_equal(send(&b, &c.command, NULL), connected ? CNNVP_OK : CNNVP_E_STATE);
        if (connected) {
            const int16_t *scales = (const int16_t *)(const void *)half_held(held);
            assert_memory_equal(half_of(b.output, 0), c.after, c.result_bytes);
            for (int o = 0; o < 40; ++o)
                assert_int_equal(scales[0x20 + o], c.in_exps[0] + c.second_exps[o] - 12);
        }
        train_case_free(&c);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_port_stall),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_bias_and_held_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
