/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantiser of S001 (C4): converts activations and errors to mantissas (cnnvp_bfp.h) with exponents from the
 * max-min buffer, without another sweep over the data (C7, Part B 1-25). The extremes of a channel before batch norm
 * are mapped through batch norm and ReLU, which are monotone also in binary32, and the largest magnitude gives the
 * exponent. Backward does the same for errors, in range form and without batch norm; in standard form dx also depends
 * on the inputs, and a sweep is needed. The same block quantises weights after the update.
 */
#include "units.h"

#include "cnnvp_bfp.h"
#include "training/stage/extremes.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/quantise/quantise.def"
#include "unit/unit_enums.inc"

static float maximum(float a, float b)
{
    return a > b ? a : b;
}

static float magnitude(float x)
{
    return x < 0.0f ? -x : x;
}

/* The largest magnitude of scale * x + offset (with ReLU: of its positive part) for x between the extremes, rounded as
 * in batch norm. */
static float largest_forward(const struct cnnvp_extremes *extremes, float scale, float offset, bool relu)
{
    if (!(extremes->min <= extremes->max))
        return 0.0f;
    const float low_product = scale * extremes->min;
    const float high_product = scale * extremes->max;
    const float low = low_product + offset;
    const float high = high_product + offset;
    if (relu)
        return maximum(maximum(low, high), 0.0f);
    return maximum(magnitude(low), magnitude(high));
}

/* The same for errors in batch norm's backward, including the two errors that are kept apart. */
static float largest_back(const struct cnnvp_extremes *errors, const struct cnnvp_norm *norm)
{
    const float largest = largest_forward(errors, norm->dy_scale, norm->dy_offset, false);
    const float product_at_max = norm->dy_scale * norm->dy_at_max;
    const float product_at_min = norm->dy_scale * norm->dy_at_min;
    const float at_max = product_at_max + norm->dy_offset;
    const float at_min = product_at_min + norm->dy_offset;
    return maximum(largest, maximum(magnitude(at_max + norm->extreme), magnitude(at_min - norm->extreme)));
}

static void count_events(const struct cnnvp_stage_call *call, const struct cnnvp_bfp_counts *counts)
{
    cnnvp_stage_count(call, STAT_saturations, counts->saturated);
    cnnvp_stage_count(call, STAT_nonfinite, counts->nonfinite);
    cnnvp_stage_count(call, STAT_exponents_clamped, counts->exponents_clamped);
}

/* ---- exponents ---- */

static float extreme_of(const struct cnnvp_tile *tile, const struct cnnvp_extremes *extremes,
                        const struct cnnvp_norm *norm)
{
    const bool relu = (tile->flags & CNNVP_TILE_RELU) != 0;
    if ((tile->flags & CNNVP_TILE_MAP) != 0)
        return largest_forward(extremes, norm->scale, norm->offset, relu);
    if ((tile->flags & CNNVP_TILE_MAP_BACK) != 0)
        return largest_back(extremes, norm);
    if (relu)
        return extremes->max > 0.0f ? extremes->max : 0.0f;
    return cnnvp_extremes_magnitude(extremes);
}

/* call->data: the extremes, and the batch norm coefficients that map them. */
static void make_exponents(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const struct cnnvp_extremes *extremes = call->data[0];
    const struct cnnvp_norm *norms = call->data[1];
    struct cnnvp_bfp_counts counts = {0};
    float largest = 0.0f; /* over all channels */
    for (uint32_t c = 0; c < tile->channels; ++c) {
        const float extreme = extreme_of(tile, &extremes[c], norms != NULL ? &norms[c] : NULL);
        largest = maximum(extreme, largest);
        if ((tile->flags & CNNVP_TILE_EACH) != 0)
            tile->exponents_out[c] = cnnvp_bfp_exponent(extreme, &counts);
    }
    if ((tile->flags & CNNVP_TILE_EACH) == 0)
        tile->exponents_out[0] = cnnvp_bfp_exponent(largest, &counts);
    count_events(call, &counts);
}

static void plan_exponents(const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    cnnvp_stage_work(plan, tile, make_exponents, "exponents", STAT_busy_cycles, STAT_extremes, 2u * tile->channels);
    plan->counts[0] =
        (struct cnnvp_stage_count){STAT_exponents, (tile->flags & CNNVP_TILE_EACH) != 0 ? tile->channels : 1u};
    plan->values = tile->channels;
    cnnvp_stage_entries(plan, tile, PORT_max_min, false, tile->entry, tile->channels, sizeof(struct cnnvp_extremes));
    if ((tile->flags & (CNNVP_TILE_MAP | CNNVP_TILE_MAP_BACK)) != 0)
        cnnvp_stage_entries(plan, tile, PORT_norm, false, tile->norm_entry, tile->channels, sizeof(struct cnnvp_norm));
}

/* ---- tiles ---- */

static void quantise(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const struct cnnvp_bfp_format format = {tile->mantissa_bits, tile->rounding, tile->seed};
    const uint32_t bytes = cnnvp_bfp_bytes(tile->mantissa_bits);
    struct cnnvp_bfp_counts counts = {0};
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c) {
            const uint64_t at = ((uint64_t)n * tile->channels + c) * tile->plane;
            const int8_t exponent = tile->exponents[(uint64_t)n * tile->exponent_image_stride +
                                                    (uint64_t)c * tile->exponent_channel_stride];
            cnnvp_bfp_quantise(&format, exponent, tile->first + n * tile->image_stride + c * tile->plane,
                               tile->values + at, tile->plane, (char *)tile->mantissas + at * bytes, &counts);
        }
    count_events(call, &counts);
}

static int quantise_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    (void)self;
    if (tile->kind == CNNVP_TILE_EXPONENTS) {
        plan_exponents(tile, plan);
        return CNNVP_OK;
    }
    if (tile->kind != CNNVP_TILE_FORWARD && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    if ((tile->flags & CNNVP_TILE_MEASURE) != 0) {
        cnnvp_stage_pass(plan, tile, PORT_statistics, values, 4u);
        plan->kind = CNNVP_TILE_EXTREMES;
        return CNNVP_OK;
    }
    cnnvp_stage_pass(plan, tile, PORT_next, values, cnnvp_stage_mantissa_bytes(tile));
    if ((tile->flags & CNNVP_TILE_FLOAT) != 0)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, quantise, "quantise", STAT_busy_cycles, STAT_values, values);
    return CNNVP_OK;
}

static const struct cnnvp_parts_row quantise_parts[] = {
    {CNNVP_PART_ADDER, 32u, 3u, CNNVP_OF_LANES, "a shifter, the area of two adders, and rounding"},
    {CNNVP_PART_ADDER, 8u, 1u, CNNVP_OF_LANES, "exponents"},
    {CNNVP_PART_FLOAT_MULTIPLIER, 32u, 1u, CNNVP_OF_LANES, "mapped extremes"},
    {CNNVP_PART_FLOAT_ADDER, 32u, 1u, CNNVP_OF_LANES, "mapped extremes"},
    {CNNVP_PART_REGISTER, 32u, 1u, CNNVP_OF_STAGES, "values"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(quantise, struct cnnvp_stage, cnnvp_stage_init, NULL,
           "quantiser to block floating point, with exponents from the max-min buffer");
