/* SPDX-License-Identifier: Apache-2.0 */
/* Energy and static power of a configuration's units (cnnvp.h), without a run. Uses the same tables as the statistics
 * of a run. */
#ifndef CNNVP_COSTS_H
#define CNNVP_COSTS_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Picojoules per count of an instance's statistic in a resolved configuration; 0 if it costs no energy. BAD_INPUT:
 * there is no such instance or statistic, or the unit's own costs are invalid. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_energy(const cnnvp_config *config, const char *instance, const char *stat,
                                                double *picojoules, struct cnnvp_error *error);

/* Picojoules per byte that moves between two instances. BAD_INPUT likewise. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_link_energy(const cnnvp_config *config, const char *from, const char *to,
                                                     double *picojoules, struct cnnvp_error *error);

/* Static power of all instances together, in milliwatts: leakage, clock, standby. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_static_power(const cnnvp_config *config, double *milliwatts,
                                                      struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
