/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers how a network was planned: the questions, the answers and the plan. Where a later planning of the same
 * network on a changed platform gets the same answers, its plan is the same, and nothing has to be searched. So a trial
 * of a parameter that no plan depends on (most of a memory controller, the core) takes its plan from here.
 */
#pragma once

struct cnnvp_plan_memory;

/* Empty: the first planning fills it, later ones only read it. NULL: out of memory. */
struct cnnvp_plan_memory *cnnvp_plan_memory_new(void);
/* NULL is allowed. */
void cnnvp_plan_memory_free(struct cnnvp_plan_memory *memory);

struct cnnvp_target;
/* Takes the answers of the units from here on into the target's memory, if there is one and it is empty. */
void cnnvp_plan_memory_listen(const struct cnnvp_target *target);
