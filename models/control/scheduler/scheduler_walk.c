/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of scheduler_walk.h. */
#include "scheduler_walk.h"

#include <string.h>

enum { LEVEL_BITS, LEVEL_TARGET, LEVEL_PART, LEVEL_LIST, LEVEL_WORDS };
enum { SECTION_CONTROL, SECTION_WORDS, SECTION_PATCHES, SECTION_PATCH_COUNT, SECTION_SIZE };
enum { PATCH_WORD, PATCH_X, PATCH_Y, PATCH_GATHERED, PATCH_IMAGE, PATCH_SIZE };

/* The output half's bit in the high word of an instruction. */
#define OUTPUT_HALF (1u << 2)
#define MAX_BITS 15u

static uint32_t level_word(const struct scheduler_walk *walk, uint32_t level, uint32_t word)
{
    return walk->table[1u + level * LEVEL_WORDS + word];
}

static uint32_t bits_x(const struct scheduler_walk *walk, uint32_t level)
{
    return level_word(walk, level, LEVEL_BITS) & 0xffu;
}

static uint32_t bits_y(const struct scheduler_walk *walk, uint32_t level)
{
    return level_word(walk, level, LEVEL_BITS) >> 8 & 0xffu;
}

/* NX and NY of S004: interleaves x and y from the low bit on, adds 1, and separates them again. */
static void next_block(uint32_t wide, uint32_t high, uint32_t *x, uint32_t *y)
{
    const uint32_t common = wide < high ? wide : high;
    uint32_t number = 0;
    for (uint32_t bit = 0; bit < common; ++bit)
        number |= (*x >> bit & 1u) << (2u * bit) | (*y >> bit & 1u) << (2u * bit + 1u);
    number |= (*x >> common | *y >> common) << (2u * common);
    number = (number + 1u) & ((1u << (wide + high)) - 1u);
    *x = wide > high ? number >> (2u * common) << common : 0;
    *y = wide > high ? 0 : number >> (2u * common) << common;
    for (uint32_t bit = 0; bit < common; ++bit) {
        *x |= (number >> (2u * bit) & 1u) << bit;
        *y |= (number >> (2u * bit + 1u) & 1u) << bit;
    }
}

/* True if words [first, first + count * size) lie in the table. */
static int inside(const struct scheduler_walk *walk, uint32_t first, uint64_t count, uint32_t size)
{
    return first <= walk->size && count * size <= walk->size - first;
}

static int level_is_good(const struct scheduler_walk *walk, uint32_t level)
{
    if (bits_x(walk, level) > MAX_BITS || bits_y(walk, level) > MAX_BITS || level_word(walk, level, LEVEL_TARGET) == 0)
        return 0;
    if (level + 1u == walk->levels)
        return 1;
    const uint32_t list = level_word(walk, level, LEVEL_LIST);
    return list < walk->size && inside(walk, list + 1u, walk->table[list], SECTION_SIZE);
}

static int part_is_good(const struct scheduler_walk *walk, uint32_t level)
{
    const uint32_t part = level_word(walk, level, LEVEL_PART);
    return level == 0 || (part != 0 && level_word(walk, level, LEVEL_TARGET) % part == 0);
}

int scheduler_begin(struct scheduler_walk *walk, const uint32_t *table, uint32_t size, uint32_t image)
{
    memset(walk, 0, sizeof *walk);
    walk->table = table;
    walk->size = size;
    walk->levels = table[0];
    walk->image = image;
    if (walk->levels < 2u || walk->levels > SCHEDULER_LEVELS || !inside(walk, 1, walk->levels, LEVEL_WORDS))
        return 0;
    for (uint32_t level = 0; level < walk->levels; ++level)
        if (!level_is_good(walk, level) || !part_is_good(walk, level))
            return 0;
    walk->blocks = 1u << (bits_x(walk, 0) + bits_y(walk, 0));
    walk->left = walk->blocks - 1u;
    return 1;
}

/* Begins a step: the layer consumes a block of its input and adds a part to a block of its result. */
static void begin_step(struct scheduler_walk *walk)
{
    const uint32_t layer = walk->layer;
    walk->input_x = walk->x[layer];
    walk->input_y = walk->y[layer];
    next_block(bits_x(walk, layer), bits_y(walk, layer), &walk->x[layer], &walk->y[layer]);
    walk->gathered[layer + 1u] += level_word(walk, layer + 1u, LEVEL_PART);
    walk->blocks -= layer == 0;
    ++walk->steps;
}

static int is_ready(const struct scheduler_walk *walk)
{
    return walk->gathered[walk->layer + 1u] == level_word(walk, walk->layer + 1u, LEVEL_TARGET);
}

/* Ends a step: a complete block is processed by the next layer; otherwise feature 0 supplies the next block. */
static void end_step(struct scheduler_walk *walk)
{
    const uint32_t next = walk->layer + 1u;
    const int ready = is_ready(walk);
    walk->section = 0;
    if (ready)
        walk->gathered[next] = 0;
    if (ready && next + 1u < walk->levels) {
        walk->layer = next;
        return;
    }
    if (ready)
        next_block(bits_x(walk, next), bits_y(walk, next), &walk->x[next], &walk->y[next]);
    walk->layer = 0;
    walk->done = walk->blocks == 0;
}

static int holds(const struct scheduler_walk *walk, uint32_t condition)
{
    switch (condition) {
    case SCHEDULER_ALWAYS:
        return 1;
    case SCHEDULER_IF_LEFT:
        return walk->left != 0;
    case SCHEDULER_IF_FIRST:
        return walk->gathered[walk->layer + 1u] == level_word(walk, walk->layer + 1u, LEVEL_PART);
    default:
        return is_ready(walk);
    }
}

static void fill_section(struct scheduler_walk *walk, const uint32_t *from, struct scheduler_section *section)
{
    const uint32_t block = from[SECTION_CONTROL] >> 8 & 0xffu;
    const uint32_t level = block == SCHEDULER_OUTPUT ? walk->layer + 1u : 0;
    *section = (struct scheduler_section){
        .words = from[SECTION_WORDS],
        .count = from[SECTION_CONTROL] >> 16,
        .patches = from[SECTION_PATCHES],
        .patch_count = from[SECTION_PATCH_COUNT],
        .x = block == SCHEDULER_INPUT ? walk->input_x : walk->x[level],
        .y = block == SCHEDULER_INPUT ? walk->input_y : walk->y[level],
        .gathered = walk->gathered[walk->layer + 1u],
        .half = walk->steps & 1u,
    };
}

static int patches_are_good(const struct scheduler_walk *walk, const struct scheduler_section *section)
{
    for (uint32_t i = 0; i < section->patch_count; ++i)
        if ((walk->table[section->patches + i * PATCH_SIZE] & 0xffffu) >= section->count)
            return 0;
    return 1;
}

int scheduler_next(struct scheduler_walk *walk, struct scheduler_section *section)
{
    while (!walk->done) {
        const uint32_t list = level_word(walk, walk->layer, LEVEL_LIST);
        if (walk->section == 0)
            begin_step(walk);
        if (walk->section == walk->table[list]) {
            end_step(walk);
            *section = (struct scheduler_section){.count = 0};
            return walk->done ? 0 : 1;
        }
        const uint32_t *from = &walk->table[list + 1u + walk->section * SECTION_SIZE];
        const uint32_t condition = from[SECTION_CONTROL] & 0xffu;
        ++walk->section;
        if (!holds(walk, condition))
            continue;
        fill_section(walk, from, section);
        walk->left -= condition == SCHEDULER_IF_LEFT;
        if (!inside(walk, section->words, section->count, 2) ||
            !inside(walk, section->patches, section->patch_count, PATCH_SIZE) || !patches_are_good(walk, section))
            return -1;
        return 1;
    }
    return 0;
}

static void apply(const struct scheduler_walk *walk, const struct scheduler_section *section, const uint32_t *patch,
                  uint32_t *high, uint32_t *low)
{
    const uint32_t kinds = patch[PATCH_WORD] >> 16;
    *low += patch[PATCH_X] * (kinds & SCHEDULER_X_PARITY ? section->x & 1u : section->x);
    *low += patch[PATCH_Y] * (kinds & SCHEDULER_Y_PARITY ? section->y & 1u : section->y);
    *low += patch[PATCH_GATHERED] * section->gathered + patch[PATCH_IMAGE] * walk->image;
    if ((kinds & SCHEDULER_HALF) != 0 && section->half != 0)
        *high ^= OUTPUT_HALF;
}

void scheduler_word(const struct scheduler_walk *walk, const struct scheduler_section *section, uint32_t i,
                    uint32_t *high, uint32_t *low)
{
    const uint32_t *word = &walk->table[section->words + 2u * i];
    *low = word[0];
    *high = word[1];
    for (uint32_t p = 0; p < section->patch_count; ++p) {
        const uint32_t *patch = &walk->table[section->patches + p * PATCH_SIZE];
        if ((patch[PATCH_WORD] & 0xffffu) == i)
            apply(walk, section, patch, high, low);
    }
}
