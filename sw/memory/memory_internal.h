/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_MEMORY_INTERNAL_H
#define CNNVP_MEMORY_INTERNAL_H

#include "config.h"

/* Finds the platform's instance dram, which must be of model dram; NULL: there is none, and `error` says so. */
const struct cnnvp_instance *cnnvp_memory_find(const struct cnnvp_resolved *platform, struct cnnvp_error *error);

#endif
