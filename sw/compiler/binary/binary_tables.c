/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a binary, without the weight tiles' words: their addresses, their bytes, and the steps in which the
 * guest software reads them.
 *
 * If there are several accelerators, each has its own places for maps between layers, and so its own tables that refer
 * to maps: a header and the tables marked `own` below. Accelerator k of n takes batches k, k + n, and so on; the places
 * of maps are in the order of the accelerators.
 */
#include "binary_tables.h"

#include <string.h>

#include "binary_internal.h"

/* In the order of their addresses. */
enum { HEADER, LAYERS, WEIGHT_TILES, REGIONS, GROUPS, LEVELS, MEMBERS, ORDERS, REACHES, TABLES };

struct table {
    const void *data;
    size_t count, size;
    int own; /* 1: each accelerator has one */
};

static const struct cnnvp_groups no_groups;

static void find_tables(const struct cnnvp_build *build, struct table tables[TABLES])
{
    const struct cnnvp_groups *groups = build->groups != NULL ? build->groups : &no_groups;
    const struct table all[TABLES] = {
        [HEADER] = {build->header, 1, sizeof *build->header, 1},
        [LAYERS] = {build->entries, build->header->layer_count, sizeof *build->entries, 1},
        [WEIGHT_TILES] = {build->weight_tiles.all, build->weight_tiles.count, sizeof *build->weight_tiles.all, 0},
        [REGIONS] = {build->regions, build->regions != NULL ? build->header->layer_count : 0, sizeof *build->regions,
                     0},
        [GROUPS] = {groups->table, groups->count, sizeof *groups->table, 1},
        [LEVELS] = {groups->levels, cnnvp_depth_levels(groups), sizeof *groups->levels, 0},
        [MEMBERS] = {groups->members, groups->member_count, groups->member_bytes, 1},
        [ORDERS] = {groups->orders, groups->order_count, sizeof *groups->orders, 0},
        [REACHES] = {groups->reaches, groups->reach_count, sizeof *groups->reaches, 0}};
    memcpy(tables, all, sizeof all);
}

/* ---- places ---- */

/* Lays out tables from address `at` on: all for the first accelerator, only its own for another one. Returns the
 * address after them. */
static uint64_t lay_out(const struct cnnvp_build *build, int is_first, uint64_t at, uint64_t addresses[TABLES])
{
    struct table tables[TABLES];
    find_tables(build, tables);
    for (size_t t = 0; t < TABLES; ++t) {
        const int of_layers = t == LAYERS || (t == REGIONS && build->regions != NULL);
        const size_t count = of_layers ? build->shares.layers : tables[t].count;
        addresses[t] = at;
        if (is_first || tables[t].own)
            at += cnnvp_binary_align(count * tables[t].size);
    }
    return at;
}

static void find_addresses(const struct cnnvp_build *build, uint32_t accelerator, uint64_t addresses[TABLES])
{
    const struct cnnvp_binary_shares *shares = &build->shares;
    (void)lay_out(build, accelerator == 0,
                  accelerator == 0 ? shares->header : shares->tables + (accelerator - 1u) * shares->table_bytes,
                  addresses);
}

static void refer_to_groups(struct cnnvp_groups *groups, const uint64_t addresses[TABLES])
{
    size_t member = 0, reach = 0, word = 0;
    for (size_t g = 0; g < groups->count; ++g) {
        struct cnnvp_binary_group *group = &groups->table[g];
        group->members = (uint32_t)(addresses[MEMBERS] + member * groups->member_bytes);
        if (groups->levels != NULL) {
            group->levels = (uint32_t)(addresses[LEVELS] + (member + g) * sizeof *groups->levels);
        } else {
            group->rows = (uint32_t)(addresses[REACHES] + reach * sizeof *groups->reaches);
            reach += (size_t)group->tile_rows * group->layer_count;
            group->columns = (uint32_t)(addresses[REACHES] + reach * sizeof *groups->reaches);
            reach += (size_t)group->tile_columns * group->layer_count;
        }
        member += group->layer_count;
    }
    for (size_t i = 0; i < cnnvp_depth_levels(groups) && groups->orders != NULL; ++i) {
        groups->levels[i].order = (uint32_t)(addresses[ORDERS] + word * sizeof *groups->orders);
        word += (size_t)1 << (groups->levels[i].bits_x + groups->levels[i].bits_y);
    }
}

uint64_t cnnvp_binary_place_tables(struct cnnvp_build *build)
{
    struct cnnvp_binary_shares *shares = &build->shares;
    uint64_t addresses[TABLES];
    shares->layers = build->header->layer_count;
    shares->header = cnnvp_binary_begin(build);
    if (shares->count > 1)
        shares->header += cnnvp_binary_align(sizeof(struct cnnvp_accelerators_binary));
    const uint64_t end = lay_out(build, 1, shares->header, addresses);
    build->header->layers = (uint32_t)addresses[LAYERS];
    build->header->weight_tiles = (uint32_t)addresses[WEIGHT_TILES];
    if (build->regions != NULL)
        build->header->regions = (uint32_t)addresses[REGIONS];
    if (build->groups != NULL) {
        build->header->groups = (uint32_t)addresses[GROUPS];
        refer_to_groups(build->groups, addresses);
    }
    if (shares->count == 1)
        return end;
    shares->tables = end;
    shares->table_bytes = lay_out(build, 0, end, addresses) - end;
    shares->rooms = end + (shares->count - 1u) * shares->table_bytes;
    return shares->rooms + (uint64_t)shares->count * CNNVP_ROOM_BYTES;
}

/* ---- bytes ---- */

static void *place_of(const struct cnnvp_build *build, uint8_t *binary, uint64_t address)
{
    return binary + (address - cnnvp_binary_begin(build));
}

static void share_tensor(const struct cnnvp_build *build, uint32_t accelerator, struct cnnvp_tensor *tensor)
{
    tensor->address += accelerator * build->header->batch * tensor->batch_stride;
}

static void share_layer(const struct cnnvp_build *build, uint32_t accelerator, struct cnnvp_binary_layer *layer)
{
    share_tensor(build, accelerator, &layer->plan.in);
    share_tensor(build, accelerator, &layer->plan.in2);
    share_tensor(build, accelerator, &layer->plan.out);
}

/* Adapts tables that are copies of the first accelerator's to another accelerator. */
static void share_tables(const struct cnnvp_build *build, uint32_t accelerator, const uint64_t addresses[TABLES],
                         uint8_t *binary)
{
    struct table tables[TABLES];
    uint64_t first[TABLES];
    struct cnnvp_binary *header = place_of(build, binary, addresses[HEADER]);
    struct cnnvp_binary_layer *layers = place_of(build, binary, addresses[LAYERS]);
    struct cnnvp_binary_group *groups = place_of(build, binary, addresses[GROUPS]);
    find_tables(build, tables);
    find_addresses(build, 0, first);
    if (accelerator * header->batch >= header->images) /* this accelerator has no images */
        header->flags &= ~(uint32_t)CNNVP_BINARY_PRELOAD;
    header->element = build->shares.all[accelerator].element;
    header->element_irq = build->shares.all[accelerator].element_irq;
    header->scratchpad = build->shares.all[accelerator].scratchpad;
    header->scheduler = header->scheduler != 0 ? build->shares.all[accelerator].scheduler : 0;
    header->scheduler_irq = build->shares.all[accelerator].scheduler_irq;
    header->list += accelerator * header->list_bytes;
    header->layers = (uint32_t)addresses[LAYERS];
    header->groups = tables[GROUPS].count != 0 ? (uint32_t)addresses[GROUPS] : header->groups;
    share_tensor(build, accelerator, &header->input);
    for (size_t i = 0; i < tables[LAYERS].count; ++i)
        share_layer(build, accelerator, &layers[i]);
    for (size_t i = 0; i < tables[GROUPS].count; ++i)
        groups[i].members += (uint32_t)(addresses[MEMBERS] - first[MEMBERS]);
    for (size_t i = 0; i < tables[MEMBERS].count; ++i) /* each begins with its layer */
        share_layer(build, accelerator, place_of(build, binary, addresses[MEMBERS] + i * tables[MEMBERS].size));
}

void cnnvp_binary_write_tables(const struct cnnvp_build *build, uint8_t *binary)
{
    struct cnnvp_accelerators_binary list = {
        .magic = CNNVP_ACCELERATORS_BINARY_MAGIC,
        .version = CNNVP_BINARY_VERSION,
        .plic = build->header->plic,
        .clint = build->shares.clint,
        .rooms = (uint32_t)build->shares.rooms,
        .count = build->shares.count};
    struct table tables[TABLES];
    find_tables(build, tables);
    for (uint32_t i = 0; i < list.count; ++i) {
        uint64_t addresses[TABLES];
        find_addresses(build, i, addresses);
        list.binaries[i] = (uint32_t)addresses[HEADER];
        for (size_t t = 0; t < TABLES; ++t)
            if (tables[t].count != 0 && (i == 0 || tables[t].own))
                memcpy(place_of(build, binary, addresses[t]), tables[t].data, tables[t].count * tables[t].size);
        if (i != 0)
            share_tables(build, i, addresses, binary);
    }
    if (list.count > 1)
        memcpy(binary, &list, sizeof list);
}

/* ---- which tables are read in which step ---- */

/*
 * A step is a layer or a group. A layer needs its entry and those of its weight tiles; groups also need their own
 * tables. The tables that a step needs most come first.
 */

/* The current step of an accelerator. */
struct listing {
    const struct cnnvp_build *build;
    uint64_t addresses[TABLES];
    cnnvp_binary_table_fn list;
    void *context;
    uint32_t accelerator;
    uint32_t step;
};

static cnnvp_result list(const struct listing *listing, uint64_t address, uint64_t bytes)
{
    if (bytes == 0)
        return CNNVP_DONE;
    return listing->list(listing->context, listing->accelerator, listing->step, address, bytes);
}

/* Lists entries of a table from number `first` on. */
static cnnvp_result list_entries(const struct listing *listing, size_t table, size_t first, size_t count)
{
    struct table tables[TABLES];
    find_tables(listing->build, tables);
    return list(listing, listing->addresses[table] + first * tables[table].size, count * tables[table].size);
}

static cnnvp_result list_weight_tiles(const struct listing *listing, const struct cnnvp_layer *layer)
{
    const size_t size = sizeof *listing->build->weight_tiles.all;
    return list(listing, listing->build->header->weight_tiles + layer->first_weight_tile * size,
                layer->weight_tile_count * size);
}

static cnnvp_result list_levels(const struct listing *listing, const struct cnnvp_binary_level *levels, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (levels[i].order != 0)
            CNNVP_TRY(list(listing, levels[i].order, sizeof(uint32_t) << (levels[i].bits_x + levels[i].bits_y)));
    return CNNVP_DONE;
}

static cnnvp_result list_group(const struct listing *listing, size_t number)
{
    const struct cnnvp_build *build = listing->build;
    const struct cnnvp_groups *groups = build->groups;
    const struct cnnvp_binary_group *group = &groups->table[number];
    const size_t lines = group->layer_count * sizeof(struct cnnvp_group_reach);
    const int is_chain = groups->levels != NULL;
    const size_t first = (group->members - groups->table[0].members) / groups->member_bytes;
    CNNVP_TRY(list_entries(listing, GROUPS, number, 1));
    if (is_chain)
        CNNVP_TRY(list(listing, group->levels, (group->layer_count + 1u) * sizeof *groups->levels));
    CNNVP_TRY(list_entries(listing, MEMBERS, first, group->layer_count));
    if (!is_chain) {
        CNNVP_TRY(list(listing, group->rows, group->tile_rows * lines));
        CNNVP_TRY(list(listing, group->columns, group->tile_columns * lines));
    }
    for (size_t i = group->first_layer; i < build->header->layer_count; ++i)
        if (build->entries[i].plan.group == number + 1u)
            CNNVP_TRY(list_weight_tiles(listing, &build->entries[i].plan));
    return is_chain ? list_levels(listing, &groups->levels[first + number], group->layer_count + 1u) : CNNVP_DONE;
}

cnnvp_result cnnvp_binary_list_held(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table, void *context)
{
    const struct cnnvp_binary_shares *shares = &build->shares;
    struct listing listing = {.build = build, .list = list_table, .context = context};
    if (shares->count > 1)
        CNNVP_TRY(list(&listing, cnnvp_binary_begin(build), sizeof(struct cnnvp_accelerators_binary)));
    for (uint32_t i = 0; i < shares->count; ++i) {
        find_addresses(build, i, listing.addresses);
        CNNVP_TRY(list_entries(&listing, HEADER, 0, 1));
        if (i == 0 && build->regions != NULL)
            CNNVP_TRY(list_entries(&listing, REGIONS, 0, build->header->layer_count));
    }
    return shares->count > 1 ? list(&listing, shares->rooms, shares->count * CNNVP_ROOM_BYTES) : CNNVP_DONE;
}

cnnvp_result cnnvp_binary_list_steps(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table, void *context)
{
    for (uint32_t i = 0; i < build->shares.count; ++i) {
        struct listing listing = {.build = build, .list = list_table, .context = context, .accelerator = i};
        find_addresses(build, i, listing.addresses);
        for (size_t layer = 0; layer < build->header->layer_count; ++layer) {
            const struct cnnvp_layer *plan = &build->entries[layer].plan;
            const size_t group = plan->group;
            const int begins = group == 0 || build->groups->table[group - 1u].first_layer + 1u == plan->tag;
            listing.step += layer != 0 && begins;
            CNNVP_TRY(list_entries(&listing, LAYERS, layer, 1)); /* also those that the schedule skips */
            if (begins)
                CNNVP_TRY(group != 0 ? list_group(&listing, group - 1u) : list_weight_tiles(&listing, plan));
        }
    }
    return CNNVP_DONE;
}
