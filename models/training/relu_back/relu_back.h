/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU backward of S001 (kind `relu_back`). */
#ifndef CNNVP_RELU_BACK_H
#define CNNVP_RELU_BACK_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_relu_back;

/* dy where the bit of the 0/1 matrix is set, else +0. Bit i of a plane is bit i mod 8 of byte i / 8. */
void cnnvp_relu_backward(const uint8_t *matrix, uint64_t n, float *dy);

#endif
