/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction lists in memory (--issue list); see list.c. */
#ifndef CNNVP_GUEST_LIST_H
#define CNNVP_GUEST_LIST_H

#include "guest.h"

/* Runs whole batches from image `first` on, `step` images apart, from instructions that stay in memory
 * (cnnvp_binary.list). Returns the first image of the batches that are left to the layer functions. */
uint32_t cnnvp_list_run(struct cnnvp_guest *guest, uint32_t first, uint32_t step);

#endif
