/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PE module clock by clock (S001 D-emb, Part B 1-4, 1-5, 1-7, 1-18, 1-19). What is stepped:
 *
 * - input ports, one for each array and PE row: a mantissa a clock, the same for all columns;
 * - weight ports, one for each column and PE row: a mantissa a clock, the same for all arrays;
 * - PEs: weights of three taps (weight stationary), a running sum, an output register;
 * - a column adder over the PEs of a column, and one receive port for each column and array, a sum a clock.
 *
 * A sum that leaves is added to its place in the intermediate buffer: its zones hold the command's sums exactly
 * until the command is over, when they are brought in as train_store.c says. Output registers drain while the next
 * pass runs.
 */
#include "train_tile.h"

#include <stdlib.h>

struct pe {
    int64_t weights[CNNVP_TRAIN_TAPS];
    int64_t sum;
    int64_t output;
};

struct module {
    const struct cnnvp_train_shape *shape;
    const struct cnnvp_train_tile *tile;
    const struct cnnvp_train_data *data;
    struct cnnvp_train_cost *cost;
    struct pe *pes;        /* [array][column][row] */
    int64_t *input_ports;  /* [array][row] */
    int64_t *weight_ports; /* [column][row] */
    int64_t *zones;        /* sums: [image][out channel][y][x], gradients [out channel][in channel][ky][kx] */
    bool *touched;         /* whether a zone's word holds a sum of this command */
    uint64_t clock;
    uint64_t drained_at; /* clock at which the output registers are free again */
};

/* ---- parts of the module ---- */

static struct pe *pe_at(const struct module *m, uint64_t array, uint64_t column, uint64_t row)
{
    return &m->pes[(array * m->shape->cols + column) * m->shape->rows + row];
}

static int64_t fetch(const struct module *m, const void *operand, uint64_t index)
{
    if (operand == NULL)
        return 0;
    return cnnvp_train_is_wide(m->shape) ? ((const int32_t *)operand)[index] : ((const int8_t *)operand)[index];
}

/* A mantissa of the first operand through an input port; outside the map the address generator gives 0. */
static void read_input(struct module *m, uint64_t array, uint64_t row, uint64_t image, uint64_t channel, int64_t y,
                       int64_t x)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const bool inside = y >= 0 && x >= 0;
    m->input_ports[array * m->shape->rows + row] =
        inside ? fetch(m, m->data->input,
                       image * tile->in_image_stride + channel * tile->in_channel_stride +
                           cnnvp_train_in_row(tile, (uint64_t)y) + (uint64_t)x)
               : 0;
    ++m->cost->input_words;
}

static void read_weight(struct module *m, uint64_t column, uint64_t row, bool inside, uint64_t index)
{
    m->weight_ports[column * m->shape->rows + row] = inside ? fetch(m, m->data->second, index) : 0;
    ++m->cost->weight_words;
}

/* A sum through a receive port into its zone. */
static void receive(struct module *m, uint64_t word, int64_t sum)
{
    ++m->cost->output_words;
    if (m->touched[word] || m->tile->accumulate)
        ++m->cost->partial_words;
    m->touched[word] = true;
    m->zones[word] += sum;
}

static void tick(struct module *m)
{
    ++m->clock;
    ++m->cost->compute_cycles;
}

/* A pass is over: its sums move to the output registers once those are empty, and leave in `clocks`. */
static void drain(struct module *m, uint64_t clocks)
{
    if (m->clock < m->drained_at) {
        m->cost->writeout_cycles += m->drained_at - m->clock;
        m->clock = m->drained_at;
    }
    m->drained_at = m->clock + clocks;
}

/* The column adder. */
static int64_t column_sum(const struct module *m, uint64_t array, uint64_t column)
{
    int64_t sum = 0;
    for (uint64_t row = 0; row < m->shape->rows; ++row)
        sum += pe_at(m, array, column, row)->output;
    return sum;
}

static uint32_t active(uint32_t total, uint32_t first, uint32_t most)
{
    return total - first < most ? total - first : most;
}

/* ---- convolution, forward and error: weight stationary ---- */

/* A kernel piece of one input channel for a group of kernels. */
struct piece {
    uint32_t channel;
    uint32_t column; /* first kernel */
    uint32_t columns;
    uint32_t ky, kx; /* first row and column of the piece */
};

/* Where tap (ky, kx) of the sweep lies in the kernel: in errors turned by 180 degrees. */
static uint32_t turned(const struct module *m, uint32_t k, uint32_t size)
{
    return m->tile->kind == CNNVP_TRAIN_ERROR ? size - 1u - k : k;
}

static void load_weights(struct module *m, const struct piece *piece)
{
    const struct cnnvp_train_tile *tile = m->tile;
    for (uint32_t t = 0; t < CNNVP_TRAIN_TAPS; ++t)
        for (uint32_t column = 0; column < piece->columns; ++column)
            for (uint32_t row = 0; row < m->shape->rows; ++row) {
                const uint32_t ky = piece->ky + row;
                const uint32_t kx = piece->kx + t;
                const bool inside = ky < tile->ky && kx < tile->kx;
                const uint64_t tap =
                    inside ? (uint64_t)turned(m, ky, tile->ky) * tile->kx + turned(m, kx, tile->kx) : 0;
                read_weight(m, column, row, inside,
                            (piece->column + column) * tile->w_out_stride + piece->channel * tile->w_in_stride + tap);
                for (uint32_t array = 0; array < m->shape->arrays; ++array)
                    pe_at(m, array, column, row)->weights[t] = m->weight_ports[column * m->shape->rows + row];
            }
}

/* Tap t of the piece at one pixel, in all PEs at once. */
static void convolution_clock(struct module *m, const struct piece *piece, uint32_t image, uint32_t images, uint32_t y,
                              uint32_t x, uint32_t t)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const uint32_t kx = piece->kx + t;
    for (uint32_t array = 0; array < images; ++array)
        for (uint32_t row = 0; row < m->shape->rows; ++row) {
            const uint32_t ky = piece->ky + row;
            const bool inside = ky < tile->ky && kx < tile->kx;
            const int64_t sy =
                inside ? cnnvp_train_source(tile, y, turned(m, ky, tile->ky), tile->sy, tile->py, tile->in_h) : -1;
            const int64_t sx =
                inside ? cnnvp_train_source(tile, x, turned(m, kx, tile->kx), tile->sx, tile->px, tile->in_w) : -1;
            read_input(m, array, row, image + array, piece->channel, sy, sx);
            for (uint32_t column = 0; column < piece->columns; ++column) {
                struct pe *pe = pe_at(m, array, column, row);
                pe->sum = (t == 0 ? 0 : pe->sum) + pe->weights[t] * m->input_ports[array * m->shape->rows + row];
                m->cost->macs += inside;
            }
        }
    tick(m);
}

static void sweep_piece(struct module *m, const struct piece *piece, uint32_t image, uint32_t images)
{
    const struct cnnvp_train_tile *tile = m->tile;
    load_weights(m, piece);
    for (uint32_t y = 0; y < tile->out_h; ++y)
        for (uint32_t x = 0; x < tile->out_w; ++x) {
            for (uint32_t t = 0; t < CNNVP_TRAIN_TAPS; ++t)
                convolution_clock(m, piece, image, images, y, x, t);
            drain(m, 1u);
            for (uint32_t array = 0; array < images; ++array)
                for (uint32_t column = 0; column < piece->columns; ++column) {
                    for (uint32_t row = 0; row < m->shape->rows; ++row)
                        pe_at(m, array, column, row)->output = pe_at(m, array, column, row)->sum;
                    const uint64_t plane = (uint64_t)(image + array) * tile->out_channels + piece->column + column;
                    receive(m, (plane * tile->out_h + y) * tile->out_w + x, column_sum(m, array, column));
                }
        }
}

/* Channel by channel, each meets all kernels before the next (S001 D-emb fwd-5). */
static void convolution(struct module *m)
{
    const struct cnnvp_train_tile *tile = m->tile;
    struct piece piece;
    for (uint32_t image = 0; image < tile->images; image += m->shape->arrays)
        for (piece.channel = 0; piece.channel < tile->in_channels; ++piece.channel)
            for (piece.column = 0; piece.column < tile->out_channels; piece.column += m->shape->cols)
                for (piece.ky = 0; piece.ky < tile->ky; piece.ky += m->shape->rows)
                    for (piece.kx = 0; piece.kx < tile->kx; piece.kx += CNNVP_TRAIN_TAPS) {
                        piece.columns = active(tile->out_channels, piece.column, m->shape->cols);
                        sweep_piece(m, &piece, image, active(tile->images, image, m->shape->arrays));
                    }
}

/* ---- gradient of a convolution ---- */

/* Channels of activations on the arrays, of errors on the columns; a kernel piece. */
struct block {
    uint32_t image;
    uint32_t array, arrays;
    uint32_t column, columns;
    uint32_t ky, kx;
};

static void clear_sums(struct module *m)
{
    const uint64_t all = (uint64_t)m->shape->arrays * m->shape->cols * m->shape->rows;
    for (uint64_t i = 0; i < all; ++i)
        m->pes[i].sum = 0;
}

static uint64_t error_index(const struct module *m, const struct block *block, uint32_t column, uint32_t y, uint32_t x)
{
    return block->image * m->tile->error_image_stride + (block->column + column) * m->tile->error_channel_stride +
           cnnvp_train_error_row(m->tile, y) + x;
}

/* PE row `row` multiplies the error at (y, x), which lies on its port, with the activation under tap (ky, kx). */
static void gradient_row(struct module *m, const struct block *block, uint32_t row, uint32_t y, uint32_t x, uint32_t ky,
                         uint32_t kx)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const bool inside = ky < tile->ky && kx < tile->kx;
    const int64_t sy = inside ? cnnvp_train_source(tile, y, ky, tile->sy, tile->py, tile->in_h) : -1;
    const int64_t sx = inside ? cnnvp_train_source(tile, x, kx, tile->sx, tile->px, tile->in_w) : -1;
    for (uint32_t array = 0; array < block->arrays; ++array) {
        read_input(m, array, row, block->image, block->array + array, sy, sx);
        for (uint32_t column = 0; column < block->columns; ++column) {
            pe_at(m, array, column, row)->sum +=
                m->weight_ports[column * m->shape->rows + row] * m->input_ports[array * m->shape->rows + row];
            m->cost->macs += inside;
        }
    }
}

static uint64_t gradient_word(const struct module *m, const struct block *block, uint32_t array, uint32_t column,
                              uint32_t ky, uint32_t kx)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const uint64_t kernel = (uint64_t)(block->column + column) * tile->in_channels + block->array + array;
    return (kernel * tile->ky + ky) * tile->kx + kx;
}

/* PE row = kernel row, one kernel column a pass; the PEs of a column share the error, the adder is bypassed. */
static void gradient_by_kernel_rows(struct module *m, const struct block *block, uint32_t t)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const uint32_t rows = m->shape->rows;
    const uint32_t kx = block->kx + t;
    clear_sums(m);
    for (uint32_t y = 0; y < tile->out_h; ++y)
        for (uint32_t x = 0; x < tile->out_w; ++x) {
            for (uint32_t column = 0; column < block->columns; ++column) {
                read_weight(m, column, 0, true, error_index(m, block, column, y, x));
                for (uint32_t row = 1; row < rows; ++row)
                    m->weight_ports[column * rows + row] = m->weight_ports[column * rows];
            }
            for (uint32_t row = 0; row < rows; ++row)
                gradient_row(m, block, row, y, x, block->ky + row, kx);
            tick(m);
        }
    drain(m, rows);
    for (uint32_t row = 0; row < rows; ++row) /* in turn through the column's port */
        for (uint32_t array = 0; array < block->arrays; ++array)
            for (uint32_t column = 0; column < block->columns; ++column)
                if (block->ky + row < tile->ky && kx < tile->kx)
                    receive(m, gradient_word(m, block, array, column, block->ky + row, kx),
                            pe_at(m, array, column, row)->sum);
}

/* PE row = error row, one tap a pass; the adder brings the rows together. */
static void gradient_by_error_rows(struct module *m, const struct block *block, uint32_t r, uint32_t t)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const uint32_t rows = m->shape->rows;
    const uint32_t ky = block->ky + r;
    const uint32_t kx = block->kx + t;
    clear_sums(m);
    for (uint32_t y = 0; y < tile->out_h; y += rows)
        for (uint32_t x = 0; x < tile->out_w; ++x) {
            for (uint32_t row = 0; row < rows && y + row < tile->out_h; ++row) {
                for (uint32_t column = 0; column < block->columns; ++column)
                    read_weight(m, column, row, true, error_index(m, block, column, y + row, x));
                gradient_row(m, block, row, y + row, x, ky, kx);
            }
            tick(m);
        }
    drain(m, 1u);
    for (uint32_t array = 0; array < block->arrays; ++array)
        for (uint32_t column = 0; column < block->columns; ++column) {
            for (uint32_t row = 0; row < rows; ++row)
                pe_at(m, array, column, row)->output = pe_at(m, array, column, row)->sum;
            if (ky < tile->ky && kx < tile->kx)
                receive(m, gradient_word(m, block, array, column, ky, kx), column_sum(m, array, column));
        }
}

static void gradient_block(struct module *m, const struct block *block)
{
    for (uint32_t t = 0; t < CNNVP_TRAIN_TAPS; ++t) {
        if (!m->shape->gradient_adder)
            gradient_by_kernel_rows(m, block, t);
        for (uint32_t r = 0; m->shape->gradient_adder && r < m->shape->rows; ++r)
            gradient_by_error_rows(m, block, r, t);
    }
}

/* Images innermost, then groups of errors, then groups of activations (S001 D-emb grad-6). */
static void gradient(struct module *m)
{
    const struct cnnvp_train_tile *tile = m->tile;
    struct block b;
    for (b.array = 0; b.array < tile->in_channels; b.array += m->shape->arrays)
        for (b.column = 0; b.column < tile->out_channels; b.column += m->shape->cols)
            for (b.ky = 0; b.ky < tile->ky; b.ky += m->shape->rows)
                for (b.kx = 0; b.kx < tile->kx; b.kx += CNNVP_TRAIN_TAPS)
                    for (b.image = 0; b.image < tile->images; ++b.image) {
                        b.arrays = active(tile->in_channels, b.array, m->shape->arrays);
                        b.columns = active(tile->out_channels, b.column, m->shape->cols);
                        gradient_block(m, &b);
                    }
}

/* ---- fully connected: output stationary ---- */

static void connected_clock(struct module *m, uint32_t image, uint32_t images, uint32_t first, uint32_t rows,
                            uint32_t i)
{
    const struct cnnvp_train_tile *tile = m->tile;
    for (uint32_t array = 0; array < images; ++array)
        read_input(m, array, 0, image + array, i, 0, 0);
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t column = 0; column < m->shape->cols; ++column) {
            const uint32_t o = first + row * m->shape->cols + column;
            if (o >= tile->out_channels)
                continue;
            read_weight(m, column, row, true, o * tile->w_out_stride + i * tile->w_in_stride);
            for (uint32_t array = 0; array < images; ++array) {
                pe_at(m, array, column, row)->sum +=
                    m->weight_ports[column * m->shape->rows + row] * m->input_ports[array * m->shape->rows];
                ++m->cost->macs;
            }
        }
    tick(m);
}

static void connected(struct module *m)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const uint32_t rows = m->shape->fc_all_rows ? m->shape->rows : 1u;
    for (uint32_t image = 0; image < tile->images; image += m->shape->arrays)
        for (uint32_t first = 0; first < tile->out_channels; first += m->shape->cols * rows) {
            const uint32_t images = active(tile->images, image, m->shape->arrays);
            clear_sums(m);
            for (uint32_t i = 0; i < tile->in_channels; ++i)
                connected_clock(m, image, images, first, rows, i);
            drain(m, rows);
            for (uint32_t row = 0; row < rows; ++row)
                for (uint32_t array = 0; array < images; ++array)
                    for (uint32_t column = 0; column < m->shape->cols; ++column) {
                        const uint64_t o = first + row * m->shape->cols + column;
                        if (o < tile->out_channels)
                            receive(m, (uint64_t)(image + array) * tile->out_channels + o,
                                    pe_at(m, array, column, row)->sum);
                    }
        }
}

/* Activations on the arrays, errors on the columns: a product each, the first row of PEs alone. */
static void connected_gradient(struct module *m)
{
    const struct cnnvp_train_tile *tile = m->tile;
    struct block b = {0};
    for (b.array = 0; b.array < tile->in_channels; b.array += m->shape->arrays)
        for (b.column = 0; b.column < tile->out_channels; b.column += m->shape->cols)
            for (b.image = 0; b.image < tile->images; ++b.image) {
                b.arrays = active(tile->in_channels, b.array, m->shape->arrays);
                b.columns = active(tile->out_channels, b.column, m->shape->cols);
                clear_sums(m);
                for (uint32_t column = 0; column < b.columns; ++column)
                    read_weight(m, column, 0, true, error_index(m, &b, column, 0, 0));
                gradient_row(m, &b, 0, 0, 0, 0, 0);
                tick(m);
                drain(m, 1u);
                for (uint32_t array = 0; array < b.arrays; ++array)
                    for (uint32_t column = 0; column < b.columns; ++column)
                        receive(m, gradient_word(m, &b, array, column, 0, 0), pe_at(m, array, column, 0)->sum);
            }
}

/* ---- commands ---- */

static void run(struct module *m)
{
    if (m->tile->kind == CNNVP_TRAIN_GRADIENT && m->tile->connected)
        connected_gradient(m);
    else if (m->tile->kind == CNNVP_TRAIN_GRADIENT)
        gradient(m);
    else if (m->tile->connected)
        connected(m);
    else
        convolution(m);
}

/* The zones' sums into the intermediate buffer, runs of one scale at a time. */
static void bring_in(const struct module *m, uint64_t *saturated)
{
    const struct cnnvp_train_tile *tile = m->tile;
    const bool gradients = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint32_t outer = gradients ? tile->in_channels : tile->images;
    const uint64_t run_words = gradients ? (uint64_t)tile->kx * tile->ky : (uint64_t)tile->out_h * tile->out_w;
    for (uint32_t i = 0; i < outer; ++i)
        for (uint32_t o = 0; o < tile->out_channels; ++o) {
            const uint64_t zone =
                gradients ? (uint64_t)o * tile->in_channels + i : (uint64_t)i * tile->out_channels + o;
            const uint64_t at = o * tile->out_channel_stride + (gradients ? i * run_words : i * tile->out_image_stride);
            const int32_t scale = tile->to_float ? cnnvp_train_scale(m->shape, tile, m->data, i, o) : 0;
            cnnvp_train_store(m->shape, tile, tile->accumulate, scale, m->zones + zone * run_words, at, run_words,
                              m->data->results, saturated);
        }
}

static uint64_t zone_words(const struct cnnvp_train_tile *tile)
{
    return tile->kind == CNNVP_TRAIN_GRADIENT ? (uint64_t)tile->out_channels * tile->in_channels * tile->ky * tile->kx
                                              : (uint64_t)tile->images * tile->out_channels * tile->out_h * tile->out_w;
}

static int run_parts(struct module *m, const struct cnnvp_train_tile *tile, const struct cnnvp_train_data *data,
                     uint64_t *saturated)
{
    const uint64_t words = zone_words(tile);
    const bool only_count = data->results == NULL;
    const uint32_t parts = cnnvp_train_parts(tile);
    for (uint32_t i = 0; i < parts; ++i) {
        struct cnnvp_train_tile part = *tile;
        struct cnnvp_train_data part_data = *data;
        if (!only_count) {
            cnnvp_train_part(m->shape, tile, data, i, &part, &part_data);
        } else if (parts > 1u) {
            part.accumulate = tile->accumulate || i != 0;
            *(tile->kind == CNNVP_TRAIN_GRADIENT ? &part.images : &part.in_channels) = 1u;
        }
        m->tile = &part;
        m->data = &part_data;
        for (uint64_t w = 0; w < words; ++w) {
            m->zones[w] = 0;
            m->touched[w] = false;
        }
        run(m);
        if (!only_count)
            bring_in(m, saturated);
    }
    return CNNVP_OK;
}

int cnnvp_train_cycle(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                      const struct cnnvp_train_data *data, struct cnnvp_train_cost *cost, uint64_t *saturated)
{
    const uint64_t words = zone_words(tile);
    struct module m = {.shape = shape, .tile = tile, .data = data, .cost = cost};
    int status = CNNVP_E_NOMEM;
    m.pes = calloc((size_t)shape->arrays * shape->cols * shape->rows, sizeof *m.pes);
    m.input_ports = calloc((size_t)shape->arrays * shape->rows, sizeof *m.input_ports);
    m.weight_ports = calloc((size_t)shape->cols * shape->rows, sizeof *m.weight_ports);
    m.zones = malloc(words * sizeof *m.zones);
    m.touched = malloc(words * sizeof *m.touched);
    *cost = (struct cnnvp_train_cost){0};
    if (m.pes != NULL && m.input_ports != NULL && m.weight_ports != NULL && m.zones != NULL && m.touched != NULL) {
        /* the pipeline, and the first weights of what is weight stationary */
        cost->fill_cycles = shape->pipeline - 1u;
        if (!tile->connected && tile->kind != CNNVP_TRAIN_GRADIENT)
            cost->fill_cycles += CNNVP_TRAIN_TAPS;
        status = run_parts(&m, tile, data, saturated);
        cost->writeout_cycles += m.drained_at - m.clock;
    }
    free(m.pes);
    free(m.input_ports);
    free(m.weight_ports);
    free(m.zones);
    free(m.touched);
    return status;
}
