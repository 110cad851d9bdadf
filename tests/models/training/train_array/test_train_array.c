/* SPDX-License-Identifier: Apache-2.0 */
/* * The PE module as a unit between real buffers, on a host without SystemC: commands, time, statistics, spans, links,
 * and what a guest can write into a descriptor. */
#include "train_rig.h"

/* A narrow port of this many banks, in which the addresses of a cycle take so many turns. */
struct narrow_port {
    uint32_t opcode;
    uint32_t port;
    uint64_t banks, turns;
};

/* It lengthens the command by what its buffer says, whichever edge of the clock it begins at. */
static void check_port_stall(const struct narrow_port *narrow, uint64_t edge)
{
    static const char *const stats[] = {"input_port_cycles", "weight_port_cycles", "output_port_cycles"};
    static const char *const words[] = {"input_words", "weight_words", "output_words"};
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
    for (uint32_t port = 0; port < 3u; ++port)
        fake_set(buffers[port], "banks", 1024);
    fake_set(buffers[narrow->port], "banks", narrow->banks);
    fake_set(buffers[narrow->port], "width_words", 1);
    array_rig_start(&b);
    train_case_fill(&c, &random, false, false);
    load(&b, &c, 0);
    fake_run(&b.sim, cnnvp_edge_time(700, edge));
    assert_int_equal(array_rig_send(&b, &c.command, &delay), CNNVP_OK);
    const uint64_t compute = fake_count(b.array, "compute_cycles");
    const uint64_t others = fake_count(b.array, "fill_cycles") + fake_count(b.array, "writeout_cycles");
    const uint64_t spread = compute + (narrow->port == 2u ? fake_count(b.array, "writeout_cycles") : 0);
    /* of mantissas two go into a 16-bit word, of sums each takes two */
    const uint64_t crossed = fake_count(b.array, words[narrow->port]);
    const uint64_t needed = (narrow->port == 2u ? 2u * crossed : (crossed + 1u) / 2u) * narrow->turns;
    const uint64_t stall = needed > spread ? needed - spread : 0;
    assert_int_equal(fake_count(b.array, stats[narrow->port]), stall);
    assert_int_equal(fake_count(b.array, "busy_cycles"), compute + others + stall);
    assert_int_equal(delay, cnnvp_edge_time(700, edge + compute + others + stall) - cnnvp_edge_time(700, edge));
    train_case_free(&c);
    array_rig_end(&b);
}

/* Maps that are read side by side, three rows of each: one for each of four arrays; of errors one for each of 32
 * columns, and of weights one for each PE of an array. Sums leave 128 columns. */
static void test_port_stall(void **state)
{
    static const struct narrow_port ports[] = {
        {T_GRADIENT, 0, 12, 1}, {T_GRADIENT, 0, 11, 2}, {T_GRADIENT, 1, 96, 1},  {T_GRADIENT, 1, 95, 2},
        {T_FORWARD, 0, 12, 1},  {T_FORWARD, 0, 4, 3},   {T_GRADIENT, 2, 128, 1}, {T_FORWARD, 2, 127, 2},
        {T_FORWARD, 1, 96, 1},  {T_FORWARD, 1, 95, 2},
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
