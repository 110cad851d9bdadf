/* SPDX-License-Identifier: Apache-2.0 */
#include "train_product.h"

#include "train_cut.h"

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES UINT64_C(4)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t even(uint64_t bytes)
{
    return (bytes + 1u) / 2u * 2u;
}

uint64_t cnnvp_train_product_rows(const struct cnnvp_train_product *p, uint64_t rows)
{
    const uint64_t needed = p->error ? (rows + p->ky - 2u) / p->sy + 1u : (rows - 1u) * p->sy + p->ky;
    return smaller(needed, p->in_height);
}

static uint64_t input_exponents(const struct cnnvp_train_product *p, uint64_t channels)
{
    return p->block == CNNVP_TRAIN_BY_TENSOR ? 1u : p->block == CNNVP_TRAIN_BY_IMAGE ? p->images : channels;
}

static int input_fits(const struct cnnvp_train_product *p, uint64_t rows, uint64_t channels)
{
    const uint64_t values = p->images * channels * cnnvp_train_product_rows(p, rows) * p->in_width;
    const uint64_t bytes = values * p->target->value_bytes;
    return even(bytes) + even(input_exponents(p, channels)) <= p->target->input_half;
}

static int weights_fit(const struct cnnvp_train_product *p, uint64_t in, uint64_t out)
{
    const uint64_t exponents = p->kernel_exponents ? (p->error ? in : out) : 1u;
    return even(in * out * p->taps * p->target->value_bytes) + even(exponents) <= p->target->weight_half;
}

static int output_fits(const struct cnnvp_train_product *p, uint64_t rows, uint64_t channels)
{
    return p->images * channels * rows * p->out_width * SUM_BYTES <= p->target->output_half;
}

static int fits(const struct cnnvp_train_product *p, uint64_t in, uint64_t out, uint64_t rows)
{
    return input_fits(p, rows, in) && weights_fit(p, in, out) && output_fits(p, rows, out);
}

/* ---- the tiles that are looked at ---- */

/* Part of the time of transfers that counts as time, where it is hidden too. */
#define TRAFFIC 8u

/* Part of the price that is the time without a lead of the core. */
#define ALONE 8u

struct choice {
    struct cnnvp_train_tiles tiles;
    uint64_t price; /* UINT64_MAX: none fits */
};

/* Slices of mantissas wider than 8 bits meet in binary32, which rounds: the fewest, whatever they take. */
static uint64_t wide_price(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    return cnnvp_divide_up(p->in_channels, tiles->in) << 40u |
           cnnvp_divide_up(p->out_height, tiles->rows) * cnnvp_divide_up(p->out_channels, tiles->out);
}

uint64_t cnnvp_train_product_price(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    if (p->target->value_bytes != 1u)
        return wide_price(p, tiles);
    /* The core's lead is a guess: without it must do too. */
    struct cnnvp_train_product alone = *p;
    uint64_t lead;
    alone.lead = 0;
    const uint64_t time = cnnvp_train_product_time(p, tiles, &lead);
    const uint64_t alone_time = cnnvp_train_product_time(&alone, tiles, &lead);
    return time - time / ALONE + alone_time / ALONE + cnnvp_train_product_memory(p, tiles) / TRAFFIC;
}

static void try_tiles(const struct cnnvp_train_product *p, uint64_t in, uint64_t out, uint64_t rows,
                      struct choice *best)
{
    const struct cnnvp_train_tiles tiles = {(uint32_t)in, (uint32_t)out, (uint32_t)rows, p->images};
    const int wide = p->target->value_bytes != 1u;
    if (!fits(p, in, out, rows) || (!wide && cnnvp_train_product_bound(p, &tiles) >= best->price))
        return;
    const uint64_t price = cnnvp_train_product_price(p, &tiles);
    if (price < best->price)
        *best = (struct choice){tiles, price};
}

static void try_rows(const struct cnnvp_train_product *p, uint64_t rows, struct choice *best)
{
    struct cnnvp_train_sizes out = cnnvp_train_sizes_of(p->out_channels, p->kernels);
    while (cnnvp_train_next_size(&out)) {
        struct cnnvp_train_sizes in = cnnvp_train_sizes_of(p->in_channels, 1u);
        while (cnnvp_train_next_size(&in))
            if (!p->by_channel || in.now == 1u)
                try_tiles(p, in.now, out.now, rows, best);
    }
}

int cnnvp_train_product_cut(const struct cnnvp_train_product *p, struct cnnvp_train_tiles *tiles)
{
    struct choice best = {.price = UINT64_MAX};
    struct cnnvp_train_sizes rows = cnnvp_train_sizes_of(p->out_height, p->error ? p->sy : 1u);
    while (cnnvp_train_next_size(&rows))
        try_rows(p, rows.now, &best);
    *tiles = best.tiles;
    return best.price != UINT64_MAX;
}
