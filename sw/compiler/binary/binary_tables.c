/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tables the guest software reads when: of a layer its entry and its blobs', of a fused group or a depth-first
 * chain, which are one step, what describes them, too. A step's most needed tables come first.
 */
#include "binary_internal.h"
#include "binary_tables.h"
#include "group_build.h"

/* The step in hand, of an accelerator. */
struct listing {
    const struct cnnvp_build *build;
    struct cnnvp_binary_own own;
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

static cnnvp_result list_entries(const struct listing *listing, size_t layer, size_t count)
{
    const size_t bytes = sizeof *listing->build->layers;
    return list(listing, listing->own.layers + layer * bytes, count * bytes);
}

static cnnvp_result list_blobs(const struct listing *listing, const struct cnnvp_binary_layer *layer)
{
    const size_t bytes = sizeof *listing->build->blobs.all;
    return list(listing, listing->build->header.blobs + layer->first_blob * bytes, layer->blob_count * bytes);
}

static cnnvp_result list_group(const struct listing *listing, uint32_t number)
{
    const struct cnnvp_fused *fused = listing->build->fused;
    const struct cnnvp_binary_group *group = &fused->table[number];
    const size_t lines = group->layer_count * sizeof(struct cnnvp_binary_reach);
    const uint64_t members = group->members - fused->table[0].members;
    CNNVP_TRY(list(listing, listing->own.groups + number * sizeof *group, sizeof *group));
    CNNVP_TRY(list(listing, listing->own.members + members, group->layer_count * sizeof *fused->members));
    CNNVP_TRY(list(listing, group->rows, group->tile_rows * lines));
    CNNVP_TRY(list(listing, group->columns, group->tile_columns * lines));
    for (uint32_t i = 0; i < group->layer_count; ++i)
        CNNVP_TRY(list_blobs(listing, &fused->members[members / sizeof *fused->members + i].layer));
    return CNNVP_DONE;
}

static cnnvp_result list_orders(const struct listing *listing, const struct cnnvp_binary_level *levels, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (levels[i].order != 0)
            CNNVP_TRY(list(listing, levels[i].order, sizeof(uint32_t) << (levels[i].bits_x + levels[i].bits_y)));
    return CNNVP_DONE;
}

static cnnvp_result list_chain(const struct listing *listing, uint32_t number)
{
    const struct cnnvp_depth *depth = listing->build->depth;
    const struct cnnvp_binary_chain *chain = &depth->chains[number];
    const uint64_t layers = chain->layers - depth->chains[0].layers;
    const size_t first = layers / sizeof *depth->layers;
    const size_t levels = chain->layer_count + 1u;
    CNNVP_TRY(list(listing, listing->own.chains + number * sizeof *chain, sizeof *chain));
    CNNVP_TRY(list(listing, chain->levels, levels * sizeof *depth->levels));
    CNNVP_TRY(list(listing, listing->own.chain_layers + layers, chain->layer_count * sizeof *depth->layers));
    for (uint32_t i = 0; i < chain->layer_count; ++i)
        CNNVP_TRY(list_blobs(listing, &depth->layers[first + i]));
    return list_orders(listing, &depth->levels[first + number], levels);
}

/* A layer and those that run with it, of which the schedule reads the entries at most. *count: how many they are. */
static cnnvp_result list_step(const struct listing *listing, size_t layer, size_t *count)
{
    const struct cnnvp_binary_layer *entry = &listing->build->layers[layer];
    cnnvp_result result = list_entries(listing, layer, 1);
    *count = 1;
    if (entry->group != 0 && result == CNNVP_DONE) {
        *count = listing->build->fused->table[entry->group - 1u].layer_count;
        result = list_group(listing, entry->group - 1u);
    } else if (entry->chain != 0 && result == CNNVP_DONE) {
        *count = listing->build->depth->chains[entry->chain - 1u].layer_count;
        result = list_chain(listing, entry->chain - 1u);
    } else if (result == CNNVP_DONE) {
        result = list_blobs(listing, entry);
    }
    return result == CNNVP_DONE ? list_entries(listing, layer + 1u, *count - 1u) : result;
}

static cnnvp_result list_steps(struct listing *listing)
{
    size_t count = 0;
    for (size_t i = 0; i < listing->build->header.layer_count; i += count) {
        CNNVP_TRY(list_step(listing, i, &count));
        ++listing->step;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_binary_list_held(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table, void *context)
{
    const struct cnnvp_binary_shares *shares = &build->shares;
    struct listing listing = {.build = build, .list = list_table, .context = context};
    cnnvp_result result = CNNVP_DONE;
    if (shares->count > 1)
        result = list(&listing, CNNVP_BINARY_ADDRESS, sizeof(struct cnnvp_accelerators_binary));
    for (uint32_t i = 0; i < shares->count && result == CNNVP_DONE; ++i)
        result = list(&listing, cnnvp_binary_own(build, i).header, sizeof build->header);
    if (shares->count > 1 && result == CNNVP_DONE)
        result = list(&listing, shares->rooms, shares->count * CNNVP_ROOM_BYTES);
    return result;
}

cnnvp_result cnnvp_binary_list_steps(const struct cnnvp_build *build, cnnvp_binary_table_fn list_table, void *context)
{
    for (uint32_t i = 0; i < build->shares.count; ++i) {
        struct listing listing = {build, cnnvp_binary_own(build, i), list_table, context, i, 0};
        CNNVP_TRY(list_steps(&listing));
    }
    return CNNVP_DONE;
}
