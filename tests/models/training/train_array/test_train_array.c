/* SPDX-License-Identifier: Apache-2.0 */
/* * The PE module as a unit between real buffers, on a host without SystemC: commands, time, statistics, spans, links,
 * and what a guest can write into a descriptor. */
#include "train_rig.h"

/* A buffer of so many banks and words a cycle, late by `late` in every `every` compute cycles. */
struct narrow_port {
    uint32_t opcode;
    uint32_t port;
    uint64_t banks, width;
    uint64_t every, late;
};

/* It lengthens the command by what its buffer says, whichever edge of the clock it begins at. */
static void check_port_stall(const struct narrow_port *narrow, uint64_t edge)
{
    static const char *const stats[] = {"input_port_cycles", "weight_port_cycles", "output_port_cycles"};
    struct array_rig b;
    uint64_t random = 13;
    struct train_case c = layer(narrow->opcode);
    cnnvp_time delay = 0;
    c.second_exp_out = 0;
    c.h = c.w = c.oh = c.ow = 4;
    c.kx = c.ky = 3;
    c.px = c.py = 1;
    begin(&b, 700, 0);
    struct cnnvp_host *const buffers[] = {b.input, b.weight, b.output};
    fake_set(buffers[narrow->port], "banks", narrow->banks);
    fake_set(buffers[narrow->port], "width_words", narrow->width);
    array_rig_start(&b);
    train_case_fill(&c, &random, false, false);
    load(&b, &c, 0);
    fake_run(&b.sim, cnnvp_edge_time(700, edge));
    assert_int_equal(array_rig_send(&b, &c.command, &delay), CNNVP_OK);
    const uint64_t compute = fake_count(b.array, "compute_cycles");
    const uint64_t others = fake_count(b.array, "fill_cycles") + fake_count(b.array, "writeout_cycles");
    const uint64_t stall = compute / narrow->every * narrow->late;
    assert_int_equal(fake_count(b.array, stats[narrow->port]), stall);
    assert_int_equal(fake_count(b.array, "busy_cycles"), compute + others + stall);
    assert_int_equal(delay, cnnvp_edge_time(700, edge + compute + others + stall) - cnnvp_edge_time(700, edge));
    train_case_free(&c);
    array_rig_end(&b);
}

/*
 * Maps that are read side by side, three rows of each: one for each of four arrays; errors, one for each of 32 columns;
 * weights, one for each PE of an array, in three clocks of a kernel, each of which has the 16 cycles that a tap takes.
 * Sums leave 128 columns, every third cycle, or of a gradient in three clocks of a kernel column, 16 / 3 cycles each.
 * Of five images a fifth is alone: two groups, of 12 mantissas a cycle and of 3.
 */
static void test_port_stall(void **state)
{
    enum { WIDE = 4096 };
    static const struct narrow_port ports[] = {
        {T_GRADIENT, 0, 12, WIDE, 1, 0}, {T_GRADIENT, 0, 11, WIDE, 1, 1},  {T_GRADIENT, 1, 32, WIDE, 1, 0},
        {T_GRADIENT, 1, 31, WIDE, 1, 1}, {T_FORWARD, 0, 12, WIDE, 1, 0},   {T_FORWARD, 0, 4, WIDE, 1, 2},
        {T_FORWARD, 0, 12, 2, 2, 2},     {T_GRADIENT, 2, 26, WIDE, 16, 0}, {T_GRADIENT, 2, 16, WIDE, 16, 3 * 3},
        {T_FORWARD, 2, 128, WIDE, 1, 0}, {T_FORWARD, 2, 32, WIDE, 3, 1},   {T_FORWARD, 1, 6, WIDE, 1, 0},
        {T_FORWARD, 1, 2, WIDE, 16, 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; ++i)
        for (uint64_t edge = 0; edge < 7; ++edge)
            check_port_stall(&ports[i], edge);
}

/* Sums are read back and written side by side, each on a port of its own: the slower one counts, here the read, which
 * waits for the buffer's latency. */
static void test_latency(void **state)
{
    uint64_t random = 14;
    struct array_rig b;
    struct train_case c = layer(T_FORWARD);
    (void)state;
    begin(&b, 200, 0);
    fake_set(b.output, "latency", 5);
    fake_set(b.output, "banks", 1024);
    array_rig_start(&b);
    train_case_fill(&c, &random, false, false);
    load(&b, &c, 0);
    assert_int_equal(array_rig_send(&b, &c.command, NULL), CNNVP_OK);
    assert_int_equal(fake_count(b.array, "output_port_cycles"), 5);
    train_case_free(&c);
    array_rig_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port_stall),
        cmocka_unit_test(test_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
