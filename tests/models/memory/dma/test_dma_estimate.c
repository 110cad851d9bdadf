/* SPDX-License-Identifier: Apache-2.0 */
/* What a lone transfer is said to take, against what it takes, and where a memory says nothing. */
#include "dma_case.h"

static cnnvp_time estimate(struct fixture *f, uint32_t opcode, uint32_t status, const struct tile *tile, int expected)
{
    struct cnnvp_command command = make(f, opcode, status, 0, tile);
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .flags = CNNVP_ESTIMATE, .data = &command, .size = sizeof command};
    assert_int_equal(fake_access(f->dma, "command", &access), expected);
    return access.delay;
}

/* A request with its receive, or a store. */
static cnnvp_time take(struct fixture *f, uint32_t opcode, uint32_t status, const struct tile *tile)
{
    if (opcode == OP_receive)
        assert_int_equal(issue(f, OP_request, status, 0, tile), CNNVP_OK);
    assert_int_equal(issue(f, opcode, status, 0, opcode == OP_receive ? NULL : tile), CNNVP_PENDING);
    fake_run(&f->sim, 100000 * CYCLE);
    assert_int_equal(f->done_count, 1);
    return f->done[0].at;
}

/* By the memory (8 bytes a cycle, after 50 cycles) or by ports of `port_bytes`, as asked before and as it happens. */
static void check(uint32_t opcode, uint64_t port_bytes, const struct tile *tile, uint64_t cycles)
{
    const uint32_t status = opcode == OP_store ? OUTPUT : WEIGHT;
    struct fixture f;
    set_up(&f, 0);
    fake_set(f.dma, "port_bytes", port_bytes);
    assert_int_equal(fake_start(f.dma), CNNVP_OK);
    assert_int_equal(estimate(&f, OP_request, status, tile, CNNVP_OK), CYCLE);
    assert_int_equal(estimate(&f, opcode, status, tile, CNNVP_OK), cycles * CYCLE);
    assert_int_equal(f.sim.record_count, 0);
    assert_int_equal(take(&f, opcode, status, tile), cycles * CYCLE);
    close_dma(&f);
}

static void test_as_transfers(void **state)
{
    const struct tile line = flat(BASE, 0, 512);
    const struct tile rows = {BASE, 0, 32, 8, 64, 32, 1, 0, 0, 0};
    (void)state;
    check(OP_receive, 32, &line, 50 + 64);
    check(OP_store, 32, &line, 50 + 64);
    check(OP_receive, 2, &line, 256);
    check(OP_store, 2, &line, 256);
    check(OP_receive, 32, &rows, 50 + 32);
}

/* Planes follow each other: 50 cycles of latency come once. */
static void test_planes(void **state)
{
    const struct tile planes = {BASE, 0, 32, 4, 64, 32, 3, 4096, 128, 0};
    struct fixture f;
    (void)state;
    open_dma(&f, 0);
    assert_int_equal(estimate(&f, OP_receive, WEIGHT, &planes, CNNVP_OK), (50 + 3 * 16) * CYCLE);
    assert_int_equal(take(&f, OP_receive, WEIGHT, &planes), (50 + 3 * 16) * CYCLE);
    close_dma(&f);
}

/* Those that lie interleaved cross the port as slowly as their words are turned, and as the buffer takes them. */
static void test_interleaved_planes(void **state)
{
    const struct tile planes = {BASE, 0, 32, 4, 128, 32, 4, 4096, 128, 0};
    (void)state;
    for (uint32_t opcode = OP_receive; opcode <= OP_store; ++opcode)
        for (uint64_t banks = 1; banks <= 16; banks *= 4) {
            struct fixture f;
            const uint32_t buffer = opcode == OP_store ? OUTPUT : WEIGHT;
            set_up(&f, 1);
            fake_set(f.dma, "transpose_words", 4);
            fake_set(f.buffers[buffer], "banks", banks);
            assert_int_equal(fake_start(f.buffers[buffer]), CNNVP_OK);
            assert_int_equal(fake_start(f.dma), CNNVP_OK);
            struct cnnvp_command command = make(&f, opcode, buffer, 0, &planes);
            command.immediate = 4;
            struct cnnvp_access asked = {
                .op = CNNVP_COMMAND, .flags = CNNVP_ESTIMATE, .data = &command, .size = sizeof command};
            assert_int_equal(fake_access(f.dma, "command", &asked), CNNVP_OK);
            if (opcode == OP_receive)
                assert_int_equal(issue_interleaved(&f, OP_request, buffer, 4, &planes), CNNVP_OK);
            assert_int_equal(issue_command(&f, &command, NULL), CNNVP_PENDING);
            fake_run(&f.sim, 100000 * CYCLE);
            assert_int_equal(f.done_count, 1);
            assert_int_equal(f.done[0].at, asked.delay);
            assert_true(asked.delay >= (banks == 1 ? 256 : 64) * CYCLE);
            close_dma(&f);
        }
}

/* As long as all bursts take, those of planes with few of them, too. */
static void test_planes_of_bursts(void **state)
{
    const struct tile planes = {BASE, 0, 28, 2, 64, 28, 3, 4096, 56, 0};
    struct fixture f;
    (void)state;
    open_dma(&f, 0);
    f.sim.memory_burst = 64;
    assert_int_equal(estimate(&f, OP_receive, WEIGHT, &planes, CNNVP_OK), (50 + 3 * 2 * 8) * CYCLE);
    close_dma(&f);
}

/* Where the memory says nothing only the ports count, and a range that no half has is refused. */
static void test_ports_alone(void **state)
{
    const struct tile line = flat(BASE, 0, 512), outside = flat(BASE, HALF - 256, 512);
    struct fixture f;
    (void)state;
    open_dma(&f, 0);
    f.sim.memory_says_nothing = 1;
    assert_int_equal(estimate(&f, OP_receive, WEIGHT, &line, CNNVP_OK), 512 / 32 * CYCLE);
    assert_int_equal(estimate(&f, OP_store, OUTPUT, &line, CNNVP_OK), 512 / 32 * CYCLE);
    assert_int_equal(estimate(&f, OP_receive, WEIGHT, &outside, CNNVP_E_ADDR), 0);
    assert_int_equal(estimate(&f, OP_receive, WEIGHT, NULL, CNNVP_E_INVAL), 0); /* no byte */
    close_dma(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_transfers), cmocka_unit_test(test_planes), cmocka_unit_test(test_interleaved_planes),
        cmocka_unit_test(test_planes_of_bursts), cmocka_unit_test(test_ports_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
