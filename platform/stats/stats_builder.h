/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that build stats.json from JSON objects and remember a failure. */
#pragma once

#include "stats.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A JSON document under construction. The first failure (out of memory) makes the whole text fail. */
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

/* A number beyond JSON's signed 64 bits (a parameter may be) becomes text. */
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

/* Text from any bytes; non-UTF-8 bytes become '?'. */
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

/* Adds a new object as a member. NULL if out of memory; jansson's functions and these accept NULL and fail. */
static inline json_t *set_object(struct stats_builder *b, json_t *object, const char *name)
{
    json_t *child = json_object();

    set(b, object, name, child);
    return b->failed ? NULL : child;
}

/* The same for an array. */
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

/* Appends a new object to an array. */
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

/* Cycles by bottleneck (stats_bounds.c). */
struct cnnvp_bounds {
#define CNNVP_BOUND(name, help) uint64_t name;
#include "stats.def"
};
/* Adds a row of cnnvp_layer_column whose MACs take one PE `pe_cycles` cycles, and are done on `pes` PEs; 0 PEs: none,
 * or unknown. */
void cnnvp_bounds_add(struct cnnvp_bounds *bounds, const uint64_t *sums, uint64_t pe_cycles, uint64_t pes);
/* Name of the largest bottleneck; "" if there are no cycles. */
const char *cnnvp_bounds_largest(const struct cnnvp_bounds *bounds);

/* The instance of this name, otherwise the first unit of this kind; instance_count if there is neither.
 * (stats_accelerators.c) */
size_t cnnvp_stats_find(const struct cnnvp_stats *stats, const char *name);
/* Total of a statistic over all instruction elements. */
uint64_t cnnvp_stats_elements_total(const struct cnnvp_stats *stats, const char *name);
/* Number of accelerators with cycles that are not idle, at least 1. One without work executes instructions, too. */
uint32_t cnnvp_stats_accelerators(const struct cnnvp_stats *stats);
/* Accelerator cycles of all instruction elements that belong to no layer. */
uint64_t cnnvp_stats_idle_cycles(const struct cnnvp_stats *stats);
/* Adds the member `accelerators` if there are several. */
void cnnvp_stats_add_accelerators(struct stats_builder *b, json_t *root);

/* Total of an instance's statistic by name; 0 if there is none. (stats_memory.c) */
uint64_t cnnvp_stats_total(const struct cnnvp_stats *stats, size_t instance, const char *name);
/* Adds the members `tensors` and `memory`. */
void cnnvp_stats_add_tensors(struct stats_builder *b, json_t *root);
void cnnvp_stats_add_memory(struct stats_builder *b, json_t *root);

/* Adds the off-chip traffic to the member `summary`, relative to the peak bandwidth and to the least traffic. */
void cnnvp_stats_add_off_chip(struct stats_builder *b, json_t *summary);
/* Least time of the bytes on the memory buses, in ps; 0: unknown. */
double cnnvp_stats_bus_ps(const struct cnnvp_stats *stats, uint64_t bytes);

/* Adds `critical_path` and `bound_by` to the summary or to a layer (stats_path.c). Without a recorded run there is no
 * path, and `bound_by` stays as it is. */
void cnnvp_stats_add_path(struct stats_builder *b, json_t *summary);
void cnnvp_stats_add_layer_path(struct stats_builder *b, json_t *layer, uint32_t tag);

/* Adds the member `schedule`, except for layer by layer. (stats_schedule.c) */
void cnnvp_stats_add_schedule(struct stats_builder *b, json_t *root);

/* Adds the member `platform`: the resolved configuration. (stats_platform.c) */
void cnnvp_stats_add_platform(struct stats_builder *b, json_t *root);
