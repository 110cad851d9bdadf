/* SPDX-License-Identifier: Apache-2.0 */
/* How stats.json is put together: JSON objects that remember a failure. */
#ifndef CNNVP_PLATFORM_STATS_BUILDER_H
#define CNNVP_PLATFORM_STATS_BUILDER_H

#include "stats.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A JSON object under construction. The first failure (memory) makes the whole text fail. */
struct stats_builder {
    const struct cnnvp_stats *stats;
    uint64_t end_ps; /* simulated */
    int failed;
};

static inline void set(struct stats_builder *b, json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new_nocheck(object, name, value) != 0)
        b->failed = 1;
}

/* Beyond JSON's signed 64 bits (a parameter may be) the number becomes text. */
static inline void set_count(struct stats_builder *b, json_t *object, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    set(b, object, name, value <= INT64_MAX ? json_integer((json_int_t)value) : json_string(text));
}

static inline void set_real(struct stats_builder *b, json_t *object, const char *name, double value)
{
    set(b, object, name, json_real(isfinite(value) ? value : 0));
}

/* Text of any bytes: what is not UTF-8 shows as '?'. */
static inline json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    char *copy = value != NULL ? NULL : strdup(text);

    if (copy != NULL) {
        for (char *c = copy; *c; ++c)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
        value = json_string(copy);
        free(copy);
    }
    return value;
}

static inline void set_text(struct stats_builder *b, json_t *object, const char *name, const char *text)
{
    set(b, object, name, text_value(text));
}

/* A new object as a member. NULL without memory; jansson's functions and ours take NULL and fail. */
static inline json_t *set_object(struct stats_builder *b, json_t *object, const char *name)
{
    json_t *child = json_object();

    set(b, object, name, child);
    return b->failed ? NULL : child;
}

/* The same of an array. */
static inline json_t *set_array(struct stats_builder *b, json_t *object, const char *name)
{
    json_t *child = json_array();

    set(b, object, name, child);
    return b->failed ? NULL : child;
}

static inline void append(struct stats_builder *b, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        b->failed = 1;
}

/* A new object at the end of an array. */
static inline json_t *append_object(struct stats_builder *b, json_t *array)
{
    json_t *child = json_object();

    append(b, array, child);
    return b->failed ? NULL : child;
}

static inline double ratio(double dividend, double divisor)
{
    return divisor > 0 ? dividend / divisor : 0;
}

#define PICOSECONDS_PER_SECOND 1e12

/* Cycles by what binds (stats_bounds.c). */
struct cnnvp_bounds {
#define CNNVP_BOUND(name, help) uint64_t name;
#include "stats.def"
};
/* Of a row of cnnvp_layer_column, with the MACs done in it on so many PEs; 0: none, or not known. */
void cnnvp_bounds_add(struct cnnvp_bounds *bounds, const uint64_t *sums, uint64_t macs, uint64_t pes);
/* "" without cycles. */
const char *cnnvp_bounds_largest(const struct cnnvp_bounds *bounds);

/* The instance of this name, or else the first unit of this kind; instance_count if there is neither
 * (stats_accelerators.c). */
size_t cnnvp_stats_find(const struct cnnvp_stats *stats, const char *name);
/* Total of a statistic over all instruction elements. */
uint64_t cnnvp_stats_elements_total(const struct cnnvp_stats *stats, const char *name);
/* Of these, how many have executed instructions; 1 or more. */
uint32_t cnnvp_stats_accelerators(const struct cnnvp_stats *stats);
/* The member `accelerators`, where there are several. */
void cnnvp_stats_add_accelerators(struct stats_builder *b, json_t *root);

/* Total of a statistic by name, 0 where there is none; over all memories. (stats_memory.c) */
uint64_t cnnvp_stats_total(const struct cnnvp_stats *stats, size_t instance, const char *name);
/* The members `tensors` and `memory`. */
void cnnvp_stats_add_tensors(struct stats_builder *b, json_t *root);
void cnnvp_stats_add_memory(struct stats_builder *b, json_t *root);

/* Of the member `summary`, what crossed the off-chip port: of what could, and of what had to. */
void cnnvp_stats_add_off_chip(struct stats_builder *b, json_t *summary);
/* What so many bytes take at least on the memory buses, in ps; 0: it is not known. */
double cnnvp_stats_bus_ps(const struct cnnvp_stats *stats, uint64_t bytes);

/* The members `critical_path` and `bound_by` of the summary and of a layer (stats_path.c); where no run has been
 * followed there is no path, and `bound_by` stays. */
void cnnvp_stats_add_path(struct stats_builder *b, json_t *summary);
void cnnvp_stats_add_layer_path(struct stats_builder *b, json_t *layer, uint32_t tag);

/* The member `schedule`; layer by layer there is none (stats_schedule.c). */
void cnnvp_stats_add_schedule(struct stats_builder *b, json_t *root);

/* The member `platform`: the resolved configuration (stats_platform.c). */
void cnnvp_stats_add_platform(struct stats_builder *b, json_t *root);

#endif
