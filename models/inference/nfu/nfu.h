/* SPDX-License-Identifier: Apache-2.0 */
/* The NFU of S002: unit kind `nfu`, instance pe_array. */
#ifndef CNNVP_NFU_H
#define CNNVP_NFU_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_nfu;

#ifdef __cplusplus
}
#endif

#endif
