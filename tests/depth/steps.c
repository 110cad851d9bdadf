/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <stdlib.h>

struct level {
    uint32_t channels, height, width;
    uint32_t rows, columns; /* of a block */
    uint32_t *order;        /* x | y << 16 of each block */
    uint32_t next;          /* the block that is gathered, or in work */
    uint32_t gathered;
};

struct run {
    const struct chain *chain;
    struct level levels[CHAIN_LAYERS + 1];
    struct steps *steps;
};

/* Bits of x and y in turn as long as both have some, then those of the longer one. */
static uint32_t morton(uint32_t x, uint32_t y, uint32_t across, uint32_t down)
{
    uint32_t number = 0;
    uint32_t place = 0;
    while (across > 1 || down > 1) {
        if (across > 1) {
            number |= (x & 1u) << place++;
            x >>= 1;
            across >>= 1;
        }
        if (down > 1) {
            number |= (y & 1u) << place++;
            y >>= 1;
            down >>= 1;
        }
    }
    return number;
}

static void init_level(struct level *level, uint32_t channels, uint32_t height, uint32_t width, uint32_t block)
{
    *level = (struct level){.channels = channels, .height = height, .width = width};
    level->rows = height < block ? height : block;
    level->columns = width < block ? width : block;
    const uint32_t across = width / level->columns;
    const uint32_t down = height / level->rows;
    level->order = calloc((size_t)across * down, sizeof *level->order);
    for (uint32_t y = 0; y < down; ++y)
        for (uint32_t x = 0; x < across; ++x)
            level->order[morton(x, y, across, down)] = x | y << 16;
}

static void note_peak(struct run *run, uint32_t layer, uint64_t words)
{
    for (uint32_t i = layer + 1; i <= run->chain->layer_count; ++i)
        words += (uint64_t)run->levels[i].gathered * run->levels[i].channels;
    if (words > run->steps->peak_words)
        run->steps->peak_words = words;
}

static void process(struct run *run, uint32_t layer)
{
    if (layer == run->chain->layer_count)
        return;
    const uint32_t shrink = run->chain->layers[layer].pool ? 2 : 1;
    const struct level *from = &run->levels[layer];
    struct level *to = &run->levels[layer + 1];
    const uint32_t rows = from->rows / shrink;
    const uint32_t columns = from->columns / shrink;
    struct step step = {
        .layer = layer,
        .x = from->order[from->next] & 0xffffu,
        .y = from->order[from->next] >> 16,
        .next_x = to->order[to->next] & 0xffffu,
        .next_y = to->order[to->next] >> 16,
        .target = to->rows * to->columns};
    step.row = step.y * rows % to->rows;
    step.column = step.x * columns % to->columns;
    note_peak(run, layer,
              (uint64_t)from->rows * from->columns * from->channels + (uint64_t)rows * columns * to->channels);
    to->gathered += rows * columns;
    step.gathered = to->gathered;
    run->steps->all = realloc(run->steps->all, (run->steps->count + 1) * sizeof step);
    run->steps->all[run->steps->count++] = step;
    if (to->gathered < step.target)
        return;
    to->gathered = 0;
    process(run, layer + 1);
    ++to->next;
}

struct steps steps_of(const struct chain *chain, uint32_t block)
{
    struct steps steps = {0};
    struct run run = {.chain = chain, .steps = &steps};
    uint32_t height = chain->height;
    uint32_t width = chain->width;
    init_level(&run.levels[0], chain->channels, height, width, block);
    for (uint32_t i = 0; i < chain->layer_count; ++i) {
        height /= chain->layers[i].pool ? 2u : 1u;
        width /= chain->layers[i].pool ? 2u : 1u;
        init_level(&run.levels[i + 1], chain->layers[i].channels, height, width, block);
    }
    const uint32_t blocks = chain->height / run.levels[0].rows * (chain->width / run.levels[0].columns);
    for (; run.levels[0].next < blocks; ++run.levels[0].next)
        process(&run, 0);
    for (uint32_t i = 0; i <= chain->layer_count; ++i)
        free(run.levels[i].order);
    return steps;
}
