/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_CLINT_H
#define CNNVP_CLINT_H

#include "cnnvp_model.h"

extern const struct cnnvp_unit cnnvp_unit_clint;

#endif
