/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in front of the channels: split into bursts that enter the controllers' queues one by one. Host-free.
 *
 * The reads of an initiator are one stream, its writes another; a stream sends its bursts in order. A burst that
 * ends a segment and begins the next is sent once. A read stream has at most `outstanding` bursts
 * on their way; a write burst is done when the controller has taken it. Of the streams whose next burst could enter a
 * queue at a clock, the arbiter (dram_policies.h) says which goes first; by round-robin that which has waited longest
 * since its last burst, then the lower initiator, reads before writes. Any number enters at one clock, or as many as
 * the port has room for: each takes its time of the port, reads and writes apart. What arrives at a time can enter at
 * the first clock edge after it, so results depend neither on the order of things within an instant nor on how far the
 * schedule is computed in one call.
 */
#ifndef CNNVP_DRAM_QUEUE_H
#define CNNVP_DRAM_QUEUE_H

#include "dram_stream.h"

/* Timing and options have been checked. CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_dram_queue_init(struct dram_queue *queue, const struct dram_options *options,
                                         const struct dram_timing *timing);
void cnnvp_dram_queue_fini(struct dram_queue *queue);
/* Windows that show its ranks' low power from now on, also after a reset. */
void cnnvp_dram_queue_show(struct dram_queue *queue, struct dram_windows *windows);
/* Forgets every request, closes every bank. */
void cnnvp_dram_queue_reset(struct dram_queue *queue, cnnvp_time now);

/* A request arrives. Its range has been checked. CNNVP_E_NOMEM, CNNVP_E_STATE: there are too many initiators. */
CNNVP_MUST_USE int cnnvp_dram_queue_add(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time now);

/* Schedules everything that no request arriving at `bound` or later can change, up to the first completion. */
void cnnvp_dram_queue_schedule(struct dram_queue *queue, cnnvp_time bound);
/* The same with refreshes also where nothing waits: brings the counts up to `now`. */
void cnnvp_dram_queue_catch_up(struct dram_queue *queue, cnnvp_time now);
/* Tells of the row class of each burst that waits, as it will be if nothing else arrives; it then counts as classified.
 */
void cnnvp_dram_queue_classify(struct dram_queue *queue,
                               void (*classified)(void *context, const struct dram_issued *issued));
/* Tells of each request of which bursts have entered and whose completion has not been taken. */
void cnnvp_dram_queue_unfinished(const struct dram_queue *queue,
                                 void (*unfinished)(void *context, const struct cnnvp_request *request));
/* No request completes before this time, unless it is known (due) or has not arrived yet: it is early enough to
 * schedule up to then. CNNVP_TIME_NEVER if nothing waits. */
cnnvp_time cnnvp_dram_queue_work(struct dram_queue *queue);
/* Takes the request of that completion out. */
struct cnnvp_request *cnnvp_dram_queue_take(struct dram_queue *queue);

/* Sums over the channels. */
void cnnvp_dram_queue_counts(const struct dram_queue *queue, struct dram_counts *counts);

#endif
