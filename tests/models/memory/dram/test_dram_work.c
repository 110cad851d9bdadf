/* SPDX-License-Identifier: Apache-2.0 */
/* How calls are made has no part in what happens. */
#include "dram_case.h"

static void test_independent_of_calls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        struct bench *alone = random_run(seed, 0);
        static const cnnvp_time paces[] = {777, 833, 5000, 33333};
        for (size_t p = 0; p < 4; ++p) {
            struct bench *paced = random_run(seed, paces[p]);
            assert_memory_equal(alone->done, paced->done, sizeof alone->done);
            assert_memory_equal(alone->order, paced->order, sizeof alone->order);
            assert_memory_equal(alone->dram->counts, paced->dram->counts, sizeof alone->dram->counts);
            for (uint32_t i = 0; i < alone->count; ++i)
                assert_int_equal(alone->requests[i].first_data, paced->requests[i].first_data);
            bench_free(paced);
        }
        bench_free(alone);
    }
}

static void test_data(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    uint8_t source[300];
    uint8_t back[300] = {0};
    uint8_t row[1000];
    for (size_t i = 0; i < sizeof source; ++i)
        source[i] = (uint8_t)(i * 7u + 1u);
    struct cnnvp_request *write = add(bench, 1, CNNVP_WRITE, 1000, 30, 4);
    write->count = 10;
    write->stride = 100;
    write->data = source;
    send(bench, write);
    run_to_end(bench);
    struct cnnvp_access access = {
        .op = CNNVP_READ, .flags = CNNVP_DEBUG, .address = 1000, .data = row, .size = sizeof row};
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_OK);
    for (size_t i = 0; i < sizeof row; ++i)
        assert_int_equal(row[i], i % 100 < 30 ? source[i / 100 * 30 + i % 100] : 0);
    struct cnnvp_request *read = add(bench, 1, CNNVP_READ, 1900, 30, 4); /* last row first */
    read->count = 10;
    read->stride = -100;
    read->data = back;
    send(bench, read);
    run_to_end(bench);
    for (size_t i = 0; i < sizeof back; ++i)
        assert_int_equal(back[i], source[(9 - i / 30) * 30 + i % 30]);
    bench_free(bench);
}

/* A whole transfer costs a few calls, however long it is. */
static void test_one_call(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    uint32_t calls = 0;
    send_new(bench, 1, CNNVP_READ, 0, 1u << 20, 16);
    while (!bench->completed) {
        fake_run(&bench->sim, bench->dram->event_at[0]);
        ++calls;
    }
    assert_in_range(calls, 1, 3);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_of_calls),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_one_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
