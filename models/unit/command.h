/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for units that take commands of the instruction element. */
#pragma once

#include "cnnvp_command.h"
#include "cnnvp_model.h"

#include <stddef.h>

/* Gets the command that an access carries. Returns CNNVP_E_ACCESS or CNNVP_E_INVAL if it carries none. */
CNNVP_MUST_USE static inline int cnnvp_command_of(const struct cnnvp_access *access,
                                                  const struct cnnvp_command **command)
{
    if (access->op != CNNVP_COMMAND)
        return CNNVP_E_ACCESS;
    if (access->data == NULL || access->size != sizeof **command)
        return CNNVP_E_INVAL;
    *command = (const struct cnnvp_command *)access->data;
    return CNNVP_OK;
}

/* Counts and reports a refused command; returns `status`. */
CNNVP_MUST_USE static inline int cnnvp_command_refuse(struct cnnvp_host *host, const struct cnnvp_host_ops *ops,
                                                      uint32_t rejected_stat, const struct cnnvp_command *command,
                                                      int status, const char *reason)
{
    ops->count(host, rejected_stat, command->tag, 1u);
    ops->log(host, CNNVP_LOG_WARNING, "instruction %llu, opcode 0x%02x refused: %s",
             (unsigned long long)command->sequence, (unsigned)command->opcode, reason);
    return status;
}

/* Clock cycles of the unit by which an access is late. */
static inline uint64_t cnnvp_command_stalls(struct cnnvp_host *host, const struct cnnvp_host_ops *ops, cnnvp_time delay)
{
    return cnnvp_delay_cycles(ops->clock_mhz(host), ops->now(host), delay);
}

/* One statistic and what a command adds to it. */
struct cnnvp_command_count {
    uint32_t stat;
    uint64_t n;
};

static inline void cnnvp_command_count(struct cnnvp_host *host, const struct cnnvp_host_ops *ops, uint32_t tag,
                                       const struct cnnvp_command_count *counts, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (counts[i].n != 0)
            ops->count(host, counts[i].stat, tag, counts[i].n);
}

/* Makes the unit busy for `cycles` from the access's time on: sets access->delay and draws the span. */
static inline void cnnvp_command_occupy(struct cnnvp_host *host, const struct cnnvp_host_ops *ops, uint32_t track,
                                        const char *name, const struct cnnvp_command *command, uint64_t cycles,
                                        struct cnnvp_access *access)
{
    const uint64_t mhz = ops->clock_mhz(host);
    const cnnvp_time now = ops->now(host);
    const uint64_t edge = cnnvp_edge_at_or_after(mhz, now + access->delay);
    const cnnvp_time end = cnnvp_edge_time(mhz, edge + cycles);
    access->delay = end - now;
    ops->span(host, track, name, command->tag, command->sequence, cnnvp_edge_time(mhz, edge), end);
}
