/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the core's time goes, by function: made of the calls and returns that a counter of the unit "function" shows,
 * and written in callgrind's format. Cycles are those of the core, device stalls and sleep included. A jump without a
 * link (a tail call) goes on in the caller's name.
 */
#ifndef CNNVP_PROFILE_H
#define CNNVP_PROFILE_H

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_profile;

/* The file is checked now. `platform` must outlive the profile. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_new(const struct cnnvp_resolved *platform, const char *file,
                                              struct cnnvp_profile **profile, struct cnnvp_error *error);
void cnnvp_profile_free(struct cnnvp_profile *profile);

/* Who knows functions by an address; names live as long as the profile. */
void cnnvp_profile_names(struct cnnvp_profile *profile, const char *(*name)(const void *context, uint64_t address),
                         const void *context);

/* A value of a counter; what is no counter of functions is not looked at. */
void cnnvp_profile_counter(struct cnnvp_profile *profile, uint32_t instance, uint32_t counter, cnnvp_time at,
                           uint64_t value);

/* Ends what is open, and writes the file. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_finish(struct cnnvp_profile *profile, cnnvp_time end,
                                                 struct cnnvp_error *error);

#ifdef __cplusplus
}
#endif

#endif
