/* SPDX-License-Identifier: Apache-2.0 */
#include "command_costs.h"

#include <stdlib.h>
#include <string.h>

struct known {
    struct cnnvp_command command;
    uint64_t ps; /* 0: there is none */
};

struct cnnvp_command_costs {
    size_t places;
    struct known known[];
};

struct cnnvp_command_costs *cnnvp_command_costs_new(size_t places)
{
    struct cnnvp_command_costs *costs = calloc(1, sizeof *costs + places * sizeof *costs->known);
    if (costs != NULL)
        costs->places = places;
    return costs;
}

void cnnvp_command_costs_free(struct cnnvp_command_costs *costs)
{
    free(costs);
}

static size_t place_of(const struct cnnvp_command_costs *costs, const struct cnnvp_command *command)
{
    uint64_t hash = (uint64_t)command->opcode << 32 | command->status;
    for (uint32_t i = 0; i < command->count; ++i)
        hash = (hash ^ command->descriptor[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (costs->places - 1u);
}

uint64_t cnnvp_command_cost(const struct cnnvp_command_costs *costs, const struct cnnvp_command *command)
{
    const struct known *known = &costs->known[place_of(costs, command)];
    return known->ps != 0 && memcmp(&known->command, command, sizeof *command) == 0 ? known->ps : 0;
}

void cnnvp_command_cost_keep(struct cnnvp_command_costs *costs, const struct cnnvp_command *command, uint64_t ps)
{
    costs->known[place_of(costs, command)] = (struct known){*command, ps};
}
