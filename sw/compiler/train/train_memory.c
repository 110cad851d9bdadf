/* SPDX-License-Identifier: Apache-2.0 */
/* Writes weights and images to the platform's memory, describes the work to it, and lists the regions of a state. */
#include "trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_bfp.h"
#include "network.h"

/* -- block floating point -- */

static cnnvp_result encode(const struct cnnvp_train_source *source, uint32_t rounding, uint64_t seed,
                           const struct cnnvp_bfp_layout *layout, const float *values, void *mantissas,
                           int8_t *exponents, struct cnnvp_error *error)
{
    const struct cnnvp_bfp_format format = {source->target->mantissa_bits, rounding, seed};
    struct cnnvp_bfp_counts counts = {0};
    const int status = cnnvp_bfp_encode(&format, layout, values, mantissas, exponents, &counts);
    return status == CNNVP_OK ? CNNVP_DONE : cnnvp_compiler_error(error, "values cannot be quantised");
}

static cnnvp_result put_bfp(const struct cnnvp_train_source *source, cnnvp_platform *platform,
                            const struct cnnvp_train_bfp *place, size_t layer, enum cnnvp_train_what what,
                            const struct cnnvp_bfp_layout *layout, const float *values, struct cnnvp_error *error)
{
    const struct cnnvp_train_binary *header = &source->build->header;
    const uint64_t seed = (uint64_t)header->seed_high << 32 | header->seed_low;
    CNNVP_STAGED mantissas = {0}, exponents = {0};
    const uint64_t bytes = layout->channels * layout->plane * source->target->value_bytes;
    CNNVP_TRY(cnnvp_stage(platform, place->mantissas, bytes, "weights", &mantissas, error));
    CNNVP_TRY(cnnvp_stage(platform, place->exponents, cnnvp_bfp_blocks(layout), "exponents", &exponents, error));
    CNNVP_TRY(encode(source, header->rounding, cnnvp_train_seed(seed, 0, (uint32_t)layer, what), layout, values,
                     mantissas.data, exponents.data, error));
    CNNVP_TRY(cnnvp_unstage(&mantissas, error));
    return cnnvp_unstage(&exponents, error);
}

/* -- weights -- */

static cnnvp_result put_vector(cnnvp_platform *platform, const struct cnnvp_train_master *place, const float *values,
                               uint64_t count, struct cnnvp_error *error)
{
    if (place->values != 0 &&
        cnnvp_platform_write(platform, place->values, values, count * sizeof(float)) != CNNVP_DONE)
        return cnnvp_compiler_error(error, "the platform has no memory for weights at 0x%x", (unsigned)place->values);
    if (place->velocity == 0)
        return CNNVP_DONE;
    CNNVP_STAGED velocities = {0};
    CNNVP_TRY(cnnvp_stage(platform, place->velocity, count * sizeof(float), "velocities", &velocities, error));
    memset(velocities.data, 0, velocities.bytes);
    return cnnvp_unstage(&velocities, error);
}

static cnnvp_result put_norm(const struct cnnvp_train_source *source, cnnvp_platform *platform, size_t i,
                             struct cnnvp_error *error)
{
    const struct cnnvp_train_node *node = &source->net->nodes[i];
    const struct cnnvp_graph_layer *norm = &source->graph->layers[node->norm];
    const float *bias = node->has_bias ? source->graph->layers[node->layer].bias : NULL;
    CNNVP_STAGED staged = {0};
    CNNVP_TRY(cnnvp_stage(platform, source->build->layers[i].norm_entries,
                          node->co * sizeof(struct cnnvp_train_norm_entry), "batch norm", &staged, error));
    struct cnnvp_train_norm_entry *entries = staged.data;
    for (uint32_t c = 0; c < node->co; ++c) {
        memset(&entries[c], 0, sizeof entries[c]);
        entries[c].gamma = cnnvp_float_bits(norm->weights[c]);
        entries[c].beta = cnnvp_float_bits(norm->bias[c]);
        /* The convolution's own bias only shifts the mean, so the engine does not add it. */
        entries[c].running_mean =
            cnnvp_float_bits((float)((double)norm->mean[c] - (bias != NULL ? (double)bias[c] : 0.0)));
        entries[c].running_sigma = cnnvp_float_bits((float)sqrt((double)norm->variance[c] + (double)norm->epsilon));
    }
    return cnnvp_unstage(&staged, error);
}

static cnnvp_result put_layer(const struct cnnvp_train_source *source, cnnvp_platform *platform, size_t i,
                              struct cnnvp_error *error)
{
    const struct cnnvp_train_node *node = &source->net->nodes[i];
    const struct cnnvp_train_layer *layer = &source->build->layers[i];
    const struct cnnvp_graph_layer *graph = &source->graph->layers[node->layer];
    const int by_channel = source->build->header.block == CNNVP_TRAIN_BY_CHANNEL;
    const struct cnnvp_bfp_layout weights = {1, node->co, cnnvp_train_net_weights(node) / node->co,
                                             by_channel ? CNNVP_BFP_BLOCK_CHANNEL : CNNVP_BFP_BLOCK_TENSOR};
    const struct cnnvp_bfp_layout biases = {1, 1, node->co, CNNVP_BFP_BLOCK_TENSOR};
    struct cnnvp_train_master master = layer->master;
    if (source->narrow)
        master.values = 0;
    CNNVP_TRY(put_bfp(source, platform, &layer->weights, i, CNNVP_TRAIN_SEED_WEIGHT, &weights, graph->weights, error));
    CNNVP_TRY(put_vector(platform, &master, graph->weights, cnnvp_train_net_weights(node), error));
    if (layer->bias) {
        CNNVP_TRY(put_bfp(source, platform, &layer->biases, i, CNNVP_TRAIN_SEED_BIAS, &biases, graph->bias, error));
        CNNVP_TRY(put_vector(platform, &layer->bias_master, graph->bias, node->co, error));
    }
    return layer->norm ? put_norm(source, platform, i, error) : CNNVP_DONE;
}

cnnvp_result cnnvp_train_put_weights(const struct cnnvp_train_source *source, cnnvp_platform *platform,
                                     struct cnnvp_error *error)
{
    for (size_t i = 0; i < source->net->count; ++i)
        CNNVP_TRY(put_layer(source, platform, i, error));
    return CNNVP_DONE;
}

/* -- images -- */

static uint64_t image_blocks(uint32_t block, const struct cnnvp_train_reader *reader)
{
    return block == CNNVP_TRAIN_BY_IMAGE ? reader->images : block == CNNVP_TRAIN_BY_CHANNEL ? reader->channels : 1u;
}

static uint64_t image_block(uint32_t block, uint64_t image, uint64_t channel)
{
    return block == CNNVP_TRAIN_BY_IMAGE ? image : block == CNNVP_TRAIN_BY_CHANNEL ? channel : 0;
}

static cnnvp_result put_image_set(const struct cnnvp_train_source *source, const struct cnnvp_train_reader *reader,
                                  uint32_t block, float *values, void *mantissas, int8_t *exponents,
                                  struct cnnvp_error *error)
{
    const uint64_t words = reader->channels * reader->plane;
    const uint32_t rounding = source->build->header.rounding;
    const struct cnnvp_bfp_format format = {
        source->target->mantissa_bits, rounding == CNNVP_ROUNDING_STOCHASTIC ? CNNVP_ROUNDING_NEAREST : rounding, 0};
    struct cnnvp_bfp_counts counts = {0};
    const uint64_t blocks = image_blocks(block, reader);
    CNNVP_FREED float *largest = calloc(blocks, sizeof *largest);
    CNNVP_TRY_MEMORY(largest != NULL, error);
    for (uint64_t i = 0; i < reader->images; ++i) {
        reader->read(reader->context, i, values);
        for (uint32_t c = 0; c < reader->channels; ++c) {
            const float max = cnnvp_bfp_max(values + c * reader->plane, reader->plane);
            float *slot = &largest[image_block(block, i, c)];
            *slot = max > *slot ? max : *slot;
        }
    }
    for (uint64_t i = 0; i < blocks; ++i)
        exponents[i] = cnnvp_bfp_exponent(largest[i], &counts);
    for (uint64_t i = 0; i < reader->images; ++i) {
        reader->read(reader->context, i, values);
        for (uint32_t c = 0; c < reader->channels; ++c) {
            const uint64_t at = i * words + c * reader->plane;
            const int8_t exponent = exponents[image_block(block, i, c)];
            const float *plane = values + c * reader->plane;
            cnnvp_bfp_quantise(&format, exponent, at, plane, reader->plane,
                               (char *)mantissas + at * source->target->value_bytes, &counts);
        }
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_put_images(const struct cnnvp_train_source *source, const struct cnnvp_train_images *images,
                                    uint32_t block, const struct cnnvp_train_reader *reader, cnnvp_platform *platform,
                                    struct cnnvp_error *error)
{
    const uint64_t words = reader->channels * reader->plane;
    CNNVP_STAGED mantissas = {0}, exponents = {0};
    const uint64_t bytes = reader->images * words * source->target->value_bytes;
    CNNVP_TRY(cnnvp_stage(platform, images->mantissas, bytes, "images", &mantissas, error));
    CNNVP_TRY(cnnvp_stage(platform, images->exponents, image_blocks(block, reader), "exponents", &exponents, error));
    CNNVP_FREED float *values = malloc((size_t)words * sizeof *values);
    CNNVP_TRY_MEMORY(values != NULL, error);
    CNNVP_TRY(put_image_set(source, reader, block, values, mantissas.data, exponents.data, error));
    CNNVP_TRY(cnnvp_unstage(&mantissas, error));
    return cnnvp_unstage(&exponents, error);
}

/* -- regions of a state -- */

struct region {
    uint32_t address;
    uint64_t bytes;
};

cnnvp_result cnnvp_train_each_region(const struct cnnvp_train_source *source,
                                     cnnvp_result (*function)(void *context, uint32_t address, size_t bytes),
                                     void *context)
{
    const uint64_t value_bytes = source->target->value_bytes;
    const int by_channel = source->build->header.block == CNNVP_TRAIN_BY_CHANNEL;
    for (size_t i = 0; i < source->net->count; ++i) {
        const struct cnnvp_train_node *node = &source->net->nodes[i];
        const struct cnnvp_train_layer *layer = &source->build->layers[i];
        const uint64_t weights = cnnvp_train_net_weights(node);
        const struct region regions[] = {
            {layer->weights.mantissas, weights * value_bytes},
            {layer->weights.exponents, by_channel ? node->co : 1u},
            {source->narrow ? 0 : layer->master.values, weights * sizeof(float)},
            {layer->master.velocity, weights * sizeof(float)},
            {layer->biases.mantissas, node->co * value_bytes},
            {layer->biases.exponents, 1u},
            {layer->bias_master.values, node->co * sizeof(float)},
            {layer->bias_master.velocity, node->co * sizeof(float)},
            {layer->norm_entries, (uint64_t)node->co * CNNVP_TRAIN_NORM_BYTES},
        };
        for (size_t r = 0; r < sizeof regions / sizeof regions[0]; ++r) {
            if (regions[r].address == 0)
                continue;
            CNNVP_TRY(function(context, regions[r].address, (size_t)regions[r].bytes));
        }
    }
    return CNNVP_DONE;
}

/* ---- statistics ---- */

cnnvp_result cnnvp_train_describe(const struct cnnvp_train_source *source, struct cnnvp_work_info work,
                                  uint64_t evaluated, cnnvp_platform *platform, struct cnnvp_error *error)
{
    const struct cnnvp_train_net *net = source->net;
    const struct cnnvp_train_target *target = source->target;
    const struct cnnvp_train_build *build = source->build;
    const uint32_t softmax = build->header.tag_softmax;
    const size_t phase_count = (build->header.flags & CNNVP_TRAIN_INFERENCE) != 0 ? 1u : 3u;
    work.layer_count = net->count * phase_count + (softmax != 0 ? 1u : 0u);
    CNNVP_FREED struct cnnvp_layer_info *layers = calloc(work.layer_count, sizeof *layers);
    CNNVP_FREED uint64_t *images = calloc(work.layer_count, sizeof *images);
    CNNVP_TRY_MEMORY(layers != NULL && images != NULL, error);
    for (size_t i = 0; i < net->count; ++i) {
        const struct cnnvp_graph_layer *layer = &source->graph->layers[net->nodes[i].layer];
        const uint64_t macs = cnnvp_train_net_macs(&net->nodes[i]);
        const struct {
            uint32_t tag;
            const char *name;
            uint64_t macs, images;
        } phases[] = {{build->layers[i].tag_forward, "forward", macs, work.images + evaluated},
                      {build->layers[i].tag_backward, "backward", i != 0 ? macs : 0, work.images},
                      {build->layers[i].tag_gradient, "gradient", macs, work.images}};
        for (size_t p = 0; p < phase_count; ++p) {
            images[phases[p].tag - 1u] = phases[p].images;
            layers[phases[p].tag - 1u] = (struct cnnvp_layer_info){
                .name = layer->name, .op = cnnvp_graph_op_name(layer), .phase = phases[p].name, .macs = phases[p].macs};
        }
    }
    if (softmax != 0) {
        const char *name = net->softmax ? source->graph->layers[net->softmax_layer].name : "softmax";
        layers[softmax - 1u] = (struct cnnvp_layer_info){.name = name, .op = "softmax", .phase = "forward"};
        images[softmax - 1u] = work.images + evaluated;
    }
    work.network_hash = source->graph->file_hash;
    work.pes = (uint64_t)target->arrays * target->cols * target->rows;
    work.layers = layers;
    work.layer_images = images;
    work.places = build->places;
    work.place_count = build->place_count;
    return cnnvp_describe_work(platform, &work, error);
}
