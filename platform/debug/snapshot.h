/* SPDX-License-Identifier: Apache-2.0 */
/* Latest span of each track and latest value of each counter, for a debugger's user. Plain C. */
#pragma once

#include "config.h"

struct cnnvp_snapshot;

struct cnnvp_snapshot_span {
    const char *name; /* NULL: no span yet */
    uint32_t tag;
    cnnvp_time begin;
    cnnvp_time end;
};

/* NULL: out of memory. `platform` must outlive the snapshot. */
struct cnnvp_snapshot *cnnvp_snapshot_new(const struct cnnvp_resolved *platform);
void cnnvp_snapshot_free(struct cnnvp_snapshot *snapshot);

/* Unknown instances, tracks and counters are ignored. Units may report a span before it begins. */
void cnnvp_snapshot_set_span(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t track,
                             const struct cnnvp_snapshot_span *span);
void cnnvp_snapshot_set_counter(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter, uint64_t value);

/* NULL if there is no such track; 0 if there is no such counter. */
const struct cnnvp_snapshot_span *cnnvp_snapshot_get_span(const struct cnnvp_snapshot *snapshot, uint32_t instance,
                                                          uint32_t track);
uint64_t cnnvp_snapshot_get_counter(const struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter);
