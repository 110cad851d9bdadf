/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a network by name, as `cnnvp run`, a sweep's point and C programs set them. */
#include <stdio.h>
#include <string.h>

#include "command_options.h"
#include "compiler.h"
#include "value.h"

#define MEMBER(name, type, first, member)                                                 \
    {                                                                                     \
#name, CNNVP_MEMBER_##type, first, offsetof(struct cnnvp_network_options, member) \
    }

/* Two lines set two members. */
static const struct cnnvp_option_member members[] = {
    MEMBER(schedule, INT, CNNVP_SCHEDULE_LAYER, schedule),
    MEMBER(halo, INT, CNNVP_HALO_OF_RECOMPUTE, halo),
    MEMBER(plan, TEXT, 0, plan),
    MEMBER(block, U32, 0, block),
    MEMBER(block_order, INT, CNNVP_BLOCK_ORDER_MORTON, block_order),
    MEMBER(issue, INT, CNNVP_ISSUE_GUEST, issue),
    MEMBER(objective, INT, CNNVP_OBJECTIVE_TIME, objective),
    MEMBER(on_chip, INT, 0, on_chip),
    MEMBER(tune, INT, 0, tune),
    MEMBER(guest, TEXT, 0, guest),
    MEMBER(timing_only, INT, 0, timing_only),
    MEMBER(rounding, INT, CNNVP_ROUND_TRUNCATE, rounding),
    MEMBER(seed, U64, 0, seed),
    MEMBER(images, U64, 0, images),
    MEMBER(images, U64, 0, input_images),
    MEMBER(batch, U32, 0, batch),
};
enum { MEMBERS = sizeof members / sizeof *members };

void cnnvp_network_options_default(struct cnnvp_network_options *options)
{
    *options = (struct cnnvp_network_options){.struct_size = sizeof *options, .images = 1};
    cnnvp_command_option_defaults("run", members, MEMBERS, options);
}

cnnvp_result cnnvp_network_options_set(struct cnnvp_network_options *options, const char *name, const char *value,
                                       struct cnnvp_error *error)
{
    return cnnvp_command_option_set("run", members, MEMBERS, options, name, value, error);
}

/* 1: the list "a|b" has the choice of this number of "x|y|z". */
static int is_listed(const char *list, const char *choices, uint64_t number)
{
    size_t length = 0, other = 0;
    const char *wanted = cnnvp_value_choice(choices, number, &length), *one;
    for (uint64_t i = 0; wanted != NULL && (one = cnnvp_value_choice(list, i, &other)) != NULL; ++i)
        if (length == other && memcmp(wanted, one, length) == 0)
            return 1;
    return 0;
}

cnnvp_result cnnvp_network_options_need(const struct cnnvp_network_options *options, const char *name,
                                        struct cnnvp_error *error)
{
    const struct cnnvp_command_option *option = cnnvp_command_option_find("run", name);
    const char *schedules = cnnvp_command_option_find("run", "schedule")->choices;
    if (option == NULL || option->schedules == NULL || is_listed(option->schedules, schedules, options->schedule))
        return CNNVP_DONE;
    char word[64];
    const int first = (int)strcspn(option->schedules, "|");
    const char *second = option->schedules[first] ? option->schedules + first + 1 : NULL;
    return cnnvp_compiler_error(
        error, "--%s changes nothing without --schedule %.*s%s%s", cnnvp_command_option_word(option, word), first,
        option->schedules, second != NULL ? " or " : "", second != NULL ? second : "");
}
