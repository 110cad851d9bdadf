/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program that a core with a tightly coupled memory is told of, beyond cnnvp_platform_hold: tables that it
 * reads in turn. */
#ifndef CNNVP_HOLD_H
#define CNNVP_HOLD_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The program that is loaded next only reads [address, address + size), and in one step of its work alone. Its work
 * goes from step to step, after the last one to the first one again. A tightly coupled memory that does not hold all of
 * its tables has those of the step at work, and reads those of the next ones meanwhile. `user`: of several that work
 * side by side, each in its own step. Calls are in the order of users, and of each in that of steps; of a step the
 * tables that are needed most come first. Both below 4 GiB. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step,
                                                     uint64_t address, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
