/* SPDX-License-Identifier: Apache-2.0 */
/* Piecewise-linear tables: what is refused. How near they are to their functions is in
 * models/inference/lanes/test_lanes_reduce.c. */
#include <math.h>

#include "test.h"

#include "tables.h"

static double infinite(double x)
{
    return x == 0.0 ? (double)INFINITY : 1.0 / x;
}

struct plain {
    double (*function)(double);
};

static double call(const void *context, double x)
{
    return ((const struct plain *)context)->function(x);
}

static void test_bad_tables(void **state)
{
    int16_t table[CNNVP_PWL_WORDS(64)];
    int shift = 0;
    size_t words = CNNVP_PWL_WORDS(64) - 1u;
    const struct plain tangent = {cnnvp_tanh}, pole = {infinite};
    (void)state;
    memset(table, 0x5a, sizeof table);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 12, 15, 64, table, &words, &shift),
                     -1); /* no room */
    words = CNNVP_PWL_WORDS(64);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 12, 15, 63, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 12, 15, 0, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 61, 15, 64, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 12, -17, 64, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, 0.0, 0.0, 12, 15, 64, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, (double)NAN, 12, 15, 64, table, &words, &shift), -1);
    assert_int_equal(cnnvp_pwl_table_of(call, &pole, -8.0, 8.0, 12, 15, 64, table, &words, &shift), -1);
    assert_int_equal(table[0], 0x5a5a);
    assert_int_equal(cnnvp_pwl_table_of(call, &tangent, -8.0, 8.0, 12, 15, 64, table, &words, &shift), 0);
    assert_int_equal(words, CNNVP_PWL_WORDS(64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
