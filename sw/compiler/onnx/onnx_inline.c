/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that are replaced by other nodes: an If by the branch that it takes, or by both branches if its condition is
 * not known during the import; a call by the nodes of a function of the file. Names defined inside are local: they get
 * the node's first output as a prefix.
 */
#include <string.h>

#include "onnx_constant.h"
#include "onnx_text.h"

/* Limits: nested calls, and nodes that all calls and branches of a file expand to. */
#define CALLS_MAX 16u
#define NODES_MAX ((size_t)1 << 16)

struct renaming {
    struct cnnvp_import *import;
    const Onnx__FunctionProto *function;
    const Onnx__NodeProto *call; /* the call of the function; NULL for a branch */
    const char *prefix;
    struct cnnvp_names own; /* local names, as indices in `names` */
    char **names;           /* what each local name becomes */
    uint32_t count;
};

static cnnvp_result add_own(struct renaming *renaming, const char *name)
{
    uint32_t number;
    if (name == NULL || name[0] == '\0')
        return CNNVP_DONE;
    if (cnnvp_names_get(&renaming->own, name, &number))
        return cnnvp_import_error(renaming->import, "what it stands for gives the name \"%s\" twice", name);
    renaming->names[renaming->count] =
        cnnvp_arena_printf(&renaming->import->graph->arena, "%s/%s", renaming->prefix, name);
    return renaming->names[renaming->count] != NULL && cnnvp_names_set(&renaming->own, name, renaming->count++)
               ? CNNVP_DONE
               : cnnvp_compiler_no_memory(renaming->import->error);
}

/* Maps a function's inputs to the arguments of the call. */
static cnnvp_result add_inputs(struct renaming *renaming, const Onnx__FunctionProto *function)
{
    static char none[] = "";
    for (size_t i = 0; i < function->n_input; ++i) {
        uint32_t number;
        if (cnnvp_names_get(&renaming->own, function->input[i], &number))
            return cnnvp_import_error(
                renaming->import, "what it stands for gives the name \"%s\" twice", function->input[i]);
        renaming->names[renaming->count] = i < renaming->call->n_input ? renaming->call->input[i] : none;
        CNNVP_TRY_MEMORY(cnnvp_names_set(&renaming->own, function->input[i], renaming->count++),
                         renaming->import->error);
    }
    return CNNVP_DONE;
}

/* Collects the local names. `function` is NULL for a branch. */
static cnnvp_result find_own(struct renaming *renaming, const Onnx__GraphProto *branch,
                             const Onnx__FunctionProto *function)
{
    size_t count = branch->n_initializer + (function != NULL ? function->n_input : 0);
    for (size_t i = 0; i < branch->n_node; ++i)
        count += branch->node[i]->n_output;
    renaming->names = cnnvp_arena_array(&renaming->import->graph->arena, count, sizeof *renaming->names);
    CNNVP_TRY_MEMORY(renaming->names != NULL, renaming->import->error);
    if (function != NULL)
        CNNVP_TRY(add_inputs(renaming, function));
    for (size_t i = 0; i < branch->n_initializer; ++i)
        CNNVP_TRY(add_own(renaming, branch->initializer[i]->name));
    for (size_t i = 0; i < branch->n_node; ++i)
        for (size_t j = 0; j < branch->node[i]->n_output; ++j)
            CNNVP_TRY(add_own(renaming, branch->node[i]->output[j]));
    return CNNVP_DONE;
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

/* Copies with local names replaced, at most as deeply nested as onnx_scan.c keeps graphs. NULL: no memory. */
static Onnx__GraphProto *rename_graph(const struct renaming *renaming, const Onnx__GraphProto *from);

static void *take_memory(void *arena, size_t bytes)
{
    return cnnvp_arena_array(arena, bytes, 1);
}

static void keep_memory(void *arena, void *memory)
{
    (void)arena, (void)memory;
}

/* The function's default of an attribute (attribute_proto, since IR version 9); NULL: it has none. libonnx-dev's
 * onnx.proto does not know this field, so it is an unknown one, with its length in front. */
static const Onnx__AttributeProto *default_of(const struct renaming *renaming, const char *name)
{
    ProtobufCAllocator allocator = {take_memory, keep_memory, &renaming->import->graph->arena};
    const Onnx__AttributeProto *found = NULL;
    for (unsigned i = 0; i < renaming->function->base.n_unknown_fields; ++i) {
        const ProtobufCMessageUnknownField *field = &renaming->function->base.unknown_fields[i];
        size_t at = 0;
        if (field->tag != 11)
            continue;
        while (at < field->len && (field->data[at++] & 0x80u) != 0)
            ;
        found = onnx__attribute_proto__unpack(&allocator, field->len - at, field->data + at);
        if (found != NULL && found->name != NULL && strcmp(found->name, name) == 0)
            return found;
    }
    return NULL;
}

/* An attribute that refers to one of the call is replaced by that one, or by the function's default. If there is
 * neither, the copy has no name and is dropped. NULL: no memory. */
static Onnx__AttributeProto *rename_attribute(const struct renaming *renaming, Onnx__AttributeProto *from)
{
    const char *reference = from->ref_attr_name;
    const int is_calls = renaming->call != NULL && reference != NULL && reference[0] != '\0';
    const Onnx__AttributeProto *given = is_calls ? cnnvp_onnx_attribute(renaming->call, reference) : from;
    given = given == NULL ? default_of(renaming, reference) : given;
    if (given == from && from->g == NULL)
        return from;
    Onnx__AttributeProto *attribute = copy_of(renaming, given != NULL ? given : from, sizeof *attribute);
    if (attribute == NULL)
        return NULL;
    attribute->name = given != NULL ? from->name : NULL;
    if (given == from)
        attribute->g = rename_graph(renaming, from->g);
    return given == from && attribute->g == NULL ? NULL : attribute;
}

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
    node->n_attribute = 0;
    for (size_t i = 0; i < from->n_attribute; ++i) {
        Onnx__AttributeProto *attribute = rename_attribute(renaming, from->attribute[i]);
        if (attribute == NULL)
            return NULL;
        if (attribute->name != NULL)
            node->attribute[node->n_attribute++] = attribute;
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

/* Imports the initialisers and nodes of a branch. */
static cnnvp_result import_nodes(struct cnnvp_import *import, const Onnx__GraphProto *branch)
{
    CNNVP_SCOPED(cnnvp_import_sequence_clear) struct cnnvp_import_sequence sequence = {0};
    if (branch->n_node > NODES_MAX - import->inlined)
        return cnnvp_import_error(import, "calls and branches of the file become more than %zu nodes", NODES_MAX);
    import->inlined += branch->n_node;
    for (size_t i = 0; i < branch->n_initializer; ++i)
        if (branch->initializer[i]->name != NULL)
            CNNVP_TRY(cnnvp_import_define_constant(import, branch->initializer[i]->name, branch->initializer[i]));
    CNNVP_TRY(cnnvp_import_sequence(import, branch, &sequence));
    for (uint32_t i = 0; i < sequence.count; ++i)
        CNNVP_TRY(cnnvp_import_node(import, branch->node[sequence.nodes[i]]));
    return CNNVP_DONE;
}

static cnnvp_result give_outputs(struct cnnvp_import *import, const Onnx__GraphProto *branch)
{
    const Onnx__NodeProto *node = import->node;
    if (branch->n_output < node->n_output)
        return cnnvp_import_error(
            import, "what it stands for has %zu outputs, the node %zu", branch->n_output, node->n_output);
    for (size_t i = 0; i < node->n_output; ++i) {
        const char *name = branch->output[i]->name;
        const struct cnnvp_onnx_value *value = name != NULL ? cnnvp_import_known(import, name) : NULL;
        if (node->output[i][0] == '\0')
            continue;
        if (value == NULL)
            return cnnvp_import_error(
                import, "no node of what it stands for computes \"%s\"", name != NULL ? name : "");
        CNNVP_TRY(cnnvp_import_define(import, node->output[i], *value));
    }
    return CNNVP_DONE;
}

/* Imports a branch, or a function's body, in place of the node. */
static cnnvp_result put_in_place(struct cnnvp_import *import, const Onnx__GraphProto *from,
                                 const Onnx__FunctionProto *function)
{
    struct renaming renaming = {.import = import,
                                .function = function,
                                .call = function != NULL ? import->node : NULL,
                                .prefix = import->node->output[0]};
    const cnnvp_result found = find_own(&renaming, from, function);
    const Onnx__GraphProto *graph = found == CNNVP_DONE ? rename_graph(&renaming, from) : NULL;
    cnnvp_names_clear(&renaming.own);
    CNNVP_TRY(found);
    CNNVP_TRY_MEMORY(graph != NULL, import->error);
    const Onnx__NodeProto *node = import->node;
    const size_t first = import->graph->layer_count;
    const struct cnnvp_import_scope scope = {graph, node, import->scope};
    import->scope = &scope;
    const cnnvp_result result = import_nodes(import, graph);
    import->scope = scope.outer;
    import->node = node;
    const char *op_type = cnnvp_arena_text(&import->graph->arena, node->op_type);
    for (size_t i = first; op_type != NULL && function != NULL && i < import->graph->layer_count; ++i)
        import->graph->layers[i].op_type = op_type; /* layers show the operator of the file */
    return result == CNNVP_DONE ? give_outputs(import, graph) : result;
}

static cnnvp_result take_branch(struct cnnvp_import *import, int taken)
{
    const Onnx__AttributeProto *found = cnnvp_onnx_attribute(import->node, taken ? "then_branch" : "else_branch");
    if (found == NULL || found->g == NULL)
        return cnnvp_import_error(
            import, "it has no %s, or one that is nested too deep", taken ? "then_branch" : "else_branch");
    return put_in_place(import, found->g, NULL);
}

/* Selects one output of the branches by the condition: inputs are the condition, and the outputs of then and else. */
static cnnvp_result choose(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    int64_t dims[3][CNNVP_ONNX_RANK];
    size_t ranks[3];
    for (size_t i = 0; i < 3; ++i)
        CNNVP_TRY(cnnvp_import_dims_of(import, i, &ranks[i], dims[i]));
    int same = ranks[1] == ranks[2];
    for (size_t i = import->single ? 0 : 1; i < ranks[1] && same; ++i)
        same = dims[1][i] == dims[2][i];
    if (!same)
        return cnnvp_import_error(import, "its branches give other dimensions, and its condition depends on the "
                                          "network's input");
    for (size_t i = import->single ? 0 : 1; i < ranks[0]; ++i)
        if (dims[0][i] != 1)
            return cnnvp_import_error(import, "its condition has %lld elements; one is needed", (long long)dims[0][i]);
    say(&text, "one = Reshape(a, [%d", import->single ? 1 : 0);
    for (size_t i = 1; i < ranks[1]; ++i)
        say(&text, ", 1");
    say(&text, "]); y = Where(one, b, c)");
    return rewrite(import, &text);
}

/* Imports both branches, and selects between their outputs by the computed condition. */
static cnnvp_result take_both(struct cnnvp_import *import)
{
    struct cnnvp_arena *arena = &import->graph->arena;
    const Onnx__NodeProto *node = import->node;
    const size_t count = node->n_output;
    char **names = cnnvp_arena_array(arena, 2 * count, sizeof *names);
    for (size_t i = 0; i < 2 * count && names != NULL; ++i)
        names[i] = cnnvp_arena_printf(arena, "%s/%s", node->output[i % count], i < count ? "else" : "then");
    cnnvp_result result = CNNVP_DONE;
    for (int taken = 1; taken >= 0 && result == CNNVP_DONE; --taken) {
        Onnx__NodeProto branch = *node;
        CNNVP_TRY_MEMORY(names != NULL && names[2 * count - 1] != NULL, import->error);
        branch.output = names + (taken ? count : 0);
        import->node = &branch;
        result = take_branch(import, taken);
    }
    for (size_t i = 0; i < count && result == CNNVP_DONE; ++i) {
        Onnx__NodeProto chosen = *node;
        char *inputs[] = {node->input[0], names[count + i], names[i]};
        chosen.n_input = 3;
        chosen.input = inputs;
        chosen.n_output = 1;
        chosen.output = node->output + i;
        import->node = &chosen;
        result = choose(import);
    }
    import->node = node;
    return result;
}

cnnvp_result cnnvp_operator_if(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    struct cnnvp_constant condition = {0};
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    if (import->training)
        CNNVP_TRY(cnnvp_import_error(import, "a network that learns has no branches"));
    if (value.constant == NULL)
        return take_both(import);
    CNNVP_TRY(cnnvp_constant_need(import, 0, &condition));
    if (condition.count != 1)
        CNNVP_TRY(cnnvp_import_error(import, "its condition has %zu elements; one is needed", condition.count));
    return take_branch(
        import, condition.whole ? condition.ints[0] != 0 : condition.floats[0] < 0.0f || condition.floats[0] > 0.0f);
}

/* ---- functions ---- */

static const char *domain_of(const char *domain)
{
    return domain == NULL || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

/* The overload of a call or function, with its length in front (since IR version 10, a field that libonnx-dev's
 * onnx.proto does not know); "" without one. */
static const char *overload_of(const ProtobufCMessage *message, uint32_t tag, size_t *size)
{
    *size = 1;
    for (unsigned i = 0; i < message->n_unknown_fields; ++i)
        if (message->unknown_fields[i].tag == tag) {
            *size = message->unknown_fields[i].len;
            return (const char *)message->unknown_fields[i].data;
        }
    return "";
}

static int same_overload(const Onnx__FunctionProto *function, const Onnx__NodeProto *node)
{
    size_t sizes[2];
    const char *first = overload_of(&function->base, 13, &sizes[0]);
    const char *second = overload_of(&node->base, 8, &sizes[1]);
    return sizes[0] == sizes[1] && memcmp(first, second, sizes[0]) == 0;
}

const Onnx__FunctionProto *cnnvp_import_function_of(const Onnx__ModelProto *model, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < model->n_functions; ++i) {
        const Onnx__FunctionProto *function = model->functions[i];
        if (function->name != NULL && strcmp(function->name, node->op_type) == 0 &&
            strcmp(domain_of(function->domain), domain_of(node->domain)) == 0 && same_overload(function, node))
            return function;
    }
    return NULL;
}

/* The operator set of a function's body may differ from the file's. */
static cnnvp_result find_opset(struct cnnvp_import *import, const Onnx__FunctionProto *function, uint64_t *opset)
{
    *opset = import->onnx.opset;
    for (size_t i = 0; i < function->n_opset_import; ++i) {
        const Onnx__OperatorSetIdProto *set = function->opset_import[i];
        if (domain_of(set->domain)[0] != '\0')
            continue;
        if (!cnnvp_onnx_knows(set->version))
            return cnnvp_import_error(import, "function \"%s\" has operator set %lld, which is not supported",
                                      function->name, (long long)set->version);
        *opset = (uint64_t)set->version;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_function(struct cnnvp_import *import, const Onnx__FunctionProto *function,
                                   Onnx__GraphProto *body, uint64_t opset)
{
    struct cnnvp_arena *arena = &import->graph->arena;
    const uint64_t before = import->onnx.opset;
    if (import->training)
        return cnnvp_import_error(import, "a network that learns has no such operator, and no functions");
    if (import->calls == CALLS_MAX)
        return cnnvp_import_error(import, "functions call one another more than %u deep", CALLS_MAX);
    body->n_output = function->n_output;
    body->output = cnnvp_arena_array(arena, function->n_output, sizeof(Onnx__ValueInfoProto *));
    Onnx__ValueInfoProto *outputs = cnnvp_arena_array(arena, function->n_output, sizeof *outputs);
    CNNVP_TRY_MEMORY(body->output != NULL && outputs != NULL, import->error);
    for (size_t i = 0; i < function->n_output; ++i) {
        onnx__value_info_proto__init(&outputs[i]);
        outputs[i].name = function->output[i];
        body->output[i] = &outputs[i];
    }
    import->onnx.opset = opset;
    ++import->calls;
    const cnnvp_result result = put_in_place(import, body, function);
    --import->calls;
    import->onnx.opset = before;
    return result;
}

cnnvp_result cnnvp_import_call(struct cnnvp_import *import, int *done)
{
    const Onnx__FunctionProto *function = cnnvp_import_function_of(import->onnx.model, import->node);
    uint64_t opset;
    Onnx__GraphProto body;
    *done = function != NULL;
    if (function == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(find_opset(import, function, &opset));
    onnx__graph_proto__init(&body);
    body.n_node = function->n_node;
    body.node = function->node;
    return cnnvp_import_function(import, function, &body, opset);
}
