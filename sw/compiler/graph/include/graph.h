/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's own form of a network: layers in the order of execution, tensors of one image between them. Made by
 * onnx_import.c, simplified by graph.c, executed in float by floatref.c, given number formats by formats.c, tiles by
 * plan.c and addresses by binary.c.
 */
#ifndef CNNVP_COMPILER_GRAPH_H
#define CNNVP_COMPILER_GRAPH_H

#include "compiler.h"
#include "binary/layer_kinds.h"

/* Posts a layer may have before they are turned into the binary's. */
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

struct cnnvp_graph_post {
    enum cnnvp_graph_post_kind kind;
    float value;
};

/* Parameters of a layer that learns. */
enum cnnvp_graph_role {
    CNNVP_GRAPH_WEIGHTS = 0, /* normalisation: gamma */
    CNNVP_GRAPH_BIAS = 1,    /* normalisation: beta */
    CNNVP_GRAPH_MEAN = 2,
    CNNVP_GRAPH_VARIANCE = 3,
    CNNVP_GRAPH_ROLES = 4
};

/* Where the file has a parameter (onnx.h): input `input` of node number `node` - 1; node 0: nowhere. */
struct cnnvp_graph_origin {
    uint32_t node;
    uint32_t input;
    uint32_t rank;
    int64_t dims[4];
    int absent; /* 1: the file has no values */
};

struct cnnvp_graph_tensor {
    const char *name;    /* of the ONNX value */
    uint32_t rank;       /* of the ONNX value, batch included: 4 (N, C, H, W), 3 (N, C, W), 2 (N, C) or 1 (N) */
    const int64_t *dims; /* all where they are more than 4; while a file is read also as Expand has them */
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    int32_t base;          /* a view of that tensor's words in the same order, or CNNVP_GRAPH_NONE */
    uint32_t base_channel; /* view of part of the channels: the first */
    uint32_t channel_step; /* then the next, this many channels on; 0 and 1: one after the other */
    uint32_t whole;        /* quantised: its values are whole numbers q - zero, which are its words (base tensors) */
    int32_t zero;
    int32_t word_zero; /* which of its words of 8 bits stands for 0; after cnnvp_words_choose 0 where they have 16 */
    /* A network's input: numbers of the user's become these, divided by `step` (0: they are these) and rounded. */
    float step, low, high;
    uint32_t narrow;  /* its words have 8 bits, not 16, after cnnvp_words_choose (base tensors) */
    uint32_t readers; /* words.c: what is done with its words (base tensors) */
    uint32_t scores;  /* only softmax reads it, for which numbers far below a line's largest are all alike */
    /* From the float pass and formats.c. Views have their base's format. */
    float max_abs;
    float *channel_max; /* of each channel, where equalise.c asks for it (base tensors) */
    int32_t frac;
    const int32_t *powers; /* each channel's values are 2^power times those of the ONNX value; NULL: all are those */
};

/* What one stands for in whole numbers: of those that a layer reads and gives (0: unknown, as of others), of the
 * weights of each output; the bias, in units of both. A norm that quantises has its result's, one that does the
 * opposite its input's. */
struct cnnvp_graph_steps {
    float in, out;
    float in2;               /* of the second operand of an addition that scales both; 0: it scales none */
    int32_t centre;          /* then added before its quotient is rounded, and taken off after */
    const float *weights;    /* NULL: unknown */
    size_t weight_count;     /* 1: all have the same */
    int narrow;              /* weights have 8 bits, whatever they are */
    const int64_t *bias;     /* NULL: none, or the graph is weightless */
    const float *bias_steps; /* if it has its own, which should be those of input and weights together */
    size_t bias_count;
};

struct cnnvp_graph_layer {
    enum cnnvp_layer_op op;
    const char *name;    /* of the ONNX node, or what stands for it */
    const char *op_type; /* of the ONNX node, for messages */
    int32_t in;
    int32_t in2; /* add; conv with `product` */
    int32_t out;
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t pad_top, pad_left, pad_bottom, pad_right;
    uint32_t groups;    /* conv */
    uint32_t depthwise; /* conv: groups == input channels == output channels */
    uint32_t product; /* conv, 1x1: its weights are the words of in2, [out][in of the group], which nobody else reads */
    enum cnnvp_layer_pool_kind pool;
    uint32_t by_position; /* average: the divisor counts the taps within these rows and columns (layer.h) */
    int32_t count_top, count_bottom, count_left, count_right;
    enum cnnvp_layer_arithmetic arithmetic; /* add */
    enum cnnvp_layer_axis axis;             /* softmax */
    enum cnnvp_layer_norm_kind norm;
    uint32_t
        narrow_weights; /* they have 8 bits, not 16, after cnnvp_words_choose; those of a product are in2's words */
    float uniform;      /* norm: all scales are this number and all offsets 0; 0: they are not, or unknown */
    uint32_t gates;     /* norm: its input times its result is hard swish */
    float epsilon;      /* norm with statistics of the data, or when training */
    /* Import for training only: a batch norm's own parameters, which the ordinary import folds into weights and
     * bias. */
    float *mean, *variance;
    struct cnnvp_graph_origin origins[CNNVP_GRAPH_ROLES];
    float inverse_max, scale_max, offset_max; /* its 1 / sigma, scales, offsets as the float pass saw them */
    int32_t scale_frac, offset_frac, inverse_frac;
    /* activation: a copy that lies in the output from this position on, the rest of which is other layers' or zeros. */
    uint32_t placed;
    uint32_t place_row, place_column;
    uint32_t lowest;  /* placed: the rest is the lowest number, not zeros; only a maximum pool can read that */
    uint32_t cropped; /* activation: a copy of the part of the input that begins at this position */
    uint32_t crop_row, crop_column, crop_height, crop_width;
    uint32_t permuted; /* activation: 1: output dimension i (channels, rows, columns) is input dimension from[i] */
    uint32_t from[3];
    uint32_t concat;   /* activation: part of a concatenation; its output is a view of the result */
    uint32_t has_bias; /* conv, fc */
    /* conv [out][in of the group][ky][kx], fc [out][in], norm: scales. NULL in timing-only. */
    float *weights;
    float *bias; /* conv, fc: per output; norm: offsets */
    struct cnnvp_graph_steps steps;
    uint32_t scaled; /* once it is planned: the write-out scales, so that each output's weights have a step */
    uint32_t post_count;
    struct cnnvp_graph_post posts[CNNVP_GRAPH_POSTS];
    float pre_max_abs; /* largest value that is written before the posts */
    int32_t pre_frac;  /* format of what enters the posts */
    int32_t weight_frac;
    int32_t bias_shift;
    uint32_t block_height; /* depth first: what it reads is padded by blocks of this many rows and columns; 0: not */
    uint32_t block_width;
    int32_t chained; /* depth first: the layer that runs next on the same block, or CNNVP_GRAPH_NONE */
};

/* What the network gives; several may be one tensor, or parts of one, and layers may read it. */
struct cnnvp_graph_output {
    const char *name; /* of the ONNX value */
    int32_t tensor;
};

struct cnnvp_graph {
    struct cnnvp_arena arena;
    const char *file;   /* for messages */
    uint64_t file_hash; /* xxh3; without the data of tensors with more than 4096 bytes of it, so that a run that only
                           wants times never touches weights and yet says the same */
    struct cnnvp_graph_tensor *tensors;
    size_t tensor_count;
    struct cnnvp_graph_layer *layers;
    size_t layer_count;
    int32_t input;
    int32_t *further; /* inputs after that one */
    size_t further_count;
    struct cnnvp_graph_output *outputs; /* at least one, in the file's order */
    size_t output_count;
    int joins_steps; /* additions of quantised tensors scale them, and quantise (cnnvp_graph_simplify) */
    int weightless;  /* timing-only: no weights were read */
    uint32_t single; /* the whole input is one image: arrays have no batch in front, or one more dimension */
};

/* Adds one, zeroed but for what is said here; CNNVP_GRAPH_NONE / NULL: no memory. Pointers to tensors and layers are
 * valid until the next one is added. */
int32_t cnnvp_graph_tensor_add(struct cnnvp_graph *graph, const char *name, uint32_t rank, uint32_t channels,
                               uint32_t height, uint32_t width);
struct cnnvp_graph_layer *cnnvp_graph_layer_add(struct cnnvp_graph *graph, enum cnnvp_layer_op op, const char *name,
                                                const char *op_type);
void cnnvp_graph_clear(struct cnnvp_graph *graph);

/* The tensor whose memory it is: itself, or what it is a view of. */
int32_t cnnvp_graph_base(const struct cnnvp_graph *graph, int32_t tensor);

/* 1: the layer reads some of what a base holds. */
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
/* A network's inputs, counted from 0 in the file's order: how many, one of them, whether the tensor has the memory of
 * one, and the words of all before this one, of one image; of all inputs with their number. */
size_t cnnvp_graph_inputs(const struct cnnvp_graph *graph);
int32_t cnnvp_graph_input(const struct cnnvp_graph *graph, size_t input);
int cnnvp_graph_is_input(const struct cnnvp_graph *graph, int32_t tensor);
size_t cnnvp_graph_input_words(const struct cnnvp_graph *graph, size_t input);
/* 1: an output of the network is the tensor, or has part of its memory. */
int cnnvp_graph_is_output(const struct cnnvp_graph *graph, int32_t tensor);
/* How often layers (and the network's outputs) read the tensor or a view of it. */
size_t cnnvp_graph_readers(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: a product takes the tensor as its weights, or part of it. */
int cnnvp_graph_is_weights(const struct cnnvp_graph *graph, int32_t tensor);
/* Of all outputs before this one, of one image; of output_count: of all. */
size_t cnnvp_graph_output_words(const struct cnnvp_graph *graph, size_t output);
/* Dimensions of one image of it, as ONNX has them. Returns how many. */
#define CNNVP_GRAPH_RANK 8u
size_t cnnvp_graph_dims(const struct cnnvp_graph_tensor *tensor, size_t dims[CNNVP_GRAPH_RANK]);
/* Words from the start of the base tensor to the start of this one. */
size_t cnnvp_graph_offset(const struct cnnvp_graph *graph, int32_t tensor);
/* Multiply-accumulates of one image; 0 for layers without multiplication by weights. */
uint64_t cnnvp_graph_macs(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* conv, fc, pool, activation, norm, add, concat, softmax: the word that statistics use. */
const char *cnnvp_graph_op_name(const struct cnnvp_graph_layer *layer);
/* 1: it multiplies whole numbers whose steps are known: a write-out that scales gives what onnxruntime has, or numbers
 * where the result is not whole. Or it has weights and reads and gives no whole numbers: formats.c chooses a step for
 * each output. */
int cnnvp_graph_is_scaled(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* By what its sums of whole numbers are multiplied then, rounded as onnxruntime rounds it. */
float cnnvp_graph_multiplier(const struct cnnvp_graph_layer *layer, size_t output);
/* What one stands for in its weights' whole numbers then, as the graph has weights. */
float cnnvp_graph_weight_step(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, size_t output);
/* 1: it copies words, or takes the largest, without changing their meaning: they have one format. */
int cnnvp_graph_moves(const struct cnnvp_graph_layer *layer);
/* 1: its posts leave all values as they are. */
int cnnvp_graph_passes(const struct cnnvp_graph_layer *layer);
int cnnvp_graph_is_table(enum cnnvp_graph_post_kind kind);
/* 1: one of its posts is a table. */
int cnnvp_graph_has_table(const struct cnnvp_graph_layer *layer);
/* 1: a layer takes statistics of all images of a batch. */
int cnnvp_graph_mixes_images(const struct cnnvp_graph *graph);
/* A view of channels [first, first + count), under the same name; CNNVP_GRAPH_NONE: no memory. */
int32_t cnnvp_graph_channel_view(struct cnnvp_graph *graph, int32_t tensor, uint32_t first, uint32_t count);
/* The tensor's words are whole numbers as the other's, or not. */
void cnnvp_graph_set_whole(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *like);
/* 1: the tensor's format is softmax's or that of whole numbers, which does not follow from its values. */
int cnnvp_graph_has_fixed_format(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: sums, differences, maxima: the operands' fraction points are brought together. */
int cnnvp_graph_aligns_operands(const struct cnnvp_graph_layer *layer);

/*
 * Simplifies: folds normalisations and biases into the convolution or fully connected layer before, activations into
 * the layer before, the scales of quantised tensors into the layers around (those of additions only with joins_steps);
 * drops layers whose results are not used; splits grouped convolutions that are not depthwise into one layer a group;
 * puts what is concatenated into its place in the result where nothing stands against it; makes a padding part of the
 * layer that reads it; copies a tensor where one reader needs a zero border around it and another its words without
 * gaps.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_simplify(struct cnnvp_graph *graph, struct cnnvp_error *error);

/* After that: inputs which only a QuantizeLinear reads become what it gives. */
void cnnvp_graph_quantise_inputs(struct cnnvp_graph *graph);
/* What a number of the user's is as one of the input's. */
float cnnvp_graph_input_number(const struct cnnvp_graph_tensor *input, float number);

/* Word of an operand whose dimensions of 1 count for all positions. */
size_t cnnvp_graph_spread(const struct cnnvp_graph_tensor *tensor, size_t c, size_t y, size_t x);
/* Words of a line along the layer's axis, and the step from each to the next. */
void cnnvp_graph_line(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in, size_t *count,
                      size_t *step);

#endif
