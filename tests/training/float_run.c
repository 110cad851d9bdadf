/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_run NETWORK.onnx DATASET EVAL|- key=value...: trains a chain of layers by the reference in binary64, with the
 * weights and the order of images that `cnnvp train` has for the same seed; or, with bits=8, in block floating point.
 * Prints step, loss and accuracy of each step as --log does, and after each epoch a line "# epoch loss accuracy" of the
 * evaluation. Keys: epochs steps batch lr momentum seed range bits rounding limit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "cnnvp_data.h"

static void stop(const char *text)
{
    (void)fprintf(stderr, "float_run: %s\n", text);
    exit(2);
}

static double number(int argc, char **argv, const char *key, double otherwise)
{
    const size_t length = strlen(key);
    for (int i = 4; i < argc; ++i)
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            return strtod(argv[i] + length + 1, NULL);
    return otherwise;
}

static uint64_t image_size(const cnnvp_dataset *dataset)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    return (uint64_t)info.channels * info.height * info.width;
}

static void evaluate(struct train_net *net, const cnnvp_dataset *dataset, uint64_t epoch)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    uint8_t *labels = malloc(info.images);
    if (labels == NULL)
        stop("no memory");
    for (uint64_t i = 0; i < info.images; ++i)
        labels[i] = (uint8_t)cnnvp_dataset_label(dataset, i);
    const struct train_result result =
        train_net_evaluate(net, cnnvp_dataset_image(dataset, 0), labels, (uint32_t)info.images);
    (void)printf("# %" PRIu64 " %.6f %.6f\n", epoch + 1, result.loss, (double)result.correct / (double)info.images);
    free(labels);
}

/* 1: no step is left. */
static int train_epoch(struct train_net *net, const cnnvp_dataset *dataset, uint64_t epoch, uint64_t steps)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(dataset, &info);
    const uint64_t size = image_size(dataset);
    const uint32_t batch = net->images_max;
    uint8_t *images = malloc(batch * size);
    uint8_t *labels = malloc(batch);
    uint32_t *order = malloc(info.images * sizeof *order);
    if (images == NULL || labels == NULL || order == NULL)
        stop("no memory");
    cnnvp_dataset_order(net->options.seed, epoch, (uint32_t)info.images, order);
    for (uint64_t first = 0; first < info.images && (steps == 0 || net->step < steps); first += batch) {
        const uint32_t count = info.images - first < batch ? (uint32_t)(info.images - first) : batch;
        for (uint32_t i = 0; i < count; ++i) {
            memcpy(images + i * size, cnnvp_dataset_image(dataset, order[first + i]), size);
            labels[i] = (uint8_t)cnnvp_dataset_label(dataset, order[first + i]);
        }
        const struct train_result result = train_net_step(net, images, labels, count);
        (void)printf("%" PRIu64 ",%.6f,%.6f\n", net->step, result.loss, (double)result.correct / count);
        (void)fflush(stdout);
    }
    free(images);
    free(labels);
    free(order);
    return steps != 0 && net->step >= steps;
}

int main(int argc, char **argv)
{
    struct cnnvp_error error = {""};
    cnnvp_dataset *dataset = NULL;
    cnnvp_dataset *evaluation = NULL;
    struct train_net net;
    if (argc < 4)
        stop("NETWORK.onnx DATASET EVAL|- [key=value...]");
    const uint64_t seed = (uint64_t)number(argc, argv, "seed", 0);
    const struct cnnvp_train_import_options import = {.random_weights = 1, .seed = seed};
    const struct train_options options = {
        .bits = (uint32_t)number(argc, argv, "bits", 0),
        .rounding = (enum train_rounding)number(argc, argv, "rounding", TRAIN_STOCHASTIC),
        .range = (int)number(argc, argv, "range", 1),
        .rate = (double)(float)number(argc, argv, "lr", 0.02),
        .momentum = (double)(float)number(argc, argv, "momentum", 0.9),
        .bn_momentum = (double)0.1f,
        .seed = seed};
    if (cnnvp_dataset_new(argv[2], (uint64_t)number(argc, argv, "limit", 0), &dataset, &error) != CNNVP_DONE ||
        cnnvp_dataset_fit_network(dataset, argv[1], NULL, 0, &error) != CNNVP_DONE ||
        (strcmp(argv[3], "-") != 0 &&
         (cnnvp_dataset_new(argv[3], 0, &evaluation, &error) != CNNVP_DONE ||
          cnnvp_dataset_fit_network(evaluation, argv[1], NULL, 0, &error) != CNNVP_DONE)) ||
        chain_new(argv[1], &import, (uint32_t)number(argc, argv, "batch", 32), &options, &net, &error) != CNNVP_DONE)
        stop(error.text);
    (void)printf("step,loss,accuracy\n");
    const uint64_t epochs = (uint64_t)number(argc, argv, "epochs", 1);
    const uint64_t steps = (uint64_t)number(argc, argv, "steps", 0);
    for (uint64_t epoch = 0, ended = 0; epoch < epochs && !ended; ++epoch) {
        ended = (uint64_t)train_epoch(&net, dataset, epoch, steps);
        if (evaluation != NULL)
            evaluate(&net, evaluation, epoch);
    }
    train_net_free(&net);
    cnnvp_dataset_free(dataset);
    cnnvp_dataset_free(evaluation);
    return 0;
}
