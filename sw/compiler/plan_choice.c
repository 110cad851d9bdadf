/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of all layers' tiles. For each place of the lattice (plan_ways.h) the whole network is planned as if the
 * place's were the platform's sizes: a larger platform knows what each smaller one gets.
 *
 * Layer by layer each place holds the best of what the places with one buffer a step smaller hold, or of its own ways,
 * the latter only where they are better by more than the estimate of a layer may be wrong, and not dearer. The core's
 * lead at each layer is that of the place. Then, over all layers and two images, each place takes the fastest plan of
 * the smaller ones, unless its own is faster by more than the estimate may be wrong, or has less traffic and is as fast
 * but for a trifle: VGG16 on 224x224 images reads 560 MB instead of 740 MB for 0.04 % more time. So, but for that, by
 * the estimate a larger buffer is never slower (tests/README.md has figures of what simulation says). Only trials say
 * which plan is the fastest: the places' own plans are its rivals, but for those that are too far behind.
 */
#include <stdlib.h>
#include <string.h>

#include "plan_time.h"
#include "plan_ways.h"

#define LOOK_BACK 64u /* layers: networks repeat themselves within that */
#define NOWHERE UINT32_MAX

/* How much better a way has to be that needs more room: by this part of what memory adds to calculation, this part of
 * all, and what the moments of refreshes change. And how much dearer it may be. */
#define ESTIMATED_PART 32u
#define TIME_PART 128u
#define JITTER_PS 360000u
#define DEARER_PART 2048u

/* The estimates of two plans are wrong in their difference by up to these parts: of all, and of the layers that the
 * two cut in other ways. */
#define PLANS_PART 256u
#define LAYERS_PART 64u

/* Clearly less traffic, and so much less that all layers may take a little longer for it. */
#define TRAFFIC_PART 16u
#define MUCH_PART 8u
#define SLOWER_PART 1024u

/* What is added to the calculation, which all plans have in common, is wrong by less than this part of it. */
#define ADDED_PART 4u

struct planned {
    struct cnnvp_image_layer *layer;
    struct cnnvp_image_layer before; /* as it was added */
    struct cnnvp_plan_ways *ways;
    int shared;                   /* another one's */
    struct cnnvp_plan_way **held; /* of each place; NULL: none fits */
};

/* A place, over the layers so far. */
struct standing {
    int fits;        /* each layer */
    uint64_t lead;   /* of the core, in ps */
    uint64_t ps;
    uint64_t memory_ps;
    uint64_t compute_ps;
    uint32_t origin; /* whose plan it takes */
    uint64_t own_ps; /* of its own plan */
};

/* The way that was looked at last: several things may be asked of it one after the other. */
struct trial {
    const struct cnnvp_plan_way *way;
    struct cnnvp_image_layer cut;
    struct cnnvp_plan_sorts sorts;
};

struct cnnvp_plan {
    struct cnnvp_plan_limits limits; /* with a core that is far ahead */
    struct trial *trial;
    uint32_t powers[3];
    uint32_t count; /* of places */
    struct standing *standings;
    uint64_t *least; /* of each place, for the layer in work: the bound of all up to here */
    struct planned *layers;
    size_t layer_count;
};

/* ---- one layer ---- */

static struct cnnvp_plan_sorts *sorts_of(const struct cnnvp_plan *plan, const struct planned *planned,
                                         const struct cnnvp_plan_way *way)
{
    struct trial *trial = plan->trial;
    if (trial->way == way)
        return &trial->sorts;
    trial->way = way;
    trial->cut = planned->before;
    trial->cut.tile_ky = planned->ways->tile_ky;
    trial->cut.tile_kx = planned->ways->tile_kx;
    cnnvp_plan_cut_layer(&trial->cut, &way->cut);
    trial->sorts = (struct cnnvp_plan_sorts){.layer = &trial->cut, .limits = &plan->limits};
    return &trial->sorts;
}

/* With so much of a lead of the core, which shortens what the layer waits for it. */
static struct cnnvp_plan_time with_lead(const struct cnnvp_plan *plan, const struct cnnvp_plan_way *way, uint64_t lead)
{
    struct cnnvp_plan_time time = way->time;
    if (time.core_ps > lead)
        time.ps = later(time.ps, later(time.core_ps, way->behind_ps) - lead);
    cnnvp_plan_weigh(&time, &plan->limits.timing, lead);
    return time;
}

/* The same of a way whose time is known. */
static struct cnnvp_plan_time time_at(const struct cnnvp_plan *plan, const struct planned *planned,
                                      struct cnnvp_plan_way *way, uint64_t lead)
{
    if (way->time.core_ps > lead && way->behind_ps == 0)
        way->behind_ps = cnnvp_plan_replay(sorts_of(plan, planned, way), &way->time, 0).ps;
    return with_lead(plan, way, lead);
}

/* What another one has to be below: clearly better. */
static uint64_t clearly_better(const struct cnnvp_plan_time *time)
{
    const uint64_t estimated = time->ps > time->compute_ps ? time->ps - time->compute_ps : 0;
    const uint64_t margin_ps = estimated / ESTIMATED_PART + time->ps / TIME_PART + JITTER_PS;
    const uint64_t preference = cnnvp_plan_preference(time);
    return preference - sooner(margin_ps, preference);
}

/* By what is known of it. */
static int may_win(const struct cnnvp_plan *plan, const struct cnnvp_plan_way *way, uint64_t lead, uint64_t dearest,
                   uint64_t most)
{
    const struct cnnvp_plan_time time = with_lead(plan, way, lead);
    return cnnvp_plan_price(&time) <= dearest && cnnvp_plan_preference(&time) < most;
}

/* Works out what is asked for, unless it is known: the least first. */
static void learn(const struct cnnvp_plan *plan, const struct planned *planned, struct cnnvp_plan_way *way,
                  enum cnnvp_plan_known known)
{
    if (way->known >= known)
        return;
    struct cnnvp_plan_sorts *sorts = sorts_of(plan, planned, way);
    way->time = known == CNNVP_PLAN_TIME ? cnnvp_plan_replay(sorts, &way->time, plan->limits.timing.lead)
                                         : cnnvp_plan_least(sorts);
    way->known = known;
}

/*
 * The best of a place's own ways that are better than `most` and no dearer than `dearest`, NULL: none; ways whose bound
 * is far from what smaller places offer are passed over.
 */
static struct cnnvp_plan_way *best_own(const struct cnnvp_plan *plan, const struct planned *planned,
                                       struct cnnvp_plan_place *place, uint64_t lead, uint64_t least,
                                       uint64_t dearest, uint64_t most)
{
    struct cnnvp_plan_way *best = NULL;
    for (size_t i = 0; i < CNNVP_PLAN_FINALISTS; ++i) {
        struct cnnvp_plan_way *way = &place->finalists[i];
        if (way->bound == UINT64_MAX || way->bound / 5u * 4u > least)
            break;
        learn(plan, planned, way, CNNVP_PLAN_LEAST);
        if (!may_win(plan, way, lead, dearest, most))
            continue;
        learn(plan, planned, way, CNNVP_PLAN_TIME);
        if (!may_win(plan, way, lead, dearest, most))
            continue;
        const struct cnnvp_plan_time time = time_at(plan, planned, way, lead);
        if (cnnvp_plan_price(&time) > dearest || cnnvp_plan_preference(&time) >= most)
            continue;
        most = cnnvp_plan_preference(&time);
        best = way;
    }
    return best;
}

/* What the three places below hold, and the price of the cheapest of it. */
struct below {
    struct cnnvp_plan_way *ways[3]; /* NULL: nothing */
    struct cnnvp_plan_time times[3];
    uint64_t cheapest;
    uint64_t least;
};

/* Its step of each buffer's size. */
static void find_steps(const struct cnnvp_plan *plan, uint32_t place, uint32_t at[3])
{
    at[0] = place / (plan->powers[1] * plan->powers[2]);
    at[1] = place / plan->powers[2] % plan->powers[1];
    at[2] = place % plan->powers[2];
}

/* Places with one buffer a step smaller, or NOWHERE. */
static void find_below(const struct cnnvp_plan *plan, uint32_t place, uint32_t below[3])
{
    const uint32_t distances[3] = {plan->powers[1] * plan->powers[2], plan->powers[2], 1};
    uint32_t at[3];
    find_steps(plan, place, at);
    for (size_t n = 0; n < 3; ++n)
        below[n] = at[n] > 0 ? place - distances[n] : NOWHERE;
}

static struct below look_below(const struct cnnvp_plan *plan, const struct planned *planned, uint32_t place)
{
    struct below below = {.cheapest = UINT64_MAX, .least = UINT64_MAX};
    uint32_t places[3];
    find_below(plan, place, places);
    for (size_t n = 0; n < 3; ++n) {
        struct cnnvp_plan_way *way = places[n] != NOWHERE ? planned->held[places[n]] : NULL;
        below.ways[n] = way;
        if (places[n] != NOWHERE)
            below.least = sooner(below.least, plan->least[places[n]]);
        if (way == NULL)
            continue;
        below.times[n] = time_at(plan, planned, way, plan->standings[place].lead);
        below.cheapest = sooner(below.cheapest, cnnvp_plan_price(&below.times[n]));
    }
    return below;
}

/* The best of these that is no dearer; 3: none. */
static size_t best_below(const struct below *below, uint64_t dearest)
{
    size_t best = 3;
    for (size_t n = 0; n < 3; ++n) {
        if (below->ways[n] == NULL || cnnvp_plan_price(&below->times[n]) > dearest)
            continue;
        if (best == 3 || cnnvp_plan_preference(&below->times[n]) < cnnvp_plan_preference(&below->times[best]))
            best = n;
    }
    return best;
}

/* The layer's own ways of the network's place; NULL: none. */
static struct cnnvp_plan_place *own_place(const struct cnnvp_plan *plan, struct cnnvp_plan_ways *ways, uint32_t place)
{
    uint32_t at[3];
    if (ways->single)
        return ways->places;
    find_steps(plan, place, at);
    if (at[0] >= ways->powers[0] || at[1] >= ways->powers[1] || at[2] >= ways->powers[2])
        return NULL;
    return &ways->places[((size_t)at[0] * ways->powers[1] + at[1]) * ways->powers[2] + at[2]];
}

static void go_on(struct standing *standing, struct cnnvp_plan_time time, uint64_t most_lead)
{
    const uint64_t lead = standing->lead + time.ps;
    standing->lead = sooner(lead - sooner(lead, time.core_ps), most_lead);
    standing->ps += time.ps;
    standing->memory_ps += time.memory_ps;
    standing->compute_ps += time.compute_ps;
}

static void climb(struct cnnvp_plan *plan, struct planned *planned, uint32_t index)
{
    struct standing *standing = &plan->standings[index];
    struct cnnvp_plan_place *place = own_place(plan, planned->ways, index);
    const struct below below = look_below(plan, planned, index);
    const uint64_t dearest =
        below.cheapest == UINT64_MAX ? UINT64_MAX : below.cheapest + below.cheapest / DEARER_PART;
    const size_t best = best_below(&below, dearest);
    struct cnnvp_plan_way *held = best != 3 ? below.ways[best] : NULL;
    const uint64_t most = best != 3 ? clearly_better(&below.times[best]) : UINT64_MAX;
    plan->least[index] = sooner(below.least, place != NULL ? place->finalists[0].bound : UINT64_MAX);
    if (place != NULL) {
        struct cnnvp_plan_way *own =
            best_own(plan, planned, place, standing->lead, plan->least[index], dearest, most);
        held = own != NULL ? own : held;
    }
    planned->held[index] = held;
    standing->fits &= held != NULL;
    if (held != NULL)
        go_on(standing, time_at(plan, planned, held, standing->lead), plan->limits.timing.most_lead);
}

/* ---- all layers ---- */

cnnvp_result cnnvp_plan_new(const struct cnnvp_plan_limits *limits, size_t layers, struct cnnvp_plan **plan,
                            struct cnnvp_error *error)
{
    struct cnnvp_plan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return cnnvp_compiler_no_memory(error);
    made->limits = *limits;
    made->limits.timing.lead = limits->timing.most_lead;
    made->powers[0] = cnnvp_plan_places(limits->input_bytes);
    made->powers[1] = cnnvp_plan_places(limits->weight_bytes);
    made->powers[2] = cnnvp_plan_places(limits->output_bytes);
    for (size_t n = 0; n < 3; ++n)
        made->powers[n] = made->powers[n] != 0 ? made->powers[n] : 1u;
    made->count = made->powers[0] * made->powers[1] * made->powers[2];
    made->standings = calloc(made->count, sizeof *made->standings);
    made->least = calloc(made->count, sizeof *made->least);
    made->layers = calloc(layers + 1u, sizeof *made->layers);
    made->trial = calloc(1, sizeof *made->trial);
    *plan = made;
    if (made->standings == NULL || made->least == NULL || made->layers == NULL || made->trial == NULL)
        return cnnvp_compiler_no_memory(error);
    for (uint32_t i = 0; i < made->count; ++i)
        made->standings[i] = (struct standing){.fits = 1, .lead = limits->timing.lead};
    return CNNVP_DONE;
}

void cnnvp_plan_free(struct cnnvp_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->layer_count; ++i) {
        if (!plan->layers[i].shared)
            free(plan->layers[i].ways);
        free(plan->layers[i].held);
    }
    free(plan->layers);
    free(plan->trial);
    free(plan->least);
    free(plan->standings);
    free(plan);
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

/* Nothing that a plan depends on differs. */
static int are_alike(const struct cnnvp_image_layer *layer, const struct cnnvp_image_layer *planned)
{
    struct cnnvp_image_layer one = *layer;
    struct cnnvp_image_layer other = *planned;
    forget_values(&one);
    forget_values(&other);
    return memcmp(&one, &other, sizeof one) == 0;
}

int cnnvp_plan_repeat(struct cnnvp_image_layer *layers, const struct cnnvp_image_layer *planned, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (layers[i].chain == 0 && !are_alike(&layers[i], &planned[i]))
            return 0;
    for (size_t i = 0; i < count; ++i) {
        const struct cnnvp_image_layer *from = &planned[i];
        const struct cnnvp_plan_cut cut = {from->group_out, from->tile_h, from->tile_w, from->tile_in, from->tile_out};
        if (layers[i].chain != 0)
            continue;
        cnnvp_plan_cut_layer(&layers[i], &cut);
        layers[i].tile_ky = from->tile_ky;
        layers[i].tile_kx = from->tile_kx;
    }
    return 1;
}

/* The ways of one of the last layers that is as this one; NULL: none is. */
static struct cnnvp_plan_ways *ways_as_before(const struct cnnvp_plan *plan, const struct planned *planned)
{
    for (size_t back = 1; back <= plan->layer_count && back <= LOOK_BACK; ++back) {
        const struct planned *other = &plan->layers[plan->layer_count - back];
        if (memcmp(&other->before, &planned->before, sizeof other->before) == 0)
            return other->ways;
    }
    return NULL;
}

cnnvp_result cnnvp_plan_add(struct cnnvp_plan *plan, struct cnnvp_image_layer *layer, const char *name,
                            struct cnnvp_error *error)
{
    struct planned *planned = &plan->layers[plan->layer_count];
    planned->layer = layer;
    planned->before = *layer;
    forget_values(&planned->before);
    planned->ways = ways_as_before(plan, planned);
    planned->shared = planned->ways != NULL;
    ++plan->layer_count;
    if (!planned->shared) {
        const cnnvp_result result =
            cnnvp_plan_ways_of(&planned->before, name, &plan->limits, &planned->ways, error);
        if (result != CNNVP_DONE)
            return result;
    }
    planned->held = calloc(plan->count, sizeof *planned->held);
    if (planned->held == NULL)
        return cnnvp_compiler_no_memory(error);
    for (uint32_t place = 0; place < plan->count; ++place)
        climb(plan, planned, place);
    return CNNVP_DONE;
}

/* What layers take that two plans cut in other ways. */
static uint64_t differing_ps(const struct cnnvp_plan *plan, uint32_t one, uint32_t other)
{
    uint64_t ps = 0;
    for (size_t i = 0; i < plan->layer_count; ++i) {
        const struct cnnvp_plan_way *way = plan->layers[i].held[other];
        ps += plan->layers[i].held[one] != way ? way->time.ps : 0;
    }
    return ps;
}

static int clearly_better_plan(const struct cnnvp_plan *plan, const struct standing *own, const struct standing *best)
{
    const uint64_t differing = CNNVP_PLAN_IMAGES * differing_ps(plan, own->origin, best->origin);
    const uint64_t margin = sooner(best->ps / PLANS_PART, differing / LAYERS_PART);
    const int faster = own->ps < best->ps && own->ps + margin <= best->ps;
    const uint64_t saved = best->memory_ps - sooner(own->memory_ps, best->memory_ps);
    const uint64_t slower = saved >= best->memory_ps / MUCH_PART ? best->ps / SLOWER_PART : 0;
    return faster || (own->ps <= best->ps + slower && saved >= best->memory_ps / TRAFFIC_PART);
}

/* Each place takes the fastest of the plans of those below, unless its own is clearly better. */
static void choose_origin(struct cnnvp_plan *plan, uint32_t index)
{
    struct standing *own = &plan->standings[index];
    const struct standing *best = NULL;
    uint32_t below[3];
    find_below(plan, index, below);
    for (size_t n = 0; n < 3; ++n) {
        const struct standing *other = below[n] != NOWHERE ? &plan->standings[below[n]] : NULL;
        if (other != NULL && other->fits && (best == NULL || other->ps < best->ps))
            best = other;
    }
    const uint64_t own_ps = own->ps;
    own->origin = index;
    own->own_ps = own_ps;
    if (best != NULL && !clearly_better_plan(plan, own, best)) {
        *own = *best;
        own->own_ps = own_ps;
    }
}

/* The next image follows: what cost the core its lead at the end of the first one costs time in the second. */
static void add_image(struct cnnvp_plan *plan, struct standing *standing, uint32_t place)
{
    for (size_t i = 0; i < plan->layer_count; ++i) {
        const struct planned *planned = &plan->layers[i];
        go_on(standing, time_at(plan, planned, planned->held[place], standing->lead), plan->limits.timing.most_lead);
    }
}

uint64_t cnnvp_plan_make(struct cnnvp_plan *plan)
{
    for (uint32_t place = 0; place < plan->count; ++place) {
        if (!plan->standings[place].fits)
            continue;
        add_image(plan, &plan->standings[place], place);
        choose_origin(plan, place);
    }
    const struct standing *chosen = &plan->standings[plan->count - 1u];
    for (size_t i = 0; i < plan->layer_count; ++i) {
        const struct planned *planned = &plan->layers[i];
        cnnvp_plan_cut_layer(planned->layer, &planned->held[chosen->origin]->cut);
        planned->layer->tile_ky = planned->ways->tile_ky;
        planned->layer->tile_kx = planned->ways->tile_kx;
    }
    return chosen->ps;
}

/* ---- rivals ---- */

/* A place whose own plan is looked at. */
struct rival {
    uint64_t ps;
    uint32_t place;
};

static int compare_rivals(const void *one, const void *other)
{
    const struct rival *a = one;
    const struct rival *b = other;
    if (a->ps != b->ps)
        return a->ps < b->ps ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int same_plans(const struct cnnvp_plan *plan, uint32_t one, uint32_t other)
{
    for (size_t i = 0; i < plan->layer_count; ++i)
        if (plan->layers[i].held[one] != plan->layers[i].held[other])
            return 0;
    return 1;
}

/* It is not too far from the best for the estimate to be wrong. */
static int may_be_faster(const struct standing *standing, uint64_t best, uint64_t compute)
{
    const uint64_t added = standing->own_ps - sooner(standing->own_ps, compute);
    return standing->own_ps - added / ADDED_PART <= best + best / TIME_PART + JITTER_PS;
}

/* Places whose plans may be faster than the best by the estimate, that one first; how many. */
static size_t list_rivals(const struct cnnvp_plan *plan, struct rival *list)
{
    size_t count = 0;
    uint64_t best = UINT64_MAX;
    for (uint32_t place = 0; place < plan->count; ++place)
        if (plan->standings[place].fits)
            best = sooner(best, plan->standings[place].own_ps);
    for (uint32_t place = 0; place < plan->count; ++place) {
        const struct standing *standing = &plan->standings[place];
        if (standing->fits && may_be_faster(standing, best, plan->standings[plan->count - 1u].compute_ps))
            list[count++] = (struct rival){standing->own_ps, place};
    }
    qsort(list, count, sizeof *list, compare_rivals);
    return count;
}

/* Leaves the plan that was chosen out, and of plans that are the same all but the first. */
static size_t drop_repeated(const struct cnnvp_plan *plan, struct rival *list, size_t count)
{
    const uint32_t chosen = plan->standings[plan->count - 1u].origin;
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        int repeated = same_plans(plan, list[i].place, chosen);
        for (size_t n = kept; n > 0 && list[n - 1u].ps == list[i].ps && !repeated; --n)
            repeated = same_plans(plan, list[i].place, list[n - 1u].place);
        if (!repeated)
            list[kept++] = list[i];
    }
    return kept;
}

static void copy_cuts(const struct cnnvp_plan *plan, uint32_t place, struct cnnvp_plan_cut *cuts)
{
    for (size_t i = 0; i < plan->layer_count; ++i)
        cuts[i] = plan->layers[i].held[place]->cut;
}

cnnvp_result cnnvp_plan_rivals_of(const struct cnnvp_plan *plan, struct cnnvp_plan_rivals **rivals,
                                  struct cnnvp_error *error)
{
    struct rival *list = calloc(plan->count, sizeof *list);
    *rivals = NULL;
    if (list == NULL)
        return cnnvp_compiler_no_memory(error);
    const size_t others = drop_repeated(plan, list, list_rivals(plan, list));
    const size_t cuts = (others + 1u) * plan->layer_count;
    struct cnnvp_plan_rivals *made = calloc(1, sizeof *made + cuts * sizeof made->cuts[0]);
    *rivals = made;
    if (made != NULL) {
        made->count = others + 1u;
        made->layers = plan->layer_count;
        copy_cuts(plan, plan->standings[plan->count - 1u].origin, made->cuts);
        for (size_t i = 0; i < others; ++i)
            copy_cuts(plan, list[i].place, &made->cuts[(i + 1u) * plan->layer_count]);
    }
    free(list);
    return made != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}
