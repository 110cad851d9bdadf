/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up parameters by name, for kinds of unit that share their code and have different parameters. */
#pragma once

#include <string.h>

#include "cnnvp_model.h"

enum { CNNVP_KIND_PARAMS = 8 }; /* most parameters of such a kind */

/* Reads the parameters of an instance, in the order in which `costs` receives them. */
static inline void cnnvp_kind_values(const struct cnnvp_unit *unit, const struct cnnvp_init *init,
                                     uint64_t values[CNNVP_KIND_PARAMS])
{
    for (uint32_t p = 0; p < unit->param_count; ++p)
        values[p] = init->ops->param(init->host, p);
}

/* Returns the parameter `name`, or `otherwise` if the kind has no such parameter. */
static inline uint64_t cnnvp_kind_value(const struct cnnvp_unit *unit, const uint64_t *values, const char *name,
                                        uint64_t otherwise)
{
    for (uint32_t p = 0; p < unit->param_count; ++p)
        if (strcmp(unit->params[p].name, name) == 0)
            return values[p];
    return otherwise;
}
