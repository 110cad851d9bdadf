/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions on the host's vector units. Lanes are positions of the result, and each result adds its products in a
 * fixed order. Input planes are copied with their padding and split into phases by the stride, so that every tap reads
 * consecutive numbers: position y * pitch + x of the result reads number position + offset[tap]. Positions between the
 * result's rows are computed too, and dropped at the end. If they would take too much of the vectors, as on small maps,
 * each tap has its own copy of the numbers instead, without gaps between rows.
 */
#include "float_conv.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

struct packing {
    const struct cnnvp_graph_layer *layer;
    const struct cnnvp_graph_tensor *in;
    const struct cnnvp_graph_tensor *out;
    size_t inputs; /* input channels of a group */
    size_t outputs;
    size_t phases_x; /* phases (column modulo stride) of the input that taps use */
    size_t phases_y;
    size_t row;       /* numbers of a packed row */
    size_t rows;      /* packed rows of a phase */
    size_t plane;     /* numbers of a packed input channel: all phases */
    size_t steps;     /* products of a result */
    size_t pitch;     /* positions from row to row of the result */
    size_t positions; /* positions of the result, including those between its rows */
    int direct;       /* 1: the packed input would equal the input, so it is not copied */
    int by_taps;      /* 1: each tap has its own copy of the numbers */
};

/* Number of phases for `taps` taps at distance `dilation`: all residues up to the largest one that they reach. */
static size_t phases_used(uint32_t taps, uint32_t dilation, uint32_t stride)
{
    const size_t reach = (size_t)(taps - 1u) * dilation + 1u;
    return cnnvp_minimum(reach, stride);
}

static size_t vectors(size_t positions)
{
    return (positions + CNNVP_FLOAT_LANE - 1u) / CNNVP_FLOAT_LANE;
}

static struct packing plan(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    struct packing p = {.layer = layer, .in = &graph->tensors[layer->in], .out = &graph->tensors[layer->out]};
    p.inputs = p.in->channels / layer->groups;
    p.outputs = p.out->channels / layer->groups;
    p.phases_x = phases_used(layer->kx, layer->dx, layer->sx);
    p.phases_y = phases_used(layer->ky, layer->dy, layer->sy);
    p.row = p.out->width + (size_t)(layer->kx - 1u) * layer->dx / layer->sx;
    p.rows = p.out->height + (size_t)(layer->ky - 1u) * layer->dy / layer->sy;
    p.plane = p.phases_x * p.phases_y * p.row * p.rows;
    p.steps = p.inputs * layer->ky * layer->kx;
    p.pitch = p.row;
    p.positions = (p.out->height - 1u) * p.row + p.out->width;
    p.direct = p.steps == p.inputs && layer->sx == 1 && layer->sy == 1 && p.row == p.in->width &&
               p.rows == p.in->height && layer->pad_top == 0 && layer->pad_left == 0;
    const size_t area = (size_t)p.out->height * p.out->width;
    /* copies for each tap pay if they save a quarter of the vectors and enough output channels read them */
    p.by_taps = !p.direct && p.outputs >= CNNVP_FLOAT_CHANNELS && 4u * vectors(area) <= 3u * vectors(p.positions);
    if (p.by_taps) {
        p.pitch = p.out->width;
        p.positions = area;
    }
    return p;
}

void cnnvp_float_scratch_free(struct cnnvp_float_scratch *scratch)
{
    free(scratch->planes);
    free(scratch->offsets);
    *scratch = (struct cnnvp_float_scratch){0};
}

/* Raises the room needed to that of a convolution. Returns 0 if 32-bit offsets cannot reach all numbers. */
static int raise_to(const struct packing *p, size_t *floats, size_t *steps)
{
    const size_t needed = p->by_taps ? p->steps * p->positions + p->plane : p->inputs * p->plane;
    if (needed > UINT32_MAX)
        return 0;
    *floats = !p->direct && needed + CNNVP_FLOAT_SLACK > *floats ? needed + CNNVP_FLOAT_SLACK : *floats;
    *steps = p->steps > *steps ? p->steps : *steps;
    return 1;
}

/* The same for a convolution by blocks, each a map of its own. Copies for each tap can make it need more room. */
static int raise_to_blocks(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, size_t *floats,
                           size_t *steps)
{
    struct cnnvp_graph_tensor maps[2] = {graph->tensors[layer->in], graph->tensors[layer->out]};
    struct cnnvp_graph_layer conv = *layer;
    const struct cnnvp_graph blocks = {.tensors = maps, .tensor_count = 2, .layers = &conv, .layer_count = 1};
    maps[0].height = maps[1].height = layer->block_height;
    maps[0].width = maps[1].width = layer->block_width;
    conv.in = 0;
    conv.out = 1;
    const struct packing p = plan(&blocks, &conv);
    return raise_to(&p, floats, steps);
}

int cnnvp_float_scratch_new(const struct cnnvp_graph *graph, struct cnnvp_float_scratch *scratch)
{
    size_t floats = 1, steps = 1;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->op != CNNVP_OP_CONV)
            continue;
        const struct packing p = plan(graph, layer);
        if (!raise_to(&p, &floats, &steps) ||
            (layer->block_height != 0 && !raise_to_blocks(graph, layer, &floats, &steps)))
            return 0;
    }
    scratch->pool = NULL;
    scratch->planes = calloc(floats, sizeof *scratch->planes);
    scratch->offsets = calloc(steps, sizeof *scratch->offsets);
    return scratch->planes != NULL && scratch->offsets != NULL;
}

/* Offset of a tap's first number in a packed plane. */
static size_t tap_offset(const struct packing *p, size_t ky, size_t kx)
{
    const struct cnnvp_graph_layer *layer = p->layer;
    const size_t y = ky * layer->dy;
    const size_t x = kx * layer->dx;
    const size_t phase = y % layer->sy * p->phases_x + x % layer->sx;
    return (phase * p->rows + y / layer->sy) * p->row + x / layer->sx;
}

static void make_offsets(const struct packing *p, uint32_t *offset)
{
    for (size_t i = 0, step = 0; i < p->inputs; ++i)
        for (size_t ky = 0; ky < p->layer->ky; ++ky)
            for (size_t kx = 0; kx < p->layer->kx; ++kx, ++step)
                offset[step] = (uint32_t)(p->by_taps ? step * p->positions : i * p->plane + tap_offset(p, ky, kx));
}

/* Packs a row: input columns first, first + stride, ..., with zeros outside the input. */
static void pack_row(const float *x, size_t width, int64_t first, size_t stride, size_t count, float *to)
{
    size_t i = 0;
    for (; i < count && first < 0; ++i, first += (int64_t)stride)
        to[i] = 0.0f;
    const size_t begin = (size_t)first;
    const size_t inside = begin < width ? (width - begin + stride - 1) / stride : 0;
    const size_t end = cnnvp_minimum(count, i + inside);
    if (stride == 1 && end > i)
        memcpy(to + i, x + begin, (end - i) * sizeof *to);
    else
        for (size_t at = i; at < end; ++at)
            to[at] = x[begin + (at - i) * stride];
    for (i = end > i ? end : i; i < count; ++i)
        to[i] = 0.0f;
}

static void pack_plane(const struct packing *p, const float *x, float *to)
{
    const struct cnnvp_graph_layer *layer = p->layer;
    for (size_t py = 0; py < p->phases_y; ++py)
        for (size_t px = 0; px < p->phases_x; ++px)
            for (size_t row = 0; row < p->rows; ++row, to += p->row) {
                const int64_t y = (int64_t)(row * layer->sy + py) - layer->pad_top;
                if (y < 0 || y >= (int64_t)p->in->height)
                    memset(to, 0, p->row * sizeof *to);
                else
                    pack_row(x + (size_t)y * p->in->width, p->in->width, (int64_t)px - layer->pad_left, layer->sx,
                             p->row, to);
            }
}

/* Copies the numbers of each tap from a packed plane. */
static void pack_taps(const struct packing *p, const float *plane, float *to)
{
    const size_t width = p->out->width;
    for (size_t ky = 0; ky < p->layer->ky; ++ky)
        for (size_t kx = 0; kx < p->layer->kx; ++kx) {
            const float *from = plane + tap_offset(p, ky, kx);
            for (size_t row = 0; row < p->out->height; ++row, from += p->row, to += width)
                memcpy(to, from, width * sizeof *to);
        }
}

static void pack(const struct packing *p, const float *x, float *planes)
{
    const size_t in_area = (size_t)p->in->height * p->in->width;
    if (!p->by_taps) {
        for (size_t i = 0; i < p->inputs; ++i)
            pack_plane(p, x + i * in_area, planes + i * p->plane);
        return;
    }
    const size_t taps = p->steps / p->inputs;
    float *plane = planes + p->steps * p->positions; /* after the numbers of all taps */
    for (size_t i = 0; i < p->inputs; ++i) {
        pack_plane(p, x + i * in_area, plane);
        pack_taps(p, plane, planes + i * taps * p->positions);
    }
}

/* Copies positions [first, end) of one channel to the result, without those between rows. */
static void unpack(const struct packing *p, size_t first, size_t end, const float *sums, float *y)
{
    size_t row = first / p->pitch;
    size_t column = first % p->pitch;
    for (size_t at = first; at < end; ++row, at += p->pitch - column, column = 0) {
        if (column >= p->out->width)
            continue;
        const size_t count = cnnvp_minimum(p->out->width - column, end - at);
        memcpy(y + row * p->out->width + column, sums + (at - first), count * sizeof *y);
    }
}

/* The output channels of a group. A part of the work is CNNVP_FLOAT_CHANNELS of them. */
struct group {
    const struct cnnvp_float_kernels *kernels;
    const struct packing *packing;
    const float *planes;
    const uint32_t *offsets;
    size_t first; /* first output channel of the group */
    float *y;
};

static void run_part(void *context, size_t part)
{
    const struct group *group = context;
    const struct packing *p = group->packing;
    const struct cnnvp_graph_layer *layer = p->layer;
    /* distance of the result's channels */
    const size_t step = p->out->channel_step > 1 ? p->out->channel_step : 1;
    const size_t area = (size_t)p->out->height * p->out->width * step;
    const size_t channels = cnnvp_minimum(p->outputs - part * CNNVP_FLOAT_CHANNELS, CNNVP_FLOAT_CHANNELS);
    const size_t o = group->first + part * CNNVP_FLOAT_CHANNELS;
    float sums[CNNVP_FLOAT_CHANNELS * CNNVP_FLOAT_POSITIONS];
    for (size_t at = 0; at < p->positions; at += CNNVP_FLOAT_POSITIONS) {
        const size_t count = cnnvp_minimum(p->positions - at, CNNVP_FLOAT_POSITIONS);
        const size_t lanes = vectors(count) * CNNVP_FLOAT_LANE;
        for (size_t c = 0; c < channels; ++c)
            for (size_t i = 0; i < lanes; ++i)
                sums[c * CNNVP_FLOAT_POSITIONS + i] = layer->has_bias ? layer->bias[o + c] : 0.0f;
        group->kernels->conv(group->planes + at, group->offsets, layer->weights + o * p->steps, p->steps, p->steps,
                             channels, lanes, sums);
        for (size_t c = 0; c < channels; ++c)
            unpack(p, at, at + count, sums + c * CNNVP_FLOAT_POSITIONS, group->y + (o + c) * area);
    }
}

/* With fewer multiplications, some 10 us of one thread, other threads are not worth waking. */
#define SHARED_WORK (1u << 19)

void cnnvp_float_conv(const struct cnnvp_float_kernels *kernels, const struct cnnvp_graph *graph,
                      const struct cnnvp_graph_layer *layer, const float *x, float *y,
                      const struct cnnvp_float_scratch *scratch)
{
    const struct packing p = plan(graph, layer);
    const size_t in_area = (size_t)p.in->height * p.in->width;
    struct cnnvp_pool *pool = p.steps * p.outputs * p.positions >= SHARED_WORK ? scratch->pool : NULL;
    make_offsets(&p, scratch->offsets);
    for (size_t group = 0; group < layer->groups; ++group) {
        const float *from = x + group * p.inputs * in_area;
        if (!p.direct)
            pack(&p, from, scratch->planes);
        struct group work = {kernels, &p, p.direct ? from : scratch->planes, scratch->offsets, group * p.outputs, y};
        cnnvp_pool_run(pool, run_part, &work, (p.outputs + CNNVP_FLOAT_CHANNELS - 1u) / CNNVP_FLOAT_CHANNELS);
    }
}
