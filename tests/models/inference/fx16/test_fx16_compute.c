/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a map from one command to the next. Random commands are in the tests of arrays. */
#include "cnnvp_fx16.h"
#include "nfu_case.h"

#include "test.h"

/* Commands on one map, a word of which changes now and then, with other weights each. */
static void test_same_map(void **state)
{
    static const struct {
        uint32_t in, h, k, s;
    } sizes[] = {{9, 4, 3, 1}, {6, 3, 3, 2}, {5, 9, 3, 1}, {300, 20, 1, 1}, {4, 7, 3, 2}, {9, 4, 3, 1}};
    uint64_t random = 41;
    struct cnnvp_fx16_scratch scratch = {0};
    (void)state;
    for (uint32_t n = 0; n < sizeof sizes / sizeof sizes[0]; ++n) {
        struct nfu_case c = nfu_case_window(
            OP_CONV, sizes[n].in, 3, sizes[n].h, sizes[n].h, sizes[n].k, sizes[n].k, sizes[n].s, sizes[n].s);
        c.in_channel_stride = 0; /* channels follow each other */
        nfu_case_data(&c, &random);
        const struct cnnvp_fx16_tile tile = nfu_case_tile(&c);
        int64_t *sums = calloc(c.results, sizeof *sums);
        assert_non_null(sums);
        const struct cnnvp_fx16_data data = {.input = c.input, .weights = c.weights, .bias = c.bias, .sums = sums};
        for (uint64_t i = 0; i < 40u; ++i) {
            const uint64_t word = i % 4u == 0 ? c.input_words - 1u : i * 97u % c.input_words;
            c.weights[i * 31u % c.weight_words] ^= 0x1234;
            if (i % 3u != 0)
                c.input[word] ^= (int16_t)(1u << i % 15u);
            nfu_case_expect(&c, 48);
            assert_int_equal(cnnvp_fx16_compute(48, &tile, &data, &scratch), CNNVP_OK);
            assert_memory_equal(sums, c.sums, c.results * sizeof *sums);
        }
        free(sums);
        nfu_case_free(&c);
    }
    cnnvp_fx16_scratch_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
