/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalise-and-reconstruct unit: scale and offset of each channel, rounded and saturated, against plain products;
 * cycles and words by the closed form of lanes/lanes.h, and what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include <math.h>

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_normalise;

enum { CHANNELS = 5, COUNT = 50, ALL = CHANNELS * COUNT, SHIFT = 6, OFFSET_SHIFT = 4, LANES = 8, PIPELINE = 4 };
enum { SCALES_AT = 16, OFFSETS_AT = 48, OUT_AT = 64 };

static const struct machine_vector vector = {
    .b_addr = SCALES_AT,
    .c_addr = OFFSETS_AT,
    .out_addr = OUT_AT,
    .count = COUNT,
    .repeat = CHANNELS,
    .a_stride = 1,
    .a_repeat = COUNT,
    .b_repeat = 1,
    .c_repeat = 1,
    .out_repeat = COUNT,
    .format = SHIFT | OFFSET_SHIFT << 8 | 1 << 16 /* to nearest */};

static const int16_t scales[CHANNELS] = {1 << SHIFT, -(1 << SHIFT), 0, 1 << (SHIFT - 1), 32767};
static const int16_t offsets[CHANNELS] = {0, 0, -1000, 2, 7};

static uint64_t check_words(struct array_rig *rig, const int16_t *in)
{
    const int16_t *words = array_rig_peek(rig->output, 0, OUT_AT, 2 * ALL);
    uint64_t clipped = 0;
    for (int i = 0; i < ALL; ++i) {
        const int c = i / COUNT;
        const double value = (double)in[i] * scales[c] + ldexp(offsets[c], OFFSET_SHIFT);
        const double exact = nearbyint(ldexp(value, -SHIFT)); /* ties to even */
        assert_int_equal(words[i], (int)fmax(fmin(exact, 32767.0), -32768.0));
        clipped += exact > 32767.0 || exact < -32768.0;
    }
    assert_true(clipped > 1 && clipped < ALL);
    return clipped;
}

/* Channels are shared out to the units, a beat for each eight values of one; a single unit takes all without gaps. */
static void check(uint64_t units, uint64_t beats, int timing_only)
{
    int16_t in[ALL];
    uint64_t random = 11;
    const struct array_rig_lanes lanes = {units, LANES, timing_only};
    struct array_rig rig;
    array_rig_start_lanes(&rig, &cnnvp_unit_normalise, &lanes);
    for (int i = 0; i < ALL; ++i)
        in[i] = (int16_t)((int32_t)next_bits(&random) >> 20);
    in[COUNT] = -32768; /* its negative is too large */
    if (!timing_only) {
        array_rig_poke(rig.input, 0, 0, in, ALL);
        array_rig_poke(rig.weight, 0, SCALES_AT, scales, CHANNELS);
        array_rig_poke(rig.weight, 0, OFFSETS_AT, offsets, CHANNELS);
    }
    const struct cnnvp_command command = ARRAY_RIG_COMMAND(OP_vnorm, ST_vnorm_b | ST_vnorm_store, vector);
    assert_int_equal(array_rig_do(&rig, command), beats + PIPELINE);
    assert_int_equal(fake_count(rig.array, "saturations"), timing_only ? 0 : check_words(&rig, in));
    array_rig_check_lanes(&rig, beats + PIPELINE, beats, ALL, ALL);
    assert_int_equal(fake_count(rig.array, "mac_operations"), ALL);
    assert_int_equal(fake_count(rig.weight, "read_sequential_words"), 2 * CHANNELS);
    array_rig_end(&rig);
}

static void test_values(void **state)
{
    (void)state;
    for (int n = 0; n < 2; ++n) {
        check(2, 3 * 7, n);
        check(1, (ALL + LANES - 1) / LANES, n);
    }
}

static void test_refused(void **state)
{
    const struct array_rig_lanes lanes = {2, LANES, 0};
    struct array_rig rig;
    struct machine_vector changed = vector;
    (void)state;
    array_rig_start_lanes(&rig, &cnnvp_unit_normalise, &lanes);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vact, ST_vact_b, vector), CNNVP_E_INVAL, "takes vnorm alone");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vnorm, ST_vnorm_b, vector), CNNVP_E_INVAL, "vnorm.store");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_vnorm, 3 * ST_vnorm_b | ST_vnorm_store, vector), CNNVP_E_INVAL,
                            "b of this instruction is a buffer");
    changed.c_addr = 32768 - 8; /* the fifth offset is beyond the half */
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_vnorm, ST_vnorm_b | ST_vnorm_store, changed), CNNVP_E_ADDR, "outside its half");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
