/* SPDX-License-Identifier: Apache-2.0 */
/* Extremes of a piece of a channel; the whole of them is in ../statistics. */
#include "training/stage/extremes.h"
#include "random.h"

#include <math.h>

#include "test.h"

/* Extremes with two values left out, against a plain loop; ties and order. */
static const struct cnnvp_extremes none = {.min = INFINITY, .max = -INFINITY};

static void test_apart(void **state)
{
    uint64_t random = 9;
    (void)state;
    for (int run = 0; run < 2000; ++run) {
        float x[40];
        const uint32_t n = next_bits(&random) % 40 + 1;
        const uint32_t first = next_bits(&random) % 10;
        const uint32_t a = next_bits(&random) % 60;
        const uint32_t b = run % 5 == 0 ? a : next_bits(&random) % 60;
        struct cnnvp_extremes got = none;
        struct cnnvp_extremes want = none;
        for (uint32_t i = 0; i < n; ++i) {
            x[i] = (float)(next_bits(&random) % 5); /* ties */
            if (first + i == a || first + i == b)
                continue;
            if (x[i] < want.min) {
                want.min = x[i];
                want.min_at = first + i;
            }
            if (x[i] > want.max) {
                want.max = x[i];
                want.max_at = first + i;
            }
        }
        cnnvp_extremes_add_apart(x, n, first, a, b, &got);
        assert_memory_equal(&got, &want, sizeof got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
