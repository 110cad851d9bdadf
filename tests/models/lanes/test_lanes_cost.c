/* SPDX-License-Identifier: Apache-2.0 */
/* Words and cycles by closed forms. */
#include "window_case.h"

static void test_closed_forms(void **state)
{
    enum { POOL_SUM = 4, BIAS = 8, DEPTHWISE = 0x20 };
    const struct {
        struct nfu_case c;
        uint32_t status;
        struct shape shape;
        int64_t beats;
    } cases[] = {
        /* opcode, in, out, w, h, kx, ky, sx, sy; 75 results are 5 groups of 16 */
        {nfu_case_window(OP_POOL, 3, 3, 5, 5, 2, 2, 2, 2), 0, {16, 1, 4096, 0}, 5 * 4},
        {nfu_case_window(OP_POOL, 512, 512, 1, 1, 7, 7, 1, 1), POOL_SUM, {16, 1, 4096, 1}, 32 * 49},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 1, 4096, 0}, 31 * 9},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 4, 4096, 0}, 10 * 9},
        {nfu_case_window(OP_CONV, 6, 16, 10, 10, 5, 5, 1, 1), BIAS, {16, 1, 4096, 0}, 100 * 150},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct pair pair;
        struct nfu_case c = cases[i].c;
        c.status = cases[i].status;
        c.in_channel_stride = c.opcode == OP_CONV ? 1024 : 49;
        struct cnnvp_command command = command_of(&c);
        command.opcode = c.opcode == OP_CONV ? OP_vconv : OP_vpool;
        command.tag = 3;
        pair_open(&pair, &cases[i].shape);
        assert_int_equal(run(&pair, pair.bench.vector, &command), cases[i].beats + PIPELINE);
        const struct fake_span *span = &pair.bench.vector->spans[0];
        assert_string_equal(span->name, c.opcode == OP_CONV ? "vconv" : "vpool");
        assert_int_equal(span->tag, 3);
        assert_int_equal(span->end - span->begin, (uint64_t)(cases[i].beats + PIPELINE) * BENCH_CYCLE);
        bench_close(&pair.bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
