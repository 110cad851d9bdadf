/* SPDX-License-Identifier: Apache-2.0 */
/* Early return on failure, and cleanup of a function's resources. */
#pragma once

#include "cnnvp.h"

/* Returns from the function with the result of `call` if it fails. */
#define CNNVP_TRY(call)                     \
    do {                                    \
        const cnnvp_result tried_ = (call); \
        if (tried_ != CNNVP_DONE)           \
            return tried_;                  \
    } while (0)

/* Put before a variable with an initial value: `release` gets its address whenever the block is left. */
#ifdef __cppcheck__ /* would report a leak */
#define CNNVP_SCOPED(release) static
#else
#define CNNVP_SCOPED(release) __attribute__((cleanup(release)))
#endif
/* The same for memory from malloc; NULL is allowed. */
#define CNNVP_FREED CNNVP_SCOPED(cnnvp_release)
void cnnvp_release(void *pointer);
/* Until the end of the block, numbers in texts have a decimal point, whatever locale the program has set. */
#define CNNVP_DECIMAL_POINT          \
    CNNVP_SCOPED(cnnvp_locale_leave) \
    __attribute__((unused)) void *const outer_locale_ = cnnvp_locale_enter()
void *cnnvp_locale_enter(void);
void cnnvp_locale_leave(void *const *outer);
/* Defines TYPE_drop for CNNVP_SCOPED, which calls TYPE_free; NULL is allowed. */
#define CNNVP_DROP(type)                            \
    static inline void type##_drop(type **variable) \
    {                                               \
        type##_free(*variable);                     \
    }
CNNVP_DROP(cnnvp_config)
CNNVP_DROP(cnnvp_platform)
