/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a transfer on one side, merged as far as its strides allow. Host-free. */
#ifndef CNNVP_DMA_GEOMETRY_H
#define CNNVP_DMA_GEOMETRY_H

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

/* Rows and planes as a descriptor gives them, each at least 1, strides below 2^32. */
struct dma_shape dma_shape_make(uint64_t address, uint64_t row_bytes, uint64_t rows, uint64_t row_stride,
                                uint64_t planes, uint64_t plane_stride);
/* Bytes from the first to after the last. */
uint64_t dma_shape_span(const struct dma_shape *shape);
uint64_t dma_shape_bytes(const struct dma_shape *shape);
/* The longest request that begins at byte `position` of the packed data and has at most `limit` bytes, whole segments
 * where one fits. Returns its bytes. position < dma_shape_bytes, limit at least 1. */
uint64_t dma_shape_piece(const struct dma_shape *shape, uint64_t position, uint64_t limit,
                         struct dma_piece_shape *piece);
/* Bursts that the request becomes: none crosses a multiple of `burst_bytes`, a power of two, and one that
 * ends a segment and begins the next is one. */
uint64_t dma_piece_bursts(const struct dma_piece_shape *piece, uint64_t burst_bytes);
/* 1 if the two touch a common byte; exact for equal strides, otherwise also 1 where only their ranges do. */
int dma_shape_overlap(const struct dma_shape *a, const struct dma_shape *b);

/* Packed copy of the bytes of `shape`, whose address is not used: `base` is the first byte. */
void dma_gather(const struct dma_shape *shape, const uint8_t *base, uint8_t *packed);
void dma_scatter(const struct dma_shape *shape, const uint8_t *packed, uint8_t *base);
/* The same word everywhere, the low bits of `immediate`. */
void dma_fill(const struct dma_shape *shape, uint32_t immediate, uint32_t word_bytes, uint8_t *base);

#endif
