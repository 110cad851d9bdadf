/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs fused groups. A tile runs the ordinary layer functions on boxes. A slot is presented to them as a tensor on
 * chip: its address is moved back, tile by tile, so that the lines which the slot holds lie at their coordinates in the
 * map.
 */
#include "fused.h"

#include "layers_internal.h"

struct work {
    const struct cnnvp_binary_group *group;
    const struct cnnvp_binary_member *members;
    const struct cnnvp_group_reach *rows; /* of the tile in work */
    const struct cnnvp_group_reach *columns;
    const struct cnnvp_group_reach *last_columns;
    uint32_t row, column; /* row and column of the tile in work */
};

static int is_last_tile(const struct work *work)
{
    return work->row + 1u == work->group->tile_rows && work->column + 1u == work->group->tile_columns;
}

/* ---- slots ---- */

/* Prepares a slot before a tile's first results: moves rows that stay, and zeroes padding. Rows that stay bring their
 * padding along. Padding columns do not change while tiles go down, nor in slots as wide as the map. */
static void begin_slot(struct cnnvp_guest *guest, const struct work *work, uint32_t number)
{
    const struct cnnvp_tensor *slot = &work->members[number].slot;
    const struct cnnvp_group_reach *row = &work->rows[number];
    const struct cnnvp_group_reach *column = &work->columns[number];
    if (work->group->halo != CNNVP_HALO_FULL || work->column == 0) {
        if (row->kept != 0 && row->from != 0)
            cnnvp_push_keep(guest, slot, row->from, row->kept);
        cnnvp_push_fill(guest, slot, 0, slot->width, row->zeros_before);
        cnnvp_push_fill(guest, slot, row->zeros_at * slot->row_stride, slot->width, row->zeros_after);
    }
    if (work->group->halo == CNNVP_HALO_RECOMPUTE || work->row == 0) {
        cnnvp_push_fill(guest, slot, 0, column->zeros_before, slot->height);
        cnnvp_push_fill(guest, slot, column->zeros_at, column->zeros_after, slot->height);
    }
}

/* Lines of the map before `end` that the slot holds after the tile. None if the slot begins behind `end`, because
 * strided windows skip lines. */
static uint32_t lines_held(const struct cnnvp_group_reach *reach, int32_t end)
{
    const int32_t held = reach->held > 0 ? reach->held : 0;
    return end > held ? (uint32_t)(end - held) : 0;
}

static uint32_t all_lines_held(const struct cnnvp_group_reach *reach)
{
    return lines_held(reach, reach->first + (int32_t)reach->count);
}

static uint32_t words_held(const struct work *work, uint32_t number)
{
    const struct cnnvp_group_reach *row = &work->rows[number];
    const uint32_t columns = all_lines_held(&work->columns[number]);
    const uint32_t before = all_lines_held(&work->last_columns[number]); /* for rows of earlier tiles */
    const uint32_t earlier_columns = work->group->halo == CNNVP_HALO_FULL ? before : columns;
    const uint32_t earlier_rows = lines_held(row, row->first);
    const uint32_t rows = all_lines_held(row) - earlier_rows;
    return work->members[number].made * (earlier_rows * earlier_columns + rows * columns);
}

/* Moves a slot's tensor to where the tile sees it. */
static void place(const struct work *work, uint32_t maker, struct cnnvp_tensor *tensor)
{
    const int32_t words = work->rows[maker].held * (int32_t)tensor->row_stride + work->columns[maker].held;
    tensor->chip_address -= (uint32_t)words << tensor->word_shift;
}

/* ---- tiles ---- */

/* Records that no layer of the tile reads a slot any more. Lines that stay for the next tile are live until the last
 * tile. */
static void note_free(struct cnnvp_guest *guest, const struct work *work, uint32_t maker)
{
    if (work->group->halo == CNNVP_HALO_RECOMPUTE || is_last_tile(work))
        cnnvp_schedule_note(guest, &work->members[maker].slot, 0);
}

static void note_values(struct cnnvp_guest *guest, const struct work *work, uint32_t number)
{
    const struct cnnvp_binary_member *member = &work->members[number];
    const struct cnnvp_binary_layer *layer = &member->layer;
    if (member->makes)
        cnnvp_schedule_note(guest, &member->slot, words_held(work, number));
    if (layer->frees_in)
        note_free(guest, work, member->in_maker - 1u);
    if (layer->frees_in2)
        note_free(guest, work, member->in2_maker - 1u);
}

static void run_member(struct cnnvp_guest *guest, const struct work *work, uint32_t number)
{
    const struct cnnvp_binary_member *member = &work->members[number];
    const struct cnnvp_box box = {
        .channels = member->layer.plan.out.channels,
        .row = work->rows[number].first,
        .rows = work->rows[number].count,
        .column = work->columns[number].first,
        .columns = work->columns[number].count,
    };
    if (member->done)
        return;
    cnnvp_schedule_begin(guest, &member->layer.plan);
    guest->member = member->layer;
    guest->tile_half = member->tile_half;
    if (member->in_maker != 0)
        place(work, member->in_maker - 1u, &guest->member.plan.in);
    if (member->in2_maker != 0)
        place(work, member->in2_maker - 1u, &guest->member.plan.in2);
    if (member->makes)
        place(work, number, &guest->member.plan.out);
    if (member->begins)
        begin_slot(guest, work, number);
    if (!member->makes && member->layer.plan.out.on_chip && member->layer.fill && work->row == 0 && work->column == 0)
        cnnvp_fill_chip_tensor(guest, &member->layer.plan.out);
    if (box.rows != 0 && box.columns != 0)
        cnnvp_schedule_box(guest, &guest->member.plan, &box);
    else /* staying tiles are loaded in the order of their numbers */
        cnnvp_schedule_load_staying(guest, &member->layer.plan);
    note_values(guest, work, number);
}

static void run_tile(struct cnnvp_guest *guest, struct work *work, uint32_t row, uint32_t column)
{
    const struct cnnvp_binary_group *group = work->group;
    work->row = row;
    work->column = column;
    work->rows = (const struct cnnvp_group_reach *)cnnvp_memory(guest->machine, group->rows) + row * group->layer_count;
    work->columns =
        (const struct cnnvp_group_reach *)cnnvp_memory(guest->machine, group->columns) + column * group->layer_count;
    for (uint32_t i = 0; i < group->layer_count; ++i)
        run_member(guest, work, i);
}

uint32_t cnnvp_fused(struct cnnvp_guest *guest, uint32_t number)
{
    const struct cnnvp_binary_group *group = cnnvp_schedule_group(guest, number);
    struct work work = {.group = group, .members = cnnvp_memory(guest->machine, group->members)};
    work.last_columns = (const struct cnnvp_group_reach *)cnnvp_memory(guest->machine, group->columns) +
                        (group->tile_columns - 1u) * group->layer_count;
    (void)cnnvp_schedule_begin_group(guest, group, number);
    if (group->halo == CNNVP_HALO_ROW) {
        for (uint32_t column = 0; column < group->tile_columns; ++column)
            for (uint32_t row = 0; row < group->tile_rows; ++row)
                run_tile(guest, &work, row, column);
    } else {
        for (uint32_t row = 0; row < group->tile_rows; ++row)
            for (uint32_t column = 0; column < group->tile_columns; ++column)
                run_tile(guest, &work, row, column);
    }
    guest->in_group = 0;
    guest->tile_half = 0;
    return group->layer_count;
}
