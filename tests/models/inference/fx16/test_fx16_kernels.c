/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums by each variant of the kernels, on tiles larger than those of the random tests of arrays. */
#include "inference/fx16/fx16_kernels.h"
#include "nfu_case.h"

#include "test.h"

static void test_split(void **state)
{
    enum { N = 1 << 16 };
    static int16_t low[N], high[N];
    const struct fx16_kernels *kernels;
    (void)state;
    for (size_t variant = 0; (kernels = cnnvp_fx16_kernels_variant(variant)) != NULL; ++variant) {
        for (int32_t i = 0; i < N; ++i)
            low[i] = (int16_t)(i + INT16_MIN);
        kernels->split(low, N, high);
        for (int32_t i = 0; i < N; ++i) {
            assert_int_equal(256 * high[i] + low[i], i + INT16_MIN);
            assert_in_range(low[i] + 128, 0, 255);
            assert_in_range(high[i] + 128, 0, 256);
        }
    }
}

/* Several chunks of channels, sums beyond 32 bits, extreme values everywhere. */
static void test_large(void **state)
{
    static const struct {
        uint32_t in, out, h, w, k, s;
    } sizes[] = {{1000, 5, 2, 2, 3, 1}, {600, 6, 5, 7, 3, 1}, {64, 9, 28, 28, 3, 1},  {3, 8, 30, 33, 11, 4},
                 {520, 3, 1, 1, 5, 1},  {2, 4, 3, 100, 7, 2}, {300, 4, 20, 20, 1, 1}, {31, 7, 4, 4, 3, 2}};
    uint64_t random = 77;
    struct cnnvp_fx16_scratch scratch = {0};
    (void)state;
    for (uint32_t i = 0; i < 2u * sizeof sizes / sizeof sizes[0]; ++i) {
        const uint32_t n = i / 2u;
        const struct fx16_kernels *kernels;
        struct nfu_case c = nfu_case_window(
            OP_CONV, sizes[n].in, sizes[n].out, sizes[n].w, sizes[n].h, sizes[n].k, sizes[n].k, sizes[n].s, sizes[n].s);
        c.in_channel_stride = 0; /* channels follow each other */
        nfu_case_data(&c, &random);
        for (uint64_t w = 0; i % 2u == 0 && w < c.input_words; ++w)
            c.input[w] = INT16_MIN;
        for (uint64_t w = 0; i % 2u == 0 && w < c.weight_words; ++w)
            c.weights[w] = w % 5u == 0 && n % 2u == 0 ? 0x7f80 : INT16_MIN;
        nfu_case_expect(&c, 64);
        const struct cnnvp_fx16_tile tile = nfu_case_tile(&c);
        int64_t *sums = calloc(c.results, sizeof *sums);
        assert_non_null(sums);
        const struct cnnvp_fx16_data data = {.input = c.input, .weights = c.weights, .bias = c.bias, .sums = sums};
        for (size_t v = 0; (kernels = cnnvp_fx16_kernels_variant(v)) != NULL; ++v) {
            assert_int_equal(cnnvp_fx16_compute_with(kernels, 64, &tile, &data, &scratch), CNNVP_OK);
            if (memcmp(sums, c.sums, c.results * sizeof *sums) != 0)
                fail_msg("size %u: %s", n, kernels->name);
            cnnvp_fx16_scratch_free(&scratch);
        }
        free(sums);
        nfu_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
