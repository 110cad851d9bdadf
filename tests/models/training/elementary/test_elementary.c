/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential and logarithm against the C library's, within two units in the last place. */
#include "training/elementary/elementary.h"
#include "random.h"

#include <float.h>
#include <math.h>

#include "test.h"

static void check(double got, double want, double at)
{
    const double error = fabs(got - want);
    if (error > 2.0 * DBL_EPSILON * fabs(want))
        print_error("at %a: %a instead of %a\n", at, got, want);
    assert_true(error <= 2.0 * DBL_EPSILON * fabs(want));
}

static void test_exp(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < 200000; ++i) {
        const double scale = i % 4 == 0 ? 700.0 : i % 4 == 1 ? 20.0 : i % 4 == 2 ? 1.0 : 1e-6;
        const double x = scale * ((double)next_bits(&random) / 2147483648.0 - 1.0);
        check(cnnvp_elementary_exp(x), exp(x), x);
    }
    assert_true(cnnvp_elementary_exp(0.0) == 1.0);
    assert_true(cnnvp_elementary_exp(-800.0) == 0.0);
    assert_true(cnnvp_elementary_exp(-(double)INFINITY) == 0.0);
    assert_true(isinf(cnnvp_elementary_exp(800.0)));
    assert_true(isnan(cnnvp_elementary_exp((double)NAN)));
}

static void test_ln(void **state)
{
    uint64_t random = 2;
    (void)state;
    for (int i = 0; i < 200000; ++i) {
        const double m = 1.0 + (double)next_bits(&random) / 4294967296.0;
        const double x = ldexp(m, i % 2 == 0 ? (int)(next_bits(&random) % 2098) - 1074 : i % 3 - 1);
        check(cnnvp_elementary_ln(x), log(x), x);
    }
    for (int n = 1; n < 1000; ++n)
        check(cnnvp_elementary_ln(n), log(n), n);
    assert_true(cnnvp_elementary_ln(1.0) == 0.0);
    assert_true(cnnvp_elementary_ln(0.0) == -(double)INFINITY);
    assert_true(isnan(cnnvp_elementary_ln(-1.0)));
    assert_true(isinf(cnnvp_elementary_ln((double)INFINITY)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exp), cmocka_unit_test(test_ln)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
