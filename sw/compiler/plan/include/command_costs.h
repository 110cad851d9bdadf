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
uint64_t cnnvp_command_cost(const struct cnnvp_command_costs *costs, const struct cnnvp_command *command);
void cnnvp_command_cost_keep(struct cnnvp_command_costs *costs, const struct cnnvp_command *command, uint64_t ps);
