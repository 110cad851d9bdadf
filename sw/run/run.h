/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a network: reads its arrays, plans it, loads it into a platform, collects outputs and statistics. The
 * command, a point of a sweep and a trial of --advise use this. They differ in who prints, and where files go.
 *   struct cnnvp_run run = {.file = ..., .options = ..., ...};
 *   cnnvp_run_plan, cnnvp_run_load, cnnvp_platform_run, cnnvp_run_collect, cnnvp_run_statistics, cnnvp_run_clear
 */
#pragma once

#include <jansson.h>

#include "command_options.h"

/* Accuracy of a run: its outputs compared with labels. */
struct cnnvp_accuracy {
    uint64_t images;
    uint64_t correct;           /* images whose largest output is that of the label's class */
    uint64_t reference_correct; /* the same for the float model */
};
/* Checks labels: whole numbers, one per image, shape [N] or [N, 1]. `file` is for the message. */
CNNVP_MUST_USE cnnvp_result cnnvp_labels_check(const char *file, const struct cnnvp_array *labels,
                                               struct cnnvp_error *error);
/* Counts right classes. The labels must have passed cnnvp_labels_check. */
CNNVP_MUST_USE cnnvp_result cnnvp_accuracy_count(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                                 const struct cnnvp_array *labels, struct cnnvp_accuracy *accuracy,
                                                 struct cnnvp_error *error);
/* Returns values.accuracy of the statistics. NULL: out of memory. */
json_t *cnnvp_accuracy_json(const struct cnnvp_accuracy *accuracy);

struct cnnvp_instance;
/* What a number of an instance's parameter stands for: a 0 of an off-chip memory may mean the number of its part. */
uint64_t cnnvp_number_meant(const struct cnnvp_instance *instance, const char *param, uint64_t value);

struct cnnvp_run_output {
    struct cnnvp_array output, reference, block_reference;
    struct cnnvp_difference difference;
};

struct cnnvp_run {
    /* Inputs of the run. All must live as long as the run. */
    const char *file; /* network's file */
    const struct cnnvp_options *options;
    const struct cnnvp_run *like;     /* NULL, or a run with the same options, whose arrays are shared */
    struct cnnvp_plan_memory *memory; /* NULL, or the memory of the network's plans (plan_memory.h) */
    int (*stopped)(void);             /* this and the next three: as in struct cnnvp_network_options */
    void (*tuning)(void *context, double share);
    void (*computing)(void *context, double share);
    void *context;
    struct cnnvp_platform_options platform_options; /* cnnvp_platform_options_of(options), possibly extended */
    /* Results of the run. */
    struct cnnvp_named_array *inputs; /* options->input.count of them; they refer to `arrays` */
    struct cnnvp_array *arrays;
    struct cnnvp_array labels, calibration;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_run_output *outputs;
    size_t output_count;
    struct cnnvp_accuracy accuracy; /* 0 images: not counted */
};

/* Returns the file of an --input option. *name is the length of a NAME= prefix, without the `=`; 0: there is none. */
const char *cnnvp_input_file(const char *input, size_t *name);

/* Checks the options, reads the arrays that they name, and plans the network. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_plan(struct cnnvp_run *run, const cnnvp_config *config,
                                           struct cnnvp_error *error);
/* Makes the platform and loads the network into it. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_load(struct cnnvp_run *run, const cnnvp_config *config,
                                           struct cnnvp_error *error);
/* Reads the first `count` outputs and their references, compares them, and counts the accuracy if there are labels.
 * Does nothing in timing-only. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_collect(struct cnnvp_run *run, size_t count, struct cnnvp_error *error);
/* Returns the run's statistics as text, with values.accuracy if it has been counted. */
CNNVP_MUST_USE cnnvp_result cnnvp_run_statistics(const struct cnnvp_run *run, int partial, char **text);
void cnnvp_run_clear(struct cnnvp_run *run);

/* Returns the statistics of a platform, marked `"partial": true` if the run did not end. `value`, unless NULL, is added
 * as values.NAME. */
CNNVP_MUST_USE cnnvp_result cnnvp_statistics_with(cnnvp_platform *platform, int partial, const char *name,
                                                  json_t *value, char **text);
