/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in their documented order, bit by bit, with lengths around the eight partial sums and numbers that are none. */
#include <math.h>

#include "test.h"

#include "training/stage/sums.h"
#include "random.h"

enum { MOST = 37 };

/* Numbers whose sum depends on its order. */
static void fill(float *x, uint64_t seed)
{
    for (uint64_t i = 0; i < MOST; ++i) {
        (void)next_state(&seed);
        x[i] = ldexpf((float)((int64_t)(seed >> 33) - (INT64_C(1) << 30)), (int)(seed >> 20 & 63u) - 32);
    }
}

/* The order by sums.h. */
static double gather(const double *terms, uint64_t n)
{
    double part[8] = {0};
    for (uint64_t i = 0; i < n; ++i)
        part[i % 8] += terms[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static void assert_same(double value, double expected)
{
    assert_memory_equal(&value, &expected, sizeof value);
}

static void test_order(void **state)
{
    float x[MOST], dy[MOST];
    double terms[MOST] = {0};
    (void)state;
    fill(x, 1);
    fill(dy, 2);
    for (uint64_t n = 0; n <= MOST; ++n) {
        for (uint64_t i = 0; i < n; ++i)
            terms[i] = (double)x[i];
        assert_same(cnnvp_sum(x, n), gather(terms, n));
        for (uint64_t i = 0; i < n; ++i)
            terms[i] = (double)dy[i] * ((double)x[i] - 0.3);
        assert_same(cnnvp_sum_of_products(dy, x, n, 0.3), gather(terms, n));
    }
}

static void test_planes(void **state)
{
    float x[MOST];
    double terms[MOST] = {0};
    (void)state;
    for (uint64_t seed = 3; seed < 30; ++seed) {
        const uint64_t wrong = seed % 3; /* numbers that are none */
        struct cnnvp_sums sums = {.sum = 0};
        double expected = 0, squares = 0;
        assert_same(cnnvp_sum_mean(&sums), 0);
        fill(x, seed);
        if (wrong > 0)
            x[0] = INFINITY;
        if (wrong > 1)
            x[20] = NAN;
        for (uint64_t n = MOST - 4; n <= MOST; n += 4) {
            for (uint64_t i = 0; i < n; ++i)
                terms[i] = isfinite(x[i]) ? (double)x[i] : 0;
            expected += gather(terms, n);
            cnnvp_sum_add(x, n, &sums);
        }
        assert_same(sums.sum, expected);
        assert_int_equal(sums.count, 2 * (MOST - wrong) - 4);
        assert_int_equal(sums.nonfinite, 2 * wrong);
        const double mean = expected / sums.count;
        assert_same(cnnvp_sum_mean(&sums), mean);
        for (uint64_t i = 0; i < MOST; ++i) {
            terms[i] = isfinite(x[i]) ? (double)x[i] - mean : 0;
            terms[i] *= terms[i];
        }
        squares = gather(terms, MOST);
        cnnvp_sum_add_squares(x, MOST, &sums);
        assert_same(sums.squares, squares);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
