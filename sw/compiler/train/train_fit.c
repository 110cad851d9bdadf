/* SPDX-License-Identifier: Apache-2.0 */
#include "train_fit.h"
#include "cnnvp_integer.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)
/* Regions of a half begin at multiples of 8. */
#define SLACK 64u

static uint64_t even(uint64_t bytes)
{
    return (bytes + 1u) / 2u * 2u;
}

static uint64_t taps_of(const struct cnnvp_train_node *node)
{
    return (uint64_t)node->kx * node->ky;
}

/* Exponents of this many images and channels of maps. */
static uint64_t exponents_of(const struct cnnvp_train_fit *fit, uint64_t images, uint64_t channels)
{
    const enum cnnvp_train_binary_block block = cnnvp_train_plan_block(fit->options, fit->node);
    return block == CNNVP_TRAIN_BY_TENSOR ? 1u : block == CNNVP_TRAIN_BY_IMAGE ? images : channels;
}

/* ---- products ---- */

/* Rows of the first operand that this many of the results need. */
static uint64_t input_rows(const struct cnnvp_train_node *node, int error, uint64_t rows)
{
    const uint64_t needed = error ? (rows + node->ky - 2u) / node->sy + 1u : (rows - 1u) * node->sy + node->ky;
    return cnnvp_minimum(needed, error ? node->ho : node->hi);
}

int cnnvp_train_product_fits(const struct cnnvp_train_fit *fit, int error, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = fit->target;
    const struct cnnvp_train_node *node = fit->node;
    const uint64_t in_width = error ? node->wo : node->wi;
    const uint64_t out_width = error ? node->wi : node->wo;
    const uint64_t kernels = fit->options->block == CNNVP_TRAIN_BY_CHANNEL ? (error ? tiles->in : tiles->out) : 1u;
    const uint64_t inputs = (uint64_t)tiles->images * tiles->in * input_rows(node, error, tiles->rows) * in_width;
    const uint64_t weights = (uint64_t)tiles->in * tiles->out * taps_of(node);
    const uint64_t sums = (uint64_t)tiles->images * tiles->out * tiles->rows * out_width;
    return even(inputs * target->value_bytes) + even(exponents_of(fit, tiles->images, tiles->in)) <=
               target->input_half &&
           even(weights * target->value_bytes) + even(kernels) <= target->weight_half &&
           sums * SUM_BYTES <= target->output_half;
}

/* ---- whole maps ---- */

uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width)
{
    return (values * width + 15u) / 16u * 2u;
}

int cnnvp_train_maps_fit(const struct cnnvp_train_fit *fit, int back, uint64_t maps)
{
    const struct cnnvp_train_target *target = fit->target;
    const struct cnnvp_train_node *node = fit->node;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t mask = cnnvp_train_plan_packed(plane, 1);
    const uint64_t ids = cnnvp_train_plan_packed(pooled, 2);
    const uint64_t values = back ? pooled * SUM_BYTES + plane * (SUM_BYTES + target->value_bytes)
                                 : plane * SUM_BYTES + pooled * target->value_bytes;
    const uint64_t staged = target->stages_positions ? mask + ids : mask;
    return maps * (values + mask + ids) + SLACK <= target->output_half && maps * staged <= target->relu &&
           maps * ids <= target->id;
}

/* ---- gradients ---- */

/* Rows of the activations that this many of the errors meet. */
static uint64_t activation_rows(const struct cnnvp_train_node *node, uint64_t rows)
{
    return cnnvp_minimum((rows - 1u) * node->sy + node->ky, node->hi);
}

int cnnvp_train_operands_fit(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = fit->target;
    const struct cnnvp_train_node *node = fit->node;
    const uint64_t images = tiles->images;
    const uint64_t activations = images * tiles->in * activation_rows(node, tiles->rows) * node->wi;
    const uint64_t errors = images * tiles->out * tiles->rows * node->wo;
    return even(activations * target->value_bytes) + even(exponents_of(fit, images, tiles->in)) <= target->input_half &&
           even(errors * target->value_bytes) + even(exponents_of(fit, images, tiles->out)) <= target->weight_half;
}

/* Gradients lie in one half of the intermediate buffer; weights and velocities share the other one. */
int cnnvp_train_gradient_fits(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = fit->target;
    const uint64_t values = tiles->in * tiles->out * taps_of(fit->node);
    const uint64_t biases = fit->node->has_bias ? tiles->out : 0;
    const uint64_t gradients = (values + biases) * SUM_BYTES + SLACK;
    uint64_t weights = (values + biases) * 2u * SUM_BYTES + SLACK;
    if (fit->options->narrow)
        weights += values * target->value_bytes + tiles->out;
    if (target->output_halves == 1u)
        return gradients + weights <= target->output_half;
    return gradients <= target->output_half && weights <= target->output_half;
}

uint32_t cnnvp_train_gradient_rows(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles)
{
    struct cnnvp_train_tiles some = *tiles;
    some.images = 1;
    some.rows = fit->node->ho;
    while (some.rows != 0 && !cnnvp_train_operands_fit(fit, &some))
        --some.rows;
    return fit->target->error_rows && some.rows < fit->node->ho
               ? some.rows / fit->target->rows * fit->target->rows
               : some.rows;
}

uint32_t cnnvp_train_weight_rows(const struct cnnvp_train_fit *fit)
{
    const uint64_t values = (uint64_t)fit->node->ci * taps_of(fit->node);
    const uint64_t most = (fit->target->output_half - 8u) / (values * (SUM_BYTES + fit->target->value_bytes));
    return (uint32_t)cnnvp_minimum(most, fit->node->co);
}
