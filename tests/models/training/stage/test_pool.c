/* SPDX-License-Identifier: Apache-2.0 */
/* Max pooling of one map: known positions and ties, random maps against sorting out the window, errors back to where
 * maxima were. */
#include "training/stage/pool.h"
#include "random.h"

#include "test.h"

enum { SIDE = 12, ALL = SIDE * SIDE };

static void test_known(void **state)
{
    const struct cnnvp_max_pool pool = {4, 5, 2, 2, 2, 2}; /* the fifth column belongs to no window */
    const int8_t in[] = {1, 2, 5, 5, 99, 3, 3, 5, 5, 99, -7, -8, 0, 0, 99, -6, -6, -1, 0, 99};
    const int8_t want[] = {3, 5, -6, 0};
    const uint8_t positions[] = {2, 0, 2, 0}; /* of equal ones the first in raster order */
    const float dy[] = {1.0f, 2.0f, 3.0f, 4.0f};
    int8_t out[4];
    uint8_t ids[4];
    float dx[20];
    (void)state;
    assert_int_equal(cnnvp_max_pool_rows(&pool), 2);
    assert_int_equal(cnnvp_max_pool_cols(&pool), 2);
    cnnvp_max_pool_forward(&pool, in, out, ids);
    assert_memory_equal(out, want, 4);
    assert_memory_equal(ids, positions, 4);
    assert_int_equal(cnnvp_max_pool_backward(&pool, dy, ids, dx), CNNVP_OK);
    for (int i = 0; i < 20; ++i)
        assert_true(dx[i] == (i == 5 ? 1.0f : i == 2 ? 2.0f : i == 15 ? 3.0f : i == 12 ? 4.0f : 0.0f));
}

static void test_random(void **state)
{
    uint64_t random = 8;
    (void)state;
    for (int run = 0; run < 500; ++run) {
        const struct cnnvp_max_pool pool = {
            SIDE - next_bits(&random) % 4, SIDE - next_bits(&random) % 4, 1 + next_bits(&random) % 4,
            1 + next_bits(&random) % 4,    1 + next_bits(&random) % 4,    1 + next_bits(&random) % 4};
        const uint32_t rows = cnnvp_max_pool_rows(&pool);
        const uint32_t cols = cnnvp_max_pool_cols(&pool);
        int8_t in[ALL], out[ALL];
        int32_t wide[ALL], wide_out[ALL];
        uint8_t ids[ALL], wide_ids[ALL];
        float dy[ALL], dx[ALL];
        double want[ALL] = {0};
        for (int i = 0; i < ALL; ++i) {
            in[i] = (int8_t)((int)(next_bits(&random) % 7) - 3); /* many ties */
            wide[i] = in[i] * 100000;
            dy[i] = (float)((int)(next_bits(&random) % 100)); /* whole: sums are exact */
        }
        cnnvp_max_pool_forward(&pool, in, out, ids);
        cnnvp_max_pool_forward_wide(&pool, wide, wide_out, wide_ids);
        assert_memory_equal(ids, wide_ids, rows * cols);
        assert_int_equal(rows, (pool.h - pool.ky) / pool.sy + 1);
        for (uint32_t o = 0; o < rows * cols; ++o) {
            const uint32_t corner = o / cols * pool.sy * pool.w + o % cols * pool.sx;
            const uint32_t taps = pool.ky * pool.kx;
            uint32_t found = taps;
            for (uint32_t t = taps; t-- > 0;) { /* from the last to the first: the first stays */
                const int8_t value = in[corner + t / pool.kx * pool.w + t % pool.kx];
                assert_true(value <= out[o]);
                if (value == out[o])
                    found = t;
            }
            assert_int_equal(ids[o], found);
            assert_int_equal(wide_out[o], out[o] * 100000);
            want[corner + found / pool.kx * pool.w + found % pool.kx] += (double)dy[o];
        }
        assert_int_equal(cnnvp_max_pool_backward(&pool, dy, ids, dx), CNNVP_OK);
        cnnvp_max_pool_forward(&pool, in, in, wide_ids); /* in place */
        cnnvp_max_pool_forward_wide(&pool, wide, wide, ids);
        assert_memory_equal(in, out, rows * cols);
        assert_memory_equal(wide, wide_out, rows * cols * sizeof wide[0]);
        for (uint32_t i = 0; i < pool.h * pool.w; ++i)
            assert_true((double)dx[i] == want[i]);
    }
}

static void test_refused(void **state)
{
    const struct cnnvp_max_pool large = {2, 2, 3, 1, 1, 1};
    const struct cnnvp_max_pool no_stride = {4, 4, 2, 2, 0, 1};
    const struct cnnvp_max_pool huge = {40, 40, 20, 20, 1, 1};
    const struct cnnvp_max_pool good = {2, 2, 2, 2, 2, 2};
    const uint8_t bad_id = 4;
    float dx[4];
    const float dy = 1.0f;
    (void)state;
    assert_int_equal(cnnvp_max_pool_rows(&large), 0);
    assert_int_equal(cnnvp_max_pool_rows(&no_stride), 0);
    assert_int_equal(cnnvp_max_pool_cols(&huge), 0);
    assert_int_equal(cnnvp_max_pool_backward(&good, &dy, &bad_id, dx), CNNVP_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known), cmocka_unit_test(test_random), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
