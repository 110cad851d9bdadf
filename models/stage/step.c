/* SPDX-License-Identifier: Apache-2.0 */
/* Values through a pipeline, clock by clock. See step.h. */
#include "step.h"

#include <assert.h>

/* As blocks limit their pipelines. */
enum { REGISTERS = 64 };

/* What a row of registers holds: the values that all sets have taken in one clock. */
struct beat {
    bool valid;
    uint32_t image; /* of the first set */
    uint64_t index; /* of the first lane */
};

static void leave(const struct cnnvp_step *step, const struct beat *beat)
{
    if (!beat->valid || step->leave == NULL)
        return;
    for (uint32_t s = 0; s < step->sets && beat->image + s < step->images; ++s)
        for (uint32_t l = 0; l < step->lanes && beat->index + l < step->values; ++l)
            step->leave(step->context, beat->image + s, beat->index + l);
}

/* What comes behind a beat; not valid behind the last. */
static struct beat next(const struct cnnvp_step *step, const struct beat *beat)
{
    struct beat following = {true, beat->image, beat->index + step->lanes};
    if (following.index >= step->values) {
        following.index = 0;
        following.image += step->sets;
    }
    following.valid = following.image < step->images;
    return following;
}

uint64_t cnnvp_step(const struct cnnvp_step *step)
{
    struct beat registers[REGISTERS] = {{false, 0, 0}};
    struct beat waiting = {step->images != 0 && step->values != 0, 0, 0};
    uint64_t inside = 0; /* beats in the registers */
    uint64_t clock = 0;
    uint64_t taken = 0; /* clocks that the waiting beat has been worked on at the entrance */
    uint64_t place = 0; /* the register that is the last one in this clock: they turn, beats stand still */
    assert(step->pipeline <= REGISTERS);
    while (waiting.valid || inside != 0) {
        struct beat entering = {false, 0, 0};
        if (waiting.valid && ++taken == step->interval) {
            entering = waiting;
            waiting = next(step, &waiting);
            taken = 0;
        }
        if (step->pipeline == 0) {
            leave(step, &entering);
        } else {
            leave(step, &registers[place]);
            inside -= registers[place].valid;
            inside += entering.valid;
            registers[place] = entering;
            place = (place + 1u) % step->pipeline;
        }
        ++clock;
    }
    return clock;
}

static uint64_t take(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_step *step,
                     cnnvp_step_fn leave_value, void *context)
{
    step->pipeline = stage->pipeline;
    step->leave = cnnvp_stage_computes(stage, access) ? leave_value : NULL;
    step->context = context;
    return cnnvp_step(step) - stage->pipeline;
}

uint64_t cnnvp_stage_take(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                          const struct cnnvp_tile *tile, uint64_t values, uint64_t interval, cnnvp_step_fn leave_value,
                          void *context)
{
    struct cnnvp_step step = {
        .images = tile->images, .values = values, .sets = tile->sets, .lanes = tile->lanes, .interval = interval};
    if (tile->stepped == 0 || cnnvp_stage_asks(access))
        return cnnvp_tile_beats(tile, values) * interval;
    return take(stage, access, &step, leave_value, context);
}

uint64_t cnnvp_stage_take_shared(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                 const struct cnnvp_tile *tile, uint64_t values, uint64_t interval,
                                 cnnvp_step_fn leave_value, void *context)
{
    struct cnnvp_step step = {
        .images = 1u, .values = values, .sets = 1u, .lanes = tile->sets * tile->lanes, .interval = interval};
    if (tile->stepped == 0 || cnnvp_stage_asks(access))
        return cnnvp_tile_shared_beats(tile, values) * interval;
    return take(stage, access, &step, leave_value, context);
}
