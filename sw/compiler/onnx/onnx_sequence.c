/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes and inputs of a graph are imported, and in which order: those that the outputs need, in the file's order,
 * but each after the nodes that it reads. ONNX requires this order, but converters that append nodes do not keep it.
 */
#include <stdlib.h>

#include "onnx_node.h"

enum mark { UNSEEN, WANTED, BEGUN, PLACED };

struct ordering {
    struct cnnvp_import *import;
    const Onnx__GraphProto *graph;
    struct cnnvp_arena arena;
    struct cnnvp_names makers; /* by name: index of the node that computes it, or node count + index of the input */
    uint32_t *first;           /* by node: index of its first entry in `needed`; one more element for the end */
    uint32_t *needed;          /* makers of what each node reads */
    uint32_t needed_count;
    uint8_t *marks;
    uint32_t *stack, *next; /* nodes in progress, and the next entry of `needed` for each */
};

/* Checks that each name is defined once; otherwise a reader could get another tensor than intended. */
static cnnvp_result find_makers(struct ordering *ordering)
{
    uint32_t known;
    struct cnnvp_import *import = ordering->import;
    const Onnx__GraphProto *graph = ordering->graph;
    for (size_t i = 0; i < graph->n_input; ++i) {
        const char *name = graph->input[i]->name;
        if (name != NULL && !cnnvp_names_get(&import->names, name, &known) &&
            !cnnvp_names_set(&ordering->makers, name, (uint32_t)(graph->n_node + i)))
            return cnnvp_compiler_no_memory(import->error);
    }
    for (uint32_t i = 0; i < ordering->graph->n_node; ++i) {
        const Onnx__NodeProto *node = import->node = ordering->graph->node[i];
        for (size_t output = 0; output < node->n_output; ++output) {
            const char *name = node->output[output];
            if (name[0] == '\0' || cnnvp_import_begins_at(import, name))
                continue;
            if (cnnvp_names_get(&import->names, name, &known) || cnnvp_names_get(&ordering->makers, name, &known))
                return cnnvp_import_error(import,
                                          "output \"%s\" is already an input or weight of the graph or the result "
                                          "of another node",
                                          name);
            CNNVP_TRY_MEMORY(cnnvp_names_set(&ordering->makers, name, i), import->error);
        }
    }
    return CNNVP_DONE;
}

/* Returns 0 if there is no memory. */
static int add_need(struct ordering *ordering, const char *name)
{
    uint32_t maker;
    if (!cnnvp_names_get(&ordering->makers, name, &maker))
        return 1;
    uint32_t *needed = cnnvp_grow(ordering->needed, ordering->needed_count, sizeof *needed);
    if (needed == NULL)
        return 0;
    ordering->needed = needed;
    ordering->needed[ordering->needed_count++] = maker;
    return 1;
}

/* Adds what a node reads, and what the graphs in its attributes read, as deeply nested as onnx_scan.c keeps them. */
static int add_needs(struct ordering *ordering, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_input; ++i)
        if (!add_need(ordering, node->input[i]))
            return 0;
    for (size_t i = 0; i < node->n_attribute; ++i) {
        const Onnx__GraphProto *inner = node->attribute[i]->g;
        for (size_t j = 0; inner != NULL && j < inner->n_node; ++j)
            if (!add_needs(ordering, inner->node[j]))
                return 0;
        for (size_t j = 0; inner != NULL && j < inner->n_output; ++j)
            if (inner->output[j]->name != NULL && !add_need(ordering, inner->output[j]->name))
                return 0;
    }
    return 1;
}

/* Marks the nodes that the graph's outputs need. */
static void mark_wanted(struct ordering *ordering)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < ordering->graph->n_output; ++i) {
        uint32_t maker;
        const char *name = ordering->graph->output[i]->name;
        if (name == NULL || !cnnvp_names_get(&ordering->makers, name, &maker) || ordering->marks[maker] != UNSEEN)
            continue;
        ordering->marks[maker] = WANTED;
        ordering->stack[depth++] = maker;
        while (depth != 0) {
            const uint32_t node = ordering->stack[--depth];
            for (uint32_t at = ordering->first[node]; at < ordering->first[node + 1]; ++at) {
                const uint32_t need = ordering->needed[at];
                if (ordering->marks[need] != UNSEEN)
                    continue;
                ordering->marks[need] = WANTED;
                ordering->stack[depth++] = need;
            }
        }
    }
}

/* Appends the node to the sequence, after the nodes that it needs and that are not in it yet. */
static cnnvp_result place(struct ordering *ordering, uint32_t node, struct cnnvp_import_sequence *sequence)
{
    uint32_t depth = 0;
    ordering->stack[0] = node;
    ordering->next[0] = ordering->first[node];
    ordering->marks[node] = BEGUN;
    for (;;) {
        const uint32_t top = ordering->stack[depth];
        if (ordering->next[depth] == ordering->first[top + 1]) {
            ordering->marks[top] = PLACED;
            if (top < ordering->graph->n_node)
                sequence->nodes[sequence->count++] = top;
            if (depth-- == 0)
                return CNNVP_DONE;
            continue;
        }
        const uint32_t need = ordering->needed[ordering->next[depth]++];
        if (ordering->marks[need] == BEGUN) {
            ordering->import->node = ordering->graph->node[need];
            return cnnvp_import_error(ordering->import, "it reads what is computed from its own output");
        }
        if (ordering->marks[need] == PLACED)
            continue;
        ordering->marks[need] = BEGUN;
        ordering->stack[++depth] = need;
        ordering->next[depth] = ordering->first[need];
    }
}

static void clear(struct ordering *ordering)
{
    cnnvp_names_clear(&ordering->makers);
    free(ordering->needed);
    cnnvp_arena_free(&ordering->arena);
}

cnnvp_result cnnvp_import_sequence(struct cnnvp_import *import, const Onnx__GraphProto *graph,
                                   struct cnnvp_import_sequence *sequence)
{
    const size_t count = graph->n_node;
    const size_t all = count + graph->n_input + 1;
    CNNVP_SCOPED(clear) struct ordering ordering = {.import = import, .graph = graph};
    struct cnnvp_arena *arena = &ordering.arena;
    *sequence = (struct cnnvp_import_sequence){
        .nodes = calloc(count + 1, sizeof *sequence->nodes), .reads = calloc(all, sizeof *sequence->reads)};
    ordering.first = cnnvp_arena_array(arena, all, sizeof *ordering.first);
    ordering.marks = cnnvp_arena_array(arena, all, sizeof *ordering.marks);
    ordering.stack = cnnvp_arena_array(arena, all, sizeof *ordering.stack);
    ordering.next = cnnvp_arena_array(arena, all, sizeof *ordering.next);
    CNNVP_TRY_MEMORY(sequence->nodes != NULL && sequence->reads != NULL && !arena->failed, import->error);
    CNNVP_TRY(find_makers(&ordering));
    for (size_t i = 0; i + 1 < all; ++i) {
        if (i < count && !add_needs(&ordering, graph->node[i]))
            return cnnvp_compiler_no_memory(import->error);
        ordering.first[i + 1] = ordering.needed_count;
    }
    mark_wanted(&ordering);
    for (size_t i = 0; i < graph->n_input; ++i)
        sequence->reads[i] = ordering.marks[count + i] != UNSEEN;
    for (uint32_t i = 0; i < count; ++i)
        if (ordering.marks[i] == WANTED)
            CNNVP_TRY(place(&ordering, i, sequence));
    return CNNVP_DONE;
}

void cnnvp_import_sequence_clear(struct cnnvp_import_sequence *sequence)
{
    free(sequence->nodes);
    free(sequence->reads);
    *sequence = (struct cnnvp_import_sequence){0};
}
