/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak_network.h"
#include "soak_platform.h"

/* splitmix64 */
uint32_t soak_random(uint64_t *state, uint32_t limit)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32) % limit;
}

/* ---- networks ---- */

int64_t soak_between(struct network *network, int64_t low, int64_t high)
{
    return low + (int64_t)soak_random(&network->random, (uint32_t)(high - low + 1));
}

const char *soak_name(struct network *network, const char *what)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%s%zu", what, network->count);
    return builder_text(&network->builder, text);
}

struct value *soak_result(struct network *network, int64_t channels, int64_t height, int64_t width)
{
    struct value *value = &network->values[network->count];
    (void)snprintf(value->name, sizeof value->name, "v%zu", network->count);
    value->channels = channels;
    value->height = height;
    value->width = width;
    return value;
}

int64_t soak_outputs(int64_t size, int64_t pads, int64_t kernel, int64_t stride)
{
    return (size + pads - kernel) / stride + 1;
}

static int add_window(struct network *network, const struct value *in, const char *op_type)
{
    struct builder *b = &network->builder;
    const int conv = strcmp(op_type, "Conv") == 0;
    const int64_t kernel[2] = {soak_between(network, 1, in->height < 5 ? in->height : 5),
                               soak_between(network, 1, in->width < 5 ? in->width : 5)};
    const int64_t strides[2] = {soak_between(network, 1, 3), soak_between(network, 1, 3)};
    const int64_t pads[4] = {soak_between(network, 0, kernel[0] - 1), soak_between(network, 0, kernel[1] - 1),
                             soak_between(network, 0, kernel[0] - 1), soak_between(network, 0, kernel[1] - 1)};
    const int64_t height = soak_outputs(in->height, pads[0] + pads[2], kernel[0], strides[0]);
    const int64_t width = soak_outputs(in->width, pads[1] + pads[3], kernel[1], strides[1]);
    const uint32_t kind = soak_random(&network->random, 4);
    const int64_t multiplier = kind == 0 ? soak_between(network, 1, 2) : 0; /* depthwise */
    const int64_t group = kind == 0 ? in->channels : kind == 1 && in->channels % 2 == 0 ? 2 : 1;
    const int64_t channels =
        !conv       ? in->channels
        : kind == 0 ? group * multiplier
                    : group * soak_between(network, 1, 6);
    const int64_t shape[4] = {channels, in->channels / group, kernel[0], kernel[1]};
    const char *weights = conv ? soak_name(network, "w") : NULL;
    const char *bias = conv && soak_random(&network->random, 2) ? soak_name(network, "b") : NULL;
    if (weights != NULL)
        (void)builder_random(b, weights, 4, shape, 0.5f);
    if (bias != NULL)
        (void)builder_random(b, bias, 1, &channels, 0.5f);
    Onnx__NodeProto *node =
        builder_node(b, op_type, soak_result(network, channels, height, width)->name, in->name, weights, bias, NULL);
    builder_ints(b, node, "kernel_shape", 2, kernel);
    builder_ints(b, node, "strides", 2, strides);
    builder_ints(b, node, "pads", 4, pads);
    if (conv)
        builder_int(b, node, "group", group);
    return 1;
}

static int add_function(struct network *network, const struct value *in)
{
    static const char *const functions[] = {
        "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Elu", "Neg", "Softplus"};
    const char *function = functions[soak_random(&network->random, sizeof functions / sizeof functions[0])];
    const struct value from = *in;
    (void)builder_node(&network->builder, function, soak_result(network, from.channels, from.height, from.width)->name,
                       from.name, NULL, NULL, NULL);
    return 1;
}

/* Combines a value with an earlier value of the same shape, or with itself. */
static int add_pair(struct network *network, const struct value *in)
{
    static const char *const operations[] = {"Add", "Sub", "Mul", "Max", "Min"};
    const char *operation = operations[soak_random(&network->random, sizeof operations / sizeof operations[0])];
    const struct value *other = in;
    for (size_t i = 0; i < network->count; ++i)
        if (network->values[i].channels == in->channels && network->values[i].height == in->height &&
            network->values[i].width == in->width && soak_random(&network->random, 2))
            other = &network->values[i];
    (void)builder_node(&network->builder, operation, soak_result(network, in->channels, in->height, in->width)->name,
                       in->name, other->name, NULL, NULL);
    return 1;
}

static int add_concat(struct network *network, const struct value *in)
{
    const struct value *other = &network->values[soak_random(&network->random, (uint32_t)network->count)];
    if (other->height != in->height || other->width != in->width || in->channels + other->channels > 24)
        return 0;
    Onnx__NodeProto *node = builder_node(
        &network->builder, "Concat", soak_result(network, in->channels + other->channels, in->height, in->width)->name,
        in->name, other->name, NULL, NULL);
    builder_int(&network->builder, node, "axis", 1);
    return 1;
}

static int add_norm(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const char *scale = soak_name(network, "s");
    const char *offset = soak_name(network, "o");
    (void)builder_random(b, scale, 1, &in->channels, 1.5f);
    (void)builder_random(b, offset, 1, &in->channels, 1.5f);
    (void)builder_node(b, "InstanceNormalization", soak_result(network, in->channels, in->height, in->width)->name,
                       in->name, scale, offset, NULL);
    return 1;
}

static int add_dense(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const int64_t words = in->height == 0 ? in->channels : in->channels * in->height * in->width;
    const int64_t shape[2] = {words, soak_between(network, 1, 20)};
    const char *weights = soak_name(network, "w");
    const char *flat = soak_name(network, "f");
    if (words > 2000)
        return 0;
    (void)builder_random(b, weights, 2, shape, 0.3f);
    (void)builder_node(b, "Flatten", flat, in->name, NULL, NULL, NULL);
    (void)builder_node(b, "Gemm", soak_result(network, shape[1], 0, 0)->name, flat, weights, NULL, NULL);
    return 1;
}

static int add_softmax(struct network *network, const struct value *in)
{
    Onnx__NodeProto *node =
        builder_node(&network->builder, "Softmax", soak_result(network, in->channels, in->height, in->width)->name,
                     in->name, NULL, NULL, NULL);
    builder_int(&network->builder, node, "axis", in->height == 0 ? 1 : soak_between(network, 1, 3));
    return in->height == 0 || (in->height > 1 && in->width > 1 && in->channels > 1);
}

static int add_padding(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    static const char *const modes[] = {"constant", "reflect", "edge"};
    const int64_t pads[8] = {
        0, 0, soak_between(network, 0, in->height > 2 ? 2 : 0), soak_between(network, 0, in->width > 2 ? 2 : 0),
        0, 0, soak_between(network, 0, in->height > 2 ? 2 : 0), soak_between(network, 0, in->width > 2 ? 2 : 0)};
    const char *list = soak_name(network, "p");
    (void)builder_int64s(b, list, 8, pads);
    const struct value *out =
        soak_result(network, in->channels, in->height + pads[2] + pads[6], in->width + pads[3] + pads[7]);
    Onnx__NodeProto *node = builder_node(b, "Pad", out->name, in->name, list, NULL, NULL);
    builder_string(b, node, "mode", modes[soak_random(&network->random, 3)]);
    return 1;
}

static int add_transpose(struct network *network, const struct value *in)
{
    static const int64_t orders[5][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 3, 2, 1}};
    const int64_t *order = orders[soak_random(&network->random, 5)];
    const int64_t sizes[4] = {0, in->channels, in->height, in->width};
    Onnx__NodeProto *node = builder_node(
        &network->builder, "Transpose", soak_result(network, sizes[order[1]], sizes[order[2]], sizes[order[3]])->name,
        in->name, NULL, NULL, NULL);
    builder_ints(&network->builder, node, "perm", 4, order);
    return 1;
}

/* Operators that the importer rewrites, along an axis of maps. */
static int add_rewritten(struct network *network, const struct value *in)
{
    static const char *const operators[] = {"ArgMax", "ArgMin", "ReduceProd", "ReduceL2", "ReduceLogSumExp", "Tile"};
    struct builder *b = &network->builder;
    const uint32_t kind = soak_random(&network->random, 7);
    const int64_t axis = soak_between(network, 1, 3);
    int64_t sizes[4] = {1, in->channels, in->height, in->width};
    if (kind == 6) { /* permuted dimensions, with each product by itself */
        const struct value *out = soak_result(network, sizes[3], sizes[1], sizes[2]);
        builder_string(b, builder_node(b, "Einsum", out->name, in->name, in->name, NULL, NULL), "equation",
                       "nchw,nchw->nwch");
        return 1;
    }
    const int64_t repeats[4] = {1, axis == 1 ? 2 : 1, axis == 2 ? 3 : 1, axis == 3 ? 2 : 1};
    const char *list = kind == 5 ? soak_name(network, "t") : NULL;
    sizes[axis] = kind == 5 ? sizes[axis] * repeats[axis] : 1;
    if (sizes[1] > 24)
        return 0;
    if (list != NULL)
        (void)builder_int64s(b, list, 4, repeats);
    Onnx__NodeProto *node = builder_node(
        b, operators[kind], soak_result(network, sizes[1], sizes[2], sizes[3])->name, in->name, list, NULL, NULL);
    if (kind < 2)
        builder_int(b, node, "axis", axis);
    else if (kind < 5)
        builder_ints(b, node, "axes", 1, &axis);
    return 1;
}

static const char *list_of(struct network *network, const char *what, size_t count, const int64_t *numbers)
{
    const char *name = soak_name(network, what);
    (void)builder_int64s(&network->builder, name, count, numbers);
    return name;
}

/* Resized maps, gathered elements, or overlapping columns (Col2Im). */
static int add_moved(struct network *network, const struct value *in)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    struct builder *b = &network->builder;
    const uint32_t kind = soak_random(&network->random, 3);
    int64_t sizes[4] = {1, in->channels, in->height, in->width};
    if (kind == 0) {
        const int64_t axis = soak_between(network, 2, 3);
        sizes[axis] = soak_between(network, 1, 2 * sizes[axis]);
        const struct value *out = soak_result(network, sizes[1], sizes[2], sizes[3]);
        Onnx__NodeProto *node = builder_node(b, "Resize", out->name, in->name, "", "", list_of(network, "n", 4, sizes));
        builder_string(b, node, "mode", modes[soak_random(&network->random, 3)]);
        builder_int(b, node, "antialias", soak_random(&network->random, 2));
        return 1;
    }
    if (kind == 1) {
        int64_t indices[7];
        const int64_t axis = soak_between(network, 1, 3), count = soak_between(network, 1, 7);
        for (int64_t i = 0; i < count; ++i)
            indices[i] = soak_between(network, -sizes[axis], sizes[axis] - 1);
        sizes[axis] = count;
        const struct value *out = soak_result(network, sizes[1], sizes[2], sizes[3]);
        builder_int(
            b,
            builder_node(b, "Gather", out->name, in->name, list_of(network, "i", (size_t)count, indices), NULL, NULL),
            "axis", axis);
        return 1;
    }
    if (sizes[1] % 2 != 0)
        return 0;
    const char *columns = soak_name(network, "c");
    const struct value *out = soak_result(network, sizes[1] / 2, sizes[2], sizes[3] + 1);
    (void)builder_node(b, "Reshape", columns, in->name,
                       list_of(network, "s", 3, (const int64_t[]){0, sizes[1], sizes[2] * sizes[3]}), NULL, NULL);
    (void)builder_node(b, "Col2Im", out->name, columns,
                       list_of(network, "m", 2, (const int64_t[]){sizes[2], sizes[3] + 1}),
                       list_of(network, "k", 2, (const int64_t[]){1, 2}), NULL);
    return 1;
}

/* Integers from `low` to `high` - 1 in this shape. */
static const char *numbers_of(struct network *network, const char *what, size_t rank, const int64_t *dims, int64_t low,
                              int64_t high)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
        count *= (size_t)dims[i];
    int64_t *numbers = builder_alloc(&network->builder, count * sizeof *numbers);
    for (size_t i = 0; i < count; ++i)
        numbers[i] = soak_between(network, low, high - 1);
    const char *name = soak_name(network, what);
    Onnx__TensorProto *tensor = builder_int64s(&network->builder, name, count, numbers);
    tensor->dims = builder_alloc(&network->builder, rank * sizeof *dims);
    memcpy(tensor->dims, dims, rank * sizeof *dims);
    tensor->n_dims = rank;
    return name;
}

/* Reshapes a result to maps of these sizes. */
static int shaped(struct network *network, const char *made, const int64_t *sizes)
{
    (void)builder_node(&network->builder, "Reshape", soak_result(network, sizes[1], sizes[2], sizes[3])->name, made,
                       list_of(network, "t", 4, sizes), NULL, NULL);
    return sizes[1] * sizes[2] * sizes[3] <= 8000;
}

/* Running sums and products, Hardmax, normalisation, a product with a vector, or the spectrum of real numbers. */
static int add_summed(struct network *network, const struct value *in)
{
    enum { CUM_SUM, CUM_PROD, HARDMAX, NORMALISATION, PRODUCT, SPECTRUM, KINDS };
    static const char *const operators[KINDS] = {
        "CumSum", "CumProd", "Hardmax", "MeanVarianceNormalization", "MatMul", "DFT"};
    struct builder *b = &network->builder;
    const uint32_t kind = soak_random(&network->random, KINDS);
    const int64_t axis = soak_between(network, 1, 3);
    const char *from = in->name, *other = NULL;
    int64_t sizes[4] = {0, in->channels, in->height, in->width};
    if (kind <= CUM_PROD) {
        other = list_of(network, "x", 1, &axis);
    } else if (kind == PRODUCT) {
        other = soak_name(network, "w");
        (void)builder_random(b, other, 1, &in->width, 0.5f);
        sizes[3] = 1;
    } else if (kind == SPECTRUM) {
        const int64_t rows[4] = {0, sizes[1] * sizes[2], sizes[3], 1};
        from = soak_name(network, "r");
        (void)builder_node(b, "Reshape", from, in->name, list_of(network, "s", 4, rows), NULL, NULL);
        memcpy(sizes, rows, sizeof sizes);
        sizes[3] = 2;
    }
    const char *made = soak_name(network, "u");
    Onnx__NodeProto *node = builder_node(b, operators[kind], made, from, other, NULL, NULL);
    if (kind <= CUM_PROD) {
        builder_int(b, node, "exclusive", soak_random(&network->random, 2));
        builder_int(b, node, "reverse", soak_random(&network->random, 2));
    } else if (kind == NORMALISATION) {
        builder_ints(b, node, "axes", 2, (const int64_t[]){2, 3});
    } else if (kind != PRODUCT) {
        builder_int(b, node, "axis", kind == SPECTRUM ? 2 : axis);
    }
    return shaped(network, made, sizes);
}

/* Samples, gathers, scatters and losses with constant indices, for networks with a single image. */
static int add_placed(struct network *network, const struct value *in)
{
    enum { SAMPLE, GATHER, GATHER_PARTS, SCATTER, SCATTER_PARTS, LOSS, LIKELIHOOD, KINDS };
    static const char *const operators[KINDS] = {
        "GridSample",
        "GatherElements",
        "GatherND",
        "ScatterElements",
        "ScatterND",
        "SoftmaxCrossEntropyLoss",
        "NegativeLogLikelihoodLoss"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    struct builder *b = &network->builder;
    const uint32_t kind = soak_random(&network->random, KINDS);
    const int64_t count = soak_between(network, 1, 4);
    const int64_t parts[3] = {kind < LOSS ? count : 1, in->height, in->width};
    int64_t sizes[4] = {1, in->channels, in->height, in->width};
    const int64_t places[4] = {1, kind == SCATTER ? count : sizes[1], sizes[2], kind == GATHER ? count : sizes[3]};
    const char *indices = soak_name(network, "g");
    const char *updates = kind == SCATTER || kind == SCATTER_PARTS ? soak_name(network, "w") : NULL;
    if (!network->single || in->channels < 5 || in->channels * in->height * in->width > 3000)
        return 0;
    if (kind == SAMPLE) {
        (void)builder_random(b, indices, 4, (const int64_t[]){1, count, sizes[3], 2}, 1.5f);
        sizes[2] = count;
    } else if (kind == GATHER_PARTS || kind == SCATTER_PARTS) { /* the image, which is 0, and a channel */
        const char *numbers = numbers_of(network, "i", 2, (const int64_t[]){count, 2}, 0, sizes[1]);
        (void)builder_node(b, "Mul", indices, numbers, list_of(network, "x", 2, (const int64_t[]){0, 1}), NULL, NULL);
        sizes[1] = kind == GATHER_PARTS ? count : sizes[1];
    } else if (kind < LOSS) {
        const int64_t size = sizes[kind == GATHER ? 3 : 1];
        indices = numbers_of(network, "i", 4, places, kind == GATHER ? -size : 0, size);
        sizes[3] = places[3];
    } else {
        indices = numbers_of(network, "i", 3, parts, 0, sizes[1]);
        sizes[1] = 1;
    }
    if (updates != NULL)
        (void)builder_random(b, updates, kind == SCATTER ? 4 : 3, kind == SCATTER ? places : parts, 1.0f);
    const char *made = soak_name(network, "u");
    Onnx__NodeProto *node = builder_node(b, operators[kind], made, in->name, indices, updates, NULL);
    if (kind == SAMPLE) {
        builder_string(b, node, "mode", soak_random(&network->random, 2) ? "bilinear" : "nearest");
        builder_string(b, node, "padding_mode", paddings[soak_random(&network->random, 3)]);
        builder_int(b, node, "align_corners", soak_random(&network->random, 2));
    } else if (kind == GATHER || kind == SCATTER) {
        builder_int(b, node, "axis", kind == GATHER ? 3 : 1);
    } else if (kind >= LOSS) {
        builder_string(b, node, "reduction", "none");
    }
    if (updates != NULL && soak_random(&network->random, 2))
        builder_string(b, node, "reduction", "add");
    return shaped(network, made, sizes);
}

/* Softmax of scores with a mask. */
static int add_masked(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const char *mask = soak_name(network, "m");
    const char *scores = soak_name(network, "a");
    float numbers[64];
    if (in->width < 2 || in->width > 64)
        return 0;
    for (int64_t i = 0; i < in->width; ++i)
        numbers[i] = i > 0 && soak_random(&network->random, 2) ? -1e9f : 0.0f;
    (void)builder_floats(b, mask, 1, &in->width, numbers);
    (void)builder_node(b, "Add", scores, in->name, mask, NULL, NULL);
    builder_int(b,
                builder_node(b, "Softmax", soak_result(network, in->channels, in->height, in->width)->name, scores,
                             NULL, NULL, NULL),
                "axis", -1);
    return in->height > 1 && in->channels > 1;
}

int soak_add_node(struct network *network, const struct value *in)
{
    const int vector = in->height == 0;
    switch (vector ? 6 + soak_random(&network->random, 4) : soak_random(&network->random, 20)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return add_window(network, in, "Conv");
    case 4:
        return add_window(network, in, "MaxPool");
    case 5:
        return add_window(network, in, "AveragePool");
    case 6:
        return add_function(network, in);
    case 7:
        return add_pair(network, in);
    case 8:
        return add_dense(network, in);
    case 9:
        return add_softmax(network, in);
    case 10:
        return add_concat(network, in);
    case 11:
        return add_norm(network, in);
    case 12:
        return add_padding(network, in);
    case 13:
        return add_transpose(network, in);
    case 14:
        return add_masked(network, in);
    case 15:
        return add_rewritten(network, in);
    case 16:
        return add_moved(network, in);
    case 17:
        return add_summed(network, in);
    case 18:
        return add_placed(network, in);
    default:
        return add_function(network, in);
    }
}

void soak_network_begin(struct network *network, uint64_t seed, int64_t channels, int64_t height, int64_t width)
{
    builder_init(&network->builder, 14);
    network->builder.random = seed;
    const struct value *in = soak_result(network, channels, height, width);
    const int64_t dims[4] = {network->single ? 1 : -1, in->channels, in->height, in->width};
    builder_input(&network->builder, in->name, 4, dims);
    network->count = 1;
}

void soak_network_grow(struct network *network, size_t nodes,
                       int (*add)(struct network *network, const struct value *in))
{
    for (size_t tries = 0; network->count <= nodes && tries < 50; ++tries) {
        const struct network before = *network;
        const struct value from = network->values[network->count - 1];
        if (add(network, &from)) {
            ++network->count;
            continue;
        }
        /* Removes a node that was begun but is not suitable. */
        network->builder.graph.n_node = before.builder.graph.n_node;
    }
}

int soak_network_end(struct network *network, const char *file)
{
    size_t size = 0;
    builder_output(&network->builder, network->values[network->count - 1].name);
    uint8_t *bytes = builder_pack(&network->builder, &size);
    builder_free(&network->builder);
    FILE *stream = fopen(file, "wb");
    int written = bytes != NULL && stream != NULL && fwrite(bytes, 1, size, stream) == size;
    if (stream != NULL)
        written &= fclose(stream) == 0;
    free(bytes);
    return written ? 0 : -1;
}

/* ---- platforms ---- */

void soak_append(struct soak_platform *platform, const char *format, ...)
{
    const size_t used = strlen(platform->options);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(platform->options + used, sizeof platform->options - used, format, arguments);
    va_end(arguments);
}
