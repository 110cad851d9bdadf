/* SPDX-License-Identifier: Apache-2.0 */
/* Finds objectives of a sweep: numbers in stats.json, named by paths such as energy.total_pj or layers.C1.cycles. */
#include <stdlib.h>
#include <string.h>

#include "explore.h"

/* Finds an element of a list by its index, its `name`, or its `from` and `to` as FROM-TO. */
static const json_t *element(const json_t *list, const char *word)
{
    size_t index;
    json_t *item;
    if (*word && strspn(word, "0123456789") == strlen(word))
        return json_array_get(list, strtoul(word, NULL, 10));
    json_array_foreach((json_t *)(uintptr_t)list, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name != NULL && strcmp(name, word) == 0)
            return item;
        const char *from = json_string_value(json_object_get(item, "from"));
        const char *to = json_string_value(json_object_get(item, "to"));
        size_t length = from != NULL ? strlen(from) : 0;
        if (from != NULL && to != NULL && strncmp(word, from, length) == 0 && word[length] == '-' &&
            strcmp(word + length + 1, to) == 0)
            return item;
    }
    return NULL;
}

/* Follows a path. Names, such as those of layers, may contain dots, so the longest match is tried first. */
static const json_t *walk(const json_t *value, const char *path, size_t depth)
{
    char word[512];
    size_t length = strlen(path);
    if (value == NULL || depth > 16 || length >= sizeof word)
        return NULL;
    if (length == 0)
        return value;
    for (size_t end = length; end > 0; --end) {
        if (path[end] != '.' && path[end] != '\0')
            continue;
        memcpy(word, path, end);
        word[end] = '\0';
        const json_t *next = json_is_array(value) ? element(value, word) : json_object_get(value, word);
        const json_t *found = next != NULL ? walk(next, path + end + (path[end] == '.'), depth + 1) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* 1: the part of a unit in a layer that is there. Statistics leave it out if it is 0. Of a stored point, only the
 * members that objectives name are there. */
static int is_part_of_layer(const json_t *stats, const char *path)
{
    const json_t *units = json_object_get(stats, "units");
    static const char *const parts[] = {".energy_by_unit.", ".critical_path."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && strncmp(path, "layers.", 7) == 0; ++i) {
        const char *middle = strstr(path, parts[i]);
        char layer[512];
        if (middle == NULL || strlen(path) >= sizeof layer)
            continue;
        (void)snprintf(layer, sizeof layer, "%.*s.cycles", (int)(middle - path), path);
        return walk(stats, layer, 0) != NULL &&
               (units == NULL || json_object_get(units, middle + strlen(parts[i])) != NULL);
    }
    return 0;
}

int cnnvp_stats_number(const json_t *stats, const char *path, double *number)
{
    const json_t *found = walk(stats, path, 0);
    *number = json_number_value(found);
    return json_is_number(found) || (found == NULL && is_part_of_layer(stats, path));
}

cnnvp_result cnnvp_stats_value(const char *stats_json, const char *name, double *value, struct cnnvp_error *error)
{
    CNNVP_JSON *stats = json_loads(stats_json, JSON_ALLOW_NUL, NULL);
    return cnnvp_stats_number(stats, name, value)
               ? CNNVP_DONE
               : cnnvp_config_error(error, NULL, "the statistics have no number \"%s\"", name);
}

const char *const cnnvp_column_sections[CNNVP_COLUMN_SECTIONS] = {
    "total", "summary", "memory", "storage", "energy", "area"};

int cnnvp_objectives_of(const struct cnnvp_sweep *sweep, const json_t *stats, double *values)
{
    for (size_t i = 0; i < sweep->objective_count; ++i) {
        if (!cnnvp_stats_number(stats, sweep->objectives[i].path, &values[i]))
            return 0;
        if (sweep->objectives[i].maximise)
            values[i] = -values[i];
    }
    return 1;
}
