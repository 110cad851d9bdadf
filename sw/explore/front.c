/* SPDX-License-Identifier: Apache-2.0 */
/* Pareto fronts and their hypervolume, and a sweep's printed tables, failures and CSV export. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

int cnnvp_dominates(const double *a, const double *b, size_t count)
{
    int better = 0;
    for (size_t i = 0; i < count; ++i) {
        if (a[i] > b[i])
            return 0;
        better |= a[i] < b[i];
    }
    return better;
}

/* ---- hypervolume: cut into slices along the last objective, recursively with one objective less ---- */

/* Insertion sort: the sets are small, and qsort has no context. */
static void sort_by(const double **points, size_t count, size_t last)
{
    for (size_t i = 1; i < count; ++i) {
        const double *moved = points[i];
        size_t at = i;
        for (; at > 0 && points[at - 1][last] > moved[last]; --at)
            points[at] = points[at - 1];
        points[at] = moved;
    }
}

static double slice(const double **points, size_t count, size_t objectives, const double *corner)
{
    double volume = 0;
    size_t last = objectives - 1;
    if (count == 0)
        return 0;
    sort_by(points, count, last);
    if (objectives == 1)
        return points[0][0] < corner[0] ? corner[0] - points[0][0] : 0;
    const double **part = malloc(count * sizeof *part);
    if (part == NULL)
        return -1;
    for (size_t i = 0; i < count && volume >= 0; ++i) {
        double end = i + 1 < count ? points[i + 1][last] : corner[last];
        if (end > corner[last])
            end = corner[last];
        if (end <= points[i][last])
            continue;
        memcpy(part, points, (i + 1) * sizeof *part);
        double area = slice(part, i + 1, last, corner);
        volume = area < 0 ? -1 : volume + area * (end - points[i][last]);
    }
    free(part);
    return volume;
}

double cnnvp_hypervolume(const double *points, size_t count, size_t objectives, const double *corner)
{
    const double **kept = malloc((count + 1) * sizeof *kept);
    size_t used = 0;
    if (kept == NULL)
        return -1;
    for (size_t i = 0; i < count; ++i) {
        const double *point = points + i * objectives;
        int inside = 1;
        for (size_t o = 0; o < objectives; ++o)
            inside &= point[o] < corner[o];
        for (size_t k = 0; k < used && inside; ++k)
            inside &= !cnnvp_dominates(kept[k], point, objectives);
        if (inside)
            kept[used++] = point;
    }
    double volume = slice(kept, used, objectives, corner);
    free(kept);
    return volume;
}

/* ---- rows of this sweep ---- */

struct rows {
    cnnvp_sweep *sweep;
    struct cnnvp_results *results;
    struct cnnvp_sweep_point **points; /* without duplicate keys, in the order of the specification */
    size_t count;
};

static int compare_points(const void *a, const void *b)
{
    const struct cnnvp_sweep_point *const *left = a, *const *right = b;
    int keys = strcmp((*left)->key, (*right)->key);
    return keys ? keys : ((*left)->number > (*right)->number) - ((*left)->number < (*right)->number);
}

static int compare_order(const void *a, const void *b)
{
    const struct cnnvp_sweep_point *const *left = a, *const *right = b;
    return ((*left)->number > (*right)->number) - ((*left)->number < (*right)->number);
}

static cnnvp_result open_rows(cnnvp_sweep *sweep, struct rows *rows, struct cnnvp_error *error)
{
    *rows = (struct rows){.sweep = sweep};
    if (sweep->results == NULL)
        return (void)cnnvp_config_error(error, NULL, "the sweep has not been run"), CNNVP_FAILED;
    CNNVP_TRY(cnnvp_results_open(sweep->results, 0, &rows->results, error));
    rows->points = calloc(sweep->point_count + 1, sizeof *rows->points);
    CNNVP_TRY_MEMORY(rows->points != NULL, error);
    for (size_t i = 0; i < sweep->point_count; ++i)
        rows->points[i] = &sweep->points[i];
    qsort(rows->points, sweep->point_count, sizeof *rows->points, compare_points);
    for (size_t i = 0; i < sweep->point_count; ++i)
        if (i == 0 || strcmp(rows->points[i]->key, rows->points[rows->count - 1]->key) != 0)
            rows->points[rows->count++] = rows->points[i];
    qsort(rows->points, rows->count, sizeof *rows->points, compare_order);
    return CNNVP_DONE;
}

static void close_rows(struct rows *rows)
{
    cnnvp_results_close(rows->results);
    free(rows->points);
}

/* *stats NULL: the point has no statistics. */
static cnnvp_result stats_of(struct rows *rows, size_t index, struct cnnvp_row *row, json_t **stats,
                             struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_results_get(rows->results, rows->points[index]->key, rows->sweep->members, row, error));
    *stats = row->stats != NULL ? json_loads(row->stats, JSON_ALLOW_NUL, NULL) : NULL;
    return CNNVP_DONE;
}

static void format_number(char *buffer, size_t size, double number)
{
    if (number > -9e15 && number < 9e15 && number >= (double)(int64_t)number && number <= (double)(int64_t)number)
        (void)snprintf(buffer, size, "%" PRId64, (int64_t)number);
    else
        (void)snprintf(buffer, size, "%.15g", number);
}

/* ---- CSV ---- */

static void add_numbers(json_t *columns, const char *path, json_t *value)
{
    const char *key;
    json_t *part;
    if (json_is_number(value))
        (void)json_object_set_new(columns, path, json_true());
    json_object_foreach(value, key, part)
    {
        char longer[600];
        (void)snprintf(longer, sizeof longer, "%s.%s", path, key);
        add_numbers(columns, longer, part);
    }
}

static void write_head(FILE *stream, const struct cnnvp_sweep *sweep, json_t *columns)
{
    const char *path;
    json_t *unused;
    (void)fputs("key,status,", stream);
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].listed)
            cnnvp_csv_field(stream, sweep->axes[i].name, 0);
    for (size_t i = 0; i < sweep->derived_count; ++i)
        cnnvp_csv_field(stream, sweep->derived[i].name, 0);
    json_object_foreach(columns, path, unused) cnnvp_csv_field(stream, path, 0);
    (void)fputs("error\n", stream);
}

static void write_row(FILE *stream, const struct rows *rows, size_t index, json_t *columns, const json_t *stats,
                      const struct cnnvp_row *row)
{
    const struct cnnvp_sweep *sweep = rows->sweep;
    const char *path;
    json_t *unused;
    cnnvp_csv_field(stream, rows->points[index]->key, 0);
    cnnvp_csv_field(stream, !*row->key ? "missing" : row->failed ? "failed" : "ok", 0);
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].listed)
            cnnvp_csv_field(stream,
                            sweep->axes[i].values[cnnvp_point_index(sweep, rows->points[index]->number, i)].text, 0);
    for (size_t i = 0; i < sweep->derived_count; ++i) {
        struct cnnvp_error refused; /* the point's own error has this reason */
        char text[40] = "";
        uint64_t value;
        if (cnnvp_point_derived(sweep, rows->points[index]->number, i, &value, &refused) == CNNVP_DONE)
            (void)snprintf(text, sizeof text, "%" PRIu64, value);
        cnnvp_csv_field(stream, text, 0);
    }
    json_object_foreach(columns, path, unused)
    {
        char text[40] = "";
        double number;
        if (cnnvp_stats_number(stats, path, &number))
            format_number(text, sizeof text, number);
        cnnvp_csv_field(stream, text, 0);
    }
    cnnvp_csv_field(stream, row->error != NULL ? row->error : "", 1);
}

/* Lists the statistics that become columns: the objectives, then the totals of any point. */
static cnnvp_result find_columns(struct rows *rows, json_t *columns, struct cnnvp_error *error)
{
    for (size_t i = 0; i < rows->sweep->objective_count; ++i)
        (void)json_object_set_new(columns, rows->sweep->objectives[i].path, json_true());
    for (size_t i = 0; i < rows->count; ++i) {
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
        CNNVP_JSON *stats = NULL;
        CNNVP_TRY(stats_of(rows, i, &row, &stats, error));
        for (size_t k = 0; k < CNNVP_COLUMN_SECTIONS; ++k)
            add_numbers(columns, cnnvp_column_sections[k], json_object_get(stats, cnnvp_column_sections[k]));
    }
    return CNNVP_DONE;
}

static cnnvp_result write_rows(FILE *stream, struct rows *rows, json_t *columns, struct cnnvp_error *error)
{
    write_head(stream, rows->sweep, columns);
    for (size_t i = 0; i < rows->count; ++i) {
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
        CNNVP_JSON *stats = NULL;
        CNNVP_TRY(stats_of(rows, i, &row, &stats, error));
        write_row(stream, rows, i, columns, stats, &row);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_sweep_export(cnnvp_sweep *sweep, const char *csv_file, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_SCOPED(close_rows) struct rows rows = {.sweep = sweep};
    CNNVP_JSON *columns = json_object();
    struct cnnvp_printed csv;
    CNNVP_TRY(open_rows(sweep, &rows, error));
    CNNVP_TRY(columns != NULL ? find_columns(&rows, columns, error) : cnnvp_config_no_memory(error));
    FILE *stream = cnnvp_print_begin(&csv);
    const cnnvp_result result = stream != NULL ? write_rows(stream, &rows, columns, error) : CNNVP_DONE;
    CNNVP_FREED char *text = cnnvp_print_end(&csv);
    CNNVP_TRY(text != NULL ? result : cnnvp_config_no_memory(error));
    return cnnvp_write_text(csv_file, text, csv.size, error);
}

/* ---- the front ---- */

struct entry {
    size_t index; /* in rows */
    uint32_t network;
    double values[CNNVP_OBJECTIVES];
};

/* Points of different networks do different work, so neither dominates the other. */
static int dominates(const struct entry *a, const struct entry *b, size_t objectives)
{
    return a->network == b->network && cnnvp_dominates(a->values, b->values, objectives);
}

/* Adds an entry to the front unless it is dominated, and removes the entries that it dominates. */
static void insert(struct entry *front, size_t *count, const struct entry *entry, size_t objectives)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; ++i)
        if (dominates(&front[i], entry, objectives))
            return;
    for (size_t i = 0; i < *count; ++i)
        if (!dominates(entry, &front[i], objectives))
            front[kept++] = front[i];
    front[kept++] = *entry;
    *count = kept;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->network != right->network)
        return left->network > right->network ? 1 : -1;
    if (left->values[0] > right->values[0] || left->values[0] < right->values[0])
        return left->values[0] > right->values[0] ? 1 : -1;
    return (left->index > right->index) - (left->index < right->index);
}

static const char *axis_text(const struct rows *rows, const struct entry *entry, size_t axis)
{
    const struct cnnvp_sweep *sweep = rows->sweep;
    return sweep->axes[axis].values[cnnvp_point_index(sweep, rows->points[entry->index]->number, axis)].text;
}

/* Columns are the axes, then the objectives. */
static const char *column_name(const struct cnnvp_sweep *sweep, size_t column)
{
    return column < sweep->axis_count ? sweep->axes[column].name : sweep->objectives[column - sweep->axis_count].path;
}

/* The heading has two lines, such as "pe_array" above "rows". This is the second one. */
static const char *last_word(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* The text of a table cell. File names are shown without their folder. */
static const char *cell(const struct rows *rows, const struct entry *entry, size_t column, char buffer[40])
{
    const struct cnnvp_sweep *sweep = rows->sweep;
    if (column < sweep->axis_count)
        return cnnvp_base_name(axis_text(rows, entry, column));
    const size_t o = column - sweep->axis_count;
    const double value = sweep->objectives[o].maximise ? -entry->values[o] : entry->values[o];
    cnnvp_show_statistic(buffer, 40, sweep->objectives[o].path, value, "");
    return buffer;
}

/* The width of the widest cell or heading line; negative: left-aligned, as for texts. */
static int column_width(const struct rows *rows, const struct entry *front, size_t count, size_t column)
{
    const struct cnnvp_sweep *sweep = rows->sweep;
    const char *name = column_name(sweep, column), *last = last_word(name);
    size_t width = strlen(last) > (size_t)(last - name) ? strlen(last) : (size_t)(last - name);
    for (size_t e = 0; e < count; ++e) {
        char buffer[40];
        const size_t length = strlen(cell(rows, &front[e], column, buffer));
        width = length > width ? length : width;
    }
    const int is_text = column < sweep->axis_count && sweep->axes[column].values[0].operand.text != NULL;
    return is_text ? -(int)width : (int)width;
}

/* Prints two heading lines, then one line per entry. */
static void print_front(FILE *stream, const struct rows *rows, const struct entry *front, size_t count)
{
    const struct cnnvp_sweep *sweep = rows->sweep;
    const size_t columns = sweep->axis_count + sweep->objective_count;
    int widths[CNNVP_AXES + CNNVP_OBJECTIVES];
    for (size_t i = 0; i < columns; ++i)
        widths[i] = column_width(rows, front, count, i);
    for (size_t line = 0; line < count + 2; ++line)
        for (size_t i = 0; i < columns; ++i) {
            const char *name = column_name(sweep, i), *last = last_word(name);
            char buffer[40];
            const char *text = line == 0 ? name : line == 1 ? last : cell(rows, &front[line - 2], i, buffer);
            const int length = line > 0 ? (int)strlen(text) : last > name ? (int)(last - name) - 1 : 0;
            if (i >= sweep->axis_count || sweep->axes[i].listed)
                (void)fprintf(stream, "%*.*s%s", widths[i], length, text, i + 1 < columns ? "  " : "\n");
        }
}

cnnvp_result cnnvp_sweep_front(cnnvp_sweep *sweep, char **table, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_SCOPED(close_rows) struct rows rows = {.sweep = sweep};
    size_t count = 0;
    struct cnnvp_printed printed;
    *table = NULL;
    if (sweep->objective_count == 0)
        return cnnvp_config_error(error, sweep->file, "a front needs objectives");
    CNNVP_TRY(open_rows(sweep, &rows, error));
    CNNVP_FREED struct entry *front = calloc(rows.count + 1, sizeof *front);
    CNNVP_TRY_MEMORY(front != NULL, error);
    for (size_t i = 0; i < rows.count; ++i) {
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
        struct entry entry = {.index = i, .network = cnnvp_point_network(sweep, rows.points[i]->number)};
        CNNVP_JSON *stats = NULL;
        CNNVP_TRY(stats_of(&rows, i, &row, &stats, error));
        if (stats != NULL && cnnvp_objectives_of(sweep, stats, entry.values))
            insert(front, &count, &entry, sweep->objective_count);
    }
    qsort(front, count, sizeof *front, compare_entries);
    if (cnnvp_print_begin(&printed) != NULL)
        print_front(printed.stream, &rows, front, count);
    *table = cnnvp_print_end(&printed);
    return *table != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

/* ---- failures ---- */

enum { KINDS = 10 };

struct kind {
    char *reason;
    size_t first; /* in rows */
    uint64_t count;
};

/* Returns the next character of a reason, 0 at its end. All numbers become '0', and a plural s is skipped. */
static int next_sign(const char **text)
{
    if (**text == 's' && !isalnum((unsigned char)(*text)[1]))
        ++*text;
    const size_t digits = isdigit((unsigned char)**text) ? strspn(*text, "0123456789.") : 0;
    const int sign = digits ? '0' : **text;
    *text += digits ? digits : **text != '\0';
    return sign;
}

/* 1: two reasons are equal except for their numbers. */
static int same_kind(const char *a, const char *b)
{
    int sign;
    do {
        sign = next_sign(&a);
        if (sign != next_sign(&b))
            return 0;
    } while (sign);
    return 1;
}

/* Counts a failure under its kind. *others counts failures of further kinds once `kinds` is full. */
static cnnvp_result add_failure(struct kind kinds[KINDS], size_t *used, uint64_t *others, const char *reason,
                                size_t row, struct cnnvp_error *error)
{
    for (size_t i = 0; i < *used; ++i)
        if (same_kind(kinds[i].reason, reason)) {
            ++kinds[i].count;
            return CNNVP_DONE;
        }
    if (*used == KINDS) {
        ++*others;
        return CNNVP_DONE;
    }
    kinds[*used] = (struct kind){strdup(reason), row, 1};
    return kinds[(*used)++].reason != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

void cnnvp_point_describe(const struct cnnvp_sweep *sweep, uint64_t number, FILE *stream)
{
    int several = 0;
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].listed)
            (void)fprintf(stream, "%s%s=%s", several++ ? " " : "", sweep->axes[i].name,
                          sweep->axes[i].values[cnnvp_point_index(sweep, number, i)].text);
}

static void print_kind(FILE *stream, const struct rows *rows, const struct kind *kind)
{
    (void)fprintf(stream, "%" PRIu64 " %s failed: %s (%s", kind->count, kind->count == 1 ? "point" : "points",
                  kind->reason, kind->count == 1 ? "" : "the first: ");
    cnnvp_point_describe(rows->sweep, rows->points[kind->first]->number, stream);
    (void)fputs(")\n", stream);
}

static cnnvp_result find_failures(struct rows *rows, FILE *stream, struct cnnvp_error *error)
{
    struct kind kinds[KINDS] = {{NULL, 0, 0}};
    size_t used = 0;
    uint64_t others = 0;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < rows->count && result == CNNVP_DONE; ++i) {
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
        result = cnnvp_results_get(rows->results, rows->points[i]->key, NULL, &row, error);
        if (result == CNNVP_DONE && row.failed)
            result = add_failure(kinds, &used, &others, row.error != NULL ? row.error : "no reason is known", i, error);
    }
    for (size_t i = 0; i < used; ++i) {
        if (kinds[i].reason != NULL)
            print_kind(stream, rows, &kinds[i]);
        free(kinds[i].reason);
    }
    if (others)
        (void)fprintf(stream, "%" PRIu64 " more failed for other reasons\n", others);
    return result;
}

cnnvp_result cnnvp_sweep_failures(cnnvp_sweep *sweep, char **text, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_SCOPED(close_rows) struct rows rows = {.sweep = sweep};
    struct cnnvp_printed printed;
    *text = NULL;
    CNNVP_TRY(open_rows(sweep, &rows, error));
    FILE *stream = cnnvp_print_begin(&printed);
    const cnnvp_result result = stream != NULL ? find_failures(&rows, stream, error) : CNNVP_DONE;
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? result : cnnvp_config_no_memory(error);
}
