/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_table NETWORK.onnx DATASET key=value...: the cosine of each tensor's gradient on the platform with that of
 * the same step in binary64; for each batch one line with the least of all tensors.
 * Keys: batch (a comma-separated list; 32), bits (8), bn (range | standard), exponents (tensor | image | channel),
 * errors (carried | plain), judge (step | forward), seed (1), steps (before the one compared; 0), rate (0.05),
 * all (1: a line for each tensor).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradients.h"

static void stop(const char *text)
{
    (void)fprintf(stderr, "gradient_table: %s\n", text);
    exit(2);
}

static const char *value_of(int argc, char **argv, const char *key, const char *otherwise)
{
    const size_t length = strlen(key);
    for (int i = 3; i < argc; ++i)
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            return argv[i] + length + 1;
    return otherwise;
}

static uint32_t number_of(int argc, char **argv, const char *key, const char *otherwise)
{
    return (uint32_t)strtoul(value_of(argc, argv, key, otherwise), NULL, 10);
}

/* Place of a key's value among `names`; the first without one. */
static int choice_of(int argc, char **argv, const char *key, const char *const *names, int count)
{
    const char *value = value_of(argc, argv, key, names[0]);
    for (int i = 0; i < count; ++i)
        if (strcmp(value, names[i]) == 0)
            return i;
    stop(key);
    return 0;
}

struct table {
    int all;
    double least;
    char worst[120];
    uint32_t below, tensors; /* 0.99 */
};

static void take(void *context, const struct gradient *gradient)
{
    struct table *table = context;
    if (table->all)
        (void)printf("  %-24s %-8s %9" PRIu64 " values %.6f\n", gradient->layer, gradient->tensor, gradient->values,
                     gradient->cosine);
    ++table->tensors;
    table->below += !(gradient->cosine >= 0.99);
    if (!(gradient->cosine >= table->least)) {
        table->least = gradient->cosine;
        (void)snprintf(table->worst, sizeof table->worst, "%s %s", gradient->layer, gradient->tensor);
    }
}

int main(int argc, char **argv)
{
    static const char *const norms[] = {"range", "standard"};
    static const char *const blocks[] = {"tensor", "image", "channel"};
    static const char *const errors[] = {"carried", "plain"};
    static const char *const judges[] = {"step", "forward"};
    if (argc < 3)
        stop("NETWORK.onnx DATASET [key=value...]");
    struct gradient_case c = {
        .network = argv[1],
        .dataset = argv[2],
        .bn = (enum cnnvp_train_bn)choice_of(argc, argv, "bn", norms, 2),
        .block = (enum cnnvp_train_block)choice_of(argc, argv, "exponents", blocks, 3),
        .errors = choice_of(argc, argv, "errors", errors, 2) ? CNNVP_TRAIN_ERRORS_PLAIN : CNNVP_TRAIN_ERRORS_CARRIED,
        .judge = (enum gradient_judge)choice_of(argc, argv, "judge", judges, 2),
        .bits = number_of(argc, argv, "bits", "8"),
        .seed = number_of(argc, argv, "seed", "1"),
        .steps = number_of(argc, argv, "steps", "0"),
        .rate = strtof(value_of(argc, argv, "rate", "0.05"), NULL)};
    for (const char *batch = value_of(argc, argv, "batch", "32"); batch != NULL;) {
        struct cnnvp_error error = {""};
        struct table table = {.all = (int)number_of(argc, argv, "all", "0"), .least = INFINITY};
        c.batch = (uint32_t)strtoul(batch, NULL, 10);
        if (gradients_compare(&c, take, &table, &error) != CNNVP_DONE)
            stop(error.text);
        (void)printf("batch %4u: %.4f (%s), %u of %u below 0.99\n", (unsigned)c.batch, table.least, table.worst,
                     (unsigned)table.below, (unsigned)table.tensors);
        (void)fflush(stdout);
        batch = strchr(batch, ',');
        batch = batch == NULL ? NULL : batch + 1;
    }
    return 0;
}
