/* SPDX-License-Identifier: Apache-2.0 */
/* See plan_memory.h. */
#include "plan_memory.h"

#include <stdlib.h>
#include <string.h>

#include "binary_internal.h"
#include "command_costs.h"

struct cnnvp_plan_memory {
    int complete;                  /* 1: everything below is there */
    struct cnnvp_asked_list asked; /* what the units were asked, and their answers */
    struct cnnvp_arena arena;      /* owns all below */
    struct cnnvp_plan_limits limits;
    size_t layer_count, tensor_count;
    struct cnnvp_layer *layers;   /* before they were cut, with maps in planes */
    struct cnnvp_tensor *tensors; /* likewise */
    struct cnnvp_tiling *tilings; /* of each layer */
    struct cnnvp_plan_finalists *finalists;
    uint32_t *blocks; /* channels of a block of each map */
};

struct cnnvp_plan_memory *cnnvp_plan_memory_new(void)
{
    return calloc(1, sizeof(struct cnnvp_plan_memory));
}

void cnnvp_plan_memory_free(struct cnnvp_plan_memory *memory)
{
    if (memory == NULL)
        return;
    free(memory->asked.all);
    cnnvp_arena_free(&memory->arena);
    free(memory);
}

void cnnvp_plan_memory_listen(const struct cnnvp_target *target)
{
    struct cnnvp_plan_memory *memory = target->memory;
    if (memory != NULL && !memory->complete)
        cnnvp_command_costs_note(target->limits.costs, &memory->asked);
}

static void *copy(struct cnnvp_arena *arena, const void *from, size_t count, size_t size)
{
    void *to = cnnvp_arena_array(arena, count, size);
    if (to != NULL)
        memcpy(to, from, count * size);
    return to;
}

cnnvp_result cnnvp_plan_memory_begin(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                     const struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct cnnvp_plan_memory *memory = target->memory;
    if (memory == NULL || memory->complete)
        return CNNVP_DONE;
    memory->limits = target->limits;
    memory->layer_count = graph->layer_count;
    memory->tensor_count = graph->tensor_count;
    memory->layers = copy(&memory->arena, build->layers, graph->layer_count, sizeof *memory->layers);
    memory->tensors = copy(&memory->arena, build->tensors, graph->tensor_count, sizeof *memory->tensors);
    memory->tilings = cnnvp_arena_array(&memory->arena, graph->layer_count, sizeof *memory->tilings);
    CNNVP_TRY_MEMORY(!memory->arena.failed, error);
    for (size_t i = 0; i < graph->layer_count; ++i)
        CNNVP_TRY(
            cnnvp_plan_tiling(&build->layers[i], graph->layers[i].name, &target->limits, &memory->tilings[i], error));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_plan_memory_end(const struct cnnvp_target *target, const struct cnnvp_build *build,
                                   const uint32_t *blocks, struct cnnvp_error *error)
{
    struct cnnvp_plan_memory *memory = target->memory;
    if (memory == NULL || memory->complete)
        return CNNVP_DONE;
    cnnvp_command_costs_note(target->limits.costs, NULL);
    memory->finalists = copy(&memory->arena, build->finalists, memory->layer_count, sizeof *memory->finalists);
    memory->blocks = copy(&memory->arena, blocks, memory->tensor_count, sizeof *memory->blocks);
    memory->complete = !memory->arena.failed && !memory->asked.failed;
    return memory->arena.failed ? cnnvp_compiler_no_memory(error) : CNNVP_DONE;
}

/* The limits, less what answers are compared for, and less the energies if ways are not chosen by them. */
static struct cnnvp_plan_limits comparable(const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_limits own = *limits;
    own.units = NULL;
    own.costs = NULL;
    if (own.objective == CNNVP_OBJECTIVE_TIME || own.objective == CNNVP_OBJECTIVE_TRAFFIC)
        memset(&own.energy, 0, sizeof own.energy);
    return own;
}

/* 1: they are cut alike. What the units do with words has led to the layers, which are compared, too. */
static int tilings_alike(const struct cnnvp_tiling *a, const struct cnnvp_tiling *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->in == b->in && a->out == b->out && a->side == b->side &&
           a->result_bytes == b->result_bytes && a->word_bytes == b->word_bytes && a->pes == b->pes;
}

static int layers_alike(const struct cnnvp_plan_memory *memory, const struct cnnvp_graph *graph,
                        const struct cnnvp_target *target, const struct cnnvp_build *build)
{
    struct cnnvp_tiling tiling;
    struct cnnvp_error ignored;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (!cnnvp_plan_are_alike(&memory->layers[i], &build->layers[i]) ||
            cnnvp_plan_tiling(&build->layers[i], graph->layers[i].name, &target->limits, &tiling, &ignored) !=
                CNNVP_DONE ||
            !tilings_alike(&memory->tilings[i], &tiling))
            return 0;
    return 1;
}

int cnnvp_plan_memory_recall(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                             const struct cnnvp_build *build, const struct cnnvp_plan_finalists **finalists,
                             const uint32_t **blocks)
{
    const struct cnnvp_plan_memory *memory = target->memory;
    if (memory == NULL || !memory->complete || memory->layer_count != graph->layer_count ||
        memory->tensor_count != graph->tensor_count)
        return 0;
    const struct cnnvp_plan_limits then = comparable(&memory->limits), now = comparable(&target->limits);
    *finalists = memory->finalists;
    *blocks = memory->blocks;
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): other padding costs a search */
    return memcmp(&then, &now, sizeof now) == 0 &&
           memcmp(memory->tensors, build->tensors, graph->tensor_count * sizeof *build->tensors) == 0 &&
           layers_alike(memory, graph, target, build) && cnnvp_plan_answers_alike(&target->limits, &memory->asked);
}
