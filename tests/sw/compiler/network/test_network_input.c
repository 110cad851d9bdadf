/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are taken and refused. */
#include "network_case.h"

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
                "--batch: --on-chip loads weights once for all images");
    must_refuse(
        "mixed", &config,
        (struct cnnvp_network_options){.images = 4, .schedule = CNNVP_SCHEDULE_DEPTH_FIRST, .block = 8, .batch = 2},
        "--batch: the depth-first schedule takes one image after the other");
    must_refuse("mixed", &config,
                (struct cnnvp_network_options){.images = 1, .on_chip = 1, .objective = CNNVP_OBJECTIVE_ENERGY},
                "--objective chooses among tiles and groups");
    must_refuse("mixed", &config,
                (struct cnnvp_network_options){
                    .images = 1, .schedule = CNNVP_SCHEDULE_FUSED, .objective = CNNVP_OBJECTIVE_ENERGY},
                "--schedule fused is chosen by traffic");
    must_refuse("missing", &config, (struct cnnvp_network_options){.images = 1}, "missing.onnx: No such file");
    must_refuse("lenet5", &config, (struct cnnvp_network_options){.images = 1000000}, "a larger dram.size");
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
        cnnvp_network *network = network_compile("lenet5", &config, &options);
        assert_int_equal(cnnvp_network_reference(network, 0, &outputs[i], &error), CNNVP_DONE);
        assert_int_equal(outputs[i].shape[0], 1);
        assert_memory_equal(outputs[i].data, outputs[0].data, 10 * sizeof(float));
        cnnvp_network_free(network);
    }
    for (size_t i = 0; i < 3; ++i)
        cnnvp_array_clear(&outputs[i]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_inputs_are_refused),
        cmocka_unit_test(bytes_and_short_shapes_are_taken),
        cmocka_unit_test(seeds_decide_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
