/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph to the binary in memory (sw/binary/network_binary.h): layers get their tiles, tensors and weight tiles
 * their places, then layers their number formats, weights their words. */
#ifndef CNNVP_COMPILER_BINARY_H
#define CNNVP_COMPILER_BINARY_H

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
    int on_chip;
    uint32_t block;  /* depth first: side of a block; 0: layer by layer */
    int order_table; /* depth first: blocks come in the order of a table instead of by counting */
    enum cnnvp_issue issue;
    int divides; /* each layer takes of a scratchpad what it needs: there are no groups, and no map stays on chip */
    const struct cnnvp_layer *planned; /* their tiles are taken; NULL: tiles are planned */
    const struct cnnvp_plan *plan;     /* NULL: nothing is fused, and no map stays on chip but by on_chip */
    struct cnnvp_plan *made;           /* a plan is made here, where it is without runs; NULL: none is */
    uint32_t halo;                     /* with this one, 1 + enum cnnvp_group_halo; 0: with any */
};

/* Of the binary. */
struct cnnvp_binary;
struct cnnvp_binary_layer;
struct cnnvp_weight_tile;
struct cnnvp_binary_regions;
struct cnnvp_depth;
struct cnnvp_fused;

/* A tensor that stays on chip whole, and where in the input buffer. Its place is there during all layers of a fused
 * group whose tiles make or read it. */
struct cnnvp_life {
    int32_t tensor; /* base */
    size_t first;   /* layer that makes it; the network's input: 0 */
    size_t last;    /* last layer that reads it */
    struct cnnvp_place place;
};

/* All of them (binary_chip.c). */
struct cnnvp_residents {
    struct cnnvp_life *all;
    size_t count;
    struct cnnvp_scratchpad pad;
};

/* The weight tiles of layers, one layer's after the other's. */
struct cnnvp_weight_tiles {
    struct cnnvp_weight_tile *all;
    uint32_t count;
};

/* Where tables lie, and, where several accelerators share the images, what each has of its own. */
struct cnnvp_binary_shares {
    uint32_t count; /* 1: there is one, and nothing of this */
    uint32_t clint;
    struct cnnvp_target_accelerator all[CNNVP_ACCELERATORS];
    uint32_t layers;      /* that tables of layers have room for: a trial may leave out some */
    uint64_t header;      /* address of the first one's, where the tables begin */
    uint64_t tables;      /* address of those of the others, */
    uint64_t table_bytes; /* bytes for each */
    uint64_t rooms;       /* address of the guest software's rooms */
};

/* What is too small for the network, all of it. */
struct cnnvp_shortage {
    struct cnnvp_plan_use need; /* a half of each buffer; 0: there is enough */
    uint64_t joint;             /* the same of a scratchpad that layers divide */
    size_t layers;              /* that do not fit */
    const char *first;          /* of them */
    int by_batch;               /* a smaller batch would need less */
};

struct cnnvp_build {
    struct cnnvp_arena arena;    /* of all that follows, but the weight tiles and the groups' members */
    struct cnnvp_binary *header; /* as one accelerator alone would have it */
    struct cnnvp_binary_shares shares;
    struct cnnvp_layer *layers;           /* as they are planned, one for each of the graph's */
    struct cnnvp_binary_layer *entries;   /* the same for the guest software */
    struct cnnvp_tensor *tensors;         /* one for each of the graph's */
    struct cnnvp_binary_regions *regions; /* of each layer; NULL: there is no scratchpad */
    uint32_t *result_bytes;               /* what each layer's unit needs for a result; likewise */
    int divides;                          /* as in the options */
    struct cnnvp_weight_tiles weight_tiles;
    int16_t **tables;                  /* of each layer, NULL if it has none */
    size_t table_bytes;                /* header and tables */
    uint64_t moved;                    /* how far behind CNNVP_BINARY_ADDRESS it begins */
    uint64_t weight_tile_end;          /* address after header, tables and weight tiles */
    uint64_t end;                      /* address after everything */
    struct cnnvp_depth *depth;         /* NULL: layer by layer */
    struct cnnvp_fused *fused;         /* NULL: nothing is */
    struct cnnvp_residents *residents; /* NULL: none */
    struct cnnvp_shortage shortage;
    struct cnnvp_plan_finalists *finalists; /* of each layer outside of chains; NULL: planned before, or kept on chip */
};

/* Plans and places. Neither depends on number formats, which the graph need not have yet. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_build(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                               const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                               struct cnnvp_error *error);
/* Takes the graph's number formats, after which the binary can be written with its weights. `rounding`: enum
 * cnnvp_round_mode. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_take_formats(const struct cnnvp_graph *graph, uint32_t rounding,
                                                      struct cnnvp_build *build, struct cnnvp_error *error);
void cnnvp_binary_clear(struct cnnvp_build *build);

/* A layer of a build with another cut. */
struct cnnvp_binary_trial {
    size_t layer;
    const struct cnnvp_plan_cut *cut;
};
/* Tables for a run of the trials, one after the other: maps and weights lie where the build's do. Those are not read,
 * so that the tables may take their place. FAILED: no memory. To be cleared, whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_build_trials(
    const struct cnnvp_build *build, const struct cnnvp_binary_trial *all, size_t count, struct cnnvp_build *trials);
/* The table of layers, and thereby the run, has the marked ones alone. */
void cnnvp_binary_leave_out(struct cnnvp_build *build, const unsigned char *marked);
/* Where the binary begins. */
static inline uint64_t cnnvp_binary_begin(const struct cnnvp_build *build)
{
    return CNNVP_BINARY_ADDRESS + build->moved;
}
/* Bytes of the binary; of a weightless graph's the tables alone. */
size_t cnnvp_binary_bytes(const struct cnnvp_graph *graph, const struct cnnvp_build *build);
/* Writes all of them. */
void cnnvp_binary_write(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *to);

/* Where an image's first interior word of a tensor lies, and the bytes of all images' tensors. */
uint64_t cnnvp_binary_image_address(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor, uint32_t image);
uint64_t cnnvp_binary_tensor_bytes(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor);

/* Address behind all that the binary's run uses. */
uint64_t cnnvp_binary_end(const struct cnnvp_build *build);

/* One of the weight tiles. */
struct cnnvp_weight_tile_place {
    uint64_t address;
    uint64_t bytes;
};
struct cnnvp_weight_tile_place cnnvp_weight_tile_place_of(const struct cnnvp_build *build, uint32_t number);
/* Adds the bytes of a layer's weight tiles, and of those that stay in the weight buffer. */
void cnnvp_binary_add_weights(const struct cnnvp_build *build, const struct cnnvp_layer *layer, uint64_t *bytes,
                              uint64_t *resident_bytes);

/* 1: two fused groups do the same, with other weights. */
int cnnvp_binary_groups_alike(const struct cnnvp_build *build, size_t one, size_t other);
/* Bytes of the input buffer that the slots of a fused group take. */
uint64_t cnnvp_binary_slot_bytes(const struct cnnvp_build *build, size_t group);
/* 1: in a fused group the layer before it does this addition, and brings its other operand. */
int cnnvp_binary_is_added(const struct cnnvp_build *build, size_t layer);

/* Bytes of a tensor with its frame, and the byte from the frame's start to the first interior word. */
uint64_t cnnvp_binary_frame_bytes(const struct cnnvp_tensor *tensor);
uint64_t cnnvp_binary_frame_lead(const struct cnnvp_tensor *tensor);

/* Of tables, weight tiles and tensors in memory and of slots on chip, bytes. */
#define CNNVP_BINARY_ALIGNMENT 64u

static inline uint64_t cnnvp_binary_align(uint64_t bytes)
{
    return (bytes + CNNVP_BINARY_ALIGNMENT - 1u) / CNNVP_BINARY_ALIGNMENT * CNNVP_BINARY_ALIGNMENT;
}

/* ---- depth first ---- */

/*
 * The depth-first schedule (S004, Part B 4-1 to 4-15) as far as it is decided before the run: which layers form chains,
 * where the blocks of their feature maps lie in the input buffer, whether the weights stay.
 *
 * A chain is a row of layers, each reading what the one before makes and no other layer reads: convolutions with stride
 * 1 that keep their map's size, and 2x2 maximum pools with stride 2, on maps whose sides are powers of two. Feature 0
 * is what the first layer reads, feature j + 1 what layer j of the chain makes.
 */

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

/* What there is to say of the chains, if there are any. */
CNNVP_MUST_USE cnnvp_result cnnvp_binary_chains(const struct cnnvp_build *build, struct cnnvp_arena *arena,
                                                struct cnnvp_work_info *work, struct cnnvp_error *error);
/* 1: the layer that comes next in a chain takes the tensor block by block. */
int cnnvp_binary_is_chained(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor);

#endif
