/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of a sweep: numbers in stats.json, named by paths such as energy.total_pj or layers.C1.cycles. */
#include <stdlib.h>
#include <string.h>

#include "explore.h"

/* An element of a list: by number, or by the `name` of its members, or by `from-to` of a link. */
static const json_t *element(const json_t *list, const char *word)
{
    size_t index;
    json_t *item;
    if (*word && strspn(word, "0123456789") == strlen(word))
        return json_array_get(list, strtoul(word, NULL, 10));
    json_array_foreach((json_t *)(uintptr_t)list, index, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, word) == 0)
            return item;
        const char *from = json_string_value(json_object_get(item, "from"));
        const char *to = json_string_value(json_object_get(item, "to"));
        size_t length = from ? strlen(from) : 0;
        if (from && to && strncmp(word, from, length) == 0 && word[length] == '-' && strcmp(word + length + 1, to) == 0)
            return item;
    }
    return NULL;
}

/* Names may hold dots (those of layers do), so the longest that matches is taken first. */
static const json_t *walk(const json_t *value, const char *path, size_t depth)
{
    char word[512];
    size_t length = strlen(path);
    if (!value || depth > 16 || length >= sizeof word)
        return NULL;
    if (length == 0)
        return value;
    for (size_t end = length; end > 0; end--) {
        if (path[end] != '.' && path[end] != '\0')
            continue;
        memcpy(word, path, end);
        word[end] = '\0';
        const json_t *next = json_is_array(value) ? element(value, word) : json_object_get(value, word);
        const json_t *found = next ? walk(next, path + end + (path[end] == '.'), depth + 1) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

int cnnvp_stats_number(const json_t *stats, const char *path, double *number)
{
    const json_t *found = walk(stats, path, 0);
    *number = json_number_value(found);
    return json_is_number(found);
}

int cnnvp_objectives_need(const void *sweep, const char *section, size_t length)
{
    const struct cnnvp_sweep *of = sweep;
    for (size_t i = 0; i < of->objective_count; i++)
        if (cnnvp_section_is(section, length, of->objectives[i].path))
            return 1;
    return 0;
}

int cnnvp_objectives_of(const struct cnnvp_sweep *sweep, const json_t *stats, double *values)
{
    for (size_t i = 0; i < sweep->objective_count; i++) {
        if (!cnnvp_stats_number(stats, sweep->objectives[i].path, &values[i]))
            return 0;
        if (sweep->objectives[i].maximise)
            values[i] = -values[i];
    }
    return 1;
}

/* Offers the paths of all numbers. */
static void offer_paths(struct cnnvp_arena *arena, const json_t *value, const char *path, struct cnnvp_suggest *suggest)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_number(value))
        cnnvp_suggest_offer(suggest, path);
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        const char *name = cnnvp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", key);
        if (name && strcmp(name, "platform") != 0)
            offer_paths(arena, member, name, suggest);
    }
    json_array_foreach((json_t *)(uintptr_t)value, index, member) {
        const char *layer = json_string_value(json_object_get(member, "name"));
        const char *name = layer ? cnnvp_arena_printf(arena, "%s.%s", path, layer) : NULL;
        if (name)
            offer_paths(arena, member, name, suggest);
    }
}

static const struct cnnvp_value_help *find_value(const char *path)
{
    char name[64];
    for (size_t i = 0; i < cnnvp_value_count; i++) {
        (void)snprintf(name, sizeof name, "values.%s.%s", cnnvp_value_table[i].object, cnnvp_value_table[i].name);
        if (strcmp(name, path) == 0)
            return &cnnvp_value_table[i];
    }
    return NULL;
}

static int has_option(const struct cnnvp_sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (sweep->axes[i].kind == CNNVP_AXIS_OPTION && strcmp(sweep->axes[i].name, name) == 0)
            return 1;
    return 0;
}

/* Of members of `values`, which come into being with the values, *known says whether there will be one of this name. */
static cnnvp_result check_value(const struct cnnvp_sweep *sweep, uint64_t number,
                                const struct cnnvp_objective *objective, int *known, struct cnnvp_error *error)
{
    const struct cnnvp_value_help *value = find_value(objective->path);
    const int trains = strcmp(sweep->command, "train") == 0;
    const struct cnnvp_axis_value *timing = cnnvp_point_option(sweep, number, "timing_only");
    *known = 0;
    if (strncmp(objective->path, "values.", 7) != 0)
        return CNNVP_DONE;
    if (timing && strcmp(timing->text, "true") == 0)
        return cnnvp_config_error(error, objective->place, "there are no values with timing_only");
    if (value && trains != (strcmp(value->object, "training") == 0))
        return cnnvp_config_error(error, objective->place, "command: %s has no %s", sweep->command, objective->path);
    if (value && *value->needs && !has_option(sweep, value->needs))
        return cnnvp_config_error(error, objective->place, "%s needs the option %s", objective->path, value->needs);
    *known = value || (strncmp(objective->path, "values.accuracy.", 16) != 0 &&
                       strncmp(objective->path, "values.training.", 16) != 0);
    return CNNVP_DONE;
}

static void offer_values(struct cnnvp_arena *arena, struct cnnvp_suggest *suggest)
{
    for (size_t i = 0; i < cnnvp_value_count; i++) {
        const char *name =
            cnnvp_arena_printf(arena, "values.%s.%s", cnnvp_value_table[i].object, cnnvp_value_table[i].name);
        if (name)
            cnnvp_suggest_offer(suggest, name);
    }
}

/* What only a network gives is not known where there is none. */
static int depends_on_network(const char *path)
{
    static const char *const sections[] = {"layers.", "tensors.", "links.", "network."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strncmp(path, sections[i], strlen(sections[i])) == 0)
            return 1;
    return 0;
}

static cnnvp_result check(struct cnnvp_sweep *sweep, uint64_t point, const json_t *stats, int has_network,
                          struct cnnvp_error *error)
{
    for (size_t i = 0; i < sweep->objective_count; i++) {
        struct cnnvp_suggest suggest;
        double number;
        int known = 0;
        if (cnnvp_stats_number(stats, sweep->objectives[i].path, &number) ||
            (!has_network && depends_on_network(sweep->objectives[i].path)))
            continue;
        cnnvp_result result = check_value(sweep, point, &sweep->objectives[i], &known, error);
        if (result != CNNVP_DONE)
            return result;
        if (known)
            continue;
        cnnvp_suggest_begin(&suggest, sweep->objectives[i].path);
        offer_paths(&sweep->arena, stats, "", &suggest);
        offer_values(&sweep->arena, &suggest);
        return cnnvp_config_error(error, sweep->objectives[i].place, "the statistics have no number %s%s",
                                  cnnvp_config_show(sweep->objectives[i].path).text,
                                  cnnvp_suggest_text(&suggest, "there are"));
    }
    return CNNVP_DONE;
}

/* Statistics of a platform without a network, compact. */
static cnnvp_result bare_statistics(const struct cnnvp_point *point, char **text, struct cnnvp_error *error)
{
    const struct cnnvp_platform_options options = {.struct_size = sizeof options, .verbosity = -1};
    cnnvp_platform *platform = NULL;
    cnnvp_result result = cnnvp_platform_new(point->config, &options, &platform, error);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_stats(platform, text);
    cnnvp_platform_free(platform);
    return result;
}

cnnvp_result cnnvp_objectives_check(struct cnnvp_sweep *sweep, uint64_t number, struct cnnvp_error *error)
{
    struct cnnvp_point point;
    struct cnnvp_error reason = {""};
    char *text = NULL;
    const int runs = strcmp(sweep->command, "run") == 0;
    if (sweep->objective_count == 0)
        return CNNVP_DONE;
    cnnvp_result result = cnnvp_point_prepare(sweep, number, &point, error);
    if (result != CNNVP_DONE)
        return result;
    /* A first point that cannot be says nothing of the others. */
    if (point.config && (runs ? cnnvp_point_run(sweep, &point, 0, &text, &reason)
                              : bare_statistics(&point, &text, &reason)) == CNNVP_DONE) {
        json_t *stats = json_loads(text, JSON_ALLOW_NUL, NULL);
        result = stats ? check(sweep, number, stats, runs, error) : CNNVP_DONE;
        json_decref(stats);
    }
    free(text);
    cnnvp_point_clear(&point);
    return result;
}
