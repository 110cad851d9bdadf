/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_cost.h"

#include <stdlib.h>

#define SUM_BYTES 8u
#define NORM_VECTORS 5u /* of one word a channel: mean, 1 / sigma, scale, product, offset */

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

int cnnvp_plan_has_weights(const struct cnnvp_image_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

int cnnvp_plan_is_channelwise(const struct cnnvp_image_layer *layer)
{
    return !cnnvp_plan_has_weights(layer) || (layer->op == CNNVP_OP_CONV && layer->depthwise != 0);
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

uint64_t cnnvp_plan_input_rows(const struct cnnvp_image_layer *layer, uint32_t rows)
{
    return (uint64_t)(rows - 1u) * layer->sy + (uint64_t)(window_rows(layer) - 1u) * layer->dy + 1u;
}

uint64_t cnnvp_plan_input_columns(const struct cnnvp_image_layer *layer, uint32_t columns)
{
    return (uint64_t)(columns - 1u) * layer->sx + (uint64_t)(window_columns(layer) - 1u) * layer->dx + 1u;
}

struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_image_layer *layer)
{
    struct cnnvp_plan_counts counts = {.input_slices = 1, .output_slices = 1};
    counts.groups = divide_up(layer->out.channels, layer->group_out);
    counts.tiles = divide_up(layer->out.height, layer->tile_h) * divide_up(layer->out.width, layer->tile_w);
    if (!cnnvp_plan_is_channelwise(layer)) {
        counts.input_slices = divide_up(cnnvp_engine_inputs(layer), layer->tile_in);
        counts.output_slices = divide_up(layer->group_out, layer->tile_out);
    }
    const uint32_t rest = layer->out.channels - (counts.groups - 1u) * layer->group_out;
    if (cnnvp_plan_has_weights(layer))
        counts.blobs = counts.input_slices *
                       ((counts.groups - 1u) * counts.output_slices + divide_up(rest, layer->tile_out));
    else
        counts.blobs = layer->op == CNNVP_OP_NORM || cnnvp_plan_table_words(layer) != 0 ? 1 : 0;
    return counts;
}

uint64_t cnnvp_plan_blob_words(const struct cnnvp_image_layer *layer)
{
    uint64_t words = cnnvp_plan_table_words(layer);
    const uint64_t taps = (uint64_t)layer->kx * layer->ky;
    if (cnnvp_plan_has_weights(layer) && layer->bias != 0)
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
    struct cnnvp_plan_use use = {.weight_bytes = cnnvp_plan_blob_words(layer) * CNNVP_PLAN_WORD_BYTES};
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_POOL:
        use.input_bytes =
            layer->tile_in * cnnvp_plan_input_rows(layer, layer->tile_h) *
            cnnvp_plan_input_columns(layer, layer->tile_w) * CNNVP_PLAN_WORD_BYTES;
        break;
    case CNNVP_OP_FC:
        use.input_bytes = (uint64_t)layer->tile_in * CNNVP_PLAN_WORD_BYTES;
        break;
    case CNNVP_OP_ADD:
        use.input_bytes = 2u * words * CNNVP_PLAN_WORD_BYTES;
        break;
    default:
        use.input_bytes = words * CNNVP_PLAN_WORD_BYTES;
        break;
    }
    const int sums = (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE) ||
                     (cnnvp_plan_has_weights(layer) && cnnvp_plan_counts_of(layer).input_slices > 1) ||
                     engine->kind->keeps_sums(engine, layer);
    use.output_bytes = words * (sums ? SUM_BYTES : CNNVP_PLAN_WORD_BYTES);
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE && layer->by_position != 0)
        use.output_bytes += words * CNNVP_PLAN_WORD_BYTES;
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX && is_swept_in_parts(layer))
        use.output_bytes += use.output_bytes;
    if (layer->op == CNNVP_OP_SOFTMAX && layer->axis != CNNVP_AXIS_LAST)
        use.output_bytes += words * CNNVP_PLAN_WORD_BYTES;
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA)
        use.output_bytes += NORM_VECTORS * (uint64_t)layer->group_out * CNNVP_PLAN_WORD_BYTES;
    return use;
}

/* ---- search ---- */

/* A way to cut a layer, and what it is estimated to take. */
struct cut {
    struct cnnvp_plan_cost cost; /* cycles NOT_FOUND: there is none */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
};

#define NOT_FOUND UINT64_MAX

/*
 * The cuts that fit, by what they need. Sizes of halves count by powers of two: the place of a cut is the smallest
 * power of two in each buffer that it fits into. Where nothing fits into those there is one place, the sizes as they are.
 */
struct search {
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_image_layer *layer; /* tiles under test */
    uint32_t rungs[3];               /* powers of two of the input, weight and output buffer */
    struct cut *places;              /* [input][weight][output] */
    int found;
};

/* The place of so many bytes among the powers of two. */
static uint32_t rung(uint64_t bytes)
{
    uint32_t power = 0;
    while (power < 63u && (UINT64_C(1) << power) < bytes)
        ++power;
    return power;
}

static struct cut *place_of(const struct search *search, uint32_t input, uint32_t weight, uint32_t output)
{
    return &search->places[((size_t)input * search->rungs[1] + weight) * search->rungs[2] + output];
}

static void consider(struct search *search)
{
    const struct cnnvp_image_layer *layer = search->layer;
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &search->limits->engine);
    const struct cnnvp_plan_limits *limits = search->limits;
    if (use.input_bytes > limits->input_bytes || use.weight_bytes > limits->weight_bytes ||
        use.output_bytes > limits->output_bytes)
        return;
    struct cut *place = search->rungs[0] == 1 ? search->places : place_of(search, rung(use.input_bytes),
                                                                          rung(use.weight_bytes),
                                                                          rung(use.output_bytes));
    const struct cnnvp_plan_cost cost = cnnvp_plan_cost_of(layer, limits);
    search->found = 1;
    if (place->cost.cycles == NOT_FOUND || cnnvp_plan_preference(&cost) < cnnvp_plan_preference(&place->cost))
        *place = (struct cut){cost,           layer->group_out, layer->tile_h,
                              layer->tile_w, layer->tile_in,   layer->tile_out};
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

static int clear_places(struct search *search, const uint32_t rungs[3])
{
    const size_t count = (size_t)rungs[0] * rungs[1] * rungs[2];
    free(search->places);
    search->places = malloc(count * sizeof *search->places);
    if (search->places == NULL)
        return 0;
    for (int i = 0; i < 3; ++i)
        search->rungs[i] = rungs[i];
    for (size_t i = 0; i < count; ++i)
        search->places[i].cost.cycles = NOT_FOUND;
    search->found = 0;
    return 1;
}

/* The one that is estimated to be faster. */
static const struct cut *faster(const struct cut *a, const struct cut *b)
{
    if (b == NULL || b->cost.cycles == NOT_FOUND)
        return a;
    return a == NULL || b->cost.cycles < a->cost.cycles ? b : a;
}

/* What a refresh of the memory at a bad moment costs. */
#define JITTER_CYCLES 256u

/*
 * 1 if a cut is better than one that needs less room, by more than the estimate may be wrong: an eighth of what
 * calculation does not explain and a sixty-fourth of all; or if it saves a third of the traffic and takes as long.
 */
static int is_clearly_better(const struct cnnvp_plan_cost *cost, const struct cnnvp_plan_cost *than, uint64_t compute)
{
    const uint64_t unexplained = than->cycles > compute ? than->cycles - compute : 0;
    const uint64_t margin = unexplained / 8u + than->cycles / 64u + JITTER_CYCLES;
    if (cost->cycles <= than->cycles && cnnvp_plan_preference(cost) + margin < cnnvp_plan_preference(than))
        return 1;
    return cost->bytes <= than->bytes / 3u * 2u && cost->cycles <= than->cycles + than->cycles / 512u;
}

/*
 * So that a larger buffer does not buy a cut that only seems better, each place takes what the places with one buffer a
 * step smaller have, and its own only where that is clearly better.
 */
static const struct cut *climb(struct search *search, uint64_t compute)
{
    struct cut *place = NULL;
    for (uint32_t i = 0; i < search->rungs[0]; ++i) {
        for (uint32_t w = 0; w < search->rungs[1]; ++w) {
            for (uint32_t o = 0; o < search->rungs[2]; ++o) {
                place = place_of(search, i, w, o);
                const struct cut *before = i > 0 ? faster(NULL, place_of(search, i - 1u, w, o)) : NULL;
                before = w > 0 ? faster(before, place_of(search, i, w - 1u, o)) : before;
                before = o > 0 ? faster(before, place_of(search, i, w, o - 1u)) : before;
                if (before != NULL && (place->cost.cycles == NOT_FOUND ||
                                       !is_clearly_better(&place->cost, &before->cost, compute)))
                    *place = *before;
            }
        }
    }
    return place;
}

/* The largest power of two that is not more. */
static uint64_t floor_power(uint64_t bytes)
{
    const uint32_t power = rung(bytes);
    return UINT64_C(1) << ((UINT64_C(1) << power) > bytes ? power - 1u : power);
}

/* All cuts that fit into the powers of two below the buffers' halves; where there is none, into the halves. */
static cnnvp_result look(struct search *search, struct cnnvp_plan_limits *steps, const struct cnnvp_plan_limits *limits,
                         struct cnnvp_error *error)
{
    static const uint32_t exact[3] = {1, 1, 1};
    steps->input_bytes = floor_power(limits->input_bytes);
    steps->weight_bytes = floor_power(limits->weight_bytes);
    steps->output_bytes = floor_power(limits->output_bytes);
    const uint32_t rungs[3] = {rung(steps->input_bytes) + 1u, rung(steps->weight_bytes) + 1u,
                               rung(steps->output_bytes) + 1u};
    search->limits = steps;
    if (!clear_places(search, rungs))
        return cnnvp_compiler_no_memory(error);
    consider_all(search, 0);
    if (!search->found)
        consider_all(search, 1);
    if (search->found)
        return CNNVP_DONE;
    search->limits = limits;
    if (!clear_places(search, exact))
        return cnnvp_compiler_no_memory(error);
    consider_all(search, 0);
    if (!search->found)
        consider_all(search, 1);
    if (!search->found && search->layer->op == CNNVP_OP_POOL)
        consider_parts(search);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_plan_layer(struct cnnvp_image_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_error *error)
{
    struct cnnvp_image_layer trial = *layer;
    struct cnnvp_plan_limits steps = *limits;
    struct search search = {.layer = &trial};
    cnnvp_result result = look(&search, &steps, limits, error);
    if (result == CNNVP_DONE && !search.found) {
        result = too_large(&search, name, error);
    } else if (result == CNNVP_DONE) {
        const struct cut *cut = climb(&search, cnnvp_plan_compute_cycles(&trial, limits, 1));
        layer->tile_kx = trial.tile_kx;
        layer->tile_ky = trial.tile_ky;
        layer->group_out = cut->group_out;
        layer->tile_h = cut->tile_h;
        layer->tile_w = cut->tile_w;
        layer->tile_in = cut->tile_in;
        layer->tile_out = cut->tile_out;
    }
    free(search.places);
    return result;
}

void cnnvp_plan_whole(struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    layer->group_out = layer->out.channels;
    layer->tile_h = layer->out.height;
    layer->tile_w = layer->out.width;
    layer->tile_in = cnnvp_plan_is_channelwise(layer) ? layer->group_out : cnnvp_engine_inputs(layer);
    layer->tile_out = layer->group_out;
    if (layer->op == CNNVP_OP_FC)
        layer->tile_out =
            smaller(layer->group_out, limits->engine.kind->edges(&limits->engine, layer, 0).out);
}
