/* SPDX-License-Identifier: Apache-2.0 */
/* What a network says of itself, and calibration. */
#include "network_case.h"

static void layers_are_described(void **state)
{
    (void)state;
    struct outcome outcome;
    const struct fake_config config = fake_nfu();
    network_run("lenet5", &config, &outcome);
    assert_string_equal(outcome.layers, "C1 conv 117600\nS2 pool 0\nC3 conv 240000\nS4 pool 0\nF5 fc 48000\n"
                                        "F6 fc 10080\nF7 fc 840\n");
    network_clear(&outcome);
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
        network_compile("lenet5", &config, &(struct cnnvp_network_options){.images = 1, .calibration = &array});
    assert_int_equal(network->graph.tensors[network->graph.input].frac, 8);
    cnnvp_network_free(network);
}

static void numbers_outside_an_enum_are_refused(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    const struct cnnvp_network_options good = {.struct_size = sizeof good, .images = 1};
    struct cnnvp_network_options wrong[] = {good, good, good};
    wrong[0].schedule = (enum cnnvp_schedule)4;
    wrong[1].issue = (enum cnnvp_issue)4;
    wrong[2].precision = (enum cnnvp_precision)3;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        struct cnnvp_error error = {""};
        cnnvp_network *network = NULL;
        assert_int_equal(fake_network_new(TEST_NETWORKS "/lenet5.onnx", &config, &wrong[i], &network, &error),
                         CNNVP_BAD_INPUT);
        assert_string_equal(error.text, "schedule, issue or precision has no value of its enum");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_described),
        cmocka_unit_test(zeros_calibrate),
        cmocka_unit_test(numbers_outside_an_enum_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
