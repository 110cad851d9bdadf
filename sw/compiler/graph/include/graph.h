/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's representation of a network: layers in the order of execution, and tensors of one image between them.
 * onnx_import.c makes it, graph_simplify.c simplifies it, floatref.c executes it in float, formats.c chooses number
 * formats, plan.c tiles and binary.c addresses.
 */
#pragma once

#include "compiler.h"
#include "binary/layer_kinds.h"

/* Most post-operations ("posts") of a layer: limits and functions applied to its results. */
#define CNNVP_GRAPH_POSTS CNNVP_LAYER_POSTS

/* No tensor. */
#define CNNVP_GRAPH_NONE (-1)

enum cnnvp_graph_post_kind {
    CNNVP_GRAPH_MAX, /* max{x, value} */
    CNNVP_GRAPH_MIN, /* min{x, value} */
#define CNNVP_FUNCTION(name, ...) CNNVP_GRAPH_##name,
#define CNNVP_STEP(name, ...) CNNVP_GRAPH_##name,
#include "functions.def"
};

/* Stands for infinity in masks: the largest number that a tensor's words hold, less the margin of an eighth that
 * formats keep. A comparison with infinity is one with half of it. */
#define CNNVP_GRAPH_INFINITY 0x1.ap30f
#define CNNVP_GRAPH_INFINITE (CNNVP_GRAPH_INFINITY / 2.0f)

struct cnnvp_graph_post {
    enum cnnvp_graph_post_kind kind;
    float value;
};

/* Parameters of a layer in training. */
enum cnnvp_graph_role {
    CNNVP_GRAPH_WEIGHTS = 0, /* normalisation: gamma */
    CNNVP_GRAPH_BIAS = 1,    /* normalisation: beta */
    CNNVP_GRAPH_MEAN = 2,
    CNNVP_GRAPH_VARIANCE = 3,
    CNNVP_GRAPH_ROLES = 4
};

/* Where the file has a parameter (onnx.h): input `input` of node number `node` - 1; node 0: not in the file. */
struct cnnvp_graph_origin {
    uint32_t node;
    uint32_t input;
    uint32_t rank;
    int64_t dims[4];
    int absent; /* 1: the file has no values */
};

/* A dimension of a tensor. */
enum cnnvp_graph_dimension { CNNVP_GRAPH_CHANNEL, CNNVP_GRAPH_ROW, CNNVP_GRAPH_COLUMN, CNNVP_GRAPH_DIMENSIONS };

struct cnnvp_graph_tensor {
    const char *name;    /* of the ONNX value */
    uint32_t rank;       /* of the ONNX value, batch included: 4 (N, C, H, W), 3 (N, C, W), 2 (N, C) or 1 (N) */
    const int64_t *dims; /* all dimensions if there are more than 4 or, during import, as set by Expand; else NULL */
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    int32_t base;          /* a view: the tensor whose words it shows, in the same order; else CNNVP_GRAPH_NONE */
    uint32_t base_channel; /* a view of some channels: its first channel in the base */
    uint32_t channel_step; /* distance of its channels in the base; 0 and 1: adjacent */
    uint32_t whole;        /* 1: quantised: values are the whole numbers q - zero, kept as words (base tensors) */
    int32_t zero;          /* the zero point of q */
    int32_t word_zero;     /* the 8-bit word that stands for 0; 0 for 16-bit words, once cnnvp_words_shift has run */
    /* Input of the network: the user's numbers are divided by `step`, rounded and limited; step 0: they are not. */
    float step, low, high;
    uint32_t integer; /* input of the network, 1: the file gives it integers or booleans */
    uint32_t narrow;  /* 1: 8-bit words, 0: 16-bit words; set by cnnvp_words_choose (base tensors) */
    uint32_t used;    /* cnnvp_graph_drop_unused: 1: a later layer or the host reads it (base tensors) */
    uint32_t readers; /* words.c: flags that say what is done with its words (base tensors) */
    uint32_t counts;  /* 1: whole numbers of any size, or compared with 0; bytes do not hold all of them */
    uint32_t scores; /* 1: only softmax or maxima read it, possibly after arithmetic; numbers far below do not count for
                        its format */
    /* From the float pass and formats.c. */
    int32_t format; /* the tensor whose format it has, or itself; CNNVP_GRAPH_NONE: its base's */
    int alike;      /* 1: all its words have one format, although others only copy them (base tensors) */
    float max_abs;
    uint32_t saturates; /* 1: max_abs leaves out numbers that make no difference to what reads them (base tensors) */
    uint32_t fractions; /* 1: not all values are whole numbers (base tensors) */
    float *channel_max; /* largest magnitude of each channel, if equalise.c asks for it (base tensors) */
    int32_t frac;
    int32_t *fracs; /* words of several formats, which are only copied: by channel, row or column; NULL: all have one */
    enum cnnvp_graph_dimension fracs_by;
    const int32_t *powers; /* channel c is 2^powers[c] times the channel of the ONNX value; NULL: all are equal to it */
};

/* Quantisation steps of a layer: what one unit of a quantised number stands for. Steps of input, output and of the
 * weights of each output (0: unknown or not quantised). The bias is in units of input step times weight step. A norm
 * that quantises has `out` only, one that dequantises `in` only. */
struct cnnvp_graph_steps {
    float in, out;
    float in2;               /* addition: step of the second operand if it scales both operands; 0: it does not */
    int32_t centre;          /* such an addition adds this before it rounds the quotient, and subtracts it after */
    const float *weights;    /* NULL: unknown */
    size_t weight_count;     /* 1: all outputs have the same step */
    int narrow;              /* 1: weights have 8 bits by their type */
    const int64_t *bias;     /* NULL: none, or the graph is weightless */
    const float *bias_steps; /* NULL, or steps that the file has for the bias; they should be input * weight steps */
    size_t bias_count;
};

struct cnnvp_graph_layer {
    enum cnnvp_layer_op op;
    const char *name;    /* of the ONNX node, or made up if it has none */
    const char *op_type; /* of the ONNX node, for messages */
    int32_t in;
    int32_t in2; /* add; conv with `product` */
    int32_t out;
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t pad_top, pad_left, pad_bottom, pad_right;
    uint32_t groups;    /* conv */
    uint32_t depthwise; /* conv: 1: groups == input channels == output channels */
    uint32_t product;   /* conv, 1x1: 1: its weights are the words of in2, [out][in of the group]; only it reads in2 */
    enum cnnvp_layer_pool_kind pool;
    uint32_t by_position; /* average: 1: the divisor is the number of taps in these rows and columns (layer.h) */
    int32_t count_top, count_bottom, count_left, count_right;
    enum cnnvp_layer_arithmetic arithmetic; /* add */
    enum cnnvp_layer_axis axis;             /* softmax */
    enum cnnvp_layer_norm_kind norm;
    uint32_t about_zero; /* norm with statistics of the data: 1: the mean counts as 0 */
    uint32_t
        narrow_weights; /* 1: 8-bit weights; set by cnnvp_words_choose. Weights of a product are words of in2 instead */
    uint32_t adds;      /* norm: 1: all scales are 1, whatever the offsets */
    float uniform;      /* norm: all scales are this number and all offsets 0; 0: they are not, or unknown */
    float epsilon;      /* norm with statistics of the data, or in training */
    /* Training only: parameters of a batch norm, which the ordinary import folds into weights and bias. */
    float *mean, *variance;
    struct cnnvp_graph_origin origins[CNNVP_GRAPH_ROLES];
    float inverse_max, scale_max, offset_max; /* norm: largest 1 / sigma, scale and offset in the float pass */
    int32_t scale_frac, offset_frac, inverse_frac;
    /* activation: 1: a copy to the output from this position on; other layers write the rest, or it is 0. */
    uint32_t placed;
    uint32_t place_row, place_column;
    uint32_t lowest;  /* placed: 1: the rest is the lowest number, not 0; only a maximum pool can read that */
    uint32_t cropped; /* activation: 1: a copy of the part of the input that begins at this position */
    uint32_t crop_row, crop_column, crop_height, crop_width;
    uint32_t permuted; /* activation, softmax over AXIS_LAST: 1: output dimension i (channels, rows, columns) is input
                          dimension from[i] */
    uint32_t from[3];
    uint32_t concat;   /* activation: 1: part of a concatenation; its output is a view of the result */
    uint32_t has_bias; /* conv, fc */
    uint32_t constant; /* fc: 1: its weights are 0, so that its results are its biases */
    /* conv [out][in of the group][ky][kx]; fc [out][in]; norm: scales. NULL in timing-only runs. */
    float *weights;
    float *bias;      /* conv, fc: per output; norm: offsets */
    int32_t bias_to;  /* 1: a bias between two words becomes the upper one, -1: the lower one, 0: the nearest one */
    uint32_t nearest; /* 1: results are rounded to nearest, whatever the rounding of the network is */
    struct cnnvp_graph_steps steps;
    /* activation with steps: from a number q - zero of `least` .. `least` + 255 to the quantised function of q's value:
     * the first post is the function, the others are limits. */
    int32_t least;
    uint32_t scaled; /* set by the plan: 1: the write-out scales, so the weights of each output have their own step */
    uint32_t post_count;
    struct cnnvp_graph_post posts[CNNVP_GRAPH_POSTS];
    float pre_max_abs; /* largest magnitude of the results before the posts */
    int32_t pre_frac;  /* their format */
    int32_t dropped;   /* a layer that converts: fraction bits that it leaves out */
    int32_t weight_frac;
    int32_t bias_shift;
    uint32_t block_height; /* depth first: its input is padded in blocks of this many rows and columns; 0: it is not */
    uint32_t block_width;
    int32_t chained; /* depth first: the layer that runs next on the same block, or CNNVP_GRAPH_NONE */
};

/* An output of the network. Several may be the same tensor or parts of one, and layers may read them. */
struct cnnvp_graph_output {
    const char *name; /* of the ONNX value */
    int32_t tensor;
};

struct cnnvp_graph {
    struct cnnvp_arena arena;
    const char *file;   /* for messages */
    uint64_t file_hash; /* xxh3, without the data of tensors of more than 4096 bytes: timing-only runs have the same
                           hash and never read weights */
    struct cnnvp_graph_tensor *tensors;
    size_t tensor_count;
    struct cnnvp_graph_layer *layers;
    size_t layer_count;
    int32_t input;
    int32_t *further; /* the other inputs */
    size_t further_count;
    struct cnnvp_graph_output *outputs; /* at least one, in the file's order */
    size_t output_count;
    int joins_steps; /* 1: additions of quantised tensors scale and quantise by themselves (cnnvp_graph_simplify) */
    int weightless;  /* 1: timing-only: no weights were read */
    uint32_t single; /* 1: the whole input is one image: arrays have no batch dimension, or one more dimension */
};

/* Add a tensor or a layer; members without a parameter here are 0. CNNVP_GRAPH_NONE or NULL: out of memory. Pointers to
 * tensors and layers are valid until the next one is added. */
int32_t cnnvp_graph_tensor_add(struct cnnvp_graph *graph, const char *name, uint32_t rank, uint32_t channels,
                               uint32_t height, uint32_t width);
struct cnnvp_graph_layer *cnnvp_graph_layer_add(struct cnnvp_graph *graph, enum cnnvp_layer_op op, const char *name,
                                                const char *op_type);
void cnnvp_graph_clear(struct cnnvp_graph *graph);

/* The tensor that has the memory: the tensor itself, or the one that it is a view of. */
int32_t cnnvp_graph_base(const struct cnnvp_graph *graph, int32_t tensor);
/* The tensor whose format the tensor has. */
int32_t cnnvp_graph_format_base(const struct cnnvp_graph *graph, int32_t tensor);
/* Fraction bits of the word at this channel, row and column. */
int32_t cnnvp_graph_frac(const struct cnnvp_graph_tensor *tensor, uint32_t c, uint32_t y, uint32_t x);

/* 1: the layer reads the base tensor or a view of it. */
static inline int cnnvp_graph_reads(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                                    int32_t base)
{
    return cnnvp_graph_base(graph, layer->in) == base || cnnvp_graph_base(graph, layer->in2) == base;
}

static inline uint32_t cnnvp_graph_word_bytes(const struct cnnvp_graph *graph, int32_t tensor)
{
    return graph->tensors[cnnvp_graph_base(graph, tensor)].narrow != 0 ? 1u : 2u;
}
static inline int32_t cnnvp_graph_word_zero(const struct cnnvp_graph *graph, int32_t tensor)
{
    return graph->tensors[cnnvp_graph_base(graph, tensor)].word_zero;
}
size_t cnnvp_graph_words(const struct cnnvp_graph_tensor *tensor);
/* The inputs of the network, counted from 0 in the file's order: their number; one of them; whether the tensor has the
 * memory of one; the words of all inputs before number `input` of one image (for all inputs, pass their number). */
size_t cnnvp_graph_inputs(const struct cnnvp_graph *graph);
int32_t cnnvp_graph_input(const struct cnnvp_graph *graph, size_t input);
int cnnvp_graph_is_input(const struct cnnvp_graph *graph, int32_t tensor);
size_t cnnvp_graph_input_words(const struct cnnvp_graph *graph, size_t input);
/* 1: the tensor shares memory with an output of the network. */
int cnnvp_graph_is_output(const struct cnnvp_graph *graph, int32_t tensor);
/* How many operands of layers and outputs of the network are the tensor or share its memory. */
size_t cnnvp_graph_readers(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: a product takes the tensor, or part of it, as its weights. */
int cnnvp_graph_is_weights(const struct cnnvp_graph *graph, int32_t tensor);
/* Words of all outputs before number `output` of one image (for all outputs, pass output_count). */
size_t cnnvp_graph_output_words(const struct cnnvp_graph *graph, size_t output);
/* The dimensions of one image of the tensor in ONNX. Returns how many there are. */
#define CNNVP_GRAPH_RANK 8u
size_t cnnvp_graph_dims(const struct cnnvp_graph_tensor *tensor, size_t dims[CNNVP_GRAPH_RANK]);
/* Words from the start of the base tensor to the start of this one. */
size_t cnnvp_graph_offset(const struct cnnvp_graph *graph, int32_t tensor);
/* Multiply-accumulates of one image; 0 for layers without multiplication by weights. */
uint64_t cnnvp_graph_macs(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* The layer's operation as statistics name it: conv, fc, pool, activation, norm, add, concat, matmul, softmax. */
const char *cnnvp_graph_op_name(const struct cnnvp_graph_layer *layer);
/* 1: a write-out can scale the layer's sums. Either it multiplies whole numbers whose steps are known: then results
 * that are whole numbers are onnxruntime's. Or it has weights and neither its input nor its output are whole numbers:
 * then formats.c chooses a step for each output. */
int cnnvp_graph_is_scaled(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* The factor by which such a layer scales its sums of whole numbers, rounded as onnxruntime rounds it. */
float cnnvp_graph_multiplier(const struct cnnvp_graph_layer *layer, size_t output);
/* The step of such a layer's weights: `weights` of the layer divided by it are the whole numbers. */
float cnnvp_graph_weight_step(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, size_t output);
/* 1: an activation of quantised numbers, with quantised results. */
static inline int cnnvp_graph_is_quantised_function(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->steps.out > 0.0f;
}
/* The first layer that makes the tensor, its base or a view of that base; -1: none. */
ptrdiff_t cnnvp_graph_producer(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: the layer copies words, or takes the largest of several: input and output have the same format, unless it
 * converts. */
int cnnvp_graph_moves(const struct cnnvp_graph_layer *layer);
/* 1: the layer copies words and does nothing else, so that it can give them fewer fraction bits. */
int cnnvp_graph_converts(const struct cnnvp_graph_layer *layer);
/* 1: the posts leave all values as they are. */
int cnnvp_graph_passes(const struct cnnvp_graph_layer *layer);
/* 1: the layer compares its input, or maxima of it, with infinity. */
int cnnvp_graph_asks_infinity(const struct cnnvp_graph_layer *layer);
/* 1: posts of this kind are computed by a table. */
int cnnvp_graph_is_table(enum cnnvp_graph_post_kind kind);
/* 1: one of the layer's posts is a table. */
int cnnvp_graph_has_table(const struct cnnvp_graph_layer *layer);
/* 1: a layer takes statistics of all images of a batch. */
int cnnvp_graph_mixes_images(const struct cnnvp_graph *graph);
/* Adds a view of channels [first, first + count) with the same name. CNNVP_GRAPH_NONE: out of memory. */
int32_t cnnvp_graph_channel_view(struct cnnvp_graph *graph, int32_t tensor, uint32_t first, uint32_t count);
/* Copies `whole` and the zero points from another tensor. */
void cnnvp_graph_set_whole(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *like);
/* 1: the tensor's format is that of softmax or of whole numbers, so it does not depend on its values. */
int cnnvp_graph_has_fixed_format(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: a sum, difference, maximum or minimum: the operands are shifted to the same fraction point. */
int cnnvp_graph_aligns_operands(const struct cnnvp_graph_layer *layer);

/*
 * Simplifies the graph. It folds normalisations and biases into the convolution, fully connected layer or normalisation
 * before, activations into the layer before, and scales of quantised tensors into the layers around (into additions
 * only with joins_steps). It drops layers whose results are not used, and splits grouped convolutions that are not
 * depthwise. Layers write their part of a concatenation to its place if possible. A padding becomes part of the layer
 * that reads it. A tensor is copied if one reader needs a zero border around it and another one needs its words without
 * gaps.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_simplify(struct cnnvp_graph *graph, struct cnnvp_error *error);

/* Called after that: removes a QuantizeLinear that is the only reader of an input; the input is then quantised. */
void cnnvp_graph_quantise_inputs(struct cnnvp_graph *graph);
/* Converts a number of the user's to one of the input tensor. */
float cnnvp_graph_input_number(const struct cnnvp_graph_tensor *input, float number);

/* Word number of position (c, y, x) in an operand; dimensions of size 1 are broadcast. */
size_t cnnvp_graph_spread(const struct cnnvp_graph_tensor *tensor, size_t c, size_t y, size_t x);
/* Number of words of a line along the layer's axis, and the distance between them. */
void cnnvp_graph_line(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in, size_t *count,
                      size_t *step);
