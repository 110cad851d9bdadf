/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one variable, against the C library's. */
#include <math.h>

#include "test.h"

#include "tables.h"

static void test_scalar_functions(void **state)
{
    (void)state;
    for (int i = -70000; i <= 70000; ++i) {
        const double x = i / 997.0;
        assert_true(fabs(cnnvp_tanh(x) - tanh(x)) <= 1e-14 * fabs(tanh(x)));
        assert_true(fabs(cnnvp_erf(x) - erf(x)) <= 1e-14 * fabs(erf(x)));
        assert_true(fabs(cnnvp_sigmoid(x) * (1.0 + exp(-x)) - 1.0) < 1e-14);
    }
    assert_true(cnnvp_sigmoid(-1e9) == 0.0 && cnnvp_sigmoid(1e9) == 1.0 && cnnvp_tanh(-1e9) == -1.0);
    assert_true(cnnvp_erf(-1e9) == -1.0 && cnnvp_erf(1e9) == 1.0 && isnan(cnnvp_erf(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scalar_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
