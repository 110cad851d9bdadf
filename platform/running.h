/* SPDX-License-Identifier: Apache-2.0 */
/* Which callback of which instance runs now, for whoever has to say so when it crashes. */
#ifndef CNNVP_PLATFORM_RUNNING_H
#define CNNVP_PLATFORM_RUNNING_H

#include "cnnvp.h"
#include "cnnvp_command.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_running {
    const char *instance;
    const char *callback;
};

/* NULL: none. Whoever sets it puts back what was there before. */
extern const struct cnnvp_running *volatile cnnvp_running;

/* 0 where what a callback returned says nothing. */
static inline int cnnvp_is_status(int status)
{
    return status >= CNNVP_E_MEMORY && status <= CNNVP_PENDING;
}

#ifdef __cplusplus
}
#endif

#endif
