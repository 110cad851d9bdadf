/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the exploration share. A sweep passes these stages, each with its own files:
 *   specification -> axes            spec.c, axis.c     names, values and their places; expression.c, objective.c
 *   axes -> points                   space.c, nsga2.c   which combinations are looked at, in which order
 *   point -> key, statistics         point.c, worker.c  what a worker does
 *   points -> result files           pool.c, slurm.c    workers, here or on a cluster
 *   result files -> database         sweep.c, results.c the one writer
 *   database -> table, CSV, page     front.c, report_sweep.c
 */
#ifndef CNNVP_EXPLORE_INTERNAL_H
#define CNNVP_EXPLORE_INTERNAL_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "cnnvp_explore.h"
#include "input_file.h"
#include "run.h"
#include "value.h"
#include "yaml.h"

/* Bounds on what a specification may ask for. */
enum {
    CNNVP_AXES = 64,
    CNNVP_AXIS_VALUES = 65536,
    CNNVP_CONSTRAINTS = 64,
    CNNVP_DERIVED = 64,
    CNNVP_OBJECTIVES = 16,
    CNNVP_SWEEP_POINTS = 1 << 20,
    CNNVP_KEY_BYTES = 33 /* 128 bits in hexadecimal and a zero */
};
/* Combinations that are gone through one by one to find those that the constraints allow. */
#define CNNVP_SWEEP_COMBINATIONS UINT64_C(100000000)

/* ---- axes (axis.c) ---- */

enum cnnvp_axis_kind { CNNVP_AXIS_NETWORK, CNNVP_AXIS_OPTION, CNNVP_AXIS_PARAMETER };
enum cnnvp_json_kind { CNNVP_JSON_TEXT, CNNVP_JSON_WHOLE, CNNVP_JSON_REAL, CNNVP_JSON_BOOL };

/* What a constraint sees of a value. */
struct cnnvp_operand {
    const char *text; /* NULL: a number */
    double number;
};

struct cnnvp_axis_value {
    const char *text;
    const char *place;
    enum cnnvp_json_kind json; /* how it stands in `params` */
    struct cnnvp_operand operand;
    const char *file;           /* of a network or a file option: where it is */
    char hash[CNNVP_KEY_BYTES]; /* of that file */
};

struct cnnvp_axis {
    const char *name; /* as in `params` */
    const char *place;
    enum cnnvp_axis_kind kind;
    int listed;                                /* 1: stands in `params` */
    const struct cnnvp_command_option *option; /* of CNNVP_AXIS_OPTION */
    const struct cnnvp_param *param;           /* of CNNVP_AXIS_PARAMETER */
    struct cnnvp_axis_value *values;
    uint32_t value_count;
};

struct cnnvp_objective {
    const char *path;
    const char *place;
    int maximise; /* written with a minus in front */
};

enum cnnvp_search { CNNVP_SEARCH_GRID, CNNVP_SEARCH_RANDOM, CNNVP_SEARCH_NSGA2 };

/* A parameter that follows from others: `derive: {INSTANCE.PARAM: expression}`. */
struct cnnvp_derived {
    const char *name;
    const char *place;
    struct cnnvp_expression *expression;
};

/* A point that a sweep has come to. */
struct cnnvp_sweep_point {
    uint64_t number; /* in mixed radix: the index of each axis' value, the last axis fastest */
    char key[CNNVP_KEY_BYTES];
};

struct cnnvp_sweep {
    struct cnnvp_arena arena;
    const char *file;
    const char *folder;
    const char *text; /* of the specification */
    const char *command;
    const char *work; /* the axis of files that it works on: network or program */
    const char *platform;
    const char *platform_file; /* what cnnvp_config_new takes */
    cnnvp_config *base;        /* resolved */
    struct cnnvp_axis *axes;
    size_t axis_count;
    struct cnnvp_expression **constraints;
    size_t constraint_count;
    struct cnnvp_derived *derived; /* each may name those before it */
    size_t derived_count;
    struct cnnvp_objective *objectives;
    size_t objective_count;
    const char *members; /* of the statistics, as cnnvp_results_get takes them: columns, and what objectives name */
    enum cnnvp_search search;
    uint64_t random_points;
    uint32_t population;
    uint32_t generations;
    const char *search_place;
    char guest_hash[CNNVP_KEY_BYTES];
    char simulator[CNNVP_KEY_BYTES]; /* cnnvp_build() of the program that runs the points */
    uint64_t combinations;
    /* Filled by cnnvp_sweep_run. */
    char *results;
    struct cnnvp_sweep_point *points;
    size_t point_count;
};

CNNVP_MUST_USE cnnvp_result cnnvp_spec_read(struct cnnvp_sweep *sweep, struct cnnvp_error *error);
/* Adds an axis with the values that a node gives: a scalar, a list, or {from, to, step}, {log2: [a, b]}. */
CNNVP_MUST_USE cnnvp_result cnnvp_axis_add(struct cnnvp_sweep *sweep, enum cnnvp_axis_kind kind,
                                           const struct cnnvp_yaml_node *node, struct cnnvp_error *error);
uint32_t cnnvp_point_index(const struct cnnvp_sweep *sweep, uint64_t number, size_t axis);
/* The option with that value as a word of a command, "--timing-only" or "--max-time=1s"; NULL: out of memory. */
const char *cnnvp_axis_word(struct cnnvp_arena *arena, const struct cnnvp_axis *axis, const char *value);
/* Which of the sweep's networks a point runs, and how many there are. */
uint32_t cnnvp_point_network(const struct cnnvp_sweep *sweep, uint64_t number);
uint32_t cnnvp_network_count(const struct cnnvp_sweep *sweep);
/* The value that a point has for an option: that of its axis, or the default. */
const struct cnnvp_axis_value *cnnvp_point_option(const struct cnnvp_sweep *sweep, uint64_t number, const char *name);
/* `params` of a point. NULL: out of memory. */
json_t *cnnvp_point_params(const struct cnnvp_sweep *sweep, uint64_t number);
/* What of it varies, as "pe_array.rows=8 schedule=layer". */
void cnnvp_point_describe(const struct cnnvp_sweep *sweep, uint64_t number, FILE *stream);
/* xxh3-128 of a text, and of a file's content. */
void cnnvp_hash_text(const char *text, char hash[CNNVP_KEY_BYTES]);
CNNVP_MUST_USE cnnvp_result cnnvp_hash_file(const char *file, char hash[CNNVP_KEY_BYTES], struct cnnvp_error *error);

/* ---- constraints (expression.c) ---- */

struct cnnvp_expression;

/* What a name means: an index for cnnvp_expression_holds, or UINT32_MAX if there is no such name. */
typedef uint32_t (*cnnvp_name_fn)(void *context, const char *name);
/* Offers names that a wrong one may have been meant to be. */
typedef void (*cnnvp_offer_fn)(void *context, struct cnnvp_suggest *suggest);
/* `place` is that of the text's first character: "FILE:LINE:COLUMN". */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_new(struct cnnvp_arena *arena, const char *text, const char *place,
                                                 cnnvp_name_fn name, cnnvp_offer_fn offer, void *context,
                                                 struct cnnvp_expression **expression, struct cnnvp_error *error);
/* `value` gives the operand of a name's index. */
typedef struct cnnvp_operand (*cnnvp_value_fn)(const void *context, uint32_t index);
CNNVP_MUST_USE cnnvp_result cnnvp_expression_holds(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                                   const void *context, int *holds, struct cnnvp_error *error);

/* Refuses what is no condition: neither a comparison nor made of `and`, `or`, `not`. */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_condition(const struct cnnvp_expression *expression,
                                                       struct cnnvp_error *error);
/* The number that it stands for; text is none. */
CNNVP_MUST_USE cnnvp_result cnnvp_expression_number(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                                    const void *context, double *number, struct cnnvp_error *error);

/* What a derived parameter is for a point, a whole number. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_derived(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived,
                                                uint64_t *value, struct cnnvp_error *error);

/* Whether all constraints allow a point. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_allowed(const struct cnnvp_sweep *sweep, uint64_t number, int *allowed,
                                                struct cnnvp_error *error);

/* ---- members of `values` (values.c, values.def) ---- */

struct cnnvp_value_help {
    const char *object; /* values.OBJECT.NAME */
    const char *name;
    const char *unit;
    const char *needs; /* an option; "": none */
    const char *help;
};
extern const struct cnnvp_value_help cnnvp_value_table[];
extern const size_t cnnvp_value_count;

/* ---- objectives (objective.c, objective_check.c) ---- */

/* The number at a path such as total.time_ps, units.dram.bursts or layers.C1.cycles; 0 if there is none. */
int cnnvp_stats_number(const json_t *stats, const char *path, double *number);
/* Refuses objectives that the statistics of a point will not have, by making them without running it: of the point of
 * this number, or of another one where it cannot be planned. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check(struct cnnvp_sweep *sweep, uint64_t number,
                                                   struct cnnvp_error *error);
/* The same for what only a network under training has, which takes the program a moment; leaves nothing in the
 * folder. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check_training(struct cnnvp_sweep *sweep, const char *program,
                                                            const char *folder, struct cnnvp_error *error);
/* The same after a run of a program, which alone says its layers and numbers; `stats` is the statistics' text. */
CNNVP_MUST_USE cnnvp_result cnnvp_objectives_check_program(const struct cnnvp_sweep *sweep, const char *stats,
                                                           struct cnnvp_error *error);
/* All objectives of a point as numbers to be minimised; 0 if one is missing. */
int cnnvp_objectives_of(const struct cnnvp_sweep *sweep, const json_t *stats, double *values);

/* The members of the statistics whose numbers are columns of tables. */
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

/* The options that a point's axes say, as the command has them; to be cleared in any case. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_options(const struct cnnvp_sweep *sweep, uint64_t number,
                                                struct cnnvp_options *options, struct cnnvp_error *error);
/* Resolves a point's configuration; its key stays empty. A configuration that cannot be is no error of this
 * function. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_configure(const struct cnnvp_sweep *sweep, uint64_t number,
                                                  struct cnnvp_point *point, struct cnnvp_error *error);
/* The same, and makes its key. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_prepare(const struct cnnvp_sweep *sweep, uint64_t number,
                                                struct cnnvp_point *point, struct cnnvp_error *error);
void cnnvp_point_clear(struct cnnvp_point *point);
struct cnnvp_sweep_point cnnvp_point_name(const struct cnnvp_point *point);
/* Runs a point in this process; `simulate` 0: makes the statistics of a platform that has not run. Compact JSON. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_run(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                            int simulate, char **stats, struct cnnvp_error *error);
/* The same by the cnnvp program, with its statistics in `stats_file`. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_spawn(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                              int simulate, const char *program, const char *stats_file, char **stats,
                                              struct cnnvp_error *error);
/* What a worker does: runs the point and leaves FOLDER/KEY.result. Fails only where that file cannot be written;
 * *failed 1: it says that the point failed. */
CNNVP_MUST_USE cnnvp_result cnnvp_point_work(const struct cnnvp_sweep *sweep, const struct cnnvp_point *point,
                                             const char *program, const char *folder, int *failed,
                                             struct cnnvp_error *error);

/* ---- processes that try something (process.c) ---- */

/* In a new one: it has no console, takes signals as usual, and ends with its parent. Ends it where that cannot be. */
void cnnvp_process_begin(pid_t parent);
/* 1: it has ended, with *status as waitpid says. Flags are waitpid's: WNOHANG asks, 0 waits. */
int cnnvp_process_ended(pid_t process, int flags, int *status);

/* ---- database and result files (results.c) ---- */

struct cnnvp_results;

#define CNNVP_STATS_SCHEMA "cnnvp-stats/2"

struct cnnvp_row {
    char key[CNNVP_KEY_BYTES];
    int failed;
    char *params;
    int damaged; /* 1: it has failed because its statistics are of no use; it may run again */
    char *stats; /* NULL: failed */
    char *error; /* NULL: ok */
    double seconds;
};
void cnnvp_row_clear(struct cnnvp_row *row);

/* Makes the database and its table if missing; refuses one with other people's tables. `write` 0: opens what is there
 * for reading. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_open(const char *file, int write, struct cnnvp_results **results,
                                               struct cnnvp_error *error);
void cnnvp_results_close(struct cnnvp_results *results);
void cnnvp_results_drop(struct cnnvp_results **results); /* for CNNVP_SCOPED */
/* Points from now on are of this build, before of the last sweep's, and those of others are not read by
 * cnnvp_results_each; *others: how many. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_build(struct cnnvp_results *results, const char *build, uint64_t *others,
                                                    struct cnnvp_error *error);
/* Points of other builds than the last sweep's. */
uint64_t cnnvp_results_others(struct cnnvp_results *results);
/* Kept from cnnvp_results_commit on. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_put(struct cnnvp_results *results, const struct cnnvp_row *row,
                                              struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_results_commit(struct cnnvp_results *results, struct cnnvp_error *error);
/* A row by its key; row->key is "" if there is none. Its statistics have the members that `members` names, each
 * between blanks; NULL: they are not wanted. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_get(struct cnnvp_results *results, const char *key, const char *members,
                                              struct cnnvp_row *row, struct cnnvp_error *error);
/* Rows of points of the last sweep's build; 0 also where they cannot be counted. */
uint64_t cnnvp_results_count(struct cnnvp_results *results);
/* Calls `take` for each of them in order of keys until it answers non-zero. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_each(struct cnnvp_results *results, const char *members,
                                               int (*take)(void *context, const struct cnnvp_row *row), void *context,
                                               struct cnnvp_error *error);
/* Adds members to a row's params. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_params(struct cnnvp_results *results, const char *key, const char *params,
                                                     struct cnnvp_error *error);
/* So that points that failed run again. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_forget_failed(struct cnnvp_results *results, struct cnnvp_error *error);
/* Facts of the last sweep beside the points: objectives, hypervolume. */
CNNVP_MUST_USE cnnvp_result cnnvp_results_set_fact(struct cnnvp_results *results, const char *name, const char *value,
                                                   struct cnnvp_error *error);
/* NULL: there is none. Free with free(). */
char *cnnvp_results_fact(struct cnnvp_results *results, const char *name);

/* A result file: a line of JSON with all but the statistics, and a line of statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_result_write(const char *folder, const struct cnnvp_row *row,
                                               struct cnnvp_error *error);
/* BAD_INPUT: not a complete result file. */
CNNVP_MUST_USE cnnvp_result cnnvp_result_read(const char *file, struct cnnvp_row *row, struct cnnvp_error *error);

/* ---- the driver (sweep.c), its workers (pool.c, worker.c, slurm.c) and searches (space.c, nsga2.c) ---- */

struct cnnvp_driver {
    struct cnnvp_sweep *sweep;
    const struct cnnvp_sweep_options *options;
    uint32_t jobs;
    char *program;
    struct cnnvp_results *results;
    char *folder; /* of the result files */
    int lock;
    char (*uncommitted)[CNNVP_KEY_BYTES];
    size_t uncommitted_count;
    double started;
    double committed;
    double shown;
    double slowest; /* seconds of a point here */
    struct cnnvp_sweep_progress progress;
    uint64_t ran;
    double idle;     /* since when all workers wait for Slurm */
    char *task_file; /* what a worker of Slurm's is told, and as long as it is there, its driver lives */
};

double cnnvp_driver_now(void);
int cnnvp_sweep_interrupted(void);
void cnnvp_driver_show(struct cnnvp_driver *driver, int always);
/* Adds a point to the sweep and finds it in the database: *known 1 if it need not run. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_meet(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point,
                                              int *known, struct cnnvp_error *error);
/* Takes one result file into the database; *taken 0 if it is not there. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_take(struct cnnvp_driver *driver, const char *key, int *taken,
                                              struct cnnvp_error *error);
/* Records a point that cannot be run, or whose workers died. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_fail(struct cnnvp_driver *driver, const struct cnnvp_sweep_point *point,
                                              const char *reason, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_driver_commit(struct cnnvp_driver *driver, int now, struct cnnvp_error *error);
/* Brings a batch of points into the database. */
CNNVP_MUST_USE cnnvp_result cnnvp_driver_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                                               struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_pool_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                                             struct cnnvp_error *error);
/* 1: its workers are Slurm's. */
int cnnvp_driver_is_far(const struct cnnvp_driver *driver);
/* Writes the task file. */
CNNVP_MUST_USE cnnvp_result cnnvp_slurm_begin(struct cnnvp_driver *driver, struct cnnvp_error *error);
/* Points of a grid or a random search, and how many combinations the constraints allow (0: too many to be counted).
 * Free `numbers` with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_space_points(const struct cnnvp_sweep *sweep, uint64_t seed, uint64_t **numbers,
                                               size_t *count, uint64_t *allowed, struct cnnvp_error *error);
/* One combination that the constraints allow, or BAD_INPUT. */
CNNVP_MUST_USE cnnvp_result cnnvp_space_first(const struct cnnvp_sweep *sweep, uint64_t *number,
                                              struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_nsga2_run(struct cnnvp_driver *driver, struct cnnvp_error *error);

/* splitmix64: the one source of chance in a search. */
struct cnnvp_chance {
    uint64_t state;
};
uint64_t cnnvp_chance_next(struct cnnvp_chance *chance);
/* 0 to below - 1, evenly. */
uint64_t cnnvp_chance_below(struct cnnvp_chance *chance, uint64_t below);
/* An allowed combination; *found 0 after many that are not. */
CNNVP_MUST_USE cnnvp_result cnnvp_space_random(const struct cnnvp_sweep *sweep, struct cnnvp_chance *chance,
                                               uint64_t *number, int *found, struct cnnvp_error *error);

/* ---- fronts (front.c) ---- */

/* 1: a is nowhere worse than b and somewhere better. */
int cnnvp_dominates(const double *a, const double *b, size_t count);
/* Volume that a set of points takes up below a corner; exact, by slicing. Frees nothing. NAN: out of memory. */
double cnnvp_hypervolume(const double *points, size_t count, size_t objectives, const double *corner);

/* ---- text ---- */

/* A reference to JSON that is dropped where its name ends. */
#define CNNVP_JSON CNNVP_SCOPED(cnnvp_json_release) json_t
void cnnvp_json_release(json_t **value);
/* A file of JSON whose member `schema` is this. `root` is to be released where the result is none either; `text`, NULL:
 * not wanted, with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_read_document(const char *file, const char *schema, char **text, json_t **root,
                                                struct cnnvp_error *error);
/* A number of stats.json for a person: whole ones with commas, others with six digits; times, energies, areas, bytes
 * and bandwidths, by the end of their path, in the unit that fits. `sign` "+": a plus before what is above 0. */
void cnnvp_show_statistic(char *buffer, size_t size, const char *path, double value, const char *sign);
/* One field of a CSV file, RFC 4180. */
void cnnvp_csv_field(FILE *stream, const char *text, int last);
/* A file that appears complete: stream in memory first. */
CNNVP_MUST_USE cnnvp_result cnnvp_write_text(const char *file, const char *text, size_t size,
                                             struct cnnvp_error *error);

#endif
