/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers whose windows the vector unit calculates push what they push for the array, word for word, but for the opcode:
 * vconv in the place of conv, vpool in that of pool.
 */
#include <glob.h>

#include "test.h"

#include "fake_element.h"
#include "fake_platform.h"
#include "guest.h"
#include "binary_units.h"
#include "network.h"

#define MEMORY ((size_t)64 << 20)

static struct cnnvp_guest guest;

/* Words that were compared: of conv and of pool, and of both within chains. */
struct seen {
    size_t convolutions, pools, in_chains;
};

static struct fake_element push(const cnnvp_platform *platform)
{
    struct fake_element element = {.memory = platform->memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    assert_int_equal(cnnvp_guest_init(&guest, &machine, NULL), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);
    return element;
}

static uint32_t expected(uint32_t high, uint32_t windows)
{
    const uint32_t operands = high & 0x00ffffffu;
    if (high >> 24 == CNNVP_OPCODE_conv && (windows & TEST_BINARY_CONVOLUTIONS) != 0)
        return operands | (uint32_t)CNNVP_OPCODE_vconv << 24;
    if (high >> 24 == CNNVP_OPCODE_pool && (windows & TEST_BINARY_POOLS) != 0)
        return operands | (uint32_t)CNNVP_OPCODE_vpool << 24;
    return high;
}

static void compare(const char *file, const cnnvp_platform *platform, uint32_t windows, struct seen *seen)
{
    (void)test_binary_to_vector(platform->memory, TEST_BINARY_SAME_SUMS);
    const struct fake_element array = push(platform);
    (void)test_binary_to_vector(platform->memory, windows | TEST_BINARY_SAME_SUMS);
    const struct fake_element vector = push(platform);
    assert_int_equal(array.count, vector.count);
    for (size_t i = 0; i < array.count; ++i) {
        const uint32_t high = expected(array.words[i].high, windows);
        if (vector.words[i].high != high || vector.words[i].low != array.words[i].low)
            fail_msg("%s: word %zu of %zu is %08x %08x, not %08x %08x", file, i, array.count, vector.words[i].high,
                     vector.words[i].low, high, array.words[i].low);
        seen->convolutions += vector.words[i].high >> 24 == CNNVP_OPCODE_vconv;
        seen->pools += vector.words[i].high >> 24 == CNNVP_OPCODE_vpool;
        seen->in_chains += guest.binary->groups != 0 && vector.words[i].high != array.words[i].high;
    }
    free(array.words);
    free(vector.words);
}

static void compile_and_compare(const char *file, const struct fake_config *config,
                                struct cnnvp_network_options options, struct seen *seen)
{
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    options.struct_size = sizeof options;
    options.images = 2;
    options.timing_only = 1;
    if (fake_network_new(file, config, &options, &network, &error) != CNNVP_DONE)
        return; /* the configuration is too small for it */
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    for (uint32_t windows = 0; windows <= TEST_BINARY_WINDOWS; ++windows)
        compare(file, platform, windows, seen);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

/* Each network in buffers of both kinds, so large that one step does and so small that it takes several; on chip and
 * depth first where that is possible. */
static void only_the_opcode_differs(void **state)
{
    static const char *const patterns[] = {
        TEST_ZOO "/*/*.onnx", TEST_NETWORKS "/lenet5.onnx", TEST_NETWORKS "/mixed.onnx"};
    glob_t files = {0};
    struct seen seen = {0};
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; ++i)
        assert_int_equal(glob(patterns[i], i != 0 ? GLOB_APPEND : 0, NULL, &files), 0);
    for (size_t i = 0; i < 4 * files.gl_pathc; i += TEST_EVERY) {
        const char *file = files.gl_pathv[i / 4];
        const int small = (i & 2u) != 0;
        struct fake_config config = i & 1u ? fake_window() : fake_nfu();
        struct cnnvp_network_options options = {.rounding = CNNVP_ROUND_STOCHASTIC, .seed = i};
        if (small)
            config.input_bytes = config.weight_bytes = config.output_bytes = 2048;
        compile_and_compare(file, &config, options, &seen);
        if (small)
            continue;
        options.on_chip = 1;
        compile_and_compare(file, &config, options, &seen);
        options.on_chip = 0;
        options.schedule = CNNVP_SCHEDULE_DEPTH_FIRST;
        options.block = 4;
        if (strstr(file, "net_") != NULL)
            compile_and_compare(file, &config, options, &seen);
    }
    globfree(&files);
    print_message("%zu vconv, %zu vpool, %zu of both in networks with chains\n", seen.convolutions, seen.pools,
                  seen.in_chains);
    assert_true(seen.convolutions > 1000 / TEST_EVERY && seen.pools > 1000 / TEST_EVERY &&
                seen.in_chains > 100 / TEST_EVERY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_opcode_differs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
