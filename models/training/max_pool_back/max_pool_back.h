/* SPDX-License-Identifier: Apache-2.0 */
/* Max-pool backward of S001 (kind `max_pool_back`); its arithmetic is in stage/pool.h. */
#ifndef CNNVP_MAX_POOL_BACK_H
#define CNNVP_MAX_POOL_BACK_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_max_pool_back;

#endif
