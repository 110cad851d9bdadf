/* SPDX-License-Identifier: Apache-2.0 */
/* Which ways there are to cut a layer, and the best few of each place. */
#include "plan_ways.h"

#include <stdlib.h>

#define CANDIDATES 24
#define LEAST_POWER 8u /* halves of up to 256 bytes are one place */
#define POWERS 21u

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

/* ---- the lattice ---- */

struct search {
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_image_layer *layer; /* tiles under test */
    struct cnnvp_plan_ways *ways;
    int least; /* the least edges, where there is no way with those that the engine wants */
    int found;
};

/* The smallest power of two that holds so many bytes, as a place. */
static uint32_t power_of(uint64_t bytes)
{
    uint32_t power = LEAST_POWER;
    while (power < LEAST_POWER + POWERS && UINT64_C(1) << power < bytes)
        ++power;
    return power - LEAST_POWER;
}

uint32_t cnnvp_plan_places(uint64_t bytes)
{
    uint32_t count = 0;
    while (count < POWERS && UINT64_C(1) << (LEAST_POWER + count) <= bytes)
        ++count;
    return count;
}

static struct cnnvp_plan_place *place_of(struct cnnvp_plan_ways *ways, const struct cnnvp_plan_use *use)
{
    if (ways->single)
        return ways->places;
    const size_t row = (size_t)power_of(use->input_bytes) * ways->powers[1] + power_of(use->weight_bytes);
    return &ways->places[row * ways->powers[2] + power_of(use->output_bytes)];
}

static void consider(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    const struct cnnvp_plan_limits *limits = search->limits;
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &limits->engine);
    if (use.input_bytes > limits->input_bytes || use.weight_bytes > limits->weight_bytes ||
        use.output_bytes > limits->output_bytes)
        return;
    struct cnnvp_plan_place *place = place_of(search->ways, &use);
    if (search->least && place->wanted)
        return;
    place->wanted |= !search->least;
    const struct cnnvp_plan_time bound = cnnvp_plan_bound(layer, limits);
    struct cnnvp_plan_way way = {
        .bound = cnnvp_plan_preference(&bound),
        .cut = {layer->group_out, layer->tile_h, layer->tile_w, layer->tile_in, layer->tile_out},
    };
    for (size_t i = 0; i < CNNVP_PLAN_FINALISTS; ++i) {
        if (way.bound < place->finalists[i].bound) {
            const struct cnnvp_plan_way other = place->finalists[i];
            place->finalists[i] = way;
            way = other;
        }
    }
    search->found = 1;
}

/* All slices of the group and the inputs at the tile that is set. */
static void consider_slices(struct search *search, const struct candidates *inputs, uint32_t out_multiple)
{
    struct cnnvp_image_layer *layer = search->layer;
    if (cnnvp_plan_is_channelwise(layer)) {
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

static void consider_edges(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    const int softmax_channels = layer->out.height == 1 && layer->out.width == 1;
    const struct cnnvp_engine *engine = &search->limits->engine;
    const struct cnnvp_engine_edges edges = engine->kind->edges(engine, layer, search->least);
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

/* Each place knows of the ways at smaller ones. */
static void spread_wanted(struct cnnvp_plan_ways *ways)
{
    const size_t distances[3] = {(size_t)ways->powers[1] * ways->powers[2], ways->powers[2], 1};
    const size_t count = ways->powers[0] * distances[0];
    for (size_t i = 0; i < count; ++i) {
        if (i >= distances[0])
            ways->places[i].wanted |= ways->places[i - distances[0]].wanted;
        if (i % distances[0] >= distances[1])
            ways->places[i].wanted |= ways->places[i - distances[1]].wanted;
        if (i % distances[1] >= 1u)
            ways->places[i].wanted |= ways->places[i - 1u].wanted;
    }
}

/* With the least edges there are more ways than with those that the engine wants. */
static int least_are_less(const struct search *search)
{
    const struct cnnvp_engine *engine = &search->limits->engine;
    const struct cnnvp_engine_edges wanted = engine->kind->edges(engine, search->layer, 0);
    const struct cnnvp_engine_edges least = engine->kind->edges(engine, search->layer, 1);
    return wanted.rows != least.rows || wanted.cols != least.cols || wanted.in != least.in || wanted.out != least.out;
}

static void consider_all(struct search *search)
{
    search->least = 0;
    consider_edges(search);
    search->least = 1;
    if (!least_are_less(search))
        return;
    spread_wanted(search->ways);
    consider_edges(search);
}

/* Half of a window's side, in whole pieces. */
static uint32_t half_window(uint32_t side, uint32_t piece)
{
    return divide_up(side, 2u * piece) * piece;
}

/*
 * Pooling windows larger than a half of the input buffer are swept in parts: rows, then columns too. Parts are whole
 * kernel pieces as the engine takes them, the last one is the rest: ceil(side / piece) pieces a side however it is cut,
 * so compute cycles stay. A part of a piece would take as long as a whole one.
 */
static void consider_parts(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    const struct cnnvp_engine *engine = &search->limits->engine;
    const uint32_t piece = engine->kind->edges(engine, layer, 1).side;
    while (!search->found && cnnvp_plan_window_rows(layer) > piece) {
        layer->tile_ky = half_window(cnnvp_plan_window_rows(layer), piece);
        consider_edges(search);
    }
    while (!search->found && cnnvp_plan_window_columns(layer) > piece) {
        layer->tile_kx = half_window(cnnvp_plan_window_columns(layer), piece);
        consider_edges(search);
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

void cnnvp_plan_cut_layer(struct cnnvp_image_layer *layer, const struct cnnvp_plan_cut *cut)
{
    layer->group_out = cut->group_out;
    layer->tile_h = cut->tile_h;
    layer->tile_w = cut->tile_w;
    layer->tile_in = cut->tile_in;
    layer->tile_out = cut->tile_out;
}

static int make_places(struct search *search, uint32_t input, uint32_t weight, uint32_t output)
{
    const size_t count = (size_t)input * weight * output;
    struct cnnvp_plan_ways *ways = search->ways;
    free(ways);
    search->ways = ways = calloc(1, sizeof *ways + (count != 0 ? count : 1u) * sizeof ways->places[0]);
    if (ways == NULL)
        return 0;
    ways->powers[0] = input;
    ways->powers[1] = weight;
    ways->powers[2] = output;
    for (size_t i = 0; i < count; ++i)
        for (size_t f = 0; f < CNNVP_PLAN_FINALISTS; ++f)
            ways->places[i].finalists[f].bound = UINT64_MAX;
    return 1;
}

/* No way to cut the layer needs more than the layer in one piece, but for sums that wait for further inputs. */
static struct cnnvp_plan_use most_use(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    const uint32_t channels = layer->out.channels;
    const int channelwise = cnnvp_plan_is_channelwise(layer);
    const uint32_t inputs = channelwise ? channels : cnnvp_engine_inputs(layer);
    struct cnnvp_plan_cut whole = {channels, layer->out.height, layer->out.width, inputs, channels};
    cnnvp_plan_cut_layer(layer, &whole);
    struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &search->limits->engine);
    if (!channelwise) {
        layer->tile_in = 1;
        use.output_bytes = later(use.output_bytes, cnnvp_plan_use_of(layer, &search->limits->engine).output_bytes);
    }
    return use;
}

static uint32_t fewer(uint32_t places, uint64_t most_bytes)
{
    return smaller(places, power_of(most_bytes) + 1u);
}

/* All ways that fit into powers of two; where there is none, that fit at all. */
static cnnvp_result look(struct search *search, const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_plan_limits rounded = *limits;
    const struct cnnvp_plan_use most = most_use(search);
    const uint32_t input = fewer(cnnvp_plan_places(limits->input_bytes), most.input_bytes);
    const uint32_t weight = fewer(cnnvp_plan_places(limits->weight_bytes), most.weight_bytes);
    const uint32_t output = fewer(cnnvp_plan_places(limits->output_bytes), most.output_bytes);
    if (!make_places(search, input, weight, output))
        return cnnvp_compiler_no_memory(error);
    if (input != 0 && weight != 0 && output != 0) {
        rounded.input_bytes = UINT64_C(1) << (LEAST_POWER + input - 1u);
        rounded.weight_bytes = UINT64_C(1) << (LEAST_POWER + weight - 1u);
        rounded.output_bytes = UINT64_C(1) << (LEAST_POWER + output - 1u);
        search->limits = &rounded;
        consider_all(search);
    }
    search->limits = limits;
    if (search->found)
        return CNNVP_DONE;
    if (!make_places(search, 1, 1, 1))
        return cnnvp_compiler_no_memory(error);
    search->ways->single = 1;
    consider_all(search);
    if (!search->found && search->layer->op == CNNVP_OP_POOL)
        consider_parts(search);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_plan_ways_of(const struct cnnvp_image_layer *layer, const char *name,
                                const struct cnnvp_plan_limits *limits, struct cnnvp_plan_ways **ways,
                                struct cnnvp_error *error)
{
    struct cnnvp_image_layer trial = *layer;
    struct search search = {.limits = limits, .layer = &trial};
    cnnvp_result result = look(&search, limits, error);
    if (result == CNNVP_DONE && !search.found)
        result = too_large(&search, name, error);
    if (result != CNNVP_DONE) {
        free(search.ways);
        return result;
    }
    search.ways->tile_ky = trial.tile_ky;
    search.ways->tile_kx = trial.tile_kx;
    *ways = search.ways;
    return CNNVP_DONE;
}
