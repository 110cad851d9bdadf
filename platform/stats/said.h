/* SPDX-License-Identifier: Apache-2.0 */
/* What a program on the core says of itself: numbers that it reports by name, and what its layers are called. */
#ifndef CNNVP_SAID_H
#define CNNVP_SAID_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_said_value {
    char *name;
    int64_t value;
};

struct cnnvp_said_layer {
    uint32_t tag;
    struct cnnvp_layer_info info;
};

/* All 0: nothing. Owns all that it points to. */
struct cnnvp_said {
    struct cnnvp_said_value *values; /* in the order in which they were first reported */
    uint32_t value_count;
    struct cnnvp_said_layer *layers;
    uint32_t layer_count;
};

/* As report and name_layer of struct cnnvp_host_ops. */
int cnnvp_said_report(struct cnnvp_said *said, const char *name, int64_t value);
int cnnvp_said_layer(struct cnnvp_said *said, uint32_t tag, const char *name, const char *op, const char *phase,
                     uint64_t macs);

/* NULL: nothing was said of the tag. */
const struct cnnvp_layer_info *cnnvp_said_find(const struct cnnvp_said *said, uint32_t tag);

void cnnvp_said_clear(struct cnnvp_said *said);

#ifdef __cplusplus
}
#endif

#endif
