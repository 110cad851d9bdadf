/* SPDX-License-Identifier: Apache-2.0 */
#include "network_case.h"

void network_clear(struct outcome *outcome)
{
    cnnvp_array_clear(&outcome->fixed);
    cnnvp_array_clear(&outcome->reference);
    cnnvp_array_clear(&outcome->expected);
}

cnnvp_network *network_compile(const char *name, const struct fake_config *config,
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

void network_run(const char *name, const struct fake_config *config, struct outcome *outcome)
{
    struct cnnvp_array input;
    struct cnnvp_error error = {""};
    memset(outcome, 0, sizeof *outcome);
    read_array(name, "input", &input);
    read_array(name, "output", &outcome->expected);
    cnnvp_network *network = network_compile(
        name, config, &(struct cnnvp_network_options){.rounding = CNNVP_ROUND_NEAREST, .input = &input});
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

size_t elements(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
        count *= array->shape[i];
    return count;
}

double difference(const struct cnnvp_array *a, const struct cnnvp_array *b)
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
