/* SPDX-License-Identifier: Apache-2.0 */
/* Places the slots of a fused group from the top of the halves down, so that the rest of the halves serves tiles. */
#include "group.h"

#define HALVES CNNVP_SCRATCHPAD_HALVES
#define ALIGNMENT 64u
#define LARGE_PART 4u /* one half alone serves tiles if the other has less than a 4th of its room */

/* The half in which the slot has to lie: both operands of an addition lie in the same half, so an operand that has its
 * place decides for the other. */
static uint32_t forced_half(const struct cnnvp_plan_group *group, size_t slot)
{
    uint32_t forced = CNNVP_SCRATCHPAD_ANY;
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_plan_member *member = &group->members[i];
        const struct cnnvp_layer *layer = &member->layer;
        if (layer->op != CNNVP_OP_ADD || (member->in != slot && member->in2 != slot))
            continue;
        const size_t other = member->in == slot ? member->in2 : member->in;
        const struct cnnvp_tensor *elsewhere = member->in == slot ? &layer->in2 : &layer->in;
        uint32_t half = CNNVP_SCRATCHPAD_ANY;
        if (other == CNNVP_PLAN_NO_SLOT && elsewhere->on_chip)
            half = elsewhere->chip_half;
        else if (other != CNNVP_PLAN_NO_SLOT && other < slot)
            half = group->slots[other].place.half;
        if (half != CNNVP_SCRATCHPAD_ANY && forced != CNNVP_SCRATCHPAD_ANY && half != forced)
            return CNNVP_SCRATCHPAD_NONE;
        forced = half != CNNVP_SCRATCHPAD_ANY ? half : forced;
    }
    return forced;
}

/* The half that the slot's maker reads from. The slot should lie in the other half. */
static uint32_t source_half(const struct cnnvp_plan_group *group, const struct cnnvp_plan_slot *slot)
{
    const struct cnnvp_plan_member *maker = &group->members[slot->first];
    if (maker->in != CNNVP_PLAN_NO_SLOT)
        return group->slots[maker->in].place.half;
    return maker->layer.in.on_chip ? maker->layer.in.chip_half : 1u;
}

/* Gives the member's tiles the room that the live slots leave. One half alone may serve them, but not for an addition
 * with an operand on chip: the tile of the other operand has to lie in that operand's half. */
static void leave_room(struct cnnvp_plan_group *group, size_t number, const struct cnnvp_scratchpad *pad,
                       const uint64_t top[2])
{
    struct cnnvp_plan_member *member = &group->members[number];
    const struct cnnvp_layer *layer = &member->layer;
    const uint64_t room[HALVES] = {cnnvp_scratchpad_free_below(pad, 0, number, number, top[0]),
                                   pad->halves > 1 ? cnnvp_scratchpad_free_below(pad, 1, number, number, top[1]) : 0};
    const uint32_t larger = room[1] > room[0];
    const uint64_t less = room[1u - larger];
    const int adds = layer->op == CNNVP_OP_ADD && (layer->in.on_chip || layer->in2.on_chip);
    member->tile_half = pad->halves > 1 && !adds && less < room[larger] / LARGE_PART ? larger + 1u : 0;
    member->tile_bytes = pad->halves == 1 || member->tile_half != 0 ? room[larger] : less;
}

int cnnvp_plan_group_place(struct cnnvp_plan_group *group, const uint64_t top[2], uint32_t halves, uint64_t *lack)
{
    struct cnnvp_scratchpad pad = {
        .halves = halves, .room = {top[0] / ALIGNMENT * ALIGNMENT, top[1] / ALIGNMENT * ALIGNMENT}, .from_top = 1};
    *lack = UINT64_MAX;
    for (size_t s = 0; s < group->slot_count; ++s) {
        struct cnnvp_plan_slot *slot = &group->slots[s];
        const uint64_t bytes = cnnvp_plan_slot_bytes(slot);
        /* A slot whose lines stay from tile to tile lives through the whole group. */
        const int stays = group->halo != CNNVP_HALO_RECOMPUTE;
        slot->place = (struct cnnvp_place){.bytes = (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT,
                                           .begin = stays ? 0 : slot->first,
                                           .end = stays ? group->count : slot->last};
        if (!cnnvp_scratchpad_put(&pad, (source_half(group, slot) + 1u) % halves, forced_half(group, s), &slot->place,
                                  lack))
            return 0;
    }
    for (size_t i = 0; i < group->count; ++i)
        leave_room(group, i, &pad, top);
    return 1;
}
