/* SPDX-License-Identifier: Apache-2.0 */
#include "running.h"

const struct cnnvp_running *volatile cnnvp_running;

int cnnvp_running_unit(const char **instance, const char **callback)
{
    const struct cnnvp_running *now = cnnvp_running;
    if (now == NULL)
        return 0;
    *instance = now->instance;
    *callback = now->callback;
    return 1;
}
