/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks objectives before anything runs, against statistics of a point that are made without running it. The point is
 * the first one of the sweep that can be planned. Statistics of the platform, and all those of `command: run`, are made
 * here. The cnnvp program, which reads the data set, makes those that only a network in training has. A point may be
 * refused or crash without saying anything about the others, so each attempt has a process of its own.
 */
#include <string.h>
#include <unistd.h>

#include "explore.h"

enum { TRIES = 16 }; /* points that are tried until one has statistics */

/* Offers the paths of all numbers as suggestions. */
static void offer_paths(struct cnnvp_arena *arena, const json_t *value, const char *path, struct cnnvp_suggest *suggest)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_number(value))
        cnnvp_suggest_offer(suggest, path);
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const char *name = cnnvp_arena_printf(arena, "%s%s%s", path, *path ? "." : "", key);
        if (name != NULL && strcmp(name, "platform") != 0)
            offer_paths(arena, member, name, suggest);
    }
    json_array_foreach((json_t *)(uintptr_t)value, index, member)
    {
        const char *word = json_string_value(json_object_get(member, "name"));
        const char *from = json_string_value(json_object_get(member, "from"));
        const char *to = json_string_value(json_object_get(member, "to"));
        const char *name = word != NULL                 ? cnnvp_arena_printf(arena, "%s.%s", path, word)
                           : from != NULL && to != NULL ? cnnvp_arena_printf(arena, "%s.%s-%s", path, from, to)
                                                        : NULL;
        if (name != NULL)
            offer_paths(arena, member, name, suggest);
    }
}

static const struct cnnvp_value_help *find_value(const char *path)
{
    char name[64];
    for (size_t i = 0; i < cnnvp_value_count; ++i) {
        (void)snprintf(name, sizeof name, "values.%s.%s", cnnvp_value_table[i].object, cnnvp_value_table[i].name);
        if (strcmp(name, path) == 0)
            return &cnnvp_value_table[i];
    }
    return NULL;
}

static int has_option(const struct cnnvp_sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].kind == CNNVP_AXIS_OPTION && strcmp(sweep->axes[i].name, name) == 0)
            return 1;
    return 0;
}

/* Checks an objective below `values`, whose members exist only after a run; *known 1: the run will have it. */
static cnnvp_result check_value(const struct cnnvp_sweep *sweep, uint64_t number,
                                const struct cnnvp_objective *objective, int *known, struct cnnvp_error *error)
{
    const struct cnnvp_value_help *value = find_value(objective->path);
    const int trains = strcmp(sweep->command, "train") == 0;
    const struct cnnvp_axis_value *timing = cnnvp_point_option(sweep, number, "timing_only");
    *known = 0;
    if (strcmp(objective->path, "wall_seconds") == 0)
        return cnnvp_config_error(
            error, objective->place, "wall_seconds is the host's time, which differs from run to run: no objective");
    if (strncmp(objective->path, "values.", 7) != 0)
        return CNNVP_DONE;
    if (timing != NULL && strcmp(timing->text, "true") == 0)
        return cnnvp_config_error(error, objective->place, "there are no values with timing_only");
    if (value != NULL && trains != (strcmp(value->object, "training") == 0))
        return cnnvp_config_error(error, objective->place, "command: %s has no %s", sweep->command, objective->path);
    if (value != NULL && *value->needs && !has_option(sweep, value->needs))
        return cnnvp_config_error(error, objective->place, "%s needs the option %s", objective->path, value->needs);
    *known = value != NULL || (strncmp(objective->path, "values.accuracy.", 16) != 0 &&
                               strncmp(objective->path, "values.training.", 16) != 0);
    return CNNVP_DONE;
}

static void offer_values(struct cnnvp_arena *arena, struct cnnvp_suggest *suggest)
{
    for (size_t i = 0; i < cnnvp_value_count; ++i) {
        const char *name =
            cnnvp_arena_printf(arena, "values.%s.%s", cnnvp_value_table[i].object, cnnvp_value_table[i].name);
        if (name != NULL)
            cnnvp_suggest_offer(suggest, name);
    }
}

/* 1: the statistic exists only with a network or a program. */
static int depends_on_network(const char *path)
{
    static const char *const sections[] = {"layers.", "tensors.", "links.", "network.", "program."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
        if (strncmp(path, sections[i], strlen(sections[i])) == 0)
            return 1;
    return 0;
}

/* 1: the statistic appears with the first memory request: units.UNIT.requesters.REQUESTER.STATISTIC, or tensor 0, which
 * counts the traffic that belongs to no tensor. */
static int comes_later(const json_t *stats, const char *path)
{
    static const char word[] = ".requesters.";
    const char *middle = strstr(path, word), *begin = middle != NULL ? middle + sizeof word - 1 : NULL;
    const char *dot = begin != NULL ? strchr(begin, '.') : NULL;
    char name[256], total[256];
    double number;
    if (strncmp(path, "tensors.0.", 10) == 0 && json_array_size(json_object_get(stats, "tensors")) == 0)
        return 1;
    if (dot == NULL || strncmp(path, "units.", 6) != 0 || strlen(path) >= sizeof name)
        return 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)(dot - begin), begin);
    (void)snprintf(total, sizeof total, "%.*s%s", (int)(middle - path), path, dot);
    return json_object_get(json_object_get(stats, "units"), name) != NULL && cnnvp_stats_number(stats, total, &number);
}

static cnnvp_result check(struct cnnvp_sweep *sweep, uint64_t point, const json_t *stats, int has_network,
                          struct cnnvp_error *error)
{
    for (size_t i = 0; i < sweep->objective_count; ++i) {
        struct cnnvp_suggest suggest;
        double number;
        int known = 0;
        if ((cnnvp_stats_number(stats, sweep->objectives[i].path, &number) &&
             strcmp(sweep->objectives[i].path, "wall_seconds") != 0) ||
            comes_later(stats, sweep->objectives[i].path) ||
            (!has_network && depends_on_network(sweep->objectives[i].path)))
            continue;
        CNNVP_TRY(check_value(sweep, point, &sweep->objectives[i], &known, error));
        if (known)
            continue;
        cnnvp_suggest_begin(&suggest, sweep->objectives[i].path);
        offer_paths(&sweep->arena, stats, "", &suggest);
        offer_values(&sweep->arena, &suggest);
        suggest.list_length = 0; /* no full list: there are hundreds */
        return cnnvp_config_error(
            error, sweep->objectives[i].place, "the statistics have no number %s%s (`cnnvp models stats` lists them)",
            cnnvp_config_show(sweep->objectives[i].path).text, cnnvp_suggest_text(&suggest, ""));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_objectives_check_program(const struct cnnvp_sweep *sweep, const char *stats,
                                            struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    CNNVP_JSON *all = json_loads(stats, 0, NULL);
    for (size_t i = 0; all != NULL && i < sweep->objective_count; ++i) {
        const char *path = sweep->objectives[i].path;
        struct cnnvp_suggest suggest;
        double number;
        if (!depends_on_network(path) || cnnvp_stats_number(all, path, &number))
            continue;
        cnnvp_suggest_begin(&suggest, path);
        offer_paths(&arena, json_object_get(all, "program"), "program", &suggest);
        offer_paths(&arena, json_object_get(all, "layers"), "layers", &suggest);
        return cnnvp_config_error(error, sweep->objectives[i].place, "the program has no number %s%s",
                                  cnnvp_config_show(path).text, cnnvp_suggest_text(&suggest, "it has"));
    }
    return CNNVP_DONE;
}

/* ---- in a process of its own ---- */

/* Makes the compact statistics of a platform that has not run: with the network for `command: run`, else without. */
static cnnvp_result make_statistics(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point, char **text,
                                    struct cnnvp_error *error)
{
    const struct cnnvp_platform_options options = {.struct_size = sizeof options, .verbosity = -1};
    CNNVP_SCOPED(cnnvp_platform_drop) cnnvp_platform *platform = NULL;
    if (strcmp(sweep->command, "run") == 0)
        return cnnvp_point_run(sweep, point, 0, text, error);
    CNNVP_TRY(cnnvp_platform_new(point->config, &options, &platform, error));
    return cnnvp_platform_stats(platform, text);
}

/* In the new process: never returns. */
static void tell_statistics(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point, FILE *to)
{
    struct cnnvp_error error = {""};
    char *text = NULL;
    const int good = make_statistics(sweep, point, &text, &error) == CNNVP_DONE && fputs(text, to) >= 0;
    _exit(good && fflush(to) == 0 ? 0 : 1);
}

/* Makes the statistics in a child process; NULL if it fails. */
static char *hear_statistics(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point)
{
    FILE *file = tmpfile();
    char *text = NULL;
    size_t room = 0;
    int status = 1;
    const pid_t child = file != NULL ? fork() : -1;
    if (child == 0)
        tell_statistics(sweep, point, file);
    if (child > 0)
        (void)cnnvp_process_ended(child, 0, &status);
    if (status == 0 && fseek(file, 0, SEEK_SET) == 0)
        (void)(getdelim(&text, &room, '\0', file) < 0);
    if (file != NULL)
        (void)fclose(file);
    return text;
}

/* Who makes statistics of points that have not run. */
struct maker {
    const char *program, *file; /* the cnnvp program and its output; NULL: a forked process */
};

/* Checks all objectives against one point; *known 0: it has no statistics. */
static cnnvp_result check_point(struct cnnvp_sweep *sweep, const struct maker *maker, uint64_t number, int *known,
                                struct cnnvp_error *error)
{
    struct cnnvp_error reason = {""};
    CNNVP_SCOPED(cnnvp_point_clear) struct cnnvp_point point = {.config = NULL};
    CNNVP_FREED char *text = NULL;
    CNNVP_TRY(cnnvp_point_prepare(sweep, number, &point, error));
    cnnvp_result result = CNNVP_DONE;
    if (point.config != NULL && maker->program == NULL)
        text = hear_statistics(sweep, &point);
    else if (point.config != NULL)
        result = cnnvp_point_spawn(sweep, &point, 0, maker->program, maker->file, &text, &reason);
    CNNVP_JSON *stats = text != NULL && result == CNNVP_DONE ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    *known = stats != NULL;
    return stats != NULL
               ? check(sweep, number, stats, maker->program != NULL || strcmp(sweep->command, "run") == 0, error)
               : CNNVP_DONE;
}

/* Chooses another point to try: the next one if there are few combinations, else a random one. */
static cnnvp_result next_point(const struct cnnvp_sweep *sweep, struct cnnvp_chance *chance, uint64_t *number,
                               int *found, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;
    *found = 0;
    if (sweep->combinations > TRIES)
        return cnnvp_space_random(sweep, chance, number, found, error);
    while (result == CNNVP_DONE && !*found && ++*number < sweep->combinations)
        result = cnnvp_point_allowed(sweep, *number, found, error);
    return result;
}

static cnnvp_result check_points(struct cnnvp_sweep *sweep, const struct maker *maker, uint64_t number,
                                 struct cnnvp_error *error)
{
    struct cnnvp_chance chance = {0};
    int known = 0, found = 1;
    for (int i = 0; i < TRIES && found && !known; ++i) {
        CNNVP_TRY(check_point(sweep, maker, number, &known, error));
        if (!known)
            CNNVP_TRY(next_point(sweep, &chance, &number, &found, error));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_objectives_check(struct cnnvp_sweep *sweep, uint64_t number, struct cnnvp_error *error)
{
    const struct maker ours = {NULL, NULL};
    return sweep->objective_count ? check_points(sweep, &ours, number, error) : CNNVP_DONE;
}

cnnvp_result cnnvp_objectives_check_training(struct cnnvp_sweep *sweep, const char *program, const char *folder,
                                             struct cnnvp_error *error)
{
    uint64_t number = 0;
    int needed = 0;
    for (size_t i = 0; i < sweep->objective_count && strcmp(sweep->command, "train") == 0; ++i)
        needed |= depends_on_network(sweep->objectives[i].path);
    if (!needed)
        return CNNVP_DONE;
    CNNVP_FREED char *file = cnnvp_text_printf("%s/first.json", folder);
    CNNVP_TRY(file != NULL ? cnnvp_space_first(sweep, &number, error) : cnnvp_config_no_memory(error));
    const struct maker trained = {program, file};
    return check_points(sweep, &trained, number, error);
}
