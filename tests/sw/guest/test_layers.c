/* SPDX-License-Identifier: Apache-2.0 */
/* Copies whose rows all lie alike take one instruction a step, whichever dimensions have changed places; so do
 * positions of an average that have the same divisor. */

#include "test.h"

#include "fake_element.h"
#include "fake_platform.h"
#include "guest.h"
#include "network.h"

#define MEMORY ((size_t)16 << 20)

static struct cnnvp_guest guest;

/* How many instructions of the opcode the network takes in buffers so large that each layer is one step; the number of
 * its layers of this kind. */
static size_t instructions_of(const char *file, uint32_t opcode, uint32_t op, size_t *layers)
{
    struct fake_config config = fake_nfu();
    struct cnnvp_network_options options = {.struct_size = sizeof options, .images = 1, .timing_only = 1};
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    config.input_bytes = config.weight_bytes = config.output_bytes = 1u << 20;
    if (fake_network_new(file, &config, &options, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    struct fake_element element = {.memory = platform->memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    assert_int_equal(cnnvp_guest_init(&guest, &machine, NULL), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);
    size_t count = 0;
    *layers = 0;
    for (size_t i = 0; i < element.count; ++i)
        count += element.words[i].high >> 24 == opcode;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        *layers += (uint32_t)network->graph.layers[i].op == op;
    free(element.words);
    fake_platform_free(platform);
    cnnvp_network_free(network);
    return count;
}

/* Copies of the last of three dimensions to the first place, as in weaving columns, and of the rows that are woven. */
static void a_step_takes_one_instruction(void **state)
{
    (void)state;
    size_t layers;
    assert_int_equal(
        instructions_of(TEST_ZOO "/windows/transposed_2x2.onnx", CNNVP_OPCODE_vcmp, CNNVP_OP_ACTIVATION, &layers), 4);
    assert_int_equal(layers, 4);
}

/* 3x3 windows over 4 maps of 10x12, of which only the taps on the map count: the first column, the last one and those
 * between are divided for all rows and maps at once, then for the first row and for the last one. */
static void edges_take_instructions(void **state)
{
    (void)state;
    size_t layers;
    assert_int_equal(
        instructions_of(TEST_ZOO "/windows/averagepool_exclude.onnx", CNNVP_OPCODE_vdiv, CNNVP_OP_POOL, &layers), 9);
    assert_int_equal(layers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_takes_one_instruction),
        cmocka_unit_test(edges_take_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
