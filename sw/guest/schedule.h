/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer schedule (S000): layer after layer, each cut into steps that the buffers hold, see network_binary.h.
 */
#ifndef CNNVP_GUEST_SCHEDULE_H
#define CNNVP_GUEST_SCHEDULE_H

#include "layers.h"

/* Pushes the instructions of one batch. */
void cnnvp_schedule_layers(struct cnnvp_guest *guest);

/* On chip: loads all blobs to their places, once before the first image. */
void cnnvp_schedule_preload(struct cnnvp_guest *guest);

#endif
