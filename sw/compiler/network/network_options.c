/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the options that `cnnvp run`, a point of a sweep or a C program has set to those of a network. */
#include "command_options.h"
#include "network.h"
#include "onnx.h"

/* Members of both structs that are the same but for their types. */
#define SAME(M)                             \
    M(rounding, enum cnnvp_rounding)        \
    M(schedule, enum cnnvp_schedule)        \
    M(block, uint32_t)                      \
    M(on_chip, int)                         \
    M(issue, enum cnnvp_issue)              \
    M(tune, int)                            \
    M(batch, uint32_t)                      \
    M(objective, enum cnnvp_plan_objective) \
    M(precision, enum cnnvp_precision)

void cnnvp_network_options_get(const struct cnnvp_options *options, struct cnnvp_network_options *members)
{
#define TAKE(member, type) .member = (type)options->member,
    const struct cnnvp_network_options all = {
        .timing_only = options->timing_only,
        .seed = options->seed,
        .images = options->images != 0 ? options->images : 1,
        .input_images = options->images,
        .shapes = options->shape.texts,
        .shape_count = options->shape.count,
        .guest = options->guest,
        .until = options->until.texts,
        .until_count = options->until.count,
        .from = options->from.texts,
        .from_count = options->from.count,
        .base = options->base,
        .plan = options->plan,
        SAME(TAKE)};
#undef TAKE
    cnnvp_fill_client(members, &all, sizeof all);
}

cnnvp_result cnnvp_network_echo(const struct cnnvp_network_options *members, struct cnnvp_arena *arena,
                                struct cnnvp_option_echo *echo, struct cnnvp_error *error)
{
    struct cnnvp_options defaults, options;
    cnnvp_options_init(&defaults, "run");
    options = defaults;
#define GIVE(member, type) options.member = (__typeof__(options.member))members->member;
    SAME(GIVE)
#undef GIVE
    options.until = (struct cnnvp_option_list){(const char **)(uintptr_t)members->until, members->until_count};
    options.from = (struct cnnvp_option_list){(const char **)(uintptr_t)members->from, members->from_count};
    return cnnvp_options_echo(&options, &defaults, arena, echo, error);
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
