/* SPDX-License-Identifier: Apache-2.0 */
/* When a row is closed. */
#include "timing_case.h"

static void test_closed_bank(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 8; ++preset) {
        struct bench *bench = begin(preset, 1, NULL);
        const uint32_t *t = bench->timing.t;
        read_at(bench, 0);
        end(bench);
        assert_int_equal(bench->result.read_clocks, t[DRAM_T_rcd] + (t[DRAM_T_wck] != 0) + t[DRAM_T_cl] + t[DRAM_T_bl]);
        assert_int_equal(bench->result.counts.misses, 1);
        done(bench);
    }
}

static void close_page(struct dram_options *options)
{
    options->page = 1;
}

/* A closed page is precharged with its last waiting access: the next row of the bank is a miss, not a conflict. */
static void test_closed_page(void **state)
{
    (void)state;
    struct bench *bench = begin(1, 1, close_page);
    for (uint32_t i = 0; i < 8; ++i)
        read_at(bench, SAME_BANK_BYTES * i);
    end(bench);
    assert_int_equal(bench->result.counts.conflicts, 0);
    assert_int_equal(bench->result.counts.misses, 8);
    assert_int_equal(bench->result.counts.commands[DRAM_PRE], 0);
    done(bench);
    bench = begin(1, 32, close_page);
    for (uint32_t i = 0; i < 8; ++i)
        read_at(bench, 64 * i);
    end(bench);
    assert_int_equal(bench->result.counts.commands[DRAM_RD], 7);
    assert_int_equal(bench->result.counts.commands[DRAM_RDA], 1);
    done(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_bank),
        cmocka_unit_test(test_closed_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
