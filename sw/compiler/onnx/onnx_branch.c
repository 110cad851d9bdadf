/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If with a condition that is known: the nodes of the branch that is taken come in its place. Names that the branch
 * gives are its own, and begin with the node's output here.
 */
#include <string.h>

#include "onnx_constant.h"

struct renaming {
    struct cnnvp_import *import;
    const char *prefix;
    struct cnnvp_names own; /* that the branch gives, their place in `names` */
    char **names;           /* what becomes of them */
    uint32_t count;
};

static cnnvp_result add_own(struct renaming *renaming, const char *name)
{
    uint32_t number;
    if (name == NULL || name[0] == '\0')
        return CNNVP_DONE;
    if (cnnvp_names_get(&renaming->own, name, &number))
        return cnnvp_import_error(renaming->import, "its branch gives the name \"%s\" twice", name);
    renaming->names[renaming->count] =
        cnnvp_arena_printf(&renaming->import->graph->arena, "%s/%s", renaming->prefix, name);
    return renaming->names[renaming->count] != NULL && cnnvp_names_set(&renaming->own, name, renaming->count++)
               ? CNNVP_DONE
               : cnnvp_import_no_memory(renaming->import);
}

static cnnvp_result find_own(struct renaming *renaming, const Onnx__GraphProto *branch)
{
    size_t count = branch->n_initializer;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < branch->n_node; ++i)
        count += branch->node[i]->n_output;
    renaming->names = cnnvp_arena_array(&renaming->import->graph->arena, count, sizeof *renaming->names);
    if (renaming->names == NULL)
        return cnnvp_import_no_memory(renaming->import);
    for (size_t i = 0; i < branch->n_initializer && result == CNNVP_DONE; ++i)
        result = add_own(renaming, branch->initializer[i]->name);
    for (size_t i = 0; i < branch->n_node && result == CNNVP_DONE; ++i)
        for (size_t j = 0; j < branch->node[i]->n_output && result == CNNVP_DONE; ++j)
            result = add_own(renaming, branch->node[i]->output[j]);
    return result;
}

static char *renamed(const struct renaming *renaming, char *name)
{
    uint32_t number;
    return name != NULL && cnnvp_names_get(&renaming->own, name, &number) ? renaming->names[number] : name;
}

static void *copy_of(const struct renaming *renaming, const void *from, size_t size)
{
    return cnnvp_arena_copy(&renaming->import->graph->arena, from, size);
}

/* NULL: no memory. */
static char **rename_list(const struct renaming *renaming, char **from, size_t count)
{
    char **to = cnnvp_arena_array(&renaming->import->graph->arena, count, sizeof *to);
    for (size_t i = 0; i < count && to != NULL; ++i)
        to[i] = renamed(renaming, from[i]);
    return to;
}

/* Copies, in which those names are others, as deep as onnx_scan.c leaves graphs. NULL: no memory. */
static Onnx__GraphProto *rename_graph(const struct renaming *renaming, const Onnx__GraphProto *from);

static Onnx__NodeProto *rename_node(const struct renaming *renaming, const Onnx__NodeProto *from)
{
    Onnx__NodeProto *node = copy_of(renaming, from, sizeof *node);
    if (node == NULL)
        return NULL;
    node->input = rename_list(renaming, from->input, from->n_input);
    node->output = rename_list(renaming, from->output, from->n_output);
    node->attribute =
        cnnvp_arena_array(&renaming->import->graph->arena, from->n_attribute, sizeof(Onnx__AttributeProto *));
    if (node->input == NULL || node->output == NULL || node->attribute == NULL)
        return NULL;
    for (size_t i = 0; i < from->n_attribute; ++i) {
        node->attribute[i] = from->attribute[i];
        if (from->attribute[i]->g == NULL)
            continue;
        node->attribute[i] = copy_of(renaming, from->attribute[i], sizeof(Onnx__AttributeProto));
        if (node->attribute[i] == NULL)
            return NULL;
        node->attribute[i]->g = rename_graph(renaming, from->attribute[i]->g);
        if (node->attribute[i]->g == NULL)
            return NULL;
    }
    return node;
}

static Onnx__GraphProto *rename_graph(const struct renaming *renaming, const Onnx__GraphProto *from)
{
    struct cnnvp_arena *arena = &renaming->import->graph->arena;
    Onnx__GraphProto *graph = copy_of(renaming, from, sizeof *graph);
    if (graph == NULL)
        return NULL;
    graph->node = cnnvp_arena_array(arena, from->n_node, sizeof(Onnx__NodeProto *));
    graph->output = cnnvp_arena_array(arena, from->n_output, sizeof(Onnx__ValueInfoProto *));
    graph->initializer = cnnvp_arena_array(arena, from->n_initializer, sizeof(Onnx__TensorProto *));
    if (graph->node == NULL || graph->output == NULL || graph->initializer == NULL)
        return NULL;
    for (size_t i = 0; i < from->n_node; ++i)
        if ((graph->node[i] = rename_node(renaming, from->node[i])) == NULL)
            return NULL;
    for (size_t i = 0; i < from->n_output; ++i) {
        if ((graph->output[i] = copy_of(renaming, from->output[i], sizeof(Onnx__ValueInfoProto))) == NULL)
            return NULL;
        graph->output[i]->name = renamed(renaming, from->output[i]->name);
    }
    for (size_t i = 0; i < from->n_initializer; ++i) {
        if ((graph->initializer[i] = copy_of(renaming, from->initializer[i], sizeof(Onnx__TensorProto))) == NULL)
            return NULL;
        graph->initializer[i]->name = renamed(renaming, from->initializer[i]->name);
    }
    return graph;
}

/* Weights and nodes of the branch. */
static cnnvp_result import_nodes(struct cnnvp_import *import, const Onnx__GraphProto *branch)
{
    struct cnnvp_import_sequence sequence = {0};
    const Onnx__NodeProto *node = import->node;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < branch->n_initializer && result == CNNVP_DONE; ++i)
        if (branch->initializer[i]->name != NULL)
            result = cnnvp_import_define(
                import, branch->initializer[i]->name,
                (struct cnnvp_onnx_value){.tensor = CNNVP_GRAPH_NONE, .constant = branch->initializer[i]});
    if (result == CNNVP_DONE)
        result = cnnvp_import_sequence(import, branch, &sequence);
    for (uint32_t i = 0; i < sequence.count && result == CNNVP_DONE; ++i)
        result = cnnvp_import_node(import, branch->node[sequence.nodes[i]]);
    cnnvp_import_sequence_clear(&sequence);
    import->node = node;
    return result;
}

static cnnvp_result give_outputs(struct cnnvp_import *import, const Onnx__GraphProto *branch)
{
    const Onnx__NodeProto *node = import->node;
    cnnvp_result result = CNNVP_DONE;
    if (branch->n_output < node->n_output)
        return cnnvp_import_error(import, "its branch has %zu outputs, the node %zu", branch->n_output, node->n_output);
    for (size_t i = 0; i < node->n_output && result == CNNVP_DONE; ++i) {
        uint32_t number;
        const char *name = branch->output[i]->name;
        if (node->output[i][0] == '\0')
            continue;
        if (name == NULL || !cnnvp_names_get(&import->names, name, &number))
            return cnnvp_import_error(import, "no node of its branch computes \"%s\"", name != NULL ? name : "");
        result = cnnvp_import_define(import, node->output[i], import->values[number]);
    }
    return result;
}

static cnnvp_result import_if(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {CNNVP_GRAPH_NONE, NULL};
    struct cnnvp_constant condition = {0};
    cnnvp_result result = cnnvp_import_value(import, 0, &value);
    if (result == CNNVP_DONE && value.constant == NULL)
        result = cnnvp_import_error(import,
                                    "its condition \"%s\" depends on the network's input; one that is known while the "
                                    "file is read is needed",
                                    import->node->input[0]);
    if (result == CNNVP_DONE && import->training)
        result = cnnvp_import_error(import, "a network that learns has no branches");
    if (result == CNNVP_DONE)
        result = cnnvp_constant_need(import, 0, &condition);
    if (result == CNNVP_DONE && condition.count != 1)
        result = cnnvp_import_error(import, "its condition has %zu elements; one is needed", condition.count);
    if (result != CNNVP_DONE)
        return result;
    const int taken =
        condition.whole ? condition.ints[0] != 0 : condition.floats[0] < 0.0f || condition.floats[0] > 0.0f;
    const Onnx__AttributeProto *found = cnnvp_onnx_attribute(import->node, taken ? "then_branch" : "else_branch");
    if (found == NULL || found->g == NULL)
        return cnnvp_import_error(
            import, "it has no %s, or one that is nested too deep", taken ? "then_branch" : "else_branch");
    struct renaming renaming = {.import = import, .prefix = import->node->output[0]};
    result = find_own(&renaming, found->g);
    const Onnx__GraphProto *branch = result == CNNVP_DONE ? rename_graph(&renaming, found->g) : NULL;
    if (result == CNNVP_DONE && branch == NULL)
        result = cnnvp_import_no_memory(import);
    cnnvp_names_clear(&renaming.own);
    if (result == CNNVP_DONE)
        result = import_nodes(import, branch);
    return result == CNNVP_DONE ? give_outputs(import, branch) : result;
}

static const struct cnnvp_import_operator operators[] = {{"If", import_if, CNNVP_FORM_ALL, 0}};

const struct cnnvp_import_operators cnnvp_import_branching = {operators, sizeof operators / sizeof operators[0]};
