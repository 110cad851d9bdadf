/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that are replaced by other operators. A rule is a text of nodes, imported in place of the operator like a
 * function of the file:
 *   "m = ReduceMax <axes = [@axis|-1], keepdims = 1> (a); y = Sub(a, m)"
 * a, b, ... are the operator's inputs; y, z, w, x are its outputs. Numbers and lists of numbers are constants, and
 * floats if one of them has a point. @NAME|NUMBER is the value of the operator's attribute NAME, by default NUMBER.
 * <@NAME> stands for <NAME = @NAME>, the attribute as it is. The rule's operators are those of operator set 18.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_text.h"

/* Operator set of rules; limits: inputs and outputs; MOST: numbers of a list and attributes of a node; CONSTANTS: per
 * node. */
enum { OPSET = 18, INPUTS = CNNVP_RULE_INPUTS, OUTPUTS = 4, MOST = 16, CONSTANTS = 4 };

struct reader {
    struct cnnvp_import *import;
    struct cnnvp_arena *arena;
    const char *at;
    Onnx__GraphProto graph;
    int failed; /* out of memory, or a syntax error */
};

static int take(struct reader *reader, char sign)
{
    while (isspace((unsigned char)*reader->at))
        ++reader->at;
    const int found = *reader->at == sign;
    reader->at += found;
    return found;
}

static int take_letter(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        ++reader->at;
    return isalpha((unsigned char)*reader->at);
}

static char *read_word(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        ++reader->at;
    const char *begin = reader->at;
    while (isalnum((unsigned char)*reader->at) || *reader->at == '_')
        ++reader->at;
    char *word = cnnvp_arena_copy(reader->arena, begin, (size_t)(reader->at - begin));
    reader->failed |= word == NULL || reader->at == begin;
    return word;
}

struct numbers {
    size_t count;
    int list, real;
    int64_t ints[MOST];
    float floats[MOST];
};

static void read_number(struct reader *reader, struct numbers *numbers)
{
    const Onnx__AttributeProto *given = NULL;
    if (take(reader, '@')) {
        const char *name = read_word(reader);
        given = name != NULL ? cnnvp_onnx_attribute(reader->import->node, name) : NULL;
        reader->failed |= !take(reader, '|');
    }
    char *end;
    const double number = strtod(reader->at, &end);
    reader->failed |= end == reader->at || numbers->count == MOST;
    if (reader->failed)
        return;
    numbers->real |= memchr(reader->at, '.', (size_t)(end - reader->at)) != NULL;
    const int64_t whole = fabs(number) < 0x1p63 ? (int64_t)number : 0;
    numbers->ints[numbers->count] = given != NULL ? given->i : whole;
    numbers->floats[numbers->count++] = given == NULL ? (float)number : given->has_f ? given->f : (float)given->i;
    reader->at = end;
}

static struct numbers read_numbers(struct reader *reader)
{
    struct numbers numbers = {.list = take(reader, '[')};
    if (numbers.list && take(reader, ']'))
        return numbers;
    do
        read_number(reader, &numbers);
    while (numbers.list && take(reader, ',') && !reader->failed);
    reader->failed |= numbers.list && !take(reader, ']');
    return numbers;
}

/* The constant lives in the reader's arena. */
static Onnx__TensorProto *add_constant(struct reader *reader)
{
    const struct numbers numbers = read_numbers(reader);
    struct numbers *kept = cnnvp_arena_array(reader->arena, 1, sizeof *kept);
    Onnx__TensorProto *tensor = cnnvp_arena_array(reader->arena, 1, sizeof *tensor);
    int64_t *dims = cnnvp_arena_array(reader->arena, 1, sizeof *dims);
    reader->failed |= kept == NULL || tensor == NULL || dims == NULL ||
                      reader->graph.n_initializer == CONSTANTS * reader->graph.n_node;
    if (reader->failed)
        return NULL;
    *kept = numbers;
    onnx__tensor_proto__init(tensor);
    tensor->name = cnnvp_arena_printf(reader->arena, "#%zu", reader->graph.n_initializer);
    tensor->has_data_type = 1;
    tensor->data_type = numbers.real ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT : ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    tensor->dims = dims;
    tensor->n_dims = numbers.list ? 1 : 0;
    dims[0] = (int64_t)numbers.count;
    tensor->int64_data = kept->ints;
    tensor->float_data = kept->floats;
    tensor->n_int64_data = numbers.real ? 0 : numbers.count;
    tensor->n_float_data = numbers.real ? numbers.count : 0;
    reader->failed |= tensor->name == NULL;
    return reader->graph.initializer[reader->graph.n_initializer++] = tensor;
}

static void add_attribute(struct reader *reader, Onnx__NodeProto *node)
{
    const int same = take(reader, '@');
    Onnx__AttributeProto *attribute = cnnvp_arena_array(reader->arena, 1, sizeof *attribute);
    reader->failed |= attribute == NULL || node->n_attribute == MOST;
    if (reader->failed)
        return;
    onnx__attribute_proto__init(attribute);
    node->attribute[node->n_attribute++] = attribute;
    attribute->name = read_word(reader);
    if (same) {
        attribute->ref_attr_name = attribute->name;
        return;
    }
    reader->failed |= !take(reader, '=');
    if (take_letter(reader)) {
        const char *word = read_word(reader);
        attribute->has_s = 1;
        attribute->s = (ProtobufCBinaryData){word != NULL ? strlen(word) : 0, (uint8_t *)(uintptr_t)word};
        return;
    }
    const struct numbers numbers = read_numbers(reader);
    struct numbers *kept = cnnvp_arena_array(reader->arena, 1, sizeof *kept);
    reader->failed |= kept == NULL;
    if (reader->failed)
        return;
    *kept = numbers;
    attribute->has_f = !numbers.list && numbers.real;
    attribute->has_i = !numbers.list && !numbers.real;
    attribute->f = numbers.floats[0];
    attribute->i = numbers.ints[0];
    attribute->n_ints = numbers.list ? numbers.count : 0;
    attribute->ints = kept->ints;
}

static void add_node(struct reader *reader)
{
    Onnx__NodeProto *node = cnnvp_arena_array(reader->arena, 1, sizeof *node);
    char **names = cnnvp_arena_array(reader->arena, OUTPUTS + INPUTS, sizeof *names);
    Onnx__AttributeProto **attributes = cnnvp_arena_array(reader->arena, MOST, sizeof(Onnx__AttributeProto *));
    reader->failed |= node == NULL || names == NULL || attributes == NULL;
    if (reader->failed)
        return;
    onnx__node_proto__init(node);
    reader->graph.node[reader->graph.n_node++] = node;
    node->output = names;
    node->input = names + OUTPUTS;
    node->attribute = attributes;
    do
        node->output[node->n_output++] = read_word(reader);
    while (take(reader, ',') && node->n_output < OUTPUTS);
    reader->failed |= !take(reader, '=');
    node->op_type = read_word(reader);
    if (take(reader, '<'))
        do
            add_attribute(reader, node);
        while (take(reader, ',') && !reader->failed);
    (void)take(reader, '>');
    reader->failed |= !take(reader, '(');
    while (!take(reader, ')') && !reader->failed) {
        const int number = isdigit((unsigned char)*reader->at) || strchr("-[@", *reader->at) != NULL;
        const Onnx__TensorProto *constant = number ? add_constant(reader) : NULL;
        reader->failed |= node->n_input == INPUTS;
        if (!reader->failed)
            node->input[node->n_input++] = number ? constant->name : read_word(reader);
        (void)take(reader, ',');
    }
}

/* Parses the rule into a function with as many outputs as the node has. */
static cnnvp_result read_rule(struct reader *reader, const char *rule, Onnx__FunctionProto *function)
{
    char **names = cnnvp_arena_array(reader->arena, INPUTS + OUTPUTS, sizeof *names);
    for (size_t i = 0; i < INPUTS + OUTPUTS && names != NULL; ++i)
        names[i] = cnnvp_arena_copy(reader->arena, &"abcdefghijklmnopqrstuvyzwx"[i], 1);
    size_t nodes = 1;
    for (const char *at = rule; *at != '\0'; ++at)
        nodes += *at == ';';
    onnx__graph_proto__init(&reader->graph);
    reader->graph.node = cnnvp_arena_array(reader->arena, nodes, sizeof(Onnx__NodeProto *));
    reader->graph.initializer = cnnvp_arena_array(reader->arena, CONSTANTS * nodes, sizeof(Onnx__TensorProto *));
    reader->failed = reader->graph.node == NULL || reader->graph.initializer == NULL || names == NULL;
    while (!reader->failed && !take(reader, '\0')) {
        add_node(reader);
        (void)take(reader, ';');
    }
    if (reader->failed)
        return cnnvp_import_error(reader->import, "its rule \"%.200s\" ends before \"%.60s\"", rule, reader->at);
    onnx__function_proto__init(function);
    function->input = names;
    function->n_input = INPUTS;
    function->output = names + INPUTS;
    function->n_output = reader->import->node->n_output < OUTPUTS ? reader->import->node->n_output : OUTPUTS;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_rewrite(struct cnnvp_import *import, const char *rule)
{
    Onnx__FunctionProto function;
    struct reader reader = {.import = import, .arena = &import->graph->arena, .at = rule};
    CNNVP_TRY(read_rule(&reader, rule, &function));
    return cnnvp_import_function(import, &function, &reader.graph, OPSET);
}
