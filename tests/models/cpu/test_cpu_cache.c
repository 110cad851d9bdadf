/* SPDX-License-Identifier: Apache-2.0 */
/* Hits, misses, lines that are written back. */
#include "cpu_case.h"

/* 4 lines of 32 bytes in the data cache of one way: addresses 256 bytes apart share one. */
static void test_caches(void **state)
{
    struct cpu_program program = {.host = case_begin(case_make(1000, 100, CACHE))};
    (void)state;
    case_add(&program, LUI_A0);
    case_add(&program, LW_A1);     /* miss */
    case_add(&program, SW_A1_4);   /* hit, dirty */
    case_add(&program, LW_A1_64);  /* miss */
    case_add(&program, LW_A1_256); /* miss, writes back the first */
    case_add(&program, LW_A1);     /* miss */
    case_add(&program, LW_A1_64);  /* hit */
    (void)case_cycles_of(&program);
    const uint64_t *counts = program.host->counts;
    assert_int_equal(counts[STAT_dcache_misses], 5); /* with tohost's, which is in the first line's set */
    assert_int_equal(counts[STAT_dcache_hits], 2);
    assert_int_equal(counts[STAT_write_backs], 1);
    assert_int_equal(counts[STAT_icache_misses], 2); /* 10 instructions of 4 bytes */
    assert_int_equal(counts[STAT_fills], 7);
    assert_int_equal(program.host->request_bytes[CNNVP_READ], 7 * 32);
    assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 32);
    assert_int_equal(counts[STAT_sram_bytes], 7 * 4 + 8 * 32);
    case_finish(program.host);
}

/* fence.i writes dirty lines back, once, and waits for that; code is fetched anew, data stay. */
static void test_fence(void **state)
{
    const uint64_t write = 83; /* cycles, see test_past_tcm */
    uint64_t cycles[2];
    (void)state;
    for (unsigned fences = 0; fences < 2; ++fences) {
        struct cpu_program program = {.host = case_begin(case_make(1000, 100, CACHE))};
        case_add(&program, LUI_A0);
        case_add(&program, LW_A1);   /* miss */
        case_add(&program, SW_A1_4); /* hit, dirty */
        for (unsigned i = 0; i < 2; ++i)
            case_add(&program, fences ? FENCE_I : BNE);
        case_add(&program, LW_A1); /* hit */
        cycles[fences] = case_cycles_of(&program);
        const uint64_t *counts = program.host->counts;
        assert_int_equal(counts[STAT_dcache_misses], 2); /* with tohost's, in the same set */
        assert_int_equal(counts[STAT_dcache_hits], 2);
        assert_int_equal(counts[STAT_write_backs], 1); /* by fence.i, or for tohost's line */
        assert_int_equal(counts[STAT_icache_misses], fences ? 4 : 2);
        assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 32);
        case_finish(program.host);
    }
    assert_true(cycles[1] > cycles[0] + write);
}

static void test_impossible_cache(void **state)
{
    struct cnnvp_host *h = case_make(1000, 100, CACHE);
    (void)state;
    h->params[PARAM_dcache_size] = 384;
    assert_int_equal(case_init(h), CNNVP_E_INVAL);
    assert_int_equal(h->errors, PARAM_dcache_size);
    free(h->self);
    free(h->ram);
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_impossible_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
