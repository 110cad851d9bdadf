/* SPDX-License-Identifier: Apache-2.0 */
/* The NFU: rows x cols results at a time, cycles as in models/nfu/nfu_cost.c. */
#include "engine.h"

#include <string.h>

#define SLOT_WORDS 4u /* of a partial sum */

enum { ROWS, COLS, SINGLE_NEURON, PIPELINE, KERNEL_PIECE, PROPAGATION, EXTENDED };

static void more(const cnnvp_config *config, struct cnnvp_engine *engine)
{
    uint64_t value;
    const char *text = NULL;
    if (cnnvp_config_get(config, "pe_array.fc_mapping", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[SINGLE_NEURON] = strcmp(text, "single-neuron") == 0;
    if (cnnvp_config_get(config, "pe_array.kernel_piece", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[KERNEL_PIECE] = strcmp(text, "3") == 0 ? 3u : 0;
    if (cnnvp_config_get(config, "pe_array.propagation", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[PROPAGATION] = strcmp(text, "on") == 0;
    if (cnnvp_config_get(config, "pe_array.fifo_v", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[EXTENDED] = strcmp(text, "extended") == 0;
    if (cnnvp_config_get(config, "pe_array.pipeline", &value, &text) == CNNVP_DONE)
        engine->number[PIPELINE] = (uint32_t)value;
}

static uint64_t pes(const struct cnnvp_engine *engine)
{
    return (uint64_t)engine->number[ROWS] * engine->number[COLS];
}

static struct cnnvp_engine_edges edges(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                       int least)
{
    const uint32_t all = (uint32_t)pes(engine);
    const uint32_t piece = engine->number[KERNEL_PIECE];
    struct cnnvp_engine_edges wanted = {engine->number[ROWS], engine->number[COLS], 1, 1, piece != 0 ? piece : 1u};
    if (layer->op == CNNVP_OP_FC) {
        /* The mapping lays out one direction on the array, the other is just as well cut there. */
        wanted.in = least && engine->number[SINGLE_NEURON] == 0 ? 1 : all;
        wanted.out = least && engine->number[SINGLE_NEURON] != 0 ? 1 : all;
    }
    return wanted;
}

static uint64_t taps_of(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer)
{
    const uint64_t piece = engine->number[KERNEL_PIECE];
    if (piece == 0)
        return (uint64_t)layer->kx * layer->ky;
    return cnnvp_divide_up(layer->kx, piece) * cnnvp_divide_up(layer->ky, piece) * piece * piece;
}

static uint64_t reduction_steps(uint64_t count)
{
    uint64_t steps = 0;
    while (UINT64_C(1) << steps < count)
        ++steps;
    return steps;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t excess(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Words of the input that one sweep of a kernel, or of a piece of it, over a map reads (models/nfu/nfu_cost.c). */
static uint64_t sweep_words(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                            const struct cnnvp_engine_slice *slice)
{
    const uint64_t piece = engine->number[KERNEL_PIECE];
    const uint64_t kx = piece != 0 ? piece : layer->kx;
    const uint64_t ky = piece != 0 ? piece : layer->ky;
    const uint64_t area = (uint64_t)slice->rows * slice->columns;
    const uint64_t tiles_x = cnnvp_divide_up(slice->columns, engine->number[COLS]);
    const uint64_t tiles_y = cnnvp_divide_up(slice->rows, engine->number[ROWS]);
    const int dilated = (layer->dx > 1 && layer->kx > 1) || (layer->dy > 1 && layer->ky > 1);
    if (engine->number[PROPAGATION] == 0 || dilated)
        return kx * ky * area;
    const uint64_t first_x = smaller(kx, layer->sx);
    const uint64_t first_y = smaller(ky, layer->sy);
    const uint64_t down = excess(ky, layer->sy);
    const uint64_t side_h = slice->rows * tiles_x;
    const uint64_t column = engine->number[EXTENDED] != 0 ? first_y * side_h + down * tiles_x * tiles_y : ky * side_h;
    return first_x * first_y * area + excess(kx, layer->sx) * column + first_x * down * slice->columns * tiles_y;
}

static uint64_t sweeps_of(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer)
{
    const uint64_t piece = engine->number[KERNEL_PIECE];
    return piece == 0 ? 1u : cnnvp_divide_up(layer->kx, piece) * cnnvp_divide_up(layer->ky, piece);
}

/* Cycles that a result of each PE takes behind its products, the last of them one for each word that it reads and
 * writes of the output buffer. Partial sums are four words each: written by all slices of the inputs but the last, read
 * by all but the first. */
struct result {
    uint64_t bias, out;
};

static struct cnnvp_engine_work matmul_work(const struct cnnvp_engine *engine, const struct cnnvp_engine_slice *slice,
                                            const struct result *result)
{
    const uint64_t all = pes(engine);
    const int single = engine->number[SINGLE_NEURON] != 0;
    const uint64_t groups = single ? slice->out : cnnvp_divide_up(slice->out, all);
    const uint64_t compute = groups * (single ? cnnvp_divide_up(slice->in, all) : slice->in);
    const uint64_t out = groups * (result->out + (single ? reduction_steps(all) : 0));
    const uint64_t bias = groups * result->bias;
    return (struct cnnvp_engine_work){
        compute + bias + out + engine->number[PIPELINE],
        {{single ? (uint64_t)slice->in * slice->out : compute, compute},
         {slice->out * (slice->in + result->bias), compute + bias},
         {slice->out * result->out, out}},
    };
}

static struct cnnvp_engine_work work(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                     const struct cnnvp_engine_slice *slice)
{
    const int sums = !slice->last || (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE);
    const int bias = layer->op != CNNVP_OP_POOL && slice->last && layer->bias != 0;
    const struct result result = {bias ? 1u : 0, (sums ? SLOT_WORDS : 1u) + (slice->first ? 0 : SLOT_WORDS)};
    if (layer->op == CNNVP_OP_FC)
        return matmul_work(engine, slice, &result);
    const uint64_t pe_tiles = cnnvp_divide_up(slice->rows, engine->number[ROWS]) *
                              cnnvp_divide_up(slice->columns, engine->number[COLS]);
    const int weighted = layer->op == CNNVP_OP_CONV;
    const uint64_t results = slice->out * pe_tiles;
    const uint64_t pairs = slice->out * (uint64_t)(weighted && layer->depthwise == 0 ? slice->in : 1u);
    const uint64_t compute = pairs * pe_tiles * taps_of(engine, layer);
    const uint64_t area = (uint64_t)slice->rows * slice->columns;
    const uint64_t biases = results * result.bias;
    return (struct cnnvp_engine_work){
        compute + biases + results * result.out + engine->number[PIPELINE],
        {{pairs * sweeps_of(engine, layer) * sweep_words(engine, layer, slice), compute},
         {weighted ? compute + biases : 0, compute + biases},
         {slice->out * area * result.out, results * result.out}},
    };
}

/* Sums stay in the PEs. */
static int keeps_sums(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer)
{
    (void)engine;
    (void)layer;
    return 0;
}

static const char *const parameters[] = {"rows", "cols", NULL};

const struct cnnvp_engine_kind cnnvp_engine_nfu = {
    .image = CNNVP_ENGINE_NFU,
    .parameters = parameters,
    .more = more,
    .pes = pes,
    .edges = edges,
    .work = work,
    .keeps_sums = keeps_sums,
};
