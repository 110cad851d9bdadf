/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_time.h"

#include "plan_replay.h"

#include <stddef.h>

#define WORD_BYTES 2u

/* Whole steps are replayed, until there are so many and so many slices; further ones go on as the later half of these
 * did. Of one step so many slices are replayed at most. */
#define STEPS 4u
#define SLICES 24u
#define STEP_SLICES 32u
#define LEAST_ALIKE 3u /* slices whose pace is worth looking at */

#define WORDS_LOAD 8u /* network_image.h: what changes of a transfer's descriptor */

static uint32_t rest_of(uint32_t total, uint32_t at, uint32_t part)
{
    return total - at < part ? total - at : part;
}

static uint32_t use_if(int used, enum cnnvp_timeline_buffer buffer, uint32_t half)
{
    return used ? cnnvp_timeline_use(buffer, half) : 0;
}

static void load(struct cnnvp_replay *r, enum cnnvp_timeline_buffer buffer, uint32_t half, uint64_t busy)
{
    cnnvp_timeline_load(&r->timeline, buffer, half, busy);
    r->memory_ps += busy;
}

/* ---- steps ---- */

static void push_epilogue(struct cnnvp_replay *r, const struct cnnvp_plan_epilogue *e)
{
    const struct cnnvp_plan_timing *timing = r->timeline.timing;
    const struct cnnvp_plan_extent *extent = &e->step->extent;
    const struct cnnvp_plan_sweeps *posts = &e->step->posts;
    const uint64_t bytes = (uint64_t)extent->channels * extent->rows * extent->columns * WORD_BYTES;
    if (posts->instructions != 0)
        cnnvp_timeline_run(&r->timeline, CNNVP_TIMELINE_VECTOR, posts->instructions * timing->post_core,
                         cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, e->half) |
                             use_if(r->uses_table, CNNVP_TIMELINE_WEIGHT, e->weight_half),
                         posts->cycles * timing->cycle);
    cnnvp_timeline_store(&r->timeline, e->half, e->step->store_ps, bytes * timing->sides[CNNVP_ENGINE_OUTPUT] / 64u);
    r->memory_ps += e->step->store_ps;
}

static void flush(struct cnnvp_replay *r, uint32_t but)
{
    while (r->waiting_count > but) {
        const struct cnnvp_plan_epilogue first = r->waiting[0];
        r->waiting[0] = r->waiting[1];
        --r->waiting_count;
        push_epilogue(r, &first);
    }
}

static uint32_t bring_weights(struct cnnvp_replay *r, uint64_t tag, uint64_t busy)
{
    int found = 0;
    const uint32_t half = cnnvp_timeline_find(&r->timeline, CNNVP_TIMELINE_WEIGHT, tag, &found);
    if (found)
        return half;
    for (uint32_t i = 0; r->uses_table && i < r->waiting_count; ++i)
        if (r->waiting[i].weight_half == half)
            flush(r, r->waiting_count - i - 1u);
    load(r, CNNVP_TIMELINE_WEIGHT, half, busy);
    return half;
}

/* A step, and what of it halves may hold. */
struct place {
    struct cnnvp_plan_step *step;
    uint64_t input_tag;  /* of its first input slice */
    uint64_t weight_tag; /* of its first blob */
};

static uint32_t bring_input(struct cnnvp_replay *r, struct cnnvp_plan_step *step, uint32_t depth, uint64_t tag)
{
    int found = 0;
    const uint32_t half = cnnvp_timeline_find(&r->timeline, CNNVP_TIMELINE_INPUT, tag, &found);
    if (found)
        return half;
    load(r, CNNVP_TIMELINE_INPUT, half, cnnvp_plan_input_ps(r->sorts, step, depth));
    if (r->layer->op == CNNVP_OP_ADD)
        load(r, CNNVP_TIMELINE_INPUT, half, step->second_ps);
    return half;
}

static uint32_t begin_step(struct cnnvp_replay *r)
{
    flush(r, r->timeline.halves[CNNVP_TIMELINE_OUTPUT] - 1u);
    return cnnvp_timeline_take(&r->timeline, CNNVP_TIMELINE_OUTPUT);
}

static void end_step(struct cnnvp_replay *r, const struct cnnvp_plan_step *step, uint32_t output, uint32_t weight)
{
    r->waiting[r->waiting_count++] = (struct cnnvp_plan_epilogue){
        .half = output,
        .weight_half = weight,
        .step = step,
    };
}

/* What is there to do of two resources at the same time, or one after the other. */
static uint64_t both(const struct cnnvp_replay *r, uint64_t compute, uint64_t memory)
{
    return r->timeline.timing->strict ? compute + memory : later(compute, memory);
}

/* How far it has come. */
struct mark {
    uint64_t calculated; /* until then */
    uint64_t slices;
    uint64_t compute_ps;
    uint64_t memory_ps;
};

static struct mark mark_of(const struct cnnvp_replay *r)
{
    const uint64_t calculated = later(r->timeline.unit[CNNVP_TIMELINE_ARRAY], r->timeline.unit[CNNVP_TIMELINE_VECTOR]);
    return (struct mark){calculated, r->slices, r->compute_ps, r->memory_ps};
}

/* The rest of a step, by what there is to calculate and to load, and what its slices took besides since `half`. */
static void pass_over(struct cnnvp_replay *r, const struct mark *begin, const struct mark *half, uint64_t count,
                      struct cnnvp_plan_step *step)
{
    const struct cnnvp_plan_time all = cnnvp_plan_step_sums(r->sorts, step);
    const uint64_t compute = all.compute_ps - sooner(all.compute_ps, r->compute_ps - begin->compute_ps);
    const uint64_t memory = all.memory_ps - sooner(all.memory_ps, r->memory_ps - begin->memory_ps);
    const uint64_t time = r->timeline.unit[CNNVP_TIMELINE_ARRAY] - half->calculated;
    const uint64_t part = both(r, r->compute_ps - half->compute_ps, r->memory_ps - half->memory_ps);
    const uint64_t besides = time > part ? (time - part) / (STEP_SLICES - STEP_SLICES / 2u) * count : 0;
    const uint64_t more = both(r, compute, memory) + besides;
    cnnvp_timeline_pass(&r->timeline, more, (int64_t)more);
    r->compute_ps += compute;
    r->memory_ps += memory;
}

/* Slices of a step with weights. */
struct slicing {
    struct cnnvp_plan_step *step;
    uint32_t inputs;
    uint64_t most;      /* are replayed, the others of the step by what these took */
    uint64_t middle;    /* of these, where there are others; 0: there are none */
    uint64_t count;     /* so far */
    uint64_t input_tag; /* of the next one */
    uint64_t weight_tag;
    uint32_t output;    /* halves */
    uint32_t weight;
    struct mark half;   /* before the middle one's calculation */
};

/* Passes over slices of further results of the same inputs, up to the middle: how many. */
static uint64_t pass_outputs(struct cnnvp_replay *r, struct slicing *s, struct cnnvp_pace *pace, uint32_t out)
{
    const uint64_t left = sooner((s->step->extent.channels - out) / r->layer->tile_out, s->most - s->count);
    if (s->count == 0 || left < LEAST_ALIKE) {
        pace->array = 0;
        return 0;
    }
    const struct cnnvp_pace_alike alike = {.count = left,
                                           .most = s->count < s->middle ? s->middle - s->count : left,
                                           .weights = 1,
                                           .weight_tag = s->weight_tag};
    const uint64_t passed = cnnvp_pace_pass(r, pace, &alike);
    s->count += passed;
    s->weight_tag += passed;
    return passed;
}

/* Slices of the inputs that lie `in` behind the first. */
static void run_outputs(struct cnnvp_replay *r, struct slicing *s, uint32_t in)
{
    const struct cnnvp_image_layer *layer = r->layer;
    const struct cnnvp_plan_extent *extent = &s->step->extent;
    const uint32_t depth = rest_of(s->inputs, in, layer->tile_in);
    const uint32_t input = bring_input(r, s->step, depth, s->input_tag++);
    struct cnnvp_pace pace = {0};
    for (uint32_t out = 0; out < extent->channels && s->count < s->most;) {
        if (s->count == s->middle)
            s->half = (struct mark){r->timeline.unit[CNNVP_TIMELINE_ARRAY], r->slices, r->compute_ps, r->memory_ps};
        const uint64_t passed = pass_outputs(r, s, &pace, out);
        if (passed != 0) {
            out += (uint32_t)passed * layer->tile_out;
            continue;
        }
        const struct cnnvp_engine_slice slice = {.rows = extent->rows,
                                                 .columns = extent->columns,
                                                 .in = depth,
                                                 .out = rest_of(extent->channels, out, layer->tile_out),
                                                 .first = in == 0,
                                                 .last = in + depth == s->inputs};
        const struct cnnvp_plan_slice *known = cnnvp_plan_slice_of(r->sorts, s->step, &slice);
        const uint64_t core = s->count == 0 ? cnnvp_plan_step_core(layer, r->timeline.timing) : 0;
        s->weight = bring_weights(r, s->weight_tag++, known->weights_ps);
        if (s->count == 0)
            s->output = begin_step(r);
        r->compute_ps += known->cycles * r->timeline.timing->cycle;
        cnnvp_timeline_run(&r->timeline, CNNVP_TIMELINE_ARRAY, r->timeline.timing->calculate_core + core,
                         cnnvp_timeline_use(CNNVP_TIMELINE_INPUT, input) |
                             cnnvp_timeline_use(CNNVP_TIMELINE_WEIGHT, s->weight) |
                             cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, s->output),
                         known->cycles * r->timeline.timing->cycle);
        ++s->count;
        out += layer->tile_out;
    }
}

/* Passes over further inputs and their slices, which are neither the first nor the last of their results, nor those in
 * the middle: how many. */
static uint64_t pass_inputs(struct cnnvp_replay *r, struct slicing *s, struct cnnvp_pace *pace, uint32_t in)
{
    const uint64_t outputs = cnnvp_divide_up(s->step->extent.channels, r->layer->tile_out);
    const uint64_t left = sooner((s->inputs - in - 1u) / r->layer->tile_in, (s->most - s->count) / outputs);
    if (in == 0 || left < LEAST_ALIKE) {
        pace->array = 0;
        return 0;
    }
    const struct cnnvp_pace_alike alike = {.count = left,
                                           .most = s->count <= s->middle ? (s->middle - s->count) / outputs : left,
                                           .inputs = 1,
                                           .weights = outputs,
                                           .input_tag = s->input_tag,
                                           .weight_tag = s->weight_tag};
    const uint64_t passed = cnnvp_pace_pass(r, pace, &alike);
    s->count += passed * outputs;
    s->input_tag += passed;
    s->weight_tag += passed * outputs;
    return passed;
}

/* Returns how many slices the step has. */
static uint64_t run_sliced(struct cnnvp_replay *r, const struct place *place)
{
    const struct cnnvp_image_layer *layer = r->layer;
    const uint32_t channels = place->step->extent.channels;
    const uint32_t inputs = layer->depthwise != 0 ? channels : cnnvp_engine_inputs(layer);
    const uint64_t all = cnnvp_divide_up(inputs, layer->tile_in) * cnnvp_divide_up(channels, layer->tile_out);
    const struct mark begin = mark_of(r);
    struct slicing s = {.step = place->step,
                        .inputs = inputs,
                        .most = sooner(all, STEP_SLICES),
                        .middle = all > STEP_SLICES ? STEP_SLICES / 2u : 0,
                        .input_tag = place->input_tag,
                        .weight_tag = place->weight_tag};
    struct cnnvp_pace pace = {0};
    for (uint32_t in = 0; in < inputs && s.count < s.most;) {
        const uint64_t passed = pass_inputs(r, &s, &pace, in);
        if (passed == 0)
            run_outputs(r, &s, in);
        in += (passed != 0 ? (uint32_t)passed : 1u) * layer->tile_in;
    }
    if (s.most < all)
        pass_over(r, &begin, &s.half, all - s.most, place->step);
    end_step(r, place->step, s.output, s.weight);
    return all;
}

static uint64_t run_whole(struct cnnvp_replay *r, const struct place *place)
{
    const struct cnnvp_image_layer *layer = r->layer;
    const struct cnnvp_plan_timing *timing = r->timeline.timing;
    struct cnnvp_plan_step *step = place->step;
    const int pool = layer->op == CNNVP_OP_POOL;
    const uint32_t input = bring_input(r, step, step->extent.channels, place->input_tag);
    const int blob = r->uses_table || layer->op == CNNVP_OP_NORM;
    uint32_t weight = 0;
    if (blob)
        weight = bring_weights(r, 1, cnnvp_plan_weights_ps(timing, cnnvp_plan_blob_bytes(layer)));
    const uint32_t output = begin_step(r);
    const uint64_t core =
        step->whole.instructions * timing->calculate_core + cnnvp_plan_step_core(layer, timing);
    r->compute_ps += step->whole.cycles * timing->cycle;
    cnnvp_timeline_run(&r->timeline, pool ? CNNVP_TIMELINE_ARRAY : CNNVP_TIMELINE_VECTOR, core,
                     cnnvp_timeline_use(CNNVP_TIMELINE_INPUT, input) |
                         use_if(blob && !pool, CNNVP_TIMELINE_WEIGHT, weight) |
                         cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, output),
                     step->whole.cycles * timing->cycle);
    end_step(r, step, output, weight);
    return 1;
}

/* Of steps with weights; otherwise steps. */
static uint64_t slices_of(const struct cnnvp_image_layer *layer)
{
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    return (uint64_t)counts.tiles * (cnnvp_plan_has_weights(layer) ? counts.blobs : counts.groups);
}

/* All steps, or until there are enough of them. *early: the replay when half of these were done. */
static void run(struct cnnvp_replay *r, struct mark *early)
{
    const struct cnnvp_image_layer *layer = r->layer;
    const int sliced = cnnvp_plan_has_weights(layer);
    const int channelwise = cnnvp_plan_is_channelwise(layer);
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const struct cnnvp_image_tensor *out = &layer->out;
    uint64_t steps = 0;
    uint64_t tile = 0;
    struct place place = {.weight_tag = 1};
    struct cnnvp_plan_extent extent;
    *early = mark_of(r);
    for (uint32_t channel = 0; channel < out->channels; channel += layer->group_out) {
        extent.channels = rest_of(out->channels, channel, layer->group_out);
        if (!channelwise)
            tile = 0;
        for (uint32_t row = 0; row < out->height; row += layer->tile_h) {
            extent.rows = rest_of(out->height, row, layer->tile_h);
            for (uint32_t column = 0; column < out->width; column += layer->tile_w) {
                extent.columns = rest_of(out->width, column, layer->tile_w);
                if (r->slices >= SLICES && steps >= STEPS)
                    return;
                place.step = cnnvp_plan_step_of(r->sorts, &extent);
                place.input_tag = 1u + tile++ * counts.input_slices;
                r->slices += sliced ? run_sliced(r, &place) : run_whole(r, &place);
                ++steps;
                if (early->slices == 0 && r->slices >= SLICES / 2u && steps >= STEPS / 2u)
                    *early = mark_of(r);
            }
        }
        place.weight_tag += (uint64_t)counts.input_slices * counts.output_slices;
    }
}

/* The steps that were not replayed: what calculation or memory takes of them, and what the later half of the others
 * took besides, slice by slice. */
static uint64_t rest_ps(const struct cnnvp_replay *r, const struct mark *early, const struct cnnvp_plan_time *all,
                        uint64_t rest_slices)
{
    const struct mark end = mark_of(r);
    const uint64_t time = end.calculated - early->calculated;
    const uint64_t rest_compute = all->compute_ps - sooner(end.compute_ps, all->compute_ps);
    const uint64_t rest_memory = all->memory_ps - sooner(end.memory_ps, all->memory_ps);
    const uint64_t part = both(r, end.compute_ps - early->compute_ps, end.memory_ps - early->memory_ps);
    const uint64_t besides = time > part ? (time - part) / (end.slices - early->slices) * rest_slices : 0;
    return both(r, rest_compute, rest_memory) + besides;
}

struct cnnvp_plan_time cnnvp_plan_replay(struct cnnvp_plan_sorts *sorts, const struct cnnvp_plan_time *sums,
                                         uint64_t lead)
{
    const struct cnnvp_plan_limits *limits = sorts->limits;
    const struct cnnvp_plan_timing *timing = &limits->timing;
    struct cnnvp_replay r = {
        .timeline = {.timing = timing,
                   .load_words = WORDS_LOAD,
                   /* Of two operands and the results: measured. */
                   .rows_collide = sorts->layer->op == CNNVP_OP_ADD,
                   .core = (int64_t)((uint64_t)timing->layer_core * timing->core) - (int64_t)lead,
                   .halves = {limits->input_halves, limits->weight_halves, limits->output_halves}},
        .layer = sorts->layer,
        .sorts = sorts,
        .uses_table = cnnvp_plan_table_words(sorts->layer) != 0,
    };
    r.one_by_one = sorts->one_by_one || r.uses_table;
    struct mark early;
    struct cnnvp_plan_time time = *sums;
    run(&r, &early);
    const uint64_t slices = slices_of(sorts->layer);
    time.ps = r.slices < slices ? rest_ps(&r, &early, &time, slices - r.slices) : 0;
    flush(&r, 0);
    time.ps += later(mark_of(&r).calculated, r.timeline.unit[CNNVP_TIMELINE_WRITE]);
    if (time.core_ps > lead)
        time.ps = later(time.ps, time.core_ps - lead);
    cnnvp_plan_weigh(&time, timing, lead);
    return time;
}

struct cnnvp_plan_time cnnvp_plan_time_of(const struct cnnvp_image_layer *layer,
                                          const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_sorts sorts = {.layer = layer, .limits = limits};
    const struct cnnvp_plan_time sums = cnnvp_plan_sums(&sorts);
    return cnnvp_plan_replay(&sorts, &sums, limits->timing.lead);
}
