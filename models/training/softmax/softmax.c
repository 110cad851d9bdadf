/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The softmax module of S001 (C10): classifies the PE module's final results and writes the class results to the output
 * data buffer. In training it also computes the loss and its gradient.
 *
 * Time: three sweeps, for the maximum, exponentials and divisions. The sets share the images.
 */
#include "softmax.h"

#include <float.h>

#include "training/elementary/elementary.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/softmax/softmax.def"
#include "unit/unit_enums.inc"

/* Returns x, with infinities and NaN replaced by finite values as softmax.h defines; counts those. */
static float usable(float x, uint32_t *nonfinite)
{
    if (x >= -FLT_MAX && x <= FLT_MAX)
        return x;
    ++*nonfinite;
    return x > 0.0f ? FLT_MAX : -FLT_MAX;
}

/* Classifies one image. p and gradient may be x: values are read before they are written. */
static void classify(uint32_t classes, const float *x, const uint32_t *label, double factor, float *p, float *gradient,
                     struct cnnvp_softmax_result *result)
{
    uint32_t ignored = 0;
    double sum = 0.0;
    *result = (struct cnnvp_softmax_result){0};
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
    if (label != NULL)
        result->loss = cnnvp_elementary_ln(sum) - ((double)usable(x[*label], &ignored) - (double)max);
    for (uint32_t c = 0; c < classes; ++c) {
        const double probability = cnnvp_elementary_exp((double)usable(x[c], &ignored) - (double)max) / sum;
        p[c] = (float)probability;
        if (gradient != NULL)
            gradient[c] = (float)((probability - (label != NULL && *label == c ? 1.0 : 0.0)) * factor);
    }
}

int cnnvp_softmax_classify(uint64_t images, uint32_t classes, const float *x, const uint32_t *labels, double factor,
                           float *p, float *gradient, struct cnnvp_softmax_result *results)
{
    if (classes == 0)
        return CNNVP_E_INVAL;
    for (uint64_t n = 0; labels != NULL && n < images; ++n)
        if (labels[n] >= classes)
            return CNNVP_E_INVAL;
    for (uint64_t n = 0; n < images; ++n)
        classify(classes, x + n * classes, labels != NULL ? &labels[n] : NULL, factor, p + n * classes,
                 gradient != NULL ? gradient + n * classes : NULL, &results[n]);
    return CNNVP_OK;
}

struct softmax {
    struct cnnvp_stage stage;
    uint64_t exp_cycles;
};

static uint64_t record_bytes(const struct cnnvp_tile *tile)
{
    return sizeof(struct cnnvp_class_result) + (uint64_t)tile->channels * sizeof(float);
}

/* Classifies image n. Returns how many of its inputs were not finite. */
static uint64_t classify_image(const struct cnnvp_tile *tile, char *record, uint32_t n)
{
    const bool gradient = (tile->flags & CNNVP_TILE_GRADIENT) != 0;
    struct cnnvp_class_result *head = (struct cnnvp_class_result *)(void *)record;
    struct cnnvp_softmax_result result;
    const uint64_t at = (uint64_t)n * tile->channels;
    const uint32_t *label = gradient ? &tile->labels[n] : NULL;
    /* Labels were checked when the tile was planned. */
    if (cnnvp_softmax_classify(
            1u, tile->channels, tile->values + at, label, (double)tile->rate, (float *)(void *)(record + sizeof *head),
            gradient ? tile->errors + at : NULL, &result) != CNNVP_OK)
        return 0;
    *head = (struct cnnvp_class_result){
        .predicted = result.predicted,
        .correct = label != NULL && *label == result.predicted,
        .loss = (float)result.loss,
        .nonfinite = result.nonfinite};
    return result.nonfinite;
}

static void classify_images(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    uint64_t nonfinite = 0;
    for (uint32_t n = 0; n < tile->images; ++n)
        nonfinite += classify_image(tile, (char *)call->data[0] + n * record_bytes(tile), n);
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
