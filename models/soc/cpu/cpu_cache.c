/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_cache.h"

#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

enum { ADDRESS_BITS = 32 };

int cpu_cache_possible(uint64_t size, uint32_t ways, uint32_t line_bytes)
{
    const uint64_t way = (uint64_t)ways * line_bytes;
    return cnnvp_is_power_of_two(line_bytes) && size % way == 0 && cnnvp_is_power_of_two(size / way);
}

int cpu_cache_init(struct cpu_cache *cache, uint64_t size, uint32_t ways, uint32_t line_bytes)
{
    *cache = (struct cpu_cache){
        .line_shift = cnnvp_log2_up(line_bytes), .sets = (uint32_t)(size / ways / line_bytes), .ways = ways};
    cache->tags = calloc((size_t)cache->sets * ways, sizeof *cache->tags);
    return cache->tags != NULL ? 0 : -1;
}

void cpu_cache_fini(struct cpu_cache *cache)
{
    free(cache->tags);
    cache->tags = NULL;
}

void cpu_cache_empty(struct cpu_cache *cache)
{
    memset(cache->tags, 0, (size_t)cache->sets * cache->ways * sizeof *cache->tags);
}

uint64_t cpu_cache_tag_bits(uint64_t size, uint32_t ways, uint32_t line_bytes)
{
    const uint32_t index = cnnvp_log2_up(size / ways);
    return size / line_bytes * (ADDRESS_BITS - index + CPU_CACHE_LINE_SHIFT);
}

static uint64_t *tag_of(const struct cpu_cache *cache, uint32_t set, uint32_t way)
{
    return cache->tags + (size_t)way * cache->sets + (set & (cache->sets - 1u));
}

static uint32_t find(const struct cpu_cache *cache, uint32_t line)
{
    uint32_t way = 0;
    while (way < cache->ways && (*tag_of(cache, line, way) & ~CPU_CACHE_DIRTY) != CNNVP_RV32_LINE(line, 0))
        ++way;
    return way;
}

int cpu_cache_has(const struct cpu_cache *cache, uint32_t address)
{
    return find(cache, address >> cache->line_shift) < cache->ways;
}

/* Makes a tag the first of its set; those before `way` move back by one. */
static void make_first(struct cpu_cache *cache, uint32_t set, uint32_t way, uint64_t tag)
{
    for (; way > 0; --way)
        *tag_of(cache, set, way) = *tag_of(cache, set, way - 1u);
    *tag_of(cache, set, 0) = tag;
}

void cpu_cache_use(struct cpu_cache *cache, uint32_t address, int writes)
{
    const uint32_t line = address >> cache->line_shift, way = find(cache, line);
    make_first(cache, line, way, *tag_of(cache, line, way) | (writes ? CPU_CACHE_DIRTY : 0));
}

int cpu_cache_clean(struct cpu_cache *cache, size_t *next, uint32_t *address)
{
    const size_t lines = (size_t)cache->sets * cache->ways;
    while (*next < lines) {
        uint64_t *tag = tag_of(cache, (uint32_t)(*next / cache->ways), (uint32_t)(*next % cache->ways));
        ++*next;
        if ((*tag & CPU_CACHE_DIRTY) == 0)
            continue;
        *tag &= ~CPU_CACHE_DIRTY;
        *address = (uint32_t)(*tag >> CPU_CACHE_LINE_SHIFT) << cache->line_shift;
        return 1;
    }
    return 0;
}

struct cpu_evicted cpu_cache_put(struct cpu_cache *cache, uint32_t address)
{
    const uint32_t line = address >> cache->line_shift;
    const uint64_t last = *tag_of(cache, line, cache->ways - 1u);
    const struct cpu_evicted evicted = {
        (last & CPU_CACHE_DIRTY) != 0, (uint32_t)(last >> CPU_CACHE_LINE_SHIFT) << cache->line_shift};
    make_first(cache, line, cache->ways - 1u, CNNVP_RV32_LINE(line, 0));
    return evicted;
}
