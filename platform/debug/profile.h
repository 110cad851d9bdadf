/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the core's cycles go, by instruction and by call: filled by the core itself (struct cnnvp_profiler), told by
 * function, line and instruction in callgrind's format, and by function. A jump without a link (a tail call) is no
 * call: where it leads has its own costs, and no caller.
 */
#ifndef CNNVP_PROFILE_H
#define CNNVP_PROFILE_H

#include "cnnvp.h"
#include "cnnvp_program.h"
#include "symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_profile;

/* The file is checked now. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_new(const char *file, struct cnnvp_profile **profile,
                                              struct cnnvp_error *error);
void cnnvp_profile_free(struct cnnvp_profile *profile);

/* For the core that runs `program`, a file's name; both must live as long as the profile, or until others follow. */
const struct cnnvp_profiler *cnnvp_profile_profiler(struct cnnvp_profile *profile, const char *program,
                                                    const struct cnnvp_symbols *symbols);

/* Ends the calls that are open, and writes the file; once. */
CNNVP_MUST_USE cnnvp_result cnnvp_profile_finish(struct cnnvp_profile *profile, struct cnnvp_error *error);

/* Up to `room` functions, those with most cycles first; how many there are. *all: the sum over all functions. Names are
 * the symbols', or live until the next call. */
size_t cnnvp_profile_functions(struct cnnvp_profile *profile, struct cnnvp_profile_function *functions, size_t room,
                               struct cnnvp_profile_function *all);

#ifdef __cplusplus
}
#endif

#endif
