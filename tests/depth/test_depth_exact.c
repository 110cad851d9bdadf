/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first chains against the integer reference, which pads every convolution block by block: every word that comes
 * to memory, for random chains, map and block sizes, engines, buffers, orders, images; on the core and without, with
 * the scheduler unit and without, windows on the array and on the vector unit.
 */
#include <unistd.h>

#include "test.h"

#include "chain.h"
#include "cnnvp_network.h"
#include "fx16_reference.h"
#include "binary/network_binary.h"
#include "binary_units.h"
#include "random.h"

#define CASES 70
#define MEMORY ((size_t)16 << 20)

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

static void set(cnnvp_config *config, const char *setting)
{
    done(cnnvp_config_set(config, setting, &problem));
}

static cnnvp_config *random_platform(uint64_t *state)
{
    static const char *const nfu[] = {"pe_array.rows=3", "pe_array.cols=5", "pe_array.kernel_piece=3"};
    static const char *const window[] = {"pe_array.input_para=3", "pe_array.output_para=2", "pe_array.input_para=2"};
    static const char *const both[] = {
        "weight_buffer.size=4KiB",    "weight_buffer.size=2KiB",   "output_buffer.pingpong=off",
        "weight_buffer.pingpong=off", "input_buffer.pingpong=off", "instruction.order=strict",
        "dma.outstanding=1"};
    cnnvp_config *config = NULL;
    const int is_window = (int)below(state, 2);
    static const char *const platforms[] = {
        "nfu", "window", TEST_EXAMPLES "/nfu_scheduler.yaml", TEST_EXAMPLES "/window_scheduler.yaml"};
    done(cnnvp_config_new(platforms[is_window + 2 * (int)below(state, 2)], &config, &problem));
    if (below(state, 2))
        set(config, TEST_NATIVE_CPU);
    for (uint32_t i = 0; i < 3; ++i)
        if (below(state, 2))
            set(config, (is_window ? window : nfu)[i]);
    for (uint32_t i = 0; i < sizeof both / sizeof both[0]; ++i)
        if (below(state, 5) == 0)
            set(config, both[i]);
    if (!is_window && below(state, 5) == 0)
        set(config, "pe_array.detail=cycle");
    done(cnnvp_config_resolve(config, &problem));
    return config;
}

/* Rows of a tensor that differ. */
static size_t compare_tensor(const struct cnnvp_tensor *tensor, uint32_t image, const uint8_t *left,
                             const uint8_t *right)
{
    size_t wrong = 0;
    for (uint32_t c = 0; c < tensor->channels; ++c)
        for (uint32_t y = 0; y < tensor->height; ++y) {
            const size_t at = tensor->address - CNNVP_MEMORY_BASE + (size_t)image * tensor->image_stride +
                              2u * ((size_t)c * tensor->channel_stride + (size_t)y * tensor->row_stride);
            wrong += memcmp(left + at, right + at, 2u * (size_t)tensor->width) != 0;
        }
    return wrong;
}

/* The layer's results stay on chip: no chain ends with it. */
static int stays(const struct cnnvp_binary *binary, const struct cnnvp_binary_layer *layer, const uint8_t *memory)
{
    if (layer->plan.group == 0)
        return 0;
    const struct cnnvp_binary_group *groups =
        (const struct cnnvp_binary_group *)(const void *)(memory + (binary->groups - CNNVP_MEMORY_BASE));
    return groups[layer->plan.group - 1u].last_layer + 1u != layer->plan.tag;
}

static void compare(const uint8_t *left, const uint8_t *right)
{
    const struct cnnvp_binary *binary =
        (const struct cnnvp_binary *)(const void *)(left + (CNNVP_BINARY_ADDRESS - CNNVP_MEMORY_BASE));
    const struct cnnvp_binary_layer *layers =
        (const struct cnnvp_binary_layer *)(const void *)(left + (binary->layers - CNNVP_MEMORY_BASE));
    assert_true(binary->groups != 0);
    for (uint32_t i = 0; i < binary->layer_count; ++i) {
        const struct cnnvp_tensor *out = &layers[i].plan.out;
        for (uint32_t n = 0; n < (out->image_stride != 0 ? binary->images : 1u) && !stays(binary, &layers[i], left);
             ++n)
            if (compare_tensor(out, n, left, right) != 0)
                fail_msg("layer %u, image %u differs", i, n);
    }
}

static void run_case(cnnvp_config *config, const char *file, const struct cnnvp_network_options *options,
                     uint32_t to_vector)
{
    cnnvp_network *network = NULL;
    cnnvp_platform *platform = NULL;
    done(cnnvp_network_new(file, config, options, &network, &problem));
    const struct cnnvp_platform_options platform_options = {.struct_size = sizeof platform_options};
    done(cnnvp_platform_new(config, &platform_options, &platform, &problem));
    done(cnnvp_network_load(network, platform, &problem));
    uint64_t acc_bits = 0;
    void *memory = NULL;
    assert_int_equal(cnnvp_config_get(config, "pe_array.acc_bits", &acc_bits, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_map(platform, CNNVP_MEMORY_BASE, MEMORY, &memory), CNNVP_DONE);
    uint8_t *copy = malloc(MEMORY);
    assert_non_null(copy);
    memcpy(copy, memory, MEMORY);
    (void)test_binary_to_vector(memory, to_vector);
    struct cnnvp_run_result end;
    if (cnnvp_platform_run(platform, &end) != CNNVP_DONE)
        fail_msg("%s", end.reason);
    const struct test_fx16_memory reference = {.bytes = copy, .size = MEMORY, .block = options->block};
    const char *wrong = "";
    if (test_fx16_run(&reference, (uint32_t)acc_bits, &wrong) != 0)
        fail_msg("%s", wrong);
    compare(copy, memory);
    free(copy);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
}

static void random_chains_equal_the_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; ++seed) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint32_t block = 1u << below(&random, 5);
        const struct chain chain = chain_random(random, block);
        char file[64];
        chain_write(&chain, file);
        cnnvp_config *config = random_platform(&random);
        const struct cnnvp_network_options options = {
            .struct_size = sizeof options,
            .schedule = CNNVP_SCHEDULE_DEPTH_FIRST,
            .block = block,
            .plan = below(&random, 2) ? TEST_DATA "/plans/table.yaml" : TEST_DATA "/plans/morton.yaml",
            .rounding = below(&random, 2) ? CNNVP_ROUND_NEAREST : CNNVP_ROUND_TRUNCATE,
            .seed = seed,
            .images = 1 + below(&random, 4),
        };
        const uint32_t to_vector = below(&random, 3) == 0 ? below(&random, TEST_BINARY_WINDOWS + 1u) : 0;
        print_message("seed %u: %ux%u, %u layers, block %u, on the vector unit %u\n", (unsigned)seed, chain.height,
                      chain.width, chain.layer_count, block, to_vector);
        run_case(config, file, &options, to_vector);
        cnnvp_config_free(config);
        (void)unlink(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_chains_equal_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
