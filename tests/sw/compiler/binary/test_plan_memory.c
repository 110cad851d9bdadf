/* SPDX-License-Identifier: Apache-2.0 */
/* A plan from memory is the plan that a search finds, whichever parameter has changed. */
#include "test.h"

#include "binary.h"
#include "fake_platform.h"
#include "graph_case.h"
#include "plan_memory.h"

static struct cnnvp_graph graph;

/* Plans the graph for the nfu preset with this setting ("": as it is) and this static power. */
static struct cnnvp_build plan(const char *setting, enum cnnvp_plan_objective objective, double power,
                               struct cnnvp_plan_memory *memory)
{
    struct cnnvp_error error = {""};
    const struct fake_config nfu = fake_nfu();
    const struct cnnvp_binary_options options = {.images = 1};
    struct cnnvp_build build = {.end = 0};
    struct cnnvp_target target;
    cnnvp_config *config = fake_config_new(&nfu);
    if ((*setting != '\0' && cnnvp_config_set(config, setting, &error) != CNNVP_DONE) ||
        cnnvp_config_resolve(config, &error) != CNNVP_DONE || cnnvp_target_read(config, &target, &error) != CNNVP_DONE)
        fail_msg("%s: %s", setting, error.text);
    target.limits.objective = objective;
    target.limits.energy.ps = power;
    target.memory = memory;
    cnnvp_plan_memory_listen(&target);
    if (cnnvp_binary_build(&graph, &target, &options, &build, &error) != CNNVP_DONE)
        fail_msg("%s: %s", setting, error.text);
    cnnvp_target_clear(&target);
    cnnvp_config_free(config);
    return build;
}

static void a_changed_platform_has_its_own_plan(void **state)
{
    static const char *const settings[] = {
        "",
        "cpu.icache_size=32768",
        "cpu.tcm_size=1048576",
        "input_buffer.banks=32",
        "dram.arbiter=round-robin",
        "dram.preset=ddr3-1600",
        "dram.mapping=row-bank-column",
        "dma.burst_bytes=128",
        "pe_array.rows=16",
        "pe_array.write_out=scale",
        "input_buffer.size=131072",
        "input_buffer.column_step=2",
        "instruction.queue_depth=128"};
    (void)state;
    graph_case_begin(&graph, 8, 48);
    int32_t map = graph_case_conv(&graph, 0, 32);
    map = graph_case_add(&graph, graph_case_conv(&graph, map, 32), map);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_pool(&graph, map), 64));
    for (enum cnnvp_plan_objective objective = CNNVP_OBJECTIVE_TIME; objective <= CNNVP_OBJECTIVE_TRAFFIC;
         ++objective) {
        struct cnnvp_plan_memory *memory = cnnvp_plan_memory_new();
        struct cnnvp_build first = plan("", objective, 1.0, memory);
        assert_non_null(memory);
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
            const double power = i % 2 == 0 ? 1.0 : 3.0;
            struct cnnvp_build again = plan(settings[i], objective, power, memory);
            struct cnnvp_build anew = plan(settings[i], objective, power, NULL);
            assert_memory_equal(again.layers, anew.layers, graph.layer_count * sizeof *anew.layers);
            assert_memory_equal(again.tensors, anew.tensors, graph.tensor_count * sizeof *anew.tensors);
            assert_memory_equal(again.finalists, anew.finalists, graph.layer_count * sizeof *anew.finalists);
            cnnvp_binary_clear(&again);
            cnnvp_binary_clear(&anew);
        }
        cnnvp_binary_clear(&first);
        cnnvp_plan_memory_free(memory);
    }
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_changed_platform_has_its_own_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
