/* SPDX-License-Identifier: Apache-2.0 */
/* Where the slots of a fused group lie: from the top of the halves down, so that the rest of both serves tiles. */
#include "group.h"
#include "scratchpad.h"

#define HALVES CNNVP_SCRATCHPAD_HALVES
#define ALIGNMENT 64u
#define LARGE_PART 4u /* one half alone serves tiles where the other one has less than this part of its room */

static uint64_t slot_bytes(const struct cnnvp_plan_slot *slot)
{
    const uint64_t bytes = (uint64_t)slot->channels * slot->rows * slot->columns * CNNVP_WORD_BYTES;
    return (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
}

struct slots {
    const struct cnnvp_plan_group *group;
    uint64_t top[HALVES];
};

static struct cnnvp_extent extent_of(const void *of, size_t number)
{
    const struct slots *slots = of;
    const struct cnnvp_plan_slot *slot = &slots->group->slots[number];
    const uint64_t bytes = slot_bytes(slot);
    return (struct cnnvp_extent){slot->half, slots->top[slot->half] - slot->address - bytes, bytes};
}

/* What stays from tile to tile always is there. */
static int coexist(const void *of, size_t number, size_t other)
{
    const struct cnnvp_plan_group *group = ((const struct slots *)of)->group;
    const struct cnnvp_plan_slot *a = &group->slots[number], *b = &group->slots[other];
    return group->halo != CNNVP_HALO_RECOMPUTE || (a->first <= b->last && b->first <= a->last);
}

/* Both operands of an addition lie in one half: the half of one that has a place. */
static uint32_t forced_half(const struct cnnvp_plan_group *group, size_t slot)
{
    uint32_t forced = CNNVP_SCRATCHPAD_ANY;
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_plan_member *member = &group->members[i];
        const struct cnnvp_binary_layer *layer = &member->layer;
        if (layer->op != CNNVP_OP_ADD || (member->in != slot && member->in2 != slot))
            continue;
        const size_t other = member->in == slot ? member->in2 : member->in;
        const struct cnnvp_binary_tensor *elsewhere = member->in == slot ? &layer->in2 : &layer->in;
        uint32_t half = CNNVP_SCRATCHPAD_ANY;
        if (other == CNNVP_PLAN_NO_SLOT && elsewhere->on_chip)
            half = elsewhere->chip_half;
        else if (other != CNNVP_PLAN_NO_SLOT && other < slot)
            half = group->slots[other].half;
        if (half != CNNVP_SCRATCHPAD_ANY && forced != CNNVP_SCRATCHPAD_ANY && half != forced)
            return CNNVP_SCRATCHPAD_NONE;
        forced = half != CNNVP_SCRATCHPAD_ANY ? half : forced;
    }
    return forced;
}

/* The half that the slot's maker reads from; the other one is better. */
static uint32_t source_half(const struct cnnvp_plan_group *group, const struct cnnvp_plan_slot *slot)
{
    const struct cnnvp_plan_member *maker = &group->members[slot->first];
    if (maker->in != CNNVP_PLAN_NO_SLOT)
        return group->slots[maker->in].half;
    return maker->layer.in.on_chip ? maker->layer.in.chip_half : 1u;
}

/* What slots that are there with the member leave. Both operands of an addition lie in one half. */
static void leave_room(struct cnnvp_plan_group *group, size_t number, const uint64_t top[2], uint32_t halves)
{
    struct cnnvp_plan_member *member = &group->members[number];
    const struct cnnvp_binary_layer *layer = &member->layer;
    uint64_t room[HALVES] = {top[0], halves > 1 ? top[1] : 0};
    for (size_t s = 0; s < group->slot_count; ++s) {
        const struct cnnvp_plan_slot *slot = &group->slots[s];
        if (group->halo != CNNVP_HALO_RECOMPUTE || (slot->first <= number && number <= slot->last))
            room[slot->half] = cnnvp_minimum(room[slot->half], slot->address);
    }
    const uint32_t larger = room[1] > room[0];
    const uint64_t less = room[1u - larger];
    member->tile_half = halves > 1 && less < room[larger] / LARGE_PART ? larger + 1u : 0;
    member->tile_bytes = halves == 1 ? room[0] : member->tile_half != 0 ? room[larger] : less;
    if (layer->op == CNNVP_OP_ADD && (layer->in.on_chip || layer->in2.on_chip)) {
        member->tile_half = 0;
        member->tile_bytes = halves == 1 ? room[0] : less;
    }
}

int cnnvp_plan_group_place(struct cnnvp_plan_group *group, const uint64_t top[2], uint32_t halves, uint64_t *lack)
{
    const struct slots slots = {group, {top[0] / ALIGNMENT * ALIGNMENT, top[1] / ALIGNMENT * ALIGNMENT}};
    const struct cnnvp_scratchpad pad = {halves, {slots.top[0], slots.top[1]}, &slots, extent_of, coexist};
    *lack = UINT64_MAX;
    for (size_t s = 0; s < group->slot_count; ++s) {
        struct cnnvp_plan_slot *slot = &group->slots[s];
        struct cnnvp_extent extent = {.bytes = slot_bytes(slot)};
        if (!cnnvp_scratchpad_find(
                &pad, s, (source_half(group, slot) + 1u) % halves, forced_half(group, s), &extent, lack))
            return 0;
        slot->half = extent.half;
        slot->address = slots.top[slot->half] - extent.offset - extent.bytes;
    }
    for (size_t i = 0; i < group->count; ++i)
        leave_room(group, i, top, halves);
    return 1;
}
