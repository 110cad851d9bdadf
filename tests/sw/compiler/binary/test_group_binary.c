/* SPDX-License-Identifier: Apache-2.0 */
/* How the layers of a group are cut, and what is said of a group whose layers cannot be. */
#include "test.h"

#include "../plan/plan_cases.h"
#include "graph_case.h"

static struct cnnvp_graph graph;
static struct cnnvp_build build;
static struct cnnvp_plan plan;
static struct cnnvp_error problem;

/* All layers in one group, whose tiles have 4 whole rows. */
static cnnvp_result build_group(const struct fake_config *config)
{
    const struct cnnvp_binary_options options = {.images = 1, .plan = &plan};
    struct cnnvp_target target = cases_target(config);
    assert_int_equal(cnnvp_plan_new(&graph, &plan, &problem), CNNVP_DONE);
    plan.file = "plan";
    plan.runs[plan.run_count++] =
        (struct cnnvp_plan_run){.count = graph.layer_count, .tile_h = 4, .tile_w = 64, .place = "plan:2:5"};
    const cnnvp_result result = cnnvp_binary_build(&graph, &target, &options, &build, &problem);
    cnnvp_target_clear(&target);
    return result;
}

static void clear(void)
{
    cnnvp_binary_clear(&build);
    cnnvp_plan_clear(&plan);
    cnnvp_graph_clear(&graph);
}

static int32_t one_tap(int32_t in)
{
    const int32_t out = graph_case_conv(&graph, in, 16);
    struct cnnvp_graph_layer *layer = &graph.layers[graph.layer_count - 1];
    layer->kx = layer->ky = 1;
    layer->pad_top = layer->pad_left = layer->pad_bottom = layer->pad_right = 0;
    return out;
}

/* Maps of 64x64 with 16 channels have 128 KiB, tiles of them 8 KiB. So the second addition, with both operands in
 * slots, takes its tile at once, although a half of 32 KiB holds a quarter of a map. */
static void additions_take_what_slots_hold(void **state)
{
    struct fake_config config = fake_nfu();
    (void)state;
    config.input_bytes = config.output_bytes = 65536;
    graph_case_begin(&graph, 3, 64);
    const int32_t a = one_tap(0);
    const int32_t sum = graph_case_add(&graph, one_tap(a), a);
    graph_case_output(&graph, one_tap(graph_case_add(&graph, sum, a)));
    if (build_group(&config) != CNNVP_DONE)
        fail_msg("%s", problem.text);
    const struct cnnvp_layer *addition = &build.layers[3];
    assert_int_equal(addition->op, CNNVP_OP_ADD);
    assert_true(addition->group_out == 16 && addition->tile_h == 4 && addition->tile_w == 64);
    clear();
}

/* 9 weights have 18 bytes; a half of the weight buffer has 32, and half of that is for weights that pass. */
static void what_does_not_fit_is_refused_with_its_place(void **state)
{
    struct fake_config config = fake_nfu();
    (void)state;
    config.weight_bytes = 64;
    graph_case_begin(&graph, 3, 64);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_conv(&graph, 0, 4), 4));
    assert_int_equal(build_group(&config), CNNVP_BAD_INPUT);
    if (strncmp(problem.text, "plan:2:5: layer \"1\": its tiles of 6 x 64", 40) != 0)
        fail_msg("%s", problem.text);
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additions_take_what_slots_hold),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
