/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings, and what is compared of them. */
#ifndef CNNVP_TESTS_TRAINER_CASE_H
#define CNNVP_TESTS_TRAINER_CASE_H

#include "test.h"
#include <jansson.h>

#include "odd.h"
#include "session.h"

#define DIGITS TEST_NETWORKS "/digits.onnx"
#define LENET5 TEST_NETWORKS "/lenet5.onnx"
#define VGG16 TEST_NETWORKS "/vgg16_cifar.onnx"

struct outcome {
    json_t *stats;
    void *state;
    size_t state_size;
    struct cnnvp_train_record records[SESSION_STEPS];
    size_t record_count;
};

struct outcome outcome_of(const struct session_setup *setup);

void outcome_clear(struct outcome *outcome);

uint64_t number(const json_t *object, const char *name);

int is(const json_t *object, const char *name, const char *text);

/* Sum of a member over the layers of an op and a phase. */
uint64_t sum(const struct outcome *outcome, const char *op, const char *phase, const char *member);

void assert_accounts(const struct outcome *outcome);

void assert_same_results(const struct outcome *a, const struct outcome *b);

struct session_setup digits(void);

struct session_setup odd(const char *network);

#endif
