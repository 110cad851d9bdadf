/* SPDX-License-Identifier: Apache-2.0 */
/* What streams through the multi-function module tile by tile: a tile is loaded, goes through, and its results are
 * stored behind the load of the next one (guest/train_post.c, quantise_rows of guest/train_gradient.c). */
#include "train_cost.h"
#include "train_cut.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)

#define LOADS 4u
#define STORES 3u
/* So many tiles are replayed; further ones go on as the later half of these did. */
#define TILES 64u

/* What a tile takes, in ps. */
struct tile {
    uint64_t loads[LOADS]; /* 0: there is none */
    uint64_t module;
    struct cnnvp_train_write stores[STORES];
};

/* ---- sizes ---- */

struct cnnvp_train_sizes cnnvp_train_sizes_of(uint64_t all, uint64_t unit)
{
    return (struct cnnvp_train_sizes){.all = all, .unit = sooner(unit, all)};
}

int cnnvp_train_next_size(struct cnnvp_train_sizes *sizes)
{
    const uint64_t before = sizes->now;
    const uint64_t units = cnnvp_divide_up(sizes->all, sizes->unit);
    do {
        if (sizes->now == sizes->unit)
            return 0;
        const uint64_t parts = sizes->step < 2u ? sizes->step + 1u : (2u + sizes->step % 2u) << sizes->step / 2u >> 1u;
        sizes->now = sooner(cnnvp_divide_up(units, parts) * sizes->unit, sizes->all);
        ++sizes->step;
    } while (sizes->now == before);
    return 1;
}

/* ---- a stream of tiles ---- */

static void store(struct cnnvp_timeline *line, const struct tile *tile, uint32_t half)
{
    for (uint32_t i = 0; i < STORES; ++i)
        if (tile->stores[i].busy_ps != 0)
            cnnvp_train_store(line, half, tile->stores[i]);
}

/* `groups` groups of `parts` parts, of which a tile takes `at_once`; tile_of says what such a tile takes. */
static uint64_t stream_ps(const struct cnnvp_train_target *target, uint64_t groups, uint64_t parts, uint64_t at_once,
                          struct tile (*tile_of)(const void *context, uint64_t parts), const void *context)
{
    struct cnnvp_timeline line = cnnvp_train_timeline(target, target->timing.most_lead);
    struct cnnvp_timeline half_way = line;
    const uint64_t of_group = cnnvp_divide_up(parts, at_once);
    const uint64_t tiles = groups * of_group;
    const uint64_t replayed = sooner(tiles, TILES);
    struct tile before = {0};
    uint32_t half_before = 0;
    for (uint64_t i = 0; i < replayed; ++i) {
        const struct tile tile = tile_of(context, sooner(at_once, parts - i % of_group * at_once));
        const uint32_t half = cnnvp_timeline_take(&line, CNNVP_TIMELINE_OUTPUT);
        if (target->output_halves == 1u)
            store(&line, &before, half_before);
        for (uint32_t l = 0; l < LOADS; ++l)
            if (tile.loads[l] != 0)
                cnnvp_timeline_load(&line, CNNVP_TIMELINE_OUTPUT, half, tile.loads[l]);
        if (target->output_halves != 1u)
            store(&line, &before, half_before);
        cnnvp_timeline_run(&line, CNNVP_TIMELINE_VECTOR, target->timing.post_core,
                           cnnvp_timeline_use(CNNVP_TIMELINE_OUTPUT, half), tile.module);
        before = tile;
        half_before = half;
        if (i + 1u == replayed / 2u)
            half_way = line;
    }
    if (tiles > replayed)
        cnnvp_timeline_pass_on(&line, &half_way, CNNVP_TIMELINE_VECTOR, replayed - replayed / 2u, tiles - replayed);
    store(&line, &before, half_before);
    return cnnvp_timeline_end(&line);
}

/* ---- whole maps ---- */

struct maps {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_node *node;
    uint64_t images; /* of a tile */
    int back;
    int learns;
};

uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width)
{
    return (values * width + 15u) / 16u * 2u;
}

/* Bytes of what `maps` maps of a layer have in a half, forward and backward, and of their bits. */
static int maps_fit(const struct maps *m, uint64_t maps)
{
    const struct cnnvp_train_target *target = m->target;
    const struct cnnvp_train_node *node = m->node;
    const uint64_t slack = 64u;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t mask = cnnvp_train_plan_packed(plane, 1);
    const uint64_t ids = cnnvp_train_plan_packed(pooled, 2);
    const uint64_t values = m->back ? pooled * SUM_BYTES + plane * (SUM_BYTES + target->value_bytes)
                                    : plane * SUM_BYTES + pooled * target->value_bytes;
    return maps * (values + mask + ids) + slack <= target->output_half && maps * mask <= target->relu &&
           maps * ids <= target->id;
}

/* Of the maps of a tile so many bytes each; those of an image follow each other. */
static struct cnnvp_train_pieces pieces_of(const struct maps *m, uint64_t channels, uint64_t bytes)
{
    return (struct cnnvp_train_pieces){m->images, channels * bytes, m->node->co * bytes};
}

static uint64_t read_ps(const struct maps *m, uint64_t channels, uint64_t bytes)
{
    return cnnvp_train_read_ps(m->target, pieces_of(m, channels, bytes), m->target->output_width);
}

static struct cnnvp_train_write write_of(const struct maps *m, uint64_t channels, uint64_t bytes)
{
    return cnnvp_train_write_of(m->target, pieces_of(m, channels, bytes));
}

/* With so many channels: the sums through batch norm, ReLU, quantiser and pool, or their errors the other way. */
static struct tile maps_tile(const void *context, uint64_t channels)
{
    const struct maps *m = context;
    const struct cnnvp_train_node *node = m->node;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t mask = node->relu ? cnnvp_train_plan_packed(plane, 1) : 0;
    const uint64_t ids = node->pool ? cnnvp_train_plan_packed(pooled, 2) : 0;
    const uint64_t x = node->norm != CNNVP_TRAIN_NO_LAYER ? plane * SUM_BYTES : 0;
    const uint64_t of_set = cnnvp_divide_up(m->images, later(m->target->module_sets, 1u)) * channels * plane;
    struct tile tile = {.module = cnnvp_train_module_ps(m->target, of_set, 1u)};
    if (m->back) {
        const uint64_t loads[LOADS] = {pooled * SUM_BYTES, x, mask, ids};
        for (uint32_t i = 0; i < LOADS; ++i)
            tile.loads[i] = read_ps(m, channels, loads[i]);
        tile.stores[0] = write_of(m, channels, plane * m->target->value_bytes);
        return tile;
    }
    tile.loads[0] = read_ps(m, channels, plane * SUM_BYTES);
    tile.stores[0] = write_of(m, channels, pooled * m->target->value_bytes);
    if (m->learns) {
        tile.stores[1] = write_of(m, channels, mask);
        tile.stores[2] = write_of(m, channels, ids);
    }
    return tile;
}

int cnnvp_train_cut_maps(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node,
                         const struct cnnvp_train_plan_options *options, int back, struct cnnvp_train_tiles *tiles)
{
    struct maps maps = {target, node, sooner(options->images, target->arrays), back, options->learns};
    uint64_t best = UINT64_MAX;
    while (maps.images > 1u && !maps_fit(&maps, maps.images))
        --maps.images;
    struct cnnvp_train_sizes channels = cnnvp_train_sizes_of(node->co, 1u);
    while (cnnvp_train_next_size(&channels)) {
        if (!maps_fit(&maps, maps.images * channels.now))
            continue;
        const uint64_t groups = cnnvp_divide_up(options->images, maps.images);
        const uint64_t ps = stream_ps(target, groups, node->co, channels.now, maps_tile, &maps);
        if (ps >= best)
            continue;
        best = ps;
        *tiles = (struct cnnvp_train_tiles){
            .out = (uint32_t)channels.now, .rows = node->ho, .images = (uint32_t)maps.images};
    }
    return best != UINT64_MAX;
}

/* ---- weights ---- */

struct rows {
    const struct cnnvp_train_target *target;
    uint64_t values; /* of a row */
};

/* Rows go side by side through the sets of the module, one for each array, if there are so many. */
static uint64_t sets_of(const struct rows *rows, uint64_t count)
{
    return count >= rows->target->arrays ? sooner(rows->target->arrays, later(rows->target->module_sets, 1u)) : 1u;
}

static struct tile rows_tile(const void *context, uint64_t count)
{
    const struct rows *rows = context;
    const struct cnnvp_train_target *target = rows->target;
    const uint64_t values = count * rows->values;
    const struct cnnvp_train_pieces from = {1, values * SUM_BYTES, values * SUM_BYTES};
    const struct cnnvp_train_pieces to = {1, values * target->value_bytes, values * target->value_bytes};
    return (struct tile){{cnnvp_train_read_ps(target, from, target->output_width), 0, 0, 0},
                         cnnvp_train_module_ps(target, values, sets_of(rows, count)),
                         {cnnvp_train_write_of(target, to), {0, 0}, {0, 0}}};
}

uint32_t cnnvp_train_cut_weights(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node)
{
    const struct rows rows = {target, (uint64_t)node->ci * node->kx * node->ky};
    const uint64_t most = (target->output_half - 8u) / (rows.values * (SUM_BYTES + target->value_bytes));
    uint64_t best = UINT64_MAX;
    uint64_t taken = sooner(most, node->co);
    struct cnnvp_train_sizes count = cnnvp_train_sizes_of(node->co, target->arrays);
    while (cnnvp_train_next_size(&count)) {
        const uint64_t ps =
            count.now <= most ? stream_ps(target, 1, node->co, count.now, rows_tile, &rows) : UINT64_MAX;
        taken = ps < best ? count.now : taken;
        best = sooner(ps, best);
    }
    return (uint32_t)taken;
}
