/* SPDX-License-Identifier: Apache-2.0 */
/* The NFU: rows x cols results at a time, cycles as in models/nfu/nfu_cost.c. */
#include "engine.h"

#include <string.h>

enum { ROWS, COLS, SINGLE_NEURON };

static void more(const cnnvp_config *config, struct cnnvp_engine *engine)
{
    uint64_t value;
    const char *text = NULL;
    if (cnnvp_config_get(config, "pe_array.fc_mapping", &value, &text) == CNNVP_DONE && text != NULL)
        engine->number[SINGLE_NEURON] = strcmp(text, "single-neuron") == 0;
}

static uint64_t pes(const struct cnnvp_engine *engine)
{
    return (uint64_t)engine->number[ROWS] * engine->number[COLS];
}

static struct cnnvp_engine_edges edges(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                       int least)
{
    const uint32_t all = (uint32_t)pes(engine);
    struct cnnvp_engine_edges wanted = {engine->number[ROWS], engine->number[COLS], 1, 1};
    if (layer->op == CNNVP_OP_FC) {
        /* The mapping lays out one direction on the array, the other is just as well cut there. */
        wanted.in = least && engine->number[SINGLE_NEURON] == 0 ? 1 : all;
        wanted.out = least && engine->number[SINGLE_NEURON] != 0 ? 1 : all;
    }
    return wanted;
}

/* Bias steps and write-out of `results` sets of results. Partial sums are four words each: written by the first slice of
 * the inputs, read and written by the ones between, read by the last. */
static uint64_t results_cycles(const struct cnnvp_image_layer *layer, uint64_t results)
{
    uint64_t slices = 1;
    if (layer->op == CNNVP_OP_FC || (layer->op == CNNVP_OP_CONV && layer->depthwise == 0))
        slices = cnnvp_divide_up(cnnvp_engine_inputs(layer), layer->tile_in);
    const uint64_t partial = slices > 1 ? 4u + (slices - 2u) * 8u + 4u : 0;
    return results * (1u + partial + (layer->bias != 0 ? 1u : 0u));
}

static uint64_t cycles(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer, uint32_t tiles)
{
    const uint64_t pe_tiles = cnnvp_divide_up(layer->out.height, engine->number[ROWS]) *
                              cnnvp_divide_up(layer->out.width, engine->number[COLS]);
    const uint64_t taps = (uint64_t)layer->kx * layer->ky;
    const uint64_t outputs = layer->out.channels;
    uint64_t results = outputs * pe_tiles;
    uint64_t compute;
    (void)tiles;
    if (layer->op == CNNVP_OP_CONV) {
        compute = results * (layer->depthwise != 0 ? 1u : layer->in.channels) * taps;
    } else if (layer->op == CNNVP_OP_POOL) {
        compute = results * taps;
    } else if (engine->number[SINGLE_NEURON] != 0) {
        results = outputs;
        compute = outputs * cnnvp_divide_up(cnnvp_engine_inputs(layer), pes(engine));
    } else {
        results = cnnvp_divide_up(outputs, pes(engine));
        compute = results * cnnvp_engine_inputs(layer);
    }
    return compute + results_cycles(layer, results);
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
    .cycles = cycles,
    .keeps_sums = keeps_sums,
};
