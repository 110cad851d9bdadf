/* SPDX-License-Identifier: Apache-2.0 */
/* State of a profile, shared by profile.c, profile_file.c and profile_functions.c. */
#pragma once

#include "profile.h"

enum { PROFILE_DEPTH = 4096, PROFILE_PAGE_COSTS = CNNVP_PROFILE_PAGE / 2 };

/* What pages and arcs are found by: a page by its address, an arc by both ends. */
struct profile_key {
    uint32_t from, to; /* to: 0 for a page */
};

struct profile_page {
    struct profile_key key;
    struct cnnvp_core_cost costs[PROFILE_PAGE_COSTS];
};

/* Calls from one instruction to one function. */
struct profile_arc {
    struct profile_key key;
    uint64_t calls;
    struct cnnvp_core_cost cost; /* everything until the calls returned */
};

/* Computed from pages and arcs on demand. */
struct profile_function {
    uint32_t begin;
    const char *name; /* NULL: unknown */
    const char *file; /* NULL: unknown */
    uint32_t line;
    uint64_t calls;
    struct cnnvp_core_cost cost; /* own cost, without calls */
};

struct cnnvp_profile {
    struct cnnvp_profiler profiler;
    char *file;
    const char *program;
    const struct cnnvp_symbols *symbols; /* NULL: no program yet */
    void *page_tree, *arc_tree;          /* of tsearch() */
    struct profile_page **pages;
    struct profile_arc **arcs;
    uint32_t page_count, arc_count;
    struct profile_function *functions; /* sorted by begin; NULL: not computed yet */
    size_t function_count;
    char (*addresses)[16]; /* names of functions without a symbol */
    struct {
        struct profile_arc *arc;
        struct cnnvp_core_cost begin;
    } stack[PROFILE_DEPTH];
    uint32_t depth, beyond;     /* open calls, and calls beyond the stack's capacity */
    struct cnnvp_core_cost all; /* total cost, set when the profile is closed */
    int out_of_memory;
    int closed;  /* recording has ended */
    int written; /* written, or writing has failed */
};

/* Columns of the file: the core's cycles, and what it did in them. */
#define PROFILE_EVENTS(EVENT)                                                     \
    EVENT(cycles, "Cycles", "cycles of the core")                                 \
    EVENT(instructions, "Instructions", "instructions retired")                   \
    EVENT(stalls, "Stalls", "cycles that accesses to devices and memory stalled") \
    EVENT(sleep, "Sleep", "cycles asleep")

void cnnvp_profile_add(struct cnnvp_core_cost *sum, const struct cnnvp_core_cost *cost);
/* Compares the keys of two pages or arcs. */
int cnnvp_profile_by_key(const void *a, const void *b);
/* 1 if any cost was counted. */
int cnnvp_profile_is_cost(const struct cnnvp_core_cost *cost);
/* Closes the profile: ends open calls, sorts pages and arcs (by `from`, then by `to`), and computes the functions.
 * Returns 0, or -1 if out of memory. */
int cnnvp_profile_make_functions(struct cnnvp_profile *profile);
/* The function that contains an address, which must have a cost or be the target of an arc. */
struct profile_function *cnnvp_profile_function_at(const struct cnnvp_profile *profile, uint32_t address);
