/* SPDX-License-Identifier: Apache-2.0 */
/* The instance and callback that are running, for crash messages. */
#pragma once

#include "cnnvp.h"
#include "cnnvp_command.h"

struct cnnvp_running {
    const char *instance;
    const char *callback;
};

/* NULL: none. Code that sets it must restore the previous value. */
extern const struct cnnvp_running *volatile cnnvp_running;

/* False if the value that a callback returned is not a valid status. */
static inline int cnnvp_is_status(int status)
{
    return status >= CNNVP_E_MEMORY && status <= CNNVP_PENDING;
}
