/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp exploration API: parameter sweeps with a result database, comparison of runs, and report pages. `cnnvp sweep`,
 * `cnnvp diff` and `cnnvp report` use nothing else. The rules of cnnvp.h apply.
 *
 * A point of a sweep is one run with one value for each parameter. Its key is a hash of everything that decides its
 * result, including the simulator (cnnvp_build) and the guest program. A point whose key is in the database is never
 * run again, whichever sweep put it there.
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

/* Reads a specification and checks everything that can be checked without a run: names, values, ranges, constraints,
 * objectives. Writes nothing. Free with cnnvp_sweep_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_new(const char *spec_file, cnnvp_sweep **sweep, struct cnnvp_error *error);
void cnnvp_sweep_free(cnnvp_sweep *sweep);
/* The index-th file that the sweep's points read: platform, networks, arrays. NULL after the last. */
const char *cnnvp_sweep_input(const cnnvp_sweep *sweep, size_t index);

/* Progress of a sweep. */
struct cnnvp_sweep_progress {
    uint64_t points;       /* points of the sweep; for nsga2 an upper bound */
    uint64_t combinations; /* combinations of the parameters' values */
    uint64_t allowed;      /* combinations that meet the constraints; 0: not counted */
    uint64_t finished;     /* points of the sweep that are in the database, failed ones included */
    uint64_t failed;       /* finished points that failed */
    uint64_t others;       /* points in the database that come from another build and are not used */
    uint64_t found;        /* finished points that were in the database before this call */
    double seconds;        /* since the start */
    double points_per_s;   /* of the points that this call has run */
    uint32_t generation;   /* generation of nsga2, from 1; 0 for other searches */
    char slow[300];        /* local executor: running points and their processes while none finishes; otherwise "" */
    char waiting_for[48];  /* slurm executor: why no worker runs; "" if some run */
};

enum cnnvp_sweep_executor { CNNVP_SWEEP_LOCAL = 0, CNNVP_SWEEP_SLURM = 1 };

struct cnnvp_sweep_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_sweep_options) */
    const char *results;  /* the SQLite database; created if missing */
    uint32_t jobs;        /* points that run at a time; 0: the number of processors */
    enum cnnvp_sweep_executor executor;
    uint64_t seed;       /* seed of the search */
    int retry_failed;    /* 1: failed points run again */
    const char *program; /* the cnnvp program: for `command: train` and for slurm; NULL: the running one */
    /* NULL, or called from time to time, and once at the end. */
    void (*progress)(void *context, const struct cnnvp_sweep_progress *progress);
    void *progress_context;
};

/* Runs the points that the database does not contain yet. FAILED if the sweep was interrupted or could not go on. A
 * point that fails does not stop the sweep: its error is recorded, and it is counted in `result`. `result` may be NULL;
 * it is also filled on failure. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_run(cnnvp_sweep *sweep, const struct cnnvp_sweep_options *options,
                                            struct cnnvp_sweep_progress *result, struct cnnvp_error *error);
/* Asks a sweep to end soon; a signal handler may call it. Finished points are kept. */
void cnnvp_sweep_interrupt(void);

/* After cnnvp_sweep_run: one row for each point of this sweep, in the order of the specification. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_export(cnnvp_sweep *sweep, const char *csv_file, struct cnnvp_error *error);
/* After cnnvp_sweep_run: a table of the Pareto front, that is the points that no other point with the same network
 * dominates in the objectives. Free with free(). BAD_INPUT, also before the run: there are no objectives. FAILED: the
 * sweep has not been run. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_front(cnnvp_sweep *sweep, char **table, struct cnnvp_error *error);

/* After cnnvp_sweep_run: one line for each kind of failure of this sweep's points, with the number of failures, the
 * first one's reason, and its point. Messages that differ only in numbers are one kind. "" if no point failed. Free
 * with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_failures(cnnvp_sweep *sweep, char **text, struct cnnvp_error *error);

/* Runs a worker on a Slurm node: it runs the points that arrive on its standard input, according to the driver's file,
 * and writes one result file for each. */
CNNVP_MUST_USE cnnvp_result cnnvp_sweep_task(const char *task_file, struct cnnvp_error *error);

/* ---- values ---- */

/* Explains the members of `values` that training and labels produce. NULL: out of memory. Free with free(). */
char *cnnvp_values_text(void);

/* ---- runs ---- */

/* A number of a stats.json text, named as objectives are: energy.total_pj, layers.C1.cycles, units.dma.bytes,
 * links.dma-dram.read_bytes. BAD_INPUT: the text has no number of that name. */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_value(const char *stats_json, const char *name, double *value,
                                              struct cnnvp_error *error);

/* Writes the per-layer table of a stats.json text. The file appears only when it is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_layers_csv(const char *stats_json, const char *csv_file, struct cnnvp_error *error);

/* Compares two stats.json files, or those in the folders of two recorded runs. The table says whether the networks
 * differ and gives the 20 most important lines: settings, totals and costs, and the layers whose cycles changed most.
 * With `all` it gives every changed number by section: totals and costs, configuration, layers, units. A number that
 * changed by less than `threshold`, relative to the first run (0.01: one per cent), is counted but not listed.
 * `csv_file` may be NULL; it receives all numbers of both runs. `differences` may be NULL; it receives the number of
 * differences that `all` lists. Free the table with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_diff(const char *run_a, const char *run_b, double threshold, int all,
                                             const char *csv_file, char **table, uint64_t *differences,
                                             struct cnnvp_error *error);

/* ---- reports ---- */

/* Writes a self-contained page about a sweep's database or about the folder of `cnnvp run --report`. `watch`, which may
 * be NULL, is called after each point with the share read so far, 0 to 1. */
CNNVP_MUST_USE cnnvp_result cnnvp_report(const char *database_or_folder, const char *html_file,
                                         void (*watch)(void *context, double share), void *context,
                                         struct cnnvp_error *error);
/* Writes one page that compares several such folders. The first run is the reference. */
CNNVP_MUST_USE cnnvp_result cnnvp_report_runs(const char *const *folders, size_t count, const char *html_file,
                                              struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
