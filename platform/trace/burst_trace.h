/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each burst of the off-chip memories in a file, as it enters its controller. The file's name says the form:
 *   .ramulator2  Ramulator 2, load-store trace:  LD|ST 0xADDRESS
 *   .dramsim3    DRAMsim3:                       0xADDRESS READ|WRITE CLOCK
 *   other        `cnnvp memory`:                 R|W 0xADDRESS TIME_PS # REQUESTER [LAYER], at the end E TIME_PS
 * Addresses are those in the memory, from 0.
 */
#ifndef CNNVP_PLATFORM_BURST_TRACE_H
#define CNNVP_PLATFORM_BURST_TRACE_H

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_burst_trace;

CNNVP_MUST_USE cnnvp_result cnnvp_burst_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                                  struct cnnvp_burst_trace **trace, struct cnnvp_error *error);
/* A platform with several memories: those of the first that has a burst. */
void cnnvp_burst_trace_add(struct cnnvp_burst_trace *trace, uint32_t memory, cnnvp_time at, uint64_t clock,
                           uint32_t requester, uint32_t tag, uint32_t op, uint64_t address);
/* Completes the file. Frees `trace`. */
CNNVP_MUST_USE cnnvp_result cnnvp_burst_trace_finish(struct cnnvp_burst_trace *trace, uint64_t end_ps,
                                                     struct cnnvp_error *error);
/* Gives up: no file appears. NULL is allowed. */
void cnnvp_burst_trace_free(struct cnnvp_burst_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
