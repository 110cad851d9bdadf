/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes each burst of the off-chip memories to a file as it enters its controller. The file's suffix selects the form:
 *   .ramulator2  Ramulator 2, load-store trace:  LD|ST 0xADDRESS
 *   .dramsim3    DRAMsim3:                       0xADDRESS READ|WRITE CLOCK
 *   other        `cnnvp memory`:                 R|W 0xADDRESS TIME_PS # REQUESTER [LAYER], for a reset Z TIME_PS,
 *                                                at the end E TIME_PS
 * Addresses are offsets in the memory.
 */
#pragma once

#include "config.h"

struct cnnvp_burst_trace;

CNNVP_MUST_USE cnnvp_result cnnvp_burst_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                                  struct cnnvp_burst_trace **trace, struct cnnvp_error *error);
/* If the platform has several memories, only bursts of the first one with a burst are written. */
void cnnvp_burst_trace_add(struct cnnvp_burst_trace *trace, uint32_t memory, cnnvp_time at, uint64_t clock,
                           uint32_t requester, uint32_t tag, uint32_t op, uint64_t address);
/* A reset of all memories. Only the form of `cnnvp memory` can say it. */
void cnnvp_burst_trace_reset(struct cnnvp_burst_trace *trace, cnnvp_time at);
/* Completes the file and frees `trace`. */
CNNVP_MUST_USE cnnvp_result cnnvp_burst_trace_finish(struct cnnvp_burst_trace *trace, uint64_t end_ps,
                                                     struct cnnvp_error *error);
/* Discards the trace: no file appears. NULL is allowed. */
void cnnvp_burst_trace_free(struct cnnvp_burst_trace *trace);
