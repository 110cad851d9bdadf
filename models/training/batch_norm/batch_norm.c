/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm of S001 (C4) with its buffer (C6): coefficients from the max-min and the sum buffer, the multiply-add
 * forward and backward, and the sums that give dgamma and dbeta; in range form and in standard form (Part B 1-6, 1-12,
 * 1-26). n is the number of values of a channel, over all images of the batch.
 *
 *   sigma     standard: sqrt(sum (x - mean)^2 / n + epsilon)     range: C(n) * (max - min) + epsilon
 *             C(n) = 0.54 / sqrt(2 ln n), C(1) = 0.54
 *   forward   y = gamma * (x - mean) / sigma + beta
 *   backward  dbeta = sum dy, dgamma = sum dy * (x - mean) / sigma
 *             standard: dx = gamma / sigma * (dy - dbeta / n - (x - mean) / sigma * dgamma / n)
 *             range:    dx = gamma / sigma * (dy - dbeta / n); at the maximum plus e, at the minimum minus e, with
 *             e = -gamma / sigma * dgamma * C(n) (the first of equal extremes): the true derivative
 *   stored    mean and sigma are the running ones (inference); dx = gamma / sigma * dy
 *   none      layers without batch norm: y = x + beta (beta may be their bias), dx = dy. mean 0, sigma 1, dgamma 0
 *
 * If there are no values, n is taken as 1, and mean and range as 0.
 *
 * Values only go through multiply-adds (S001 D-sum): y = scale * x + offset, dx = dy_scale * dy + x_scale * x +
 * dy_offset, in binary32, with each product and sum rounded in this order. Constants of a channel are computed in
 * binary64 and rounded once. With an epsilon of 0, equal values give infinities: the caller chooses it above 0.
 */
#include "units.h"

#include <math.h>

#include "training/elementary/elementary.h"
#include "training/stage/stage.h"
#include "training/stage/sums.h"

#define UNIT_DEF "training/batch_norm/batch_norm.def"
#include "unit/unit_enums.inc"

/* sigma of a normal distribution from the range of n values, as published for range batch norm (Banner 2018). */
#define RANGE_FACTOR 0.54

/* C(n) of the range form. */
static double range_factor(uint64_t n)
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
        norm->sigma = range_factor(sums->count) * range_of(extremes) + (double)epsilon;
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

/* Computes the forward coefficients from the statistics of the batch. `running` is the weight of this batch in the
 * running mean and sigma, which the forms `stored` and `none` do not change. Clears the sums for backward. */
static void set_forward(enum cnnvp_norm_form form, float epsilon, float running, const struct cnnvp_extremes *extremes,
                        const struct cnnvp_sums *sums, struct cnnvp_norm *norm)
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

/* Computes the backward coefficients from the sums of errors of the whole batch. */
static void set_backward(enum cnnvp_norm_form form, struct cnnvp_norm *norm)
{
    const double n = norm->count != 0 ? (double)norm->count : 1.0;
    const double scale = form == CNNVP_NORM_NONE ? 1.0 : (double)norm->gamma / norm->sigma;
    norm->dgamma = form == CNNVP_NORM_NONE ? 0.0 : norm->dgamma / norm->sigma; /* no gamma, so no gradient */
    norm->dy_scale = (float)scale;
    norm->x_scale = norm->dy_offset = norm->extreme = 0.0f;
    if (form == CNNVP_NORM_STANDARD) {
        const double slope = -scale * norm->dgamma / n / norm->sigma;
        norm->x_scale = (float)slope;
        norm->dy_offset = (float)(-scale * norm->dbeta / n - slope * norm->mean);
    } else if (form == CNNVP_NORM_RANGE) {
        norm->dy_offset = (float)(-scale * norm->dbeta / n);
        norm->extreme = (float)(-scale * norm->dgamma * range_factor(norm->count));
    }
}

static void apply_forward(const struct cnnvp_norm *norm, float *x, uint64_t n)
{
    const float scale = norm->scale;
    const float offset = norm->offset;
    for (uint64_t i = 0; i < n; ++i) {
        const float product = scale * x[i];
        x[i] = product + offset;
    }
}

/* Adds n errors, the first of which has number `first`, to dbeta and dgamma. The errors at the extremes of the forward
 * inputs x are also stored separately. */
static void add_errors(const struct cnnvp_extremes *extremes, uint64_t first, const float *x, const float *dy,
                       uint64_t n, struct cnnvp_norm *norm)
{
    norm->dbeta += cnnvp_sum(dy, n);
    norm->dgamma += cnnvp_sum_of_products(dy, x, n, norm->mean);
    if (extremes->min_at >= first && extremes->min_at - first < n)
        norm->dy_at_min = dy[extremes->min_at - first];
    if (extremes->max_at >= first && extremes->max_at - first < n)
        norm->dy_at_max = dy[extremes->max_at - first];
}

static void apply_backward(const struct cnnvp_norm *norm, const struct cnnvp_extremes *extremes, uint64_t first,
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

/* Indices of `plan.pieces`, the entries of the tile's channels. */
enum { NORMS, EXTREMES, SUMS };

static void add_entries(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, bool change, bool extremes,
                        bool sums)
{
    cnnvp_stage_entries(plan, tile, PORT_buffer, change, tile->norm_entry, tile->channels, sizeof(struct cnnvp_norm));
    if (extremes)
        cnnvp_stage_entries(plan, tile, PORT_max_min, false, tile->norm_entry, tile->channels,
                            sizeof(struct cnnvp_extremes));
    if (sums)
        cnnvp_stage_entries(plan, tile, PORT_sum, false, tile->norm_entry, tile->channels, sizeof(struct cnnvp_sums));
}

/* ---- coefficients ---- */

static void make_coefficients(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    struct cnnvp_norm *norms = call->data[NORMS];
    const struct cnnvp_extremes *extremes = call->data[EXTREMES];
    const struct cnnvp_sums *sums = call->data[SUMS];
    const enum cnnvp_norm_form form = (enum cnnvp_norm_form)tile->form;
    for (uint32_t c = 0; c < tile->channels; ++c)
        if (tile->kind == CNNVP_TILE_COEFFICIENTS_BACK)
            set_backward(form, &norms[c]);
        else
            set_forward(form, tile->epsilon, tile->running, &extremes[c], &sums[c], &norms[c]);
}

/* A single divider processes the channels one after the other. */
static int plan_coefficients(const struct batch_norm *norm, const struct cnnvp_tile *tile,
                             struct cnnvp_stage_plan *plan)
{
    const bool back = tile->kind == CNNVP_TILE_COEFFICIENTS_BACK;
    cnnvp_stage_work(plan, tile, make_coefficients, "coefficients", STAT_busy_cycles, STAT_channels, tile->channels);
    plan->values = tile->channels;
    plan->interval = norm->channel_cycles;
    add_entries(plan, tile, true, !back, !back);
    return CNNVP_OK;
}

/* ---- tiles ---- */

static float *plane_of(const struct cnnvp_tile *tile, uint32_t image, uint32_t channel)
{
    return tile->values + ((uint64_t)image * tile->channels + channel) * tile->plane;
}

static void forward(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const struct cnnvp_norm *norms = call->data[NORMS];
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c)
            apply_forward(&norms[c], plane_of(tile, n, c), tile->plane);
}

static void backward(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    struct cnnvp_norm *norms = call->data[NORMS];
    const struct cnnvp_extremes *extremes = call->data[EXTREMES];
    for (uint32_t n = 0; n < tile->images; ++n) {
        const uint64_t first = tile->first_value + n * tile->map;
        for (uint32_t c = 0; c < tile->channels; ++c) {
            const float *x = tile->inputs + n * tile->inputs_image_stride + c * tile->plane;
            if ((tile->flags & CNNVP_TILE_REDUCE) != 0)
                add_errors(&extremes[c], first, x, plane_of(tile, n, c), tile->plane, &norms[c]);
            else
                apply_backward(&norms[c], &extremes[c], first, x, plane_of(tile, n, c), tile->plane);
        }
    }
}

static int batch_norm_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    const bool back = tile->kind == CNNVP_TILE_BACKWARD;
    const bool reduce = back && (tile->flags & CNNVP_TILE_REDUCE) != 0;
    const bool norms = (tile->flags & CNNVP_TILE_NORM) != 0;
    if (tile->kind == CNNVP_TILE_COEFFICIENTS || tile->kind == CNNVP_TILE_COEFFICIENTS_BACK)
        return plan_coefficients(self, tile, plan);
    if (tile->kind != CNNVP_TILE_FORWARD && !back)
        return CNNVP_E_INVAL;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, reduce ? PORT_statistics : back ? PORT_back : PORT_next, values, 4u);
    if (reduce) {
        /* Errors at batch norm's own extremes are kept apart, because they get an additional term. */
        plan->kind = CNNVP_TILE_EXTREMES;
        plan->flags = norms ? CNNVP_TILE_APART : 0;
    }
    if (!norms)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, back ? backward : forward,
                     reduce ? "reduce"
                     : back ? "backward"
                            : "forward",
                     STAT_busy_cycles, STAT_values, back ? 2u * values : values);
    add_entries(plan, tile, reduce, back, false);
    return CNNVP_OK;
}

static int norm_init(void *self, const struct cnnvp_init *init)
{
    struct batch_norm *norm = self;
    norm->channel_cycles = init->ops->param(init->host, PARAM_channel_cycles);
    return cnnvp_stage_init(self, init);
}

static const struct cnnvp_parts_row batch_norm_parts[] = {
    {CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u, CNNVP_OF_LANES, "both products backward, one forward"},
    {CNNVP_PART_FLOAT_ADDER, 32u, 3u, CNNVP_OF_LANES, "their sum, the offset, the term of an extreme"},
    {CNNVP_PART_FLOAT_MULTIPLIER, 64u, 1u, CNNVP_OF_LANES, "errors times distances from the mean"},
    {CNNVP_PART_FLOAT_ADDER, 64u, 3u, CNNVP_OF_LANES, "distances, and sums of errors and of products"},
    {CNNVP_PART_DIVIDER, 32u, 1u, CNNVP_OF_LANES, "coefficients"},
    {CNNVP_PART_REGISTER, 64u, 1u, CNNVP_OF_STAGES, "values and inputs"},
    {CNNVP_PART_REGISTER, 64u, 16u, CNNVP_OF_SETS, "partial sums, eight of each"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(batch_norm, struct batch_norm, norm_init, NULL,
           "batch norm forward and backward, range or standard, by multiply-add");
