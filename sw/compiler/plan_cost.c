/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_cost.h"

#define WORD_BYTES 2u

/* ---- the vector unit ---- */

static uint64_t beats(const struct cnnvp_plan_timing *timing, uint64_t words)
{
    return cnnvp_divide_up(words, timing->lanes);
}

static struct cnnvp_plan_sweeps sweeps(const struct cnnvp_plan_timing *timing, uint64_t instructions, uint64_t cycles)
{
    return (struct cnnvp_plan_sweeps){instructions, instructions * (cycles + timing->vector_pipeline)};
}

static uint64_t levels_of(uint64_t lanes)
{
    uint64_t levels = 0;
    while (UINT64_C(1) << levels < lanes)
        ++levels;
    return levels;
}

/* Cycles of words that stream through a port of so many of them a cycle (0: as many as wanted) and, beside it, through
 * the lanes. */
static uint64_t streamed(uint64_t words, uint32_t port, uint64_t cycles)
{
    return port == 0 ? cycles : later(cycles, cnnvp_divide_up(words, port));
}

/* Sums of `count` words each, as many as there are units at once: cycles of one beat, and of one sum besides. */
static uint64_t reductions(const struct cnnvp_plan_timing *timing, uint64_t groups, uint64_t count, uint64_t beat,
                           uint64_t besides)
{
    return cnnvp_divide_up(groups, timing->units) * (beats(timing, count) * beat + besides);
}

static struct cnnvp_plan_sweeps softmax_sweeps(const struct cnnvp_image_layer *layer,
                                               const struct cnnvp_plan_timing *timing,
                                               const struct cnnvp_plan_extent *extent)
{
    const uint64_t levels = 2u * levels_of(timing->lanes);
    const uint64_t beat = 3u + timing->division;
    const int position = layer->in.height == 1 && layer->in.width == 1;
    uint64_t instructions = extent->channels;
    uint64_t count = extent->columns;
    uint64_t groups = extent->rows;
    if (layer->axis == CNNVP_AXIS_CHANNELS) {
        instructions = extent->rows;
        count = extent->channels;
        groups = extent->columns;
    } else if (layer->axis == CNNVP_AXIS_ROWS) {
        count = extent->rows;
        groups = extent->columns;
    } else if (position) {
        instructions = groups = 1;
        count = extent->channels;
    }
    const uint64_t cycles = reductions(timing, groups, count, beat, levels);
    struct cnnvp_plan_sweeps all = sweeps(timing, instructions, streamed(groups * count, timing->read_port, cycles));
    if (layer->axis == CNNVP_AXIS_CHANNELS || layer->axis == CNNVP_AXIS_ROWS) {
        const struct cnnvp_plan_sweeps moved = sweeps(timing, instructions, beats(timing, groups * count));
        all.instructions += moved.instructions;
        all.cycles += moved.cycles;
    }
    return all;
}

static struct cnnvp_plan_sweeps norm_sweeps(const struct cnnvp_image_layer *layer,
                                            const struct cnnvp_plan_timing *timing,
                                            const struct cnnvp_plan_extent *extent)
{
    const uint64_t plane = (uint64_t)extent->rows * extent->columns;
    const uint64_t all = extent->channels * plane;
    const uint64_t words = streamed(all, timing->read_port, timing->units > 1u
                                                                ? reductions(timing, extent->channels, plane, 1, 0)
                                                                : beats(timing, all));
    if (layer->norm != CNNVP_NORM_DATA)
        return sweeps(timing, 1, words);
    const uint64_t divided = levels_of(timing->lanes) + 1u + timing->division;
    const uint64_t mean = reductions(timing, extent->channels, plane, 1, divided);
    const uint64_t variance = reductions(timing, extent->channels, plane, 1, divided + 1u + timing->division);
    const uint64_t cycles = words + streamed(all, timing->read_port, mean) +
                            streamed(all, timing->read_port, variance) + 3u * beats(timing, extent->channels);
    return (struct cnnvp_plan_sweeps){6, cycles + 6u * timing->vector_pipeline};
}

/* Instructions that copy a box whose dimensions change places: one where planes, or rows, follow each other at one
 * distance, else one a channel (push_elementwise in guest/layers.c). */
static uint64_t turned_instructions(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_extent *extent)
{
    const uint64_t sizes[3] = {extent->channels, extent->rows, extent->columns};
    uint64_t in[3] = {1, 1, 1};
    for (uint32_t i = 0; i < 3; ++i)
        in[layer->from[i]] = sizes[i];
    const uint64_t strides[3] = {in[1] * in[2], in[2], 1};
    const uint64_t channel = strides[layer->from[0]], row = strides[layer->from[1]], column = strides[layer->from[2]];
    const int planes = sizes[1] == 1 || row == sizes[2] * column;
    return planes || channel == sizes[1] * row ? 1u : sizes[0];
}

struct cnnvp_plan_sweeps cnnvp_plan_main_sweeps(const struct cnnvp_image_layer *layer,
                                                const struct cnnvp_plan_timing *timing,
                                                const struct cnnvp_plan_extent *extent)
{
    const uint64_t words = (uint64_t)extent->channels * extent->rows * extent->columns;
    const int divides = layer->op == CNNVP_OP_ADD && layer->arithmetic == CNNVP_ARITHMETIC_DIV;
    const uint64_t instructions = layer->permuted != 0 ? turned_instructions(layer, extent) : 1u;
    const uint64_t each = beats(timing, words / instructions) * (divides ? 1u + timing->division : 1u);
    switch (layer->op) {
    case CNNVP_OP_SOFTMAX:
        return softmax_sweeps(layer, timing, extent);
    case CNNVP_OP_NORM:
        return norm_sweeps(layer, timing, extent);
    default:
        return sweeps(timing, instructions, streamed(words / instructions, timing->read_port, each));
    }
}

/* Stretches of a row whose windows have as many taps within the limits: at most one for each position near an edge. */
static uint32_t stretches_of(const struct cnnvp_image_layer *layer, uint32_t columns)
{
    const int64_t first = -(int64_t)layer->pad_left;
    const int64_t last = ((int64_t)layer->out.width - 1) * layer->sx - layer->pad_left + layer->kx;
    const int64_t left = first < layer->count_left ? (layer->count_left - first + layer->sx - 1) / layer->sx : 0;
    const int64_t right = last > layer->count_right ? (last - layer->count_right + layer->sx - 1) / layer->sx : 0;
    return (uint32_t)sooner((uint64_t)(left + right + 1), columns);
}

struct cnnvp_plan_sweeps cnnvp_plan_post_sweeps(const struct cnnvp_image_layer *layer,
                                                const struct cnnvp_plan_timing *timing,
                                                const struct cnnvp_plan_extent *extent)
{
    const uint64_t words = (uint64_t)extent->channels * extent->rows * extent->columns;
    /* The first one of an activation layer is what it calculates. */
    const uint32_t done = layer->op == CNNVP_OP_ACTIVATION && layer->post_count != 0 ? 1u : 0u;
    const uint64_t cycles = streamed(words, timing->sweep_port, beats(timing, words));
    struct cnnvp_plan_sweeps all = sweeps(timing, layer->post_count - done, cycles);
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE) {
        const uint64_t rows = layer->by_position != 0 ? extent->rows : 1u;
        const uint64_t instructions = layer->by_position != 0 ? rows * stretches_of(layer, extent->columns) : 1u;
        const struct cnnvp_plan_sweeps divisions =
            sweeps(timing, instructions, beats(timing, words / instructions) * (1u + timing->division));
        all.instructions += divisions.instructions;
        all.cycles += divisions.cycles;
    }
    return all;
}

uint64_t cnnvp_plan_slice_bytes(const struct cnnvp_image_layer *layer, uint32_t depth, uint32_t outputs, int last)
{
    const uint64_t taps = layer->op == CNNVP_OP_CONV ? (uint64_t)layer->kx * layer->ky : 1u;
    const uint64_t pairs = (uint64_t)outputs * (cnnvp_plan_is_channelwise(layer) ? 1u : depth);
    return WORD_BYTES * (pairs * taps + (last && layer->bias != 0 ? outputs : 0) + cnnvp_plan_table_words(layer));
}

uint64_t cnnvp_plan_step_core(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing)
{
    const int window = layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL;
    return timing->step_core + (window ? timing->window_core : 0);
}

/* Later layers live on the core's lead over what calculates, up to the most that there can be: work of the core that
 * leaves it with less counts besides, LEAD_COST of 1024 where it is not ahead, half of that where it is by LEAD_PS.
 * Measured: with nothing, layers use up a lead that others need (LeNet-5 on window: 10 % slower). */
#define LEAD_PS UINT64_C(1000000)
#define LEAD_COST 600u

void cnnvp_plan_weigh(struct cnnvp_plan_time *time, const struct cnnvp_plan_timing *timing, uint64_t lead)
{
    const uint64_t reached = lead + time->ps;
    const uint64_t left = sooner(reached > time->core_ps ? reached - time->core_ps : 0, timing->most_lead);
    const uint64_t part = LEAD_PS * LEAD_COST / (LEAD_PS + lead);
    time->cost_ps = time->ps + sooner(time->core_ps, timing->most_lead - left) / 1024u * part;
}

/* The part of traffic that is paid for like time: it costs energy. */
#define MEMORY_PRICE_PART 40u

uint64_t cnnvp_plan_price(const struct cnnvp_plan_time *time)
{
    return time->cost_ps + time->memory_ps / MEMORY_PRICE_PART + time->core_ps / CNNVP_PLAN_CORE_PRICE_PART;
}

/* What traffic and the core's work count for among ways that are not dearer; of the core, at least and besides what
 * later layers need of it. */
#define MEMORY_PART 3u
#define CORE_LEAST_PART 4u
#define CORE_PART 8u

uint64_t cnnvp_plan_preference(const struct cnnvp_plan_time *time)
{
    const uint64_t needed = time->cost_ps - time->ps + time->core_ps / CORE_PART;
    const uint64_t core = later(needed, time->core_ps / CORE_LEAST_PART);
    return time->ps + core + time->memory_ps / MEMORY_PART;
}

/* ---- bound ---- */

static uint64_t up_to(uint64_t count, uint64_t edge)
{
    return cnnvp_divide_up(count, edge) * edge;
}

/* Instructions and cycles of a whole tile's calculation, on the array or the vector unit. */
static struct cnnvp_plan_sweeps tile_sweeps(const struct cnnvp_image_layer *layer,
                                            const struct cnnvp_plan_limits *limits,
                                            const struct cnnvp_plan_extent *extent, int single)
{
    const int weighted = cnnvp_plan_has_weights(layer);
    if (!weighted && layer->op != CNNVP_OP_POOL)
        return cnnvp_plan_main_sweeps(layer, &limits->timing, extent);
    const struct cnnvp_engine_slice slice = {.rows = extent->rows,
                                             .columns = extent->columns,
                                             .in = weighted ? layer->tile_in : extent->channels,
                                             .out = weighted ? layer->tile_out : extent->channels,
                                             .first = single,
                                             .last = single};
    return (struct cnnvp_plan_sweeps){1, cnnvp_engine_cycles(&limits->engine, layer, &slice)};
}

/* What so many whole tiles calculate of the layer's own, in 1024ths: arrays count by whole edges. */
static uint64_t whole_part(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine,
                           const struct cnnvp_plan_extent *extent, uint64_t steps)
{
    const struct cnnvp_image_tensor *out = &layer->out;
    const struct cnnvp_engine_edges edges = engine->kind->edges(engine, layer, 1);
    return up_to(out->channels, edges.out) * up_to(out->height, edges.rows) * up_to(out->width, edges.cols) * 1024u /
           (steps * up_to(extent->channels, edges.out) * up_to(extent->rows, edges.rows) *
            up_to(extent->columns, edges.cols));
}

struct cnnvp_plan_time cnnvp_plan_bound(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const int weighted = cnnvp_plan_has_weights(layer);
    const int channelwise = cnnvp_plan_is_channelwise(layer);
    const struct cnnvp_plan_extent extent = {layer->group_out, layer->tile_h, layer->tile_w};
    const uint64_t words = (uint64_t)extent.channels * extent.rows * extent.columns;
    const uint64_t steps = (uint64_t)counts.groups * counts.tiles;
    const uint64_t slices = counts.tiles * (uint64_t)(weighted ? counts.blobs : counts.groups);
    const int array = weighted || layer->op == CNNVP_OP_POOL;
    const struct cnnvp_plan_sweeps sweeps = tile_sweeps(layer, limits, &extent, counts.input_slices == 1);
    uint64_t input = cnnvp_plan_operand_ps(layer, timing, &layer->in, &extent, layer->tile_in);
    if (layer->op == CNNVP_OP_ADD)
        input += cnnvp_plan_operand_ps(layer, timing, &layer->in2, &extent, layer->tile_in);
    const uint64_t blob = counts.blobs != 0 ? cnnvp_plan_weights_ps(timing, cnnvp_plan_blob_bytes(layer)) : 0;
    const uint64_t store = cnnvp_plan_store_ps(layer, timing, &extent);
    const uint32_t group_blobs = weighted ? counts.input_slices * counts.output_slices : 1u;
    const int inputs_stay = counts.tiles * counts.input_slices <= limits->input_halves && !channelwise;
    const uint64_t inputs = inputs_stay ? counts.tiles * counts.input_slices : steps * counts.input_slices;
    const uint64_t blobs = group_blobs > limits->weight_halves ? slices : weighted ? counts.blobs : 1u;
    const uint64_t loads = inputs * input + blobs * blob;
    const uint64_t stores = steps * store;
    /* Tiles at the edges are smaller. */
    const uint64_t part =
        (uint64_t)layer->out.channels * layer->out.height * layer->out.width * 1024u / (steps * words);
    const uint64_t whole = array ? whole_part(layer, &limits->engine, &extent, steps) : part;
    const uint64_t compute = slices * sweeps.cycles * timing->cycle / 1024u * whole;
    const uint64_t shared = later(loads, stores) + cnnvp_plan_shared_ps(timing, sooner(loads, stores));
    const uint64_t beside = later(compute, shared / 1024u * part);
    const uint64_t behind = compute + (loads + stores) / 1024u * part;
    const struct cnnvp_plan_sweeps posts = cnnvp_plan_post_sweeps(layer, timing, &extent);
    const uint64_t step_core =
        cnnvp_plan_step_core(layer, timing) + timing->store_core + posts.instructions * timing->post_core;
    const uint64_t core = (inputs + blobs) * timing->load_core + slices * sweeps.instructions * timing->calculate_core +
                          steps * step_core + timing->layer_core;
    const uint64_t vector = steps * posts.cycles * timing->cycle / 1024u * part;
    const uint64_t ends = input + blob + store;
    const uint64_t core_ps = core * timing->core;
    const uint64_t beyond = core_ps > timing->lead ? core_ps - timing->lead : 0;
    struct cnnvp_plan_time time = {
        .ps = later(ends + (timing->strict ? behind + vector : later(beside, vector)), beyond),
        .compute_ps = compute,
        .memory_ps = (loads + stores) / 1024u * part,
        .core_ps = core_ps,
    };
    cnnvp_plan_weigh(&time, timing, timing->lead);
    return time;
}
