/* SPDX-License-Identifier: Apache-2.0 */
/* The window engine: channel pairs side by side, one position a cycle, cycles as in models/window/window_cost.c. */
#include "engine.h"

enum { INPUT_PARA, OUTPUT_PARA, FC_PARA, PIPELINE };

#define SIDE 3u        /* of a kernel piece */
#define LOAD_CYCLES 9u /* of a kernel piece */
#define SLOT_WORDS 4u  /* of a partial sum */

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

/* Words that a channel of the input reads in one pass: the columns that shift registers do not have yet. */
static uint64_t pass_words(const struct cnnvp_image_layer *layer, const struct cnnvp_engine_slice *slice)
{
    const int shifts = (layer->dx == 1 || layer->kx == 1) && (layer->dy == 1 || layer->ky == 1);
    if (!shifts)
        return (uint64_t)LOAD_CYCLES * slice->rows * slice->columns;
    return slice->rows * (LOAD_CYCLES + (slice->columns - 1u) * (uint64_t)SIDE * smaller(layer->sx, SIDE));
}

/* Words of `results` that so many passes add to: sums are written by all but the last, and read by all but the first
 * slice's first. */
static uint64_t output_words(uint64_t results, uint64_t passes, int first, int sums)
{
    return results * (2u * SLOT_WORDS * (passes - 1u) + (first ? 0 : SLOT_WORDS) + (sums ? SLOT_WORDS : 1u));
}

static struct cnnvp_engine_work matmul_work(const struct cnnvp_engine *engine, const struct cnnvp_engine_slice *slice,
                                            uint64_t out_steps, int bias)
{
    const uint64_t passes = slice->in + (bias ? 1u : 0);
    const uint64_t sweeping = out_steps * passes;
    return (struct cnnvp_engine_work){
        sweeping + engine->number[PIPELINE],
        {{slice->in, out_steps * slice->in},
         {slice->out * passes, sweeping},
         {output_words(slice->out, passes, slice->first, !slice->last), sweeping}},
    };
}

static struct cnnvp_engine_work work(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                     const struct cnnvp_engine_slice *slice)
{
    const struct cnnvp_engine_edges step = edges(engine, layer, 0);
    const uint64_t out_steps = cnnvp_divide_up(slice->out, step.out);
    const uint64_t positions = (uint64_t)slice->rows * slice->columns;
    const int bias = layer->op != CNNVP_OP_POOL && slice->last && layer->bias != 0;
    if (layer->op == CNNVP_OP_FC)
        return matmul_work(engine, slice, out_steps, bias);
    const int weighted = layer->op == CNNVP_OP_CONV;
    const int pairs = weighted && layer->depthwise == 0;
    const uint64_t in_steps = pairs ? cnnvp_divide_up(slice->in, step.in) : 1u;
    const uint64_t passes = in_steps * pieces(layer);
    const uint64_t read = (pairs ? slice->in * out_steps : slice->out) * pieces(layer) * pass_words(layer, slice);
    const uint64_t weights = slice->out * ((pairs ? slice->in : 1u) * pieces(layer) * LOAD_CYCLES + (bias ? 1u : 0));
    /* Each instruction loads its kernel pieces again; the bias is one more pass. */
    const uint64_t load = weighted ? out_steps * (passes * LOAD_CYCLES + (bias ? 1u : 0)) : 0;
    const uint64_t sweeping = out_steps * (passes * positions + (bias ? positions + 1u : 0));
    const int sums = !slice->last || (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE);
    return (struct cnnvp_engine_work){
        sweeping + (weighted ? out_steps * passes * LOAD_CYCLES : 0) + engine->number[PIPELINE],
        {{read, out_steps * passes * positions},
         {weighted ? weights : 0, load},
         {output_words(slice->out * positions, passes + (bias ? 1u : 0), slice->first, sums), sweeping}},
    };
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
    .work = work,
    .keeps_sums = keeps_sums,
};
