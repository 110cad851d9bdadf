/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the input planes and panels of the fast PE module. See train_job.h. */
#include "train_job.h"

#include <string.h>

/* ---- planes ---- */

/* Fills one row of a plane: zeros, with the source's values every `step` columns from `begin` on (may be negative). */
static void fill_row(const int8_t *source, uint32_t n, int64_t begin, uint64_t step, uint8_t *row, uint64_t width)
{
    memset(row, 0x80, width);
    const uint64_t first = begin < 0 ? ((uint64_t)-begin + step - 1u) / step : 0;
    for (uint64_t i = first; i < n; ++i) {
        const int64_t at = begin + (int64_t)(i * step);
        if (at >= (int64_t)width)
            return;
        row[at] = (uint8_t)((uint8_t)source[i] ^ 0x80u);
    }
}

/* Fills a plane. Row r holds what tap 0 of position r needs; in errors, where taps run backwards, what the last tap
 * needs. */
static void fill_plane(const struct train_job *job, const int8_t *source, uint8_t *plane)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const bool error = tile->kind == CNNVP_TRAIN_ERROR;
    /* column of source value 0 */
    const int64_t begin_x = error ? (int64_t)tile->kx - 1 - tile->px : tile->px;
    const int64_t begin_y = error ? (int64_t)tile->ky - 1 - tile->py : tile->py;
    const uint64_t step_x = error ? tile->sx : 1u;
    const int64_t step_y = error ? tile->sy : 1;
    for (uint64_t r = 0; r < job->plane_h; ++r) {
        const int64_t y = (int64_t)r - begin_y;
        uint8_t *row = plane + r * job->plane_w;
        if (y < 0 || y % step_y != 0 || y / step_y >= tile->in_h)
            memset(row, 0x80, job->plane_w);
        else
            fill_row(source + cnnvp_train_in_row(tile, (uint64_t)(y / step_y)), tile->in_w, begin_x, step_x, row,
                     job->plane_w);
    }
}

void cnnvp_train_fill_planes(const struct train_job *job)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const int8_t *input = job->data->input;
    for (uint64_t image = 0; image < tile->images; ++image)
        for (uint64_t c = 0; c < tile->in_channels; ++c)
            fill_plane(job, input + image * tile->in_image_stride + c * tile->in_channel_stride,
                       job->planes + image * job->image_size + c * job->plane_size);
}

/* ---- panels ---- */

/* Distances in the planes from one position to the next, in x and y. */
static uint64_t step_x(const struct train_job *job)
{
    return job->tile->kind == CNNVP_TRAIN_ERROR ? 1u : job->tile->sx;
}

static uint64_t step_y(const struct train_job *job)
{
    return job->tile->kind == CNNVP_TRAIN_ERROR ? job->plane_w : job->tile->sy * job->plane_w;
}

/* Columns of a panel whose positions are consecutive in a row of the map. */
struct train_segment {
    uint32_t to;     /* first column */
    uint32_t length; /* number of columns */
    uint64_t from;   /* byte offset in the planes */
};

/* Finds the runs of a panel's columns that are consecutive in a row of the map. Indices fit into 32 bits, which divide
 * faster. */
static size_t find_segments(const struct train_job *job, uint64_t first, uint64_t count, struct train_segment *segments)
{
    const uint32_t w = job->tile->out_w;
    const uint32_t h = job->tile->out_h;
    const uint64_t across = step_x(job);
    const uint64_t down = step_y(job);
    const uint32_t row = (uint32_t)first / w;
    uint32_t x = (uint32_t)first % w;
    uint32_t y = row % h;
    uint64_t image = row / h * job->image_size;
    size_t found = 0;
    for (uint32_t to = 0; to < count; x = 0) {
        const uint32_t length = w - x < (uint32_t)count - to ? w - x : (uint32_t)count - to;
        segments[found++] = (struct train_segment){.to = to, .length = length, .from = image + y * down + x * across};
        to += length;
        if (++y == h) {
            y = 0;
            image += job->image_size;
        }
    }
    return found;
}

static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
    switch (n) { /* common widths as single moves */
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    case 32:
        memcpy(to, from, 32);
        break;
    default:
        memcpy(to, from, n);
    }
}

static void copy_segments(const struct train_segment *segments, size_t count, const uint8_t *source, uint64_t step,
                          uint8_t *row)
{
    for (size_t s = 0; s < count; ++s) {
        const uint8_t *from = source + segments[s].from;
        if (step == 1u) {
            copy_bytes(row + segments[s].to, from, segments[s].length);
        } else {
            for (uint32_t i = 0; i < segments[s].length; ++i)
                row[segments[s].to + i] = from[i * step];
        }
    }
}

/* Fills a panel whose columns are positions and whose terms are taps. */
static void fill_positions(const struct train_job *job, uint64_t first, uint64_t count, uint64_t from, uint64_t to)
{
    struct train_segment segments[TRAIN_COLUMNS];
    uint8_t rows[4 * TRAIN_COLUMNS] = {0};
    const size_t found = find_segments(job, first, count, segments);
    for (uint64_t q = from; q < to; ++q) {
        for (size_t j = 0; j < 4u; ++j) {
            const int32_t place = job->places[4u * q + j];
            uint8_t *row = rows + j * TRAIN_COLUMNS;
            if (place < 0) {
                memset(row, 0, TRAIN_COLUMNS);
                continue;
            }
            copy_segments(segments, found, job->planes + place, step_x(job), row);
        }
        job->kernels->interleave(rows, job->panel + (q - from) * 4u * TRAIN_COLUMNS);
    }
}

/* Copies terms 4 * from .. 4 * to - 1 of one column of a gradient: the positions of all images in order. */
static void stage_column(const struct train_job *job, uint64_t column, uint64_t from, uint64_t to, uint8_t *row)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const uint32_t row_of_taps = (uint32_t)column / tile->kx;
    const uint8_t *source = job->planes + row_of_taps / tile->ky * job->plane_size +
                            train_tap(job, row_of_taps % tile->ky, (uint32_t)column % tile->kx);
    const uint64_t end = 4u * to < job->k ? 4u * to : job->k;
    const uint64_t begin = 4u * from;
    const uint64_t across = step_x(job);
    const uint64_t down = step_y(job);
    const uint32_t row_of_map = (uint32_t)begin / tile->out_w;
    uint64_t image = row_of_map / tile->out_h;
    uint64_t y = row_of_map % tile->out_h;
    uint64_t x = (uint32_t)begin % tile->out_w;
    uint64_t left = end - begin;
    while (left != 0) {
        const uint8_t *at = source + image * job->image_size + y * down + x * across;
        uint64_t length = tile->out_w - x;
        length = length < left ? length : left;
        if (across == 1u) {
            copy_bytes(row, at, length);
        } else {
            for (uint64_t i = 0; i < length; ++i)
                row[i] = at[i * across];
        }
        row += length;
        left -= length;
        x = 0;
        if (++y == tile->out_h) {
            y = 0;
            ++image;
        }
    }
    memset(row, 0, 4u * to - end);
}

/* Fills a panel whose columns are taps of channels and whose terms are positions. */
static void fill_taps(const struct train_job *job, uint64_t first, uint64_t count, uint64_t from, uint64_t to)
{
    const uint64_t quads = to - from;
    for (uint64_t c = 0; c < count; c += TRAIN_STAGE) {
        for (uint64_t i = 0; i < TRAIN_STAGE; ++i) /* columns behind the last repeat it */
            stage_column(job, first + (c + i < count ? c + i : count - 1u), from, to, job->stage + i * 4u * quads);
        for (uint64_t q = 0; q < quads; ++q)
            for (uint64_t i = 0; i < TRAIN_STAGE; ++i)
                memcpy(job->panel + 4u * (q * TRAIN_COLUMNS + c + i), job->stage + 4u * (i * quads + q), 4u);
    }
}

void cnnvp_train_fill_panel(const struct train_job *job, uint64_t first, uint64_t count, uint64_t from, uint64_t to)
{
    if (job->tile->kind == CNNVP_TRAIN_GRADIENT)
        fill_taps(job, first, count, from, to);
    else
        fill_positions(job, first, count, from, to);
}
