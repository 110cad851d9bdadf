/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the units again what an earlier planning has asked them. */
#include "command_costs.h"
#include "cost_query.h"

/* The command's cost; 0: it is refused. */
static uint64_t cost_of(const struct cnnvp_plan_limits *limits, const struct cnnvp_command *command)
{
    struct cnnvp_cost cost;
    struct cnnvp_error ignored;
    const uint64_t known = cnnvp_command_cost(limits->costs, command);
    if (known != 0)
        return known;
    const char *instance = cnnvp_plan_executor(limits, command->opcode);
    if (cnnvp_units_command(limits->units, instance, command, &cost, &ignored) != CNNVP_DONE || cost.ps == 0)
        return 0;
    cnnvp_command_cost_keep(limits->costs, command, cost.ps);
    return cost.ps;
}

int cnnvp_plan_answers_alike(const struct cnnvp_plan_limits *limits, const struct cnnvp_asked_list *asked)
{
    for (size_t i = 0; i < asked->count; ++i)
        if (cost_of(limits, &asked->all[i].command) != asked->all[i].ps)
            return 0;
    return 1;
}
