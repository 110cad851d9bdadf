/* SPDX-License-Identifier: Apache-2.0 */
/* If whose condition is known becomes the branch that is taken, a call the function's nodes. */
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

/* A network with a constant c, and an If with one branch, which gives its value by the name of an output. */
static void branch_must_fail(const char *network, const char *output, const char *text)
{
    struct builder b, then;
    begin_branch(&then, "x", &one);
    then.graph.output[0]->name = builder_text(&then, output);
    onnx_case_parse(&b, 14, network);
    builder_branch(&b, b.graph.node[0], "then_branch", &then);
    onnx_case_refused(&b, text);
    builder_free(&then);
}

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    struct builder b, then, other;
    begin_branch(&then, "x", &one);
    begin_branch(&other, "first", &one);
    other.graph.node[0]->input[1] = other.graph.node[0]->input[0];
    for (int same = 0; same < 2; ++same) {
        onnx_case_parse(&b, 14, "float[N, 6] x y = If(x) first = ReduceMax <axes = [1]> (x)");
        builder_branch(&b, b.graph.node[0], "then_branch", &then);
        builder_branch(&b, b.graph.node[0], "else_branch", same ? &then : &other);
        onnx_case_refused(
            &b, same ? "node \"y\" (If): its condition has 6 elements; one is needed"
                     : "node \"y\" (If): its branches give other dimensions, and its condition depends on");
    }
    builder_free(&then);
    builder_free(&other);
    branch_must_fail("float[N, 6] x y = If(x)", "out",
                     "node \"y\" (If): it has no else_branch, or one that is nested too deep");
    branch_must_fail("float[N, 6] x float[2] c = {0, 1} y = If(c)", "out",
                     "node \"y\" (If): its condition has 2 elements; one is needed");
    branch_must_fail("float[N, 6] x float c = {0} y = If(c)", "out",
                     "node \"y\" (If): it has no else_branch, or one that is nested too deep");
    branch_must_fail("float[N, 6] x float c = {1} y = If(c)", "none",
                     "node \"y\" (If): no node of what it stands for computes \"none\"");
    branch_must_fail("float[N, 6] x float c = {1} y, z = If(c)", "out",
                     "node \"y\" (If): what it stands for has 1 outputs, the node 2");
}

/* ---- functions ---- */

struct function {
    Onnx__FunctionProto proto;
    struct builder body; /* its nodes */
    char *inputs[2], *outputs[1];
};

/* Of a domain of its own, with inputs a and b and an output out; its nodes are the caller's to add to body. */
static void begin_function(struct function *function, const char *name)
{
    builder_init(&function->body, 13);
    onnx__function_proto__init(&function->proto);
    function->proto.name = builder_text(&function->body, name);
    function->proto.domain = builder_text(&function->body, "own");
    function->inputs[0] = builder_text(&function->body, "a");
    function->inputs[1] = builder_text(&function->body, "b");
    function->outputs[0] = builder_text(&function->body, "out");
    function->proto.n_input = 2;
    function->proto.input = function->inputs;
    function->proto.n_output = 1;
    function->proto.output = function->outputs;
}

static void end_function(struct function *function)
{
    function->proto.n_node = function->body.graph.n_node;
    function->proto.node = function->body.graph.node;
}

static Onnx__NodeProto *call(struct builder *b, const char *name, const char *output, const char *first,
                             const char *second)
{
    Onnx__NodeProto *node = builder_node(b, name, output, first, second, NULL, NULL);
    node->domain = builder_text(b, "own");
    return node;
}

static void add_functions(struct builder *b, Onnx__FunctionProto **list, size_t count)
{
    b->model.n_functions = count;
    b->model.functions = list;
}

/* leak(a, b) = LeakyRelu(a - b, slope); twice(a, b) = leak(leak(a, b), b), called twice in an operator set of its own.
 */
static void functions_are_called(void **state)
{
    struct function leak, twice;
    struct builder b;
    Onnx__OperatorSetIdProto old, *sets[1] = {&old};
    (void)state;
    begin_function(&leak, "leak");
    (void)builder_node(&leak.body, "Sub", "t", "a", "b", NULL, NULL);
    Onnx__NodeProto *node = builder_node(&leak.body, "LeakyRelu", "out", "t", NULL, NULL, NULL);
    builder_float(&leak.body, node, "alpha", 0.0f);
    node->attribute[0]->has_f = 0;
    node->attribute[0]->ref_attr_name = builder_text(&leak.body, "slope");
    end_function(&leak);
    begin_function(&twice, "twice");
    /* In operator set 9 Clip's limits are attributes. */
    onnx__operator_set_id_proto__init(&old);
    old.has_version = 1;
    old.version = 9;
    twice.proto.opset_import = sets;
    twice.proto.n_opset_import = 1;
    for (int i = 0; i < 2; ++i) {
        node = call(&twice.body, "leak", i == 0 ? "t" : "u", i == 0 ? "a" : "t", "b");
        builder_float(&twice.body, node, "slope", 0.5f);
    }
    node = builder_node(&twice.body, "Clip", "out", "u", NULL, NULL, NULL);
    builder_float(&twice.body, node, "min", -0.375f);
    end_function(&twice);
    Onnx__FunctionProto *list[2] = {&leak.proto, &twice.proto};
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "v", 0, NULL, &one);
    (void)call(&b, "twice", "t", "x", "v");
    (void)builder_node(&b, "Sum", "s", "t", "x", NULL, NULL);
    node = call(&b, "leak", "y", "s", "x"); /* without slope: LeakyRelu's own */
    add_functions(&b, list, 2);
    struct cnnvp_graph graph;
    float y[6];
    onnx_case_must_import(&b, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i) {
        float t = 0.25f * (float)(i + 1);
        for (int k = 0; k < 2; ++k)
            t = t - 1.0f < 0.0f ? 0.5f * (t - 1.0f) : t - 1.0f;
        t = t < -0.375f ? -0.375f : t;
        assert_float_equal(y[i], t < 0.0f ? 0.01f * t : t, 1e-6f);
    }
    cnnvp_graph_clear(&graph);
    onnx_case_must_import(&b, &graph);
    cnnvp_graph_clear(&graph);
    builder_free(&b);
    builder_free(&leak.body);
    builder_free(&twice.body);
}

/* leak(a, b) = LeakyRelu(a - b, slope), where slope is 0.25 unless the call has it. */
static void functions_have_defaults(void **state)
{
    struct function leak;
    struct builder b;
    struct cnnvp_graph graph;
    float y[6];
    uint8_t packed[64];
    Onnx__AttributeProto slope;
    (void)state;
    begin_function(&leak, "leak");
    (void)builder_node(&leak.body, "Sub", "t", "a", "b", NULL, NULL);
    Onnx__NodeProto *node = builder_node(&leak.body, "LeakyRelu", "out", "t", NULL, NULL, NULL);
    builder_float(&leak.body, node, "alpha", 0.0f);
    node->attribute[0]->has_f = 0;
    node->attribute[0]->ref_attr_name = builder_text(&leak.body, "slope");
    end_function(&leak);
    onnx__attribute_proto__init(&slope);
    slope.name = builder_text(&leak.body, "slope");
    slope.has_f = 1;
    slope.f = 0.25f;
    assert_true(onnx__attribute_proto__get_packed_size(&slope) < sizeof packed);
    packed[0] = (uint8_t)onnx__attribute_proto__pack(&slope, packed + 1);
    ProtobufCMessageUnknownField defaults = {
        .tag = 11, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = packed[0] + 1u, .data = packed};
    leak.proto.base.n_unknown_fields = 1;
    leak.proto.base.unknown_fields = &defaults;
    Onnx__FunctionProto *list[1] = {&leak.proto};
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_floats(&b, "v", 0, NULL, &one);
    (void)call(&b, "leak", "t", "x", "v");
    node = call(&b, "leak", "y", "t", "v");
    builder_float(&b, node, "slope", 0.5f);
    add_functions(&b, list, 1);
    onnx_case_must_import(&b, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i) {
        const float x = 0.25f * (float)(i + 1) - 1.0f;
        const float t = (x < 0.0f ? 0.25f * x : x) - 1.0f;
        assert_float_equal(y[i], t < 0.0f ? 0.5f * t : t, 1e-6f);
    }
    cnnvp_graph_clear(&graph);
    builder_free(&b);
    builder_free(&leak.body);
}

/* Functions of one name, scale = Mul(a, b) and, as its overload "s", a + b. */
static void functions_have_overloads(void **state)
{
    static const char *const operators[] = {"Mul", "Add"};
    static uint8_t text[] = {1, 's'};
    struct function functions[2];
    Onnx__FunctionProto *list[2] = {&functions[0].proto, &functions[1].proto};
    ProtobufCMessageUnknownField overloads[2] = {
        {.tag = 13, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = sizeof text, .data = text},
        {.tag = 8, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = sizeof text, .data = text}};
    struct builder b;
    struct cnnvp_graph graph;
    float y[6];
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        begin_function(&functions[i], "scale");
        (void)builder_node(&functions[i].body, operators[i], "out", "a", "b", NULL, NULL);
        end_function(&functions[i]);
    }
    functions[1].proto.base.n_unknown_fields = 1;
    functions[1].proto.base.unknown_fields = &overloads[0];
    onnx_case_begin(&b, "x", 2, flat2);
    (void)call(&b, "scale", "t", "x", "x");
    Onnx__NodeProto *node = call(&b, "scale", "y", "t", "x");
    node->base.n_unknown_fields = 1;
    node->base.unknown_fields = &overloads[1];
    add_functions(&b, list, 2);
    onnx_case_must_import(&b, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i) {
        const float x = 0.25f * (float)(i + 1);
        assert_float_equal(y[i], x * x + x, 1e-6f);
    }
    cnnvp_graph_clear(&graph);
    builder_free(&b);
    for (size_t i = 0; i < 2; ++i)
        builder_free(&functions[i].body);
}

/* Each calls the next one twice: a file of few bytes. */
static void calls_have_limits(void **state)
{
    enum { DEEP = 20 };
    static struct function functions[DEEP];
    Onnx__FunctionProto *list[DEEP];
    char names[DEEP + 1][8];
    struct builder b;
    (void)state;
    for (size_t i = 0; i <= DEEP; ++i)
        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
    for (size_t many = 0; many < 2; ++many) {
        const size_t count = many ? 14 : DEEP; /* calls in one another, or nodes */
        for (size_t i = 0; i < count; ++i) {
            begin_function(&functions[i], names[i]);
            (void)builder_node(&functions[i].body, "Add", "t", "a", "b", NULL, NULL);
            for (size_t k = 0; k < (many ? 4 : 1); ++k)
                (void)call(&functions[i].body, names[i + 1 < count ? i + 1 : 0], k == 0 ? "out" : names[k], "t", "b");
            if (many) { /* all are needed */
                (void)builder_node(&functions[i].body, "Sum", "sum", "out", names[1], names[2], names[3]);
                functions[i].outputs[0] = builder_text(&functions[i].body, "sum");
            }
            if (many && i + 1 == count)
                for (size_t k = 0; k < functions[i].body.graph.n_node; ++k)
                    functions[i].body.graph.node[k]->domain = NULL;
            end_function(&functions[i]);
            list[i] = &functions[i].proto;
        }
        if (many) /* the last one calls nothing */
            for (size_t k = 1; k < 5; ++k)
                functions[count - 1].body.graph.node[k]->op_type = builder_text(&functions[count - 1].body, "Add");
        onnx_case_begin(&b, "x", 2, flat2);
        (void)builder_floats(&b, "v", 0, NULL, &one);
        (void)call(&b, "f0", "y", "x", "v");
        add_functions(&b, list, count);
        onnx_case_refused(&b, many ? "calls and branches of the file become more than 65536 nodes"
                                   : "functions call one another more than 16 deep");
        for (size_t i = 0; i < count; ++i)
            builder_free(&functions[i].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_branch_that_is_taken),
        cmocka_unit_test(branches_have_their_own_names),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(functions_are_called),
        cmocka_unit_test(functions_have_defaults),
        cmocka_unit_test(functions_have_overloads),
        cmocka_unit_test(calls_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
