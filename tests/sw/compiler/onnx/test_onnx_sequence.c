/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes in an order of their own. */
#include "import_case.h"

/* A tree of additions over x, its nodes in the order that `place` gives them; y = 2^4 x by 4 doublings or so. */
static void build(struct builder *b, const size_t *places, size_t count)
{
    /* node i adds values a[i] and b[i], which are "x" or the results v of earlier ones */
    static const char *const first[] = {"x", "v0", "v0", "v1", "v3"};
    static const char *const second[] = {"x", "v0", "x", "v2", "v1"};
    static const char *const made[] = {"v0", "v1", "v2", "v3", "y"};
    builder_init(b, 13);
    builder_input(b, "x", 2, flat2);
    for (size_t i = 0; i < count; ++i)
        (void)builder_node(b, "Add", made[places[i]], first[places[i]], second[places[i]], NULL, NULL);
    builder_output(b, "y");
}

/* v0 = 2x, v1 = 4x, v2 = 3x, v3 = 7x, y = 11x, whatever the order; files that are in order keep theirs. */
static void all_orders_are_one_network(void **state)
{
    enum { NODES = 5 };
    size_t places[NODES] = {0, 1, 2, 3, 4};
    unsigned tried = 0;
    (void)state;
    for (unsigned code = 0; code < 3125; ++code) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        unsigned seen = 0;
        unsigned rest = code;
        for (size_t i = 0; i < NODES; ++i, rest /= NODES) {
            places[i] = rest % NODES;
            seen |= 1u << places[i];
        }
        if (seen != (1u << NODES) - 1)
            continue;
        ++tried;
        build(&b, places, NODES);
        onnx_case_must_import(&b, &graph);
        onnx_case_run(&graph, y);
        for (size_t i = 0; i < 6; ++i)
            assert_float_equal(y[i], 11.0f * 0.25f * (float)(i + 1), 0);
        builder_free(&b);
        cnnvp_graph_clear(&graph);
    }
    assert_int_equal(tried, 120);
}

static void an_order_that_is_none_is_changed_no_more_than_needed(void **state)
{
    static const size_t places[] = {0, 2, 1, 3, 4}, late[] = {0, 3, 2, 1, 4};
    struct builder b;
    struct cnnvp_graph graph;
    (void)state;
    build(&b, places, 5);
    onnx_case_must_import(&b, &graph);
    for (size_t i = 0; i < 5; ++i)
        assert_string_equal(graph.layers[i].name, b.graph.node[i]->name);
    cnnvp_graph_clear(&graph);
    builder_free(&b);
    build(&b, late, 5); /* v3 wants v1, then v2 */
    onnx_case_must_import(&b, &graph);
    static const char *const names[] = {"v0", "v1", "v2", "v3", "y"};
    for (size_t i = 0; i < 5; ++i)
        assert_string_equal(graph.layers[i].name, names[i]);
    cnnvp_graph_clear(&graph);
    builder_free(&b);
}

/* What no output needs may be anything. */
static void nodes_without_use_are_left_out(void **state)
{
    struct cnnvp_graph graph;
    (void)state;
    onnx_case_import_text(14, "float[N, 6] x z = NonMaxSuppression(x) y = Relu(x) k = TopK(z, nothing)", &graph);
    assert_int_equal(graph.layer_count, 1);
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_orders_are_one_network),
        cmocka_unit_test(an_order_that_is_none_is_changed_no_more_than_needed),
        cmocka_unit_test(nodes_without_use_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
