/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile of the core's cycles by instruction and by call. The core fills it (struct cnnvp_profiler). It is reported by
 * function, line and instruction in callgrind's format, and by function. A jump without a link (a tail call) does not
 * count as a call: its target has its own costs and no caller.
 */
#pragma once

#include "cnnvp.h"
#include "cnnvp_program.h"
#include "symbols.h"

struct cnnvp_profile;

/* Checks the file name at once. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_new(const char *file, struct cnnvp_profile **profile,
                                              struct cnnvp_error *error);
void cnnvp_profile_free(struct cnnvp_profile *profile);

/* Interface for the core that runs `program`, a file name. Both arguments must live as long as the profile, or until
 * the next call. */
const struct cnnvp_profiler *cnnvp_profile_profiler(struct cnnvp_profile *profile, const char *program,
                                                    const struct cnnvp_symbols *symbols);

/* Ends the open calls and writes the file; only the first call does. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_finish(struct cnnvp_profile *profile, struct cnnvp_error *error);

/* Returns the number of functions, and fills up to `room` of them, those with most cycles first. *all: the sum over all
 * functions. Names come from the symbols, or live until the next call. */
size_t cnnvp_profile_functions(struct cnnvp_profile *profile, struct cnnvp_profile_function *functions, size_t room,
                               struct cnnvp_profile_function *all);
