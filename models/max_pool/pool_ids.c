/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_ids.h"

#include <stdlib.h>

int cnnvp_pool_ids_reserve(struct cnnvp_pool_ids *pool, uint64_t values)
{
    if (pool->capacity >= values)
        return CNNVP_OK;
    free(pool->ids);
    pool->ids = malloc((size_t)values);
    pool->capacity = pool->ids == NULL ? 0 : values;
    return pool->ids == NULL ? CNNVP_E_NOMEM : CNNVP_OK;
}

void cnnvp_pool_ids_fini(void *self)
{
    struct cnnvp_pool_ids *pool = self;
    free(pool->ids);
}
