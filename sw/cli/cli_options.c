/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several commands have. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEY_STATS = 0x100,
    KEY_TRACE,
    KEY_MEMORY_TRACE,
    KEY_MAX_TIME,
    KEY_SEED,
    KEY_CHECK_COSTS,
    KEY_CHECK_RESULTS,
    KEY_STRICT,
    KEY_SCHEDULE,
    KEY_BLOCK,
    KEY_BLOCK_ORDER,
    KEY_ISSUE,
    KEY_TIMING_ONLY,
    KEY_ON_CHIP,
    KEY_BATCH,
    KEY_OBJECTIVE,
    KEY_HALO,
    KEY_PLAN,
    KEY_ROUNDING,
    KEY_TUNE,
    KEY_SHAPE,
    KEY_COLOR,
    KEY_PROFILE,
    KEY_GDB,
    KEY_REPORT,
    KEY_GUEST
};

static uint64_t parse_time(struct argp_state *state, const char *option, const char *text)
{
    const uint64_t value = cnnvp_time_parse(text);
    if (value == 0)
        cli_usage(state, "%s: \"%s\" is not a time above 0, such as 2s, 1.5ms, 300us, 20ns or 5ps", option, text);
    return value;
}

static void add_set(struct argp_state *state, struct cli_platform_options *options, char *text)
{
    char **sets = realloc(options->sets, (options->set_count + 1) * sizeof *sets);
    if (sets == NULL)
        cli_usage(state, "out of memory");
    options->sets = sets;
    options->sets[options->set_count++] = text;
}

/* ---- styles ---- */

enum color { AUTO, ALWAYS, NEVER };
static enum color color;

static error_t parse_style(int key, char *arg, struct argp_state *state)
{
    static const char *const words[] = {"auto", "always", "never", NULL};
    if (key != KEY_COLOR)
        return ARGP_ERR_UNKNOWN;
    color = (enum color)cli_choice(state, "--color", arg, words);
    return 0;
}

static const struct argp_option style_options[] = {
    {"color", KEY_COLOR, "auto|always|never", 0,
     "Colours in tables (default: auto, which means on a terminal, unless NO_COLOR is set)", 4},
    {0},
};

const struct argp cli_style_argp = {.options = style_options, .parser = parse_style};

const char *cli_style(enum cli_style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m"};
    const char *off = getenv("NO_COLOR");
    const int wanted = color == ALWAYS || (color == AUTO && isatty(STDOUT_FILENO) && (off == NULL || !*off));
    return wanted ? codes[style] : "";
}

/* ---- options ---- */

static error_t parse_platform(int key, char *arg, struct argp_state *state)
{
    struct cli_platform_options *options = state->input;
    switch (key) {
    case 'p':
        options->platform = arg;
        return 0;
    case 's':
        add_set(state, options, arg);
        return 0;
    case KEY_STATS:
        options->stats = arg;
        return 0;
    case KEY_MEMORY_TRACE:
        options->memory_trace = arg;
        return 0;
    case KEY_TRACE:
        options->trace = arg;
        return 0;
    case KEY_MAX_TIME:
        options->max_time_ps = parse_time(state, "--max-time", arg);
        return 0;
    case KEY_SEED:
        options->seed = cli_number(state, "--seed", arg, 0, UINT64_MAX);
        return 0;
    case KEY_CHECK_COSTS:
        options->check_costs = 1;
        return 0;
    case KEY_CHECK_RESULTS:
        options->check_results = 1;
        return 0;
    case KEY_STRICT:
        options->strict = 1;
        return 0;
    case KEY_PROFILE:
        options->profile = arg;
        return 0;
    case KEY_REPORT:
        options->report = arg;
        return 0;
    case KEY_GDB:
        options->gdb = arg;
        return 0;
    case 'q':
        options->quiet = 1;
        return 0;
    case 'v':
        ++options->verbose;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_shape(int key, char *arg, struct argp_state *state)
{
    struct cli_shapes *shapes = state->input;
    struct cnnvp_error error = {""};
    if (key != KEY_SHAPE)
        return ARGP_ERR_UNKNOWN;
    if (cnnvp_shape_check(arg, &error) != CNNVP_DONE)
        cli_usage(state, "%s", error.text);
    if (shapes->count == CLI_SHAPES)
        cli_usage(state, "--shape: at most %d", CLI_SHAPES);
    shapes->texts[shapes->count++] = arg;
    return 0;
}

#define OPTION_PLATFORM                                                                           \
    {                                                                                             \
        "platform", 'p', "FILE|PRESET", 0,                                                        \
            "Platform file or preset: nfu, window, trainer (default: nfu; for train: trainer)", 1 \
    }
#define OPTION_SET                                                                                                \
    {                                                                                                             \
        "set", 's', "INSTANCE.PARAM=VALUE", 0,                                                                    \
            "Set a parameter (see `cnnvp models KIND`); may be repeated. accelerators.INSTANCE.PARAM sets it in " \
            "every accelerator",                                                                                  \
            1                                                                                                     \
    }

static const struct argp_option config_options[] = {OPTION_PLATFORM, OPTION_SET, {0}};

static const struct argp_option platform_options[] = {
    OPTION_PLATFORM,
    OPTION_SET,
    {"stats", KEY_STATS, "FILE.json", 0, "Write the statistics", 2},
    {"trace", KEY_TRACE, "FILE", 0, "Write a trace: .pftrace for ui.perfetto.dev, .vcd or .fst for waveforms", 2},
    {"memory-trace", KEY_MEMORY_TRACE, "FILE", 0,
     "Write every off-chip burst, for `cnnvp memory`; a name that ends in .ramulator2 or .dramsim3 gives that "
     "simulator's format",
     2},
    {"report", KEY_REPORT, "FOLDER", 0, "Record the data from which `cnnvp report FOLDER` makes a page", 2},
    {"profile", KEY_PROFILE, "FILE", 0,
     "Write the core's cycles by function, line and instruction, for KCachegrind or callgrind_annotate, and print "
     "where most are spent",
     2},
    {"gdb", KEY_GDB, "PORT", 0, "Wait for GDB on this local port; 0 takes a free one", 2},
    {"max-time", KEY_MAX_TIME, "TIME", 0, "Stop with exit status 1 after this much simulated time, such as 2s or 1.5ms",
     3},
    {"seed", KEY_SEED, "N", 0, "Seed for everything random (default: 0)", 3},
    {"check-costs", KEY_CHECK_COSTS, NULL, 0,
     "Compare the cycles of each command with those that its unit told the planner, and with those that it counts for "
     "its layer; stop with exit status 1 at the first difference. For units of libraries the first one is a warning "
     "without this option",
     3},
    {"check-results", KEY_CHECK_RESULTS, NULL, 0,
     "Compare what each command of a PE array, in training too, or of a vector unit leaves in its buffers, bit by bit, "
     "with reference arithmetic; name the first wrong command, go on, count the others, and exit with status 1. Finds "
     "what a unit writes outside of its results, too. Commands of the training engine's multi-function module have no "
     "reference: the end says how many were compared and how many were not. Several times slower",
     3},
    {"strict", KEY_STRICT, NULL, 0, "Stop with exit status 1 at the first call of a unit that the platform refuses", 3},
    {"quiet", 'q', NULL, 0, "Print only errors and the results asked for", 4},
    {"verbose", 'v', NULL, 0, "Print what units report; twice for more", 4},
    {0},
};

static const struct argp_option network_options[] = {
    {"schedule", KEY_SCHEDULE, "ORDER", 0,
     "Order of the work: layer (default), depth-first (block by block, each padded by itself: another function than "
     "the "
     "network's), fused (groups of layers run tile by tile to save traffic, even "
     "where that takes longer), auto (fused where trials show that --objective gains; never worse than layer)",
     5},
    {"halo", KEY_HALO, "recompute|row|full", 0,
     "Fused: values that neighbouring tiles share are computed again, kept along rows, or kept along rows and columns "
     "(default: the planner chooses)",
     5},
    {"plan", KEY_PLAN, "FILE.yaml", 0, "Run this plan: groups, tiles, halos and the maps that stay on chip", 5},
    {"block", KEY_BLOCK, "N", 0, "Depth first: side of a block, a power of two (default: 8)", 5},
    {"block-order", KEY_BLOCK_ORDER, "morton|table", 0,
     "Depth first: blocks in Morton order by counting (default), or in the same order from a table made in advance", 5},
    {"issue", KEY_ISSUE, "guest|scheduler", 0,
     "Depth first: who issues a chain's instructions (default: whichever the plan estimates to be faster)", 5},
    {"on-chip", KEY_ON_CHIP, NULL, 0, "Keep all maps on chip between layers; an error if they do not fit", 5},
    {"batch", KEY_BATCH, "N", 0,
     "Run N images through each layer together, so that weights are loaded once for all of them (default: 1; all "
     "images, if a batch norm needs statistics of them)",
     5},
    {"objective", KEY_OBJECTIVE, "time|energy|edp|traffic", 0,
     "What the planner minimises in its choice of tiles and groups (default: time; with fused: traffic). edp is energy "
     "times time; traffic is bytes of off-chip bursts, and time to a small part",
     5},
    {"guest", KEY_GUEST, "FILE.elf", 0, "Your own guest program; it gets the same network binary", 5},
    {"tune", KEY_TUNE, NULL, 0, "Before the run, try more tilings of each layer on the platform and take the fastest",
     5},
    {"timing-only", KEY_TIMING_ONLY, NULL, 0, "No arithmetic: times and traffic only; -o writes nothing", 5},
    {"rounding", KEY_ROUNDING, "truncate|nearest|stochastic", 0, "Rounding of results (default: nearest)", 5},
    {0},
};

const char *cli_long_name(const struct argp_option *options, int key)
{
    while (options->name != NULL && options->key != key)
        ++options;
    return options->name;
}

/* What was given is noted: whether it changes anything shows when all are known. */
static error_t parse_network(int key, char *arg, struct argp_state *state)
{
    struct cli_network_options *options = state->input;
    const char *name = cli_long_name(network_options, key);
    struct cnnvp_error error = {""};
    if (key == ARGP_KEY_INIT)
        cnnvp_network_options_default(&options->set);
    for (size_t i = 0; key == ARGP_KEY_END && i < options->given_count; ++i)
        if (cnnvp_network_options_need(&options->set, options->given[i], &error) != CNNVP_DONE)
            cli_usage(state, "%s", error.text);
    if (name == NULL)
        return ARGP_ERR_UNKNOWN;
    if (cnnvp_network_options_set(&options->set, name, arg != NULL ? arg : "true", &error) != CNNVP_DONE)
        cli_usage(state, "%s", error.text);
    if (options->given_count < sizeof options->given / sizeof *options->given)
        options->given[options->given_count++] = name;
    return 0;
}

static const struct argp_option shape_options[] = {
    {"shape", KEY_SHAPE, "[NAME=]1x3x320x320", 0,
     "Shape of the network's input NAME if its file leaves sizes open; images settle it, too", 5},
    {0},
};

const struct argp cli_shape_argp = {.options = shape_options, .parser = parse_shape};
const struct argp cli_config_argp = {.options = config_options, .parser = parse_platform};
static const struct argp_child platform_children[] = {{&cli_style_argp, 0, NULL, 0}, {0}};
const struct argp cli_platform_argp = {
    .options = platform_options, .parser = parse_platform, .children = platform_children};
const struct argp cli_network_argp = {.options = network_options, .parser = parse_network};

void cli_platform_options_clear(struct cli_platform_options *options)
{
    free(options->report_stats);
    free(options->report_series);
    if (options->report_made)
        (void)rmdir(options->report); /* where nothing was written into it */
    options->report_stats = options->report_series = NULL;
    free(options->sets);
    options->sets = NULL;
    options->set_count = 0;
}

/* FOLDER/FILE; NULL without memory. */
static char *in_folder(const char *folder, const char *file)
{
    const size_t size = strlen(folder) + strlen(file) + 2u;
    char *path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%s/%s", folder, file);
    return path;
}

/* A folder with those above it; *made if it was not there. */
static int make_folders(const char *folder, int *made)
{
    char *path = strdup(folder);
    struct stat status;
    if (path == NULL)
        return 0;
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    free(path);
    *made = mkdir(folder, 0777) == 0;
    return *made || (errno == EEXIST && stat(folder, &status) == 0 && S_ISDIR(status.st_mode));
}

/* The folder of --report gets the statistics and a trace of its own form. */
static cnnvp_result open_report(struct cli_platform_options *options)
{
    if (options->report == NULL)
        return CNNVP_DONE;
    if (!*options->report)
        return cli_bad("--report: the name of a folder is expected");
    if (!make_folders(options->report, &options->report_made))
        return cli_bad("--report: %s cannot be made: %s", options->report, strerror(errno));
    options->report_stats = in_folder(options->report, "stats.json");
    options->report_series = in_folder(options->report, "run.series");
    if (options->report_stats != NULL && options->report_series != NULL)
        return CNNVP_DONE;
    cli_message("out of memory");
    return CNNVP_FAILED;
}

cnnvp_result cli_check_command_files(const struct cli_named_file *own, size_t count,
                                     struct cli_platform_options *options)
{
    cnnvp_result result = open_report(options);
    const struct cli_named_file shared[CLI_PLATFORM_FILES] = {
        {"--platform", options->platform, 0},    {"--stats", options->stats, 1},
        {"--trace", options->trace, 1},          {"--memory-trace", options->memory_trace, 1},
        {"--profile", options->profile, 1},      {"--report", options->report_stats, 1},
        {"--report", options->report_series, 1},
    };
    struct cli_named_file *files = calloc(count + CLI_PLATFORM_FILES, sizeof *files);
    if (result == CNNVP_DONE && files == NULL) {
        cli_message("out of memory");
        result = CNNVP_FAILED;
    }
    for (size_t i = 0; result == CNNVP_DONE && i < count + CLI_PLATFORM_FILES; ++i)
        files[i] = i < count ? own[i] : shared[i - count];
    if (result == CNNVP_DONE)
        result = cli_check_files(files, count + CLI_PLATFORM_FILES);
    free(files);
    return result;
}

cnnvp_result cli_configure(const struct cli_platform_options *options, cnnvp_config **config)
{
    struct cnnvp_error error = {""};
    cnnvp_result result =
        cnnvp_config_new(options->platform != NULL ? options->platform : cnnvp_command_platform("run"), config, &error);
    for (size_t i = 0; i < options->set_count && result == CNNVP_DONE; ++i)
        result = cnnvp_config_set(*config, options->sets[i], &error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(*config, &error);
    if (result == CNNVP_DONE)
        return result;
    cnnvp_config_free(*config);
    *config = NULL;
    return cli_report(result, &error);
}
