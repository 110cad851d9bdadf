/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images after the first two are the same program with other addresses and seeds. The words pushed for image 1 are
 * recorded; the following images push them again, with the addresses that depend on the image moved on by one image and
 * the seeds of stochastic rounding as well. The element's driver pushes a `set` only where a register changes; where
 * registers hold something else before image 1 than behind it (those of a store, say, where image 0 leaves all of its
 * results waiting), some words are left out or put in. Saves the core most of its work; changes no word that is pushed.
 */
#ifndef CNNVP_GUEST_REPLAY_H
#define CNNVP_GUEST_REPLAY_H

#include "guest.h"

/* Starts recording; call before the words of an image are pushed. */
void cnnvp_replay_begin(struct cnnvp_guest *guest);

/* A seed that may be pushed, where rounding is stochastic. */
void cnnvp_replay_seed(struct cnnvp_guest *guest, uint32_t seed);

/* Ends recording. 1: the image can be replayed; 0: it is too long, or a seed of it or of the image before is 0. */
int cnnvp_replay_end(struct cnnvp_guest *guest);

/* Pushes the words of the next image. 1: done; 0: they are others, and nothing was pushed, nor will be: a seed
 * becomes 0, which means none. */
int cnnvp_replay_image(struct cnnvp_guest *guest);

/* Call behind the last image that was replayed, before anything else is pushed. */
void cnnvp_replay_finish(struct cnnvp_guest *guest);

#endif
