/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of symbols and profiles share: the program two_functions.S, and a core that is made up. */
#ifndef CNNVP_TESTS_PROFILE_CASE_H
#define CNNVP_TESTS_PROFILE_CASE_H

#include "test.h"

#include "profile_internal.h"

enum { TEXT = 0x10000, TWICE = TEXT + 16 };

/* A file beside the tests' own; profile_case_tear_down removes it. */
#define PROFILE_FILE "two_functions.callgrind"

extern struct cnnvp_symbols *profile_symbols;
extern struct cnnvp_profile *profile;
extern const struct cnnvp_profiler *profiler;

/* cmocka fixtures of each test. */
int profile_case_set_up(void **state);
int profile_case_tear_down(void **state);

/* The core has executed an instruction, once, in so many cycles. */
void profile_execute(uint32_t address, uint64_t cycles);
void profile_call(uint32_t from, uint32_t to);
void profile_leave(void);
/* The program from its start to its end: 3 cycles, two calls of 5 and 7 cycles, each of them after 1 cycle, and 2. */
void profile_run(void);

#endif
