/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding module of S001 (kind `encode`; abstract, Part B 1-22): the packer in front of external memory. Behind
 * the quantiser it puts mantissas where the module wants them, and the 0/1 matrix and the position matrix from the ReLU
 * buffer and the ID buffer; before backward it takes the matrices back into these buffers. Packed planes are filled to
 * 16 bits (cnnvp_tile_packed). With `positions` staged, the position matrix passes the ReLU buffer, after the 0/1
 * matrices of the tile's images, both ways (S001 C5).
 */
#ifndef CNNVP_ENCODE_H
#define CNNVP_ENCODE_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_encode;

#endif
