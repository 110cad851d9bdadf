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

struct cnnvp_plan_sweeps cnnvp_plan_main_sweeps(const struct cnnvp_image_layer *layer,
                                                const struct cnnvp_plan_timing *timing,
                                                const struct cnnvp_plan_extent *extent)
{
    const uint64_t words = (uint64_t)extent->channels * extent->rows * extent->columns;
    const int divides = layer->op == CNNVP_OP_ADD && layer->arithmetic == CNNVP_ARITHMETIC_DIV;
    switch (layer->op) {
    case CNNVP_OP_SOFTMAX:
        return softmax_sweeps(layer, timing, extent);
    case CNNVP_OP_NORM:
        return norm_sweeps(layer, timing, extent);
    default:
        return sweeps(timing, 1, streamed(words, timing->read_port, beats(timing, words) *
                                                                       (divides ? 1u + timing->division : 1u)));
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

/* ---- sums ---- */

/* A dimension in tiles: whole ones, and the rest. */
struct tiles {
    uint32_t size[2];
    uint32_t count[2];
};

static struct tiles tiles_of(uint32_t total, uint32_t tile)
{
    return (struct tiles){{tile, total % tile}, {total / tile, total % tile != 0 ? 1u : 0}};
}

/* Sums in the making: times in ps, calculation's in cycles, instructions in numbers. */
struct sums {
    uint64_t compute, loaded, stored;
    uint64_t loads, slices, posts, steps;
};

/* One sort of slices of a step's inputs: how many, which of them is first, last. */
struct depth {
    uint32_t channels;
    uint64_t count;
    int first, last;
};

/* The slices of the inputs in at most three sorts; the number of sorts. */
static unsigned depths_of(uint32_t inputs, uint32_t tile, struct depth sorts[3])
{
    const uint32_t count = (uint32_t)cnnvp_divide_up(inputs, tile);
    const uint32_t rest = inputs - (count - 1u) * tile;
    sorts[0] = (struct depth){count == 1 ? rest : tile, 1, 1, count == 1};
    if (count == 1)
        return 1;
    sorts[1] = (struct depth){rest, 1, 0, 1};
    sorts[2] = (struct depth){tile, count - 2u, 0, 0};
    return count == 2 ? 2 : 3;
}

/* What the layer's tiles load again and again. */
struct habits {
    int inputs_stay; /* all groups use the same inputs, and find them */
    int blobs_stay;  /* a group's tiles find its weights */
    int first_group;
    int first_tiles; /* of each group */
};

/* Steps alike: so many tiles of each of the groups. */
static void add_sliced(struct sums *sums, const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                       const struct cnnvp_plan_extent *extent, uint64_t groups, uint64_t tiles,
                       const struct habits *habits)
{
    const uint64_t count = groups * tiles;
    const uint32_t inputs = cnnvp_plan_is_channelwise(layer) ? extent->channels : cnnvp_engine_inputs(layer);
    const struct tiles outputs = tiles_of(extent->channels, layer->tile_out);
    struct depth depths[3];
    const unsigned sorts = depths_of(inputs, layer->tile_in, depths);
    for (unsigned d = 0; d < sorts; ++d) {
        const struct depth *depth = &depths[d];
        for (unsigned o = 0; o < 2; ++o) {
            const uint64_t number = count * depth->count * outputs.count[o];
            if (number == 0)
                continue;
            const struct cnnvp_engine_slice slice = {.rows = extent->rows, .columns = extent->columns,
                                                     .in = depth->channels, .out = outputs.size[o],
                                                     .first = depth->first, .last = depth->last};
            sums->compute += number * cnnvp_engine_cycles(&limits->engine, layer, &slice);
            sums->slices += number;
            if (habits->blobs_stay && !habits->first_tiles)
                continue;
            const uint64_t blobs = habits->blobs_stay ? number / tiles : number;
            const uint64_t bytes = cnnvp_plan_slice_bytes(layer, depth->channels, outputs.size[o], depth->last);
            sums->loaded += blobs * cnnvp_plan_weights_ps(&limits->timing, bytes);
            sums->loads += blobs;
        }
        if (habits->inputs_stay && !habits->first_group)
            continue;
        const uint64_t number = depth->count * (habits->inputs_stay ? tiles : count);
        sums->loaded += number * cnnvp_plan_operand_ps(layer, &limits->timing, &layer->in, extent, depth->channels);
        sums->loads += number;
    }
}

static void add_whole(struct sums *sums, const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                      const struct cnnvp_plan_extent *extent, uint64_t count)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_engine_slice slice = {.rows = extent->rows, .columns = extent->columns,
                                             .in = extent->channels, .out = extent->channels,
                                             .first = 1, .last = 1};
    if (layer->op == CNNVP_OP_POOL) {
        sums->compute += count * cnnvp_engine_cycles(&limits->engine, layer, &slice);
        sums->slices += count;
    } else {
        const struct cnnvp_plan_sweeps sweeps = cnnvp_plan_main_sweeps(layer, timing, extent);
        sums->compute += count * sweeps.cycles;
        sums->slices += count * sweeps.instructions;
    }
    sums->loaded += count * cnnvp_plan_operand_ps(layer, timing, &layer->in, extent, extent->channels);
    sums->loads += count;
    if (layer->op == CNNVP_OP_ADD) {
        sums->loaded += count * cnnvp_plan_operand_ps(layer, timing, &layer->in2, extent, extent->channels);
        sums->loads += count;
    }
}

static void add_group(struct sums *sums, const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                      uint32_t channels, uint64_t groups, struct habits habits)
{
    const struct tiles rows = tiles_of(layer->out.height, layer->tile_h);
    const struct tiles columns = tiles_of(layer->out.width, layer->tile_w);
    const struct cnnvp_plan_timing *timing = &limits->timing;
    for (unsigned r = 0; r < 2; ++r) {
        for (unsigned c = 0; c < 2; ++c) {
            const uint64_t tiles = (uint64_t)rows.count[r] * columns.count[c];
            const uint64_t count = groups * tiles;
            const struct cnnvp_plan_extent extent = {channels, rows.size[r], columns.size[c]};
            if (count == 0)
                continue;
            if (cnnvp_plan_has_weights(layer))
                add_sliced(sums, layer, limits, &extent, groups, tiles, &habits);
            else
                add_whole(sums, layer, limits, &extent, count);
            habits.first_tiles = 0;
            sums->steps += count;
            sums->stored += count * cnnvp_plan_store_ps(layer, timing, &extent);
            sums->posts += count * cnnvp_plan_post_sweeps(layer, timing, &extent).instructions;
        }
    }
}

struct cnnvp_plan_time cnnvp_plan_totals(const struct cnnvp_image_layer *layer,
                                         const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const struct tiles groups = tiles_of(layer->out.channels, layer->group_out);
    const int weighted = cnnvp_plan_has_weights(layer);
    struct habits habits = {
        .inputs_stay = counts.tiles * counts.input_slices <= limits->input_halves && !cnnvp_plan_is_channelwise(layer),
        .blobs_stay = weighted && counts.input_slices * counts.output_slices <= limits->weight_halves,
        .first_group = 1,
        .first_tiles = 1,
    };
    struct sums sums = {0};
    for (unsigned g = 0; g < 2; ++g) {
        if (groups.count[g] == 0)
            continue;
        add_group(&sums, layer, limits, groups.size[g], groups.count[g], habits);
        habits.first_group = 0;
    }
    if (!weighted && counts.blobs != 0) {
        sums.loaded += cnnvp_plan_weights_ps(timing, cnnvp_plan_blob_bytes(layer));
        ++sums.loads;
    }
    const uint64_t step_core = cnnvp_plan_step_core(layer, timing) + timing->store_core;
    const uint64_t core = sums.loads * timing->load_core + sums.slices * timing->calculate_core +
                          sums.posts * timing->post_core + sums.steps * step_core + timing->layer_core;
    return (struct cnnvp_plan_time){
        .compute_ps = sums.compute * timing->cycle,
        .memory_ps = sums.loaded + sums.stored,
        .loaded_ps = sums.loaded,
        .core_ps = core * timing->core,
    };
}

struct cnnvp_plan_time cnnvp_plan_step(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                                       const struct cnnvp_plan_extent *extent)
{
    const struct habits habits = {.first_group = 1};
    struct sums sums = {0};
    add_sliced(&sums, layer, limits, extent, 1, 1, &habits);
    return (struct cnnvp_plan_time){.compute_ps = sums.compute * limits->timing.cycle, .memory_ps = sums.loaded};
}

/* Later layers live on the core's lead over what calculates, up to the most that there can be: work of the core that
 * leaves it with less counts besides, LEAD_COST of 1024 where it is not ahead, half of that where it is by LEAD_PS.
 * Measured: with nothing, layers use up a lead that others need (LeNet-5 on window: 10 % slower). */
#define LEAD_PS UINT64_C(1000000)
#define LEAD_COST 600u

void cnnvp_plan_weigh(struct cnnvp_plan_time *time, const struct cnnvp_plan_timing *timing)
{
    const uint64_t lead = timing->lead + time->ps;
    const uint64_t left = sooner(lead > time->core_ps ? lead - time->core_ps : 0, timing->most_lead);
    const uint64_t part = LEAD_PS * LEAD_COST / (LEAD_PS + timing->lead);
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

struct cnnvp_plan_time cnnvp_plan_least(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    struct cnnvp_plan_time time = cnnvp_plan_totals(layer, limits);
    const uint64_t transfers = later(time.loaded_ps, time.memory_ps - time.loaded_ps);
    time.ps = timing->strict ? time.compute_ps + later(time.loaded_ps, time.memory_ps / 2u)
                             : later(time.compute_ps, transfers);
    if (time.core_ps > timing->lead)
        time.ps = later(time.ps, time.core_ps - timing->lead);
    cnnvp_plan_weigh(&time, timing);
    return time;
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
    cnnvp_plan_weigh(&time, timing);
    return time;
}
