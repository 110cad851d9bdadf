/* SPDX-License-Identifier: Apache-2.0 */
/* What a product takes: a replay (timeline.h) of the instructions of guest/train_product.c. */
#include "train_cost.h"
#include "train_product.h"

#define SUM_BYTES UINT64_C(4)
#define TAPS 3u /* of a PE, one a cycle */
#define BURST_BYTES 64u

/* Cycles of a command besides those of its PEs: 3 taps, the pipeline, the last results. */
#define COMMAND_CYCLES 8u

/* Cycles of the core for what follows a layer's product until the next one's. */
#define POST_CORE 3500u

/* So many groups of images are replayed, whole tiles until there are so many, and so many slices of one; further tiles
 * and slices go on as the later half of these did. */
#define GROUPS 2u
#define TILES 8u
#define SLICES 16u

struct tile {
    uint64_t row, rows, channel, channels;
    uint32_t half;
};

struct replay {
    struct cnnvp_timeline line;
    const struct cnnvp_train_product *p;
    const struct cnnvp_train_tiles *tiles;
    uint32_t pending; /* steps of the tile before that are left */
    struct tile pending_tile;
};

static uint64_t rest_of(uint64_t total, uint64_t at, uint64_t part)
{
    return sooner(total - at, part);
}

/* ---- what there is to do ---- */

/* Slices and tiles that are cut alike. */
struct counts {
    uint64_t slices, groups, rows;
};

static struct counts counts_of(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    return (struct counts){cnnvp_divide_up(p->in_channels, tiles->in), cnnvp_divide_up(p->out_channels, tiles->out),
                           cnnvp_divide_up(p->out_height, tiles->rows)};
}

/* Rows of all channels of an image follow each other where the map's are all there, those of a channel otherwise. */
static uint64_t input_ps(const struct cnnvp_train_product *p, uint64_t in, uint64_t rows)
{
    const uint64_t plane = p->in_height * p->in_width * p->target->value_bytes;
    const uint64_t bytes = cnnvp_train_product_rows(p, rows) * p->in_width * p->target->value_bytes;
    const struct cnnvp_train_pieces whole = {p->images, in * bytes, p->in_channels * plane};
    const struct cnnvp_train_pieces parts = {p->images * in, bytes, plane};
    return cnnvp_train_read_ps(p->target, rows == p->out_height ? whole : parts, p->target->input_width);
}

static uint64_t kernels_ps(const struct cnnvp_train_product *p, uint64_t in, uint64_t out)
{
    const uint64_t bytes = p->taps * p->target->value_bytes;
    const uint64_t pieces = p->error ? in : out;
    const uint64_t each = p->error ? out : in;
    const uint64_t all = p->error ? p->out_channels : p->in_channels;
    const struct cnnvp_train_pieces parts = {pieces, each * bytes, all * bytes};
    const struct cnnvp_train_pieces whole = {1, in * out * bytes, in * out * bytes};
    return cnnvp_train_read_ps(p->target, each == all ? whole : parts, p->target->weight_width);
}

static uint64_t line_ps(const struct cnnvp_train_product *p, uint64_t bytes, uint32_t width)
{
    return cnnvp_train_read_ps(p->target, (struct cnnvp_train_pieces){1, bytes, bytes}, width);
}

/* As for inputs. */
static struct cnnvp_train_write sums_of(const struct cnnvp_train_product *p, uint64_t images, uint64_t channels,
                                        uint64_t rows)
{
    const uint64_t plane = p->out_height * p->out_width * SUM_BYTES;
    const uint64_t bytes = rows * p->out_width * SUM_BYTES;
    const struct cnnvp_train_pieces whole = {images, channels * bytes, p->out_channels * plane};
    const struct cnnvp_train_pieces parts = {images * channels, bytes, plane};
    return cnnvp_train_write_of(p->target, rows == p->out_height ? whole : parts);
}

static uint64_t pieces_of(const struct cnnvp_train_product *p)
{
    return p->connected ? 1u : cnnvp_divide_up(p->kx, TAPS) * cnnvp_divide_up(p->ky, p->target->rows);
}

/* As models/train_array/train_cost.c, with kernels of so many pieces. */
static uint64_t command_ps(const struct cnnvp_train_product *p, uint64_t pieces, uint64_t in, uint64_t out,
                           uint64_t rows)
{
    const struct cnnvp_train_target *target = p->target;
    const uint64_t groups = cnnvp_divide_up(out, p->kernels);
    const uint64_t area = rows * p->out_width;
    const uint64_t cycles = groups * in * pieces * area * (p->connected ? 1u : TAPS);
    const uint64_t piece = p->connected ? 1u : (uint64_t)TAPS * target->rows;
    const uint64_t inputs = p->images * groups * in * pieces * area * piece * target->value_bytes;
    const uint64_t kernels = out * in * pieces * piece * target->value_bytes;
    const uint64_t sums = p->images * out * area * (p->connected ? 1u : in * pieces) * SUM_BYTES;
    const uint64_t all = cycles + COMMAND_CYCLES + cnnvp_train_port_cycles(inputs, target->input_width, cycles) +
                         cnnvp_train_port_cycles(kernels, target->weight_width, cycles) +
                         cnnvp_train_port_cycles(sums, target->output_width, cycles);
    return all * target->timing.cycle;
}

/* Of so many values of each image: images go side by side through the sets of the module. */
static uint64_t statistics_ps(const struct cnnvp_train_product *p, uint64_t values)
{
    return cnnvp_train_module_ps(p->target, cnnvp_divide_up(p->images, later(p->target->module_sets, 1u)) * values, 1u);
}

/* Loads of inputs and of kernels: those that halves hold are not loaded again. */
struct loads {
    uint64_t inputs, kernels;
};

static struct loads loads_of(const struct cnnvp_train_product *p, const struct counts *n)
{
    const uint64_t commands = n->slices * n->groups * n->rows;
    return (struct loads){n->slices <= p->target->input_halves ? n->slices * n->rows : commands,
                          n->slices * n->groups <= p->target->weight_halves ? n->slices * n->groups : commands};
}

uint64_t cnnvp_train_product_memory(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    const struct counts n = counts_of(p, tiles);
    const struct loads loads = loads_of(p, &n);
    return loads.inputs * input_ps(p, tiles->in, tiles->rows) + loads.kernels * kernels_ps(p, tiles->in, tiles->out) +
           sums_of(p, p->images, p->out_channels, p->out_height).busy_ps;
}

/* Bytes that cross the memory's bus at least, halves' contents used as often as they are. */
static uint64_t least_bytes(const struct cnnvp_train_product *p, const struct counts *n, const struct loads *loads)
{
    const uint64_t rows = cnnvp_train_product_rows(p, p->out_height);
    const uint64_t inputs = p->images * p->in_channels * rows * p->in_width * p->target->value_bytes;
    const uint64_t kernels = p->in_channels * p->out_channels * p->taps * p->target->value_bytes;
    const uint64_t sums = p->images * p->out_channels * p->out_height * p->out_width * SUM_BYTES;
    return inputs * (loads->inputs / (n->slices * n->rows)) + kernels * (loads->kernels / (n->slices * n->groups)) +
           sums;
}

uint64_t cnnvp_train_product_bound(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    const struct counts n = counts_of(p, tiles);
    const struct loads loads = loads_of(p, &n);
    const struct cnnvp_train_timing *timing = &p->target->timing;
    const uint64_t commands = n.slices * n.groups * n.rows;
    const uint64_t compute = commands * COMMAND_CYCLES * timing->cycle +
                             command_ps(p, pieces_of(p), p->in_channels, p->out_channels, p->out_height);
    const uint64_t memory = least_bytes(p, &n, &loads) * timing->bus / BURST_BYTES;
    const uint64_t core =
        ((loads.inputs + loads.kernels) * 2u * timing->load_core + commands * timing->calculate_core) * timing->core;
    const uint64_t longest = later(later(compute, memory), core - sooner(core, p->lead));
    return longest / 2u; /* the last tiles and slices may be smaller */
}

/* ---- tiles ---- */

/* Mantissas in so many transfers, and their exponents behind them. */
static void load(struct replay *r, enum cnnvp_timeline_buffer buffer, uint32_t half, uint32_t transfers, uint64_t busy)
{
    for (uint32_t i = 0; i < transfers; ++i)
        cnnvp_timeline_load(&r->line, buffer, half, busy / transfers);
    cnnvp_timeline_load(&r->line, buffer, half, r->p->target->timing.burst);
}

static void advance(struct replay *r)
{
    const struct cnnvp_train_product *p = r->p;
    const struct tile *tile = &r->pending_tile;
    const uint64_t values = tile->channels * tile->rows * p->out_width;
    if (r->pending-- == 2u)
        cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_VECTOR, p->target->timing.post_core,
                           cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, tile->half), statistics_ps(p, values));
    else
        cnnvp_train_store(&r->line, tile->half, sums_of(p, p->images, tile->channels, tile->rows));
}

static void finish(struct replay *r)
{
    while (r->pending != 0)
        advance(r);
}

static void run_slice(struct replay *r, struct tile *tile, uint64_t at)
{
    const struct cnnvp_train_product *p = r->p;
    const uint64_t in = rest_of(p->in_channels, at, r->tiles->in);
    int found = 0;
    const uint32_t input =
        cnnvp_timeline_find(&r->line, CNNVP_TIMELINE_INPUT, 1u + tile->row * p->in_channels + at, &found);
    if (!found)
        load(r, CNNVP_TIMELINE_INPUT, input, p->scattered ? p->images : 1u, input_ps(p, in, tile->rows));
    const uint32_t weight =
        cnnvp_timeline_find(&r->line, CNNVP_TIMELINE_WEIGHT, 1u + tile->channel * p->in_channels + at, &found);
    if (!found)
        load(r, CNNVP_TIMELINE_WEIGHT, weight, 1u, kernels_ps(p, in, tile->channels));
    if (at == 0) {
        if (p->target->output_halves == 1u)
            finish(r);
        tile->half = cnnvp_timeline_take(&r->line, CNNVP_TIMELINE_OUTPUT);
    }
    cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_ARRAY, p->target->timing.calculate_core,
                       cnnvp_timeline_use(CNNVP_TIMELINE_INPUT, input) |
                           cnnvp_timeline_use(CNNVP_TIMELINE_WEIGHT, weight) |
                           cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, tile->half),
                       command_ps(p, pieces_of(p), in, tile->channels, tile->rows));
}

/* The biases: a product with ones. */
static void run_bias(struct replay *r, const struct tile *tile)
{
    const struct cnnvp_train_product *p = r->p;
    int found = 0;
    const uint32_t weight =
        cnnvp_timeline_find(&r->line, CNNVP_TIMELINE_WEIGHT, UINT64_MAX - tile->channel, &found);
    if (!found)
        load(r, CNNVP_TIMELINE_WEIGHT, weight, 1u,
             line_ps(p, tile->channels * p->target->value_bytes, p->target->weight_width));
    cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_ARRAY, p->target->timing.calculate_core,
                       cnnvp_timeline_use(CNNVP_TIMELINE_WEIGHT, weight) |
                           cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, tile->half),
                       command_ps(p, 1, 1, tile->channels, tile->rows));
}

static void run_tile(struct replay *r, struct tile *tile)
{
    const struct cnnvp_train_product *p = r->p;
    const uint64_t slices = cnnvp_divide_up(p->in_channels, r->tiles->in);
    const uint64_t replayed = sooner(slices, SLICES);
    struct cnnvp_timeline second = r->line;
    for (uint64_t i = 0; i < replayed; ++i) {
        /* Those that are passed over are in the middle. */
        const uint64_t slice = i < replayed / 2u ? i : slices - replayed + i;
        run_slice(r, tile, slice * r->tiles->in);
        if (i == 0 && r->pending == 2u)
            advance(r);
        else if (i == replayed / 2u)
            finish(r);
        if (i == 1u)
            second = r->line;
        if (i == replayed / 2u && slices > replayed)
            cnnvp_timeline_pass_on(&r->line, &second, CNNVP_TIMELINE_ARRAY, replayed / 2u - 1u, slices - replayed);
    }
    if (p->bias)
        run_bias(r, tile);
    finish(r);
    r->pending = p->error ? 1u : 2u;
    r->pending_tile = *tile;
}

static void run_group(struct replay *r)
{
    const struct cnnvp_train_product *p = r->p;
    const uint64_t columns = cnnvp_divide_up(p->out_channels, r->tiles->out);
    const uint64_t count = columns * cnnvp_divide_up(p->out_height, r->tiles->rows);
    const uint64_t replayed = sooner(count, TILES);
    struct cnnvp_timeline half = r->line;
    for (uint32_t i = 0; i < CNNVP_TIMELINE_HALVES; ++i)
        r->line.tag[CNNVP_TIMELINE_INPUT][i] = 0;
    for (uint64_t i = 0; i < replayed; ++i) {
        struct tile tile = {.row = i / columns * r->tiles->rows, .channel = i % columns * r->tiles->out};
        tile.rows = rest_of(p->out_height, tile.row, r->tiles->rows);
        tile.channels = rest_of(p->out_channels, tile.channel, r->tiles->out);
        run_tile(r, &tile);
        if (i + 1u == replayed / 2u)
            half = r->line;
    }
    if (count > replayed)
        cnnvp_timeline_pass_on(&r->line, &half, CNNVP_TIMELINE_ARRAY, replayed - replayed / 2u, count - replayed);
}

uint64_t cnnvp_train_product_time(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles,
                                  uint64_t *lead)
{
    struct replay r = {.line = cnnvp_train_timeline(p->target, p->lead), .p = p, .tiles = tiles};
    for (uint32_t i = 0; i < sooner(p->groups, GROUPS); ++i)
        run_group(&r);
    finish(&r);
    const uint64_t end = cnnvp_timeline_end(&r.line);
    /* Then all sums come back, and leave as mantissas. */
    const uint64_t values = p->groups * p->out_channels * p->out_height * p->out_width;
    const uint64_t back = line_ps(p, p->images * values * SUM_BYTES, p->target->output_width);
    const uint64_t post = back + statistics_ps(p, values) + back / 4u;
    const int64_t core = r.line.core + (int64_t)((uint64_t)POST_CORE * p->target->timing.core);
    const int64_t ahead = (int64_t)(end + post) - core;
    *lead = ahead > 0 ? sooner((uint64_t)ahead, p->target->timing.most_lead) : 0;
    return end;
}
