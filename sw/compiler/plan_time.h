/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a layer takes in the tiles that are set: its instructions are replayed slice by slice in the order in
 * which the guest software pushes them (guest/pipeline.h), with the instruction element's rules of issue: in order,
 * each when its unit and its halves of buffers are free (order overlap) or when the one before has completed
 * (strict).
 *
 * Calculations, transfers and the core take what plan_cost.h says, a transfer the memory's latency besides, and loads
 * and stores at the same time share the memory. A store is complete when the memory has taken it; the memory's queue
 * of writes is emptied behind it, before further reads where it was full. Not replayed: which rows are open, when
 * refreshes fall, what other layers leave behind.
 */
#ifndef CNNVP_COMPILER_PLAN_TIME_H
#define CNNVP_COMPILER_PLAN_TIME_H

#include "plan_sums.h"

/* Of a layer whose sums are known, where the core is ahead by `lead` ps when it begins. */
struct cnnvp_plan_time cnnvp_plan_replay(struct cnnvp_plan_sorts *sorts, const struct cnnvp_plan_time *sums,
                                         uint64_t lead);

/* Of one of which nothing is known, with the limits' lead. */
struct cnnvp_plan_time cnnvp_plan_time_of(const struct cnnvp_image_layer *layer,
                                          const struct cnnvp_plan_limits *limits);

#endif
