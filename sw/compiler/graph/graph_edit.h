/* SPDX-License-Identifier: Apache-2.0 */
/* How graph.c and graph_fold.c change a graph. */
#ifndef CNNVP_COMPILER_GRAPH_EDIT_H
#define CNNVP_COMPILER_GRAPH_EDIT_H

#include <stddef.h>

#include "graph.h"

/* The layer whose `out` is the tensor (views seen through), or -1. */
ptrdiff_t cnnvp_graph_producer(const struct cnnvp_graph *graph, int32_t tensor);
void cnnvp_graph_remove(struct cnnvp_graph *graph, size_t index);
/* That layer under a name of its own becomes number `index`; NULL: no memory. */
struct cnnvp_graph_layer *cnnvp_graph_insert(struct cnnvp_graph *graph, size_t index,
                                             const struct cnnvp_graph_layer *layer, const char *name);
/* Removes layers whose results no layer reads. */
void cnnvp_graph_drop_unused(struct cnnvp_graph *graph);

/* graph_fold.c: normalisations, biases, scales and activations become part of the layers around them. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_fold(struct cnnvp_graph *graph, struct cnnvp_error *error);

#endif
