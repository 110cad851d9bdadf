/* SPDX-License-Identifier: Apache-2.0 */
/* Computes which lines of each map a tile of a fused group calculates, holds in slots and pads with zeros. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

enum axis { ROWS, COLUMNS };

/* Lines [first, end) of a map. An empty span has the line at which the next lines would begin. */
struct span {
    int32_t first, end;
};

/* The lines that a tile needs of a slot. */
struct need {
    int32_t low;       /* the first line that this tile or a later one needs */
    struct span lines; /* only `end` is used */
    int any;           /* 1: this tile needs lines */
};

struct slot {
    struct need need; /* of the current tile */
    /* The map's line that the slot begins with, in this tile and in the one before; the slot's size in lines. */
    int32_t held, held_before, capacity;
};

struct reaching {
    const struct cnnvp_plan_group *group;
    enum axis axis;
    int cached;    /* 1: lines stay in slots from tile to tile; 0: each tile recomputes what it needs */
    uint32_t tile; /* lines of a tile */
    struct cnnvp_group_reach *reach;
    struct slot *slots;
    int32_t *ends; /* of each member: lines below this were calculated in earlier tiles; -1: none */
};

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static uint32_t size_of(const struct cnnvp_tensor *tensor, enum axis axis)
{
    return axis == ROWS ? tensor->height : tensor->width;
}

/* The lines of an operand that the result lines `out` need. */
static struct span operand_lines(const struct cnnvp_layer *layer, const struct cnnvp_tensor *operand, enum axis axis,
                                 struct span out)
{
    const int32_t stride = (int32_t)(axis == ROWS ? layer->sy : layer->sx);
    const int32_t window = (int32_t)(axis == ROWS ? (layer->ky - 1u) * layer->dy : (layer->kx - 1u) * layer->dx) + 1;
    const int32_t pad = (int32_t)(axis == ROWS ? layer->pad_top : layer->pad_left);
    if (operand == &layer->in && (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)) {
        const int32_t first = out.first * stride - pad;
        return (struct span){first, out.end > out.first ? (out.end - 1) * stride - pad + window : first};
    }
    if (size_of(operand, axis) < size_of(&layer->out, axis))
        return (struct span){0, out.end > out.first};
    return out;
}

static void need_operand(struct reaching *reaching, size_t slot, const struct cnnvp_layer *layer,
                         const struct cnnvp_tensor *operand, struct span out)
{
    if (slot == CNNVP_PLAN_NO_SLOT)
        return;
    struct need *need = &reaching->slots[slot].need;
    const struct span lines = operand_lines(layer, operand, reaching->axis, out);
    if (lines.end > lines.first) {
        need->lines.end = need->any ? larger(need->lines.end, lines.end) : lines.end;
        need->any = 1;
    }
    /* A reader without lines in this tile may still need lines in later tiles, unless it has reached its map's end. */
    if (lines.end > lines.first || (reaching->cached && out.first < (int32_t)size_of(&layer->out, reaching->axis)))
        need->low = smaller(need->low, lines.first);
}

/* The lines that the member calculates in tile number `tile`. */
static struct span lines_of(const struct reaching *reaching, size_t member, uint32_t tile)
{
    const struct cnnvp_plan_member *of = &reaching->group->members[member];
    const int32_t size = (int32_t)size_of(&of->layer.out, reaching->axis);
    if (of->done)
        return (struct span){0, 0};
    if (of->out == CNNVP_PLAN_NO_SLOT) {
        const int32_t first = (int32_t)(tile * reaching->tile);
        return (struct span){first, smaller(size, first + (int32_t)reaching->tile)};
    }
    const struct need *need = &reaching->slots[of->out].need;
    const int32_t end = need->any ? smaller(size, need->lines.end) : 0;
    int32_t first = need->any ? larger(0, need->low) : 0;
    /* Lines that no reader needs are skipped, for example by windows of one line with a stride of two. */
    if (reaching->cached && reaching->ends[member] >= 0)
        first = need->any ? larger(first, reaching->ends[member]) : reaching->ends[member];
    return (struct span){first, larger(first, end)};
}

static void reach_back(struct reaching *reaching, uint32_t tile)
{
    const struct cnnvp_plan_group *group = reaching->group;
    for (size_t s = 0; s < group->slot_count; ++s)
        reaching->slots[s].need = (struct need){INT32_MAX, {0, 0}, 0};
    for (size_t i = group->count; i-- > 0;) {
        const struct cnnvp_plan_member *member = &group->members[i];
        const struct span lines = lines_of(reaching, i, tile);
        struct cnnvp_group_reach *reach = &reaching->reach[tile * group->count + i];
        *reach = (struct cnnvp_group_reach){.first = lines.first, .count = (uint32_t)(lines.end - lines.first)};
        if (lines.end == lines.first && !reaching->cached)
            continue;
        need_operand(reaching, member->in, &member->layer, &member->layer.in, lines);
        need_operand(reaching, member->in2, &member->layer, &member->layer.in2, lines);
    }
}

/* Sets the line that each slot begins with. */
static void hold(struct reaching *reaching, uint32_t tile)
{
    for (size_t s = 0; s < reaching->group->slot_count; ++s) {
        const int32_t low = reaching->slots[s].need.low;
        reaching->slots[s].held_before = reaching->slots[s].held;
        if (low != INT32_MAX)
            reaching->slots[s].held = low;
        else if (!reaching->cached || tile == 0)
            reaching->slots[s].held = 0;
    }
}

static void describe(struct reaching *reaching, uint32_t tile, size_t i)
{
    const struct cnnvp_plan_group *group = reaching->group;
    struct cnnvp_group_reach *reach = &reaching->reach[tile * group->count + i];
    const size_t slot = group->members[i].out;
    const int32_t size = (int32_t)size_of(&group->members[i].layer.out, reaching->axis);
    const int32_t end = reach->first + (int32_t)reach->count;
    if (slot == CNNVP_PLAN_NO_SLOT)
        return;
    const int32_t held = reaching->slots[slot].held;
    const int32_t needed = reaching->slots[slot].need.any ? larger(reaching->slots[slot].need.lines.end, end) : end;
    reach->held = held;
    if (reaching->cached && tile != 0 && reaching->ends[i] > held) {
        reach->kept = (uint32_t)(reaching->ends[i] - held);
        reach->from = (uint32_t)(held - reaching->slots[slot].held_before);
    }
    if (held < 0 && reach->kept == 0)
        reach->zeros_before = (uint32_t)-held;
    if (needed > size) {
        reach->zeros_at = (uint32_t)(larger(size, held) - held);
        reach->zeros_after = (uint32_t)(needed - larger(size, held));
    }
    reaching->slots[slot].capacity = larger(reaching->slots[slot].capacity, larger(needed, end) - held);
}

/* Several members may make parts of one slot. All of them keep the most lines that any of them keeps. */
static void agree(struct reaching *reaching, uint32_t tile)
{
    const struct cnnvp_plan_group *group = reaching->group;
    for (size_t i = 0; i < group->count; ++i)
        for (size_t j = 0; j < group->count; ++j) {
            struct cnnvp_group_reach *a = &reaching->reach[tile * group->count + i];
            const struct cnnvp_group_reach *b = &reaching->reach[tile * group->count + j];
            if (i == j || group->members[i].out == CNNVP_PLAN_NO_SLOT || group->members[i].out != group->members[j].out)
                continue;
            if (b->kept > a->kept) {
                a->kept = b->kept;
                a->from = b->from;
                a->zeros_before = b->zeros_before;
            }
        }
}

static void reach_tile(struct reaching *reaching, uint32_t tile)
{
    const struct cnnvp_plan_group *group = reaching->group;
    reach_back(reaching, tile);
    hold(reaching, tile);
    for (size_t i = 0; i < group->count; ++i)
        describe(reaching, tile, i);
    agree(reaching, tile);
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_group_reach *reach = &reaching->reach[tile * group->count + i];
        reaching->ends[i] = reach->first + (int32_t)reach->count;
    }
}

/* With CNNVP_HALO_FULL a slot is as wide as its map: it begins with the same column in all tiles, the first tile's. */
static void widen(struct reaching *reaching, uint32_t tiles)
{
    const struct cnnvp_plan_group *group = reaching->group;
    for (size_t i = 0; i < group->count; ++i) {
        const size_t slot = group->members[i].out;
        if (slot == CNNVP_PLAN_NO_SLOT)
            continue;
        const int32_t held = reaching->reach[i].held;
        for (uint32_t tile = 0; tile < tiles; ++tile) {
            struct cnnvp_group_reach *reach = &reaching->reach[tile * group->count + i];
            reaching->slots[slot].capacity =
                larger(reaching->slots[slot].capacity, reach->first + (int32_t)reach->count - held);
            if (reach->zeros_after != 0) {
                reach->zeros_at += (uint32_t)(reach->held - held);
                reaching->slots[slot].capacity =
                    larger(reaching->slots[slot].capacity, (int32_t)(reach->zeros_at + reach->zeros_after));
            }
            reach->held = held;
            reach->kept = reach->from = 0;
            reach->zeros_before = held < 0 ? (uint32_t)-held : 0;
        }
    }
}

static void reach_axis(struct cnnvp_plan_group *group, struct reaching *reaching, uint32_t tiles)
{
    memset(reaching->ends, 0xff, group->count * sizeof *reaching->ends); /* -1 */
    for (uint32_t tile = 0; tile < tiles; ++tile)
        reach_tile(reaching, tile);
    if (reaching->axis == COLUMNS && group->halo == CNNVP_HALO_FULL)
        widen(reaching, tiles);
    for (size_t s = 0; s < group->slot_count; ++s) {
        uint32_t *lines = reaching->axis == ROWS ? &group->slots[s].rows : &group->slots[s].columns;
        *lines = (uint32_t)larger(reaching->slots[s].capacity, 1);
    }
}

static int reach_along(struct cnnvp_plan_group *group, enum axis axis, uint32_t tile, uint32_t *tiles,
                       struct cnnvp_group_reach **table)
{
    struct reaching reaching = {
        .group = group,
        .axis = axis,
        .cached = group->halo == CNNVP_HALO_FULL || (group->halo == CNNVP_HALO_ROW && axis == ROWS),
        .tile = tile,
    };
    CNNVP_FREED struct slot *slots = calloc(group->slot_count + 1, sizeof *slots);
    CNNVP_FREED int32_t *ends = malloc(group->count * sizeof *ends);
    free(*table);
    *tiles = cnnvp_divide_up32(size_of(&group->members[group->count - 1].layer.out, axis), tile);
    *table = reaching.reach = calloc((size_t)*tiles * group->count, sizeof **table);
    reaching.slots = slots;
    reaching.ends = ends;
    if (*table == NULL || slots == NULL || ends == NULL)
        return 0;
    reach_axis(group, &reaching, *tiles);
    return 1;
}

cnnvp_result cnnvp_plan_group_reach(struct cnnvp_plan_group *group)
{
    return reach_along(group, ROWS, group->tile_h, &group->tile_rows, &group->rows) &&
                   reach_along(group, COLUMNS, group->tile_w, &group->tile_columns, &group->columns)
               ? CNNVP_DONE
               : CNNVP_FAILED;
}

static uint32_t most(const struct cnnvp_group_reach *table, uint32_t tiles, size_t count, size_t member)
{
    uint32_t lines = 1;
    for (uint32_t tile = 0; tile < tiles; ++tile)
        lines = cnnvp_maximum32(lines, table[tile * count + member].count);
    return lines;
}

uint32_t cnnvp_plan_group_rows(const struct cnnvp_plan_group *group, size_t member)
{
    return most(group->rows, group->tile_rows, group->count, member);
}

uint32_t cnnvp_plan_group_columns(const struct cnnvp_plan_group *group, size_t member)
{
    return most(group->columns, group->tile_columns, group->count, member);
}

void cnnvp_plan_group_clear(struct cnnvp_plan_group *group)
{
    free(group->members);
    free(group->slots);
    free(group->rows);
    free(group->columns);
    *group = (struct cnnvp_plan_group){0};
}
