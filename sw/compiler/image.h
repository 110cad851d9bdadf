/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph with formats to the image in memory (network_image.h): tensors and blobs get their places, weights their
 * words. */
#ifndef CNNVP_COMPILER_IMAGE_H
#define CNNVP_COMPILER_IMAGE_H

#include "graph.h"
#include "target.h"

struct cnnvp_image_options {
    uint32_t rounding; /* enum cnnvp_round_mode */
    uint32_t seed;     /* of stochastic rounding */
    uint32_t images;
    int on_chip;
    uint32_t block;  /* depth first: side of a block; 0: layer by layer */
    int order_table; /* depth first: blocks come in the order of a table instead of by counting */
    const struct cnnvp_image_layer *planned; /* by an earlier build of the graph for the target; NULL: there was none */
};

struct cnnvp_depth;

struct cnnvp_build {
    struct cnnvp_image header;
    struct cnnvp_image_layer *layers;   /* one for each of the graph's */
    struct cnnvp_image_tensor *tensors; /* one for each of the graph's */
    struct cnnvp_image_blob *blobs;
    size_t blob_capacity;
    int16_t **tables;                   /* of each layer, NULL if it has none */
    size_t table_bytes;                 /* header and tables */
    size_t byte_count;                  /* of the image at CNNVP_IMAGE_ADDRESS; weightless: table_bytes */
    uint64_t end;                       /* address behind everything */
    struct cnnvp_depth *depth;          /* depth.h; NULL: layer by layer */
    struct cnnvp_plan_finalists *finalists; /* of each layer outside of chains; NULL: planned before, or kept on chip */
};

CNNVP_MUST_USE cnnvp_result cnnvp_image_build(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                              const struct cnnvp_image_options *options, struct cnnvp_build *build,
                                              struct cnnvp_error *error);
void cnnvp_image_clear(struct cnnvp_build *build, size_t layers);
/* Writes all byte_count bytes of the image. */
void cnnvp_image_write(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *to);

/* Bytes of a tensor with its frame, and the byte from the frame's start to the first interior word. */
uint64_t cnnvp_image_frame_bytes(const struct cnnvp_image_tensor *tensor);
uint64_t cnnvp_image_frame_lead(const struct cnnvp_image_tensor *tensor);

/* ---- between image.c and its parts ---- */

/* Of tables, blobs and tensors in memory and of slots on chip, bytes. */
#define CNNVP_IMAGE_ALIGNMENT 64u

static inline uint64_t cnnvp_image_align(uint64_t bytes)
{
    return (bytes + CNNVP_IMAGE_ALIGNMENT - 1u) / CNNVP_IMAGE_ALIGNMENT * CNNVP_IMAGE_ALIGNMENT;
}

/* image_place.c: shapes, borders and strides of all tensors (addresses relative to nothing yet). */
void cnnvp_image_shape_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* image_place.c: addresses of all tensors from build->end on, and build->end behind them. */
cnnvp_result cnnvp_image_place_tensors(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                       uint32_t images, struct cnnvp_build *build, struct cnnvp_error *error);
/* image_chip.c: places in the input buffer and the weight buffer for CNNVP_IMAGE_ON_CHIP. */
cnnvp_result cnnvp_image_place_on_chip(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                       struct cnnvp_build *build, struct cnnvp_error *error);
/* image_blob.c: the words of a layer's blobs, in the order of the blob table, and zeros up to the next one. */
void cnnvp_image_fill_blobs(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer,
                            uint8_t *image);
/* image_blob.c: bytes of the layer's blobs in that order; calls the function for each. */
cnnvp_result cnnvp_image_each_blob(const struct cnnvp_image_layer *layer,
                                   cnnvp_result (*function)(void *context, uint64_t bytes), void *context);

#endif
