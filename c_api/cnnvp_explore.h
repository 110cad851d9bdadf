/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp exploration API: sweeps over parameters with their results in a database, comparison of runs, report pages.
 * `cnnvp sweep`, `cnnvp diff` and `cnnvp report` use nothing else. The rules of cnnvp.h hold here too.
 *
 * A point of a sweep is one run with one value for each parameter. Its key is a hash of everything that decides its
 * result, the bytes of the simulator (cnnvp_build) and of its guest program among them; a key that is in the database
 * is never run again, whatever sweep put it there.
 */
#ifndef CNNVP_EXPLORE_H
#define CNNVP_EXPLORE_H

#include "cnnvp_network.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- sweeps ---- */

typedef struct cnnvp_sweep cnnvp_sweep;

/* Reads a specification and checks all of it that can be checked without running anything: names, values, ranges,
 * constraints, objectives. Nothing is written. Free with cnnvp_sweep_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_new(const char *spec_file, cnnvp_sweep **sweep, struct cnnvp_error *error);
void cnnvp_sweep_free(cnnvp_sweep *sweep);
/* The files that its points read, by index from 0: platform, networks, arrays. NULL after the last. */
const char *cnnvp_sweep_input(const cnnvp_sweep *sweep, size_t index);

/* How far a sweep is. */
struct cnnvp_sweep_progress {
    uint64_t points;       /* of the sweep; for nsga2 the most there can be */
    uint64_t combinations; /* of the parameters' values */
    uint64_t allowed;      /* of them, by the constraints; 0: they were not counted */
    uint64_t finished;     /* of them, those in the database; failed ones too */
    uint64_t failed;       /* of them, those that failed */
    uint64_t others;       /* points in the database that another build has made: they are not used */
    uint64_t found;        /* of them, those that were in the database before */
    double seconds;        /* since the start */
    double points_per_s;   /* of what ran now */
    uint32_t generation;   /* nsga2: from 1; 0 otherwise */
    char slow[300];        /* local: points under way while none finishes, with their processes; "": some finish */
    char waiting_for[48];  /* slurm: why no worker runs; "": some do */
};

enum cnnvp_sweep_executor { CNNVP_SWEEP_LOCAL = 0, CNNVP_SWEEP_SLURM = 1 };

struct cnnvp_sweep_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_sweep_options) */
    const char *results;  /* the SQLite database; made if missing */
    uint32_t jobs;        /* points at a time; 0: as many as there are processors */
    enum cnnvp_sweep_executor executor;
    uint64_t seed;       /* of the search */
    int retry_failed;    /* 1: points that failed run again */
    const char *program; /* the cnnvp program: for `command: train` and for slurm; NULL: the running one */
    /* NULL, or called now and then, and once at the end. */
    void (*progress)(void *context, const struct cnnvp_sweep_progress *progress);
    void *progress_context;
};

/* Runs what the database does not have yet. FAILED if it was interrupted, or if something stopped it. A point that
 * fails stops nothing: it is recorded with its error, and counted in `result`, which may be NULL; it is filled also on
 * failure. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_run(cnnvp_sweep *sweep, const struct cnnvp_sweep_options *options,
                                            struct cnnvp_sweep_progress *result, struct cnnvp_error *error);
/* Asks a sweep to end soon; a signal handler may call it. What has finished is kept. */
void cnnvp_sweep_interrupt(void);

/* After cnnvp_sweep_run: one row for each point of this sweep, in the order of the specification. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_export(cnnvp_sweep *sweep, const char *csv_file, struct cnnvp_error *error);
/* After cnnvp_sweep_run: the points that no other one with the same network betters in all
 * objectives, as a table. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_front(cnnvp_sweep *sweep, char **table, struct cnnvp_error *error);

/* After cnnvp_sweep_run: a line for each kind of failure of this sweep's points, with how many there are, the first
 * one's reason, and what that point is; messages that differ in numbers alone are of one kind. "" where none failed.
 * Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_failures(cnnvp_sweep *sweep, char **text, struct cnnvp_error *error);

/* A worker on a node of Slurm's: runs the points that come in at its standard input, as the driver's file says, and
 * leaves a result file for each. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_task(const char *task_file, struct cnnvp_error *error);

/* ---- values ---- */

/* What the members of `values` mean that training and labels make. NULL: out of memory. Free with free(). */
char *cnnvp_values_text(void);

/* ---- runs ---- */

/* A number of a stats.json text, named as objectives are: energy.total_pj, layers.C1.cycles, units.dma.bytes,
 * links.dma-dram.read_bytes. BAD_INPUT: the text has none of that name. */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_value(const char *stats_json, const char *name, double *value,
                                              struct cnnvp_error *error);

/* The per-layer table of a stats.json text, appearing under its name only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_layers_csv(const char *stats_json, const char *csv_file, struct cnnvp_error *error);

/* What changed from one stats.json file to another: whether the networks differ, and the 20 lines that matter first,
 * which are what was set, totals and costs, and the layers whose cycles changed most; with `all` every number, section
 * by section: totals and costs, configuration, layers, units. A number that changed by less than `threshold`, as a
 * share of the first run's (0.01: one per cent), is counted and not listed. `csv_file` may be NULL; it gets every
 * number of both. `differences`, those that are listed with `all`, may be NULL. Free the table with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_diff(const char *file_a, const char *file_b, double threshold, int all,
                                             const char *csv_file, char **table, uint64_t *differences,
                                             struct cnnvp_error *error);

/* ---- reports ---- */

/* One page that needs no network, of a sweep's database or of the folder of `cnnvp run --report`. `watch`, which may be
 * NULL, is told after each point which share of them has been read, 0 to 1. */
CNNVP_MUST_USE cnnvp_result cnnvp_report(const char *database_or_folder, const char *html_file,
                                         void (*watch)(void *context, double share), void *context,
                                         struct cnnvp_error *error);
/* One page of several such folders side by side: what differs, the first run being what the others are held against. */
CNNVP_MUST_USE cnnvp_result cnnvp_report_runs(const char *const *folders, size_t count, const char *html_file,
                                              struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
