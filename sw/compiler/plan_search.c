/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a layer's tiles. All ways to cut it are one list that does not depend on the buffers' sizes. A way
 * has a place: for each buffer the smallest power of two of a half that holds its tiles. The places are a lattice; a
 * platform sees those up to its own sizes, and takes what the uppermost of them holds.
 *
 * Each place holds the best of what the places with one buffer a step smaller hold, or of its own ways, the latter
 * only where they are better by more than the estimate may be wrong and not dearer. So a larger buffer never costs
 * more by the estimate's price, which is time, and a little of the core's work and of traffic. Time alone can rise a
 * little with it: where traffic falls for that, and where the estimate errs (tests/README.md has figures).
 */
#include "plan_time.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES 24
#define FINALISTS 4   /* of each place, chosen by the bound, whose time is looked at closely */
#define LEAST_POWER 8u /* halves of up to 256 bytes are one place */
#define POWERS 21u
#define LEADS 64u /* leads of the core that are told apart: equal layers then get equal plans */

/* How much better a way has to be that needs more room: by this part of what memory adds to calculation, this part of
 * all, and what the moments of refreshes change. And how much dearer it may be. */
#define ESTIMATED_PART 16u
#define TIME_PART 128u
#define JITTER_PS 360000u
#define DEARER_PART 2048u

/* What traffic and the core's work count for among ways that are not dearer; of the core, at least and besides what
 * later layers need of it. */
#define MEMORY_PART 3u
#define CORE_LEAST_PART 4u
#define CORE_PART 12u

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

struct cut {
    uint64_t bound; /* UINT64_MAX: there is none */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
};

struct place {
    struct cut finalists[FINALISTS]; /* by their bound */
    struct cut cut;                  /* what the place holds; bound UINT64_MAX: nothing */
    struct cnnvp_plan_time time;     /* of it */
    uint64_t least;                  /* bound of all up to here */
    uint64_t cheapest;               /* price of what these places hold */
};

struct search {
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_image_layer *layer; /* tiles under test */
    uint32_t powers[3];              /* places of the input, weight and output buffer; all 1: sizes as they are */
    struct place *places;            /* [input][weight][output] */
    int found;
};

static struct place *place_of(const struct search *search, uint32_t input, uint32_t weight, uint32_t output)
{
    return &search->places[((size_t)input * search->powers[1] + weight) * search->powers[2] + output];
}

/* The smallest power of two that holds so many bytes, as a place. */
static uint32_t power_of(uint64_t bytes)
{
    uint32_t power = LEAST_POWER;
    while (power < LEAST_POWER + POWERS && UINT64_C(1) << power < bytes)
        ++power;
    return power - LEAST_POWER;
}

/* What ways compete by that are not dearer. */
static uint64_t preference(const struct cnnvp_plan_time *time)
{
    const uint64_t needed = time->cost_ps - time->ps + time->core_ps / CORE_PART;
    const uint64_t core = later(needed, time->core_ps / CORE_LEAST_PART);
    return time->ps + core + time->memory_ps / MEMORY_PART;
}

static void consider(struct search *search)
{
    struct cnnvp_image_layer *layer = search->layer;
    const struct cnnvp_plan_limits *limits = search->limits;
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &limits->engine);
    if (use.input_bytes > limits->input_bytes || use.weight_bytes > limits->weight_bytes ||
        use.output_bytes > limits->output_bytes)
        return;
    const uint32_t *powers = search->powers;
    struct place *place = powers[0] * powers[1] * powers[2] == 1u
                              ? search->places
                              : place_of(search, power_of(use.input_bytes), power_of(use.weight_bytes),
                                         power_of(use.output_bytes));
    const struct cnnvp_plan_time bound = cnnvp_plan_bound(layer, limits);
    struct cut cut = {preference(&bound), layer->group_out, layer->tile_h, layer->tile_w,
                      layer->tile_in, layer->tile_out};
    for (size_t i = 0; i < FINALISTS; ++i) {
        if (cut.bound < place->finalists[i].bound) {
            const struct cut other = place->finalists[i];
            place->finalists[i] = cut;
            cut = other;
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
        consider_all(search, 1);
    }
    while (!search->found && cnnvp_plan_window_columns(layer) > piece) {
        layer->tile_kx = half_window(cnnvp_plan_window_columns(layer), piece);
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

/* ---- the choice ---- */

static void set_cut(struct cnnvp_image_layer *layer, const struct cut *cut)
{
    layer->group_out = cut->group_out;
    layer->tile_h = cut->tile_h;
    layer->tile_w = cut->tile_w;
    layer->tile_in = cut->tile_in;
    layer->tile_out = cut->tile_out;
}

/* How much better than this one another has to be. */
static uint64_t margin_ps(const struct cnnvp_plan_time *time)
{
    const uint64_t estimated = time->ps > time->compute_ps ? time->ps - time->compute_ps : 0;
    return estimated / ESTIMATED_PART + time->ps / TIME_PART + JITTER_PS;
}

/*
 * Looks closely at the finalists of a place, and takes the best of those that are clearly better than `before` and no
 * dearer than `dearest`; those whose bound is far from what smaller places offer are passed over.
 */
static void choose_own(struct search *search, struct place *place, const struct place *before, uint64_t dearest)
{
    uint64_t most = before != NULL ? preference(&before->time) - margin_ps(&before->time) : UINT64_MAX;
    for (size_t i = 0; i < FINALISTS; ++i) {
        const struct cut *cut = &place->finalists[i];
        if (cut->bound == UINT64_MAX || cut->bound / 5u * 4u > place->least)
            break;
        set_cut(search->layer, cut);
        const struct cnnvp_plan_time least = cnnvp_plan_least(search->layer, search->limits);
        if (cnnvp_plan_price(&least) > dearest || preference(&least) >= most)
            continue;
        const struct cnnvp_plan_time time = cnnvp_plan_time_of(search->layer, search->limits);
        if (cnnvp_plan_price(&time) > dearest || preference(&time) >= most)
            continue;
        place->cut = *cut;
        place->time = time;
        most = preference(&time);
    }
}

/* The best of what the places below hold that is no dearer than the cheapest of them, but for a trifle. */
static const struct place *best_below(const struct place *const below[3], uint64_t dearest)
{
    const struct place *best = NULL;
    for (size_t n = 0; n < 3; ++n) {
        const struct place *place = below[n];
        if (place == NULL || place->cut.bound == UINT64_MAX || cnnvp_plan_price(&place->time) > dearest)
            continue;
        if (best == NULL || preference(&place->time) < preference(&best->time))
            best = place;
    }
    return best;
}

static void climb_place(struct search *search, uint32_t i, uint32_t w, uint32_t o)
{
    struct place *place = place_of(search, i, w, o);
    const struct place *const below[3] = {i > 0 ? place_of(search, i - 1u, w, o) : NULL,
                                          w > 0 ? place_of(search, i, w - 1u, o) : NULL,
                                          o > 0 ? place_of(search, i, w, o - 1u) : NULL};
    place->least = place->finalists[0].bound;
    place->cheapest = UINT64_MAX;
    for (size_t n = 0; n < 3; ++n) {
        if (below[n] == NULL)
            continue;
        place->least = sooner(place->least, below[n]->least);
        place->cheapest = sooner(place->cheapest, below[n]->cheapest);
    }
    const uint64_t dearest =
        place->cheapest == UINT64_MAX ? UINT64_MAX : place->cheapest + place->cheapest / DEARER_PART;
    const struct place *before = best_below(below, dearest);
    choose_own(search, place, before, dearest);
    if (place->cut.bound == UINT64_MAX && before != NULL) {
        place->cut = before->cut;
        place->time = before->time;
    }
    if (place->cut.bound != UINT64_MAX)
        place->cheapest = sooner(place->cheapest, cnnvp_plan_price(&place->time));
}

static const struct place *climb(struct search *search)
{
    const uint32_t *powers = search->powers;
    for (uint32_t i = 0; i < powers[0]; ++i)
        for (uint32_t w = 0; w < powers[1]; ++w)
            for (uint32_t o = 0; o < powers[2]; ++o)
                climb_place(search, i, w, o);
    return place_of(search, powers[0] - 1u, powers[1] - 1u, powers[2] - 1u);
}

/* Places up to the powers of two that halves of so many bytes hold; 0: not even the least. */
static uint32_t places_up_to(uint64_t bytes)
{
    uint32_t count = 0;
    while (count < POWERS && UINT64_C(1) << (LEAST_POWER + count) <= bytes)
        ++count;
    return count;
}

static int clear_places(struct search *search, uint32_t input, uint32_t weight, uint32_t output)
{
    const size_t count = (size_t)input * weight * output;
    free(search->places);
    search->places = malloc((count != 0 ? count : 1u) * sizeof *search->places);
    if (search->places == NULL)
        return 0;
    search->powers[0] = input;
    search->powers[1] = weight;
    search->powers[2] = output;
    for (size_t i = 0; i < count; ++i) {
        for (size_t f = 0; f < FINALISTS; ++f)
            search->places[i].finalists[f].bound = UINT64_MAX;
        search->places[i].cut.bound = UINT64_MAX;
    }
    search->found = 0;
    return 1;
}

/* All ways that fit into powers of two; where there is none, that fit at all. */
static cnnvp_result look(struct search *search, const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_plan_limits rounded = *limits;
    const uint32_t input = places_up_to(limits->input_bytes);
    const uint32_t weight = places_up_to(limits->weight_bytes);
    const uint32_t output = places_up_to(limits->output_bytes);
    if (!clear_places(search, input, weight, output))
        return cnnvp_compiler_no_memory(error);
    if (input != 0 && weight != 0 && output != 0) {
        rounded.input_bytes = UINT64_C(1) << (LEAST_POWER + input - 1u);
        rounded.weight_bytes = UINT64_C(1) << (LEAST_POWER + weight - 1u);
        rounded.output_bytes = UINT64_C(1) << (LEAST_POWER + output - 1u);
        search->limits = &rounded;
        consider_all(search, 0);
        if (!search->found)
            consider_all(search, 1);
    }
    search->limits = limits;
    if (search->found)
        return CNNVP_DONE;
    if (!clear_places(search, 1, 1, 1))
        return cnnvp_compiler_no_memory(error);
    consider_all(search, 0);
    if (!search->found)
        consider_all(search, 1);
    if (!search->found && search->layer->op == CNNVP_OP_POOL)
        consider_parts(search);
    return CNNVP_DONE;
}

void cnnvp_plan_lead(const struct cnnvp_image_layer *layer, struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_plan_time time = cnnvp_plan_time_of(layer, limits);
    const uint64_t lead = timing->lead + time.ps;
    const uint64_t now = sooner(lead > time.core_ps ? lead - time.core_ps : 0, timing->most_lead);
    timing->lead = now - now % (timing->most_lead / LEADS + 1u);
}

/* What a plan does not depend on. */
static void forget_values(struct cnnvp_image_layer *layer)
{
    layer->tag = layer->format = layer->seed = layer->first_blob = layer->blob_count = layer->fill = 0;
    layer->group_out = layer->tile_h = layer->tile_w = layer->tile_in = layer->tile_out = 0;
    layer->tile_ky = layer->tile_kx = 0;
    layer->pool_area = 0;
    layer->norm_data = (struct cnnvp_image_norm_data){0};
    struct cnnvp_image_tensor *const tensors[] = {&layer->in, &layer->in2, &layer->out};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i) {
        tensors[i]->address = tensors[i]->image_stride = 0;
        tensors[i]->chip_address = tensors[i]->chip_half = 0;
    }
    for (uint32_t i = 0; i < layer->post_count; ++i) {
        layer->posts[i].value = 0;
        layer->posts[i].format = 0;
    }
}

int cnnvp_plan_same(struct cnnvp_image_layer *layer, const struct cnnvp_image_layer *other)
{
    struct cnnvp_image_layer a = *layer;
    struct cnnvp_image_layer b = *other;
    forget_values(&a);
    forget_values(&b);
    if (memcmp(&a, &b, sizeof a) != 0)
        return 0;
    layer->group_out = other->group_out;
    layer->tile_h = other->tile_h;
    layer->tile_w = other->tile_w;
    layer->tile_in = other->tile_in;
    layer->tile_out = other->tile_out;
    layer->tile_ky = other->tile_ky;
    layer->tile_kx = other->tile_kx;
    return 1;
}

cnnvp_result cnnvp_plan_layer(struct cnnvp_image_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_error *error)
{
    struct cnnvp_image_layer trial = *layer;
    struct search search = {.limits = limits, .layer = &trial};
    cnnvp_result result = look(&search, limits, error);
    if (result == CNNVP_DONE && !search.found)
        result = too_large(&search, name, error);
    else if (result == CNNVP_DONE) {
        const struct place *place = climb(&search);
        layer->tile_kx = trial.tile_kx;
        layer->tile_ky = trial.tile_ky;
        set_cut(layer, &place->cut);
    }
    free(search.places);
    return result;
}
