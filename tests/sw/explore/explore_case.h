/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the exploration share: a folder for the group of tests, and specifications of LeNet-5 in it. Failures
 * end the running test. */
#ifndef CNNVP_EXPLORE_CASE_H
#define CNNVP_EXPLORE_CASE_H

#include "explore.h"

/* A specification, and what the message about it has. */
struct explore_error {
    const char *text;
    const char *message;
};

extern char explore_folder[64];

/* Setup and teardown of a group. */
int explore_case_begin(void **state);
int explore_case_end(void **state);

/* The network and timing_only, and `text` from line 3 on; good until the next call. */
const char *explore_with_network(const char *text);
/* Writes a specification; its path. */
const char *explore_write_spec(const char *text);
/* The sweep of a specification with that network. */
cnnvp_sweep *explore_sweep(const char *text);
/* Checks that a specification is refused with the message. */
void explore_check_error(const char *text, const struct explore_error *error);

#endif
