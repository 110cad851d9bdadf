/* SPDX-License-Identifier: Apache-2.0 */
#include "command_costs.h"

#include <stdlib.h>
#include <xxhash.h>

/* One entry. Half of a command's 128-bit hash selects the entry, the other half identifies the command. Entries with
 * whole commands would be too large for the host's caches. */
struct known {
    uint64_t hash;
    uint64_t ps; /* 0: the entry is empty */
};

struct cnnvp_command_costs {
    size_t places;
    struct cnnvp_asked_list *list; /* NULL: none is made */
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

void cnnvp_command_costs_note(struct cnnvp_command_costs *costs, struct cnnvp_asked_list *list)
{
    costs->list = list;
}

/* Adds the command without a cost. The list has room for the next power of two. */
static void note(struct cnnvp_asked_list *list, const struct cnnvp_command *command)
{
    if ((list->count & (list->count - 1u)) == 0) {
        struct cnnvp_asked *larger = realloc(list->all, (list->count != 0 ? 2u * list->count : 1u) * sizeof *larger);
        list->failed |= larger == NULL;
        if (larger != NULL)
            list->all = larger;
    }
    if (!list->failed)
        list->all[list->count++] = (struct cnnvp_asked){*command, 0};
}

static size_t place_of(const struct cnnvp_command_costs *costs, XXH128_hash_t hash)
{
    return (size_t)hash.low64 & (costs->places - 1u);
}

uint64_t cnnvp_command_cost(struct cnnvp_command_costs *costs, const struct cnnvp_command *command)
{
    const XXH128_hash_t hash = XXH3_128bits(command, sizeof *command);
    const struct known *known = &costs->known[place_of(costs, hash)];
    if (known->hash == hash.high64)
        return known->ps;
    if (costs->list != NULL)
        note(costs->list, command);
    return 0;
}

void cnnvp_command_cost_keep(struct cnnvp_command_costs *costs, const struct cnnvp_command *command, uint64_t ps)
{
    const XXH128_hash_t hash = XXH3_128bits(command, sizeof *command);
    struct cnnvp_asked_list *list = costs->list;
    costs->known[place_of(costs, hash)] = (struct known){hash.high64, ps};
    if (list != NULL && list->count != 0)
        list->all[list->count - 1u].ps = ps; /* the command has just been looked for */
}
