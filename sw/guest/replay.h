/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images after the first two or three are the same program with other addresses. The words pushed for image 1 are
 * recorded; if the guest's state behind them is the state before them, the following images push the recorded words
 * again, with the addresses that depend on the image moved on by one image; otherwise image 2 is tried in the same way.
 * Saves the core most of its work; changes no word that is pushed.
 */
#ifndef CNNVP_GUEST_REPLAY_H
#define CNNVP_GUEST_REPLAY_H

#include "guest.h"

/* Starts recording; call before the words of an image are pushed. */
void cnnvp_replay_begin(struct cnnvp_guest *guest);

/* Ends recording. 1: the image can be replayed; 0: it is too long, or the guest's state has changed (seeds of
 * stochastic rounding, say). */
int cnnvp_replay_end(struct cnnvp_guest *guest);

/* Pushes the words of the next image. */
void cnnvp_replay_image(struct cnnvp_guest *guest);

/* Call behind the last image that was replayed, before anything else is pushed. */
void cnnvp_replay_finish(struct cnnvp_guest *guest);

#endif
