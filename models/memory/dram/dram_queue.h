/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in front of the channels. They are split into bursts, which enter the controllers' queues one by one.
 * Host-free.
 *
 * The reads of an initiator are one stream, its writes another; a stream sends its bursts in order. A burst that ends a
 * segment and begins the next is sent once. A read stream has at most `outstanding` bursts in flight; a write burst is
 * done when the controller has taken it. If several streams have a burst that could enter at a clock, the arbiter
 * (dram_policies.h) says which goes first; round-robin chooses the stream that has waited longest since its last burst,
 * then the lower initiator, then reads before writes. Any number of bursts enters at one clock, unless the port limits
 * it: each burst occupies the port for a time, with reads and writes apart. A request can enter at the first clock edge
 * after it arrives. So results depend neither on the order of events at one instant nor on how far one call computes
 * the schedule.
 */
#pragma once

#include "dram_stream.h"

/* The caller has checked timing and options. Returns CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_dram_queue_init(struct dram_queue *queue, const struct dram_options *options,
                                         const struct dram_timing *timing);
void cnnvp_dram_queue_fini(struct dram_queue *queue);
/* Sets the windows that show low power of the ranks, also after a reset. */
void cnnvp_dram_queue_show(struct dram_queue *queue, struct dram_windows *windows);
/* Forgets every request, closes every bank. */
void cnnvp_dram_queue_reset(struct dram_queue *queue, cnnvp_time now);

/* Adds a request that arrives; the caller has checked its range. Returns CNNVP_OK, CNNVP_E_NOMEM, or CNNVP_E_STATE if
 * there are too many initiators. */
CNNVP_MUST_USE int cnnvp_dram_queue_add(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time now);

/* Schedules everything that no request arriving at `bound` or later can change, up to the first completion. */
void cnnvp_dram_queue_schedule(struct dram_queue *queue, cnnvp_time bound);
/* The same, with refreshes also while nothing waits: brings the counts up to `now`. */
void cnnvp_dram_queue_catch_up(struct dram_queue *queue, cnnvp_time now);
/* Reports the row class of each waiting burst that has none, as it will be if nothing else arrives. Changes nothing. */
void cnnvp_dram_queue_classify(struct dram_queue *queue,
                               void (*classified)(void *context, const struct dram_issued *issued));
/* Reports each request of which bursts have entered and whose completion has not been taken. */
void cnnvp_dram_queue_unfinished(const struct dram_queue *queue,
                                 void (*unfinished)(void *context, const struct cnnvp_request *request));
/* Returns a time before which no request completes, except those with a known completion (due) and those that have not
 * yet arrived. It is early enough to schedule at that time. CNNVP_TIME_NEVER if nothing waits. */
cnnvp_time cnnvp_dram_queue_work(struct dram_queue *queue);
/* Removes and returns the request of the first known completion. */
struct cnnvp_request *cnnvp_dram_queue_take(struct dram_queue *queue);

/* Sums the counts of the channels. */
void cnnvp_dram_queue_counts(const struct dram_queue *queue, struct dram_counts *counts);
