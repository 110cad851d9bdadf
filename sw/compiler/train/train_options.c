/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the options that `cnnvp train` or a C program has set to those of a training. */
#include "trainer.h"

/* Members of both structs that are the same but for their types, and perhaps their names. */
#define SAME(M)                                 \
    M(rounding, rounding, enum cnnvp_rounding)  \
    M(bn, bn, enum cnnvp_train_bn)              \
    M(order, order, enum cnnvp_train_order)     \
    M(block, exponents, enum cnnvp_train_block) \
    M(narrow, weight_bits, int)                 \
    M(random_weights, init, int)                \
    M(batch, batch, uint32_t)                   \
    M(rate, lr, float)                          \
    M(momentum, momentum, float)                \
    M(epochs, epochs, uint64_t)                 \
    M(steps, steps, uint64_t)                   \
    M(errors, errors, enum cnnvp_train_errors)  \
    M(spill, spill, enum cnnvp_train_spill)     \
    M(shuffle, shuffle, const char *)

void cnnvp_trainer_options_get(const struct cnnvp_options *options, struct cnnvp_trainer_options *members)
{
#define TAKE(member, option, type) .member = (type)options->option,
    const struct cnnvp_trainer_options all = {
        .timing_only = options->timing_only,
        .seed = options->seed,
        .shapes = options->shape.texts,
        .shape_count = options->shape.count,
        .guest = options->guest,
        SAME(TAKE)};
#undef TAKE
    cnnvp_fill_client(members, &all, sizeof all);
}

static void give(const struct cnnvp_trainer_options *members, struct cnnvp_options *options)
{
#define GIVE(member, option, type) options->option = (__typeof__(options->option))members->member;
    SAME(GIVE)
#undef GIVE
}

cnnvp_result cnnvp_trainer_echo(const struct cnnvp_trainer_options *members, struct cnnvp_arena *arena,
                                struct cnnvp_option_echo *echo, struct cnnvp_error *error)
{
    struct cnnvp_trainer_options usual = {.struct_size = sizeof usual};
    struct cnnvp_options defaults, options;
    cnnvp_options_init(&defaults, "train");
    cnnvp_options_init(&options, "train");
    cnnvp_trainer_options_get(&defaults, &usual);
    give(&usual, &defaults); /* as exact as the members are */
    give(members, &options);
    return cnnvp_options_echo(&options, &defaults, arena, echo, error);
}
CNNVP_BY_VALUE(cnnvp_trainer_options, shuffle)
