/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of pairs with --more: quantised networks, and networks to train, each with a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak_network.h"

#define WORDS_MAX 4000

static int one_in(struct network *network, uint32_t times)
{
    return soak_random(&network->random, times) == 0;
}

/* ---- quantised ---- */

/* Adds integers of an 8-bit or 32-bit type, by converting a tensor of floats. */
static const char *add_whole(struct network *network, const char *name, int32_t type, size_t rank, const int64_t *dims,
                             const float *values)
{
    Onnx__TensorProto *tensor = builder_floats(&network->builder, name, rank, dims, values);
    const size_t size = type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ? 4 : 1;
    const size_t count = tensor->raw_data.len / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
        const int32_t value = (int32_t)values[i];
        memcpy(tensor->raw_data.data + i * size, &value, size); /* little-endian */
    }
    tensor->data_type = type;
    tensor->raw_data.len = count * size;
    return name;
}

static const char *add_random_whole(struct network *network, const char *what, int32_t type, size_t rank,
                                    const int64_t *dims, int64_t most)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
        count *= (size_t)dims[i];
    float *values = builder_alloc(&network->builder, count * sizeof *values);
    for (size_t i = 0; i < count; ++i)
        values[i] = (float)soak_between(network, -most, most);
    return add_whole(network, soak_name(network, what), type, rank, dims, values);
}

static const char *add_scale(struct network *network, const char *what, float scale)
{
    const char *name = soak_name(network, what);
    (void)builder_floats(&network->builder, name, 0, NULL, &scale);
    return name;
}

/* Scales: one for each of `count`, or one for all. */
static const char *add_scales(struct network *network, const char *what, int64_t count, int *each)
{
    float values[64];
    const char *name = soak_name(network, what);
    *each = count <= 64 && one_in(network, 2);
    for (int64_t i = 0; i < (*each ? count : 1); ++i)
        values[i] = (float)soak_between(network, 1, 40) / 4096.0f;
    (void)builder_floats(&network->builder, name, *each ? 1 : 0, &count, values);
    return name;
}

static const char *add_zero(struct network *network, const char *what, int is_signed, int zero)
{
    const float value = (float)zero;
    return add_whole(network, soak_name(network, what),
                     is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 0, NULL,
                     &value);
}

/* Draws scale, zero point and type of a node's quantised result. */
static void draw_steps(struct network *network, struct value *value)
{
    value->is_signed = one_in(network, 2);
    value->scale = (float)soak_between(network, 1, 60) / 512.0f;
    value->zero = (int)soak_between(network, -20, 20) + (value->is_signed ? 0 : 128);
}

static Onnx__NodeProto *vendor(struct network *network, Onnx__NodeProto *node)
{
    node->domain = builder_text(&network->builder, "com.microsoft");
    return node;
}

static void add_steps_of(struct network *network, Onnx__NodeProto *node, const struct value *value, const char *scale,
                         const char *zero)
{
    builder_operand(&network->builder, node, add_scale(network, scale, value->scale));
    builder_operand(&network->builder, node, add_zero(network, zero, value->is_signed, value->zero));
}

/* Dequantises a value, under a name of its own. */
static const char *dequantise(struct network *network, const struct value *in, const char *what)
{
    char text[3][8];
    const char *name = soak_name(network, what);
    (void)snprintf(text[0], sizeof text[0], "%sS", what);
    (void)snprintf(text[1], sizeof text[1], "%sZ", what);
    Onnx__NodeProto *node = builder_node(&network->builder, "DequantizeLinear", name, in->name, NULL, NULL, NULL);
    add_steps_of(network, node, in, text[0], text[1]);
    return name;
}

static int quantise(struct network *network, const char *from, struct value *out)
{
    draw_steps(network, out);
    Onnx__NodeProto *node = builder_node(&network->builder, "QuantizeLinear", out->name, from, NULL, NULL, NULL);
    add_steps_of(network, node, out, "ys", "yz");
    return 1;
}

struct kernel {
    int64_t sides[2], strides[2], pads[4], out[2];
};

static void draw_kernel(struct network *network, const struct value *in, struct kernel *kernel)
{
    const int64_t sizes[2] = {in->height, in->width};
    for (int side = 0; side < 2; ++side) {
        kernel->sides[side] = soak_between(network, 1, sizes[side] < 4 ? sizes[side] : 4);
        kernel->strides[side] = soak_between(network, 1, 2);
        for (int end = 0; end < 4; end += 2)
            kernel->pads[side + end] = soak_between(network, 0, kernel->sides[side] - 1);
        kernel->out[side] = soak_outputs(
            sizes[side], kernel->pads[side] + kernel->pads[side + 2], kernel->sides[side], kernel->strides[side]);
    }
}

static void put_kernel(struct network *network, Onnx__NodeProto *node, const struct kernel *kernel)
{
    builder_ints(&network->builder, node, "kernel_shape", 2, kernel->sides);
    builder_ints(&network->builder, node, "strides", 2, kernel->strides);
    builder_ints(&network->builder, node, "pads", 4, kernel->pads);
}

/* QLinearConv, or Conv between DequantizeLinear and QuantizeLinear. */
static int add_conv(struct network *network, const struct value *in)
{
    int each;
    struct kernel kernel;
    struct builder *b = &network->builder;
    const int pairs = one_in(network, 2);
    const int64_t group = one_in(network, 4) ? in->channels : in->channels % 2 == 0 && one_in(network, 4) ? 2 : 1;
    const int64_t channels = group == 1 ? soak_between(network, 1, 16) : group * soak_between(network, 1, 2);
    draw_kernel(network, in, &kernel);
    const int64_t shape[4] = {channels, in->channels / group, kernel.sides[0], kernel.sides[1]};
    const char *weights = add_random_whole(network, "w", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 4, shape, 127);
    const char *scales = add_scales(network, "ws", channels, &each);
    const float zeros[64] = {0.0f};
    const char *zero = add_whole(
        network, soak_name(network, "wz"), ONNX__TENSOR_PROTO__DATA_TYPE__INT8, each ? 1 : 0, &channels, zeros);
    Onnx__NodeProto *node;
    if (pairs) {
        const char *numbers = soak_name(network, "wd");
        const char *x = dequantise(network, in, "x");
        node = builder_node(b, "DequantizeLinear", numbers, weights, scales, zero, NULL);
        builder_int(b, node, "axis", 0);
        node = builder_node(b, "Conv", soak_name(network, "c"), x, numbers, NULL, NULL);
    } else {
        node = builder_node(b, "QLinearConv", soak_result(network, channels, kernel.out[0], kernel.out[1])->name,
                            in->name, NULL, NULL, NULL);
        add_steps_of(network, node, in, "xs", "xz");
        builder_operand(b, node, weights);
        builder_operand(b, node, scales);
        builder_operand(b, node, zero);
    }
    put_kernel(network, node, &kernel);
    builder_int(b, node, "group", group);
    struct value *out = soak_result(network, channels, kernel.out[0], kernel.out[1]);
    if (pairs)
        return quantise(network, soak_name(network, "c"), out);
    draw_steps(network, out);
    add_steps_of(network, node, out, "ys", "yz");
    if (one_in(network, 2))
        builder_operand(b, node,
                        add_random_whole(network, "b", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 1, &channels, 5000));
    return channels * kernel.out[0] * kernel.out[1] <= WORDS_MAX;
}

/* QLinearMatMul, or onnxruntime's QGemm. */
static int add_product(struct network *network, const struct value *in)
{
    int each = 0;
    struct builder *b = &network->builder;
    const int vendors = one_in(network, 2);
    const int64_t words = in->height == 0 ? in->channels : in->channels * in->height * in->width;
    const int64_t shape[2] = {words, soak_between(network, 1, 20)};
    const char *flat = soak_name(network, "f");
    if (words > 1500)
        return 0;
    (void)builder_node(b, "Flatten", flat, in->name, NULL, NULL, NULL);
    struct value *out = soak_result(network, shape[1], 0, 0);
    draw_steps(network, out);
    Onnx__NodeProto *node = builder_node(b, vendors ? "QGemm" : "QLinearMatMul", out->name, flat, NULL, NULL, NULL);
    add_steps_of(network, node, in, "xs", "xz");
    builder_operand(b, node, add_random_whole(network, "w", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 2, shape, 127));
    builder_operand(b, node, vendors ? add_scales(network, "ws", shape[1], &each) : add_scale(network, "ws", 0.004f));
    const float zeros[64] = {0.0f};
    builder_operand(b, node,
                    add_whole(network, soak_name(network, "wz"), ONNX__TENSOR_PROTO__DATA_TYPE__INT8, each ? 1 : 0,
                              &shape[1], zeros));
    if (vendors)
        builder_operand(b, vendor(network, node),
                        one_in(network, 2)
                            ? ""
                            : add_random_whole(network, "b", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 1, &shape[1], 5000));
    add_steps_of(network, node, out, "ys", "yz");
    return 1;
}

/* Combines a value with an earlier value of the same shape, or with itself. */
static int add_sum(struct network *network, const struct value *in)
{
    const struct value *other = in;
    for (size_t i = 0; i < network->count; ++i)
        if (network->values[i].channels == in->channels && network->values[i].height == in->height &&
            network->values[i].width == in->width && one_in(network, 2))
            other = &network->values[i];
    const int pairs = one_in(network, 2);
    const char *a = pairs ? dequantise(network, in, "x") : NULL;
    const char *b = pairs ? dequantise(network, other, "u") : NULL;
    const char *sum = soak_name(network, "c");
    struct value *out = soak_result(network, in->channels, in->height, in->width);
    if (pairs) {
        (void)builder_node(&network->builder, one_in(network, 2) ? "Add" : "Mul", sum, a, b, NULL, NULL);
        return quantise(network, sum, out);
    }
    Onnx__NodeProto *node =
        vendor(network, builder_node(&network->builder, "QLinearAdd", out->name, in->name, NULL, NULL, NULL));
    add_steps_of(network, node, in, "xs", "xz");
    builder_operand(&network->builder, node, other->name);
    add_steps_of(network, node, other, "us", "uz");
    draw_steps(network, out);
    add_steps_of(network, node, out, "ys", "yz");
    return 1;
}

/* Operators that pass quantised values on unchanged. */
static int add_passing(struct network *network, const struct value *in)
{
    struct kernel kernel;
    struct builder *b = &network->builder;
    static const int64_t orders[3][4] = {{0, 2, 3, 1}, {0, 1, 3, 2}, {0, 3, 1, 2}};
    const int64_t sizes[4] = {0, in->channels, in->height, in->width};
    const int64_t *order = orders[soak_random(&network->random, 3)];
    const int transposes = one_in(network, 3);
    draw_kernel(network, in, &kernel);
    struct value *out = transposes ? soak_result(network, sizes[order[1]], sizes[order[2]], sizes[order[3]])
                                   : soak_result(network, in->channels, kernel.out[0], kernel.out[1]);
    out->scale = in->scale;
    out->zero = in->zero;
    out->is_signed = in->is_signed;
    Onnx__NodeProto *node =
        builder_node(b, transposes ? "Transpose" : "MaxPool", out->name, in->name, NULL, NULL, NULL);
    if (transposes)
        builder_ints(b, node, "perm", 4, order);
    else
        put_kernel(network, node, &kernel);
    return 1;
}

static int add_average(struct network *network, const struct value *in)
{
    struct value *out = soak_result(network, in->channels, 1, 1);
    draw_steps(network, out);
    Onnx__NodeProto *node = vendor(
        network, builder_node(&network->builder, "QLinearGlobalAveragePool", out->name, in->name, NULL, NULL, NULL));
    add_steps_of(network, node, in, "xs", "xz");
    add_steps_of(network, node, out, "ys", "yz");
    return 1;
}

/* A function on floats between DequantizeLinear and QuantizeLinear. */
static int add_function(struct network *network, const struct value *in)
{
    static const char *const functions[] = {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish"};
    const char *x = dequantise(network, in, "x");
    const char *y = soak_name(network, "c");
    (void)builder_node(&network->builder, functions[soak_random(&network->random, 5)], y, x, NULL, NULL, NULL);
    return quantise(network, y, soak_result(network, in->channels, in->height, in->width));
}

/* Operators on the integers themselves: a cast, limits, or a comparison with one of them. */
static int add_numbers(struct network *network, const struct value *in)
{
    static const char *const operators[] = {NULL, "Max", "Min", "Greater", "LessOrEqual", "Equal"};
    struct builder *b = &network->builder;
    const uint32_t kind = soak_random(&network->random, 6);
    const char *made = kind == 0 ? in->name : soak_name(network, "m");
    const char *numbers = soak_name(network, "n");
    if (kind != 0)
        (void)builder_node(b, operators[kind], made, in->name,
                           add_zero(network, "mz", in->is_signed, in->zero + (int)soak_between(network, -9, 9)), NULL,
                           NULL);
    builder_int(b, builder_node(b, "Cast", numbers, made, NULL, NULL, NULL), "to", 1);
    return quantise(network, numbers, soak_result(network, in->channels, in->height, in->width));
}

static int add_quantised(struct network *network, const struct value *in)
{
    if (in->height == 0)
        return one_in(network, 2) ? add_function(network, in) : add_product(network, in);
    switch (soak_random(&network->random, 10)) {
    case 0:
        return one_in(network, 2) ? add_numbers(network, in) : add_function(network, in);
    case 1:
    case 2:
        return add_sum(network, in);
    case 3:
    case 4:
        return add_passing(network, in);
    case 5:
        return one_in(network, 2) ? add_average(network, in) : add_product(network, in);
    default:
        return add_conv(network, in);
    }
}

static void knows_vendor(struct builder *b)
{
    Onnx__OperatorSetIdProto *set = builder_alloc(b, sizeof *set);
    Onnx__OperatorSetIdProto **sets = builder_alloc(b, 2 * sizeof *sets);
    onnx__operator_set_id_proto__init(set);
    set->domain = builder_text(b, "com.microsoft");
    set->has_version = 1;
    set->version = 1;
    sets[0] = &b->opset;
    sets[1] = set;
    b->model.opset_import = sets;
    b->model.n_opset_import = 2;
}

static int write_quantised(struct network *network, uint64_t seed, const char *file)
{
    const int64_t width = soak_between(network, 1, 16);
    const int64_t height = soak_between(network, 1, 16);
    soak_network_begin(network, seed, soak_between(network, 1, 8), height, width);
    knows_vendor(&network->builder);
    struct value *first = soak_result(network, network->values[0].channels, height, width);
    (void)quantise(network, network->values[0].name, first);
    network->values[0] = *first; /* the list has only quantised values */
    ++network->count;
    soak_network_grow(network, (size_t)soak_between(network, 1, 7), add_quantised);
    if (one_in(network, 4))
        return soak_network_end(network, file); /* the output is quantised */
    const struct value last = network->values[network->count - 1];
    struct value *out = soak_result(network, last.channels, last.height, last.width);
    Onnx__NodeProto *node = builder_node(&network->builder, "DequantizeLinear", out->name, last.name, NULL, NULL, NULL);
    add_steps_of(network, node, &last, "xs", "xz");
    ++network->count;
    return soak_network_end(network, file);
}

/* ---- trainings ---- */

/* A parameter with values in the file, or with a shape only, so that its values are drawn. */
static const char *add_parameter(struct network *network, const char *what, size_t rank, const int64_t *dims,
                                 float scale)
{
    const char *name = soak_name(network, what);
    if (one_in(network, 4))
        builder_input(&network->builder, name, rank, dims);
    else
        (void)builder_random(&network->builder, name, rank, dims, scale);
    return name;
}

static void add_learning_conv(struct network *network, const struct value *in)
{
    struct kernel kernel;
    struct builder *b = &network->builder;
    const int64_t channels = soak_between(network, 1, 24);
    draw_kernel(network, in, &kernel);
    for (int side = 0; side < 2; ++side) { /* strides must not exceed the kernel's size */
        if (one_in(network, 2) || kernel.strides[side] > kernel.sides[side])
            kernel.strides[side] = 1;
        kernel.out[side] = soak_outputs(side == 0 ? in->height : in->width, kernel.pads[side] + kernel.pads[side + 2],
                                        kernel.sides[side], kernel.strides[side]);
    }
    const int64_t shape[4] = {channels, in->channels, kernel.sides[0], kernel.sides[1]};
    const char *weights = add_parameter(network, "w", 4, shape, 0.4f);
    const char *bias = one_in(network, 2) ? add_parameter(network, "b", 1, &channels, 0.3f) : NULL;
    const struct value *out = soak_result(network, channels, kernel.out[0], kernel.out[1]);
    put_kernel(network, builder_node(b, "Conv", out->name, in->name, weights, bias, NULL), &kernel);
    ++network->count;
}

static void add_learning_norm(struct network *network, const struct value *in)
{
    static const char *const names[] = {"s", "o", "m", "r"};
    float ones[64];
    const char *made[4];
    for (size_t i = 0; i < 64; ++i)
        ones[i] = 0.5f + (float)(i % 5) / 4.0f;
    for (size_t i = 0; i < 4; ++i) {
        made[i] = soak_name(network, names[i]);
        (void)builder_floats(&network->builder, made[i], 1, &in->channels, ones);
    }
    const struct value *out = soak_result(network, in->channels, in->height, in->width);
    Onnx__NodeProto *node =
        builder_node(&network->builder, "BatchNormalization", out->name, in->name, made[0], made[1], made[2]);
    builder_operand(&network->builder, node, made[3]);
    ++network->count;
}

static void add_learning_relu(struct network *network, const struct value *in)
{
    const struct value *out = soak_result(network, in->channels, in->height, in->width);
    (void)builder_node(&network->builder, "Relu", out->name, in->name, NULL, NULL, NULL);
    ++network->count;
}

static void add_learning_pool(struct network *network, const struct value *in)
{
    static const struct kernel halves = {.sides = {2, 2}, .strides = {2, 2}};
    const struct value *out = soak_result(network, in->channels, in->height / 2, in->width / 2);
    put_kernel(network, builder_node(&network->builder, "MaxPool", out->name, in->name, NULL, NULL, NULL), &halves);
    ++network->count;
}

static void add_learning_matrix(struct network *network, const struct value *in)
{
    struct builder *b = &network->builder;
    const int64_t words = in->height == 0 ? in->channels : in->channels * in->height * in->width;
    const int64_t shape[2] = {words, soak_between(network, 2, 30)};
    const char *weights = add_parameter(network, "w", 2, shape, 0.3f);
    const char *bias = one_in(network, 2) ? add_parameter(network, "b", 1, &shape[1], 0.3f) : NULL;
    const char *flat = soak_name(network, "f");
    if (in->height != 0)
        (void)builder_node(b, "Flatten", flat, in->name, NULL, NULL, NULL);
    (void)builder_node(b, "Gemm", soak_result(network, shape[1], 0, 0)->name, in->height != 0 ? flat : in->name,
                       weights, bias, NULL);
    ++network->count;
}

/* Writes IDX files: bytes in the shape of the network's input, and labels below `classes`. */
static int write_data(struct network *network, uint32_t images, int64_t classes)
{
    const struct value *in = &network->values[0];
    const unsigned char header[20] = {
        0, 0, 8, 4,
        0, 0, 0, (unsigned char)images,
        0, 0, 0, (unsigned char)in->channels,
        0, 0, 0, (unsigned char)in->height,
        0, 0, 0, (unsigned char)in->width};
    const unsigned char label_header[8] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)images};
    FILE *pictures = fopen("images", "wb");
    FILE *labels = fopen("labels", "wb");
    int written = pictures != NULL && labels != NULL && fwrite(header, sizeof header, 1, pictures) == 1 &&
                  fwrite(label_header, sizeof label_header, 1, labels) == 1;
    for (int64_t i = 0; written && i < images * in->channels * in->height * in->width; ++i)
        written = fputc((int)soak_random(&network->random, 256), pictures) != EOF;
    for (uint32_t i = 0; written && i < images; ++i)
        written = fputc((int)soak_random(&network->random, (uint32_t)classes), labels) != EOF;
    written = pictures != NULL && fclose(pictures) == 0 && written;
    return labels != NULL && fclose(labels) == 0 && written;
}

static struct value last_of(const struct network *network)
{
    return network->values[network->count - 1];
}

static int write_training(struct network *network, uint64_t seed, uint32_t images, const char *file)
{
    const int64_t height = soak_between(network, 1, 12);
    const int64_t width = soak_between(network, 1, 12);
    soak_network_begin(network, seed, soak_between(network, 1, 5), height, width);
    for (uint32_t round = soak_random(&network->random, 3); round != 0; --round) {
        struct value in = last_of(network);
        add_learning_conv(network, &in);
        in = last_of(network);
        if (one_in(network, 2))
            add_learning_norm(network, &in);
        in = last_of(network);
        if (one_in(network, 2))
            add_learning_relu(network, &in);
        in = last_of(network);
        if (one_in(network, 2) && in.height % 2 == 0 && in.width % 2 == 0)
            add_learning_pool(network, &in);
    }
    for (uint32_t round = soak_random(&network->random, 2) + 1; round != 0; --round) {
        struct value in = last_of(network);
        add_learning_matrix(network, &in);
        in = last_of(network);
        if (one_in(network, 3) && round != 1)
            add_learning_norm(network, &in);
        in = last_of(network);
        if (one_in(network, 2) && round != 1)
            add_learning_relu(network, &in);
    }
    const struct value in = last_of(network);
    const int written = write_data(network, images, in.channels);
    if (one_in(network, 3)) {
        (void)builder_node(&network->builder, "Softmax", soak_result(network, in.channels, 0, 0)->name, in.name, NULL,
                           NULL, NULL);
        ++network->count;
    }
    return soak_network_end(network, file) == 0 && written ? 0 : -1;
}

int soak_write_more(uint64_t seed, struct soak_platform *platform, const char *file)
{
    struct network network = {.random = seed ^ UINT64_C(0x3c6ef372fe94f82b)};
    switch (platform->kind) {
    case SOAK_QUANTISED:
        return write_quantised(&network, seed, file);
    case SOAK_TRAINING:
        return write_training(&network, seed, platform->images, file);
    default:
        return soak_write_network(seed, platform, file);
    }
}
