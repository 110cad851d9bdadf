/* SPDX-License-Identifier: Apache-2.0 */
/* A third-party off-chip memory behind a TLM-2.0 socket: kind `external`. */
#ifndef CNNVP_EXTERNAL_H
#define CNNVP_EXTERNAL_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_external;

#ifdef __cplusplus
}
#endif

#endif
