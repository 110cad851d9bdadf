/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler takes an instruction of the built-in arrays to cost, against the models' own closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "nfu/nfu_tile.h"
#include "plan_cases.h"
#include "window/window_tile.h"

#define SLOT_WORDS 4u /* of a partial sum */
#define CASES 4000u

/* The slice as a command describes it. */
static struct cnnvp_fx16_tile tile_of(const struct cnnvp_image_layer *layer, const struct cnnvp_engine_slice *slice)
{
    const int average = layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE;
    struct cnnvp_fx16_tile tile = {
        .kind = layer->op == CNNVP_OP_FC ? CNNVP_FX16_MATMUL : CNNVP_FX16_WINDOW,
        .operation = {.product = layer->op == CNNVP_OP_POOL ? CNNVP_FX16_PRODUCT_A : CNNVP_FX16_PRODUCT_KA},
        .uses_k = layer->op != CNNVP_OP_POOL,
        .per_channel = layer->op == CNNVP_OP_POOL || layer->depthwise != 0,
        .bias = layer->op != CNNVP_OP_POOL && slice->last && layer->bias != 0,
        .partial = !slice->last || average,
        .update = slice->first ? CNNVP_UPDATE_INITIALISE : CNNVP_UPDATE_ACCUMULATE,
        .in_channels = slice->in,
        .out_channels = slice->out,
        .out_h = slice->rows,
        .out_w = slice->columns,
        .kx = layer->kx,
        .ky = layer->ky,
        .sx = layer->sx,
        .sy = layer->sy,
        .dx = layer->dx,
        .dy = layer->dy,
        .inputs = slice->in,
        .outputs = slice->out,
        .planes = slice->out,
        .plane_words = (uint64_t)slice->rows * slice->columns,
    };
    if (tile.kind == CNNVP_FX16_MATMUL) {
        tile.planes = 1;
        tile.plane_words = slice->out;
    }
    return tile;
}

/* Cycles by which a port makes an access longer that is spread over so many. */
static uint64_t stall(uint64_t words, uint64_t cycles, uint32_t width)
{
    const uint64_t needed = (words + width - 1u) / width;
    return cycles != 0 && needed > cycles ? needed - cycles : 0;
}

static uint64_t nfu_cycles(const struct cnnvp_engine *engine, const struct cnnvp_fx16_tile *tile)
{
    const struct cnnvp_nfu_shape shape = {.rows = engine->number[0],
                                          .cols = engine->number[1],
                                          .acc_bits = 40,
                                          .single_neuron = engine->number[2] != 0,
                                          .pipeline = engine->number[3],
                                          .kernel_piece = engine->number[4],
                                          .propagation = engine->number[5] != 0,
                                          .extended_fifo_v = engine->number[6] != 0};
    struct cnnvp_nfu_cost cost;
    cnnvp_nfu_cost(&shape, tile, &cost);
    const uint32_t input = tile->kind == CNNVP_FX16_WINDOW ? engine->window_width : engine->width[CNNVP_ENGINE_INPUT];
    const uint64_t found = tile->update == CNNVP_UPDATE_INITIALISE ? 0 : tile->planes * tile->plane_words * SLOT_WORDS;
    return cost.compute_cycles + cost.bias_cycles + cost.fill_cycles + cost.writeout_cycles +
           stall(cost.input_words, cost.compute_cycles, input) +
           stall(cost.weight_words, cost.compute_cycles + cost.bias_cycles, engine->width[CNNVP_ENGINE_WEIGHT]) +
           stall(cost.output_words + found, cost.writeout_cycles, engine->width[CNNVP_ENGINE_OUTPUT]);
}

static uint64_t window_cycles(const struct cnnvp_engine *engine, const struct cnnvp_fx16_tile *tile)
{
    const struct cnnvp_window_shape shape = {.input_para = engine->number[0],
                                             .output_para = engine->number[1],
                                             .fc_para = engine->number[2],
                                             .acc_bits = 40,
                                             .pipeline = engine->number[3]};
    struct cnnvp_window_cost cost;
    cnnvp_window_cost(&shape, tile, &cost);
    const int matmul = tile->kind == CNNVP_FX16_MATMUL;
    const uint64_t sweeping = cost.compute_cycles + cost.bias_cycles;
    const uint64_t loading = matmul ? sweeping : cost.load_cycles + cost.bias_loads;
    const uint64_t found = tile->update == CNNVP_UPDATE_INITIALISE ? 0 : 1u;
    const uint64_t read_back = tile->planes * tile->plane_words * SLOT_WORDS * (cost.passes - 1u + found);
    const uint32_t input = matmul ? engine->width[CNNVP_ENGINE_INPUT] : engine->window_width;
    return sweeping + cost.load_cycles + cost.pipeline_cycles + stall(cost.input_words, cost.compute_cycles, input) +
           stall(cost.weight_words, loading, engine->width[CNNVP_ENGINE_WEIGHT]) +
           stall(cost.output_words + read_back, sweeping, engine->width[CNNVP_ENGINE_OUTPUT]);
}

static struct cnnvp_engine random_engine(struct builder *random)
{
    struct cnnvp_engine engine = cases_limits(random).engine;
    engine.number[3] = cases_between(random, 1, 5); /* pipeline */
    if (engine.kind == &cnnvp_engine_nfu) {
        engine.number[4] = cases_between(random, 0, 1) * 3u; /* kernel_piece */
        engine.number[5] = cases_between(random, 0, 1);      /* propagation */
        engine.number[6] = cases_between(random, 0, 1);      /* fifo_v */
    }
    for (int port = 0; port < CNNVP_ENGINE_PORTS; ++port)
        engine.width[port] = UINT32_C(1) << cases_between(random, 0, 8);
    engine.window_width = (engine.width[CNNVP_ENGINE_INPUT] + 1u) / cases_between(random, 1, 2);
    return engine;
}

/* One cycle more: the instruction's own, between two of them. */
static void slices_cost_what_the_models_say(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 17);
    unsigned compared = 0;
    unsigned stalled = 0;
    for (unsigned i = 0; i < CASES; ++i) {
        const struct cnnvp_image_layer layer = cases_layer(&random);
        const struct cnnvp_engine engine = random_engine(&random);
        if (layer.op != CNNVP_OP_CONV && layer.op != CNNVP_OP_FC && layer.op != CNNVP_OP_POOL)
            continue;
        const int channelwise = layer.op == CNNVP_OP_POOL || layer.depthwise != 0;
        struct cnnvp_engine_slice slice = {.first = 1, .last = 1};
        slice.rows = cases_between(&random, 1, layer.out.height);
        slice.columns = cases_between(&random, 1, layer.out.width);
        slice.out = cases_between(&random, 1, layer.out.channels);
        slice.in = channelwise ? slice.out : cases_between(&random, 1, cnnvp_engine_inputs(&layer));
        if (!channelwise) {
            slice.first = (int)cases_between(&random, 0, 1);
            slice.last = (int)cases_between(&random, 0, 1);
        }
        const struct cnnvp_fx16_tile tile = tile_of(&layer, &slice);
        const int is_nfu = engine.kind == &cnnvp_engine_nfu;
        const uint64_t cycles = is_nfu ? nfu_cycles(&engine, &tile) : window_cycles(&engine, &tile);
        struct cnnvp_engine wide = engine;
        wide.window_width = 0;
        for (int port = 0; port < CNNVP_ENGINE_PORTS; ++port)
            wide.width[port] = 0;
        assert_int_equal(cnnvp_engine_cycles(&engine, &layer, &slice), cycles + 1u);
        stalled += cnnvp_engine_cycles(&wide, &layer, &slice) < cycles + 1u;
        ++compared;
    }
    assert_true(compared > 1000);
    assert_true(stalled > 500);
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_cost_what_the_models_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
