/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network binary: what the host compiler leaves in memory and the guest software reads. One guest program runs
 * every network.
 *
 * The binary starts at CNNVP_BINARY_ADDRESS with struct cnnvp_binary, followed by the layer table, the weight tile
 * table and the weight tiles (weights, biases, tables). The tensors lie behind it. All members are 32-bit
 * little-endian, all addresses are absolute bytes, all weight tiles and tensors start on 64-byte boundaries. Words are
 * fixed point with 16 or 8 bits (two's complement, value = (word - zero) * 2^-frac; each tensor has one size, zero and
 * frac). The descriptor registers `format` hold the word sizes of weights and of each layer's operands and results
 * (enum cnnvp_narrow).
 *
 * Where several accelerators share the images, the binary starts with struct cnnvp_accelerators_binary, and each
 * accelerator has a struct cnnvp_binary: accelerator k of n takes batches k, k + n, and so on. Weights, the input and
 * the outputs exist once. Maps between layers, and tables that refer to them, exist once per accelerator.
 *
 * Memory: [guest program, its stack | binary | tensors of one batch | inputs of all images | outputs of all images |
 * instruction lists (cnnvp_binary.list)].
 */
#ifndef CNNVP_NETWORK_IMAGE_H
#define CNNVP_NETWORK_IMAGE_H

#include "binary_place.h"
#include "layer.h"

#define CNNVP_BINARY_MAGIC UINT32_C(0x50564e43) /* "CNVP" */
#define CNNVP_BINARY_VERSION UINT32_C(18)

enum cnnvp_binary_flag {
    /* All weight tiles stay in the weight buffer. They are loaded once, before the first image. */
    CNNVP_BINARY_PRELOAD = 1u << 0
};

struct cnnvp_binary {
    uint32_t magic;
    uint32_t version;
    uint32_t flags; /* enum cnnvp_binary_flag */
    uint32_t layer_count;
    uint32_t layers;       /* address of struct cnnvp_binary_layer[layer_count], in the order of execution */
    uint32_t weight_tiles; /* address of all layers' struct cnnvp_weight_tile[weight_tile_count] */
    uint32_t images;       /* images to run */
    uint32_t batch;        /* images that go through a layer together, 1 or more; the last batch may have fewer */
    uint32_t element;      /* address of the instruction element's registers */
    uint32_t plic;         /* address of the interrupt controller */
    uint32_t element_irq;  /* line of the element at the interrupt controller */
    uint32_t input_halves; /* halves of the input buffer: 1 or 2 */
    uint32_t weight_halves;
    uint32_t output_halves;
    uint32_t groups;    /* address of struct cnnvp_binary_group[]; cnnvp_layer.group is the index + 1 */
    uint32_t scheduler; /* address of the depth-first scheduler's registers; 0: none, or there are no chains */
    uint32_t scheduler_irq;
    uint32_t list; /* address of memory for a batch's instructions, reused from batch to batch (--issue list); 0: they
                      are pushed */
    uint32_t list_bytes;
    uint32_t scratchpad; /* address of the scratchpad's registers; 0: there are three buffers */
    uint32_t regions;    /* with a scratchpad: address of struct cnnvp_binary_regions[layer_count] */
    struct cnnvp_tensor input;
};

/* The binary of one accelerator continues with the place of the first output. The runtime on cores other than the
 * platform's reads it (cnnvp_runtime.h). Members are as in struct cnnvp_tensor. */
struct cnnvp_binary_results {
    struct cnnvp_binary binary;
    uint32_t address;
    uint32_t row_stride;
    uint32_t channel_stride;
    uint32_t image_stride;
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    uint32_t word_shift;
};

/* Memory of each accelerator's guest software: its context, then its stack. */
#define CNNVP_CONTEXT_BYTES UINT32_C(0x2000)
#define CNNVP_STACK_BYTES UINT32_C(0x4000)
#define CNNVP_ROOM_BYTES (CNNVP_CONTEXT_BYTES + CNNVP_STACK_BYTES)
#define CNNVP_ACCELERATORS_BINARY_MAGIC UINT32_C(0x41564e43) /* "CNVA" */

struct cnnvp_accelerators_binary {
    uint32_t magic;
    uint32_t version; /* CNNVP_BINARY_VERSION */
    uint32_t plic;
    uint32_t clint; /* address of the core-local interrupt registers */
    uint32_t rooms; /* address of CNNVP_ROOM_BYTES per accelerator */
    uint32_t count;
    uint32_t binaries[CNNVP_ACCELERATORS]; /* addresses of each accelerator's struct cnnvp_binary */
};

/* A feature of a depth-first chain. */
struct cnnvp_binary_level {
    uint32_t bits_x; /* the map has 2^bits_x by 2^bits_y blocks */
    uint32_t bits_y;
    uint32_t target;  /* positions of a block; it is ready when all of them are there */
    uint32_t order;   /* address of the preset order, a word x | y << 16 per block; 0: Morton order */
    uint32_t on_chip; /* 1: blocks lie in `block`; 0 (last feature only): results go from the output buffer to memory */
    uint32_t padding; /* enum cnnvp_binary_padding */
    struct cnnvp_tensor block; /* a block in its slot of the input buffer; its frame is the block's padding */
};

/* Block number `number` of a map in Morton order, as x | y << 16. Bit i of x and of y are bits 2i and 2i + 1 of the
 * number, as long as both coordinates have a bit i. The remaining bits of the longer one follow on top (Part B 4-4). */
static inline uint32_t cnnvp_morton_block(const struct cnnvp_binary_level *level, uint32_t number)
{
    const uint32_t common = level->bits_x < level->bits_y ? level->bits_x : level->bits_y;
    const uint32_t rest = number >> (2u * common) << common;
    uint32_t x = level->bits_x > level->bits_y ? rest : 0;
    uint32_t y = level->bits_x > level->bits_y ? 0 : rest;
    for (uint32_t bit = 0; bit < common; ++bit) {
        x |= (number >> (2u * bit) & 1u) << bit;
        y |= (number >> (2u * bit + 1u) & 1u) << bit;
    }
    return x | y << 16;
}

/* When the frame of a block's slot is zeroed. */
enum cnnvp_binary_padding {
    CNNVP_PADDING_NONE = 0, /* there is no frame */
    CNNVP_PADDING_ONCE = 1, /* before the first block; nothing else writes there while the chain runs */
    CNNVP_PADDING_EACH = 2  /* before each block: the slot is shared */
};

/* First layers of a chain that have descriptors of their own, which stay in registers from block to block. */
#define CNNVP_CHAIN_SETS 3u

/* Where the scratchpad's regions for weights and for results begin while a layer runs, in bytes from the start of a
 * half. */
struct cnnvp_binary_regions {
    uint32_t weight_base;
    uint32_t output_base;
};

/* An entry of the layer table. */
struct cnnvp_binary_layer {
    struct cnnvp_layer plan;
    uint32_t fill;     /* 1: the output's place on chip, frame included, is zeroed before the layer */
    uint32_t frees_in; /* 1: `in` lies in a slot, and this is the group's last layer that reads it */
    uint32_t frees_in2;
};

/* A layer of a group that runs tile by tile. */
struct cnnvp_binary_member {
    struct cnnvp_binary_layer layer; /* its tensors in slots are on_chip, as if line (0, 0) were the slot's first */
    struct cnnvp_tensor slot;        /* slot of its results, with all channels and lines that it has room for */
    uint32_t makes;                  /* 1: results go to `slot`; 0: they leave the group */
    uint32_t begins;                 /* 1: the first layer of a tile that writes to `slot` */
    uint32_t made;                   /* channels of the slot that are complete when the layer is done */
    uint32_t in_maker;               /* 1 + index of the layer of the group that makes `in`; 0: `in` lies in no slot */
    uint32_t in2_maker;
    uint32_t done;      /* 1: an addition that the layer before has done */
    uint32_t tile_half; /* half for tiles that come from memory: 1 or 2; 0: both in turn */
};

/* Most levels of a chain: one more than its layers. */
#define CNNVP_DEPTH_LEVELS 256u

/*
 * A group: layers that run part by part of their maps, so that no intermediate leaves the chip. There are two kinds.
 *
 * A fused group is consecutive layers that run tile by tile of the last layer's results. Values are those of ordinary
 * convolution: the further back a layer is, the more of its map a tile needs, and the map is surrounded by zeros. A
 * table per axis says which lines (rows, columns) each layer computes in a tile, and what its slot in the input buffer
 * then holds.
 *
 * A depth-first chain (S004) is layers that run at their own rates: layer 0 reads feature 0, and layer j makes feature
 * j + 1 as soon as feature j has a block. Blocks have all channels. The convolution of a block sees zeros at all edges
 * of the block. Only feature 0 and the last feature lie in memory, where the layer table says. Each feature has a
 * level.
 */
struct cnnvp_binary_group {
    uint32_t first_layer; /* the schedule runs the group here, and skips its other layers */
    uint32_t layer_count;
    uint32_t members;  /* address of struct cnnvp_binary_member[layer_count]; of a chain: struct
                          cnnvp_binary_layer[layer_count], whose `in` and `out` are slots */
    uint32_t resident; /* 1: some weight tiles stay in the weight buffer while the group runs; the others are loaded for
                          each tile or block that needs them */
    union {
        uint32_t rows;   /* address of struct cnnvp_group_reach[tile_rows][layer_count] */
        uint32_t levels; /* of a chain: address of struct cnnvp_binary_level[layer_count + 1] */
    };
    union {
        uint32_t columns;    /* address of struct cnnvp_group_reach[tile_columns][layer_count] */
        uint32_t last_layer; /* of a chain */
    };
    uint32_t tile_rows;
    uint32_t tile_columns;
    union {
        uint32_t halo;      /* enum cnnvp_group_halo */
        uint32_t scheduled; /* of a chain: 1: the scheduler issues the instructions if they fit its table, else the core
                               does; 2: if they do not fit, the run fails */
    };
};

enum cnnvp_binary_stay {
    CNNVP_WEIGHT_TILE_PASSES = 0,
    CNNVP_WEIGHT_TILE_STAYS =
        1, /* loaded once to its own place, before the first image or when its group needs it first */
    CNNVP_WEIGHT_TILE_TENSOR = 2 /* part of a tensor (cnnvp_layer.product) */
};

struct cnnvp_weight_tile {
    uint32_t address;
    uint32_t bytes;
    uint32_t stays; /* enum cnnvp_binary_stay */
    /* CNNVP_WEIGHT_TILE_STAYS: place in the weight buffer. Otherwise the guest chooses the half, and the address
     * is 0. */
    uint32_t chip_half;
    uint32_t chip_address;
};

#endif
