/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BN-gradient update of S001 (kind `bn_update`): applies dgamma and dbeta, which batch norm's backward has left in the
 * batch norm buffer (Part B 1-26), to gamma and beta there, by the rule of stage/momentum.h. Gradients are rounded to
 * binary32 first.
 */
#ifndef CNNVP_BN_UPDATE_H
#define CNNVP_BN_UPDATE_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_bn_update;

#endif
