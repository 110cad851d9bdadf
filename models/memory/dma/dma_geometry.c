/* SPDX-License-Identifier: Apache-2.0 */
#include "dma_geometry.h"

#include "cnnvp_integer.h"

#include <string.h>

/* Maximum pairs of planes that are compared one by one; beyond that, ranges decide. */
#define OVERLAP_PAIRS 65536u

struct dma_shape dma_shape_make(uint64_t address, uint64_t row_bytes, uint64_t rows, uint64_t row_stride,
                                uint64_t planes, uint64_t plane_stride)
{
    struct dma_shape shape = {address, row_bytes, rows, row_stride, planes, plane_stride};
    if (shape.count == 1u || shape.stride == shape.size) {
        /* a plane is contiguous: planes become the segments */
        shape.size *= shape.count;
        shape.count = shape.planes;
        shape.stride = shape.plane_stride;
        shape.planes = 1u;
        if (shape.count == 1u || shape.stride == shape.size) {
            shape.size *= shape.count;
            shape.count = 1u;
        }
    } else if (shape.planes == 1u || shape.plane_stride == shape.count * shape.stride) {
        /* the rows of the next plane continue at the same stride */
        shape.count *= shape.planes;
        shape.planes = 1u;
    }
    if (shape.count == 1u)
        shape.stride = shape.size;
    if (shape.planes == 1u)
        shape.plane_stride = 0;
    return shape;
}

static uint64_t plane_span(const struct dma_shape *shape)
{
    return (shape->count - 1u) * shape->stride + shape->size;
}

uint64_t dma_shape_span(const struct dma_shape *shape)
{
    return (shape->planes - 1u) * shape->plane_stride + plane_span(shape);
}

uint64_t dma_shape_bytes(const struct dma_shape *shape)
{
    return shape->planes * shape->count * shape->size;
}

uint64_t dma_shape_piece(const struct dma_shape *shape, uint64_t position, uint64_t limit,
                         struct dma_piece_shape *piece)
{
    const uint64_t segment = position / shape->size;
    const uint64_t offset = position % shape->size;
    const uint64_t in_plane = segment % shape->count;
    const uint64_t left = shape->count - in_plane;
    const uint64_t whole = limit / shape->size;
    piece->address = shape->address + segment / shape->count * shape->plane_stride + in_plane * shape->stride + offset;
    piece->count = 1u;
    piece->stride = shape->stride;
    if (offset != 0 || whole == 0) {
        piece->size = shape->size - offset < limit ? shape->size - offset : limit;
        piece->stride = piece->size;
    } else {
        piece->size = shape->size;
        piece->count = left < whole ? left : whole;
    }
    return piece->size * piece->count;
}

uint64_t dma_piece_bursts(const struct dma_piece_shape *piece, uint64_t burst_bytes)
{
    uint64_t bursts = 0, behind = UINT64_MAX; /* number of the burst after the last one */
    for (uint64_t i = 0; i < piece->count; ++i) {
        const uint64_t start = piece->address + i * piece->stride;
        const uint64_t first = start / burst_bytes, end = (start + piece->size - 1u) / burst_bytes + 1u;
        bursts += end - first - (first + 1u == behind);
        behind = end;
    }
    return bursts;
}

/* 1 if one plane of `a` and one of `b` overlap. Segments are `stride` apart in both: a + i * stride, i < a_count, and b
 * likewise. */
static int planes_overlap(uint64_t a, uint64_t a_size, uint64_t a_count, uint64_t b, uint64_t b_size, uint64_t b_count,
                          uint64_t stride)
{
    /* Look for k = i - j with b - a_size < a + k * stride < b + b_size, -b_count < k < a_count. All below 2^34. */
    const int64_t s = (int64_t)stride;
    const int64_t above = (int64_t)b - (int64_t)a - (int64_t)a_size; /* k * s > above */
    const int64_t below = (int64_t)b - (int64_t)a + (int64_t)b_size; /* k * s < below */
    const int64_t k_min = 1 - (int64_t)b_count;
    const int64_t k_max = (int64_t)a_count - 1;
    if (s == 0)
        return above < 0 && below > 0;
    int64_t k = above / s; /* toward zero */
    while (k * s <= above)
        ++k;
    while ((k - 1) * s > above)
        --k;
    if (k < k_min)
        k = k_min;
    return k <= k_max && k * s < below && k * s > above;
}

/* 1 if the plane of `a` at `address` overlaps a plane of `b`. Only planes of `b` whose ranges overlap it are looked at,
 * because transfers of hundreds of planes are compared for each of their pieces. */
static int plane_overlaps(const struct dma_shape *a, uint64_t address, const struct dma_shape *b)
{
    const uint64_t stride = a->count == 1u ? b->stride : a->stride, step = b->plane_stride;
    const uint64_t end = address + plane_span(a), first_end = b->address + plane_span(b);
    if (b->address >= end || (address >= first_end && step == 0))
        return 0;
    const uint64_t first = address < first_end ? 0 : (address - first_end) / step + 1u;
    const uint64_t last = step != 0 ? cnnvp_minimum((end - 1u - b->address) / step, b->planes - 1u) : 0;
    for (uint64_t i = first; i <= last; ++i)
        if (planes_overlap(address, a->size, a->count, b->address + i * step, b->size, b->count, stride))
            return 1;
    return 0;
}

int dma_shape_overlap(const struct dma_shape *a, const struct dma_shape *b)
{
    const uint64_t a_end = a->address + dma_shape_span(a);
    const uint64_t b_end = b->address + dma_shape_span(b);
    if (a->address >= b_end || b->address >= a_end)
        return 0;
    const int one_stride = a->stride == b->stride || a->count == 1u || b->count == 1u;
    if (!one_stride || a->planes > OVERLAP_PAIRS / b->planes)
        return 1;
    for (uint64_t i = 0; i < a->planes; ++i)
        if (plane_overlaps(a, a->address + i * a->plane_stride, b))
            return 1;
    return 0;
}

void dma_gather(const struct dma_shape *shape, const uint8_t *base, uint8_t *packed)
{
    for (uint64_t plane = 0; plane < shape->planes; ++plane)
        for (uint64_t segment = 0; segment < shape->count; ++segment) {
            memcpy(packed, base + plane * shape->plane_stride + segment * shape->stride, shape->size);
            packed += shape->size;
        }
}

void dma_scatter(const struct dma_shape *shape, const uint8_t *packed, uint8_t *base)
{
    for (uint64_t plane = 0; plane < shape->planes; ++plane)
        for (uint64_t segment = 0; segment < shape->count; ++segment) {
            memcpy(base + plane * shape->plane_stride + segment * shape->stride, packed, shape->size);
            packed += shape->size;
        }
}

/* A row of an odd number of bytes ends with the low byte. */
void dma_fill(const struct dma_shape *shape, uint32_t immediate, uint32_t word_bytes, uint8_t *base)
{
    const uint16_t value = (uint16_t)(word_bytes == 1u ? (immediate & 0xffu) * 0x101u : immediate);
    for (uint64_t plane = 0; plane < shape->planes; ++plane)
        for (uint64_t segment = 0; segment < shape->count; ++segment) {
            uint8_t *at = base + plane * shape->plane_stride + segment * shape->stride;
            for (uint64_t byte = 0; byte < shape->size; byte += 2u)
                memcpy(at + byte, &value, shape->size - byte < sizeof value ? 1u : sizeof value);
        }
}
