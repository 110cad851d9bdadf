/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of results, and the files in which workers hand over results. One process writes the database, and
 * others can read it meanwhile. A point is durable only after a commit, so its result file is deleted after that.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "explore.h"
#include "output_file.h"

struct cnnvp_results {
    sqlite3 *database;
    sqlite3_stmt *put;
    sqlite3_stmt *get;
    sqlite3_stmt *params;
    sqlite3_stmt *put_build; /* NULL: opened for reading */
    sqlite3_stmt *put_words; /* likewise */
    int open_transaction;
    int write;   /* 0: opened for reading, as for a page */
    char *build; /* build of the points that are put; NULL: unknown */
    char *file;
};

void cnnvp_row_clear(struct cnnvp_row *row)
{
    free(row->params);
    free(row->stats);
    free(row->error);
    free(row->words);
    row->params = row->stats = row->error = row->words = NULL;
}

/* Reports SQLite's message, with the reason of the operating system if there is one. */
static cnnvp_result database_error(const struct cnnvp_results *results, struct cnnvp_error *error)
{
    int code = sqlite3_errcode(results->database);
    struct rlimit limit;
    int reason = sqlite3_system_errno(results->database);
    /* SQLite forgets the system's reason when it rolls back. */
    if (reason == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        reason = EFBIG;
    const char *text = sqlite3_errmsg(results->database);
    if (code == SQLITE_NOTADB)
        text = results->write ? "is not a database that `cnnvp sweep` has written"
                              : "is not a database that `cnnvp sweep` has written, nor the folder of a run that `cnnvp "
                                "run --report FOLDER` has recorded";
    if (code == SQLITE_CORRUPT)
        text = "is a damaged SQLite database";
    (void)cnnvp_config_error(
        error, results->file, "%s%s%s", text,
        code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? ": " : "",
        code == SQLITE_FULL                               ? strerror(reason ? reason : ENOSPC)
        : code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? strerror(reason)
                                                          : "");
    return code == SQLITE_NOTADB ? CNNVP_BAD_INPUT : CNNVP_FAILED;
}

static int execute(struct cnnvp_results *results, const char *sql)
{
    return sqlite3_exec(results->database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static int prepare(struct cnnvp_results *results, const char *sql, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(results->database, sql, -1, statement, NULL) == SQLITE_OK;
}

static char *column(sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text != NULL ? strdup(text) : NULL;
}

/* Refuses the database of another application: one that has tables but not ours. */
static cnnvp_result check_owner(struct cnnvp_results *results, struct cnnvp_error *error)
{
    sqlite3_stmt *statement = NULL;
    cnnvp_result result = CNNVP_DONE;
    if (execute(results, "SELECT key, status, params, stats, error, seconds FROM points LIMIT 0"))
        return CNNVP_DONE;
    if (!prepare(results, "SELECT type || ' ' || name FROM sqlite_master LIMIT 1", &statement)) {
        result = database_error(results, error);
    } else {
        const int step = sqlite3_step(statement);
        if (step == SQLITE_ROW)
            result = cnnvp_config_error(
                error, results->file, "is not a database that `cnnvp sweep` has written: it has the %s",
                (const char *)sqlite3_column_text(statement, 0));
        else if (step != SQLITE_DONE)
            result = database_error(results, error);
        else if (!results->write)
            result = cnnvp_config_error(error, results->file, "is an empty database");
    }
    (void)sqlite3_finalize(statement);
    return result;
}

/* SQL: 1 if the statistics are complete and of the expected schema. */
#define IS_WHOLE                                              \
    "CASE WHEN typeof(stats) = 'text' AND json_valid(stats) " \
    "THEN json_type(stats) = 'object' AND json_extract(stats, '$.schema') IS '" CNNVP_STATS_SCHEMA "' ELSE 0 END"

/* SQL for the columns that read_row reads. ?2: wanted members of the statistics, as " total energy "; NULL: none. */
#define ROWS                                                                         \
    "SELECT key, status, params, error, seconds, " IS_WHOLE ", "                     \
    "CASE WHEN ?2 IS NOT NULL AND " IS_WHOLE " THEN (SELECT json_group_object(key, " \
    "CASE WHEN type IN ('object', 'array') THEN json(value) ELSE atom END) "         \
    "FROM json_each(stats) WHERE instr(?2, ' ' || key || ' ')) END, "                \
    "(SELECT words FROM words WHERE words.key = points.key) FROM points "

/* Reads a row. A point with damaged statistics counts as failed, whatever its status says. */
static void read_row(sqlite3_stmt *statement, struct cnnvp_row *row)
{
    const char *status = (const char *)sqlite3_column_text(statement, 1);
    (void)snprintf(row->key, sizeof row->key, "%s", (const char *)sqlite3_column_text(statement, 0));
    row->failed = status == NULL || strcmp(status, "ok") != 0;
    row->damaged = !row->failed && !sqlite3_column_int(statement, 5);
    row->failed |= row->damaged;
    row->params = column(statement, 2);
    row->error = row->damaged ? strdup("its statistics are damaged, or of another schema than " CNNVP_STATS_SCHEMA)
                              : column(statement, 3);
    row->seconds = sqlite3_column_double(statement, 4);
    row->stats = column(statement, 6);
    row->words = column(statement, 7);
}

/* SQL: the words that all points of the sweep share become those of a point. */
#define SET_WORDS "INSERT OR REPLACE INTO words SELECT ?1, value FROM sweep WHERE name = 'fixed'"

/* Makes a temporary table in place of one that the database lacks. */
static int lay_out(struct cnnvp_results *results, const char *table)
{
    char text[80];
    (void)snprintf(text, sizeof text, "SELECT 1 FROM %.*s", (int)strcspn(table, "("), table);
    if (execute(results, text))
        return 1;
    (void)snprintf(text, sizeof text, "CREATE TEMP TABLE %s", table);
    return execute(results, text);
}

cnnvp_result cnnvp_results_open(const char *file, int write, struct cnnvp_results **results, struct cnnvp_error *error)
{
    static const char table[] =
        "BEGIN IMMEDIATE;" /* atomic, even if the driver is killed */
        "CREATE TABLE IF NOT EXISTS points(key TEXT PRIMARY KEY, status TEXT, params TEXT, stats TEXT, error TEXT, "
        "seconds REAL);"
        "CREATE TABLE IF NOT EXISTS sweep(name TEXT PRIMARY KEY, value TEXT);"
        "CREATE TABLE IF NOT EXISTS builds(key TEXT PRIMARY KEY, build TEXT);"
        "CREATE TABLE IF NOT EXISTS words(key TEXT PRIMARY KEY, words TEXT);"
        "COMMIT";
    *results = NULL;
    if (!write && access(file, R_OK) != 0)
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    if (write) {
        CNNVP_TRY(cnnvp_output_check(file, error));
        if (access(file, F_OK) == 0 && access(file, W_OK) != 0)
            return cnnvp_config_error(error, file, "cannot be written: %s", strerror(errno));
    }
    CNNVP_SCOPED(cnnvp_results_drop) struct cnnvp_results *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL && (made->file = strdup(file)) != NULL, error);
    made->write = write;
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int fine = sqlite3_open_v2(file, &made->database, flags, NULL) == SQLITE_OK;
    (void)sqlite3_extended_result_codes(made->database, 0);
    (void)sqlite3_busy_timeout(made->database, 10000);
    CNNVP_TRY(fine ? check_owner(made, error) : CNNVP_DONE);
    fine = fine && (!write || execute(made, table));
    if (fine && !write) /* an earlier cnnvp may have written it */
        fine = lay_out(made, "builds(key, build)") && lay_out(made, "words(key, words)");
    fine = fine && prepare(made, "INSERT OR REPLACE INTO points VALUES(?1, ?2, ?3, ?4, ?5, ?6)", &made->put) &&
           prepare(made, ROWS "WHERE key = ?1", &made->get) &&
           prepare(made, "UPDATE points SET params = ?2 WHERE key = ?1", &made->params) &&
           (!write || (prepare(made, "INSERT OR REPLACE INTO builds VALUES(?1, ?2)", &made->put_build) &&
                       prepare(made, SET_WORDS, &made->put_words)));
    made->build = fine && write ? cnnvp_results_fact(made, "build") : NULL;
    if (!fine)
        return database_error(made, error);
    *results = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_results_drop(struct cnnvp_results **results)
{
    cnnvp_results_close(*results);
}

void cnnvp_results_close(struct cnnvp_results *results)
{
    if (results == NULL)
        return;
    (void)sqlite3_finalize(results->put);
    (void)sqlite3_finalize(results->get);
    (void)sqlite3_finalize(results->params);
    (void)sqlite3_finalize(results->put_build);
    (void)sqlite3_finalize(results->put_words);
    (void)sqlite3_close(results->database); /* rolls back an open transaction */
    free(results->build);
    free(results->file);
    free(results);
}

static int begin(struct cnnvp_results *results)
{
    if (!results->open_transaction)
        results->open_transaction = execute(results, "BEGIN IMMEDIATE");
    return results->open_transaction;
}

static cnnvp_result finish(struct cnnvp_results *results, sqlite3_stmt *statement, int bound, struct cnnvp_error *error)
{
    int done = begin(results) && bound && sqlite3_step(statement) == SQLITE_DONE;
    cnnvp_result result = done ? CNNVP_DONE : database_error(results, error);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return result;
}

static int bind(sqlite3_stmt *statement, int index, const char *text)
{
    return (text != NULL ? sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC)
                         : sqlite3_bind_null(statement, index)) == SQLITE_OK;
}

static cnnvp_result put_build(struct cnnvp_results *results, const char *key, struct cnnvp_error *error)
{
    return finish(results, results->put_build,
                  bind(results->put_build, 1, key) && bind(results->put_build, 2, results->build), error);
}

cnnvp_result cnnvp_results_put(struct cnnvp_results *results, const struct cnnvp_row *row, struct cnnvp_error *error)
{
    int bound = bind(results->put, 1, row->key) && bind(results->put, 2, row->failed ? "failed" : "ok") &&
                bind(results->put, 3, row->params) && bind(results->put, 4, row->stats) &&
                bind(results->put, 5, row->error) && sqlite3_bind_double(results->put, 6, row->seconds) == SQLITE_OK;
    CNNVP_TRY(finish(results, results->put, bound, error));
    CNNVP_TRY(cnnvp_results_set_words(results, row->key, error));
    return results->build != NULL ? put_build(results, row->key, error) : CNNVP_DONE;
}

cnnvp_result cnnvp_results_set_words(struct cnnvp_results *results, const char *key, struct cnnvp_error *error)
{
    return finish(results, results->put_words, bind(results->put_words, 1, key), error);
}

cnnvp_result cnnvp_results_set_params(struct cnnvp_results *results, const char *key, const char *params,
                                      struct cnnvp_error *error)
{
    return finish(results, results->params, bind(results->params, 1, key) && bind(results->params, 2, params), error);
}

cnnvp_result cnnvp_results_commit(struct cnnvp_results *results, struct cnnvp_error *error)
{
    if (!results->open_transaction)
        return CNNVP_DONE;
    if (!execute(results, "COMMIT"))
        return database_error(results, error);
    results->open_transaction = 0;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_results_get(struct cnnvp_results *results, const char *key, const char *members,
                               struct cnnvp_row *row, struct cnnvp_error *error)
{
    *row = (struct cnnvp_row){.failed = 0};
    if (!bind(results->get, 1, key) || !bind(results->get, 2, members))
        return database_error(results, error);
    int step = sqlite3_step(results->get);
    cnnvp_result result = step == SQLITE_ROW || step == SQLITE_DONE ? CNNVP_DONE : database_error(results, error);
    if (step == SQLITE_ROW)
        read_row(results->get, row);
    (void)sqlite3_reset(results->get);
    return result;
}

/* SQL condition: the point is from the build of the last sweep, or its build is unknown. */
#define OF_BUILD "(key NOT IN (SELECT key FROM builds WHERE build <> (SELECT value FROM sweep WHERE name = 'build')))"

static uint64_t count(struct cnnvp_results *results, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    uint64_t number = 0;
    if (prepare(results, sql, &statement) && sqlite3_step(statement) == SQLITE_ROW)
        number = (uint64_t)sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

uint64_t cnnvp_results_count(struct cnnvp_results *results)
{
    return count(results, "SELECT count(*) FROM points WHERE " OF_BUILD);
}

uint64_t cnnvp_results_others(struct cnnvp_results *results)
{
    return count(results, "SELECT count(*) FROM points WHERE NOT " OF_BUILD);
}

cnnvp_result cnnvp_results_set_build(struct cnnvp_results *results, const char *build, uint64_t *others,
                                     struct cnnvp_error *error)
{
    static const char earlier[] = "INSERT OR IGNORE INTO builds SELECT key, 'of an earlier cnnvp' FROM points";
    cnnvp_result result = cnnvp_results_set_fact(results, "build", build, error);
    if (result == CNNVP_DONE && !execute(results, earlier))
        result = database_error(results, error);
    free(results->build);
    results->build = strdup(build);
    if (result == CNNVP_DONE && results->build == NULL)
        result = cnnvp_config_no_memory(error);
    *others = cnnvp_results_others(results);
    return result;
}

cnnvp_result cnnvp_results_each(struct cnnvp_results *results, const char *members,
                                int (*take)(void *, const struct cnnvp_row *), void *context, struct cnnvp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int step = SQLITE_ERROR, stop = 0;
    if (!prepare(results, ROWS "WHERE " OF_BUILD " ORDER BY key", &statement) || !bind(statement, 2, members))
        return database_error(results, error);
    while (!stop && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.failed = 0};
        read_row(statement, &row);
        stop = take(context, &row);
    }
    cnnvp_result result = stop || step == SQLITE_DONE ? CNNVP_DONE : database_error(results, error);
    (void)sqlite3_finalize(statement);
    return result;
}

cnnvp_result cnnvp_results_set_fact(struct cnnvp_results *results, const char *name, const char *value,
                                    struct cnnvp_error *error)
{
    sqlite3_stmt *statement = NULL;
    if (!begin(results) || !prepare(results, "INSERT OR REPLACE INTO sweep VALUES(?1, ?2)", &statement))
        return database_error(results, error);
    cnnvp_result result = finish(results, statement, bind(statement, 1, name) && bind(statement, 2, value), error);
    (void)sqlite3_finalize(statement);
    return result;
}

cnnvp_result cnnvp_results_forget_failed(struct cnnvp_results *results, struct cnnvp_error *error)
{
    if (!begin(results) || !execute(results, "DELETE FROM points WHERE status <> 'ok'"))
        return database_error(results, error);
    return CNNVP_DONE;
}

char *cnnvp_results_fact(struct cnnvp_results *results, const char *name)
{
    sqlite3_stmt *statement = NULL;
    char *value = NULL;
    if (prepare(results, "SELECT value FROM sweep WHERE name = ?1", &statement) && bind(statement, 1, name) &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = column(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

/* ---- result files ---- */

cnnvp_result cnnvp_result_write(const char *folder, const struct cnnvp_row *row, struct cnnvp_error *error)
{
    CNNVP_FREED char *file = cnnvp_text_printf("%s/%s.result", folder, row->key);
    CNNVP_JSON *head = json_pack("{s:s, s:s, s:s, s:s*, s:f}", "key", row->key, "status", row->failed ? "failed" : "ok",
                                 "params", row->params, "error", row->error, "seconds", row->seconds);
    CNNVP_FREED char *line = head != NULL ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    cnnvp_output *output = NULL;
    CNNVP_TRY(file != NULL && line != NULL ? cnnvp_output_new(file, &output, error) : cnnvp_config_no_memory(error));
    cnnvp_output_write(output, line, strlen(line));
    cnnvp_output_write(output, "\n", 1);
    if (row->stats != NULL)
        cnnvp_output_write(output, row->stats, strlen(row->stats));
    cnnvp_output_write(output, "\n", 1);
    return cnnvp_output_finish(output, error);
}

static char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? strdup(text) : NULL;
}

cnnvp_result cnnvp_result_read(const char *file, struct cnnvp_row *row, struct cnnvp_error *error)
{
    CNNVP_FREED char *text = NULL;
    size_t size = 0;
    *row = (struct cnnvp_row){.failed = 0};
    CNNVP_TRY(cnnvp_input_text(file, (size_t)1 << 28, &text, &size, error));
    char *end = strchr(text, '\n');
    CNNVP_JSON *head = NULL;
    if (end != NULL && end < text + size - 1 && text[size - 1] == '\n') {
        *end = '\0';
        text[size - 1] = '\0';
        head = json_loads(text, 0, NULL);
    }
    const char *key = json_string_value(json_object_get(head, "key"));
    const char *status = json_string_value(json_object_get(head, "status"));
    if (key == NULL || status == NULL || strlen(key) + 1 != CNNVP_KEY_BYTES)
        return cnnvp_config_error(error, file, "is no complete result file");
    memcpy(row->key, key, CNNVP_KEY_BYTES);
    row->failed = strcmp(status, "ok") != 0;
    row->params = member(head, "params");
    row->error = member(head, "error");
    row->seconds = json_number_value(json_object_get(head, "seconds"));
    row->stats = row->failed ? NULL : strdup(end + 1);
    return CNNVP_DONE;
}
