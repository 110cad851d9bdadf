/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU backward of S001 (kind `relu_back`). */
#ifndef CNNVP_RELU_BACK_H
#define CNNVP_RELU_BACK_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_relu_back;

#endif
