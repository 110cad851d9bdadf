/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes a whole command with exact integer kernels: the fast model of all FX16 arrays. It does not model how values
 * move through an array or what that costs; each engine does.
 *
 * - Dense convolutions work on pairs of input channels. Each plane is packed once into pairs and split into bytes.
 *   Columns are ordered by their position modulo the stride, so that every tap reads consecutive pairs: position
 *   y * row + x of the result reads element position + offset[tap].
 * - Maps with few positions are dot products over all taps instead, because the weights are contiguous there.
 * - Everything else is computed row by row.
 *
 * The weight buffer holds few output channels, so many consecutive commands read the same map. It is packed or gathered
 * once, and again only after one of its words has changed.
 */
#include "fx16_kernels.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of packed planes that are processed together, so that they stay in the second-level cache. */
#define PACKED_BYTES (UINT64_C(512) << 10)
/* Dot products are faster for maps of at most this many positions and sums of at least this many terms. */
enum { DOT_MAX_AREA = 16, DOT_MIN_TERMS = 32 };
/* Words that gather_taps may write beyond its last row (at most 3). A multiple of the cache line keeps the array behind
 * aligned. */
enum { GATHER_SLACK = 32 };
/* Bytes. Vector accesses that cross a cache line take twice as long. */
#define CACHE_LINE UINT64_C(64)

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1u) / to * to;
}

/* ---- working memory ---- */

void cnnvp_fx16_scratch_free(struct cnnvp_fx16_scratch *scratch)
{
    free(scratch->memory);
    free(scratch->input);
    *scratch = (struct cnnvp_fx16_scratch){0};
}

/* Returns at least `size` bytes; earlier contents are lost if it has to grow. NULL: out of memory. */
static uint8_t *reserve(struct cnnvp_fx16_scratch *scratch, uint64_t size)
{
    if (size > scratch->size) {
        const uint64_t larger = round_up(size + size / 2u, CACHE_LINE);
        cnnvp_fx16_scratch_free(scratch);
        scratch->memory = aligned_alloc(CACHE_LINE, larger);
        if (scratch->memory == NULL)
            return NULL;
        memset(scratch->memory, 0, larger);
        scratch->size = larger;
    }
    return scratch->memory;
}

/* True if both commands pack their input in the same way. */
static bool same_order(const struct cnnvp_fx16_tile *a, const struct cnnvp_fx16_tile *b)
{
    return a->in_row_stride == b->in_row_stride && a->in_channel_stride == b->in_channel_stride &&
           a->in_channels == b->in_channels && a->out_h == b->out_h && a->out_w == b->out_w && a->kx == b->kx &&
           a->ky == b->ky && a->sx == b->sx && a->sy == b->sy && a->dx == b->dx && a->dy == b->dy &&
           a->in_span == b->in_span;
}

/* True if the reserved memory still holds this input, packed by an earlier command. Otherwise the caller has to pack
 * it. */
static bool has_input(struct cnnvp_fx16_scratch *scratch, const struct cnnvp_fx16_tile *tile, const int16_t *input)
{
    const size_t bytes = (size_t)tile->in_span * sizeof *input;
    const bool fits = scratch->input != NULL && scratch->tile.in_span == tile->in_span;
    if (fits && same_order(&scratch->tile, tile) && memcmp(scratch->input, input, bytes) == 0)
        return true;
    if (!fits) {
        free(scratch->input);
        scratch->input = malloc(bytes);
    }
    if (scratch->input != NULL) /* without the copy, the next command packs its input again */
        memcpy(scratch->input, input, bytes);
    scratch->tile = *tile;
    return false;
}

/* ---- dense convolution on packed planes ---- */

struct packing {
    uint32_t phases_x; /* phases of the input columns (position modulo the stride) that taps use */
    uint32_t phases_y;
    uint32_t row;   /* pairs of a packed row */
    uint32_t rows;  /* packed rows of a phase */
    uint64_t plane; /* pairs in the plane of a pair of channels, all phases */
    uint32_t taps;
    uint32_t pairs;       /* pairs of channels that are processed together */
    uint32_t total_pairs; /* pairs of channels of the tile */
    uint32_t positions;   /* positions of the result, including those between its rows */
    int16_t *low;         /* packed planes, pairs of values split into bytes */
    int16_t *high;
    int32_t *weights;
    uint32_t *offsets;
};

/* Number of phases that `taps` taps at distance `dilation` use: all residues up to the largest one they reach. */
static uint32_t phases_used(uint32_t taps, uint32_t dilation, uint32_t stride)
{
    const uint64_t reach = (uint64_t)(taps - 1u) * dilation + 1u;
    return reach < stride ? (uint32_t)reach : stride;
}

static int plan_packing(const struct cnnvp_fx16_tile *tile, struct cnnvp_fx16_scratch *scratch, struct packing *p)
{
    p->phases_x = phases_used(tile->kx, tile->dx, tile->sx);
    p->phases_y = phases_used(tile->ky, tile->dy, tile->sy);
    p->row = tile->out_w + (tile->kx - 1u) * tile->dx / tile->sx;
    p->rows = tile->out_h + (tile->ky - 1u) * tile->dy / tile->sy;
    p->plane = (uint64_t)p->phases_x * p->phases_y * p->row * p->rows;
    p->taps = tile->kx * tile->ky;
    p->total_pairs = tile->in_channels / 2u + tile->in_channels % 2u;
    if (p->plane > UINT32_MAX / 2u) /* offsets have 32 bits */
        return CNNVP_E_NOMEM;
    const uint64_t fitting = PACKED_BYTES / (p->plane * 4u * sizeof *p->low);
    p->pairs = fitting == 0 ? 1u : fitting < p->total_pairs ? (uint32_t)fitting : p->total_pairs;
    p->positions = (tile->out_h - 1u) * p->row + tile->out_w;
    const uint64_t steps = (uint64_t)p->pairs * p->taps;
    const uint64_t planes = round_up((p->plane * p->pairs + FX16_DIRECT_POSITIONS) * 2u * sizeof *p->low, 64u);
    const uint64_t weights = round_up(steps * FX16_DIRECT_CHANNELS * sizeof *p->weights, 64u);
    uint8_t *memory = reserve(scratch, 2u * planes + weights + steps * sizeof *p->offsets);
    if (memory == NULL)
        return CNNVP_E_NOMEM;
    p->low = (int16_t *)(void *)memory;
    p->high = (int16_t *)(void *)(memory + planes);
    p->weights = (int32_t *)(void *)(memory + 2u * planes);
    p->offsets = (uint32_t *)(void *)(memory + 2u * planes + weights);
    return CNNVP_OK;
}

static void make_offsets(const struct cnnvp_fx16_tile *tile, const struct packing *p)
{
    uint32_t *offset = p->offsets;
    for (uint32_t ky = 0; ky < tile->ky; ++ky) {
        const uint32_t y = ky * tile->dy;
        for (uint32_t kx = 0; kx < tile->kx; ++kx) {
            const uint32_t x = kx * tile->dx;
            const uint64_t phase = (uint64_t)(y % tile->sy) * p->phases_x + x % tile->sx;
            *offset++ = (uint32_t)((phase * p->rows + y / tile->sy) * p->row + x / tile->sx);
        }
    }
    for (uint64_t step = p->taps; step < (uint64_t)p->pairs * p->taps; ++step, ++offset)
        *offset = offset[-(ptrdiff_t)p->taps] + (uint32_t)p->plane;
}

/* Packs one row from two input rows. Columns from `n` on keep their old values: no result uses them. */
static void pack_row(const int16_t *first, const int16_t *second, size_t step, size_t n, int16_t *out)
{
    for (size_t x = 0; x < n; ++x) {
        out[2u * x] = first[x * step];
        out[2u * x + 1u] = second[x * step];
    }
}

/* Packs one row from a single input row, the last of an odd number of channels. */
static void pack_single_row(const int16_t *row, size_t step, size_t n, int16_t *out)
{
    for (size_t x = 0; x < n; ++x) {
        out[2u * x] = row[x * step];
        out[2u * x + 1u] = 0;
    }
}

static void pack_pair(const struct cnnvp_fx16_tile *tile, const struct packing *p, const int16_t *first,
                      const int16_t *second, int16_t *out)
{
    const uint64_t cols = (uint64_t)(tile->out_w - 1u) * tile->sx + (uint64_t)(tile->kx - 1u) * tile->dx + 1u;
    const uint64_t rows = (uint64_t)(tile->out_h - 1u) * tile->sy + (uint64_t)(tile->ky - 1u) * tile->dy + 1u;
    for (uint32_t py = 0; py < p->phases_y; ++py) {
        for (uint32_t px = 0; px < p->phases_x; ++px) {
            const uint64_t fitting = (cols - px + tile->sx - 1u) / tile->sx;
            const size_t n = (size_t)(fitting < p->row ? fitting : p->row);
            for (uint64_t y = 0; y < p->rows && y * tile->sy + py < rows; ++y) {
                const uint64_t at = (y * tile->sy + py) * tile->in_row_stride + px;
                int16_t *row = out + 2u * y * p->row;
                if (second == NULL)
                    pack_single_row(first + at, tile->sx, n, row);
                else if (tile->sx == 1u)
                    pack_row(first + at, second + at, 1u, n, row);
                else
                    pack_row(first + at, second + at, tile->sx, n, row);
            }
            out += 2u * (uint64_t)p->rows * p->row;
        }
    }
}

/* Packs one output channel's weights for a pair of input channels. The caller passes a constant `taps` for 3x3. */
static inline void pack_taps(const int16_t *first, const int16_t *second, const size_t taps, int32_t *out)
{
    for (size_t t = 0; t < taps; ++t)
        out[t] = fx16_pair(first[t], second[t]);
}

static void pack_weights(const struct cnnvp_fx16_tile *tile, const struct packing *p, const int16_t *weights,
                         uint32_t first_pair, uint32_t pairs, int32_t *out)
{
    const size_t taps = p->taps;
    const uint32_t both = cnnvp_minimum32(first_pair + pairs, tile->in_channels / 2u);
    const int16_t *k = weights + 2u * first_pair * taps;
    for (uint32_t pair = first_pair; pair < both; ++pair, k += 2u * taps, out += taps) {
        if (taps == 9u)
            pack_taps(k, k + 9, 9u, out);
        else
            pack_taps(k, k + taps, taps, out);
    }
    for (size_t t = 0; both < first_pair + pairs && t < taps; ++t)
        out[t] = fx16_pair(k[t], 0);
}

/* Adds a block of positions to the results, skipping the positions between rows. */
static void add_block(const struct cnnvp_fx16_tile *tile, const struct packing *p, uint32_t position, uint32_t count,
                      const int64_t *block, uint32_t channels, int64_t *sums)
{
    uint32_t y = position / p->row;
    uint32_t x = position % p->row;
    for (uint32_t at = 0; at < count; ++y, at += p->row - x, x = 0) {
        if (x >= tile->out_w)
            continue;
        const uint32_t n = cnnvp_minimum32(tile->out_w - x, count - at);
        const int64_t *from = block + at;
        int64_t *to = sums + (uint64_t)y * tile->out_w + x;
        for (uint32_t c = 0; c < channels; ++c, from += FX16_DIRECT_POSITIONS, to += tile->plane_words)
            for (uint32_t i = 0; i < n; ++i)
                to[i] += from[i];
    }
}

static int conv_direct(const struct fx16_kernels *kernels, const struct cnnvp_fx16_tile *tile,
                       const struct cnnvp_fx16_data *data, struct cnnvp_fx16_scratch *scratch)
{
    struct packing p;
    int64_t block[FX16_DIRECT_CHANNELS * FX16_DIRECT_POSITIONS];
    const int status = plan_packing(tile, scratch, &p);
    if (status != CNNVP_OK)
        return status;
    const bool packed = has_input(scratch, tile, data->input) && p.pairs == p.total_pairs;
    if (!packed)
        make_offsets(tile, &p);
    const uint64_t terms = (uint64_t)tile->in_channels * p.taps;
    for (uint32_t first = 0; first < p.total_pairs; first += p.pairs) {
        const uint32_t pairs = cnnvp_minimum32(p.pairs, p.total_pairs - first);
        const size_t steps = (size_t)pairs * p.taps;
        for (uint32_t i = 0; i < pairs && !packed; ++i) {
            const uint64_t channel = 2u * (uint64_t)(first + i);
            const int16_t *plane = data->input + channel * tile->in_channel_stride;
            const bool both = channel + 1u < tile->in_channels;
            pack_pair(tile, &p, plane, both ? plane + tile->in_channel_stride : NULL, p.low + 2u * i * p.plane);
        }
        if (!packed)
            kernels->split(p.low, 2u * pairs * p.plane, p.high);
        for (uint32_t o = 0; o < tile->out_channels; o += FX16_DIRECT_CHANNELS) {
            const uint32_t channels = cnnvp_minimum32(FX16_DIRECT_CHANNELS, tile->out_channels - o);
            for (uint32_t c = 0; c < channels; ++c)
                pack_weights(tile, &p, data->weights + (o + c) * terms, first, pairs, p.weights + c * steps);
            for (uint32_t at = 0; at < p.positions; at += FX16_DIRECT_POSITIONS) {
                const uint32_t count = cnnvp_minimum32(FX16_DIRECT_POSITIONS, p.positions - at);
                kernels->direct(p.low + 2u * (size_t)at, p.high + 2u * (size_t)at, p.offsets, p.weights, steps, steps,
                                channels, count, block);
                add_block(tile, &p, at, count, block, channels, data->sums + o * tile->plane_words);
            }
        }
    }
    return CNNVP_OK;
}

/* ---- dense convolution as dot products ---- */

/*
 * Gathers all taps of one position in the order of the weights. Rows of up to four taps are copied as four words where
 * the input has four words left; the next row overwrites the excess.
 */
static void gather_taps(const struct cnnvp_fx16_tile *tile, const int16_t *input, uint32_t y, uint32_t x, int16_t *to)
{
    const uint32_t kx = tile->kx;
    const uint32_t ky = tile->ky;
    const uint32_t channels = tile->in_channels;
    const uint64_t distance = tile->dx;
    const uint64_t row_stride = (uint64_t)tile->dy * tile->in_row_stride;
    const uint64_t channel_stride = tile->in_channel_stride;
    const uint64_t last_four = distance == 1u && kx <= 4u && tile->in_span >= 4u ? tile->in_span - 4u : 0;
    const uint64_t corner = (uint64_t)y * tile->sy * tile->in_row_stride + (uint64_t)x * tile->sx;
    for (uint64_t c = 0; c < channels; ++c) {
        uint64_t at = corner + c * channel_stride;
        for (uint32_t row = 0; row < ky; ++row, at += row_stride, to += kx) {
            if (at < last_four) {
                memcpy(to, input + at, 4u * sizeof *to);
                continue;
            }
            for (uint32_t i = 0; i < kx; ++i)
                to[i] = input[at + i * distance];
        }
    }
}

static int conv_dot(const struct fx16_kernels *kernels, const struct cnnvp_fx16_tile *tile,
                    const struct cnnvp_fx16_data *data, struct cnnvp_fx16_scratch *scratch)
{
    const uint64_t area = tile->plane_words;
    const uint64_t terms = (uint64_t)tile->in_channels * tile->kx * tile->ky;
    const uint64_t whole = terms / FX16_DOT_ALIGN * FX16_DOT_ALIGN;
    const uint64_t pitch = round_up(terms, FX16_DOT_ALIGN);
    const uint64_t vectors = round_up(area, FX16_DOT_POSITIONS);
    int16_t *low = (int16_t *)(void *)reserve(scratch, (2u * vectors * pitch + GATHER_SLACK) * sizeof *low);
    if (low == NULL)
        return CNNVP_E_NOMEM;
    int16_t *high = low + vectors * pitch + GATHER_SLACK;
    if (!has_input(scratch, tile, data->input)) {
        for (uint32_t i = 0; i < area; ++i) {
            gather_taps(tile, data->input, i / tile->out_w, i % tile->out_w, low + i * pitch);
            memset(low + i * pitch + terms, 0, (pitch - terms) * sizeof *low);
        }
        memset(low + area * pitch, 0, (vectors - area) * pitch * sizeof *low);
        kernels->split(low, vectors * pitch, high);
    }
    for (uint32_t o = 0; o < tile->out_channels; o += FX16_DOT_OUTPUTS) {
        const uint32_t outputs = cnnvp_minimum32(FX16_DOT_OUTPUTS, tile->out_channels - o);
        const int16_t *weights = data->weights + o * terms;
        int16_t tails[FX16_DOT_OUTPUTS * FX16_DOT_ALIGN] = {0};
        for (uint32_t t = 0; t < outputs && whole < terms; ++t)
            memcpy(tails + t * FX16_DOT_ALIGN, weights + t * terms + whole, (terms - whole) * sizeof *tails);
        for (uint64_t i = 0; i < area; i += FX16_DOT_POSITIONS) {
            int64_t sums[FX16_DOT_OUTPUTS * FX16_DOT_POSITIONS] = {0};
            kernels->dot(weights, terms, outputs, low + i * pitch, high + i * pitch, pitch, whole, sums);
            if (whole < terms)
                kernels->dot(tails, FX16_DOT_ALIGN, outputs, low + i * pitch + whole, high + i * pitch + whole, pitch,
                             FX16_DOT_ALIGN, sums);
            const uint64_t positions = area - i < FX16_DOT_POSITIONS ? area - i : FX16_DOT_POSITIONS;
            for (uint32_t t = 0; t < outputs; ++t)
                for (uint64_t p = 0; p < positions; ++p)
                    data->sums[(o + t) * area + i + p] = sums[t * FX16_DOT_POSITIONS + p];
        }
    }
    return CNNVP_OK;
}

/* ---- row by row ---- */

/* Every input reads as 1, so each result of a channel is the sum of the channel's weights. */
static void conv_ones(const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_data *data)
{
    const uint64_t terms = tile->weight_span / tile->out_channels;
    for (uint64_t o = 0; o < tile->out_channels; ++o) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < terms; ++i)
            sum += data->weights[o * terms + i];
        for (uint64_t i = 0; i < tile->plane_words; ++i)
            data->sums[o * tile->plane_words + i] = sum;
    }
}

/* Applies one PE operation to a row of partial sums p. */
static void apply_row(const struct fx16_kernels *kernels, const struct cnnvp_fx16_operation *operation,
                      const int16_t *input, size_t step, int16_t k, size_t n, int64_t *p)
{
    if (operation->compare) {
        for (size_t i = 0; i < n; ++i)
            p[i] = p[i] > input[i * step] ? p[i] : input[i * step];
        return;
    }
    if (operation->from_k) {
        for (size_t i = 0; i < n; ++i)
            p[i] = k;
    }
    if (operation->product == CNNVP_FX16_PRODUCT_AA) {
        for (size_t i = 0; i < n; ++i)
            p[i] += input[i * step] * input[i * step];
    } else {
        kernels->row(input, step, operation->product == CNNVP_FX16_PRODUCT_KA ? k : 1, n, p);
    }
}

/* Range first .. end of the `count` results whose input position start + i * stride lies in valid_first ..
 * valid_end. */
static void clip(uint64_t start, uint32_t stride, uint32_t count, uint32_t valid_first, uint32_t valid_end,
                 uint32_t *first, uint32_t *end)
{
    const uint64_t low = valid_first > start ? (valid_first - start + stride - 1u) / stride : 0;
    const uint64_t high = valid_end > start ? (valid_end - start + stride - 1u) / stride : 0;
    *end = high < count ? (uint32_t)high : count;
    *first = low < *end ? (uint32_t)low : *end;
}

static void window_channel(const struct fx16_kernels *kernels, const struct cnnvp_fx16_tile *tile, const int16_t *input,
                           const int16_t *weights, int64_t *sums)
{
    for (uint32_t ky = 0; ky < tile->ky; ++ky) {
        const uint64_t row = (uint64_t)ky * tile->dy;
        uint32_t y0 = 0;
        uint32_t y1 = tile->out_h;
        if (tile->clipped)
            clip(row, tile->sy, tile->out_h, tile->valid_row_first, tile->valid_row_end, &y0, &y1);
        for (uint32_t kx = 0; kx < tile->kx; ++kx) {
            const uint64_t col = (uint64_t)kx * tile->dx;
            uint32_t x0 = 0;
            uint32_t x1 = tile->out_w;
            if (tile->clipped)
                clip(col, tile->sx, tile->out_w, tile->valid_col_first, tile->valid_col_end, &x0, &x1);
            const int16_t k = tile->uses_k ? weights[(uint64_t)ky * tile->kx + kx] : 0;
            for (uint32_t y = y0; y < y1 && x0 < x1; ++y)
                apply_row(kernels, &tile->operation,
                          input + (row + (uint64_t)y * tile->sy) * tile->in_row_stride + col + (uint64_t)x0 * tile->sx,
                          tile->sx, k, x1 - x0, sums + (uint64_t)y * tile->out_w + x0);
        }
    }
}

static void window_channels(const struct fx16_kernels *kernels, const struct cnnvp_fx16_tile *tile,
                            const struct cnnvp_fx16_data *data)
{
    const uint64_t taps = (uint64_t)tile->kx * tile->ky;
    for (uint64_t c = 0; c < tile->in_channels; ++c)
        window_channel(kernels, tile, data->input + c * tile->in_channel_stride,
                       tile->uses_k ? data->weights + c * taps : NULL, data->sums + c * tile->plane_words);
}

/* ---- whole commands ---- */

/* Sets the partial sums P to their value before the first operation. */
static void initialise(const struct cnnvp_fx16_tile *tile, int64_t *sums)
{
    const uint64_t count = tile->planes * tile->plane_words;
    if (!tile->operation.compare) {
        memset(sums, 0, count * sizeof *sums);
        return;
    }
    for (uint64_t i = 0; i < count; ++i)
        sums[i] = CNNVP_FX16_MINIMUM;
}

/* Adds `bias` to each sum and wraps it as cnnvp_wrap does. */
static void finish_sums(int64_t *sums, uint64_t count, uint64_t bias, uint32_t acc_bits)
{
    const uint64_t sign = UINT64_C(1) << (acc_bits - 1u);
    const uint64_t mask = (sign << 1) - 1u;
    for (uint64_t i = 0; i < count; ++i)
        sums[i] = (int64_t)(((((uint64_t)sums[i] + bias) & mask) ^ sign) - sign);
}

/* Adds the bias and keeps the low acc_bits bits of each sum. */
static void finish(uint32_t acc_bits, const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_data *data)
{
    const bool per_word = tile->kind == CNNVP_FX16_MATMUL;
    const uint64_t biases = per_word ? tile->plane_words : tile->planes;
    const uint64_t each = per_word ? 1u : tile->plane_words;
    for (uint64_t i = 0; i < biases; ++i) {
        const uint64_t bias = tile->bias ? (uint64_t)cnnvp_fx16_bias(data->bias[i], tile->bias_shift) : 0;
        finish_sums(data->sums + i * each, each, bias, acc_bits);
    }
}

int cnnvp_fx16_compute_with(const struct fx16_kernels *kernels, uint32_t acc_bits, const struct cnnvp_fx16_tile *tile,
                            const struct cnnvp_fx16_data *data, struct cnnvp_fx16_scratch *scratch)
{
    const uint64_t terms = (uint64_t)tile->in_channels * tile->kx * tile->ky;
    int status = CNNVP_OK;
    initialise(tile, data->sums);
    if (tile->kind == CNNVP_FX16_MATMUL)
        kernels->matmul(data->input, data->weights, tile->inputs, tile->outputs, data->sums);
    else if (tile->ones)
        conv_ones(tile, data);
    else if (tile->per_channel)
        window_channels(kernels, tile, data);
    else if (tile->plane_words <= DOT_MAX_AREA && terms >= DOT_MIN_TERMS)
        status = conv_dot(kernels, tile, data, scratch);
    else
        status = conv_direct(kernels, tile, data, scratch);
    if (status == CNNVP_OK)
        finish(acc_bits, tile, data);
    return status;
}

int cnnvp_fx16_compute(uint32_t acc_bits, const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_data *data,
                       struct cnnvp_fx16_scratch *scratch)
{
    return cnnvp_fx16_compute_with(cnnvp_fx16_kernels(), acc_bits, tile, data, scratch);
}
