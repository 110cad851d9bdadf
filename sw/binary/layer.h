/* SPDX-License-Identifier: Apache-2.0 */
/* A layer, ready to be calculated. The compiler plans it; the network binary holds it. All members have 32 bits. */
#ifndef CNNVP_LAYER_H
#define CNNVP_LAYER_H

#include <stdint.h>

#include "layer_kinds.h"

/* Words of maps and weights. These are the formats of a unit (struct cnnvp_tiling) that the binary can hold;
 * CNNVP_WORD_BYTES is the size of the wider one. */
#define CNNVP_WORD_FORMAT "fx16"
#define CNNVP_BYTE_FORMAT "int8"
#define CNNVP_WORD_LAYOUT "planes" /* [channel][row][column] */
#define CNNVP_WORD_BYTES 2u

/* Where a tensor lies. */
enum cnnvp_tensor_place {
    CNNVP_PLACE_MEMORY = 0,
    CNNVP_PLACE_WHOLE = 1, /* the whole tensor lies in the input buffer */
    CNNVP_PLACE_SLOT = 2   /* in the input buffer too, but its contents change from block to block or tile to tile */
};

/*
 * A feature map tensor in memory ("next-layer storage parameters" of S000, Part B 0-6): channels x rows x columns of
 * words inside a frame of zeros, which the compiler lays out and nothing overwrites. `address` is that of the first
 * interior word (channel 0, row 0, column 0) of image 0. Strides are in words.
 *
 * Channels lie one after the other, or interleaved in blocks of `column_stride` channels: in a block, the words of all
 * its channels at one column lie side by side. The tensor, and each tile that is moved, has whole blocks only. On chip
 * column_stride is 1.
 */
struct cnnvp_tensor {
    uint32_t address;
    uint32_t column_stride; /* 1: channels are not interleaved */
    uint32_t row_stride;
    uint32_t channel_stride; /* with blocks: distance from block to block, divided by column_stride */
    uint32_t image_stride;   /* bytes from image to image; 0: all batches use the same place in turn */
    uint32_t batch_stride;   /* bytes from image to image of a batch where image_stride is 0; else 0 */
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    uint32_t word_shift; /* a word has 1 << word_shift bytes: 1 or 2 */
    /* enum cnnvp_tensor_place. On chip, the tensor lies in the input buffer from the layer that makes it to the last
     * layer that reads it, and never in memory. chip_half and chip_address (bytes) say where its frame begins; border_*
     * and the strides give the frame's shape. For a tensor in memory, chip_address is where loaded tiles begin in a
     * half. */
    uint32_t on_chip;
    uint32_t chip_half;
    uint32_t chip_address;
    /* Zeros around the interior: rows (top, bottom) and columns (left, right). row_stride >= column_stride * (left +
     * width + right). */
    uint32_t border_top;
    uint32_t border_left;
    uint32_t border_bottom;
    uint32_t border_right;
    int32_t zero; /* the word for 0, in frame and interior: value = (word - zero) * 2^-frac; 0 for 16-bit words */
};

/* Strides of an operand in a buffer, in words. 0: the dimension is broadcast. */
struct cnnvp_strides {
    uint32_t channel, row, column;
};

/* Index of a word in its image, counted from the first interior word. */
static inline uint64_t cnnvp_tensor_word(const struct cnnvp_tensor *tensor, uint64_t channel, uint64_t row,
                                         uint64_t column)
{
    const uint64_t in_block = channel % tensor->column_stride;
    return (channel - in_block) * tensor->channel_stride + row * tensor->row_stride + column * tensor->column_stride +
           in_block;
}

struct cnnvp_layer_post {
    uint32_t kind;        /* enum cnnvp_layer_post_kind */
    int32_t value;        /* for MAX, MIN, before the shift of `format` */
    uint32_t table_words; /* for TABLE: length of the table in words */
    uint32_t format;      /* descriptor register `format` of its instruction, if a vector instruction does it */
};

/* Whether the convolution's write-out does an addition: it adds its results to the other operand, which is loaded to
 * their place in the output half. */
enum cnnvp_written_out {
    CNNVP_ADDED_BY_VECTOR = 0,  /* a vector instruction does */
    CNNVP_ADDED = 1,            /* results lie at the half's start, or behind the partial sums of input slices */
    CNNVP_ADDED_BEHIND_SUMS = 2 /* they lie behind partial sums, which the unit keeps within an instruction */
};

/* In a fused group: an addition that follows a convolution and is done in the output buffer, in place of the
 * convolution's results. The convolution's `in2` is the other operand. */
struct cnnvp_layer_addition {
    uint32_t tag;        /* tag of the addition's layer; 0: there is none */
    uint32_t first_post; /* the convolution's posts from this one on belong to the addition and follow it */
    uint32_t second;     /* 1: the convolution's results are the second operand */
    uint32_t format;     /* descriptor register `format`; the convolution's `arithmetic` names the operation */
    uint32_t clips;      /* posts of the addition that its write-out does, as cnnvp_layer.clips */
    uint32_t limits;
    uint32_t written_out; /* enum cnnvp_written_out */
};

/* How an addition scales quantised operands, or an average the sum of such words (status bit `scale`). These are the
 * descriptor members c_addr, c_repeat, immediate and seed. divisor 0: nothing is scaled. */
struct cnnvp_layer_operands {
    uint32_t a, b, divisor, zeros;
    uint32_t none[2]; /* padding to the size of struct cnnvp_layer_norm_data, with which it shares a union */
};

/* Values of cnnvp_layer.folded for a layer that is not folded but needs cnnvp_any_convolution: a product or scaled; or,
 * as one part, one whose write-out passes results through a table or adds them to words. */
#define CNNVP_NOT_FOLDED (UINT32_C(1) << 31)
#define CNNVP_ONE_PART (CNNVP_NOT_FOLDED + 1u)

/* Unit that calculates the windows of conv and pool. */
enum cnnvp_layer_unit {
    CNNVP_UNIT_ARRAY = 0,
    CNNVP_UNIT_VECTOR = 1 /* vconv, vpool: for layers that the PE array cannot do, or does more slowly */
};

/*
 * Formats of CNNVP_NORM_DATA and CNNVP_NORM_BATCH: the descriptor registers `format` of their instructions. Fraction
 * bits: F of the data and of mean, G of gamma, O of beta, I of inverse (1 / sigma), S of scale = gamma * inverse;
 * offset = beta - mean * scale has O. epsilon is in units of 2^(-2 F). The layer's own `format` is that of the last
 * sweep: data * scale + (offset << (F + S - O)).
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
 * A tile has more than one image only in layers with weights, which the images share, and for statistics of a batch.
 *
 * The weights of one slice are a weight tile. Its number follows from its contents: the tile of group g, input slice i
 * and output slice o is first_weight_tile + g * B + i * S + o, with S output slices in group g and B weight tiles in a
 * full group (layer_weights.h has both directions). Layer by layer, depth first and on chip, the schedules use the same
 * table; they differ in where weight tiles live on chip (struct cnnvp_weight_tile). The loops above, and the layers of
 * a chain, meet ever higher numbers, so one number says which of the staying weight tiles have been loaded. Contents of
 * a weight tile: conv: words [output channel][input channel][ky][kx] of the slice (depthwise: [channel][ky][kx], with
 * tile_in = channels of the slice and one input slice per group); fc: [input][output]. Weight tiles of the last input
 * slice continue, at an even address, with `bias` 16-bit words per output channel, then the table of a TABLE
 * post-operation. A layer without weights but with a table or norm parameters has one weight tile, first_weight_tile. A
 * layer with neither has none (weight_tile_count 0).
 *
 * The guest's use of buffers, which the compiler must make fit into one half each (bytes; input and output: for each of
 * tile_images, in the output half `image_bytes` apart):
 *   input:  conv/pool: tile_in * rows * cols * 2 with rows = (tile_h - 1) * sy + (ky - 1) * dy + 1, cols likewise, cut
 *           at the frame; fc: tile_in * 2; activation, norm, softmax: the tile; add: two tiles
 *   weight: the largest weight tile
 *   output: conv/fc: group_out * tile_h * tile_w * (2, or sum_bytes if there is more than one input slice);
 *           pool: tile_in * tile_h * tile_w * (2; average: sum_bytes, by position 2 more; maximum in parts: 4);
 *           conv, fc and pool at least sum_bytes if the engine keeps partial sums there within an instruction;
 *           softmax, except over AXIS_LAST: 4 * words of the tile;
 *           norm with statistics of the data: 2 * words of the tile + 10 * tile_in; the tile has whole channels; with
 *           statistics of a batch the input half holds, channel by channel, the channel's maps of all images;
 *           others: 2 * words of the tile
 * Pool, activation, norm and add have tile_in = group_out channels per group and one slice.
 */
struct cnnvp_layer {
    uint32_t op;             /* enum cnnvp_layer_op */
    uint32_t tag;            /* layer index + 1 in the statistics */
    uint32_t depth_first;    /* 1: its group is a depth-first chain; 0: a fused one */
    uint32_t group;          /* number of its group, from 1; 0: in none */
    struct cnnvp_tensor in;  /* fc: all words as one row */
    struct cnnvp_tensor in2; /* add: second operand; conv: other operand of `added`, or weights of `product` */
    struct cnnvp_tensor out;
    uint32_t unit;      /* conv, pool: enum cnnvp_layer_unit */
    uint32_t sum_bytes; /* bytes of a partial sum on its unit (cnnvp_sum_bytes); norm: on the PE array */
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t pad_top, pad_left; /* conv, pool: padding above and to the left, part of the frame */
    uint32_t depthwise;         /* conv: 1: output channel c reads input channel c only */
    uint32_t product; /* conv: 1: the weights are the tensor in2, dense [output channel][input channel]; one input
                         slice; addresses of weight tiles count from the tensor's first byte */
    uint32_t bias; /* conv, fc: words per output at the end of weight tiles: 1: bias; CNNVP_SCALE_WORDS: scale (struct
                      cnnvp_scale); 0: none */
    uint32_t pool; /* enum cnnvp_layer_pool_kind */
    union {
        uint32_t pool_area; /* average pool: divisor */
        uint32_t folded;    /* conv: length of the rows that one row of positions is folded into (layer_command.h);
                               CNNVP_NOT_FOLDED, CNNVP_ONE_PART; 0: none of these */
    };
    /* Average pool: 1: the divisor is the number of taps of the window in rows count_top to count_bottom - 1 and
     * columns count_left to count_right - 1. The input begins at row 0 and column 0. */
    uint32_t by_position;
    int32_t count_top, count_bottom, count_left, count_right;
    uint32_t permuted; /* activation, softmax over AXIS_LAST: 1: output dimension i (channels, rows, columns) is input
                          dimension from[i] */
    uint32_t from[3];
    uint32_t tile_kx, tile_ky; /* pool: columns and rows of the window per instruction (whole kernel pieces); 0: all */
    uint32_t arithmetic;       /* add: enum cnnvp_layer_arithmetic */
    struct cnnvp_layer_addition added;
    uint32_t axis;       /* softmax: enum cnnvp_layer_axis */
    uint32_t norm;       /* enum cnnvp_layer_norm_kind */
    uint32_t norm_parts; /* statistics of the data: parts of each channel that the PE array sums up, columns | rows <<
                            16; 0: the vector unit computes the statistics */
    union {
        struct cnnvp_layer_norm_data norm_data;
        struct cnnvp_layer_operands operands; /* add; conv with `added`; average */
    };
    uint32_t format; /* descriptor register `format` of its main instruction: shift, bias shift, rounding, word sizes */
    uint32_t seed;   /* seed of stochastic rounding; the guest adds terms for image and step */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
    uint32_t tile_images, images_outer, image_bytes;
    uint32_t first_weight_tile, weight_tile_count;
    struct cnnvp_layer_post posts[CNNVP_LAYER_POSTS];
    uint32_t post_count;
    uint32_t clips;  /* number of posts that the instruction's write-out does, from the first on (activation: after the
                        first): limits, then possibly a table, if a conv's `format` says so */
    uint32_t limits; /* descriptor register `limits` */
};

enum cnnvp_group_halo {
    CNNVP_HALO_RECOMPUTE = 0, /* tiles recompute the lines that they share */
    CNNVP_HALO_ROW = 1,       /* tiles go down columns; rows that the next tile needs stay in their slots */
    CNNVP_HALO_FULL = 2       /* slots are as wide as maps; rows and columns stay, nothing is recomputed */
};

/* What a layer computes in one tile of a fused group, and what its slot then holds, along one axis. Lines are rows or
 * columns. */
struct cnnvp_group_reach {
    int32_t first; /* lines of the layer's map to compute: the first, and how many */
    uint32_t count;
    int32_t held;          /* line of the map at the slot's start; negative in the padding */
    uint32_t kept;         /* lines, from the slot's start on, that are kept from the tile before */
    uint32_t from;         /* slot line where the kept lines lie in the tile before */
    uint32_t zeros_before; /* lines of padding at the slot's start */
    uint32_t zeros_at;     /* padding behind the map: first slot line, and how many lines */
    uint32_t zeros_after;
};

#endif
