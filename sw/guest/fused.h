/* SPDX-License-Identifier: Apache-2.0 */
/* Fused groups (network_binary.h): layers that run tile by tile through the input buffer. */
#ifndef CNNVP_GUEST_FUSED_H
#define CNNVP_GUEST_FUSED_H

#include "schedule.h"

/* Runs all tiles of the group for the image in work. Returns the number of layers in the group. */
uint32_t cnnvp_fused(struct cnnvp_guest *guest, uint32_t group);

#endif
