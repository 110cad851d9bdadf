/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that just hold what a layer needs. */
#include "trainer_case.h"

/* Smaller buffers: more tiles, maps in rows, the same bits and the same compute cycles, also where all rows of PEs work
 * in fully connected layers. */
static void test_buffers(void **state)
{
    (void)state;
    static const char *const sets[][3] = {
        {"input_buffer.size=256", NULL, NULL}, /* and a weight buffer for few kernels */
        {"intermediate_buffer.size=24KiB", NULL, NULL},
        {"input_buffer.pingpong=off", "weight_buffer.pingpong=off", "intermediate_buffer.pingpong=off"},
        {"input_buffer.size=1MiB", "weight_buffer.size=1MiB", "intermediate_buffer.size=8MiB"},
    };
    static const char *const phases[] = {"forward", "backward", "gradient"};
    static const char *const engines[][2] = {{NULL, NULL}, {"pe_array.fc_rows=3", "pe_array.cols=2"}};
    static const char *const few[] = {"weight_buffer.size=2048", "weight_buffer.size=256"};
    for (size_t i = 0; i < 2 * sizeof sets / sizeof sets[0]; ++i) {
        struct session_setup setup = digits();
        const size_t used = i % 2 * 2;
        memcpy(setup.sets, engines[i % 2], sizeof engines[0]);
        struct outcome usual = outcome_of(&setup);
        memcpy(setup.sets + used, sets[i / 2], sizeof sets[0]);
        if (i / 2 == 0)
            setup.sets[used + 1] = few[i % 2];
        struct outcome other = outcome_of(&setup);
        assert_same_results(&usual, &other);
        assert_accounts(&other);
        for (size_t p = 0; p < 6; ++p)
            assert_int_equal(sum(&usual, p % 2 ? "fc" : "conv", phases[p / 2], "compute_cycles"),
                             sum(&other, p % 2 ? "fc" : "conv", phases[p / 2], "compute_cycles"));
        outcome_clear(&other);
        outcome_clear(&usual);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
