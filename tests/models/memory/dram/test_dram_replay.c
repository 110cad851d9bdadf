/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the platform take what the replay of their bursts takes. */
#include "dram_options.h"
#include "dram_case.h"

static uint64_t replay_end(uint32_t channels, uint32_t outstanding, const struct cnnvp_request *request)
{
    struct dram_options options;
    struct dram_timing timing;
    struct dram_replay_result result;
    char message[100];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    options.channels = channels;
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    struct dram_replay *replay = cnnvp_dram_replay_new(&options, &timing, outstanding, NULL, NULL);
    assert_non_null(replay);
    for (uint64_t i = 0; i < request->count; ++i)
        for (uint64_t k = 0; k < request->size; k += 64)
            cnnvp_dram_replay_burst(replay, request->op, i * (uint64_t)request->stride + k);
    cnnvp_dram_replay_end(replay, DRAM_NEVER, &result);
    cnnvp_dram_replay_free(replay);
    return result.clocks;
}

/* A lone requester's bursts go as the replay's, which is held against a published simulator's figures. */
static void test_as_replay(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 60; ++round) {
        const uint32_t outstanding = 1u << round % 6u, channels = 1u + round % 3u;
        struct bench *bench = bench_new("channels", channels);
        struct cnnvp_request *request =
            add(bench, 1, round & 1u ? CNNVP_WRITE : CNNVP_READ, 0, 64 * (1 + round / 10u), outstanding);
        request->stride = 64 * 17 * (1 + (int64_t)round % 5);
        request->count = ((1u << 20) - request->size) / (uint64_t)request->stride;
        send(bench, request);
        run_to_end(bench);
        assert_int_equal(bench->done[0], replay_end(channels, outstanding, request) * TCK);
        bench_free(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
