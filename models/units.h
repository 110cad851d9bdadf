/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in units. */
#pragma once

#include "cnnvp_model.h"

#define CNNVP_BUILTIN(kind) extern const struct cnnvp_unit cnnvp_unit_##kind;
#include "builtin_kinds.def"
#undef CNNVP_BUILTIN
