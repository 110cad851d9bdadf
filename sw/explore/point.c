/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key and the run of one point.
 * The key is xxh3-128 over everything that decides the result: the bytes of the simulator and of its guest program, the
 * network, the resolved platform with all parameters and connections, the libraries that it loads, and the options with
 * their defaults.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "compiler.h"
#include "explore.h"

/* ---- key ---- */

static void add_text(XXH3_state_t *state, const char *text)
{
    (void)XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* Adds the contents of the shared libraries that the platform's text names as model: "/folder/lib.so:kind". */
static cnnvp_result add_libraries(XXH3_state_t *state, const char *yaml, struct cnnvp_error *error)
{
    static const char mark[] = "    model: \"";
    for (const char *at = strstr(yaml, mark); at != NULL; at = strstr(at + 1, mark)) {
        char file[4096], hash[CNNVP_KEY_BYTES];
        size_t length = strcspn(at + sizeof mark - 1, "\"\n");
        if (length >= sizeof file)
            continue;
        memcpy(file, at + sizeof mark - 1, length);
        file[length] = '\0';
        char *colon = strrchr(file, ':');
        if (colon != NULL)
            *colon = '\0';
        CNNVP_TRY(cnnvp_hash_file(file, hash, error));
        add_text(state, hash);
    }
    return CNNVP_DONE;
}

static void add_options(XXH3_state_t *state, const struct cnnvp_sweep *sweep, uint64_t number)
{
    for (size_t i = 0; i < cnnvp_command_option_count; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        const struct cnnvp_axis_value *value = cnnvp_point_option(sweep, number, option->name);
        if (!cnnvp_command_option_is_of(option, sweep->command, 1))
            continue;
        add_text(state, option->name);
        add_text(state, value == NULL ? option->default_value : *value->hash ? value->hash : value->text);
    }
}

/* Adds the settings of a point whose configuration is refused. It needs a key too, so that it is not tried again. */
static void add_settings(XXH3_state_t *state, const struct cnnvp_sweep *sweep, uint64_t number)
{
    CNNVP_FREED char *yaml = NULL;
    CNNVP_FREED char *map = NULL;
    if (cnnvp_config_text(sweep->base, &yaml, &map) == CNNVP_DONE)
        add_text(state, yaml);
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        if (sweep->axes[i].kind != CNNVP_AXIS_PARAMETER)
            continue;
        add_text(state, sweep->axes[i].name);
        add_text(state, sweep->axes[i].values[cnnvp_point_index(sweep, number, i)].text);
    }
    for (size_t i = 0; i < sweep->derived_count; ++i) {
        struct cnnvp_error reason = {""};
        char text[24];
        uint64_t value;
        const cnnvp_result result = cnnvp_point_derived(sweep, number, i, &value, &reason);
        (void)snprintf(text, sizeof text, "%" PRIu64, value);
        add_text(state, sweep->derived[i].name);
        add_text(state, result == CNNVP_DONE ? text : reason.text);
    }
}

static cnnvp_result make_key(const struct cnnvp_sweep *sweep, struct cnnvp_point *point, struct cnnvp_error *error)
{
    const struct cnnvp_axis_value *network = cnnvp_point_option(sweep, point->number, sweep->work);
    XXH3_state_t *state = XXH3_createState();
    CNNVP_FREED char *yaml = NULL;
    CNNVP_FREED char *map = NULL;
    if (state == NULL || XXH3_128bits_reset(state) != XXH_OK) {
        (void)XXH3_freeState(state);
        return cnnvp_config_no_memory(error);
    }
    add_text(state, "cnnvp-point/2");
    add_text(state, sweep->simulator);
    add_text(state, sweep->guest_hash);
    add_text(state, sweep->command);
    add_text(state, cnnvp_base_name(network->file)); /* the statistics contain the name */
    add_text(state, network->hash);
    add_options(state, sweep, point->number);
    cnnvp_result result = CNNVP_DONE;
    if (point->config == NULL) {
        add_settings(state, sweep, point->number);
    } else if (cnnvp_config_text(point->config, &yaml, &map) != CNNVP_DONE) {
        result = cnnvp_config_no_memory(error);
    } else {
        add_text(state, yaml);
        result = add_libraries(state, yaml, error);
    }
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    (void)snprintf(point->key, sizeof point->key, "%016llx%016llx", (unsigned long long)hash.high64,
                   (unsigned long long)hash.low64);
    (void)XXH3_freeState(state);
    return result;
}

/* ---- configuration ---- */

static cnnvp_result set_derived(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived, cnnvp_config *config,
                                struct cnnvp_error *error)
{
    char assignment[256];
    uint64_t value;
    const cnnvp_result result = cnnvp_point_derive(sweep, number, derived, config, &value, error);
    (void)snprintf(assignment, sizeof assignment, "%.200s=%" PRIu64, sweep->derived[derived].name, value);
    return result == CNNVP_DONE ? cnnvp_config_set(config, assignment, error) : result;
}

cnnvp_result cnnvp_point_settle(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived_count,
                                cnnvp_config *config, struct cnnvp_error *error)
{
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        const struct cnnvp_axis *axis = &sweep->axes[i];
        if (axis->kind != CNNVP_AXIS_PARAMETER)
            continue;
        CNNVP_FREED char *assignment =
            cnnvp_text_printf("%s=%s", axis->name, axis->values[cnnvp_point_index(sweep, number, i)].text);
        CNNVP_TRY(assignment != NULL ? cnnvp_config_set(config, assignment, error) : cnnvp_config_no_memory(error));
    }
    for (size_t i = 0; i < derived_count; ++i)
        CNNVP_TRY(set_derived(sweep, number, i, config, error));
    return cnnvp_config_resolve(config, error);
}

cnnvp_result cnnvp_point_configure(const struct cnnvp_sweep *sweep, uint64_t number, struct cnnvp_point *point,
                                   struct cnnvp_error *error)
{
    *point = (struct cnnvp_point){.number = number, .config = cnnvp_config_copy(sweep->base)};
    CNNVP_TRY_MEMORY(point->config != NULL, error);
    if (cnnvp_point_settle(sweep, number, sweep->derived_count, point->config, &point->refused) != CNNVP_DONE) {
        cnnvp_config_free(point->config);
        point->config = NULL;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_point_prepare(const struct cnnvp_sweep *sweep, uint64_t number, struct cnnvp_point *point,
                                 struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_point_configure(sweep, number, point, error));
    const cnnvp_result result = make_key(sweep, point, error);
    if (result != CNNVP_DONE)
        cnnvp_point_clear(point);
    return result;
}

void cnnvp_point_clear(struct cnnvp_point *point)
{
    cnnvp_config_free(point->config);
    point->config = NULL;
}

struct cnnvp_sweep_point cnnvp_point_name(const struct cnnvp_point *point)
{
    struct cnnvp_sweep_point name = {.number = point->number};
    memcpy(name.key, point->key, sizeof name.key);
    return name;
}

/* ---- running in this process ---- */

cnnvp_result cnnvp_point_options(const struct cnnvp_sweep *sweep, uint64_t number, struct cnnvp_options *options,
                                 struct cnnvp_error *error)
{
    cnnvp_options_init(options, sweep->command);
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        const struct cnnvp_axis *axis = &sweep->axes[i];
        const struct cnnvp_axis_value *value = &axis->values[cnnvp_point_index(sweep, number, i)];
        if (axis->kind == CNNVP_AXIS_OPTION)
            CNNVP_TRY(cnnvp_options_set(options, axis->name, value->file != NULL ? value->file : value->text, error));
    }
    memset(options->given, 0, sizeof options->given); /* an option may have no effect at this point */
    return CNNVP_DONE;
}

static cnnvp_result simulate(const struct cnnvp_run *run, struct cnnvp_error *error)
{
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    if (cnnvp_platform_run(run->platform, &end) == CNNVP_DONE)
        return CNNVP_DONE;
    (void)cnnvp_config_error(error, NULL, "%s at %" PRIu64 " ps of simulated time%s%s", cnnvp_end_text(end.end),
                             end.time_ps, *end.reason ? ": " : "", end.reason);
    return CNNVP_FAILED;
}

static cnnvp_result compact(const char *json, char **stats, struct cnnvp_error *error)
{
    json_error_t reason;
    CNNVP_JSON *root = json_loads(json, JSON_ALLOW_NUL, &reason);
    *stats = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (*stats != NULL)
        return CNNVP_DONE;
    (void)cnnvp_config_error(error, NULL, "the statistics cannot be read");
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_point_run(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point, int run_it, char **stats,
                             struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_options_clear) struct cnnvp_options options = {.quiet = 0};
    CNNVP_SCOPED(cnnvp_run_clear)
    struct cnnvp_run run = {.file = cnnvp_point_option(sweep, point->number, sweep->work)->file, .options = &options};
    CNNVP_FREED char *json = NULL;
    *stats = NULL;
    CNNVP_TRY(cnnvp_point_options(sweep, point->number, &options, error));
    options.quiet = 1;
    run.platform_options = cnnvp_platform_options_of(&options);
    run.platform_options.console = cnnvp_no_console;
    CNNVP_TRY(cnnvp_run_plan(&run, point->config, error));
    CNNVP_TRY(cnnvp_run_load(&run, point->config, error));
    if (run_it) {
        CNNVP_TRY(simulate(&run, error));
        CNNVP_TRY(cnnvp_run_collect(&run, options.labels != NULL, error));
    }
    CNNVP_TRY(cnnvp_run_statistics(&run, 0, &json));
    return compact(json, stats, error);
}

/* ---- running the program ---- */

enum { ARGUMENTS = 16 + CNNVP_AXES + CNNVP_DERIVED };

static cnnvp_result build_arguments(const struct cnnvp_sweep *sweep, uint64_t number, int simulate,
                                    struct cnnvp_arena *arena, const char *stats_file, const char *arguments[ARGUMENTS])
{
    size_t count = 0;
    arguments[count++] = "cnnvp";
    arguments[count++] = sweep->command;
    arguments[count++] = cnnvp_point_option(sweep, number, sweep->work)->file;
    arguments[count++] = "--quiet";
    arguments[count++] = cnnvp_arena_printf(arena, "--platform=%s", sweep->platform_file);
    arguments[count++] = cnnvp_arena_printf(arena, "--stats=%s", stats_file);
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        const struct cnnvp_axis *axis = &sweep->axes[i];
        const struct cnnvp_axis_value *value = &axis->values[cnnvp_point_index(sweep, number, i)];
        if (axis->kind == CNNVP_AXIS_PARAMETER)
            arguments[count++] = cnnvp_arena_printf(arena, "--set=%s=%s", axis->name, value->text);
        if (axis->kind != CNNVP_AXIS_OPTION || (axis->option->type == CNNVP_OPTION_FLAG && value->text[0] != 't'))
            continue;
        arguments[count++] = cnnvp_axis_word(arena, axis, value->file != NULL ? value->file : value->text);
    }
    for (size_t i = 0; i < sweep->derived_count; ++i) {
        struct cnnvp_error unused; /* the point's configuration has been resolved with these values */
        uint64_t value;
        if (cnnvp_point_derived(sweep, number, i, &value, &unused) != CNNVP_DONE)
            return CNNVP_FAILED;
        arguments[count++] = cnnvp_arena_printf(arena, "--set=%s=%" PRIu64, sweep->derived[i].name, value);
    }
    if (!simulate)
        arguments[count++] = "--max-time=1ps"; /* overrides an earlier --max-time */
    for (size_t i = 0; i < count; ++i)
        if (arguments[i] == NULL)
            return CNNVP_FAILED;
    arguments[count] = NULL;
    return CNNVP_DONE;
}

/* In the child process: runs the program with its standard error in `log`. */
static void become(const char *program, const char *const *arguments, const char *log, pid_t parent)
{
    int descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int null = open("/dev/null", O_RDWR);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || descriptor < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        dup2(descriptor, 2) < 0)
        _exit(126);
    (void)execv(program, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

cnnvp_result cnnvp_point_spawn(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point, int simulate,
                               const char *program, const char *stats_file, char **stats, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    const char *arguments[ARGUMENTS];
    CNNVP_FREED char *log = cnnvp_text_printf("%s.log", stats_file);
    CNNVP_FREED char *text = NULL;
    int status = 0;
    cnnvp_result result =
        log != NULL ? build_arguments(sweep, point->number, simulate, &arena, stats_file, arguments) : CNNVP_FAILED;
    pid_t self = getpid();
    pid_t child = result == CNNVP_DONE ? fork() : -1;
    if (child == 0)
        become(program, arguments, log, self);
    if (child > 0)
        (void)cnnvp_process_ended(child, 0, &status);
    if (child < 0) {
        (void)cnnvp_config_error(error, NULL, "the program cannot be started: %s", strerror(errno));
        result = CNNVP_FAILED;
    } else if (simulate && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        if (cnnvp_input_text(log, 1 << 20, &text, NULL, error) != CNNVP_DONE || !*text)
            (void)cnnvp_config_error(
                error, NULL, "%s ended with %s %d", program, WIFEXITED(status) ? "status" : "signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        else
            (void)cnnvp_config_error(error, NULL, "%.*s", (int)(strlen(text) - (text[strlen(text) - 1] == '\n')), text);
        result = CNNVP_FAILED;
    } else {
        result = cnnvp_input_text(stats_file, 1 << 28, &text, NULL, error);
        if (result == CNNVP_DONE)
            result = compact(text, stats, error);
    }
    (void)unlink(stats_file);
    if (log != NULL)
        (void)unlink(log);
    return result;
}

cnnvp_result cnnvp_point_work(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point, const char *program,
                              const char *folder, int *failed, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
    struct cnnvp_error reason = {""};
    CNNVP_JSON *params = cnnvp_point_params(sweep, point->number);
    double started = cnnvp_clock();
    cnnvp_result result = CNNVP_FAILED;
    memcpy(row.key, point->key, sizeof row.key);
    row.params = params != NULL ? json_dumps(params, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (point->config == NULL) {
        reason = point->refused;
    } else if (strcmp(sweep->command, "run") == 0) {
        result = cnnvp_point_run(sweep, point, 1, &row.stats, &reason);
    } else {
        CNNVP_FREED char *stats_file = cnnvp_text_printf("%s/%s.json", folder, point->key);
        if (stats_file != NULL)
            result = cnnvp_point_spawn(sweep, point, 1, program, stats_file, &row.stats, &reason);
    }
    row.failed = *failed = result != CNNVP_DONE;
    if (row.failed) {
        free(row.stats);
        row.stats = NULL;
    }
    row.error = row.failed ? strdup(*reason.text ? reason.text : "failed without a message") : NULL;
    row.seconds = cnnvp_clock() - started;
    return row.params != NULL && (row.error != NULL || row.stats != NULL)
               ? cnnvp_result_write(folder, &row, error)
               : cnnvp_config_no_memory(error);
}
