/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_cache.h"

#include <stdlib.h>
#include <string.h>

enum { ADDRESS_BITS = 32 };

static int is_power_of_2(uint64_t n)
{
    return n != 0 && (n & (n - 1u)) == 0;
}

static uint32_t log_2(uint64_t power)
{
    uint32_t n = 0;
    while (power >> n > 1u)
        ++n;
    return n;
}

int cpu_cache_possible(uint64_t size, uint32_t ways, uint32_t line_bytes)
{
    const uint64_t way = (uint64_t)ways * line_bytes;
    return is_power_of_2(line_bytes) && size % way == 0 && is_power_of_2(size / way);
}

int cpu_cache_init(struct cpu_cache *cache, uint64_t size, uint32_t ways, uint32_t line_bytes)
{
    *cache =
        (struct cpu_cache){.line_shift = log_2(line_bytes), .sets = (uint32_t)(size / ways / line_bytes), .ways = ways};
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
    const uint32_t index = log_2(size / ways);
    return size / line_bytes * (ADDRESS_BITS - index + CPU_CACHE_LINE_SHIFT);
}

static uint64_t *set_of(const struct cpu_cache *cache, uint32_t line)
{
    return cache->tags + (size_t)(line & (cache->sets - 1u)) * cache->ways;
}

static uint32_t find(const struct cpu_cache *cache, const uint64_t *set, uint32_t line)
{
    const uint64_t wanted = (uint64_t)line << CPU_CACHE_LINE_SHIFT | CPU_CACHE_THERE;
    uint32_t way = 0;
    while (way < cache->ways && (set[way] & ~(uint64_t)CPU_CACHE_DIRTY) != wanted)
        ++way;
    return way;
}

int cpu_cache_has(const struct cpu_cache *cache, uint32_t address)
{
    const uint32_t line = address >> cache->line_shift;
    return find(cache, set_of(cache, line), line) < cache->ways;
}

/* Moves set[way] to the front. */
static void make_first(uint64_t *set, uint32_t way)
{
    const uint64_t tag = set[way];
    for (; way > 0; --way)
        set[way] = set[way - 1u];
    set[0] = tag;
}

void cpu_cache_use(struct cpu_cache *cache, uint32_t address, int writes)
{
    const uint32_t line = address >> cache->line_shift;
    uint64_t *set = set_of(cache, line);
    make_first(set, find(cache, set, line));
    if (writes)
        set[0] |= CPU_CACHE_DIRTY;
}

int cpu_cache_clean(struct cpu_cache *cache, size_t *next, uint32_t *address)
{
    const size_t lines = (size_t)cache->sets * cache->ways;
    while (*next < lines) {
        uint64_t *tag = &cache->tags[(*next)++];
        if ((*tag & CPU_CACHE_DIRTY) == 0)
            continue;
        *tag &= ~(uint64_t)CPU_CACHE_DIRTY;
        *address = (uint32_t)(*tag >> CPU_CACHE_LINE_SHIFT) << cache->line_shift;
        return 1;
    }
    return 0;
}

struct cpu_evicted cpu_cache_put(struct cpu_cache *cache, uint32_t address)
{
    const uint32_t line = address >> cache->line_shift;
    uint64_t *set = set_of(cache, line);
    const uint64_t last = set[cache->ways - 1u];
    const struct cpu_evicted evicted = {
        (last & CPU_CACHE_DIRTY) != 0, (uint32_t)(last >> CPU_CACHE_LINE_SHIFT) << cache->line_shift};
    set[cache->ways - 1u] = (uint64_t)line << CPU_CACHE_LINE_SHIFT | CPU_CACHE_THERE;
    make_first(set, cache->ways - 1u);
    return evicted;
}
