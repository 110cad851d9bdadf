/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of the part's commands, and power of its standby and low-power states. */
#pragma once

#include "cnnvp_model.h"
#include "dram_timing.h"

void cnnvp_dram_power(const struct dram_options *options, const struct cnnvp_costs *costs);
