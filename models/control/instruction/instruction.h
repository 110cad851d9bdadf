/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction element (S003): kind `instruction`. */
#ifndef CNNVP_INSTRUCTION_H
#define CNNVP_INSTRUCTION_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct cnnvp_unit cnnvp_unit_instruction;

#ifdef __cplusplus
}
#endif

#endif
