/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles by closed forms. */
#include "trainer_case.h"

static void test_vgg16_cycles(void **state)
{
    (void)state;
    struct session_setup setup = session_setup(VGG16, 3, 32, 10);
    setup.images = 4;
    setup.options.timing_only = 1;
    struct outcome outcome = outcome_of(&setup);
    assert_int_equal(sum(&outcome, "conv", "forward", "compute_cycles"), 3262464);
    assert_int_equal(sum(&outcome, "conv", "backward", "compute_cycles"), 3244032);
    assert_int_equal(sum(&outcome, "conv", "gradient", "compute_cycles"), 4 * 817152);
    assert_int_equal(sum(&outcome, "fc", "forward", "compute_cycles"), 512);
    assert_int_equal(sum(&outcome, "fc", "backward", "compute_cycles"), 10 * 16);
    assert_int_equal(sum(&outcome, "fc", "gradient", "compute_cycles"), 4 * 128);
    assert_int_equal(sum(&outcome, "conv", "forward", "macs"), 4 * UINT64_C(313196544));
    assert_int_equal(sum(&outcome, "conv", "gradient", "macs"), 4 * UINT64_C(313196544));
    assert_int_equal(sum(&outcome, "conv", "backward", "macs"), 4 * (UINT64_C(313196544) - 64 * 3 * 9 * 1024));
    assert_accounts(&outcome);
    outcome_clear(&outcome);
}

static void check_lenet5(uint32_t images, uint32_t passes)
{
    struct session_setup setup = session_setup(LENET5, 1, 32, 10);
    setup.images = setup.options.batch = images;
    setup.native = 1;
    struct outcome outcome = outcome_of(&setup);
    assert_int_equal(sum(&outcome, "conv", "forward", "compute_cycles"), passes * (9408 + 7200));
    assert_int_equal(sum(&outcome, "fc", "forward", "compute_cycles"), passes * (400 * 4 + 120 * 3 + 84));
    /* The bias is one more channel of one tap, a cause of its own (Part B 0-8). */
    const json_t *units = json_object_get(outcome.stats, "units");
    assert_int_equal(number(json_object_get(units, "pe_array"), "bias_cycles") > 0, 1);
    assert_int_equal(sum(&outcome, "conv", "backward", "compute_cycles"), passes * 16 * 14 * 14 * 3 * 4);
    assert_int_equal(sum(&outcome, "conv", "gradient", "compute_cycles"),
                     images * (3 * 28 * 28 * 4 + 2 * 3 * 10 * 10 * 4));
    assert_accounts(&outcome);
    outcome_clear(&outcome);
}

static void test_lenet5_cycles(void **state)
{
    (void)state;
    check_lenet5(4, 1);
    check_lenet5(6, 2); /* a short pass masks arrays and costs a whole one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vgg16_cycles),
        cmocka_unit_test(test_lenet5_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
