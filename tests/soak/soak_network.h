/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of random networks. A function that adds a node returns 0 if none is suitable; it may have begun
 * one. */
#ifndef TEST_SOAK_NETWORK_H
#define TEST_SOAK_NETWORK_H

#include "onnx_builder.h"
#include "soak.h"

struct value {
    char name[16];
    int64_t channels, height, width; /* height 0: a vector */
    float scale;                     /* of a quantised value */
    int zero, is_signed;
};

struct network {
    struct builder builder;
    uint64_t random;
    struct value values[16]; /* the input, and the results of nodes */
    size_t count;
    int single; /* 1: the input's shape has a batch of 1 */
};

int64_t soak_between(struct network *network, int64_t low, int64_t high);
/* `what` followed by the number of the next value. */
const char *soak_name(struct network *network, const char *what);
/* The next value; the node that computes it must use its name. */
struct value *soak_result(struct network *network, int64_t channels, int64_t height, int64_t width);
/* The number of positions of a window. */
int64_t soak_outputs(int64_t size, int64_t pads, int64_t kernel, int64_t stride);

/* Adds one of the nodes that all float networks may have. */
int soak_add_node(struct network *network, const struct value *in);

/* Starts a network with an input of this size. */
void soak_network_begin(struct network *network, uint64_t seed, int64_t channels, int64_t height, int64_t width);
/* Adds up to this many nodes. */
void soak_network_grow(struct network *network, size_t nodes,
                       int (*add)(struct network *network, const struct value *in));
/* Writes the file. Returns 0 on success. */
int soak_network_end(struct network *network, const char *file);

#endif
