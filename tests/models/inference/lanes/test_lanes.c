/* SPDX-License-Identifier: Apache-2.0 */
/* Timing only, and registers from command to command. */
#include "window_case.h"

/* Timing-only counts what a full run counts, but for what depends on data. */
static void test_timing_only(void **state)
{
    struct pair pairs[2];
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only) {
        const struct shape shape = {16, 2, 24, timing_only, 0};
        uint64_t random = 5;
        pair_open(&pairs[timing_only], &shape);
        for (int n = 0; n < 60; ++n) {
            struct nfu_case c = random_window(&random);
            struct cnnvp_command command = command_of(&c);
            command.opcode = c.opcode == OP_CONV ? OP_vconv : OP_vpool;
            assert_true(run(&pairs[timing_only], pairs[timing_only].bench.vector, &command) > 0);
            nfu_case_free(&c);
        }
    }
    const struct cnnvp_unit *unit = &cnnvp_unit_vector;
    for (uint32_t i = 0; i < unit->stat_count; ++i)
        if (strcmp(unit->stats[i].name, "saturations") != 0)
            assert_int_equal(fake_count(pairs[0].bench.vector, unit->stats[i].name),
                             fake_count(pairs[1].bench.vector, unit->stats[i].name));
    for (int b = 0; b < 3; ++b)
        assert_memory_equal(pairs[0].bench.buffers[b]->counts, pairs[1].bench.buffers[b]->counts,
                            sizeof pairs[0].bench.buffers[b]->counts);
    assert_int_equal(pairs[0].bench.sim.now, pairs[1].bench.sim.now);
    bench_close(&pairs[0].bench);
    bench_close(&pairs[1].bench);
}

/* Commands are one after the other; a window leaves the registers of the other instructions as they are. */
static void test_registers_stay(void **state)
{
    struct pair pair;
    const struct shape shape = {16, 1, 4096, 0, 0};
    const struct vector_tile multiply = {.count = 16, .repeat = 1, .a_stride = 1, .immediate = 3};
    const struct vector_tile write = {.count = 16, .repeat = 1, .out_addr = OUT_AT};
    struct nfu_case c = nfu_case_window(OP_CONV, 2, 2, 4, 4, 3, 3, 1, 1);
    struct cnnvp_command command = command_of(&c);
    (void)state;
    pair_open(&pair, &shape);
    int16_t *const in = bench_data(&pair.bench, IN, 0);
    const int16_t *const out = bench_data(&pair.bench, OUT, 0);
    for (int16_t i = 0; i < 256; ++i)
        in[i] = (int16_t)(i + 1);
    assert_true(bench_run(&pair.bench, OP_vmac, A(IN) | B(IMM), 0, &multiply) > 0);
    command.opcode = OP_vconv;
    assert_true(run(&pair, pair.bench.vector, &command) > 0);
    assert_true(bench_run(&pair.bench, OP_vout, 0, 0, &write) > 0);
    for (int i = 0; i < 16; ++i)
        assert_int_equal(out[OUT_AT / 2 + i], 3 * (i + 1));
    bench_close(&pair.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_registers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
