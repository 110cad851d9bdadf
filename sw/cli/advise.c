/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on a run: tries single changes of the platform and the options, and shows which ones help. The platform lists
 * its parameters, and which of them have an effect beside the others; none is known here by name. Changes are tried in
 * the order of their promise, an upper bound of the gain from the critical path: half of an instance's share if a
 * number is doubled or halved, all of its share for another choice. Units that move data share their promise, since
 * each can shorten the others' waits, and a larger storage size can avoid these waits. If doubling a number made the
 * run worse, halving promises the same gain. Options promise all of the time, instruction lists the core's share. If
 * the objective counts energy, an instance promises its share of that where it is the larger one. Changes that promise
 * less than 1 % are not tried. One trial runs per processor.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "cnnvp_integer.h"
#include "compiler.h"
#include "config.h"
#include "output_file.h"
#include "plan_memory.h"
#include "value.h"

enum { MAX_CHANGES = 1024, SHOWN = 5, MAX_TRIALS = 16 };

/* Widths of a name and of a value in the table, and those if that has one column of percentages more. */
enum { WIDE_NAME = 28, WIDE = 14, NARROW_NAME = 25, NARROW = 8 };

#define WORTH 0.002   /* of the objective or the energy; changes that gain less are not shown */
#define PROMISE 0.01  /* of the time or the energy; changes that promise less are not tried */
#define SHORT_PS 1e10 /* runs with less simulated time get a hint without --advise */

/* A trial may take this many seconds on the host plus this many times the original run. After that it counts as
 * endless. */
enum { LIMIT_SECONDS = 10, LIMIT_RUNS = 20 };

struct costs {
    double ps, picojoules, bytes, um2; /* bytes: of off-chip bursts */
};

struct change {
    char setting[256]; /* INSTANCE.PARAM=VALUE, or --OPTION=VALUE */
    char from[64];
    char opposite[32]; /* value to try if this one makes the run worse; "": none */
    double promise;    /* upper bound of the gain, as a share of the time, or of the energy */
    struct costs costs;
    double score; /* the objective's value of these costs; lower is better */
    int done;
    char crash[256]; /* why its trial did not complete; "": it did */
};

/* A child process that tries a change. */
struct trial {
    struct change *change;
    pid_t process;
    int line;   /* pipe with its answer */
    FILE *said; /* its messages */
};

struct advice {
    const struct cnnvp_run *run;
    const cnnvp_config *config;
    struct cnnvp_options options; /* those of the run, but timing only */
    struct change *changes;
    size_t count;
    struct costs now; /* of the original run */
    json_t *path;     /* critical path of the original run, ps by instance */
    json_t *energy;   /* energy of the original run by instance, dynamic_pj and static_pj */
    unsigned limit;   /* time limit of a trial on the host, s */
};

/* ---- one run ---- */

static double member(const json_t *root, const char *section, const char *name)
{
    return json_number_value(json_object_get(json_object_get(root, section), name));
}

/* Reads the costs, and unless `whole` is NULL also their parts, from the text of statistics. */
static cnnvp_result read_costs(const char *text, struct costs *costs, struct advice *whole)
{
    json_t *root = json_loads(text, 0, NULL);
    *costs = (struct costs){member(root, "total", "time_ps"), member(root, "energy", "total_pj"),
                            member(root, "memory", "burst_bytes"), member(root, "area", "total_um2")};
    if (whole != NULL) {
        whole->path = json_incref(json_object_get(json_object_get(root, "summary"), "critical_path"));
        whole->energy = json_incref(json_object_get(json_object_get(root, "energy"), "by_unit"));
    }
    json_decref(root);
    return costs->ps > 0 ? CNNVP_DONE : CNNVP_FAILED;
}

/* The value of the run's objective, to be minimised. */
static double score(const struct advice *advice, const struct costs *costs)
{
    switch ((enum cnnvp_plan_objective)advice->run->options->objective) {
    case CNNVP_OBJECTIVE_ENERGY:
        return costs->picojoules;
    case CNNVP_OBJECTIVE_EDP:
        return costs->picojoules * costs->ps;
    case CNNVP_OBJECTIVE_TRAFFIC:
        return costs->bytes;
    default:
        return costs->ps;
    }
}

static cnnvp_result run_once(const struct advice *advice, const cnnvp_config *config,
                             const struct cnnvp_options *options, struct costs *costs, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_run_clear)
    struct cnnvp_run run = {
        .file = advice->run->file,
        .options = options,
        .like = advice->run,
        .stopped = cli_was_interrupted,
        .memory = advice->run->memory,
        .platform_options = {.struct_size = sizeof run.platform_options,
                             .timing_only = 1,
                             .verbosity = -1,
                             .console = cnnvp_no_console}};
    struct cnnvp_run_result end;
    CNNVP_FREED char *text = NULL;
    CNNVP_TRY(cnnvp_run_plan(&run, config, error));
    CNNVP_TRY(cnnvp_run_load(&run, config, error));
    CNNVP_TRY(cnnvp_platform_run(run.platform, &end));
    CNNVP_TRY(cnnvp_platform_stats(run.platform, &text));
    return read_costs(text, costs, NULL);
}

/* Runs with one changed setting. Fails if the setting is invalid or the changed platform cannot run the network. */
static cnnvp_result run_with(const struct advice *advice, const char *setting, struct costs *costs)
{
    struct cnnvp_error unused;
    struct cnnvp_options options = advice->options;
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *changed = cnnvp_config_copy(advice->config);
    const char *value = strchr(setting, '=');
    char name[64];
    if (changed == NULL)
        return CNNVP_FAILED;
    if (setting[0] == '-' && value != NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - setting - 2), setting + 2);
        for (char *dash = name; (dash = strchr(dash, '-')) != NULL;)
            *dash = '_';
        CNNVP_TRY(cnnvp_options_set(&options, name, value + 1, &unused));
    } else {
        CNNVP_TRY(cnnvp_config_set(changed, setting, &unused));
    }
    CNNVP_TRY(cnnvp_config_resolve(changed, &unused));
    return run_once(advice, changed, &options, costs, &unused);
}

/* ---- what is tried ---- */

static void add_change(struct advice *advice, const char *name, const char *from, const char *to, const char *opposite,
                       double promise)
{
    struct change *change = &advice->changes[advice->count];
    if (advice->count == MAX_CHANGES || strcmp(from, to) == 0 || promise < PROMISE)
        return;
    change->promise = promise;
    (void)snprintf(change->setting, sizeof change->setting, "%.140s=%.60s", name, to);
    (void)snprintf(change->from, sizeof change->from, "%.60s", from);
    (void)snprintf(change->opposite, sizeof change->opposite, "%.31s", opposite);
    ++advice->count;
}

/* Relative excess of `value` over `of`. */
static double excess(double value, double of)
{
    return of > 0 ? value / of - 1.0 : 0;
}

/* Adds the opposite change. It promises as much as this one lost or, if this one has no result, as much as this one
 * promised. */
static void add_opposite(struct advice *advice, const struct change *change)
{
    const double score_lost = excess(change->score, score(advice, &advice->now));
    const double energy_lost = excess(change->costs.picojoules, advice->now.picojoules);
    char name[160];
    if (change->opposite[0] == '\0')
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(change->setting, "="), change->setting);
    add_change(advice, name, change->from, change->opposite, "",
               !change->done              ? change->promise
               : score_lost > energy_lost ? score_lost
                                          : energy_lost);
}

/* ---- trials, each in a child process since a unit may crash ---- */

struct answer {
    cnnvp_result result;
    struct costs costs;
};

/* In the child process: runs the trial, and writes its answer to `line` and its messages to `said`. */
static void run_apart(const struct advice *advice, const char *setting, int line, FILE *said)
{
    struct answer answer = {.result = CNNVP_FAILED};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(advice->limit);
    if (dup2(fileno(said), STDERR_FILENO) >= 0)
        answer.result = run_with(advice, setting, &answer.costs);
    _exit(write(line, &answer, sizeof answer) == (ssize_t)sizeof answer ? CNNVP_DONE : CNNVP_FAILED);
}

/* Stores why the child process ended: its first message, and its signal or status. */
static void note_crash(const struct advice *advice, struct change *change, int status, FILE *said)
{
    char text[128] = "", end[64];
    rewind(said);
    if (fgets(text, sizeof text, said) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *reason = strncmp(text, "cnnvp: ", 7) == 0 ? text + 7 : text;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        (void)snprintf(end, sizeof end, "no end after %u s", advice->limit);
    else if (WIFSIGNALED(status))
        (void)snprintf(end, sizeof end, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)snprintf(end, sizeof end, "a unit ended the program with status %d", WEXITSTATUS(status));
    (void)snprintf(change->crash, sizeof change->crash, "%s%s%s", reason, *reason ? "; " : "", end);
}

/* Starts a trial; returns 0 if no process can be created. */
static int begin_trial(const struct advice *advice, struct change *change, struct trial *trial)
{
    int ends[2] = {-1, -1};
    *trial = (struct trial){.change = change, .process = -1, .line = -1, .said = tmpfile()};
    (void)fflush(NULL);
    if (trial->said != NULL && pipe(ends) == 0)
        trial->process = fork();
    if (trial->process == 0)
        run_apart(advice, change->setting, ends[1], trial->said);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    trial->line = ends[0];
    return trial->process > 0;
}

static void end_trial(struct advice *advice, struct trial *trial)
{
    struct answer answer = {.result = CNNVP_FAILED};
    int status = 0;
    pid_t ended = -1;
    ssize_t got = 0;
    while (trial->process > 0 && (got = read(trial->line, &answer, sizeof answer)) < 0 && errno == EINTR)
        continue;
    while (trial->process > 0 && (ended = waitpid(trial->process, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (got == (ssize_t)sizeof answer) {
        trial->change->costs = answer.costs;
        trial->change->score = score(advice, &answer.costs);
        trial->change->done = answer.result == CNNVP_DONE;
    } else if (ended > 0 && !cli_was_interrupted()) {
        note_crash(advice, trial->change, status, trial->said);
    } else if (trial->process < 0) {
        (void)snprintf(trial->change->crash, sizeof trial->change->crash, "there is no process for it");
    }
    add_opposite(advice, trial->change);
    if (trial->line >= 0)
        (void)close(trial->line);
    if (trial->said != NULL)
        (void)fclose(trial->said);
}

static void show_tried(struct cli_progress *progress, size_t tried, size_t all)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%zu of %zu changes tried", tried, all);
    cli_progress_show(progress, (double)tried / (double)all, text);
}

/* Tries all changes, one per processor at a time. */
static void try_changes(struct advice *advice, struct cli_progress *progress)
{
    struct trial trials[MAX_TRIALS];
    struct pollfd lines[MAX_TRIALS];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t most = processors < 1 ? 1 : processors > MAX_TRIALS ? MAX_TRIALS : (size_t)processors;
    size_t running = 0, next = 0;
    while (running > 0 || (next < advice->count && !cli_was_interrupted())) {
        while (running < most && next < advice->count && !cli_was_interrupted()) {
            struct change *change = &advice->changes[next++];
            if (begin_trial(advice, change, &trials[running]))
                lines[running] = (struct pollfd){.fd = trials[running].line, .events = POLLIN}, ++running;
            else
                end_trial(advice, &trials[running]);
        }
        if (running == 0 || (poll(lines, running, -1) < 0 && errno == EINTR && !cli_was_interrupted()))
            continue;
        for (size_t i = running; i-- > 0;) {
            if (lines[i].revents == 0 && !cli_was_interrupted())
                continue;
            if (cli_was_interrupted())
                (void)kill(trials[i].process, SIGKILL);
            end_trial(advice, &trials[i]);
            trials[i] = trials[--running];
            lines[i] = lines[running];
        }
        show_tried(progress, next - running, advice->count);
    }
}

/* ---- what to try ---- */

static void add_number(struct advice *advice, const struct cnnvp_param *param, const char *name, uint64_t value,
                       double promise)
{
    char from[32], doubled[32], halved[32] = "";
    const int can_halve = value / 2u >= param->min && value >= 2u;
    (void)snprintf(from, sizeof from, "%" PRIu64, value);
    (void)snprintf(doubled, sizeof doubled, "%" PRIu64, 2u * value);
    if (can_halve)
        (void)snprintf(halved, sizeof halved, "%" PRIu64, value / 2u);
    if (value != 0 && value <= param->max / 2u)
        add_change(advice, name, from, doubled, halved, promise);
    else if (can_halve)
        add_change(advice, name, from, halved, "", promise);
}

/* `instance`: that of the parameter, some of whose choices may have no effect; NULL: the choices are an option's. */
static void add_choices(struct advice *advice, const struct cnnvp_instance *instance, uint32_t param,
                        const char *choices, const char *name, const char *now, double promise)
{
    size_t length = 0;
    const char *choice;
    for (uint64_t i = 0; (choice = cnnvp_value_choice(choices, i, &length)) != NULL; ++i) {
        char to[64];
        (void)snprintf(to, sizeof to, "%.*s", (int)length, choice);
        if (strcmp(to, "ideal") != 0 && /* no design can be ideal */
            (instance == NULL || cnnvp_instance_unmet(instance, param, i) == NULL))
            add_change(advice, name, now, to, "", promise);
    }
}

/* The clock of a unit without a thread of its own is shared with others and follows from the technology, so it is not
 * changed. */
static int is_shared_clock(const struct cnnvp_unit *unit, const struct cnnvp_param *param)
{
    return unit->process == NULL && strcmp(param->name, "clock_mhz") == 0;
}

static int moves_data(const struct cnnvp_unit *unit)
{
    int ports = 0;
    for (uint32_t i = 0; unit != NULL && unit->process == NULL && i < unit->port_count; ++i)
        ports |= unit->ports[i].kind == CNNVP_PORT_MEM_TARGET || unit->ports[i].kind == CNNVP_PORT_MEM_INITIATOR;
    return ports;
}

/* 1: this is the instance, or that of a further accelerator. */
static int is_like(const struct advice *advice, const char *instance, const char *name)
{
    const size_t length = cnnvp_config_first_length(advice->config, instance);
    return strlen(name) == length && strncmp(instance, name, length) == 0;
}

/* The share of the critical path of the instance, in all accelerators; NULL: that of all units that move data. If the
 * objective counts energy: or their share of that, whichever is larger. */
static double share_of(const struct advice *advice, const char *name)
{
    const int objective = (int)advice->run->options->objective;
    const int by_energy = objective == CNNVP_OBJECTIVE_ENERGY || objective == CNNVP_OBJECTIVE_EDP;
    struct cnnvp_config_instance instance;
    double ps = 0, picojoules = 0;
    for (size_t i = 0; cnnvp_config_instance(advice->config, i, &instance) == CNNVP_DONE; ++i)
        if (name != NULL ? is_like(advice, instance.name, name) : moves_data(instance.unit)) {
            ps += json_number_value(json_object_get(advice->path, instance.name));
            picojoules += member(advice->energy, instance.name, "dynamic_pj") +
                          member(advice->energy, instance.name, "static_pj");
        }
    return by_energy ? fmax(ps / advice->now.ps, picojoules / advice->now.picojoules) : ps / advice->now.ps;
}

/* 1: each of several accelerators has the instance. */
static int is_in_several(const struct advice *advice, const char *name)
{
    struct cnnvp_config_instance instance;
    size_t count = 0;
    for (size_t i = 0; cnnvp_config_instance(advice->config, i, &instance) == CNNVP_DONE; ++i)
        count += is_like(advice, instance.name, name) != 0;
    return count > 1;
}

/* Accelerators that share images are alike, so a parameter changes in all of them. */
static void add_parameter(struct advice *advice, const struct cnnvp_instance *instance, uint32_t index)
{
    const struct cnnvp_param *param = &instance->unit->params[index];
    const double part = share_of(advice, moves_data(instance->unit) ? NULL : instance->name);
    const uint64_t value = instance->values[index];
    /* other numbers of a memory's part than those without a unit, such as its timings, are nobody's choice */
    const uint64_t meant = param->unit[0] == '\0' ? cnnvp_number_meant(instance, param->name, value) : value;
    char name[160];
    if (cnnvp_config_first_length(advice->config, instance->name) < strlen(instance->name) ||
        is_shared_clock(instance->unit, param) || strcmp(param->unit, "what if") == 0)
        return;
    if (is_in_several(advice, instance->name))
        (void)snprintf(name, sizeof name, CNNVP_ALL_ACCELERATORS "%.60s.%.60s", instance->name, param->name);
    else
        (void)snprintf(name, sizeof name, "%.60s.%.60s", instance->name, param->name);
    if (param->type == CNNVP_PARAM_ENUM)
        add_choices(advice, instance, index, param->choices, name, instance->texts[index], part);
    else if (cnnvp_instance_unmet(instance, index, value) != NULL)
        return;
    else if (param->type == CNNVP_PARAM_UINT)
        add_number(advice, param, name, meant, part / 2);
    else if (param->type == CNNVP_PARAM_SIZE)
        add_number(advice, param, name, value, part / 2 + share_of(advice, NULL));
}

/* The share of the core. */
static double share_of_core(const struct advice *advice)
{
    struct cnnvp_config_instance instance;
    for (size_t i = 0; cnnvp_config_instance(advice->config, i, &instance) == CNNVP_DONE; ++i)
        if (instance.unit != NULL && strcmp(instance.unit->kind, "cpu") == 0)
            return share_of(advice, instance.name);
    return 0;
}

/* Adds other ways to run that compute the same result: batches of 4, 16 and 64 images or of all if there are fewer,
 * instruction lists, maps on chip. */
static void add_ways(struct advice *advice)
{
    const struct cnnvp_options *now = &advice->options;
    const struct cnnvp_array *input = now->input.count != 0 ? advice->run->inputs[0].array : NULL;
    const uint64_t images = now->images != 0 ? now->images : input != NULL && input->rank != 0 ? input->shape[0] : 1u;
    char from[24], to[24];
    (void)snprintf(from, sizeof from, "%" PRIu64, now->batch != 0 ? now->batch : 1u);
    for (uint64_t batch = 4; batch < 4 * images && batch <= 64; batch *= 4) {
        (void)snprintf(to, sizeof to, "%" PRIu64, cnnvp_minimum(batch, images));
        add_change(advice, "--batch", from, to, "", 1);
    }
    if (images > 1 && now->schedule != CNNVP_SCHEDULE_DEPTH_FIRST)
        add_change(advice, "--issue", now->issue == CNNVP_ISSUE_LIST ? "list" : "guest", "list", "",
                   share_of_core(advice));
    add_change(advice, "--on-chip", now->on_chip ? "true" : "false", "true", "", 1);
}

static int by_promise(const void *a, const void *b)
{
    const struct change *one = a, *other = b;
    if (one->promise != other->promise)
        return one->promise > other->promise ? -1 : 1;
    return strcmp(one->setting, other->setting);
}

/* Tries the choices of an option, or only the best of them. */
static void add_option(struct advice *advice, const char *option, int now, const char *only)
{
    const char *choices = cnnvp_command_option_find("run", option)->choices;
    char name[32], word[16];
    size_t length = 0;
    const char *found = cnnvp_value_choice(choices, (uint64_t)now, &length);
    (void)snprintf(name, sizeof name, "--%s", option);
    (void)snprintf(word, sizeof word, "%.*s", (int)length, found);
    add_choices(advice, NULL, 0, only != NULL ? only : choices, name, word, 1);
}

static void add_changes(struct advice *advice)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(advice->config);
    add_ways(advice);
    add_option(advice, "objective", (int)advice->options.objective, NULL);
    add_option(advice, "schedule", advice->options.schedule, "auto");
    for (size_t i = 0; i < resolved->instance_count; ++i)
        for (uint32_t p = 0; resolved->instances[i].unit != NULL && p < resolved->instances[i].unit->param_count; ++p)
            add_parameter(advice, &resolved->instances[i], p);
    qsort(advice->changes, advice->count, sizeof *advice->changes, by_promise);
}

/* ---- the table ---- */

/* Changes with a result come first, the best one at the top. */
static int by_score(const void *a, const void *b)
{
    const struct change *one = a, *other = b;
    if (one->done != other->done)
        return other->done - one->done;
    if (one->score != other->score)
        return one->score < other->score ? -1 : 1;
    if (one->costs.picojoules != other->costs.picojoules)
        return one->costs.picojoules < other->costs.picojoules ? -1 : 1;
    return strcmp(one->setting, other->setting);
}

/* 1: the change improves the objective, or takes less energy with an objective no worse. */
static int helps(const struct advice *advice, const struct change *change)
{
    const double before = score(advice, &advice->now);
    return change->score < before * (1.0 - WORTH) ||
           (change->score <= before && change->costs.picojoules < advice->now.picojoules * (1.0 - WORTH));
}

static double percent(double value, double of)
{
    return 100.0 * excess(value, of);
}

/* 1: the setting is of how units calculate, so results change, which trials without data do not show. */
static int changes_results(const char *setting)
{
    static const char *const parameters[] = {".acc_bits=", ".precision=", ".write_out="};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; ++i)
        if (strstr(setting, parameters[i]) != NULL)
            return 1;
    return 0;
}

static int counts_traffic(const struct advice *advice)
{
    return (int)advice->run->options->objective == CNNVP_OBJECTIVE_TRAFFIC;
}

/* Prints a row of the table, and adds it to `rows` as {name, from, to, time, energy, area, traffic, changes_results};
 * from time on, these are relative changes. The table has that of the traffic if this is the objective. */
static void print_change(const struct advice *advice, const struct change *change, json_t *rows, FILE *stream)
{
    const struct costs *now = &advice->now;
    const int name = (int)strcspn(change->setting, "=");
    const int marked = changes_results(change->setting);
    const int width = counts_traffic(advice) ? NARROW : WIDE;
    const int wide = counts_traffic(advice) ? NARROW_NAME : WIDE_NAME;
    (void)json_array_append_new(
        rows, json_pack("{s:s%,s:s,s:s,s:f,s:f,s:f,s:f,s:b}", "name", change->setting, name, "from", change->from, "to",
                        change->setting + name + 1, "time", percent(change->costs.ps, now->ps) / 100, "energy",
                        percent(change->costs.picojoules, now->picojoules) / 100, "area",
                        percent(change->costs.um2, now->um2) / 100, "traffic",
                        percent(change->costs.bytes, now->bytes) / 100, "changes_results", marked));
    (void)fprintf(stream, "%c %-*.*s  %*s -> %-*s  %+7.1f %%  %+7.1f %%  %+7.1f %%", marked ? '*' : ' ', wide, name,
                  change->setting, width, change->from, width, change->setting + name + 1,
                  percent(change->costs.ps, now->ps), percent(change->costs.picojoules, now->picojoules),
                  percent(change->costs.um2, now->um2));
    if (counts_traffic(advice))
        (void)fprintf(stream, "  %+7.1f %%", percent(change->costs.bytes, now->bytes));
    (void)fputc('\n', stream);
}

static const struct change *minimum_energy(const struct advice *advice)
{
    const struct change *least = NULL;
    for (size_t i = 0; i < advice->count; ++i)
        if (least == NULL || advice->changes[i].costs.picojoules < least->costs.picojoules)
            least = &advice->changes[i];
    return least;
}

/* 1: another value of the same parameter ranks higher. */
static int is_shown_before(const struct advice *advice, size_t number)
{
    const char *setting = advice->changes[number].setting;
    const size_t name = strcspn(setting, "=") + 1u;
    for (size_t i = 0; i < number; ++i)
        if (strncmp(advice->changes[i].setting, setting, name) == 0)
            return 1;
    return 0;
}

static void print_crashes(const struct advice *advice, size_t tried, FILE *stream)
{
    size_t count = 0, shown = 0;
    for (size_t i = advice->count; i < tried; ++i)
        count += advice->changes[i].crash[0] != '\0';
    if (count != 0)
        (void)fprintf(stream, "%zu of them crash or do not end%s\n", count, count > SHOWN ? "; the first" : "");
    for (size_t i = advice->count; i < tried && shown < SHOWN; ++i)
        if (advice->changes[i].crash[0] != '\0') {
            (void)fprintf(stream, "  %s  %s\n", advice->changes[i].setting, advice->changes[i].crash);
            ++shown;
        }
}

static void print_table(struct advice *advice, json_t *rows, FILE *stream)
{
    const struct costs *now = &advice->now;
    const size_t tried = advice->count;
    size_t shown = 0;
    int marked = 0;
    qsort(advice->changes, tried, sizeof *advice->changes, by_score);
    while (advice->count > 0 && !advice->changes[advice->count - 1u].done)
        --advice->count;
    (void)fprintf(stream, "\n%zu single changes tried, timing only; what helps most\n  %-*s  %9s  %9s  %9s%s\n", tried,
                  counts_traffic(advice) ? NARROW_NAME + 2 * NARROW + 6 : WIDE_NAME + 2 * WIDE + 6, "parameter", "time",
                  "energy", "area", counts_traffic(advice) ? "    traffic" : "");
    for (size_t i = 0; i < advice->count && shown < SHOWN; ++i)
        if (helps(advice, &advice->changes[i]) && !is_shown_before(advice, i)) {
            print_change(advice, &advice->changes[i], rows, stream);
            marked |= changes_results(advice->changes[i].setting);
            ++shown;
        }
    if (shown == 0)
        (void)fputs("  none does\n", stream);
    const struct change *least = minimum_energy(advice);
    if (least != NULL && least->costs.picojoules < now->picojoules * (1.0 - WORTH)) {
        (void)fputs("and the least energy\n", stream);
        print_change(advice, least, rows, stream);
        marked |= changes_results(least->setting);
    }
    if (marked)
        (void)fputs("* results may change, too; a run with the setting and images says how far\n", stream);
    print_crashes(advice, tried, stream);
}

static cnnvp_result begin(const struct cnnvp_run *run, const cnnvp_config *config, struct advice *advice,
                          struct cnnvp_error *error)
{
    *advice = (struct advice){
        .run = run,
        .config = config,
        .options = *run->options,
        .changes = calloc(MAX_CHANGES, sizeof *advice->changes),
        .limit = LIMIT_SECONDS};
    advice->options.timing_only = 1;
    advice->options.check_results = 0;
    advice->options.dump = advice->options.plan_out = NULL;
    return advice->changes != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

static void try_all(struct advice *advice)
{
    struct cli_progress progress;
    cli_progress_begin(&progress, 0);
    try_changes(advice, &progress);
    cli_progress_end(&progress);
}

static void end(struct advice *advice)
{
    json_decref(advice->path);
    json_decref(advice->energy);
    free(advice->changes);
}

/* Writes the rows for the run's page. */
static cnnvp_result write_rows(const char *file, json_t *rows, struct cnnvp_error *error)
{
    json_t *root = json_pack("{s:s,s:O}", "schema", "cnnvp-advice/1", "changes", rows);
    CNNVP_FREED char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text != NULL ? cnnvp_output_whole(file, text, strlen(text), error) : cnnvp_config_no_memory(error);
}

cnnvp_result advise(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics, unsigned seconds,
                    const char *file, FILE *stream, struct cnnvp_error *error)
{
    struct advice advice;
    CNNVP_TRY(begin(run, config, &advice, error));
    json_t *rows = json_array();
    advice.limit += LIMIT_RUNS * seconds;
    cnnvp_result result = read_costs(statistics, &advice.now, &advice);
    if (result == CNNVP_DONE) {
        add_changes(&advice);
        try_all(&advice);
        print_table(&advice, rows, stream);
        result = file != NULL ? write_rows(file, rows, error) : result;
    }
    json_decref(rows);
    end(&advice);
    return result;
}

cnnvp_result advise_way(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics, FILE *stream,
                        struct cnnvp_error *error)
{
    const int schedule = run->options->schedule;
    const struct change *best = NULL;
    struct advice advice;
    CNNVP_TRY(begin(run, config, &advice, error));
    const struct costs *now = &advice.now;
    if (read_costs(statistics, &advice.now, &advice) == CNNVP_DONE && now->ps < SHORT_PS && !advice.options.tune &&
        (schedule == CNNVP_SCHEDULE_LAYER || schedule == CNNVP_SCHEDULE_AUTO)) {
        advice.options.schedule = CNNVP_SCHEDULE_LAYER;
        add_ways(&advice);
        try_all(&advice);
    }
    for (size_t i = 0; i < advice.count; ++i)
        if (advice.changes[i].done && advice.changes[i].score < (best != NULL ? best->score : score(&advice, now)))
            best = &advice.changes[i];
    if (best != NULL && best->score < score(&advice, now) * (1.0 - PROMISE)) {
        const size_t name = strcspn(best->setting, "=");
        const char *value = best->setting + name + 1;
        const int flag = strcmp(value, "true") == 0;
        (void)fprintf(stream, "%-20s  %.*s%s%s%s: %+.1f %% time, %+.1f %% energy", "to try", (int)name, best->setting,
                      flag ? "" : " ", flag ? "" : value, schedule == CNNVP_SCHEDULE_AUTO ? " --schedule layer" : "",
                      percent(best->costs.ps, now->ps), percent(best->costs.picojoules, now->picojoules));
        if (counts_traffic(&advice))
            (void)fprintf(stream, ", %+.1f %% traffic", percent(best->costs.bytes, now->bytes));
        (void)fputc('\n', stream);
    }
    end(&advice);
    return CNNVP_DONE;
}
