/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a sweep, and the only writer of its database. Result files lie in RESULTS.work beside the database. The
 * file `lock` there keeps a second driver out. Result files of an earlier driver are stored in the database first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore.h"
#include "output_file.h"

enum { COMMIT_POINTS = 512 };
#define COMMIT_SECONDS 0.5
#define SHOW_SECONDS 0.1

static volatile sig_atomic_t interrupted;

void cnnvp_sweep_interrupt(void)
{
    interrupted = 1;
}

int cnnvp_sweep_interrupted(void)
{
    return interrupted != 0;
}

CNNVP_DROP(cnnvp_sweep)

cnnvp_result cnnvp_sweep_new(const char *spec_file, cnnvp_sweep **sweep, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_SCOPED(cnnvp_sweep_drop) cnnvp_sweep *made = calloc(1, sizeof *made);
    uint64_t first = 0;
    *sweep = NULL;
    CNNVP_TRY_MEMORY(made != NULL && (made->file = cnnvp_arena_text(&made->arena, spec_file)) != NULL, error);
    CNNVP_TRY(cnnvp_spec_read(made, error));
    CNNVP_TRY(cnnvp_space_first(made, &first, error));
    CNNVP_TRY(cnnvp_objectives_check(made, first, error));
    *sweep = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_sweep_free(cnnvp_sweep *sweep)
{
    if (sweep == NULL)
        return;
    cnnvp_config_free(sweep->base);
    cnnvp_arena_free(&sweep->arena);
    free(sweep->results);
    free(sweep->points);
    free(sweep);
}

const char *cnnvp_sweep_input(const cnnvp_sweep *sweep, size_t index)
{
    if (index == 0)
        return sweep->platform_file;
    for (size_t i = 0; i < sweep->axis_count; ++i)
        for (uint32_t k = 0; k < sweep->axes[i].value_count; ++k)
            if (sweep->axes[i].values[k].file != NULL && --index == 0)
                return sweep->axes[i].values[k].file;
    return NULL;
}

/* ---- called by the pool and the searches ---- */

int cnnvp_driver_is_far(const struct cnnvp_driver *driver)
{
    return driver->options != NULL && driver->options->executor == CNNVP_SWEEP_SLURM;
}

void cnnvp_driver_show(struct cnnvp_driver *driver, int always)
{
    double now = cnnvp_clock();
    if (driver->options->progress == NULL || (!always && now - driver->shown < SHOW_SECONDS))
        return;
    driver->shown = now;
    driver->progress.seconds = now - driver->started;
    driver->progress.points_per_s =
        driver->ran && driver->progress.seconds > 0 ? (double)driver->ran / driver->progress.seconds : 0;
    driver->options->progress(driver->options->progress_context, &driver->progress);
}

/* Adds this sweep's params to a row that another sweep made, where they are missing. */
static cnnvp_result merge_params(struct cnnvp_driver *driver, const struct cnnvp_row *row,
                                 const struct cnnvp_sweep_point *point, struct cnnvp_error *error)
{
    CNNVP_JSON *mine = cnnvp_point_params(driver->sweep, point->number);
    CNNVP_JSON *theirs = row->params != NULL ? json_loads(row->params, 0, NULL) : NULL;
    if (theirs == NULL)
        theirs = json_object();
    size_t before = json_object_size(theirs);
    CNNVP_TRY_MEMORY(mine != NULL && theirs != NULL && json_object_update_missing(theirs, mine) == 0, error);
    if (json_object_size(theirs) == before)
        return CNNVP_DONE;
    CNNVP_FREED char *text = json_dumps(theirs, JSON_COMPACT | JSON_REAL_PRECISION(15));
    return text != NULL ? cnnvp_results_set_params(driver->results, row->key, text, error)
                        : cnnvp_config_no_memory(error);
}

static cnnvp_result add_point(struct cnnvp_sweep *sweep, const struct cnnvp_sweep_point *point,
                              struct cnnvp_error *error)
{
    struct cnnvp_sweep_point *points = cnnvp_grow(sweep->points, sweep->point_count, sizeof *points);
    CNNVP_TRY_MEMORY(points != NULL, error);
    sweep->points = points;
    sweep->points[sweep->point_count++] = *point;
    return CNNVP_DONE;
}

static int is_of_programs(const struct cnnvp_driver *driver)
{
    return strcmp(driver->sweep->command, "exec") == 0;
}

/* Checks objectives that only a program's run can confirm. The run's result is stored in any case. */
static cnnvp_result check_objectives(const struct cnnvp_driver *driver, const struct cnnvp_row *row,
                                     struct cnnvp_error *error)
{
    return is_of_programs(driver) && !row->failed && row->stats != NULL
               ? cnnvp_objectives_check_program(driver->sweep, row->stats, error)
               : CNNVP_DONE;
}

cnnvp_result cnnvp_driver_meet(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point, int *known,
                               struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
    CNNVP_TRY(add_point(driver->sweep, point, error));
    const char *members = is_of_programs(driver) ? driver->sweep->members : NULL;
    CNNVP_TRY(cnnvp_results_get(driver->results, point->key, members, &row, error));
    *known = *row.key != '\0' && !row.damaged;
    if (!*known)
        return CNNVP_DONE;
    CNNVP_TRY(check_objectives(driver, &row, error));
    ++driver->progress.finished;
    ++driver->progress.found;
    driver->progress.failed += row.failed != 0;
    CNNVP_TRY(cnnvp_results_set_words(driver->results, row.key, error));
    return merge_params(driver, &row, point, error);
}

static char *result_file(const struct cnnvp_driver *driver, const char *key)
{
    return cnnvp_text_printf("%s/%s.result", driver->folder, key);
}

static cnnvp_result record(struct cnnvp_driver *driver, const struct cnnvp_row *row, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_results_put(driver->results, row, error));
    memcpy(driver->uncommitted[driver->uncommitted_count++], row->key, CNNVP_KEY_BYTES);
    return cnnvp_driver_commit(driver, driver->uncommitted_count == COMMIT_POINTS, error);
}

static void count_new(struct cnnvp_driver *driver, int failed)
{
    ++driver->ran;
    ++driver->progress.finished;
    driver->progress.failed += failed != 0;
}

cnnvp_result cnnvp_driver_take(struct cnnvp_driver *driver, const char *key, int *taken, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
    CNNVP_FREED char *file = result_file(driver, key);
    *taken = 0;
    CNNVP_TRY_MEMORY(file != NULL, error);
    if (access(file, F_OK) != 0)
        return CNNVP_DONE;
    const cnnvp_result result = cnnvp_result_read(file, &row, error);
    *taken = result == CNNVP_DONE && strcmp(row.key, key) == 0;
    if (!*taken) /* a foreign file, or one cut off by a crash of the machine: the point runs again */
        return result == CNNVP_BAD_INPUT ? CNNVP_DONE : result;
    CNNVP_TRY(record(driver, &row, error));
    count_new(driver, row.failed);
    return check_objectives(driver, &row, error);
}

cnnvp_result cnnvp_driver_fail(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point, const char *reason,
                               struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.failed = 1, .error = strdup(reason)};
    CNNVP_JSON *params = cnnvp_point_params(driver->sweep, point->number);
    memcpy(row.key, point->key, sizeof row.key);
    row.params = params != NULL ? json_dumps(params, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    CNNVP_TRY_MEMORY(row.params != NULL && row.error != NULL, error);
    CNNVP_TRY(record(driver, &row, error));
    count_new(driver, 1);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_driver_commit(struct cnnvp_driver *driver, int now, struct cnnvp_error *error)
{
    double time = cnnvp_clock();
    if (!now && time - driver->committed < COMMIT_SECONDS)
        return CNNVP_DONE;
    driver->committed = time;
    CNNVP_TRY(cnnvp_results_commit(driver->results, error));
    for (; driver->uncommitted_count; --driver->uncommitted_count) {
        CNNVP_FREED char *file = result_file(driver, driver->uncommitted[driver->uncommitted_count - 1]);
        if (file != NULL)
            (void)unlink(file);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_driver_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                                struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_pool_batch(driver, numbers, count, error));
    return cnnvp_driver_commit(driver, 1, error);
}

/* ---- start and end ---- */

/* Takes an fcntl lock: it belongs to this process but not to its workers, and is released when the process ends. */
static cnnvp_result take_lock(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    CNNVP_FREED char *file = cnnvp_text_printf("%s/lock", driver->folder);
    CNNVP_TRY_MEMORY(file != NULL, error);
    for (;;) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, other = lock;
        struct stat open_file, named_file;
        if (mkdir(driver->folder, 0777) != 0 && errno != EEXIST)
            return cnnvp_config_error(error, driver->folder, "cannot be made: %s", strerror(errno));
        driver->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        const int why = errno;
        const int leads_nowhere = lstat(driver->folder, &named_file) == 0 && S_ISLNK(named_file.st_mode);
        if (driver->lock < 0 && why == ENOENT && !leads_nowhere)
            continue; /* another driver has just ended and removed the folder */
        if (driver->lock < 0)
            return cnnvp_config_error(error, file, "cannot be made: %s", strerror(why));
        const int free_to_take = fcntl(driver->lock, F_SETLK, &lock) == 0;
        if (free_to_take && fstat(driver->lock, &open_file) == 0 && stat(file, &named_file) == 0 &&
            open_file.st_ino == named_file.st_ino)
            return CNNVP_DONE;
        const int known =
            !free_to_take && fcntl(driver->lock, F_GETLK, &other) == 0 && other.l_type != F_UNLCK && other.l_pid > 0;
        (void)close(driver->lock); /* held by another driver, or deleted by one that has just ended */
        driver->lock = -1;
        if (!free_to_take)
            return cnnvp_config_error(
                error, driver->sweep->results,
                "another sweep%s%.0ld%s is writing this database; wait for it, or use another file",
                known ? " (process " : "", known ? (long)other.l_pid : 0L, known ? ")" : "");
    }
}

static void drop_lock(struct cnnvp_driver *driver)
{
    CNNVP_FREED char *file = cnnvp_text_printf("%s/lock", driver->folder);
    if (driver->lock < 0)
        return;
    if (file != NULL)
        (void)unlink(file);
    (void)close(driver->lock);
    (void)rmdir(driver->folder); /* fails, as it should, if unread results remain */
}

/* Stores the results that an earlier driver left in the folder, and removes incomplete files. */
static cnnvp_result take_leftovers(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    DIR *folder = opendir(driver->folder);
    const struct dirent *entry;
    cnnvp_result result = CNNVP_DONE;
    if (folder == NULL)
        return cnnvp_config_error(error, driver->folder, "cannot be read: %s", strerror(errno));
    while (result == CNNVP_DONE && (entry = readdir(folder)) != NULL) {
        CNNVP_FREED char *file = cnnvp_text_printf("%s/%s", driver->folder, entry->d_name);
        CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
        struct cnnvp_error reason = {""};
        if (file == NULL) {
            result = cnnvp_config_no_memory(error);
        } else if (cnnvp_before_ending(entry->d_name, ".result")) {
            if (cnnvp_result_read(file, &row, &reason) == CNNVP_DONE)
                result = record(driver, &row, error);
            else
                (void)unlink(file);
        } else if (cnnvp_before_ending(entry->d_name, ".tmp") || cnnvp_before_ending(entry->d_name, ".json") ||
                   cnnvp_before_ending(entry->d_name, ".log") || cnnvp_before_ending(entry->d_name, ".task")) {
            (void)unlink(file);
        }
    }
    (void)closedir(folder);
    return result == CNNVP_DONE ? cnnvp_driver_commit(driver, 1, error) : result;
}

static cnnvp_result write_fact(struct cnnvp_driver *driver, const char *name, json_t *given, struct cnnvp_error *error)
{
    CNNVP_JSON *value = given;
    CNNVP_FREED char *text = value != NULL ? json_dumps(value, JSON_COMPACT) : NULL;
    return text != NULL ? cnnvp_results_set_fact(driver->results, name, text, error) : cnnvp_config_no_memory(error);
}

/* The words of the command line that all points share. Their params give the other words. */
static json_t *fixed_words(struct cnnvp_sweep *sweep)
{
    json_t *words = json_pack("[s]", sweep->command);
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        const struct cnnvp_axis *axis = &sweep->axes[i];
        if (axis->listed)
            continue;
        if (axis->kind == CNNVP_AXIS_NETWORK)
            (void)json_array_insert_new(words, 1, json_string(axis->values[0].text));
        else if (axis->option->type != CNNVP_OPTION_FLAG || axis->values[0].text[0] == 't')
            (void)json_array_append_new(words, json_string(cnnvp_axis_word(&sweep->arena, axis, axis->values[0].text)));
    }
    (void)json_array_append_new(words, json_string("-p"));
    (void)json_array_append_new(words, json_string(sweep->platform));
    return words;
}

static cnnvp_result write_facts(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    json_t *derived = json_array();
    for (size_t i = 0; i < driver->sweep->derived_count && derived != NULL; ++i)
        (void)json_array_append_new(derived, json_string(driver->sweep->derived[i].name));
    CNNVP_TRY(write_fact(driver, "derived", derived, error));
    CNNVP_TRY(write_fact(driver, "fixed", fixed_words(driver->sweep), error));
    CNNVP_TRY(write_fact(driver, "hypervolume", json_array(), error)); /* of an earlier sweep; nsga2 writes its own */
    json_t *list = json_array();
    for (size_t i = 0; i < driver->sweep->objective_count && list != NULL; ++i)
        (void)json_array_append_new(list, json_pack("{s:s, s:b}", "path", driver->sweep->objectives[i].path, "maximise",
                                                    driver->sweep->objectives[i].maximise));
    return write_fact(driver, "objectives", list, error);
}

/* Quotes a text as one word for the shell; NULL: out of memory. */
static char *shell_word(const char *text)
{
    struct cnnvp_printed word;
    FILE *stream = cnnvp_print_begin(&word);
    if (stream == NULL)
        return NULL;
    (void)fputc('\'', stream);
    for (; *text; ++text)
        (void)fprintf(stream, *text == '\'' ? "'\\%c'" : "%c", *text);
    (void)fputc('\'', stream);
    return cnnvp_print_end(&word);
}

/* Names the simulator for the points' keys if another program runs them: by the build that it prints, else by its
 * bytes. */
static cnnvp_result name_simulator(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    struct cnnvp_sweep *sweep = driver->sweep;
    const int runs_here = driver->options->executor == CNNVP_SWEEP_LOCAL && strcmp(sweep->command, "run") == 0;
    char line[128], build[33];
    if (driver->options->program == NULL || runs_here)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_hash_file(driver->program, sweep->simulator, error));
    CNNVP_FREED char *quoted = shell_word(driver->program);
    CNNVP_FREED char *call = quoted != NULL ? cnnvp_text_printf("%s --version 2>/dev/null </dev/null", quoted) : NULL;
    FILE *stream = call != NULL ? popen(call, "r") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (sscanf(line, "build %32[0-9a-f]", build) == 1 && strlen(build) == strlen(cnnvp_build()))
            (void)snprintf(sweep->simulator, sizeof sweep->simulator, "%s", build);
    if (stream != NULL)
        (void)pclose(stream);
    return call != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

/* The build stands for the simulator and guest program that all points of the sweep share. */
static cnnvp_result set_build(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    CNNVP_FREED char *build = cnnvp_text_printf("%s program %s", driver->sweep->simulator, driver->sweep->guest_hash);
    return build != NULL ? cnnvp_results_set_build(driver->results, build, &driver->progress.others, error)
                         : cnnvp_config_no_memory(error);
}

static cnnvp_result open_driver(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    const struct cnnvp_sweep_options *options = driver->options;
    char self[4096];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    driver->jobs = options->jobs ? options->jobs : processors > 0 ? (uint32_t)processors : 1;
    driver->program = strdup(options->program != NULL ? options->program : self);
    driver->folder = cnnvp_text_printf("%s.work", options->results);
    driver->uncommitted = calloc(COMMIT_POINTS, sizeof *driver->uncommitted);
    free(driver->sweep->results);
    driver->sweep->results = strdup(options->results);
    CNNVP_TRY_MEMORY(driver->program != NULL && driver->folder != NULL && driver->uncommitted != NULL &&
                         driver->sweep->results != NULL,
                     error);
    CNNVP_TRY(cnnvp_output_check(options->results, error));
    CNNVP_TRY(name_simulator(driver, error));
    CNNVP_TRY(take_lock(driver, error));
    CNNVP_TRY(cnnvp_objectives_check_training(driver->sweep, driver->program, driver->folder, error));
    CNNVP_TRY(cnnvp_results_open(options->results, 1, &driver->results, error));
    CNNVP_TRY(take_leftovers(driver, error)); /* they belong to the previous build */
    CNNVP_TRY(set_build(driver, error));
    if (cnnvp_driver_is_far(driver))
        CNNVP_TRY(cnnvp_slurm_begin(driver, error));
    if (options->retry_failed)
        CNNVP_TRY(cnnvp_results_forget_failed(driver->results, error));
    return write_facts(driver, error);
}

static void close_driver(struct cnnvp_driver *driver)
{
    cnnvp_results_close(driver->results);
    if (driver->task_file != NULL)
        (void)unlink(driver->task_file);
    drop_lock(driver);
    free(driver->task_file);
    free(driver->uncommitted);
    free(driver->folder);
    free(driver->program);
}

/* Lists the points of a grid or random search before anything runs, so that a refusal comes early. */
static cnnvp_result list_points(struct cnnvp_driver *driver, uint64_t **numbers, size_t *count,
                                struct cnnvp_error *error)
{
    if (driver->sweep->search == CNNVP_SEARCH_NSGA2)
        return CNNVP_DONE;
    const cnnvp_result result =
        cnnvp_space_points(driver->sweep, driver->options->seed, numbers, count, &driver->progress.allowed, error);
    driver->progress.combinations = driver->sweep->combinations;
    driver->progress.points = *count;
    return result;
}

cnnvp_result cnnvp_sweep_run(cnnvp_sweep *sweep, const struct cnnvp_sweep_options *theirs,
                             struct cnnvp_sweep_progress *done, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    struct cnnvp_sweep_options own;
    const struct cnnvp_sweep_options *options = &own;
    if (done != NULL)
        *done = (struct cnnvp_sweep_progress){.points = 0};
    struct cnnvp_driver driver = {.sweep = sweep, .options = options, .lock = -1, .started = cnnvp_clock()};
    CNNVP_TRY(cnnvp_client_struct(&own, sizeof own, theirs, "cnnvp_sweep_options", error));
    if (options->results == NULL)
        return cnnvp_config_error(
            error, NULL, "struct cnnvp_sweep_options: `results` is NULL, not the database's file");
    if ((unsigned)options->executor > CNNVP_SWEEP_SLURM)
        return cnnvp_config_error(error, NULL, "struct cnnvp_sweep_options: executor has no value of its enum");
    sweep->point_count = 0;
    driver.committed = driver.started;
    CNNVP_FREED uint64_t *numbers = NULL;
    size_t count = 0;
    CNNVP_TRY(list_points(&driver, &numbers, &count, error));
    cnnvp_result result = open_driver(&driver, error);
    if (result == CNNVP_DONE)
        result = sweep->search == CNNVP_SEARCH_NSGA2 ? cnnvp_nsga2_run(&driver, error)
                                                     : cnnvp_driver_batch(&driver, numbers, count, error);
    if (driver.results != NULL) { /* keeps finished points, whatever ends the sweep */
        struct cnnvp_error unwanted;
        const cnnvp_result committed = cnnvp_driver_commit(&driver, 1, result == CNNVP_DONE ? error : &unwanted);
        result = result == CNNVP_DONE ? committed : result;
    }
    if (result == CNNVP_DONE && !interrupted)
        result = take_leftovers(&driver, error); /* from workers that a killed driver had started */
    cnnvp_driver_show(&driver, 1);
    driver.progress.seconds = cnnvp_clock() - driver.started;
    close_driver(&driver);
    if (done != NULL)
        *done = driver.progress;
    if (result == CNNVP_DONE && interrupted) {
        interrupted = 0; /* the interrupt does not affect the next sweep */
        (void)cnnvp_config_error(
            error, NULL, "interrupted after %" PRIu64 " of %" PRIu64 " points; the same command continues from there",
            driver.progress.finished, driver.progress.points);
        return CNNVP_FAILED;
    }
    return result;
}
