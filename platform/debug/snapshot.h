/* SPDX-License-Identifier: Apache-2.0 */
/* What each track and counter has said last: what a debugger's user sees of units at work. Plain C. */
#ifndef CNNVP_PLATFORM_LATEST_H
#define CNNVP_PLATFORM_LATEST_H

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_snapshot;

struct cnnvp_snapshot_span {
    const char *name; /* NULL: there was none */
    uint32_t tag;
    cnnvp_time begin;
    cnnvp_time end;
};

/* NULL without memory. `platform` must outlive it. */
struct cnnvp_snapshot *cnnvp_snapshot_new(const struct cnnvp_resolved *platform);
void cnnvp_snapshot_free(struct cnnvp_snapshot *snapshot);

/* Of instances and their tables; what is in none is ignored. Units may say a span before it begins. */
void cnnvp_snapshot_set_span(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t track,
                             const struct cnnvp_snapshot_span *span);
void cnnvp_snapshot_set_counter(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter, uint64_t value);

/* NULL where there is no such track; 0 where there is no such counter. */
const struct cnnvp_snapshot_span *cnnvp_snapshot_get_span(const struct cnnvp_snapshot *snapshot, uint32_t instance,
                                                          uint32_t track);
uint64_t cnnvp_snapshot_get_counter(const struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter);

#ifdef __cplusplus
}
#endif

#endif
