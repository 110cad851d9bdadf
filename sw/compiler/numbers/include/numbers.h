/* SPDX-License-Identifier: Apache-2.0 */
/* What numbers a graph's tensors hold: the float model, the number formats that follow from it, tables of functions. */
#ifndef CNNVP_COMPILER_NUMBERS_H
#define CNNVP_COMPILER_NUMBERS_H

#include "float_kernels.h"
#include "graph.h"
#include "parallel.h"

/* ---- floatref.c ---- */

/*
 * Runs a graph in float32, image by image: for the choice of number formats, as the reference beside the platform's
 * results, and for --dump. Sums are formed in one fixed order without contraction and the exponential function is this
 * library's own, so the results are the same on every host.
 */

/* Floats that may be read after the input. */
#define CNNVP_FLOAT_SLACK CNNVP_FLOAT_POSITIONS

/* Working memory: what the largest convolution of a graph needs. 0: there is no memory for it. */
struct cnnvp_float_scratch {
    float *planes;
    uint32_t *offsets;
    struct cnnvp_pool *pool; /* whose threads help, or NULL; the caller's */
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
    size_t images;  /* of a batch at most */
    float **maps;   /* of all images, one after the other */
    float **data;   /* of one image, one for each tensor; views point into their base */
    float *pre_max; /* one for each layer: largest magnitude before the posts, of the batch */
    struct cnnvp_norm_max *norm_max; /* one for each layer, over all images so far */
    const struct cnnvp_float_kernels *kernels;
    struct cnnvp_float_scratch scratch;
    int (*stopped)(void); /* asked before each layer: not 0 leaves the rest of an image out; NULL: never */
    void (*begins)(void *context, size_t layer); /* called then; NULL: never */
    void *context;
};

/* For batches of up to `images`: where a layer takes statistics of all of them (cnnvp_graph_mixes_images). */
CNNVP_MUST_USE cnnvp_result cnnvp_floatref_new_batch(const struct cnnvp_graph *graph, size_t images,
                                                     struct cnnvp_floatref *run, struct cnnvp_error *error);
void cnnvp_floatref_clear(struct cnnvp_floatref *run);

/* Runs a batch of at most run->images, whose inputs follow one another, layer by layer. Afterwards run->data holds all
 * tensors of the last image. */
void cnnvp_floatref_images(struct cnnvp_floatref *run, size_t count, const float *inputs);
/* Of a softmax layer's numbers in run->data the largest magnitude that counts: below a line's largest by more than
 * softmax can tell, all are alike, such as those of masks. */
float cnnvp_floatref_scores(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer);
/* Afterwards: run->data holds the tensors of this image of the batch. */
void cnnvp_floatref_use(struct cnnvp_floatref *run, size_t image);

/* ---- equalise.c ---- */

/* Tensors get a channel_max, which the float pass is to fill. */
CNNVP_MUST_USE cnnvp_result cnnvp_equalise_watch(struct cnnvp_graph *graph, struct cnnvp_error *error);
/* Then: brings channels to like sizes where they differ much. *changed: what the float pass found of sizes is no longer
 * true; what it gave is, bit by bit. */
CNNVP_MUST_USE cnnvp_result cnnvp_equalise(struct cnnvp_graph *graph, int *changed, struct cnnvp_error *error);

/* ---- words.c ---- */

/* Gives tensors and weights words of 8 bits, or all of them 16: to be done before layers are planned. 8 bits have, but
 * for a quantised file's numbers that do not fit them, all of a network; the parameters of normalisations, biases and
 * tables keep 16. */
struct cnnvp_words_options {
    int narrow;
    int scales; /* the array's write-out does, without which a quantised file's weights are none of 8 bits */
    int zeros;  /* and takes zero points of words; without it numbers q - zero point, of up to 9 bits, must fit */
    int only;   /* the array has 8 bits alone: layers with other weights are the vector unit's */
};
void cnnvp_words_choose(struct cnnvp_graph *graph, const struct cnnvp_words_options *options);
/* 1: all products are of a quantised file's numbers, which 8 bits have as they are. */
int cnnvp_words_are_quantised(const struct cnnvp_graph *graph);

/* ---- formats.c ---- */

/*
 * Number formats: two's complement of 16 bits or of 8 (words.c), value = word * 2^-frac, one frac a tensor.
 *
 * - A tensor gets the largest frac at which every value of the calibration fits with an eighth to spare, after the
 *   layer's maximum and minimum posts: on the calibration images nothing saturates but what they cut off. Of 8 bits it
 *   is the one at which 85 % of the largest value fit: a bit is worth more than the few values that saturate. Networks
 *   that were never trained make their values smaller from layer to layer: up to 60 bits, 24 for softmax and
 *   statistics.
 * - Where the calibration saw only zeros there is no range to go by: 8 fraction bits.
 * - Maximum pooling and layers that only compare keep the format of their input. The second operand of an addition has
 *   no more fraction bits than the first, the first up to 40 more than the second. Softmax gives all bits but the sign
 *   as fraction bits, and of 8 bits as many more as the largest share of the calibration leaves room for; and so do
 *   layers that only compare its results.
 * - Normalisation with statistics of the data: 1 / sigma, the scales and the offsets have formats of their own.
 * - Weights: one frac a layer, the largest at which they fit, but so that the largest sum fits the accumulator. Where
 *   the array's write-out scales a convolution or fully connected layer, they have a step for each output.
 * - Biases: 16-bit words with a left shift of their own, the smallest (from 0) at which they fit.
 */

#define CNNVP_FRAC_MIN (-16)
#define CNNVP_FRAC_MAX 60
#define CNNVP_FRAC_UNKNOWN 8

/* Largest frac in CNNVP_FRAC_MIN..MAX at which `largest` fits words of 1 or 2 bytes: largest * margin <= 127 * 2^-frac,
 * or 32767. */
int32_t cnnvp_frac_for(float largest, double margin, uint32_t word_bytes);

/* Nearest word (ties to even), saturated; NaN becomes 0. */
int16_t cnnvp_quantise(float value, int32_t frac);
/* The same as words of 1 or 2 bytes at `at`; those of 1 have a zero point. */
void cnnvp_quantise_to(const float *values, size_t count, int32_t frac, int32_t zero, uint32_t word_bytes, uint8_t *at);
float cnnvp_dequantise(int16_t word, int32_t frac);

/* Fills the members for formats in tensors and layers from max_abs and pre_max_abs. Views get their base's. The graph's
 * arena says where there was no memory. */
void cnnvp_formats_choose(struct cnnvp_graph *graph, uint32_t acc_bits);

/* epsilon in units of 2^(-2 frac), as vvar takes it. */
uint32_t cnnvp_formats_epsilon(float epsilon, int32_t frac);

/* A right shift at write-out as units take it: -48 to 63. */
int32_t cnnvp_formats_shift(int32_t shift);

/* Right shift at write-out and left shift of the second addend, for descriptor register `format`. */
void cnnvp_formats_shifts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t *shift,
                          int32_t *bias_shift);

/* ---- table.c: piecewise-linear tables of post-operations, as vact reads them ---- */

/* The function that a post with a table stands for, in double. */
double cnnvp_post_function(const struct cnnvp_graph_post *post, double x);

/* Words of its table; they do not depend on formats. */
uint32_t cnnvp_post_table_words(const struct cnnvp_graph_post *post);

/* An eighth to spare: images that the calibration did not hold. */
#define CNNVP_FORMAT_MARGIN 1.125

/* Fills the words for x, up to `largest` (0: unknown), with in_frac fraction bits and results with out_frac; *format is
 * vact's descriptor register. */
CNNVP_MUST_USE cnnvp_result cnnvp_post_table(const struct cnnvp_graph_post *post, float largest, int32_t in_frac,
                                             int32_t out_frac, uint32_t rounding, int16_t *words, uint32_t *format,
                                             struct cnnvp_error *error);

#endif
