/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy */
#include "profile_internal.h"

#include "base.h"
#include "base/output_file.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

void cnnvp_profile_add(struct cnnvp_core_cost *sum, const struct cnnvp_core_cost *cost)
{
#define EVENT(member, name, help) sum->member += cost->member;
    PROFILE_EVENTS(EVENT)
#undef EVENT
}

int cnnvp_profile_is_cost(const struct cnnvp_core_cost *cost)
{
    uint64_t any = 0;
#define EVENT(member, name, help) any |= cost->member;
    PROFILE_EVENTS(EVENT)
#undef EVENT
    return any != 0;
}

/* ---- pages and arcs ---- */

int cnnvp_profile_by_key(const void *a, const void *b)
{
    const struct profile_key *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The page or arc with this key, which begins an element of `size` bytes; a new one if there is none. NULL: out of
 * memory. */
static void *find_or_add(struct cnnvp_profile *profile, void **tree, void ***list, uint32_t *count,
                         struct profile_key key, size_t size)
{
    void *const *found = tfind(&key, tree, cnnvp_profile_by_key);
    if (found != NULL)
        return *found;
    void **larger = cnnvp_grow((void *)*list, *count, sizeof *larger);
    struct profile_key *made = larger != NULL ? calloc(1, size) : NULL;
    if (larger != NULL)
        *list = larger;
    if (made != NULL)
        *made = key;
    if (made == NULL || tsearch(made, tree, cnnvp_profile_by_key) == NULL) {
        free(made);
        profile->out_of_memory = 1;
        return NULL;
    }
    return larger[(*count)++] = made;
}

/* ---- the core's calls ---- */

static struct cnnvp_core_cost *page_at(void *context, uint32_t address)
{
    struct cnnvp_profile *profile = context;
    if (profile->closed)
        return NULL;
    struct profile_page *page = find_or_add(profile, &profile->page_tree, (void ***)&profile->pages,
                                            &profile->page_count, (struct profile_key){address, 0}, sizeof *page);
    return page != NULL ? page->costs : NULL;
}

static void open_call(void *context, uint32_t from, uint32_t to, const struct cnnvp_core_cost *all)
{
    struct cnnvp_profile *profile = context;
    if (profile->closed)
        return;
    if (profile->depth == PROFILE_DEPTH || profile->beyond) {
        ++profile->beyond;
        return;
    }
    struct profile_arc *arc = find_or_add(profile, &profile->arc_tree, (void ***)&profile->arcs, &profile->arc_count,
                                          (struct profile_key){from, to}, sizeof *arc);
    if (arc == NULL) {
        ++profile->beyond;
        return;
    }
    profile->stack[profile->depth].arc = arc;
    profile->stack[profile->depth++].begin = *all;
}

static void close_call(void *context, const struct cnnvp_core_cost *all)
{
    struct cnnvp_profile *profile = context;
    if (profile->beyond) {
        --profile->beyond;
        return;
    }
    if (profile->depth == 0)
        return;
    const struct cnnvp_core_cost *begin = &profile->stack[--profile->depth].begin;
    struct profile_arc *arc = profile->stack[profile->depth].arc;
    ++arc->calls;
#define EVENT(member, name, help) arc->cost.member += all->member - begin->member;
    PROFILE_EVENTS(EVENT)
#undef EVENT
}

/* ---- life ---- */

cnnvp_result cnnvp_profile_new(const char *file, struct cnnvp_profile **profile, struct cnnvp_error *error)
{
    *profile = NULL;
    if (cnnvp_output_check(file, error) != CNNVP_DONE)
        return CNNVP_BAD_INPUT;
    CNNVP_FREED struct cnnvp_profile *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL && (made->file = strdup(file)) != NULL, error);
    made->profiler = (struct cnnvp_profiler){.context = made, .page = page_at, .call = open_call, .leave = close_call};
    *profile = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_profile_free(struct cnnvp_profile *profile)
{
    if (profile == NULL)
        return;
    tdestroy(profile->page_tree, free);
    tdestroy(profile->arc_tree, free);
    free((void *)profile->pages);
    free((void *)profile->arcs);
    free(profile->functions);
    free(profile->addresses);
    free(profile->file);
    free(profile);
}

const struct cnnvp_profiler *cnnvp_profile_profiler(struct cnnvp_profile *profile, const char *program,
                                                    const struct cnnvp_symbols *symbols)
{
    profile->program = program;
    profile->symbols = symbols;
    return &profile->profiler;
}
