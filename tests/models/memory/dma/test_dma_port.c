/* SPDX-License-Identifier: Apache-2.0 */
/* The port to the buffers: how many bytes a cycle, and whose turn it is. */
#include "dma_case.h"

/* A buffer port narrower than the DMA's lengthens the transfer. */
static void test_narrow_port(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 512);
    (void)state;
    set_up(&f, 0);
    f.buffers[INPUT] = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.buffers[INPUT], "size", 2u * HALF);
    fake_set(f.buffers[INPUT], "width_words", 4); /* 8 bytes a cycle */
    assert_int_equal(fake_start(f.buffers[INPUT]), CNNVP_OK);
    fake_connect(f.dma, "input", f.buffers[INPUT], "port");
    assert_int_equal(fake_start(f.dma), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done[0].at, 1064 * CYCLE);
    cnnvp_time delay = 0;
    const struct tile move_tile = flat(0, 0, 512);
    struct cnnvp_command move = make(&f, OP_move, INPUT | OUTPUT << 2, 0, &move_tile);
    assert_int_equal(issue_command(&f, &move, &delay), CNNVP_OK);
    assert_int_equal(delay, 64 * CYCLE);
    assert_int_equal(fake_count(f.buffers[INPUT], "port_conflict_cycles"), 96);
    close_dma(&f);
}

/* A receive and a store of 512 cycles of the port, the store 0 or more cycles after the receive, whose data are there.
 */
static void test_one_port(void **state)
{
    enum { SEPARATE, ROUND_ROBIN, PRIORITY, WEIGHTED };
    static const struct {
        uint64_t arbiter, receive_share, store_share, later, receive_cycles, store_cycles, wait;
    } cases[] = {
        {SEPARATE, 1, 1, 0, 512, 512, 0},
        {ROUND_ROBIN, 1, 1, 0, 1023, 1024, 1023},
        {ROUND_ROBIN, 5, 1, 100, 923, 1024, 823}, /* 412 of the receive's are left when the store comes */
        {ROUND_ROBIN, 1, 1, 512, 512, 1024, 0},
        {PRIORITY, 2, 1, 0, 512, 1024, 512},
        {PRIORITY, 1, 2, 0, 1024, 512, 512},
        {PRIORITY, 1, 2, 100, 1024, 612, 512},
        {PRIORITY, 3, 3, 0, 1023, 1024, 1023},
        {WEIGHTED, 3, 1, 0, 683, 1024, 683}, /* 171 of the store's among them */
        {WEIGHTED, 1, 3, 0, 1024, 683, 683},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct fixture f;
        const struct tile in = flat(BASE, 0, 1024);
        const struct tile out = flat(BASE + 8192, 0, 1024);
        set_up(&f, 0);
        fake_set(f.dma, "port_bytes", 2);
        fake_set(f.dma, "arbiter", cases[i].arbiter);
        fake_set(f.dma, "receive_share", cases[i].receive_share);
        fake_set(f.dma, "store_share", cases[i].store_share);
        assert_int_equal(fake_start(f.dma), CNNVP_OK);
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &in), CNNVP_OK);
        fake_run(&f.sim, 1000 * CYCLE);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        fake_run(&f.sim, (1000 + cases[i].later) * CYCLE);
        assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &out), CNNVP_PENDING);
        fake_run(&f.sim, 9000 * CYCLE);
        assert_int_equal(f.done_count, 2);
        for (uint32_t d = 0; d < 2; ++d)
            assert_int_equal(
                f.done[d].at,
                (1000 + (f.done[d].sequence == 2 ? cases[i].receive_cycles : cases[i].store_cycles)) * CYCLE);
        assert_int_equal(fake_count(f.dma, "port_wait_cycles"), cases[i].wait);
        assert_memory_equal(half_data(&f, INPUT, 0), f.sim.memory, 1024);
        close_dma(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow_port),
        cmocka_unit_test(test_one_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
