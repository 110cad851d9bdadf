/* SPDX-License-Identifier: Apache-2.0 */
/* Results against the float model and against what another framework computed (tests/data). */
#include "network_case.h"

static void check_network(const char *name, const struct fake_config *config, double limit)
{
    struct outcome outcome;
    network_run(name, config, &outcome);
    const double own = difference(&outcome.reference, &outcome.expected);
    const double fixed = difference(&outcome.fixed, &outcome.expected);
    print_message("%s: float %.3g, FX16 %.3g of the largest magnitude\n", name, own, fixed);
    assert_true(own < 1e-5);
    assert_true(fixed < limit);
    network_clear(&outcome);
}

static void lenet5_is_close_to_float(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    check_network("lenet5", &config, 0.005);
}

static void mixed_is_close_to_float(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    check_network("mixed", &config, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenet5_is_close_to_float),
        cmocka_unit_test(mixed_is_close_to_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
