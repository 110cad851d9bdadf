/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are hit, opened and closed. */
#include "timing_case.h"

/* One read at a time: a hit takes CL + BL, another row of the bank PRE, ACT and RD, not before tRAS and tRC allow. */
static void test_hit_and_conflict(void **state)
{
    (void)state;
    struct bench *bench = begin(1, 1, NULL);
    read_at(bench, 0);
    read_at(bench, 64);
    read_at(bench, SAME_BANK_BYTES);
    end(bench);
    assert_int_equal(bench->result.read_clocks, (16 + 20) + 20 + (16 + 16 + 20));
    assert_int_equal(bench->result.counts.hits, 1);
    assert_int_equal(bench->result.counts.conflicts, 1);
    done(bench);
    bench = begin(1, 1, NULL);
    read_at(bench, 0);
    read_at(bench, SAME_BANK_BYTES);
    end(bench);
    assert_int_equal(nth(bench, DRAM_PRE, 0)->clock - nth(bench, DRAM_ACT, 0)->clock, 39);
    assert_int_equal(nth(bench, DRAM_ACT, 1)->clock - nth(bench, DRAM_ACT, 0)->clock, 55);
    done(bench);
}

/* Activations of other groups come tRRD_S apart, but only four in tFAW; with one group (ddr3) at tRRD. */
static void test_activations(void **state)
{
    (void)state;
    struct bench *bench = begin(1, 32, NULL);
    for (uint32_t i = 0; i < 16; ++i)
        read_at(bench, GROUP_BYTES * i);
    end(bench);
    for (uint32_t i = 4; i < 16; ++i)
        assert_true(nth(bench, DRAM_ACT, i)->clock - nth(bench, DRAM_ACT, i - 4)->clock >= 26);
    assert_int_equal(nth(bench, DRAM_ACT, 1)->clock - nth(bench, DRAM_ACT, 0)->clock, 4);
    assert_int_equal(nth(bench, DRAM_ACT, 4)->clock - nth(bench, DRAM_ACT, 0)->clock, 26);
    assert_int_equal(nth(bench, DRAM_ACT, 8)->clock - nth(bench, DRAM_ACT, 4)->clock, 26);
    done(bench);
    bench = begin(0, 32, NULL);
    for (uint32_t i = 0; i < 8; ++i)
        read_at(bench, ROW_BYTES * i);
    end(bench);
    assert_int_equal(nth(bench, DRAM_ACT, 1)->clock - nth(bench, DRAM_ACT, 0)->clock, 5);
    assert_int_equal(nth(bench, DRAM_ACT, 4)->clock - nth(bench, DRAM_ACT, 0)->clock, 24);
    done(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_and_conflict),
        cmocka_unit_test(test_activations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
