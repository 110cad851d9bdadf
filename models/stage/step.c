/* SPDX-License-Identifier: Apache-2.0 */
/* Values through a block's pipeline, clock by clock. See step.h. */
#include "step.h"

#include <stdlib.h>

/* What a row of registers holds: the values that all sets have taken in one clock. */
struct beat {
    bool valid;
    uint32_t image;                  /* of the first set */
    uint64_t index;                  /* of the first lane */
    struct cnnvp_step_value *values; /* [sets][lanes], NULL where only time passes */
};

/* Registers of the pipeline and, in front of them, the entrance. They turn, beats stand still. */
struct pipeline {
    const struct cnnvp_step *step;
    struct beat *beats;
    uint64_t places; /* registers and the entrance */
    uint64_t entrance;
};

static struct beat *beat_at(const struct pipeline *pipeline, uint64_t place)
{
    return &pipeline->beats[(pipeline->entrance + pipeline->places - place) % pipeline->places];
}

/* Where stage s works: the first at the entrance, the last where values leave, the others evenly between. */
static uint64_t place_of(const struct pipeline *pipeline, uint32_t stage)
{
    const uint64_t last = pipeline->places - 1u;
    return pipeline->step->stage_count < 2u ? last : stage * last / (pipeline->step->stage_count - 1u);
}

static void work(const struct pipeline *pipeline, uint32_t stage, const struct beat *beat)
{
    const struct cnnvp_step *step = pipeline->step;
    for (uint32_t s = 0; s < step->sets && beat->image + s < step->images; ++s)
        for (uint32_t l = 0; l < step->lanes && beat->index + l < step->values; ++l)
            step->stages[stage](step->context, beat->image + s, beat->index + l, &beat->values[s * step->lanes + l]);
}

/* One clock: every stage works on the values that are in its place. The last one first, as its values came first. */
static void clock_stages(const struct pipeline *pipeline)
{
    const struct cnnvp_step *step = pipeline->step;
    for (uint32_t place = (uint32_t)pipeline->places; place-- != 0;) {
        const struct beat *beat = beat_at(pipeline, place);
        for (uint32_t stage = 0; stage < step->stage_count && beat->valid; ++stage)
            if (place_of(pipeline, stage) == place)
                work(pipeline, stage, beat);
    }
}

/* What comes after a beat; not valid after the last. */
static struct beat next(const struct cnnvp_step *step, const struct beat *beat)
{
    struct beat following = {true, beat->image, beat->index + step->lanes, NULL};
    if (following.index >= step->values) {
        following.index = 0;
        following.image += step->sets;
    }
    following.valid = following.image < step->images;
    return following;
}

static uint64_t run(struct pipeline *pipeline)
{
    const struct cnnvp_step *step = pipeline->step;
    struct beat waiting = {step->images != 0 && step->values != 0, 0, 0, NULL};
    uint64_t inside = 0; /* beats in the registers */
    uint64_t clock = 0;
    uint64_t taken = 0; /* clocks that the waiting beat has been worked on at the entrance */
    while (waiting.valid || inside != 0) {
        struct beat *entering = beat_at(pipeline, 0);
        entering->valid = waiting.valid && ++taken == step->interval;
        if (entering->valid) {
            entering->image = waiting.image;
            entering->index = waiting.index;
            waiting = next(step, &waiting);
            taken = 0;
            ++inside;
        }
        clock_stages(pipeline);
        inside -= beat_at(pipeline, pipeline->places - 1u)->valid;
        pipeline->entrance = (pipeline->entrance + 1u) % pipeline->places;
        ++clock;
    }
    return clock;
}

int cnnvp_step(const struct cnnvp_step *step, uint64_t *clocks)
{
    struct pipeline pipeline = {.step = step, .places = step->pipeline + 1u};
    const size_t width = step->stage_count != 0 ? (size_t)step->sets * step->lanes : 0;
    pipeline.beats = calloc(pipeline.places, sizeof *pipeline.beats);
    struct cnnvp_step_value *values = calloc(pipeline.places * width + 1u, sizeof *values);
    const bool made = pipeline.beats != NULL && values != NULL;
    for (uint64_t place = 0; made && place < pipeline.places; ++place)
        pipeline.beats[place].values = values + place * width;
    if (made)
        *clocks = run(&pipeline);
    free(pipeline.beats);
    free(values);
    return made ? CNNVP_OK : CNNVP_E_NOMEM;
}

static bool is_stepped(const struct cnnvp_access *access, const struct cnnvp_tile *tile)
{
    return tile->stepped != 0 && !cnnvp_stage_asks(access);
}

static struct cnnvp_step step_of(const struct cnnvp_tile *tile, const struct cnnvp_stage_flow *flow)
{
    return (struct cnnvp_step){
        .images = tile->images,
        .values = flow->values,
        .sets = tile->sets,
        .lanes = tile->lanes,
        .interval = flow->interval};
}

static uint64_t cycles_of(const struct cnnvp_tile *tile, const struct cnnvp_stage_flow *flow)
{
    return flow->interval * cnnvp_tile_beats(tile, flow->values);
}

int cnnvp_stage_take(const struct cnnvp_stage *stage, const struct cnnvp_access *access, const struct cnnvp_tile *tile,
                     uint64_t values, uint64_t interval, const struct cnnvp_stages *stages, void *context,
                     uint64_t *cycles)
{
    const struct cnnvp_stage_flow flow = {.values = values, .interval = interval};
    *cycles = cycles_of(tile, &flow);
    if (!is_stepped(access, tile))
        return CNNVP_OK;
    struct cnnvp_step step = step_of(tile, &flow);
    step.pipeline = stage->pipeline;
    step.stages = stages->work;
    step.stage_count = cnnvp_stage_computes(stage, access) ? stages->count : 0;
    step.context = context;
    const int status = cnnvp_step(&step, cycles);
    *cycles -= status == CNNVP_OK ? stage->pipeline : 0;
    return status;
}

/* A piece on its way: the block goes through it word by word, as far as its values reach, and keeps what it has. */
struct crossing {
    const struct cnnvp_tile *tile;
    const struct cnnvp_stage_piece *piece;
    uint64_t words;
};

static void cross(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    struct crossing *crossing = context;
    const struct cnnvp_stage_piece *piece = crossing->piece;
    const uint64_t reach = piece->flow.reach(crossing->tile, image, index) * piece->unit_bytes;
    (void)value;
    while (crossing->words * piece->word_bytes < reach)
        ++crossing->words;
}

int cnnvp_stage_cross(const struct cnnvp_access *access, const struct cnnvp_stage_piece *piece, uint64_t *words,
                      uint64_t *cycles)
{
    const struct cnnvp_tile *tile = access->data;
    static const cnnvp_step_fn port = cross;
    *words = piece->size / piece->word_bytes;
    *cycles = cycles_of(tile, &piece->flow);
    if (!is_stepped(access, tile))
        return CNNVP_OK;
    struct crossing crossing = {tile, piece, 0};
    struct cnnvp_step step = step_of(tile, &piece->flow);
    step.stages = &port;
    step.stage_count = 1u;
    step.context = &crossing;
    const int status = cnnvp_step(&step, cycles);
    *words = crossing.words;
    return status;
}
