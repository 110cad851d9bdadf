/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the order of blocks ([0054] of S004). A file has the order for the largest first map of the chains. Smaller
 * first maps and all later features follow from it: each block comes where the finer order first reaches it. A block
 * that a pool gathers has one slot, so the blocks that make it have to follow one another.
 */
#include "binary_internal.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

struct ordering {
    const struct cnnvp_graph *graph;
    const struct cnnvp_block_order *order;
    struct cnnvp_error *error;
    uint32_t bits_x, bits_y; /* of the table's map */
    size_t *seen;            /* of each of its blocks: 1 + an index; 0: none */
};

static uint32_t x_of(uint32_t block)
{
    return block & 0xffffu;
}

static uint32_t y_of(uint32_t block)
{
    return block >> 16;
}

static size_t blocks_of(uint32_t bits_x, uint32_t bits_y)
{
    return (size_t)1 << (bits_x + bits_y);
}

/* Refuses a table that is not each block of the map once, from (0, 0) on. */
static cnnvp_result check_table(struct ordering *ordering)
{
    const struct cnnvp_block_order *order = ordering->order;
    const uint32_t columns = 1u << ordering->bits_x, rows = 1u << ordering->bits_y;
    for (size_t n = 0; n < order->count; ++n) {
        const uint32_t x = x_of(order->blocks[n]), y = y_of(order->blocks[n]);
        if (x >= columns || y >= rows)
            return cnnvp_config_error(ordering->error, order->places[n],
                                      "block [%u, %u] leaves the map, of %u x %u blocks: the last one is [%u, %u]", x,
                                      y, columns, rows, columns - 1u, rows - 1u);
        size_t *seen = &ordering->seen[(size_t)y * columns + x];
        if (*seen != 0)
            return cnnvp_config_error(ordering->error, order->places[n], "block [%u, %u] stands at %s already", x, y,
                                      order->places[*seen - 1u]);
        *seen = n + 1u;
    }
    for (size_t i = 0; i < blocks_of(ordering->bits_x, ordering->bits_y); ++i)
        if (ordering->seen[i] == 0)
            return cnnvp_config_error(
                ordering->error, order->place, "block [%zu, %zu] is missing: the map has %u x %u blocks", i % columns,
                i / columns, columns, rows);
    if (order->blocks[0] != 0)
        return cnnvp_config_error(
            ordering->error, order->places[0], "the order begins with [%u, %u]; S004 begins with block [0, 0]",
            x_of(order->blocks[0]), y_of(order->blocks[0]));
    return CNNVP_DONE;
}

/* Makes the order of a map that is coarser by so many bits. Returns the index at which the finer order first comes back
 * to a block that it has left; `count`: it does not. */
static size_t coarsen(const struct ordering *ordering, const uint32_t *from, size_t count, uint32_t shift_x,
                      uint32_t shift_y, uint32_t *to)
{
    size_t made = 0, back = count;
    memset(ordering->seen, 0, blocks_of(ordering->bits_x, ordering->bits_y) * sizeof *ordering->seen);
    for (size_t n = 0; n < count; ++n) {
        const uint32_t block = x_of(from[n]) >> shift_x | y_of(from[n]) >> shift_y << 16;
        size_t *seen = &ordering->seen[((size_t)y_of(block) << ordering->bits_x) + x_of(block)];
        if (*seen == 0)
            to[made++] = block;
        else if (to[made - 1u] != block)
            back = cnnvp_minimum(back, n);
        *seen = 1;
    }
    return back;
}

/* Makes the orders of a chain's features. `orders`: of the first one, then of the next ones. */
static cnnvp_result order_chain(const struct ordering *ordering, const struct cnnvp_plan_group *chain, uint32_t *orders)
{
    const struct cnnvp_binary_level *levels = chain->levels;
    const uint32_t bits_x = ordering->bits_x - levels->bits_x, bits_y = ordering->bits_y - levels->bits_y;
    (void)coarsen(ordering, ordering->order->blocks, ordering->order->count, bits_x, bits_y, orders);
    for (size_t i = 0; i < chain->count; ++i) {
        const uint32_t shift_x = levels[i].bits_x - levels[i + 1].bits_x;
        const uint32_t shift_y = levels[i].bits_y - levels[i + 1].bits_y;
        const size_t count = blocks_of(levels[i].bits_x, levels[i].bits_y);
        const size_t back = coarsen(ordering, orders, count, shift_x, shift_y, orders + count);
        if (back != count) {
            const uint32_t scale_x = ordering->bits_x - levels[i].bits_x, scale_y = ordering->bits_y - levels[i].bits_y;
            size_t entry = 0;
            while ((x_of(ordering->order->blocks[entry]) >> scale_x |
                    y_of(ordering->order->blocks[entry]) >> scale_y << 16) != orders[back])
                ++entry;
            return cnnvp_config_error(
                ordering->error, ordering->order->places[entry],
                "layer \"%s\" gathers a block from %zu blocks in one place on chip, so these follow one another; the "
                "order comes back here to block [%u, %u] of what it makes",
                ordering->graph->layers[chain->members[i].source].name, blocks_of(shift_x, shift_y),
                x_of(orders[back]) >> shift_x, y_of(orders[back]) >> shift_y);
        }
        orders += count;
    }
    return CNNVP_DONE;
}

/* Lists all blocks row by row. */
static cnnvp_result list_rows(const struct ordering *ordering, struct cnnvp_arena *arena,
                              struct cnnvp_block_order *order)
{
    order->count = blocks_of(ordering->bits_x, ordering->bits_y);
    order->blocks = cnnvp_arena_array(arena, order->count, sizeof *order->blocks);
    order->places = cnnvp_arena_array(arena, order->count, sizeof *order->places);
    CNNVP_TRY_MEMORY(!arena->failed, ordering->error);
    for (size_t n = 0; n < order->count; ++n) {
        order->blocks[n] = (uint32_t)((n & ((1u << ordering->bits_x) - 1u)) | (n >> ordering->bits_x << 16));
        order->places[n] = order->place;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_depth_make_orders(const struct cnnvp_graph *graph, const struct cnnvp_block_order *order,
                                     struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct cnnvp_groups *groups = build->groups;
    struct cnnvp_block_order listed = *order;
    struct ordering ordering = {.graph = graph, .order = &listed, .error = error};
    for (size_t i = 0; i < cnnvp_depth_levels(groups); ++i) {
        groups->order_count += blocks_of(groups->levels[i].bits_x, groups->levels[i].bits_y);
        ordering.bits_x = cnnvp_maximum32(ordering.bits_x, groups->levels[i].bits_x);
        ordering.bits_y = cnnvp_maximum32(ordering.bits_y, groups->levels[i].bits_y);
    }
    groups->orders = cnnvp_arena_array(&build->arena, groups->order_count, sizeof *groups->orders);
    CNNVP_FREED size_t *seen = calloc(blocks_of(ordering.bits_x, ordering.bits_y), sizeof *seen);
    CNNVP_TRY_MEMORY(groups->orders != NULL && seen != NULL, error);
    ordering.seen = seen;
    uint32_t *to = groups->orders;
    if (order->by_rows)
        CNNVP_TRY(list_rows(&ordering, &build->arena, &listed));
    if (listed.blocks != NULL)
        CNNVP_TRY(check_table(&ordering));
    for (size_t c = 0; c < groups->count; ++c) {
        const struct cnnvp_plan_group *chain = &groups->plans[c];
        if (listed.blocks != NULL)
            CNNVP_TRY(order_chain(&ordering, chain, to));
        for (size_t i = 0; i <= chain->count; ++i)
            for (uint32_t n = 0; n < blocks_of(chain->levels[i].bits_x, chain->levels[i].bits_y); ++n, ++to)
                *to = listed.blocks != NULL ? *to : cnnvp_morton_block(&chain->levels[i], n);
    }
    return CNNVP_DONE;
}
