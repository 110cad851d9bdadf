/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of numbers in statistics. */

#include "test.h"

#include "explore.h"

static void test_paths(void **state)
{
    json_t *stats = json_loads("{\"total\":{\"x\":3},\"layers\":[{\"name\":\"a.b\",\"cycles\":7}],\"links\":"
                               "[{\"from\":\"dma\",\"to\":\"dram\",\"read_bytes\":9}]}",
                               0, NULL);
    double number = 0;
    (void)state;
    assert_true(cnnvp_stats_number(stats, "total.x", &number) && number == 3.0);
    assert_true(cnnvp_stats_number(stats, "layers.a.b.cycles", &number) && number == 7.0);
    assert_true(cnnvp_stats_number(stats, "layers.0.cycles", &number) && number == 7.0);
    assert_true(cnnvp_stats_number(stats, "links.dma-dram.read_bytes", &number) && number == 9.0);
    assert_false(cnnvp_stats_number(stats, "total", &number));
    assert_false(cnnvp_stats_number(stats, "total.y", &number));
    assert_false(cnnvp_stats_number(stats, "layers.1.cycles", &number));
    json_decref(stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
