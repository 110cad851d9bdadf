/* SPDX-License-Identifier: Apache-2.0 */
/* Fused groups in the network binary: their slots, cuts and weights, and the contents of their tables. */
#include "group_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binary_internal.h"
#include "core_path.h"

static uint32_t is_slot(size_t slot)
{
    return slot != CNNVP_PLAN_NO_SLOT;
}

/* ---- slots ---- */

/* The whole slot as a tensor: all its channels and lines. */
static struct cnnvp_tensor slot_tensor(const struct cnnvp_plan_slot *slot)
{
    struct cnnvp_tensor tensor = slot->map;
    tensor.height = slot->rows;
    tensor.width = slot->columns;
    cnnvp_binary_frame(&tensor);
    cnnvp_binary_put_on_chip(&tensor, CNNVP_PLACE_SLOT, &slot->place);
    return tensor;
}

/* Lays a tensor into the slot, or into some of its channels. */
static void lay(const struct cnnvp_graph *graph, int32_t view, const struct cnnvp_plan_slot *slot,
                struct cnnvp_tensor *tensor)
{
    const struct cnnvp_tensor of = slot_tensor(slot);
    const uint32_t step = cnnvp_maximum32(graph->tensors[view].channel_step, 1u);
    const uint32_t first = (uint32_t)(cnnvp_graph_offset(graph, view) / ((size_t)slot->map.height * slot->map.width));
    tensor->on_chip = CNNVP_PLACE_SLOT;
    tensor->chip_half = of.chip_half;
    tensor->chip_address = of.chip_address + (first * of.channel_stride << of.word_shift);
    tensor->column_stride = 1;
    tensor->row_stride = of.row_stride;
    tensor->channel_stride = of.channel_stride * step;
    tensor->border_top = tensor->border_left = tensor->border_bottom = tensor->border_right = 0;
}

/* The member's layer with its operands and results at their slots. */
static struct cnnvp_layer in_slots(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                   const struct cnnvp_plan_group *group, size_t number, struct cnnvp_layer layer)
{
    const struct cnnvp_plan_member *member = &group->members[number];
    const struct cnnvp_group_ends ends = cnnvp_group_ends(graph, build, group, number);
    if (is_slot(member->in))
        lay(graph, ends.in, &group->slots[member->in], &layer.in);
    if (is_slot(member->in2))
        lay(graph, ends.in2, &group->slots[member->in2], &layer.in2);
    if (is_slot(member->out))
        lay(graph, ends.out, &group->slots[member->out], &layer.out);
    return layer;
}

/* ---- weights ---- */

uint64_t cnnvp_fused_weight_bytes(const struct cnnvp_layer *layer)
{
    return cnnvp_binary_align(cnnvp_plan_weight_words(layer) * CNNVP_WORD_BYTES);
}

/* Of the members whose weights fit, those with the most weights stay. The others' weights are loaded for each tile. */
void cnnvp_fused_choose_weights(struct cnnvp_plan_group *group, const struct cnnvp_plan_limits *limits)
{
    uint64_t all = 0;
    for (size_t i = 0; i < group->count; ++i) {
        group->members[i].stays = 0;
        all += cnnvp_fused_weight_bytes(&group->members[i].layer);
    }
    group->stream = limits->weight_bytes;
    if (cnnvp_plan_group_tiles(group) == 1)
        return;
    const uint64_t room = limits->weight_bytes * limits->weight_halves;
    group->stream = all <= room ? 0 : limits->weight_bytes / 2u;
    uint64_t left = room - group->stream * limits->weight_halves;
    for (size_t n = 0; n < group->count; ++n) {
        struct cnnvp_plan_member *best = NULL;
        for (struct cnnvp_plan_member *i = group->members; i < group->members + group->count; ++i) {
            const uint64_t bytes = cnnvp_fused_weight_bytes(&i->layer);
            if (!i->stays && bytes <= left && (best == NULL || bytes > cnnvp_fused_weight_bytes(&best->layer)))
                best = i;
        }
        if (best == NULL)
            break;
        best->stays = 1;
        left -= cnnvp_fused_weight_bytes(&best->layer);
    }
}

/* Bytes of a half for the largest weight tile that does not stay; `staying_too`: for the largest of all. */
static uint64_t streamed_bytes(const struct cnnvp_weight_tile *weight_tiles, size_t count, int staying_too)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        if (staying_too || !weight_tiles[i].stays)
            bytes = cnnvp_maximum(bytes, weight_tiles[i].bytes);
    return cnnvp_binary_align(bytes);
}

/* Places the weight tiles of members whose weights stay, then the others as far as there is room. Weight tiles without
 * a place are loaded for each tile. */
cnnvp_result cnnvp_fused_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build, size_t number,
                                       struct cnnvp_error *error)
{
    const struct cnnvp_plan_group *group = &build->groups->plans[number];
    const struct cnnvp_layer *layers = &build->layers[group->first], *last = &layers[group->count - 1];
    struct cnnvp_weight_tile *weight_tiles = &build->weight_tiles.all[layers->first_weight_tile];
    const size_t all = last->first_weight_tile + last->weight_tile_count - layers->first_weight_tile;
    CNNVP_FREED struct cnnvp_piece *pieces = malloc((all + 1) * sizeof *pieces);
    CNNVP_TRY_MEMORY(pieces != NULL, error);
    if (cnnvp_plan_group_tiles(group) == 1)
        return CNNVP_DONE; /* nothing is loaded twice */
    for (size_t i = 0; i < group->count; ++i)
        for (uint32_t b = 0; b < layers[i].weight_tile_count; ++b)
            build->weight_tiles.all[layers[i].first_weight_tile + b].stays = group->members[i].stays;
    const uint64_t stream = streamed_bytes(weight_tiles, all, 0);
    struct cnnvp_scratchpad buffer = cnnvp_binary_weight_buffer(&target->limits, stream);
    cnnvp_binary_list_pieces(weight_tiles, all, pieces);
    (void)cnnvp_binary_keep(&buffer, pieces, all);
    if (streamed_bytes(weight_tiles, all, 0) > stream) {
        buffer = cnnvp_binary_weight_buffer(&target->limits, streamed_bytes(weight_tiles, all, 1));
        (void)cnnvp_binary_keep(&buffer, pieces, all);
    }
    for (size_t i = 0; i < all; ++i)
        build->groups->table[number].resident |= weight_tiles[i].stays;
    return CNNVP_DONE;
}

/* ---- cuts ---- */

/* Sets whether a convolution's write-out does the addition after it: as in `written`; NULL: the vector unit does. */
static void set_written_out(struct cnnvp_layer *layer, const struct cnnvp_layer *written)
{
    if (layer->op != CNNVP_OP_CONV)
        return;
    layer->added.written_out = written != NULL ? written->added.written_out : CNNVP_ADDED_BY_VECTOR;
    layer->operands = written != NULL ? written->operands : (struct cnnvp_layer_operands){0};
}

/* Cuts a member as a layer whose map is one tile of the group. */
static cnnvp_result cut_member(const struct cnnvp_graph *graph, const struct cnnvp_plan_limits *limits,
                               const struct cnnvp_plan *plan, const struct cnnvp_plan_group *group, size_t number,
                               const char *place, struct cnnvp_build *build, struct cnnvp_error *error)
{
    const size_t index = group->first + number;
    struct cnnvp_layer tile = in_slots(graph, build, group, number, group->members[number].layer), written;
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest;
    struct cnnvp_plan_cut cut = plan->cuts[index];
    tile.out.height = cnnvp_plan_group_rows(group, number);
    tile.out.width = cnnvp_plan_group_columns(group, number);
    cnnvp_plan_cut_layer(&tile, cut);
    const char *name = graph->layers[index].name;
    int written_out;
    build->layers[index].added = (struct cnnvp_layer_addition){0};
    CNNVP_TRY(cnnvp_plan_write_addition(&tile, name, limits, &written, &written_out, error));
    if (cut.function == CNNVP_PLAN_WRITE_OUT_FUNCTION && cnnvp_plan_table_words(&tile) == 0 && !written_out)
        return cnnvp_config_error(
            error, plan->cut_places[index], "layer \"%s\": no write-out does its addition, only the vector unit", name);
    written_out &= cut.function != CNNVP_PLAN_VECTOR_FUNCTION;
    if (cut.group_out != 0) {
        written_out &= cut.function == CNNVP_PLAN_WRITE_OUT_FUNCTION;
        CNNVP_TRY(cnnvp_plan_check(written_out ? &written : &tile, name, plan->cut_places[index], limits, error));
    } else {
        double score = INFINITY;
        CNNVP_TRY(cnnvp_plan_layer(&tile, name, limits, &finalists, &smallest, error));
        if (finalists.count != 0 && cut.function != CNNVP_PLAN_WRITE_OUT_FUNCTION) {
            score = finalists.all[0].score;
            cut = finalists.all[0].cut;
        }
        if (written_out)
            CNNVP_TRY(cnnvp_plan_layer(&written, name, limits, &finalists, &smallest, error));
        written_out &= finalists.count != 0 && finalists.all[0].score < score;
        if (written_out)
            cut = finalists.all[0].cut;
    }
    if (cut.group_out == 0)
        return cnnvp_config_error(error, place,
                                  "layer \"%s\": its tiles of %u x %u in the group do not fit into a half of each "
                                  "buffer; take smaller tiles or fewer layers",
                                  name, tile.out.height, tile.out.width);
    cnnvp_plan_cut_layer(&build->layers[index], cut);
    set_written_out(&build->layers[index], written_out ? &written : NULL);
    return CNNVP_DONE;
}

/* Cuts an addition that the layer before it does as that layer is cut. */
static void cut_as_before(struct cnnvp_layer *layer)
{
    struct cnnvp_plan_cut cut = cnnvp_plan_cut_of(layer - 1);
    cut.tile_in = cut.tile_out = cut.group_out;
    cnnvp_plan_cut_layer(layer, cut);
}

static cnnvp_result cut_group(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                              const struct cnnvp_plan *plan, struct cnnvp_plan_group *group, const char *place,
                              struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct cnnvp_plan_limits limits = target->limits;
    limits.weights = cnnvp_core_weights(1); /* groups keep the core busy: it also moves lines between tiles */
    cnnvp_fused_choose_weights(group, &target->limits);
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_plan_member *member = &group->members[i];
        if (member->done) {
            cut_as_before(&build->layers[member->source]);
            continue;
        }
        limits.input_bytes = member->tile_bytes;
        limits.input_halves = member->tile_half != 0 ? 1 : target->limits.input_halves;
        limits.weights_stay = member->stays != 0;
        limits.weight_bytes = member->stays != 0 ? target->limits.weight_bytes - group->stream : group->stream;
        CNNVP_TRY(cut_member(graph, &limits, plan, group, i, place, build, error));
    }
    return CNNVP_DONE;
}

/* ---- groups ---- */

static cnnvp_result no_room(const struct cnnvp_graph *graph, const struct cnnvp_plan_limits *limits,
                            const struct cnnvp_plan_group *group, const struct cnnvp_plan_run *run, uint64_t lack,
                            struct cnnvp_error *error)
{
    if (lack == UINT64_MAX)
        return cnnvp_config_error(
            error, run->place,
            "the group from \"%s\" to \"%s\" adds maps that lie in different halves of the input "
            "buffer; make it shorter",
            graph->layers[group->first].name, graph->layers[group->first + group->count - 1].name);
    const struct cnnvp_plan_size size = cnnvp_plan_size(limits, CNNVP_PLAN_INPUT, limits->input_bytes + lack);
    return cnnvp_config_error(
        error, run->place,
        "the group from \"%s\" to \"%s\" does not fit: with tiles of %u x %u a half of the input "
        "buffer lacks %llu bytes; take smaller tiles, fewer layers or -s %s.size=%llu",
        graph->layers[group->first].name, graph->layers[group->first + group->count - 1].name, run->tile_h, run->tile_w,
        (unsigned long long)lack, size.instance, (unsigned long long)size.bytes);
}

int cnnvp_group_place(const struct cnnvp_target *target, const struct cnnvp_build *build,
                      struct cnnvp_plan_group *group, uint64_t *lack)
{
    const size_t last = group->first + group->count - 1;
    const uint64_t top[] = {cnnvp_binary_chip_top(target, build, 0, group->first, last),
                            cnnvp_binary_chip_top(target, build, 1, group->first, last)};
    return cnnvp_plan_group_place(group, top, target->limits.input_halves, lack);
}

/* Makes the members, slots and cuts of a run. The caller clears the group in any case. */
static cnnvp_result make_group(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                               const struct cnnvp_plan *plan, const struct cnnvp_plan_run *run,
                               struct cnnvp_build *build, struct cnnvp_plan_group *group, struct cnnvp_error *error)
{
    uint64_t lack;
    CNNVP_TRY(cnnvp_group_make(graph, build, run, group, error));
    CNNVP_TRY_MEMORY(cnnvp_plan_group_reach(group) == CNNVP_DONE, error);
    if (!cnnvp_group_place(target, build, group, &lack))
        return no_room(graph, &target->limits, group, run, lack, error);
    return cut_group(graph, target, plan, group, run->place, build, error);
}

cnnvp_result cnnvp_fused_try(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                             const struct cnnvp_plan_run *run, struct cnnvp_build *build, struct cnnvp_plan *plan,
                             struct cnnvp_error *error)
{
    struct cnnvp_plan_group group = {0};
    const cnnvp_result result = make_group(graph, target, plan, run, build, &group, error);
    cnnvp_plan_group_clear(&group);
    for (size_t i = run->first; i < run->first + run->count; ++i) {
        plan->cuts[i] = result == CNNVP_DONE ? cnnvp_plan_cut_of(&build->layers[i]) : (struct cnnvp_plan_cut){0};
        set_written_out(&build->layers[i], NULL);
    }
    return result;
}

cnnvp_result cnnvp_fused_plan(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                              const struct cnnvp_plan *plan, struct cnnvp_build *build, struct cnnvp_error *error)
{
    struct cnnvp_arena *arena = &build->arena;
    struct cnnvp_groups *groups = build->groups = cnnvp_arena_array(arena, 1, sizeof *groups);
    CNNVP_TRY_MEMORY(groups != NULL, error);
    groups->plans = cnnvp_arena_array(arena, plan->run_count, sizeof *groups->plans);
    groups->table = cnnvp_arena_array(arena, plan->run_count, sizeof *groups->table);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run *run = &plan->runs[g];
        groups->count = g + 1;
        const struct cnnvp_plan_group *group = &groups->plans[g];
        CNNVP_TRY(make_group(graph, target, plan, run, build, &groups->plans[g], error));
        groups->table[g] = (struct cnnvp_binary_group){
            .first_layer = (uint32_t)group->first,
            .layer_count = (uint32_t)group->count,
            .tile_rows = group->tile_rows,
            .tile_columns = group->tile_columns,
            .halo = group->halo};
        for (size_t i = run->first; i < run->first + run->count; ++i)
            build->layers[i].group = (uint32_t)g + 1u;
        groups->member_count += run->count;
        groups->reach_count += (group->tile_rows + group->tile_columns) * group->count;
    }
    groups->member_bytes = sizeof(struct cnnvp_binary_member);
    groups->members = cnnvp_arena_array(arena, groups->member_count, groups->member_bytes);
    groups->reaches = cnnvp_arena_array(arena, groups->reach_count, sizeof *groups->reaches);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    struct cnnvp_group_reach *to = groups->reaches;
    for (size_t g = 0; g < groups->count; ++g) {
        const struct cnnvp_plan_group *group = &groups->plans[g];
        memcpy(to, group->rows, group->tile_rows * group->count * sizeof *to);
        to += group->tile_rows * group->count;
        memcpy(to, group->columns, group->tile_columns * group->count * sizeof *to);
        to += group->tile_columns * group->count;
    }
    return CNNVP_DONE;
}

static int members_alike(const struct cnnvp_plan_member *a, const struct cnnvp_plan_member *b)
{
    return a->in == b->in && a->in2 == b->in2 && a->out == b->out && a->done == b->done &&
           a->tile_bytes == b->tile_bytes && a->tile_half == b->tile_half && cnnvp_plan_are_alike(&a->layer, &b->layer);
}

int cnnvp_binary_groups_alike(const struct cnnvp_build *build, size_t one, size_t other)
{
    const struct cnnvp_plan_group *a = &build->groups->plans[one];
    const struct cnnvp_plan_group *b = &build->groups->plans[other];
    int alike = a->count == b->count && a->tile_h == b->tile_h && a->tile_w == b->tile_w && a->halo == b->halo;
    for (size_t i = 0; alike && i < a->count; ++i)
        alike = members_alike(&a->members[i], &b->members[i]);
    return alike;
}

cnnvp_result cnnvp_binary_describe_groups(const struct cnnvp_build *build, struct cnnvp_arena *arena,
                                          struct cnnvp_work_info *work, struct cnnvp_error *error)
{
    const size_t count = build->groups != NULL ? build->groups->count : 0;
    struct cnnvp_group_info *groups = cnnvp_arena_array(arena, count, sizeof *groups);
    struct cnnvp_chain_info *chains = cnnvp_arena_array(arena, count, sizeof *chains);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    work->groups = groups;
    work->chains = chains;
    for (size_t g = 0; g < count; ++g) {
        const struct cnnvp_plan_group *group = &build->groups->plans[g];
        const struct cnnvp_binary_group *entry = &build->groups->table[g];
        uint64_t weights = 0, resident = 0, slots = 0;
        for (size_t i = 0; i < group->count; ++i)
            cnnvp_binary_add_weights(build, &build->layers[group->members[i].source], &weights, &resident);
        for (size_t i = 0; i < group->slot_count; ++i)
            slots += cnnvp_plan_slot_bytes(&group->slots[i]);
        if (group->levels != NULL)
            chains[work->chain_count++] = (struct cnnvp_chain_info){
                .first_layer = group->first,
                .last_layer = entry->last_layer,
                .layer_count = group->count,
                .scheduled = entry->scheduled != 0,
                .issue_reason = group->issue_reason,
                .blocks = UINT64_C(1) << (group->levels->bits_x + group->levels->bits_y),
                .weight_bytes = weights,
                .resident_weight_bytes = resident};
        else
            groups[work->group_count++] = (struct cnnvp_group_info){
                .first_layer = group->first,
                .layer_count = group->count,
                .tile_rows = group->tile_rows,
                .tile_columns = group->tile_columns,
                .tile_h = group->tile_h,
                .tile_w = group->tile_w,
                .halo = cnnvp_plan_halos[group->halo],
                .slot_bytes = slots,
                .weight_bytes = weights,
                .resident_weight_bytes = resident};
    }
    return CNNVP_DONE;
}

int cnnvp_binary_is_added(const struct cnnvp_build *build, size_t layer)
{
    const uint32_t group = build->layers[layer].group;
    if (group == 0 || build->layers[layer].depth_first)
        return 0;
    const struct cnnvp_plan_group *of = &build->groups->plans[group - 1u];
    return of->members[layer - of->first].done;
}

/* ---- tables ---- */

/* 1 + the first member that makes the slot; 0: no slot. If several members make a slot, they hold the same lines. */
static uint32_t maker_of(const struct cnnvp_plan_group *group, size_t slot)
{
    return is_slot(slot) ? (uint32_t)group->slots[slot].first + 1u : 0;
}

static void complete_member(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                            const struct cnnvp_plan_group *group, size_t number, struct cnnvp_binary_member *to)
{
    const struct cnnvp_plan_member *member = &group->members[number];
    const struct cnnvp_group_ends ends = cnnvp_group_ends(graph, build, group, number);
    struct cnnvp_layer *layer = &to->layer.plan;
    *to = (struct cnnvp_binary_member){
        .layer = build->entries[group->first + number],
        .done = (uint32_t)member->done,
        .tile_half = member->tile_half,
        .makes = is_slot(member->out),
        .in_maker = maker_of(group, member->in),
        .in2_maker = maker_of(group, member->in2)};
    if (ends.adds) {
        *layer = cnnvp_group_added(graph, build, group->first + number);
        to->layer.fill = build->entries[group->first + number + 1].fill;
    }
    *layer = in_slots(graph, build, group, number, *layer);
    cnnvp_plan_set_addition(layer, build->layers[group->first + number].added.written_out);
    if (is_slot(member->in))
        to->layer.frees_in = group->slots[member->in].last == number;
    if (is_slot(member->in2))
        to->layer.frees_in2 = group->slots[member->in2].last == number && member->in2 != member->in;
    if (!is_slot(member->out))
        return;
    const struct cnnvp_plan_slot *slot = &group->slots[member->out];
    to->slot = slot_tensor(slot);
    to->begins = slot->first == number;
    for (size_t i = 0; i <= number; ++i)
        if (group->members[i].out == member->out)
            to->made += group->members[i].layer.out.channels;
}

/* A layer whose maps are blocks. */
static void complete_of_chain(const struct cnnvp_build *build, const struct cnnvp_plan_group *chain, size_t number,
                              struct cnnvp_binary_layer *to)
{
    *to = build->entries[chain->members[number].source];
    to->plan.in = chain->levels[number].block;
    if (chain->levels[number + 1].on_chip != 0)
        to->plan.out = chain->levels[number + 1].block;
}

void cnnvp_groups_take_zeros(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    for (size_t g = 0; g < build->groups->count; ++g) {
        const struct cnnvp_plan_group *group = &build->groups->plans[g];
        for (size_t i = 0; i < group->count; ++i) {
            const struct cnnvp_layer *layer = &build->layers[group->members[i].source];
            if (build->groups->levels != NULL) {
                group->levels[i].block.zero = layer->in.zero;
                group->levels[i + 1].block.zero = layer->out.zero;
            } else if (is_slot(group->members[i].out)) {
                group->slots[group->members[i].out].map.zero =
                    cnnvp_graph_word_zero(graph, cnnvp_group_ends(graph, build, group, i).out);
            }
        }
    }
}

void cnnvp_groups_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    uint8_t *to = build->groups->members;
    for (size_t g = 0; g < build->groups->count; ++g)
        for (size_t i = 0; i < build->groups->plans[g].count; ++i, to += build->groups->member_bytes)
            if (build->groups->levels != NULL)
                complete_of_chain(build, &build->groups->plans[g], i, (void *)to);
            else
                complete_member(graph, build, &build->groups->plans[g], i, (void *)to);
}
