/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_GUEST_LIST_H
#define CNNVP_GUEST_LIST_H

#include "guest.h"

/* Has the element run all whole batches from image `first` on, `step` images apart, by words that stay in the memory
 * that the binary names. Returns the first image of the batch that is left. */
uint32_t cnnvp_list_run(struct cnnvp_guest *guest, uint32_t first, uint32_t step);

#endif
