/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_internal.h"

#include "base.h"
#include "base/output_file.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };
#define NONE UINT32_MAX

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

/* ---- tables ---- */

static uint32_t hash(uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static uint64_t page_key(const struct cnnvp_profile *profile, uint32_t i)
{
    return profile->pages[i]->address;
}

static uint64_t arc_key(const struct cnnvp_profile *profile, uint32_t i)
{
    return (uint64_t)profile->arcs[i].from << 32 | profile->arcs[i].to;
}

/* Makes room for one more entry in the table and its list. Returns 0 if out of memory. */
static int grow(struct cnnvp_profile *profile, struct profile_table *table, void **list, size_t size,
                uint64_t (*key)(const struct cnnvp_profile *profile, uint32_t i))
{
    if (2u * (table->count + 1u) < table->places)
        return 1;
    const uint32_t places = table->places ? 2u * table->places : FIRST_ROOM;
    uint32_t *place = calloc(places, sizeof *place);
    void *larger = place != NULL ? realloc(*list, places / 2u * size) : NULL;
    if (larger == NULL) {
        free(place);
        return 0;
    }
    *list = larger;
    for (uint32_t i = 0; i < table->count; ++i) {
        uint32_t at = hash(key(profile, i)) & (places - 1u);
        while (place[at])
            at = (at + 1u) & (places - 1u);
        place[at] = i + 1u;
    }
    free(table->place);
    table->place = place;
    table->places = places;
    return 1;
}

/* The place of the key in the table, or the free place where it belongs. */
static uint32_t *find(const struct cnnvp_profile *profile, const struct profile_table *table, uint64_t wanted,
                      uint64_t (*key)(const struct cnnvp_profile *profile, uint32_t i))
{
    uint32_t at = hash(wanted) & (table->places - 1u);
    while (table->place[at] && key(profile, table->place[at] - 1u) != wanted)
        at = (at + 1u) & (table->places - 1u);
    return &table->place[at];
}

static uint32_t arc_of(struct cnnvp_profile *profile, uint32_t from, uint32_t to)
{
    if (!grow(profile, &profile->arc_table, (void **)&profile->arcs, sizeof *profile->arcs, arc_key))
        return NONE;
    uint32_t *place = find(profile, &profile->arc_table, (uint64_t)from << 32 | to, arc_key);
    if (*place)
        return *place - 1u;
    const uint32_t i = profile->arc_table.count++;
    profile->arcs[i] = (struct profile_arc){.from = from, .to = to};
    *place = i + 1u;
    return i;
}

/* ---- the core's calls ---- */

static struct cnnvp_core_cost *page_at(void *context, uint32_t address)
{
    struct cnnvp_profile *profile = context;
    void **list = (void **)&profile->pages;
    if (profile->closed)
        return NULL;
    if (!grow(profile, &profile->page_table, list, sizeof *profile->pages, page_key)) {
        profile->out_of_memory = 1;
        return NULL;
    }
    uint32_t *place = find(profile, &profile->page_table, address, page_key);
    if (*place)
        return profile->pages[*place - 1u]->costs;
    struct profile_page *page = calloc(1, sizeof *page);
    if (page == NULL) {
        profile->out_of_memory = 1;
        return NULL;
    }
    page->address = address;
    profile->pages[profile->page_table.count++] = page;
    *place = profile->page_table.count;
    return page->costs;
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
    const uint32_t arc = arc_of(profile, from, to);
    if (arc == NONE) {
        profile->out_of_memory = 1;
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
    struct profile_arc *arc = &profile->arcs[profile->stack[profile->depth].arc];
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
    struct cnnvp_profile *made = calloc(1, sizeof *made);
    if (made == NULL || (made->file = strdup(file)) == NULL) {
        free(made);
        return cnnvp_config_no_memory(error);
    }
    made->profiler = (struct cnnvp_profiler){.context = made, .page = page_at, .call = open_call, .leave = close_call};
    *profile = made;
    return CNNVP_DONE;
}

void cnnvp_profile_free(struct cnnvp_profile *profile)
{
    if (profile == NULL)
        return;
    for (uint32_t i = 0; i < profile->page_table.count; ++i)
        free(profile->pages[i]);
    free((void *)profile->pages);
    free(profile->arcs);
    free(profile->page_table.place);
    free(profile->arc_table.place);
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
