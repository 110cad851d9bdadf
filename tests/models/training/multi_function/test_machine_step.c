/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole training steps by instructions of the PE module and the multi-function module, the test in the place of guest
 * software and memory: groups of four images, statistics and post-processing as separate sweeps, everything that
 * depends on values on the chip. Every tensor bit by bit as the independent reference has it, in both forms of batch
 * norm, all roundings, three widths of mantissas.
 */
#include "machine.h"
#include "train_reference.h"

#include <math.h>

#include "test.h"
#include "random.h"

enum {
    IMAGES = 8,
    GROUP = 4,
    GROUPS = IMAGES / GROUP,
    SIDE = 8,
    MOST = 4096,
    CHANNELS = 8,
    CLASSES = 3,
    STEPS = 2,
    /* places in the max-min buffer: entries of errors, of weights and gradients, scales, exponents */
    ENTRY_ERRORS = 1024,
    ENTRY_OTHER = 2000,
    SCALE = 0x8000,
    EXPONENT = 0x8100,
    /* places in halves, after MOST values of 8 bytes */
    EXP = 0x10000,
    MASK = 0x80000,
    IDS = 0xa0000,
    SECOND = 0x40000
};

/* conv 3x3 + BN + ReLU + pool, 5x5 + BN + ReLU, 3x3 + ReLU + pool, fully connected + ReLU, fully connected. */
static const struct train_layer shapes[] = {
    {.inputs = 2,
     .height = SIDE,
     .width = SIDE,
     .outputs = 6,
     .side = 3,
     .pad = 1,
     .norm = 1,
     .relu = 1,
     .pool = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 6,
     .height = 4,
     .width = 4,
     .outputs = 5,
     .side = 5,
     .pad = 2,
     .norm = 1,
     .relu = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 5, .height = 4, .width = 4, .outputs = 4, .side = 3, .pad = 1, .relu = 1, .pool = 1},
    {.connected = 1, .inputs = 16, .height = 1, .width = 1, .outputs = 7, .relu = 1},
    {.connected = 1, .inputs = 7, .height = 1, .width = 1, .outputs = CLASSES},
};
enum { LAYERS = sizeof shapes / sizeof *shapes };

/* What lies in memory of a layer. Mantissas in their own width. */
struct memory {
    uint8_t in[MOST * 4], kernel[MOST * 4], errors[MOST * 4];
    int8_t in_exp, kernel_exp, error_exp;
    float sums[MOST], dy[MOST], weights[MOST], velocity[MOST], gradient[MOST];
    uint8_t mask[GROUPS][MOST], ids[GROUPS][MOST];
    struct cnnvp_norm norms[CHANNELS];
    struct cnnvp_extremes extremes[CHANNELS];
};

struct trainer {
    struct machine machine;
    const struct train_options *options;
    struct memory *layers;
    uint64_t step;
    uint32_t correct;
    double loss;
};

static uint64_t seed_of(uint64_t seed, uint64_t step, uint32_t layer, enum train_what what)
{
    return (((seed * 1009u + step) * 1013u + layer) * 1019u + (uint64_t)what) & UINT32_MAX;
}

static uint32_t seed_now(const struct trainer *t, uint32_t l, enum train_what what)
{
    return (uint32_t)seed_of(t->options->seed, t->step, l, what);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- shapes ---- */

static uint32_t area_of(const struct train_layer *l)
{
    return l->height * l->width;
}

static uint32_t mantissa_bytes(const struct trainer *t)
{
    return t->options->bits > 8 ? 4u : 1u;
}

static uint32_t sums_of(const struct train_layer *l)
{
    return l->outputs * train_plane(l); /* of an image */
}

static uint32_t pooled_of(const struct train_layer *l)
{
    return l->outputs * train_pooled_plane(l);
}

static uint32_t format_of(const struct trainer *t)
{
    return (uint32_t)t->options->rounding | t->options->bits << 8;
}

/* width | height << 16 of the map after the sums. */
static uint32_t size_of(const struct train_layer *l)
{
    const uint32_t border = l->connected ? 0 : 2 * l->pad + 1 - l->side;
    return (l->width + border) | (l->height + border) << 16;
}

/* ---- memory to buffers and back ---- */

static void put(struct trainer *t, enum machine_instance buffer, uint32_t half, uint32_t address, const void *data,
                size_t size)
{
    memcpy(machine_at(&t->machine, buffer, half, address), data, size);
}

static void get(struct trainer *t, uint32_t address, void *data, size_t size)
{
    memcpy(data, machine_at(&t->machine, M_INTERMEDIATE, 0, address), size);
}

static void held(struct trainer *t, uint32_t opcode, uint32_t buffer, uint32_t offset, uint32_t bytes)
{
    const struct machine_theld d = {.address = 0, .offset = offset, .bytes = bytes};
    MACHINE_DO(&t->machine, opcode, buffer, d);
}

static void clear_entries(struct trainer *t, uint32_t first, uint32_t count)
{
    held(t, OP_tclear, 0, first * 16u, count * 16u);
}

/* Exponent of `count` entries into the max-min buffer, and from there by way of the intermediate buffer to memory. */
static int8_t make_exponent(struct trainer *t, uint32_t status, uint32_t entry, uint32_t count, uint32_t norm_entry)
{
    const struct machine_texp d = {entry, count, norm_entry, CNNVP_TILE_HELD | EXPONENT};
    int8_t bytes[4];
    MACHINE_DO(&t->machine, OP_texp, status, d);
    held(t, OP_tsave, 0, EXPONENT, 4);
    get(t, 0, bytes, sizeof bytes);
    return bytes[0];
}

/* ---- products ---- */

static void operands(struct trainer *t, const uint8_t *in, uint64_t in_values, int8_t in_exp, const uint8_t *second,
                     uint64_t second_values, int8_t second_exp)
{
    put(t, M_INPUT, 0, 0, in, in_values * mantissa_bytes(t));
    put(t, M_INPUT, 0, EXP, &in_exp, 1);
    put(t, M_WEIGHT, 0, 0, second, second_values * mantissa_bytes(t));
    put(t, M_WEIGHT, 0, EXP, &second_exp, 1);
}

static void multiply(struct trainer *t, const struct train_layer *l, bool error)
{
    const uint32_t in = error ? l->outputs : l->inputs;
    const uint32_t out = error ? l->inputs : l->outputs;
    const uint32_t in_area = error ? train_plane(l) : area_of(l);
    const uint32_t out_area = error ? area_of(l) : train_plane(l);
    if (l->connected) {
        const struct machine_tmatmul d = {
            .in_image_stride = in,
            .images = GROUP,
            .inputs = in,
            .outputs = out,
            .out_image_stride = out,
            .in_exp_addr = EXP,
            .weight_exp_addr = EXP,
            .out_exp_addr = CNNVP_TILE_HELD | SCALE};
        MACHINE_DO(&t->machine, error ? OP_tback : OP_tmatmul, 0, d);
        return;
    }
    const struct machine_tconv d = {
        .in_row_stride = error ? size_of(l) & 0xffffu : l->width,
        .in_channel_stride = in_area,
        .in_image_stride = in * in_area,
        .in_size = error ? size_of(l) : l->width | l->height << 16,
        .images = GROUP,
        .in_channels = in,
        .out_channels = out,
        .out_size = error ? l->width | l->height << 16 : size_of(l),
        .kernel = l->side | l->side << 16,
        .stride = 1 | 1 << 16,
        .pad = l->pad | l->pad << 16,
        .out_channel_stride = out_area,
        .out_image_stride = out * out_area,
        .in_exp_addr = EXP,
        .weight_exp_addr = EXP,
        .out_exp_addr = CNNVP_TILE_HELD | SCALE};
    MACHINE_DO(&t->machine, error ? OP_terror : OP_tforward, 0, d);
}

static void gradient(struct trainer *t, const struct train_layer *l, uint32_t status)
{
    if (l->connected) {
        const struct machine_touter d = {
            .in_image_stride = l->inputs,
            .images = GROUP,
            .inputs = l->inputs,
            .outputs = l->outputs,
            .error_image_stride = l->outputs,
            .out_stride = l->inputs,
            .in_exp_addr = EXP,
            .error_exp_addr = EXP,
            .out_exp_addr = CNNVP_TILE_HELD | SCALE};
        MACHINE_DO(&t->machine, OP_touter, status, d);
        return;
    }
    const struct machine_tgradient d = {
        .in_row_stride = l->width,
        .in_channel_stride = area_of(l),
        .in_image_stride = l->inputs * area_of(l),
        .in_size = l->width | l->height << 16,
        .images = GROUP,
        .in_channels = l->inputs,
        .out_channels = l->outputs,
        .error_row_stride = size_of(l) & 0xffffu,
        .error_channel_stride = train_plane(l),
        .error_image_stride = sums_of(l),
        .error_size = size_of(l),
        .kernel = l->side | l->side << 16,
        .stride = 1 | 1 << 16,
        .pad = l->pad | l->pad << 16,
        .out_channel_stride = l->inputs * l->side * l->side,
        .in_exp_addr = EXP,
        .error_exp_addr = EXP,
        .out_exp_addr = CNNVP_TILE_HELD | SCALE};
    MACHINE_DO(&t->machine, OP_tgradient, status, d);
}

/* ---- forward ---- */

/* Statistics of a group's sums, which go to memory in binary32. */
static void take_statistics(struct trainer *t, uint32_t l, uint32_t g)
{
    const struct train_layer *shape = &shapes[l];
    const uint32_t plane = train_plane(shape);
    const struct machine_tstat d = {
        .in_image_stride = sums_of(shape),
        .images = GROUP,
        .channels = shape->outputs,
        .size = size_of(shape),
        .scale_addr = CNNVP_TILE_HELD | SCALE,
        .format = format_of(t),
        .out_image_stride = sums_of(shape),
        .entry_strides = shape->norm ? 1u << 16 : 0u,
        .first = g * GROUP * plane,
        .map = plane};
    MACHINE_DO(&t->machine, OP_tstat, ST_tstat_convert, d);
    get(t, 0, t->layers[l].sums + g * GROUP * sums_of(shape), GROUP * sums_of(shape) * sizeof(float));
}

static void take_squares(struct trainer *t, uint32_t l)
{
    const struct train_layer *shape = &shapes[l];
    for (uint32_t g = 0; g < GROUPS; ++g) {
        const struct machine_tstat d = {
            .in_image_stride = sums_of(shape),
            .images = GROUP,
            .channels = shape->outputs,
            .size = size_of(shape),
            .format = format_of(t),
            .entry_strides = 1u << 16,
            .map = train_plane(shape)};
        put(t, M_INTERMEDIATE, 0, 0, t->layers[l].sums + g * GROUP * sums_of(shape),
            GROUP * sums_of(shape) * sizeof(float));
        MACHINE_DO(&t->machine, OP_tstat, ST_tstat_fp32 | ST_tstat_squares, d);
    }
}

static void make_coefficients(struct trainer *t, uint32_t l)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const struct machine_tcoef d = {
        0, shape->outputs, bits_of((float)shape->epsilon), bits_of((float)t->options->bn_momentum)};
    const uint32_t bytes = shape->outputs * (uint32_t)sizeof(struct cnnvp_norm);
    if (!t->options->range)
        take_squares(t, l);
    put(t, M_INTERMEDIATE, 0, 0, layer->norms, bytes);
    held(t, OP_tload, 2, 0, bytes);
    MACHINE_DO(&t->machine, OP_tcoef, t->options->range ? 0 : ST_tcoef_form, d);
}

static void save_entries(struct trainer *t, uint32_t l)
{
    const uint32_t channels = shapes[l].outputs;
    held(t, OP_tsave, 2, 0, channels * (uint32_t)sizeof(struct cnnvp_norm));
    get(t, 0, t->layers[l].norms, channels * sizeof(struct cnnvp_norm));
    held(t, OP_tsave, 0, 0, channels * 16u);
    get(t, 0, t->layers[l].extremes, channels * 16u);
}

static void load_entries(struct trainer *t, uint32_t l)
{
    const uint32_t channels = shapes[l].outputs;
    put(t, M_INTERMEDIATE, 0, 0, t->layers[l].norms, channels * sizeof(struct cnnvp_norm));
    held(t, OP_tload, 2, 0, channels * (uint32_t)sizeof(struct cnnvp_norm));
    put(t, M_INTERMEDIATE, 0, 0, t->layers[l].extremes, channels * 16u);
    held(t, OP_tload, 0, 0, channels * 16u);
}

static void activate(struct trainer *t, uint32_t l, uint32_t g)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const uint32_t plane = train_plane(shape);
    const uint32_t mask = shape->outputs * (uint32_t)cnnvp_tile_packed(plane, 1);
    const uint32_t ids = shape->outputs * (uint32_t)cnnvp_tile_packed(train_pooled_plane(shape), 2);
    const size_t out = (size_t)pooled_of(shape) * mantissa_bytes(t) * GROUP;
    const struct machine_tpost d = {
        .in_image_stride = sums_of(shape),
        .images = GROUP,
        .channels = shape->outputs,
        .size = size_of(shape),
        .out_addr = SECOND,
        .out_image_stride = pooled_of(shape),
        .block = CNNVP_TILE_HELD | EXPONENT,
        .mask_addr = MASK,
        .mask_image_stride = mask,
        .id_addr = IDS,
        .id_image_stride = ids,
        .pool = shape->pool ? 0x02020202u : 0u,
        .format = format_of(t),
        .seed = seed_now(t, l, TRAIN_OF_ACTIVATION),
        .first = g * GROUP * sums_of(shape),
        .tensor_image_stride = sums_of(shape)};
    put(t, M_INTERMEDIATE, 0, 0, layer->sums + g * GROUP * sums_of(shape), GROUP * sums_of(shape) * sizeof(float));
    MACHINE_DO(&t->machine, OP_tpost,
               ST_tpost_fp32 | ST_tpost_relu | ST_tpost_keep | (shape->norm ? ST_tpost_norm : 0) |
                   (shape->pool ? ST_tpost_pool : 0),
               d);
    get(t, SECOND, layer[1].in + g * out, out);
    get(t, MASK, layer->mask[g], GROUP * mask);
    if (shape->pool)
        get(t, IDS, layer->ids[g], GROUP * ids);
}

static void forward(struct trainer *t, uint32_t l)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const uint32_t inputs = shape->inputs * area_of(shape);
    clear_entries(t, 0, CHANNELS);
    held(t, OP_tclear, 1, 0, CHANNELS * 32u);
    for (uint32_t g = 0; g < GROUPS; ++g) {
        operands(t, layer->in + (size_t)g * GROUP * inputs * mantissa_bytes(t), GROUP * inputs, layer->in_exp,
                 layer->kernel, train_weight_count(shape), layer->kernel_exp);
        multiply(t, shape, false);
        take_statistics(t, l, g);
    }
    if (l + 1 == LAYERS)
        return;
    if (shape->norm) {
        make_coefficients(t, l);
        layer[1].in_exp = make_exponent(t, ST_texp_map | ST_texp_relu, 0, shape->outputs, 0);
        save_entries(t, l);
    } else {
        layer[1].in_exp = make_exponent(t, ST_texp_relu, 0, 1, 0);
    }
    for (uint32_t g = 0; g < GROUPS; ++g)
        activate(t, l, g);
}

/* ---- the top ---- */

static void classify(struct trainer *t, const uint8_t *labels)
{
    struct memory *layer = &t->layers[LAYERS - 1];
    enum { RECORD = 16 + 4 * CLASSES };
    clear_entries(t, ENTRY_OTHER, 1);
    t->correct = 0;
    t->loss = 0;
    for (uint32_t g = 0; g < GROUPS; ++g) {
        uint32_t words[GROUP];
        uint8_t records[GROUP * RECORD];
        const struct machine_tsoftmax d = {
            .in_image_stride = CLASSES,
            .images = GROUP,
            .classes = CLASSES,
            .format = format_of(t),
            .label_addr = SECOND,
            .factor = bits_of(1.0f / IMAGES),
            .out_addr = 0,
            .out_image_stride = CLASSES,
            .entry = ENTRY_OTHER,
            .result = g * GROUP};
        for (uint32_t i = 0; i < GROUP; ++i)
            words[i] = labels[g * GROUP + i];
        put(t, M_INTERMEDIATE, 0, 0, layer->sums + g * GROUP * CLASSES, GROUP * CLASSES * sizeof(float));
        put(t, M_INTERMEDIATE, 0, SECOND, words, sizeof words);
        MACHINE_DO(&t->machine, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, d);
        get(t, 0, layer->dy + g * GROUP * CLASSES, GROUP * CLASSES * sizeof(float));
        held(t, OP_tsave, 5, g * sizeof records, sizeof records);
        get(t, 0, records, sizeof records);
        for (uint32_t i = 0; i < GROUP; ++i) {
            struct cnnvp_class_result result;
            memcpy(&result, records + i * RECORD, sizeof result);
            t->correct += result.correct;
            t->loss += (double)result.loss / IMAGES;
        }
    }
    layer->error_exp = make_exponent(t, 0, ENTRY_OTHER, 1, 0);
    for (uint32_t g = 0; g < GROUPS; ++g) {
        const size_t bytes = (size_t)GROUP * CLASSES * mantissa_bytes(t);
        const struct machine_tpost d = {
            .in_image_stride = CLASSES,
            .images = GROUP,
            .channels = CLASSES,
            .size = 1 | 1 << 16,
            .out_addr = SECOND,
            .out_image_stride = CLASSES,
            .block = CNNVP_TILE_HELD | EXPONENT,
            .format = format_of(t),
            .seed = seed_now(t, LAYERS - 1, TRAIN_OF_ERROR),
            .first = g * GROUP * CLASSES,
            .tensor_image_stride = CLASSES};
        put(t, M_INTERMEDIATE, 0, 0, layer->dy + g * GROUP * CLASSES, GROUP * CLASSES * sizeof(float));
        MACHINE_DO(&t->machine, OP_tpost, ST_tpost_fp32, d);
        get(t, SECOND, layer->errors + g * bytes, bytes);
    }
}

/* ---- backward ---- */

/* One of the sweeps over the errors after a layer's pool; x and matrices come into the idle half. */
static void sweep_errors(struct trainer *t, uint32_t l, uint32_t g, uint32_t status, uint32_t block)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const uint32_t plane = train_plane(shape);
    const uint32_t mask = shape->outputs * (uint32_t)cnnvp_tile_packed(plane, 1);
    const uint32_t ids = shape->outputs * (uint32_t)cnnvp_tile_packed(train_pooled_plane(shape), 2);
    const bool entries = (status & (ST_tpostback_reduce | ST_tpostback_measure)) != 0;
    const struct machine_tpostback d = {
        .in_image_stride = pooled_of(shape),
        .images = GROUP,
        .channels = shape->outputs,
        .size = size_of(shape),
        .scale_addr = CNNVP_TILE_HELD | SCALE,
        .x_addr = 0,
        .x_image_stride = sums_of(shape),
        .out_addr = (status & ST_tpostback_convert) != 0 ? 0 : SECOND,
        .out_image_stride = (status & ST_tpostback_convert) != 0 ? pooled_of(shape) : sums_of(shape),
        .block = block,
        .block_strides = entries && shape->norm ? 1u << 16 : 0u,
        .mask_addr = MASK,
        .mask_image_stride = mask,
        .id_addr = IDS,
        .id_image_stride = ids,
        .pool = shape->pool ? 0x02020202u : 0u,
        .format = format_of(t),
        .seed = seed_now(t, l, TRAIN_OF_ERROR),
        .first = g * GROUP * sums_of(shape),
        .tensor_image_stride = sums_of(shape),
        .first_value = g * GROUP * plane};
    put(t, M_INTERMEDIATE, MACHINE_IDLE, 0, layer->sums + g * GROUP * sums_of(shape),
        GROUP * sums_of(shape) * sizeof(float));
    put(t, M_INTERMEDIATE, MACHINE_IDLE, MASK, layer->mask[g], GROUP * mask);
    put(t, M_INTERMEDIATE, MACHINE_IDLE, IDS, layer->ids[g], GROUP * ids);
    MACHINE_DO(&t->machine, OP_tpostback,
               status | ST_tpostback_relu | ST_tpostback_idle | (shape->norm ? ST_tpostback_norm : 0) |
                   (shape->pool ? ST_tpostback_pool : 0),
               d);
}

static void put_errors(struct trainer *t, uint32_t l, uint32_t g)
{
    const uint32_t n = GROUP * pooled_of(&shapes[l]);
    put(t, M_INTERMEDIATE, 0, 0, t->layers[l].dy + g * n, n * sizeof(float));
}

/* The error of a layer's sums, from that of the layer above. */
static void backward(struct trainer *t, uint32_t l)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const struct train_layer *above = &shapes[l + 1];
    const size_t out = (size_t)GROUP * sums_of(shape) * mantissa_bytes(t);
    const struct machine_tcoef back = {.channels = shape->outputs};
    if (shape->norm)
        load_entries(t, l);
    clear_entries(t, ENTRY_ERRORS, CHANNELS);
    for (uint32_t g = 0; g < GROUPS; ++g) {
        const uint32_t n = GROUP * pooled_of(shape);
        operands(t, layer[1].errors + (size_t)g * GROUP * sums_of(above) * mantissa_bytes(t), GROUP * sums_of(above),
                 layer[1].error_exp, layer[1].kernel, train_weight_count(above), layer[1].kernel_exp);
        multiply(t, above, true);
        sweep_errors(t, l, g, ST_tpostback_reduce | ST_tpostback_convert, ENTRY_ERRORS);
        get(t, 0, layer->dy + g * n, n * sizeof(float));
    }
    if (shape->norm)
        MACHINE_DO(&t->machine, OP_tcoef, (t->options->range ? 0 : ST_tcoef_form) | ST_tcoef_back, back);
    if (shape->norm && !t->options->range) { /* the standard form needs a sweep more */
        clear_entries(t, ENTRY_ERRORS, CHANNELS);
        for (uint32_t g = 0; g < GROUPS; ++g) {
            put_errors(t, l, g);
            sweep_errors(t, l, g, ST_tpostback_fp32 | ST_tpostback_measure, ENTRY_ERRORS);
        }
    }
    layer->error_exp = make_exponent(
        t, shape->norm && t->options->range ? ST_texp_back : 0, ENTRY_ERRORS, shape->norm ? shape->outputs : 1, 0);
    for (uint32_t g = 0; g < GROUPS; ++g) {
        put_errors(t, l, g);
        sweep_errors(t, l, g, ST_tpostback_fp32, CNNVP_TILE_HELD | EXPONENT);
        get(t, SECOND, layer->errors + g * out, out);
    }
    if (shape->norm)
        save_entries(t, l);
}

/* ---- update ---- */

static void quantise_weights(struct trainer *t, uint32_t l)
{
    struct memory *layer = &t->layers[l];
    const uint32_t n = (uint32_t)train_weight_count(&shapes[l]);
    const struct machine_tpost d = {
        .images = 1,
        .channels = shapes[l].outputs,
        .size = n / shapes[l].outputs | 1 << 16,
        .out_addr = SECOND,
        .block = CNNVP_TILE_HELD | EXPONENT,
        .format = format_of(t),
        .seed = seed_now(t, l, TRAIN_OF_WEIGHT)};
    layer->kernel_exp = make_exponent(t, 0, ENTRY_OTHER, 1, 0);
    put(t, M_INTERMEDIATE, 0, 0, layer->weights, n * sizeof(float));
    MACHINE_DO(&t->machine, OP_tpost, ST_tpost_fp32, d);
    get(t, SECOND, layer->kernel, n * mantissa_bytes(t));
}

static void update(struct trainer *t, uint32_t l)
{
    struct memory *layer = &t->layers[l];
    const struct train_layer *shape = &shapes[l];
    const uint32_t n = (uint32_t)train_weight_count(shape);
    const uint32_t rate = bits_of((float)t->options->rate);
    const uint32_t momentum = bits_of((float)t->options->momentum);
    const struct machine_tupdate d = {
        .in_stride = n / shape->outputs,
        .channels = shape->outputs,
        .values = n / shape->outputs,
        .scale_addr = CNNVP_TILE_HELD | SCALE,
        .format = format_of(t),
        .velocity_addr = SECOND,
        .value_stride = n / shape->outputs,
        .rate = rate,
        .momentum = momentum,
        .entry = ENTRY_OTHER};
    const struct machine_tbnupdate norm = {0, shape->outputs, rate, momentum};
    for (uint32_t g = 0; g < GROUPS; ++g) {
        const uint32_t inputs = shape->inputs * area_of(shape);
        operands(t, layer->in + (size_t)g * GROUP * inputs * mantissa_bytes(t), GROUP * inputs, layer->in_exp,
                 layer->errors + (size_t)g * GROUP * sums_of(shape) * mantissa_bytes(t), GROUP * sums_of(shape),
                 layer->error_exp);
        gradient(t, shape, g == 0 ? 0 : ST_tgradient_accumulate);
    }
    clear_entries(t, ENTRY_OTHER, 1);
    put(t, M_INTERMEDIATE, MACHINE_IDLE, 0, layer->weights, n * sizeof(float));
    put(t, M_INTERMEDIATE, MACHINE_IDLE, SECOND, layer->velocity, n * sizeof(float));
    MACHINE_DO(&t->machine, OP_tupdate, ST_tupdate_momentum | ST_tupdate_idle, d);
    memcpy(layer->weights, machine_at(&t->machine, M_INTERMEDIATE, MACHINE_IDLE, 0), n * sizeof(float));
    memcpy(layer->velocity, machine_at(&t->machine, M_INTERMEDIATE, MACHINE_IDLE, SECOND), n * sizeof(float));
    if (!shape->norm)
        return;
    load_entries(t, l);
    MACHINE_DO(&t->machine, OP_tbnupdate, ST_tbnupdate_momentum, norm);
    save_entries(t, l);
}

static void train(struct trainer *t, const uint8_t *labels)
{
    for (uint32_t l = 0; l < LAYERS; ++l)
        forward(t, l);
    classify(t, labels);
    for (uint32_t l = LAYERS - 1; l-- > 0;)
        backward(t, l);
    ++t->step; /* whose weights these are */
    for (uint32_t l = 0; l < LAYERS; ++l) {
        update(t, l);
        quantise_weights(t, l);
    }
}

/* ---- comparison ---- */

/* Bit by bit: zeros have signs. */
static int same_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float)) == 0;
}

static void same(const char *what, uint32_t layer, const double *want, const float *have, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        if (!same_bits(&have[i], &(float){(float)want[i]}))
            fail_msg("%s %llu of layer %u: %.9g, the reference has %.9g", what, (unsigned long long)i, layer,
                     (double)have[i], want[i]);
}

static void compare(const struct trainer *t, const struct train_net *net)
{
    for (uint32_t l = 0; l < LAYERS; ++l) {
        const struct memory *have = &t->layers[l];
        const struct train_layer *want = &net->layers[l];
        same("sum", l, want->sums, have->sums, (uint64_t)IMAGES * sums_of(&shapes[l]));
        same("weight", l, want->weights, have->weights, train_weight_count(&shapes[l]));
        same("velocity", l, want->weight_velocity, have->velocity, train_weight_count(&shapes[l]));
        for (uint32_t c = 0; shapes[l].norm && c < shapes[l].outputs; ++c) {
            same("gamma", l, &want->gamma[c], &have->norms[c].gamma, 1);
            same("beta", l, &want->beta[c], &have->norms[c].beta, 1);
            same("mean", l, &want->mean[c], &have->norms[c].running_mean, 1);
            same("sigma", l, &want->sigma[c], &have->norms[c].running_sigma, 1);
        }
    }
}

static void start(struct trainer *t, struct train_net *net, const struct train_options *options, uint64_t random)
{
    for (uint32_t l = 0; l < LAYERS; ++l) {
        struct memory *layer = &t->layers[l];
        const uint64_t n = train_weight_count(&shapes[l]);
        for (uint64_t i = 0; i < n; ++i) {
            layer->weights[i] =
                ((float)next_bits(&random) / 2147483648.0f - 1.0f) * sqrtf(6.0f * (float)shapes[l].outputs / (float)n);
            net->layers[l].weights[i] = (double)layer->weights[i];
        }
        for (uint32_t c = 0; c < CHANNELS; ++c)
            layer->norms[c] = (struct cnnvp_norm){.gamma = 1, .running_sigma = 1};
        /* the weights' extremes, as update leaves them later */
        const struct machine_tstat d = {
            .images = 1,
            .channels = 1,
            .size = (uint32_t)n | 1 << 16,
            .entry = ENTRY_OTHER,
            .format = options->bits << 8};
        clear_entries(t, ENTRY_OTHER, 1);
        put(t, M_INTERMEDIATE, 0, 0, layer->weights, n * sizeof(float));
        MACHINE_DO(&t->machine, OP_tstat, ST_tstat_fp32, d);
        quantise_weights(t, l);
    }
    train_net_start(net);
}

/* Images as the platform's data sets come: bytes / 255, nearest, one exponent. */
static void load_images(struct trainer *t, const uint8_t *images, uint64_t n)
{
    float values[MOST];
    const struct machine_tstat stat = {
        .images = 1,
        .channels = 1,
        .size = (uint32_t)n | 1 << 16,
        .entry = ENTRY_OTHER,
        .format = t->options->bits << 8};
    const struct machine_tpost d = {
        .images = 1,
        .channels = 1,
        .size = (uint32_t)n | 1 << 16,
        .out_addr = SECOND,
        .block = CNNVP_TILE_HELD | EXPONENT,
        .format = (t->options->rounding == TRAIN_STOCHASTIC ? TRAIN_NEAREST : (uint32_t)t->options->rounding) |
                  t->options->bits << 8};
    for (uint64_t i = 0; i < n; ++i)
        values[i] = (float)images[i] / 255.0f;
    clear_entries(t, ENTRY_OTHER, 1);
    put(t, M_INTERMEDIATE, 0, 0, values, n * sizeof(float));
    MACHINE_DO(&t->machine, OP_tstat, ST_tstat_fp32, stat);
    t->layers[0].in_exp = make_exponent(t, 0, ENTRY_OTHER, 1, 0);
    put(t, M_INTERMEDIATE, 0, 0, values, n * sizeof(float));
    MACHINE_DO(&t->machine, OP_tpost, ST_tpost_fp32, d);
    get(t, SECOND, t->layers[0].in, n * mantissa_bytes(t));
}

/* Everything that units have counted, and the time. */
struct tally {
    uint64_t counts[M_INSTANCES][FAKE_STATS];
    cnnvp_time now;
};

static void take_tally(const struct machine *machine, struct tally *tally)
{
    for (unsigned i = 0; i < M_INSTANCES; ++i)
        memcpy(tally->counts[i], machine->units[i]->counts, sizeof tally->counts[i]);
    tally->now = machine->sim.now;
}

/* What was counted from `from` to `to` is the same as from `a` to `b`. */
static void same_work(const struct tally *from, const struct tally *to, const struct tally *a, const struct tally *b)
{
    for (unsigned i = 0; i < M_INSTANCES; ++i)
        for (unsigned s = 0; s < FAKE_STATS; ++s)
            assert_int_equal(to->counts[i][s] - from->counts[i][s], b->counts[i][s] - a->counts[i][s]);
    assert_int_equal(to->now - from->now, b->now - a->now);
}

struct break_off {
    uint64_t at;           /* number of the command; 0: none, and it becomes that of the last one */
    struct tally tally[2]; /* before the work and after it */
};

/* The beginning of the same work, up to half of a command; then a reset of every unit. */
static void work_and_reset(struct trainer *t, const uint8_t *images, uint64_t n, const uint8_t *labels, uint64_t at)
{
    static struct train_net net;
    train_net_new(&net, shapes, LAYERS, IMAGES, t->options);
    t->machine.break_at = at;
    if (setjmp(t->machine.broken) == 0) {
        start(t, &net, t->options, t->options->seed + 99u);
        load_images(t, images, n);
        train(t, labels);
        fail_msg("there is no command %llu", (unsigned long long)at);
    }
    train_net_free(&net);
    memset(t->layers, 0, (LAYERS + 1) * sizeof *t->layers);
    t->step = 0;
}

static void check_run(const struct train_options *options, struct break_off *broken)
{
    enum { INPUTS = IMAGES * 2 * SIDE * SIDE };
    const struct machine_options machine = {.bits = options->bits};
    static struct trainer t;
    struct train_net net;
    uint8_t images[INPUTS];
    uint8_t labels[IMAGES];
    uint64_t random = options->seed;
    for (uint32_t i = 0; i < INPUTS; ++i)
        images[i] = (uint8_t)(next_bits(&random) >> 20);
    for (uint32_t i = 0; i < IMAGES; ++i)
        labels[i] = (uint8_t)(next_bits(&random) % CLASSES);
    t = (struct trainer){.options = options, .layers = calloc(LAYERS + 1, sizeof(struct memory))};
    assert_non_null(t.layers);
    machine_begin(&t.machine, &machine);
    if (broken != NULL && broken->at != 0)
        work_and_reset(&t, images, INPUTS, labels, broken->at);
    if (broken != NULL)
        take_tally(&t.machine, &broken->tally[0]);
    train_net_new(&net, shapes, LAYERS, IMAGES, options);
    start(&t, &net, options, random);
    load_images(&t, images, INPUTS);
    for (int i = 0; i < STEPS; ++i) {
        const struct train_result want = train_net_step(&net, images, labels, IMAGES);
        train(&t, labels);
        assert_int_equal(t.correct, want.correct);
        assert_true(fabs(t.loss - want.loss) < 1e-6 * (1 + want.loss));
        compare(&t, &net);
    }
    if (broken != NULL)
        take_tally(&t.machine, &broken->tally[1]);
    if (broken != NULL && broken->at == 0)
        broken->at = t.machine.sequence / STEPS;
    machine_end(&t.machine);
    train_net_free(&net);
    free(t.layers);
}

static const struct train_options usual = {
    .rate = (double)0.05f, .momentum = (double)0.9f, .bn_momentum = (double)0.1f, .seed_of = seed_of};

static void test_steps(void **state)
{
    static const uint32_t widths[] = {8, 5, 24};
    (void)state;
    for (uint64_t seed = 1; seed <= 2; ++seed)
        for (int range = 0; range < 2; ++range)
            for (size_t w = 0; w < 3; ++w)
                for (uint32_t rounding = 0; rounding < 3; ++rounding) {
                    struct train_options options = usual;
                    options.range = range;
                    options.bits = widths[w];
                    options.rounding = (enum train_rounding)rounding;
                    options.seed = seed;
                    check_run(&options, NULL);
                }
}

/* Work that begins again after a reset in the middle of any command gives the same bits, counts and time as on a new
 * machine. */
static void test_reset_in_mid_work(void **state)
{
    (void)state;
    static struct break_off fresh;
    static struct break_off again;
    for (int range = 0; range < 2; ++range) {
        struct train_options options = usual;
        options.bits = 8;
        options.range = range;
        options.rounding = TRAIN_STOCHASTIC;
        options.seed = 4;
        fresh.at = 0;
        check_run(&options, &fresh);
        assert_true(fresh.at > 50);
        for (uint64_t at = 1; at <= fresh.at; at += range != 0 ? 31 : 3) {
            again.at = at;
            check_run(&options, &again);
            same_work(&fresh.tally[0], &fresh.tally[1], &again.tally[0], &again.tally[1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_reset_in_mid_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
