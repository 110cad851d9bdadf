/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control of the cycle-stepped window engine: the loops of S000 A1, A2 and A5 as they are printed (Part B 0-2:
 * the sweep of piece (kh, kw) begins at its own corner), each turn of the innermost one a clock.
 *
 * In a clock values enter the pipeline (the sums of all trees, or a bubble) and the oldest ones reach the output
 * buffer, which initialises, accumulates or maximises the sum that it keeps (A1 L16, A2 L11, A5 L10).
 */
#include "window_cycle.h"
#include "cnnvp_integer.h"

#include <stdlib.h>

enum { SIDE = CNNVP_WINDOW_SIDE, TAPS = CNNVP_WINDOW_TAPS, SLOT = CNNVP_WINDOW_SLOT_WORDS };

/* Most products of one tree: parameter input_para is at most 64. */
enum { MAX_PRODUCTS = 64 * TAPS };

/* A command under way. */
struct run {
    const struct cnnvp_window_shape *shape;
    const struct cnnvp_fx16_tile *tile;
    const struct cnnvp_fx16_data *data;
    struct cnnvp_window_engine *engine;
    struct cnnvp_window_cost *cost;
    struct cnnvp_window_reads reads;
    uint32_t slot; /* of the pipeline that the next values enter */
};

/* One pass: what is in place while h and w are swept. */
struct pass {
    uint32_t in; /* first channel of the lanes, and how many */
    uint32_t lanes;
    uint32_t out; /* first result channel, and how many */
    uint32_t outs;
    uint32_t px; /* corner of the kernel piece */
    uint32_t py;
    bool first;
    bool last;
};

static bool inside_kernel(const struct run *run, const struct pass *pass, uint32_t tap)
{
    return pass->px + tap % SIDE < run->tile->kx && pass->py + tap / SIDE < run->tile->ky;
}

/* ---- registers ---- */

void cnnvp_window_engine_free(struct cnnvp_window_engine *engine)
{
    free(engine->lanes);
    free(engine->kernel);
    free(engine->stages);
    free(engine->values);
    *engine = (struct cnnvp_window_engine){0};
}

/* The shape of an instance never changes: registers are made once. */
static int make_registers(const struct cnnvp_window_shape *shape, struct cnnvp_window_engine *engine)
{
    if (engine->lanes != NULL)
        return CNNVP_OK;
    engine->width = cnnvp_maximum32(cnnvp_maximum32(shape->input_para, shape->output_para), shape->fc_para);
    engine->lanes = calloc(shape->input_para, sizeof *engine->lanes);
    engine->kernel = calloc((size_t)shape->input_para * shape->output_para * TAPS, sizeof *engine->kernel);
    engine->stages = calloc(shape->pipeline, sizeof *engine->stages);
    engine->values = calloc((size_t)shape->pipeline * engine->width, sizeof *engine->values);
    if (engine->lanes != NULL && engine->kernel != NULL && engine->stages != NULL && engine->values != NULL)
        return CNNVP_OK;
    cnnvp_window_engine_free(engine);
    return CNNVP_E_NOMEM;
}

/* ---- pipeline and output buffer ---- */

/* A value reaches the output buffer. */
static void update(struct run *run, const struct cnnvp_window_stage *stage, uint64_t result, int64_t value)
{
    run->cost->output_words += !stage->last || run->tile->partial ? SLOT : 1u;
    run->cost->passes += result == 0;
    if (run->data->sums == NULL)
        return;
    int64_t *sum = &run->data->sums[result];
    if (stage->first)
        *sum = value;
    else if (run->tile->operation.compare)
        *sum = value > *sum ? value : *sum;
    else
        *sum = cnnvp_wrap((int64_t)((uint64_t)*sum + (uint64_t)value), run->shape->acc_bits);
}

/* Values for the slot that the next clock takes. */
static int64_t *next_values(const struct run *run)
{
    return run->engine->values + (size_t)run->slot * run->engine->width;
}

/* One clock: `stage` enters with the values in next_values, the oldest leaves. */
static void step_clock(struct run *run, const struct cnnvp_window_stage *stage)
{
    run->engine->stages[run->slot] = *stage;
    run->slot = (run->slot + 1u) % run->shape->pipeline;
    struct cnnvp_window_stage *oldest = &run->engine->stages[run->slot];
    const int64_t *values = next_values(run);
    for (uint32_t i = 0; i < oldest->count; ++i)
        update(run, oldest, oldest->result + i * oldest->stride, values[i]);
    oldest->count = 0;
}

static void bubbles(struct run *run, uint32_t count)
{
    const struct cnnvp_window_stage bubble = {0};
    for (uint32_t i = 0; i < count; ++i)
        step_clock(run, &bubble);
}

static struct cnnvp_window_stage position_stage(const struct run *run, const struct pass *pass, uint32_t x, uint32_t y)
{
    return (struct cnnvp_window_stage){
        .count = pass->outs,
        .result = pass->out * run->tile->plane_words + (uint64_t)y * run->tile->out_w + x,
        .stride = run->tile->plane_words,
        .first = pass->first,
        .last = pass->last,
    };
}

/* ---- convolution unit ---- */

/* Weight of a pair of lanes for one tap; zero where there is no pair, or beyond the kernel. */
static int16_t pair_weight(struct run *run, const struct pass *pass, uint32_t o, uint32_t i, uint32_t tap)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    if (o >= pass->outs || i >= pass->lanes || (tile->per_channel && o != i))
        return 0;
    ++run->cost->weight_words;
    if (run->data->weights == NULL || !inside_kernel(run, pass, tap))
        return 0;
    const uint64_t connection =
        tile->per_channel ? pass->out + o : (uint64_t)(pass->out + o) * tile->in_channels + pass->in + i;
    return run->data->weights[(connection * tile->ky + pass->py + tap / SIDE) * tile->kx + pass->px + tap % SIDE];
}

/* A1 L10: one tap of all pairs in each clock. */
static void load_kernel(struct run *run, const struct pass *pass)
{
    const struct cnnvp_window_shape *shape = run->shape;
    for (uint32_t tap = 0; tap < TAPS; ++tap) {
        for (uint32_t o = 0; o < shape->output_para; ++o)
            for (uint32_t i = 0; i < shape->input_para; ++i)
                run->engine->kernel[((size_t)o * shape->input_para + i) * TAPS + tap] =
                    pair_weight(run, pass, o, i, tap);
        bubbles(run, 1);
        ++run->cost->load_cycles;
    }
    ++run->cost->kernel_loads;
}

/* The tree of one output channel: all its windows' products. */
static int64_t convolve(struct run *run, const struct pass *pass, uint32_t o)
{
    int64_t products[MAX_PRODUCTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < pass->lanes; ++i) {
        const int16_t *kernel = run->engine->kernel + ((size_t)o * run->shape->input_para + i) * TAPS;
        const bool pair = !run->tile->per_channel || o == i;
        for (uint32_t tap = 0; tap < TAPS; ++tap) {
            const int32_t product = kernel[tap] * run->engine->lanes[i].at[tap / SIDE][tap % SIDE].value;
            products[count++] = product;
            run->cost->macs += pair && inside_kernel(run, pass, tap);
        }
    }
    return cnnvp_window_tree_add(products, count, run->shape->acc_bits);
}

/* ---- pooling unit ---- */

/* The window of one lane; masked taps are the identity (0-4). */
static int64_t pool(const struct run *run, const struct pass *pass, uint32_t lane)
{
    const bool compare = run->tile->operation.compare;
    int64_t values[TAPS];
    for (uint32_t tap = 0; tap < TAPS; ++tap) {
        const struct cnnvp_window_value *at = &run->engine->lanes[lane].at[tap / SIDE][tap % SIDE];
        const bool taken = at->valid && inside_kernel(run, pass, tap);
        values[tap] = taken ? at->value : compare ? CNNVP_FX16_MINIMUM : 0;
    }
    return compare ? cnnvp_window_tree_max(values, TAPS) : cnnvp_window_tree_add(values, TAPS, run->shape->acc_bits);
}

/* ---- sweeps ---- */

/* h and w of A1 L11-12, A2 L7-8. */
static void sweep(struct run *run, const struct pass *pass)
{
    const bool multiplies = run->tile->uses_k;
    for (uint32_t y = 0; y < run->tile->out_h; ++y) {
        for (uint32_t x = 0; x < run->tile->out_w; ++x) {
            const struct cnnvp_window_stage stage = position_stage(run, pass, x, y);
            int64_t *values = next_values(run);
            for (uint32_t i = 0; i < pass->lanes; ++i)
                cnnvp_window_lane_step(&run->engine->lanes[i], run->tile, x, y, pass->px, pass->py, &run->reads);
            for (uint32_t o = 0; o < pass->outs; ++o)
                values[o] = multiplies ? convolve(run, pass, o) : pool(run, pass, o);
            step_clock(run, &stage);
            ++run->cost->compute_cycles;
        }
    }
}

/* All pieces of the kernel for the channels in `pass`. */
static void sweep_pieces(struct run *run, struct pass *pass, bool first, bool last)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    for (uint32_t i = 0; i < pass->lanes; ++i)
        run->engine->lanes[i].channel =
            run->data->input != NULL ? run->data->input + (uint64_t)(pass->in + i) * tile->in_channel_stride : NULL;
    for (pass->py = 0; pass->py < tile->ky; pass->py += SIDE) {
        for (pass->px = 0; pass->px < tile->kx; pass->px += SIDE) {
            pass->first = first && pass->px == 0 && pass->py == 0;
            pass->last = last && pass->px + SIDE >= tile->kx && pass->py + SIDE >= tile->ky;
            if (tile->uses_k)
                load_kernel(run, pass);
            sweep(run, pass);
        }
    }
}

/* The value that a bias adds to a sum. */
static int64_t bias_value(const struct run *run, uint64_t out)
{
    if (run->data->bias == NULL)
        return 0;
    const int64_t one = run->data->ones != NULL ? *run->data->ones : 1;
    return cnnvp_wrap(one * cnnvp_fx16_bias(run->data->bias[out], run->tile->bias_shift), run->shape->acc_bits);
}

/* The bias layer of A1 L14: every input reads as 1, the kernel's only tap is the bias. */
static void sweep_bias(struct run *run, const struct pass *pass)
{
    bubbles(run, 1);
    ++run->cost->bias_cycles;
    ++run->cost->bias_loads;
    run->cost->bias_words += pass->outs;
    for (uint32_t y = 0; y < run->tile->out_h; ++y) {
        for (uint32_t x = 0; x < run->tile->out_w; ++x) {
            struct cnnvp_window_stage stage = position_stage(run, pass, x, y);
            int64_t *values = next_values(run);
            stage.first = false;
            stage.last = true;
            for (uint32_t o = 0; o < pass->outs; ++o)
                values[o] = bias_value(run, pass->out + o);
            step_clock(run, &stage);
            ++run->cost->bias_cycles;
            ++run->cost->ones_words;
        }
    }
}

/* Channels of their own: depthwise convolution and pooling. */
static void window_per_channel(struct run *run)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const uint32_t step = tile->uses_k ? cnnvp_window_diagonal(run->shape) : run->shape->input_para;
    for (uint32_t channel = 0; channel < tile->out_channels; channel += step) {
        const uint32_t count = cnnvp_minimum32(step, tile->out_channels - channel);
        struct pass pass = {.in = channel, .lanes = count, .out = channel, .outs = count};
        sweep_pieces(run, &pass, true, !tile->bias);
        if (tile->bias)
            sweep_bias(run, &pass);
    }
}

/* A1 L2, L5: input depth outside, kernel depth inside. */
static void window_dense(struct run *run)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const uint32_t in_step = run->shape->input_para;
    const uint32_t out_step = run->shape->output_para;
    for (uint32_t in = 0; in < tile->in_channels; in += in_step) {
        const uint32_t lanes = cnnvp_minimum32(in_step, tile->in_channels - in);
        for (uint32_t out = 0; out < tile->out_channels; out += out_step) {
            struct pass pass = {
                .in = in, .lanes = lanes, .out = out, .outs = cnnvp_minimum32(out_step, tile->out_channels - out)};
            sweep_pieces(run, &pass, in == 0, !tile->bias && in + lanes == tile->in_channels);
        }
    }
    for (uint32_t out = 0; tile->bias && out < tile->out_channels; out += out_step) {
        const struct pass pass = {.out = out, .outs = cnnvp_minimum32(out_step, tile->out_channels - out)};
        sweep_bias(run, &pass);
    }
}

/* ---- fully connected unit ---- */

/* One input, broadcast to all neurons, fc_para a clock (A5 L4-10). */
static void broadcast(struct run *run, uint64_t in)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const struct cnnvp_fx16_data *data = run->data;
    const int64_t input = data->input != NULL ? data->input[in] : 0;
    ++run->reads.words;
    for (uint32_t out = 0; out < tile->outputs; out += run->shape->fc_para) {
        const struct cnnvp_window_stage stage = {
            .count = cnnvp_minimum32(run->shape->fc_para, tile->outputs - out),
            .result = out,
            .stride = 1,
            .first = in == 0,
            .last = !tile->bias && in == tile->inputs - 1u,
        };
        int64_t *values = next_values(run);
        for (uint32_t lane = 0; lane < stage.count; ++lane) {
            const int16_t k = data->weights != NULL ? data->weights[in * tile->outputs + out + lane] : 0;
            values[lane] = cnnvp_wrap(input * k, run->shape->acc_bits);
            ++run->cost->weight_words;
            ++run->cost->macs;
        }
        step_clock(run, &stage);
        ++run->cost->compute_cycles;
    }
}

/* One more input, which is 1. */
static void broadcast_bias(struct run *run)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    ++run->cost->ones_words;
    for (uint32_t out = 0; out < tile->outputs; out += run->shape->fc_para) {
        const struct cnnvp_window_stage stage = {
            .count = cnnvp_minimum32(run->shape->fc_para, tile->outputs - out),
            .result = out,
            .stride = 1,
            .last = true};
        int64_t *values = next_values(run);
        for (uint32_t lane = 0; lane < stage.count; ++lane)
            values[lane] = bias_value(run, out + lane);
        step_clock(run, &stage);
        run->cost->bias_words += stage.count;
        ++run->cost->bias_cycles;
        ++run->cost->bias_loads;
    }
}

/* ---- whole commands ---- */

int cnnvp_window_cycle(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                       const struct cnnvp_fx16_data *data, struct cnnvp_window_engine *engine,
                       struct cnnvp_window_cost *cost)
{
    struct run run = {.shape = shape, .tile = tile, .data = data, .engine = engine, .cost = cost};
    const int status = make_registers(shape, engine);
    *cost = (struct cnnvp_window_cost){0};
    if (status != CNNVP_OK)
        return status;
    if (tile->kind == CNNVP_FX16_MATMUL) {
        for (uint64_t in = 0; in < tile->inputs; ++in)
            broadcast(&run, in);
        if (tile->bias)
            broadcast_bias(&run);
    } else if (tile->per_channel) {
        window_per_channel(&run);
    } else {
        window_dense(&run);
    }
    bubbles(&run, shape->pipeline - 1u);
    cost->pipeline_cycles = shape->pipeline - 1u;
    cost->weight_words += cost->bias_words;
    cost->input_words = run.reads.words + cost->ones_words;
    cost->reused_words = run.reads.reused;
    return run.reads.fault ? CNNVP_E_FATAL : CNNVP_OK;
}
