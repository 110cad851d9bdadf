/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vpool and vconv: bit for bit what the NFU makes of pool and conv with the same descriptor, and sums against plain
 * loops (nfu_case.h); time and words at the ports against a walk over the lanes; what is refused.
 */
#include "nfu/nfu.h"
#include "cnnvp_integer.h"
#include "nfu_case.h"
#include "vector_bench.h"

#include <string.h>

enum { WEIGHT_AT = 4096, ACC_AT = 0, OUT_AT = 40000, PIPELINE = 4, HALF_INPUT_WORDS = BENCH_HALF / 2 };

struct shape {
    uint64_t lanes, units, width; /* words of each buffer's port */
    int timing_only;
};

struct pair {
    struct bench bench;
    struct cnnvp_host *nfu;
    struct shape shape;
};

static void pair_open(struct pair *pair, const struct shape *shape)
{
    static const char *const ports[] = {"input", "weight", "output"};
    struct bench *bench = &pair->bench;
    pair->shape = *shape;
    bench_open_units(bench, shape->lanes, shape->units, shape->timing_only);
    pair->nfu = fake_add(&bench->sim, &cnnvp_unit_nfu);
    fake_set(pair->nfu, "acc_bits", 64);
    assert_int_equal(fake_start(pair->nfu), CNNVP_OK);
    for (int b = 0; b < 3; ++b) {
        bench->buffers[b] = fake_add(&bench->sim, &cnnvp_unit_buffer);
        fake_set(bench->buffers[b], "size", 2u * BENCH_HALF);
        fake_set(bench->buffers[b], "width_words", shape->width);
        assert_int_equal(fake_start(bench->buffers[b]), CNNVP_OK);
        fake_connect(bench->vector, ports[b], bench->buffers[b], "port");
        fake_connect(pair->nfu, ports[b], bench->buffers[b], "port");
    }
}

/* Cycles that the command takes there, or a negative status. */
static int64_t run(struct pair *pair, struct cnnvp_host *unit, struct cnnvp_command *command)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command};
    command->sequence = ++pair->bench.sequence;
    const int status = fake_access(unit, "command", &access);
    pair->bench.sim.now += access.delay;
    return status == CNNVP_OK ? (int64_t)(access.delay / BENCH_CYCLE) : status;
}

/* ---- what it must cost ---- */

struct cost {
    uint64_t beats, cycles, elements;
    uint64_t input_words, weight_words, output_words, found_words;
};

static int depthwise(const struct nfu_case *c)
{
    return c->opcode == OP_POOL || (c->status & 0x20u) != 0;
}

static int is_partial(const struct nfu_case *c)
{
    return (c->status & 4u) != 0;
}

/* Lane by lane: each unit's results in order, `lanes` at a time, tap by tap. */
static struct cost walk(const struct nfu_case *c, const struct shape *shape)
{
    const uint64_t channels = nfu_case_channels(c);
    const uint64_t plane = (uint64_t)c->out_h * c->out_w;
    const uint64_t taps = (uint64_t)c->kx * c->ky * (depthwise(c) ? 1u : c->in_channels);
    const uint64_t share = (channels + shape->units - 1u) / shape->units;
    const uint64_t bias = c->opcode == OP_CONV && (c->status & 8u) != 0;
    struct cost cost = {0};
    for (uint64_t first = 0; first < channels; first += share) {
        const uint64_t end = first + share < channels ? first + share : channels;
        uint64_t beats = 0;
        for (uint64_t group = first * plane; group < end * plane; group += shape->lanes) {
            uint64_t channel = UINT64_MAX;
            for (uint64_t r = group; r < group + shape->lanes && r < end * plane; ++r) {
                cost.input_words += taps;
                if (c->opcode == OP_CONV && r / plane != channel)
                    cost.weight_words += taps + bias;
                channel = r / plane;
            }
            beats += taps;
        }
        cost.beats = cnnvp_maximum(cost.beats, beats);
    }
    cost.elements = cost.input_words;
    cost.output_words = c->results * (is_partial(c) ? 4u : 1u);
    cost.found_words = (c->status & 3u) != 0 ? 4u * c->results : 0;
    uint64_t busy = cnnvp_maximum(cost.beats, (cost.input_words + shape->width - 1u) / shape->width);
    busy = cnnvp_maximum(busy, (cost.weight_words + shape->width - 1u) / shape->width);
    busy = cnnvp_maximum(busy, (cost.output_words + cost.found_words + shape->width - 1u) / shape->width);
    cost.cycles = busy + PIPELINE;
    return cost;
}

enum { COUNTS = 9 };
static const char *const names[COUNTS] = {
    "commands", "beats", "elements", "operations", "busy_cycles", "port_cycles", "words in", "weights", "words out"};

static void read_counts(const struct pair *pair, const struct nfu_case *c, uint64_t *counts)
{
    const struct cnnvp_host *vector = pair->bench.vector;
    const char *const operation =
        c->opcode == OP_CONV ? "mac_operations"
        : is_partial(c)      ? "add_operations"
                             : "cmp_operations";
    counts[3] = fake_count(vector, operation);
    for (int i = 0; i < 6; ++i)
        if (i != 3)
            counts[i] = fake_count(vector, names[i]);
    for (int b = 0; b < 3; ++b)
        counts[6 + b] = fake_count(pair->bench.buffers[b], "calculation_port_words");
}

static void check_cost(const struct pair *pair, const struct nfu_case *c, const uint64_t *before, int64_t cycles)
{
    const struct cost cost = walk(c, &pair->shape);
    const uint64_t expected[COUNTS] = {
        1,
        cost.beats,
        cost.elements,
        cost.elements,
        cost.cycles,
        cost.cycles - PIPELINE - cost.beats,
        cost.input_words,
        cost.weight_words,
        cost.output_words + cost.found_words};
    uint64_t after[COUNTS];
    read_counts(pair, c, after);
    assert_int_equal(cycles, cost.cycles);
    for (int i = 0; i < COUNTS; ++i)
        if (after[i] - before[i] != expected[i])
            fail_msg("%s: %llu, not %llu", names[i], (unsigned long long)(after[i] - before[i]),
                     (unsigned long long)expected[i]);
}

/* ---- random tiles ---- */

/* One that fits the halves. */
static struct nfu_case random_window(struct nfu_random *random)
{
    struct nfu_case c;
    for (;;) {
        nfu_case_random(&c, random);
        if ((c.opcode == OP_CONV || c.opcode == OP_POOL) && c.input_words <= HALF_INPUT_WORDS)
            return c;
        nfu_case_free(&c);
    }
}

static struct cnnvp_command command_of(const struct nfu_case *c)
{
    struct cnnvp_command command = nfu_case_command(c);
    command.descriptor[WEIGHT_ADDR] = WEIGHT_AT;
    command.descriptor[ACC_ADDR] = ACC_AT;
    command.descriptor[OUT_ADDR] = OUT_AT;
    return command;
}

/* Operands, and the same sums of earlier commands in both halves of the output buffer. */
static void place(struct pair *pair, const struct nfu_case *c, struct nfu_random *random)
{
    struct bench *bench = &pair->bench;
    memcpy(bench_data(bench, IN, 0), c->input, c->input_words * 2u);
    memcpy(bench_data(bench, WT, 0), c->bias, c->bias_words * 2u);
    memcpy((uint8_t *)bench_data(bench, WT, 0) + WEIGHT_AT, c->weights, c->weight_words * 2u);
    int64_t *const sums = bench_data(bench, OUT, 0);
    for (uint64_t i = 0; i < c->results; ++i)
        sums[i] = (int64_t)nfu_random(random) >> nfu_range(random, 0, 60);
    memset((uint8_t *)sums + OUT_AT, 0x5a, BENCH_HALF - OUT_AT);
    memcpy(bench_data(bench, OUT, 1), sums, BENCH_HALF);
}

static void check_case(struct pair *pair, struct nfu_case *c, struct nfu_random *random)
{
    struct bench *bench = &pair->bench;
    struct cnnvp_command array = command_of(c);
    array.descriptor[FORMAT] |= nfu_range(random, 0, 2) << 16;
    array.descriptor[SEED] = nfu_range(random, 0, 1000);
    struct cnnvp_command vector = array;
    vector.opcode = c->opcode == OP_CONV ? OP_vconv : OP_vpool;
    vector.halves = CNNVP_HALF_OUTPUT;
    place(pair, c, random);
    const uint64_t clipped = fake_count(bench->vector, "saturations");
    const uint64_t nfu_clipped = fake_count(pair->nfu, "saturations");
    assert_true(run(pair, pair->nfu, &array) > 0);
    uint64_t before[COUNTS];
    read_counts(pair, c, before);
    const int64_t cycles = run(pair, bench->vector, &vector);
    assert_true(cycles > 0);
    check_cost(pair, c, before, cycles);
    assert_memory_equal(bench_data(bench, OUT, 0), bench_data(bench, OUT, 1), BENCH_HALF);
    assert_int_equal(fake_count(bench->vector, "saturations") - clipped,
                     fake_count(pair->nfu, "saturations") - nfu_clipped);
    if (is_partial(c) && (c->status & 3u) == 0) {
        nfu_case_expect(c, 64);
        assert_memory_equal(bench_data(bench, OUT, 1), c->sums, c->results * sizeof *c->sums);
    }
}

static void test_random_windows(void **state)
{
    static const struct shape shapes[] = {
        {16, 1, 4096, 0}, {1, 1, 4096, 0}, {3, 2, 4096, 0}, {256, 8, 64, 0}, {16, 64, 32, 0}, {7, 3, 5, 0}};
    struct nfu_random random = {77u};
    uint64_t clipped = 0;
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s) {
        struct pair pair;
        pair_open(&pair, &shapes[s]);
        for (int n = 0; n < 250; ++n) {
            struct nfu_case c = random_window(&random);
            check_case(&pair, &c, &random);
            nfu_case_free(&c);
        }
        clipped += fake_count(pair.bench.vector, "saturations");
        assert_int_equal(fake_count(pair.bench.vector, "rejected"), 0);
        bench_close(&pair.bench);
    }
    assert_true(clipped > 0);
}

/* ---- time ---- */

static void test_closed_forms(void **state)
{
    enum { POOL_SUM = 4, BIAS = 8, DEPTHWISE = 0x20 };
    const struct {
        struct nfu_case c;
        uint32_t status;
        struct shape shape;
        int64_t beats;
    } cases[] = {
        /* opcode, in, out, w, h, kx, ky, sx, sy; 75 results are 5 groups of 16 */
        {nfu_case_window(OP_POOL, 3, 3, 5, 5, 2, 2, 2, 2), 0, {16, 1, 4096, 0}, 5 * 4},
        {nfu_case_window(OP_POOL, 512, 512, 1, 1, 7, 7, 1, 1), POOL_SUM, {16, 1, 4096, 1}, 32 * 49},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 1, 4096, 0}, 31 * 9},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 4, 4096, 0}, 10 * 9},
        {nfu_case_window(OP_CONV, 6, 16, 10, 10, 5, 5, 1, 1), BIAS, {16, 1, 4096, 0}, 100 * 150},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct pair pair;
        struct nfu_case c = cases[i].c;
        c.status = cases[i].status;
        c.in_channel_stride = c.opcode == OP_CONV ? 1024 : 49;
        struct cnnvp_command command = command_of(&c);
        command.opcode = c.opcode == OP_CONV ? OP_vconv : OP_vpool;
        command.tag = 3;
        pair_open(&pair, &cases[i].shape);
        assert_int_equal(run(&pair, pair.bench.vector, &command), cases[i].beats + PIPELINE);
        const struct fake_span *span = &pair.bench.vector->spans[0];
        assert_string_equal(span->name, c.opcode == OP_CONV ? "vconv" : "vpool");
        assert_int_equal(span->tag, 3);
        assert_int_equal(span->end - span->begin, (uint64_t)(cases[i].beats + PIPELINE) * BENCH_CYCLE);
        bench_close(&pair.bench);
    }
}

/* Timing-only counts what a full run counts, but for what depends on data. */
static void test_timing_only(void **state)
{
    struct pair pairs[2];
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only) {
        const struct shape shape = {16, 2, 24, timing_only};
        struct nfu_random random = {5u};
        pair_open(&pairs[timing_only], &shape);
        for (int n = 0; n < 60; ++n) {
            struct nfu_case c = random_window(&random);
            struct cnnvp_command command = command_of(&c);
            command.opcode = c.opcode == OP_CONV ? OP_vconv : OP_vpool;
            assert_true(run(&pairs[timing_only], pairs[timing_only].bench.vector, &command) > 0);
            nfu_case_free(&c);
        }
    }
    const struct cnnvp_unit *unit = &cnnvp_unit_vector;
    for (uint32_t i = 0; i < unit->stat_count; ++i)
        if (strcmp(unit->stats[i].name, "saturations") != 0)
            assert_int_equal(fake_count(pairs[0].bench.vector, unit->stats[i].name),
                             fake_count(pairs[1].bench.vector, unit->stats[i].name));
    for (int b = 0; b < 3; ++b)
        assert_memory_equal(pairs[0].bench.buffers[b]->counts, pairs[1].bench.buffers[b]->counts,
                            sizeof pairs[0].bench.buffers[b]->counts);
    assert_int_equal(pairs[0].bench.sim.now, pairs[1].bench.sim.now);
    bench_close(&pairs[0].bench);
    bench_close(&pairs[1].bench);
}

/* ---- beside the other instructions ---- */

/* Commands are one after the other; a window leaves the registers of the other instructions as they are. */
static void test_registers_stay(void **state)
{
    struct pair pair;
    const struct shape shape = {16, 1, 4096, 0};
    const struct vector_tile multiply = {.count = 16, .repeat = 1, .a_stride = 1, .immediate = 3};
    const struct vector_tile write = {.count = 16, .repeat = 1, .out_addr = OUT_AT};
    struct nfu_case c = nfu_case_window(OP_CONV, 2, 2, 4, 4, 3, 3, 1, 1);
    struct cnnvp_command command = command_of(&c);
    (void)state;
    pair_open(&pair, &shape);
    int16_t *const in = bench_data(&pair.bench, IN, 0);
    const int16_t *const out = bench_data(&pair.bench, OUT, 0);
    for (int16_t i = 0; i < 256; ++i)
        in[i] = (int16_t)(i + 1);
    assert_true(bench_run(&pair.bench, OP_vmac, A(IN) | B(IMM), 0, &multiply) > 0);
    command.opcode = OP_vconv;
    assert_true(run(&pair, pair.bench.vector, &command) > 0);
    assert_true(bench_run(&pair.bench, OP_vout, 0, 0, &write) > 0);
    for (int i = 0; i < 16; ++i)
        assert_int_equal(out[OUT_AT / 2 + i], 3 * (i + 1));
    bench_close(&pair.bench);
}

/* ---- what is refused ---- */

enum { OPCODE = 100, STATUS, REGISTERS };

static void test_refusals(void **state)
{
    static const struct {
        uint32_t opcode, reg, value;
        int expected;
        const char *why;
    } faults[] = {
        {OP_vpool, STATUS, 8, CNNVP_E_INVAL, "the status bits of pool and conv"},
        {OP_vconv, STATUS, 0x40, CNNVP_E_INVAL, "the status bits of pool and conv"},
        {OP_vconv, STATUS, 3, CNNVP_E_INVAL, "update is 0, 1 or 2"},
        {OP_vpool, REGISTERS, 15, CNNVP_E_INVAL, "the descriptor is not that of a window sweep"},
        {OP_vpool, KERNEL, 2, CNNVP_E_INVAL, "kernel, stride and dilation are 1 or more"},
        {OP_vpool, ROW_STRIDE, 4, CNNVP_E_INVAL, "in_row_stride is at least the words"},
        {OP_vpool, VALID_ROWS, 4u | 3u << 16, CNNVP_E_INVAL, "first is at most end"},
        {OP_vconv, IN_CHANNELS, 0, CNNVP_E_INVAL, "channels, out_h and out_w are 1 or more"},
        {OP_vconv, OUT_ADDR, 1, CNNVP_E_INVAL, "out_addr is even"},
        {OP_vconv, FORMAT, 3u << 16, CNNVP_E_INVAL, "rounding is 0, 1 or 2"},
        {OP_vconv, IN_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_vconv, WEIGHT_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_vpool, OUT_ADDR, BENCH_HALF - 8u, CNNVP_E_ADDR, "leaves a buffer half"},
        {OP_conv, OPCODE, OP_conv, CNNVP_E_INVAL, "no such instruction"},
        {OP_pool, OPCODE, OP_pool, CNNVP_E_INVAL, "no such instruction"},
    };
    struct pair pair;
    const struct shape shape = {16, 1, 4096, 0};
    struct nfu_case c = nfu_case_window(OP_CONV, 2, 2, 4, 4, 3, 3, 1, 1);
    (void)state;
    pair_open(&pair, &shape);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct cnnvp_command command = command_of(&c);
        command.opcode = faults[i].opcode;
        if (faults[i].reg == STATUS)
            command.status = faults[i].value;
        else if (faults[i].reg == REGISTERS)
            command.count = faults[i].value;
        else if (faults[i].reg != OPCODE)
            command.descriptor[faults[i].reg] = faults[i].value;
        assert_int_equal(run(&pair, pair.bench.vector, &command), faults[i].expected);
        if (strstr(pair.bench.vector->message, faults[i].why) == NULL)
            fail_msg("'%s' does not say '%s'", pair.bench.vector->message, faults[i].why);
    }
    assert_int_equal(fake_count(pair.bench.vector, "rejected"), sizeof faults / sizeof faults[0]);
    assert_int_equal(fake_count(pair.bench.vector, "commands"), 0);
    /* an array does not take them */
    struct cnnvp_command command = command_of(&c);
    command.opcode = OP_vconv;
    assert_int_equal(run(&pair, pair.nfu, &command), CNNVP_E_INVAL);
    bench_close(&pair.bench);
}

/* 2^12 * 2^12 taps of 2^24 results, in a buffer that is large enough. */
static void test_endless(void **state)
{
    struct pair pair;
    const struct shape shape = {1, 1, 4096, 1};
    struct nfu_case c = nfu_case_window(OP_POOL, 1, 1, 4096, 4096, 4096, 4096, 1, 1);
    struct cnnvp_command command = command_of(&c);
    (void)state;
    command.opcode = OP_vpool;
    pair_open(&pair, &shape);
    assert_int_equal(run(&pair, pair.bench.vector, &command), CNNVP_E_INVAL);
    assert_non_null(strstr(pair.bench.vector->message, "at most 2^40 cycles"));
    bench_close(&pair.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_windows), cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_registers_stay), cmocka_unit_test(test_refusals),     cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
