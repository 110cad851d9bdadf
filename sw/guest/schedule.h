/* SPDX-License-Identifier: Apache-2.0 */
/* The layer schedule (S000): layer after layer, each cut into steps that fit the buffers; see cnnvp_layer. */
#ifndef CNNVP_GUEST_SCHEDULE_H
#define CNNVP_GUEST_SCHEDULE_H

#include "layers.h"

/* Pushes the instructions of one batch. */
void cnnvp_schedule_layers(struct cnnvp_guest *guest);

/* Loads all weight tiles to their places, once before the first image (CNNVP_BINARY_PRELOAD). */
void cnnvp_schedule_preload(struct cnnvp_guest *guest);

/* Divides the scratchpad as the layer with this number needs it. If that changes the division, waits until nothing
 * runs. */
void cnnvp_schedule_divide(struct cnnvp_guest *guest, uint32_t layer);

/* ---- shared by the schedules ---- */

/* Begins a layer: loads its first weights, then flushes what waits of the layers before. */
void cnnvp_schedule_begin(struct cnnvp_guest *guest, const struct cnnvp_layer *layer);
/* Runs all steps of a box of the layer's results. */
void cnnvp_schedule_box(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_box *box);
/* Records `words` live values of a tensor on chip, to be pushed once the layer's steps are done. At most three per
 * layer. The tensor must live until then. */
void cnnvp_schedule_note(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t words);
/* Loads a layer's weight tiles that stay, if they are not loaded yet. */
void cnnvp_schedule_load_staying(struct cnnvp_guest *guest, const struct cnnvp_layer *layer);
/* The same for layers one after the other. */
void cnnvp_schedule_load(struct cnnvp_guest *guest, const struct cnnvp_binary_layer *layers, uint32_t count);
/* The group with this number. */
static inline const struct cnnvp_binary_group *cnnvp_schedule_group(const struct cnnvp_guest *guest, uint32_t number)
{
    const struct cnnvp_binary_group *groups = cnnvp_memory(guest->machine, guest->binary->groups);
    return &groups[number - 1u];
}
/* Begins a group, which ends with in_group 0. Its weight tiles that stay are loaded when a layer first needs them, and
 * again after others have used the weight buffer. Returns 1 if none of them is loaded. */
int cnnvp_schedule_begin_group(struct cnnvp_guest *guest, const struct cnnvp_binary_group *group, uint32_t number);
/* Finishes the steps that were begun: flushes epilogues, then pushes the recorded live values. */
void cnnvp_schedule_settle(struct cnnvp_guest *guest);

#endif
