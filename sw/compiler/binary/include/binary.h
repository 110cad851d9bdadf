/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a graph into the binary in memory (sw/binary/network_binary.h). Layers get their tiles, and tensors and weight
 * tiles their places; then layers get their number formats, and weights become words. */
#pragma once

#include "binary/binary_place.h"
#include "binary/layer.h"
#include "cnnvp_network.h"
#include "graph.h"
#include "plan.h"
#include "plan_data.h"
#include "scratchpad.h"

struct cnnvp_binary_options {
    uint32_t rounding; /* enum cnnvp_round_mode */
    uint32_t seed;     /* of stochastic rounding */
    uint32_t images;
    int on_chip;                           /* 1: all weights and all maps but the outputs stay on chip */
    uint32_t block;                        /* depth first: side of a block; 0: layer by layer */
    const struct cnnvp_block_order *order; /* depth first: blocks come in the order of a table; NULL: by counting */
    enum cnnvp_issue issue;
    int divides; /* 1: each layer divides a scratchpad by its own needs; excludes groups and maps that stay on chip */
    const struct cnnvp_layer *planned; /* layers whose tiles are taken over; NULL: tiles are planned */
    const struct cnnvp_plan *plan;     /* NULL: no layers are fused, and maps stay on chip only with on_chip */
    struct cnnvp_plan *made;           /* not NULL: an empty plan that the search for fused groups fills */
    uint32_t halo;                     /* halo of the groups that it finds: 1 + enum cnnvp_group_halo; 0: any */
};

/* Parts of the binary. */
struct cnnvp_binary;
struct cnnvp_binary_layer;
struct cnnvp_weight_tile;
struct cnnvp_binary_regions;
struct cnnvp_groups;

/* A tensor that stays on chip whole, and its place in the input buffer. If a layer of a fused group makes or reads the
 * tensor, its place lives through all layers of the group. */
struct cnnvp_life {
    int32_t tensor; /* a base tensor */
    size_t first;   /* layer that makes it; the network's input: 0 */
    size_t last;    /* last layer that reads it */
    size_t tied;    /* the same number: in the same half */
    struct cnnvp_place place;
};

/* All tensors that stay on chip (binary_chip.c). */
struct cnnvp_residents {
    struct cnnvp_life *all;
    size_t count;
    struct cnnvp_scratchpad pad;
};

/* The weight tiles of all layers, in the order of the layers. */
struct cnnvp_weight_tiles {
    struct cnnvp_weight_tile *all;
    uint32_t count;
};

/* Where the tables lie. If several accelerators share the images, each has tables of its own. */
struct cnnvp_binary_shares {
    uint32_t count; /* accelerators; 1: only `layers` and `header` are used */
    uint32_t clint;
    struct cnnvp_target_accelerator all[CNNVP_ACCELERATORS];
    uint32_t layers;      /* layers that the tables have room for; a trial may leave out some of them */
    uint64_t header;      /* address of the first accelerator's header, where the tables begin */
    uint64_t tables;      /* address of the other accelerators' tables */
    uint64_t table_bytes; /* bytes of these for each accelerator */
    uint64_t rooms;       /* address of the guest software's rooms: context and stack for each accelerator */
};

/* Everything on chip that is too small for the network. */
struct cnnvp_shortage {
    struct cnnvp_plan_use need; /* bytes needed of a half of each buffer; 0: there are enough */
    uint64_t joint;             /* the same of a scratchpad that layers divide */
    size_t layers;              /* number of layers that do not fit */
    const char *first;          /* name of the first one */
    int by_batch;               /* 1: a smaller batch would need less */
};

struct cnnvp_build {
    struct cnnvp_arena arena;    /* owns all below but the weight tiles and the groups' members */
    struct cnnvp_binary *header; /* for the first or only accelerator */
    struct cnnvp_binary_shares shares;
    struct cnnvp_layer *layers;           /* as planned, one for each layer of the graph */
    struct cnnvp_binary_layer *entries;   /* the same for the guest software */
    struct cnnvp_tensor *tensors;         /* one for each tensor of the graph */
    struct cnnvp_binary_regions *regions; /* of each layer; NULL: there is no scratchpad */
    uint32_t *result_bytes;               /* result_bytes of each layer's struct cnnvp_tiling; NULL likewise */
    int divides;                          /* as in the options */
    struct cnnvp_weight_tiles weight_tiles;
    int16_t **tables;                  /* function table of each layer; NULL: it has none */
    size_t table_bytes;                /* header and tables */
    uint64_t moved;                    /* offset of the binary from CNNVP_BINARY_ADDRESS */
    uint64_t weight_tile_end;          /* address after header, tables and weight tiles */
    uint64_t end;                      /* address after everything */
    struct cnnvp_groups *groups;       /* fused groups or depth-first chains; NULL: layer by layer */
    struct cnnvp_residents *residents; /* NULL: no tensor stays on chip */
    struct cnnvp_shortage shortage;
    unsigned char *better; /* of each layer: 1 if the unit that the plan's file did not name is better; NULL: of none */
    double power;          /* mean power by the finalists in pJ per ps; 0: not known */
    struct cnnvp_plan_finalists *finalists; /* of each layer outside chains; NULL: tiles taken over, or all on chip */
};

/* Plans all layers and places everything in memory. The graph need not have its number formats yet. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_build(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                               const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                               struct cnnvp_error *error);
/* Takes over the zero points of the graph's words. */
void cnnvp_binary_take_zeros(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* Takes over the graph's number formats; then the binary can be written with its weights. `rounding`: enum
 * cnnvp_round_mode. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_take_formats(const struct cnnvp_graph *graph, uint32_t rounding,
                                                      struct cnnvp_build *build, struct cnnvp_error *error);
void cnnvp_binary_clear(struct cnnvp_build *build);

/* A layer of a build that is tried with another cut. */
struct cnnvp_binary_trial {
    size_t layer;
    const struct cnnvp_plan_cut *cut;
};
/* Makes the tables for a run of the trials in sequence. Maps and weights have the same addresses as in the build; their
 * values do not matter, so the tables may overlap them. FAILED: out of memory. The caller clears `trials`. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_build_trials(
    const struct cnnvp_build *build, const struct cnnvp_binary_trial *all, size_t count, struct cnnvp_build *trials);
/* Removes all layers that are not marked from the table of layers, and so from the run. */
void cnnvp_binary_leave_out(struct cnnvp_build *build, const unsigned char *marked);
/* Where the binary begins. */
static inline uint64_t cnnvp_binary_begin(const struct cnnvp_build *build)
{
    return CNNVP_BINARY_ADDRESS + build->moved;
}
/* Bytes of the binary; for a weightless graph only its tables. */
size_t cnnvp_binary_bytes(const struct cnnvp_graph *graph, const struct cnnvp_build *build);
/* Writes cnnvp_binary_bytes bytes. */
void cnnvp_binary_write(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *to);

/* Address of the first interior word of an image's tensor, and bytes of the tensor's places for all images. */
uint64_t cnnvp_binary_image_address(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor, uint32_t image);
uint64_t cnnvp_binary_tensor_bytes(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor);

/* Address after all memory that a run of the binary uses. */
uint64_t cnnvp_binary_end(const struct cnnvp_build *build);

/* Adds the bytes of a layer's weight tiles to *bytes, and of those that stay on chip to *resident_bytes. */
void cnnvp_binary_add_weights(const struct cnnvp_build *build, const struct cnnvp_layer *layer, uint64_t *bytes,
                              uint64_t *resident_bytes);

/* 1: tiles that the planner chose for layer `one` serve layer `other`: the layers are alike, and so is the room that
 * maps on chip leave them. */
int cnnvp_binary_planned_alike(const struct cnnvp_target *target, const struct cnnvp_build *build, size_t one,
                               size_t other);
/* 1: two fused groups do the same work with different weights. */
int cnnvp_binary_groups_alike(const struct cnnvp_build *build, size_t one, size_t other);
/* Describes the build's fused groups or chains in `work`. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_describe_groups(const struct cnnvp_build *build, struct cnnvp_arena *arena,
                                                         struct cnnvp_work_info *work, struct cnnvp_error *error);
/* 1: the tensor lies between layers of a group, so it exists only part by part. */
int cnnvp_binary_is_inside(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor);
/* 1: the layer is an addition that the layer before it in its fused group does, which also loads the other operand. */
int cnnvp_binary_is_added(const struct cnnvp_build *build, size_t layer);

/* Bytes of a tensor with its frame, and bytes from the frame's start to the first interior word. */
uint64_t cnnvp_binary_frame_bytes(const struct cnnvp_tensor *tensor);
uint64_t cnnvp_binary_frame_lead(const struct cnnvp_tensor *tensor);

/* Alignment in bytes of tables, weight tiles and tensors in memory and of slots on chip. */
#define CNNVP_BINARY_ALIGNMENT 64u

static inline uint64_t cnnvp_binary_align(uint64_t bytes)
{
    return (bytes + CNNVP_BINARY_ALIGNMENT - 1u) / CNNVP_BINARY_ALIGNMENT * CNNVP_BINARY_ALIGNMENT;
}

/* ---- depth first ---- */

/*
 * The part of the depth-first schedule (S004, Part B 4-1 to 4-15) that is decided before the run: which layers form
 * chains, where the blocks of their feature maps lie in the input buffer, and whether the weights stay.
 *
 * A chain is a sequence of layers. Each reads the map that the one before makes and that no other layer reads. Layers
 * are convolutions with stride 1 that keep their map's size, and 2x2 maximum pools with stride 2, on maps whose sides
 * are powers of two. The first layer reads feature 0; layer j of the chain makes feature j + 1.
 */

/* Side of a block of a map with this side: a map smaller than the block is one block (Part B 4-8). */
static inline uint32_t cnnvp_depth_side(uint32_t side, uint32_t block)
{
    return side < block ? side : block;
}

/* Refuses a block whose side is no power of two. */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_check_block(uint32_t block, struct cnnvp_error *error);

/*
 * Marks the layers of all maximal chains (graph.h: block_height, block_width, chained). Their convolutions pad each
 * block separately, which changes results (Part B 4-11). If the network has no chain, the error says why. A plan with
 * chains has those that are marked, and its own block; NULL: there is none.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_depth_find(struct cnnvp_graph *graph, uint32_t block, const struct cnnvp_plan *plan,
                                             struct cnnvp_error *error);
