/* SPDX-License-Identifier: Apache-2.0 */
/* Image division: the order of a feature map's blocks. */
#include "depth.h"
#include "cnnvp_integer.h"

/* Interleaves x0 y0 x1 y1 ... from the low bit on while both have bits; the other bits of the longer one follow on top
 * (Part B 4-4). */
static uint32_t interleave(uint32_t x, uint32_t y, uint32_t common)
{
    uint32_t number = 0;
    for (uint32_t bit = 0; bit < common; ++bit)
        number |= (x >> bit & 1u) << (2u * bit) | (y >> bit & 1u) << (2u * bit + 1u);
    return number | (x >> common | y >> common) << (2u * common);
}

static void next_by_counting(const struct cnnvp_binary_level *level, struct cnnvp_division *division)
{
    const uint32_t common = cnnvp_minimum32(level->bits_x, level->bits_y);
    const uint32_t blocks = 1u << (level->bits_x + level->bits_y);
    const uint32_t number = (interleave(division->x, division->y, common) + 1u) & (blocks - 1u);
    const uint32_t rest = number >> (2u * common) << common;
    uint32_t x = level->bits_x > level->bits_y ? rest : 0;
    uint32_t y = level->bits_x > level->bits_y ? 0 : rest;
    for (uint32_t bit = 0; bit < common; ++bit) {
        x |= (number >> (2u * bit) & 1u) << bit;
        y |= (number >> (2u * bit + 1u) & 1u) << bit;
    }
    division->x = x;
    division->y = y;
}

void cnnvp_next_block(const struct cnnvp_guest *guest, const struct cnnvp_binary_level *level,
                      struct cnnvp_division *division)
{
    if (level->order == 0) {
        next_by_counting(level, division);
        return;
    }
    const uint32_t *order = cnnvp_memory(guest->machine, level->order);
    division->number = (division->number + 1u) & ((1u << (level->bits_x + level->bits_y)) - 1u);
    division->x = order[division->number] & 0xffffu;
    division->y = order[division->number] >> 16;
}
