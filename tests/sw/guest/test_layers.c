/* SPDX-License-Identifier: Apache-2.0 */
/* Copies whose rows all lie alike take one instruction a step, whichever dimensions have changed places. */

#include "test.h"

#include "fake_element.h"
#include "fake_platform.h"
#include "guest.h"
#include "network.h"

#define MEMORY ((size_t)16 << 20)

static struct cnnvp_guest guest;

/* In buffers so large that each layer is one step: its copies of the last of three dimensions to the first place, as in
 * weaving columns, and of the rows that are woven. */
static void a_step_takes_one_instruction(void **state)
{
    (void)state;
    struct fake_config config = fake_nfu();
    struct cnnvp_network_options options = {.struct_size = sizeof options, .images = 1, .timing_only = 1};
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    config.input_bytes = config.weight_bytes = config.output_bytes = 1u << 20;
    if (fake_network_new(TEST_ZOO "/windows/transposed_2x2.onnx", &config, &options, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    struct fake_element element = {.memory = platform->memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    assert_int_equal(cnnvp_guest_init(&guest, &machine, NULL), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);
    size_t copies = 0, layers = 0;
    for (size_t i = 0; i < element.count; ++i)
        copies += element.words[i].high >> 24 == CNNVP_OPCODE_vcmp;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        layers += network->graph.layers[i].op == CNNVP_OP_ACTIVATION;
    assert_int_equal(layers, 4);
    assert_int_equal(copies, layers);
    free(element.words);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_takes_one_instruction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
