/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes over time against the same counted anew with the last width from the start. */

#include "test.h"

#include "over_time.h"
#include "random.h"

enum { TRANSFERS = 400 };

struct transfer {
    uint64_t begin, end, read, write;
};

static uint64_t next(uint64_t *random)
{
    return next_bits(random) >> 1;
}

/* Of `bytes` those that have moved before a time; numbers are small enough for the plain product. */
static uint64_t before(uint64_t time, const struct transfer *transfer, uint64_t bytes)
{
    if (time >= transfer->end)
        return bytes;
    return time <= transfer->begin ? 0 : bytes * (time - transfer->begin) / (transfer->end - transfer->begin);
}

static void sums_are_exact(uint64_t longest)
{
    static struct cnnvp_over_time over;
    static struct transfer transfers[TRANSFERS];
    uint64_t random = longest, read_bytes = 0, write_bytes = 0;

    memset(&over, 0, sizeof over);
    for (size_t i = 0; i < TRANSFERS; ++i) {
        struct transfer *made = &transfers[i];

        made->begin = next(&random) % longest;
        made->end = made->begin + 1 + next(&random) % (i % 3 ? 1 + longest / 100 : longest);
        made->read = i % 2 ? next(&random) % 5000 : 0;
        made->write = i % 2 ? 0 : next(&random) % 5000;
        read_bytes += made->read;
        write_bytes += made->write;
        cnnvp_over_time_add(&over, made->begin, made->end, made->read, made->write);
    }
    assert_in_range(over.count, 1, CNNVP_OVER_TIME_WINDOWS);
    for (uint64_t i = 0; i < over.count; ++i) {
        const uint64_t begin = i * over.window_ps, end = begin + over.window_ps;
        uint64_t wanted_read = 0, wanted_write = 0;

        for (size_t k = 0; k < TRANSFERS; ++k) {
            const struct transfer *moved = &transfers[k];

            wanted_read += before(end, moved, moved->read) - before(begin, moved, moved->read);
            wanted_write += before(end, moved, moved->write) - before(begin, moved, moved->write);
        }
        assert_int_equal(over.read_bytes[i], wanted_read);
        assert_int_equal(over.write_bytes[i], wanted_write);
        read_bytes -= wanted_read;
        write_bytes -= wanted_write;
    }
    assert_int_equal(read_bytes, 0);
    assert_int_equal(write_bytes, 0);
}

static void windows_grow_and_keep_sums(void **state)
{
    (void)state;
    sums_are_exact(40 * CNNVP_OVER_TIME_PS);
    sums_are_exact(200 * CNNVP_OVER_TIME_PS);
    sums_are_exact(UINT64_C(2000000000)); /* 2 ms: windows of 8 or 16 us */
}

/* Instants, a transfer of hours, the end of time. */
static void any_time_is_taken(void **state)
{
    struct cnnvp_over_time over = {0};
    uint64_t sum = 0;

    (void)state;
    cnnvp_over_time_add(&over, 0, 0, 7, 0);
    assert_int_equal(over.window_ps, CNNVP_OVER_TIME_PS);
    assert_int_equal(over.count, 1);
    cnnvp_over_time_add(&over, 5 * CNNVP_OVER_TIME_PS - 1, 5 * CNNVP_OVER_TIME_PS, 0, 9);
    assert_int_equal(over.count, 5);
    assert_int_equal(over.write_bytes[4], 9);
    cnnvp_over_time_add(&over, 1000, UINT64_C(20000000000000000), 1000003, 0);
    assert_int_equal(over.window_ps, CNNVP_OVER_TIME_PS << 27);
    cnnvp_over_time_add(&over, UINT64_MAX - 5, UINT64_MAX, 11, 0);
    for (size_t i = 0; i < CNNVP_OVER_TIME_WINDOWS; ++i)
        sum += over.read_bytes[i];
    assert_int_equal(sum, 7 + 1000003 + 11);
    assert_in_range(over.count, 128, CNNVP_OVER_TIME_WINDOWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_grow_and_keep_sums),
        cmocka_unit_test(any_time_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
