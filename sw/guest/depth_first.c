/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first invocation (S004 [0005] to [0009]). As soon as a feature has gathered a block, the next layer runs on
 * that block. If no feature has, the next block of feature 0 is taken (Part B 4-6). A feature's block is freed when it
 * has been read (4-14). No intermediate leaves the chip.
 *
 * While a block goes deeper, the next block of feature 0 is loaded, and so are the next layer's weights, if they do not
 * stay. Results are stored while the array begins the next block.
 */
#include "depth.h"
#include "schedule.h"

#include <stddef.h>

/* Size of the part of the next feature that layer j makes of one block. */
static uint32_t part_rows(const struct cnnvp_depth *depth, uint32_t layer)
{
    return depth->levels[layer].block.height / depth->layers[layer].plan.sy;
}

static uint32_t part_columns(const struct cnnvp_depth *depth, uint32_t layer)
{
    return depth->levels[layer].block.width / depth->layers[layer].plan.sx;
}

static struct cnnvp_box block_box(const struct cnnvp_binary_level *level, const struct cnnvp_division *division)
{
    return (struct cnnvp_box){
        .channels = level->block.channels,
        .row = (int32_t)(division->y * level->block.height),
        .rows = level->block.height,
        .column = (int32_t)(division->x * level->block.width),
        .columns = level->block.width,
    };
}

void cnnvp_depth_load(struct cnnvp_guest *guest, const struct cnnvp_depth *depth, const struct cnnvp_division *division)
{
    const struct cnnvp_binary_level *level = &depth->levels[0];
    const struct cnnvp_box box = block_box(level, division);
    if (level->padding == CNNVP_PADDING_EACH)
        cnnvp_pad_block(guest, &level->block);
    cnnvp_load_block(guest, depth->in, &box, &level->block);
}

/* Where layer j's results go: their place in the next feature's block, in its slot or in memory. */
static struct cnnvp_box place_of(const struct cnnvp_depth *depth, uint32_t layer)
{
    const struct cnnvp_binary_level *next = &depth->levels[layer + 1u];
    const struct cnnvp_division *division = &depth->division[layer];
    const uint32_t row = division->y * part_rows(depth, layer);
    const uint32_t column = division->x * part_columns(depth, layer);
    return (struct cnnvp_box){
        .channels = next->block.channels,
        .row = (int32_t)(next->on_chip ? row & (next->block.height - 1u) : row),
        .rows = part_rows(depth, layer),
        .column = (int32_t)(next->on_chip ? column & (next->block.width - 1u) : column),
        .columns = part_columns(depth, layer),
    };
}

void cnnvp_depth_note(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t feature, uint32_t positions)
{
    const struct cnnvp_tensor *block = &depth->levels[feature].block;
    const uint32_t values = positions * block->channels;
    const uint32_t set = feature - 1u;
    if (set >= CNNVP_CHAIN_SETS) {
        cnnvp_push_live(guest, block, values, CNNVP_BASE_LIVE);
        return;
    }
    const uint32_t at = cnnvp_chain_register(set, offsetof(struct cnnvp_chain_set, live));
    if (depth->live[set] != 0) {
        cnnvp_push_live_again(guest, block, values, at);
        return;
    }
    cnnvp_push_live(guest, block, values, at);
    depth->live[set] = guest->element.capture == NULL;
}

/* Loads the next layer's first weights while this layer computes. The load is attributed to the next layer. */
static void fetch_weights(struct cnnvp_guest *guest, const struct cnnvp_depth *depth, uint32_t layer, uint32_t next)
{
    uint32_t address;
    if (depth->layers[next].plan.weight_tile_count == 0)
        return;
    cnnvp_element_layer(&guest->element, depth->layers[next].plan.tag);
    (void)cnnvp_load_weight_tile(guest, depth->layers[next].plan.first_weight_tile, &address);
    cnnvp_element_layer(&guest->element, depth->layers[layer].plan.tag);
}

void cnnvp_depth_emit(struct cnnvp_guest *guest, const struct cnnvp_depth *depth)
{
    const uint32_t last = depth->chain->layer_count;
    const struct cnnvp_binary_level *level = &depth->levels[last];
    const struct cnnvp_box box = block_box(level, &depth->division[last]);
    cnnvp_store_block(guest, depth->out, &box, &level->block);
}

uint32_t cnnvp_depth_calculate(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer)
{
    const struct cnnvp_division *division = &depth->division[layer];
    const struct cnnvp_box place = place_of(depth, layer);
    const struct cnnvp_step step = {
        .output = {.channels = place.channels, .rows = place.rows, .columns = place.columns},
        .place = &place,
        .seed = division->x * 0x27d4eb2fu + division->y * 0xc2b2ae35u,
    };
    cnnvp_element_layer(&guest->element, depth->layers[layer].plan.tag);
    cnnvp_use_chain_set(guest, layer);
    guest->block = 1u + division->x + (division->y << 16);
    cnnvp_convolve_block(guest, &depth->layers[layer].plan, &step,
                         layer < CNNVP_CHAIN_SETS ? &depth->repeats[layer] : NULL);
    cnnvp_use_ordinary_set(guest);
    return step.output.rows * step.output.columns;
}

void cnnvp_depth_finish(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer)
{
    cnnvp_flush_epilogues(guest, 0);
    if (depth->levels[layer + 1u].on_chip)
        cnnvp_depth_note(guest, depth, layer + 1u, depth->gathered[layer + 1u]);
}

/* Runs layer j on the block of feature j. Returns 1 if that completes a block of feature j + 1 and layer j + 1
 * exists. */
static int run_layer(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer)
{
    const struct cnnvp_binary_level *next = &depth->levels[layer + 1u];
    const uint32_t part = cnnvp_depth_calculate(guest, depth, layer);
    cnnvp_next_block(guest, &depth->levels[layer], &depth->division[layer]);
    depth->gathered[layer + 1u] += part;
    const int ready = depth->gathered[layer + 1u] == next->target;
    const int goes_on = ready && layer + 1u < depth->chain->layer_count;
    if (layer == 0 && depth->left != 0) {
        cnnvp_depth_load(guest, depth, &depth->division[0]);
        --depth->left;
    }
    if (goes_on || depth->division[0].x != 0 || depth->division[0].y != 0)
        fetch_weights(guest, depth, layer, goes_on ? layer + 1u : 0);
    if (layer != 0)
        cnnvp_depth_note(guest, depth, layer, 0);
    if (next->on_chip && next->padding == CNNVP_PADDING_EACH && depth->gathered[layer + 1u] == part)
        cnnvp_pad_block(guest, &next->block);
    cnnvp_depth_finish(guest, depth, layer);
    if (ready)
        depth->gathered[layer + 1u] = 0;
    if (ready && !goes_on) {
        if (next->on_chip)
            cnnvp_depth_emit(guest, depth);
        cnnvp_next_block(guest, next, &depth->division[layer + 1u]);
    }
    return goes_on;
}

static void pad_slots(struct cnnvp_guest *guest, const struct cnnvp_depth *depth)
{
    for (uint32_t i = 0; i < depth->chain->layer_count; ++i)
        if (depth->levels[i].padding == CNNVP_PADDING_ONCE)
            cnnvp_pad_block(guest, &depth->levels[i].block);
}

void cnnvp_depth_first(struct cnnvp_guest *guest, uint32_t number)
{
    const struct cnnvp_binary_layer *layers = cnnvp_memory(guest->machine, guest->binary->layers);
    const struct cnnvp_binary_group *chain = cnnvp_schedule_group(guest, number);
    struct cnnvp_depth depth;
    depth.chain = chain;
    depth.levels = cnnvp_memory(guest->machine, chain->levels);
    depth.layers = cnnvp_memory(guest->machine, chain->members);
    depth.in = &layers[chain->first_layer].plan.in;
    depth.out = &layers[chain->last_layer].plan.out;
    if (chain->layer_count >= CNNVP_DEPTH_LEVELS) {
        guest->element.failed = 1;
        return;
    }
    for (uint32_t i = 0; i <= chain->layer_count; ++i) {
        depth.division[i] = (struct cnnvp_division){0, 0, 0};
        depth.gathered[i] = 0;
    }
    for (uint32_t i = 0; i < CNNVP_CHAIN_SETS; ++i)
        depth.repeats[i].stands = depth.live[i] = 0;
    cnnvp_flush_epilogues(guest, 0);
    cnnvp_forget_inputs(guest);
    if (cnnvp_schedule_begin_group(guest, chain, number) && chain->scheduled)
        cnnvp_schedule_load(guest, depth.layers, chain->layer_count); /* the scheduler loads nothing */
    cnnvp_element_layer(&guest->element, depth.layers[0].plan.tag);
    pad_slots(guest, &depth);
    cnnvp_depth_load(guest, &depth, &depth.division[0]);
    uint32_t blocks = 1u << (depth.levels[0].bits_x + depth.levels[0].bits_y);
    depth.left = blocks - 1u;
    if (chain->scheduled && cnnvp_depth_on_scheduler(guest, &depth, number))
        blocks = 0;
    else if (chain->scheduled > 1u) {
        guest->element.failed = CNNVP_ELEMENT_NO_TABLE;
        blocks = 0;
    }
    for (; blocks != 0; --blocks)
        for (uint32_t layer = 0; run_layer(guest, &depth, layer);)
            ++layer;
    guest->in_group = 0;
}
