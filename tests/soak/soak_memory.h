/* SPDX-License-Identifier: Apache-2.0 */
/* A third-party memory behind the off-chip port (tests/support/memories.h). */
#ifndef TEST_SOAK_MEMORY_H
#define TEST_SOAK_MEMORY_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * cnnvp_platform_new with a memory: "lt:DELAY:FLAGS", in ns, and of its flags w (waits half of the delay), g (has debug
 * transport), d (has direct memory); or "at:STYLES", digits of memories::style that take turns. After it "!COUNT:KIND"
 * or nothing: all but the first COUNT transactions are answered with an error.
 */
CNNVP_MUST_USE cnnvp_result soak_memory_platform(const cnnvp_config *config,
                                                 const struct cnnvp_platform_options *options, const char *memory,
                                                 cnnvp_platform **platform, struct cnnvp_error *error);

/* Rules of the protocol that did not hold at the memory of the latest platform, which is forgotten. */
uint64_t soak_memory_broken(void);

#ifdef __cplusplus
}
#endif

#endif
