/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the options that `cnnvp run`, a point of a sweep or a C program has set to those of a network. */
#include "command_options.h"
#include "network.h"
#include "onnx.h"

void cnnvp_network_options_get(const struct cnnvp_options *options, struct cnnvp_network_options *members)
{
    const struct cnnvp_network_options all = {
        .rounding = (enum cnnvp_rounding)options->rounding,
        .schedule = (enum cnnvp_schedule)options->schedule,
        .block = (uint32_t)options->block,
        .on_chip = options->on_chip,
        .timing_only = options->timing_only,
        .seed = options->seed,
        .images = options->images != 0 ? options->images : 1,
        .input_images = options->images,
        .issue = (enum cnnvp_issue)options->issue,
        .tune = options->tune,
        .shapes = options->shape.texts,
        .shape_count = options->shape.count,
        .guest = options->guest,
        .batch = (uint32_t)options->batch,
        .objective = (enum cnnvp_plan_objective)options->objective,
        .plan = options->plan,
        .until = options->until.texts,
        .until_count = options->until.count,
        .from = options->from.texts,
        .from_count = options->from.count,
        .base = options->base,
        .precision = (enum cnnvp_precision)options->precision,
    };
    cnnvp_fill_client(members, &all, sizeof all);
}
CNNVP_BY_VALUE(cnnvp_network_options, precision)

struct cnnvp_onnx_sizes cnnvp_network_sizes(const struct cnnvp_network_options *options)
{
    return (struct cnnvp_onnx_sizes){
        .shapes = options->shapes,
        .shape_count = options->shape_count,
        .images = options->input,
        .named = options->inputs,
        .named_count = options->input_count,
        .until = options->until,
        .until_count = options->until_count,
        .from = options->from,
        .from_count = options->from_count,
    };
}

const char *cnnvp_network_clash(const struct cnnvp_network_options *o)
{
#define CNNVP_OPTION(...)
#define CNNVP_NETWORK_CLASH(condition, text) \
    if (condition)                           \
        return text;
#include "options.def"
    return NULL;
}
