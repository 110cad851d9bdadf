/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantiser of S001 (C4): activations and errors become mantissas under exponents from the max-min buffer (C7). The
 * same block makes the exponents, and quantises weights after the update.
 */
#include "quantise.h"
#include "unit/parts.h"

#include "cnnvp_bfp.h"
#include "stage/extremes.h"
#include "stage/step.h"

#define UNIT_DEF "quantise/quantise.def"
#include "unit/unit_enums.inc"

static float maximum(float a, float b)
{
    return a > b ? a : b;
}

static float magnitude(float x)
{
    return x < 0.0f ? -x : x;
}

float cnnvp_quantise_extreme(const struct cnnvp_extremes *extremes, float scale, float offset, bool relu)
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

float cnnvp_quantise_extreme_back(const struct cnnvp_extremes *errors, const struct cnnvp_norm *norm)
{
    const float largest = cnnvp_quantise_extreme(errors, norm->dy_scale, norm->dy_offset, false);
    const float product_at_max = norm->dy_scale * norm->dy_at_max;
    const float product_at_min = norm->dy_scale * norm->dy_at_min;
    const float at_max = product_at_max + norm->dy_offset;
    const float at_min = product_at_min + norm->dy_offset;
    return maximum(largest, maximum(magnitude(at_max + norm->extreme), magnitude(at_min - norm->extreme)));
}

static void count_events(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                         const struct cnnvp_bfp_counts *counts)
{
    cnnvp_stage_count(stage, access, STAT_saturations, counts->saturated);
    cnnvp_stage_count(stage, access, STAT_nonfinite, counts->nonfinite);
    cnnvp_stage_count(stage, access, STAT_exponents_clamped, counts->exponents_clamped);
}

/* ---- exponents ---- */

static float extreme_of(const struct cnnvp_tile *tile, const struct cnnvp_extremes *extremes,
                        const struct cnnvp_norm *norm)
{
    const bool relu = (tile->flags & CNNVP_TILE_RELU) != 0;
    if ((tile->flags & CNNVP_TILE_MAP) != 0)
        return cnnvp_quantise_extreme(extremes, norm->scale, norm->offset, relu);
    if ((tile->flags & CNNVP_TILE_MAP_BACK) != 0)
        return cnnvp_quantise_extreme_back(extremes, norm);
    if (relu)
        return extremes->max > 0.0f ? extremes->max : 0.0f;
    return cnnvp_extremes_magnitude(extremes);
}

struct search {
    const struct cnnvp_tile *tile;
    const struct cnnvp_extremes *extremes;
    const struct cnnvp_norm *norms;
    float largest; /* of all entries */
    struct cnnvp_bfp_counts counts;
};

/* Stages: entry c's largest magnitude; the largest so far, and the exponent: the last entry of a tensor brings it. */
static void find_extreme(void *context, uint32_t image, uint64_t c, struct cnnvp_step_value *value)
{
    const struct search *search = context;
    (void)image;
    value->a = extreme_of(search->tile, &search->extremes[c], search->norms != NULL ? &search->norms[c] : NULL);
}

static void find_exponent(void *context, uint32_t image, uint64_t c, struct cnnvp_step_value *value)
{
    struct search *search = context;
    const struct cnnvp_tile *tile = search->tile;
    (void)image;
    search->largest = value->a > search->largest ? value->a : search->largest;
    if ((tile->flags & CNNVP_TILE_EACH) != 0)
        tile->exponents_out[c] = cnnvp_bfp_exponent(value->a, &search->counts);
    else if (c + 1u == tile->channels)
        tile->exponents_out[0] = cnnvp_bfp_exponent(search->largest, &search->counts);
}

static const struct cnnvp_stages stages_of_exponents = {2, {find_extreme, find_exponent}};

static int make_exponents(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    void *extremes;
    void *norms = NULL;
    uint64_t cycles;
    const struct cnnvp_stage_flow flow = {tile->channels, 1u, cnnvp_reach_value};
    int status = cnnvp_stage_entries(stage, access, PORT_max_min, false, tile->entry, tile->channels,
                                     sizeof(struct cnnvp_extremes), &flow, &extremes);
    if (status == CNNVP_OK && (tile->flags & (CNNVP_TILE_MAP | CNNVP_TILE_MAP_BACK)) != 0)
        status = cnnvp_stage_entries(stage, access, PORT_norm, false, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_norm), &flow, &norms);
    if (status != CNNVP_OK)
        return status;
    struct search search = {.tile = tile, .extremes = extremes, .norms = norms};
    status = cnnvp_stage_take(stage, access, tile, tile->channels, 1u, &stages_of_exponents, &search, &cycles);
    if (status != CNNVP_OK)
        return status;
    for (uint32_t c = 0; cnnvp_stage_computes_fast(stage, access, tile) && c < tile->channels; ++c) {
        struct cnnvp_step_value value;
        find_extreme(&search, 0, c, &value);
        find_exponent(&search, 0, c, &value);
    }
    count_events(stage, access, &search.counts);
    const struct cnnvp_stage_work work = {"exponents", STAT_busy_cycles, STAT_extremes, cycles, 2u * tile->channels};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_exponents, (tile->flags & CNNVP_TILE_EACH) != 0 ? tile->channels : 1u);
    return CNNVP_OK;
}

/* ---- tiles ---- */

struct stepped {
    const struct cnnvp_tile *tile;
    struct cnnvp_bfp_format format;
    struct cnnvp_bfp_counts counts;
    int64_t remainders[64]; /* by set */
};

/* Stages: the exponent's place; the mantissa, with what it leaves to the next one; into the matrix. */
static void fetch(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    value->a = tile->values[(uint64_t)image * tile->channels * tile->plane + index];
    value->number = tile->exponents[(uint64_t)image * tile->exponent_image_stride +
                                    index / tile->plane * tile->exponent_channel_stride];
}

static void round_value(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const int8_t exponent = (int8_t)value->number;
    int64_t *remainder = &stepped->remainders[image % tile->sets];
    if (index % tile->plane == 0)
        *remainder = 0;
    if (stepped->format.rounding == CNNVP_BFP_ROUNDING_CARRIED)
        value->number = cnnvp_bfp_carry_one(&stepped->format, exponent, value->a, remainder, &stepped->counts);
    else
        cnnvp_bfp_quantise_wide(&stepped->format, exponent, tile->first + image * tile->image_stride + index, &value->a,
                                1u, &value->number, &stepped->counts);
}

static void put(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t at = (uint64_t)image * tile->channels * tile->plane + index;
    if (tile->mantissa_bits > 8u)
        ((int32_t *)tile->mantissas)[at] = value->number;
    else
        ((int8_t *)tile->mantissas)[at] = (int8_t)value->number;
}

static const struct cnnvp_stages stages_of_values = {3, {fetch, round_value, put}};

static void quantise_plane(const struct cnnvp_tile *tile, const struct cnnvp_bfp_format *format, int8_t exponent,
                           uint64_t index, uint64_t at, struct cnnvp_bfp_counts *counts)
{
    const bool wide = tile->mantissa_bits > 8u;
    const float *values = tile->values + at;
    if (format->rounding == CNNVP_BFP_ROUNDING_CARRIED && wide)
        cnnvp_bfp_carry_wide(format, exponent, values, tile->plane, (int32_t *)tile->mantissas + at, counts);
    else if (format->rounding == CNNVP_BFP_ROUNDING_CARRIED)
        cnnvp_bfp_carry(format, exponent, values, tile->plane, (int8_t *)tile->mantissas + at, counts);
    else if (wide)
        cnnvp_bfp_quantise_wide(format, exponent, index, values, tile->plane, (int32_t *)tile->mantissas + at, counts);
    else
        cnnvp_bfp_quantise(format, exponent, index, values, tile->plane, (int8_t *)tile->mantissas + at, counts);
}

static void quantise(const struct cnnvp_tile *tile, struct cnnvp_bfp_counts *counts)
{
    const struct cnnvp_bfp_format format = {tile->mantissa_bits, tile->rounding, tile->seed};
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c) {
            const int8_t exponent = tile->exponents[(uint64_t)n * tile->exponent_image_stride +
                                                    (uint64_t)c * tile->exponent_channel_stride];
            quantise_plane(tile, &format, exponent, tile->first + n * tile->image_stride + c * tile->plane,
                           ((uint64_t)n * tile->channels + c) * tile->plane, counts);
        }
}

static int work_on(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const uint64_t values = tile->channels * tile->plane;
    struct stepped stepped = {.tile = tile, .format = {tile->mantissa_bits, tile->rounding, tile->seed}};
    uint64_t cycles;
    const int status = cnnvp_stage_take(stage, access, tile, values, 1u, &stages_of_values, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes_fast(stage, access, tile))
        quantise(tile, &stepped.counts);
    count_events(stage, access, &stepped.counts);
    const struct cnnvp_stage_work work = {"quantise", STAT_busy_cycles, STAT_values, cycles, tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int measure(const struct cnnvp_stage *stage, struct cnnvp_access *access, struct cnnvp_tile *tile,
                   uint64_t words)
{
    const uint32_t kind = tile->kind;
    tile->kind = CNNVP_TILE_EXTREMES;
    const int status = cnnvp_stage_pass(stage, access, PORT_statistics, tile, words, 4u);
    tile->kind = kind;
    return status;
}

static int quantise_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind == CNNVP_TILE_EXPONENTS)
        return make_exponents(stage, access, tile);
    if (tile->kind != CNNVP_TILE_FORWARD && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    const uint64_t words = tile->images * tile->channels * tile->plane;
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    if ((tile->flags & CNNVP_TILE_MEASURE) != 0)
        return measure(stage, access, tile, words);
    if ((tile->flags & CNNVP_TILE_FLOAT) == 0)
        status = work_on(stage, access, tile);
    if (status != CNNVP_OK)
        return status;
    const bool wide = (tile->flags & CNNVP_TILE_FLOAT) != 0 || tile->mantissa_bits > 8u;
    return cnnvp_stage_pass(stage, access, PORT_next, tile, words, wide ? 4u : 1u);
}

static void quantise_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 3u * lanes, "a shifter, the area of two adders, and rounding");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 8u, lanes, "exponents");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 32u, lanes, "mapped extremes");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 32u, lanes, "mapped extremes");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, (params[PARAM_pipeline] + 1u) * lanes, "values");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_quantise = {
    UNIT_TABLES,
    .kind = "quantise",
    .version = "1.0",
    .summary = "block floating point under exponents from the max-min buffer",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = quantise_access,
    .costs = quantise_costs,
};
