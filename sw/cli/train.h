/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of `cnnvp train`: options (cmd_train.c), the loop over steps (train_loop.c), checkpoints
 * (train_checkpoint.c), and output to the terminal and the log (train_report.c). */
#pragma once

#include "cli.h"
#include "cnnvp_data.h"
#include "cnnvp_train.h"

/* The result of one step, or of the evaluation after an epoch. */
struct train_point {
    uint64_t step; /* number of completed steps, including this one */
    uint64_t epoch;
    uint64_t images;
    uint64_t correct;
    double loss;
    uint64_t time_ps;
};

/* The steps since the start of this program. */
struct train_history {
    struct train_point *steps;
    size_t step_count;
    uint64_t nonfinite; /* outputs of the network that are not finite */
};

struct train {
    struct cli_options *options;
    cnnvp_config *config;
    cnnvp_dataset *dataset, *evaluation;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct cnnvp_trainer_info info;
    struct train_history history;
    struct cli_progress progress;
    double shown; /* time of the last progress line if there is no terminal */
    uint64_t first_step;
    size_t epoch_begin; /* index in history at which the epoch began */
    double epoch_loss;  /* over the steps of the last epoch that this program ran; NaN: it ran none */
    double epoch_accuracy;
    struct train_point evaluated; /* the last evaluation; images is 0 if there is none */
    char *json;
    char *earlier_log; /* content of the log to continue; NULL: none */
};

/* ---- train_loop.c ---- */

/* Trains until the end, an error or a signal. *complete 1: training came to its end. */
CNNVP_MUST_USE cnnvp_result train_loop(struct train *train, int *complete);

/* ---- train_checkpoint.c ---- */

CNNVP_MUST_USE cnnvp_result train_checkpoint_write(struct train *train);
/* Loads the checkpoint of --resume into the trainer. */
CNNVP_MUST_USE cnnvp_result train_checkpoint_read(struct train *train);

/* ---- train_report.c ---- */

CNNVP_MUST_USE cnnvp_result train_history_add(struct train_history *history, const struct train_point *point);
/* Updates the progress line on standard error if it is due or `last` is set. */
void train_show_progress(struct train *train, int last);
void train_show_header(const struct train *train);
/* Prints a row of the table: the steps of the epoch that this program ran, and the evaluation if it is not NULL. */
void train_show_epoch(struct train *train, const struct train_point *evaluation);
void train_show_curve(const struct train_history *history, FILE *stream);
/* With --resume, reads the existing log, whose rows are kept. Refuses a file that is no log. */
CNNVP_MUST_USE cnnvp_result train_read_log(struct train *train);
CNNVP_MUST_USE cnnvp_result train_write_log(const struct train *train);
/* Steps, loss and accuracy for the statistics; NULL: out of memory. */
json_t *train_statistics(const struct train *train);
