/* SPDX-License-Identifier: Apache-2.0 */
/* How a gradient is cut: a replay of the instructions of guest/train_gradient.c, without the copy that computes. */
#include "train_cost.h"
#include "train_cut.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)
#define TAPS 3u /* of a PE, one a cycle */

/* Cycles of a command besides those of its PEs: the pipeline, the last results. */
#define COMMAND_CYCLES 8u

/* Bytes of weights that follow each other in a tile, at least, where such a tile fits and a layer has so many weights.
 * Shorter ones can be 1 % faster, since rows of several bank groups overlap, but open a row each: that costs energy,
 * and half of the simulation's time again. */
#define PIECE_BYTES UINT64_C(1024)
#define MANY_WEIGHTS (UINT64_C(1) << 20)

/* So many tiles are replayed, and so many commands of each; further ones go on as the later ones of these did. */
#define TILES 12u
#define COMMANDS 12u

struct gradient {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_node *node;
    const struct cnnvp_train_plan_options *options;
    enum cnnvp_train_image_block block;
    uint64_t taps;
    int scattered; /* the activations' images lie apart, a transfer each */
};

static uint64_t even(uint64_t bytes)
{
    return (bytes + 1u) / 2u * 2u;
}

/* ---- what fits ---- */

/* Rows of the activations that so many of the errors meet. */
static uint64_t activation_rows(const struct gradient *g, uint64_t rows)
{
    return sooner((rows - 1u) * g->node->sy + g->node->ky, g->node->hi);
}

static uint64_t exponents_of(const struct gradient *g, uint64_t images, uint64_t channels)
{
    return g->block == CNNVP_TRAIN_BY_TENSOR ? 1u : g->block == CNNVP_TRAIN_BY_IMAGE ? images : channels;
}

static int operands_fit(const struct gradient *g, const struct cnnvp_train_tiles *tiles, uint64_t images, uint64_t rows)
{
    const uint64_t value_bytes = g->target->value_bytes;
    const uint64_t activations = images * tiles->in * activation_rows(g, rows) * g->node->wi * value_bytes;
    const uint64_t errors = images * tiles->out * rows * g->node->wo * value_bytes;
    return even(activations) + even(exponents_of(g, images, tiles->in)) <= g->target->input_half &&
           even(errors) + even(exponents_of(g, images, tiles->out)) <= g->target->weight_half;
}

/* Gradients lie in one half of the intermediate buffer; weights and velocities share the other one. */
static int gradient_fits(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    const uint64_t slack = 64u; /* regions begin at multiples of 8 */
    const uint64_t values = tiles->in * tiles->out * g->taps;
    const uint64_t biases = g->node->has_bias ? tiles->out : 0;
    const uint64_t gradients = (values + biases) * SUM_BYTES + slack;
    uint64_t weights = (values + biases) * 2u * SUM_BYTES + slack;
    if (g->options->narrow)
        weights += values * g->target->value_bytes + tiles->out;
    if (g->target->output_halves == 1u)
        return gradients + weights <= g->target->output_half;
    return gradients <= g->target->output_half && weights <= g->target->output_half;
}

/* Rows at a time of an image of given channels: as many as fit; 0: not even one does. */
static uint64_t rows_of(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    uint64_t rows = g->node->ho;
    while (rows != 0 && !operands_fit(g, tiles, 1u, rows))
        --rows;
    return g->target->error_rows && rows < g->node->ho ? rows / g->target->rows * g->target->rows : rows;
}

/* Commands of a tile. */
static uint64_t commands_of(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    return cnnvp_divide_up(g->options->images, tiles->images) * cnnvp_divide_up(g->node->ho, tiles->rows);
}

/* ---- how long ---- */

/* A part of a map: so many of its channels and rows. */
struct part {
    uint64_t channels, rows;
    uint64_t all_channels, all_rows, width;
};

/* Channels of an image follow each other where they are whole. */
static uint64_t map_ps(const struct gradient *g, uint64_t images, const struct part *part, uint32_t port)
{
    const uint64_t row = part->width * g->target->value_bytes;
    const uint64_t plane = part->all_rows * row;
    const struct cnnvp_train_pieces whole = {images, part->channels * plane, part->all_channels * plane};
    const struct cnnvp_train_pieces rows = {images * part->channels, part->rows * row, plane};
    return cnnvp_train_read_ps(g->target, part->rows == part->all_rows ? whole : rows, port);
}

/* As models/train_array/train_cost.c. */
static uint64_t command_ps(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = g->target;
    const struct cnnvp_train_node *node = g->node;
    const uint64_t ins = cnnvp_divide_up(tiles->in, target->arrays);
    const uint64_t outs = cnnvp_divide_up(tiles->out, target->cols);
    const uint64_t blocks = tiles->images * ins * outs;
    const uint64_t pieces =
        node->connected ? 1u : cnnvp_divide_up(node->kx, TAPS) * cnnvp_divide_up(node->ky, target->rows);
    const uint64_t taps = node->connected ? 1u : (uint64_t)TAPS * target->rows;
    const uint64_t area = (uint64_t)tiles->rows * node->wo;
    const uint64_t by_rows = node->connected ? 1u
                             : target->error_rows ? taps * cnnvp_divide_up(tiles->rows, target->rows) * node->wo
                                                  : TAPS * area;
    const uint64_t cycles = blocks * pieces * by_rows;
    const uint64_t inputs =
        tiles->images * tiles->in * outs * pieces * taps * area * target->value_bytes;
    const uint64_t errors = tiles->images * ins * tiles->out * pieces * area *
                            (node->connected ? 1u : target->error_rows ? taps : TAPS) * target->value_bytes;
    const uint64_t sums = (uint64_t)tiles->images * tiles->in * tiles->out * g->taps * SUM_BYTES;
    const uint64_t all = cycles + COMMAND_CYCLES + cnnvp_train_port_cycles(inputs, target->input_width, cycles) +
                         cnnvp_train_port_cycles(errors, target->weight_width, cycles) +
                         cnnvp_train_port_cycles(sums, target->output_width, cycles);
    return all * target->timing.cycle;
}

/* What a tile takes, and its commands. */
struct tile {
    uint64_t activations, errors, command; /* ps of one command */
    uint64_t weights, velocities;          /* ps of a transfer in; out as many bytes */
    struct cnnvp_train_write weights_out;
    uint64_t update;
};

static struct tile tile_of(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = g->target;
    const struct cnnvp_train_node *node = g->node;
    const uint64_t values = tiles->in * tiles->out * g->taps;
    const uint64_t row = tiles->in * g->taps;
    const uint64_t all = node->ci * g->taps;
    const struct cnnvp_train_pieces parts = {tiles->out, row * SUM_BYTES, all * SUM_BYTES};
    const struct cnnvp_train_pieces whole = {1, values * SUM_BYTES, values * SUM_BYTES};
    const struct cnnvp_train_pieces moved = tiles->in == node->ci ? whole : parts;
    struct cnnvp_train_pieces kept = moved;
    if (g->options->narrow) {
        kept.bytes = kept.bytes / SUM_BYTES * target->value_bytes;
        kept.distance = kept.distance / SUM_BYTES * target->value_bytes;
    }
    const struct part activations = {tiles->in, activation_rows(g, tiles->rows), node->ci, node->hi, node->wi};
    const struct part errors = {tiles->out, tiles->rows, node->co, node->ho, node->wo};
    return (struct tile){
        .activations = map_ps(g, tiles->images, &activations, target->input_width),
        .errors = map_ps(g, tiles->images, &errors, target->weight_width),
        .command = command_ps(g, tiles),
        .weights = cnnvp_train_read_ps(target, kept, target->output_width),
        .velocities = cnnvp_train_read_ps(target, moved, target->output_width),
        .weights_out = cnnvp_train_write_of(target, moved),
        .update = cnnvp_train_module_ps(target, values, later(target->module_sets, 1u)),
    };
}

struct replay {
    struct cnnvp_timeline line;
    const struct gradient *g;
    uint32_t working, idle; /* halves of the intermediate buffer */
};

/* Mantissas in so many transfers, and their exponents behind them, unless a half holds them. Returns its use. */
static uint32_t operand(struct replay *r, enum cnnvp_timeline_buffer buffer, uint64_t tag, uint64_t transfers,
                        uint64_t busy)
{
    int found;
    const uint32_t half = cnnvp_timeline_find(&r->line, buffer, tag, &found);
    for (uint64_t i = 0; i < transfers && !found; ++i)
        cnnvp_timeline_load(&r->line, buffer, half, busy / transfers);
    if (!found)
        cnnvp_timeline_load(&r->line, buffer, half, r->g->target->timing.burst);
    return cnnvp_timeline_use(buffer, half);
}

static uint32_t use_of(uint32_t half)
{
    return cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, half);
}

static void update(struct replay *r, const struct tile *tile)
{
    cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_VECTOR, r->g->target->timing.post_core,
                       use_of(r->working) | use_of(r->idle), tile->update);
}

static void store_weights(struct replay *r, const struct tile *tile)
{
    cnnvp_train_store(&r->line, r->idle, tile->weights_out);
    cnnvp_train_store(&r->line, r->idle, tile->weights_out);
}

static void load_weights(struct replay *r, const struct tile *tile)
{
    cnnvp_timeline_load(&r->line, CNNVP_TIMELINE_OUTPUT, r->idle, tile->weights);
    if (r->g->options->narrow)
        cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_VECTOR, r->g->target->timing.post_core, use_of(r->idle),
                           tile->update);
    cnnvp_timeline_load(&r->line, CNNVP_TIMELINE_OUTPUT, r->idle, tile->velocities);
}

/* All commands of a tile; `before` is the one whose update is still to be pushed, or NULL. */
static void run_tile(struct replay *r, const struct cnnvp_train_tiles *tiles, uint64_t in, uint64_t out,
                     const struct tile *before, const struct tile *tile)
{
    const struct gradient *g = r->g;
    const uint64_t commands = commands_of(g, tiles);
    const uint64_t replayed = sooner(commands, COMMANDS);
    struct cnnvp_timeline second = r->line;
    for (uint64_t i = 0; i < replayed; ++i) {
        const uint32_t activations = operand(r, CNNVP_TIMELINE_INPUT, 1u + in * commands + i,
                                             g->scattered ? tiles->images : 1u, tile->activations);
        const uint32_t errors = operand(r, CNNVP_TIMELINE_WEIGHT, 1u + out * commands + i, 1u, tile->errors);
        if (i == 0 && before != NULL)
            update(r, before);
        if (i == 0 && before != NULL && r->idle == r->working)
            store_weights(r, before);
        cnnvp_timeline_run(&r->line, CNNVP_TIMELINE_ARRAY, g->target->timing.calculate_core,
                           activations | errors | use_of(r->working), tile->command);
        if (i == 0 && before != NULL && r->idle != r->working)
            store_weights(r, before);
        if (i == 0)
            load_weights(r, tile);
        if (i == 1u)
            second = r->line;
    }
    if (commands > replayed)
        cnnvp_timeline_pass_on(&r->line, &second, CNNVP_TIMELINE_ARRAY, replayed - 2u, commands - replayed);
}

static uint64_t gradient_ps(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = g->target;
    struct replay r = {.line = cnnvp_train_timeline(target, target->timing.most_lead), .g = g,
                       .idle = target->output_halves - 1u};
    struct cnnvp_timeline half_way = r.line;
    const uint64_t outs = cnnvp_divide_up(g->node->co, tiles->out);
    const uint64_t count = cnnvp_divide_up(g->node->ci, tiles->in) * outs;
    const uint64_t replayed = sooner(count, TILES);
    struct tile before = {0};
    for (uint64_t i = 0; i < replayed; ++i) {
        struct cnnvp_train_tiles cut = *tiles;
        cut.in = (uint32_t)sooner(tiles->in, g->node->ci - i / outs * tiles->in);
        cut.out = (uint32_t)sooner(tiles->out, g->node->co - i % outs * tiles->out);
        const struct tile tile = tile_of(g, &cut);
        run_tile(&r, &cut, i / outs, i % outs, i != 0 ? &before : NULL, &tile);
        before = tile;
        if (i + 1u == replayed / 2u)
            half_way = r.line;
    }
    if (count > replayed)
        cnnvp_timeline_pass_on(&r.line, &half_way, CNNVP_TIMELINE_ARRAY, replayed - replayed / 2u, count - replayed);
    update(&r, &before);
    store_weights(&r, &before);
    return cnnvp_timeline_end(&r.line);
}

/* Sums of mantissas wider than 8 bits meet in binary32, which rounds: the fewest commands, whatever they take. */
static uint64_t price_of(const struct gradient *g, const struct cnnvp_train_tiles *tiles)
{
    const uint64_t ps = gradient_ps(g, tiles);
    return g->target->value_bytes == 1u ? ps : commands_of(g, tiles) << 48u | sooner(ps, (UINT64_C(1) << 48u) - 1u);
}

struct choice {
    struct cnnvp_train_tiles tiles;
    uint64_t price; /* UINT64_MAX: none fits */
};

/* Whole maps of several images, or rows of one. */
static void try_channels(const struct gradient *g, uint64_t in, uint64_t out, struct choice *best)
{
    struct cnnvp_train_tiles tiles = {.in = (uint32_t)in, .out = (uint32_t)out};
    tiles.rows = gradient_fits(g, &tiles) ? (uint32_t)rows_of(g, &tiles) : 0;
    if (tiles.rows == 0)
        return;
    const uint64_t most = tiles.rows == g->node->ho ? sooner(g->options->images, g->target->arrays) : 1u;
    struct cnnvp_train_sizes images = cnnvp_train_sizes_of(most, 1u);
    while (cnnvp_train_next_size(&images)) {
        tiles.images = (uint32_t)images.now;
        const uint64_t price = operands_fit(g, &tiles, images.now, tiles.rows) ? price_of(g, &tiles) : UINT64_MAX;
        if (price < best->price)
            *best = (struct choice){tiles, price};
    }
}

/* Channels of activations whose weights follow each other for so many bytes. */
static void try_inputs(const struct gradient *g, uint64_t piece_bytes, struct choice *best)
{
    const uint64_t least = sooner(piece_bytes, g->node->ci * g->taps * SUM_BYTES);
    struct cnnvp_train_sizes out = cnnvp_train_sizes_of(g->node->co, g->target->cols);
    while (cnnvp_train_next_size(&out)) {
        struct cnnvp_train_sizes in = cnnvp_train_sizes_of(g->node->ci, g->target->arrays);
        while (cnnvp_train_next_size(&in))
            if (in.now * g->taps * SUM_BYTES >= least)
                try_channels(g, in.now, out.now, best);
    }
}

int cnnvp_train_cut_gradient(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node,
                             const struct cnnvp_train_plan_options *options, int scattered,
                             struct cnnvp_train_tiles *tiles)
{
    const struct gradient g = {target, node, options, cnnvp_train_plan_block(options, node),
                               (uint64_t)node->kx * node->ky, scattered};
    struct choice best = {.price = UINT64_MAX};
    if (cnnvp_train_net_weights(node) >= MANY_WEIGHTS)
        try_inputs(&g, PIECE_BYTES, &best);
    if (best.price == UINT64_MAX)
        try_inputs(&g, 0, &best);
    *tiles = best.tiles;
    return best.price != UINT64_MAX;
}
