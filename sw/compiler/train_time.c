/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a product takes: a replay of the instructions of guest/train_product.c. The element issues in order; an
 * instruction waits for its unit and for the halves that it takes, the core is ahead by as much as the element's queue
 * holds. A transfer takes its bytes in whole bursts at the memory's rate, and its latency where nothing else is on its
 * way. Not counted: rows of the memory, exponents' bytes.
 */
#include "plan_cost.h"
#include "train_product.h"

#define HALVES 2u
#define SUM_BYTES UINT64_C(4)
#define TAPS 3u /* of a PE, one a cycle */
#define BURST_BYTES 64u

/* Cycles of a command besides those of its PEs: 3 taps, the pipeline, the last results. */
#define COMMAND_CYCLES 8u
#define STATISTICS_CYCLES 4u

/* Cycles of the core for what follows a layer's product until the next one's. */
#define POST_CORE 3500u

/* Words of the element for a transfer and a command: what changes of their descriptors. */
#define WORDS_LOAD 4u
#define WORDS_COMMAND 8u

/* So many groups of images are replayed, whole tiles until there are so many, and so many slices of one; further tiles
 * and slices go on as the later half of these did. */
#define GROUPS 2u
#define TILES 8u
#define SLICES 16u

enum unit { ARRAY, MODULE, READ, WRITE, UNITS };
enum buffer { INPUT, WEIGHT, MIDDLE, BUFFERS };

/* All times in ps. */
struct replay {
    const struct cnnvp_train_product *p;
    const struct cnnvp_train_tiles *tiles;
    uint64_t core;  /* it has pushed until then */
    uint64_t issue; /* of the last instruction */
    uint64_t last;  /* strict: the last one is complete */
    uint64_t unit[UNITS];
    uint64_t memory;
    uint64_t half[BUFFERS][HALVES];
    uint64_t tag[BUFFERS][HALVES]; /* what a half holds */
    uint32_t next[BUFFERS];
    uint32_t pending; /* steps of the tile before that are left */
    uint32_t pending_half;
    uint64_t pending_values;
};

static uint64_t ceil_div(uint64_t n, uint64_t d)
{
    return (n + d - 1u) / d;
}

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
    return (struct counts){ceil_div(p->in_channels, tiles->in), ceil_div(p->out_channels, tiles->out),
                           ceil_div(p->out_height, tiles->rows)};
}

/* Pieces that do not follow each other, into a buffer that takes so many bytes in a cycle. */
static uint64_t bytes_ps(const struct cnnvp_train_product *p, uint64_t pieces, uint64_t bytes, uint32_t width)
{
    const struct cnnvp_plan_timing *timing = &p->target->timing;
    const uint64_t memory = cnnvp_plan_weights_ps(timing, pieces * ceil_div(bytes, BURST_BYTES) * BURST_BYTES);
    const uint64_t port = later(timing->port, timing->cycle * BURST_BYTES / later(width, 1u));
    return later(memory, pieces * bytes * port / BURST_BYTES);
}

/* Rows of all channels of an image follow each other where the map's are all there, those of a channel otherwise. */
static uint64_t input_ps(const struct cnnvp_train_product *p, uint64_t in, uint64_t rows)
{
    const uint64_t bytes = cnnvp_train_product_rows(p, rows) * p->in_width * p->target->value_bytes;
    return rows == p->out_height ? bytes_ps(p, p->images, in * bytes, p->target->input_width)
                                 : bytes_ps(p, p->images * in, bytes, p->target->input_width);
}

static uint64_t kernels_ps(const struct cnnvp_train_product *p, uint64_t in, uint64_t out)
{
    const uint64_t bytes = p->taps * p->target->value_bytes;
    const uint64_t pieces = p->error ? in : out;
    const uint64_t each = p->error ? out : in;
    const uint32_t width = p->target->weight_width;
    return each == (p->error ? p->out_channels : p->in_channels) ? bytes_ps(p, 1, in * out * bytes, width)
                                                                 : bytes_ps(p, pieces, each * bytes, width);
}

/* Writes do not wait for each other's latency. */
static uint64_t sums_ps(const struct cnnvp_train_product *p, uint64_t values)
{
    const struct cnnvp_plan_timing *timing = &p->target->timing;
    return values * SUM_BYTES * later(timing->bus, timing->port) / BURST_BYTES;
}

/* Cycles by which so many bytes need the port of a buffer longer than PEs need them. */
static uint64_t port_cycles(uint64_t bytes, uint32_t width, uint64_t cycles)
{
    const uint64_t needed = ceil_div(bytes, later(width, 1u));
    return needed > cycles ? needed - cycles : 0;
}

/* As models/train_array/train_cost.c. */
static uint64_t command_ps(const struct cnnvp_train_product *p, uint64_t in, uint64_t out, uint64_t rows)
{
    const struct cnnvp_train_target *target = p->target;
    const uint64_t groups = ceil_div(out, p->kernels);
    const uint64_t pieces = p->connected ? 1u : ceil_div(p->kx, TAPS) * ceil_div(p->ky, target->rows);
    const uint64_t area = rows * p->out_width;
    const uint64_t cycles = groups * in * pieces * area * (p->connected ? 1u : TAPS);
    const uint64_t piece = p->connected ? 1u : (uint64_t)TAPS * target->rows;
    const uint64_t inputs = p->images * groups * in * pieces * area * piece * target->value_bytes;
    const uint64_t kernels = out * in * pieces * piece * target->value_bytes;
    const uint64_t sums = p->images * out * area * (p->connected ? 1u : in * pieces) * SUM_BYTES;
    const uint64_t all = cycles + COMMAND_CYCLES + port_cycles(inputs, target->input_width, cycles) +
                         port_cycles(kernels, target->weight_width, cycles) +
                         port_cycles(sums, target->output_width, cycles);
    return all * target->timing.cycle;
}

static uint64_t statistics_ps(const struct cnnvp_train_product *p, uint64_t values)
{
    return (ceil_div(values, later(p->target->module_lanes, 1u)) + STATISTICS_CYCLES) * p->target->timing.cycle;
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
           sums_ps(p, p->images * p->out_channels * p->out_height * p->out_width);
}

uint64_t cnnvp_train_product_bound(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    const struct counts n = counts_of(p, tiles);
    const struct loads loads = loads_of(p, &n);
    const struct cnnvp_plan_timing *timing = &p->target->timing;
    const uint64_t commands = n.slices * n.groups * n.rows;
    const uint64_t compute = commands * COMMAND_CYCLES * timing->cycle +
                             command_ps(p, p->in_channels, p->out_channels, p->out_height);
    const uint64_t core =
        ((loads.inputs + loads.kernels) * 2u * timing->load_core + commands * timing->calculate_core) * timing->core;
    const uint64_t longest = later(later(compute, cnnvp_train_product_memory(p, tiles)), core - sooner(core, p->lead));
    return longest / 2u; /* the last tiles and slices may be smaller */
}

/* ---- issue ---- */

static uint64_t issue(struct replay *r, uint64_t core_cycles, uint64_t words, uint64_t ready)
{
    const struct cnnvp_plan_timing *timing = &r->p->target->timing;
    r->core = later(r->core, r->issue - sooner(r->issue, timing->most_lead)) + core_cycles * timing->core;
    r->issue = later(later(r->issue + words * timing->cycle, ready), r->core);
    if (timing->strict)
        r->issue = later(r->issue, r->last);
    return r->issue;
}

/* An instruction of a unit that takes so long with a half of the intermediate buffer. */
static uint64_t run(struct replay *r, enum unit unit, uint64_t core_cycles, uint32_t middle, uint64_t ready,
                    uint64_t busy)
{
    ready = later(later(ready, r->unit[unit]), r->half[MIDDLE][middle]);
    const uint64_t end = issue(r, core_cycles, WORDS_COMMAND, ready) + busy;
    r->unit[unit] = end;
    r->half[MIDDLE][middle] = end;
    r->last = end;
    return end;
}

/* Mantissas in so many transfers, and their exponents behind them. */
static void load(struct replay *r, enum buffer buffer, uint32_t half, uint32_t transfers, uint64_t busy)
{
    const struct cnnvp_plan_timing *timing = &r->p->target->timing;
    for (uint32_t i = 0; i <= transfers; ++i) {
        const uint64_t requested = issue(r, timing->load_core, WORDS_LOAD, 0);
        const uint64_t received = issue(r, 0, 1, later(r->unit[READ], r->half[buffer][half]));
        const uint64_t needed = i == transfers ? timing->burst : busy / transfers;
        const uint64_t ahead = sooner(needed, (uint64_t)timing->ahead * timing->burst);
        uint64_t end = later(requested + timing->latency, r->memory) + ahead;
        if (needed > ahead)
            end = later(end, received + timing->latency) + needed - ahead;
        r->memory = end;
        r->unit[READ] = r->half[buffer][half] = r->last = later(end, received + 2u * timing->cycle);
    }
}

static uint32_t find(struct replay *r, enum buffer buffer, uint64_t tag, int *found)
{
    const uint32_t halves = buffer == INPUT ? r->p->target->input_halves : r->p->target->weight_halves;
    for (uint32_t half = 0; half < halves; ++half) {
        *found = r->tag[buffer][half] == tag;
        if (*found)
            return half;
    }
    r->next[buffer] = (r->next[buffer] + 1u) % halves;
    r->tag[buffer][r->next[buffer]] = tag;
    return r->next[buffer];
}

/* ---- tiles ---- */

struct tile {
    uint64_t row, rows, channel, channels;
    uint32_t half;
};

static void advance(struct replay *r)
{
    const struct cnnvp_plan_timing *timing = &r->p->target->timing;
    if (r->pending-- == 2u) {
        (void)run(r, MODULE, timing->post_core, r->pending_half, 0, statistics_ps(r->p, r->pending_values));
        return;
    }
    const uint64_t busy = sums_ps(r->p, r->pending_values);
    const uint64_t end = run(r, WRITE, timing->store_core, r->pending_half, r->memory, busy);
    r->memory = later(r->memory, end);
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
    const uint32_t input = find(r, INPUT, 1u + tile->row * p->in_channels + at, &found);
    if (!found)
        load(r, INPUT, input, p->scattered ? p->images : 1u, input_ps(p, in, tile->rows));
    const uint32_t weight = find(r, WEIGHT, 1u + tile->channel * p->in_channels + at, &found);
    if (!found)
        load(r, WEIGHT, weight, 1u, kernels_ps(p, in, tile->channels));
    if (at == 0) {
        if (p->target->output_halves == 1u)
            finish(r);
        tile->half = r->next[MIDDLE] = (r->next[MIDDLE] + 1u) % p->target->output_halves;
    }
    const uint64_t end = run(r, ARRAY, p->target->timing.calculate_core, tile->half,
                             later(r->half[INPUT][input], r->half[WEIGHT][weight]),
                             command_ps(p, in, tile->channels, tile->rows));
    r->half[INPUT][input] = r->half[WEIGHT][weight] = end;
}

/* What is not replayed takes so long, and the core by itself, whose lead may end. */
static void pass(struct replay *r, uint64_t more, uint64_t core)
{
    r->core += core;
    r->issue += more;
    r->last += more;
    r->memory += more;
    for (int i = 0; i < UNITS; ++i)
        r->unit[i] += more;
    for (int i = 0; i < BUFFERS * (int)HALVES; ++i)
        r->half[i / (int)HALVES][i % (int)HALVES] += more;
}

/* So many more slices or tiles, each as the last `number`, since `before`, on average. */
static void pass_on(struct replay *r, const struct replay *before, uint64_t number, uint64_t more)
{
    pass(r, (r->unit[ARRAY] - before->unit[ARRAY]) * more / number, (r->core - before->core) * more / number);
}

static void run_tile(struct replay *r, struct tile *tile)
{
    const struct cnnvp_train_product *p = r->p;
    const uint64_t slices = ceil_div(p->in_channels, r->tiles->in);
    const uint64_t replayed = sooner(slices, SLICES);
    struct replay second = *r;
    for (uint64_t i = 0; i < replayed; ++i) {
        /* Those that are passed over are in the middle. */
        const uint64_t slice = i < replayed / 2u ? i : slices - replayed + i;
        run_slice(r, tile, slice * r->tiles->in);
        if (i == 0 && r->pending == 2u)
            advance(r);
        else if (i == replayed / 2u)
            finish(r);
        if (i == 1u)
            second = *r;
        if (i == replayed / 2u && slices > replayed)
            pass_on(r, &second, replayed / 2u - 1u, slices - replayed);
    }
    if (p->bias) {
        int found = 0;
        const uint32_t weight = find(r, WEIGHT, UINT64_MAX - tile->channel, &found);
        if (!found)
            load(r, WEIGHT, weight, 1u,
                 bytes_ps(p, 1, tile->channels * p->target->value_bytes, p->target->weight_width));
        r->half[WEIGHT][weight] = run(r, ARRAY, p->target->timing.calculate_core, tile->half, r->half[WEIGHT][weight],
                                      command_ps(p, 1, tile->channels, tile->rows));
    }
    finish(r);
    r->pending = p->error ? 1u : 2u;
    r->pending_half = tile->half;
    r->pending_values = p->images * tile->channels * tile->rows * p->out_width;
}

static void run_group(struct replay *r)
{
    const struct cnnvp_train_product *p = r->p;
    const uint64_t columns = ceil_div(p->out_channels, r->tiles->out);
    const uint64_t count = columns * ceil_div(p->out_height, r->tiles->rows);
    const uint64_t replayed = sooner(count, TILES);
    struct replay half = *r;
    for (uint32_t i = 0; i < HALVES; ++i)
        r->tag[INPUT][i] = 0;
    for (uint64_t i = 0; i < replayed; ++i) {
        struct tile tile = {.row = i / columns * r->tiles->rows, .channel = i % columns * r->tiles->out};
        tile.rows = rest_of(p->out_height, tile.row, r->tiles->rows);
        tile.channels = rest_of(p->out_channels, tile.channel, r->tiles->out);
        run_tile(r, &tile);
        if (i + 1u == replayed / 2u)
            half = *r;
    }
    if (count > replayed)
        pass_on(r, &half, replayed - replayed / 2u, count - replayed);
}

uint64_t cnnvp_train_product_time(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles,
                                  uint64_t *lead)
{
    struct replay r = {.p = p, .tiles = tiles};
    pass(&r, p->lead, 0);
    for (uint32_t i = 0; i < sooner(p->groups, GROUPS); ++i)
        run_group(&r);
    finish(&r);
    const uint64_t end = later(later(r.unit[WRITE], r.issue), r.core);
    /* Then all sums come back, and leave as mantissas. */
    const uint64_t values = (uint64_t)p->groups * p->images * p->out_channels * p->out_height * p->out_width;
    const uint64_t back = bytes_ps(p, 1, values * SUM_BYTES, p->target->output_width);
    const uint64_t post = back + statistics_ps(p, values) + sums_ps(p, values) / 4u;
    const uint64_t core = r.core + (uint64_t)POST_CORE * p->target->timing.core;
    *lead = sooner(end + post - sooner(end + post, core), p->target->timing.most_lead);
    return end - p->lead;
}
