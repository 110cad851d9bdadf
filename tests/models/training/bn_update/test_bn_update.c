/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BN-gradient update: gamma and beta against the rule of stage/momentum.h to the bit, all else of an entry stays; time,
 * with the entries' buffer narrow too, counts, and what is refused.
 */
#include "block_rig.h"
#include "training/bn_update/bn_update.h"
#include "random.h"

#include <stdbool.h>

#include "test.h"

enum { CHANNELS = 20, FIRST = 3, CYCLES = (2 * CHANNELS + 5) / 6 /* two values a channel, 6 lanes */ };

static void test_known(void **state)
{
    struct cnnvp_norm norm = {
        .gamma = 1.0f, .beta = 2.0f, .gamma_velocity = 4.0f, .beta_velocity = 8.0f, .dgamma = 0.5, .dbeta = 1.5};
    (void)state;
    cnnvp_bn_update_entry(0.25f, 0.5f, 1, &norm);
    assert_true(norm.gamma_velocity == 2.5f && norm.gamma == 0.375f);
    assert_true(norm.beta_velocity == 5.5f && norm.beta == 0.625f);
    cnnvp_bn_update_entry(0.25f, 0.5f, 0, &norm);
    assert_true(norm.gamma_velocity == 2.5f && norm.gamma == 0.25f && norm.beta == 0.25f);
}

static struct cnnvp_tile update_of(bool momentum)
{
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_NORM_UPDATE, 1, CHANNELS, 1, 1);
    tile.lanes *= tile.sets; /* as the module sends what belongs to no image */
    tile.sets = 1;
    tile.flags = momentum ? CNNVP_TILE_MOMENTUM : 0;
    tile.norm_entry = FIRST;
    tile.rate = 0.05f;
    tile.momentum = 0.9f;
    return tile;
}

/* Each operation rounded to binary32. */
static void update(bool momentum, double gradient, float *velocity, float *value)
{
    volatile float step = (float)gradient;
    if (momentum) {
        const volatile float kept = 0.9f * *velocity;
        step = kept + step;
        *velocity = step;
    }
    const volatile float change = 0.05f * step;
    *value = *value - change;
}

static void check(int timing_only, bool momentum)
{
    struct cnnvp_norm want[FIRST + CHANNELS + 1] = {0};
    uint64_t random = 7;
    struct block_rig rig;
    struct cnnvp_tile tile = update_of(momentum);
    block_rig_begin(&rig, &cnnvp_unit_bn_update, timing_only);
    block_rig_start(&rig);
    for (int c = 0; c <= FIRST + CHANNELS; ++c)
        want[c] = (struct cnnvp_norm){
            .gamma = next_float(&random),
            .beta = next_float(&random),
            .gamma_velocity = next_float(&random),
            .beta_velocity = next_float(&random),
            .mean = 5.0,
            .dgamma = (double)next_float(&random) / 3.0, /* no binary32 */
            .dbeta = (double)next_float(&random) / 3.0};
    if (!timing_only)
        memcpy(block_rig_data(&rig, "buffer"), want, sizeof want);
    block_rig_do(&rig, &tile, CYCLES);
    for (int c = FIRST; c < FIRST + CHANNELS; ++c) {
        update(momentum, want[c].dgamma, &want[c].gamma_velocity, &want[c].gamma);
        update(momentum, want[c].dbeta, &want[c].beta_velocity, &want[c].beta);
    }
    if (!timing_only)
        assert_memory_equal(block_rig_data(&rig, "buffer"), want, sizeof want);
    assert_int_equal(fake_count(rig.block, "channels"), CHANNELS);
    assert_int_equal(fake_count(rig.block, "values"), CHANNELS * (momentum ? 4 : 2));
    block_rig_end(&rig);
}

static void test_entries(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only) {
        check(timing_only, false);
        check(timing_only, true);
    }
}

/* Entries of 24 lines are read and written back, side by side where the buffer has more than one bank. */
static void test_narrow(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (uint64_t banks = 1; banks <= 2; ++banks) {
            struct block_rig rig;
            struct cnnvp_tile tile = update_of(false);
            block_rig_begin(&rig, &cnnvp_unit_bn_update, timing_only);
            fake_set(block_rig_buffer(&rig, "buffer"), "line_words", 2);
            fake_set(block_rig_buffer(&rig, "buffer"), "banks", banks);
            fake_set(block_rig_buffer(&rig, "buffer"), "latency", 7);
            block_rig_start(&rig);
            block_rig_do(&rig, &tile, CHANNELS * 24u * (3u - banks) + 7u);
            assert_int_equal(tile.cycles, CYCLES);
            block_rig_end(&rig);
        }
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile tile = update_of(false);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_bn_update, 1u << CNNVP_TILE_NORM_UPDATE);
    block_rig_begin(&rig, &cnnvp_unit_bn_update, 0);
    block_rig_start(&rig);
    tile.norm_entry = 65536 / sizeof(struct cnnvp_norm) - CHANNELS + 1; /* the last is beyond the buffer */
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_ADDR);
    assert_int_equal(fake_count(rig.block, "channels"), 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_entries),
                                       cmocka_unit_test(test_narrow), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
