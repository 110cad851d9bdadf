/* SPDX-License-Identifier: Apache-2.0 */
/* Reads on from row to row, by what was learned of a change and by planning each command: the same clocks and states.
 */
#include "queue_case.h"
#include "random.h"

/* Some timings are far from the parts', so that rows cannot always be opened when it would be best. */
static void open_queue(uint64_t seed, int stepwise, struct dram_queue *queue)
{
    struct dram_options options;
    struct dram_timing timing;
    char message[200];
    uint32_t wrong;
    uint64_t random = seed;
    do {
        queue_random_options(&random, &options);
        options.channels = 1;
        options.mapping = 0;
        options.scheduler = options.row_policy = 0;
        if (below(&random, 2))
            options.timings[DRAM_T_ras] = 30 + below(&random, 500);
        if (below(&random, 2))
            options.timings[DRAM_T_faw] = 20 + below(&random, 900);
        if (below(&random, 2))
            options.timings[DRAM_T_rtp] = 1 + below(&random, 40);
    } while (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) != CNNVP_OK);
    assert_int_equal(cnnvp_dram_queue_init(queue, &options, &timing), CNNVP_OK);
    queue->stepwise = stepwise;
}

/* Both ways are asked for the same clocks, often between two commands, and must be in the same state there. */
static void test_rows(void **state)
{
    (void)state;
    uint32_t learned = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; ++seed) {
        struct dram_queue judge = {.stepwise = 1}, fast = {.stepwise = 0};
        struct dram_queue *queues[2] = {&judge, &fast};
        struct cnnvp_request requests[2] = {{.op = CNNVP_READ, .burst_bytes = 64, .count = 1}};
        uint64_t random = seed * 77u;
        requests[0].address = below(&random, 1u << 24);
        requests[0].size = 30000 + below(&random, 150000);
        requests[0].outstanding = 2 + below(&random, 60);
        requests[1] = requests[0];
        for (uint32_t i = 0; i < 2; ++i) {
            open_queue(seed, i == 0, queues[i]);
            assert_int_equal(cnnvp_dram_queue_add(queues[i], &requests[i], 1000000), CNNVP_OK);
        }
        const uint64_t tck = judge.timing.tck_ps, pause = 1 + below(&random, 2000);
        for (uint64_t clock = 1000000 / tck; cnnvp_dram_queue_due(&judge) == CNNVP_TIME_NEVER;
             clock += 1 + below(&random, (uint32_t)pause)) {
            struct dram_counts counts[2];
            for (uint32_t i = 0; i < 2; ++i) {
                cnnvp_dram_queue_schedule(queues[i], clock * tck);
                cnnvp_dram_queue_counts(queues[i], &counts[i]);
            }
            assert_int_equal(queue_state(judge.channel, clock + 1u), queue_state(fast.channel, clock + 1u));
            assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
        }
        assert_int_equal(cnnvp_dram_queue_due(&judge), cnnvp_dram_queue_due(&fast));
        assert_int_equal(judge.streams[0].waited, fast.streams[0].waited);
        assert_memory_equal(&requests[0].scratch[DRAM_LATENCY], &requests[1].scratch[DRAM_LATENCY], sizeof(uint64_t));
        learned += fast.changes[0].kind.waiting != 0;
        cnnvp_dram_queue_fini(&judge);
        cnnvp_dram_queue_fini(&fast);
    }
    assert_true(learned > ROUNDS / 8u);
}

/* Two requests at a time read on where the one before ends, and each new one is in the place of that which has ended,
 * as a DMA does it. Most are short, so that rows end within all of them. Returns a digest of their ends. */
static uint64_t read_on(uint64_t seed, int stepwise)
{
    struct dram_queue queue = {.stepwise = stepwise};
    struct cnnvp_request requests[2];
    uint64_t random = seed, address = 0, digest = 0;
    cnnvp_time now = 1000000;
    open_queue(seed, stepwise, &queue);
    for (uint32_t i = 0; i < 4u * REQUESTS; ++i) {
        struct cnnvp_request *request = &requests[i % 2u];
        if (i >= 2) {
            cnnvp_dram_queue_schedule(&queue, CNNVP_TIME_NEVER);
            now = cnnvp_dram_queue_due(&queue);
            request = cnnvp_dram_queue_take(&queue);
            queue_mix(&digest, now);
            queue_mix(&digest, request->scratch[DRAM_LATENCY]);
        }
        *request = (struct cnnvp_request){
            .op = CNNVP_READ, .burst_bytes = 64, .count = 1, .outstanding = 16, .address = address, .size = 1024};
        if (i % 2u == 0)
            request->size = below(&random, 16) ? 2000 + below(&random, 3000) : 30000;
        address += request->size;
        assert_int_equal(cnnvp_dram_queue_add(&queue, request, now), CNNVP_OK);
    }
    cnnvp_dram_queue_fini(&queue);
    return digest;
}

static void test_places(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; ++seed)
        assert_int_equal(read_on(seed, 1), read_on(seed, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
