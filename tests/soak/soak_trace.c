/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the integral over time of each counter in a VCD trace equals its statistic. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak_run.h"

enum { NAMES = 256 };

#define PS_PER_SECOND 1000000000000u
#define PS_PER_US 1000000u /* for counters in events per microsecond */

/* A variable and its integral so far, modulo 2^64. */
struct counter {
    char mark[16];
    char scope[64], name[64];
    uint64_t value, since;
    uint64_t integral;
};

struct trace {
    struct counter counters[NAMES];
    size_t count;
    uint64_t now;
};

static void add_time(struct counter *counter, uint64_t now)
{
    counter->integral += counter->value * (now - counter->since);
    counter->since = now;
}

static void take_value(struct trace *trace, const char *bits)
{
    const char *mark = strchr(bits, ' ');
    for (size_t i = 0; mark != NULL && i < trace->count; ++i)
        if (strcmp(trace->counters[i].mark, mark + 1) == 0) {
            add_time(&trace->counters[i], trace->now);
            trace->counters[i].value = strtoull(bits, NULL, 2);
        }
}

static int read_trace(const char *file, struct trace *trace)
{
    char line[512], scope[64] = "";
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return 0;
    while (fgets(line, sizeof line, stream) != NULL) {
        struct counter counter = {.value = 0};
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            trace->now = strtoull(line + 1, NULL, 10);
        else if (line[0] == 'b')
            take_value(trace, line + 1);
        else if (sscanf(line, "$scope module %63s", scope) != 1 && trace->count < NAMES &&
                 sscanf(line, "$var %*s %*s %15s %63s", counter.mark, counter.name) == 2) {
            memcpy(counter.scope, scope, sizeof scope);
            trace->counters[trace->count++] = counter;
        }
    }
    for (size_t i = 0; i < trace->count; ++i)
        add_time(&trace->counters[i], trace->now);
    (void)fclose(stream);
    return 1;
}

/* A counter that never changes may be missing in the trace. */
static int is_integral(const struct trace *trace, const char *scope, const char *name, uint64_t total, uint64_t unit)
{
    uint64_t integral = 0;
    for (size_t i = 0; i < trace->count; ++i)
        if (strcmp(trace->counters[i].scope, scope) == 0 && strcmp(trace->counters[i].name, name) == 0)
            integral = trace->counters[i].integral;
    return integral == total * unit;
}

static uint64_t number(const json_t *object, const char *member)
{
    return (uint64_t)json_integer_value(json_object_get(object, member));
}

static int is_like_memory(const struct trace *trace, const json_t *dram)
{
    static const char *const counted[] = {"row_hits", "row_misses", "row_conflicts", "turnarounds", "refreshes"};
    static const char *const low[] = {"active_power_down", "precharge_power_down", "self_refresh"};
    int same = is_integral(
        trace, "dram", "bandwidth", number(dram, "bus_read_bytes") + number(dram, "bus_write_bytes"), PS_PER_SECOND);
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; ++i)
        same &= is_integral(trace, "dram", counted[i], number(dram, counted[i]), PS_PER_US);
    for (size_t i = 0; i < sizeof low / sizeof low[0]; ++i) {
        char stat[32];
        (void)snprintf(stat, sizeof stat, "%s_ps", low[i]);
        same &= is_integral(trace, "dram", low[i], number(dram, stat), PS_PER_US);
    }
    return same;
}

const char *soak_trace_integrals(const char *file, const json_t *stats)
{
    const json_t *links = json_object_get(stats, "links");
    const json_t *dram = json_object_get(json_object_get(stats, "units"), "dram");
    const char *wrong = "";
    struct trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL || !read_trace(file, trace) || trace->count == 0)
        wrong = "there is no trace";
    else if (json_object_get(dram, "row_hits") != NULL && !is_like_memory(trace, dram))
        wrong = "a counter of the memory is not its statistic";
    for (size_t i = 0; *wrong == '\0' && i < json_array_size(links); ++i) {
        const json_t *link = json_array_get(links, i);
        const char *from = json_string_value(json_object_get(link, "from"));
        char name[64];
        (void)snprintf(name, sizeof name, "%s_to_%s", from, json_string_value(json_object_get(link, "to")));
        /* Statistics of links do not include traffic of the core and the bus. */
        if (strcmp(from, "cpu") != 0 && strcmp(from, "bus") != 0 &&
            !is_integral(trace, "links", name, number(link, "read_bytes") + number(link, "write_bytes"), PS_PER_SECOND))
            wrong = "a link's bandwidth is not its bytes";
    }
    free(trace);
    return wrong;
}
