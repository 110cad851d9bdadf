/* SPDX-License-Identifier: Apache-2.0 */
/* Whole tensors: which values are a block, and what is refused. */
#include <math.h>

#include "bfp_case.h"

/* Each block has the exponent of its own maximum; the mantissas come back within half a step. */
static void test_tensors(void **state)
{
    enum { IMAGES = 3, CHANNELS = 5, PLANE = 7, ALL = IMAGES * CHANNELS * PLANE };
    const struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_NEAREST, 0};
    float values[ALL];
    float back[ALL];
    int8_t m[ALL];
    int8_t e[ALL];
    (void)state;
    for (int i = 0; i < ALL; ++i)
        values[i] = (float)ldexp((double)(int32_t)bfp_random(), (int)(bfp_random() % 40) - 60);
    for (uint32_t block = 0; block < 3; ++block) {
        const struct cnnvp_bfp_layout layout = {IMAGES, CHANNELS, PLANE, (enum cnnvp_bfp_block)block};
        const uint64_t blocks = block == 0 ? 1 : block == 1 ? IMAGES : CHANNELS;
        struct cnnvp_bfp_counts counts = {0};
        assert_int_equal(cnnvp_bfp_blocks(&layout), blocks);
        assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, m, e, &counts), CNNVP_OK);
        assert_int_equal(cnnvp_bfp_decode(8, &layout, m, e, back), CNNVP_OK);
        for (uint64_t b = 0; b < blocks; ++b) {
            double max = 0;
            for (int i = 0; i < ALL; ++i) {
                const int of = block == 0 ? 0 : block == 1 ? i / (CHANNELS * PLANE) : i / PLANE % CHANNELS;
                const uint64_t mine = (uint64_t)of;
                if (mine != b)
                    continue;
                max = fmax(max, fabs((double)values[i]));
                const double step = ldexp(1.0, e[b] - 6);
                const double error = fabs((double)back[i] - (double)values[i]);
                assert_true(error <= step / 2 || (m[i] == 127 && error <= step));
            }
            assert_int_equal(e[b], ilogb(max));
        }
    }
    const struct cnnvp_bfp_layout empty = {IMAGES, 0, PLANE, CNNVP_BFP_BLOCK_TENSOR};
    const uint64_t many = UINT64_C(1) << 31;
    const struct cnnvp_bfp_layout huge = {many, many, many, CNNVP_BFP_BLOCK_TENSOR};
    const struct cnnvp_bfp_layout one = {1, 1, 1, CNNVP_BFP_BLOCK_TENSOR};
    const struct cnnvp_bfp_format bad[] = {{1, 0, 0}, {25, 0, 0}, {8, 4, 0}};
    struct cnnvp_bfp_counts counts = {0};
    assert_int_equal(cnnvp_bfp_blocks(&empty), 0);
    assert_int_equal(cnnvp_bfp_blocks(&huge), 0);
    assert_int_equal(cnnvp_bfp_encode(&format, &empty, values, m, e, &counts), CNNVP_E_INVAL);
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(cnnvp_bfp_encode(&bad[i], &one, values, m, e, &counts), CNNVP_E_INVAL);
    assert_int_equal(cnnvp_bfp_decode(25, &one, m, e, back), CNNVP_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tensors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
