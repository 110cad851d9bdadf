/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of odd shapes that ends in a softmax: strides 2 x 1 and 1 x 2, paddings that differ on every side, kernels
 * of several pieces, a pool that leaves a row and a column out, biases with and without batch norm after them.
 */
#ifndef TEST_TRAINER_ODD_H
#define TEST_TRAINER_ODD_H

enum { ODD_CHANNELS = 3, ODD_HEIGHT = 13, ODD_WIDTH = 17, ODD_CLASSES = 10 };

/* To a new temporary file, its name into `name` (room 64). norm: batch norm after the first convolution. */
void odd_write(char *name, int norm);

#endif
