/* SPDX-License-Identifier: Apache-2.0 */
/* What each track and counter has said last: what a debugger's user sees of units at work. Plain C. */
#ifndef CNNVP_PLATFORM_LATEST_H
#define CNNVP_PLATFORM_LATEST_H

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_latest;

struct cnnvp_latest_span {
    const char *name; /* NULL: there was none */
    uint32_t tag;
    cnnvp_time begin;
    cnnvp_time end;
};

/* NULL without memory. `platform` must outlive it. */
struct cnnvp_latest *cnnvp_latest_new(const struct cnnvp_resolved *platform);
void cnnvp_latest_free(struct cnnvp_latest *latest);

/* Of instances and their tables; what is in none is ignored. Units may say a span before it begins. */
void cnnvp_latest_set_span(struct cnnvp_latest *latest, uint32_t instance, uint32_t track,
                           const struct cnnvp_latest_span *span);
void cnnvp_latest_set_counter(struct cnnvp_latest *latest, uint32_t instance, uint32_t counter, uint64_t value);

/* NULL where there is no such track; 0 where there is no such counter. */
const struct cnnvp_latest_span *cnnvp_latest_get_span(const struct cnnvp_latest *latest, uint32_t instance,
                                                      uint32_t track);
uint64_t cnnvp_latest_get_counter(const struct cnnvp_latest *latest, uint32_t instance, uint32_t counter);

#ifdef __cplusplus
}
#endif

#endif
