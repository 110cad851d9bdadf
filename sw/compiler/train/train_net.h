/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network as the training engine sees it: a chain of nodes. A node is a convolution or matrix with what follows it:
 * bias or batch norm, ReLU, 2x2 max pool. A softmax may stand at the end; in training the engine's softmax module with
 * cross-entropy takes its place.
 */
#pragma once

#include "graph.h"

/* Stands for no layer of the graph. */
#define CNNVP_TRAIN_NO_LAYER SIZE_MAX

struct cnnvp_train_node {
    size_t layer;  /* index of the graph's conv or fc layer */
    size_t norm;   /* index of the graph's batch norm layer, or CNNVP_TRAIN_NO_LAYER */
    int connected; /* 1: fc, with maps of 1 x 1 */
    int has_bias;
    int relu;
    int pool;            /* 2x2, stride 2 */
    uint32_t ci, hi, wi; /* input; fc: inputs x 1 x 1 */
    uint32_t co, ho, wo; /* map of the sums */
    uint32_t ph, pw;     /* output map, after the pool */
    uint32_t kx, ky, sx, sy, px, py;
};

struct cnnvp_train_net {
    struct cnnvp_train_node *nodes; /* in the graph's arena */
    size_t count;
    int softmax;                      /* 1: the network ends in a softmax */
    size_t softmax_layer;             /* index of its layer in the graph */
    uint32_t channels, height, width; /* size of an image */
    uint32_t classes;                 /* outputs of the last layer */
};

/* Makes the chain from a graph that was imported for training and not simplified. The error names the node that cannot
 * be trained. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_net_make(struct cnnvp_graph *graph, struct cnnvp_train_net *net,
                                                 struct cnnvp_error *error);

/* Multiply-accumulates of the forward pass of one image. */
uint64_t cnnvp_train_net_macs(const struct cnnvp_train_node *node);

static inline uint64_t cnnvp_train_net_weights(const struct cnnvp_train_node *node)
{
    return (uint64_t)node->co * node->ci * node->kx * node->ky;
}
