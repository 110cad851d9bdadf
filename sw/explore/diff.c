/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the statistics of two runs, and writes one run's layers as CSV. Numbers are compared, and written to CSV, as
 * they stand in stats.json. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "explore.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Formats a scalar as in stats.json; "-" if it is missing. */
static void format_value(char *buffer, size_t size, const json_t *value)
{
    if (json_is_integer(value))
        (void)snprintf(buffer, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        (void)snprintf(buffer, size, "%.15g", json_real_value(value));
    else if (json_is_string(value))
        (void)snprintf(buffer, size, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        (void)snprintf(buffer, size, "%s", json_is_true(value) ? "true" : "false");
    else
        (void)snprintf(buffer, size, "-");
}

/* ---- CSV of one run ---- */

static void write_stalls(FILE *stream, const json_t *stalls, const json_t *names)
{
    const char *cause;
    json_t *unused;
    json_object_foreach((json_t *)(uintptr_t)names, cause, unused)
    {
        char text[40];
        format_value(text, sizeof text, json_object_get(stalls, cause));
        cnnvp_csv_field(stream, text, 0);
    }
}

static void write_layers(FILE *stream, const json_t *layers)
{
    static const char *const before[] = {
        "index", "name", "op", "phase", "macs", "start_ps", "end_ps", "cycles", "compute_cycles"};
    static const char *const after[] = {
        "utilization",     "compute_utilization", "input_words",      "weight_words", "output_words",
        "dram_read_bytes", "dram_write_bytes",    "dram_burst_bytes", "energy_pj"};
    const json_t *stalls = json_object_get(json_array_get(layers, 0), "stall_cycles");
    const char *cause;
    size_t index;
    json_t *layer, *unused;
    for (size_t i = 0; i < sizeof before / sizeof *before; ++i)
        cnnvp_csv_field(stream, before[i], 0);
    json_object_foreach((json_t *)(uintptr_t)stalls, cause, unused)(void) fprintf(stream, "stall_cycles.%s,", cause);
    for (size_t i = 0; i < sizeof after / sizeof *after; ++i)
        cnnvp_csv_field(stream, after[i], i + 1 == sizeof after / sizeof *after);
    json_array_foreach((json_t *)(uintptr_t)layers, index, layer)
    {
        char text[512];
        for (size_t i = 0; i < sizeof before / sizeof *before; ++i) {
            format_value(text, sizeof text, json_object_get(layer, before[i]));
            cnnvp_csv_field(stream, text, 0);
        }
        write_stalls(stream, json_object_get(layer, "stall_cycles"), stalls);
        for (size_t i = 0; i < sizeof after / sizeof *after; ++i) {
            format_value(text, sizeof text, json_object_get(layer, after[i]));
            cnnvp_csv_field(stream, text, i + 1 == sizeof after / sizeof *after);
        }
    }
}

cnnvp_result cnnvp_layers_csv(const char *stats_json, const char *csv_file, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_JSON *root = json_loads(stats_json, JSON_ALLOW_NUL, NULL);
    struct cnnvp_printed csv;
    if (root == NULL)
        return cnnvp_config_error(error, NULL, "the statistics cannot be read");
    if (cnnvp_print_begin(&csv) != NULL)
        write_layers(csv.stream, json_object_get(root, "layers"));
    CNNVP_FREED char *text = cnnvp_print_end(&csv);
    return text != NULL ? cnnvp_write_text(csv_file, text, csv.size, error) : cnnvp_config_no_memory(error);
}

/* ---- two runs ---- */

/* One difference, as printed. */
struct line {
    const char *section;
    const char *name, *left, *right;
    const char *change, *percent; /* "" unless both values are numbers */
    double size;                  /* absolute change, for sorting */
};

struct comparison {
    FILE *table;
    FILE *csv;        /* NULL: no CSV */
    double threshold; /* relative to the first run; the table leaves out numbers that differ by less */
    uint64_t smaller; /* count of the numbers left out */
    const char *title;
    struct cnnvp_arena arena;
    struct line *lines;
    size_t count;
    size_t sections; /* printed so far */
    int no_memory;
};

static int is_same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        return x >= y && x <= y;
    }
    return a != NULL && b != NULL ? json_equal(a, b) : a == b;
}

static int is_small(const struct comparison *comparison, const json_t *a, const json_t *b)
{
    if (!json_is_number(a) || !json_is_number(b))
        return 0;
    const double x = json_number_value(a), y = json_number_value(b);
    return fabs(y - x) < comparison->threshold * fabs(x);
}

/* The files have 15 significant digits, so the difference is rounded to the decimals of the larger number. */
static void format_change(char *buffer, size_t size, double x, double y)
{
    char rounded[340]; /* the largest number has 309 digits */
    const double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    double limit = 1;
    int decimals = 15;
    for (; decimals > 0 && larger >= limit; --decimals)
        limit *= 10;
    (void)snprintf(rounded, sizeof rounded, "%.*f", decimals, y - x);
    (void)snprintf(buffer, size, "%+.15g", strtod(rounded, NULL));
}

/* Writes a percentage, or a factor such as "x12.5" if the number is ten times as large or more. */
static void format_percent(char *buffer, size_t size, double x, double y)
{
    const double times = fabs(x) > 0 ? y / x : 0;
    *buffer = '\0';
    if (fabs(times) >= 10)
        (void)snprintf(buffer, size, "x%.4g", times);
    else if (fabs(x) > 0)
        (void)snprintf(buffer, size, "%+.2f%%", 100.0 * (y - x) / x);
}

static void keep_line(struct comparison *comparison, const struct line *given)
{
    struct line *lines = cnnvp_grow(comparison->lines, comparison->count, sizeof *lines);
    comparison->no_memory |= lines == NULL;
    if (lines == NULL)
        return;
    comparison->lines = lines;
    struct line *line = &comparison->lines[comparison->count++];
    const char **const texts[] = {
        &line->section, &line->name, &line->left, &line->right, &line->change, &line->percent};
    *line = *given;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        *texts[i] = cnnvp_arena_text(&comparison->arena, *texts[i]);
        if (*texts[i] == NULL) {
            *texts[i] = "";
            comparison->no_memory = 1;
        }
    }
}

static void add_difference(struct comparison *comparison, const char *name, const json_t *a, const json_t *b)
{
    char path[600], left[256], right[256], change[80] = "", percent[40] = "";
    const double x = json_number_value(a), y = json_number_value(b);
    const int as_set = strcmp(comparison->title, "configuration") == 0; /* settings are shown unformatted */
    const int both = json_is_number(a) && json_is_number(b);
    (void)snprintf(path, sizeof path, "%s.%s", comparison->title, name);
    format_value(left, sizeof left, a);
    format_value(right, sizeof right, b);
    if (!as_set && json_is_number(a))
        cnnvp_show_statistic(left, sizeof left, path, x, "");
    if (!as_set && json_is_number(b))
        cnnvp_show_statistic(right, sizeof right, path, y, "");
    if (both) {
        cnnvp_show_statistic(change, sizeof change, path, y - x, "+");
        format_percent(percent, sizeof percent, x, y);
    }
    const struct line line = {comparison->title, name, left, right, change, percent, both ? fabs(y - x) : 0};
    keep_line(comparison, &line);
}

static void add_line(struct comparison *comparison, const char *name, const json_t *a, const json_t *b)
{
    char left[256], right[256], change[80] = "";
    format_value(left, sizeof left, a);
    format_value(right, sizeof right, b);
    if (json_is_number(a) && json_is_number(b))
        format_change(change, sizeof change, json_number_value(a), json_number_value(b));
    if (comparison->csv != NULL) {
        cnnvp_csv_field(comparison->csv, comparison->title, 0);
        cnnvp_csv_field(comparison->csv, name, 0);
        cnnvp_csv_field(comparison->csv, left, 0);
        cnnvp_csv_field(comparison->csv, right, 0);
        cnnvp_csv_field(comparison->csv, change, 1);
    }
    if (is_same(a, b))
        return;
    if (is_small(comparison, a, b))
        ++comparison->smaller;
    else
        add_difference(comparison, name, a, b);
}

/* Compares all scalars of two objects, path by path. */
static void compare(struct comparison *comparison, const char *path, const json_t *a, const json_t *b, int depth)
{
    const char *key;
    json_t *member;
    char name[512];
    if (!json_is_object(a) && !json_is_object(b)) {
        if (!json_is_array(a) && !json_is_array(b))
            add_line(comparison, path, a, b);
        return;
    }
    if (depth > 12)
        return;
    json_object_foreach((json_t *)(uintptr_t)a, key, member)
    {
        (void)snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", key);
        compare(comparison, name, member, json_object_get(b, key), depth + 1);
    }
    json_object_foreach((json_t *)(uintptr_t)b, key, member)
    {
        (void)snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", key);
        if (json_object_get(a, key) == NULL)
            compare(comparison, name, NULL, member, depth + 1);
    }
}

static void section(struct comparison *comparison, const char *title, const json_t *a, const json_t *b)
{
    comparison->title = title;
    compare(comparison, "", a, b, 0);
}

static int has_name_of(const json_t *layer, const json_t *wanted)
{
    return strcmp(text_of(layer, "name"), text_of(wanted, "name")) == 0 &&
           strcmp(text_of(layer, "phase"), text_of(wanted, "phase")) == 0;
}

/* Finds in `layers` the layer with the name and phase of `wanted`, which belongs to `own`. If several layers share
 * them, they are matched in order. */
static json_t *find_layer(const json_t *layers, const json_t *own, const json_t *wanted)
{
    size_t index;
    size_t before = 0;
    json_t *layer;
    json_array_foreach((json_t *)(uintptr_t)own, index, layer)
    {
        if (layer == wanted)
            break;
        before += has_name_of(layer, wanted) ? 1 : 0;
    }
    json_array_foreach((json_t *)(uintptr_t)layers, index,
                       layer) if (has_name_of(layer, wanted) && before-- == 0) return layer;
    return NULL;
}

static void compare_layer(struct comparison *comparison, const json_t *a, const json_t *b)
{
    char title[300];
    const json_t *named = a != NULL ? a : b;
    int phase = strcmp(text_of(named, "phase"), "forward") != 0;
    (void)snprintf(title, sizeof title, "layer %s%s%s%s", text_of(named, "name"), phase ? " (" : "",
                   phase ? text_of(named, "phase") : "", phase ? ")" : "");
    section(comparison, title, a, b);
}

static void compare_layers(struct comparison *comparison, const json_t *a, const json_t *b)
{
    size_t index;
    json_t *layer;
    json_array_foreach((json_t *)(uintptr_t)a, index, layer) compare_layer(comparison, layer, find_layer(b, a, layer));
    json_array_foreach((json_t *)(uintptr_t)b, index, layer) if (find_layer(a, b, layer) == NULL)
        compare_layer(comparison, NULL, layer);
}

static void compare_sections(struct comparison *comparison, const char *const *names, size_t count, const json_t *a,
                             const json_t *b)
{
    for (size_t i = 0; i < count; ++i)
        section(comparison, names[i], json_object_get(a, names[i]), json_object_get(b, names[i]));
}

/* Warns if the totals of the two runs are not comparable. */
static void warn(const struct comparison *comparison, const json_t *a, const json_t *b)
{
    const json_t *images_a = json_object_get(json_object_get(a, "total"), "images");
    const json_t *images_b = json_object_get(json_object_get(b, "total"), "images");
    const int is_partial[] = {json_is_true(json_object_get(a, "partial")), json_is_true(json_object_get(b, "partial"))};
    char left[40], right[40];
    int warned = !is_same(images_a, images_b);
    format_value(left, sizeof left, images_a);
    format_value(right, sizeof right, images_b);
    if (warned)
        (void)fprintf(comparison->table, "warning: the numbers of images differ, %s and %s: totals are of all images\n",
                      left, right);
    for (size_t i = 0; i < 2; ++i)
        if (is_partial[i])
            (void)fprintf(comparison->table,
                          "warning: the %s run did not come to its end: its statistics are partial\n",
                          i ? "second" : "first");
    if (warned || is_partial[0] || is_partial[1])
        (void)fputc('\n', comparison->table);
}

/* A run's schedule in words, with its number of fused groups. */
static json_t *schedule_words(const json_t *run)
{
    const json_t *schedule = json_object_get(run, "schedule");
    const size_t groups = json_array_size(json_object_get(schedule, "groups"));
    const char *name = schedule != NULL ? text_of(schedule, "name") : "layer";
    return groups != 0 ? json_sprintf("%s, %zu group%s", name, groups, groups == 1 ? "" : "s") : json_string(name);
}

/* A plan that is run again has another name of its schedule and other options, and makes no difference. */
static void compare_schedules(struct comparison *comparison, const json_t *a, const json_t *b)
{
    CNNVP_JSON *before = schedule_words(a);
    CNNVP_JSON *after = schedule_words(b);
    if (is_same(json_object_get(a, "layers"), json_object_get(b, "layers")))
        return;
    if (!is_same(before, after))
        add_difference(comparison, "schedule", before, after);
    section(comparison, "configuration", json_object_get(a, "options"), json_object_get(b, "options"));
}

/* In order of importance: whether the work is the same, totals and costs, settings, and where these take effect. */
static void compare_runs(struct comparison *comparison, json_t *a, json_t *b)
{
    static const char *const first[] = {"summary", "total", "energy", "area"};
    static const char *const last[] = {"memory", "storage", "units", "program", "values"};
    const json_t *network_a = json_object_get(a, "network"), *network_b = json_object_get(b, "network");
    if (strcmp(text_of(network_a, "xxh3"), text_of(network_b, "xxh3")) != 0)
        (void)fprintf(comparison->table, "the networks differ: %s and %s\n\n", text_of(network_a, "name"),
                      text_of(network_b, "name"));
    warn(comparison, a, b);
    compare_sections(comparison, first, sizeof first / sizeof *first, a, b);
    comparison->title = "configuration";
    compare_schedules(comparison, a, b);
    section(comparison, "configuration", json_object_get(a, "platform"), json_object_get(b, "platform"));
    section(comparison, "network", network_a, network_b);
    compare_layers(comparison, json_object_get(a, "layers"), json_object_get(b, "layers"));
    compare_sections(comparison, last, sizeof last / sizeof *last, a, b);
}

/* ---- what is printed ---- */

/* Prints lines below a title, in columns that fit their content. `parent`: prefixes each name with its section. */
static void print_lines(struct comparison *comparison, const char *title, const struct line *const *lines, size_t count,
                        int parent)
{
    FILE *table = comparison->table;
    enum { NAME, LEFT, RIGHT, CHANGE, PERCENT, COLUMNS, MOST = 24 };
    int widths[COLUMNS] = {0};
    for (size_t i = 0; i < count; ++i) {
        const struct line *line = lines[i];
        const int prefix = parent ? (int)strlen(line->section) + 1 : 0;
        const int found[COLUMNS] = {prefix + (int)strlen(line->name), (int)strlen(line->left), (int)strlen(line->right),
                                    (int)strlen(line->change), (int)strlen(line->percent)};
        for (size_t column = 0; column < COLUMNS; ++column)
            if (found[column] > widths[column] && (column == NAME || found[column] <= MOST))
                widths[column] = found[column];
    }
    if (count > 0)
        (void)fprintf(table, "%s%s\n", comparison->sections++ ? "\n" : "", title);
    for (size_t i = 0; i < count; ++i) {
        const struct line *line = lines[i];
        const int prefix = parent ? (int)strlen(line->section) + 1 : 0;
        (void)fprintf(table, "  %s%s%-*s  %*s  %*s", parent ? line->section : "", parent ? "." : "",
                      widths[NAME] - prefix, line->name, widths[LEFT], line->left, widths[RIGHT], line->right);
        if (*line->change != '\0')
            (void)fprintf(table, "  %*s", widths[CHANGE], line->change);
        if (*line->percent != '\0')
            (void)fprintf(table, "  %*s", widths[PERCENT], line->percent);
        (void)fputc('\n', table);
    }
}

static void print_all(struct comparison *comparison, const struct line **chosen)
{
    size_t first = 0;
    for (size_t i = 0; i < comparison->count; ++i) {
        chosen[i] = &comparison->lines[i];
        const int last =
            i + 1 == comparison->count || strcmp(chosen[i]->section, comparison->lines[i + 1].section) != 0;
        if (last) {
            print_lines(comparison, chosen[first]->section, chosen + first, i + 1 - first, 0);
            first = i + 1;
        }
    }
}

static int compare_sizes(const void *a, const void *b)
{
    const struct line *const *x = a, *const *y = b;
    if ((*x)->size > (*y)->size || (*x)->size < (*y)->size)
        return (*x)->size > (*y)->size ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Prints at most 20 lines: changed settings, totals of the run, and the layers whose cycles changed most. */
static void print_short(struct comparison *comparison, const struct line **chosen)
{
    enum { LINES = 20, MOST_SET = 7 };
    static const char *const totals[][2] = {
        {"total", "time_ps"},      {"total", "accel_cycles"},      {"total", "images_per_s"},
        {"energy", "total_pj"},    {"summary", "tops_per_watt"},   {"area", "total_um2"},
        {"summary", "peak_share"}, {"summary", "bandwidth_share"}, {"summary", "bound_by"},
        {"memory", "read_bytes"},  {"memory", "write_bytes"},      {"total", "macs"}};
    const size_t count = comparison->count;
    struct line *const lines = comparison->lines;
    size_t set = 0, whole = 0, layers = 0;
    for (size_t i = 0; i < count && set < MOST_SET; ++i)
        if (strcmp(lines[i].section, "configuration") == 0)
            chosen[set++] = &lines[i];
    print_lines(comparison, "configuration", chosen, set, 0);
    for (size_t t = 0; t < sizeof totals / sizeof *totals; ++t)
        for (size_t i = 0; i < count; ++i)
            if (strcmp(lines[i].section, totals[t][0]) == 0 && strcmp(lines[i].name, totals[t][1]) == 0)
                chosen[whole++] = &lines[i];
    print_lines(comparison, "the whole run", chosen, whole, 1);
    for (size_t i = 0; i < count; ++i)
        if (strncmp(lines[i].section, "layer ", 6) == 0 && strcmp(lines[i].name, "cycles") == 0 && lines[i].size > 0)
            chosen[layers++] = &lines[i];
    qsort((void *)chosen, layers, sizeof *chosen, compare_sizes);
    layers = layers < LINES - set - whole ? layers : LINES - set - whole;
    for (size_t i = 0; i < layers; ++i)
        ((struct line *)(uintptr_t)chosen[i])->name = chosen[i]->section + 6;
    print_lines(comparison, "cycles of the layers that changed most", chosen, layers, 0);
    if (count > set + whole + layers)
        (void)fprintf(comparison->table, "%s%zu more numbers differ; --all lists them\n",
                      comparison->sections ? "\n" : "", count - set - whole - layers);
}

static cnnvp_result print_comparison(struct comparison *comparison, int all, struct cnnvp_error *error)
{
    CNNVP_FREED const struct line **chosen = calloc(comparison->count + 1, sizeof *chosen);
    CNNVP_TRY_MEMORY(chosen != NULL && !comparison->no_memory, error);
    if (all)
        print_all(comparison, chosen);
    else
        print_short(comparison, chosen);
    if (comparison->smaller)
        (void)fprintf(comparison->table, "%s%" PRIu64 " numbers differ by less than %g %%\n",
                      comparison->sections ? "\n" : "", comparison->smaller, 100.0 * comparison->threshold);
    else if (!comparison->count)
        (void)fputs("no differences\n", comparison->table);
    return CNNVP_DONE;
}

/* Reads a file of statistics, or those in a run's folder. */
static cnnvp_result read_run(const char *name, json_t **root, struct cnnvp_error *error)
{
    struct stat status;
    const int is_folder = stat(name, &status) == 0 && S_ISDIR(status.st_mode);
    CNNVP_FREED char *file = cnnvp_text_printf("%s%s", name, is_folder ? "/stats.json" : "");
    return file != NULL ? cnnvp_read_document(file, CNNVP_STATS_SCHEMA, NULL, root, error)
                        : cnnvp_config_no_memory(error);
}

cnnvp_result cnnvp_stats_diff(const char *run_a, const char *run_b, double threshold, int all, const char *csv_file,
                              char **table, uint64_t *differences, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    struct comparison comparison = {.title = "", .threshold = threshold};
    CNNVP_JSON *a = NULL, *b = NULL;
    struct cnnvp_printed printed, listed = {.text = NULL};
    *table = NULL;
    CNNVP_TRY(read_run(run_a, &a, error));
    CNNVP_TRY(read_run(run_b, &b, error));
    comparison.table = cnnvp_print_begin(&printed);
    comparison.csv = csv_file != NULL ? cnnvp_print_begin(&listed) : NULL;
    cnnvp_result result = CNNVP_DONE;
    if (comparison.csv != NULL)
        (void)fputs("section,name,a,b,change\n", comparison.csv);
    if (comparison.table != NULL && (csv_file == NULL || comparison.csv != NULL)) {
        compare_runs(&comparison, a, b);
        result = print_comparison(&comparison, all, error);
    }
    *table = cnnvp_print_end(&printed);
    CNNVP_FREED char *csv = csv_file != NULL ? cnnvp_print_end(&listed) : NULL;
    if (*table == NULL || (csv_file != NULL && csv == NULL))
        result = cnnvp_config_no_memory(error);
    if (result == CNNVP_DONE && csv_file != NULL)
        result = cnnvp_write_text(csv_file, csv, listed.size, error);
    if (differences != NULL)
        *differences = comparison.count;
    if (result != CNNVP_DONE) {
        free(*table);
        *table = NULL;
    }
    cnnvp_arena_free(&comparison.arena);
    free(comparison.lines);
    return result;
}
