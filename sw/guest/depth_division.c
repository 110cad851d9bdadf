/* SPDX-License-Identifier: Apache-2.0 */
/* Image division: the order of a feature map's blocks. */
#include "depth.h"

void cnnvp_next_block(const struct cnnvp_guest *guest, const struct cnnvp_binary_level *level,
                      struct cnnvp_division *division)
{
    const uint32_t number = (division->number + 1u) & ((1u << (level->bits_x + level->bits_y)) - 1u);
    const uint32_t *order = level->order != 0 ? cnnvp_memory(guest->machine, level->order) : NULL;
    const uint32_t block = order != NULL ? order[number] : cnnvp_morton_block(level, number);
    division->x = block & 0xffffu;
    division->y = block >> 16;
    division->number = number;
}
