/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of max pool, and that of its way back: a block with the positions of one plane's maxima. */
#ifndef CNNVP_POOL_IDS_H
#define CNNVP_POOL_IDS_H

#include "stage/stage.h"

struct cnnvp_pool_ids {
    struct cnnvp_stage stage;
    uint8_t *ids; /* of one plane, a byte each */
    uint64_t capacity;
};

/* Makes room for a plane of `values` positions; what was there is lost. CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_pool_ids_reserve(struct cnnvp_pool_ids *pool, uint64_t values);

/* For struct cnnvp_unit::fini. */
void cnnvp_pool_ids_fini(void *self);

#endif
