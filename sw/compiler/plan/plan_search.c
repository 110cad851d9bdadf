/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: lists the ways to cut a layer, computes a lower bound of the time of each, and keeps the best few.
 *
 * The bound of a way is the longest of four: all calculations (overlapped with transfers in the order of instructions),
 * all work of the vector unit, all transfers, and the core's work; plus what nothing hides: the first load of inputs,
 * the last store, and the longer of two: the first load of weights, beside which the layer before ends, and the work of
 * the array or the vector unit, whichever has less, on the last tile. How often inputs and weights are loaded follows
 * from the loops in layer.h and from the tiles that stay in the halves of a buffer from one step to the next. All
 * figures are for a whole batch.
 */
#include "cost_query.h"
#include "binary/layer_command.h"
#include "cnnvp_integer.h"

#include <string.h>

#define CANDIDATES 24u

/* On large arrays, tiles down to 1 / ARRAY_PART of their rows and columns are tried. Then PEs idle, but more channels
 * are on chip. */
#define ARRAY_PART 8u
#define SMALL_EDGE 8u /* edges of at most this length are not divided */

/* A batch may take longer by 1 / BATCH_PART of the shortest time, to load less. */
#define BATCH_PART 128.0

struct candidates {
    uint32_t values[CANDIDATES];
    size_t count;
};

/* Lists total, total / 2, total / 3, / 4, / 6, / 8, / 12 ..., each rounded up to the multiple, down to the multiple. */
static struct candidates parts_of(uint32_t total, uint32_t multiple)
{
    struct candidates list = {.values = {total}, .count = 1};
    uint32_t parts = 2;
    for (uint32_t last = total; last > multiple && list.count < CANDIDATES;) {
        const uint32_t value = cnnvp_divide_up32(cnnvp_divide_up32(total, parts), multiple) * multiple;
        if (value < last) {
            list.values[list.count++] = value;
            last = value;
        }
        parts = parts == 2 ? 3 : (parts & (parts - 1)) == 0 ? parts / 2 * 3 : parts / 3 * 4;
        if (parts > total || parts > 1u << 30)
            parts = total;
    }
    list.values[list.count - 1] = cnnvp_minimum32(list.values[list.count - 1], total > multiple ? multiple : total);
    return list;
}

/* A total as parts of equal size, and the rest. */
struct split {
    uint32_t count[2]; /* number of equal parts; 1 if there is a rest, else 0 */
    uint32_t size[2];
};

static struct split split_of(uint32_t total, uint32_t part)
{
    return (struct split){{total / part, total % part != 0 ? 1u : 0}, {part, total % part}};
}

/* Transfers of all tiles of a group: one input slice of each, the operand that is added, and the results. */
struct moves {
    struct cnnvp_plan_moved input, added, store;
};

struct search {
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_layer *layer; /* tiles under test */
    struct cnnvp_tiling tiling;
    uint64_t peak; /* products that the unit adds up in a cycle; 0: not known, as it was faster than it says */
    uint64_t macs; /* products of a batch; 0: the layer has none */
    struct moves moves;
    int at_edge; /* 1: times of transfers follow from those of a full tile; the units are not asked */
    struct cnnvp_cost_query *query;
    struct cnnvp_plan_finalists *finalists;
    double bytes_a_ps; /* objective traffic: bytes in the score for each ps; else 0 */
    double longest;    /* not 0: ways that take more ps are left out, and the fewest bytes are the best */
};

/* ---- bounds ---- */

struct work {
    uint64_t compute, vector, memory, core; /* ps; compute: of the layer's unit */
    uint64_t ends, first_weights;           /* ps of the first input and the last results; of the first weight tile */
    uint64_t inputs, weights;               /* ps of their loads, a part of `memory` */
    uint64_t steps;
    uint32_t input_slices, output_slices; /* of a step; each pair is one instruction */
    uint64_t read_bytes, write_bytes;     /* of bursts */
    double moving;                        /* pJ of transfers and partial sums, without static power */
    int refused;                          /* 1: a unit refuses an instruction */
    uint64_t left;                        /* products whose time is not yet in `compute` */
    int out; /* 1: the list is full of better ways, whatever the rest of the calculations takes */
};

static int is_out_by(const struct search *search, const struct work *work);

/* Products that are calculated for so many inputs and outputs of a layer with weights. */
static uint64_t products_of(const struct cnnvp_layer *layer, uint64_t positions, uint32_t inputs, uint32_t outputs)
{
    const uint64_t pairs = cnnvp_plan_is_channelwise(layer) ? outputs : (uint64_t)inputs * outputs;
    return layer->op == CNNVP_OP_CONV ? pairs * positions * layer->kx * layer->ky
           : layer->op == CNNVP_OP_FC ? pairs
                                      : 0;
}

static uint64_t products_of_all(const struct cnnvp_layer *layer)
{
    return products_of(layer, (uint64_t)layer->out.height * layer->out.width, cnnvp_layer_inputs(layer),
                       layer->out.channels);
}

double cnnvp_plan_macs_pj(const struct cnnvp_layer *layer, const struct cnnvp_plan_energy *energy)
{
    const int is_narrow = cnnvp_format_bytes(layer->format, CNNVP_NARROW_A) == 1u &&
                          cnnvp_format_bytes(layer->format, CNNVP_NARROW_B) == 1u;
    return (double)products_of_all(layer) * (is_narrow ? energy->int8_mac : energy->mac);
}

static uint64_t accepted(struct work *work, uint64_t ps)
{
    work->refused |= ps == CNNVP_PLAN_REFUSED;
    return ps != CNNVP_PLAN_REFUSED ? ps : 0;
}

/* The least time of products, at the unit's peak. */
static uint64_t least_ps(const struct search *search, uint64_t products)
{
    return search->peak != 0 ? products / search->peak * search->limits->cycle_ps : 0;
}

/* Adds the time of so many slices. What is counted so far is a bound of the way, which can be out by it. */
static void add_slices(struct search *search, const struct cnnvp_plan_slice *slice, uint64_t times, struct work *work)
{
    if (work->out)
        return;
    const uint64_t products = products_of(search->layer, (uint64_t)slice->rows * slice->columns, slice->in, slice->out);
    const uint64_t ps = accepted(work, cnnvp_plan_slice_ps(search->query, slice));
    if (ps < least_ps(search, products) && !work->refused)
        search->peak = 0;
    work->compute += times * ps;
    work->left -= cnnvp_minimum(times * products, work->left);
    work->out = is_out_by(search, work);
}

/* Adds all output slices of `times` steps for one input slice. */
static void add_outputs(struct search *search, const struct cnnvp_plan_slice *step, uint64_t times, struct work *work)
{
    const struct split out = split_of(step->out, search->layer->tile_out);
    for (size_t i = 0; i < 2; ++i) {
        struct cnnvp_plan_slice slice = *step;
        slice.out = out.size[i];
        if (out.count[i] != 0)
            add_slices(search, &slice, times * out.count[i], work);
    }
}

/* Adds steps with weights: the input slices between the first and the last, which take the longest, the first, and the
 * last. */
static void add_sliced(struct search *search, struct cnnvp_plan_slice step, uint64_t times, struct work *work)
{
    const uint32_t inputs = step.in;
    const uint32_t part = search->layer->tile_in;
    const uint32_t count = cnnvp_divide_up32(inputs, part);
    step.in = cnnvp_minimum32(part, inputs);
    step.first = step.last = 0;
    if (count > 2)
        add_outputs(search, &step, times * (count - 2u), work);
    step.first = 1;
    step.last = count == 1;
    add_outputs(search, &step, times, work);
    if (count == 1)
        return;
    step.first = 0;
    step.last = 1;
    step.in = inputs - (count - 1u) * part;
    add_outputs(search, &step, times, work);
}

static void add_steps(struct search *search, uint32_t channels, uint32_t rows, uint32_t columns, uint64_t times,
                      struct work *work)
{
    const struct cnnvp_layer *layer = search->layer;
    const int whole = cnnvp_plan_is_channelwise(layer);
    struct cnnvp_plan_slice step = {rows, columns, whole ? channels : cnnvp_layer_inputs(layer), channels, 1, 1};
    if (cnnvp_plan_has_weights(layer) && !whole) {
        add_sliced(search, step, times, work);
        return;
    }
    if (!cnnvp_plan_has_weights(layer) && layer->op != CNNVP_OP_POOL)
        return; /* all work is the vector unit's: cnnvp_plan_vectors_of */
    const uint32_t parts = cnnvp_divide_up32(layer->kx, cnnvp_window_columns(layer)) *
                           cnnvp_divide_up32(layer->ky, cnnvp_window_rows(layer));
    add_slices(search, &step, times, work);
    step.first = 0;
    if (parts > 1u)
        add_slices(search, &step, times * (parts - 1u), work);
}

static void calculate(struct search *search, struct work *work)
{
    const struct cnnvp_layer *layer = search->layer;
    const uint64_t images = search->limits->batch;
    const uint64_t sweeps = layer->norm == CNNVP_NORM_BATCH ? cnnvp_divide_up(images, layer->tile_images) : images;
    const struct split groups = split_of(layer->out.channels, layer->group_out);
    const struct split rows = split_of(layer->out.height, layer->tile_h);
    const struct split columns = split_of(layer->out.width, layer->tile_w);
    for (size_t i = 0; i < 8; ++i) {
        const size_t g = i >> 2, r = i >> 1 & 1u, c = i & 1u;
        const uint64_t steps = (uint64_t)groups.count[g] * rows.count[r] * columns.count[c];
        if (steps == 0)
            continue;
        add_steps(search, groups.size[g], rows.size[r], columns.size[c], images * steps, work);
        if (work->out)
            return;
        const struct cnnvp_plan_vectors vectors =
            cnnvp_plan_vectors_of(search->query, groups.size[g], rows.size[r], columns.size[c]);
        work->vector += sweeps * steps * accepted(work, vectors.ps);
        work->core += sweeps * steps * vectors.count * CNNVP_PLAN_COMMAND_CYCLES * search->limits->core_ps;
    }
}

/* Asks the units about full tiles only. The times of tiles at the edges follow from the full ones (add_moved). */
static struct cnnvp_plan_moved move_box(struct search *search, const struct cnnvp_tensor *tensor, uint32_t channels,
                                        uint32_t rows, uint32_t columns)
{
    return search->at_edge ? cnnvp_plan_box(search->query, tensor, channels, rows, columns)
                           : cnnvp_plan_move_box(search->query, tensor, channels, rows, columns);
}

static struct cnnvp_plan_moved move_operand(struct search *search, const struct cnnvp_tensor *operand,
                                            const uint32_t box[3])
{
    if (operand->on_chip)
        return (struct cnnvp_plan_moved){0};
    return move_box(search, operand, cnnvp_minimum32(box[0], operand->channels),
                    cnnvp_minimum32(box[1], operand->height), cnnvp_minimum32(box[2], operand->width));
}

/* The load of one input slice of a step. */
static struct cnnvp_plan_moved move_input(struct search *search, uint32_t rows, uint32_t columns)
{
    const struct cnnvp_layer *layer = search->layer;
    if (layer->in.on_chip && layer->op != CNNVP_OP_ADD)
        return (struct cnnvp_plan_moved){0};
    if (layer->op == CNNVP_OP_FC)
        return cnnvp_plan_move_line(search->query, (uint64_t)layer->tile_in << layer->in.word_shift);
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)
        return move_box(search, &layer->in, layer->tile_in, (uint32_t)cnnvp_plan_input_rows(layer, rows),
                        (uint32_t)cnnvp_plan_input_columns(layer, columns));
    uint32_t box[3] = {layer->group_out, rows, columns};
    if (layer->permuted != 0)
        for (uint32_t i = 0; i < 3; ++i)
            box[layer->from[i]] = i == 0 ? layer->group_out : i == 1 ? rows : columns;
    struct cnnvp_plan_moved moved = move_operand(search, &layer->in, box);
    if (layer->op == CNNVP_OP_ADD) {
        const struct cnnvp_plan_moved second = move_operand(search, &layer->in2, box);
        moved.ps += second.ps;
        moved.bytes += second.bytes;
        moved.words += second.words;
    }
    return moved;
}

/* all * part / whole. For a large map all * part overflows 64 bits; whole * part, words of maps in memory, does not. */
static uint64_t part_of(uint64_t all, uint64_t part, uint64_t whole)
{
    return all / whole * part + all % whole * part / whole;
}

/* How many input tiles (for each image) and weight tiles a batch loads. */
struct visits {
    uint64_t inputs, weight_tiles;
};

static struct visits visits_of(const struct search *search, const struct cnnvp_plan_counts *counts)
{
    const struct cnnvp_layer *layer = search->layer;
    const struct cnnvp_plan_limits *limits = search->limits;
    const uint64_t together = cnnvp_divide_up32(limits->batch, layer->tile_images); /* steps of one tile and group */
    const uint64_t tiles = (uint64_t)counts->tiles * counts->input_slices;
    /* One group's input tiles stay for the next group if each has its own half; a group's weights likewise. */
    const int inputs_stay =
        !cnnvp_plan_is_channelwise(layer) && (layer->images_outer ? tiles : tiles * together) <= limits->input_halves;
    const uint64_t slices = (uint64_t)counts->input_slices * counts->output_slices;
    const int weights_stay = slices <= limits->weight_halves;
    const int all_stay = slices * counts->groups <= limits->weight_halves;
    struct visits visits = {.inputs = limits->batch * tiles * (inputs_stay ? 1u : counts->groups)};
    if (layer->in.on_chip && (layer->op != CNNVP_OP_ADD || layer->in2.on_chip))
        visits.inputs = 0;
    if (limits->weights_stay)
        visits.weight_tiles = 0;
    else if (!cnnvp_plan_has_weights(layer))
        visits.weight_tiles = counts->weight_tiles != 0 ? 1u : 0;
    else if (weights_stay)
        visits.weight_tiles = counts->weight_tiles * (layer->images_outer && !all_stay ? together : 1u);
    else
        visits.weight_tiles = counts->weight_tiles * together * counts->tiles;
    return visits;
}

static double moving_pj(const struct search *search, const struct visits *visits, uint64_t input_words,
                        uint64_t weight_tile_words, uint64_t words, const struct work *work)
{
    const struct cnnvp_plan_energy *each = &search->limits->energy;
    const double results = (double)search->limits->batch * (double)words;
    const double stored = results * (1u << search->layer->out.word_shift) / CNNVP_WORD_BYTES;
    const double partial = (double)(work->input_slices - 1u) * results * search->layer->sum_bytes / CNNVP_WORD_BYTES;
    return (double)work->read_bytes * each->read_byte + (double)work->write_bytes * each->write_byte +
           (double)input_words * each->input_word +
           (double)visits->weight_tiles * (double)weight_tile_words * each->weight_word + stored * each->output_word +
           partial * each->partial_word;
}

/* Adds `times` transfers of a tile. The first tile that is added is the full one; the times of others are in proportion
 * to their bytes. */
static void add_moved(struct cnnvp_plan_moved *sum, struct cnnvp_plan_moved *full, uint64_t times,
                      struct cnnvp_plan_moved moved)
{
    if (full->bytes == 0)
        *full = moved;
    sum->ps += full->bytes != 0 ? times * part_of(full->ps, moved.bytes, full->bytes) : 0;
    sum->bytes += times * moved.bytes;
    sum->words += times * moved.words;
}

/* Those of a layer with weights do not depend on how its outputs are sliced. */
static void find_moves(struct search *search)
{
    const struct cnnvp_layer *layer = search->layer;
    const struct split rows = split_of(layer->out.height, layer->tile_h);
    const struct split columns = split_of(layer->out.width, layer->tile_w);
    struct moves *const moves = &search->moves, full = {.store = {0}};
    *moves = full;
    for (size_t i = 0; i < 4; ++i) {
        const uint64_t tiles = (uint64_t)rows.count[i >> 1] * columns.count[i & 1u];
        const uint32_t box[3] = {layer->group_out, rows.size[i >> 1], columns.size[i & 1u]};
        search->at_edge = i != 0;
        if (tiles == 0)
            continue;
        add_moved(&moves->input, &full.input, tiles, move_input(search, box[1], box[2]));
        add_moved(&moves->store, &full.store, tiles, move_operand(search, &layer->out, box));
        if (layer->added.tag != 0)
            add_moved(&moves->added, &full.added, tiles, move_operand(search, &layer->in2, box));
    }
}

/* The work of a way, whose moves are found, without the calculations. */
static struct work transfers_of(struct search *search)
{
    const struct cnnvp_layer *layer = search->layer;
    const struct cnnvp_plan_limits *limits = search->limits;
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const uint64_t images = limits->batch;
    const uint64_t words = (uint64_t)layer->out.channels * layer->out.height * layer->out.width;
    const uint64_t steps = (uint64_t)counts.groups * counts.tiles;
    const uint64_t channels = layer->out.channels, whole = (uint64_t)counts.groups * layer->group_out;
    const uint64_t slices = cnnvp_plan_has_weights(layer) ? (uint64_t)counts.tiles * counts.weight_tiles
                            : layer->op == CNNVP_OP_POOL  ? steps
                                                          : 0;
    const struct visits visits = visits_of(search, &counts);
    struct work work = {0};
    const struct moves moves = search->moves;
    const uint64_t weight_tile_bytes = 2u * cnnvp_plan_weight_tile_words(layer, layer->tile_in, layer->tile_out, 1);
    const struct cnnvp_plan_moved weight_tile =
        counts.weight_tiles != 0 ? cnnvp_plan_move_line(search->query, weight_tile_bytes)
                                 : (struct cnnvp_plan_moved){0};
    /* The last group is smaller, and so is the last slice of inputs. */
    const uint64_t inputs = cnnvp_plan_is_channelwise(layer) ? channels : cnnvp_layer_inputs(layer);
    const uint64_t loaded = cnnvp_plan_is_channelwise(layer) ? whole : (uint64_t)counts.input_slices * layer->tile_in;
    const uint64_t times = visits.inputs / counts.tiles, groups = images * counts.groups;
    const uint64_t request = cnnvp_plan_request_ps(search->query);
    work.inputs = part_of(times * moves.input.ps, inputs, loaded) + visits.inputs * request;
    work.weights = visits.weight_tiles * (weight_tile.ps + request);
    work.memory = work.inputs + work.weights + part_of(groups * (moves.store.ps + moves.added.ps), channels, whole) +
                  (moves.added.ps != 0 ? images * steps * request : 0);
    work.steps = steps * cnnvp_divide_up32(limits->batch, layer->tile_images);
    work.input_slices = counts.input_slices;
    work.output_slices = counts.output_slices;
    work.read_bytes = part_of(times * moves.input.bytes, inputs, loaded) +
                      part_of(groups * moves.added.bytes, channels, whole) + visits.weight_tiles * weight_tile.bytes;
    work.write_bytes = part_of(groups * moves.store.bytes, channels, whole);
    work.moving = moving_pj(search, &visits, part_of(times * moves.input.words, inputs, loaded),
                            weight_tile_bytes / CNNVP_WORD_BYTES, words, &work);
    work.core = (CNNVP_PLAN_LAYER_CYCLES + work.steps * CNNVP_PLAN_STEP_CYCLES +
                 (visits.inputs + visits.weight_tiles) * CNNVP_PLAN_LOAD_CYCLES +
                 images * (slices + steps) * CNNVP_PLAN_COMMAND_CYCLES) *
                limits->core_ps;
    work.ends = layer->tile_images * (moves.input.ps + moves.store.ps) / counts.tiles;
    work.first_weights = visits.weight_tiles != 0 ? weight_tile.ps : 0;
    return work;
}

static int is_better(const struct search *search, const struct cnnvp_plan_finalist *way,
                     const struct cnnvp_plan_finalist *than)
{
    if (search->longest > 0 && (way->taken.bytes < than->taken.bytes || way->taken.bytes > than->taken.bytes))
        return way->taken.bytes < than->taken.bytes;
    return way->score < than->score || (way->score <= than->score && way->taken.ps < than->taken.ps);
}

static inline double longer_of(double a, double b)
{
    return a > b ? a : b;
}

/* Time of calculations and transfers, issued in order. The calculation of a slice overlaps with the loads for the next
 * slice: its weights, and its input if that differs. The last calculation of a step overlaps also with stores. */
static uint64_t in_order(const struct work *work)
{
    const double inputs = work->input_slices, outputs = work->output_slices, steps = (double)work->steps;
    const double calculation = (double)work->compute / (steps * inputs * outputs);
    const double weights = (double)work->weights / (steps * inputs * outputs);
    const double load = (double)work->inputs / (steps * inputs) + weights;
    const double last = load + (double)(work->memory - work->inputs - work->weights) / steps;
    return (uint64_t)(steps * (inputs * (outputs - 1) * longer_of(calculation, weights) +
                               (inputs - 1) * longer_of(calculation, load) + longer_of(calculation, last)));
}

/* The bound and the score of the current way, from its work, without its cut. */
static inline struct cnnvp_plan_finalist way_of(const struct search *search, const struct work *work)
{
    const uint64_t vector = work->vector + (search->layer->unit == CNNVP_UNIT_VECTOR ? work->compute : 0);
    const uint64_t last = vector == work->vector ? cnnvp_minimum(work->compute, vector) / work->steps : 0;
    const uint64_t units = cnnvp_maximum(cnnvp_maximum(in_order(work), vector), work->memory) + work->ends +
                           cnnvp_maximum(last, work->first_weights);
    const uint64_t core = work->core + work->ends + work->first_weights, longer = cnnvp_maximum(units, core);
    const uint64_t all = longer + (work->compute + work->vector + work->memory + work->core) / CNNVP_PLAN_WORK_PART;
    const struct cnnvp_plan_taken taken = {(double)all, work->moving + (double)all * search->limits->energy.ps,
                                           (double)(work->read_bytes + work->write_bytes)};
    struct cnnvp_plan_taken price = taken;
    const struct cnnvp_plan_weights *weights = &search->limits->weights;
    price.ps += (weights->longer - 1) * (double)longer + weights->units * (double)units + weights->core * (double)core;
    price.pj += (price.ps - taken.ps) * search->limits->energy.ps;
    return (struct cnnvp_plan_finalist){
        .taken = taken,
        .score = cnnvp_plan_part_score(search->limits->objective, search->limits->power, &price) +
                 price.ps * search->bytes_a_ps,
        .compute = work->compute,
        .vector = work->vector,
        .memory = work->memory,
        .core = work->core,
        .units = units};
}

/* 1: the way takes too long, or the list is full of better ones. More work cannot change that, so it also holds for a
 * way whose calculations are not yet counted. */
static int is_out(const struct search *search, const struct cnnvp_plan_finalist *way)
{
    const struct cnnvp_plan_finalists *finalists = search->finalists;
    return (search->longest > 0 && way->taken.ps > search->longest) ||
           (finalists->count == CNNVP_PLAN_FINALISTS &&
            !is_better(search, way, &finalists->all[CNNVP_PLAN_FINALISTS - 1u]));
}

/* The same by the work counted so far; the products that are left take as long as at the peak of the unit. */
static int is_out_by(const struct search *search, const struct work *work)
{
    struct work least = *work;
    least.compute += least_ps(search, work->left);
    const struct cnnvp_plan_finalist way = way_of(search, &least);
    return is_out(search, &way);
}

static void insert(struct search *search, struct cnnvp_plan_finalist way)
{
    struct cnnvp_plan_finalists *finalists = search->finalists;
    way.cut = cnnvp_plan_cut_of(search->layer);
    for (size_t i = 0; i < finalists->count; ++i) {
        if (!is_better(search, &way, &finalists->all[i]))
            continue;
        const struct cnnvp_plan_finalist other = finalists->all[i];
        finalists->all[i] = way;
        way = other;
    }
    if (finalists->count < CNNVP_PLAN_FINALISTS)
        finalists->all[finalists->count++] = way;
}

static int fits(const struct search *search, uint64_t *output_bytes)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(search->layer, search->tiling.result_bytes);
    *output_bytes = use.output_bytes;
    return cnnvp_plan_fits(&use, search->limits);
}

/* Asking the units about calculations takes the longest, so they are asked only if the transfers, which are found,
 * leave a chance. */
static void consider_moved(struct search *search, uint64_t output_bytes)
{
    search->layer->image_bytes = (uint32_t)(output_bytes / search->layer->tile_images);
    struct work work = transfers_of(search);
    work.left = search->macs;
    if (is_out_by(search, &work))
        return;
    calculate(search, &work);
    if (!work.refused && !is_out_by(search, &work))
        insert(search, way_of(search, &work));
}

static void consider(struct search *search)
{
    uint64_t output_bytes;
    if (!fits(search, &output_bytes))
        return;
    find_moves(search);
    consider_moved(search, output_bytes);
}

/* ---- ways ---- */

/* Considers all slices of inputs and of the group's outputs for the current tile. */
static void consider_slices(struct search *search, const struct candidates *inputs, uint32_t out_multiple)
{
    struct cnnvp_layer *layer = search->layer;
    if (cnnvp_plan_is_channelwise(layer)) {
        layer->tile_in = layer->tile_out = layer->group_out;
        consider(search);
        return;
    }
    const struct candidates outputs = parts_of(layer->group_out, out_multiple);
    for (size_t i = 0; i < inputs->count; ++i) {
        uint64_t output_bytes;
        layer->tile_in = inputs->values[i];
        /* The smallest slice of outputs, which is the last, has the fewest weights. */
        layer->tile_out = outputs.values[outputs.count - 1u];
        if (!fits(search, &output_bytes))
            continue;
        find_moves(search);
        for (size_t o = 0; o < outputs.count; ++o) {
            layer->tile_out = outputs.values[o];
            if (fits(search, &output_bytes))
                consider_moved(search, output_bytes);
        }
    }
}

/* Reduces the candidates to the whole extent in directions that a layer's calculation cannot cut. */
static void keep_whole(const struct cnnvp_layer *layer, struct candidates *groups, struct candidates *heights,
                       struct candidates *widths)
{
    if (layer->op == CNNVP_OP_SOFTMAX) {
        const int position = layer->out.height == 1 && layer->out.width == 1;
        const int over_channels = layer->axis == CNNVP_AXIS_CHANNELS || (layer->axis == CNNVP_AXIS_LAST && position);
        groups->count = over_channels ? 1 : groups->count;
        heights->count = layer->axis == CNNVP_AXIS_ROWS ? 1 : heights->count;
        widths->count = layer->axis == CNNVP_AXIS_LAST ? 1 : widths->count;
    }
    if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
        heights->count = widths->count = 1;
}

static uint32_t least_edge(uint32_t edge)
{
    return cnnvp_maximum32(edge / ARRAY_PART, cnnvp_minimum32(edge, SMALL_EDGE));
}

/* Channels of an interleaved block; 1: planes. Tiles in memory are transferred in whole blocks. */
static uint32_t block_of(const struct cnnvp_tensor *tensor)
{
    return tensor->on_chip ? 1u : tensor->column_stride;
}

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
    return a / (uint32_t)cnnvp_common_divisor(a, b) * b;
}

/* The number that the channels of a group are a multiple of. */
static uint32_t group_block(const struct cnnvp_layer *layer)
{
    const uint32_t out = block_of(&layer->out);
    const uint32_t in = cnnvp_plan_is_channelwise(layer) ? common_multiple(out, block_of(&layer->in)) : out;
    return layer->op == CNNVP_OP_ADD || layer->added.tag != 0 ? common_multiple(in, block_of(&layer->in2)) : in;
}

static void consider_tiles(struct search *search)
{
    struct cnnvp_layer *layer = search->layer;
    const struct cnnvp_tiling *tiling = &search->tiling;
    struct candidates inputs = parts_of(cnnvp_layer_inputs(layer), common_multiple(tiling->in, block_of(&layer->in)));
    /* Half of the lanes idle, and the tiles of the others may be twice as large, which share more of their edges. */
    const uint32_t lanes = cnnvp_plan_is_channelwise(layer) ? cnnvp_divide_up32(tiling->out, 2u) : tiling->out;
    struct candidates groups = parts_of(layer->out.channels, common_multiple(lanes, group_block(layer)));
    const uint32_t edge = least_edge(tiling->rows), pes = edge * least_edge(tiling->cols);
    struct candidates heights = parts_of(layer->out.height, edge);
    struct candidates widths = parts_of(layer->out.width, least_edge(tiling->cols));
    const uint32_t low = tiling->rows > SMALL_EDGE ? edge / 2u : edge;
    const size_t strips = heights.count; /* without the low one added below */
    if (low < heights.values[heights.count - 1] && heights.count < CANDIDATES)
        heights.values[heights.count++] = low;
    /* Parts of a folded row fill the array if their positions are a multiple of its PEs. */
    const struct candidates full = parts_of(layer->out.width, tiling->rows * tiling->cols);
    for (size_t i = 1; i < full.count && layer->folded != 0 && widths.count < CANDIDATES; ++i)
        widths.values[widths.count++] = full.values[i];
    keep_whole(layer, &groups, &heights, &widths);
    inputs.count = layer->product != 0 ? 1 : inputs.count;
    const int spreads = layer->unit == CNNVP_UNIT_VECTOR && cnnvp_plan_has_weights(layer) &&
                        !cnnvp_plan_is_channelwise(layer) && block_of(&layer->in) == 1u;
    for (size_t i = 0; i < inputs.count && spreads; ++i)
        inputs.values[i] = cnnvp_plan_spread_inputs(search->query, inputs.values[i]);
    for (size_t g = 0; g < groups.count; ++g) {
        layer->group_out = groups.values[g];
        for (size_t h = 0; h < heights.count; ++h) {
            layer->tile_h = heights.values[h];
            /* Narrow tiles are tried at heights up to the array's and at the lowest height; otherwise only whole rows,
             * which are contiguous. Those of a permuted copy are not: what it reads lies across them. */
            const int narrow = layer->permuted != 0 || layer->tile_h <= tiling->rows || h + 1 == heights.count;
            for (size_t w = 0; w < (narrow ? widths.count : 1); ++w) {
                if (h >= strips && w != 0 && low * widths.values[w] < pes)
                    continue;
                layer->tile_w = widths.values[w];
                consider_slices(search, &inputs, tiling->out);
            }
        }
    }
}

/* If weights can serve several images, tries how many images a step takes, and whether groups or images are the outer
 * loop. Statistics of a batch take all images. */
static void consider_edges(struct search *search)
{
    struct cnnvp_layer *layer = search->layer;
    const uint32_t batch = search->limits->batch;
    const struct candidates images =
        layer->norm == CNNVP_NORM_BATCH
            ? (struct candidates){.values = {batch}, .count = 1}
            : parts_of(cnnvp_plan_has_weights(layer) && layer->product == 0 ? batch : 1u, 1);
    for (size_t i = 0; i < images.count; ++i) {
        layer->tile_images = images.values[i];
        layer->images_outer = 0;
        consider_tiles(search);
        layer->images_outer = cnnvp_plan_has_weights(layer) && layer->tile_images < batch;
        if (layer->images_outer)
            consider_tiles(search);
    }
}

/* Half of a window's side, rounded up to whole kernel pieces. */
static uint32_t half_window(uint32_t side, uint32_t piece)
{
    return cnnvp_divide_up32(side, 2u * piece) * piece;
}

/* Pooling windows for which no tile fits are swept in parts: the rows are divided first, then the columns. Parts are
 * whole kernel pieces, as the unit takes them; the last one is the rest. */
static void consider_parts(struct search *search)
{
    struct cnnvp_layer *layer = search->layer;
    const uint32_t piece = search->tiling.side;
    while (search->finalists->count == 0 && cnnvp_window_rows(layer) > piece) {
        layer->tile_ky = half_window(cnnvp_window_rows(layer), piece);
        consider_edges(search);
    }
    while (search->finalists->count == 0 && cnnvp_window_columns(layer) > piece) {
        layer->tile_kx = half_window(cnnvp_window_columns(layer), piece);
        consider_edges(search);
    }
}

static cnnvp_result begin(struct search *search, const char *name, struct cnnvp_error *error)
{
    search->query = cnnvp_cost_query_new(search->layer, name, search->limits);
    return search->query != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

static double bytes_a_ps_of(const struct search *search)
{
    return search->limits->objective == CNNVP_OBJECTIVE_TRAFFIC ? cnnvp_plan_bytes_a_ps(search->query) : 0;
}

static void end(struct search *search)
{
    cnnvp_cost_query_free(search->query);
}

cnnvp_result cnnvp_plan_layer(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_plan_finalists *finalists, struct cnnvp_plan_use *smallest,
                              struct cnnvp_error *error)
{
    struct cnnvp_layer trial = *layer;
    CNNVP_SCOPED(end) struct search search = {.limits = limits, .layer = &trial, .finalists = finalists};
    memset(finalists, 0, sizeof *finalists);
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &search.tiling, error));
    CNNVP_TRY(begin(&search, name, error));
    search.peak = search.tiling.pes;
    search.macs = limits->batch * products_of_all(layer);
    search.bytes_a_ps = bytes_a_ps_of(&search);
    search.tiling.rows = cnnvp_plan_strip_rows(search.query, &search.tiling);
    consider_edges(&search);
    if (limits->weights.core > 0) {
        /* Tiles lower than the unit prefers have more channels in fewer commands. */
        const uint32_t rows = search.tiling.rows;
        search.tiling.rows = 1;
        consider_edges(&search);
        search.tiling.rows = rows;
    }
    if (finalists->count == 0) {
        /* Try tiles smaller than the unit prefers. */
        search.tiling.rows = search.tiling.cols = search.tiling.in = search.tiling.out = 1;
        consider_edges(&search);
    }
    if (finalists->count == 0 && layer->op == CNNVP_OP_POOL)
        consider_parts(&search);
    if (finalists->count != 0 && limits->batch > 1 && limits->objective == CNNVP_OBJECTIVE_TIME &&
        cnnvp_plan_has_weights(layer)) {
        search.longest = finalists->all[0].taken.ps * (1 + 1 / BATCH_PART);
        finalists->count = 0;
        consider_edges(&search);
    }
    CNNVP_TRY(cnnvp_cost_query_result(search.query, error));
    if (finalists->count != 0)
        return CNNVP_DONE;
    if (cnnvp_plan_refusal(search.query)[0] != '\0')
        return cnnvp_compiler_error(error, "layer \"%s\": %s", name, cnnvp_plan_refusal(search.query));
    /* The last way tried is the smallest. */
    finalists->all[0].cut = cnnvp_plan_cut_of(&trial);
    *smallest = cnnvp_plan_use_of(&trial, search.tiling.result_bytes);
    return CNNVP_DONE;
}

struct edge {
    const char *name;
    uint32_t value, most;
    int whole;      /* 1: it has to be `most` */
    uint32_t block; /* it has to be a multiple of this, or `most` */
};

static cnnvp_result check_edges(const struct cnnvp_layer *layer, const char *name, const char *place,
                                struct cnnvp_error *error)
{
    struct candidates groups = {.count = 2}, heights = groups, widths = groups;
    const int channelwise = cnnvp_plan_is_channelwise(layer);
    keep_whole(layer, &groups, &heights, &widths);
    const struct edge edges[] = {
        {"group_out", layer->group_out, layer->out.channels, groups.count == 1, group_block(layer)},
        {"tile_h", layer->tile_h, layer->out.height, heights.count == 1, 1},
        {"tile_w", layer->tile_w, layer->out.width, widths.count == 1, 1},
        {"tile_in", layer->tile_in, channelwise ? layer->group_out : cnnvp_layer_inputs(layer),
         channelwise || layer->product != 0, block_of(&layer->in)},
        {"tile_out", layer->tile_out, layer->group_out, channelwise, 1},
    };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; ++i) {
        const uint32_t least = edges[i].whole ? edges[i].most : 1u;
        if (edges[i].value < least || edges[i].value > edges[i].most)
            return cnnvp_config_error(error, place, "layer \"%s\": %s is %u; it can be %u to %u", name, edges[i].name,
                                      edges[i].value, least, edges[i].most);
        if (edges[i].value % edges[i].block != 0 && edges[i].value != edges[i].most)
            return cnnvp_config_error(error, place,
                                      "layer \"%s\": %s is %u; its maps lie in blocks of channels, by which it is a "
                                      "multiple of %u",
                                      name, edges[i].name, edges[i].value, edges[i].block);
    }
    if (layer->tile_kx > layer->kx || layer->tile_ky > layer->ky ||
        (layer->op != CNNVP_OP_POOL && (layer->tile_kx != 0 || layer->tile_ky != 0)))
        return cnnvp_config_error(
            error, place, "layer \"%s\": tile_kx and tile_ky are parts of a pooling window; its own is %u x %u", name,
            layer->kx, layer->ky);
    return CNNVP_DONE;
}

static cnnvp_result tile_does_not_fit(const struct search *search, const char *name, const char *place,
                                      struct cnnvp_error *error)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(search->layer, search->tiling.result_bytes);
    const struct cnnvp_plan_limits *limits = search->limits;
    const struct {
        uint64_t need, have;
        const char *buffer;
    } sides[] = {{limits->joint_bytes != 0 ? cnnvp_plan_joint_bytes(&use) : 0, limits->joint_bytes, "the scratchpad"},
                 {use.input_bytes, limits->input_bytes, "input_buffer"},
                 {use.weight_bytes, limits->weight_bytes, "weight_buffer"},
                 {use.output_bytes, limits->output_bytes, "output_buffer"}};
    size_t side = 0;
    if (cnnvp_plan_refusal(search->query)[0] != '\0')
        return cnnvp_config_error(error, place, "layer \"%s\": %s", name, cnnvp_plan_refusal(search->query));
    while (side + 1u < sizeof sides / sizeof sides[0] && sides[side].need <= sides[side].have)
        ++side;
    return cnnvp_config_error(
        error, place, "layer \"%s\": its tile needs %llu bytes of %s, one half of which holds %llu", name,
        (unsigned long long)sides[side].need, sides[side].buffer, (unsigned long long)sides[side].have);
}

cnnvp_result cnnvp_plan_check(const struct cnnvp_layer *layer, const char *name, const char *place,
                              const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_layer trial = *layer;
    struct cnnvp_plan_finalists finalists = {.count = 0};
    CNNVP_SCOPED(end) struct search search = {.limits = limits, .layer = &trial, .finalists = &finalists};
    CNNVP_TRY(check_edges(layer, name, place, error));
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &search.tiling, error));
    CNNVP_TRY(begin(&search, name, error));
    consider(&search);
    CNNVP_TRY(cnnvp_cost_query_result(search.query, error));
    return finalists.count == 0 ? tile_does_not_fit(&search, name, place, error) : CNNVP_DONE;
}

cnnvp_result cnnvp_plan_again(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                              struct cnnvp_plan_cut cut, struct cnnvp_plan_finalist *way, struct cnnvp_error *error)
{
    struct cnnvp_layer trial = *layer;
    struct cnnvp_plan_finalists finalists = {.count = 0};
    CNNVP_SCOPED(end) struct search search = {.limits = limits, .layer = &trial, .finalists = &finalists};
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &search.tiling, error));
    CNNVP_TRY(begin(&search, name, error));
    search.bytes_a_ps = bytes_a_ps_of(&search);
    cnnvp_plan_cut_layer(&trial, cut);
    consider(&search);
    *way = finalists.all[0];
    CNNVP_TRY(cnnvp_cost_query_result(search.query, error));
    if (finalists.count != 0)
        return CNNVP_DONE;
    (void)cnnvp_compiler_error(error, "layer \"%s\": %s", name, cnnvp_plan_refusal(search.query));
    return CNNVP_FAILED;
}
