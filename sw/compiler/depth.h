/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth-first schedule (S004, Part B 4-1 to 4-15) as far as it is decided before the run: which layers form chains,
 * where the blocks of their feature maps lie in the input buffer, whether the weights stay.
 *
 * A chain is a row of layers, each reading what the one before makes and nobody else reads: convolutions with stride 1
 * that keep their map's size, and 2x2 maximum pools with stride 2, on maps whose sides are powers of two. Feature 0 is
 * what the first layer reads, feature j + 1 what layer j of the chain makes.
 */
#ifndef CNNVP_COMPILER_DEPTH_H
#define CNNVP_COMPILER_DEPTH_H

#include "image.h"

/* What the image has of chains. Levels and layers of all chains lie one after the other. */
struct cnnvp_depth {
    struct cnnvp_image_chain *chains;
    struct cnnvp_image_level *levels;
    struct cnnvp_image_layer *layers; /* as blocks see them */
    size_t *sources;                  /* of each of these, its number in the graph */
    uint32_t *orders;                 /* words of all order tables */
    size_t chain_count;
    size_t level_count;
    size_t layer_count;
    size_t order_count;
};

/* Side of the block of a map whose side is `side`: maps smaller than the block are blocks themselves (Part B 4-8). */
static inline uint32_t cnnvp_depth_side(uint32_t side, uint32_t block)
{
    return side < block ? side : block;
}

/* Refuses a block side that is no power of two. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_check_block(uint32_t block, struct cnnvp_error *error);

/*
 * Marks the layers of all maximal chains (graph.h: block_height, block_width, chained). Their results are those of
 * convolutions that are padded block by block (Part B 4-11). The error says why the network has no chain.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_find(struct cnnvp_graph *graph, uint32_t block, struct cnnvp_error *error);

/*
 * Chains of the image, from the marks: slots in the input buffer for all blocks, tiles for the layers (image layers are
 * described already). Where the blocks of all layers do not fit side by side, a chain is cut before layers that read
 * one block only, for which block padding is ordinary padding; what cannot run in blocks then runs layer by layer. So
 * the buffers' sizes never change a result. The error names the layer, the buffer and the bytes.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                              const struct cnnvp_image_options *options, struct cnnvp_build *build,
                                              struct cnnvp_error *error);

/* Places for the weights of chains whose blobs all fit into the weight buffer. The blob table is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                                      struct cnnvp_error *error);

/* The layers as blocks see them, and the maps at both ends; tensors have their addresses. */
void cnnvp_depth_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build);

/* Places of chains, levels, block layers and order tables from address `at` on; the address behind them. */
uint64_t cnnvp_depth_place_tables(struct cnnvp_build *build, uint64_t at);
/* Writes them; `image` holds CNNVP_IMAGE_ADDRESS. */
void cnnvp_depth_write_tables(const struct cnnvp_build *build, uint8_t *image);

void cnnvp_depth_clear(struct cnnvp_build *build);

#endif
