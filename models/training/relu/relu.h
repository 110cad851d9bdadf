/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReLU of S001 (kind `relu`) and its arithmetic, free of any host. It leaves the 0/1 matrix,
 * one bit a value, that `relu_back` takes (S001 C4, C5). NaN counts as not positive. Bit i of a plane is bit i mod 8 of
 * byte i / 8.
 */
#ifndef CNNVP_RELU_H
#define CNNVP_RELU_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_relu;

/* x where it is above 0, else +0. */
void cnnvp_relu_forward(float *x, uint64_t n);
/* The same, and bits that say which; `matrix` has cnnvp_tile_packed(n, 1) bytes, whose rest is filled with zeros. */
void cnnvp_relu_forward_keep(float *x, uint64_t n, uint8_t *matrix);
#endif
