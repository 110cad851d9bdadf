/* SPDX-License-Identifier: Apache-2.0 */
/* Fronts: what dominates, and hypervolumes worked out by hand. */

#include "test.h"

#include "explore.h"

static void test_hypervolume(void **state)
{
    static const double plane[] = {1, 3, 2, 2, 3, 1, 3, 3, 5, 0};
    static const double corner[] = {4, 4, 4};
    static const double space[] = {1, 1, 3, 3, 3, 1};
    static const double a[] = {1, 2}, b[] = {1, 3}, c[] = {2, 1};
    (void)state;
    /* Squares that (1,3), (2,2) and (3,1) cover below (4,4): 3 + 2 + 1; the others are dominated or outside. */
    assert_true(cnnvp_hypervolume(plane, 5, 2, corner) == 6.0);
    /* 3*3*1 and 1*1*3, less what both cover, 1*1*1. */
    assert_true(cnnvp_hypervolume(space, 2, 3, corner) == 11.0);
    assert_true(cnnvp_hypervolume(plane, 0, 2, corner) == 0.0);
    assert_true(cnnvp_dominates(a, b, 2) && !cnnvp_dominates(b, a, 2) && !cnnvp_dominates(a, c, 2));
    assert_false(cnnvp_dominates(a, a, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hypervolume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
