/* SPDX-License-Identifier: Apache-2.0 */
/* * vpool and vconv: bit for bit what the NFU makes of pool and conv with the same descriptor, and sums against plain
 * loops (nfu_case.h); time and words at the ports against a walk over the lanes; what is refused. */
#include "window_case.h"
#include "random.h"

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
    const uint64_t found = (c->status & 3u) == 0 ? 0 : c->opcode == OP_POOL && !is_partial(c) ? 1u : 4u;
    const uint64_t written = is_partial(c) ? 4u : 1u;
    struct cost cost = {0};
    uint64_t late[2] = {0, 0};
    for (uint64_t begin = 0; begin < share * plane; begin += shape->lanes) {
        uint64_t results = 0; /* of all units at a time */
        for (uint64_t first = 0; first < channels; first += share) {
            const uint64_t own = (first + share < channels ? share : channels - first) * plane;
            results += own > begin ? cnnvp_minimum(shape->lanes, own - begin) : 0;
        }
        const uint64_t in = (results + shape->width - 1u) / shape->width;
        const uint64_t out = (results * (found + written) + shape->width - 1u) / shape->width;
        late[0] += taps * (in - 1u);
        late[1] += out > taps ? out - taps : 0;
    }
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
    cost.output_words = c->results * written;
    cost.found_words = c->results * found;
    cost.cycles = cost.beats + cnnvp_maximum(late[0], late[1]) + PIPELINE;
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
    assert_int_equal(fake_count(vector, "macs"), fake_count(vector, "mac_operations")); /* no other command has any */
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

/* Operands, and the same sums of earlier commands in both halves of the output buffer. */
static void place(struct pair *pair, const struct nfu_case *c, uint64_t *random)
{
    struct bench *bench = &pair->bench;
    memcpy(bench_data(bench, IN, 0), c->input, c->input_words * 2u);
    memcpy(bench_data(bench, WT, 0), c->bias, c->bias_words * 2u);
    memcpy((uint8_t *)bench_data(bench, WT, 0) + WEIGHT_AT, c->weights, c->weight_words * 2u);
    int64_t *const sums = bench_data(bench, OUT, 0);
    for (uint64_t i = 0; i < c->results; ++i)
        sums[i] = (int64_t)next_state(random) >> between(random, 0, 60);
    memset((uint8_t *)sums + OUT_AT, 0x5a, BENCH_HALF - OUT_AT);
    memcpy(bench_data(bench, OUT, 1), sums, BENCH_HALF);
}

static void check_case(struct pair *pair, struct nfu_case *c, uint64_t *random)
{
    struct bench *bench = &pair->bench;
    struct cnnvp_command array = command_of(c);
    array.descriptor[FORMAT] |= between(random, 0, 3) << 16;
    array.descriptor[SEED] = between(random, 0, 1000);
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
    static const struct shape shapes[] = {{16, 1, 4096, 0, 0}, {1, 1, 4096, 0, 0}, {3, 2, 4096, 0, 0},
                                          {256, 8, 64, 0, 0},  {16, 64, 32, 0, 0}, {7, 3, 5, 0, 0}};
    uint64_t random = 77;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
