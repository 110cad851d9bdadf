/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, and roots at the ends of their range. */
#include "vector_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

static double hardswish(double x)
{
    const double gate = x + 3.0 < 0.0 ? 0.0 : x + 3.0 > 6.0 ? 6.0 : x + 3.0;
    return x * gate / 6.0;
}

static double elu(double x)
{
    return x > 0.0 ? x : exp(x) - 1.0;
}

static double identity(double x)
{
    return x;
}

static int64_t floor_shift(int64_t value, int shift)
{
    const int64_t unit = (int64_t)1 << shift;
    const int64_t quotient = value / unit;
    return quotient * unit > value ? quotient - 1 : quotient;
}

struct plain {
    double (*function)(double);
};

static double call(const void *context, double x)
{
    return ((const struct plain *)context)->function(x);
}

/* All 65536 words through the unit: exact against the table's definition, and near the function. */
static void check_function(double (*function)(double), double range, int in_frac, int out_frac, double tolerance)
{
    struct bench bench;
    int16_t table[CNNVP_PWL_WORDS(CNNVP_PWL_SEGMENTS)];
    size_t words = sizeof table / sizeof table[0];
    int shift = 0;
    bench_open(&bench, 16, 0);
    assert_int_equal(cnnvp_pwl_table_of(call, &(struct plain){function}, -range, range, in_frac, out_frac,
                                        CNNVP_PWL_SEGMENTS, table, &words, &shift),
                     0);
    memcpy((uint8_t *)bench_data(&bench, WT, 1) + 100, table, 2u * words);
    for (int part = 0; part < 2; ++part) {
        int16_t *const in = bench_data(&bench, IN, 0);
        for (int i = 0; i < 32768; ++i)
            in[i] = (int16_t)(part == 0 ? i : i - 32768);
        const struct vector_tile t = {
            .b_addr = 100, .count = 32768, .repeat = 1, .a_stride = 1, .format = FORMAT(shift, 0, 1)};
        assert_true(bench_run(&bench, OP_vact, A(IN) | B(WT), 2, &t) > 0);
        const int16_t *const out = bench_data(&bench, OUT, 0);
        for (int i = 0; i < 32768; ++i) {
            int64_t k = floor_shift(in[i] - (int64_t)table[0], table[1]);
            k = k < 0 ? 0 : k >= table[2] ? table[2] - 1 : k;
            const int64_t r = (int64_t)table[4 + 2 * k] * in[i] + (int64_t)table[5 + 2 * k] * ((int64_t)1 << table[3]);
            double exact = ldexp((double)r, -shift);
            exact = exact > 32767.0 ? 32767.0 : exact < -32768.0 ? -32768.0 : exact;
            assert_true(out[i] == (int)nearbyint(exact)); /* ties to even, as by default */
            double wanted = function(ldexp(in[i], -in_frac));
            const double highest = ldexp(32767.0, -out_frac);
            const double lowest = ldexp(-32768.0, -out_frac);
            wanted = wanted > highest ? highest : wanted < lowest ? lowest : wanted;
            assert_true(fabs(ldexp(out[i], -out_frac) - wanted) <= tolerance + ldexp(0.5, -out_frac));
        }
    }
    bench_close(&bench);
}

static void test_tables(void **state)
{
    (void)state;
    for (int in_frac = 0; in_frac <= 15; ++in_frac) {
        check_function(cnnvp_sigmoid, CNNVP_PWL_RANGE, in_frac, 15, 5e-4);
        check_function(cnnvp_tanh, CNNVP_PWL_RANGE, in_frac, 15, 5e-4);
    }
    check_function(cnnvp_sigmoid, CNNVP_PWL_RANGE, 11, 8, 5e-4);
    check_function(cnnvp_tanh, CNNVP_PWL_RANGE, 12, 14, 5e-4);
    check_function(elu, 8.0, 11, 11, 1e-3);
    check_function(hardswish, 4.0, 12, 12, 1e-3);
    check_function(identity, 4.0, 12, 12, 1e-3);
}

/* Extremes: nothing overflows, the result saturates or is 0. */
static void test_variance_extremes(void **state)
{
    struct bench bench;
    struct vector_tile t = {.count = 2, .repeat = 1, .a_stride = 1};
    (void)state;
    bench_open(&bench, 16, 0);
    int16_t *const out = bench_data(&bench, OUT, 0);
    const int64_t slots[] = {INT64_MAX, INT64_MIN};
    memcpy((uint8_t *)out + 16, slots, sizeof slots);
    t.a_addr = 16;
    t.format = FORMAT(63, 0, 1);
    assert_true(bench_run(&bench, OP_vvar, A(WIDE) | B(WT), 0, &t) > 0);
    assert_int_equal(out[0], 0);
    t.format = FORMAT(-48, 15, 1);
    assert_true(bench_run(&bench, OP_vvar, A(WIDE) | B(WT), 0, &t) > 0);
    assert_int_equal(out[0], 32767); /* 2^63 / sqrt(2^62 / 2) is above 2^32 */
    t.immediate = INT32_MAX;
    t.count = 1u << 15;
    t.a_stride = 0;
    assert_true(bench_run(&bench, OP_vvar, A(IN) | B(WT), 0, &t) > 0);
    assert_int_equal(out[0], 32767);
    t.format = FORMAT(0, 0, 1);
    assert_true(bench_run(&bench, OP_vvar, A(IN) | B(WT), 0, &t) > 0);
    assert_int_equal(out[0], 0);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_variance_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
