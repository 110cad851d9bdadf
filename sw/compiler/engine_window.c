/* SPDX-License-Identifier: Apache-2.0 */
/* The window engine: channel pairs side by side, one position a cycle, cycles as in models/window/window_cost.c. */
#include "engine.h"

enum { INPUT_PARA, OUTPUT_PARA, FC_PARA, PIPELINE };

#define SIDE 3u        /* of a kernel piece */
#define LOAD_CYCLES 9u /* of a kernel piece */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The convolution unit's multipliers; those of the fully connected unit are not among them. */
static uint64_t pes(const struct cnnvp_engine *engine)
{
    return (uint64_t)SIDE * SIDE * engine->number[INPUT_PARA] * engine->number[OUTPUT_PARA];
}

static struct cnnvp_engine_edges edges(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                       int least)
{
    struct cnnvp_engine_edges wanted = {1, 1, 1, 1, SIDE};
    switch (layer->op) {
    case CNNVP_OP_CONV:
        wanted.in = engine->number[INPUT_PARA];
        wanted.out = layer->depthwise != 0 ? smaller(engine->number[INPUT_PARA], engine->number[OUTPUT_PARA])
                                           : engine->number[OUTPUT_PARA];
        break;
    case CNNVP_OP_POOL:
        wanted.out = engine->number[INPUT_PARA];
        break;
    case CNNVP_OP_FC:
        wanted.in = least ? 1 : engine->number[FC_PARA];
        wanted.out = engine->number[FC_PARA];
        break;
    default:
        break;
    }
    return wanted;
}

static uint64_t pieces(const struct cnnvp_image_layer *layer)
{
    return cnnvp_divide_up(layer->kx, SIDE) * cnnvp_divide_up(layer->ky, SIDE);
}

static uint64_t slice_cycles(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                             const struct cnnvp_engine_slice *slice)
{
    const struct cnnvp_engine_edges step = edges(engine, layer, 0);
    const uint64_t out_steps = cnnvp_divide_up(slice->out, step.out);
    const uint64_t positions = (uint64_t)slice->rows * slice->columns;
    const int bias = slice->last && layer->bias != 0;
    if (layer->op == CNNVP_OP_POOL)
        return out_steps * pieces(layer) * positions + engine->number[PIPELINE];
    if (layer->op == CNNVP_OP_FC)
        return out_steps * (slice->in + (bias ? 1u : 0)) + engine->number[PIPELINE];
    const uint64_t in_steps = layer->depthwise != 0 ? 1u : cnnvp_divide_up(slice->in, step.in);
    /* Each instruction loads its kernel pieces again. */
    return in_steps * out_steps * pieces(layer) * (positions + LOAD_CYCLES) +
           (bias ? out_steps * (positions + 1u) : 0) + engine->number[PIPELINE];
}

static void more(const cnnvp_config *config, struct cnnvp_engine *engine)
{
    uint64_t value;
    const char *text = NULL;
    if (cnnvp_config_get(config, "pe_array.pipeline", &value, &text) == CNNVP_DONE)
        engine->number[PIPELINE] = (uint32_t)value;
}

static int keeps_sums(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer)
{
    switch (layer->op) {
    case CNNVP_OP_CONV:
        return pieces(layer) > 1u || layer->bias != 0 ||
               (layer->depthwise == 0 && layer->tile_in > engine->number[INPUT_PARA]);
    case CNNVP_OP_POOL:
        return pieces(layer) > 1u;
    default:
        return layer->op == CNNVP_OP_FC;
    }
}

static const char *const parameters[] = {"input_para", "output_para", "fc_para", NULL};

const struct cnnvp_engine_kind cnnvp_engine_window = {
    .image = CNNVP_ENGINE_WINDOW,
    .parameters = parameters,
    .more = more,
    .pes = pes,
    .edges = edges,
    .slice = slice_cycles,
    .keeps_sums = keeps_sums,
};
