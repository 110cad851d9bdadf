/* SPDX-License-Identifier: Apache-2.0 */
/* Between binary.c and its parts. */
#ifndef CNNVP_COMPILER_BINARY_INTERNAL_H
#define CNNVP_COMPILER_BINARY_INTERNAL_H

#include "binary.h"
#include "binary/network_binary.h"

/* binary_layer.c: all of a layer but its tiles and number formats; */
void cnnvp_binary_describe_layer(const struct cnnvp_graph *graph, size_t index,
                                 const struct cnnvp_binary_options *options, struct cnnvp_build *build);
/* its tensors, again where these have changed; */
void cnnvp_binary_refer_to_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build, size_t index);
/* of all layers the formats, and the tables that depend on them; */
cnnvp_result cnnvp_binary_format_layers(const struct cnnvp_graph *graph, uint32_t rounding, struct cnnvp_build *build,
                                        struct cnnvp_error *error);
/* and what the guest software reads, once layers have their places, and again once they have their formats. */
void cnnvp_binary_emit_layers(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* binary_place.c: shapes, borders and strides of all tensors (addresses relative to nothing yet). */
void cnnvp_binary_shape_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* binary_place.c: addresses of all tensors from build->end on, and build->end after them. */
cnnvp_result cnnvp_binary_place_tensors(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                        uint32_t images, struct cnnvp_build *build, struct cnnvp_error *error);
/* binary_place.c: room for instructions that stay in memory: all that is left, for each accelerator as much. */
void cnnvp_binary_place_list(const struct cnnvp_target *target, struct cnnvp_build *build);
/* Bytes from the base's first interior word to the view's. */
uint64_t cnnvp_binary_view_offset(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor);
/* binary_chip.c: places of the tensors that the plan keeps on chip, or, where it is NULL, of all but the outputs. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_place_residents(
    const struct cnnvp_graph *graph, const struct cnnvp_target *target, const struct cnnvp_plan *plan,
    struct cnnvp_build *build, struct cnnvp_error *error);
/* memory_layout.c: the map, and what is a part of it. */
void cnnvp_layout_set(const struct cnnvp_graph *graph, struct cnnvp_build *build, int32_t base, uint32_t channels);
/* As the plan says. */
CNNVP_MUST_USE cnnvp_result cnnvp_layout_take(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan,
                                              struct cnnvp_build *build, struct cnnvp_error *error);
/* By the scores of the layers' plans, which become the build's finalists. */
CNNVP_MUST_USE cnnvp_result cnnvp_layout_choose(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                                struct cnnvp_build *build, struct cnnvp_error *error);
/* Below it a half of the input buffer is free while layers `first` to `last` run. */
uint64_t cnnvp_binary_chip_top(const struct cnnvp_target *target, const struct cnnvp_build *build, uint32_t half,
                               size_t first, size_t last);
/* --on-chip: places of all weight tiles, and whether each layer's results fit the output buffer. */
cnnvp_result cnnvp_binary_keep_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                            struct cnnvp_build *build, struct cnnvp_error *error);
/* One piece of weights stays: above what is used of a half, of `first` or, where that has no room, of the other one.
 * `weight tile` gets the place; NULL: nobody does. 0: there is no room. */
int cnnvp_binary_keep(const struct cnnvp_plan_limits *limits, uint64_t used[CNNVP_SCRATCHPAD_HALVES], uint32_t first,
                      uint64_t bytes, struct cnnvp_weight_tile *weight_tile);
/* Of these weight tiles the largest first, as far as there is room for them. Returns the bytes of those that pass. */
uint64_t cnnvp_binary_keep_largest(const struct cnnvp_plan_limits *limits, uint64_t used[CNNVP_SCRATCHPAD_HALVES],
                                   struct cnnvp_weight_tile **weight_tiles, size_t count);
/* binary_weights.c: the words of a layer's weight tiles, and zeros up to the next one. */
void cnnvp_binary_fill_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer,
                                    uint8_t *binary);

/* binary_tables.c: places of the tables of all accelerators and of the guest software's rooms; the address after them.
 * Writes the tables; `binary` holds CNNVP_BINARY_ADDRESS. */
uint64_t cnnvp_binary_place_tables(struct cnnvp_build *build);
void cnnvp_binary_write_tables(const struct cnnvp_build *build, uint8_t *binary);

/* binary_regions.c: what each layer has of a scratchpad, where the platform has one. Layers have their tiles. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_divide(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                                struct cnnvp_build *build, struct cnnvp_error *error);
/* The same for a trial's layers, each by itself: those with these numbers in the build. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_divide_trials(
    const struct cnnvp_build *build, const struct cnnvp_binary_trial *all, size_t count, struct cnnvp_build *trials);

/* ---- depth first ---- */

/* What the binary has of chains. Levels and layers of all chains lie one after the other. */
struct cnnvp_depth {
    struct cnnvp_binary_chain *chains;
    const char **issue_reasons; /* of each chain: why who issues it does; static texts */
    uint64_t *streams;          /* of each chain: bytes of each half of the weight buffer, from 0 on, for weight tiles
                                   that do not stay */
    struct cnnvp_binary_level *levels;
    struct cnnvp_binary_layer *layers; /* as blocks see them */
    size_t *sources;                   /* of each of these, its number in the graph */
    uint32_t *orders;                  /* words of all order tables */
    size_t chain_count;
    size_t level_count;
    size_t layer_count;
    size_t order_count;
};

/*
 * Chains of the binary, from the marks: slots in the input buffer for all blocks, tiles for the layers (binary layers
 * are described already). Where the blocks of all layers do not fit side by side, a chain is cut before layers that
 * read one block only, for which block padding is ordinary padding; what cannot run in blocks then runs layer by layer.
 * So the buffers' sizes never change a result. The error names the layer, the buffer and the bytes.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                              const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                              struct cnnvp_error *error);

/* Places for the weights of chains whose weight tiles all fit into the weight buffer. The weight tile table is
 * complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                                      struct cnnvp_error *error);

/* The layers as blocks see them, and the maps at both ends; tensors have their addresses. */
void cnnvp_depth_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build);

/* Between depth_place.c and depth_weights.c. */

/* One maximal chain under work. */
struct cnnvp_depth_row {
    const struct cnnvp_graph *graph;
    const struct cnnvp_target *target;
    struct cnnvp_build *build;
    size_t *layers; /* numbers in the graph */
    size_t count;
    size_t *sequence;           /* in which slots are placed */
    struct cnnvp_place *places; /* of levels */
    int order_table;
    enum cnnvp_issue issue;
};

/* The layer as one block sees it. */
struct cnnvp_layer cnnvp_depth_block_layer(const struct cnnvp_depth_row *row, size_t index);

/* Sets the tiles of a layer as one block sees it: slices of weights of at most `weight_bytes`, as large as that allows,
 * the whole input depth first, since partial sums need room and time. 0: none fit. */
int cnnvp_depth_choose_tiles(const struct cnnvp_depth_row *row, uint64_t weight_bytes, struct cnnvp_layer *layer);

/* Chooses which of a chain's weights stay on chip, and sets its layers' tiles accordingly. *stream: bytes of each half
 * of the weight buffer, from 0 on, for those that do not. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_choose_weights(
    const struct cnnvp_depth_row *row, const struct cnnvp_binary_level *levels, const size_t *layers,
    struct cnnvp_binary_chain *chain, uint64_t *stream, const char **reason, struct cnnvp_error *error);

#endif
