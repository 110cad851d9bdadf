/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of command costs, so that a platform's units are asked about each command once. Layers repeat, and most plans
 * tried for a layer differ only in their transfers. A direct-mapped hash table: a newer entry replaces an older one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_command.h"

struct cnnvp_command_costs;

/* `places`: number of entries, a power of two. NULL: out of memory. */
struct cnnvp_command_costs *cnnvp_command_costs_new(size_t places);
/* NULL is allowed. */
void cnnvp_command_costs_free(struct cnnvp_command_costs *costs);

/* The command's time in ps; 0: not known. Commands are equal if all their members are. */
uint64_t cnnvp_command_cost(struct cnnvp_command_costs *costs, const struct cnnvp_command *command);
void cnnvp_command_cost_keep(struct cnnvp_command_costs *costs, const struct cnnvp_command *command, uint64_t ps);

/* A command that was not known when its cost was wanted, and the cost that was then kept. */
struct cnnvp_asked {
    struct cnnvp_command command;
    uint64_t ps; /* 0: none was kept, because the unit refuses the command */
};

/* All of these commands, in order. */
struct cnnvp_asked_list {
    struct cnnvp_asked *all;
    size_t count;
    int failed; /* 1: the list is not complete, for lack of memory */
};

/* From now on, such commands are added to the list, which lives as long as the cache; NULL: no longer. */
void cnnvp_command_costs_note(struct cnnvp_command_costs *costs, struct cnnvp_asked_list *list);
