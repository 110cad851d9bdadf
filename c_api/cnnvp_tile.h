/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the blocks of S001's training engine hand to each other: tiles of values on their way through the multi-function
 * module, and the entries of its buffers.
 */
#ifndef CNNVP_TILE_H
#define CNNVP_TILE_H

#include "cnnvp_command.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set in the address of scales and exponents that lie in the max-min buffer, not in the intermediate buffer. */
#define CNNVP_TILE_HELD (UINT32_C(1) << 30)

#ifdef __cplusplus
}
#endif

#endif
