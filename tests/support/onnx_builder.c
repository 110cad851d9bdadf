/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *builder_alloc(struct builder *builder, size_t size)
{
    builder->pieces = realloc(builder->pieces, (builder->piece_count + 1) * sizeof *builder->pieces);
    void *piece = calloc(1, size + 1);
    builder->pieces[builder->piece_count++] = piece;
    return piece;
}

char *builder_text(struct builder *builder, const char *text)
{
    char *copy = builder_alloc(builder, strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    return copy;
}

void builder_init(struct builder *builder, int64_t opset)
{
    memset(builder, 0, sizeof *builder);
    onnx__model_proto__init(&builder->model);
    onnx__graph_proto__init(&builder->graph);
    onnx__operator_set_id_proto__init(&builder->opset);
    builder->model.has_ir_version = 1;
    builder->model.ir_version = 7;
    builder->opset.has_version = 1;
    builder->opset.version = opset;
    builder->opsets[0] = &builder->opset;
    builder->model.n_opset_import = 1;
    builder->model.opset_import = builder->opsets;
    builder->model.graph = &builder->graph;
    builder->random = 1;
}

void builder_free(struct builder *builder)
{
    for (size_t i = 0; i < builder->piece_count; ++i)
        free(builder->pieces[i]);
    free(builder->pieces);
}

/* A copy of an array of pointers with one more element at the end. */
static void *append(struct builder *builder, void *array, size_t count, void *element)
{
    void **longer = builder_alloc(builder, (count + 1) * sizeof *longer);
    if (count != 0)
        memcpy(longer, array, count * sizeof *longer);
    longer[count] = element;
    return longer;
}

static Onnx__ValueInfoProto *value_info(struct builder *builder, const char *name, size_t rank, const int64_t *dims)
{
    Onnx__ValueInfoProto *info = builder_alloc(builder, sizeof *info);
    Onnx__TypeProto *type = builder_alloc(builder, sizeof *type);
    Onnx__TypeProto__Tensor *tensor = builder_alloc(builder, sizeof *tensor);
    Onnx__TensorShapeProto *shape = builder_alloc(builder, sizeof *shape);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = builder_text(builder, name);
    info->type = type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->shape = shape;
    for (size_t i = 0; i < rank; ++i) {
        Onnx__TensorShapeProto__Dimension *dimension = builder_alloc(builder, sizeof *dimension);
        onnx__tensor_shape_proto__dimension__init(dimension);
        if (dims[i] < 0) {
            dimension->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dimension->dim_param = builder_text(builder, "N");
        } else {
            dimension->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dimension->dim_value = dims[i];
        }
        shape->dim = append(builder, shape->dim, shape->n_dim++, dimension);
    }
    return info;
}

void builder_input(struct builder *builder, const char *name, size_t rank, const int64_t *dims)
{
    Onnx__GraphProto *graph = &builder->graph;
    graph->input = append(builder, graph->input, graph->n_input++, value_info(builder, name, rank, dims));
}

void builder_output(struct builder *builder, const char *name)
{
    Onnx__GraphProto *graph = &builder->graph;
    graph->output = append(builder, graph->output, graph->n_output++, value_info(builder, name, 0, NULL));
}

Onnx__NodeProto *builder_node(struct builder *builder, const char *op_type, const char *output, const char *a,
                              const char *b, const char *c, const char *d)
{
    Onnx__NodeProto *node = builder_alloc(builder, sizeof *node);
    const char *inputs[] = {a, b, c, d};
    onnx__node_proto__init(node);
    node->op_type = builder_text(builder, op_type);
    node->name = builder_text(builder, output);
    node->output = append(builder, NULL, 0, builder_text(builder, output));
    node->n_output = 1;
    for (size_t i = 0; i < 4 && inputs[i] != NULL; ++i)
        node->input = append(builder, node->input, node->n_input++, builder_text(builder, inputs[i]));
    builder->graph.node = append(builder, builder->graph.node, builder->graph.n_node++, node);
    return node;
}

void builder_operand(struct builder *builder, Onnx__NodeProto *node, const char *name)
{
    node->input = append(builder, node->input, node->n_input++, builder_text(builder, name));
}

void builder_more_outputs(struct builder *builder, Onnx__NodeProto *node, size_t count)
{
    char name[64];
    for (size_t i = 0; i < count; ++i) {
        (void)snprintf(name, sizeof name, "%.30s.more%zu", node->output[0], i);
        node->output = append(builder, node->output, node->n_output++, builder_text(builder, name));
    }
}

static Onnx__AttributeProto *attribute(struct builder *builder, Onnx__NodeProto *node, const char *name)
{
    Onnx__AttributeProto *made = builder_alloc(builder, sizeof *made);
    onnx__attribute_proto__init(made);
    made->name = builder_text(builder, name);
    node->attribute = append(builder, node->attribute, node->n_attribute++, made);
    return made;
}

void builder_int(struct builder *builder, Onnx__NodeProto *node, const char *name, int64_t value)
{
    Onnx__AttributeProto *made = attribute(builder, node, name);
    made->has_i = 1;
    made->i = value;
}

void builder_float(struct builder *builder, Onnx__NodeProto *node, const char *name, float value)
{
    Onnx__AttributeProto *made = attribute(builder, node, name);
    made->has_f = 1;
    made->f = value;
}

void builder_string(struct builder *builder, Onnx__NodeProto *node, const char *name, const char *value)
{
    Onnx__AttributeProto *made = attribute(builder, node, name);
    made->has_s = 1;
    made->s.len = strlen(value);
    made->s.data = (uint8_t *)builder_text(builder, value);
}

void builder_branch(struct builder *builder, Onnx__NodeProto *node, const char *name, struct builder *branch)
{
    Onnx__AttributeProto *made = attribute(builder, node, name);
    made->has_type = 1;
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    made->g = &branch->graph;
}

void builder_ints(struct builder *builder, Onnx__NodeProto *node, const char *name, size_t count, const int64_t *values)
{
    Onnx__AttributeProto *made = attribute(builder, node, name);
    made->n_ints = count;
    made->ints = builder_alloc(builder, count * sizeof *values);
    memcpy(made->ints, values, count * sizeof *values);
}

static Onnx__TensorProto *tensor(struct builder *builder, const char *name, size_t rank, const int64_t *dims)
{
    Onnx__TensorProto *made = builder_alloc(builder, sizeof *made);
    onnx__tensor_proto__init(made);
    made->name = builder_text(builder, name);
    made->n_dims = rank;
    made->dims = builder_alloc(builder, rank * sizeof *dims);
    if (rank != 0)
        memcpy(made->dims, dims, rank * sizeof *dims);
    made->has_data_type = 1;
    made->has_raw_data = 1;
    builder->graph.initializer = append(builder, builder->graph.initializer, builder->graph.n_initializer++, made);
    return made;
}

static size_t count_of(size_t rank, const int64_t *dims)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
        count *= (size_t)dims[i];
    return count;
}

Onnx__TensorProto *builder_floats(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  const float *values)
{
    Onnx__TensorProto *made = tensor(builder, name, rank, dims);
    made->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    made->raw_data.len = count_of(rank, dims) * sizeof *values;
    made->raw_data.data = builder_alloc(builder, made->raw_data.len);
    memcpy(made->raw_data.data, values, made->raw_data.len);
    return made;
}

Onnx__TensorProto *builder_int64s(struct builder *builder, const char *name, size_t count, const int64_t *values)
{
    const int64_t dims[1] = {(int64_t)count};
    Onnx__TensorProto *made = tensor(builder, name, 1, dims);
    made->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    made->raw_data.len = count * sizeof *values;
    made->raw_data.data = builder_alloc(builder, made->raw_data.len);
    memcpy(made->raw_data.data, values, made->raw_data.len);
    return made;
}

static int take(const char **at, char sign)
{
    *at += strspn(*at, " \n");
    const int there = **at == sign;
    *at += there;
    return there;
}

static char *take_word(struct builder *builder, const char **at)
{
    *at += strspn(*at, " \n");
    const size_t length = strcspn(*at, " \n,=<>()[]{}\"");
    char *word = builder_alloc(builder, length);
    memcpy(word, *at, length);
    *at += length;
    return word;
}

static void must_take(const char **at, char sign)
{
    if (!take(at, sign)) {
        (void)fprintf(stderr, "'%c' is missing before: %s\n", sign, *at);
        abort();
    }
}

static void parse_values(struct builder *builder, const char **at, const char *type, Onnx__TensorProto *tensor)
{
    static const struct {
        const char *name;
        int32_t type;
        size_t size;
    } types[] = {
        {"float", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4}, {"int64", ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 8},
        {"int8", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 1},   {"uint8", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 1},
        {"int16", ONNX__TENSOR_PROTO__DATA_TYPE__INT16, 2}, {"uint16", ONNX__TENSOR_PROTO__DATA_TYPE__UINT16, 2},
        {"int32", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 4},
    };
    size_t t = 0;
    while (strcmp(types[t].name, type) != 0)
        if (++t == sizeof types / sizeof types[0])
            abort();
    const size_t count = count_of(tensor->n_dims, tensor->dims);
    float scale = 1.0f;
    int random = take(at, '}');
    if (take(at, '~')) {
        scale = strtof(take_word(builder, at), NULL);
        must_take(at, '}');
        random = 1;
    }
    tensor->data_type = types[t].type;
    tensor->raw_data.len = count * types[t].size;
    tensor->raw_data.data = builder_alloc(builder, tensor->raw_data.len);
    float number = 0;
    int64_t integer = 0;
    for (size_t i = 0, more = !random; i < count || more; ++i) {
        if (more) {
            char *end;
            number = strtof(*at, &end);
            integer = strtoll(*at, NULL, 10);
            *at = end;
            more = (size_t)take(at, ',');
            if (!more)
                must_take(at, '}');
        } else if (random) {
            const uint64_t drawn = builder_next(builder);
            number = scale * ((float)(drawn >> 40) / 8388608.0f - 1.0f);
            integer = (int64_t)(drawn >> 56);
        }
        if (i < count)
            memcpy(tensor->raw_data.data + i * types[t].size, t == 0 ? (void *)&number : (void *)&integer,
                   types[t].size);
    }
}

/* What follows the type. */
static void parse_declaration(struct builder *builder, const char **at, const char *type)
{
    int64_t dims[16];
    size_t rank = 0;
    if (take(at, '[')) {
        do {
            const char *size = take_word(builder, at);
            dims[rank++] = size[0] == 'N' ? -1 : strtoll(size, NULL, 10);
        } while (take(at, ','));
        must_take(at, ']');
    }
    const char *name = take_word(builder, at);
    if (!take(at, '=')) {
        builder_input(builder, name, rank, dims);
        return;
    }
    must_take(at, '{');
    parse_values(builder, at, type, tensor(builder, name, rank, dims));
}

static void parse_attribute(struct builder *builder, const char **at, Onnx__NodeProto *node)
{
    const char *name = take_word(builder, at);
    must_take(at, '=');
    if (take(at, '"')) {
        builder_string(builder, node, name, take_word(builder, at));
        must_take(at, '"');
    } else if (take(at, '[')) {
        int64_t values[16];
        size_t count = 0;
        do
            values[count++] = strtoll(take_word(builder, at), NULL, 10);
        while (take(at, ','));
        must_take(at, ']');
        builder_ints(builder, node, name, count, values);
    } else {
        const char *number = take_word(builder, at);
        if (number[strspn(number, "-0123456789")] == '\0')
            builder_int(builder, node, name, strtoll(number, NULL, 10));
        else
            builder_float(builder, node, name, strtof(number, NULL));
    }
}

/* What follows the first output's name. */
static void parse_node(struct builder *builder, const char **at, const char *output)
{
    Onnx__NodeProto *node = builder_node(builder, "", output, NULL, NULL, NULL, NULL);
    while (take(at, ','))
        node->output = append(builder, node->output, node->n_output++, take_word(builder, at));
    must_take(at, '=');
    node->op_type = take_word(builder, at);
    if (take(at, '<')) {
        do
            parse_attribute(builder, at, node);
        while (take(at, ','));
        must_take(at, '>');
    }
    must_take(at, '(');
    do
        builder_operand(builder, node, take_word(builder, at));
    while (take(at, ','));
    must_take(at, ')');
}

void builder_parse(struct builder *builder, const char *text)
{
    for (const char *word = take_word(builder, &text); word[0] != '\0'; word = take_word(builder, &text)) {
        const char *next = text + strspn(text, " \n");
        if (*next == '=' || *next == ',')
            parse_node(builder, &text, word);
        else
            parse_declaration(builder, &text, word);
    }
}

void builder_outside(struct builder *builder, Onnx__TensorProto *tensor, const char *file)
{
    Onnx__StringStringEntryProto *entry = builder_alloc(builder, sizeof *entry);
    onnx__string_string_entry_proto__init(entry);
    entry->key = builder_text(builder, "location");
    entry->value = builder_text(builder, file);
    tensor->external_data = builder_alloc(builder, sizeof *tensor->external_data);
    tensor->external_data[0] = entry;
    tensor->n_external_data = 1;
    tensor->has_data_location = 1;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    tensor->has_raw_data = 0;
}

uint64_t builder_next(struct builder *builder)
{
    uint64_t x = builder->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

Onnx__TensorProto *builder_random(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  float scale)
{
    const size_t count = count_of(rank, dims);
    float *values = builder_alloc(builder, count * sizeof *values);
    for (size_t i = 0; i < count; ++i)
        values[i] = scale * ((float)(builder_next(builder) >> 40) / 8388608.0f - 1.0f);
    return builder_floats(builder, name, rank, dims, values);
}

uint8_t *builder_pack(struct builder *builder, size_t *size)
{
    *size = onnx__model_proto__get_packed_size(&builder->model);
    uint8_t *bytes = malloc(*size + 1);
    *size = onnx__model_proto__pack(&builder->model, bytes);
    return bytes;
}

void builder_write(const uint8_t *bytes, size_t size, char *name)
{
    memcpy(name, "/tmp/cnnvp_onnx_XXXXXX", sizeof "/tmp/cnnvp_onnx_XXXXXX");
    const int descriptor = mkstemp(name);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size)
        abort();
    (void)close(descriptor);
}

void builder_save(struct builder *builder, char *name)
{
    size_t size;
    uint8_t *bytes = builder_pack(builder, &size);
    builder_write(bytes, size, name);
    free(bytes);
    builder_free(builder);
}
