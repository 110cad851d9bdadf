/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places the blocks of a chain on chip. Each feature map has a slot in the input buffer for one block and the zeros
 * that its convolution needs around it. Two features may share a place unless both hold values at the same time. A
 * convolution completes its output block at once, and then no shallower block holds values. A pool gathers its output
 * block from several input blocks, and all shallower features are in use meanwhile. Feature 0 is loaded ahead of its
 * use. If there is room, no places are shared: then the zeros of each slot are written once and not for every block.
 */
#include "binary_internal.h"
#include "cnnvp_integer.h"
#include "plan.h"

/* ---- levels ---- */

static int is_conv(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_CONV;
}

/* A block of the tensor; if `reader` is a convolution, in the frame that it needs. */
static struct cnnvp_tensor block_of(const struct cnnvp_graph *graph, int32_t tensor, uint32_t height, uint32_t width,
                                    const struct cnnvp_graph_layer *reader)
{
    struct cnnvp_tensor block = cnnvp_binary_shape(graph, tensor);
    block.height = height;
    block.width = width;
    if (reader != NULL && is_conv(reader)) {
        block.border_top = reader->pad_top;
        block.border_left = reader->pad_left;
        block.border_bottom = (reader->ky - 1u) * reader->dy - reader->pad_top;
        block.border_right = (reader->kx - 1u) * reader->dx - reader->pad_left;
    }
    cnnvp_binary_frame(&block);
    return block;
}

struct cnnvp_layer cnnvp_depth_block_layer(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                           size_t index)
{
    const struct cnnvp_graph_layer *from = &graph->layers[index];
    const uint32_t shrink = is_conv(from) ? 1u : 2u;
    struct cnnvp_layer layer = build->layers[index];
    layer.in = block_of(graph, from->in, from->block_height, from->block_width, from);
    layer.out = block_of(graph, from->out, from->block_height / shrink, from->block_width / shrink, NULL);
    return layer;
}

static void describe_level(struct cnnvp_binary_level *level, const struct cnnvp_graph_tensor *map,
                           struct cnnvp_tensor block)
{
    *level = (struct cnnvp_binary_level){
        .bits_x = cnnvp_log2_up(map->width / block.width),
        .bits_y = cnnvp_log2_up(map->height / block.height),
        .target = block.height * block.width,
        .on_chip = 1,
        .block = block};
}

/* Describes the features of a chain: one more than it has members. */
static void describe_levels(const struct cnnvp_depth_row *row, const struct cnnvp_plan_group *chain)
{
    const struct cnnvp_graph *graph = row->graph;
    const struct cnnvp_plan_member *last = &chain->members[chain->count - 1];
    const int32_t out = graph->layers[last->source].out;
    const struct cnnvp_graph_tensor *map = &graph->tensors[out];
    for (size_t i = 0; i < chain->count; ++i)
        describe_level(&chain->levels[i], &graph->tensors[graph->layers[chain->members[i].source].in],
                       chain->members[i].layer.in);
    describe_level(&chain->levels[chain->count], map,
                   block_of(graph, out, cnnvp_depth_side(map->height, row->options->block),
                            cnnvp_depth_side(map->width, row->options->block), NULL));
    chain->levels[chain->count].on_chip =
        last->layer.out.height * last->layer.out.width < chain->levels[chain->count].target;
}

/* ---- slots ---- */

/* 1: a block of the level is gathered from several blocks of the level before. */
static int is_gathered(const struct cnnvp_binary_level *levels, size_t level)
{
    return level > 0 &&
           (levels[level].bits_x < levels[level - 1].bits_x || levels[level].bits_y < levels[level - 1].bits_y);
}

static uint64_t slot_bytes(const struct cnnvp_binary_level *level)
{
    return cnnvp_binary_align(cnnvp_binary_frame_bytes(&level->block));
}

/* Places feature 0 in the first half and the others in the last half, so that feature 0 can be loaded while the others
 * are in use. If there is no room, a slot goes to the other half. `side_by_side`: neither that nor shared places. */
static int place_in_sequence(const struct cnnvp_depth_row *row, struct cnnvp_binary_level *levels, size_t count,
                             int side_by_side)
{
    const struct cnnvp_plan_limits *limits = &row->target->limits;
    struct cnnvp_scratchpad pad = {.halves = limits->input_halves, .room = {limits->input_bytes, limits->input_bytes}};
    uint64_t lack = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
        const size_t level = row->sequence[i];
        const uint32_t half = level == 0 ? 0 : limits->input_halves - 1u;
        struct cnnvp_place *place = &row->places[level];
        *place = (struct cnnvp_place){.bytes = slot_bytes(&levels[level]),
                                      .begin = side_by_side || is_gathered(levels, level) ? 0 : level,
                                      .end = side_by_side || level == 0 ? count : level};
        if (!cnnvp_scratchpad_put(&pad, half, side_by_side ? half : CNNVP_SCRATCHPAD_ANY, place, &lack))
            return 0;
        cnnvp_binary_put_on_chip(&levels[level].block, CNNVP_PLACE_SLOT, place);
    }
    return 1;
}

static int place_slots(const struct cnnvp_depth_row *row, struct cnnvp_binary_level *levels, size_t level_count)
{
    const size_t count = level_count - (levels[level_count - 1].on_chip == 0);
    for (size_t i = 0; i < count; ++i)
        row->sequence[i] = i;
    if (place_in_sequence(row, levels, count, 1) || place_in_sequence(row, levels, count, 0))
        return 1;
    /* Try again with the largest slots first. */
    for (size_t i = 1; i < count; ++i)
        for (size_t k = i; k > 0 && slot_bytes(&levels[row->sequence[k]]) > slot_bytes(&levels[row->sequence[k - 1]]);
             --k) {
            const size_t swapped = row->sequence[k];
            row->sequence[k] = row->sequence[k - 1];
            row->sequence[k - 1] = swapped;
        }
    return place_in_sequence(row, levels, count, 0);
}

static void choose_padding(const struct cnnvp_depth_row *row, struct cnnvp_binary_level *levels, size_t level_count)
{
    for (size_t i = 0; i < level_count; ++i) {
        const struct cnnvp_tensor *block = &levels[i].block;
        levels[i].padding = CNNVP_PADDING_NONE;
        if (block->border_top + block->border_left + block->border_bottom + block->border_right == 0)
            continue;
        levels[i].padding = CNNVP_PADDING_ONCE;
        for (size_t k = 0; k < level_count; ++k)
            if (k != i && levels[k].on_chip != 0 && cnnvp_places_overlap(&row->places[i], &row->places[k]))
                levels[i].padding = CNNVP_PADDING_EACH;
    }
}

/* ---- tiles ---- */

/* The tile sizes that the layer's unit prefers. If the unit refuses the layer, compiling it reports that later. */
static struct cnnvp_tiling tiling_of(const struct cnnvp_plan_limits *limits, const struct cnnvp_layer *layer)
{
    struct cnnvp_tiling tiling;
    struct cnnvp_error unwanted;
    if (cnnvp_plan_tiling(layer, "", limits, &tiling, &unwanted) != CNNVP_DONE)
        tiling.rows = tiling.cols = tiling.in = tiling.out = 1;
    return tiling;
}

static int fits(const struct cnnvp_plan_limits *limits, uint64_t weight_bytes, const struct cnnvp_layer *layer,
                const struct cnnvp_tiling *tiling)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, tiling->result_bytes);
    return use.weight_bytes <= weight_bytes && use.output_bytes <= limits->output_bytes;
}

/* The next part of `total` that is smaller than `part` and a multiple of `multiple`; 0: there is none. */
static uint32_t smaller_part(uint32_t total, uint32_t part, uint32_t multiple)
{
    for (uint32_t parts = (total + part - 1u) / part + 1u; parts <= total; ++parts) {
        const uint32_t value = cnnvp_divide_up32(cnnvp_divide_up32(total, parts), multiple) * multiple;
        if (value < part)
            return value;
    }
    return 0;
}

int cnnvp_depth_choose_tiles(const struct cnnvp_plan_limits *limits, uint64_t weight_bytes, struct cnnvp_layer *layer)
{
    const struct cnnvp_tiling tiling = tiling_of(limits, layer);
    layer->group_out = layer->tile_in = layer->tile_out = layer->out.channels;
    layer->tile_h = layer->out.height;
    layer->tile_w = layer->out.width;
    if (layer->op != CNNVP_OP_CONV || layer->depthwise != 0)
        return fits(limits, weight_bytes, layer, &tiling);
    for (layer->tile_in = layer->in.channels; layer->tile_in != 0;
         layer->tile_in = smaller_part(layer->in.channels, layer->tile_in, tiling.in))
        for (layer->tile_out = layer->group_out; layer->tile_out != 0;
             layer->tile_out = smaller_part(layer->group_out, layer->tile_out, tiling.out))
            if (fits(limits, weight_bytes, layer, &tiling))
                return 1;
    return 0;
}

int cnnvp_depth_fits(const struct cnnvp_graph *graph, const struct cnnvp_target *target, struct cnnvp_build *build,
                     size_t index)
{
    if (graph->layers[index].block_height == 0)
        return 1;
    struct cnnvp_layer layer = cnnvp_depth_block_layer(graph, build, index);
    return cnnvp_depth_choose_tiles(&target->limits, target->limits.weight_bytes, &layer);
}

/* ---- cutting ---- */

static cnnvp_result too_large(const struct cnnvp_depth_row *row, size_t index, struct cnnvp_error *error)
{
    const struct cnnvp_plan_limits *limits = &row->target->limits;
    const struct cnnvp_graph_layer *from = &row->graph->layers[index];
    struct cnnvp_layer layer = cnnvp_depth_block_layer(row->graph, row->build, index);
    uint64_t need = cnnvp_binary_align(cnnvp_binary_frame_bytes(&layer.in));
    uint64_t have = limits->input_bytes;
    struct cnnvp_plan_size size = cnnvp_plan_size(limits, CNNVP_PLAN_INPUT, need);
    int weights = 0;
    if (!cnnvp_depth_choose_tiles(limits, limits->weight_bytes, &layer)) {
        const struct cnnvp_tiling tiling = tiling_of(limits, &layer);
        layer.group_out = layer.out.channels;
        layer.tile_in = layer.depthwise != 0 || !is_conv(from) ? layer.group_out : tiling.in;
        layer.tile_out = layer.depthwise != 0 || !is_conv(from) ? layer.group_out : tiling.out;
        const struct cnnvp_plan_use use = cnnvp_plan_use_of(&layer, tiling.result_bytes);
        weights = use.weight_bytes > limits->weight_bytes;
        need = weights ? use.weight_bytes : use.output_bytes;
        have = weights ? limits->weight_bytes : limits->output_bytes;
        size = cnnvp_plan_size(limits, weights ? CNNVP_PLAN_WEIGHTS : CNNVP_PLAN_OUTPUT, need);
    }
    const struct cnnvp_plan *plan = row->options->plan;
    return cnnvp_config_error(
        error, plan != NULL ? plan->chain_places[index] : NULL,
        "layer \"%s\": a block of %ux%u with all channels needs %llu bytes of %s, one half of "
        "which holds %llu; use %s-s %s.size=%llu",
        from->name, from->block_height, from->block_width, (unsigned long long)need, size.instance,
        (unsigned long long)have,
        weights        ? ""
        : plan != NULL ? "a smaller block or "
                       : "a smaller --block or ",
        size.instance, (unsigned long long)size.bytes);
}

/* 1: the layer's input map is one block, so padding it by blocks is ordinary padding. */
static int reads_one_block(const struct cnnvp_depth_row *row, size_t index)
{
    const struct cnnvp_graph_layer *layer = &row->graph->layers[index];
    const struct cnnvp_graph_tensor *in = &row->graph->tensors[layer->in];
    return in->height == layer->block_height && in->width == layer->block_width;
}

/* Adds the chain of layers first .. first + count - 1. Returns 0 if its slots do not fit. */
static int add_chain(const struct cnnvp_depth_row *row, size_t first, size_t count)
{
    struct cnnvp_groups *groups = row->build->groups;
    struct cnnvp_plan_group *chain = &groups->plans[groups->count];
    *chain = (struct cnnvp_plan_group){
        .first = row->layers[first],
        .count = count,
        .members = &row->members[groups->member_count],
        .levels = &groups->levels[cnnvp_depth_levels(groups)]};
    for (size_t i = 0; i < count; ++i)
        chain->members[i] = (struct cnnvp_plan_member){
            .source = row->layers[first + i],
            .layer = cnnvp_depth_block_layer(row->graph, row->build, row->layers[first + i])};
    describe_levels(row, chain);
    if (!place_slots(row, chain->levels, count + 1))
        return 0;
    choose_padding(row, chain->levels, count + 1);
    groups->table[groups->count++] = (struct cnnvp_binary_group){
        .first_layer = (uint32_t)chain->first,
        .layer_count = (uint32_t)count,
        .last_layer = (uint32_t)chain->members[count - 1].source};
    for (size_t i = 0; i < count; ++i) {
        row->build->layers[chain->members[i].source].depth_first = 1;
        row->build->layers[chain->members[i].source].group = (uint32_t)groups->count;
    }
    groups->member_count += count;
    return 1;
}

static cnnvp_result cut(const struct cnnvp_depth_row *row, struct cnnvp_error *error)
{
    if (row->options->plan != NULL && row->count >= CNNVP_DEPTH_LEVELS)
        return cnnvp_config_error(
            error, row->options->plan->chain_places[row->layers[CNNVP_DEPTH_LEVELS - 1u]],
            "a depth-first group has at most %u layers: begin another group here", CNNVP_DEPTH_LEVELS - 1u);
    for (size_t at = 0; at < row->count;) {
        size_t length = 0;
        while (at + length < row->count && length + 1u < CNNVP_DEPTH_LEVELS &&
               cnnvp_depth_fits(row->graph, row->target, row->build, row->layers[at + length]))
            ++length;
        while (length > 0 && !add_chain(row, at, length))
            --length;
        if (length == 0 && (row->options->plan != NULL || !reads_one_block(row, row->layers[at])))
            return too_large(row, row->layers[at], error);
        if (row->options->plan != NULL && length != row->count)
            return cnnvp_config_error(error, row->options->plan->chain_places[row->layers[length]],
                                      "layer \"%s\": its blocks do not fit into the buffers beside those of the "
                                      "layers before it in the group; use a smaller block, or begin another group here",
                                      row->graph->layers[row->layers[length]].name);
        at += length != 0 ? length : 1;
    }
    return CNNVP_DONE;
}

static int begins_chain(const struct cnnvp_graph *graph, size_t index)
{
    if (graph->layers[index].block_height == 0)
        return 0;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].block_height != 0 && graph->layers[i].chained == (int32_t)index)
            return 0;
    return 1;
}

/* ---- all chains ---- */

static cnnvp_result reserve(struct cnnvp_depth_row *row, struct cnnvp_error *error)
{
    const size_t count = row->graph->layer_count;
    struct cnnvp_arena *arena = &row->build->arena;
    struct cnnvp_groups *groups = row->build->groups = cnnvp_arena_array(arena, 1, sizeof *groups);
    CNNVP_TRY_MEMORY(groups != NULL, error);
    row->layers = cnnvp_arena_array(arena, count, sizeof *row->layers);
    row->sequence = cnnvp_arena_array(arena, count + 1, sizeof *row->sequence);
    row->places = cnnvp_arena_array(arena, count + 1, sizeof *row->places);
    groups->table = cnnvp_arena_array(arena, count, sizeof *groups->table);
    row->members = cnnvp_arena_array(arena, count, sizeof *row->members);
    groups->plans = cnnvp_arena_array(arena, count, sizeof *groups->plans);
    groups->levels = cnnvp_arena_array(arena, 2 * count, sizeof *groups->levels);
    groups->members = cnnvp_arena_array(arena, count, sizeof(struct cnnvp_binary_layer));
    groups->member_bytes = sizeof(struct cnnvp_binary_layer);
    return arena->failed ? cnnvp_compiler_no_memory(error) : CNNVP_DONE;
}

cnnvp_result cnnvp_depth_place(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                               const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                               struct cnnvp_error *error)
{
    struct cnnvp_depth_row row = {.graph = graph, .target = target, .build = build, .options = options};
    CNNVP_TRY(reserve(&row, error));
    for (size_t i = 0; i < graph->layer_count; ++i) {
        if (!begins_chain(graph, i))
            continue;
        row.count = 0;
        for (int32_t at = (int32_t)i; at != CNNVP_GRAPH_NONE; at = graph->layers[at].chained)
            row.layers[row.count++] = (size_t)at;
        CNNVP_TRY(cut(&row, error));
    }
    /* How many chains there are decides how often the scheduler's table is written, so all are cut before. */
    for (size_t c = 0; c < build->groups->count; ++c)
        CNNVP_TRY(cnnvp_depth_choose_weights(&row, c, error));
    return options->order != NULL ? cnnvp_depth_make_orders(graph, options->order, build, error) : CNNVP_DONE;
}
