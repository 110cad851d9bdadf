/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes report pages. A page is one HTML file with its style, scripts and data; a Content-Security-Policy forbids
 * network access. The files below web/ are embedded at build time (page.cmake).
 */
#include "report.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"

static void put(FILE *stream, const unsigned char *text)
{
    (void)fputs((const char *)text, stream);
}

/* Writes JSON inside a script element. `<` is escaped, since "</script>" would end the element. */
static void put_json(FILE *stream, const char *json)
{
    for (size_t length = strcspn(json, "<"); *json; length = strcspn(json, "<")) {
        (void)fwrite(json, 1, length, stream);
        json += length;
        if (*json == '<')
            (void)fputs("\\u003c", stream);
        json += *json == '<';
    }
}

cnnvp_result cnnvp_page_write(const char *file, const char *json, const unsigned char *script,
                              struct cnnvp_error *error)
{
    struct cnnvp_printed page;
    FILE *stream = cnnvp_print_begin(&page);
    CNNVP_TRY_MEMORY(stream != NULL, error);
    (void)fputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
        "style-src 'unsafe-inline'; img-src data:\">\n<title>cnnvp</title>\n<style>\n",
        stream);
    put(stream, cnnvp_page_style);
    (void)fputs("</style></head><body>\n<script type=\"application/json\" id=\"data\">", stream);
    put_json(stream, json);
    (void)fputs("</script>\n<script>", stream);
    put(stream, script);
    (void)fputs("</script>\n</body></html>\n", stream);
    CNNVP_FREED char *text = cnnvp_print_end(&page);
    return text != NULL ? cnnvp_write_text(file, text, page.size, error) : cnnvp_config_no_memory(error);
}

/* ---- runs ---- */

static cnnvp_result read_member(const char *folder, const char *name, const char *schema, char **text,
                                struct cnnvp_error *error)
{
    CNNVP_FREED char *file = cnnvp_text_printf("%s/%s", folder, name);
    CNNVP_JSON *root = NULL;
    return file != NULL ? cnnvp_read_document(file, schema, text, &root, error) : cnnvp_config_no_memory(error);
}

cnnvp_result cnnvp_report_run(const char *folder, const char *html_file, struct cnnvp_error *error)
{
    CNNVP_FREED char *stats = NULL;
    CNNVP_FREED char *series = NULL;
    CNNVP_FREED char *advice = NULL;
    CNNVP_FREED char *advice_file = cnnvp_text_printf("%s/advice.json", folder);
    CNNVP_TRY(read_member(folder, "stats.json", CNNVP_STATS_SCHEMA, &stats, error));
    CNNVP_TRY(read_member(folder, "run.series", "cnnvp-series/1", &series, error));
    if (advice_file != NULL && access(advice_file, F_OK) == 0)
        CNNVP_TRY(read_member(folder, "advice.json", "cnnvp-advice/1", &advice, error));
    CNNVP_FREED char *json = cnnvp_text_printf(
        "{\"stats\":%s,\"series\":%s,\"advice\":%s}", stats, series, advice != NULL ? advice : "null");
    return json != NULL ? cnnvp_page_write(html_file, json, cnnvp_page_run, error) : cnnvp_config_no_memory(error);
}

/* {"name": FOLDER, "stats": STATS} */
static cnnvp_result put_run(FILE *stream, const char *folder, struct cnnvp_error *error)
{
    CNNVP_FREED char *stats = NULL;
    struct stat status;
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        return cnnvp_config_error(
            error, folder, "is a file; side by side stand folders that `cnnvp run --report FOLDER` has recorded");
    CNNVP_JSON *quoted = json_string(folder);
    CNNVP_FREED char *name = quoted != NULL ? json_dumps(quoted, JSON_ENCODE_ANY) : NULL;
    if (name == NULL)
        return cnnvp_config_error(error, folder, "has a name that is not UTF-8");
    CNNVP_TRY(read_member(folder, "stats.json", CNNVP_STATS_SCHEMA, &stats, error));
    (void)fprintf(stream, "{\"name\":%s,\"stats\":", name);
    (void)fputs(stats, stream);
    (void)fputs("}", stream);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_report_runs(const char *const *folders, size_t count, const char *html_file,
                               struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    struct cnnvp_printed printed;
    if (count == 0)
        return cnnvp_config_error(error, NULL, "no folder of a run is given");
    FILE *stream = cnnvp_print_begin(&printed);
    CNNVP_TRY_MEMORY(stream != NULL, error);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < count && result == CNNVP_DONE; ++i) {
        (void)fputs(i ? "," : "{\"runs\":[", stream);
        result = put_run(stream, folders[i], error);
    }
    (void)fputs("]}", stream);
    CNNVP_FREED char *json = cnnvp_print_end(&printed);
    CNNVP_TRY(result);
    return json != NULL ? cnnvp_page_write(html_file, json, cnnvp_page_compare, error) : cnnvp_config_no_memory(error);
}

cnnvp_result cnnvp_report(const char *database_or_folder, const char *html_file,
                          void (*watch)(void *context, double share), void *context, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    struct stat status;
    if (stat(database_or_folder, &status) == 0 && S_ISDIR(status.st_mode))
        return cnnvp_report_run(database_or_folder, html_file, error);
    return cnnvp_report_sweep(database_or_folder, html_file, watch, context, error);
}
