/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for pairs without --more, and for some with it: any network, chains for depth first, odd maps, and networks
 * for the training engine. */
#include <stdio.h>
#include <string.h>

#include "soak_network.h"

#define MACS_MAX 600000 /* most MACs of a node, so that cycle-stepped models do not take seconds */
#define WORDS_MAX 30000

static int64_t minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int one_in(struct network *network, uint32_t times)
{
    return soak_random(&network->random, times) == 0;
}

static const char *chosen(struct network *network, const char *const *names, uint32_t count)
{
    return names[soak_random(&network->random, count)];
}

/* ---- windows ---- */

struct window {
    int64_t kernel[2], strides[2], dilations[2], pads[4]; /* rows before columns */
    int64_t out[2];
    const char *auto_pad; /* NULL: explicit pads */
    int64_t ceil_mode;
};

static int64_t extent(const struct window *window, int side)
{
    return (window->kernel[side] - 1) * window->dilations[side] + 1;
}

/* Computes the number of result rows (side 0) or columns (side 1). */
static void measure(struct window *window, int side, int64_t size)
{
    const int64_t reach = size + window->pads[side] + window->pads[side + 2] - extent(window, side);
    if (window->auto_pad != NULL && strcmp(window->auto_pad, "VALID") != 0)
        window->out[side] = (size + window->strides[side] - 1) / window->strides[side];
    else
        window->out[side] = reach < 0 ? 0 : reach / window->strides[side] + 1;
    /* A last window that begins in the padding after the input does not count. */
    if (window->ceil_mode != 0 && reach > 0 && reach % window->strides[side] != 0 &&
        window->out[side] * window->strides[side] < size + window->pads[side])
        ++window->out[side];
}

static int draw_window(struct network *network, const struct value *in, int64_t side_max, int dilates,
                       struct window *window)
{
    static const char *const paddings[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    const int64_t sizes[2] = {in->height, in->width};
    *window = (struct window){.dilations = {1, 1}};
    if (one_in(network, 6))
        window->auto_pad = chosen(network, paddings, 3);
    for (int side = 0; side < 2; ++side) {
        window->kernel[side] = soak_between(network, 1, minimum(side_max, sizes[side] + 2));
        window->strides[side] = soak_between(network, 1, one_in(network, 4) ? side_max : 2);
        if (dilates && one_in(network, 3))
            window->dilations[side] = soak_between(network, 1, 4);
        for (int end = 0; end < 4 && window->auto_pad == NULL; end += 2)
            window->pads[side + end] = soak_between(network, 0, window->kernel[side] - 1);
    }
    return extent(window, 0) <= sizes[0] + window->pads[0] + window->pads[2] &&
           extent(window, 1) <= sizes[1] + window->pads[1] + window->pads[3];
}

static void put_window(struct network *network, Onnx__NodeProto *node, const struct window *window)
{
    struct builder *b = &network->builder;
    builder_ints(b, node, "kernel_shape", 2, window->kernel);
    builder_ints(b, node, "strides", 2, window->strides);
    if (window->auto_pad != NULL)
        builder_string(b, node, "auto_pad", window->auto_pad);
    else
        builder_ints(b, node, "pads", 4, window->pads);
    if (window->dilations[0] != 1 || window->dilations[1] != 1)
        builder_ints(b, node, "dilations", 2, window->dilations);
    if (window->ceil_mode != 0)
        builder_int(b, node, "ceil_mode", 1);
}

static Onnx__NodeProto *put_conv(struct network *network, const struct value *in, const struct window *window,
                                 int64_t group, int64_t channels, int biased)
{
    struct builder *b = &network->builder;
    const int64_t shape[4] = {channels, in->channels / group, window->kernel[0], window->kernel[1]};
    const char *weights = soak_name(network, "w");
    const char *bias = biased ? soak_name(network, "b") : NULL;
    (void)builder_random(b, weights, 4, shape, 0.4f);
    if (bias != NULL)
        (void)builder_random(b, bias, 1, &channels, 0.5f);
    const struct value *out = soak_result(network, channels, window->out[0], window->out[1]);
    Onnx__NodeProto *node = builder_node(b, "Conv", out->name, in->name, weights, bias, NULL);
    put_window(network, node, window);
    builder_int(b, node, "group", group);
    return node;
}

/* A random number of groups that divides the channels. */
static int64_t draw_group(struct network *network, int64_t channels)
{
    const int64_t group = one_in(network, 2) ? 1 : one_in(network, 2) ? channels : soak_between(network, 1, channels);
    return channels % group == 0 ? group : 1;
}

static int add_conv(struct network *network, const struct value *in)
{
    struct window window;
    const int64_t group = draw_group(network, in->channels);
    const int64_t channels = group * soak_between(network, 1, group == 1 ? 24 : group < 4 ? 8 : 2);
    if (!draw_window(network, in, one_in(network, 3) ? 7 : 3, 1, &window))
        return 0;
    measure(&window, 0, in->height);
    measure(&window, 1, in->width);
    const int64_t words = channels * window.out[0] * window.out[1];
    if (words > WORDS_MAX || words * (in->channels / group) * window.kernel[0] * window.kernel[1] > MACS_MAX)
        return 0;
    (void)put_conv(network, in, &window, group, channels, one_in(network, 2));
    return 1;
}

static int add_pool(struct network *network, const struct value *in)
{
    struct window window;
    const int maximum = one_in(network, 2);
    if (!draw_window(network, in, one_in(network, 2) ? 14 : 4, maximum, &window))
        return 0;
    window.ceil_mode = window.auto_pad == NULL && one_in(network, 3);
    measure(&window, 0, in->height);
    measure(&window, 1, in->width);
    if (in->channels * window.out[0] * window.out[1] * window.kernel[0] * window.kernel[1] > MACS_MAX)
        return 0;
    const struct value *out = soak_result(network, in->channels, window.out[0], window.out[1]);
    Onnx__NodeProto *node =
        builder_node(&network->builder, maximum ? "MaxPool" : "AveragePool", out->name, in->name, NULL, NULL, NULL);
    put_window(network, node, &window);
    if (!maximum && one_in(network, 2))
        builder_int(&network->builder, node, "count_include_pad", 1);
    return 1;
}

static int add_global(struct network *network, const struct value *in)
{
    static const char *const operators[] = {"GlobalAveragePool", "GlobalMaxPool", "ReduceMean"};
    const char *operator= chosen(network, operators, 3);
    const int64_t axes[2] = {2, 3};
    const char *out = soak_result(network, in->channels, 1, 1)->name;
    Onnx__NodeProto *node = builder_node(&network->builder, operator, out, in->name, NULL, NULL, NULL);
    if (strcmp(operator, "ReduceMean") == 0)
        builder_ints(&network->builder, node, "axes", 2, axes);
    return 1;
}

/* ---- pointwise ---- */

static int add_batch_norm(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    static const char *const names[] = {"s", "o", "m", "r"};
    const char *made[4];
    for (size_t i = 0; i < 4; ++i) {
        float values[256];
        for (int64_t c = 0; c < in->channels && c < 256; ++c) /* variances above 0 */
            values[c] = (i == 3 ? 0.3f : -1.0f) + (float)soak_random(&network->random, 2000) / 1000.0f;
        made[i] = soak_name(network, names[i]);
        (void)builder_floats(b, made[i], 1, &in->channels, values);
    }
    const struct value from = *in;
    Onnx__NodeProto *node =
        builder_node(b, "BatchNormalization", soak_result(network, from.channels, from.height, from.width)->name,
                     from.name, made[0], made[1], made[2]);
    builder_operand(b, node, made[3]);
    return in->channels <= 256;
}

/* Arithmetic with a constant: one value for each channel, or one for all. */
static int add_constant(struct network *network, const struct value *in)
{
    static const char *const operators[] = {"Add", "Sub", "Mul", "Div"};
    const char *operator= chosen(network, operators, 4);
    const int64_t shape[3] = {one_in(network, 2) ? 1 : in->channels, 1, 1};
    const char *constant = soak_name(network, "c");
    float values[256];
    for (int64_t c = 0; c < shape[0] && c < 256; ++c)
        values[c] = 0.25f + (float)soak_random(&network->random, 2000) / 1000.0f;
    (void)builder_floats(&network->builder, constant, 3, shape, values);
    (void)builder_node(&network->builder, operator, soak_result(network, in->channels, in->height, in->width)->name,
                       in->name, constant, NULL, NULL);
    return in->channels <= 256;
}

static int add_function(struct network *network, const struct value *in)
{
    static const char *const functions[] = {
        "HardSigmoid", "Selu",  "Softsign", "Clip", "PRelu",          "Sin", "Atan", "Mish",
        "Sign",        "Floor", "Round",    "Sqrt", "ThresholdedRelu"};
    struct builder *b = &network->builder;
    const char *function = chosen(network, functions, sizeof functions / sizeof functions[0]);
    const char *low = NULL;
    const char *high = NULL;
    if (strcmp(function, "Clip") == 0) {
        low = soak_name(network, "l");
        high = soak_name(network, "h");
        (void)builder_floats(b, low, 0, NULL, (const float[]){-0.5f});
        (void)builder_floats(b, high, 0, NULL, (const float[]){1.5f});
    } else if (strcmp(function, "PRelu") == 0) {
        const int64_t shape[3] = {in->channels, 1, 1};
        low = soak_name(network, "l");
        (void)builder_random(b, low, in->height == 0 ? 1 : 3, shape, 0.5f);
    }
    (void)builder_node(b, function, soak_result(network, in->channels, in->height, in->width)->name, in->name, low,
                       high, NULL);
    return 1;
}

/* Squeeze and excite: scales each channel by a function of its mean. */
static int add_excite(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const int64_t shape[4] = {in->channels, in->channels, 1, 1};
    const char *mean = soak_name(network, "sm");
    const char *weights = soak_name(network, "w");
    const char *product = soak_name(network, "sp");
    const char *gate = soak_name(network, "sg");
    (void)builder_random(b, weights, 4, shape, 0.5f);
    (void)builder_node(b, "GlobalAveragePool", mean, in->name, NULL, NULL, NULL);
    (void)builder_node(b, "Conv", product, mean, weights, NULL, NULL);
    (void)builder_node(b, "Sigmoid", gate, product, NULL, NULL, NULL);
    (void)builder_node(b, "Mul", soak_result(network, in->channels, in->height, in->width)->name, in->name, gate, NULL,
                       NULL);
    return 1;
}

/* ---- moving words ---- */

static int add_depth_to_space(struct network *network, const struct value *in)
{
    const int back = one_in(network, 2);
    if (back ? in->height % 2 != 0 || in->width % 2 != 0 : in->channels % 4 != 0)
        return 0;
    const struct value *out = back ? soak_result(network, in->channels * 4, in->height / 2, in->width / 2)
                                   : soak_result(network, in->channels / 4, in->height * 2, in->width * 2);
    Onnx__NodeProto *node =
        builder_node(&network->builder, back ? "SpaceToDepth" : "DepthToSpace", out->name, in->name, NULL, NULL, NULL);
    builder_int(&network->builder, node, "blocksize", 2);
    return 1;
}

static int add_slice(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    int64_t sizes[3] = {in->channels, in->height, in->width};
    const int64_t axis = soak_between(network, 1, 3);
    const int64_t from = soak_between(network, 0, sizes[axis - 1] - 1);
    const int64_t to = soak_between(network, from + 1, sizes[axis - 1]);
    const char *starts = soak_name(network, "a");
    const char *ends = soak_name(network, "e");
    const char *axes = soak_name(network, "x");
    sizes[axis - 1] = to - from;
    (void)builder_int64s(b, starts, 1, &from);
    (void)builder_int64s(b, ends, 1, &to);
    (void)builder_int64s(b, axes, 1, &axis);
    (void)builder_node(b, "Slice", soak_result(network, sizes[0], sizes[1], sizes[2])->name, in->name, starts, ends,
                       axes);
    return 1;
}

/* Rotates rows as torch.roll exports it, with an empty slice if the rotation is 0 or all rows. */
static int add_rolled(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const int64_t numbers[4] = {0, one_in(network, 2) ? 0 : soak_between(network, 0, in->height), INT64_MAX, 2};
    const char *names[4];
    static const char *const whats[4] = {"z", "r", "i", "a"};
    for (size_t i = 0; i < 4; ++i) {
        names[i] = soak_name(network, whats[i]);
        (void)builder_int64s(b, names[i], 1, &numbers[i]);
    }
    const char *end = soak_name(network, "t");
    const char *front = soak_name(network, "u");
    (void)builder_node(b, "Slice", end, in->name, names[1], names[2], names[3]);
    (void)builder_node(b, "Slice", front, in->name, names[0], names[1], names[3]);
    builder_int(b,
                builder_node(b, "Concat", soak_result(network, in->channels, in->height, in->width)->name, end, front,
                             NULL, NULL),
                "axis", 2);
    return 1;
}

static int add_wide(struct network *network, const struct value *in)
{
    if (in->height == 0)
        return one_in(network, 3) ? add_function(network, in) : soak_add_node(network, in);
    switch (soak_random(&network->random, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return add_conv(network, in);
    case 4:
    case 5:
    case 6:
        return add_pool(network, in);
    case 7:
        return one_in(network, 2) ? add_global(network, in) : add_excite(network, in);
    case 8:
        return add_batch_norm(network, in);
    case 9:
        return add_constant(network, in);
    case 10:
        return add_function(network, in);
    case 11:
        return one_in(network, 3)   ? add_rolled(network, in)
               : one_in(network, 2) ? add_depth_to_space(network, in)
                                    : add_slice(network, in);
    default:
        return soak_add_node(network, in);
    }
}

/* ---- chains ---- */

/* Keeps the map's size; for an even kernel, the larger part of the padding is after the input. */
static int add_same_conv(struct network *network, const struct value *in, int64_t channels, int64_t group)
{
    struct window window = {.strides = {1, 1}, .dilations = {1, 1}, .out = {in->height, in->width}};
    for (int side = 0; side < 2; ++side) {
        window.kernel[side] = one_in(network, 4) ? soak_between(network, 1, 5) : 3;
        window.pads[side] = (window.kernel[side] - 1) / 2;
        window.pads[side + 2] = window.kernel[side] / 2;
    }
    if (channels * in->height * in->width * (in->channels / group) * window.kernel[0] * window.kernel[1] > MACS_MAX)
        return 0;
    (void)put_conv(network, in, &window, group, channels, one_in(network, 2));
    return 1;
}

static int add_halving_pool(struct network *network, const struct value *in)
{
    const struct window window = {.kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}};
    if (in->height % 2 != 0 || in->width % 2 != 0)
        return 0;
    const struct value *out = soak_result(network, in->channels, in->height / 2, in->width / 2);
    put_window(network, builder_node(&network->builder, "MaxPool", out->name, in->name, NULL, NULL, NULL), &window);
    return 1;
}

static int add_relu(struct network *network, const struct value *in)
{
    (void)builder_node(&network->builder, "Relu", soak_result(network, in->channels, in->height, in->width)->name,
                       in->name, NULL, NULL, NULL);
    return 1;
}

static int add_link(struct network *network, const struct value *in)
{
    const int depthwise = one_in(network, 6);
    switch (soak_random(&network->random, 8)) {
    case 0:
    case 1:
        return add_relu(network, in);
    case 2:
    case 3:
        return add_halving_pool(network, in);
    case 4:
        return one_in(network, 3) ? add_wide(network, in) : add_batch_norm(network, in);
    default:
        return add_same_conv(network, in, depthwise ? in->channels : soak_between(network, 1, 20),
                             depthwise ? in->channels : 1);
    }
}

/* A fully connected layer on all values. */
static int add_classes(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const int64_t words = in->channels * in->height * in->width;
    const int64_t shape[2] = {words, soak_between(network, 1, minimum(40, MACS_MAX / words))};
    const char *weights = soak_name(network, "w");
    const char *flat = soak_name(network, "f");
    (void)builder_random(b, weights, 2, shape, 0.3f);
    (void)builder_node(b, "Flatten", flat, in->name, NULL, NULL, NULL);
    (void)builder_node(b, "Gemm", soak_result(network, shape[1], 0, 0)->name, flat, weights, NULL, NULL);
    return 1;
}

/* ---- odd maps ---- */

/* No padding, so strides may drop the last rows and columns. */
static int draw_dropping(struct network *network, const struct value *in, struct window *window)
{
    *window = (struct window){.dilations = {1, 1}};
    for (int side = 0; side < 2; ++side) {
        const int64_t size = side == 0 ? in->height : in->width;
        window->kernel[side] = soak_between(network, 1, minimum(3, size));
        window->strides[side] = soak_between(network, 1, 3);
        measure(window, side, size);
    }
    return 1;
}

static int add_dropping_conv(struct network *network, const struct value *in)
{
    struct window window;
    const int64_t group = one_in(network, 3) ? in->channels : 1;
    const int64_t channels = group * soak_between(network, 1, group == 1 ? 12 : 1);
    (void)draw_dropping(network, in, &window);
    (void)put_conv(network, in, &window, group, channels, one_in(network, 2));
    return 1;
}

static int add_dropping_pool(struct network *network, const struct value *in)
{
    struct window window;
    (void)draw_dropping(network, in, &window);
    const struct value *out = soak_result(network, in->channels, window.out[0], window.out[1]);
    Onnx__NodeProto *node = builder_node(
        &network->builder, one_in(network, 2) ? "MaxPool" : "AveragePool", out->name, in->name, NULL, NULL, NULL);
    put_window(network, node, &window);
    return 1;
}

static int add_odd(struct network *network, const struct value *in)
{
    const uint32_t kind = soak_random(&network->random, 12);
    if (in->height == 0 || kind == 11)
        return add_wide(network, in);
    if (kind < 4)
        return add_same_conv(network, in, soak_between(network, 1, 12), 1);
    if (kind < 6)
        return add_dropping_conv(network, in);
    return kind < 10 ? add_dropping_pool(network, in) : soak_add_node(network, in);
}

/* Rounds of a convolution and layers that the training engine supports after it; then a fully connected layer. */
static void grow_learner(struct network *network)
{
    const size_t rounds = soak_random(&network->random, 4);
    for (size_t round = 0; round < rounds; ++round) {
        int (*const adds[])(struct network *, const struct value *) = {add_batch_norm, add_relu, add_halving_pool};
        const struct value in = network->values[network->count - 1];
        if (!add_same_conv(network, &in, soak_between(network, 1, 40), 1))
            break;
        ++network->count;
        for (size_t i = 0; i < sizeof adds / sizeof adds[0]; ++i) {
            const struct value from = network->values[network->count - 1];
            network->count += one_in(network, 2) && adds[i](network, &from) ? 1u : 0;
        }
    }
    const struct value from = network->values[network->count - 1];
    network->count += add_classes(network, &from) ? 1u : 0;
}

int soak_write_network(uint64_t seed, struct soak_platform *platform, const char *file)
{
    const enum soak_kind kind = platform->kind;
    struct network network = {.random = seed, .single = seed % 3 == 0 && kind != SOAK_LEARNER};
    const int any = kind == SOAK_ANY || kind == SOAK_HEADS;
    const int odd = kind == SOAK_ODD;
    const int64_t channels = soak_between(&network, 1, any && soak_random(&network.random, 4) == 0 ? 40 : 8);
    if (any) {
        const int64_t height = soak_between(&network, 1, 32);
        const int64_t width = soak_between(&network, 1, 32);
        soak_network_begin(&network, seed, channels, height, width);
        soak_network_grow(&network, (size_t)soak_between(&network, 1, 8), add_wide);
    } else if (odd) {
        soak_network_begin(&network, seed, channels, 2 * soak_between(&network, 1, 15) + 1,
                           2 * soak_between(&network, 1, 15) + 1);
        soak_network_grow(&network, (size_t)soak_between(&network, 2, 8), add_odd);
    } else {
        const int64_t height = INT64_C(1) << soak_between(&network, 2, 5);
        const int64_t width = INT64_C(1) << soak_between(&network, 2, 5);
        soak_network_begin(&network, seed, channels, height, width);
        if (kind == SOAK_LEARNER)
            grow_learner(&network);
        else
            soak_network_grow(&network, (size_t)soak_between(&network, 2, 12), add_link);
    }
    for (size_t i = 0; kind == SOAK_HEADS && i + 1 < network.count; ++i)
        if (soak_random(&network.random, 3) == 0) {
            builder_output(&network.builder, network.values[i].name);
            ++platform->outputs;
        }
    return soak_network_end(&network, file);
}
