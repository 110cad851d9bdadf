/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mean-update unit: means of channels, rounded once and saturated, against plain sums; cycles and
 * words by the closed form of lanes/lanes.h, and what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_mean;

/* Five channels on two units of eight lanes: each takes a channel's values in beats, folds the lanes' sums and divides.
 * Means have three fraction bits more than the data. */
enum { CHANNELS = 5, COUNT = 48, ALL = CHANNELS * COUNT, MORE_BITS = 3, UNITS = 2, LANES = 8, OUT_AT = 40 };
enum { TURNS = 3, BEATS = 6, FOLDS = 3, DIVISION = 8 + 1, PIPELINE = 4 };
enum { CYCLES = TURNS * (BEATS + FOLDS + DIVISION) + PIPELINE };

static const struct machine_vector vector = {
    .out_addr = OUT_AT,
    .count = COUNT,
    .repeat = CHANNELS,
    .a_stride = 1,
    .a_repeat = COUNT,
    .out_repeat = 2,
    .format = (256 - MORE_BITS) | 1 << 16 /* to nearest */};

/* Means that are too large, means half-way between two words (of sums 9 and -3), and any. */
static void make(int16_t *in)
{
    uint64_t random = 5;
    for (int i = 0; i < COUNT; ++i) {
        in[i] = 32767;
        in[COUNT + i] = -32768;
        in[2 * COUNT + i] = i < 9;
        in[3 * COUNT + i] = (int16_t)(i < 3 ? -1 : 0);
        in[4 * COUNT + i] = (int16_t)((int32_t)next_bits(&random) >> 21);
    }
}

static void check_words(struct array_rig *rig, const int16_t *in, bool truncate)
{
    for (int c = 0; c < CHANNELS; ++c) {
        const int16_t *word = array_rig_peek(rig->output, 0, OUT_AT + 4u * (uint32_t)c, 2);
        double sum = 0.0;
        for (int i = 0; i < COUNT; ++i)
            sum += in[c * COUNT + i];
        const double mean = ldexp(sum, MORE_BITS) / COUNT;
        const double whole = truncate ? trunc(mean) : nearbyint(mean); /* ties to even */
        assert_int_equal(*word, (int)fmax(fmin(whole, 32767.0), -32768.0));
    }
}

static void check(int timing_only)
{
    int16_t in[ALL];
    const struct array_rig_lanes lanes = {UNITS, LANES, timing_only};
    struct array_rig rig;
    struct machine_vector truncated = vector;
    truncated.format &= 0xffffu;
    make(in);
    array_rig_start_lanes(&rig, &cnnvp_unit_mean, &lanes);
    if (!timing_only)
        array_rig_poke(rig.input, 0, 0, in, ALL);
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_vmean, 0, vector)), CYCLES);
    if (!timing_only)
        check_words(&rig, in, false);
    assert_int_equal(fake_count(rig.array, "saturations"), timing_only ? 0 : 2);
    array_rig_check_lanes(&rig, CYCLES, TURNS * BEATS, ALL, CHANNELS);
    assert_int_equal(fake_count(rig.array, "add_operations"), ALL);
    assert_int_equal(fake_count(rig.array, "div_operations"), CHANNELS);
    assert_int_equal(fake_counter(rig.output, "feature_words"), 0); /* means are parameters */
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_vmean, 0, truncated)), CYCLES);
    if (!timing_only)
        check_words(&rig, in, true);
    array_rig_end(&rig);
}

static void test_means(void **state)
{
    (void)state;
    check(0);
    check(1);
}

static void test_refused(void **state)
{
    const struct array_rig_lanes lanes = {UNITS, LANES, 0};
    struct array_rig rig;
    struct machine_vector changed = vector;
    (void)state;
    array_rig_start_lanes(&rig, &cnnvp_unit_mean, &lanes);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vvar, 0, vector), CNNVP_E_INVAL, "takes vmean alone");
    changed.out_addr = 32768 - 16; /* the fifth mean is beyond the half */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vmean, 0, changed), CNNVP_E_ADDR, "outside its half");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_means), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
