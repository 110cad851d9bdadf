/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp_trainer_tensor: reads tensors from the platform's memory as numbers. */
#include "trainer.h"

#include <stdlib.h>

#include "cnnvp_bfp.h"

struct look {
    const struct cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    const struct cnnvp_train_node *node;
    const struct cnnvp_train_layer *layer;
    uint64_t images; /* images of the last step */
    struct cnnvp_error *error;
};

static cnnvp_result none(const struct look *look, const char *what)
{
    return cnnvp_compiler_error(
        look->error, "layer \"%s\" has no %s", look->trainer->graph.layers[look->node->layer].name, what);
}

static cnnvp_result new_array(const struct look *look, size_t rank, const uint64_t *shape, struct cnnvp_array *values)
{
    size_t count = 1;
    *values = (struct cnnvp_array){.type = CNNVP_ARRAY_F32, .rank = rank};
    for (size_t i = 0; i < rank; ++i) {
        values->shape[i] = (size_t)shape[i];
        count *= (size_t)shape[i];
    }
    values->data = calloc(count, sizeof(float));
    return values->data != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(look->error);
}

static cnnvp_result read_memory(const struct look *look, uint32_t address, void *data, size_t bytes)
{
    if (address != 0 && cnnvp_platform_read(look->platform, address, data, bytes) == CNNVP_DONE)
        return CNNVP_DONE;
    return none(look, "such tensor in memory");
}

/* Reads mantissas and exponents as numbers. */
static cnnvp_result read_bfp(const struct look *look, const struct cnnvp_train_bfp *place, uint32_t block,
                             const struct cnnvp_bfp_layout *shape, struct cnnvp_array *values)
{
    static const enum cnnvp_bfp_block blocks[] = {
        CNNVP_BFP_BLOCK_TENSOR, CNNVP_BFP_BLOCK_IMAGE, CNNVP_BFP_BLOCK_CHANNEL};
    struct cnnvp_bfp_layout layout = *shape;
    const size_t count = cnnvp_array_count(values);
    const size_t bytes = look->trainer->target.value_bytes;
    const uint32_t bits = look->trainer->target.mantissa_bits;
    layout.block = blocks[block];
    const size_t exponent_count = (size_t)cnnvp_bfp_blocks(&layout);
    CNNVP_FREED void *mantissas = malloc(count * bytes);
    CNNVP_FREED int8_t *exponents = malloc(exponent_count);
    CNNVP_TRY_MEMORY(mantissas != NULL && exponents != NULL, look->error);
    CNNVP_TRY(read_memory(look, place->mantissas, mantissas, count * bytes));
    CNNVP_TRY(read_memory(look, place->exponents, exponents, exponent_count));
    if (cnnvp_bfp_decode(bits, &layout, mantissas, exponents, values->data) != CNNVP_OK)
        return none(look, "valid mantissas");
    return CNNVP_DONE;
}

static cnnvp_result read_matrix(const struct look *look, int velocity, struct cnnvp_array *values)
{
    const struct cnnvp_train_node *node = look->node;
    const uint64_t shape[] = {node->co, node->ci, node->ky, node->kx};
    const int narrow = look->trainer->options.narrow && !velocity;
    const struct cnnvp_bfp_layout layout = {
        1, node->co, cnnvp_train_net_weights(node) / node->co, CNNVP_BFP_BLOCK_TENSOR};
    const uint32_t block =
        look->trainer->build.header.block == CNNVP_TRAIN_BY_CHANNEL ? CNNVP_TRAIN_BY_CHANNEL : CNNVP_TRAIN_BY_TENSOR;
    CNNVP_TRY(new_array(look, node->connected ? 2 : 4, shape, values));
    if (narrow)
        return read_bfp(look, &look->layer->weights, block, &layout, values);
    return read_memory(look, velocity ? look->layer->master.velocity : look->layer->master.values, values->data,
                       cnnvp_array_count(values) * sizeof(float));
}

static cnnvp_result read_bias(const struct look *look, int velocity, struct cnnvp_array *values)
{
    const uint64_t shape[] = {look->node->co};
    if (!look->layer->bias)
        return none(look, "bias that learns");
    CNNVP_TRY(new_array(look, 1, shape, values));
    return read_memory(look, velocity ? look->layer->bias_master.velocity : look->layer->bias_master.values,
                       values->data, look->node->co * sizeof(float));
}

/* Reads the member at word `at` of every batch norm entry. */
static cnnvp_result read_norm(const struct look *look, size_t at, struct cnnvp_array *values)
{
    const uint64_t shape[] = {look->node->co};
    if (!look->layer->norm)
        return none(look, "batch norm");
    CNNVP_TRY(new_array(look, 1, shape, values));
    for (uint32_t c = 0; c < look->node->co; ++c)
        CNNVP_TRY(read_memory(look, look->layer->norm_entries + c * CNNVP_TRAIN_NORM_BYTES + (uint32_t)(at * 4u),
                              (float *)values->data + c, sizeof(float)));
    return CNNVP_DONE;
}

/* Reads the activations that entered the first layer, from the data set, in the order of the step. */
static cnnvp_result read_images(const struct look *look, struct cnnvp_array *values)
{
    const struct cnnvp_trainer *trainer = look->trainer;
    const struct cnnvp_train_binary *header = &trainer->build.header;
    const uint64_t step = trainer->next_step - 1u;
    const uint64_t first =
        step / header->steps_per_epoch * trainer->images + step % header->steps_per_epoch * header->batch;
    const size_t words = cnnvp_array_count(values) / (size_t)look->images;
    const struct cnnvp_bfp_layout one = {1, look->node->ci, words / look->node->ci, CNNVP_BFP_BLOCK_TENSOR};
    const uint32_t block = look->layer->block;
    for (uint64_t i = 0; i < look->images; ++i) {
        uint32_t number = 0;
        CNNVP_TRY(read_memory(look, header->order + (uint32_t)(first + i) * 4u, &number, sizeof number));
        const struct cnnvp_train_bfp place = {
            header->training.mantissas + number * (uint32_t)words * trainer->target.value_bytes,
            header->training.exponents + (block == CNNVP_TRAIN_BY_IMAGE ? number : 0)};
        struct cnnvp_array image = {.rank = 1, .shape = {words}, .data = (float *)values->data + i * words};
        CNNVP_TRY(read_bfp(look, &place, block, &one, &image));
    }
    return CNNVP_DONE;
}

static cnnvp_result read_map(const struct look *look, enum cnnvp_train_tensor tensor, struct cnnvp_array *values)
{
    const struct cnnvp_train_node *node = look->node;
    const int input = tensor == CNNVP_TRAIN_ACTIVATION;
    const uint64_t shape[] = {
        look->images, input ? node->ci : node->co, input ? node->hi : node->ho, input ? node->wi : node->wo};
    const struct cnnvp_bfp_layout layout = {shape[0], shape[1], shape[2] * shape[3], CNNVP_BFP_BLOCK_TENSOR};
    if (look->images == 0)
        return none(look, "maps: no step is complete");
    CNNVP_TRY(new_array(look, node->connected ? 2 : 4, shape, values));
    if (tensor == CNNVP_TRAIN_SUMS)
        return read_memory(look, look->layer->sums, values->data, cnnvp_array_count(values) * sizeof(float));
    if (!input)
        return read_bfp(look, &look->layer->error, look->layer->block, &layout, values);
    if (node == look->trainer->net.nodes)
        return read_images(look, values);
    return read_bfp(look, &look->layer->in, look->layer->block, &layout, values);
}

static cnnvp_result read_tensor(const struct look *look, enum cnnvp_train_tensor tensor, struct cnnvp_array *values)
{
    switch (tensor) {
    case CNNVP_TRAIN_WEIGHT:
    case CNNVP_TRAIN_WEIGHT_VELOCITY:
        return read_matrix(look, tensor == CNNVP_TRAIN_WEIGHT_VELOCITY, values);
    case CNNVP_TRAIN_BIAS:
    case CNNVP_TRAIN_BIAS_VELOCITY:
        return read_bias(look, tensor == CNNVP_TRAIN_BIAS_VELOCITY, values);
    case CNNVP_TRAIN_GAMMA:
    case CNNVP_TRAIN_BETA:
        return read_norm(look, tensor == CNNVP_TRAIN_BETA, values);
    case CNNVP_TRAIN_GAMMA_VELOCITY:
    case CNNVP_TRAIN_BETA_VELOCITY:
        return read_norm(look, tensor == CNNVP_TRAIN_BETA_VELOCITY ? 3 : 2, values);
    case CNNVP_TRAIN_MEAN:
    case CNNVP_TRAIN_SIGMA:
        return read_norm(look, tensor == CNNVP_TRAIN_SIGMA ? 5 : 4, values);
    case CNNVP_TRAIN_ACTIVATION:
    case CNNVP_TRAIN_SUMS:
    case CNNVP_TRAIN_ERROR:
        return read_map(look, tensor, values);
    default:
        return none(look, "tensor of that number");
    }
}

cnnvp_result cnnvp_trainer_tensor(const cnnvp_trainer *trainer, cnnvp_platform *platform, size_t layer,
                                  enum cnnvp_train_tensor tensor, struct cnnvp_array *values, struct cnnvp_error *error)
{
    const struct cnnvp_train_binary *header = &trainer->build.header;
    *values = (struct cnnvp_array){.data = NULL};
    if (layer >= trainer->net.count || trainer->options.timing_only)
        return cnnvp_compiler_error(error, "there is no layer %zu with values", layer);
    CNNVP_TRY(cnnvp_trainer_check_loaded(trainer, error));
    struct look look = {.trainer = trainer,
                        .platform = platform,
                        .node = &trainer->net.nodes[layer],
                        .layer = &trainer->build.layers[layer],
                        .error = error};
    if (trainer->next_step > header->first_step) {
        const uint64_t done = (trainer->next_step - 1u) % header->steps_per_epoch * header->batch;
        look.images = trainer->images - done < header->batch ? trainer->images - done : header->batch;
    }
    const cnnvp_result result = read_tensor(&look, tensor, values);
    if (result != CNNVP_DONE)
        cnnvp_array_clear(values);
    return result;
}
