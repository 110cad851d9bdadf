/* SPDX-License-Identifier: Apache-2.0 */
#include "train_product.h"

#include <string.h>

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The next multiple of a unit, or all. */
static uint64_t next_edge(uint64_t count, uint64_t unit, uint64_t all)
{
    return smaller(count / unit * unit + unit, all);
}

static uint64_t even(uint64_t bytes)
{
    return (bytes + 1u) / 2u * 2u;
}

/* ---- gradient ---- */

struct gradient {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_node *node;
    const struct cnnvp_train_plan_options *options;
    enum cnnvp_train_image_block block;
    uint64_t taps;
};

static uint64_t activation_bytes(const struct gradient *g, uint64_t images, uint64_t in, uint64_t rows)
{
    const uint64_t height = smaller((rows - 1u) * g->node->sy + g->node->ky, g->node->hi);
    const uint64_t exponents = g->block == CNNVP_TRAIN_BY_TENSOR ? 1u : g->block == CNNVP_TRAIN_BY_IMAGE ? images : in;
    return even(images * in * height * g->node->wi * g->target->value_bytes) + even(exponents);
}

static uint64_t error_bytes(const struct gradient *g, uint64_t images, uint64_t out, uint64_t rows)
{
    const uint64_t exponents = g->block == CNNVP_TRAIN_BY_TENSOR ? 1u : g->block == CNNVP_TRAIN_BY_IMAGE ? images : out;
    return even(images * out * rows * g->node->wo * g->target->value_bytes) + even(exponents);
}

/* Gradients lie in one half of the intermediate buffer; weights and velocities share the other one. */
static int gradient_fits(const struct gradient *g, uint64_t in, uint64_t out)
{
    const uint64_t slack = 64u; /* regions begin at multiples of 8 */
    const uint64_t values = in * out * g->taps;
    const uint64_t biases = g->node->has_bias ? out : 0;
    const uint64_t gradients = (values + biases) * SUM_BYTES + slack;
    uint64_t weights = (values + biases) * 2u * SUM_BYTES + slack;
    if (g->options->narrow)
        weights += values * g->target->value_bytes + out;
    if (g->target->output_halves == 1u)
        return gradients + weights <= g->target->output_half;
    return gradients <= g->target->output_half && weights <= g->target->output_half;
}

static uint64_t ceil_div(uint64_t n, uint64_t d)
{
    return (n + d - 1u) / d;
}

/* Rows and images for given channels; what a cut costs: bytes from memory, and commands as so many bytes each. */
static uint64_t try_gradient(const struct gradient *g, uint64_t images, struct cnnvp_train_tiles *tiles)
{
    const uint64_t command_bytes = 512u;
    uint64_t rows = g->node->ho;
    while (rows != 0 && (activation_bytes(g, 1u, tiles->in, rows) > g->target->input_half ||
                         error_bytes(g, 1u, tiles->out, rows) > g->target->weight_half))
        --rows;
    if (g->target->error_rows)
        rows = rows < g->node->ho ? rows / g->target->rows * g->target->rows : rows;
    if (rows == 0)
        return UINT64_MAX;
    uint64_t together = 1u;
    while (rows == g->node->ho && together < images && together < g->target->arrays &&
           activation_bytes(g, together + 1u, tiles->in, rows) <= g->target->input_half &&
           error_bytes(g, together + 1u, tiles->out, rows) <= g->target->weight_half)
        ++together;
    tiles->rows = (uint32_t)rows;
    tiles->images = (uint32_t)together;
    const uint64_t blocks = ceil_div(g->node->ci, tiles->in) * ceil_div(g->node->co, tiles->out);
    const uint64_t visits = ceil_div(images, together) * ceil_div(g->node->ho, rows);
    const uint64_t visit =
        activation_bytes(g, together, tiles->in, rows) + error_bytes(g, together, tiles->out, rows) + command_bytes;
    return blocks * visits * visit;
}

static int cut_gradient(const struct gradient *g, uint64_t images, struct cnnvp_train_tiles *tiles)
{
    const uint64_t unit_in = g->target->arrays;
    const uint64_t unit_out = g->target->cols;
    uint64_t best = UINT64_MAX;
    for (uint64_t out = smaller(unit_out, g->node->co);; out = next_edge(out, unit_out, g->node->co)) {
        for (uint64_t in = smaller(unit_in, g->node->ci);; in = next_edge(in, unit_in, g->node->ci)) {
            struct cnnvp_train_tiles tried = {.in = (uint32_t)in, .out = (uint32_t)out};
            const uint64_t cost = gradient_fits(g, in, out) ? try_gradient(g, images, &tried) : UINT64_MAX;
            if (cost < best) {
                best = cost;
                *tiles = tried;
            }
            if (in == g->node->ci || cost == UINT64_MAX)
                break;
        }
        if (out == g->node->co || !gradient_fits(g, smaller(unit_in, g->node->ci), out))
            break;
    }
    return best != UINT64_MAX;
}

/* ---- a layer ---- */

static cnnvp_result too_small(const struct cnnvp_graph *graph, const struct cnnvp_train_node *node, const char *what,
                              struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[node->layer];
    return cnnvp_compiler_error(error,
                                "%s: node \"%s\" (%s): the smallest tile %s does not fit into the engine's buffers; "
                                "use a larger input_buffer.size, weight_buffer.size or intermediate_buffer.size",
                                graph->file, layer->name, layer->op_type, what);
}

static void describe(const struct cnnvp_train_node *node, struct cnnvp_train_layer *layer)
{
    *layer = (struct cnnvp_train_layer){
        .op = node->connected ? CNNVP_TRAIN_FC : CNNVP_TRAIN_CONV,
        .ci = node->ci, .hi = node->hi, .wi = node->wi,
        .co = node->co, .ho = node->ho, .wo = node->wo,
        .ph = node->ph, .pw = node->pw,
        .kx = node->kx, .ky = node->ky, .sx = node->sx, .sy = node->sy, .px = node->px, .py = node->py,
        .bias = node->has_bias && node->norm == CNNVP_TRAIN_NO_LAYER,
        .norm = node->norm != CNNVP_TRAIN_NO_LAYER,
        .relu = (uint32_t)node->relu,
        .pool = (uint32_t)node->pool,
    };
}

/* ---- whole maps ---- */

uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width)
{
    return (values * width + 15u) / 16u * 2u;
}

/* Bytes of what `maps` maps of a layer have in a half, forward and backward, and of their bits. */
static int maps_fit(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node, int back,
                    uint64_t maps)
{
    const uint64_t slack = 64u;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t mask = cnnvp_train_plan_packed(plane, 1);
    const uint64_t ids = cnnvp_train_plan_packed(pooled, 2);
    const uint64_t values = back ? pooled * SUM_BYTES + plane * (SUM_BYTES + target->value_bytes)
                                 : plane * SUM_BYTES + pooled * target->value_bytes;
    return maps * (values + mask + ids) + slack <= target->output_half && maps * mask <= target->relu &&
           maps * ids <= target->id;
}

static int cut_maps(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node, int back,
                    uint32_t images, struct cnnvp_train_tiles *tiles)
{
    while (images > 1u && !maps_fit(target, node, back, images))
        --images;
    uint32_t channels = node->co;
    while (channels > 1u && !maps_fit(target, node, back, (uint64_t)images * channels))
        channels -= (channels + 7u) / 8u;
    *tiles = (struct cnnvp_train_tiles){.out = channels, .rows = node->ho, .images = images};
    return maps_fit(target, node, back, (uint64_t)images * channels);
}

static uint64_t rows_at_once(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node)
{
    const uint64_t row = (uint64_t)node->ci * node->kx * node->ky * (SUM_BYTES + target->value_bytes);
    return smaller((target->output_half - 8u) / row, node->co);
}

enum cnnvp_train_image_block cnnvp_train_plan_block(const struct cnnvp_train_plan_options *options,
                                                    const struct cnnvp_train_node *node)
{
    const int is_channel = options->block == CNNVP_TRAIN_BY_CHANNEL;
    return is_channel && node->connected ? CNNVP_TRAIN_BY_TENSOR : options->block;
}

uint32_t cnnvp_train_plan_exponents(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node,
                                    uint32_t channels)
{
    const enum cnnvp_train_image_block block = cnnvp_train_plan_block(options, node);
    return block == CNNVP_TRAIN_BY_IMAGE ? options->images : block == CNNVP_TRAIN_BY_CHANNEL ? channels : 1u;
}

uint64_t cnnvp_train_plan_entries(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node)
{
    const uint64_t exponents = cnnvp_train_plan_exponents(options, node, node->co);
    const uint64_t measured = node->norm == CNNVP_TRAIN_NO_LAYER ? exponents
                              : node->co > exponents             ? UINT64_C(2) * node->co
                                                                 : node->co + exponents;
    const uint64_t weights = (options->block == CNNVP_TRAIN_BY_CHANNEL ? node->co : 1u) + 1u;
    return measured > weights ? measured : weights;
}

uint64_t cnnvp_train_plan_sums(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node)
{
    return node->norm == CNNVP_TRAIN_NO_LAYER ? cnnvp_train_plan_exponents(options, node, node->co) : node->co;
}

static uint32_t kernels_of(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node)
{
    return node->connected ? target->fc_kernels : target->cols;
}

static cnnvp_result cut_learning(const struct cnnvp_graph *graph, const struct cnnvp_train_node *node,
                                 const struct cnnvp_train_target *target,
                                 const struct cnnvp_train_plan_options *options, uint64_t lead,
                                 struct cnnvp_train_layer *layer, struct cnnvp_error *error)
{
    const uint32_t group = (uint32_t)smaller(options->images, target->arrays);
    const uint32_t groups = (uint32_t)ceil_div(options->images, target->arrays);
    const struct cnnvp_train_product backward = {
        .target = target, .images = group, .groups = groups, .lead = lead,
        .in_channels = node->co, .out_channels = node->ci,
        .in_height = node->ho, .in_width = node->wo, .out_height = node->hi, .out_width = node->wi,
        .taps = (uint64_t)node->kx * node->ky, .kernels = kernels_of(target, node),
        .kx = node->kx, .ky = node->ky, .sy = node->sy, .error = 1, .connected = node->connected,
        .by_channel = options->by_channel && !node->connected,
        .block = cnnvp_train_plan_block(options, node),
        .kernel_exponents = options->block == CNNVP_TRAIN_BY_CHANNEL,
    };
    const struct gradient gradient = {.target = target, .node = node, .options = options,
                                      .block = cnnvp_train_plan_block(options, node),
                                      .taps = backward.taps};
    if (!cnnvp_train_product_cut(&backward, &layer->backward))
        return too_small(graph, node, "of the errors", error);
    if (!cut_gradient(&gradient, options->images, &layer->gradient))
        return too_small(graph, node, "of the gradient", error);
    if (!cut_maps(target, node, 1, group, &layer->back_tiles))
        return too_small(graph, node, "of backward post-processing", error);
    layer->quantise_rows = (uint32_t)rows_at_once(target, node);
    if (layer->quantise_rows == 0 || (uint64_t)node->co * (SUM_BYTES + target->value_bytes) + 8u > target->output_half)
        return too_small(graph, node, "of the update", error);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_plan(const struct cnnvp_graph *graph, const struct cnnvp_train_node *node,
                              const struct cnnvp_train_target *target, const struct cnnvp_train_plan_options *options,
                              struct cnnvp_train_plan_place *place, struct cnnvp_train_layer *layer,
                              struct cnnvp_error *error)
{
    const uint32_t group = (uint32_t)smaller(options->images, target->arrays);
    const struct cnnvp_train_product forward = {
        .target = target, .images = group, .groups = (uint32_t)ceil_div(options->images, target->arrays),
        .scattered = place->first, .lead = place->lead, .in_channels = node->ci, .out_channels = node->co,
        .in_height = node->hi, .in_width = node->wi, .out_height = node->ho, .out_width = node->wo,
        .taps = (uint64_t)node->kx * node->ky, .kernels = kernels_of(target, node),
        .kx = node->kx, .ky = node->ky, .sy = node->sy, .connected = node->connected,
        .bias = node->has_bias && node->norm == CNNVP_TRAIN_NO_LAYER,
        .by_channel = options->by_channel && !node->connected,
        .block = cnnvp_train_plan_block(options, node),
        .kernel_exponents = options->block == CNNVP_TRAIN_BY_CHANNEL,
    };
    describe(node, layer);
    layer->block = cnnvp_train_plan_block(options, node);
    if (!cnnvp_train_product_cut(&forward, &layer->forward))
        return too_small(graph, node, "of the forward pass", error);
    if (!cut_maps(target, node, 0, group, &layer->post))
        return too_small(graph, node, "of forward post-processing", error);
    if (layer->norm && (uint64_t)node->co * CNNVP_TRAIN_NORM_BYTES > target->batch_norm)
        return too_small(graph, node, "of batch norm (one entry a channel in batch_norm_buffer)", error);
    if (cnnvp_train_plan_sums(options, node) * CNNVP_TRAIN_SUM_BYTES > target->sum)
        return too_small(graph, node, "of the statistics (one entry a channel in sum_buffer)", error);
    const uint64_t lead = place->lead;
    place->first = 0;
    (void)cnnvp_train_product_time(&forward, &layer->forward, &place->lead);
    return options->learns ? cut_learning(graph, node, target, options, lead, layer, error) : CNNVP_DONE;
}
