/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config.h"

/* Finds the platform's instance dram. BAD_INPUT: there is none, or not of model dram, or no read may be in flight. */
cnnvp_result cnnvp_memory_find(const cnnvp_config *config, uint32_t outstanding, const struct cnnvp_instance **memory,
                               struct cnnvp_error *error);
