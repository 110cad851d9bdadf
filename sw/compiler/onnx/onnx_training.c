/* SPDX-License-Identifier: Apache-2.0 */
/* Import for training (onnx.h): parameters without values, their origins in the file, and random initial values. */
#include "onnx.h"

#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "cnnvp_command.h"
#include "onnx_node.h"

/* Most values of one parameter that are drawn; more are likely a mistake in the file. */
#define DRAWN_MAX ((size_t)1 << 27)

/* ---- while nodes are imported ---- */

cnnvp_result cnnvp_import_parameter(struct cnnvp_import *import, const Onnx__ValueInfoProto *info)
{
    const char *file = import->onnx.name;
    if (info->type == NULL || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        info->type->tensor_type->shape == NULL)
        return cnnvp_compiler_error(import->error, "%s: input \"%s\" has neither shape nor values", file, info->name);
    const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
    Onnx__TensorProto *tensor;
    int64_t *dims;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, shape->n_dim, &dims));
    for (size_t i = 0; i < shape->n_dim; ++i) {
        const Onnx__TensorShapeProto__Dimension *dimension = shape->dim[i];
        if (dimension->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE || dimension->dim_value < 1)
            return cnnvp_compiler_error(import->error,
                                        "%s: input \"%s\" is a parameter without values (the first input is the "
                                        "image); dimension %zu of its shape is not a number",
                                        file, info->name, i);
        dims[i] = dimension->dim_value;
    }
    CNNVP_TRY(cnnvp_import_new_constant(
        import, info->name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, shape->n_dim, dims, &tensor));
    return cnnvp_import_define_constant(import, info->name, tensor);
}

cnnvp_result cnnvp_import_blank(struct cnnvp_import *import, const Onnx__TensorProto *tensor, size_t count, float **out)
{
    if (count > DRAWN_MAX)
        return cnnvp_import_error(
            import, "\"%s\" has no values, and %zu are more than can be drawn (2^27)", tensor->name, count);
    *out = cnnvp_arena_array(&import->graph->arena, count, sizeof **out);
    return *out != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(import->error);
}

void cnnvp_import_origin(struct cnnvp_import *import, enum cnnvp_graph_role role, size_t input)
{
    if (!import->training)
        return;
    struct cnnvp_graph *graph = import->graph;
    struct cnnvp_graph_layer *layer = &graph->layers[graph->layer_count - 1];
    const Onnx__TensorProto *tensor = cnnvp_import_known_constant(import, import->node->input[input]);
    /* A single value for all channels cannot be trained as one value per channel, so it has no origin. */
    if (tensor == NULL || tensor->n_dims > 4 ||
        (role != CNNVP_GRAPH_WEIGHTS && cnnvp_onnx_elements(tensor) != graph->tensors[layer->out].channels))
        return;
    struct cnnvp_graph_origin *origin = &layer->origins[role];
    *origin = (struct cnnvp_graph_origin){
        .node = import->node_number + 1,
        .input = (uint32_t)input,
        .rank = (uint32_t)tensor->n_dims,
        .absent = !cnnvp_onnx_has_values(tensor)};
    if (tensor->n_dims != 0)
        memcpy(origin->dims, tensor->dims, tensor->n_dims * sizeof *origin->dims);
}

/* ---- after the import ---- */

static size_t readers_of(const struct cnnvp_graph *graph, int32_t tensor)
{
    size_t readers = 0;
    for (size_t i = 0; i < graph->output_count; ++i)
        readers += (size_t)(graph->outputs[i].tensor == tensor);
    for (size_t i = 0; i < graph->layer_count; ++i)
        readers += (size_t)(graph->layers[i].in == tensor) +
                   (size_t)(graph->layers[i].op == CNNVP_OP_ADD && graph->layers[i].in2 == tensor);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        readers += (size_t)(graph->tensors[i].base == tensor);
    return readers;
}

/* Merges an addition of one value per channel into the bias of the convolution or product before it. */
static void take_biases(struct cnnvp_graph *graph)
{
    for (size_t i = 1; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *add = &graph->layers[i];
        struct cnnvp_graph_layer *before = &graph->layers[i - 1];
        if (add->op != CNNVP_OP_NORM || add->origins[CNNVP_GRAPH_BIAS].node == 0 ||
            add->origins[CNNVP_GRAPH_WEIGHTS].node != 0 || before->out != add->in || before->has_bias != 0 ||
            (before->op != CNNVP_OP_FC && before->op != CNNVP_OP_CONV) || readers_of(graph, add->in) != 1)
            continue;
        before->has_bias = 1;
        before->bias = add->bias;
        before->origins[CNNVP_GRAPH_BIAS] = add->origins[CNNVP_GRAPH_BIAS];
        before->out = add->out;
        memmove(&graph->layers[i], &graph->layers[i + 1], (graph->layer_count - i - 1) * sizeof *graph->layers);
        --graph->layer_count;
        --i;
    }
}

static void draw(uint64_t seed, const char *name, double deviation, size_t count, float *values)
{
    const uint64_t own = cnnvp_round_random(seed, XXH3_64bits(name, strlen(name)));
    const float factor = (float)deviation;
    for (size_t i = 0; i < count; ++i)
        values[i] = cnnvp_normal(own, i) * factor;
}

static void fill(float value, size_t count, float *values)
{
    for (size_t i = 0; i < count; ++i)
        values[i] = value;
}

static void draw_layer(const struct cnnvp_import *import, const struct cnnvp_train_import_options *options,
                       const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &import->graph->tensors[layer->in];
    const size_t outputs = import->graph->tensors[layer->out].channels;
    const size_t inputs =
        layer->op == CNNVP_OP_CONV ? (size_t)in->channels / layer->groups * layer->ky * layer->kx : in->channels;
    float *const values[CNNVP_GRAPH_ROLES] = {layer->weights, layer->bias, layer->mean, layer->variance};
    for (size_t role = 0; role < CNNVP_GRAPH_ROLES; ++role) {
        const struct cnnvp_graph_origin *origin = &layer->origins[role];
        if (values[role] == NULL || origin->node == 0 || (!options->random_weights && !origin->absent))
            continue;
        const char *name = import->onnx.model->graph->node[origin->node - 1]->input[origin->input];
        if (role == CNNVP_GRAPH_WEIGHTS && layer->op != CNNVP_OP_NORM)
            draw(options->seed, name, sqrt(2.0 / (double)inputs), outputs * inputs, values[role]);
        else
            fill(role == CNNVP_GRAPH_WEIGHTS || role == CNNVP_GRAPH_VARIANCE ? 1.0f : 0.0f, outputs, values[role]);
    }
}

/* Refuses a variance that makes the standard deviation 0 or undefined. */
static cnnvp_result check_layer(const struct cnnvp_import *import, const struct cnnvp_graph_layer *layer)
{
    const size_t channels = import->graph->tensors[layer->out].channels;
    for (size_t c = 0; layer->variance != NULL && c < channels; ++c)
        if (!((double)layer->variance[c] + (double)layer->epsilon > 0.0))
            return cnnvp_compiler_error(
                import->error,
                "%s: node \"%s\" (%s): channel %zu: variance %g plus epsilon %g is not "
                "positive",
                import->onnx.name, layer->name, layer->op_type, c, (double)layer->variance[c], (double)layer->epsilon);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_import_training(const char *file, const struct cnnvp_train_import_options *options,
                                        struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    *graph = (struct cnnvp_graph){.file = file, .weightless = options->weightless};
    graph->input = CNNVP_GRAPH_NONE;
    struct cnnvp_import import = {.graph = graph, .sizes = options->sizes, .error = error, .training = 1};
    CNNVP_TRY(cnnvp_onnx_open(file, &import.onnx, error));
    graph->file_hash = import.onnx.hash;
    cnnvp_result result = cnnvp_import_graph(&import);
    if (result == CNNVP_DONE)
        take_biases(graph);
    for (size_t i = 0; i < graph->layer_count && result == CNNVP_DONE; ++i) {
        draw_layer(&import, options, &graph->layers[i]);
        result = check_layer(&import, &graph->layers[i]);
    }
    cnnvp_import_clear(&import);
    if (result != CNNVP_DONE)
        cnnvp_graph_clear(graph);
    return cnnvp_compiler_in_file(result, file, error);
}
