/* SPDX-License-Identifier: Apache-2.0 */
/* What each layer has of a scratchpad. */
#include "test.h"

#include "binary_internal.h"
#include "fake_platform.h"
#include "network.h"
#include "random.h"

static uint64_t up(uint64_t bytes)
{
    return (bytes + 63u) / 64u * 64u;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t joint(const struct cnnvp_plan_use *use)
{
    return up(use->input_bytes) + up(use->weight_bytes) + use->output_bytes;
}

/* A scratchpad of any size: each layer's tiles fit its regions, these follow each other in the half, and they change
 * only before a layer that does not fit beside those that have had them. */
static void check_regions(const struct cnnvp_build *build, size_t count, uint64_t half)
{
    struct cnnvp_plan_use all = {0, 0, 0};
    for (size_t i = 0; i < count; ++i) {
        const struct cnnvp_plan_use use = cnnvp_plan_use_of(&build->layers[i], build->result_bytes[i]);
        const struct cnnvp_binary_regions *is = &build->regions[i];
        assert_true(use.input_bytes <= is->weight_base);
        assert_true(is->weight_base + use.weight_bytes <= is->output_base);
        assert_true(is->output_base + use.output_bytes <= half);
        assert_true(is->weight_base % 64u == 0 && is->output_base % 64u == 0);
        const struct cnnvp_plan_use both = {
            most(all.input_bytes, use.input_bytes), most(all.weight_bytes, use.weight_bytes),
            most(all.output_bytes, use.output_bytes)};
        const int changes = i != 0 && (is->weight_base != is[-1].weight_base || is->output_base != is[-1].output_base);
        assert_true(!changes || joint(&both) > half);
        all = joint(&both) > half ? use : both;
    }
}

static void layers_take_what_they_need(void **state)
{
    (void)state;
    static const char *const files[] = {TEST_NETWORKS "/lenet5.onnx", TEST_NETWORKS "/mixed.onnx"};
    const struct fake_config config = fake_nfu();
    uint64_t random = 5;
    size_t changes = 0, layers = 0;
    for (size_t n = 0; n < 2; ++n) {
        struct cnnvp_error error = {""};
        cnnvp_network *network;
        assert_int_equal(
            fake_network_new(files[n], &config,
                             &(struct cnnvp_network_options){
                                 .struct_size = sizeof(struct cnnvp_network_options), .images = 1, .timing_only = 1},
                             &network, &error),
            CNNVP_DONE);
        struct cnnvp_build *build = &network->build;
        const size_t count = network->graph.layer_count;
        uint64_t least = 0;
        assert_null(build->regions);
        for (size_t i = 0; i < count; ++i) {
            const struct cnnvp_plan_use use = cnnvp_plan_use_of(&build->layers[i], 8);
            least = most(least, joint(&use));
        }
        build->divides = 1;
        for (int t = 0; t < 20; ++t) {
            network->target.limits.scratchpad_bytes = least + below(&random, 1u + (uint32_t)least);
            assert_int_equal(cnnvp_binary_divide(&network->graph, &network->target, build, &error), CNNVP_DONE);
            check_regions(build, count, network->target.limits.scratchpad_bytes);
            for (size_t i = 1; i < count; ++i)
                changes += build->regions[i].output_base != build->regions[i - 1].output_base;
            layers += count - 1u;
        }
        /* Divided once where something stays: as the limits say. */
        build->divides = 0;
        assert_int_equal(cnnvp_binary_divide(&network->graph, &network->target, build, &error), CNNVP_DONE);
        for (size_t i = 0; i < count; ++i) {
            assert_int_equal(build->regions[i].weight_base, up(network->target.limits.input_bytes));
            assert_int_equal(build->regions[i].output_base,
                             up(network->target.limits.input_bytes) + up(network->target.limits.weight_bytes));
        }
        cnnvp_network_free(network);
    }
    assert_in_range(changes, 1, layers - 1u); /* some layers have other regions than those before them, not all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_take_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
