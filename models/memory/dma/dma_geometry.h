/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of one side of a transfer, with as few segments as its strides allow. Host-free. */
#pragma once

#include <stdint.h>

/* `planes` times `count` segments of `size` bytes. A contiguous tile is one plane of one segment. */
struct dma_shape {
    uint64_t address;
    uint64_t size;
    uint64_t count;
    uint64_t stride;
    uint64_t planes;
    uint64_t plane_stride;
};

/* One memory request: `count` segments of `size` bytes. */
struct dma_piece_shape {
    uint64_t address;
    uint64_t size;
    uint64_t count;
    uint64_t stride;
};

/* From rows and planes as in a descriptor, each at least 1, with strides below 2^32. */
struct dma_shape dma_shape_make(uint64_t address, uint64_t row_bytes, uint64_t rows, uint64_t row_stride,
                                uint64_t planes, uint64_t plane_stride);
/* Bytes from the first byte to the end of the last one. */
uint64_t dma_shape_span(const struct dma_shape *shape);
uint64_t dma_shape_bytes(const struct dma_shape *shape);
/* The longest request that begins at byte `position` of the packed data and has at most `limit` bytes: whole segments
 * if one fits. Returns its bytes. position < dma_shape_bytes, limit at least 1. */
uint64_t dma_shape_piece(const struct dma_shape *shape, uint64_t position, uint64_t limit,
                         struct dma_piece_shape *piece);
/* Number of bursts of a request: none crosses a multiple of `burst_bytes`, a power of two. A burst that ends a segment
 * and begins the next counts once. */
uint64_t dma_piece_bursts(const struct dma_piece_shape *piece, uint64_t burst_bytes);
/* 1 if the two have a byte in common; exact for equal strides, otherwise also 1 if only their ranges overlap. */
int dma_shape_overlap(const struct dma_shape *a, const struct dma_shape *b);

/* Copies the bytes of `shape` to `packed`, one after the other. `base` is the first byte; the shape's address is not
 * used. */
void dma_gather(const struct dma_shape *shape, const uint8_t *base, uint8_t *packed);
void dma_scatter(const struct dma_shape *shape, const uint8_t *packed, uint8_t *base);
/* Writes the low bits of `immediate` to every word. */
void dma_fill(const struct dma_shape *shape, uint32_t immediate, uint32_t word_bytes, uint8_t *base);
