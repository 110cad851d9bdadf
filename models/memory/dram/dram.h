/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory: kind `dram`. */
#ifndef CNNVP_DRAM_H
#define CNNVP_DRAM_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_dram;

#ifdef __cplusplus
}
#endif

#endif
