/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed forms of what a command costs on the systolic array. A convolution is a matrix product with K = taps x input
 * channels, N output channels and P positions (fully connected: P = 1). One of the three dimensions is streamed; the
 * other two are mapped to the rows and columns of PEs, in folds (A. Samajdar et al., SCALE-Sim, ISPASS 2020):
 *
 *              rows  columns  streamed   stationary   enters along the rows   sums
 *         ws   K     N        P          weight       input                   run down the columns
 *         os   P     N        K          sum          input                   stay, and leave by the columns
 *         is   K     P        N          input        weight                  run down the columns
 *
 * A fold takes `rows` cycles to shift the stationary operand in (os: out), T cycles to stream, and rows + cols - 2
 * cycles of skew until the last PE has its last operand: T + 2 rows + cols - 2. This also holds for folds that leave
 * PEs idle. `folds: double` shifts while the fold before or after streams. `pipelined` also streams the next fold
 * directly behind, so that the skew counts once a command. The stages below the columns count once a command.
 *
 * With several folds of K (ws, is), each column adds them up in its accumulators. T is cut into parts that the
 * accumulators hold, as equal as possible, and each part runs all folds again. The first fold writes the accumulators,
 * the last one reads them. Those between do both, which takes two cycles if the accumulators have one port and one
 * bank. A single fold of K bypasses the accumulators.
 *
 * Along K, all channels of a tap come before the next tap, so the rows read different maps; with os they do because of
 * the skew. Depthwise: with ws and os a column is a channel (K = taps, N = channels), and each PE reads its own word;
 * with is the columns are positions, and the channels run one after another. Weights and results lie in the buffers in
 * the order of the clocks that use them, side by side. Biases are read in clocks in which the weight buffer's port has
 * room; the command is longer if they are too few.
 */
#include "systolic_tile.h"

#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"

struct mapping {
    uint64_t k, n, p, groups;
    uint64_t deep;               /* k / taps: input channels */
    uint64_t rows, cols, length; /* sizes of the dimensions mapped to rows and columns, and of the streamed one */
    uint64_t row_folds, col_folds;
    struct cnnvp_parts parts[2]; /* parts of `length` that the accumulators hold */
    struct cnnvp_parts by_rows[2], by_cols[2];
    bool accumulates;
};

static uint64_t excess(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t part_count(const struct mapping *map)
{
    return map->parts[0].count + map->parts[1].count;
}

static struct mapping map_of(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile)
{
    const bool dense = tile->kind == CNNVP_FX16_MATMUL;
    const uint64_t taps = dense ? 1u : (uint64_t)tile->kx * tile->ky;
    const bool apart = cnnvp_systolic_apart(shape, tile);
    struct mapping map = {
        .k = dense               ? tile->inputs
             : tile->per_channel ? taps
                                 : taps * tile->in_channels,
        .n = dense                         ? tile->outputs
             : tile->per_channel && !apart ? 1u
                                           : tile->out_channels,
        .p = dense ? 1u : (uint64_t)tile->out_h * tile->out_w,
        .groups = tile->per_channel && !apart ? tile->out_channels : 1u,
    };
    map.deep = map.k / taps;
    map.rows = shape->dataflow == CNNVP_SYSTOLIC_OS ? map.p : map.k;
    map.cols = shape->dataflow == CNNVP_SYSTOLIC_IS ? map.p : map.n;
    map.length = shape->dataflow == CNNVP_SYSTOLIC_WS ? map.p : shape->dataflow == CNNVP_SYSTOLIC_OS ? map.k : map.n;
    cnnvp_cut(map.rows, shape->rows, map.by_rows);
    cnnvp_cut(map.cols, shape->cols, map.by_cols);
    map.row_folds = map.by_rows[0].count + map.by_rows[1].count;
    map.col_folds = map.by_cols[0].count + map.by_cols[1].count;
    map.accumulates = shape->dataflow != CNNVP_SYSTOLIC_OS && map.row_folds > 1u;
    const uint64_t parts = map.accumulates ? cnnvp_divide_up(map.length, shape->depth) : 1u;
    cnnvp_cut(map.length, (uint32_t)cnnvp_divide_up(map.length, parts), map.parts);
    return map;
}

static void count_cycles(const struct cnnvp_systolic_shape *shape, const struct mapping *map,
                         struct cnnvp_fx16_cost *cost)
{
    const uint64_t skew = (uint64_t)shape->rows + shape->cols - 2u;
    const uint64_t sweeps = map->groups * map->col_folds;
    const uint64_t slow = map->accumulates && shape->one_at_a_time ? map->row_folds - 2u : 0; /* two-cycle folds */
    const uint64_t folds = sweeps * map->row_folds * part_count(map);
    uint64_t shown = 0; /* shift cycles that the streaming of the fold before does not hide */
    for (const struct cnnvp_parts *part = map->parts; part < map->parts + 2; ++part)
        shown += part->count * sweeps *
                 ((map->row_folds - slow) * excess(shape->rows, part->size) +
                  slow * excess(shape->rows, 2u * (uint64_t)part->size));
    shown -= excess(shape->rows, map->parts[map->parts[1].count != 0].size);
    cost->compute_cycles = sweeps * map->row_folds * map->length;
    cost->accumulator_cycles = sweeps * slow * map->length;
    cost->fill_cycles = shape->pipeline + (shape->folds == CNNVP_SYSTOLIC_SINGLE   ? folds * (shape->rows + skew)
                                           : shape->folds == CNNVP_SYSTOLIC_DOUBLE ? shape->rows + folds * skew
                                                                                   : shape->rows + skew + shown);
}

static void count_words(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile,
                        const struct mapping *map, struct cnnvp_fx16_cost *cost)
{
    const uint64_t parts = part_count(map);
    const uint64_t hops = map->groups * parts * map->row_folds * map->cols * shape->rows * (shape->rows - 1u) / 2u;
    const uint64_t inputs = map->groups * map->k * map->p, weights = map->groups * map->k * map->n;
    const bool apart = cnnvp_systolic_apart(shape, tile);
    const uint64_t kept = map->accumulates ? 2u * (map->row_folds - 1u) : 0; /* accumulator writes and reads of a sum */
    cost->macs = weights * map->p;
    const uint64_t a_words = cnnvp_fx16_words(tile, CNNVP_NARROW_A, cost->macs);
    const uint64_t b_words = cnnvp_fx16_words(tile, CNNVP_NARROW_B, cost->macs);
    cost->accumulator_words = map->groups * map->n * map->p * kept * shape->sum_words;
    cost->output_words = tile->planes * tile->plane_words * (tile->partial ? shape->sum_words : 1u);
    switch (shape->dataflow) {
    case CNNVP_SYSTOLIC_WS:
        cost->input_words = apart ? cost->macs : inputs * map->col_folds;
        cost->weight_words = weights * parts;
        cost->bias_words = tile->bias_words * map->n * parts;
        cost->passed_words =
            cnnvp_fx16_words(tile, CNNVP_NARROW_B, hops) + (apart ? 0 : a_words) + cost->macs * shape->sum_words;
        break;
    case CNNVP_SYSTOLIC_OS:
        cost->input_words = apart ? cost->macs : inputs * map->col_folds;
        cost->weight_words = weights * map->row_folds;
        cost->bias_words = tile->bias_words * map->n * map->row_folds;
        cost->passed_words = hops * shape->sum_words + (apart ? 0 : a_words) + b_words;
        break;
    default:
        cost->input_words = inputs * parts;
        cost->weight_words = weights * map->col_folds;
        cost->bias_words = tile->bias_words * map->groups * map->n * map->col_folds;
        cost->passed_words = cnnvp_fx16_words(tile, CNNVP_NARROW_A, hops) + b_words + cost->macs * shape->sum_words;
        break;
    }
    cost->weight_words += cost->bias_words;
}

/* ---- words that cross the ports in a clock ---- */

/* Adds clocks that each read `words` words, equally many from each of `maps` maps: the taps of one position (`of_taps`)
 * or the positions at one tap. Each of `times` sweeps runs over the positions, or over the taps. */
static void add_input(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_fx16_tile *tile, uint64_t maps,
                      uint64_t words, bool of_taps, uint64_t times)
{
    struct cnnvp_buffer_clocks of = {.times = times, .words = (uint32_t)words};
    const uint32_t each = (uint32_t)cnnvp_divide_up(words, maps);
    if (tile->kind == CNNVP_FX16_MATMUL) {
        of.columns = each;
        cnnvp_fx16_add(clocks, of);
        return;
    }
    of.maps = (uint32_t)maps;
    of.columns = cnnvp_minimum32(each, of_taps ? tile->kx : tile->out_w);
    of.rows = cnnvp_divide_up32(each, of.columns);
    of.column_step = of_taps ? tile->dx : tile->sx;
    of.row_step = of_taps ? tile->dy : tile->sy;
    of.places = of_taps ? tile->out_w : tile->kx;
    of.pitch = of_taps ? tile->sx : tile->dx;
    of.times *= of_taps ? tile->out_h : tile->ky;
    cnnvp_fx16_add(clocks, of);
}

/* Adds clocks that read contiguous words from the start of a line. */
static void add_run(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_parts parts[2], uint64_t times)
{
    for (const struct cnnvp_parts *part = parts; part < parts + 2; ++part)
        cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){.times = part->count * times, .columns = part->size});
}

static void add_output(struct cnnvp_fx16_clocks *clocks, const struct cnnvp_systolic_shape *shape,
                       const struct cnnvp_fx16_tile *tile, const struct mapping *map)
{
    const uint32_t written = tile->partial ? shape->sum_words : 1u;
    const uint32_t read =
        (cnnvp_fx16_finds_sums(tile) ? shape->sum_words : 0) + (cnnvp_fx16_finds_words(tile) ? 1u : 0);
    const uint64_t planes = tile->kind == CNNVP_FX16_MATMUL ? 1u : map->n;
    for (const struct cnnvp_parts *part = map->by_cols; part < map->by_cols + 2; ++part) {
        if (part->count == 0)
            continue;
        const uint32_t maps = (uint32_t)cnnvp_minimum(planes, part->size);
        const uint64_t sums = map->groups * map->n * map->p / map->cols; /* sums of one column */
        cnnvp_fx16_add(clocks, (struct cnnvp_buffer_clocks){
                                   .times = sums * part->count,
                                   .maps = maps * (read != 0 ? 2u : 1u),
                                   .columns = cnnvp_divide_up32(part->size, maps) * cnnvp_maximum32(read, written),
                                   .words = part->size * (read + written)});
    }
}

static void add_clocks(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile,
                       const struct mapping *map, struct cnnvp_fx16_traffic *traffic)
{
    const bool apart = cnnvp_systolic_apart(shape, tile), of_taps = shape->dataflow == CNNVP_SYSTOLIC_WS;
    const uint64_t maps = tile->kind == CNNVP_FX16_MATMUL ? 1u : map->deep, parts = part_count(map);
    if (shape->dataflow == CNNVP_SYSTOLIC_IS) {
        for (const struct cnnvp_parts *c = map->by_cols; c < map->by_cols + 2; ++c)
            if (c->count != 0)
                add_input(&traffic->input, tile, 1u, c->size, false, c->count * parts * map->groups * map->deep);
        add_run(&traffic->weight, map->by_rows, map->groups * map->col_folds * map->length);
        add_output(&traffic->output, shape, tile, map);
        return;
    }
    for (const struct cnnvp_parts *r = map->by_rows; r < map->by_rows + 2; ++r)
        for (const struct cnnvp_parts *c = map->by_cols; c < map->by_cols + 2; ++c) {
            const uint64_t sweeps = r->count * c->count * (of_taps ? 1u : map->deep);
            if (sweeps != 0)
                add_input(&traffic->input, tile, apart ? c->size : cnnvp_minimum(maps, r->size),
                          r->size * (apart ? (uint64_t)c->size : 1u), of_taps, sweeps);
        }
    add_run(&traffic->weight, map->by_cols, of_taps ? map->k * parts : map->row_folds * map->length);
    add_output(&traffic->output, shape, tile, map);
}

void cnnvp_systolic_cost(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile,
                         struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic)
{
    const struct mapping map = map_of(shape, tile);
    *cost = (struct cnnvp_fx16_cost){0};
    count_cycles(shape, &map, cost);
    cost->fill_cycles += tile->scaled ? CNNVP_WRITE_OUT_SCALE_STAGES : 0;
    count_words(shape, tile, &map, cost);
    traffic->weight_cycles = cost->compute_cycles;
    traffic->output_cycles = cost->compute_cycles;
    add_clocks(shape, tile, &map, traffic);
}
