/* SPDX-License-Identifier: Apache-2.0 */
/* Whole networks: from ONNX to an image, run by the independent integer reference, against the float model and against
 * what another framework computed (tests/data). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_platform.h"
#include "fx16_reference.h"
#include "network.h"

#define MEMORY ((size_t)64 << 20)

struct outcome {
    struct cnnvp_array fixed;     /* FX16 */
    struct cnnvp_array reference; /* our float */
    struct cnnvp_array expected;  /* the framework's float */
    char layers[4096];
};

static void clear(struct outcome *outcome)
{
    cnnvp_array_clear(&outcome->fixed);
    cnnvp_array_clear(&outcome->reference);
    cnnvp_array_clear(&outcome->expected);
}

static cnnvp_network *compile(const char *name, const struct fake_config *config,
                              const struct cnnvp_network_options *chosen)
{
    char file[1024];
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    struct cnnvp_network_options options = *chosen;
    options.struct_size = sizeof options;
    (void)snprintf(file, sizeof file, "%s/%s.onnx", TEST_NETWORKS, name);
    const cnnvp_result result = fake_network_new(file, config, &options, &network, &error);
    if (result != CNNVP_DONE)
        fail_msg("%s", error.text);
    return network;
}

static void read_array(const char *name, const char *what, struct cnnvp_array *array)
{
    char file[1024];
    struct cnnvp_error error = {""};
    (void)snprintf(file, sizeof file, "%s/%s_%s.npy", TEST_DATA, name, what);
    if (cnnvp_npy_read(file, array, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

static void run(const char *name, const struct fake_config *config, struct outcome *outcome)
{
    struct cnnvp_array input;
    struct cnnvp_error error = {""};
    memset(outcome, 0, sizeof *outcome);
    read_array(name, "input", &input);
    read_array(name, "output", &outcome->expected);
    cnnvp_network *network = compile(
        name, config, &(struct cnnvp_network_options){.rounding = CNNVP_ROUND_NEAREST, .cpu_host = 1, .input = &input});
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    const char *wrong = NULL;
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    if (test_fx16_run(&memory, (uint32_t)config->acc_bits, &wrong) != 0)
        fail_msg("%s", wrong);
    assert_int_equal(cnnvp_network_output(network, platform, 0, &outcome->fixed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_reference(network, 0, &outcome->reference, &error), CNNVP_DONE);
    memcpy(outcome->layers, platform->layers, sizeof outcome->layers);
    fake_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_array_clear(&input);
}

static size_t elements(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
        count *= array->shape[i];
    return count;
}

/* Largest difference, in parts of the largest magnitude of b. */
static double difference(const struct cnnvp_array *a, const struct cnnvp_array *b)
{
    double worst = 0.0;
    double largest = 0.0;
    assert_int_equal(a->rank, b->rank);
    for (size_t i = 0; i < a->rank; ++i)
        assert_int_equal(a->shape[i], b->shape[i]);
    for (size_t i = 0; i < elements(a); ++i) {
        const double x = (double)((const float *)a->data)[i];
        const double y = (double)((const float *)b->data)[i];
        worst = fmax(worst, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    return worst / largest;
}

static void check_network(const char *name, const struct fake_config *config, double limit)
{
    struct outcome outcome;
    run(name, config, &outcome);
    const double own = difference(&outcome.reference, &outcome.expected);
    const double fixed = difference(&outcome.fixed, &outcome.expected);
    print_message("%s: float %.3g, FX16 %.3g of the largest magnitude\n", name, own, fixed);
    assert_true(own < 1e-5);
    assert_true(fixed < limit);
    clear(&outcome);
}

static void lenet5_is_close_to_float(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    check_network("lenet5", &config, 0.005);
}

static void mixed_is_close_to_float(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    check_network("mixed", &config, 0.005);
}

/* Tiles change nothing in the results: the same words for any buffers and arrays. */
static void buffers_change_no_output(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    for (size_t n = 0; n < 2; ++n) {
        struct outcome first;
        struct fake_config config = fake_nfu();
        run(names[n], &config, &first);
        for (unsigned i = 0; i < 4; ++i) {
            struct outcome other;
            config.input_bytes = 4096u << i;
            config.output_bytes = 4096u << i;
            config.weight_bytes = 16384u << i;
            config.rows = 4 + i;
            config.cols = 3 + 2 * i;
            config.pingpong = i & 1u;
            config.fc_mapping = i < 2 ? "broadcast" : "single-neuron";
            run(names[n], &config, &other);
            assert_memory_equal(other.fixed.data, first.fixed.data, elements(&first.fixed) * sizeof(float));
            assert_string_equal(other.layers, first.layers);
            clear(&other);
        }
        clear(&first);
    }
}

/* The same words for another engine: only tiles differ. */
static void engines_change_no_output(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    for (size_t n = 0; n < 2; ++n) {
        struct outcome nfu;
        struct outcome window;
        struct fake_config config = fake_nfu();
        run(names[n], &config, &nfu);
        for (uint64_t para = 8; para > 0; para /= 2) {
            config = fake_window();
            config.input_para = para;
            config.output_para = para + 1;
            config.output_bytes = 4096 * para;
            run(names[n], &config, &window);
            assert_memory_equal(window.fixed.data, nfu.fixed.data, elements(&nfu.fixed) * sizeof(float));
            assert_string_equal(window.layers, nfu.layers);
            clear(&window);
        }
        clear(&nfu);
    }
}

static void layers_are_described(void **state)
{
    (void)state;
    struct outcome outcome;
    const struct fake_config config = fake_nfu();
    run("lenet5", &config, &outcome);
    assert_string_equal(outcome.layers, "C1 conv 117600\nS2 pool 0\nC3 conv 240000\nS4 pool 0\nF5 fc 48000\n"
                                        "F6 fc 10080\nF7 fc 840\n");
    clear(&outcome);
}

/* ---- options and inputs ---- */

static void must_refuse(const char *name, const struct fake_config *config, struct cnnvp_network_options options,
                        const char *text)
{
    char file[1024];
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    options.struct_size = sizeof options;
    (void)snprintf(file, sizeof file, "%s/%s.onnx", TEST_NETWORKS, name);
    assert_int_equal(fake_network_new(file, config, &options, &network, &error), CNNVP_BAD_INPUT);
    assert_null(network);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}

static void wrong_inputs_are_refused(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    float data[2 * 33 * 32] = {0};
    struct cnnvp_array array = {.type = CNNVP_ARRAY_F32, .rank = 4, .shape = {2, 1, 32, 33}, .data = data};
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array},
                "the input has shape (2, 1, 32, 33); network ");
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array},
                " takes (N, 1, 32, 32), or fewer rows and columns, with N at least 1");
    array.shape[3] = 32;
    must_refuse(
        "lenet5", &config,
        (struct cnnvp_network_options){
            .input = &array,
            .calibration = &(struct cnnvp_array){.type = CNNVP_ARRAY_F32, .rank = 1, .shape = {3}, .data = data}},
        "the calibration has shape (3)");
    array.type = CNNVP_ARRAY_I64;
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array},
                "holds int64; networks take float32, or uint8");
    array.type = CNNVP_ARRAY_F32;
    array.shape[0] = 0;
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array}, "N at least 1");
    array.shape[0] = 2;
    data[1025] = NAN;
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array}, "element 1025 is not a finite");
    array.shape[2] = array.shape[3] = 28; /* of the file, not of the image that it is centred in */
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.input = &array}, "element 1025 is not a finite");
    array.shape[2] = array.shape[3] = 32;
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.images = 0}, "0 images");
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.images = 1, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST},
                "--block 0");
    must_refuse("lenet5", &config,
                (struct cnnvp_network_options){.images = 1, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST, .block = 24},
                "--block 24: the side of a block is a power of two, such as 16 or 32");
    must_refuse("lenet5", &config,
                (struct cnnvp_network_options){.images = 1, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST, .block = 8},
                "layer \"C1\" reads 32x32 and its output has another size than its input; use --schedule layer");
    must_refuse(
        "mixed", &config,
        (struct cnnvp_network_options){.images = 1, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST, .block = 8, .on_chip = 1},
        "use one of the two");
    must_refuse("mixed", &config, (struct cnnvp_network_options){.images = 4, .on_chip = 1, .batch = 4},
                "--batch 4: --on-chip loads weights once for all images");
    must_refuse(
        "mixed", &config,
        (struct cnnvp_network_options){.images = 4, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST, .block = 8, .batch = 2},
        "--batch 2: the depth-first schedule takes one image after the other");
    must_refuse("mixed", &config,
                (struct cnnvp_network_options){.images = 1, .on_chip = 1, .objective = CNNVP_OBJECTIVE_ENERGY},
                "--objective chooses among tiles and groups");
    must_refuse("mixed", &config,
                (struct cnnvp_network_options){
                    .images = 1, .schedule = CNNVP_SCHEDULE_FUSED, .objective = CNNVP_OBJECTIVE_ENERGY},
                "--schedule fused is chosen by traffic");
    must_refuse("missing", &config, (struct cnnvp_network_options){.images = 1}, "missing.onnx: No such file");
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.images = 1000000}, "-s dram.size=");
    struct fake_config small = config;
    small.memory_bytes = 1100 << 10;
    must_refuse("lenet5", &small, (struct cnnvp_network_options){.images = 1}, "-s dram.size=");
    small.memory_bytes = 2 << 20;
    must_refuse("lenet5", &small, (struct cnnvp_network_options){.images = 60, .batch = 60}, "a smaller --batch");
}

/* uint8 means x / 255; the batch and a single channel may be left out. */
static void bytes_and_short_shapes_are_taken(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    static uint8_t bytes[1024];
    static float floats[1024];
    for (size_t i = 0; i < 1024; ++i) {
        bytes[i] = (uint8_t)(i * 7);
        floats[i] = (float)bytes[i] / 255.0f;
    }
    const struct cnnvp_array arrays[] = {
        {.type = CNNVP_ARRAY_F32, .rank = 4, .shape = {1, 1, 32, 32}, .data = floats},
        {.type = CNNVP_ARRAY_U8, .rank = 3, .shape = {1, 32, 32}, .data = bytes},
        {.type = CNNVP_ARRAY_U8, .rank = 2, .shape = {32, 32}, .data = bytes},
    };
    struct cnnvp_array outputs[3];
    for (size_t i = 0; i < 3; ++i) {
        struct cnnvp_error error = {""};
        /* the first one's reference is kept from its calibration, the others' calculated */
        const struct cnnvp_network_options options = {.input = &arrays[i], .calibration = i == 0 ? NULL : &arrays[0]};
        cnnvp_network *network = compile("lenet5", &config, &options);
        assert_int_equal(cnnvp_network_reference(network, 0, &outputs[i], &error), CNNVP_DONE);
        assert_int_equal(outputs[i].shape[0], 1);
        assert_memory_equal(outputs[i].data, outputs[0].data, 10 * sizeof(float));
        cnnvp_network_free(network);
    }
    for (size_t i = 0; i < 3; ++i)
        cnnvp_array_clear(&outputs[i]);
}

/* Timing only: the same places and tables, no weights, no inputs. */
static void timing_only_places_the_same(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    const struct fake_config config = fake_nfu();
    for (size_t n = 0; n < 2; ++n) {
        cnnvp_network *full = compile(names[n], &config, &(struct cnnvp_network_options){.images = 3});
        cnnvp_network *timing =
            compile(names[n], &config, &(struct cnnvp_network_options){.images = 3, .timing_only = 1, .cpu_host = 1});
        assert_memory_equal(&full->build.header, &timing->build.header, sizeof full->build.header);
        assert_int_equal(full->build.end, timing->build.end);
        assert_memory_equal(full->build.blobs.all, timing->build.blobs.all,
                            full->build.blobs.count * sizeof *full->build.blobs.all);
        for (size_t i = 0; i < full->graph.layer_count; ++i) {
            struct cnnvp_binary_layer a = full->build.layers[i];
            struct cnnvp_binary_layer b = timing->build.layers[i];
            a.format = b.format = 0;
            for (uint32_t p = 0; p < a.post_count; ++p)
                a.posts[p].format = b.posts[p].format = 0;
            assert_memory_equal(&a, &b, sizeof a);
        }
        struct cnnvp_array output;
        struct cnnvp_error error = {""};
        cnnvp_platform *platform = fake_platform_new(MEMORY);
        assert_int_equal(cnnvp_network_load(timing, platform, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_network_output(timing, platform, 0, &output, &error), CNNVP_BAD_INPUT);
        assert_int_equal(cnnvp_network_reference(timing, 0, &output, &error), CNNVP_BAD_INPUT);
        fake_platform_free(platform);
        cnnvp_network_free(full);
        cnnvp_network_free(timing);
    }
}

/* What memory held before, and whether it can be reached directly, changes no byte of the image and its inputs. */
static void memory_gets_the_image_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    const struct fake_config config = fake_nfu();
    for (size_t n = 0; n < 2; ++n) {
        cnnvp_network *network =
            compile(names[n], &config, &(struct cnnvp_network_options){.images = 2, .cpu_host = 1});
        cnnvp_platform *first = fake_platform_new(MEMORY);
        struct cnnvp_error error = {""};
        assert_int_equal(cnnvp_network_load(network, first, &error), CNNVP_DONE);
        const struct cnnvp_binary_tensor *input = &network->build.tensors[network->graph.input];
        const size_t image = CNNVP_BINARY_ADDRESS - network->target.memory_base;
        const size_t frames = input->address - cnnvp_binary_frame_lead(input) - network->target.memory_base;
        for (int indirect = 0; indirect < 2; ++indirect) {
            cnnvp_platform *other = fake_platform_new(MEMORY);
            memset(other->memory, 0xa5, MEMORY);
            other->indirect = indirect;
            assert_int_equal(cnnvp_network_load(network, other, &error), CNNVP_DONE);
            assert_memory_equal(first->memory + image, other->memory + image,
                                cnnvp_binary_bytes(&network->graph, &network->build));
            assert_memory_equal(first->memory + frames, other->memory + frames, 2u * (size_t)input->image_stride);
            fake_platform_free(other);
        }
        fake_platform_free(first);
        cnnvp_network_free(network);
    }
}

/* A calibration of zeros is valid. */
static void zeros_calibrate(void **state)
{
    (void)state;
    static const float zeros[1024];
    const struct fake_config config = fake_nfu();
    const struct cnnvp_array array = {
        .type = CNNVP_ARRAY_F32, .rank = 4, .shape = {1, 1, 32, 32}, .data = (void *)(uintptr_t)zeros};
    cnnvp_network *network =
        compile("lenet5", &config, &(struct cnnvp_network_options){.images = 1, .calibration = &array});
    assert_int_equal(network->graph.tensors[network->graph.input].frac, 8);
    cnnvp_network_free(network);
}

static void seeds_decide_inputs(void **state)
{
    (void)state;
    double sum = 0.0;
    double squares = 0.0;
    for (uint64_t i = 0; i < 100000; ++i) {
        const double x = (double)cnnvp_normal(5, i);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / 100000) < 0.02);
    assert_true(fabs(squares / 100000 - 1.0) < 0.02);
    assert_true(fabsf(cnnvp_normal(5, 7) - cnnvp_normal(6, 7)) > 0.0f);
}

static void dumps_hold_all_tensors(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_error error = {""};
    const char *wrong = NULL;
    char folder[] = "/tmp/cnnvp_dump_XXXXXX";
    assert_non_null(mkdtemp(folder));
    cnnvp_network *network = compile(
        "mixed", &config, &(struct cnnvp_network_options){.images = 2, .rounding = CNNVP_ROUND_NEAREST, .cpu_host = 1});
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    assert_int_equal(test_fx16_run(&memory, 48, &wrong), 0);
    if (cnnvp_network_dump(network, platform, folder, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sqnr.csv", folder);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    char line[256];
    size_t rows = 0;
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, "tensor,frac,largest,worst_error,sqnr_db\n");
    while (fgets(line, sizeof line, stream) != NULL) {
        const char *last = strrchr(line, ',');
        assert_non_null(last);
        assert_true(strtod(last + 1, NULL) > 50.0);
        ++rows;
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(rows, 9);
    struct cnnvp_array array;
    struct cnnvp_array reference;
    (void)snprintf(path, sizeof path, "%s/003_tanh.npy", folder);
    assert_int_equal(cnnvp_npy_read(path, &array, &error), CNNVP_DONE);
    (void)snprintf(path, sizeof path, "%s/003_tanh.float.npy", folder);
    assert_int_equal(cnnvp_npy_read(path, &reference, &error), CNNVP_DONE);
    assert_int_equal(array.rank, 4);
    assert_int_equal(array.shape[1], 8);
    assert_true(difference(&array, &reference) < 0.002);
    cnnvp_array_clear(&array);
    cnnvp_array_clear(&reference);
    (void)snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
    assert_int_equal(cnnvp_network_dump(network, platform, "/nowhere/dump", &error), CNNVP_BAD_INPUT);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenet5_is_close_to_float),
        cmocka_unit_test(mixed_is_close_to_float),
        cmocka_unit_test(buffers_change_no_output),
        cmocka_unit_test(engines_change_no_output),
        cmocka_unit_test(layers_are_described),
        cmocka_unit_test(wrong_inputs_are_refused),
        cmocka_unit_test(bytes_and_short_shapes_are_taken),
        cmocka_unit_test(timing_only_places_the_same),
        cmocka_unit_test(memory_gets_the_image_whole),
        cmocka_unit_test(zeros_calibrate),
        cmocka_unit_test(seeds_decide_inputs),
        cmocka_unit_test(dumps_hold_all_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
