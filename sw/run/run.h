/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a network: arrays, network, platform, outputs and statistics. The command, a point of a sweep and a trial
 * of --advise run this; they differ in who prints, and where files go.
 *   struct cnnvp_run run = {.file = ..., .options = ..., ...};
 *   cnnvp_run_plan, cnnvp_run_load, cnnvp_platform_run, cnnvp_run_collect, cnnvp_run_statistics, cnnvp_run_clear
 */
#ifndef CNNVP_RUN_H
#define CNNVP_RUN_H

#include <jansson.h>

#include "command_options.h"

/* Outputs of a run beside the right classes. */
struct cnnvp_accuracy {
    uint64_t images;
    uint64_t correct;           /* whose largest output is that of the right class */
    uint64_t reference_correct; /* the same of the float model */
};
/* Labels are whole numbers, one for each image: [N] or [N, 1]. `file` is for the message. */
CNNVP_MUST_USE cnnvp_result cnnvp_labels_check(const char *file, const struct cnnvp_array *labels,
                                               struct cnnvp_error *error);
/* For labels that passed cnnvp_labels_check. */
CNNVP_MUST_USE cnnvp_result cnnvp_accuracy_count(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                                 const struct cnnvp_array *labels, struct cnnvp_accuracy *accuracy,
                                                 struct cnnvp_error *error);
/* values.accuracy of the statistics. NULL: out of memory. */
json_t *cnnvp_accuracy_json(const struct cnnvp_accuracy *accuracy);

struct cnnvp_run_output {
    struct cnnvp_array output, reference, block_reference;
    struct cnnvp_difference difference;
};

struct cnnvp_run {
    /* What is asked for; all of it has to live as long as the run. */
    const char *file; /* of the network */
    const struct cnnvp_options *options;
    const struct cnnvp_run *like; /* NULL, or a run that has read the same options' arrays, which are taken */
    int (*stopped)(void);         /* and these three: as in struct cnnvp_network_options */
    void (*tuning)(void *context, double share);
    void (*computing)(void *context, double share);
    void *context;
    struct cnnvp_platform_options platform_options; /* cnnvp_platform_options_of(options), or more than that */
    /* What has been made. */
    struct cnnvp_named_array *inputs; /* as many as options->input has, of `arrays` */
    struct cnnvp_array *arrays;
    struct cnnvp_array labels, calibration;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_run_output *outputs;
    size_t output_count;
    struct cnnvp_accuracy accuracy; /* no images: there is none */
};

/* A file of --input, whose name may stand behind NAME= of this length; 0: it does not. */
const char *cnnvp_input_file(const char *input, size_t *name);

/* Checks the options, reads the arrays that they name, and plans. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_plan(struct cnnvp_run *run, const cnnvp_config *config,
                                           struct cnnvp_error *error);
/* Makes the platform, with the network in its memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_load(struct cnnvp_run *run, const cnnvp_config *config,
                                           struct cnnvp_error *error);
/* Of the first `count` outputs what they are compared with, and the accuracy if there are labels; nothing of it where
 * nothing is computed. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_collect(struct cnnvp_run *run, size_t count, struct cnnvp_error *error);
/* The run's statistics as text, with values.accuracy if it has been counted. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_statistics(const struct cnnvp_run *run, int partial, char **text);
void cnnvp_run_clear(struct cnnvp_run *run);

/* Statistics of a platform, marked `"partial": true` if the run did not come to its end; `value` (may be NULL) is put
 * at values.NAME. */
CNNVP_MUST_USE cnnvp_result cnnvp_statistics_with(cnnvp_platform *platform, int partial, const char *name,
                                                  json_t *value, char **text);
#endif
