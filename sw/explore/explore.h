/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the parts of the exploration library. A point is one combination of axis values, that is, one
 * design to run. A sweep passes through these stages:
 *   specification -> axes            spec.c, axis.c     names and values of what varies; expression.c, objective.c
 *   axes -> points                   space.c, nsga2.c   which combinations are run, in which order
 *   point -> key, statistics         point.c, worker.c  the work of one worker
 *   points -> result files           pool.c, slurm.c    workers on this machine or on a cluster
 *   result files -> database         sweep.c, results.c the only writer of the database
 *   database -> table, CSV, page     front.c, report_sweep.c
 */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "cnnvp_explore.h"
#include "input_file.h"
#include "run.h"
#include "value.h"
#include "yaml.h"

/* Limits of a specification. */
enum {
    CNNVP_AXES = 64,
    CNNVP_AXIS_VALUES = 65536,
    CNNVP_CONSTRAINTS = 64,
    CNNVP_DERIVED = 64,
    CNNVP_OBJECTIVES = 16,
    CNNVP_SWEEP_POINTS = 1 << 20,
    CNNVP_KEY_BYTES = 33 /* 128 bits in hexadecimal and a terminating zero */
};
/* A grid with more combinations than this is refused, since each one is checked against the constraints. */
#define CNNVP_SWEEP_COMBINATIONS UINT64_C(100000000)

/* ---- axes (axis.c) ---- */

enum cnnvp_axis_kind { CNNVP_AXIS_NETWORK, CNNVP_AXIS_OPTION, CNNVP_AXIS_PARAMETER };
enum cnnvp_json_kind { CNNVP_JSON_TEXT, CNNVP_JSON_WHOLE, CNNVP_JSON_REAL, CNNVP_JSON_BOOL };

/* A value as an expression sees it: a text or a number. */
struct cnnvp_operand {
    const char *text; /* NULL: a number */
    double number;
};

struct cnnvp_axis_value {
    const char *text;
    const char *place;
    enum cnnvp_json_kind json; /* its type in `params` */
    struct cnnvp_operand operand;
    const char *file;           /* path, for networks and file options; else NULL */
    char hash[CNNVP_KEY_BYTES]; /* of that file's content */
};

struct cnnvp_axis {
    const char *name; /* its key in `params` */
    const char *place;
    enum cnnvp_axis_kind kind;
    int listed;                                /* 1: written to `params` */
    const struct cnnvp_command_option *option; /* only for CNNVP_AXIS_OPTION */
    const struct cnnvp_param *param;           /* only for CNNVP_AXIS_PARAMETER; NULL for energy.* and INSTANCE.model */
    struct cnnvp_axis_value *values;
    uint32_t value_count;
};

struct cnnvp_objective {
    const char *path;
    const char *place;
    int maximise; /* 1: written with a leading minus in the specification */
};

enum cnnvp_search { CNNVP_SEARCH_GRID, CNNVP_SEARCH_RANDOM, CNNVP_SEARCH_NSGA2 };

/* A parameter computed from others: `derive: {INSTANCE.PARAM: expression}`. */
struct cnnvp_derived {
    const char *name;
    const char *place;
    struct cnnvp_expression *expression;
};

/* Identifies a point of a sweep. */
struct cnnvp_sweep_point {
    uint64_t number; /* mixed-radix number of the axes' value indexes; the last axis varies fastest */
    char key[CNNVP_KEY_BYTES];
};

struct cnnvp_sweep {
    struct cnnvp_arena arena;
    const char *file;
    const char *folder;
    const char *text;
    const char *command;
    const char *work; /* name of the axis with the input files: "network" or "program" */
    const char *platform;
    const char *platform_file; /* the argument for cnnvp_config_new */
    cnnvp_config *base;        /* the resolved platform before a point's parameters are set */
    struct cnnvp_axis *axes;
    size_t axis_count;
    struct cnnvp_expression **constraints;
    size_t constraint_count;
    struct cnnvp_derived *derived; /* each may refer to earlier ones */
    size_t derived_count;
    struct cnnvp_objective *objectives;
    size_t objective_count;
    const char *members; /* members of the statistics that tables and objectives need, see cnnvp_results_get */
    enum cnnvp_search search;
    uint64_t random_points;
    uint32_t population;
    uint32_t generations;
    const char *search_place;
    char guest_hash[CNNVP_KEY_BYTES];
    char simulator[CNNVP_KEY_BYTES]; /* cnnvp_build() of the program that runs the points */
    uint64_t combinations;
    /* Set by cnnvp_sweep_run. */
    char *results;
    struct cnnvp_sweep_point *points;
    size_t point_count;
};

CNNVP_MUST_USE cnnvp_result cnnvp_spec_read(struct cnnvp_sweep *sweep, struct cnnvp_error *error);
/* Adds an axis with the values of a YAML node: a scalar, a list, {from, to, step} or {log2: [a, b]}. */
CNNVP_MUST_USE cnnvp_result cnnvp_axis_add(struct cnnvp_sweep *sweep, enum cnnvp_axis_kind kind,
                                           const struct cnnvp_yaml_node *node, struct cnnvp_error *error);
uint32_t cnnvp_point_index(const struct cnnvp_sweep *sweep, uint64_t number, size_t axis);
/* The option and its value as a word of the command line, as "--timing-only", "--max-time=1s"; NULL: out of memory. */
const char *cnnvp_axis_word(struct cnnvp_arena *arena, const struct cnnvp_axis *axis, const char *value);
/* The index of a point's network among those of the sweep, and the number of networks. */
uint32_t cnnvp_point_network(const struct cnnvp_sweep *sweep, uint64_t number);
uint32_t cnnvp_network_count(const struct cnnvp_sweep *sweep);
/* A point's value of an option or of the network axis. NULL: the sweep does not set it, so the default holds. */
const struct cnnvp_axis_value *cnnvp_point_option(const struct cnnvp_sweep *sweep, uint64_t number, const char *name);
/* Makes the `params` object of a point: the listed axes and the derived parameters. NULL: out of memory. */
json_t *cnnvp_point_params(const struct cnnvp_sweep *sweep, uint64_t number);
/* Prints a point's values of the listed axes, as "pe_array.rows=8 schedule=layer". */
void cnnvp_point_describe(const struct cnnvp_sweep *sweep, uint64_t number, FILE *stream);
/* xxh3-128 of a text, and of a file's content. */
void cnnvp_hash_text(const char *text, char hash[CNNVP_KEY_BYTES]);
CNNVP_MUST_USE cnnvp_result cnnvp_hash_file(const char *file, char hash[CNNVP_KEY_BYTES], struct cnnvp_error *error);

/* ---- constraints (expression.c) ---- */

struct cnnvp_expression;

/* Returns the index of a name, to be passed to cnnvp_value_fn, or UINT32_MAX if the name is unknown. */
typedef uint32_t (*cnnvp_name_fn)(void *context, const char *name);
/* Offers all known names as suggestions for an unknown one. */
typedef void (*cnnvp_offer_fn)(void *context, struct cnnvp_suggest *suggest);
/* `place` is the position of the text's first character: "FILE:LINE:COLUMN". */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_new(struct cnnvp_arena *arena, const char *text, const char *place,
                                                 cnnvp_name_fn name, cnnvp_offer_fn offer, void *context,
                                                 struct cnnvp_expression **expression, struct cnnvp_error *error);
/* Returns the value of the name with this index. */
typedef struct cnnvp_operand (*cnnvp_value_fn)(const void *context, uint32_t index);
CNNVP_MUST_USE cnnvp_result cnnvp_expression_holds(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                                   const void *context, int *holds, struct cnnvp_error *error);

/* Refuses an expression that is not a condition: neither a comparison nor made of `and`, `or`, `not`. */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_condition(const struct cnnvp_expression *expression,
                                                       struct cnnvp_error *error);
/* Evaluates an expression to a number; refuses a text. */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_number(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                                    const void *context, double *number, struct cnnvp_error *error);

/* Computes a derived parameter of a point; refuses a result that is not a whole number. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_derived(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived,
                                                uint64_t *value, struct cnnvp_error *error);

/* The same; `config` has the point's parameters and the derived ones before it. It may become resolved. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_derive(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived,
                                               cnnvp_config *config, uint64_t *value, struct cnnvp_error *error);

/* Whether all constraints allow a point. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_allowed(const struct cnnvp_sweep *sweep, uint64_t number, int *allowed,
                                                struct cnnvp_error *error);

/* ---- members of `values` (values.c, values.def) ---- */

struct cnnvp_value_help {
    const char *object; /* values.OBJECT.NAME */
    const char *name;
    const char *unit;
    const char *needs; /* the option that it requires; "": none */
    const char *help;
};
extern const struct cnnvp_value_help cnnvp_value_table[];
extern const size_t cnnvp_value_count;

/* ---- objectives (objective.c, objective_check.c) ---- */

/* Finds the number at a path such as total.time_ps, units.dram.bursts or layers.C1.cycles; 0: there is none.
 * What a unit has no part in is 0 where the statistics leave it out. */
int cnnvp_stats_number(const json_t *stats, const char *path, double *number);
/* Refuses objectives that the statistics of a point will not contain. It makes statistics of the point with this number
 * without running it. If that point cannot be planned, it tries other points. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check(struct cnnvp_sweep *sweep, uint64_t number,
                                                   struct cnnvp_error *error);
/* The same for objectives that only a network in training has. It starts the program for each point that it tries, and
 * leaves no files in the folder. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check_training(struct cnnvp_sweep *sweep, const char *program,
                                                            const char *folder, struct cnnvp_error *error);
/* The same for a program, after its first run: only then are its layers and reported numbers known. `stats` is the text
 * of the statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check_program(const struct cnnvp_sweep *sweep, const char *stats,
                                                           struct cnnvp_error *error);
/* Computes all objectives of a point, negated where they are maximised; returns 0 if one is missing. */
int cnnvp_objectives_of(const struct cnnvp_sweep *sweep, const json_t *stats, double *values);

/* Members of the statistics whose numbers become columns of tables. */
enum { CNNVP_COLUMN_SECTIONS = 6 };
extern const char *const cnnvp_column_sections[CNNVP_COLUMN_SECTIONS];
#define CNNVP_COLUMNS " total summary memory storage energy area "

/* ---- points (point.c) ---- */

struct cnnvp_point {
    uint64_t number;
    char key[CNNVP_KEY_BYTES];
    cnnvp_config *config; /* resolved; NULL: refused */
    struct cnnvp_error refused;
};

/* Sets the command's options from a point's axes. The caller clears `options` in any case. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_options(const struct cnnvp_sweep *sweep, uint64_t number,
                                                struct cnnvp_options *options, struct cnnvp_error *error);
/* Applies a point's parameters and the first derived ones to a copy of the sweep's base, and resolves it. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_settle(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived_count,
                                               cnnvp_config *config, struct cnnvp_error *error);
/* Resolves a point's configuration, without making its key. A refused configuration is not an error here: point->config
 * is then NULL, and point->refused has the reason. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_configure(const struct cnnvp_sweep *sweep, uint64_t number,
                                                  struct cnnvp_point *point, struct cnnvp_error *error);
/* The same, and also makes the point's key. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_prepare(const struct cnnvp_sweep *sweep, uint64_t number,
                                                struct cnnvp_point *point, struct cnnvp_error *error);
void cnnvp_point_clear(struct cnnvp_point *point);
struct cnnvp_sweep_point cnnvp_point_name(const struct cnnvp_point *point);
/* Runs a point in this process and returns its statistics as compact JSON. `simulate` 0: makes the statistics without
 * running the platform. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_run(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                            int simulate, char **stats, struct cnnvp_error *error);
/* The same, but runs the cnnvp program, which writes its statistics to `stats_file`. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_spawn(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                              int simulate, const char *program, const char *stats_file, char **stats,
                                              struct cnnvp_error *error);
/* Runs the point and writes FOLDER/KEY.result, as each worker does. It fails only if that file cannot be written.
 * *failed 1: the file says that the point failed. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_work(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                             const char *program, const char *folder, int *failed,
                                             struct cnnvp_error *error);

/* ---- child processes for trials and workers (process.c) ---- */

/* Call in a new child process: detaches it from the console, resets its signal handlers, and makes it end with its
 * parent. Exits if that fails. */
void cnnvp_process_begin(pid_t parent);
/* Returns 1 if the process has ended, with *status as from waitpid. Flags: WNOHANG polls, 0 waits. */
int cnnvp_process_ended(pid_t process, int flags, int *status);

/* ---- database and result files (results.c) ---- */

struct cnnvp_results;

#define CNNVP_STATS_SCHEMA "cnnvp-stats/2"

struct cnnvp_row {
    char key[CNNVP_KEY_BYTES];
    int failed;
    char *params;
    int damaged; /* 1: counts as failed because its statistics are damaged or of another schema; it may run again */
    char *stats; /* NULL: failed */
    char *error; /* NULL: ok */
    char *words; /* JSON: words of the command line beside the params; NULL: those of the last sweep */
    double seconds;
};
void cnnvp_row_clear(struct cnnvp_row *row);

/* Opens the database, and makes it and its tables if missing; refuses a database of another application. `write` 0:
 * opens an existing database for reading. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_open(const char *file, int write, struct cnnvp_results **results,
                                               struct cnnvp_error *error);
void cnnvp_results_close(struct cnnvp_results *results);
void cnnvp_results_drop(struct cnnvp_results **results); /* for CNNVP_SCOPED */
/* Sets the build of the points that are put from here on; before this call it is the build of the last sweep.
 * cnnvp_results_each then skips points of other builds; *others: their number. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_build(struct cnnvp_results *results, const char *build, uint64_t *others,
                                                    struct cnnvp_error *error);
/* Number of points from other builds than that of the last sweep. */
uint64_t cnnvp_results_others(struct cnnvp_results *results);
/* Adds or replaces a row. It is durable only after cnnvp_results_commit. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_put(struct cnnvp_results *results, const struct cnnvp_row *row,
                                              struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_results_commit(struct cnnvp_results *results, struct cnnvp_error *error);
/* Finds a row by its key; row->key is "" if there is none. `members` lists the wanted members of the statistics, each
 * between blanks, as " total energy "; NULL: no statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_get(struct cnnvp_results *results, const char *key, const char *members,
                                              struct cnnvp_row *row, struct cnnvp_error *error);
/* Number of points from the build of the last sweep; 0 also if they cannot be counted. */
uint64_t cnnvp_results_count(struct cnnvp_results *results);
/* Calls `take` for each of these points in the order of their keys, until it returns non-zero. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_each(struct cnnvp_results *results, const char *members,
                                               int (*take)(void *context, const struct cnnvp_row *row), void *context,
                                               struct cnnvp_error *error);
/* Replaces a row's params. */
/* Makes the command line's words of the last sweep (its fact `fixed`) those of a point. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_words(struct cnnvp_results *results, const char *key,
                                                    struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_params(struct cnnvp_results *results, const char *key, const char *params,
                                                     struct cnnvp_error *error);
/* Deletes the failed points, so that they run again. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_forget_failed(struct cnnvp_results *results, struct cnnvp_error *error);
/* Stores a fact about the last sweep as a whole, such as its objectives or hypervolume. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_fact(struct cnnvp_results *results, const char *name, const char *value,
                                                   struct cnnvp_error *error);
/* Reads such a fact; NULL: there is none. Free it with free(). */
char *cnnvp_results_fact(struct cnnvp_results *results, const char *name);

/* Writes a result file: one line of JSON with everything but the statistics, then one line with the statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_result_write(const char *folder, const struct cnnvp_row *row,
                                               struct cnnvp_error *error);
/* Reads a result file. BAD_INPUT: the file is incomplete. */
CNNVP_MUST_USE cnnvp_result cnnvp_result_read(const char *file, struct cnnvp_row *row, struct cnnvp_error *error);

/* ---- the driver (sweep.c), its workers (pool.c, worker.c, slurm.c) and searches (space.c, nsga2.c) ---- */

struct cnnvp_driver {
    struct cnnvp_sweep *sweep;
    const struct cnnvp_sweep_options *options;
    uint32_t jobs;
    char *program;
    struct cnnvp_results *results;
    char *folder; /* folder of the result files */
    int lock;
    char (*uncommitted)[CNNVP_KEY_BYTES];
    size_t uncommitted_count;
    double started;
    double committed;
    double shown;
    double slowest; /* seconds that the slowest point of this run took */
    struct cnnvp_sweep_progress progress;
    uint64_t ran;
    double idle;     /* time since which all workers have waited for Slurm */
    char *task_file; /* tells Slurm's workers what to run; they end once it is deleted */
};

int cnnvp_sweep_interrupted(void);
void cnnvp_driver_show(struct cnnvp_driver *driver, int always);
/* Adds a point to the sweep and looks it up in the database; *known 1: it need not run. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_meet(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point,
                                              int *known, struct cnnvp_error *error);
/* Copies one result file into the database; *taken 0: the file is missing or unusable. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_take(struct cnnvp_driver *driver, const char *key, int *taken,
                                              struct cnnvp_error *error);
/* Records as failed a point that cannot be run or whose workers died. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_fail(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point,
                                              const char *reason, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_driver_commit(struct cnnvp_driver *driver, int now, struct cnnvp_error *error);
/* Runs a batch of points and commits their results to the database. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                                               struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_pool_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                                             struct cnnvp_error *error);
/* 1: its workers run under Slurm. */
int cnnvp_driver_is_far(const struct cnnvp_driver *driver);
/* Writes the task file. */
CNNVP_MUST_USE cnnvp_result cnnvp_slurm_begin(struct cnnvp_driver *driver, struct cnnvp_error *error);
/* Lists the points of a grid or random search, and counts the combinations that the constraints allow (0: too many to
 * count). Free `numbers` with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_space_points(const struct cnnvp_sweep *sweep, uint64_t seed, uint64_t **numbers,
                                               size_t *count, uint64_t *allowed, struct cnnvp_error *error);
/* Finds a combination that the constraints allow. BAD_INPUT: none was found. */
CNNVP_MUST_USE cnnvp_result cnnvp_space_first(const struct cnnvp_sweep *sweep, uint64_t *number,
                                              struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_nsga2_run(struct cnnvp_driver *driver, struct cnnvp_error *error);

/* splitmix64, the only random generator of a search. */
struct cnnvp_chance {
    uint64_t seed, drawn;
};
uint64_t cnnvp_chance_next(struct cnnvp_chance *chance);
/* A uniform random number from 0 to below - 1. */
uint64_t cnnvp_chance_below(struct cnnvp_chance *chance, uint64_t below);
/* Draws a combination that the constraints allow; *found 0: too many draws were refused. */
CNNVP_MUST_USE cnnvp_result cnnvp_space_random(const struct cnnvp_sweep *sweep, struct cnnvp_chance *chance,
                                               uint64_t *number, int *found, struct cnnvp_error *error);

/* ---- fronts (front.c) ---- */

/* 1: a is no worse than b in any objective and better in at least one. All objectives are minimised. */
int cnnvp_dominates(const double *a, const double *b, size_t count);
/* Exact volume of the region that a set of points dominates, up to a reference corner. Negative: out of memory. */
double cnnvp_hypervolume(const double *points, size_t count, size_t objectives, const double *corner);

/* ---- text ---- */

/* A reference to a JSON value that is released at the end of its scope. */
#define CNNVP_JSON CNNVP_SCOPED(cnnvp_json_release) json_t
void cnnvp_json_release(json_t **value);
/* Reads a JSON file and checks its `schema` member. The caller releases `root`, also after an error, and frees `text`;
 * `text` NULL: not wanted. */
CNNVP_MUST_USE cnnvp_result cnnvp_read_document(const char *file, const char *schema, char **text, json_t **root,
                                                struct cnnvp_error *error);
/* Formats a number of stats.json for people. Times, energies, areas, bytes and bandwidths, known by the end of their
 * path, get a suitable unit. Other whole numbers get commas, the rest six digits. `sign` "+": writes a plus before
 * positive numbers. */
void cnnvp_show_statistic(char *buffer, size_t size, const char *path, double value, const char *sign);
/* One field of a CSV file, RFC 4180. */
void cnnvp_csv_field(FILE *stream, const char *text, int last);
/* Writes a whole file atomically: it appears only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_write_text(const char *file, const char *text, size_t size,
                                             struct cnnvp_error *error);
