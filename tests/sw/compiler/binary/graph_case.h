/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs without weights, layer by layer, for tests of what is planned and placed. */
#ifndef CNNVP_GRAPH_CASE_H
#define CNNVP_GRAPH_CASE_H

#include "binary.h"

/* Square maps as input: tensor 0. */
void graph_case_begin(struct cnnvp_graph *graph, uint32_t channels, uint32_t side);
/* Layer and result, whose number is returned. The layer is called as the result: "1", "2", ... */
int32_t graph_case_conv(struct cnnvp_graph *graph, int32_t in, uint32_t channels); /* 3x3, the size stays */
int32_t graph_case_pool(struct cnnvp_graph *graph, int32_t in);                    /* maximum, 2x2 with stride 2 */
int32_t graph_case_add(struct cnnvp_graph *graph, int32_t a, int32_t b);
/* One more output of the network, two at most. */
void graph_case_output(struct cnnvp_graph *graph, int32_t tensor);

#endif
