/* SPDX-License-Identifier: Apache-2.0 */
#include "scratchpad.h"

#include "cnnvp_integer.h"

/* The lowest offset at which the extent overlaps no other one that is there at the same time. */
static uint64_t free_offset(const struct cnnvp_scratchpad *pad, size_t number, const struct cnnvp_extent *extent)
{
    uint64_t offset = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (size_t i = 0; i < number; ++i) {
            const struct cnnvp_extent other = pad->extent(pad->of, i);
            const uint64_t end = other.offset + other.bytes;
            if (other.half != extent->half || end <= offset || offset + extent->bytes <= other.offset ||
                !pad->together(pad->of, number, i))
                continue;
            offset = end;
            moved = 1;
        }
    }
    return offset;
}

int cnnvp_scratchpad_find(const struct cnnvp_scratchpad *pad, size_t number, uint32_t first, uint32_t only,
                          struct cnnvp_extent *extent, uint64_t *lack)
{
    for (uint32_t i = 0; i < pad->halves; ++i) {
        extent->half = (first + i) % pad->halves;
        if (only != CNNVP_SCRATCHPAD_ANY && extent->half != only)
            continue;
        extent->offset = free_offset(pad, number, extent);
        const uint64_t end = extent->offset + extent->bytes;
        if (end <= pad->room[extent->half])
            return 1;
        *lack = cnnvp_minimum(*lack, end - pad->room[extent->half]);
    }
    return 0;
}
