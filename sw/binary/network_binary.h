/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network binary: what the host compiler leaves in memory and the guest software reads. One guest program runs
 * every network.
 *
 * The binary starts at CNNVP_BINARY_ADDRESS with struct cnnvp_binary, followed by the layer table, the weight tile
 * table and the weight tiles (weights, biases, tables). Behind it lie the tensors. All members are 32-bit
 * little-endian, all addresses are absolute bytes, all weight tiles and tensors start on 64-byte boundaries. Words are
 * fixed point of 16 bits or of 8 (two's complement, value = (word - zero) * 2^-frac, one of each and one size for each
 * tensor). Sizes of weights and of what layers make of their operands are in their descriptor registers `format` (enum
 * cnnvp_narrow).
 *
 * Where several accelerators share the images it starts with struct cnnvp_accelerators_binary instead, and each of them
 * has a struct cnnvp_binary of its own: accelerator k of n takes batches k, k + n, and so on. Weights, the input and
 * the outputs are there once; maps between layers, and tables that refer to them, once for each.
 *
 * Memory: [guest program, its stack | binary | tensors of one batch | inputs of all images | outputs of all images |
 * instructions that stay].
 */
#ifndef CNNVP_NETWORK_IMAGE_H
#define CNNVP_NETWORK_IMAGE_H

#include "binary_place.h"
#include "layer.h"

#define CNNVP_BINARY_MAGIC UINT32_C(0x50564e43) /* "CNVP" */
#define CNNVP_BINARY_VERSION UINT32_C(15)

enum cnnvp_binary_flag {
    /* All weight tiles stay in the weight buffer; they are loaded once, before the first image. */
    CNNVP_BINARY_PRELOAD = 1u << 0
};

struct cnnvp_binary {
    uint32_t magic;
    uint32_t version;
    uint32_t flags; /* of enum cnnvp_binary_flag */
    uint32_t layer_count;
    uint32_t layers;       /* address of struct cnnvp_binary_layer[layer_count], in the order of execution */
    uint32_t weight_tiles; /* address of all layers' struct cnnvp_weight_tile[weight_tile_count] */
    uint32_t images;       /* how many images to run */
    uint32_t batch;        /* this many go through a layer together, 1 or more; the last ones may be fewer */
    uint32_t element;      /* address of the instruction element's registers */
    uint32_t plic;         /* address of the interrupt controller */
    uint32_t element_irq;  /* line of the element at the interrupt controller */
    uint32_t input_halves; /* 1 or 2: halves of the input buffer */
    uint32_t weight_halves;
    uint32_t output_halves;
    uint32_t chains;    /* address of struct cnnvp_binary_chain[], as many as layers name */
    uint32_t groups;    /* address of struct cnnvp_binary_group[], as many as layers name */
    uint32_t scheduler; /* address of the depth-first scheduler's registers, 0: there is none */
    uint32_t scheduler_irq;
    uint32_t list; /* address of room for the instructions of a batch, which then stay there; 0: none do */
    uint32_t list_bytes;
    uint32_t scratchpad;       /* address of the registers of the one memory on chip, 0: there are three buffers */
    uint32_t regions;          /* address of struct cnnvp_binary_regions[layer_count] where there is one */
    struct cnnvp_tensor input; /* the network's input */
};

/* What stands behind it where there is one accelerator, for cores that are not the platform's: the first output, as
 * above. */
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

/* What each accelerator has in memory for the guest software that drives it: its context, then its stack. */
#define CNNVP_CONTEXT_BYTES UINT32_C(0x2000)
#define CNNVP_STACK_BYTES UINT32_C(0x4000)
#define CNNVP_ROOM_BYTES (CNNVP_CONTEXT_BYTES + CNNVP_STACK_BYTES)
#define CNNVP_ACCELERATORS_BINARY_MAGIC UINT32_C(0x41564e43) /* "CNVA" */

struct cnnvp_accelerators_binary {
    uint32_t magic;
    uint32_t version; /* CNNVP_BINARY_VERSION */
    uint32_t plic;
    uint32_t clint; /* address of the registers of the core's own interrupts */
    uint32_t rooms; /* address of CNNVP_ROOM_BYTES for each accelerator */
    uint32_t count;
    uint32_t binaries[CNNVP_ACCELERATORS]; /* address of the struct cnnvp_binary of each */
};

/*
 * A chain of layers that runs depth first (S004): feature 0 is what its first layer reads, feature j + 1 what its layer
 * j makes. Maps are divided into blocks with all their channels; a block's convolution is padded with zeros at all its
 * edges. Only feature 0 and the last one lie in memory. One level for each feature.
 */
struct cnnvp_binary_level {
    uint32_t bits_x; /* 2^bits_x blocks side by side, 2^bits_y one above the other */
    uint32_t bits_y;
    uint32_t target;  /* positions of a block: this many make it ready */
    uint32_t order;   /* address of the preset order, a word x | y << 16 for each block; 0: Morton order by counting */
    uint32_t on_chip; /* 0: the last feature's blocks leave for memory from the output buffer, `block` is not used */
    uint32_t padding; /* enum cnnvp_binary_padding */
    struct cnnvp_tensor block; /* one block in its slot of the input buffer; its frame is the block's padding */
};

/* When the frame of a block is set to zeros. */
enum cnnvp_binary_padding {
    CNNVP_PADDING_NONE = 0, /* there is no frame */
    CNNVP_PADDING_ONCE = 1, /* before the first block: nothing else writes there while the chain runs */
    CNNVP_PADDING_EACH = 2  /* before each block: the slot is shared */
};

/* The guest keeps descriptors for each of this many first layers of a chain, which it repeats from block to block. */
#define CNNVP_CHAIN_SETS 3u

struct cnnvp_binary_chain {
    uint32_t first_layer; /* the chain runs in its place; its other layers are passed over */
    uint32_t layer_count;
    uint32_t layers;    /* address of struct cnnvp_binary_layer[layer_count]: as blocks see them, `in` and `out` are
                           slots */
    uint32_t levels;    /* address of struct cnnvp_binary_level[layer_count + 1] */
    uint32_t resident;  /* 1: some weight tiles stay in the weight buffer while the chain runs; others are loaded for
                           each  block that needs them */
    uint32_t scheduled; /* 1: the scheduler issues its instructions where they fit its table; 2: or none does */
    struct cnnvp_tensor in;  /* feature 0 in memory */
    struct cnnvp_tensor out; /* the last feature in memory */
};

/* Where the regions of a scratchpad for weights and results begin while a layer runs: bytes of a half. */
struct cnnvp_binary_regions {
    uint32_t weight_base;
    uint32_t output_base;
};

/* An entry of the layer table. */
struct cnnvp_binary_layer {
    struct cnnvp_layer plan;
    uint32_t fill;     /* 1: on chip the output's place, frame included, is set to zeros before the layer */
    uint32_t frees_in; /* 1: `in` lies in a slot, and no layer of the group reads it after this one */
    uint32_t frees_in2;
};

/* A layer of a fused group. */
struct cnnvp_binary_member {
    struct cnnvp_binary_layer layer; /* tensors that lie in slots are on_chip, as if line (0, 0) were a slot's first */
    struct cnnvp_tensor slot;        /* that its results go to: all channels and lines that the slot has room for */
    uint32_t makes;                  /* 1: they do; 0: they leave the group */
    uint32_t begins;                 /* 1: it is the first one of a tile to write to its slot */
    uint32_t made;                   /* channels of the slot that are there when it is done */
    uint32_t in_maker;               /* 1 + number of the group's layer that makes `in`; 0: that lies in no slot */
    uint32_t in2_maker;
    uint32_t done;      /* 1: an addition that the layer before it has done */
    uint32_t tile_half; /* tiles of maps in memory go to this half alone, 1 or 2; 0: to both in turn */
};

/*
 * A fused group: layers one after the other that go tile by tile of what the last one gives, so that nothing that is
 * made between them leaves the chip. Values are those of ordinary convolution: a tile's results need more of what is
 * read the further back one looks, and what lies beside a map is zero as in its frame. Which lines (rows, columns) each
 * layer calculates in a tile, and what its slot in the input buffer holds then, is a table for each axis.
 */
struct cnnvp_binary_group {
    uint32_t first_layer; /* the group runs in its place; its other layers are passed over */
    uint32_t layer_count;
    uint32_t members; /* address of struct cnnvp_binary_member[layer_count] */
    uint32_t rows;    /* address of struct cnnvp_group_reach[tile_rows][layer_count] */
    uint32_t columns; /* address of struct cnnvp_group_reach[tile_columns][layer_count] */
    uint32_t tile_rows;
    uint32_t tile_columns;
    uint32_t halo;     /* enum cnnvp_group_halo */
    uint32_t resident; /* 1: some weight tiles stay in the weight buffer while the group runs */
};

enum cnnvp_binary_stay {
    CNNVP_WEIGHT_TILE_PASSES = 0,
    CNNVP_WEIGHT_TILE_STAYS =
        1, /* it has a place: it is loaded once, before the first image or where its chain begins */
    CNNVP_WEIGHT_TILE_TENSOR = 2 /* words of a tensor, `product` above */
};

struct cnnvp_weight_tile {
    uint32_t address;
    uint32_t bytes;
    uint32_t stays; /* enum cnnvp_binary_stay */
    /* Where it stays: where it lives in the weight buffer. Otherwise the guest chooses half by half, address 0. */
    uint32_t chip_half;
    uint32_t chip_address;
};

#endif
