/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variance-update unit: inverse standard deviations of channels around given means, against binary64; cycles and
 * words by the closed form of lanes/lanes.h, and what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include <math.h>

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_variance;

/* Five channels on two units of eight lanes: each takes a channel's values in beats, folds the lanes' sums, divides and
 * takes the root. Means have two fraction bits more than the data, results 20 more. */
enum { CHANNELS = 5, COUNT = 50, ALL = CHANNELS * COUNT, MORE_BITS = 2, SHIFT = -20, EPSILON = 3, OUT_AT = 40 };
enum { UNITS = 2, LANES = 8, TURNS = 3, BEATS = 7, FOLDS = 3, DIVISION = 8 + 1, PIPELINE = 4 };
enum { CYCLES = TURNS * (BEATS + FOLDS + 2 * DIVISION) + PIPELINE };

static const struct machine_vector vector = {
    .out_addr = OUT_AT,
    .count = COUNT,
    .repeat = CHANNELS,
    .a_stride = 1,
    .a_repeat = COUNT,
    .b_repeat = 1,
    .out_repeat = 1,
    .immediate = EPSILON,
    .format = (256 + SHIFT) | MORE_BITS << 8 | 1 << 16 /* to nearest */};

static const int16_t means[CHANNELS] = {0, -77, 4 * 300, 1, -5};

/* The third channel's values are all equal to its mean: their variance is 0. The others spread further and further. */
static void make(int16_t *in)
{
    uint64_t random = 9;
    for (int i = 0; i < ALL; ++i)
        in[i] = (int16_t)(i / COUNT == 2 ? 300 : (int32_t)next_bits(&random) >> (24 - i / COUNT));
}

static void check_words(struct array_rig *rig, const int16_t *in, double epsilon)
{
    const int16_t *words = array_rig_peek(rig->output, 0, OUT_AT, 2 * CHANNELS);
    for (int c = 0; c < CHANNELS; ++c) {
        double squares = 0.0;
        for (int i = 0; i < COUNT; ++i)
            squares += pow(ldexp(in[c * COUNT + i], MORE_BITS) - means[c], 2.0);
        const double word = ldexp(1.0 / sqrt(squares / COUNT + epsilon), MORE_BITS - SHIFT);
        assert_int_equal(words[c], (int)fmin(nearbyint(word), 32767.0)); /* for no variance at all too */
    }
}

static void check(int timing_only)
{
    int16_t in[ALL];
    const struct array_rig_lanes lanes = {UNITS, LANES, timing_only};
    struct array_rig rig;
    struct machine_vector none = vector;
    none.immediate = 0;
    make(in);
    array_rig_start_lanes(&rig, &cnnvp_unit_variance, &lanes);
    if (!timing_only) {
        array_rig_poke(rig.input, 0, 0, in, ALL);
        array_rig_poke(rig.weight, 0, 0, means, CHANNELS);
    }
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_vvar, ST_vvar_b, vector)), CYCLES);
    if (!timing_only)
        check_words(&rig, in, EPSILON);
    array_rig_check_lanes(&rig, CYCLES, TURNS * BEATS, ALL, CHANNELS);
    assert_int_equal(fake_count(rig.array, "sub_operations"), ALL);
    assert_int_equal(fake_count(rig.array, "mac_operations"), ALL);
    assert_int_equal(fake_count(rig.array, "div_operations"), 2 * CHANNELS);
    assert_int_equal(fake_count(rig.weight, "read_sequential_words"), CHANNELS);
    assert_int_equal(fake_counter(rig.output, "feature_words"), 0); /* results are parameters */
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_vvar, ST_vvar_b, none)), CYCLES);
    if (!timing_only)
        check_words(&rig, in, 0.0);
    array_rig_end(&rig);
}

static void test_variances(void **state)
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
    array_rig_start_lanes(&rig, &cnnvp_unit_variance, &lanes);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vmean, ST_vvar_b, vector), CNNVP_E_INVAL, "takes vvar alone");
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vvar, 3 * ST_vvar_b, vector), CNNVP_E_INVAL, "b of this instruction is a buffer");
    changed.immediate = UINT32_MAX;
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vvar, ST_vvar_b, changed), CNNVP_E_INVAL, "epsilon is not negative");
    changed.immediate = EPSILON;
    changed.format = 16 << 8;
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vvar, ST_vvar_b, changed), CNNVP_E_INVAL, "0 .. 15 fraction bits more");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variances), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
