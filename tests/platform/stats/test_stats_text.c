/* SPDX-License-Identifier: Apache-2.0 */
/* What the statistics mean, for a person. */
#include "test.h"

#include "cnnvp.h"

static void causes_and_bounds_are_explained(void **state)
{
    (void)state;
    assert_string_equal(cnnvp_stall_help("weight"), "waiting for weights");
    assert_null(cnnvp_stall_help("weigh"));
}

/* Lines of the members' table, of causes, bounds and quantities. */
static void the_text_has_all_tables(void **state)
{
    static const char *const lines[] = {
        "  layers[].stall_cycles.bias                    cycles        bias steps of the mapping\n",
        "  summary.bound_shares.core                     0 to 1        of accel_cycles: waiting for the guest "
        "software\n",
        "  layers[].weight_words                         words         words that the array reads from the weight "
        "buffer\n",
        "  layers[].dram_read_bytes                      bytes         bytes read from off-chip memory\n"};
    char *text = NULL;

    (void)state;
    assert_int_equal(cnnvp_stats_text(&text), CNNVP_DONE);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i)
        if (strstr(text, lines[i]) == NULL)
            fail_msg("no line \"%s\"", lines[i]);
    assert_non_null(strstr(text, "\n  accelerators[].units[] "));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_and_bounds_are_explained),
        cmocka_unit_test(the_text_has_all_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
