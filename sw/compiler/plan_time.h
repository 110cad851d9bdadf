/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a layer takes in the tiles that are set: its instructions are replayed slice by slice in the order in which the
 * guest software pushes them (guest/pipeline.h), with the instruction element's rules of issue: in order, each when its
 * unit and its halves of buffers are free (order overlap) or when the one before has completed (strict).
 *
 * Calculation takes what the engine's closed forms say. A transfer takes the memory's latency and its bursts at the rate
 * that one bank group sustains, and what further rows cost that do not follow each other; loads and stores at the same time
 * share the memory. The core takes a fixed time for each instruction that it pushes. Not replayed: which banks rows lie
 * in, when refreshes fall, what other layers leave behind.
 */
#ifndef CNNVP_COMPILER_PLAN_TIME_H
#define CNNVP_COMPILER_PLAN_TIME_H

#include "plan_cost.h"

struct cnnvp_plan_time cnnvp_plan_time_of(const struct cnnvp_image_layer *layer,
                                          const struct cnnvp_plan_limits *limits);

#endif
