/* SPDX-License-Identifier: Apache-2.0 */
/* Which requester comes next. */
#include "dram_case.h"

#define PORT_PS 8000u /* that a burst takes of 8 bytes at 1000 MHz; the part takes 3332 */
#define EACH 240u

/* Requesters 0, whose name is dram here, and 1 read EACH bursts each, of different rows, all sent at once. */
static struct bench *compete(const char *which, const char *shares)
{
    struct bench *bench = bench_port(8, 1000, which, shares);
    send_new(bench, 1, CNNVP_READ, 1u << 18, EACH * 64u, EACH);
    send_new(bench, 0, CNNVP_READ, 0, EACH * 64u, EACH);
    run_to_end(bench);
    bench->dram->unit->flush(bench->dram->self);
    return bench;
}

/* From the last burst's turn at the port, the `turns`th, to its data: at least the part's, at most two rows more. */
static void check_turns(const struct bench *bench, size_t request, uint64_t turns)
{
    const uint64_t port = (turns - 1u) * PORT_PS, least = (CL + BL) * TCK, most = 4u * (RCD + CL + BL) * TCK;
    assert_in_range(bench->done[request], port + least, port + most);
}

/* Sum of what bursts wait for the port that have these turns, the first, each step'th; entering is a clock later at
 * most, and may be one sooner. */
static void check_waits(const struct bench *bench, uint32_t requester, uint64_t first, uint64_t step)
{
    const uint64_t sum = EACH * (first - 1u) * PORT_PS + step * PORT_PS * (EACH * (EACH - 1u) / 2u);
    assert_in_range(fake_requester_count(bench->dram, "wait_ps", requester), sum - EACH * TCK, sum + 2u * EACH * TCK);
}

static void test_arbiters(void **state)
{
    (void)state;
    /* by turns: both end together, and each waits for every other turn */
    struct bench *bench = compete("round-robin", "dram=64");
    check_turns(bench, 1, 2u * EACH - 1u);
    check_turns(bench, 0, 2u * EACH);
    check_waits(bench, 0, 1, 2);
    check_waits(bench, 1, 2, 2);
    assert_int_equal(fake_count(bench->dram, "wait_ps"),
                     fake_requester_count(bench->dram, "wait_ps", 0) + fake_requester_count(bench->dram, "wait_ps", 1));
    bench_free(bench);
    /* one after the other */
    bench = compete("priority", "dram=2");
    check_turns(bench, 1, EACH);
    check_turns(bench, 0, 2u * EACH);
    check_waits(bench, 0, 1, 1);
    check_waits(bench, 1, EACH + 1u, 1);
    bench_free(bench);
    /* three of four turns: it has all of its own when the other has a third of them */
    bench = compete("weighted", "dram=3");
    check_turns(bench, 1, EACH + EACH / 3u);
    check_turns(bench, 0, 2u * EACH);
    bench_free(bench);
    bench = compete("weighted", "");
    check_turns(bench, 1, 2u * EACH - 1u);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arbiters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
