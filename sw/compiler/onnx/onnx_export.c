/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export of trained parameters (onnx.h). The file is copied field by field, so fields that this program does not know
 * are kept. Field numbers are those of onnx.proto.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_read.h"
#include "onnx_wire.h"
#include "onnx.h"
#include "output_file.h"

enum {
    MODEL_GRAPH = 7,
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_ATTRIBUTE = 5,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9
};

/* One parameter to be written. */
struct edit {
    const struct cnnvp_graph_layer *layer;
    const struct cnnvp_graph_origin *origin;
    const float *values; /* in the graph's layout */
    char *name;          /* name of the initialiser in the new file */
    int renamed;         /* 1: the node's input must be renamed to `name` */
};

struct export
{
    struct cnnvp_onnx onnx;
    const struct cnnvp_graph *graph;
    struct cnnvp_arena arena; /* memory of edits and marks */
    struct edit *edits;
    size_t edit_count;
    uint8_t *dead_inputs;         /* by graph input: 1: had no values and is not used any more */
    uint8_t *dead_nodes;          /* by node: 1: it computes a parameter from dead inputs, or for nobody any more */
    struct cnnvp_wire_buffer out; /* fields of the new graph */
    struct cnnvp_error *error;
};

static const char *const role_names[CNNVP_GRAPH_ROLES] = {"weight", "bias", "mean", "variance"};

/* ---- names ---- */

static size_t uses_of(const Onnx__GraphProto *graph, const char *name)
{
    size_t uses = 0;
    for (size_t i = 0; i < graph->n_node; ++i)
        for (size_t k = 0; k < graph->node[i]->n_input; ++k)
            uses += strcmp(graph->node[i]->input[k], name) == 0;
    return uses;
}

static int has_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; ++i)
        if (graph->initializer[i]->name != NULL && strcmp(graph->initializer[i]->name, name) == 0)
            return 1;
    return 0;
}

static int is_parameter(const Onnx__GraphProto *graph, const char *name)
{
    if (has_initializer(graph, name))
        return 1;
    for (size_t i = 0; i < graph->n_input; ++i)
        if (graph->input[i]->name != NULL && strcmp(graph->input[i]->name, name) == 0)
            return 1;
    return 0;
}

static int is_taken(const struct export *export, const char *name)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    int taken = is_parameter(graph, name);
    for (size_t i = 0; i < graph->n_node && !taken; ++i)
        for (size_t k = 0; k < graph->node[i]->n_output && !taken; ++k)
            taken = strcmp(graph->node[i]->output[k], name) == 0;
    for (size_t i = 0; i < export->edit_count && !taken; ++i)
        taken = strcmp(export->edits[i].name, name) == 0;
    return taken;
}

/* A parameter that only this layer uses keeps its name; others get a new, unique name. */
static cnnvp_result name_edit(struct export *export, struct edit *edit, size_t role)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    const struct cnnvp_graph_origin *origin = edit->origin;
    if (origin->node > graph->n_node || origin->input >= graph->node[origin->node - 1]->n_input)
        return cnnvp_compiler_error(export->error, "%s: it has changed since it was read", export->onnx.name);
    const char *old = graph->node[origin->node - 1]->input[origin->input];
    const size_t room = (strlen(old) > strlen(edit->layer->name) ? strlen(old) : strlen(edit->layer->name)) + 40;
    edit->name = cnnvp_arena_alloc(&export->arena, room);
    CNNVP_TRY_MEMORY(edit->name != NULL, export->error);
    edit->renamed = !is_parameter(graph, old) || uses_of(graph, old) != 1;
    (void)snprintf(edit->name, room, "%s", old);
    for (size_t number = 0; edit->renamed && (number == 0 || is_taken(export, edit->name)); ++number)
        (void)snprintf(edit->name, room, number == 0 ? "%s.%s" : "%s.%s.%zu", edit->layer->name, role_names[role],
                       number);
    return CNNVP_DONE;
}

/* The importer would refuse a file with values that are not finite. */
static cnnvp_result check_finite(const struct export *export, const struct edit *edit, size_t role)
{
    size_t count = 1, others = 0;
    for (size_t i = 0; i < edit->origin->rank; ++i)
        count *= (size_t)edit->origin->dims[i];
    for (size_t i = 0; i < count; ++i)
        others += isfinite(edit->values[i]) ? 0 : 1;
    if (others == 0)
        return CNNVP_DONE;
    (void)cnnvp_compiler_error(export->error,
                               "%zu of the %zu numbers that layer \"%s\" has as its %s are not finite: no network can "
                               "be written; a lower learning rate may keep them small",
                               others, count, edit->layer->name, role_names[role]);
    return CNNVP_FAILED;
}

static cnnvp_result collect(struct export *export)
{
    const struct cnnvp_graph *graph = export->graph;
    export->edits = cnnvp_arena_array(&export->arena, graph->layer_count * CNNVP_GRAPH_ROLES, sizeof *export->edits);
    CNNVP_TRY_MEMORY(export->edits != NULL, export->error);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const float *const values[CNNVP_GRAPH_ROLES] = {layer->weights, layer->bias, layer->mean, layer->variance};
        for (size_t role = 0; role < CNNVP_GRAPH_ROLES; ++role) {
            if (layer->origins[role].node == 0 || values[role] == NULL)
                continue;
            struct edit *edit = &export->edits[export->edit_count];
            *edit = (struct edit){.layer = layer, .origin = &layer->origins[role], .values = values[role]};
            CNNVP_TRY(check_finite(export, edit, role));
            CNNVP_TRY(name_edit(export, edit, role));
            ++export->edit_count;
        }
    }
    return CNNVP_DONE;
}

static const struct edit *edit_at(const struct export *export, size_t node, size_t input)
{
    for (size_t i = 0; i < export->edit_count; ++i)
        if (export->edits[i].renamed && export->edits[i].origin->node == node + 1 &&
            export->edits[i].origin->input == input)
            return &export->edits[i];
    return NULL;
}

/* 1: the new file has no input or node output of that name. */
static int is_dead(const struct export *export, const char *name)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    int dead = 0;
    for (size_t i = 0; i < graph->n_input && !dead; ++i)
        dead = export->dead_inputs[i] != 0 && strcmp(graph->input[i]->name, name) == 0;
    for (size_t i = 0; i < graph->n_node && !dead; ++i)
        for (size_t k = 0; export->dead_nodes[i] != 0 && k < graph->node[i]->n_output && !dead; ++k)
            dead = strcmp(graph->node[i]->output[k], name) == 0;
    return dead;
}

/* 1: a node has a body, which may read what no list of inputs names. */
static int has_bodies(const Onnx__GraphProto *graph)
{
    int found = 0;
    for (size_t i = 0; i < graph->n_node; ++i)
        for (size_t k = 0; k < graph->node[i]->n_attribute; ++k)
            found |= graph->node[i]->attribute[k]->g != NULL || graph->node[i]->attribute[k]->n_graphs != 0;
    return found;
}

/* 1: the file's nodes read this tensor, and those of the new file do not. */
static int is_left(const struct export *export, const char *name)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    int left = name != NULL && uses_of(graph, name) != 0 && !has_bodies(graph);
    for (size_t i = 0; i < graph->n_output && left; ++i)
        left = strcmp(graph->output[i]->name, name) != 0;
    for (size_t i = 0; i < graph->n_node && left; ++i)
        for (size_t k = 0; k < graph->node[i]->n_input && left && !export->dead_nodes[i]; ++k)
            left = edit_at(export, i, k) != NULL || strcmp(graph->node[i]->input[k], name) != 0;
    return left;
}

/* Marks nodes that have computed nothing but replaced parameters, from the last one on: readers follow. */
static void find_left(struct export *export)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    for (size_t i = graph->n_node; i-- > 0;) {
        size_t left = 0;
        for (size_t k = 0; k < graph->node[i]->n_output; ++k)
            left += (size_t)is_left(export, graph->node[i]->output[k]);
        if (left != 0 && left == graph->node[i]->n_output)
            export->dead_nodes[i] = 1;
    }
}

/* A parameter that was shared or computed by other nodes is replaced by separate parameters of the layers. Marks inputs
 * without values and nodes that are then unused, so that the new file leaves them out. */
static cnnvp_result find_dead(struct export *export)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    export->dead_inputs = cnnvp_arena_alloc(&export->arena, graph->n_input);
    export->dead_nodes = cnnvp_arena_alloc(&export->arena, graph->n_node);
    CNNVP_TRY_MEMORY(export->dead_inputs != NULL && export->dead_nodes != NULL, export->error);
    int seen_image = 0;
    for (size_t i = 0; i < graph->n_input; ++i) {
        const char *name = graph->input[i]->name;
        int kept = name == NULL || has_initializer(graph, name) || !seen_image;
        seen_image |= name != NULL && !has_initializer(graph, name);
        for (size_t k = 0; k < export->edit_count && !kept; ++k)
            kept = !export->edits[k].renamed && strcmp(export->edits[k].name, name) == 0;
        export->dead_inputs[i] = !kept;
    }
    for (size_t i = 0; i < graph->n_node; ++i)
        for (size_t k = 0; k < graph->node[i]->n_input; ++k)
            if (edit_at(export, i, k) == NULL && is_dead(export, graph->node[i]->input[k]))
                export->dead_nodes[i] = 1;
    find_left(export);
    return CNNVP_DONE;
}

/* ---- writing ---- */

/* 1: the file stores the matrix as [inputs][outputs]. */
static int is_transposed(const struct export *export, const struct edit *edit)
{
    const Onnx__NodeProto *node = export->onnx.model->graph->node[edit->origin->node - 1];
    return edit->layer->op == CNNVP_OP_FC && edit->values == edit->layer->weights &&
           cnnvp_onnx_int(node, "transB", 0) == 0;
}

static int put_initializer(struct export *export, const struct edit *edit)
{
    const struct cnnvp_graph_origin *origin = edit->origin;
    struct cnnvp_wire_buffer tensor = {0};
    size_t count = 1;
    int done = 1;
    for (size_t i = 0; i < origin->rank && done; ++i) {
        count *= (size_t)origin->dims[i];
        done = cnnvp_wire_put_varint(&tensor, TENSOR_DIMS << 3 | CNNVP_WIRE_VARINT) &&
               cnnvp_wire_put_varint(&tensor, (uint64_t)origin->dims[i]);
    }
    done = done && cnnvp_wire_put_varint(&tensor, TENSOR_TYPE << 3 | CNNVP_WIRE_VARINT) &&
           cnnvp_wire_put_varint(&tensor, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT) &&
           cnnvp_wire_put_bytes(&tensor, TENSOR_NAME, edit->name, strlen(edit->name));
    CNNVP_FREED float *turned = NULL;
    if (done && is_transposed(export, edit)) {
        const size_t inputs = (size_t)origin->dims[0];
        const size_t outputs = (size_t)origin->dims[1];
        turned = malloc(count * sizeof *turned);
        done = turned != NULL;
        for (size_t i = 0; i < inputs && done; ++i)
            for (size_t o = 0; o < outputs; ++o)
                turned[i * outputs + o] = edit->values[o * inputs + i];
    }
    done = done &&
           cnnvp_wire_put_bytes(&tensor, TENSOR_RAW, turned != NULL ? turned : edit->values, count * sizeof(float)) &&
           cnnvp_wire_put_bytes(&export->out, GRAPH_INITIALIZER, tensor.bytes, tensor.used);
    free(tensor.bytes);
    return done;
}

/* Finds an initialiser's name in the file. Returns its length. */
static size_t initializer_name(const struct export *export, const struct cnnvp_wire_field *field, const uint8_t **name)
{
    struct cnnvp_wire_field part;
    size_t size = 0;
    for (size_t at = field->value_begin; at < field->end && cnnvp_wire_next(export->onnx.file, &at, field->end, &part);)
        if (part.number == TENSOR_NAME && part.wire == CNNVP_WIRE_BYTES) {
            *name = export->onnx.file + part.value_begin;
            size = part.end - part.value_begin;
        }
    return size;
}

static int is_replaced(const struct export *export, const struct cnnvp_wire_field *field)
{
    const uint8_t *name = NULL;
    const size_t size = initializer_name(export, field, &name);
    for (size_t i = 0; i < export->edit_count; ++i)
        if (!export->edits[i].renamed && strlen(export->edits[i].name) == size &&
            memcmp(export->edits[i].name, name, size) == 0)
            return 1;
    return 0;
}

/* 1: only what has been replaced has read this initialiser. One that is an input, too, stays, since it gives its value.
 */
static int is_old(const struct export *export, size_t number)
{
    const Onnx__GraphProto *graph = export->onnx.model->graph;
    const char *name = graph->initializer[number]->name;
    int old = is_left(export, name);
    for (size_t i = 0; i < graph->n_input && old; ++i)
        old = graph->input[i]->name == NULL || strcmp(graph->input[i]->name, name) != 0;
    return old;
}

/* 1: what makes a batch norm take the statistics of its data, training_mode or, before operator set 14, outputs for
 * them. The new file's batch norms take the learned ones. `count`: fields of that number before this one. */
static int takes_statistics(const Onnx__NodeProto *node, uint64_t number, size_t count)
{
    if (node->op_type == NULL || strcmp(node->op_type, "BatchNormalization") != 0)
        return 0;
    if (number == NODE_OUTPUT)
        return count != 0;
    return number == NODE_ATTRIBUTE && node->attribute[count]->name != NULL &&
           strcmp(node->attribute[count]->name, "training_mode") == 0;
}

static int put_node(struct export *export, const struct cnnvp_wire_field *field, size_t number)
{
    const uint8_t *file = export->onnx.file;
    struct cnnvp_wire_buffer node = {0};
    struct cnnvp_wire_field part;
    size_t counts[NODE_ATTRIBUTE + 1] = {0};
    int done = 1;
    for (size_t at = field->value_begin; at < field->end && done;) {
        done = cnnvp_wire_next(file, &at, field->end, &part);
        if (!done)
            break;
        const size_t count = part.number <= NODE_ATTRIBUTE ? counts[part.number]++ : 0;
        if (takes_statistics(export->onnx.model->graph->node[number], part.number, count))
            continue;
        const struct edit *edit = part.number == NODE_INPUT ? edit_at(export, number, count) : NULL;
        done = edit != NULL ? cnnvp_wire_put_bytes(&node, NODE_INPUT, edit->name, strlen(edit->name))
                            : cnnvp_wire_put(&node, file + part.begin, part.end - part.begin);
    }
    done = done && cnnvp_wire_put_bytes(&export->out, GRAPH_NODE, node.bytes, node.used);
    free(node.bytes);
    return done;
}

static int put_graph(struct export *export, const struct cnnvp_wire_field *graph)
{
    const uint8_t *file = export->onnx.file;
    struct cnnvp_wire_field field;
    size_t node = 0, input = 0, initializer = 0;
    int done = 1;
    for (size_t at = graph->value_begin; at < graph->end && done;) {
        done = cnnvp_wire_next(file, &at, graph->end, &field);
        if (!done)
            break;
        const int nested = field.wire == CNNVP_WIRE_BYTES;
        if (nested && field.number == GRAPH_NODE)
            done = export->dead_nodes[node] != 0 || put_node(export, &field, node);
        else if (!(nested && field.number == GRAPH_INPUT && export->dead_inputs[input] != 0) &&
                 !(nested && field.number == GRAPH_INITIALIZER &&
                   (is_replaced(export, &field) || is_old(export, initializer))))
            done = cnnvp_wire_put(&export->out, file + field.begin, field.end - field.begin);
        node += nested && field.number == GRAPH_NODE ? 1 : 0;
        input += nested && field.number == GRAPH_INPUT ? 1 : 0;
        initializer += nested && field.number == GRAPH_INITIALIZER ? 1 : 0;
    }
    for (size_t i = 0; i < export->edit_count && done; ++i)
        done = put_initializer(export, &export->edits[i]);
    return done;
}

/* Copies the fields of the model; only the graph is written anew. */
static cnnvp_result write_model(struct export *export, cnnvp_output *output)
{
    const uint8_t *file = export->onnx.file;
    struct cnnvp_wire_field field;
    for (size_t at = 0; at < export->onnx.size;) {
        if (!cnnvp_wire_next(file, &at, export->onnx.size, &field))
            return cnnvp_compiler_error(export->error, "%s: damaged at byte %zu", export->onnx.name, field.begin);
        if (field.number != MODEL_GRAPH || field.wire != CNNVP_WIRE_BYTES) {
            cnnvp_output_write(output, file + field.begin, field.end - field.begin);
            continue;
        }
        struct cnnvp_wire_buffer key = {0};
        const int done =
            put_graph(export, &field) && cnnvp_wire_put_varint(&key, MODEL_GRAPH << 3 | CNNVP_WIRE_BYTES) &&
            cnnvp_wire_put_varint(&key, export->out.used);
        if (done) {
            cnnvp_output_write(output, key.bytes, key.used);
            cnnvp_output_write(output, export->out.bytes, export->out.used);
        }
        free(key.bytes);
        CNNVP_TRY_MEMORY(done, export->error);
    }
    return CNNVP_DONE;
}

static cnnvp_result write_file(struct export *export, const char *to)
{
    cnnvp_output *output = NULL;
    CNNVP_TRY(cnnvp_output_new(to, &output, export->error));
    const cnnvp_result result = write_model(export, output);
    if (result == CNNVP_DONE)
        return cnnvp_output_finish(output, export->error);
    cnnvp_output_discard(output);
    return result;
}

cnnvp_result cnnvp_onnx_export(const char *from, const char *to, const struct cnnvp_graph *graph,
                               struct cnnvp_error *error)
{
    struct export export = {.graph = graph, .error = error};
    CNNVP_TRY(cnnvp_onnx_open(from, &export.onnx, error));
    cnnvp_result result = collect(&export);
    if (result == CNNVP_DONE)
        result = find_dead(&export);
    if (result == CNNVP_DONE)
        result = write_file(&export, to);
    cnnvp_arena_free(&export.arena);
    free(export.out.bytes);
    cnnvp_onnx_close(&export.onnx);
    return result;
}
