/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of a set-associative cache with the least recently used line of a set going out; data are not its business.
 * Plain C without any host.
 */
#ifndef CNNVP_CPU_CACHE_H
#define CNNVP_CPU_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "soc/cpu/rv32.h"

enum { CPU_CACHE_LINE_SHIFT = 2 };
#define CPU_CACHE_DIRTY UINT64_C(2)

struct cpu_cache {
    uint64_t *tags; /* of all sets the line used last, then the one before it, and so on: as CNNVP_RV32_LINE has them */
    uint32_t line_shift;
    uint32_t sets; /* a power of 2 */
    uint32_t ways;
};

/* What making room for a line has pushed out. */
struct cpu_evicted {
    int dirty;
    uint32_t address;
};

/* 1 if such a cache can be: lines, sets and ways fill `size` exactly, and sets are a power of 2, like line_bytes. */
int cpu_cache_possible(uint64_t size, uint32_t ways, uint32_t line_bytes);
/* 0, or -1: out of memory. The arguments are possible. fini after that. */
int cpu_cache_init(struct cpu_cache *cache, uint64_t size, uint32_t ways, uint32_t line_bytes);
void cpu_cache_fini(struct cpu_cache *cache);
void cpu_cache_empty(struct cpu_cache *cache);
/* Bits of all its tags. */
uint64_t cpu_cache_tag_bits(uint64_t size, uint32_t ways, uint32_t line_bytes);

/* 1 if that line of an address is there which its set has used last, and uses it; quick. 0: look with cpu_cache_has. */
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

/* 1 if the line of an address is there; changes nothing. */
int cpu_cache_has(const struct cpu_cache *cache, uint32_t address);
/* Uses a line that is there. */
void cpu_cache_use(struct cpu_cache *cache, uint32_t address, int writes);
/* The first dirty line from line *next of the cache on becomes clean: 1, its address, and *next is the one after it.
 * 0: there is none. */
int cpu_cache_clean(struct cpu_cache *cache, size_t *next, uint32_t *address);
/* Puts in a line that is not there, as the one used last. */
struct cpu_evicted cpu_cache_put(struct cpu_cache *cache, uint32_t address);

#endif
