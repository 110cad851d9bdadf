/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_node.h"

/* The node's name, or else the name of its first output. */
static const char *name_of_node(const Onnx__NodeProto *node)
{
    if (node->name != NULL && node->name[0] != '\0')
        return node->name;
    return node->n_output > 0 ? node->output[0] : "";
}

cnnvp_result cnnvp_import_error(struct cnnvp_import *import, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *type = import->node->op_type != NULL ? import->node->op_type : "";
    return cnnvp_compiler_error(
        import->error, "%s: node \"%s\" (%s): %s", import->onnx.name, name_of_node(import->node), type, message);
}

int cnnvp_import_has(const struct cnnvp_import *import, size_t index)
{
    return index < import->node->n_input && import->node->input[index][0] != '\0';
}

static size_t inputs_of(const Onnx__NodeProto *node, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < node->n_input; ++i)
        count += strcmp(node->input[i], name) == 0;
    return count;
}

static size_t readers_in(const Onnx__GraphProto *graph, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->n_output; ++i)
        count += graph->output[i]->name != NULL && strcmp(graph->output[i]->name, name) == 0;
    for (size_t i = 0; i < graph->n_node; ++i)
        count += inputs_of(graph->node[i], name);
    return count;
}

size_t cnnvp_import_readers(const struct cnnvp_import *import, const char *name)
{
    size_t count = name[0] != '\0' ? readers_in(import->onnx.model->graph, name) : 0;
    for (const struct cnnvp_import_scope *scope = import->scope; scope != NULL && name[0] != '\0'; scope = scope->outer)
        count += readers_in(scope->graph, name) - inputs_of(scope->node, name);
    return count;
}

struct cnnvp_onnx_value *cnnvp_import_known(const struct cnnvp_import *import, const char *name)
{
    uint32_t number;
    return cnnvp_names_get(&import->names, name, &number) ? &import->values[number] : NULL;
}

int32_t cnnvp_import_known_tensor(const struct cnnvp_import *import, const char *name)
{
    const struct cnnvp_onnx_value *value = cnnvp_import_known(import, name);
    return value != NULL ? value->tensor : CNNVP_GRAPH_NONE;
}

const Onnx__TensorProto *cnnvp_import_known_constant(const struct cnnvp_import *import, const char *name)
{
    const struct cnnvp_onnx_value *value = cnnvp_import_known(import, name);
    return value != NULL ? value->constant : NULL;
}

cnnvp_result cnnvp_import_value(struct cnnvp_import *import, size_t index, struct cnnvp_onnx_value *value)
{
    if (!cnnvp_import_has(import, index))
        return cnnvp_import_error(import, "input %zu is missing", index);
    const struct cnnvp_onnx_value *known = cnnvp_import_known(import, import->node->input[index]);
    if (known == NULL)
        return cnnvp_import_error(import,
                                  "input \"%s\" is neither an input or weight of the graph nor the result of a "
                                  "node",
                                  import->node->input[index]);
    *value = *known;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_any_rank(struct cnnvp_import *import, size_t index, int32_t *tensor)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, index, &value));
    /* A constant where a tensor is expected, as no fold computes this operator: the network computes the constant for
     * each image. */
    const size_t rank = value.constant != NULL ? value.constant->n_dims + (import->single != 0) : 0;
    if (rank == 1 && !import->single)
        return cnnvp_import_mixes(import, "a constant of one dimension");
    if (rank > 1)
        return cnnvp_import_constants(import, value.constant, (uint32_t)rank, tensor);
    if (value.tensor == CNNVP_GRAPH_NONE)
        return cnnvp_import_error(import,
                                  "input \"%s\" is a constant; a tensor that depends on the network's input is "
                                  "needed",
                                  import->node->input[index]);
    *tensor = value.tensor;
    return cnnvp_import_expanded(import, tensor);
}

cnnvp_result cnnvp_import_tensor(struct cnnvp_import *import, size_t index, uint32_t rank, int32_t *tensor)
{
    CNNVP_TRY(cnnvp_import_any_rank(import, index, tensor));
    const uint32_t found = import->graph->tensors[*tensor].rank;
    if (rank != 0 && found != rank)
        return cnnvp_import_error(
            import, "input \"%s\" has %u dimensions; %u are needed, %s", import->node->input[index], found, rank,
            rank == 4 ? "(N, C, H, W)" : "(N, features)");
    if (found > 4)
        return cnnvp_import_error(
            import, "input \"%s\" has %u dimensions; up to 4 are supported here", import->node->input[index], found);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_constant(struct cnnvp_import *import, size_t index, const Onnx__TensorProto **tensor)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, index, &value));
    if (value.constant == NULL)
        return cnnvp_import_error(
            import, "input \"%s\" depends on the network's input; a constant is needed", import->node->input[index]);
    *tensor = value.constant;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_number(struct cnnvp_import *import, size_t index, const char *what, int floats, float *number)
{
    struct cnnvp_error why;
    const Onnx__TensorProto *constant = NULL;
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    if (floats)
        CNNVP_TRY(cnnvp_import_check_floats(import, constant));
    return cnnvp_onnx_elements(constant) == 1 && cnnvp_onnx_number(&import->onnx, constant, number, &why) == CNNVP_DONE
               ? CNNVP_DONE
               : cnnvp_import_error(import, "%s \"%s\" is not one number", what, import->node->input[index]);
}

/* 1: constants of this operator may be masks, with numbers beyond all words. */
static int takes_masks(const struct cnnvp_import *import)
{
    return cnnvp_import_is_one_of(import->node->op_type, " Add Mul Where Attention ");
}

static cnnvp_result read_masks(struct cnnvp_import *import, const Onnx__TensorProto *tensor, size_t count, float *out,
                               struct cnnvp_error *why)
{
    CNNVP_TRY(cnnvp_onnx_numbers(&import->onnx, tensor, out, count, why));
    for (size_t i = 0; i < count; ++i) {
        if (out[i] != out[i])
            return cnnvp_compiler_error(
                why, "element %zu of tensor \"%s\" is no number", i, tensor->name != NULL ? tensor->name : "");
        out[i] = fmaxf(fminf(out[i], CNNVP_GRAPH_INFINITY), -CNNVP_GRAPH_INFINITY);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor, size_t count,
                                 float **out)
{
    char shape[CNNVP_ONNX_SHAPE_TEXT];
    *out = NULL;
    cnnvp_import_shape_text(import, tensor, shape);
    if (cnnvp_onnx_is_empty(tensor))
        return cnnvp_import_error(
            import, "tensor \"%s\" has no elements: its shape is %s", tensor->name != NULL ? tensor->name : "", shape);
    if (cnnvp_onnx_elements(tensor) != count)
        return cnnvp_import_error(import, "tensor \"%s\" has %zu elements; %zu are needed",
                                  tensor->name != NULL ? tensor->name : "", cnnvp_onnx_elements(tensor), count);
    const cnnvp_result result = cnnvp_import_check_floats(import, tensor);
    if (result != CNNVP_DONE || import->graph->weightless)
        return result;
    if (import->training && !cnnvp_onnx_has_values(tensor))
        return cnnvp_import_blank(import, tensor, count, out);
    /* Checks the size before memory is allocated: a file cannot claim more elements than it holds. */
    struct cnnvp_error why;
    if (cnnvp_onnx_check(&import->onnx, tensor, count, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, count, out));
    if ((takes_masks(import) ? read_masks(import, tensor, count, *out, &why)
                             : cnnvp_onnx_floats(&import->onnx, tensor, *out, count, &why)) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    return CNNVP_DONE;
}

int cnnvp_import_begins_at(const struct cnnvp_import *import, const char *name)
{
    for (size_t i = 0; import->sizes != NULL && i < import->sizes->from_count; ++i)
        if (strcmp(import->sizes->from[i], name) == 0)
            return 1;
    return 0;
}

cnnvp_result cnnvp_import_define(struct cnnvp_import *import, const char *name, struct cnnvp_onnx_value value)
{
    uint32_t there;
    if (cnnvp_import_begins_at(import, name) && cnnvp_names_get(&import->names, name, &there))
        return CNNVP_DONE;
    struct cnnvp_onnx_value *values = cnnvp_grow(import->values, import->value_count, sizeof *values);
    CNNVP_TRY_MEMORY(values != NULL, import->error);
    import->values = values;
    import->values[import->value_count] = value;
    CNNVP_TRY_MEMORY(cnnvp_names_set(&import->names, name, (uint32_t)import->value_count), import->error);
    ++import->value_count;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_define_constant(struct cnnvp_import *import, const char *name,
                                          const Onnx__TensorProto *constant)
{
    return cnnvp_import_define(
        import, name, (struct cnnvp_onnx_value){.tensor = CNNVP_GRAPH_NONE, .constant = constant});
}

cnnvp_result cnnvp_import_new_constant(struct cnnvp_import *import, const char *name, int32_t type, size_t rank,
                                       const int64_t *dims, Onnx__TensorProto **constant)
{
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, constant));
    onnx__tensor_proto__init(*constant);
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, rank, &(*constant)->dims));
    if (rank != 0)
        memcpy((*constant)->dims, dims, rank * sizeof *dims);
    (*constant)->name = (char *)(uintptr_t)name;
    (*constant)->has_data_type = 1;
    (*constant)->data_type = type;
    (*constant)->n_dims = rank;
    return CNNVP_DONE;
}

/* Makes the layer an identity. */
static void pass(struct cnnvp_graph_layer *layer)
{
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -INFINITY};
}

cnnvp_result cnnvp_import_layer(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in, int inner,
                                uint32_t channels, uint32_t height, uint32_t width, struct cnnvp_graph_layer **layer)
{
    char name[256];
    const char *result = import->node->output[0];
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const int same = input.channels == channels && input.height == height && input.width == width;
    const uint32_t rank = input.rank > 4 && !same ? 4 : input.rank;
    if ((uint64_t)channels * height > INT32_MAX / width)
        return cnnvp_import_error(
            import, "the result has more than 2^31 elements: %u x %u x %u", channels, height, width);
    (void)snprintf(name, sizeof name, "%.200s.%zu", result, import->graph->layer_count);
    *layer = cnnvp_graph_layer_add(import->graph, op, inner ? name : name_of_node(import->node), import->node->op_type);
    const int32_t out = cnnvp_graph_tensor_add(import->graph, inner ? name : result, rank, channels, height, width);
    CNNVP_TRY_MEMORY(*layer != NULL && out != CNNVP_GRAPH_NONE && cnnvp_import_keep_dims(import, out, rank, input.dims),
                     import->error);
    (*layer)->in = in;
    (*layer)->out = out;
    if (op == CNNVP_OP_ACTIVATION)
        pass(*layer);
    return inner ? CNNVP_DONE : cnnvp_import_alias(import, result, out);
}

cnnvp_result cnnvp_import_like(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in, int inner,
                               struct cnnvp_graph_layer **layer)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    return cnnvp_import_layer(import, op, in, inner, input.channels, input.height, input.width, layer);
}

cnnvp_result cnnvp_import_copy(struct cnnvp_import *import, int32_t in, int32_t out, struct cnnvp_graph_layer **layer)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%.200s.%.40s", name_of_node(import->node), import->graph->tensors[in].name);
    *layer = cnnvp_graph_layer_add(import->graph, CNNVP_OP_ACTIVATION, name, import->node->op_type);
    CNNVP_TRY_MEMORY(*layer != NULL, import->error);
    (*layer)->in = in;
    (*layer)->out = out;
    pass(*layer);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_list(struct cnnvp_import *import, const char *attribute, size_t index, size_t most,
                               int64_t *numbers, size_t *count)
{
    const Onnx__AttributeProto *found = cnnvp_onnx_attribute(import->node, attribute);
    *count = 0;
    if (found != NULL) {
        *count = found->n_ints;
        if (*count > most)
            return cnnvp_import_error(
                import, "attribute %s has %zu numbers; %zu are possible", attribute, *count, most);
        if (*count != 0)
            memcpy(numbers, found->ints, *count * sizeof *numbers);
        return CNNVP_DONE;
    }
    if (!cnnvp_import_has(import, index))
        return CNNVP_DONE;
    const Onnx__TensorProto *constant = NULL;
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    *count = cnnvp_onnx_elements(constant);
    if (*count > most)
        return cnnvp_import_error(
            import, "input %zu (%s) has %zu numbers; %zu are possible", index, attribute, *count, most);
    struct cnnvp_error why;
    if (*count != 0 && cnnvp_onnx_ints(&import->onnx, constant, numbers, *count, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    return CNNVP_DONE;
}

/* The position of the attribute's text in "A, B, C"; -1: it is none of them. */
static int choose(const Onnx__AttributeProto *attribute, const char *texts)
{
    int number = 0;
    for (const char *text = texts; *text != '\0'; ++number) {
        const size_t length = strcspn(text, ",");
        if (attribute->has_s && attribute->s.len == length && memcmp(attribute->s.data, text, length) == 0)
            return number;
        text += length + strspn(text + length, ", ");
    }
    return -1;
}

static cnnvp_result read_choice(struct cnnvp_import *import, const char *kind, const char *name, const char *texts,
                                int *choice)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(import->node, name);
    *choice = attribute != NULL ? choose(attribute, texts) : *choice;
    return *choice >= 0 ? CNNVP_DONE : cnnvp_import_error(import, "%s%s is none of %s", kind, name, texts);
}

cnnvp_result cnnvp_import_choice(struct cnnvp_import *import, const char *name, const char *texts, int *choice)
{
    return read_choice(import, "", name, texts, choice);
}

cnnvp_result cnnvp_import_auto_pad(struct cnnvp_import *import, int *choice)
{
    *choice = CNNVP_PAD_NOTSET;
    return read_choice(import, "attribute ", "auto_pad", "NOTSET, VALID, SAME_UPPER, SAME_LOWER", choice);
}

/* ---- the graph around the nodes ---- */

static cnnvp_result define_initializers(struct cnnvp_import *import)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    uint32_t number;
    for (size_t i = 0; i < graph->n_initializer; ++i) {
        const Onnx__TensorProto *tensor = graph->initializer[i];
        if (tensor->name == NULL || tensor->name[0] == '\0')
            return cnnvp_compiler_error(import->error, "%s: weight number %zu has no name", import->onnx.name, i);
        if (cnnvp_names_get(&import->names, tensor->name, &number))
            return cnnvp_compiler_error(
                import->error, "%s: two weights are named \"%s\"", import->onnx.name, tensor->name);
        CNNVP_TRY(cnnvp_import_define_constant(import, tensor->name, tensor));
    }
    return CNNVP_DONE;
}

/* Appends an input to the network's inputs. */
static cnnvp_result add_input(struct cnnvp_import *import, int32_t input)
{
    struct cnnvp_graph *graph = import->graph;
    if (graph->input == CNNVP_GRAPH_NONE) {
        graph->input = input;
        return CNNVP_DONE;
    }
    if (graph->further == NULL)
        CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, import->onnx.model->graph->n_input, &graph->further));
    graph->further[graph->further_count++] = input;
    return CNNVP_DONE;
}

static cnnvp_result define_input(struct cnnvp_import *import, const Onnx__ValueInfoProto *info)
{
    const char *file = import->onnx.name;
    const size_t front = import->single != 0;
    const int first = import->graph->input == CNNVP_GRAPH_NONE;
    int64_t sizes[CNNVP_ONNX_RANK + 1] = {0, 1, 1, 1};
    int32_t input;
    size_t own = 0;
    CNNVP_TRY(cnnvp_import_sizes(import, info, first, &own, sizes + front));
    const size_t rank = own + front;
    const int64_t batch = front ? 1 : own != 0 ? sizes[0] : 0;
    import->batch = first ? batch : import->batch;
    if (rank < (front ? 1 : 2) || rank > (import->training ? 4 : CNNVP_ONNX_RANK)) {
        import->mixed = 1;
        return cnnvp_compiler_error(import->error,
                                    "%s: input \"%s\" has %zu dimensions; 2 to %u are supported, such as (N, C, H, W), "
                                    "(N, C, W) or (N, features), and up to %u where the whole input is one image",
                                    file, info->name, own, CNNVP_ONNX_RANK, CNNVP_ONNX_RANK - 1);
    }
    if (batch != import->batch && batch != 0) {
        import->mixed = 1;
        return cnnvp_compiler_error(import->error,
                                    "%s: input \"%s\" has %lld images where the first input has %s: give all inputs' "
                                    "shapes with --shape NAME=...",
                                    file, info->name, (long long)batch, import->batch != 0 ? "others" : "a symbol");
    }
    CNNVP_TRY(cnnvp_import_new_tensor(import, info->name, (uint32_t)rank, sizes, &input));
    CNNVP_TRY(add_input(import, input));
    const int type = info->type->tensor_type->elem_type;
    const enum cnnvp_onnx_kind kind = cnnvp_onnx_kind_of(type);
    const uint32_t bytes = type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 || type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    import->graph->tensors[input].whole = bytes;
    import->graph->tensors[input].word_zero = type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? -128 : 0;
    import->integers |= kind == CNNVP_KIND_INTEGER && !bytes;
    import->graph->tensors[input].integer = kind >= CNNVP_KIND_INTEGER && !bytes;
    struct cnnvp_onnx_value value = {.tensor = input};
    cnnvp_import_set_kind(import, &value, kind);
    return cnnvp_import_define(import, info->name, value);
}

/* 1: an input of the graph without values is a weight: all nodes that read it use it as weights, or as one value per
 * channel. */
static int is_weight(const struct cnnvp_import *import, const Onnx__ValueInfoProto *info)
{
    static const char *const takers[] = {
        "Conv",  "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "InstanceNormalization",
        "PRelu", "Add",           "Mul"};
    enum { TAKERS = sizeof takers / sizeof takers[0], MATMUL = 3, ADD = TAKERS - 2 };
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    const int is_tensor = info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    const Onnx__TensorShapeProto *shape = is_tensor ? info->type->tensor_type->shape : NULL;
    size_t axes = 0, readers = 0;
    for (size_t i = 0; shape != NULL && i < shape->n_dim; ++i)
        axes += shape->dim[i]->dim_value != 1;
    for (size_t i = 0; i < graph->n_node; ++i)
        for (size_t input = 0; input < graph->node[i]->n_input; ++input) {
            size_t taker = 0;
            if (strcmp(graph->node[i]->input[input], info->name) != 0)
                continue;
            const char *op_type = graph->node[i]->op_type != NULL ? graph->node[i]->op_type : "";
            while (taker < TAKERS && strcmp(op_type, takers[taker]) != 0)
                ++taker;
            if (taker == TAKERS || input == 0 || (taker >= ADD && axes > 1) || (taker == MATMUL && shape->n_dim > 2))
                return 0;
            ++readers;
        }
    return shape != NULL && readers != 0;
}

static int has_images(const struct cnnvp_import *import, const char *name)
{
    for (size_t i = 0; import->sizes != NULL && i < import->sizes->named_count; ++i)
        if (import->sizes->named[i].name != NULL && strcmp(import->sizes->named[i].name, name) == 0)
            return 1;
    return cnnvp_import_begins_at(import, name);
}

/* A graph input after the first one: a parameter, or another input of the network. */
static cnnvp_result define_further(struct cnnvp_import *import, const Onnx__ValueInfoProto *info)
{
    const int weight = import->training || (!has_images(import, info->name) && is_weight(import, info));
    if (weight && (import->training || import->graph->weightless))
        return cnnvp_import_parameter(import, info);
    if (weight)
        return cnnvp_compiler_error(
            import->error,
            "%s: weight \"%s\" has no values: `cnnvp train` gives them to the network's weights, "
            "--timing-only needs none, and -i %s=FILE.npy makes it an input",
            import->onnx.name, info->name, info->name);
    return define_input(import, info);
}

/* Inputs of the graph with an initialiser are weights (IR version 3). Inputs that no output needs are left out. */
static cnnvp_result define_inputs(struct cnnvp_import *import, const struct cnnvp_import_sequence *sequence)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    const int all = import->training;
    CNNVP_TRY(cnnvp_import_check_names(import));
    for (int needed = 1; needed >= 0 && import->graph->input == CNNVP_GRAPH_NONE; --needed)
        for (size_t i = 0; i < graph->n_input; ++i) {
            uint32_t number;
            const Onnx__ValueInfoProto *info = graph->input[i];
            const int first = import->graph->input == CNNVP_GRAPH_NONE;
            if (info->name == NULL || cnnvp_names_get(&import->names, info->name, &number) ||
                (!all && (needed ? !sequence->reads[i] : !first)))
                continue;
            CNNVP_TRY(first ? define_input(import, info) : define_further(import, info));
        }
    if (import->graph->input == CNNVP_GRAPH_NONE)
        return cnnvp_compiler_error(import->error, "%s: the network has no input", import->onnx.name);
    return CNNVP_DONE;
}

/* ---- outputs ---- */

/* A quantised output is given with its zero point added, as in the ONNX model. */
static cnnvp_result give_whole(struct cnnvp_import *import, int32_t *tensor)
{
    struct cnnvp_graph_layer *layer;
    const float zero = (float)import->graph->tensors[cnnvp_graph_base(import->graph, *tensor)].zero;
    CNNVP_TRY(cnnvp_import_scale(import, *tensor, 1.0f, zero, 1, &layer));
    *tensor = layer->out;
    import->graph->tensors[*tensor].whole = 1;
    return CNNVP_DONE;
}

/* The output is a view of the input: the network copies it. */
static cnnvp_result copy_input(struct cnnvp_import *import, const char *name, int32_t *tensor)
{
    struct cnnvp_graph *graph = import->graph;
    const struct cnnvp_graph_tensor input = graph->tensors[*tensor];
    const int32_t out = cnnvp_graph_tensor_add(graph, name, input.rank, input.channels, input.height, input.width);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(graph, CNNVP_OP_ACTIVATION, name, "output");
    CNNVP_TRY_MEMORY(
        layer != NULL && out != CNNVP_GRAPH_NONE && cnnvp_import_keep_dims(import, out, input.rank, input.dims),
        import->error);
    layer->in = *tensor;
    layer->out = *tensor = out;
    pass(layer);
    return CNNVP_DONE;
}

static cnnvp_result define_output(struct cnnvp_import *import, const char *name, struct cnnvp_graph_output *output)
{
    struct cnnvp_graph *graph = import->graph;
    const struct cnnvp_onnx_value *value = name != NULL ? cnnvp_import_known(import, name) : NULL;
    if (import->sizes != NULL && import->sizes->until_count != 0 && value == NULL)
        return cnnvp_compiler_error(
            import->error, "%s: --until %s: no node makes a tensor of that name", import->onnx.name, name);
    if (value == NULL || (value->tensor == CNNVP_GRAPH_NONE && value->constant == NULL))
        return cnnvp_compiler_error(import->error, "%s: no node computes the network's output \"%s\"",
                                    import->onnx.name, name != NULL ? name : "");
    int32_t tensor = value->tensor;
    const Onnx__TensorProto *constant = value->constant;
    if (tensor == CNNVP_GRAPH_NONE && cnnvp_onnx_is_empty(constant)) {
        char shape[CNNVP_ONNX_SHAPE_TEXT];
        cnnvp_import_shape_text(import, constant, shape);
        return cnnvp_compiler_error(import->error, "%s: the network's output \"%s\" has no elements: its shape is %s",
                                    import->onnx.name, name, shape);
    }
    if (tensor == CNNVP_GRAPH_NONE)
        return cnnvp_compiler_error(
            import->error, "%s: the network's output \"%s\" is a constant", import->onnx.name, name);
    CNNVP_TRY(cnnvp_import_expanded(import, &tensor));
    if (!import->training && cnnvp_graph_is_input(graph, tensor))
        CNNVP_TRY(copy_input(import, name, &tensor));
    if (graph->tensors[cnnvp_graph_base(graph, tensor)].zero != 0)
        CNNVP_TRY(give_whole(import, &tensor));
    *output = (struct cnnvp_graph_output){cnnvp_arena_text(&graph->arena, name), tensor};
    return output->name == NULL ? cnnvp_compiler_no_memory(import->error) : CNNVP_DONE;
}

static cnnvp_result define_outputs(struct cnnvp_import *import)
{
    const Onnx__GraphProto *from = import->onnx.model->graph;
    struct cnnvp_graph *graph = import->graph;
    if (from->n_output == 0)
        return cnnvp_compiler_error(import->error, "%s: the network has no output", import->onnx.name);
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, from->n_output, &graph->outputs));
    for (size_t i = 0; i < from->n_output; ++i)
        CNNVP_TRY(define_output(import, from->output[i]->name, &graph->outputs[graph->output_count++]));
    return CNNVP_DONE;
}

Onnx__TypeProto *cnnvp_import_type(const struct cnnvp_import *import, const char *name)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    const struct {
        Onnx__ValueInfoProto **list;
        size_t count;
    } lists[] = {
        {graph->value_info, graph->n_value_info}, {graph->input, graph->n_input}, {graph->output, graph->n_output}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k)
        for (size_t i = 0; i < lists[k].count; ++i)
            if (lists[k].list[i]->name != NULL && strcmp(lists[k].list[i]->name, name) == 0)
                return lists[k].list[i]->type;
    return NULL;
}

static const Onnx__NodeProto *maker_in(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_node; ++i)
        for (size_t output = 0; output < graph->node[i]->n_output; ++output)
            if (strcmp(graph->node[i]->output[output], name) == 0)
                return graph->node[i];
    return NULL;
}

static const Onnx__NodeProto *find_maker(const struct cnnvp_import *import, const char *name)
{
    const Onnx__NodeProto *node = maker_in(import->onnx.model->graph, name);
    for (const struct cnnvp_import_scope *scope = import->scope; scope != NULL && node == NULL; scope = scope->outer)
        node = maker_in(scope->graph, name);
    return node;
}

const Onnx__NodeProto *cnnvp_import_maker(const struct cnnvp_import *import, const char *name, const char *op_type)
{
    const Onnx__NodeProto *node = find_maker(import, name);
    return node != NULL && node->op_type != NULL && node->n_input != 0 &&
                   (op_type == NULL || strcmp(node->op_type, op_type) == 0)
               ? node
               : NULL;
}

int cnnvp_import_one_number(const struct cnnvp_import *import, const Onnx__NodeProto *node, size_t index, float *number)
{
    struct cnnvp_error why;
    const Onnx__TensorProto *constant =
        index < node->n_input ? cnnvp_import_known_constant(import, node->input[index]) : NULL;
    return constant != NULL && cnnvp_onnx_elements(constant) == 1 &&
           cnnvp_onnx_number(&import->onnx, constant, number, &why) == CNNVP_DONE;
}

/* A list of values with these names, followed by the list `after`. A value's type is the file's, or else a float tensor
 * of any shape. NULL: no memory. */
static Onnx__ValueInfoProto **take(struct cnnvp_import *import, const char *const *names, size_t count,
                                   Onnx__ValueInfoProto **after, size_t after_count)
{
    struct cnnvp_arena *arena = &import->graph->arena;
    Onnx__ValueInfoProto **list = cnnvp_arena_array(arena, count + after_count, sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < count && list != NULL; ++i) {
        Onnx__TypeProto *type = cnnvp_arena_array(arena, 1, sizeof *type);
        Onnx__TypeProto__Tensor *tensor = cnnvp_arena_array(arena, 1, sizeof *tensor);
        list[i] = cnnvp_arena_array(arena, 1, sizeof *list[i]);
        if (type == NULL || tensor == NULL || list[i] == NULL)
            return NULL;
        onnx__value_info_proto__init(list[i]);
        onnx__type_proto__init(type);
        onnx__type_proto__tensor__init(tensor);
        tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
        type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        type->tensor_type = tensor;
        Onnx__TypeProto *known = cnnvp_import_type(import, names[i]);
        list[i]->type = known != NULL ? known : type;
        list[i]->name = cnnvp_arena_text(arena, names[i]);
        if (list[i]->name == NULL)
            return NULL;
    }
    if (list != NULL && after_count != 0)
        memcpy(list + count, after, after_count * sizeof *list);
    return list;
}

/* Replaces the graph's outputs by the tensors of `until` and prepends those of `from` to its inputs. cnnvp_import_clear
 * restores the file's lists. */
static cnnvp_result take_ends(struct cnnvp_import *import)
{
    Onnx__GraphProto *graph = import->onnx.model->graph;
    const size_t until = import->sizes != NULL ? import->sizes->until_count : 0;
    const size_t from = import->sizes != NULL ? import->sizes->from_count : 0;
    for (size_t i = 0; i < from; ++i)
        if (find_maker(import, import->sizes->from[i]) == NULL)
            return cnnvp_compiler_error(import->error, "%s: --from %s: no node makes a tensor of that name",
                                        import->onnx.name, import->sizes->from[i]);
    Onnx__ValueInfoProto **inputs =
        from != 0 ? take(import, import->sizes->from, from, graph->input, graph->n_input) : graph->input;
    Onnx__ValueInfoProto **outputs = until != 0 ? take(import, import->sizes->until, until, NULL, 0) : graph->output;
    if ((from != 0 && inputs == NULL) || (until != 0 && outputs == NULL))
        return cnnvp_compiler_no_memory(import->error);
    import->inputs = graph->input;
    import->outputs = graph->output;
    import->input_count = graph->n_input;
    import->output_count = graph->n_output;
    graph->input = inputs;
    graph->output = outputs;
    graph->n_input += from;
    graph->n_output = until != 0 ? until : graph->n_output;
    return CNNVP_DONE;
}

/* Each tensor of `from`, the first inputs, must be on the way to an output. */
static cnnvp_result check_beginnings(struct cnnvp_import *import, const struct cnnvp_import_sequence *sequence)
{
    const size_t from = import->sizes != NULL ? import->sizes->from_count : 0;
    for (size_t i = 0; i < from; ++i)
        if (!sequence->reads[i])
            return cnnvp_compiler_error(
                import->error,
                "%s: --from %s: no output needs this tensor; it must be on the way to one, such as \"%s\"",
                import->onnx.name, import->sizes->from[i], import->onnx.model->graph->output[0]->name);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_graph(struct cnnvp_import *import)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    CNNVP_TRY(take_ends(import));
    CNNVP_TRY(define_initializers(import));
    CNNVP_SCOPED(cnnvp_import_sequence_clear) struct cnnvp_import_sequence sequence = {0};
    CNNVP_TRY(cnnvp_import_sequence(import, graph, &sequence));
    CNNVP_TRY(check_beginnings(import, &sequence));
    CNNVP_TRY(define_inputs(import, &sequence));
    for (uint32_t i = 0; i < sequence.count; ++i) {
        import->node_number = sequence.nodes[i];
        ++import->node_count;
        CNNVP_TRY(cnnvp_import_node(import, graph->node[sequence.nodes[i]]));
    }
    return define_outputs(import);
}

void cnnvp_import_clear(struct cnnvp_import *import)
{
    if (import->inputs != NULL || import->outputs != NULL) {
        Onnx__GraphProto *graph = import->onnx.model->graph;
        graph->input = import->inputs;
        graph->n_input = import->input_count;
        graph->output = import->outputs;
        graph->n_output = import->output_count;
    }
    cnnvp_onnx_close(&import->onnx);
    cnnvp_names_clear(&import->names);
    free(import->values);
}

/* How far an import got. */
struct reading {
    int64_t batch;
    uint32_t node_count;
    int mixed;
};

static cnnvp_result read_as(const char *file, const struct cnnvp_onnx_sizes *sizes, int weightless, int single,
                            struct cnnvp_graph *graph, struct reading *reading, struct cnnvp_error *error)
{
    *graph = (struct cnnvp_graph){.file = file,
                                  .weightless = weightless,
                                  .single = (uint32_t)single,
                                  .joins_steps = sizes != NULL && sizes->joins_steps};
    graph->input = CNNVP_GRAPH_NONE;
    struct cnnvp_import import = {.graph = graph, .sizes = sizes, .single = single, .error = error};
    CNNVP_TRY(cnnvp_onnx_open(file, &import.onnx, error));
    graph->file_hash = import.onnx.hash;
    cnnvp_result result = cnnvp_import_graph(&import);
    *reading = (struct reading){import.batch, import.node_count, import.mixed};
    cnnvp_import_clear(&import);
    if (result != CNNVP_DONE)
        cnnvp_graph_clear(graph);
    return result;
}

/* Tries a batch of images first. If this fails, tries the whole input as one image, for networks that use the first
 * dimension like any other. Reports the second error if the first attempt mixed images of a known batch size, or if the
 * second one got further. */
cnnvp_result cnnvp_onnx_import_sized(const char *file, const struct cnnvp_onnx_sizes *sizes, int weightless,
                                     struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    struct cnnvp_error errors[2];
    struct reading images = {0}, whole = {0};
    cnnvp_result result = read_as(file, sizes, weightless, 0, graph, &images, &errors[0]);
    const int again = result == CNNVP_BAD_INPUT;
    if (again)
        result = read_as(file, sizes, weightless, 1, graph, &whole, &errors[1]);
    if (result != CNNVP_DONE && error != NULL)
        *error = errors[again && ((images.mixed && images.batch != 0) || whole.node_count > images.node_count)];
    return cnnvp_compiler_in_file(result, file, error);
}
