/* SPDX-License-Identifier: Apache-2.0 */
/* What was learned runs: on the training engine as the evaluation after the last step did, and near it on the NFU. */
#include <math.h>
#include <unistd.h>

#include "test.h"
#include <jansson.h>

#include "odd.h"
#include "session.h"

#define DIGITS TEST_NETWORKS "/digits.onnx"
#define LENET5 TEST_NETWORKS "/lenet5.onnx"
#define CLASSES 10u
#define IMAGES 6u /* a group of four, and one of two */

static char trained[64];

struct run {
    const char *network;
    const char *platform;
    const char *set;
    int native;
    int timing_only;
    const struct cnnvp_array *input;
    uint64_t images;
    const char *dump;
};

static cnnvp_result run_network(const struct run *run, struct cnnvp_array *output, struct cnnvp_array *reference,
                                char **stats, struct cnnvp_error *error)
{
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options,
        .rounding = CNNVP_ROUND_NEAREST,
        .timing_only = run->timing_only,
        .input = run->input,
        .images = run->images,
        .seed = 3};
    const struct cnnvp_platform_options platform_options = {
        .struct_size = sizeof platform_options, .timing_only = run->timing_only};
    cnnvp_config *config = NULL;
    cnnvp_network *network = NULL;
    cnnvp_platform *platform = NULL;
    struct cnnvp_run_result ended;
    cnnvp_result result = cnnvp_config_new(run->platform, &config, error);
    if (result == CNNVP_DONE && run->set != NULL)
        result = cnnvp_config_set(config, run->set, error);
    if (result == CNNVP_DONE && run->native)
        result = cnnvp_config_set(config, TEST_NATIVE_CPU, error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(config, error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_new(run->network, config, &options, &network, error);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_new(config, &platform_options, &platform, error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_load(network, platform, error);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_run(platform, &ended);
    if (result == CNNVP_DONE && !run->timing_only)
        result = cnnvp_network_output(network, platform, 0, output, error);
    if (result == CNNVP_DONE && run->dump != NULL)
        result = cnnvp_network_dump(network, platform, run->dump, error);
    if (result == CNNVP_DONE && reference != NULL)
        result = cnnvp_network_reference(network, 0, reference, error);
    if (result == CNNVP_DONE && stats != NULL)
        result = cnnvp_platform_stats(platform, stats);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
    return result;
}

static void must_run(const struct run *run, struct cnnvp_array *output, struct cnnvp_array *reference, char **stats)
{
    struct cnnvp_error error = {""};
    if (run_network(run, output, reference, stats, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

static float at(const struct cnnvp_array *array, size_t image, size_t class)
{
    return ((const float *)array->data)[image * CLASSES + class];
}

static size_t largest(const struct cnnvp_array *array, size_t image)
{
    size_t best = 0;
    for (size_t c = 1; c < CLASSES; ++c)
        best = at(array, image, c) > at(array, image, best) ? c : best;
    return best;
}

static double worst_difference(const struct cnnvp_array *a, const struct cnnvp_array *b, size_t images)
{
    double worst = 0.0;
    for (size_t i = 0; i < images; ++i)
        for (size_t c = 0; c < CLASSES; ++c) {
            const double difference = fabs((double)at(a, i, c) - (double)at(b, i, c));
            worst = difference > worst ? difference : worst;
        }
    return worst;
}

static double scale_of(const struct cnnvp_array *array, size_t images)
{
    double scale = 0.0;
    for (size_t i = 0; i < images * CLASSES; ++i) {
        const double magnitude = fabs((double)((const float *)array->data)[i]);
        scale = magnitude > scale ? magnitude : scale;
    }
    return scale;
}

/* Logits to the loss of a label. */
static double loss_of(const struct cnnvp_array *logits, size_t image, uint32_t label)
{
    double sum = 0.0;
    const double most = (double)at(logits, image, largest(logits, image));
    for (size_t c = 0; c < CLASSES; ++c)
        sum += exp((double)at(logits, image, c) - most);
    return log(sum) - ((double)at(logits, image, label) - most);
}

/* ---- trained, written, run ---- */

struct lesson {
    struct cnnvp_train_record evaluation; /* of the last epoch */
    uint8_t pixels[IMAGES * 64];
    uint32_t labels[IMAGES];
};

static void learn(struct lesson *lesson, enum cnnvp_train_bn bn)
{
    struct session_setup setup = session_setup(DIGITS, 1, 8, CLASSES);
    struct session session;
    setup.images = 24;
    setup.evaluation = IMAGES;
    setup.options.batch = 4; /* the groups of inference: one exponent for each */
    setup.options.epochs = 4;
    setup.options.rate = 0.01f;
    setup.options.bn = bn;
    setup.options.rounding = CNNVP_ROUND_NEAREST;
    setup.native = 1;
    if (session_run(&setup, &session) != CNNVP_DONE ||
        cnnvp_trainer_export(session.trainer, session.platform, trained, &session.error) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    lesson->evaluation = session.records[session.record_count - 1u];
    assert_int_equal(lesson->evaluation.event, CNNVP_TRAIN_EVALUATION);
    for (size_t i = 0; i < IMAGES; ++i) {
        memcpy(lesson->pixels + i * 64u, cnnvp_dataset_image(session.evaluation, i), 64u);
        lesson->labels[i] = cnnvp_dataset_label(session.evaluation, i);
    }
    session_close(&session);
}

static void check_lesson(enum cnnvp_train_bn bn)
{
    struct lesson lesson;
    struct cnnvp_array output;
    struct cnnvp_array again;
    struct cnnvp_array nfu;
    struct cnnvp_array reference;
    learn(&lesson, bn);
    const struct cnnvp_array input = {
        .type = CNNVP_ARRAY_U8, .rank = 4, .shape = {IMAGES, 1, 8, 8}, .data = lesson.pixels};
    struct run run = {.network = trained, .platform = "trainer", .input = &input, .native = 1};
    must_run(&run, &output, &reference, NULL);
    double loss = 0.0;
    uint64_t correct = 0;
    for (size_t i = 0; i < IMAGES; ++i) {
        loss += loss_of(&output, i, lesson.labels[i]) / IMAGES;
        correct += largest(&output, i) == lesson.labels[i];
    }
    assert_int_equal(correct, lesson.evaluation.correct);
    assert_true(fabs(loss - lesson.evaluation.loss) < 1e-5);
    run.native = 0;
    must_run(&run, &again, NULL, NULL);
    assert_memory_equal(output.data, again.data, IMAGES * CLASSES * sizeof(float));
    run.platform = "nfu";
    must_run(&run, &nfu, NULL, NULL);
    const double scale = scale_of(&reference, IMAGES);
    assert_true(worst_difference(&output, &reference, IMAGES) < 0.08 * scale);
    assert_true(worst_difference(&nfu, &reference, IMAGES) < 0.01 * scale);
    cnnvp_array_clear(&output);
    cnnvp_array_clear(&again);
    cnnvp_array_clear(&nfu);
    cnnvp_array_clear(&reference);
}

static void test_trained(void **state)
{
    (void)state;
    check_lesson(CNNVP_TRAIN_BN_RANGE);
    check_lesson(CNNVP_TRAIN_BN_STANDARD);
}

/* ---- partial groups, statistics ---- */

static void test_groups(void **state)
{
    (void)state;
    struct run run = {.network = LENET5, .platform = "trainer", .images = 5};
    struct cnnvp_array output;
    struct cnnvp_array reference;
    char *stats = NULL;
    char *timing = NULL;
    must_run(&run, &output, &reference, &stats);
    for (size_t i = 0; i < 5; ++i)
        assert_int_equal(largest(&output, i), largest(&reference, i));
    assert_true(worst_difference(&output, &reference, 5) < 0.03 * scale_of(&reference, 5));
    run.timing_only = 1;
    must_run(&run, NULL, NULL, &timing);
    json_error_t error;
    json_t *trees[] = {json_loads(stats, 0, &error), json_loads(timing, 0, &error)};
    static const char *const members[] = {"total", "layers", "units", "links", "memory", "energy"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i)
        assert_true(json_equal(json_object_get(trees[0], members[i]), json_object_get(trees[1], members[i])));
    /* Two passes of four arrays, the second with three masked. */
    const json_t *first = json_array_get(json_object_get(trees[0], "layers"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "compute_cycles")), 2 * 9408);
    json_decref(trees[0]);
    json_decref(trees[1]);
    free(stats);
    free(timing);
    cnnvp_array_clear(&output);
    cnnvp_array_clear(&reference);
}

/* Matrices are for backward: without it, their buffers limit nothing. */
static void test_no_matrices(void **state)
{
    (void)state;
    static const char *const sets[] = {NULL, "relu_buffer.size=64", "id_buffer.size=64"};
    json_t *usual = NULL;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
        const struct run run = {
            .network = LENET5, .platform = "trainer", .images = 5, .timing_only = 1, .set = sets[i]};
        char *stats = NULL;
        json_error_t error;
        must_run(&run, NULL, NULL, &stats);
        json_t *tree = json_loads(stats, 0, &error);
        json_t *total = json_incref(json_object_get(tree, "total"));
        if (usual == NULL)
            usual = json_incref(total);
        assert_true(json_equal(usual, total));
        json_decref(total);
        json_decref(tree);
        free(stats);
    }
    json_decref(usual);
}

/* ---- a network of odd shapes that ends in a softmax ---- */

static void test_probabilities(void **state)
{
    (void)state;
    static const char *const sets[] = {
        NULL, "input_buffer.size=800", "intermediate_buffer.size=32KiB", "pe_array.mantissa_bits=24"};
    char name[64];
    struct cnnvp_array output;
    struct cnnvp_array reference;
    struct cnnvp_array first = {.data = NULL};
    odd_write(name, 0);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
        struct run run = {.network = name, .platform = "trainer", .images = 5, .set = sets[i], .native = 1};
        const int wide = i == 3;
        must_run(&run, &output, &reference, NULL);
        assert_true(worst_difference(&output, &reference, 5) < (wide ? 2e-5 : 0.05));
        if (i != 0 && !wide)
            assert_memory_equal(output.data, first.data, 5 * CLASSES * sizeof(float));
        if (i == 0)
            first = output;
        else
            cnnvp_array_clear(&output);
        cnnvp_array_clear(&reference);
    }
    cnnvp_array_clear(&first);
    (void)remove(name);
}

/* ---- tensors ---- */

/* Removes a file of a dump once it is known to be there. */
static void must_remove(const char *folder, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (remove(path) != 0)
        fail_msg("%s is missing", path);
}

/* The last image's row of a tensor in the table: its format, and that it is as near to the float model as asked. */
static void check_row(const char *table, const char *tensor, const char *format, double least)
{
    char text[64];
    (void)snprintf(text, sizeof text, "\n\"%s\",", tensor);
    const char *row = strstr(table, text);
    if (row == NULL)
        fail_msg("no row of %s", tensor);
    row += strlen(text);
    if (format != NULL)
        assert_memory_equal(row, format, strlen(format));
    for (int comma = 0; comma < 3; ++comma) {
        row = strchr(row, ',');
        assert_non_null(row);
        ++row;
    }
    const double ratio = strtod(row, NULL);
    if (!(ratio >= least))
        fail_msg("%s: %.2f dB", tensor, ratio);
}

/* Image `images` - 1, of a full group and of a short one, with mantissas of 8 bits and of 16. */
static void check_dump(uint64_t images, const char *set, double least)
{
    static const char *const tensors[] = {"input", "S2", "S4", "F5_relu", "F6_relu", "output"};
    static const int numbers[] = {0, 2, 4, 5, 6, 7};
    char folder[64];
    char path[128];
    char table[4096] = "";
    struct cnnvp_array output;
    (void)snprintf(folder, sizeof folder, "trainer-dump-%ld", (long)getpid());
    struct run run = {
        .network = LENET5, .platform = "trainer", .images = images, .set = set, .native = 1, .dump = folder};
    must_run(&run, &output, NULL, NULL);
    (void)snprintf(path, sizeof path, "%s/sqnr.csv", folder);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_true(fread(table, 1, sizeof table - 1, stream) > 0);
    (void)fclose(stream);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i)
        check_row(table, tensors[i], i == 5 ? "float," : NULL, least);
    assert_null(strstr(table, "C1_relu"));
    (void)snprintf(path, sizeof path, "%s/007_output.npy", folder);
    struct cnnvp_array values;
    struct cnnvp_error error = {""};
    if (cnnvp_npy_read(path, &values, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_memory_equal(values.data, (const float *)output.data + (images - 1) * CLASSES, CLASSES * sizeof(float));
    cnnvp_array_clear(&values);
    cnnvp_array_clear(&output);
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i) {
        (void)snprintf(path, sizeof path, "%03d_%s.npy", numbers[i], tensors[i]);
        must_remove(folder, path);
        (void)snprintf(path, sizeof path, "%03d_%s.float.npy", numbers[i], tensors[i]);
        must_remove(folder, path);
    }
    must_remove(folder, "sqnr.csv");
    must_remove(folder, "sqnr.txt");
    assert_int_equal(rmdir(folder), 0);
}

static void test_dump(void **state)
{
    (void)state;
    check_dump(4, NULL, 28.0);
    check_dump(6, NULL, 28.0);
    check_dump(5, "pe_array.mantissa_bits=16", 75.0);
}

static void test_refused(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    struct run run = {.network = TEST_NETWORKS "/mixed.onnx", .platform = "trainer", .images = 1};
    assert_int_equal(run_network(&run, NULL, NULL, NULL, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "node \""));
    run.network = LENET5;
    run.set = "dram.size=1088KiB";
    assert_int_equal(run_network(&run, NULL, NULL, NULL, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "dram"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trained),       cmocka_unit_test(test_groups), cmocka_unit_test(test_no_matrices),
        cmocka_unit_test(test_probabilities), cmocka_unit_test(test_dump),   cmocka_unit_test(test_refused),
    };
    (void)snprintf(trained, sizeof trained, "trainer-trained-%ld.onnx", (long)getpid());
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)remove(trained);
    return failed;
}
