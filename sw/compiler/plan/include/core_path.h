/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a network: whether each layer waits for the core or for the units. The core runs ahead of the
 * units until the instruction queue is full. */
#pragma once

#include <stddef.h>

#include "plan.h"

/* One layer. */
struct cnnvp_core_stage {
    double core, units; /* ps of work; out: `units` is the units' time on the critical path */
    double waits;       /* out: the core's share of the critical path in this layer, 0 to 1 */
};

/* Returns the time of all layers in sequence, in ps, and sets `waits`. The queue holds as many instructions as the core
 * pushes in `queue_ps`. A negative result means out of memory. */
double cnnvp_core_path(struct cnnvp_core_stage *stages, size_t count, double queue_ps);

/* Weights of a layer's price, given the core's share of the critical path there. The core's work adds up to 1.5 times
 * its time to the price; the factor is fitted to nine networks. */
static inline struct cnnvp_plan_weights cnnvp_core_weights(double waits)
{
    return (struct cnnvp_plan_weights){1, 0, 1.5 * waits};
}

/* Weights that price only work on the critical path. */
static inline struct cnnvp_plan_weights cnnvp_path_weights(double waits)
{
    return (struct cnnvp_plan_weights){0, 1 - waits, waits};
}
