/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler asks a platform before it loads a program. Not part of the library's interface. */
#pragma once

#include "cnnvp.h"

/* BAD_INPUT: the platform is timing-only, and the program is not (`timing_only` 0). FAILED: another thread has it,
 * or the core's program has ended and the platform has not been reset. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_ready(const cnnvp_platform *platform, int timing_only,
                                                 struct cnnvp_error *error);
