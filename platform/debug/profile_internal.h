/* SPDX-License-Identifier: Apache-2.0 */
/* State of a profile, shared by profile.c and profile_file.c. */
#ifndef CNNVP_PROFILE_INTERNAL_H
#define CNNVP_PROFILE_INTERNAL_H

#include "profile.h"

enum { PROFILE_DEPTH = 4096, PROFILE_PAGE_COSTS = CNNVP_PROFILE_PAGE / 2 };

struct profile_page {
    uint32_t address;
    struct cnnvp_core_cost costs[PROFILE_PAGE_COSTS];
};

/* Calls from one instruction to one function. */
struct profile_arc {
    uint32_t from, to;
    uint64_t calls;
    struct cnnvp_core_cost cost; /* of all that happened until it returned */
};

/* Made of the pages and arcs when asked. */
struct profile_function {
    uint32_t begin;
    const char *name; /* NULL: not known */
    const char *file; /* likewise */
    uint32_t line;
    uint64_t calls;
    struct cnnvp_core_cost cost; /* its own */
};

/* Members of a list, found by a key: 0 in `place` is nowhere, n is member n - 1. */
struct profile_table {
    uint32_t *place;
    uint32_t places; /* a power of two, more than twice `count` */
    uint32_t count;
};

struct cnnvp_profile {
    struct cnnvp_profiler profiler;
    char *file;
    const char *program;
    const struct cnnvp_symbols *symbols; /* NULL: nothing runs yet */
    struct profile_table page_table, arc_table;
    struct profile_page **pages;
    struct profile_arc *arcs;
    struct profile_function *functions; /* by their beginnings; NULL: not made yet */
    size_t function_count;
    char (*addresses)[16]; /* names of functions that have none */
    struct {
        uint32_t arc;
        struct cnnvp_core_cost begin;
    } stack[PROFILE_DEPTH];
    uint32_t depth, beyond;     /* calls that are open, and those that the stack has no room for */
    struct cnnvp_core_cost all; /* once it is closed */
    int out_of_memory;
    int closed;  /* nothing is recorded any more */
    int written; /* or has failed to be */
};

/* The core's cycles, and what it did in them, in the order of the file. */
#define PROFILE_EVENTS(EVENT)                                                     \
    EVENT(cycles, "Cycles", "cycles of the core")                                 \
    EVENT(instructions, "Instructions", "instructions retired")                   \
    EVENT(stalls, "Stalls", "cycles that accesses to devices and memory stalled") \
    EVENT(sleep, "Sleep", "cycles asleep")

void cnnvp_profile_add(struct cnnvp_core_cost *sum, const struct cnnvp_core_cost *cost);
/* 1 if something happened there. */
int cnnvp_profile_is_cost(const struct cnnvp_core_cost *cost);
/* Closes the profile: ends open calls, sorts pages and arcs (by `from`, then by `to`), makes the functions. 0, or -1
 * without memory. */
int cnnvp_profile_make_functions(struct cnnvp_profile *profile);
/* The function that an address lies in; it must be that of a cost or of an arc's `to`. */
struct profile_function *cnnvp_profile_function_at(const struct cnnvp_profile *profile, uint32_t address);

#endif
