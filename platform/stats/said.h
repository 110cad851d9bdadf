/* SPDX-License-Identifier: Apache-2.0 */
/* What the program on the core reports: numbers by name, and names of layers. */
#pragma once

#include "cnnvp.h"

struct cnnvp_said_value {
    char *name;
    int64_t value;
};

struct cnnvp_said_layer {
    uint32_t tag;
    struct cnnvp_layer_info info;
};

/* All 0: empty. Owns everything that it points to. */
struct cnnvp_said {
    struct cnnvp_said_value *values; /* in order of first report */
    uint32_t value_count;
    struct cnnvp_said_layer *layers;
    uint32_t layer_count;
};

/* As `report` and `name_layer` of struct cnnvp_host_ops. */
int cnnvp_said_report(struct cnnvp_said *said, const char *name, int64_t value);
int cnnvp_said_layer(struct cnnvp_said *said, uint32_t tag, const char *name, const char *op, const char *phase,
                     uint64_t macs);

/* The layer that the program named for the tag; NULL: none. */
const struct cnnvp_layer_info *cnnvp_said_find(const struct cnnvp_said *said, uint32_t tag);

void cnnvp_said_clear(struct cnnvp_said *said);
