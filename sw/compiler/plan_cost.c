/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model of tilings. Instructions issue in order (guest/pipeline.h): what a slice loads overlaps with the
 * calculation of the slice before and no more, and what remains of a step (post-operations, store) with the slices
 * behind it. Measured against the simulation: within 1 % for convolutions that calculation bounds on the NFU, some 10 % where
 * memory does; where the guest software is the slowest it is a guess.
 */
#include "plan_cost.h"

#define MEMORY_BYTES_A_CYCLE 11u /* one channel of DDR4-2400 at a 1 GHz accelerator, less what rows and refresh cost */
#define BURST_BYTES 64u
#define REQUEST_CYCLES 60u     /* latency of a transfer that nothing hides */
#define SLICE_CORE_CYCLES 1500u /* guest software for one slice: load, load, calculate */
#define STEP_CORE_CYCLES 2000u  /* and for the results of one step */
#define VECTOR_LANES 16u
#define DIVISION_BEATS 9u      /* of the vector unit for one set of lanes */
#define TRAFFIC_WEIGHT 8u      /* of the cycles that all traffic would take, this part counts */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bytes that a box of memory costs: rows that do not follow each other are read in whole bursts. */
static uint64_t box_bytes(uint64_t channels, uint64_t rows, uint64_t columns, const struct cnnvp_image_tensor *tensor)
{
    const uint64_t row = columns * CNNVP_PLAN_WORD_BYTES + BURST_BYTES - CNNVP_PLAN_WORD_BYTES; /* on average */
    if (columns >= tensor->width)
        return channels * ((rows - 1u) * columns * CNNVP_PLAN_WORD_BYTES + row);
    return channels * rows * row;
}

static uint64_t transfer_cycles(uint64_t bytes)
{
    return bytes != 0 ? REQUEST_CYCLES + bytes / MEMORY_BYTES_A_CYCLE : 0;
}

uint64_t cnnvp_plan_compute_cycles(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                                   uint32_t tiles)
{
    if (cnnvp_plan_has_weights(layer) || layer->op == CNNVP_OP_POOL)
        return limits->engine.kind->cycles(&limits->engine, layer, tiles);
    return (uint64_t)layer->out.channels * layer->out.height * layer->out.width / VECTOR_LANES;
}

/* Cycles of the vector unit behind an array's step: post-operations, the division of an average. */
static uint64_t post_cycles(const struct cnnvp_image_layer *layer, uint64_t words)
{
    if (!cnnvp_plan_has_weights(layer) && layer->op != CNNVP_OP_POOL)
        return 0;
    const uint64_t divisions = layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE ? DIVISION_BEATS : 0;
    return (layer->post_count + divisions) * words / VECTOR_LANES;
}

/* What one slice of a step takes, and its transfers. */
struct slice {
    uint64_t compute;
    uint64_t input, weights; /* loads; 0: what is wanted is there already */
    uint64_t post, store;    /* of a step */
};

/* What overlaps with a slice and what does not: with one half nothing does. */
static uint64_t slice_cycles(const struct cnnvp_plan_limits *limits, const struct slice *s, uint64_t input,
                             uint64_t more)
{
    const uint64_t beside = (limits->input_halves > 1u ? input : 0) + (limits->weight_halves > 1u ? s->weights : 0);
    const uint64_t behind = (limits->input_halves > 1u ? 0 : input) + (limits->weight_halves > 1u ? 0 : s->weights);
    return larger(s->compute, beside + more) + behind;
}

static uint64_t step_cycles(const struct cnnvp_plan_limits *limits, const struct cnnvp_plan_counts *counts,
                            const struct slice *s)
{
    const uint64_t inputs = counts->input_slices;
    const uint64_t slices = inputs * counts->output_slices;
    uint64_t sum = inputs * (counts->output_slices - 1u) * slice_cycles(limits, s, 0, 0);
    sum += (inputs - 1u) * slice_cycles(limits, s, s->input, 0);
    const uint64_t last = slice_cycles(limits, s, s->input, s->store / slices);
    return sum + larger(last, s->post != 0 ? s->post + REQUEST_CYCLES : 0);
}

struct cnnvp_plan_cost cnnvp_plan_cost_of(const struct cnnvp_image_layer *layer,
                                          const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const int weighted = cnnvp_plan_has_weights(layer);
    const int dense = layer->op == CNNVP_OP_FC;
    const uint64_t in_bytes = box_bytes(dense ? 1u : layer->tile_in,
                                        dense ? 1u : cnnvp_plan_input_rows(layer, layer->tile_h),
                                        dense ? layer->tile_in : cnnvp_plan_input_columns(layer, layer->tile_w),
                                        &layer->in) * (layer->op == CNNVP_OP_ADD ? 2u : 1u);
    const uint64_t blob_bytes =
        counts.blobs != 0 ? cnnvp_plan_blob_words(layer) * CNNVP_PLAN_WORD_BYTES + BURST_BYTES : 0;
    const uint64_t out_bytes = box_bytes(layer->group_out, layer->tile_h, layer->tile_w, &layer->out);
    const uint64_t steps = (uint64_t)counts.groups * counts.tiles;
    const uint64_t step_slices = (uint64_t)counts.input_slices * counts.output_slices;
    const uint64_t slices = steps * step_slices;
    /* One tile: the input slices stay where they are, from group to group. */
    const int input_stays = counts.tiles == 1 && counts.input_slices <= limits->input_halves &&
                            !cnnvp_plan_is_channelwise(layer);
    /* The blobs of a group stay from tile to tile, the only blob of a layer always. */
    const int weights_stay = (weighted ? step_slices : 1u) <= limits->weight_halves;
    const uint64_t weight_steps = !weights_stay ? steps : weighted ? counts.groups : 1u;
    struct slice s = {
        .compute = cnnvp_plan_compute_cycles(layer, limits, counts.tiles) / slices,
        .input = input_stays ? 0 : transfer_cycles(in_bytes),
        .weights = transfer_cycles(blob_bytes),
        .post = post_cycles(layer, (uint64_t)layer->group_out * layer->tile_h * layer->tile_w),
        .store = transfer_cycles(out_bytes),
    };
    const uint64_t ends = transfer_cycles(in_bytes) + s.weights + s.post + s.store;
    struct cnnvp_plan_cost cost = {.cycles = weight_steps * step_cycles(limits, &counts, &s)};
    s.weights = 0;
    cost.cycles += (steps - weight_steps) * step_cycles(limits, &counts, &s);
    cost.bytes = (input_stays ? counts.input_slices : steps * counts.input_slices) * in_bytes + steps * out_bytes;
    cost.bytes += (!weights_stay ? slices : weighted ? counts.blobs : 1u) * blob_bytes;
    const uint64_t core = slices * SLICE_CORE_CYCLES + steps * STEP_CORE_CYCLES;
    cost.cycles = larger(cost.cycles, larger(cost.bytes / MEMORY_BYTES_A_CYCLE, core)) + ends;
    return cost;
}

uint64_t cnnvp_plan_preference(const struct cnnvp_plan_cost *cost)
{
    return cost->cycles + cost->bytes / MEMORY_BYTES_A_CYCLE / TRAFFIC_WEIGHT;
}
