/* SPDX-License-Identifier: Apache-2.0 */
/* A layer as it is calculated: what the compiler plans and the network binary holds, in 32-bit members. */
#ifndef CNNVP_LAYER_H
#define CNNVP_LAYER_H

#include <stdint.h>

#include "layer_kinds.h"

/* Words of maps and weights: the formats of a unit's (struct cnnvp_tiling) that this binary has, the wider one's size.
 */
#define CNNVP_WORD_FORMAT "fx16"
#define CNNVP_BYTE_FORMAT "int8"
#define CNNVP_WORD_LAYOUT "planes" /* [channel][row][column] */
#define CNNVP_WORD_BYTES 2u

/* Where a tensor lies. */
enum cnnvp_tensor_place {
    CNNVP_PLACE_MEMORY = 0,
    CNNVP_PLACE_WHOLE = 1, /* in the input buffer */
    CNNVP_PLACE_SLOT = 2   /* the same, but what is there changes from block to block or tile to tile */
};

/*
 * A feature map tensor in memory ("next-layer storage parameters" of S000, Part B 0-6): channels x rows x columns of
 * words inside a frame of words for 0 that the compiler has laid out and that nothing writes to. `address` is that of
 * the first interior word (channel 0, row 0, column 0) of image 0. Strides in words.
 *
 * Channels lie one after the other, or in blocks of `column_stride` of them that are interleaved: the block's words of
 * a column lie side by side, and a row has those of the whole block. All channels are in whole blocks, and so are those
 * of each tile that is moved. On chip column_stride is 1.
 */
struct cnnvp_tensor {
    uint32_t address;
    uint32_t column_stride; /* 1: channels lie one after the other */
    uint32_t row_stride;
    uint32_t channel_stride; /* of blocks the column_stride-th part of what is from one to the next */
    uint32_t image_stride; /* bytes from one image's tensor to the next's; 0: all batches use the same place in turn */
    uint32_t batch_stride; /* the same from image to image of a batch; 0 where image_stride is not, or of one image */
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    uint32_t word_shift; /* a word has 2^word_shift bytes: 1 or 2 */
    /* enum cnnvp_tensor_place. On chip it lies in the input buffer from the layer that makes it to the last one that
     * reads it, and never in memory: half and byte address of the first word of its frame, whose shape follows from
     * border_* and the strides. In memory: what is loaded of it goes to chip_address of a half. */
    uint32_t on_chip;
    uint32_t chip_half;
    uint32_t chip_address;
    /* Zeros around the interior, in columns (rows). row_stride >= column_stride * (left + width + right). */
    uint32_t border_top;
    uint32_t border_left;
    uint32_t border_bottom;
    uint32_t border_right;
    int32_t zero; /* the word that stands for 0, there and within: value = (word - zero) * 2^-frac. 16 bits: 0 */
};

/* Words from one channel, row and column of an operand in a buffer to the next; 0: the same ones count for all. */
struct cnnvp_strides {
    uint32_t channel, row, column;
};

/* Which word of its image that of a channel, row and column is, from the first one on. */
static inline uint64_t cnnvp_tensor_word(const struct cnnvp_tensor *tensor, uint64_t channel, uint64_t row,
                                         uint64_t column)
{
    const uint64_t in_block = channel % tensor->column_stride;
    return (channel - in_block) * tensor->channel_stride + row * tensor->row_stride + column * tensor->column_stride +
           in_block;
}

struct cnnvp_layer_post {
    uint32_t kind;        /* enum cnnvp_layer_post_kind */
    int32_t value;        /* for MAX, MIN */
    uint32_t table_words; /* for TABLE: words of the table */
    uint32_t format;      /* descriptor register `format` of its instruction, where it takes one */
};

/* In a fused group: the addition that comes after a convolution, done with the convolution's results where they lie
 * in the output buffer; the other operand is its `in2`. */
struct cnnvp_layer_addition {
    uint32_t tag;        /* that layer's; 0: there is no such addition */
    uint32_t first_post; /* it comes before this one of the convolution's posts: those from there on are its own */
    uint32_t second;     /* 1: the convolution's results are its second operand */
    uint32_t format; /* its descriptor register `format`; the kind of arithmetic is the convolution's `arithmetic` */
    uint32_t clips;  /* as the layer's, of its own posts */
    uint32_t limits;
};

/* How an addition takes quantised operands, or an average sums of such words, by the status bit `scale`: c_addr,
 * c_repeat, immediate and seed of the descriptor. divisor 0: nothing is scaled. */
struct cnnvp_layer_operands {
    uint32_t a, b, divisor, zeros;
    uint32_t none[2]; /* it is as large as struct cnnvp_layer_norm_data, in whose place it stands */
};

/* `folded` of a product that is not, and of what is not but whose results go through a table. */
#define CNNVP_NOT_FOLDED (UINT32_C(1) << 31)
#define CNNVP_TABLED_ALONE (CNNVP_NOT_FOLDED + 1u)

/* Which unit calculates the windows of conv and pool. */
enum cnnvp_layer_unit {
    CNNVP_UNIT_ARRAY = 0,
    CNNVP_UNIT_VECTOR = 1 /* vconv, vpool: for what the PE array does not take, or takes longer for */
};

/*
 * Formats of CNNVP_NORM_DATA and CNNVP_NORM_BATCH, the descriptor registers `format` of its instructions. With F
 * fraction bits in the data, G in gamma, O in beta: mean has F, inverse (1 / sigma) I, scale = gamma * inverse S,
 * offset = beta - mean * scale O fraction bits. epsilon is in units of 2^(-2 F). The layer's own `format` is that of
 * the last sweep: data * scale + (offset << (F + S - O)).
 */
struct cnnvp_layer_norm_data {
    uint32_t epsilon;
    uint32_t mean;    /* vmean: shift 0 */
    uint32_t inverse; /* vvar: shift -(F + I) */
    uint32_t scale;   /* vmac: shift G + I - S */
    uint32_t product; /* vmac: shift F + S - O */
    uint32_t offset;  /* vsub: shift 0 */
};

/*
 * One layer. The caller of S000's layer functions cuts it in nested loops:
 *   for each group of `group_out` output channels                      (outermost; fc: outputs)
 *     for each `tile_images` images of the batch                       (outermost if `images_outer` is set)
 *       for each tile of tile_h x tile_w output positions              (multiples of the engine's edges, or the rest)
 *         layer function: for each slice of `tile_in` input channels     (S000's input_para; fc: inputs)
 *                           for each slice of `tile_out` output channels (S000's output_para) of the group
 *                             for each of the images
 * More than one image is for layers with weights, which then serve them all, and for statistics of a batch.
 * A slice's weights are a weight tile, and what it holds says where it is: that of group g, input slice i and output
 * slice o is number first_weight_tile + g * B + i * S + o, with S output slices in group g and B weight tiles in a full
 * group (layer_weights.h has both directions). The table is never searched for one, so it serves layers one by one,
 * blocks depth first and networks on chip alike; what differs is where weight tiles live on chip (struct
 * cnnvp_weight_tile). A layer that takes its slices as above meets ever higher numbers, and so do the layers of a
 * chain: what stays of their weight tiles is there up to a number. A weight tile holds conv: words [output
 * channel][input channel][ky][kx] of the slice (depthwise: [channel][ky][kx], with tile_in = channels of the slice and
 * one input slice a group); fc: [input][output]; then, in the weight tiles of the last input slice, at an even address,
 * `bias` 16-bit words an output channel, and then the table of a TABLE post-operation. Layers without weights but with
 * a table or norm parameters have one weight tile: first_weight_tile; without either none (weight_tile_count 0).
 *
 * Buffer use by the guest, which the compiler must make fit into one half each (bytes; input and output: for each of
 * tile_images, in the output half `image_bytes` apart):
 *   input:  conv/pool: tile_in * rows * cols * 2 with rows = (tile_h - 1) * sy + (ky - 1) * dy + 1, cols likewise, cut
 *           at the frame; fc: tile_in * 2; activation, norm, softmax: the tile; add: two tiles
 *   weight: the largest weight tile
 *   output: conv/fc: group_out * tile_h * tile_w * (2, or sum_bytes if there is more than one input slice); pool:
 *           tile_in * tile_h * tile_w * (2, average sum_bytes, by position 2 more, maximum in parts 4); both sum_bytes
 * at least where the engine keeps partial sums there within an instruction; softmax but over AXIS_LAST: 4 * words of
 * the tile; norm with statistics of the data: 2 * words of the tile + 10 * tile_in, and the tile is whole channels; of
 * a batch the images of a channel follow one another in the input half; others: 2 * words of the tile pool, activation,
 * norm and add have tile_in = group_out channels a group and one slice.
 */
struct cnnvp_layer {
    uint32_t op;             /* enum cnnvp_layer_op */
    uint32_t tag;            /* layer index + 1 in the statistics */
    uint32_t chain;          /* number of the chain that it is part of, from 1; 0: none */
    uint32_t group;          /* number of the fused group that it is part of, from 1; 0: none */
    struct cnnvp_tensor in;  /* fc: its words as one row */
    struct cnnvp_tensor in2; /* add: second operand; conv with `added`: the other one; with `product`: weights */
    struct cnnvp_tensor out;
    uint32_t unit;      /* conv, pool: enum cnnvp_layer_unit */
    uint32_t sum_bytes; /* of the slot of a partial sum of its unit (cnnvp_sum_bytes); norm: of the PE array */
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t pad_top, pad_left; /* conv, pool: padding before row 0 and column 0; lies in the frame */
    uint32_t depthwise;         /* conv: 1: output channel c sees input channel c only */
    uint32_t product;           /* conv: 1: its weights are the words of in2, [output channel][input channel] without
                                   gaps; there is one input slice, and a weight tile's address counts from their first byte */
    uint32_t bias; /* conv, fc: words of each output that weight tiles end with: 1: its bias; CNNVP_SCALE_WORDS: by
                      what it is scaled (struct cnnvp_scale); 0: none */
    uint32_t pool; /* enum cnnvp_layer_pool_kind */
    union {
        uint32_t pool_area; /* average: divisor */
        uint32_t folded;    /* conv: positions of one row become rows of as many (layer_command.h); 0: they do not, and
                               it is no product, and neither scaled nor tabled */
    };
    /* Average: 1: the divisor is the number of taps in rows count_top .. count_bottom - 1 and columns count_left ..
     * count_right - 1 of the input, whose first is 0. */
    uint32_t by_position;
    int32_t count_top, count_bottom, count_left, count_right;
    uint32_t permuted; /* activation: 1: output dimension i (channels, rows, columns) is input dimension
                          from[i] */
    uint32_t from[3];
    uint32_t tile_kx, tile_ky; /* pool: the window is swept in parts of this many columns and rows, whole kernel pieces;
                                  0: whole */
    uint32_t arithmetic;       /* add: enum cnnvp_layer_arithmetic */
    struct cnnvp_layer_addition added;
    uint32_t axis;       /* softmax: enum cnnvp_layer_axis */
    uint32_t norm;       /* enum cnnvp_layer_norm_kind */
    uint32_t norm_parts; /* statistics of the data: parts of each channel that the array's PEs add up, columns |
                            rows << 16; 0: the vector unit does it */
    union {
        struct cnnvp_layer_norm_data norm_data;
        struct cnnvp_layer_operands operands; /* add; conv with `added`; average */
    };
    uint32_t format; /* descriptor register `format` of conv, matmul, vdiv, vadd, vnorm, vsoftmax: shift,
                        bias shift, rounding */
    uint32_t seed;   /* of stochastic rounding; the guest adds the image number */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
    uint32_t tile_images, images_outer, image_bytes;
    uint32_t first_weight_tile, weight_tile_count;
    struct cnnvp_layer_post posts[CNNVP_LAYER_POSTS];
    uint32_t post_count;
    uint32_t clips;  /* so many of them from the first on (activation: after the first) are done by the write-out of the
                        layer's instruction: limits, and a table, the last one, where `format` says that the
                        results of its conv go through one */
    uint32_t limits; /* its descriptor register `limits` */
};

enum cnnvp_group_halo {
    CNNVP_HALO_RECOMPUTE = 0, /* what two tiles need is calculated in both */
    CNNVP_HALO_ROW = 1,       /* tiles go down: rows that the next one needs as well stay in their slots */
    CNNVP_HALO_FULL = 2       /* slots are as wide as maps: rows and columns stay, nothing is calculated twice */
};

/* A layer in a tile, along one axis. */
struct cnnvp_group_reach {
    int32_t first; /* lines of the layer's map that are calculated */
    uint32_t count;
    int32_t held;          /* the map's line that its slot begins with; negative in the padding */
    uint32_t kept;         /* this many lines from there on the slot has had in the tile before, */
    uint32_t from;         /* from this line of it on */
    uint32_t zeros_before; /* lines of padding at the slot's begin */
    uint32_t zeros_at;     /* and after the map: which line of the slot is the first, and how many they are */
    uint32_t zeros_after;
};

#endif
