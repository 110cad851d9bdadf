/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network as the training engine sees it: a chain of learning layers. One is a convolution or matrix with what
 * follows it up to the next: bias or batch norm, ReLU, 2x2 max pool. A softmax may stand at the end; in training the
 * engine's softmax module with cross-entropy takes its place.
 */
#ifndef CNNVP_COMPILER_TRAIN_NET_H
#define CNNVP_COMPILER_TRAIN_NET_H

#include "graph.h"

/* No layer of the graph. */
#define CNNVP_TRAIN_NO_LAYER SIZE_MAX

struct cnnvp_train_node {
    size_t layer;  /* of the graph: conv or fc */
    size_t norm;   /* of the graph: batch norm, or CNNVP_TRAIN_NO_LAYER */
    int connected; /* fc: maps are 1 x 1 */
    int has_bias;
    int relu;
    int pool;            /* 2x2, stride 2 */
    uint32_t ci, hi, wi; /* input; fc: inputs x 1 x 1 */
    uint32_t co, ho, wo; /* sums */
    uint32_t ph, pw;     /* output, after the pool */
    uint32_t kx, ky, sx, sy, px, py;
};

struct cnnvp_train_net {
    struct cnnvp_train_node *nodes; /* in the graph's arena */
    size_t count;
    int softmax;                      /* the network ends in one */
    size_t softmax_layer;             /* of the graph */
    uint32_t channels, height, width; /* of an image */
    uint32_t classes;                 /* outputs of the last layer */
};

/* The graph as it was imported for training, not simplified. The error names the node that cannot be trained. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_net_make(struct cnnvp_graph *graph, struct cnnvp_train_net *net,
                                                 struct cnnvp_error *error);

/* Multiply-accumulates of one image forward. */
uint64_t cnnvp_train_net_macs(const struct cnnvp_train_node *node);

static inline uint64_t cnnvp_train_net_weights(const struct cnnvp_train_node *node)
{
    return (uint64_t)node->co * node->ci * node->kx * node->ky;
}

#endif
