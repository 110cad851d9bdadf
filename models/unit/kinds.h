/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters by name, for kinds that share their code and differ in the parameters that they have. */
#ifndef CNNVP_UNIT_KINDS_H
#define CNNVP_UNIT_KINDS_H

#include <string.h>

#include "cnnvp_model.h"

enum { CNNVP_KIND_PARAMS = 8 }; /* at most, of such a kind */

/* The values of an instance, in the order that `costs` has them in. */
static inline void cnnvp_kind_values(const struct cnnvp_unit *unit, const struct cnnvp_init *init,
                                     uint64_t values[CNNVP_KIND_PARAMS])
{
    for (uint32_t p = 0; p < unit->param_count; ++p)
        values[p] = init->ops->param(init->host, p);
}

/* `otherwise` where the kind does not have the parameter. */
static inline uint64_t cnnvp_kind_value(const struct cnnvp_unit *unit, const uint64_t *values, const char *name,
                                        uint64_t otherwise)
{
    for (uint32_t p = 0; p < unit->param_count; ++p)
        if (strcmp(unit->params[p].name, name) == 0)
            return values[p];
    return otherwise;
}

#endif
