/* SPDX-License-Identifier: Apache-2.0 */
/* From a run of layers to a group: slots and who reads them, additions that a convolution does, runs that are none. */
#include "test.h"

#include "graph_case.h"
#include "group_build.h"

enum { LAYERS = 8 };

struct made {
    struct cnnvp_graph graph;
    struct cnnvp_layer layers[LAYERS];
    struct cnnvp_build build;
    struct cnnvp_plan_group group;
    struct cnnvp_error error;
};

static cnnvp_result make(struct made *made, size_t first, size_t count)
{
    const struct cnnvp_plan_run run = {.first = first, .count = count, .tile_h = 4, .tile_w = 4, .place = "plan:2:5"};
    assert_true(made->graph.layer_count <= LAYERS);
    for (size_t i = 0; i < made->graph.layer_count; ++i) {
        made->layers[i].op = made->graph.layers[i].op;
        made->layers[i].tag = (uint32_t)i + 1;
    }
    made->build.layers = made->layers;
    return cnnvp_group_make(&made->graph, &made->build, &run, &made->group, &made->error);
}

static void refused(struct made *made, size_t first, size_t count, const char *why)
{
    assert_int_equal(make(made, first, count), CNNVP_BAD_INPUT);
    if (strncmp(made->error.text, "plan:2:5: ", 10) != 0 || strstr(made->error.text, why) == NULL)
        fail_msg("\"%s\" is not in: %s", why, made->error.text);
}

/* A slot for each map but the last one, from the layer that makes it to the one that reads it. */
static void a_chain_has_slots_in_turn(void **state)
{
    struct made made = {.group = {0}};
    (void)state;
    graph_case_begin(&made.graph, 3, 16);
    const int32_t half = graph_case_pool(&made.graph, graph_case_conv(&made.graph, 0, 4));
    graph_case_output(&made.graph, graph_case_conv(&made.graph, half, 5));
    assert_int_equal(make(&made, 0, 3), CNNVP_DONE);
    assert_int_equal(made.group.slot_count, 2);
    for (size_t s = 0; s < 2; ++s) {
        assert_int_equal(made.group.slots[s].map.channels, 4);
        assert_int_equal(made.group.slots[s].map.height, s == 0 ? 16 : 8);
        assert_int_equal(made.group.slots[s].first, s);
        assert_int_equal(made.group.slots[s].last, s + 1);
    }
    for (size_t i = 0; i < 3; ++i) {
        const struct cnnvp_plan_member *member = &made.group.members[i];
        assert_int_equal(member->in, i == 0 ? CNNVP_PLAN_NO_SLOT : i - 1);
        assert_int_equal(member->out, i == 2 ? CNNVP_PLAN_NO_SLOT : i);
        assert_int_equal(member->layer.in.on_chip != 0, i != 0);
        assert_int_equal(member->layer.out.on_chip != 0, i != 2);
    }
    cnnvp_plan_group_clear(&made.group);
    cnnvp_graph_clear(&made.graph);
}

/* conv a; conv b of it; a + b: the second convolution does the addition, whichever operand its results are. */
static void a_convolution_does_the_addition_after_it(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 2; ++second) {
        struct made made = {.group = {0}};
        graph_case_begin(&made.graph, 3, 16);
        const int32_t a = graph_case_conv(&made.graph, 0, 4);
        const int32_t b = graph_case_conv(&made.graph, a, 4);
        const int32_t sum = graph_case_add(&made.graph, second ? a : b, second ? b : a);
        graph_case_output(&made.graph, graph_case_conv(&made.graph, sum, 4));
        made.layers[1].post_count = made.layers[2].post_count = 1;
        made.layers[2].posts[0].kind = CNNVP_POST_MAX;
        assert_int_equal(make(&made, 0, 4), CNNVP_DONE);
        const struct cnnvp_plan_member *member = &made.group.members[1];
        assert_int_equal(made.group.slot_count, 2); /* of a and of the sum: b has none */
        assert_true(member->in == 0 && member->in2 == 0 && member->out == 1);
        assert_int_equal(member->layer.added.tag, 3);
        assert_int_equal(member->layer.added.second, second);
        assert_int_equal(member->layer.added.first_post, 1);
        assert_int_equal(member->layer.post_count, 2);
        assert_int_equal(member->layer.posts[1].kind, CNNVP_POST_MAX);
        assert_true(made.group.members[2].done && !made.group.members[3].done);
        assert_int_equal(made.group.slots[1].first, 1);
        cnnvp_plan_group_clear(&made.group);
        /* Not if something else needs what the convolution makes by itself. */
        graph_case_output(&made.graph, b);
        assert_false(cnnvp_group_adds(&made.graph, &made.build, 1));
        cnnvp_graph_clear(&made.graph);
    }
}

static void runs_that_are_torn_are_refused(void **state)
{
    struct made made = {.group = {0}};
    (void)state;
    graph_case_begin(&made.graph, 3, 16);
    const int32_t a = graph_case_conv(&made.graph, 0, 4);
    const int32_t b = graph_case_pool(&made.graph, a);
    const int32_t c = graph_case_conv(&made.graph, b, 4);
    graph_case_output(&made.graph, graph_case_add(&made.graph, c, b));
    refused(&made, 0, 3, "layer \"4\", which is not in the group, reads it too");
    assert_int_equal(make(&made, 0, 2), CNNVP_DONE); /* what a group gives may be read by all */
    cnnvp_plan_group_clear(&made.group);
    graph_case_output(&made.graph, a);
    refused(&made, 0, 2, "the group makes \"1\", an output of the network");
    made.graph.layers[1].permuted = 1;
    refused(&made, 1, 2, "layer \"2\" cannot go tile by tile in a group: dimensions change places in it");
    made.graph.layers[2].op = CNNVP_OP_SOFTMAX;
    refused(&made, 2, 2, "layer \"3\" cannot go tile by tile in a group: it reads whole maps");
    cnnvp_graph_clear(&made.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_has_slots_in_turn),
        cmocka_unit_test(a_convolution_does_the_addition_after_it),
        cmocka_unit_test(runs_that_are_torn_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
