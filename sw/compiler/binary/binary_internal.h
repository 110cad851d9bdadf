/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces between binary.c and its parts. */
#pragma once

#include "binary.h"
#include "binary/network_binary.h"
#include "group.h"

/* binary_layer.c: describes a layer, without its tiles and number formats. */
void cnnvp_binary_describe_layer(const struct cnnvp_graph *graph, size_t index,
                                 const struct cnnvp_binary_options *options, struct cnnvp_build *build);
/* Copies the tensors into the layer, again after they have changed. */
void cnnvp_binary_refer_to_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build, size_t index);
/* Sets the number formats of all layers, and makes the function tables that depend on them. */
cnnvp_result cnnvp_binary_format_layers(const struct cnnvp_graph *graph, uint32_t rounding, struct cnnvp_build *build,
                                        struct cnnvp_error *error);
/* Makes the guest software's form of all layers: once they have their places, again once they have formats. */
void cnnvp_binary_emit_layers(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* binary_place.c: the shape and words of a tensor, without strides; the strides of one with its borders. */
struct cnnvp_tensor cnnvp_binary_shape(const struct cnnvp_graph *graph, int32_t tensor);
void cnnvp_binary_frame(struct cnnvp_tensor *tensor);
/* `as`: enum cnnvp_tensor_place. */
void cnnvp_binary_put_on_chip(struct cnnvp_tensor *tensor, uint32_t as, const struct cnnvp_place *place);
/* binary_place.c: shapes, borders and strides of all tensors, without addresses. */
void cnnvp_binary_shape_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* binary_place.c: addresses of all tensors from build->end on; moves build->end behind them. */
cnnvp_result cnnvp_binary_place_tensors(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                        uint32_t images, struct cnnvp_build *build, struct cnnvp_error *error);
/* binary_place.c: room for instruction lists in memory: all that is left, in equal parts for each accelerator. */
void cnnvp_binary_place_list(const struct cnnvp_target *target, struct cnnvp_build *build);
/* Bytes from the base's first interior word to the view's. */
uint64_t cnnvp_binary_view_offset(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor);
/* binary_chip.c: places of the tensors that the plan keeps on chip; if it is NULL, of all tensors but the outputs. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_place_residents(
    const struct cnnvp_graph *graph, const struct cnnvp_target *target, const struct cnnvp_plan *plan,
    struct cnnvp_build *build, struct cnnvp_error *error);
/* memory_layout.c: sets the layout of a base tensor and its views: blocks of so many interleaved channels. */
void cnnvp_layout_set(const struct cnnvp_graph *graph, struct cnnvp_build *build, int32_t base, uint32_t channels);
/* Sets the layouts that the plan has. */
CNNVP_MUST_USE cnnvp_result cnnvp_layout_take(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan,
                                              struct cnnvp_build *build, struct cnnvp_error *error);
/* Chooses layouts by the scores of the layers' plans, which become the build's finalists. */
CNNVP_MUST_USE cnnvp_result cnnvp_layout_choose(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                                struct cnnvp_build *build, struct cnnvp_error *error);
/* plan_memory.c: keep what a plan is made from, and the plan, in a memory that is empty. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_memory_begin(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                                    const struct cnnvp_build *build, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_plan_memory_end(const struct cnnvp_target *target, const struct cnnvp_build *build,
                                                  const uint32_t *blocks, struct cnnvp_error *error);
/* 1: the target's memory has the plan that a search would find, but for energies. */
int cnnvp_plan_memory_recall(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                             const struct cnnvp_build *build, const struct cnnvp_plan_finalists **finalists,
                             const uint32_t **blocks);
/* The address below which a half of the input buffer is free while layers `first` to `last` run. */
uint64_t cnnvp_binary_chip_top(const struct cnnvp_target *target, const struct cnnvp_build *build, uint32_t half,
                               size_t first, size_t last);
/* --on-chip: places all weight tiles, and checks that each layer's results fit the output buffer. */
cnnvp_result cnnvp_binary_keep_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                            struct cnnvp_build *build, struct cnnvp_error *error);
/* A part of weights that may stay in the weight buffer. */
struct cnnvp_piece {
    uint64_t bytes;
    uint64_t visits;     /* how often it is loaded unless it stays */
    size_t number;       /* of equal pieces the one with the lower number comes first */
    size_t member;       /* of the group */
    uint32_t first_half; /* is tried first */
    int stays;
    struct cnnvp_weight_tile *weight_tile; /* gets the place; NULL: the piece is only tried */
};
/* The weight buffer, of which the lower part of each half is taken by weights that do not stay. */
struct cnnvp_scratchpad cnnvp_binary_weight_buffer(const struct cnnvp_plan_limits *limits, uint64_t taken);
/* Keeps pieces on chip as far as there is room: those first that would be loaded most often, then the largest. Sorts
 * them, and returns the bytes of the others. */
uint64_t cnnvp_binary_keep(struct cnnvp_scratchpad *buffer, struct cnnvp_piece *pieces, size_t count);
/* Lists weight tiles as pieces: those that stay come before the others. */
void cnnvp_binary_list_pieces(struct cnnvp_weight_tile *weight_tiles, size_t count, struct cnnvp_piece *pieces);
/* binary_weights.c: writes the words of a layer's weight tiles, each with zeros up to the next one. */
void cnnvp_binary_fill_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer,
                                    uint8_t *binary);

/* binary_tables.c: places the tables of all accelerators and the guest software's rooms; returns the address after
 * them. */
uint64_t cnnvp_binary_place_tables(struct cnnvp_build *build);
/* Writes the tables; `binary` are the bytes from cnnvp_binary_begin on. */
void cnnvp_binary_write_tables(const struct cnnvp_build *build, uint8_t *binary);

/* binary_regions.c: each layer's regions of the scratchpad, if the platform has one. The layers have their tiles. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_divide(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                                struct cnnvp_build *build, struct cnnvp_error *error);
/* The same for the layers of trials, each independent of the others. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_divide_trials(
    const struct cnnvp_build *build, const struct cnnvp_binary_trial *all, size_t count, struct cnnvp_build *trials);

/* ---- groups ---- */

/* The groups of a build, all fused ones or all depth-first chains. Members, levels and reaches of all groups lie in the
 * groups' order. */
struct cnnvp_groups {
    struct cnnvp_plan_group *plans;
    struct cnnvp_binary_group *table;
    size_t count;
    void *members; /* struct cnnvp_binary_member; of chains: struct cnnvp_binary_layer, whose maps are blocks */
    size_t member_count, member_bytes;
    struct cnnvp_group_reach *reaches; /* of each fused group: rows, then columns */
    size_t reach_count;
    struct cnnvp_binary_level *levels; /* NULL: there are no chains */
    uint32_t *orders;                  /* words of all order tables */
    size_t order_count;
};

/* Levels of all chains. */
static inline size_t cnnvp_depth_levels(const struct cnnvp_groups *groups)
{
    return groups->levels != NULL ? groups->member_count + groups->count : 0;
}

/* ---- depth first ---- */

/*
 * Makes the chains of the binary from the marks in the graph: slots in the input buffer for all blocks, and tiles for
 * the layers, which are described already. If the slots of a chain do not fit, the chain is cut. Layers that are in no
 * chain then run layer by layer, which gives the same results only if their map is one block; otherwise the error names
 * the layer, the buffer and the bytes. So the buffers' sizes never change a result.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                              const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                              struct cnnvp_error *error);

/* 0: the graph marks the layer as one of a chain, and one block of it does not fit the buffers of its unit. */
int cnnvp_depth_fits(const struct cnnvp_graph *graph, const struct cnnvp_target *target, struct cnnvp_build *build,
                     size_t index);

/* Makes the tables of the order of blocks: that of a file, or Morton order. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_make_orders(const struct cnnvp_graph *graph,
                                                    const struct cnnvp_block_order *order, struct cnnvp_build *build,
                                                    struct cnnvp_error *error);

/* Places the weights of a chain that stay in the weight buffer. The weight tile table is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                                      size_t number, struct cnnvp_error *error);

/* Interface between depth_place.c and depth_weights.c. */

/* The maximal chain in work. */
struct cnnvp_depth_row {
    const struct cnnvp_graph *graph;
    const struct cnnvp_target *target;
    struct cnnvp_build *build;
    size_t *layers; /* numbers in the graph */
    size_t count;
    struct cnnvp_plan_member *members; /* of all chains */
    size_t *sequence;                  /* order in which slots are placed */
    struct cnnvp_place *places;        /* of each level's slot */
    const struct cnnvp_binary_options *options;
};

/* The layer with one block as its map. */
struct cnnvp_layer cnnvp_depth_block_layer(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                           size_t index);

/* Sets the tiles of a layer whose map is one block. Slices of weights are as large as `weight_bytes` allows, with all
 * input channels if possible, since partial sums need room and time. Returns 0 if none fit. */
int cnnvp_depth_choose_tiles(const struct cnnvp_plan_limits *limits, uint64_t weight_bytes, struct cnnvp_layer *layer);

/* Chooses which of the weights of chain `number` stay on chip, and sets its layers' tiles accordingly. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_choose_weights(const struct cnnvp_depth_row *row, size_t number,
                                                       struct cnnvp_error *error);
