/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to read JSON files, format numbers, hash, and write text and CSV files. */
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "explore.h"
#include "output_file.h"

void cnnvp_json_release(json_t **value)
{
    json_decref(*value);
}

static const struct measure {
    const char *ending;
    double step; /* factor from one unit to the next */
    const char *units[6];
} measures[] = {{"_ps", 1e3, {"ps", "ns", "us", "ms", "s"}},
                {"_pj", 1e3, {"pJ", "nJ", "uJ", "mJ", "J"}},
                {"_um2", 1e6, {"um2", "mm2"}},
                {"_bytes", 1e3, {"B", "kB", "MB", "GB", "TB"}},
                {"bytes_per_s", 1e3, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"}}};

static const struct measure *measure_of(const char *path)
{
    const int is_time = strstr(path, ".critical_path.") != NULL || strstr(path, ".gain_if_twice_as_fast.") != NULL;
    const char *name =
        strncmp(path, "area.by_unit.", 13) == 0    ? "area_um2"
        : strstr(path, ".energy_by_unit.") != NULL ? "energy_pj"
        : is_time                                  ? "time_ps"
                                                   : path;
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; ++i)
        if (cnnvp_before_ending(name, measures[i].ending) != 0)
            return &measures[i];
    return NULL;
}

cnnvp_result cnnvp_read_document(const char *file, const char *schema, char **text, json_t **root,
                                 struct cnnvp_error *error)
{
    CNNVP_FREED char *own = NULL;
    char place[1200];
    json_error_t reason;
    *root = NULL;
    CNNVP_TRY(cnnvp_input_text(file, (size_t)1 << 28, &own, NULL, error));
    *root = json_loads(own, JSON_ALLOW_NUL, &reason);
    const char *found = json_string_value(json_object_get(*root, "schema"));
    (void)snprintf(place, sizeof place, "%.1000s:%d:%d", file, reason.line, reason.column);
    if (*root == NULL)
        return cnnvp_config_error(error, place, "%s; JSON with the schema %s is expected", reason.text, schema);
    if (found == NULL)
        return cnnvp_config_error(error, file, "has no schema; %s is expected", schema);
    if (strcmp(found, schema) != 0)
        return cnnvp_config_error(error, file, "its schema is %.100s; %s is expected", found, schema);
    if (text != NULL) {
        *text = own;
        own = NULL;
    }
    return CNNVP_DONE;
}

void cnnvp_show_statistic(char *buffer, size_t size, const char *path, double value, const char *sign)
{
    const struct measure *measure = measure_of(path);
    const char *plus = *sign != '\0' && value > 0 ? sign : "";
    const int is_whole = fabs(value) < 9e15 && floor(value) >= value;
    char grouped[32];
    size_t unit = 0;
    for (; measure != NULL && measure->units[unit + 1] != NULL && fabs(value) >= measure->step; ++unit)
        value /= measure->step;
    if (measure != NULL)
        (void)snprintf(buffer, size, "%s%.6g %s", plus, value, measure->units[unit]);
    else if (is_whole)
        (void)snprintf(buffer, size, "%s%s", plus, cnnvp_grouped(grouped, (int64_t)value));
    else
        (void)snprintf(buffer, size, "%s%.6g", plus, value);
}

static void write_hash(const void *bytes, size_t size, char hash[CNNVP_KEY_BYTES])
{
    const XXH128_hash_t value = XXH3_128bits(bytes, size);
    (void)snprintf(hash, CNNVP_KEY_BYTES, "%016llx%016llx", (unsigned long long)value.high64,
                   (unsigned long long)value.low64);
}

void cnnvp_hash_text(const char *text, char hash[CNNVP_KEY_BYTES])
{
    write_hash(text, strlen(text), hash);
}

cnnvp_result cnnvp_hash_file(const char *file, char hash[CNNVP_KEY_BYTES], struct cnnvp_error *error)
{
    CNNVP_FREED char *bytes = NULL;
    size_t size;
    CNNVP_TRY(cnnvp_input_text(file, SIZE_MAX - 1u, &bytes, &size, error));
    write_hash(bytes, size, hash);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_write_text(const char *file, const char *text, size_t size, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_output_check(file, error));
    return cnnvp_output_whole(file, text, size, error);
}

void cnnvp_csv_field(FILE *stream, const char *text, int last)
{
    if (strpbrk(text, "\",\r\n") != NULL) {
        (void)fputc('"', stream);
        for (; *text; ++text) {
            if (*text == '"')
                (void)fputc('"', stream);
            (void)fputc(*text, stream);
        }
        (void)fputc('"', stream);
    } else {
        (void)fputs(text, stream);
    }
    (void)fputc(last ? '\n' : ',', stream);
}
