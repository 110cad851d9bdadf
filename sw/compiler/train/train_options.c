/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a training by name, as `cnnvp train` and C programs set them. */
#include "cnnvp_train.h"
#include "command_options.h"

#define MEMBER(name, type, first, member)                                                 \
    {                                                                                     \
#name, CNNVP_MEMBER_##type, first, offsetof(struct cnnvp_trainer_options, member) \
    }

static const struct cnnvp_option_member members[] = {
    MEMBER(guest, TEXT, 0, guest),
    MEMBER(timing_only, INT, 0, timing_only),
    MEMBER(rounding, INT, CNNVP_ROUND_TRUNCATE, rounding),
    MEMBER(seed, U64, 0, seed),
    MEMBER(epochs, U64, 0, epochs),
    MEMBER(steps, U64, 0, steps),
    MEMBER(batch, U32, 0, batch),
    MEMBER(lr, FLOAT, 0, rate),
    MEMBER(momentum, FLOAT, 0, momentum),
    MEMBER(bn, INT, CNNVP_TRAIN_BN_RANGE, bn),
    MEMBER(init, INT, 0, random_weights),
    MEMBER(exponents, INT, CNNVP_TRAIN_BLOCK_TENSOR, block),
    MEMBER(weight_bits, INT, 0, narrow),
    MEMBER(errors, INT, CNNVP_TRAIN_ERRORS_PLAIN, errors),
    MEMBER(order, INT, CNNVP_TRAIN_ORDER_KERNEL, order),
    MEMBER(spill, INT, CNNVP_TRAIN_SPILL_EARLY, spill),
};
enum { MEMBERS = sizeof members / sizeof *members };

void cnnvp_trainer_options_default(struct cnnvp_trainer_options *options)
{
    *options = (struct cnnvp_trainer_options){.struct_size = sizeof *options};
    cnnvp_command_option_defaults("train", members, MEMBERS, options);
}

cnnvp_result cnnvp_trainer_options_set(struct cnnvp_trainer_options *options, const char *name, const char *value,
                                       struct cnnvp_error *error)
{
    return cnnvp_command_option_set("train", members, MEMBERS, options, name, value, error);
}
