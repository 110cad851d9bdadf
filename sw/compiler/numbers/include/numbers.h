/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a graph: the float reference model, the number formats chosen from it, and function tables. */
#pragma once

#include "float_kernels.h"
#include "graph.h"
#include "parallel.h"

/* ---- floatref.c ---- */

/*
 * Runs a graph in float32, image by image: to choose number formats, as the reference for the platform's results, and
 * for --dump. Sums have a fixed order without fused multiply-adds, and the exponential function is this library's own,
 * so results are the same on every host.
 */

/* Floats after the end of an input that may be read. */
#define CNNVP_FLOAT_SLACK CNNVP_FLOAT_POSITIONS

/* Working memory for the largest convolution of a graph. */
struct cnnvp_float_scratch {
    float *planes;
    uint32_t *offsets;
    struct cnnvp_pool *pool; /* the caller's threads for the work; NULL: none */
};

/* Largest magnitudes of a normalisation with statistics of the data. */
struct cnnvp_norm_max {
    float inverse; /* 1 / sigma */
    float scale;
    float offset;
};

struct cnnvp_floatref {
    const struct cnnvp_graph *graph;
    int ordinary;   /* 1: depth-first chains are padded at the edges of maps, as if they ran layer by layer */
    float *block;   /* room for a block's input and output */
    size_t images;  /* most images of a batch */
    float **maps;   /* tensors of all images, image by image */
    float **data;   /* one image's part of `maps`: one for each tensor; views point into their base */
    float *pre_max; /* of each layer: largest magnitude before the posts in the batch */
    struct cnnvp_norm_max *norm_max; /* of each layer, over all images so far */
    const struct cnnvp_float_kernels *kernels;
    struct cnnvp_float_scratch scratch;
    int (*stopped)(void); /* called before each layer: not 0: skip the remaining layers; NULL: never */
    void (*begins)(void *context, size_t layer); /* called before each layer; NULL: never */
    void *context;
};

/* Prepares runs of batches of up to `images`; more than 1 is needed if cnnvp_graph_mixes_images. */
CNNVP_MUST_USE cnnvp_result cnnvp_floatref_new_batch(const struct cnnvp_graph *graph, size_t images,
                                                     struct cnnvp_floatref *run, struct cnnvp_error *error);
void cnnvp_floatref_clear(struct cnnvp_floatref *run);

/* Runs a batch of at most run->images layer by layer. `inputs` has the inputs of all images in sequence. Afterwards
 * run->data has the tensors of the last image. */
void cnnvp_floatref_images(struct cnnvp_floatref *run, size_t count, const float *inputs);
/* The largest magnitude in run->data that counts for the format of an operand of this layer, the first or the second
 * one, that is `scores`. Numbers far below the largest of a softmax layer's line, such as those of masks, count as a
 * limit below it: softmax makes all of them 0. Layers before it have to give no more than that limit, the largest
 * magnitude of their result. */
float cnnvp_floatref_scores(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, int second);
/* Copies words from a layer's input to their places in its output, as an activation does before its posts. */
void cnnvp_floatref_copy(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, const float *in,
                         float *out);
/* Makes run->data the tensors of this image of the batch. */
void cnnvp_floatref_use(struct cnnvp_floatref *run, size_t image);

/* ---- equalise.c ---- */

/* Gives tensors a channel_max for the float pass to fill. */
CNNVP_MUST_USE cnnvp_result cnnvp_equalise_watch(struct cnnvp_graph *graph, struct cnnvp_error *error);
/* After the float pass: scales channels to similar sizes if they differ much. *changed: 1: magnitudes that the float
 * pass found are invalid; its outputs are still right, bit by bit. */
CNNVP_MUST_USE cnnvp_result cnnvp_equalise(struct cnnvp_graph *graph, int *changed, struct cnnvp_error *error);

/* ---- words.c ---- */

/* Chooses 8-bit or 16-bit words for tensors and weights, before layers are planned. With `narrow` they have 8 bits,
 * except numbers of a quantised file that do not fit and floats that need more precision (words.c). Parameters of
 * normalisations, biases and tables always have 16. */
struct cnnvp_words_options {
    int narrow; /* 1: 8 bits where possible; 0: all words have 16 bits */
    int scales; /* 1: the array's write-out scales; otherwise a quantised file's weights have 16 bits */
    int zeros;  /* 1: the write-out takes zero points of words; otherwise q - zero point, up to 9 bits, must fit */
    int only;   /* 1: the array has 8-bit words only: the vector unit runs layers with 16-bit weights */
};
void cnnvp_words_choose(struct cnnvp_graph *graph, const struct cnnvp_words_options *options);
/* After the plan has set `scaled`: gives maps of 8-bit words that are never negative, that a scaled product makes and
 * only scaled products and maximum pools read, the zero point -128, and so one bit more. */
void cnnvp_words_shift(struct cnnvp_graph *graph);
/* 1: the inputs of all convolutions and fully connected layers are whole numbers of a quantised file. */
int cnnvp_words_are_quantised(const struct cnnvp_graph *graph);

/* ---- formats.c ---- */

/*
 * Number formats: two's complement of 16 bits or of 8 (words.c), value = word * 2^-frac, one frac a tensor, or one for
 * each part of what is joined (parts.h).
 *
 * - A tensor has the largest frac at which every value of the calibration fits with an eighth to spare, after the
 *   layer's maximum and minimum posts: on the calibration images nothing saturates but what the posts cut off. With
 *   8-bit words 85 % of the largest value has to fit: one more bit is worth more than the few values that saturate.
 *   With a zero point, words hold larger values (cnnvp_words_shift).
 *   Untrained networks have values that shrink from layer to layer, so frac goes up to 60, and up to 24 for the
 *   inputs of softmax and statistics.
 * - If the calibration saw only zeros, the range is unknown: 8 fraction bits, 0 for 8-bit words.
 * - Maximum pooling and activations without tables keep the format of their input. Each operand of an addition has up
 *   to 40 fraction bits more than the other one. Softmax's results have all bits but the sign as fraction bits; with
 *   8-bit words they have more if the largest result of the calibration leaves room. Layers that keep the format of
 *   their input do so here, too.
 * - Normalisation with statistics of the data: 1 / sigma, scales and offsets have formats of their own.
 * - Weights have one frac for a layer: the largest at which they fit and the largest sum fits the accumulator. If the
 *   array's write-out scales a convolution or fully connected layer, the weights of each output have their own step.
 * - Biases are 16-bit words with a left shift of their own, the smallest (from 0) at which they fit.
 */

#define CNNVP_FRAC_MIN (-16)
#define CNNVP_FRAC_MAX 60
#define CNNVP_FRAC_UNKNOWN 8

/* Largest frac in CNNVP_FRAC_MIN..MAX at which `largest` fits words of 1 or 2 bytes: largest * margin <= 127 * 2^-frac,
 * or 32767. */
int32_t cnnvp_frac_for(float largest, double margin, uint32_t word_bytes);

/* Nearest word (ties to even), saturated; NaN becomes 0. */
int16_t cnnvp_quantise(float value, int32_t frac);
/* Writes such words of 1 or 2 bytes to `at`. Words of 1 byte have the zero point `zero`. */
void cnnvp_quantise_to(const float *values, size_t count, int32_t frac, int32_t zero, uint32_t word_bytes, uint8_t *at);
float cnnvp_dequantise(int16_t word, int32_t frac);

/* Sets the formats of tensors and layers from max_abs and pre_max_abs. If memory runs out, graph->arena.failed is
 * set. */
void cnnvp_formats_choose(struct cnnvp_graph *graph, uint32_t acc_bits);

/* epsilon in units of 2^(-2 frac), as vvar takes it. */
uint32_t cnnvp_formats_epsilon(float epsilon, int32_t frac);

/* Limits a right shift at write-out to what units take: -48 to 63. */
int32_t cnnvp_formats_shift(int32_t shift);

/* Right shift at write-out and left shift of the second addend, or, if it is negative, of the first one, for descriptor
 * register `format`. */
void cnnvp_formats_shifts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t *shift,
                          int32_t *bias_shift);

/* ---- table.c: piecewise-linear tables of post-operations, as vact reads them ---- */

/* The function of a post with a table, in double. */
double cnnvp_post_function(const struct cnnvp_graph_post *post, double x);

/* Words of the post's table; the number does not depend on formats. */
uint32_t cnnvp_post_table_words(const struct cnnvp_graph_post *post);
/* The result of a layer that cnnvp_graph_is_quantised_function for this number, rounded and limited; and its table, a
 * piece for each number that its input can have, for words with these zero points. */
float cnnvp_quantised_function(const struct cnnvp_graph_layer *layer, float number);
void cnnvp_quantised_table(const struct cnnvp_graph_layer *layer, int32_t in_zero, int32_t out_zero, int16_t *words);

/* Formats have an eighth to spare for images that are not in the calibration. */
#define CNNVP_FORMAT_MARGIN 1.125

/* Fills the table's words for x with in_frac fraction bits and magnitudes up to `largest` (0: all were 0), and for
 * results with out_frac fraction bits. *format: vact's descriptor register `format`. */
CNNVP_MUST_USE cnnvp_result cnnvp_post_table(const struct cnnvp_graph_post *post, float largest, int32_t in_frac,
                                             int32_t out_frac, uint32_t rounding, int16_t *words, uint32_t *format,
                                             struct cnnvp_error *error);
