/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places on chip, for networks that stay there between loading and the result: blobs in the halves of the weight buffer
 * for the whole run, tensors in the halves of the input buffer from the layer that makes them to the last one that
 * reads them. The network's outputs leave through the output buffer and have no place. Both operands of an addition lie
 * in one half.
 */
#include <stdlib.h>

#include "binary_internal.h"
#include "plan.h"

#define HALVES 2u

/* ---- weight buffer: largest first, each into the first half with room ---- */

static int by_size(const void *a, const void *b)
{
    const struct cnnvp_binary_blob *x = *(const struct cnnvp_binary_blob *const *)a;
    const struct cnnvp_binary_blob *y = *(const struct cnnvp_binary_blob *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->address < y->address ? -1 : 1;
}

static cnnvp_result place_blobs(const struct cnnvp_target *target, struct cnnvp_build *build, struct cnnvp_error *error)
{
    const size_t count = build->blobs.count;
    const uint64_t room = target->limits.weight_bytes;
    uint64_t used[HALVES] = {0, 0};
    uint64_t missing = 0;
    struct cnnvp_binary_blob **sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return cnnvp_compiler_no_memory(error);
    for (size_t i = 0; i < count; ++i)
        sorted[i] = &build->blobs.all[i];
    qsort(sorted, count, sizeof(struct cnnvp_binary_blob *), by_size);
    for (size_t i = 0; i < count; ++i) {
        uint32_t half = 0;
        while (half < target->limits.weight_halves && used[half] + sorted[i]->bytes > room)
            ++half;
        if (half == target->limits.weight_halves) {
            missing += cnnvp_binary_align(sorted[i]->bytes);
            continue;
        }
        sorted[i]->chip_half = half;
        sorted[i]->chip_address = (uint32_t)used[half];
        used[half] = cnnvp_binary_align(used[half] + sorted[i]->bytes);
    }
    free(sorted);
    if (missing != 0)
        return cnnvp_compiler_error(error,
                                    "the network does not fit on chip: the weight buffer lacks %llu bytes for all "
                                    "weights; use -s weight_buffer.size= or run it from memory",
                                    (unsigned long long)missing);
    return CNNVP_DONE;
}

/* ---- input buffer ---- */

struct life {
    int32_t tensor; /* base */
    size_t first;   /* layer that makes it; the network's input: 0 */
    size_t last;    /* last layer that reads it */
    int placed;
    uint32_t half;
    uint64_t address;
    uint64_t bytes;
};

struct lives {
    struct life *all;
    size_t count;
    uint64_t room;
    uint32_t halves;
};

static struct life *life_of(const struct lives *lives, int32_t base)
{
    for (size_t i = 0; i < lives->count; ++i)
        if (lives->all[i].tensor == base)
            return &lives->all[i];
    return NULL;
}

/* Lives in the order in which tensors appear. */
static void find_lives(const struct cnnvp_graph *graph, const struct cnnvp_build *build, struct lives *lives)
{
    const int32_t input = cnnvp_graph_base(graph, graph->input);
    for (size_t i = 0; i <= graph->layer_count; ++i) {
        const int32_t made = i == 0 ? input : cnnvp_graph_base(graph, graph->layers[i - 1].out);
        if (cnnvp_graph_is_output(graph, made) || life_of(lives, made) != NULL)
            continue;
        struct life *life = &lives->all[lives->count++];
        *life = (struct life){.tensor = made, .first = i == 0 ? 0 : i - 1};
        life->bytes = cnnvp_binary_align(cnnvp_binary_frame_bytes(&build->tensors[made]));
        for (size_t reader = 0; reader < graph->layer_count; ++reader)
            if (cnnvp_graph_base(graph, graph->layers[reader].in) == made ||
                cnnvp_graph_base(graph, graph->layers[reader].in2) == made)
                life->last = reader;
    }
}

/* Lowest address of a half where the tensor overlaps no other that lives at the same time. 0: no room. */
static int find_room(const struct lives *lives, const struct life *life, uint32_t half, uint64_t *address)
{
    *address = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (size_t i = 0; i < lives->count; ++i) {
            const struct life *other = &lives->all[i];
            if (!other->placed || other->half != half || other->last < life->first || life->last < other->first)
                continue;
            if (*address < other->address + other->bytes && other->address < *address + life->bytes) {
                *address = other->address + other->bytes;
                moved = 1;
            }
        }
    }
    return *address + life->bytes <= lives->room;
}

/* The half of the tensor that is added to this one, if that has a place; HALVES: free choice. */
static uint32_t forced_half(const struct cnnvp_graph *graph, const struct lives *lives, int32_t tensor)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->op != CNNVP_OP_ADD)
            continue;
        const int32_t a = cnnvp_graph_base(graph, layer->in);
        const int32_t b = cnnvp_graph_base(graph, layer->in2);
        const struct life *other = a == tensor ? life_of(lives, b) : b == tensor ? life_of(lives, a) : NULL;
        if (other != NULL && other->placed)
            return other->half;
    }
    return HALVES;
}

/* The half that the layer which makes the tensor reads from: the other one is better. */
static uint32_t source_half(const struct cnnvp_graph *graph, const struct lives *lives, const struct life *life)
{
    const struct cnnvp_graph_layer *maker = &graph->layers[life->first];
    if (cnnvp_graph_base(graph, maker->out) != life->tensor)
        return 1; /* the network's input: into half 0 */
    const struct life *source = life_of(lives, cnnvp_graph_base(graph, maker->in));
    return source != NULL ? source->half : 1;
}

static cnnvp_result place_life(const struct cnnvp_graph *graph, struct lives *lives, struct life *life,
                               struct cnnvp_error *error)
{
    const uint32_t forced = forced_half(graph, lives, life->tensor);
    const uint32_t better = (source_half(graph, lives, life) + 1u) % lives->halves;
    uint64_t lack = UINT64_MAX;
    for (uint32_t i = 0; i < lives->halves; ++i) {
        const uint32_t half = (better + i) % lives->halves;
        uint64_t address;
        if (forced != HALVES && half != forced)
            continue;
        if (find_room(lives, life, half, &address)) {
            life->placed = 1;
            life->half = half;
            life->address = address;
            return CNNVP_DONE;
        }
        const uint64_t over = address + life->bytes - lives->room;
        lack = over < lack ? over : lack;
    }
    return cnnvp_compiler_error(error,
                                "the network does not fit on chip: a half of the input buffer lacks %llu bytes for "
                                "tensor \"%s\"; use -s input_buffer.size= or run it from memory",
                                (unsigned long long)lack, graph->tensors[life->tensor].name);
}

static cnnvp_result place_tensors(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                  struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct lives lives = {.room = target->limits.input_bytes, .halves = target->limits.input_halves};
    lives.all = calloc(graph->layer_count + 1, sizeof *lives.all);
    if (lives.all == NULL)
        return cnnvp_compiler_no_memory(error);
    find_lives(graph, build, &lives);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < lives.count && result == CNNVP_DONE; ++i)
        result = place_life(graph, &lives, &lives.all[i], error);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count && result == CNNVP_DONE; ++i) {
        const int32_t base = cnnvp_graph_base(graph, i);
        const struct life *life = life_of(&lives, base);
        if (life == NULL)
            continue;
        build->tensors[i].chip_half = life->half;
        build->tensors[i].chip_address =
            (uint32_t)life->address + (build->tensors[i].address - build->tensors[base].address);
    }
    free(lives.all);
    return result;
}

/* ---- output buffer ---- */

static cnnvp_result check_outputs(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                  const struct cnnvp_build *build, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_tiling tiling;
        const cnnvp_result result =
            cnnvp_plan_tiling(&build->layers[i], graph->layers[i].name, &target->limits, &tiling, error);
        if (result != CNNVP_DONE)
            return result;
        const uint64_t need = cnnvp_plan_use_of(&build->layers[i], tiling.result_bytes).output_bytes;
        if (need > target->limits.output_bytes)
            return cnnvp_compiler_error(
                error,
                "the network does not fit on chip: layer \"%s\" gives %llu bytes, a half of "
                "the output buffer holds %llu; use -s output_buffer.size= or run it from "
                "memory",
                graph->layers[i].name, (unsigned long long)need, (unsigned long long)target->limits.output_bytes);
        if (i + 1 < graph->layer_count && cnnvp_graph_is_output(graph, graph->layers[i].out))
            return cnnvp_compiler_error(
                error, "the network cannot stay on chip: its output is not made by its last layer "
                       "alone; run it from memory");
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_binary_place_on_chip(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                        struct cnnvp_build *build, struct cnnvp_error *error)
{
    cnnvp_result result = check_outputs(graph, target, build, error);
    if (result == CNNVP_DONE)
        result = place_blobs(target, build, error);
    return result == CNNVP_DONE ? place_tensors(graph, target, build, error) : result;
}
