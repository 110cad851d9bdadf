/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update of S001 (kind `update`), by the rule of stage/momentum.h. Weights that are kept in 8 bits alone (the
 * literal reading of S001) are decoded before and quantised after, by other blocks.
 */
#ifndef CNNVP_UPDATE_H
#define CNNVP_UPDATE_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_update;

#endif
