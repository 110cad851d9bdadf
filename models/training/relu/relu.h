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

#endif
