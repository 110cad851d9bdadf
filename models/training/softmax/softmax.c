/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The softmax module of S001 (C10): classifies the PE module's final results and writes the class results to the output
 * data buffer. In training it also computes the loss, cross-entropy, and its gradient (Part B 1-17). For each image
 *
 *   p[c] = e^(x[c] - max x) / sum,   loss = ln sum - (x[label] - max x),   gradient[c] = (p[c] - (c == label)) * factor
 *
 * in binary64 with cnnvp_elementary_exp and cnnvp_elementary_ln. Sums are in the order of classes, and results are
 * rounded to binary32 once. A factor of 1 / batch makes gradients means. An infinite x is taken as the largest binary32
 * of its sign, NaN as the most negative.
 *
 * Time: three sweeps, for the maximum, exponentials and divisions. The sets share the images.
 */
#include "cnnvp_tile.h"
#include "units.h"

#include <float.h>

#include "training/elementary/elementary.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/softmax/softmax.def"
#include "unit/unit_enums.inc"

/* Returns x, or what a non-finite x is taken as; counts those. */
static float usable(float x, uint32_t *nonfinite)
{
    if (x >= -FLT_MAX && x <= FLT_MAX)
        return x;
    ++*nonfinite;
    return x > 0.0f ? FLT_MAX : -FLT_MAX;
}

/* Classifies one image. Its probabilities follow *result. The predicted class is the first of equal ones. Without a
 * label the loss is 0. The gradient, which may be NULL, may be x: values are read before they are written. */
static void classify(uint32_t classes, const float *x, const uint32_t *label, double factor,
                     struct cnnvp_class_result *result, float *gradient)
{
    float *p = (float *)(void *)(result + 1);
    uint32_t ignored = 0;
    double sum = 0.0;
    *result = (struct cnnvp_class_result){0};
    float max = usable(x[0], &result->nonfinite);
    for (uint32_t c = 1; c < classes; ++c) {
        const float value = usable(x[c], &result->nonfinite);
        if (value > max) {
            max = value;
            result->predicted = c;
        }
    }
    for (uint32_t c = 0; c < classes; ++c)
        sum += cnnvp_elementary_exp((double)usable(x[c], &ignored) - (double)max);
    if (label != NULL) {
        result->loss = (float)(cnnvp_elementary_ln(sum) - ((double)usable(x[*label], &ignored) - (double)max));
        result->correct = *label == result->predicted;
    }
    for (uint32_t c = 0; c < classes; ++c) {
        const double probability = cnnvp_elementary_exp((double)usable(x[c], &ignored) - (double)max) / sum;
        p[c] = (float)probability;
        if (gradient != NULL)
            gradient[c] = (float)((probability - (label != NULL && *label == c ? 1.0 : 0.0)) * factor);
    }
}

struct softmax {
    struct cnnvp_stage stage;
    uint64_t exp_cycles;
};

static uint64_t record_bytes(const struct cnnvp_tile *tile)
{
    return sizeof(struct cnnvp_class_result) + (uint64_t)tile->channels * sizeof(float);
}

static void classify_images(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const bool gradient = (tile->flags & CNNVP_TILE_GRADIENT) != 0;
    uint64_t nonfinite = 0;
    for (uint32_t n = 0; n < tile->images; ++n) {
        struct cnnvp_class_result *record = (void *)((char *)call->data[0] + n * record_bytes(tile));
        const uint64_t at = (uint64_t)n * tile->channels;
        classify(tile->channels, tile->values + at, gradient ? &tile->labels[n] : NULL, (double)tile->rate, record,
                 gradient ? tile->errors + at : NULL);
        nonfinite += record->nonfinite;
    }
    cnnvp_stage_count(call, STAT_nonfinite, nonfinite);
}

static bool labels_are_classes(const struct cnnvp_tile *tile)
{
    for (uint32_t n = 0; n < tile->images; ++n)
        if (tile->labels[n] >= tile->channels)
            return false;
    return true;
}

static int softmax_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const struct softmax *softmax = self;
    const bool gradient = (tile->flags & CNNVP_TILE_GRADIENT) != 0;
    const uint64_t values = (uint64_t)tile->images * tile->channels;
    if (tile->kind != CNNVP_TILE_SOFTMAX || (gradient && tile->labels != NULL && !labels_are_classes(tile)))
        return CNNVP_E_INVAL;
    cnnvp_stage_work(plan, tile, classify_images, "softmax", STAT_busy_cycles, STAT_values, 3u * values);
    plan->counts[0] = (struct cnnvp_stage_count){STAT_images, tile->images};
    plan->values = tile->channels;
    plan->interval = 1u + 2u * softmax->exp_cycles;
    cnnvp_stage_entries(plan, tile, PORT_output, false, tile->record, tile->images, record_bytes(tile));
    plan->pieces[0].op = CNNVP_BORROW_WRITE;
    plan->pieces[0].streams = cnnvp_stage_streams(tile);
    if (gradient) {
        cnnvp_stage_pass(plan, tile, PORT_statistics, values, 4u);
        plan->kind = CNNVP_TILE_EXTREMES;
        plan->of_errors = true;
    }
    return CNNVP_OK;
}

static int softmax_init(void *self, const struct cnnvp_init *init)
{
    struct softmax *softmax = self;
    softmax->exp_cycles = init->ops->param(init->host, PARAM_exp_cycles);
    return cnnvp_stage_init(self, init);
}

static const struct cnnvp_parts_row softmax_parts[] = {
    {CNNVP_PART_ADDER, 32u, 1u, CNNVP_OF_LANES, "maximum"},
    {CNNVP_PART_FLOAT_MULTIPLIER, 64u, 1u, CNNVP_OF_LANES, "exponentials, a term after the other"},
    {CNNVP_PART_FLOAT_ADDER, 64u, 2u, CNNVP_OF_LANES, "their terms, and their sum"},
    {CNNVP_PART_DIVIDER, 64u, 1u, CNNVP_OF_LANES, "divisions"},
    {CNNVP_PART_REGISTER, 64u, 1u, CNNVP_OF_STAGES, "values"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(softmax, struct softmax, softmax_init, NULL,
           "softmax classifier, with cross-entropy and its gradient in training");
