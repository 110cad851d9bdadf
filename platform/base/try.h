/* SPDX-License-Identifier: Apache-2.0 */
/* How a function ends at the first failure, and what it holds with it. */
#ifndef CNNVP_TRY_H
#define CNNVP_TRY_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Leaves the function where `call` fails, with its result. */
#define CNNVP_TRY(call)                     \
    do {                                    \
        const cnnvp_result tried_ = (call); \
        if (tried_ != CNNVP_DONE)           \
            return tried_;                  \
    } while (0)

/* In front of a variable with its first value: `release` gets its address at every way out of the block. */
#ifdef __cppcheck__ /* would take it for a leak */
#define CNNVP_SCOPED(release) static
#else
#define CNNVP_SCOPED(release) __attribute__((cleanup(release)))
#endif
/* The same of memory from malloc; NULL is none. */
#define CNNVP_FREED CNNVP_SCOPED(cnnvp_release)
void cnnvp_release(void *pointer);
/* Numbers in texts have a decimal point to the end of the block, whatever locale the program has set. */
#define CNNVP_DECIMAL_POINT          \
    CNNVP_SCOPED(cnnvp_locale_leave) \
    __attribute__((unused)) void *const outer_locale_ = cnnvp_locale_enter()
void *cnnvp_locale_enter(void);
void cnnvp_locale_leave(void *const *outer);
static inline void cnnvp_config_drop(cnnvp_config **config)
{
    cnnvp_config_free(*config);
}
static inline void cnnvp_platform_drop(cnnvp_platform **platform)
{
    cnnvp_platform_free(*platform);
}

#ifdef __cplusplus
}
#endif

#endif
