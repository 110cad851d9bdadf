/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer schedule (S000): layer after layer, each cut into steps that the buffers hold, see network_binary.h.
 */
#ifndef CNNVP_GUEST_SCHEDULE_H
#define CNNVP_GUEST_SCHEDULE_H

#include "layers.h"

/* Pushes the instructions of one batch. */
void cnnvp_schedule_layers(struct cnnvp_guest *guest);

/* On chip: loads all weight tiles to their places, once before the first image. */
void cnnvp_schedule_preload(struct cnnvp_guest *guest);

/* Divides the scratchpad as the layer with this number needs it, when nothing runs any more. Blocks where that is
 * otherwise than before. */
void cnnvp_schedule_divide(struct cnnvp_guest *guest, uint32_t layer);

/* ---- between the schedules ---- */

/* Begins a layer: its first weights, then what waits of the layers before. */
void cnnvp_schedule_begin(struct cnnvp_guest *guest, const struct cnnvp_layer *layer);
/* All steps of a box of the layer's results. */
void cnnvp_schedule_box(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *box);
/* This many values of a tensor are live on chip once the layer's steps are done. At most three a layer; the tensor has
 * to live until then. */
void cnnvp_schedule_note(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t words);
/* The steps that were begun are done: epilogues, then what was noted. */
void cnnvp_schedule_settle(struct cnnvp_guest *guest);

#endif
