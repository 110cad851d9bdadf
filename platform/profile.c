/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include "base/output_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4096, FIRST_ROOM = 64, LINE = 512 };
#define NONE UINT32_MAX
#define IS_CALL (UINT64_C(1) << 32)
#define PS_PER_US UINT64_C(1000000)

/* A function, or the calls from one to another. */
struct function {
    uint32_t address;
    const char *name; /* NULL: not known */
    uint64_t self;    /* cycles */
};

struct arc {
    uint32_t from, to; /* functions */
    uint64_t calls, cycles;
};

/* A list, and where each of its members is found by a key: 0 in `place` is nowhere, n is member n - 1. */
struct table {
    uint32_t *place;
    uint32_t places; /* a power of two, more than twice `count` */
    uint32_t count;
};

struct cnnvp_profile {
    const struct cnnvp_resolved *platform;
    char *file;
    const char *(*name)(const void *context, uint64_t address);
    const void *context;
    struct table function_table, arc_table;
    struct function *functions;
    struct arc *arcs;
    struct {
        uint32_t function, arc;
        uint64_t begin;
    } stack[DEPTH];
    uint32_t depth, beyond; /* calls that are open, and those that the stack has no room for */
    uint32_t instance;      /* the core; NONE: none has called yet */
    uint64_t last;          /* cycle up to which time is somebody's */
    int out_of_memory;
};

cnnvp_result cnnvp_profile_new(const struct cnnvp_resolved *platform, const char *file, struct cnnvp_profile **profile,
                               struct cnnvp_error *error)
{
    *profile = NULL;
    if (cnnvp_output_check(file, error) != CNNVP_DONE)
        return CNNVP_BAD_INPUT;
    struct cnnvp_profile *made = calloc(1, sizeof *made);
    if (made == NULL || (made->file = strdup(file)) == NULL) {
        free(made);
        (void)snprintf(error->text, sizeof error->text, "out of memory for a profile");
        return CNNVP_FAILED;
    }
    made->platform = platform;
    made->instance = NONE;
    *profile = made;
    return CNNVP_DONE;
}

void cnnvp_profile_free(struct cnnvp_profile *profile)
{
    if (profile == NULL)
        return;
    free(profile->function_table.place);
    free(profile->arc_table.place);
    free(profile->functions);
    free(profile->arcs);
    free(profile->file);
    free(profile);
}

void cnnvp_profile_names(struct cnnvp_profile *profile, const char *(*name)(const void *context, uint64_t address),
                         const void *context)
{
    profile->name = name;
    profile->context = context;
}

/* ---- tables ---- */

static uint32_t hash(uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static uint64_t function_key(const struct cnnvp_profile *profile, uint32_t i)
{
    return profile->functions[i].address;
}

static uint64_t arc_key(const struct cnnvp_profile *profile, uint32_t i)
{
    return (uint64_t)profile->arcs[i].from << 32 | profile->arcs[i].to;
}

/* Room for one more in the table and in its list. 0 without memory. */
static int grow(struct cnnvp_profile *profile, struct table *table, void **list, size_t size,
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

/* The place in the table where the key is, or would be. */
static uint32_t *find(const struct cnnvp_profile *profile, const struct table *table, uint64_t wanted,
                      uint64_t (*key)(const struct cnnvp_profile *profile, uint32_t i))
{
    uint32_t at = hash(wanted) & (table->places - 1u);
    while (table->place[at] && key(profile, table->place[at] - 1u) != wanted)
        at = (at + 1u) & (table->places - 1u);
    return &table->place[at];
}

static uint32_t function_of(struct cnnvp_profile *profile, uint32_t address)
{
    if (!grow(profile, &profile->function_table, (void **)&profile->functions, sizeof *profile->functions,
              function_key))
        return NONE;
    uint32_t *place = find(profile, &profile->function_table, address, function_key);
    if (*place)
        return *place - 1u;
    const uint32_t i = profile->function_table.count++;
    profile->functions[i] = (struct function){
        .address = address, .name = profile->name != NULL ? profile->name(profile->context, address) : NULL};
    *place = i + 1u;
    return i;
}

static uint32_t arc_of(struct cnnvp_profile *profile, uint32_t from, uint32_t to)
{
    if (!grow(profile, &profile->arc_table, (void **)&profile->arcs, sizeof *profile->arcs, arc_key))
        return NONE;
    uint32_t *place = find(profile, &profile->arc_table, (uint64_t)from << 32 | to, arc_key);
    if (*place)
        return *place - 1u;
    const uint32_t i = profile->arc_table.count++;
    profile->arcs[i] = (struct arc){.from = from, .to = to};
    *place = i + 1u;
    return i;
}

/* ---- calls and returns ---- */

static uint64_t cycle_of(const struct cnnvp_profile *profile, cnnvp_time at)
{
    const struct cnnvp_instance *core = &profile->platform->instances[profile->instance];
    uint64_t mhz = 1000;
    for (size_t i = 0; i < core->unit->param_count; ++i)
        if (strcmp(core->unit->params[i].name, "clock_mhz") == 0)
            mhz = core->values[i];
    return at / PS_PER_US * mhz + (at % PS_PER_US * mhz + PS_PER_US / 2u) / PS_PER_US;
}

static void pass(struct cnnvp_profile *profile, uint64_t cycle)
{
    if (profile->depth && cycle > profile->last)
        profile->functions[profile->stack[profile->depth - 1u].function].self += cycle - profile->last;
    profile->last = cycle;
}

static void open_call(struct cnnvp_profile *profile, uint32_t address, uint64_t cycle)
{
    if (profile->depth == DEPTH || profile->beyond) {
        ++profile->beyond;
        return;
    }
    const uint32_t function = function_of(profile, address);
    uint32_t arc = NONE;
    if (function != NONE && profile->depth)
        arc = arc_of(profile, profile->stack[profile->depth - 1u].function, function);
    if (function == NONE || (profile->depth && arc == NONE)) {
        profile->out_of_memory = 1;
        return;
    }
    profile->stack[profile->depth].function = function;
    profile->stack[profile->depth].arc = arc;
    profile->stack[profile->depth++].begin = cycle;
}

static void close_call(struct cnnvp_profile *profile, uint64_t cycle)
{
    if (profile->beyond) {
        --profile->beyond;
        return;
    }
    if (profile->depth == 0 || profile->stack[--profile->depth].arc == NONE)
        return;
    struct arc *arc = &profile->arcs[profile->stack[profile->depth].arc];
    ++arc->calls;
    arc->cycles += cycle - profile->stack[profile->depth].begin;
}

void cnnvp_profile_counter(struct cnnvp_profile *profile, uint32_t instance, uint32_t counter, cnnvp_time at,
                           uint64_t value)
{
    const char *unit = profile->platform->instances[instance].unit->counters[counter].unit;
    if (profile->out_of_memory || unit == NULL || strcmp(unit, "function") != 0)
        return;
    if (profile->instance == NONE)
        profile->instance = instance;
    if (instance != profile->instance)
        return;
    const uint64_t cycle = cycle_of(profile, at);
    pass(profile, cycle);
    if (value & IS_CALL)
        open_call(profile, (uint32_t)value, cycle);
    else
        close_call(profile, cycle);
}

/* ---- the file ---- */

static void print(cnnvp_output *output, const char *format, ...) CNNVP_PRINTF(2, 3);
static void print(cnnvp_output *output, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        cnnvp_output_write(output, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1u);
}

/* A name is said once, and its number from then on. */
static void print_function(const struct cnnvp_profile *profile, cnnvp_output *output, const char *key, uint32_t i,
                           unsigned char *said)
{
    const struct function *function = &profile->functions[i];
    if (said[i])
        print(output, "%s=(%" PRIu32 ")\n", key, i + 1u);
    else if (function->name != NULL)
        print(output, "%s=(%" PRIu32 ") %.400s\n", key, i + 1u, function->name);
    else
        print(output, "%s=(%" PRIu32 ") 0x%08" PRIx32 "\n", key, i + 1u, function->address);
    said[i] = 1;
}

static void write_file(const struct cnnvp_profile *profile, cnnvp_output *output, unsigned char *said)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < profile->function_table.count; ++i)
        all += profile->functions[i].self;
    print(output, "# callgrind format\nversion: 1\ncreator: cnnvp " CNNVP_VERSION "\npositions: line\n"
                  "event: Cycles : cycles of the core, stalls and sleep included\nevents: Cycles\n");
    print(output, "summary: %" PRIu64 "\n\nfl=(1) guest\n", all);
    for (uint32_t i = 0; i < profile->function_table.count; ++i) {
        print_function(profile, output, "fn", i, said);
        print(output, "0 %" PRIu64 "\n", profile->functions[i].self);
        for (uint32_t k = 0; k < profile->arc_table.count; ++k) {
            const struct arc *arc = &profile->arcs[k];
            if (arc->from != i)
                continue;
            print_function(profile, output, "cfn", arc->to, said);
            print(output, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n", arc->calls, arc->cycles);
        }
        print(output, "\n");
    }
}

cnnvp_result cnnvp_profile_finish(struct cnnvp_profile *profile, cnnvp_time end, struct cnnvp_error *error)
{
    if (profile->instance != NONE) {
        const uint64_t cycle = cycle_of(profile, end);
        pass(profile, cycle);
        profile->beyond = 0;
        while (profile->depth)
            close_call(profile, cycle);
    }
    cnnvp_output *output = NULL;
    unsigned char *said = calloc(profile->function_table.count + 1u, 1);
    cnnvp_result result = CNNVP_FAILED;
    if (profile->out_of_memory || said == NULL)
        (void)snprintf(error->text, sizeof error->text, "out of memory for the profile");
    else
        result = cnnvp_output_new(profile->file, &output, error);
    if (result == CNNVP_DONE) {
        write_file(profile, output, said);
        result = cnnvp_output_finish(output, error);
    }
    free(said);
    return result;
}
