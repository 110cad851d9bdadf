/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command costs on lanes, stepped: clock by clock the lanes take elements, dividers hold them, and trees fold
 * them. Shares the decoded job with lanes_cost.c, and nothing else.
 */
#include "lanes_internal.h"
#include "cnnvp_integer.h"

struct run {
    const struct lanes_shape *shape;
    struct lanes_cost *cost;
};

static void clock(struct run *run, uint64_t cycles)
{
    run->cost->cycles += cycles;
}

/* A beat in which a number of lanes take an element each. */
static void beat(struct run *run, uint64_t held)
{
    ++run->cost->beats;
    clock(run, 1u + held);
}

static void count(struct run *run, const uint64_t per_element[LANES_OPERATORS], uint64_t elements)
{
    for (uint32_t o = 0; o < LANES_OPERATORS; ++o)
        run->cost->operations[o] += per_element[o] * elements;
}

/* `elements` fill `width` lanes without gaps. */
static void stream(struct run *run, uint64_t elements, uint64_t width, uint64_t held)
{
    for (uint64_t taken = 0; taken < elements; taken += width)
        beat(run, held);
}

/* Neighbouring lanes add or compare, until one is left. */
static void fold(struct run *run)
{
    for (uint64_t left = run->shape->lanes; left > 1u; left = (left + 1u) / 2u)
        clock(run, 1);
}

static void divide(struct run *run)
{
    clock(run, 1u + run->shape->div_cycles);
}

/* Repetitions, one to each unit. What a unit does with its own is the same for all of them. */
static void by_repetition(struct run *run, const struct lanes_job *job)
{
    for (uint64_t first = 0; first < job->repeat; first += run->shape->units) {
        stream(run, job->count, run->shape->lanes, 0);
        if (job->opcode == LANES_OP_vnorm)
            continue;
        fold(run);
        if (job->sums && job->opcode == LANES_OP_vvar) {
            stream(run, job->count, run->shape->lanes, 0);
            fold(run);
            clock(run, 3); /* the products of mean, sums and elements */
        }
        if (job->opcode == LANES_OP_vmean || job->opcode == LANES_OP_vvar)
            divide(run);
        if (job->opcode == LANES_OP_vvar) /* the root and its inverse */
            divide(run);
        if (job->opcode != LANES_OP_vsoftmax)
            continue;
        stream(run, job->count, run->shape->lanes, 0); /* exponentials of what the largest is above */
        fold(run);
        stream(run, job->count, run->shape->lanes, run->shape->div_cycles);
    }
}

/* Operations of an element: mac, add, sub, div, cmp. */
static const struct {
    uint32_t opcode;
    uint64_t element[LANES_OPERATORS];
} operations[] = {
    {LANES_OP_vmac, {1, 0, 0, 0, 0}},     {LANES_OP_vadd, {0, 1, 0, 0, 0}},  {LANES_OP_vsub, {0, 0, 1, 0, 0}},
    {LANES_OP_vdiv, {0, 0, 0, 1, 0}},     {LANES_OP_vcmp, {0, 0, 0, 0, 1}},  {LANES_OP_vact, {1, 0, 1, 0, 0}},
    {LANES_OP_vnorm, {1, 0, 0, 0, 0}},    {LANES_OP_vmean, {0, 1, 0, 0, 0}}, {LANES_OP_vvar, {1, 0, 1, 0, 0}},
    {LANES_OP_vsoftmax, {2, 1, 2, 1, 1}},
};

static void count_operations(struct run *run, const struct lanes_job *job)
{
    size_t at = 0;
    while (at < sizeof operations / sizeof operations[0] && operations[at].opcode != job->opcode)
        ++at;
    if (at == sizeof operations / sizeof operations[0])
        return; /* vout */
    for (uint64_t o = 0; o < job->repeat; ++o) {
        static const uint64_t of_sums[LANES_OPERATORS] = {[LANES_add] = 2};
        const int from_sums = job->sums && job->opcode == LANES_OP_vvar;
        count(run, from_sums ? of_sums : operations[at].element, job->count);
        run->cost->operations[LANES_mac] += from_sums ? 3u : 0;
        if (job->opcode == LANES_OP_vmean || job->opcode == LANES_OP_vvar)
            run->cost->operations[LANES_div] += job->opcode == LANES_OP_vvar ? 2u : 1u;
        if (job->accumulate && job->opcode == LANES_OP_vcmp)
            run->cost->operations[LANES_cmp] += job->count;
        else if (job->accumulate && job->opcode != LANES_OP_vmac)
            run->cost->operations[LANES_add] += job->count;
    }
}

/* Of an operand that is read: an element is at its lane already where it is the one before, or that of the repetition
 * before. */
static uint64_t read_words(const struct lanes_job *job, const struct lanes_operand *operand)
{
    const int64_t bytes = (int64_t)operand->bytes;
    uint64_t words = 0;
    for (int64_t o = 0; operand->used && o < (int64_t)job->repeat; ++o)
        for (int64_t i = 0; i < (int64_t)job->count; ++i) {
            const int64_t at = bytes * (o * operand->repeat + i * operand->stride);
            const int64_t left = bytes * (o * operand->repeat + (i - 1) * operand->stride);
            const int64_t above = bytes * ((o - 1) * operand->repeat + i * operand->stride);
            if ((i == 0 || at != left) && (o == 0 || at != above))
                words += operand->bytes / 2u;
        }
    return words;
}

static void count_words(struct lanes_words *words, const struct lanes_job *job)
{
    const int is_folded = job->opcode == LANES_OP_vmean || job->opcode == LANES_OP_vvar;
    const uint64_t sweeps = job->opcode == LANES_OP_vsoftmax ? 3u : 1u;
    for (uint64_t sweep = 0; sweep < sweeps; ++sweep)
        words->a += read_words(job, &job->a);
    words->c = read_words(job, &job->c);
    if (job->opcode != LANES_OP_vact)
        words->b = read_words(job, &job->b);
    else /* the table's header, and a piece of it an element */
        for (uint64_t e = 0; e <= job->count * job->repeat; ++e)
            words->b += e == 0 ? 4u : 2u;
    for (uint64_t o = 0; job->out.used && o < job->repeat; ++o)
        words->out += is_folded ? 1u : job->count;
}

void lanes_cycle(const struct lanes_job *job, const struct lanes_shape *shape, struct lanes_cost *cost)
{
    struct run run = {shape, cost};
    const uint64_t elements = job->count * job->repeat;
    const uint64_t held = job->opcode == LANES_OP_vdiv ? shape->div_cycles : 0;
    *cost = (struct lanes_cost){.elements = elements};
    switch (job->opcode) {
    case LANES_OP_vnorm:
        if (shape->units == 1u)
            stream(&run, elements, shape->lanes, 0);
        else
            by_repetition(&run, job);
        break;
    case LANES_OP_vmean:
    case LANES_OP_vvar:
    case LANES_OP_vsoftmax:
        by_repetition(&run, job);
        break;
    case LANES_OP_vact:
        stream(&run, elements, shape->lanes * shape->units, 0);
        break;
    default:
        if (!job->accumulate)
            stream(&run, elements, shape->lanes, held);
        for (uint64_t o = 0; job->accumulate && o < job->repeat; ++o) /* each begins at lane 0 */
            stream(&run, job->count, shape->lanes, held);
        break;
    }
    count_operations(&run, job);
    count_words(&cost->words, job);
    clock(&run, shape->pipeline);
}

/* The lanes of a unit turn to the next of its results, all taps of them: what they read and write. */
static void take_results(struct run *run, const struct cnnvp_fx16_tile *tile, uint64_t first, uint64_t results,
                         uint64_t taps, struct cnnvp_fx16_traffic *traffic)
{
    const uint64_t end = cnnvp_minimum(first + run->shape->lanes, results);
    for (uint64_t result = first; result < end; ++result) {
        traffic->input_words += taps;
        traffic->output_words += tile->partial ? 4u : 1u;
        if (result == first || result % tile->plane_words == 0) /* a channel's kernel and bias, for all its lanes */
            traffic->weight_words += (tile->uses_k ? taps : 0) + (tile->bias ? 1u : 0);
        run->cost->operations[lanes_window_operator(tile)] += taps;
        run->cost->elements += taps;
    }
}

void lanes_window_cycle(const struct cnnvp_fx16_tile *tile, const struct lanes_shape *shape, struct lanes_cost *cost,
                        struct cnnvp_fx16_traffic *traffic)
{
    struct run run = {shape, cost};
    const uint64_t inputs = tile->uses_k && !tile->per_channel ? tile->in_channels : 1u;
    const uint64_t taps = inputs * tile->kx * tile->ky;
    const uint64_t channels = cnnvp_divide_up(tile->out_channels, shape->units); /* of a unit, the last one's fewer */
    *cost = (struct lanes_cost){0};
    *traffic = (struct cnnvp_fx16_traffic){.passes = 1};
    for (uint64_t first = 0; first < channels * tile->plane_words; first += shape->lanes) {
        for (uint64_t tap = 0; tap < taps; ++tap)
            beat(&run, 0);
        for (uint64_t before = 0; before < tile->out_channels; before += channels) /* of the units before this one */
            take_results(&run, tile, first, cnnvp_minimum(channels, tile->out_channels - before) * tile->plane_words,
                         taps, traffic);
    }
    traffic->input_cycles = traffic->weight_cycles = traffic->output_cycles = cost->cycles;
    clock(&run, shape->pipeline);
}
