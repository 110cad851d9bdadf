/* SPDX-License-Identifier: Apache-2.0 */
/* A training on the real platform, as a program would do it with cnnvp_train.h. */
#ifndef TEST_TRAINER_SESSION_H
#define TEST_TRAINER_SESSION_H

#include "cnnvp_train.h"

#define SESSION_SETS 8
#define SESSION_STEPS 64

struct session_setup {
    const char *network;
    const char *sets[SESSION_SETS];                                /* "instance.parameter=value" */
    uint32_t channels, height, width, classes, images, evaluation; /* of made-up data sets */
    struct cnnvp_trainer_options options;                          /* the data sets are filled in */
    int native;                                                    /* the guest software runs natively */
    const void *state;                                             /* to go on from */
    size_t state_size;
    uint64_t stop_after; /* steps of this run; 0: all */
};

struct session {
    cnnvp_config *config;
    cnnvp_dataset *dataset, *evaluation;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct cnnvp_train_record records[SESSION_STEPS];
    size_t record_count;
    char *stats;
    struct cnnvp_error error;
};

/* Defaults: 4 images a step, stochastic rounding, momentum 0.9, seed 1, one epoch of 8 images. */
struct session_setup session_setup(const char *network, uint32_t channels, uint32_t side, uint32_t classes);

/* Up to the first step, which it does not run. CNNVP_DONE, or what failed first, with error.text. */
cnnvp_result session_open(const struct session_setup *setup, struct session *session);
/* The next event, at the end of records[]; `record_count` stays as it is at the end of the training. */
cnnvp_result session_step(struct session *session);
/* Everything up to the end or `stop_after`, statistics too. */
cnnvp_result session_run(const struct session_setup *setup, struct session *session);
void session_close(struct session *session);

/* A tensor of a layer; fails the test if there is none. */
struct cnnvp_array session_tensor(struct session *session, size_t layer, enum cnnvp_train_tensor tensor);

#endif
