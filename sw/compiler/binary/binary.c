/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the binary: the order of planning, placing and describing, then weight tiles, and builds for trials. */
#include "binary_internal.h"
#include "binary/layer_command.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp_integer.h"
#include "group_build.h"
#include "numbers.h"
#include "parallel.h"
#include "plan.h"

void cnnvp_binary_clear(struct cnnvp_build *build)
{
    for (size_t g = 0; build->groups != NULL && build->groups->levels == NULL && g < build->groups->count; ++g)
        cnnvp_plan_group_clear(&build->groups->plans[g]);
    free(build->weight_tiles.all);
    cnnvp_arena_free(&build->arena);
    memset(build, 0, sizeof *build);
}

void cnnvp_binary_take_zeros(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    for (size_t i = 0; i < graph->tensor_count; ++i)
        build->tensors[i].zero = cnnvp_graph_word_zero(graph, (int32_t)i);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        build->layers[i].in.zero = cnnvp_graph_word_zero(graph, graph->layers[i].in);
        build->layers[i].out.zero = cnnvp_graph_word_zero(graph, graph->layers[i].out);
    }
    if (build->groups != NULL)
        cnnvp_groups_take_zeros(graph, build);
}

cnnvp_result cnnvp_binary_take_formats(const struct cnnvp_graph *graph, uint32_t rounding, struct cnnvp_build *build,
                                       struct cnnvp_error *error)
{
    const cnnvp_result result = cnnvp_binary_format_layers(graph, rounding, build, error);
    if (result == CNNVP_DONE)
        cnnvp_binary_emit_layers(graph, build);
    return cnnvp_compiler_in_file(result, graph->file, error);
}

/* ---- weight tiles ---- */

/* Adds the weight tiles of a layer whose tiles are set. CNNVP_FAILED: out of memory or too many weight tiles. */
static cnnvp_result add_weight_tiles(struct cnnvp_layer *layer, struct cnnvp_weight_tiles *weight_tiles)
{
    layer->first_weight_tile = weight_tiles->count;
    layer->weight_tile_count = cnnvp_plan_weight_tile_count(layer);
    const size_t count = (size_t)weight_tiles->count + layer->weight_tile_count;
    if (count > UINT32_MAX / sizeof *weight_tiles->all)
        return CNNVP_FAILED;
    struct cnnvp_weight_tile *all = realloc(weight_tiles->all, (count + 1) * sizeof *all);
    if (all == NULL)
        return CNNVP_FAILED;
    weight_tiles->all = all;
    weight_tiles->count = (uint32_t)count;
    for (uint32_t i = 0; i < layer->weight_tile_count; ++i) {
        struct cnnvp_weight_tile *weight_tile = &all[layer->first_weight_tile + i];
        *weight_tile = (struct cnnvp_weight_tile){.bytes = (uint32_t)cnnvp_plan_weight_tile_bytes(layer, i)};
        if (layer->product == 0)
            continue;
        weight_tile->stays = CNNVP_WEIGHT_TILE_TENSOR;
        weight_tile->address = cnnvp_weight_tile_part(layer, i).out * layer->in.channels << layer->in2.word_shift;
    }
    return CNNVP_DONE;
}

/* Places the weight tiles from number `first` on in sequence, at address `at`. Returns the address after them. */
static uint64_t place_weight_tiles(struct cnnvp_weight_tiles *weight_tiles, uint32_t first, uint64_t at)
{
    for (uint32_t i = first; i < weight_tiles->count; ++i) {
        if (weight_tiles->all[i].stays == CNNVP_WEIGHT_TILE_TENSOR)
            continue;
        weight_tiles->all[i].address = (uint32_t)at;
        at += cnnvp_binary_align(weight_tiles->all[i].bytes);
    }
    return at;
}

/* Bytes of each half of the input buffer for the layer's tiles. They lie below tensors that stay on chip. */
static uint64_t room_of(const struct cnnvp_target *target, const struct cnnvp_build *build, size_t layer)
{
    return cnnvp_minimum(cnnvp_binary_chip_top(target, build, 0, layer, layer),
                         cnnvp_binary_chip_top(target, build, target->limits.input_halves - 1u, layer, layer));
}

int cnnvp_binary_planned_alike(const struct cnnvp_target *target, const struct cnnvp_build *build, size_t one,
                               size_t other)
{
    return build->finalists[one].count != 0 && cnnvp_plan_are_alike(&build->layers[one], &build->layers[other]) &&
           room_of(target, build, one) == room_of(target, build, other);
}

static void note_need(uint64_t *need, uint64_t bytes, uint64_t have)
{
    if (bytes > have && bytes > *need)
        *need = bytes;
}

/* A layer that does not fit is noted as a shortage and is no error yet: the other layers are planned too, so that one
 * message can name everything that is too small. `stays`: bytes of an input half that serve no tiles. */
static cnnvp_result search_layer(const struct cnnvp_graph *graph, size_t index, const struct cnnvp_plan_limits *limits,
                                 uint64_t stays, struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct cnnvp_shortage *shortage = &build->shortage;
    struct cnnvp_plan_use use;
    const cnnvp_result result = cnnvp_plan_layer(
        &build->layers[index], graph->layers[index].name, limits, &build->finalists[index], &use, error);
    if (result != CNNVP_DONE || build->finalists[index].count != 0)
        return result;
    if (limits->joint_bytes != 0) {
        note_need(&shortage->joint, cnnvp_plan_joint_bytes(&use), limits->joint_bytes);
    } else {
        note_need(&shortage->need.input_bytes, use.input_bytes + stays, limits->input_bytes + stays);
        note_need(&shortage->need.weight_bytes, use.weight_bytes, limits->weight_bytes);
        note_need(&shortage->need.output_bytes, use.output_bytes, limits->output_bytes);
    }
    if (shortage->layers++ == 0)
        shortage->first = graph->layers[index].name;
    shortage->by_batch |= build->layers[index].norm == CNNVP_NORM_BATCH;
    return CNNVP_DONE;
}

static cnnvp_result plan_layer(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                               const struct cnnvp_plan *plan, size_t index, struct cnnvp_build *build,
                               struct cnnvp_error *error)
{
    struct cnnvp_layer *layer = &build->layers[index];
    struct cnnvp_plan_finalists *finalists = &build->finalists[index];
    struct cnnvp_plan_limits limits = target->limits;
    size_t as = 0;
    limits.input_bytes = room_of(target, build, index);
    const uint64_t stays = target->limits.input_bytes - limits.input_bytes;
    if (plan != NULL && plan->cuts[index].group_out != 0) {
        cnnvp_plan_cut_layer(layer, plan->cuts[index]);
        return cnnvp_plan_check(layer, graph->layers[index].name, plan->cut_places[index], &limits, error);
    }
    if (finalists->count != 0 && !layer->in.on_chip && !layer->in2.on_chip && !layer->out.on_chip && stays == 0) {
        cnnvp_plan_cut_layer(layer, finalists->all[0].cut); /* from the search before layers were fused */
        return CNNVP_DONE;
    }
    while (as < index && !cnnvp_binary_planned_alike(target, build, as, index))
        ++as;
    if (as < index)
        *finalists = build->finalists[as];
    else
        CNNVP_TRY(search_layer(graph, index, &limits, stays, build, error));
    cnnvp_plan_cut_layer(layer, finalists->all[0].cut);
    return CNNVP_DONE;
}

static int make_finalists(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    if (build->finalists == NULL)
        build->finalists = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->finalists);
    return build->finalists != NULL;
}

/* Plans each layer by itself, then searches for layers that are better fused. */
static cnnvp_result make_plan(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                              const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                              struct cnnvp_error *error)
{
    CNNVP_TRY_MEMORY(make_finalists(graph, build), error);
    for (size_t i = 0; i < graph->layer_count; ++i)
        CNNVP_TRY(plan_layer(graph, target, NULL, i, build, error));
    return build->shortage.layers == 0 ? cnnvp_fused_search(graph, target, options, build, options->made, error)
                                       : CNNVP_DONE;
}

static cnnvp_result plan_layers(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                const struct cnnvp_binary_options *options, const struct cnnvp_plan *plan,
                                struct cnnvp_build *build, struct cnnvp_error *error)
{
    CNNVP_TRY_MEMORY(options->on_chip || options->planned != NULL || make_finalists(graph, build), error);
    build->shortage = (struct cnnvp_shortage){.layers = 0};
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_layer *layer = &build->layers[i];
        if (options->on_chip) {
            CNNVP_TRY(cnnvp_plan_whole(layer, graph->layers[i].name, &target->limits, error));
        } else if (layer->group == 0 && options->planned != NULL) { /* others are planned with their groups */
            cnnvp_plan_cut_layer(layer, cnnvp_plan_cut_of(&options->planned[i]));
        } else if (layer->group == 0) {
            CNNVP_TRY(plan_layer(graph, target, plan, i, build, error));
        }
        CNNVP_TRY_MEMORY(add_weight_tiles(layer, &build->weight_tiles) == CNNVP_DONE, error);
    }
    return CNNVP_DONE;
}

struct fill {
    const struct cnnvp_graph *graph;
    const struct cnnvp_build *build;
    uint8_t *binary;
};

_Static_assert(sizeof(struct cnnvp_binary_results) <= (sizeof(struct cnnvp_binary) + CNNVP_BINARY_ALIGNMENT - 1u) /
                                                          CNNVP_BINARY_ALIGNMENT * CNNVP_BINARY_ALIGNMENT,
               "it is in front of the first table");

static void fill_layer(void *context, size_t layer)
{
    const struct fill *fill = context;
    cnnvp_binary_fill_weight_tiles(fill->graph, fill->build, layer, fill->binary);
}

/* Layers are filled in parallel: each writes only its own weight tiles. */
static void fill_layers(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *binary)
{
    struct fill fill = {graph, build, binary};
    struct cnnvp_pool *pool = cnnvp_pool_new();
    cnnvp_pool_run(pool, fill_layer, &fill, graph->layer_count);
    cnnvp_pool_free(pool);
}

size_t cnnvp_binary_bytes(const struct cnnvp_graph *graph, const struct cnnvp_build *build)
{
    return graph->weightless ? build->table_bytes : (size_t)(build->weight_tile_end - cnnvp_binary_begin(build));
}

static void write_tables(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *to)
{
    memset(to, 0, build->table_bytes);
    cnnvp_binary_write_tables(build, to);
    if (build->shares.count > 1)
        return;
    const struct cnnvp_tensor *output = &build->tensors[graph->outputs[0].tensor];
    const uint32_t results[] = {output->address,  output->row_stride, output->channel_stride, output->image_stride,
                                output->channels, output->height,     output->width,          output->word_shift};
    memcpy(to + sizeof(struct cnnvp_binary), results, sizeof results);
}

void cnnvp_binary_write(const struct cnnvp_graph *graph, const struct cnnvp_build *build, uint8_t *to)
{
    write_tables(graph, build, to);
    if (!graph->weightless)
        fill_layers(graph, build, to);
}

/* Sets the memory layout of all maps. On-chip and depth-first runs have planes; tiles that are taken over keep their
 * layouts. */
static cnnvp_result lay_out(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                            const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                            struct cnnvp_error *error)
{
    if (options->on_chip || options->block != 0)
        return CNNVP_DONE;
    if (options->planned != NULL) {
        for (size_t i = 0; i < graph->layer_count; ++i)
            cnnvp_layout_set(graph, build, cnnvp_graph_base(graph, graph->layers[i].out),
                             options->planned[i].out.column_stride);
    } else if (options->made == NULL && options->plan != NULL) {
        CNNVP_TRY(cnnvp_layout_take(graph, options->plan, build, error));
    } else {
        CNNVP_TRY_MEMORY(make_finalists(graph, build), error);
        CNNVP_TRY(cnnvp_layout_choose(graph, target, build, error));
    }
    for (size_t i = 0; i < graph->layer_count; ++i)
        cnnvp_binary_refer_to_tensors(graph, build, i);
    return CNNVP_DONE;
}

/* Sets *better: 1 if a convolution of unquantised 16-bit words should not have scaled results. The vector unit and
 * folded rows do not support scaling, and they are faster if a map fills less than half of the PEs, if windows do not
 * overlap, or if the map is one row. The shapes alone decide: results do not depend on the plan. */
static cnnvp_result is_better_unscaled(const struct cnnvp_graph *graph, size_t index, const struct cnnvp_layer *layer,
                                       const struct cnnvp_plan_limits *limits, int *better, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *from = &graph->layers[index];
    struct cnnvp_tiling tiling;
    *better = 0;
    if (from->op != CNNVP_OP_CONV || from->depthwise != 0 || from->narrow_weights != 0 ||
        graph->tensors[cnnvp_graph_base(graph, from->in)].whole != 0)
        return CNNVP_DONE;
    const cnnvp_result result = cnnvp_plan_tiling(layer, from->name, limits, &tiling, error);
    *better = result != CNNVP_DONE || cnnvp_is_row(layer) ||
              (layer->kx * layer->ky > 1u && layer->sx >= layer->kx && layer->sy >= layer->ky) ||
              2u * layer->out.height * layer->out.width < tiling.rows * tiling.cols;
    return result == CNNVP_BAD_INPUT ? CNNVP_DONE : result;
}

static cnnvp_result choose_scale(const struct cnnvp_graph *graph, const struct cnnvp_target *target, size_t index,
                                 struct cnnvp_layer *layer, struct cnnvp_error *error)
{
    int unscaled;
    if (target->acc_bits < 32u || !cnnvp_graph_is_scaled(graph, &graph->layers[index]))
        return CNNVP_DONE;
    CNNVP_TRY(is_better_unscaled(graph, index, layer, &target->limits, &unscaled, error));
    return unscaled ? CNNVP_DONE : cnnvp_plan_choose_scale(layer, graph->layers[index].name, &target->limits, error);
}

/* The limits for planning a layer: the whole scratchpad, if layers divide it. */
static struct cnnvp_target for_layers(const struct cnnvp_target *target, int divides)
{
    struct cnnvp_target own = *target;
    struct cnnvp_plan_limits *limits = &own.limits;
    if (divides && limits->scratchpad_bytes != 0)
        limits->input_bytes = limits->weight_bytes = limits->output_bytes = limits->joint_bytes =
            limits->scratchpad_bytes;
    return own;
}

/* 1: the convolution has an addition after it in the same group, which its write-out may do. */
static int may_write_addition(const struct cnnvp_graph *graph, const struct cnnvp_binary_options *options,
                              const struct cnnvp_build *build, size_t layer)
{
    int grouped = options->planned != NULL && options->planned[layer].added.written_out;
    for (size_t i = 0; options->plan != NULL && i < options->plan->run_count; ++i) {
        const struct cnnvp_plan_run *run = &options->plan->runs[i];
        grouped |= layer >= run->first && layer + 1 < run->first + run->count;
    }
    return grouped && cnnvp_plan_table_words(&build->layers[layer]) == 0 && cnnvp_group_adds(graph, build, layer);
}

/* Chooses the layer's unit. A layer of a chain goes to the other unit if only that has room for its blocks. */
static cnnvp_result choose_unit(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                const struct cnnvp_binary_options *options, struct cnnvp_build *build, size_t index,
                                const struct cnnvp_plan_cut *wanted, struct cnnvp_error *error)
{
    struct cnnvp_layer *layer = &build->layers[index];
    const struct cnnvp_layer described = *layer;
    const char *name = graph->layers[index].name;
    struct cnnvp_error said;
    CNNVP_TRY(cnnvp_plan_choose_unit(
        layer, name, &target->limits, wanted, options->planned == NULL && options->plan == NULL ? index : 0,
        options->plan != NULL ? options->plan->cut_places[index] : NULL, error));
    if (build->better != NULL && options->plan->cuts[index].unit != CNNVP_PLAN_ANY_UNIT) {
        struct cnnvp_layer free = described;
        if (wanted->unit == CNNVP_UNIT_VECTOR + 1u)
            CNNVP_TRY(choose_scale(graph, target, index, &free, error));
        build->better[index] =
            cnnvp_plan_choose_unit(&free, name, &target->limits, NULL, 0, NULL, &said) == CNNVP_DONE &&
            free.unit != layer->unit;
    }
    if (options->block == 0 || cnnvp_depth_fits(graph, target, build, index))
        return CNNVP_DONE;
    const struct cnnvp_layer chosen = *layer;
    const struct cnnvp_plan_cut other = {.unit = 2u - chosen.unit};
    *layer = described;
    if (cnnvp_plan_choose_unit(layer, name, &target->limits, &other, 0, NULL, &said) != CNNVP_DONE ||
        !cnnvp_depth_fits(graph, target, build, index))
        *layer = chosen;
    return CNNVP_DONE;
}

static cnnvp_result build_binary(const struct cnnvp_graph *graph, const struct cnnvp_target *whole,
                                 const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_target own = for_layers(whole, options->divides);
    const struct cnnvp_target *const target = &own;
    build->divides = options->divides;
    if (options->plan != NULL && options->plan->file != NULL)
        CNNVP_TRY_MEMORY((build->better = cnnvp_arena_array(&build->arena, graph->layer_count, 1)) != NULL, error);
    cnnvp_binary_shape_tensors(graph, build);
    for (size_t i = 0; i < graph->layer_count; ++i)
        cnnvp_binary_describe_layer(graph, i, options, build);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_plan_cut wanted =
            options->plan != NULL && options->plan->cuts[i].group_out != 0 ? options->plan->cuts[i]
            : options->planned != NULL                                     ? cnnvp_plan_cut_of(&options->planned[i])
            : options->plan != NULL                                        ? options->plan->cuts[i]
                                    : (struct cnnvp_plan_cut){CNNVP_PLAN_ANY_UNIT};
        if (may_write_addition(graph, options, build, i))
            wanted.function = CNNVP_PLAN_ANY_FUNCTION;
        if (wanted.unit != CNNVP_UNIT_VECTOR + 1u)
            CNNVP_TRY(choose_scale(graph, target, i, &build->layers[i], error));
        CNNVP_TRY(choose_unit(graph, target, options, build, i, &wanted, error));
        if (cnnvp_plan_has_weights(&build->layers[i]) && build->layers[i].in.zero != 0 &&
            build->layers[i].bias != CNNVP_SCALE_WORDS)
            return cnnvp_compiler_error(error,
                                        "layer \"%s\": its input has a zero point, which an array takes that scales "
                                        "its results, and no other unit",
                                        graph->layers[i].name);
    }
    if (options->block != 0)
        CNNVP_TRY(cnnvp_depth_place(graph, target, options, build, error));
    CNNVP_TRY(lay_out(graph, target, options, build, error));
    if (options->made != NULL)
        CNNVP_TRY(make_plan(graph, target, options, build, error));
    const struct cnnvp_plan *plan = options->made != NULL ? options->made : options->plan;
    if (options->on_chip || (plan != NULL && options->block == 0)) {
        CNNVP_TRY(cnnvp_binary_place_residents(graph, target, plan, build, error));
        for (size_t i = 0; i < graph->layer_count; ++i)
            cnnvp_binary_refer_to_tensors(graph, build, i);
    }
    if (plan != NULL && options->block == 0)
        CNNVP_TRY(cnnvp_fused_plan(graph, target, plan, build, error));
    CNNVP_TRY(plan_layers(graph, target, options, plan, build, error));
    CNNVP_TRY(cnnvp_binary_divide(graph, target, build, error));
    for (size_t g = 0; build->groups != NULL && g < build->groups->count; ++g)
        CNNVP_TRY(build->groups->levels != NULL ? cnnvp_depth_place_weights(target, build, g, error)
                                                : cnnvp_fused_place_weights(target, build, g, error));
    const uint64_t at = cnnvp_binary_place_tables(build);
    build->table_bytes = (size_t)(at - cnnvp_binary_begin(build));
    build->end = build->weight_tile_end = place_weight_tiles(&build->weight_tiles, 0, at);
    CNNVP_TRY(cnnvp_binary_place_tensors(graph, target, options->images, build, error));
    if (options->issue == CNNVP_ISSUE_LIST)
        cnnvp_binary_place_list(target, build);
    if (options->on_chip)
        CNNVP_TRY(cnnvp_binary_keep_weight_tiles(graph, target, build, error));
    for (size_t i = 0; i < graph->layer_count; ++i)
        cnnvp_binary_refer_to_tensors(graph, build, i);
    cnnvp_binary_emit_layers(graph, build);
    build->header->input = build->tensors[cnnvp_graph_base(graph, graph->input)];
    return CNNVP_DONE;
}

static int begins_with(const char *text, const char *file)
{
    return file != NULL && strncmp(text, file, strlen(file)) == 0;
}

/* Errors that begin with the plan's file, or that of an order, stay as they are; others get the name of the network's
 * file. */
static cnnvp_result in_its_file(const struct cnnvp_graph *graph, const struct cnnvp_binary_options *options,
                                cnnvp_result result, struct cnnvp_error *error)
{
    if ((options->plan != NULL && begins_with(error->text, options->plan->file)) ||
        (options->order != NULL && begins_with(error->text, options->order->file)))
        return result;
    return cnnvp_compiler_in_file(result, graph->file, error);
}

static struct cnnvp_binary *copy_header(struct cnnvp_arena *arena, const struct cnnvp_binary *header)
{
    struct cnnvp_binary *copy = cnnvp_arena_alloc(arena, sizeof *copy);
    if (copy != NULL)
        *copy = *header;
    return copy;
}

cnnvp_result cnnvp_binary_build(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                struct cnnvp_error *error)
{
    const struct cnnvp_binary header = {
        .magic = CNNVP_BINARY_MAGIC,
        .version = CNNVP_BINARY_VERSION,
        .flags = options->on_chip ? CNNVP_BINARY_PRELOAD : 0u,
        .layer_count = (uint32_t)graph->layer_count,
        .images = options->images,
        .batch = target->limits.batch,
        .element = target->accelerators[0].element,
        .plic = target->plic,
        .element_irq = target->accelerators[0].element_irq,
        .scratchpad = target->accelerators[0].scratchpad,
        .scheduler = options->block != 0 ? target->accelerators[0].scheduler : 0,
        .scheduler_irq = target->accelerators[0].scheduler_irq,
        .input_halves = target->limits.input_halves,
        .weight_halves = target->limits.weight_halves,
        .output_halves = target->limits.output_halves,
    };
    *build = (struct cnnvp_build){.moved = target->moved};
    build->header = copy_header(&build->arena, &header);
    build->shares.count = target->accelerator_count;
    build->shares.clint = target->clint;
    memcpy(build->shares.all, target->accelerators, sizeof build->shares.all);
    build->layers = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->layers);
    build->entries = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->entries);
    build->tables = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->tables);
    build->tensors = cnnvp_arena_array(&build->arena, graph->tensor_count, sizeof *build->tensors);
    cnnvp_result result =
        build->arena.failed ? cnnvp_compiler_no_memory(error) : build_binary(graph, target, options, build, error);
    result = in_its_file(graph, options, result, error);
    if (result != CNNVP_DONE)
        cnnvp_binary_clear(build);
    return result;
}

/* ---- trials ---- */

static cnnvp_result add_trial(const struct cnnvp_build *build, const struct cnnvp_binary_trial *trial, uint32_t number,
                              struct cnnvp_build *trials)
{
    struct cnnvp_layer *layer = &trials->entries[number].plan;
    trials->entries[number] = build->entries[trial->layer];
    const uint32_t first = layer->first_weight_tile;
    cnnvp_plan_cut_layer(layer, *trial->cut);
    layer->tag = number + 1u;
    CNNVP_TRY(add_weight_tiles(layer, &trials->weight_tiles));
    if (layer->weight_tile_count != 0)
        (void)place_weight_tiles(
            &trials->weight_tiles, layer->first_weight_tile, build->weight_tiles.all[first].address);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_binary_build_trials(const struct cnnvp_build *build, const struct cnnvp_binary_trial *all,
                                       size_t count, struct cnnvp_build *trials)
{
    *trials = (struct cnnvp_build){.shares = {.count = 1}, .tensors = build->tensors, .moved = build->moved};
    trials->header = copy_header(&trials->arena, build->header);
    if (trials->header == NULL)
        return CNNVP_FAILED;
    trials->header->flags = trials->header->scheduler = 0;
    trials->header->images = trials->header->batch;
    trials->header->layer_count = (uint32_t)count;
    trials->entries = cnnvp_arena_array(&trials->arena, count, sizeof *trials->entries);
    for (uint32_t i = 0; i < count; ++i)
        CNNVP_TRY(trials->entries != NULL ? add_trial(build, &all[i], i, trials) : CNNVP_FAILED);
    CNNVP_TRY(cnnvp_binary_divide_trials(build, all, count, trials));
    trials->table_bytes = (size_t)(cnnvp_binary_place_tables(trials) - cnnvp_binary_begin(trials));
    return CNNVP_DONE;
}

void cnnvp_binary_leave_out(struct cnnvp_build *build, const unsigned char *marked)
{
    const uint32_t count = build->header->layer_count;
    build->header->layer_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!marked[i])
            continue;
        if (build->regions != NULL)
            build->regions[build->header->layer_count] = build->regions[i];
        build->entries[build->header->layer_count++] = build->entries[i];
    }
}

uint64_t cnnvp_binary_end(const struct cnnvp_build *build)
{
    const struct cnnvp_binary *header = build->header;
    return header->list != 0 ? (uint64_t)header->list + header->list_bytes : build->end;
}

int cnnvp_binary_is_inside(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    uint32_t group = 0;
    int inside = 0;
    for (size_t i = 0; build->groups != NULL && i < graph->layer_count; ++i) {
        const int32_t made = cnnvp_graph_base(graph, graph->layers[i].out);
        group = group == 0 && made == base ? build->layers[i].group : group;
        if (group != 0 && build->layers[i].group == group)
            inside = made != base; /* the group's last layer decides */
    }
    return inside;
}

void cnnvp_binary_add_weights(const struct cnnvp_build *build, const struct cnnvp_layer *layer, uint64_t *bytes,
                              uint64_t *resident_bytes)
{
    for (uint32_t b = layer->first_weight_tile; b < layer->first_weight_tile + layer->weight_tile_count; ++b) {
        *bytes += build->weight_tiles.all[b].bytes;
        *resident_bytes +=
            build->weight_tiles.all[b].stays != CNNVP_WEIGHT_TILE_PASSES ? build->weight_tiles.all[b].bytes : 0;
    }
}
