/* SPDX-License-Identifier: Apache-2.0 */
/* If whose condition is known becomes the branch that is taken. */
#include "import_case.h"

/* A branch out = in + value, by names that other branches have too. */
static void begin_branch(struct builder *branch, const char *in, const float *value)
{
    builder_init(branch, 13);
    (void)builder_floats(branch, "v", 0, NULL, value);
    (void)builder_node(branch, "Add", "out", in, "v", NULL, NULL);
    builder_output(branch, "out");
}

static const float one = 1.0f, ten = 10.0f, hundred = 100.0f;

static void expect(struct builder *b, float factor, float more)
{
    struct cnnvp_graph graph;
    float y[6];
    onnx_case_must_import(b, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i)
        assert_float_equal(y[i], factor * 0.25f * (float)(i + 1) + more, 1e-5f);
    cnnvp_graph_clear(&graph);
}

/* The condition is a number of the file, or computed from a shape. */
static void the_branch_that_is_taken(void **state)
{
    (void)state;
    for (int taken = 0; taken < 2; ++taken)
        for (int computed = 0; computed < 2; ++computed) {
            struct builder b, then, otherwise;
            const int64_t sizes[1] = {taken ? 6 : 7};
            const float truth = taken ? 1.0f : 0.0f;
            onnx_case_begin(&b, "x", 2, flat2);
            if (computed) {
                const int64_t axis[1] = {1};
                (void)builder_int64s(&b, "six", 1, sizes);
                (void)builder_int64s(&b, "axis", 1, axis);
                (void)builder_node(&b, "Shape", "shape", "x", NULL, NULL, NULL);
                (void)builder_node(&b, "Gather", "width", "shape", "axis", NULL, NULL);
                (void)builder_node(&b, "Equal", "c", "width", "six", NULL, NULL);
            } else {
                (void)builder_floats(&b, "c", 0, NULL, &truth);
            }
            begin_branch(&then, "r", &one);
            begin_branch(&otherwise, "r", &ten);
            Onnx__NodeProto *node = builder_node(&b, "If", "i", "c", NULL, NULL, NULL);
            builder_branch(&b, node, "else_branch", &otherwise);
            builder_branch(&b, node, "then_branch", &then);
            (void)builder_node(&b, "Relu", "r", "x", NULL, NULL, NULL); /* what the branches read comes later */
            (void)builder_node(&b, "Add", "y", "i", "x", NULL, NULL);
            expect(&b, 2.0f, taken ? 1.0f : 10.0f);
            builder_free(&b);
            builder_free(&then);
            builder_free(&otherwise);
        }
}

/* Two nodes with the same names in their branches, one within a branch of another, and a branch that passes a value on.
 */
static void branches_have_their_own_names(void **state)
{
    struct builder b, then, otherwise, inner, pass;
    (void)state;
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "true", 0, NULL, &one);
    begin_branch(&inner, "out", &hundred); /* reads out of the branch around it */
    inner.graph.node[0]->output[0] = builder_text(&inner, "deep");
    inner.graph.output[0]->name = builder_text(&inner, "deep");
    begin_branch(&pass, "x", &hundred);
    pass.graph.output[0]->name = builder_text(&pass, "x");
    begin_branch(&then, "x", &one);
    Onnx__NodeProto *node = builder_node(&then, "If", "all", "true", NULL, NULL, NULL);
    builder_branch(&then, node, "then_branch", &inner);
    builder_branch(&then, node, "else_branch", &pass);
    then.graph.output[0]->name = builder_text(&then, "all");
    begin_branch(&otherwise, "x", &ten);
    node = builder_node(&b, "If", "a", "true", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    builder_branch(&b, node, "else_branch", &otherwise);
    node = builder_node(&b, "If", "p", "true", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &pass);
    builder_branch(&b, node, "else_branch", &then);
    node = builder_node(&b, "If", "q", "true", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &otherwise);
    builder_branch(&b, node, "else_branch", &then);
    (void)builder_node(&b, "Sum", "y", "a", "p", "q", NULL);
    expect(&b, 3.0f, 1.0f + 100.0f + 10.0f);
    builder_free(&b);
    builder_free(&then);
    builder_free(&otherwise);
    builder_free(&inner);
    builder_free(&pass);
}

static void what_is_not_known_is_refused(void **state)
{
    struct builder b, then;
    static const int64_t two[1] = {2};
    static const float both[2] = {0, 1};
    (void)state;
    begin_branch(&then, "x", &one);
    onnx_case_begin(&b, "x", 2, flat2);
    Onnx__NodeProto *node = builder_node(&b, "If", "y", "x", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    onnx_case_refused(&b, "node \"y\" (If): its condition \"x\" depends on the network's input; one that is known");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "c", 1, two, both);
    node = builder_node(&b, "If", "y", "c", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    onnx_case_refused(&b, "node \"y\" (If): its condition has 2 elements; one is needed");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "c", 0, NULL, &both[0]);
    node = builder_node(&b, "If", "y", "c", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    onnx_case_refused(&b, "node \"y\" (If): it has no else_branch, or one that is nested too deep");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "c", 0, NULL, &one);
    then.graph.output[0]->name = builder_text(&then, "none");
    node = builder_node(&b, "If", "y", "c", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    onnx_case_refused(&b, "node \"y\" (If): no node of its branch computes \"none\"");
    then.graph.output[0]->name = builder_text(&then, "out");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "c", 0, NULL, &one);
    node = builder_node(&b, "If", "y", "c", NULL, NULL, NULL);
    builder_branch(&b, node, "then_branch", &then);
    builder_more_outputs(&b, node, 1);
    onnx_case_refused(&b, "node \"y\" (If): its branch has 1 outputs, the node 2");
    builder_free(&then);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_branch_that_is_taken),
        cmocka_unit_test(branches_have_their_own_names),
        cmocka_unit_test(what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
