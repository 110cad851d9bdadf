/* SPDX-License-Identifier: Apache-2.0 */
#include "train_cut.h"
#include "train_product.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
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
                                 const struct cnnvp_train_plan_options *options,
                                 const struct cnnvp_train_plan_place *place, struct cnnvp_train_layer *layer,
                                 struct cnnvp_error *error)
{
    const uint32_t group = (uint32_t)smaller(options->images, target->arrays);
    const uint32_t groups = (uint32_t)cnnvp_divide_up(options->images, target->arrays);
    const struct cnnvp_train_product backward = {
        .target = target, .images = group, .groups = groups, .lead = place->lead,
        .in_channels = node->co, .out_channels = node->ci,
        .in_height = node->ho, .in_width = node->wo, .out_height = node->hi, .out_width = node->wi,
        .taps = (uint64_t)node->kx * node->ky, .kernels = kernels_of(target, node),
        .kx = node->kx, .ky = node->ky, .sy = node->sy, .error = 1, .connected = node->connected,
        .by_channel = options->by_channel && !node->connected,
        .block = cnnvp_train_plan_block(options, node),
        .kernel_exponents = options->block == CNNVP_TRAIN_BY_CHANNEL,
    };
    if (!cnnvp_train_product_cut(&backward, &layer->backward))
        return too_small(graph, node, "of the errors", error);
    if (!cnnvp_train_cut_gradient(target, node, options, place->first, &layer->gradient))
        return too_small(graph, node, "of the gradient", error);
    if (!cnnvp_train_cut_maps(target, node, options, 1, &layer->back_tiles))
        return too_small(graph, node, "of backward post-processing", error);
    layer->quantise_rows = cnnvp_train_cut_weights(target, node);
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
        .target = target, .images = group, .groups = (uint32_t)cnnvp_divide_up(options->images, target->arrays),
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
    if (!cnnvp_train_cut_maps(target, node, options, 0, &layer->post))
        return too_small(graph, node, "of forward post-processing", error);
    if (layer->norm && (uint64_t)node->co * CNNVP_TRAIN_NORM_BYTES > target->batch_norm)
        return too_small(graph, node, "of batch norm (one entry a channel in batch_norm_buffer)", error);
    if (cnnvp_train_plan_sums(options, node) * CNNVP_TRAIN_SUM_BYTES > target->sum)
        return too_small(graph, node, "of the statistics (one entry a channel in sum_buffer)", error);
    const struct cnnvp_train_plan_place begin = *place;
    place->first = 0;
    (void)cnnvp_train_product_time(&forward, &layer->forward, &place->lead);
    return options->learns ? cut_learning(graph, node, target, options, &begin, layer, error) : CNNVP_DONE;
}
