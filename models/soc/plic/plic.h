/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_PLIC_H
#define CNNVP_PLIC_H

#include "cnnvp_model.h"

extern const struct cnnvp_unit cnnvp_unit_plic;

#endif
