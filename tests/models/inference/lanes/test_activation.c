/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activation unit: a piecewise-linear table against its definition in lanes/lanes.h, for all words;
 * cycles and words by the closed form there, and what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include <math.h>

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_activation;

enum { COUNT = 1000, REPEAT = 3, ALL = COUNT * REPEAT, UNITS = 2, LANES = 8, PIPELINE = 4, TABLE_AT = 96, SHIFT = 5 };
enum { BEATS = (ALL + UNITS * LANES - 1) / (UNITS * LANES) /* no value needs its neighbour */ };

/* Ten segments of 2^11 words each from -9000, which the first and the last go on from; intercepts times 2^4. */
enum { X0 = -9000, X_SHIFT = 11, SEGMENTS = 10, INTERCEPT_SHIFT = 4, TABLE = 4 + 2 * SEGMENTS };

static const struct machine_vector vector = {
    .b_addr = TABLE_AT,
    .count = COUNT,
    .repeat = REPEAT,
    .a_stride = 1,
    .a_repeat = COUNT,
    .out_repeat = COUNT,
    .format = SHIFT | 1 << 16 /* to nearest */};

static void make(int16_t *in, int16_t *table)
{
    uint64_t random = 8;
    table[0] = X0;
    table[1] = X_SHIFT;
    table[2] = SEGMENTS;
    table[3] = INTERCEPT_SHIFT;
    for (int i = 4; i < TABLE; ++i)
        table[i] = (int16_t)((int32_t)next_bits(&random) >> (i % 2 == 0 ? 25 : 18));
    for (int i = 0; i < ALL; ++i)
        in[i] = (int16_t)(i * 65535 / (ALL - 1) - 32768);
}

static void check(int timing_only)
{
    int16_t in[ALL], table[TABLE];
    uint64_t clipped = 0;
    const struct array_rig_lanes lanes = {UNITS, LANES, timing_only};
    struct array_rig rig;
    array_rig_start_lanes(&rig, &cnnvp_unit_activation, &lanes);
    make(in, table);
    if (!timing_only) {
        array_rig_poke(rig.input, 0, 0, in, ALL);
        array_rig_poke(rig.weight, 0, TABLE_AT, table, TABLE);
    }
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_vact, ST_vact_b, vector)), BEATS + PIPELINE);
    for (int i = 0; i < ALL && !timing_only; ++i) {
        const int16_t *word = array_rig_peek(rig.output, 0, 2u * (uint32_t)i, 2);
        int k = (int)floor(ldexp(in[i] - X0, -X_SHIFT));
        k = k < 0 ? 0 : k >= SEGMENTS ? SEGMENTS - 1 : k;
        const double value = (double)table[4 + 2 * k] * in[i] + ldexp(table[5 + 2 * k], INTERCEPT_SHIFT);
        const double exact = nearbyint(ldexp(value, -SHIFT)); /* ties to even */
        assert_int_equal(*word, (int)fmax(fmin(exact, 32767.0), -32768.0));
        clipped += exact > 32767.0 || exact < -32768.0;
    }
    assert_true(timing_only || (clipped > 0 && clipped < ALL));
    assert_int_equal(fake_count(rig.array, "saturations"), clipped);
    array_rig_check_lanes(&rig, BEATS + PIPELINE, BEATS, ALL, ALL);
    assert_int_equal(fake_count(rig.array, "mac_operations"), ALL);
    assert_int_equal(fake_count(rig.array, "sub_operations"), ALL);
    /* the table's header once, two words for each element */
    assert_int_equal(fake_count(rig.weight, "read_sequential_words"), 4 + 2 * ALL);
    array_rig_end(&rig);
}

static void test_words(void **state)
{
    (void)state;
    check(0);
    check(1);
}

static void test_refused(void **state)
{
    static const int16_t no_segments[] = {0, 11, 0, 4};
    static const int16_t too_many[] = {0, 11, 32767, 4};
    const struct array_rig_lanes lanes = {UNITS, LANES, 0};
    struct array_rig rig;
    (void)state;
    array_rig_start_lanes(&rig, &cnnvp_unit_activation, &lanes);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vnorm, 0, vector), CNNVP_E_INVAL, "takes vact alone");
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vact, 2 * ST_vact_b, vector), CNNVP_E_INVAL, "0 input, 1 weight");
    array_rig_poke(rig.weight, 0, TABLE_AT, no_segments, 4);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vact, ST_vact_b, vector), CNNVP_E_INVAL, "header is malformed");
    array_rig_poke(rig.weight, 0, TABLE_AT, too_many, 4);
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vact, ST_vact_b, vector), CNNVP_E_ADDR, "the table leaves the half");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
