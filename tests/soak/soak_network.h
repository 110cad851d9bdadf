/* SPDX-License-Identifier: Apache-2.0 */
/* What random networks are made of. A function that adds a node returns 0 where none suits; it may have begun one. */
#ifndef TEST_SOAK_NETWORK_H
#define TEST_SOAK_NETWORK_H

#include "onnx_builder.h"
#include "soak.h"

struct value {
    char name[16];
    int64_t channels, height, width; /* height 0: a vector */
    float scale;                     /* of a quantised one */
    int zero, is_signed;
};

struct network {
    struct builder builder;
    uint64_t random;
    struct value values[16]; /* the input, and what the nodes gave */
    size_t count;
    int single; /* the input has one image, by its shape */
};

int64_t soak_between(struct network *network, int64_t low, int64_t high);
/* `what` with the number of the next value. */
const char *soak_name(struct network *network, const char *what);
/* The next value; the node that gives it bears its name. */
struct value *soak_result(struct network *network, int64_t channels, int64_t height, int64_t width);
/* Of a window's positions. */
int64_t soak_outputs(int64_t size, int64_t pads, int64_t kernel, int64_t stride);

/* One of the nodes that all networks of floats may have. */
int soak_add_node(struct network *network, const struct value *in);

/* Begins a network, and its input. */
void soak_network_begin(struct network *network, uint64_t seed, int64_t channels, int64_t height, int64_t width);
/* Up to this many further nodes. */
void soak_network_grow(struct network *network, size_t nodes,
                       int (*add)(struct network *network, const struct value *in));
/* Writes it. 0: done. */
int soak_network_end(struct network *network, const char *file);

#endif
