/* SPDX-License-Identifier: Apache-2.0 */
/* Which burst comes first. */
#include "timing_case.h"

static void use_fcfs(struct dram_options *options)
{
    options->scheduler = 1;
}

/* fr-fcfs lets a hit pass a burst that waits for its row; fcfs does not. */
static void test_schedulers(void **state)
{
    (void)state;
    for (uint32_t fcfs = 0; fcfs < 2; ++fcfs) {
        struct bench *bench = begin(1, 8, fcfs ? use_fcfs : NULL);
        read_at(bench, 0);
        read_at(bench, BANK_BYTES);
        read_at(bench, SAME_BANK_BYTES + BANK_BYTES);
        read_at(bench, 64);
        end(bench);
        const struct dram_issued *last = nth(bench, DRAM_RD, 3);
        assert_int_equal(last->row, fcfs ? 0 : 1);
        done(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
