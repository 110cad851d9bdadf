/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of a configuration (cnnvp.h) take, without a run: by the same tables as the statistics of one. */
#ifndef CNNVP_COSTS_H
#define CNNVP_COSTS_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Picojoules that one count of an instance's statistic takes in a resolved configuration; 0 where it takes none.
 * BAD_INPUT: there is no such instance or statistic, or what its unit says is impossible. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_energy(const cnnvp_config *config, const char *instance, const char *stat,
                                                double *picojoules, struct cnnvp_error *error);

/* Picojoules that a byte takes on its way between two instances. BAD_INPUT likewise. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_link_energy(const cnnvp_config *config, const char *from, const char *to,
                                                     double *picojoules, struct cnnvp_error *error);

/* Milliwatts that all instances take together whatever they do: leakage, clock, standby. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_static_power(const cnnvp_config *config, double *milliwatts,
                                                      struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
