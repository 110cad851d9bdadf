/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of a set-associative cache with least-recently-used replacement; it holds no data. Plain C, host-free.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "soc/cpu/rv32.h"

enum { CPU_CACHE_LINE_SHIFT = 2 };
#define CPU_CACHE_DIRTY UINT64_C(2)

struct cpu_cache {
    uint64_t *tags; /* newest line of each set first, then the next of each set; entries as CNNVP_RV32_LINE */
    uint32_t line_shift;
    uint32_t sets; /* a power of 2 */
    uint32_t ways;
};

/* The line that another one has replaced. */
struct cpu_evicted {
    int dirty;
    uint32_t address;
};

/* 1 if such a cache is possible: lines, sets and ways fill `size` exactly, and sets and line_bytes are powers of 2. */
int cpu_cache_possible(uint64_t size, uint32_t ways, uint32_t line_bytes);
/* Returns 0, or -1 if out of memory. The arguments must be possible. Call fini in any case. */
int cpu_cache_init(struct cpu_cache *cache, uint64_t size, uint32_t ways, uint32_t line_bytes);
void cpu_cache_fini(struct cpu_cache *cache);
void cpu_cache_empty(struct cpu_cache *cache);
/* Bits of all tags of such a cache. */
uint64_t cpu_cache_tag_bits(uint64_t size, uint32_t ways, uint32_t line_bytes);

/* Fast path: 1 if the line of an address is the most recently used of its set; uses it. 0: look with cpu_cache_has. */
static inline int cpu_cache_again(struct cpu_cache *cache, uint32_t address, int writes)
{
    const uint32_t line = address >> cache->line_shift;
    uint64_t *first = &cache->tags[line & (cache->sets - 1u)];
    if ((*first | CPU_CACHE_DIRTY) != CNNVP_RV32_LINE(line, 1))
        return 0;
    if (writes)
        *first |= CPU_CACHE_DIRTY;
    return 1;
}

/* 1 if the line of an address is present; changes nothing. */
int cpu_cache_has(const struct cpu_cache *cache, uint32_t address);
/* Uses a line that is present. */
void cpu_cache_use(struct cpu_cache *cache, uint32_t address, int writes);
/* Cleans the first dirty line from line *next of the cache on: returns 1 and its address, and *next is the line after
 * it. Returns 0 if there is none. */
int cpu_cache_clean(struct cpu_cache *cache, size_t *next, uint32_t *address);
/* Inserts a line that is not present, as the most recently used of its set. */
struct cpu_evicted cpu_cache_put(struct cpu_cache *cache, uint32_t address);
