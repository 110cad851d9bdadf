/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which weights of a chain stay in the weight buffer while it runs (Part B 4-15). All of them where they fit. Otherwise
 * each half is divided: below, slices are loaded for each block that needs them, the two halves in turn; above stay
 * those slices that would be loaded most often. The division that saves most traffic is taken.
 */
#include "depth_internal.h"

#include <stdlib.h>

#define ALIGNMENT 64u
#define HALVES 2u
#define LARGEST_DIVISOR 16u /* of a half: smaller slices cost more instructions than they save */

struct piece {
    uint64_t bytes;
    uint64_t visits; /* blocks of the layer's input map */
    size_t number;
    struct cnnvp_image_blob *blob; /* NULL while tiles are tried */
};

struct pieces {
    struct piece *all;
    size_t count;
    size_t capacity;
    uint64_t visits; /* of the layer whose blobs are being counted */
};

static uint64_t align(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
}

static cnnvp_result add_piece(void *context, uint64_t bytes)
{
    struct pieces *pieces = context;
    if (pieces->count == pieces->capacity) {
        const size_t capacity = pieces->capacity == 0 ? 64 : pieces->capacity * 2;
        struct piece *all = realloc(pieces->all, capacity * sizeof *all);
        if (all == NULL)
            return CNNVP_FAILED;
        pieces->all = all;
        pieces->capacity = capacity;
    }
    pieces->all[pieces->count] = (struct piece){bytes, pieces->visits, pieces->count, NULL};
    ++pieces->count;
    return CNNVP_DONE;
}

static uint64_t visits_of(const struct cnnvp_image_level *level)
{
    return UINT64_C(1) << (level->bits_x + level->bits_y);
}

/* Most often loaded first, then the largest. */
static int by_visits(const void *a, const void *b)
{
    const struct piece *x = a;
    const struct piece *y = b;
    if (x->visits != y->visits)
        return x->visits < y->visits ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Places pieces in the halves above `from`, each in the first that has room. Gives bytes that need not be loaded again,
 * and whether all have a place. */
static uint64_t pack(const struct cnnvp_plan_limits *limits, const struct pieces *pieces, uint64_t from, int *all)
{
    uint64_t used[HALVES] = {from, from};
    uint64_t saved = 0;
    if (pieces->count != 0)
        qsort(pieces->all, pieces->count, sizeof *pieces->all, by_visits);
    *all = 1;
    for (size_t i = 0; i < pieces->count; ++i) {
        const struct piece *piece = &pieces->all[i];
        uint32_t half = 0;
        while (half < limits->weight_halves && used[half] + piece->bytes > limits->weight_bytes)
            ++half;
        if (half == limits->weight_halves) {
            *all = 0;
            continue;
        }
        if (piece->blob != NULL) {
            piece->blob->stays = 1;
            piece->blob->chip_half = half;
            piece->blob->chip_address = (uint32_t)used[half];
        }
        used[half] = align(used[half] + piece->bytes);
        saved += piece->bytes * (piece->visits - 1u);
    }
    return saved;
}

/* The chain's pieces in slices of at most `limit` bytes. 0: some layer cannot be cut so without cutting its input depth
 * more than it must be. */
static int cut_weights(const struct cnnvp_depth_row *row, const struct cnnvp_image_level *levels, const size_t *layers,
                       size_t count, uint64_t limit, struct pieces *pieces, cnnvp_result *result)
{
    const uint64_t most = row->target->limits.weight_bytes;
    pieces->count = 0;
    for (size_t i = 0; i < count && *result == CNNVP_DONE; ++i) {
        struct cnnvp_image_layer whole = cnnvp_depth_block_layer(row, layers[i]);
        struct cnnvp_image_layer layer = whole;
        if (!cnnvp_depth_choose_tiles(row, most, &whole) || !cnnvp_depth_choose_tiles(row, limit, &layer) ||
            layer.tile_in != whole.tile_in)
            return 0;
        pieces->visits = visits_of(&levels[i]);
        *result = cnnvp_image_each_blob(&layer, add_piece, pieces);
    }
    return *result == CNNVP_DONE;
}

static void take_tiles(const struct cnnvp_depth_row *row, size_t index, uint64_t limit)
{
    struct cnnvp_image_layer chosen = cnnvp_depth_block_layer(row, index);
    struct cnnvp_image_layer *layer = &row->build->layers[index];
    (void)cnnvp_depth_choose_tiles(row, limit, &chosen);
    layer->group_out = chosen.group_out;
    layer->tile_in = chosen.tile_in;
    layer->tile_out = chosen.tile_out;
    layer->tile_h = chosen.tile_h;
    layer->tile_w = chosen.tile_w;
}

cnnvp_result cnnvp_depth_choose_weights(const struct cnnvp_depth_row *row, const struct cnnvp_image_level *levels,
                                        const size_t *layers, struct cnnvp_image_chain *chain,
                                        struct cnnvp_error *error)
{
    const struct cnnvp_plan_limits *limits = &row->target->limits;
    struct pieces pieces = {0};
    cnnvp_result result = CNNVP_DONE;
    uint64_t best = limits->weight_bytes;
    uint64_t best_saved = 0;
    int all = 0;
    for (uint64_t divisor = 1; divisor <= LARGEST_DIVISOR && !all; divisor *= 2u) {
        const uint64_t limit = limits->weight_bytes / divisor / ALIGNMENT * ALIGNMENT;
        if (!cut_weights(row, levels, layers, chain->layer_count, divisor == 1 ? limits->weight_bytes : limit, &pieces,
                         &result))
            break;
        (void)pack(limits, &pieces, 0, &all);
        if (all) {
            best = divisor == 1 ? limits->weight_bytes : limit;
            break;
        }
        int ignored;
        const uint64_t saved = pack(limits, &pieces, limit, &ignored);
        if (saved <= best_saved)
            continue;
        best_saved = saved;
        best = limit;
    }
    free(pieces.all);
    if (result != CNNVP_DONE)
        return cnnvp_compiler_no_memory(error);
    chain->resident = all ? CNNVP_WEIGHTS_STAY : best_saved != 0 ? CNNVP_WEIGHTS_STAY_IN_PART : CNNVP_WEIGHTS_RELOADED;
    chain->stream_bytes = all ? 0 : (uint32_t)best;
    /* Loads of weights depend on what the buffer holds: software issues those. */
    chain->scheduled = row->target->scheduler != 0 && all && !row->order_table;
    for (size_t i = 0; i < chain->layer_count; ++i)
        take_tiles(row, layers[i], best);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_depth_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                       struct cnnvp_error *error)
{
    const struct cnnvp_depth *depth = build->depth;
    size_t first = 0;
    for (size_t c = 0; c < depth->chain_count; ++c) {
        const struct cnnvp_image_chain *chain = &depth->chains[c];
        struct pieces pieces = {0};
        cnnvp_result result = CNNVP_DONE;
        for (size_t i = 0; i < chain->layer_count; ++i) {
            const struct cnnvp_image_layer *layer = &build->layers[depth->sources[first + i]];
            pieces.visits = visits_of(&depth->levels[first + c + i]);
            for (uint32_t b = 0; b < layer->blob_count && result == CNNVP_DONE; ++b) {
                struct cnnvp_image_blob *blob = &build->blobs[layer->first_blob + b];
                result = add_piece(&pieces, blob->bytes);
                if (result == CNNVP_DONE)
                    pieces.all[pieces.count - 1].blob = blob;
            }
        }
        int all;
        if (result == CNNVP_DONE && chain->resident != CNNVP_WEIGHTS_RELOADED)
            (void)pack(&target->limits, &pieces, chain->stream_bytes, &all);
        free(pieces.all);
        if (result != CNNVP_DONE)
            return cnnvp_compiler_no_memory(error);
        first += chain->layer_count;
    }
    return CNNVP_DONE;
}
