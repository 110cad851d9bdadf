/* SPDX-License-Identifier: Apache-2.0 */
/* Hits, misses, lines that are written back. */
#include "cpu_case.h"
#include "random.h"

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

/* A data cache of 8 lines of 32 bytes, written again: of each line when it was used last, 0: it is not there. */
struct plain_cache {
    uint32_t sets, ways, used;
    uint32_t last[0x100]; /* by line from a0 on */
    int dirty[0x100];
    uint64_t hits, misses, write_backs;
};

static void use_line(struct plain_cache *cache, uint32_t line, int writes)
{
    uint32_t there = 0, oldest = line;
    for (uint32_t i = line % cache->sets; i < 0x100; i += cache->sets) {
        there += cache->last[i] != 0;
        if (cache->last[i] != 0 && (oldest == line || cache->last[i] < cache->last[oldest]))
            oldest = i;
    }
    if (cache->last[line] != 0) {
        ++cache->hits;
    } else {
        ++cache->misses;
        if (there == cache->ways) {
            cache->write_backs += (uint64_t)cache->dirty[oldest];
            cache->last[oldest] = 0;
        }
        cache->dirty[line] = 0;
    }
    cache->last[line] = ++cache->used;
    cache->dirty[line] |= writes;
}

/* Loads and stores of every size, aligned and not, mostly near the one before: what hits, and what memory is then. */
static void test_random_accesses(void **state)
{
    static const uint32_t loads[] = {UINT32_C(0x00054583), UINT32_C(0x00055583), LW_A1}; /* lbu, lhu, lw a1, 0(a0) */
    static const uint32_t stores[] = {UINT32_C(0x00b50023), UINT32_C(0x00b51023), SW_A1};
    uint64_t random = 1;
    (void)state;
    for (uint32_t ways = 1; ways <= 8; ways *= 2) {
        struct plain_cache cache = {.sets = 8 / ways, .ways = ways};
        struct cpu_program program = {.host = case_make(1000, 100, CACHE)};
        uint8_t memory[0x400] = {0};
        uint32_t offset = 0, a1 = 0;
        program.host->params[PARAM_dcache_ways] = ways;
        case_begin(program.host);
        case_add(&program, LUI_A0);
        for (unsigned i = 0; i < 400; ++i) {
            (void)next_state(&random);
            const uint32_t size = (uint32_t)(random >> 33) % 3, far = (uint32_t)(random >> 36) % 4 == 0,
                           step = (uint32_t)(random >> 40) % (far ? 0x300 : 24),
                           writes = (uint32_t)(random >> 56) % 3 == 0;
            offset = (offset + step) % (0x400 - 4);
            uint32_t value = 0;
            case_add(&program, UINT32_C(0x00158593)); /* addi a1, a1, 1 */
            ++a1;
            if (writes)
                case_add(&program, stores[size] | (offset & 31u) << 7 | offset >> 5 << 25);
            else
                case_add(&program, loads[size] | offset << 20);
            for (uint32_t byte = 0; byte < 1u << size; ++byte) {
                if (writes)
                    memory[offset + byte] = (uint8_t)(a1 >> 8 * byte);
                else
                    value |= (uint32_t)memory[offset + byte] << 8 * byte;
            }
            a1 = writes ? a1 : value;
            for (uint32_t line = offset / 32; line <= (offset + (1u << size) - 1u) / 32; ++line)
                use_line(&cache, line, (int)writes);
        }
        (void)case_cycles_of(&program);
        use_line(&cache, 0x1000 / 32, 1); /* tohost */
        const uint64_t *counts = program.host->counts;
        assert_int_equal(counts[STAT_dcache_hits], cache.hits);
        assert_int_equal(counts[STAT_dcache_misses], cache.misses);
        assert_int_equal(counts[STAT_write_backs], cache.write_backs);
        assert_memory_equal(program.host->ram + 0x1000, memory, sizeof memory);
        assert_true(cache.hits > 200 && cache.misses > 50 && cache.write_backs > 20);
        case_finish(program.host);
    }
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
        cmocka_unit_test(test_random_accesses),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_impossible_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
