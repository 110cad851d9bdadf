/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the options that `cnnvp train` or a C program has set to those of a training. */
#include "cnnvp_train.h"
#include "command_options.h"

void cnnvp_trainer_options_get(const struct cnnvp_options *options, struct cnnvp_trainer_options *members)
{
    const struct cnnvp_trainer_options all = {
        .rounding = (enum cnnvp_rounding)options->rounding,
        .bn = (enum cnnvp_train_bn)options->bn,
        .order = (enum cnnvp_train_order)options->order,
        .block = (enum cnnvp_train_block)options->exponents,
        .narrow = options->weight_bits,
        .random_weights = options->init,
        .timing_only = options->timing_only,
        .batch = (uint32_t)options->batch,
        .rate = (float)options->lr,
        .momentum = (float)options->momentum,
        .seed = options->seed,
        .epochs = options->epochs,
        .steps = options->steps,
        .errors = (enum cnnvp_train_errors)options->errors,
        .shapes = options->shape.texts,
        .shape_count = options->shape.count,
        .guest = options->guest,
        .spill = (enum cnnvp_train_spill)options->spill,
        .shuffle = options->shuffle,
    };
    cnnvp_fill_client(members, &all, sizeof all);
}
CNNVP_BY_VALUE(cnnvp_trainer_options, shuffle)
