/* SPDX-License-Identifier: Apache-2.0 */
/* How products are cut for the training engine: random shapes and buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "train_product.h"

#define CASES 600

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33) % limit;
}

static uint32_t between(uint64_t *random, uint32_t low, uint32_t high)
{
    return low + below(random, high - low + 1u);
}

static struct cnnvp_train_target draw_target(uint64_t *random)
{
    struct cnnvp_train_target target = {
        .arrays = 4,
        .cols = between(random, 1, 40),
        .rows = 3,
        .value_bytes = below(random, 4) == 0 ? 4u : 1u,
        .input_half = 64u << below(random, 9),
        .weight_half = 64u << below(random, 11),
        .output_half = 256u << below(random, 12),
        .input_halves = between(random, 1, 2),
        .weight_halves = between(random, 1, 2),
        .output_halves = between(random, 1, 2),
        .input_width = 8u << below(random, 6),
        .weight_width = 8u << below(random, 6),
        .output_width = 64u << below(random, 4),
        .module_sets = between(random, 1, 4),
        .module_lanes = between(random, 1, 4),
        .timing = cnnvp_train_timing_of(NULL),
    };
    target.fc_kernels = target.cols * (below(random, 2) == 0 ? 1u : target.rows);
    target.timing.core = 300u << below(random, 5);
    target.timing.burst <<= below(random, 4);
    target.timing.strict = below(random, 4) == 0;
    return target;
}

static struct cnnvp_train_product draw_product(uint64_t *random, const struct cnnvp_train_target *target)
{
    struct cnnvp_train_product p = {
        .target = target,
        .images = between(random, 1, 4),
        .groups = between(random, 1, 3),
        .scattered = below(random, 2) == 0,
        .lead = below(random, 2) == 0 ? 0 : below(random, 100) * UINT64_C(1000000),
        .in_channels = between(random, 1, 300),
        .out_channels = between(random, 1, 300),
        .connected = below(random, 2) == 0,
        .bias = below(random, 2) == 0,
        .block = (enum cnnvp_train_image_block)below(random, 3),
        .kernel_exponents = below(random, 2) == 0,
        .kx = 1, .ky = 1, .sy = 1,
        .in_height = 1, .in_width = 1, .out_height = 1, .out_width = 1,
        .kernels = target->fc_kernels,
    };
    if (!p.connected) {
        p.kernels = target->cols;
        p.error = below(random, 2) == 0;
        p.by_channel = below(random, 4) == 0;
        p.kx = p.ky = between(random, 1, 5);
        p.sy = between(random, 1, 2);
        p.out_height = p.out_width = between(random, 1, 32);
        p.in_height = p.in_width = p.error ? (p.out_height + p.sy - 1u) / p.sy : p.out_height * p.sy;
    }
    p.taps = (uint64_t)p.kx * p.ky;
    return p;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int fits(const struct cnnvp_train_product *p, const struct cnnvp_train_tiles *tiles)
{
    const struct cnnvp_train_target *target = p->target;
    const uint64_t rows = cnnvp_train_product_rows(p, tiles->rows);
    return p->images * tiles->in * rows * p->in_width * target->value_bytes < target->input_half &&
           tiles->in * tiles->out * p->taps * target->value_bytes < target->weight_half &&
           UINT64_C(4) * p->images * tiles->out * tiles->rows * p->out_width <= target->output_half;
}

/* What is chosen fits, has the engine's edges, and takes no less than its bound; 0: not even the smallest tile fits. */
static int cut(const struct cnnvp_train_product *p, struct cnnvp_train_tiles *tiles)
{
    if (!cnnvp_train_product_cut(p, tiles)) {
        const uint64_t rows = p->error ? smaller(p->sy, p->out_height) : 1u;
        const struct cnnvp_train_tiles least = {1, (uint32_t)smaller(p->kernels, p->out_channels), (uint32_t)rows,
                                                p->images};
        /* Exponents take bytes too. */
        struct cnnvp_train_target room = *p->target;
        struct cnnvp_train_product q = *p;
        q.target = &room;
        room.input_half -= smaller(room.input_half, 8);
        room.weight_half -= smaller(room.weight_half, 304);
        assert_int_equal(fits(&q, &least), 0);
        return 0;
    }
    assert_true(fits(p, tiles));
    assert_true(tiles->in >= 1 && tiles->in <= p->in_channels);
    assert_true(tiles->out == p->out_channels || tiles->out % p->kernels == 0);
    assert_true(tiles->rows == p->out_height || !p->error || tiles->rows % p->sy == 0);
    assert_int_equal(tiles->images, p->images);
    if (p->by_channel)
        assert_int_equal(tiles->in, 1);
    uint64_t lead;
    assert_true(cnnvp_train_product_time(p, tiles, &lead) >= cnnvp_train_product_bound(p, tiles));
    return 1;
}

static void larger_buffers_are_not_slower(void **state)
{
    uint64_t random = 7;
    uint32_t ran = 0;
    uint32_t changed = 0;
    (void)state;
    for (uint32_t i = 0; i < CASES; ++i) {
        struct cnnvp_train_target target = draw_target(&random);
        const struct cnnvp_train_product p = draw_product(&random, &target);
        struct cnnvp_train_tiles before;
        if (!cut(&p, &before))
            continue;
        ++ran;
        for (uint32_t step = 0; step < 6; ++step) {
            const uint64_t cost = cnnvp_train_product_price(&p, &before);
            uint64_t *halves[] = {&target.input_half, &target.weight_half, &target.output_half};
            *halves[below(&random, 3)] *= 2u;
            struct cnnvp_train_tiles after;
            assert_int_equal(cut(&p, &after), 1);
            changed += after.in != before.in || after.out != before.out || after.rows != before.rows;
            if (cnnvp_train_product_price(&p, &after) > cost)
                fail_msg("case %u: %llu, with larger buffers %llu", i, (unsigned long long)cost,
                         (unsigned long long)cnnvp_train_product_price(&p, &after));
            before = after;
        }
    }
    print_message("%u of %u fit, %u other tiles\n", ran, (uint32_t)CASES, changed);
    assert_true(ran > CASES / 3 && changed > CASES / 3);
}

/* Images go through the module side by side, so one image's statistics take as long as those of one of four. */
static void statistics_take_a_set_for_each_image(void **state)
{
    (void)state;
    const struct cnnvp_train_target target = {
        .arrays = 4, .cols = 32, .rows = 3, .fc_kernels = 32, .value_bytes = 1,
        .input_half = 1u << 20, .weight_half = 1u << 20, .output_half = 1u << 20,
        .input_halves = 2, .weight_halves = 2, .output_halves = 2,
        .input_width = 128, .weight_width = 128, .output_width = 512,
        .module_sets = 4, .module_lanes = 1, .timing = cnnvp_train_timing_of(NULL),
    };
    const uint64_t values = 64 * 8 * 8;
    for (uint32_t images = 1; images <= 4; ++images) {
        const struct cnnvp_train_product p = {
            .target = &target, .images = images, .groups = 1, .lead = target.timing.most_lead,
            .in_channels = 1, .out_channels = 64,
            .in_height = 8, .in_width = 8, .out_height = 8, .out_width = 8, .taps = 1, .kernels = 32,
            .kx = 1, .ky = 1, .sy = 1,
        };
        const struct cnnvp_train_tiles whole = {1, 64, 8, images};
        uint64_t lead;
        const uint64_t cycles = cnnvp_train_product_time(&p, &whole, &lead) / target.timing.cycle;
        assert_true(cycles >= values);
        assert_true(cycles <= values * 5 / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_buffers_are_not_slower),
        cmocka_unit_test(statistics_take_a_set_for_each_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
