/* SPDX-License-Identifier: Apache-2.0 */
/* Editing of a graph, for the other files of this folder. */
#pragma once

#include <stddef.h>

#include "graph.h"

void cnnvp_graph_remove(struct cnnvp_graph *graph, size_t index);
/* Inserts a copy of the layer with this name at `index`. NULL: out of memory. */
struct cnnvp_graph_layer *cnnvp_graph_insert(struct cnnvp_graph *graph, size_t index,
                                             const struct cnnvp_graph_layer *layer, const char *name);
/* A layer that copies a tensor. */
struct cnnvp_graph_layer cnnvp_graph_copy_layer(const char *op_type, int32_t in, int32_t out);
/* Inserts a layer that copies a tensor, whose name the result has with ".copy". CNNVP_GRAPH_NONE: out of memory. */
int32_t cnnvp_graph_insert_copy(struct cnnvp_graph *graph, size_t index, int32_t from);
/* A new tensor of this shape with the numbers of `like`, named like it with ".SUFFIX". CNNVP_GRAPH_NONE: out of
 * memory. */
int32_t cnnvp_graph_tensor_like(struct cnnvp_graph *graph, int32_t like, const char *suffix,
                                const struct cnnvp_graph_tensor *shape);
/* The tensor in the shape of another one; always the same view, by which layers know that they have an operand in
 * common. CNNVP_GRAPH_NONE: out of memory. */
int32_t cnnvp_graph_view_like(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *shape);
/* Removes layers whose results neither a layer nor an output of the network reads. */
void cnnvp_graph_drop_unused(struct cnnvp_graph *graph);

/* Gives a norm of one scale as many channels. 0: out of memory. */
int cnnvp_graph_spread_scale(struct cnnvp_graph *graph, struct cnnvp_graph_layer *norm, uint32_t channels);
/* 1: the layer only quantises: it divides by its output's step, rounds and applies limits. */
int cnnvp_graph_only_quantises(const struct cnnvp_graph_layer *layer);

/* graph_turn.c: leaves out permutations that undo one another, and quantises before the others. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_turn(struct cnnvp_graph *graph, struct cnnvp_error *error);
/* Lets a permutation that alone reads another one's result read what that reads, if one permutation can do both. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_join_turns(struct cnnvp_graph *graph, struct cnnvp_error *error);

/* graph_concat.c: leaves out copies of concatenations. */
void cnnvp_graph_join_parts(struct cnnvp_graph *graph);

/* graph_fold.c: folds normalisations, biases, scales and activations into the layers around them. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_fold(struct cnnvp_graph *graph, struct cnnvp_error *error);
