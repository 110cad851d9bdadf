/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a job's operands crosses the ports. Both depths know the tile's shape and the distances of scales and
 * exponents; rows and values of operands are the closed form's alone.
 */
#include "job.h"

#include "cnnvp_integer.h"
#include "stage/stage.h"
#include "stage/step.h"

static uint64_t at_stride(const struct cnnvp_tile *tile, uint32_t image, uint64_t index, uint64_t image_stride,
                          uint64_t channel_stride)
{
    return image * image_stride + index / tile->plane * channel_stride + 1u;
}

/* Matrices are filled to 16 bits. */
static uint64_t even(uint64_t bytes)
{
    return (bytes + 1u) / 2u * 2u;
}

/* Windows along a line that end in its first `n` values. */
static uint64_t ended(uint64_t n, uint32_t kernel, uint32_t stride)
{
    return n < kernel ? 0 : (n - kernel) / stride + 1u;
}

/* Values after the pool: of windows that end with this value or before. */
static uint64_t reach_ended(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    const uint64_t y = index % tile->plane / tile->width;
    const uint64_t x = index % tile->plane % tile->width;
    const uint64_t cols = ended(tile->width, tile->kx, tile->sx);
    const uint64_t before = ended(y, tile->ky, tile->sy);
    const uint64_t here = ended(y + 1u, tile->ky, tile->sy) - before;
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    return (plane * ended(tile->height, tile->ky, tile->sy) + before) * cols + here * ended(x + 1u, tile->kx, tile->sx);
}

/* Words of an operand that have crossed when value `index` of an image has been taken. */
static uint64_t reach(const struct cnnvp_job *job, enum cnnvp_job_place place, uint32_t image, uint64_t index)
{
    const struct cnnvp_tile *tile = &job->tile;
    switch (place) {
    case CNNVP_JOB_LABELS:
        return image + 1u;
    case CNNVP_JOB_SCALES:
        return at_stride(tile, image, index, job->scale_image_stride, job->scale_channel_stride);
    case CNNVP_JOB_EXPONENTS:
        if (tile->kind == CNNVP_TILE_EXPONENTS)
            return (tile->flags & CNNVP_TILE_EACH) != 0 ? index + 1u : 1u;
        return at_stride(tile, image, index, tile->exponent_image_stride, tile->exponent_channel_stride);
    case CNNVP_JOB_MASK:
        return even(cnnvp_reach_bit(tile, image, index));
    case CNNVP_JOB_POSITIONS:
        return even(cnnvp_reach_position(tile, image, index));
    case CNNVP_JOB_IN:
        if (job->back)
            return cnnvp_reach_window(tile, image, index);
        break;
    case CNNVP_JOB_OUT:
        if (job->convert && job->back)
            return cnnvp_reach_window(tile, image, index);
        if (tile->kind == CNNVP_TILE_FORWARD)
            return reach_ended(tile, image, index);
        break;
    default:
        break;
    }
    return (uint64_t)image * tile->channels * tile->plane + index + 1u;
}

static void meet(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    struct cnnvp_job *job = context;
    (void)value;
    for (unsigned i = 0; i < CNNVP_JOB_PLACES; ++i)
        if (job->operands[i].used)
            job->operands[i].words =
                cnnvp_maximum(job->operands[i].words, reach(job, (enum cnnvp_job_place)i, image, index));
    job->held_words = index + 1u;
}

static int step(struct cnnvp_job *job)
{
    static const cnnvp_step_fn stage = meet;
    const struct cnnvp_tile *tile = &job->tile;
    const struct cnnvp_step step = {
        .images = tile->images,
        .values = tile->channels * tile->plane,
        .sets = tile->sets,
        .lanes = tile->lanes,
        .interval = 1u,
        .stage_count = 1u,
        .stages = &stage,
        .context = job};
    return cnnvp_step(&step, &job->beats);
}

int cnnvp_job_cross(struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    if (tile->stepped != 0)
        return step(job);
    for (unsigned i = 0; i < CNNVP_JOB_PLACES; ++i)
        job->operands[i].words = job->operands[i].rows * job->operands[i].row_values;
    job->held_words = job->size / 4u;
    job->beats = cnnvp_tile_beats(tile, tile->channels * tile->plane);
    return CNNVP_OK;
}
