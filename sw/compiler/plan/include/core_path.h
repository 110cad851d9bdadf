/* SPDX-License-Identifier: Apache-2.0 */
/* What a network waits for: the core, which runs ahead of the units as far as their queue has room, or the units. */
#ifndef CNNVP_COMPILER_CORE_PATH_H
#define CNNVP_COMPILER_CORE_PATH_H

#include <stddef.h>

#include "plan.h"

/* A layer: the work of the core and of the units, in ps. */
struct cnnvp_core_stage {
    double core, units;
    double waits; /* out: the part of the way back from the end through this layer that is the core's, 0 to 1 */
};

/* The time of all layers, one after the other, where the queue holds as many instructions as the core pushes in
 * `queue_ps`; `waits` is set. Below 0: out of memory. */
double cnnvp_core_path(struct cnnvp_core_stage *stages, size_t count, double queue_ps);

/* Of a layer's price, where so much of what the network waits for there is the core's: the core's work is worth more
 * than what the units take, by 1.5, fitted to nine networks. */
static inline struct cnnvp_plan_weights cnnvp_core_weights(double waits)
{
    return (struct cnnvp_plan_weights){1, 0, 1.5 * waits};
}

/* The same by the path alone: what is longer elsewhere does not matter. */
static inline struct cnnvp_plan_weights cnnvp_path_weights(double waits)
{
    return (struct cnnvp_plan_weights){0, 1 - waits, waits};
}

#endif
