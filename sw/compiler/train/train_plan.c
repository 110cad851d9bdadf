/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the tiles of a layer with the lowest price among those that fit; see train_plan.h. */
#include "train_plan.h"
#include "train_price.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)

/* Least contiguous bytes of weights in a gradient's tile, for layers with MANY_WEIGHTS, if such a tile fits. Shorter
 * pieces open a DRAM row each, which costs energy and half of the simulation's time again. */
#define PIECE_BYTES UINT64_C(1024)
#define MANY_WEIGHTS (UINT64_C(1) << 20)

/* Parameters that tiles depend on, for messages. */
#define ENGINE "input_buffer.size, weight_buffer.size or intermediate_buffer.size"
#define MODULE "intermediate_buffer.size, relu_buffer.size or id_buffer.size"

/* ---- shape of a layer ---- */

static cnnvp_result too_small(const struct cnnvp_graph *graph, const struct cnnvp_train_node *node, const char *what,
                              const char *sizes, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[node->layer];
    return cnnvp_compiler_error(
        error, "%s: node \"%s\" (%s): the smallest tile %s does not fit into the engine's buffers; use a larger %s",
        graph->file, layer->name, layer->op_type, what, sizes);
}

static void describe(const struct cnnvp_train_node *node, struct cnnvp_train_layer *layer)
{
    *layer = (struct cnnvp_train_layer){
        .op = node->connected ? CNNVP_TRAIN_FC : CNNVP_TRAIN_CONV,
        .ci = node->ci,
        .hi = node->hi,
        .wi = node->wi,
        .co = node->co,
        .ho = node->ho,
        .wo = node->wo,
        .ph = node->ph,
        .pw = node->pw,
        .kx = node->kx,
        .ky = node->ky,
        .sx = node->sx,
        .sy = node->sy,
        .px = node->px,
        .py = node->py,
        .bias = node->has_bias && node->norm == CNNVP_TRAIN_NO_LAYER,
        .norm = node->norm != CNNVP_TRAIN_NO_LAYER,
        .relu = (uint32_t)node->relu,
        .pool = (uint32_t)node->pool,
    };
}

enum cnnvp_train_binary_block cnnvp_train_plan_block(const struct cnnvp_train_plan_options *options,
                                                     const struct cnnvp_train_node *node)
{
    const int is_channel = options->block == CNNVP_TRAIN_BY_CHANNEL;
    return is_channel && node->connected ? CNNVP_TRAIN_BY_TENSOR : options->block;
}

uint64_t cnnvp_train_plan_exponents(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node,
                                    uint64_t images, uint64_t channels)
{
    const enum cnnvp_train_binary_block block = cnnvp_train_plan_block(options, node);
    return block == CNNVP_TRAIN_BY_IMAGE ? images : block == CNNVP_TRAIN_BY_CHANNEL ? channels : 1u;
}

uint64_t cnnvp_train_plan_entries(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node)
{
    const uint64_t exponents = cnnvp_train_plan_exponents(options, node, options->images, node->co);
    const uint64_t measured =
        node->norm == CNNVP_TRAIN_NO_LAYER ? exponents
        : node->co > exponents             ? UINT64_C(2) * node->co
                                           : node->co + exponents;
    const uint64_t weights = (options->block == CNNVP_TRAIN_BY_CHANNEL ? node->co : 1u) + 1u;
    return measured > weights ? measured : weights;
}

/* Entries of the sum buffer that a layer needs at once. */
static uint64_t sums_at_once(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node)
{
    return node->norm == CNNVP_TRAIN_NO_LAYER ? cnnvp_train_plan_exponents(options, node, options->images, node->co)
                                              : node->co;
}

/* ---- sizes to try ---- */

/* Tile sizes: about 1, 1/2, 1/3, 1/4, 1/6, 1/8, ... of `all`, in whole units, down to one unit. */
struct sizes {
    uint32_t all, unit;
    uint32_t now;
    uint32_t step;
};

static struct sizes sizes_of(uint32_t all, uint32_t unit)
{
    return (struct sizes){.all = all, .unit = cnnvp_minimum32(unit, all)};
}

/* Returns 0 if there is no further size. */
static int next_size(struct sizes *sizes)
{
    const uint32_t before = sizes->now;
    const uint32_t units = cnnvp_divide_up32(sizes->all, sizes->unit);
    do {
        if (sizes->now == sizes->unit)
            return 0;
        const uint32_t parts = sizes->step < 2u ? sizes->step + 1u : (2u + sizes->step % 2u) << sizes->step / 2u >> 1u;
        sizes->now = cnnvp_minimum32(cnnvp_divide_up32(units, parts) * sizes->unit, sizes->all);
        ++sizes->step;
    } while (sizes->now == before);
    return 1;
}

/* ---- search ---- */

struct search {
    struct cnnvp_train_fit fit;
    struct cnnvp_train_pricer *pricer;
    struct cnnvp_train_layer *layer;
    struct cnnvp_train_tiles *tiles; /* the layer's tiles to find */
    enum cnnvp_train_pass pass;
    uint32_t images; /* images that a price is for */
    int first;
    struct cnnvp_train_tiles best;
    uint64_t rank;  /* compared before the price */
    uint64_t price; /* UINT64_MAX: no tiles fit */
};

static void begin(struct search *search, enum cnnvp_train_pass pass, struct cnnvp_train_tiles *tiles, uint32_t images)
{
    search->pass = pass;
    search->tiles = tiles;
    search->images = images;
    search->rank = search->price = UINT64_MAX;
}

/* A search over sizes stops after this many in a row that are no better. */
#define PATIENCE 3u

/* Mantissas wider than 8 bits are summed in binary32. */
static int is_wide(const struct search *search)
{
    return search->fit.target->value_bytes != 1u;
}

/* Prices tiles that fit. Returns 1 if they are the best so far. If parts of a sum are added in binary32, which rounds,
 * fewer parts are preferred at any price: lower `rank` first. */
static int consider(struct search *search, struct cnnvp_train_tiles tiles, uint64_t rank)
{
    if (rank > search->rank)
        return 0;
    *search->tiles = tiles;
    const uint64_t price = cnnvp_train_price(search->pricer, search->pass, search->layer, search->first, search->images,
                                             rank == search->rank ? search->price : UINT64_MAX);
    if (price == UINT64_MAX)
        return 0;
    search->best = tiles;
    search->rank = rank;
    search->price = price;
    return 1;
}

static int found(struct search *search)
{
    *search->tiles = search->best;
    return search->price != UINT64_MAX;
}

/* ---- products ---- */

static int cut_product(struct search *search, int error, struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_node *node = search->fit.node;
    const struct cnnvp_train_target *target = search->fit.target;
    const struct cnnvp_train_plan_options *options = search->fit.options;
    const uint32_t inputs = error ? node->co : node->ci;
    const uint32_t outputs = error ? node->ci : node->co;
    const uint32_t height = error ? node->hi : node->ho;
    const uint32_t group = cnnvp_minimum32(options->images, target->arrays);
    const int by_channel = options->by_channel && !node->connected;
    begin(search, error ? CNNVP_TRAIN_PASS_ERROR : CNNVP_TRAIN_PASS_FORWARD, tiles,
          cnnvp_minimum32(options->images, 2u * target->arrays));
    struct sizes rows = sizes_of(height, error ? node->sy : 1u);
    while (next_size(&rows)) {
        struct sizes out = sizes_of(outputs, node->connected ? target->fc_kernels : target->cols);
        while (next_size(&out)) {
            struct sizes in = sizes_of(inputs, 1u);
            uint32_t worse = 0;
            while (worse < PATIENCE && next_size(&in)) {
                const struct cnnvp_train_tiles some = {in.now, out.now, rows.now, group};
                const uint64_t parts =
                    (uint64_t)cnnvp_divide_up32(inputs, in.now) << 40u |
                    cnnvp_divide_up32(height, rows.now) * (uint64_t)cnnvp_divide_up32(outputs, out.now);
                const uint64_t rank = is_wide(search) ? parts : 0;
                if ((!by_channel || in.now == 1u) && cnnvp_train_product_fits(&search->fit, error, &some))
                    worse = consider(search, some, rank) ? 0 : worse + 1u;
            }
        }
    }
    return found(search);
}

/* ---- whole maps ---- */

static int cut_maps(struct search *search, int back, struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_node *node = search->fit.node;
    const struct cnnvp_train_plan_options *options = search->fit.options;
    uint32_t images = cnnvp_minimum32(options->images, search->fit.target->arrays);
    while (images > 1u && !cnnvp_train_maps_fit(&search->fit, back, images, 1u))
        --images;
    begin(search, back ? CNNVP_TRAIN_PASS_POST_BACK : CNNVP_TRAIN_PASS_POST, tiles,
          cnnvp_minimum32(options->images, 2u * images));
    struct sizes channels = sizes_of(node->co, 1u);
    uint32_t worse = 0;
    while (worse < PATIENCE && next_size(&channels)) {
        const struct cnnvp_train_tiles some = {.out = channels.now, .rows = node->ho, .images = images};
        if (cnnvp_train_maps_fit(&search->fit, back, images, channels.now))
            worse = consider(search, some, 0) ? 0 : worse + 1u;
    }
    return found(search);
}

/* ---- gradients ---- */

/* Number of parts of a gradient whose sum depends on how it is cut. Images with exponents of their own are always added
 * one by one in binary32, but parts of one image then round differently from the whole image. */
static uint64_t parts_added(const struct search *search, uint64_t image_pieces, uint64_t row_pieces)
{
    if (is_wide(search))
        return image_pieces * row_pieces;
    return search->fit.options->block == CNNVP_TRAIN_BY_IMAGE ? row_pieces : 0;
}

/* Tries whole maps of several images, or rows of one image. Returns 1 if the best so far is among them. */
static int try_channels(struct search *search, uint32_t in, uint32_t out)
{
    int better = 0;
    const struct cnnvp_train_node *node = search->fit.node;
    const uint32_t all = search->fit.options->images;
    struct cnnvp_train_tiles tiles = {.in = in, .out = out};
    tiles.rows = cnnvp_train_gradient_fits(&search->fit, &tiles) ? cnnvp_train_gradient_rows(&search->fit, &tiles) : 0;
    if (tiles.rows == 0)
        return 0;
    const uint64_t pieces = cnnvp_divide_up32(node->ho, tiles.rows);
    struct sizes images = sizes_of(tiles.rows == node->ho ? cnnvp_minimum32(all, search->fit.target->arrays) : 1u, 1u);
    while (next_size(&images)) {
        tiles.images = images.now;
        if (cnnvp_train_operands_fit(&search->fit, &tiles))
            better |= consider(search, tiles, parts_added(search, cnnvp_divide_up32(all, tiles.images), pieces));
    }
    return better;
}

/* Tries numbers of activation channels whose weights are contiguous for at least `piece_bytes`. */
static void try_inputs(struct search *search, uint64_t piece_bytes)
{
    const struct cnnvp_train_node *node = search->fit.node;
    const uint64_t channel = (uint64_t)node->kx * node->ky * SUM_BYTES;
    struct sizes out = sizes_of(node->co, search->fit.target->cols);
    while (next_size(&out)) {
        struct sizes in = sizes_of(node->ci, search->fit.target->arrays);
        uint32_t worse = 0;
        while (worse < PATIENCE && next_size(&in))
            if (in.now == node->ci || in.now * channel >= piece_bytes)
                worse = try_channels(search, in.now, out.now) || search->price == UINT64_MAX ? 0 : worse + 1u;
    }
}

static int cut_gradient(struct search *search)
{
    struct cnnvp_train_layer *layer = search->layer;
    layer->quantise_rows = cnnvp_train_weight_rows(&search->fit);
    if (layer->quantise_rows == 0)
        return 0;
    begin(search, CNNVP_TRAIN_PASS_LEARN, &layer->gradient, search->fit.options->images);
    if (cnnvp_train_net_weights(search->fit.node) >= MANY_WEIGHTS)
        try_inputs(search, PIECE_BYTES);
    if (search->price == UINT64_MAX)
        try_inputs(search, 0);
    return found(search);
}

/* Chooses the rows of weights quantised at a time, for the gradient tiles that have been found. */
static void cut_weights(struct search *search)
{
    struct cnnvp_train_layer *layer = search->layer;
    const uint32_t most = layer->quantise_rows;
    uint32_t best = most;
    struct sizes rows = sizes_of(search->fit.node->co, search->fit.target->arrays);
    while (next_size(&rows)) {
        layer->quantise_rows = cnnvp_minimum32(rows.now, most);
        const uint64_t price = cnnvp_train_price(
            search->pricer, CNNVP_TRAIN_PASS_LEARN, layer, search->first, search->images, search->price);
        if (price == UINT64_MAX)
            continue;
        search->price = price;
        best = layer->quantise_rows;
    }
    layer->quantise_rows = best;
}

/* ---- a layer ---- */

static cnnvp_result cut_learning(const struct cnnvp_graph *graph, struct search *search, struct cnnvp_error *error)
{
    const struct cnnvp_train_node *node = search->fit.node;
    const struct cnnvp_train_target *target = search->fit.target;
    if (!cut_product(search, 1, &search->layer->backward))
        return too_small(graph, node, "of the errors", ENGINE, error);
    if (!cut_maps(search, 1, &search->layer->back_tiles))
        return too_small(graph, node, "of backward post-processing", MODULE, error);
    if (cnnvp_train_weight_rows(&search->fit) == 0 ||
        (uint64_t)node->co * (SUM_BYTES + target->value_bytes) + 8u > target->output_half)
        return too_small(graph, node, "of the update", ENGINE, error);
    if (!cut_gradient(search))
        return too_small(graph, node, "of the gradient", ENGINE, error);
    cut_weights(search);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_plan(const struct cnnvp_graph *graph, const struct cnnvp_train_node *node,
                              const struct cnnvp_train_target *target, const struct cnnvp_train_plan_options *options,
                              int first, struct cnnvp_train_pricer *pricer, struct cnnvp_train_layer *layer,
                              struct cnnvp_error *error)
{
    struct search search = {.fit = {target, options, node}, .pricer = pricer, .layer = layer, .first = first};
    const uint32_t side = target->zones[CNNVP_TRAIN_INPUT].row;
    if (side != 0 && !node->connected && cnnvp_maximum32(node->wi, node->wo) > side)
        return cnnvp_compiler_error(
            error,
            "%s: node \"%s\" (%s): its maps are %u wide, and a group of zones takes %u; use a "
            "larger input_buffer.size, or pe_array.layout: rows",
            graph->file, graph->layers[node->layer].name, graph->layers[node->layer].op_type,
            cnnvp_maximum32(node->wi, node->wo), side);
    describe(node, layer);
    layer->block = layer->out_block = cnnvp_train_plan_block(options, node);
    if (layer->norm && (uint64_t)node->co * CNNVP_TRAIN_NORM_BYTES > target->batch_norm)
        return too_small(graph, node, "of batch norm (one entry a channel)", "batch_norm_buffer.size", error);
    if (sums_at_once(options, node) * CNNVP_TRAIN_SUM_BYTES > target->sum)
        return too_small(graph, node, "of the statistics (one entry a channel)", "sum_buffer.size", error);
    if (!cut_product(&search, 0, &layer->forward))
        return too_small(graph, node, "of the forward pass", ENGINE, error);
    if (!cut_maps(&search, 0, &layer->post))
        return too_small(graph, node, "of forward post-processing", MODULE, error);
    return options->learns ? cut_learning(graph, &search, error) : CNNVP_DONE;
}
