/* SPDX-License-Identifier: Apache-2.0 */
/* Which tiles of a layer fit into the training engine's buffers. */
#include "train_plan.h"
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

/* Number of exponents of maps of this many images and channels. */
static uint64_t exponents_of(const struct cnnvp_train_fit *fit, uint64_t images, uint64_t channels)
{
    return cnnvp_train_plan_exponents(fit->options, fit->node, images, channels);
}

/* ---- groups and zones ---- */

static int has_zones(const struct cnnvp_train_target *target)
{
    return target->zones[CNNVP_TRAIN_INPUT].group != 0;
}

/* 1: maps of an operand, or vectors of `width` values, fit into the groups of a buffer's half, and their exponents into
 * the row that is left for them. */
static int groups_hold(const struct cnnvp_train_fit *fit, enum cnnvp_train_buffer buffer, uint64_t width, uint64_t rows,
                       uint64_t exponents)
{
    const struct cnnvp_train_zones *zones = &fit->target->zones[buffer];
    const uint64_t bytes = fit->target->value_bytes;
    return exponents <= zones->row * bytes &&
           (fit->node->connected ? width * bytes <= zones->exponents : width <= zones->row && rows <= zones->row);
}

/* 1: maps of `bytes` fit into zones, `step` zones apart; vectors lie side by side in one zone. `more`: further bytes
 * per zone. */
static int zones_hold(const struct cnnvp_train_fit *fit, uint32_t channels, uint64_t bytes, uint64_t more,
                      uint32_t step)
{
    const uint64_t room = fit->target->zones[CNNVP_TRAIN_MIDDLE].zone;
    return fit->node->connected ? channels * bytes + more <= room
                                : bytes + more <= room && channels <= fit->target->cols / step;
}

/* ---- products ---- */

/* Rows of the first operand that `rows` rows of results need. */
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
    const uint64_t rows = input_rows(node, error, tiles->rows);
    const uint64_t inputs = (uint64_t)tiles->images * tiles->in * rows * in_width;
    const uint64_t weights = (uint64_t)tiles->in * tiles->out * taps_of(node);
    const uint64_t more = error ? cnnvp_train_uncovered(node->hi, node->py, node->ho, node->ky, node->sy) : 0;
    const uint64_t out_rows = cnnvp_minimum(tiles->rows + more, error ? node->hi : node->ho);
    const uint64_t sums = (uint64_t)tiles->images * tiles->out * out_rows * out_width;
    if (has_zones(target) && ((!node->connected && tiles->in != 1u) ||
                              !groups_hold(fit, CNNVP_TRAIN_INPUT, node->connected ? tiles->in : in_width, rows,
                                           exponents_of(fit, tiles->images, tiles->in)) ||
                              !zones_hold(fit, tiles->out, out_rows * out_width * SUM_BYTES, 0, 1u)))
        return 0;
    return (has_zones(target) ||
            even(inputs * target->value_bytes) + even(exponents_of(fit, tiles->images, tiles->in)) <=
                target->input_half) &&
           even(weights * target->value_bytes) + even(kernels) <= target->weight_half &&
           sums * SUM_BYTES <= target->output_half;
}

/* ---- whole maps ---- */

uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width)
{
    return (values * width + 15u) / 16u * 2u;
}

int cnnvp_train_maps_fit(const struct cnnvp_train_fit *fit, int back, uint32_t images, uint32_t channels)
{
    const uint64_t maps = (uint64_t)images * channels;
    const struct cnnvp_train_target *target = fit->target;
    const struct cnnvp_train_node *node = fit->node;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t kept = fit->options->learns ? 1u : 0; /* 1: matrices are kept for the backward pass */
    const uint64_t mask = kept * cnnvp_train_plan_packed(plane, 1);
    const uint64_t ids = kept * cnnvp_train_plan_packed(pooled, 2);
    const uint64_t values = back ? pooled * SUM_BYTES + plane * (SUM_BYTES + target->value_bytes)
                                 : plane * SUM_BYTES + pooled * target->value_bytes;
    const uint64_t staged = target->stages_positions ? mask + ids : mask;
    if (has_zones(target)) {
        const uint64_t results = (back ? plane : pooled) * target->value_bytes + mask + ids;
        const uint32_t step = back ? CNNVP_TRAIN_BACK_ZONES : CNNVP_TRAIN_POST_ZONES;
        if (!zones_hold(fit, channels, plane * SUM_BYTES, 0, step) || !zones_hold(fit, channels, results, SLACK, step))
            return 0;
    }
    return maps * (values + mask + ids) + SLACK <= target->output_half && maps * staged <= target->relu &&
           maps * ids <= target->id;
}

/* ---- gradients ---- */

int cnnvp_train_operands_fit(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = fit->target;
    const struct cnnvp_train_node *node = fit->node;
    const uint64_t images = tiles->images;
    const uint64_t activations = images * tiles->in * input_rows(node, 0, tiles->rows) * node->wi;
    const uint64_t errors = images * tiles->out * tiles->rows * node->wo;
    if (has_zones(target))
        return (node->connected || (images == 1u && tiles->in <= target->arrays && tiles->out <= target->cols)) &&
               groups_hold(fit, CNNVP_TRAIN_INPUT, node->connected ? tiles->in : node->wi,
                           input_rows(node, 0, tiles->rows), exponents_of(fit, images, tiles->in)) &&
               groups_hold(fit, CNNVP_TRAIN_WEIGHTS, node->connected ? tiles->out : node->wo, tiles->rows,
                           exponents_of(fit, images, tiles->out));
    return even(activations * target->value_bytes) + even(exponents_of(fit, images, tiles->in)) <= target->input_half &&
           even(errors * target->value_bytes) + even(exponents_of(fit, images, tiles->out)) <= target->weight_half;
}

/* With two halves of the intermediate buffer, gradients lie in one, weights and velocities in the other. */
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
