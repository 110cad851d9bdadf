/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#define WORD_BYTES 2u
#define SUM_BYTES 8u
#define NORM_VECTORS 5u /* of one word a channel: mean, 1 / sigma, scale, product, offset */

/* The estimate's constants. They decide which of several fitting tilings is taken, nothing else. */
#define BURST_BYTES 64u
#define SLICE_CORE_CYCLES 1000u /* guest software for one slice: load, load, calculate */
#define STEP_CORE_CYCLES 1500u  /* and for the results of one step */

#define CANDIDATES 24

struct candidates {
    uint32_t values[CANDIDATES];
    size_t count;
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1u) / b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* total, then its parts in 2, 3, 4, 6, 8, 12 ..., each rounded up to the multiple, down to the multiple itself. */
static struct candidates parts_of(uint32_t total, uint32_t multiple)
{
    struct candidates list = {.values = {total}, .count = 1};
    uint32_t parts = 2;
    for (uint32_t last = total; last > multiple && list.count < CANDIDATES;) {
        const uint32_t value = divide_up(divide_up(total, parts), multiple) * multiple;
        if (value < last) {
            list.values[list.count++] = value;
            last = value;
        }
        parts = parts == 2 ? 3 : (parts & (parts - 1)) == 0 ? parts / 2 * 3 : parts / 3 * 4;
        if (parts > total || parts > 1u << 30)
            parts = total;
    }
    list.values[list.count - 1] = smaller(list.values[list.count - 1], total > multiple ? multiple : total);
    return list;
}

static int has_weights(const struct cnnvp_image_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

/* Input and output channels are one: what a group gives depends on as many input channels. */
static int is_channelwise(const struct cnnvp_image_layer *layer)
{
    return !has_weights(layer) || (layer->op == CNNVP_OP_CONV && layer->depthwise != 0);
}

uint32_t cnnvp_plan_table_words(const struct cnnvp_image_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind == CNNVP_POST_TABLE)
            return layer->posts[i].table_words;
    return 0;
}

/* Rows and columns of the window that are swept at once. */
static uint32_t window_rows(const struct cnnvp_image_layer *layer)
{
    return layer->tile_ky != 0 ? layer->tile_ky : layer->ky;
}

static uint32_t window_columns(const struct cnnvp_image_layer *layer)
{
    return layer->tile_kx != 0 ? layer->tile_kx : layer->kx;
}

static uint64_t input_rows(const struct cnnvp_image_layer *layer, uint32_t rows)
{
    return (uint64_t)(rows - 1u) * layer->sy + (uint64_t)(window_rows(layer) - 1u) * layer->dy + 1u;
}

static uint64_t input_columns(const struct cnnvp_image_layer *layer, uint32_t columns)
{
    return (uint64_t)(columns - 1u) * layer->sx + (uint64_t)(window_columns(layer) - 1u) * layer->dx + 1u;
}

struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_image_layer *layer)
{
    struct cnnvp_plan_counts counts = {.input_slices = 1, .output_slices = 1};
    counts.groups = divide_up(layer->out.channels, layer->group_out);
    counts.tiles = divide_up(layer->out.height, layer->tile_h) * divide_up(layer->out.width, layer->tile_w);
    if (!is_channelwise(layer)) {
        counts.input_slices = divide_up(cnnvp_engine_inputs(layer), layer->tile_in);
        counts.output_slices = divide_up(layer->group_out, layer->tile_out);
    }
    const uint32_t rest = layer->out.channels - (counts.groups - 1u) * layer->group_out;
    if (has_weights(layer))
        counts.blobs = counts.input_slices *
                       ((counts.groups - 1u) * counts.output_slices + divide_up(rest, layer->tile_out));
    else
        counts.blobs = layer->op == CNNVP_OP_NORM || cnnvp_plan_table_words(layer) != 0 ? 1 : 0;
    return counts;
}

static uint64_t blob_words(const struct cnnvp_image_layer *layer)
{
    uint64_t words = cnnvp_plan_table_words(layer);
    const uint64_t taps = (uint64_t)layer->kx * layer->ky;
    if (has_weights(layer) && layer->bias != 0)
        words += layer->tile_out;
    if (layer->op == CNNVP_OP_CONV)
        words += layer->depthwise != 0 ? layer->tile_out * taps : (uint64_t)layer->tile_out * layer->tile_in * taps;
    else if (layer->op == CNNVP_OP_FC)
        words += (uint64_t)layer->tile_out * layer->tile_in;
    else if (layer->op == CNNVP_OP_NORM)
        words += 2u * (uint64_t)layer->in.channels;
    return words;
}

static int is_swept_in_parts(const struct cnnvp_image_layer *layer)
{
    return window_rows(layer) < layer->ky || window_columns(layer) < layer->kx;
}

struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine)
{
    const uint64_t plane = (uint64_t)layer->tile_h * layer->tile_w;
    const uint64_t words = layer->group_out * plane;
    struct cnnvp_plan_use use = {.weight_bytes = blob_words(layer) * WORD_BYTES};
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_POOL:
        use.input_bytes =
            layer->tile_in * input_rows(layer, layer->tile_h) * input_columns(layer, layer->tile_w) * WORD_BYTES;
        break;
    case CNNVP_OP_FC:
        use.input_bytes = (uint64_t)layer->tile_in * WORD_BYTES;
        break;
    case CNNVP_OP_ADD:
        use.input_bytes = 2u * words * WORD_BYTES;
        break;
    default:
        use.input_bytes = words * WORD_BYTES;
        break;
    }
    const int sums = (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE) ||
                     (has_weights(layer) && cnnvp_plan_counts_of(layer).input_slices > 1) ||
                     engine->kind->keeps_sums(engine, layer);
    use.output_bytes = words * (sums ? SUM_BYTES : WORD_BYTES);
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE && layer->by_position != 0)
        use.output_bytes += words * WORD_BYTES;
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX && is_swept_in_parts(layer))
        use.output_bytes += use.output_bytes;
    if (layer->op == CNNVP_OP_SOFTMAX && layer->axis != CNNVP_AXIS_LAST)
        use.output_bytes += words * WORD_BYTES;
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA)
        use.output_bytes += NORM_VECTORS * (uint64_t)layer->group_out * WORD_BYTES;
    return use;
}

/* ---- estimate ---- */

/* Bytes that a box of memory costs: rows that do not follow each other are read in whole bursts. */
static uint64_t box_bytes(uint64_t channels, uint64_t rows, uint64_t columns, const struct cnnvp_image_tensor *tensor)
{
    const uint64_t row = columns * WORD_BYTES;
    if (columns >= tensor->width)
        return channels * (rows * row + BURST_BYTES);
    return channels * rows * ((row + BURST_BYTES) / BURST_BYTES * BURST_BYTES);
}

/* Cycles of the unit that does the work. */
static uint64_t compute_cycles(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                               uint32_t tiles)
{
    if (has_weights(layer) || layer->op == CNNVP_OP_POOL)
        return limits->engine.kind->cycles(&limits->engine, layer, tiles);
    return (uint64_t)layer->out.channels * layer->out.height * layer->out.width / limits->timing.lanes;
}

static uint64_t largest3(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t ab = a > b ? a : b;
    return ab > c ? ab : c;
}

/* Cycles of the vector unit behind an array's step: post-operations, the division of an average. */
static uint64_t post_cycles(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing,
                            uint64_t words)
{
    if (!has_weights(layer) && layer->op != CNNVP_OP_POOL)
        return 0;
    const int divides = layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE;
    return (layer->post_count + (divides ? timing->division_beats : 0)) * words / timing->lanes;
}

static uint64_t memory_cycles(const struct cnnvp_plan_timing *timing, uint64_t bytes)
{
    return bytes * 1000u / timing->memory_bytes;
}

/* Cycles of the layer, roughly. */
static uint64_t estimate(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const uint64_t compute = compute_cycles(layer, limits, counts.tiles);
    const uint64_t rows = layer->op == CNNVP_OP_FC ? 1 : input_rows(layer, layer->tile_h);
    const uint64_t columns = layer->op == CNNVP_OP_FC ? layer->tile_in : input_columns(layer, layer->tile_w);
    const uint64_t depth = layer->op == CNNVP_OP_FC ? 1 : layer->tile_in;
    const uint64_t operands = layer->op == CNNVP_OP_ADD ? 2 : 1;
    const uint64_t slice_in = operands * box_bytes(depth, rows, columns, &layer->in);
    const uint64_t blob = counts.blobs != 0 ? blob_words(layer) * WORD_BYTES + BURST_BYTES : 0;
    const uint64_t step_out = box_bytes(layer->group_out, layer->tile_h, layer->tile_w, &layer->out);
    const uint64_t steps = (uint64_t)counts.groups * counts.tiles;
    const uint64_t slices = steps * counts.input_slices * counts.output_slices;
    uint64_t input_loads = steps * counts.input_slices;
    if (counts.tiles == 1 && counts.input_slices <= limits->input_halves && !is_channelwise(layer))
        input_loads = counts.input_slices;
    uint64_t blob_loads = slices;
    const uint32_t group_blobs = has_weights(layer) ? counts.input_slices * counts.output_slices : 1u;
    if (group_blobs <= limits->weight_halves)
        blob_loads = has_weights(layer) ? counts.blobs : 1u;
    const uint64_t memory = memory_cycles(timing, input_loads * slice_in + blob_loads * blob + steps * step_out);
    const uint64_t core = (slices * SLICE_CORE_CYCLES + steps * STEP_CORE_CYCLES) * timing->core_cycles / 1000u;
    const uint64_t step_post = post_cycles(layer, timing, (uint64_t)layer->group_out * layer->tile_h * layer->tile_w);
    /* What nothing hides: the first step's loads, the last one's post-operations and store. */
    const uint64_t ends = memory_cycles(timing, slice_in + blob + step_out) + step_post + 3u * timing->request_cycles;
    /* Traffic counts a little where calculation hides it: it costs energy, and two layers share the memory for a while.
     */
    const uint64_t units = compute > steps * step_post ? compute : steps * step_post;
    const uint64_t cost = largest3(units, memory, core) + ends + slices * 10u + memory / 8u;
    /* Several input slices keep 64-bit partial sums: only where that is clearly better. */
    return counts.input_slices > 1 ? cost + cost / 4u : cost;
}

/* ---- search ---- */

struct search {
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_image_layer *layer; /* tiles under test */
    struct cnnvp_image_layer best;
    uint64_t best_cost;
    int found;
};

static int fits(const struct search *search)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(search->layer, &search->limits->engine);
    return use.input_bytes <= search->limits->input_bytes && use.weight_bytes <= search->limits->weight_bytes &&
           use.output_bytes <= search->limits->output_bytes;
}

static void consider(struct search *search)
{
    if (!fits(search))
        return;
    const uint64_t cost = estimate(search->layer, search->limits);
    if (search->found && cost >= search->best_cost)
        return;
    search->found = 1;
    search->best = *search->layer;
    search->best_cost = cost;
}

/* All slices of the group and the inputs at the tile that is set. */
static void consider_slices(struct search *search, const struct candidates *inputs, uint32_t out_multiple)
{
    struct cnnvp_image_layer *layer = search->layer;
    if (is_channelwise(layer)) {
        layer->tile_in = layer->tile_out = layer->group_out;
        consider(search);
        return;
    }
    const struct candidates outputs = parts_of(layer->group_out, out_multiple);
    for (size_t i = 0; i < inputs->count; ++i) {
        layer->tile_in = inputs->values[i];
        for (size_t o = 0; o < outputs.count; ++o) {
            layer->tile_out = outputs.values[o];
            consider(search);
        }
    }
}

static void consider_all(struct search *search, int least)
{
    struct cnnvp_image_layer *layer = search->layer;
    const int softmax_channels = layer->out.height == 1 && layer->out.width == 1;
    const struct cnnvp_engine *engine = &search->limits->engine;
    const struct cnnvp_engine_edges edges = engine->kind->edges(engine, layer, least);
    const struct candidates inputs = parts_of(cnnvp_engine_inputs(layer), edges.in);
    struct candidates groups = parts_of(layer->out.channels, edges.out);
    struct candidates heights = parts_of(layer->out.height, edges.rows);
    struct candidates widths = parts_of(layer->out.width, edges.cols);
    if (layer->op == CNNVP_OP_SOFTMAX) {
        /* The sum's direction stays whole. */
        const int over_channels =
            layer->axis == CNNVP_AXIS_CHANNELS || (layer->axis == CNNVP_AXIS_LAST && softmax_channels);
        groups.count = over_channels ? 1 : groups.count;
        heights.count = layer->axis == CNNVP_AXIS_ROWS ? 1 : heights.count;
        widths.count = layer->axis == CNNVP_AXIS_LAST ? 1 : widths.count;
    }
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA) {
        heights.count = 1; /* whole channels */
        widths.count = 1;
    }
    for (size_t g = 0; g < groups.count; ++g) {
        layer->group_out = groups.values[g];
        for (size_t h = 0; h < heights.count; ++h) {
            layer->tile_h = heights.values[h];
            /* Narrow tiles where even the lowest strip does not fit, else whole rows: they are contiguous. */
            const size_t last = h + 1 == heights.count ? widths.count : 1;
            for (size_t w = 0; w < last; ++w) {
                layer->tile_w = widths.values[w];
                consider_slices(search, &inputs, edges.out);
            }
        }
    }
}

/* Half of a window's side, in whole pieces of 3 as engines sweep it, at last single rows or columns. */
static uint32_t half_window(uint32_t side)
{
    return side > 6u ? divide_up(side, 6u) * 3u : side > 3u ? 3u : 1u;
}

/* Pooling windows larger than a half of the input buffer are swept in parts. */
static void consider_parts(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    while (!search->found && window_rows(layer) > 1u) {
        layer->tile_ky = half_window(window_rows(layer));
        consider_all(search, 1);
    }
    while (!search->found && window_columns(layer) > 1u) {
        layer->tile_kx = half_window(window_columns(layer));
        consider_all(search, 1);
    }
}

static cnnvp_result too_large(const struct search *search, const char *name, struct cnnvp_error *error)
{
    /* The last one that was tried is the smallest. */
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(search->layer, &search->limits->engine);
    const struct cnnvp_plan_limits *limits = search->limits;
    const char *buffer = "output_buffer";
    uint64_t need = use.output_bytes;
    uint64_t have = limits->output_bytes;
    if (use.input_bytes > limits->input_bytes) {
        buffer = "input_buffer";
        need = use.input_bytes;
        have = limits->input_bytes;
    } else if (use.weight_bytes > limits->weight_bytes) {
        buffer = "weight_buffer";
        need = use.weight_bytes;
        have = limits->weight_bytes;
    }
    return cnnvp_compiler_error(error,
                                "layer \"%s\": its smallest tile needs %llu bytes of %s, one half of which holds %llu; "
                                "make it larger with -s %s.size=",
                                name, (unsigned long long)need, buffer, (unsigned long long)have, buffer);
}

/* The largest power of two that is not more. */
static uint64_t rung(uint64_t bytes)
{
    uint64_t power = 1;
    while (power <= bytes / 2u)
        power *= 2u;
    return power;
}

cnnvp_result cnnvp_plan_layer(struct cnnvp_image_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_error *error)
{
    struct cnnvp_image_layer trial = *layer;
    /* The estimate is good to some hundredths. A little more buffer must not buy a tiling that only seems better, so sizes
     * count by powers of two; what lies between is used only where nothing fits without it. */
    struct cnnvp_plan_limits steps = *limits;
    steps.input_bytes = rung(limits->input_bytes);
    steps.weight_bytes = rung(limits->weight_bytes);
    steps.output_bytes = rung(limits->output_bytes);
    struct search search = {.limits = &steps, .layer = &trial};
    consider_all(&search, 0);
    if (!search.found)
        consider_all(&search, 1);
    search.limits = limits;
    if (!search.found)
        consider_all(&search, 0);
    if (!search.found)
        consider_all(&search, 1);
    if (!search.found && layer->op == CNNVP_OP_POOL)
        consider_parts(&search);
    if (!search.found)
        return too_large(&search, name, error);
    *layer = search.best;
    return CNNVP_DONE;
}

void cnnvp_plan_whole(struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    layer->group_out = layer->out.channels;
    layer->tile_h = layer->out.height;
    layer->tile_w = layer->out.width;
    layer->tile_in = is_channelwise(layer) ? layer->group_out : cnnvp_engine_inputs(layer);
    layer->tile_out = layer->group_out;
    if (layer->op == CNNVP_OP_FC)
        layer->tile_out =
            smaller(layer->group_out, limits->engine.kind->edges(&limits->engine, layer, 0).out);
}
