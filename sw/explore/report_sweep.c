/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a sweep's page. Its data are all points with their parameters, totals and layers, as arrays. */
#include "report.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"

struct page {
    FILE *points; /* a JSON list as text, without brackets: json_t objects would take ten times the memory */
    size_t count;
    uint64_t all; /* total number of points */
    void (*watch)(void *context, double share);
    void *context;
    json_t *params;     /* object that maps names to indexes */
    json_t *paths;      /* the same for the paths of statistics */
    json_t *metrics;    /* the same for the numbers of layers */
    json_t *lists;      /* the different lists of layer names */
    json_t *list_index; /* maps a list, as JSON text, to its index in `lists` */
    json_t *networks;   /* maps "HASH NAME" to an index */
    json_t *commands;   /* maps the words of a sweep's command line, as JSON text, to an index */
    json_t *objectives;
    const char *runs;      /* folder in which runs may be recorded, as folders named by keys */
    const char *html_runs; /* folder for the pages of these runs */
    struct cnnvp_error *error;
    cnnvp_result refused; /* not CNNVP_DONE: `error` has the reason */
    int failed;
};

static size_t index_of(json_t *names, const char *name)
{
    json_t *found = json_object_get(names, name);
    if (found == NULL) {
        found = json_integer((json_int_t)json_object_size(names));
        (void)json_object_set_new(names, name, found);
    }
    return (size_t)json_integer_value(found);
}

/* Sets an array element, and fills the gap before it with null. */
static void put_at(json_t *array, size_t index, json_t *value)
{
    while (json_array_size(array) <= index)
        (void)json_array_append_new(array, json_null());
    (void)json_array_set(array, index, value);
}

static void add_numbers(struct page *page, json_t *values, const char *path, const json_t *section)
{
    const char *key;
    json_t *member;
    char name[400];
    json_object_foreach((json_t *)(uintptr_t)section, key, member)
    {
        (void)snprintf(name, sizeof name, "%s.%s", path, key);
        if (json_is_number(member))
            put_at(values, index_of(page->paths, name), member);
        else
            add_numbers(page, values, name, member);
    }
}

static void add_objectives(struct page *page, json_t *values, const json_t *stats)
{
    size_t index;
    json_t *objective;
    json_array_foreach(page->objectives, index, objective)
    {
        const char *path = json_string_value(json_object_get(objective, "path"));
        double number;
        if (path == NULL || !cnnvp_stats_number(stats, path, &number))
            continue;
        CNNVP_JSON *value = json_real(number);
        const size_t at = index_of(page->paths, path);
        const json_t *there = json_array_get(values, at);
        if (there == NULL || json_is_null(there))
            put_at(values, at, value);
    }
}

/* Adds a layer's numbers to `flat`. The metrics are those of the first layer seen, so that every layer takes the same
 * space. With `flat` NULL, it registers their names instead. */
static void add_metrics(struct page *page, json_t *flat, size_t first, const json_t *layer, const char *prefix)
{
    const char *key;
    json_t *member;
    char name[200];
    json_object_foreach((json_t *)(uintptr_t)layer, key, member)
    {
        (void)snprintf(name, sizeof name, "%s%s", prefix, key);
        if (strcmp(key, "stall_cycles") == 0)
            add_metrics(page, flat, first, member, "stall_cycles.");
        else if (!json_is_number(member) || strcmp(key, "index") == 0)
            continue;
        else if (flat == NULL)
            (void)index_of(page->metrics, name);
        else if (json_object_get(page->metrics, name) != NULL)
            put_at(flat, first + index_of(page->metrics, name), member);
    }
}

static void add_layers(struct page *page, json_t *point, const json_t *layers)
{
    json_t *flat = json_array(), *names = json_array(), *layer;
    size_t index;
    json_array_foreach((json_t *)(uintptr_t)layers, index, layer)
    {
        const char *phase = json_string_value(json_object_get(layer, "phase"));
        const char *name = json_string_value(json_object_get(layer, "name"));
        char text[300];
        (void)snprintf(text, sizeof text, "%s%s%s", name != NULL ? name : "",
                       phase != NULL && strcmp(phase, "forward") != 0 ? " " : "",
                       phase != NULL && strcmp(phase, "forward") != 0 ? phase : "");
        (void)json_array_append_new(names, json_string(text));
        if (json_object_size(page->metrics) == 0)
            add_metrics(page, NULL, 0, layer, "");
        size_t metrics = json_object_size(page->metrics);
        if (metrics)
            put_at(flat, index * metrics + metrics - 1, json_null());
        add_metrics(page, flat, index * metrics, layer, "");
    }
    CNNVP_FREED char *joined = json_dumps(names, JSON_COMPACT);
    size_t list = joined != NULL ? index_of(page->list_index, joined) : 0;
    if (list == json_array_size(page->lists))
        (void)json_array_append(page->lists, names);
    (void)json_object_set_new(point, "list", json_integer((json_int_t)list));
    (void)json_object_set_new(point, "layers", flat);
    json_decref(names);
}

/* Stores which network a point ran: only points of the same network are comparable. */
static void add_network(struct page *page, json_t *point, const json_t *network)
{
    const char *name = json_string_value(json_object_get(network, "name"));
    const char *hash = json_string_value(json_object_get(network, "xxh3"));
    char text[400];
    (void)snprintf(text, sizeof text, "%s %s", hash != NULL ? hash : "", name != NULL ? name : "");
    (void)json_object_set_new(point, "network", json_integer((json_int_t)index_of(page->networks, text)));
}

/* Writes the page of a point's run if one was recorded. The sweep's page, in the same folder, links to it. */
static cnnvp_result add_run(struct page *page, json_t *point, const char *key)
{
    CNNVP_FREED char *folder = cnnvp_text_printf("%s/%s", page->runs, key);
    CNNVP_FREED char *stats = cnnvp_text_printf("%s/%s/stats.json", page->runs, key);
    CNNVP_FREED char *html = cnnvp_text_printf("%s/%s.html", page->html_runs, key);
    CNNVP_TRY_MEMORY(folder != NULL && stats != NULL && html != NULL, page->error);
    if (access(stats, R_OK) != 0)
        return CNNVP_DONE;
    (void)mkdir(page->html_runs, 0777);
    const cnnvp_result result = cnnvp_report_run(folder, html, page->error);
    if (result != CNNVP_DONE)
        (void)rmdir(page->html_runs); /* succeeds only if it is empty */
    (void)json_object_set_new(point, "page", json_sprintf("%s/%s.html", cnnvp_base_name(page->html_runs), key));
    return result;
}

/* Lists the members of the statistics that the page shows; NULL: out of memory. */
static char *shown_members(const struct page *page)
{
    struct cnnvp_printed members;
    size_t index;
    json_t *objective;
    FILE *stream = cnnvp_print_begin(&members);
    if (stream == NULL)
        return NULL;
    (void)fputs(CNNVP_COLUMNS "layers network ", stream);
    json_array_foreach(page->objectives, index, objective)
    {
        const char *path = json_string_value(json_object_get(objective, "path"));
        if (path != NULL)
            (void)fprintf(stream, "%.*s ", (int)strcspn(path, "."), path);
    }
    return cnnvp_print_end(&members);
}

static int take(void *context, const struct cnnvp_row *row)
{
    struct page *page = context;
    CNNVP_JSON *point = json_object();
    CNNVP_JSON *stats_values = json_array();
    CNNVP_JSON *params = row->params != NULL ? json_loads(row->params, 0, NULL) : NULL;
    json_t *values = json_array();
    CNNVP_JSON *stats = row->stats != NULL ? json_loads(row->stats, JSON_ALLOW_NUL, NULL) : NULL;
    const char *key;
    json_t *value;
    (void)json_object_set_new(point, "key", json_string(row->key));
    (void)json_object_set_new(point, "status", json_string(!row->failed && stats != NULL ? "ok" : "failed"));
    (void)json_object_set_new(point, "seconds", json_real(row->seconds));
    if (row->error != NULL)
        (void)json_object_set_new(point, "error", json_string(row->error));
    if (row->words != NULL)
        (void)json_object_set_new(point, "command", json_integer((json_int_t)index_of(page->commands, row->words)));
    json_object_foreach(params, key, value) put_at(values, index_of(page->params, key), value);
    (void)json_object_set_new(point, "params", values);
    for (size_t i = 0; stats != NULL && i < CNNVP_COLUMN_SECTIONS; ++i)
        add_numbers(page, stats_values, cnnvp_column_sections[i], json_object_get(stats, cnnvp_column_sections[i]));
    if (stats != NULL) {
        add_objectives(page, stats_values, stats);
        add_network(page, point, json_object_get(stats, "network"));
        add_layers(page, point, json_object_get(stats, "layers"));
        (void)json_object_set(point, "stats", stats_values);
        page->refused = add_run(page, point, row->key);
    }
    CNNVP_FREED char *text = json_dumps(point, JSON_COMPACT | JSON_REAL_PRECISION(15));
    page->failed |= text == NULL || fprintf(page->points, "%s%s", page->count++ ? "," : "", text) < 0;
    if (page->watch != NULL)
        page->watch(page->context, (double)page->count / (double)page->all);
    return page->failed || page->refused != CNNVP_DONE;
}

/* Lists the names in the order of their indexes. */
static json_t *names_of(json_t *names)
{
    json_t *list = json_array(), *index;
    const char *name;
    json_object_foreach(names, name, index)
    {
        CNNVP_JSON *text = json_string(name);
        put_at(list, (size_t)json_integer_value(index), text);
    }
    return list;
}

static json_t *fact(struct cnnvp_results *results, const char *name)
{
    CNNVP_FREED char *text = cnnvp_results_fact(results, name);
    json_t *value = text != NULL ? json_loads(text, 0, NULL) : NULL;
    return value != NULL ? value : json_array();
}

static cnnvp_result write_page(const struct page *page, const char *points, struct cnnvp_results *results,
                               const char *database, const char *html_file, struct cnnvp_error *error)
{
    CNNVP_JSON *root = json_pack(
        "{s:s, s:O, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "title", cnnvp_base_name(database),
        "objectives", page->objectives, "hypervolume", fact(results, "hypervolume"), "fixed", fact(results, "fixed"),
        "derived", fact(results, "derived"), "others", json_integer((json_int_t)cnnvp_results_others(results)),
        "params", names_of(page->params), "paths", names_of(page->paths), "metrics", names_of(page->metrics),
        "networks", names_of(page->networks), "commands", names_of(page->commands), "lists", page->lists);
    CNNVP_FREED char *head = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (head != NULL)
        head[strlen(head) - 1] = '\0'; /* the closing brace */
    CNNVP_FREED char *json = head != NULL ? cnnvp_text_printf("%s,\"points\":[%s]}", head, points) : NULL;
    return json != NULL && !page->failed ? cnnvp_page_write(html_file, json, cnnvp_page_sweep, error)
                                         : cnnvp_config_no_memory(error);
}

static void clear(struct page *page)
{
    json_t *const held[] = {page->params,   page->paths, page->metrics,    page->networks,
                            page->commands, page->lists, page->list_index, page->objectives};
    for (size_t i = 0; i < sizeof held / sizeof *held; ++i)
        json_decref(held[i]);
}

cnnvp_result cnnvp_report_sweep(const char *database, const char *html_file, void (*watch)(void *context, double share),
                                void *context, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_results_drop) struct cnnvp_results *results = NULL;
    CNNVP_TRY(cnnvp_results_open(database, 0, &results, error));
    CNNVP_FREED char *points = NULL;
    CNNVP_FREED char *runs = cnnvp_text_printf("%s.runs", database);
    CNNVP_FREED char *html_runs = cnnvp_text_printf("%s.runs", html_file);
    size_t size = 0;
    CNNVP_SCOPED(clear)
    struct page page = {
        .points = open_memstream(&points, &size),
        .all = cnnvp_results_count(results),
        .watch = watch,
        .context = context,
        .params = json_object(),
        .paths = json_object(),
        .metrics = json_object(),
        .networks = json_object(),
        .commands = json_object(),
        .lists = json_array(),
        .list_index = json_object(),
        .objectives = fact(results, "objectives"),
        .runs = runs,
        .html_runs = html_runs,
        .error = error};
    CNNVP_FREED char *members = shown_members(&page);
    cnnvp_result result = page.points != NULL && runs != NULL && html_runs != NULL && members != NULL
                              ? cnnvp_results_each(results, members, take, &page, error)
                              : cnnvp_config_no_memory(error);
    if (page.points != NULL)
        page.failed |= fclose(page.points) != 0;
    CNNVP_TRY(result);
    CNNVP_TRY(page.refused);
    return page.count != 0 ? write_page(&page, points, results, database, html_file, error)
                           : cnnvp_config_error(error, database, "has no points");
}
