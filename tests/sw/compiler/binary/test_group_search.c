/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers are fused: what saves traffic is, no map that others need is torn, and only the halo that is asked for
 * is taken. */
#include "test.h"

#include "../plan/plan_cases.h"
#include "graph_case.h"
#include "group_build.h"

static struct cnnvp_graph graph;
static struct cnnvp_build build;
static struct cnnvp_plan plan;
static struct cnnvp_error problem;

static struct cnnvp_plan_energy energy;

static void search(enum cnnvp_plan_objective objective, uint32_t halo)
{
    struct fake_config config = fake_nfu();
    const struct cnnvp_binary_options options = {.images = 1, .made = &plan, .halo = halo};
    config.input_bytes = 65536;
    config.output_bytes = 32768;
    struct cnnvp_target target = cases_target(&config);
    target.limits.objective = objective;
    target.limits.energy = energy;
    assert_int_equal(cnnvp_plan_new(&graph, &plan, &problem), CNNVP_DONE);
    if (cnnvp_binary_build(&graph, &target, &options, &build, &problem) != CNNVP_DONE)
        fail_msg("%s", problem.text);
    cnnvp_target_clear(&target);
}

static void clear(void)
{
    cnnvp_binary_clear(&build);
    cnnvp_plan_clear(&plan);
}

/* In the layers' order, disjoint, each of two layers or more with a tile of its last map. */
static void check_runs(void)
{
    size_t end = 0;
    for (size_t i = 0; i < plan.run_count; ++i) {
        const struct cnnvp_plan_run *run = &plan.runs[i];
        assert_true(run->first >= end && run->count >= 2);
        end = run->first + run->count;
        assert_true(end <= graph.layer_count);
        const struct cnnvp_graph_tensor *out = &graph.tensors[graph.layers[end - 1].out];
        assert_true(run->tile_h >= 1 && run->tile_h <= out->height);
        assert_true(run->tile_w >= 1 && run->tile_w <= out->width);
    }
}

/* Maps of 64x64 with 16 channels, 128 KiB each, of which half of the input buffer holds a quarter. */
static void traffic_is_saved(void **state)
{
    (void)state;
    graph_case_begin(&graph, 3, 64);
    int32_t map = graph_case_conv(&graph, 0, 16);
    for (int i = 0; i < 3; ++i)
        map = graph_case_conv(&graph, map, 16);
    graph_case_output(&graph, map);
    for (uint32_t halo = 0; halo <= 3; ++halo) {
        search(CNNVP_OBJECTIVE_TRAFFIC, halo);
        check_runs();
        assert_true(plan.run_count >= 1);
        for (size_t i = 0; i < plan.run_count && halo != 0; ++i)
            assert_int_equal(plan.runs[i].halo, halo - 1);
        if (halo == 0) /* no map between them goes through memory */
            assert_int_equal(plan.runs[0].count, 4);
        clear();
    }
    cnnvp_graph_clear(&graph);
}

/* Repeated MACs of 16 bits cost far more than the bytes that a group saves, those of 8 bits cost nothing. */
static void repeated_macs_have_the_price_of_their_words(void **state)
{
    (void)state;
    energy = (struct cnnvp_plan_energy){.read_byte = 1, .write_byte = 1, .mac = 1e6};
    for (uint32_t bytes = 1; bytes <= 2; ++bytes) {
        graph_case_begin(&graph, 3, 64);
        int32_t map = graph_case_conv(&graph, 0, 16);
        for (int i = 0; i < 3; ++i)
            map = graph_case_conv(&graph, map, 16);
        graph_case_output(&graph, map);
        for (size_t i = 0; i < graph.tensor_count; ++i)
            graph.tensors[i].narrow = bytes == 1;
        for (size_t i = 0; i < graph.layer_count; ++i)
            graph.layers[i].narrow_weights = bytes == 1;
        search(CNNVP_OBJECTIVE_ENERGY, 1);
        assert_int_equal(plan.run_count != 0, bytes == 1);
        clear();
        cnnvp_graph_clear(&graph);
    }
    energy = (struct cnnvp_plan_energy){.ps = 0};
}

/* The second map is an output: a group may end with it, not go over it. */
static void outputs_are_not_torn(void **state)
{
    (void)state;
    graph_case_begin(&graph, 3, 64);
    const int32_t given = graph_case_conv(&graph, graph_case_conv(&graph, 0, 16), 16);
    graph_case_output(&graph, given);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_conv(&graph, given, 16), 16));
    search(CNNVP_OBJECTIVE_TRAFFIC, 0);
    check_runs();
    assert_int_equal(plan.run_count, 2);
    for (size_t i = 0; i < 2; ++i)
        assert_true(plan.runs[i].first == 2 * i && plan.runs[i].count == 2);
    clear();
    cnnvp_graph_clear(&graph);
}

/* A map of 1x1 is added to all positions. For each tile 32 bytes of it are loaded, not what a whole map would have; it
 * is an output, so no group goes over it. */
static void what_is_broadcast_is_loaded_once_a_tile(void **state)
{
    (void)state;
    graph_case_begin(&graph, 3, 8);
    const int32_t mean = graph_case_pool(&graph, 0);
    graph.layers[0].pool = CNNVP_POOL_AVERAGE;
    graph.layers[0].kx = graph.layers[0].ky = graph.layers[0].sx = graph.layers[0].sy = 8;
    graph.tensors[mean].height = graph.tensors[mean].width = 1;
    const int32_t gate = graph_case_conv(&graph, mean, 16);
    graph_case_output(&graph, gate);
    const int32_t map = graph_case_conv(&graph, 0, 16);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_add(&graph, map, gate), 16));
    search(CNNVP_OBJECTIVE_TRAFFIC, 0);
    check_runs();
    assert_true(plan.run_count != 0);
    const struct cnnvp_plan_run *last = &plan.runs[plan.run_count - 1];
    assert_true(last->first == 2 && last->count == 3);
    clear();
    cnnvp_graph_clear(&graph);
}

static void what_cannot_be_fused_is_not(void **state)
{
    (void)state;
    graph_case_begin(&graph, 3, 64);
    const int32_t map = graph_case_conv(&graph, 0, 16);
    graph_case_output(&graph, graph_case_conv(&graph, map, 16));
    graph.layers[1].op = CNNVP_OP_SOFTMAX;
    graph.layers[1].kx = graph.layers[1].ky = 1;
    search(CNNVP_OBJECTIVE_TRAFFIC, 0);
    assert_int_equal(plan.run_count, 0);
    clear();
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_saved),
        cmocka_unit_test(repeated_macs_have_the_price_of_their_words),
        cmocka_unit_test(outputs_are_not_torn),
        cmocka_unit_test(what_is_broadcast_is_loaded_once_a_tile),
        cmocka_unit_test(what_cannot_be_fused_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
