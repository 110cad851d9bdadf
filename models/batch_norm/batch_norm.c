/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm of S001 (C4) with its buffer (C6): coefficients from the max-min and the sum buffer, the multiply-add
 * forward and backward, and the sums that dgamma and dbeta are (Part B 1-26).
 */
#include "batch_norm.h"
#include "unit/parts.h"

#include <math.h>

#include "elementary/elementary.h"
#include "stage/sums.h"
#include "stage/step.h"

#define UNIT_DEF "batch_norm/batch_norm.def"
#include "unit/unit_enums.inc"

/* Published for range batch norm (Banner 2018): sigma of a normal distribution from the range of n values. */
#define RANGE_FACTOR 0.54

double cnnvp_norm_range_factor(uint64_t n)
{
    return n > 1u ? RANGE_FACTOR / sqrt(2.0 * cnnvp_elementary_ln((double)n)) : RANGE_FACTOR;
}

static double range_of(const struct cnnvp_extremes *extremes)
{
    return extremes->min <= extremes->max ? (double)extremes->max - (double)extremes->min : 0.0;
}

static void measure(enum cnnvp_norm_form form, float epsilon, const struct cnnvp_extremes *extremes,
                    const struct cnnvp_sums *sums, struct cnnvp_norm *norm)
{
    norm->mean = 0.0;
    norm->sigma = 1.0;
    if (form == CNNVP_NORM_STORED) {
        norm->mean = (double)norm->running_mean;
        norm->sigma = (double)norm->running_sigma;
    } else if (form == CNNVP_NORM_RANGE) {
        norm->mean = cnnvp_sum_mean(sums);
        norm->sigma = cnnvp_norm_range_factor(sums->count) * range_of(extremes) + (double)epsilon;
    } else if (form == CNNVP_NORM_STANDARD) {
        const double n = sums->count != 0 ? (double)sums->count : 1.0;
        norm->mean = cnnvp_sum_mean(sums);
        norm->sigma = sqrt(sums->squares / n + (double)epsilon);
    }
}

static float average(float running, double batch, float weight)
{
    return (float)((double)running + (double)weight * (batch - (double)running));
}

void cnnvp_norm_coefficients(enum cnnvp_norm_form form, float epsilon, float running,
                             const struct cnnvp_extremes *extremes, const struct cnnvp_sums *sums,
                             struct cnnvp_norm *norm)
{
    measure(form, epsilon, extremes, sums, norm);
    const double scale = form == CNNVP_NORM_NONE ? 1.0 : (double)norm->gamma / norm->sigma;
    norm->scale = (float)scale;
    norm->offset = (float)((double)norm->beta - scale * norm->mean);
    if (running != 0.0f && (form == CNNVP_NORM_RANGE || form == CNNVP_NORM_STANDARD)) {
        norm->running_mean = average(norm->running_mean, norm->mean, running);
        norm->running_sigma = average(norm->running_sigma, norm->sigma, running);
    }
    norm->count = sums->count;
    norm->dgamma = norm->dbeta = 0.0;
    norm->dy_at_min = norm->dy_at_max = 0.0f;
}

void cnnvp_norm_coefficients_back(enum cnnvp_norm_form form, struct cnnvp_norm *norm)
{
    const double n = norm->count != 0 ? (double)norm->count : 1.0;
    const double scale = form == CNNVP_NORM_NONE ? 1.0 : (double)norm->gamma / norm->sigma;
    norm->dgamma = form == CNNVP_NORM_NONE ? 0.0 : norm->dgamma / norm->sigma; /* there is no gamma */
    norm->dy_scale = (float)scale;
    norm->x_scale = norm->dy_offset = norm->extreme = 0.0f;
    if (form == CNNVP_NORM_STANDARD) {
        const double slope = -scale * norm->dgamma / n / norm->sigma;
        norm->x_scale = (float)slope;
        norm->dy_offset = (float)(-scale * norm->dbeta / n - slope * norm->mean);
    } else if (form == CNNVP_NORM_RANGE) {
        norm->dy_offset = (float)(-scale * norm->dbeta / n);
        norm->extreme = (float)(-scale * norm->dgamma * cnnvp_norm_range_factor(norm->count));
    }
}

void cnnvp_norm_forward(const struct cnnvp_norm *norm, float *x, uint64_t n)
{
    const float scale = norm->scale;
    const float offset = norm->offset;
    for (uint64_t i = 0; i < n; ++i) {
        const float product = scale * x[i];
        x[i] = product + offset;
    }
}

void cnnvp_norm_reduce(const struct cnnvp_extremes *extremes, uint64_t first, const float *x, const float *dy,
                       uint64_t n, struct cnnvp_norm *norm)
{
    norm->dbeta += cnnvp_sum(dy, n);
    norm->dgamma += cnnvp_sum_of_products(dy, x, n, norm->mean);
    if (extremes->min_at >= first && extremes->min_at - first < n)
        norm->dy_at_min = dy[extremes->min_at - first];
    if (extremes->max_at >= first && extremes->max_at - first < n)
        norm->dy_at_max = dy[extremes->max_at - first];
}

void cnnvp_norm_backward(const struct cnnvp_norm *norm, const struct cnnvp_extremes *extremes, uint64_t first,
                         const float *x, float *dy, uint64_t n)
{
    const struct cnnvp_norm k = *norm;
    for (uint64_t i = 0; i < n; ++i) {
        const float by_error = k.dy_scale * dy[i];
        const float by_value = k.x_scale * x[i];
        const float sum = by_error + by_value;
        dy[i] = sum + k.dy_offset;
    }
    if (k.extreme == 0.0f)
        return;
    if (extremes->max_at >= first && extremes->max_at - first < n)
        dy[extremes->max_at - first] += k.extreme;
    if (extremes->min_at >= first && extremes->min_at - first < n)
        dy[extremes->min_at - first] -= k.extreme;
}

struct batch_norm {
    struct cnnvp_stage stage;
    uint64_t channel_cycles;
};

/* Entries of the tile's channels. */
struct entries {
    void *norms;
    void *extremes;
    void *sums;
};

static int borrow_entries(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                          const struct cnnvp_tile *tile, bool change, bool extremes, bool sums,
                          const struct cnnvp_stage_flow *flow, struct entries *entries)
{
    int status = cnnvp_stage_entries(stage, access, PORT_buffer, change, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_norm), flow, &entries->norms);
    if (status == CNNVP_OK && extremes)
        status = cnnvp_stage_entries(stage, access, PORT_max_min, false, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_extremes), flow, &entries->extremes);
    if (status == CNNVP_OK && sums)
        status = cnnvp_stage_entries(stage, access, PORT_sum, false, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_sums), flow, &entries->sums);
    return status;
}

/* ---- coefficients ---- */

struct stepped_channels {
    const struct cnnvp_tile *tile;
    struct entries entries;
};

static void coefficients_of(const struct cnnvp_tile *tile, const struct entries *entries, uint64_t c)
{
    struct cnnvp_norm *norm = (struct cnnvp_norm *)entries->norms + c;
    if (tile->kind == CNNVP_TILE_COEFFICIENTS_BACK)
        cnnvp_norm_coefficients_back((enum cnnvp_norm_form)tile->form, norm);
    else
        cnnvp_norm_coefficients(
            (enum cnnvp_norm_form)tile->form, tile->epsilon, tile->running,
            (const struct cnnvp_extremes *)entries->extremes + c, (const struct cnnvp_sums *)entries->sums + c, norm);
}

/* One divider does it all, one channel after the other: a single stage. */
static void coefficients_one(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped_channels *stepped = context;
    (void)image;
    (void)value;
    coefficients_of(stepped->tile, &stepped->entries, index);
}

static const struct cnnvp_stages stages_of_coefficients = {1, {coefficients_one}};

static int coefficients(const struct batch_norm *norm, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const struct cnnvp_stage *stage = &norm->stage;
    const bool back = tile->kind == CNNVP_TILE_COEFFICIENTS_BACK;
    struct entries entries = {0};
    const struct cnnvp_stage_flow flow = {tile->channels, norm->channel_cycles, cnnvp_reach_value};
    int status = borrow_entries(stage, access, tile, true, !back, !back, &flow, &entries);
    if (status != CNNVP_OK)
        return status;
    for (uint32_t c = 0; cnnvp_stage_computes_fast(stage, access, tile) && c < tile->channels; ++c)
        coefficients_of(tile, &entries, c);
    struct stepped_channels stepped = {tile, entries};
    uint64_t cycles;
    status = cnnvp_stage_take(
        stage, access, tile, tile->channels, norm->channel_cycles, &stages_of_coefficients, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {"coefficients", STAT_busy_cycles, STAT_channels, cycles, tile->channels};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

/* ---- tiles ---- */

static float *plane_of(const struct cnnvp_tile *tile, uint32_t image, uint32_t channel)
{
    return tile->values + ((uint64_t)image * tile->channels + channel) * tile->plane;
}

static void forward(const struct cnnvp_tile *tile, const struct cnnvp_norm *norms)
{
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c)
            cnnvp_norm_forward(&norms[c], plane_of(tile, n, c), tile->plane);
}

static void backward(const struct cnnvp_tile *tile, const struct entries *entries)
{
    struct cnnvp_norm *norms = entries->norms;
    const struct cnnvp_extremes *extremes = entries->extremes;
    for (uint32_t n = 0; n < tile->images; ++n) {
        const uint64_t first = tile->first_value + n * tile->map;
        for (uint32_t c = 0; c < tile->channels; ++c) {
            const float *x = tile->inputs + n * tile->inputs_image_stride + c * tile->plane;
            if ((tile->flags & CNNVP_TILE_REDUCE) != 0)
                cnnvp_norm_reduce(&extremes[c], first, x, plane_of(tile, n, c), tile->plane, &norms[c]);
            else
                cnnvp_norm_backward(&norms[c], &extremes[c], first, x, plane_of(tile, n, c), tile->plane);
        }
    }
}

/* Partial sums of the plane that a set has in work, as stage/sums.h orders them. */
struct partial {
    double errors[8], products[8];
};

struct stepped_values {
    const struct cnnvp_tile *tile;
    const struct entries *entries;
    struct partial partials[64]; /* by set */
};

static const struct cnnvp_norm *norm_of(const struct stepped_values *stepped, uint64_t index)
{
    return (const struct cnnvp_norm *)stepped->entries->norms + index / stepped->tile->plane;
}

static const struct cnnvp_extremes *extremes_of(const struct stepped_values *stepped, uint64_t index)
{
    return (const struct cnnvp_extremes *)stepped->entries->extremes + index / stepped->tile->plane;
}

/* A value's number in its channel, through the batch. */
static uint64_t number_of(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    return tile->first_value + image * tile->map + index % tile->plane;
}

/* Stages of all: the value; backward with the input of forward beside it. */
static void fetch(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped_values *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    value->a = plane_of(tile, image, 0)[index];
    if (tile->kind == CNNVP_TILE_BACKWARD)
        value->b = tile->inputs[image * tile->inputs_image_stride + index];
}

/* Forward: multiply; add. */
static void multiply(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    (void)image;
    value->a = value->a * norm_of(context, index)->scale;
}

static void add(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped_values *stepped = context;
    plane_of(stepped->tile, image, 0)[index] = value->a + norm_of(stepped, index)->offset;
}

static const struct cnnvp_stages stages_forward = {3, {fetch, multiply, add}};

/* Backward: both products; their sum; offset, and the terms of the extremes. */
static void multiply_both(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_norm *norm = norm_of(context, index);
    (void)image;
    value->a = value->a * norm->dy_scale;
    value->b = value->b * norm->x_scale;
}

static void add_both(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    (void)context;
    (void)image;
    (void)index;
    value->a = value->a + value->b;
}

static void add_terms(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped_values *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const struct cnnvp_norm *norm = norm_of(stepped, index);
    const struct cnnvp_extremes *at = extremes_of(stepped, index);
    const uint64_t number = number_of(tile, image, index);
    float error = value->a + norm->dy_offset;
    if (norm->extreme != 0.0f && number == at->max_at)
        error += norm->extreme;
    if (norm->extreme != 0.0f && number == at->min_at)
        error -= norm->extreme;
    plane_of(tile, image, 0)[index] = error;
}

static const struct cnnvp_stages stages_backward = {4, {fetch, multiply_both, add_both, add_terms}};

/* Reduction: the distance from the mean; its product with the error; both into one of eight parts, at a plane's end all
 * of them. */
static void subtract_mean(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    (void)image;
    value->wide = (double)value->b - norm_of(context, index)->mean;
}

static void multiply_distance(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    (void)context;
    (void)image;
    (void)index;
    value->wide = (double)value->a * value->wide;
}

static double all_parts(const double *part)
{
    const double even = (part[0] + part[4]) + (part[2] + part[6]);
    const double odd = (part[1] + part[5]) + (part[3] + part[7]);
    return even + odd;
}

static void add_parts(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    struct stepped_values *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    struct cnnvp_norm *norm = (struct cnnvp_norm *)stepped->entries->norms + index / tile->plane;
    const struct cnnvp_extremes *at = extremes_of(stepped, index);
    struct partial *partial = &stepped->partials[image % tile->sets];
    const uint64_t i = index % tile->plane;
    const uint64_t number = number_of(tile, image, index);
    if (i == 0)
        *partial = (struct partial){{0}, {0}};
    partial->errors[i % 8u] += (double)value->a;
    partial->products[i % 8u] += value->wide;
    norm->dy_at_min = number == at->min_at ? value->a : norm->dy_at_min;
    norm->dy_at_max = number == at->max_at ? value->a : norm->dy_at_max;
    if (i + 1u < tile->plane)
        return;
    norm->dbeta += all_parts(partial->errors);
    norm->dgamma += all_parts(partial->products);
}

static const struct cnnvp_stages stages_reduce = {4, {fetch, subtract_mean, multiply_distance, add_parts}};

static int work_on(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const bool back = tile->kind == CNNVP_TILE_BACKWARD;
    const bool reduce = back && (tile->flags & CNNVP_TILE_REDUCE) != 0;
    struct entries entries = {0};
    const uint64_t values = tile->channels * tile->plane;
    const struct cnnvp_stage_flow flow = {values, 1u, cnnvp_reach_channel};
    int status = borrow_entries(stage, access, tile, reduce, back, false, &flow, &entries);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes_fast(stage, access, tile)) {
        if (back)
            backward(tile, &entries);
        else
            forward(tile, entries.norms);
    }
    struct stepped_values stepped = {.tile = tile, .entries = &entries};
    const struct cnnvp_stages *stages = reduce ? &stages_reduce : back ? &stages_backward : &stages_forward;
    uint64_t cycles;
    status = cnnvp_stage_take(stage, access, tile, values, 1u, stages, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {
        reduce ? "reduce"
        : back ? "backward"
               : "forward",
        STAT_busy_cycles, STAT_values, cycles, (back ? 2u : 1u) * tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

/* Extremes of errors, those at batch norm's own extremes apart (they get a term of their own). */
static int pass_to_statistics(const struct cnnvp_stage *stage, struct cnnvp_access *access, struct cnnvp_tile *tile,
                              uint64_t words)
{
    const struct cnnvp_tile kept = *tile;
    tile->kind = CNNVP_TILE_EXTREMES;
    if ((tile->flags & CNNVP_TILE_NORM) != 0)
        tile->flags |= CNNVP_TILE_APART;
    const int status = cnnvp_stage_pass(stage, access, PORT_statistics, tile, words, 4u);
    tile->kind = kept.kind;
    tile->flags = kept.flags;
    return status;
}

static int norm_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct batch_norm *norm = self;
    const struct cnnvp_stage *stage = &norm->stage;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind == CNNVP_TILE_COEFFICIENTS || tile->kind == CNNVP_TILE_COEFFICIENTS_BACK)
        return coefficients(norm, access, tile);
    if (tile->kind != CNNVP_TILE_FORWARD && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    if ((tile->flags & CNNVP_TILE_NORM) != 0)
        status = work_on(stage, access, tile);
    if (status != CNNVP_OK)
        return status;
    const uint64_t words = tile->images * tile->channels * tile->plane;
    if (tile->kind == CNNVP_TILE_FORWARD)
        return cnnvp_stage_pass(stage, access, PORT_next, tile, words, 4u);
    if ((tile->flags & CNNVP_TILE_REDUCE) != 0)
        return pass_to_statistics(stage, access, tile, words);
    return cnnvp_stage_pass(stage, access, PORT_back, tile, words, 4u);
}

static int norm_init(void *self, const struct cnnvp_init *init)
{
    struct batch_norm *norm = self;
    norm->channel_cycles = init->ops->param(init->host, PARAM_channel_cycles);
    return cnnvp_stage_init(self, init);
}

static void batch_norm_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u * lanes, "both products backward, one forward");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 32u, 3u * lanes, "their sum, the offset, the term of an extreme");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 64u, lanes, "errors times distances from the mean");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 64u, 3u * lanes, "distances, and sums of errors and of products");
    cnnvp_say_part(costs, CNNVP_PART_DIVIDER, 32u, lanes, "coefficients");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, (params[PARAM_pipeline] + 1u) * lanes, "values and inputs");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, 16u * cnnvp_module_sets(costs), "partial sums, eight of each");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_batch_norm = {
    UNIT_TABLES,
    .kind = "batch_norm",
    .version = "1.0",
    .summary = "batch norm forward and backward, range or standard, by multiply-add",
    .instance_size = sizeof(struct batch_norm),
    .init = norm_init,
    .access = norm_access,
    .costs = batch_norm_costs,
};
