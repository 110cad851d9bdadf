/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReLU of S001, forward and backward, free of any host. Forward leaves the 0/1 matrix, one byte a value (the encoding
 * module packs it into bits), that backward takes (S001 C4, C5). NaN counts as not positive.
 */
#ifndef CNNVP_RELU_H
#define CNNVP_RELU_H

#include <stdint.h>

/* y = x where x > 0, else +0; positive[i] says which. y may be x. */
void cnnvp_relu_forward(const float *x, uint64_t n, float *y, uint8_t *positive);
/* dx = dy where positive, else +0. dx may be dy. */
void cnnvp_relu_backward(const float *dy, const uint8_t *positive, uint64_t n, float *dx);

#endif
