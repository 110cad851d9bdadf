/* SPDX-License-Identifier: Apache-2.0 */
/* Sums a profile by function. Code without a symbol forms a function where it is called. */
#include "profile_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "try.h"

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
    return cnnvp_profile_by_key(*(void *const *)a, *(void *const *)b);
}

static int by_address(const void *a, const void *b)
{
    return by_number(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* ---- where functions begin ---- */

struct profile_function *cnnvp_profile_function_at(const struct cnnvp_profile *profile, uint32_t address)
{
    const size_t count = profile->function_count;
    return &profile
                ->functions[cnnvp_symbols_before(profile->functions, count, sizeof *profile->functions, address) - 1u];
}

/* Start addresses of called or executed functions, unsorted and with repetitions. NULL: out of memory. */
static uint32_t *find_begins(const struct cnnvp_profile *profile, size_t *count)
{
    const size_t pages = profile->page_count, arcs = profile->arc_count;
    uint32_t *begins = malloc((arcs + pages * PROFILE_PAGE_COSTS + 1u) * sizeof *begins);
    size_t n = 0;
    uint32_t begin = 0;
    *count = 0;
    if (begins == NULL)
        return NULL;
    for (size_t i = 0; i < arcs; ++i)
        begins[n++] = cnnvp_symbols_function(profile->symbols, profile->arcs[i]->key.to, &begin) != NULL
                          ? begin
                          : profile->arcs[i]->key.to;
    for (size_t i = 0; i < pages; ++i) {
        for (uint32_t k = 0; k < PROFILE_PAGE_COSTS; ++k) {
            const uint32_t address = profile->pages[i]->key.from + 2u * k;
            if (!cnnvp_profile_is_cost(&profile->pages[i]->costs[k]))
                continue;
            if (cnnvp_symbols_function(profile->symbols, address, &begin) != NULL)
                begins[n++] = begin;
            else if (n == arcs)
                begins[n++] = address; /* the first executed code, so that each address has a function at or before
                                        * it */
        }
    }
    *count = n;
    return begins;
}

static int make_list(struct cnnvp_profile *profile)
{
    size_t count;
    CNNVP_FREED uint32_t *begins = find_begins(profile, &count);
    profile->functions = calloc(count + 1u, sizeof *profile->functions);
    profile->addresses = calloc(count + 1u, sizeof *profile->addresses);
    if (begins == NULL || profile->functions == NULL || profile->addresses == NULL)
        return -1;
    qsort(begins, count, sizeof *begins, by_address);
    for (size_t i = 0; i < count; ++i) {
        struct profile_function *function = &profile->functions[profile->function_count];
        char *address = profile->addresses[profile->function_count];
        uint32_t begin;
        if (i > 0 && begins[i] == begins[i - 1u])
            continue;
        function->begin = begins[i];
        function->name = cnnvp_symbols_function(profile->symbols, begins[i], &begin);
        function->line = cnnvp_symbols_line(profile->symbols, begins[i], &function->file);
        (void)snprintf(address, sizeof profile->addresses[0], "0x%08" PRIx32, begins[i]);
        if (function->name == NULL)
            function->name = address;
        ++profile->function_count;
    }
    return 0;
}

/* ---- sums ---- */

static void add_costs(struct cnnvp_profile *profile)
{
    for (uint32_t i = 0; i < profile->page_count; ++i) {
        for (uint32_t k = 0; k < PROFILE_PAGE_COSTS; ++k) {
            const struct cnnvp_core_cost *cost = &profile->pages[i]->costs[k];
            if (!cnnvp_profile_is_cost(cost))
                continue;
            cnnvp_profile_add(&cnnvp_profile_function_at(profile, profile->pages[i]->key.from + 2u * k)->cost, cost);
        }
    }
    for (uint32_t i = 0; i < profile->arc_count; ++i)
        cnnvp_profile_function_at(profile, profile->arcs[i]->key.to)->calls += profile->arcs[i]->calls;
}

static void add_all(struct cnnvp_profile *profile)
{
    for (uint32_t i = 0; i < profile->page_count; ++i)
        for (uint32_t k = 0; k < PROFILE_PAGE_COSTS; ++k)
            cnnvp_profile_add(&profile->all, &profile->pages[i]->costs[k]);
}

int cnnvp_profile_make_functions(struct cnnvp_profile *profile)
{
    if (profile->functions != NULL || profile->symbols == NULL)
        return 0;
    add_all(profile);
    while (profile->depth > 0 || profile->beyond > 0)
        profile->profiler.leave(profile->profiler.context, &profile->all);
    profile->closed = 1;
    if (profile->page_count != 0)
        qsort((void *)profile->pages, profile->page_count, sizeof *profile->pages, by_key);
    if (profile->arc_count != 0)
        qsort((void *)profile->arcs, profile->arc_count, sizeof *profile->arcs, by_key);
    if (make_list(profile) != 0)
        return -1;
    add_costs(profile);
    return 0;
}

static int by_cycles(const void *a, const void *b)
{
    const struct profile_function *x = *(struct profile_function *const *)a, *y = *(struct profile_function *const *)b;
    return x->cost.cycles != y->cost.cycles ? by_number(y->cost.cycles, x->cost.cycles) : by_number(x->begin, y->begin);
}

static struct cnnvp_profile_function told(const struct profile_function *function)
{
    return (struct cnnvp_profile_function){
        .name = function->name,
        .file = function->file,
        .line = function->line,
        .calls = function->calls,
        .cycles = function->cost.cycles,
        .instructions = function->cost.instructions,
        .stall_cycles = function->cost.stalls,
        .sleep_cycles = function->cost.sleep};
}

size_t cnnvp_profile_functions(struct cnnvp_profile *profile, struct cnnvp_profile_function *functions, size_t room,
                               struct cnnvp_profile_function *all)
{
    *all = (struct cnnvp_profile_function){.name = "all"};
    const size_t count = cnnvp_profile_make_functions(profile) == 0 ? profile->function_count : 0;
    const struct profile_function **order = malloc((count + 1u) * sizeof *order);
    if (order == NULL)
        return 0;
    for (size_t i = 0; i < count; ++i)
        order[i] = &profile->functions[i];
    qsort((void *)order, count, sizeof *order, by_cycles);
    for (size_t i = 0; i < count; ++i) {
        if (i < room)
            functions[i] = told(order[i]);
        all->calls += order[i]->calls;
    }
    all->cycles = profile->all.cycles;
    all->instructions = profile->all.instructions;
    all->stall_cycles = profile->all.stalls;
    all->sleep_cycles = profile->all.sleep;
    free((void *)order);
    return count;
}
