/* SPDX-License-Identifier: Apache-2.0 */
#include "scratchpad.h"

#include "cnnvp_integer.h"

static int is_there(const struct cnnvp_place *place, size_t first, size_t last)
{
    return place->begin <= last && first <= place->end;
}

/* The lowest offset from the edge at which the place overlaps no other place that lives at the same time. */
static uint64_t free_offset(const struct cnnvp_scratchpad *pad, const struct cnnvp_place *place)
{
    uint64_t offset = pad->taken[place->half];
    for (int moved = 1; moved;) {
        moved = 0;
        for (const struct cnnvp_place *other = pad->placed; other != NULL; other = other->next) {
            const uint64_t low =
                pad->from_top ? pad->room[other->half] - other->address - other->bytes : other->address;
            const uint64_t end = low + other->bytes;
            if (other->half != place->half || end <= offset || offset + place->bytes <= low ||
                !is_there(other, place->begin, place->end))
                continue;
            offset = end;
            moved = 1;
        }
    }
    return offset;
}

int cnnvp_scratchpad_put(struct cnnvp_scratchpad *pad, uint32_t first, uint32_t only, struct cnnvp_place *place,
                         uint64_t *lack)
{
    for (uint32_t i = 0; i < pad->halves; ++i) {
        place->half = (first + i) % pad->halves;
        if (only != CNNVP_SCRATCHPAD_ANY && place->half != only)
            continue;
        const uint64_t offset = free_offset(pad, place);
        const uint64_t end = offset + place->bytes;
        const uint64_t room = pad->room[place->half];
        if (end <= room) {
            place->address = pad->from_top ? room - end : offset;
            if (place->begin == 0 && place->end == CNNVP_FOR_EVER && offset == pad->taken[place->half]) {
                pad->taken[place->half] = end;
                return 1;
            }
            place->next = pad->placed;
            pad->placed = place;
            return 1;
        }
        *lack = cnnvp_minimum(*lack, end - room);
    }
    return 0;
}

uint64_t cnnvp_scratchpad_free_below(const struct cnnvp_scratchpad *pad, uint32_t half, size_t first, size_t last,
                                     uint64_t top)
{
    if (pad->taken[half] != 0)
        top = pad->from_top ? cnnvp_minimum(top, pad->room[half] - pad->taken[half]) : 0;
    for (const struct cnnvp_place *place = pad->placed; place != NULL; place = place->next)
        if (place->half == half && is_there(place, first, last))
            top = cnnvp_minimum(top, place->address);
    return top;
}
