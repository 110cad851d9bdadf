/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pool of S001 (kind `max_pool`): of quantised activations (S001 C4: pool after quantise), with the position of
 * each maximum. Its arithmetic is in stage/pool.h.
 */
#ifndef CNNVP_MAX_POOL_H
#define CNNVP_MAX_POOL_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_max_pool;

#endif
