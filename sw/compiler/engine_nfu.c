/* SPDX-License-Identifier: Apache-2.0 */
/* The NFU: rows x cols results at a time, cycles as in models/nfu/nfu_cost.c. */
#include "engine.h"

#include <string.h>

enum { ROWS, COLS, SINGLE_NEURON, PIPELINE, KERNEL_PIECE };

static void more(const cnnvp_config *config, struct cnnvp_engine *engine)
{
    uint64_t value;
    const char *text = NULL;
    if (cnnvp_config_get(config, "pe_array.fc_mapping", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[SINGLE_NEURON] = strcmp(text, "single-neuron") == 0;
    if (cnnvp_config_get(config, "pe_array.kernel_piece", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[KERNEL_PIECE] = strcmp(text, "3") == 0 ? 3u : 0;
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

/* Partial sums are four words each: written by all slices of the inputs but the last, read by all but the first. */
static uint64_t slice_cycles(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                             const struct cnnvp_engine_slice *slice)
{
    const uint64_t pe_tiles = cnnvp_divide_up(slice->rows, engine->number[ROWS]) *
                              cnnvp_divide_up(slice->columns, engine->number[COLS]);
    const int sums = !slice->last || (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE);
    uint64_t results = slice->out * pe_tiles;
    uint64_t result = (sums ? 4u : 1u) + (slice->first ? 0 : 4u) + (slice->last && layer->bias != 0 ? 1u : 0);
    uint64_t compute;
    if (layer->op == CNNVP_OP_FC && engine->number[SINGLE_NEURON] != 0) {
        results = slice->out;
        compute = results * cnnvp_divide_up(slice->in, pes(engine));
        result += reduction_steps(pes(engine));
    } else if (layer->op == CNNVP_OP_FC) {
        results = cnnvp_divide_up(slice->out, pes(engine));
        compute = results * slice->in;
    } else {
        const int pairs = layer->op == CNNVP_OP_CONV && layer->depthwise == 0;
        compute = results * (pairs ? slice->in : 1u) * taps_of(engine, layer);
    }
    return compute + results * result + engine->number[PIPELINE];
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
    .slice = slice_cycles,
    .keeps_sums = keeps_sums,
};
