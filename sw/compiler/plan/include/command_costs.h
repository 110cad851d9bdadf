/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands take, so that a platform's units are asked once about each: layers repeat, and most of the plans that
 * are tried for one differ in their transfers alone. Of commands that share a place the last one's cost is kept.
 */
#ifndef CNNVP_COMPILER_COMMAND_COSTS_H
#define CNNVP_COMPILER_COMMAND_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_command.h"

struct cnnvp_command_costs;

/* With so many places, a power of two; NULL: out of memory. */
struct cnnvp_command_costs *cnnvp_command_costs_new(size_t places);
/* NULL is allowed. */
void cnnvp_command_costs_free(struct cnnvp_command_costs *costs);

/* In ps; 0: it is not known. All members of a command count. */
uint64_t cnnvp_command_cost(const struct cnnvp_command_costs *costs, const struct cnnvp_command *command);
void cnnvp_command_cost_keep(struct cnnvp_command_costs *costs, const struct cnnvp_command *command, uint64_t ps);

#endif
