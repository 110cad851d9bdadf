/* SPDX-License-Identifier: Apache-2.0 */
/* Between depth_place.c and depth_weights.c. */
#ifndef CNNVP_COMPILER_DEPTH_INTERNAL_H
#define CNNVP_COMPILER_DEPTH_INTERNAL_H

#include "depth.h"

/* One maximal chain under work. */
struct cnnvp_depth_row {
    const struct cnnvp_graph *graph;
    const struct cnnvp_target *target;
    struct cnnvp_build *build;
    size_t *layers;   /* numbers in the graph */
    size_t count;
    size_t *sequence; /* in which slots are placed */
    int order_table;
};

/* The layer as one block sees it. */
struct cnnvp_image_layer cnnvp_depth_block_layer(const struct cnnvp_depth_row *row, size_t index);

/* Sets the tiles of a layer as one block sees it: slices of weights of at most `weight_bytes`, as large as that allows,
 * the whole input depth first, since partial sums need room and time. 0: none fit. */
int cnnvp_depth_choose_tiles(const struct cnnvp_depth_row *row, uint64_t weight_bytes,
                             struct cnnvp_image_layer *layer);

/* Chooses which of a chain's weights stay on chip, and sets its layers' tiles accordingly. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_choose_weights(const struct cnnvp_depth_row *row,
                                                       const struct cnnvp_image_level *levels, const size_t *layers,
                                                       struct cnnvp_image_chain *chain, struct cnnvp_error *error);

#endif
