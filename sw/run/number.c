/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <string.h>

#include "config.h"
#include "memory/dram/dram_timing.h"

uint64_t cnnvp_number_meant(const struct cnnvp_instance *instance, const char *param, uint64_t value)
{
    return value == 0 && strcmp(instance->model, "dram") == 0 ? cnnvp_dram_of_part(instance->values, param) : value;
}
