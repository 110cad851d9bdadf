/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ONNX files: broken ones, what is not known, what each operator becomes. */
#include "import_case.h"

static void missing_files_are_named(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_onnx_import_sized("/nowhere/net.onnx", NULL, 0, &graph, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/nowhere/net.onnx: No such file or directory");
    assert_int_equal(cnnvp_onnx_import_sized("/tmp", NULL, 0, &graph, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "not a regular file"));
}

/* As exporters write large networks. */
static void each_weight_may_have_its_file(void **state)
{
    enum { FILES = 40 };
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    char files[FILES][64], names[FILES + 1][8] = {"x"};
    float y[6];
    builder_init(&builder, 13);
    builder_input(&builder, "x", 2, flat2);
    for (size_t i = 0; i < FILES; ++i) {
        const float value = (float)(i + 1);
        builder_write((const uint8_t *)&value, sizeof value, files[i]);
        const char *file = strrchr(files[i], '/') + 1;
        (void)snprintf(names[i + 1], sizeof names[i + 1], "y%zu", i + 1);
        builder_outside(&builder, builder_floats(&builder, file, 0, NULL, &value), file);
        (void)builder_node(&builder, "Add", names[i + 1], names[i], file, NULL, NULL);
    }
    builder_output(&builder, names[FILES]);
    onnx_case_must_import(&builder, &graph);
    onnx_case_run(&graph, y);
    assert_float_equal(y[0], 0.25f + 0.5f * FILES * (FILES + 1), 0);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
    for (size_t i = 0; i < FILES; ++i)
        (void)unlink(files[i]);
}

/* Typed data, double and half precision give the same numbers as raw floats. */
static void data_types_are_converted(void **state)
{
    (void)state;
    const int64_t dims[2] = {6, 1};
    const float values[6] = {1.0f, -2.5f, 0.125f, 0.0f, 6.103515625e-05f, -65504.0f};
    const uint16_t halves[6] = {0x3c00, 0xc100, 0x3000, 0x0000, 0x0400, 0xfbff};
    double doubles[6];
    float y[4];
    int32_t typed_halves[6];
    for (size_t i = 0; i < 6; ++i) {
        doubles[i] = (double)values[i];
        typed_halves[i] = halves[i];
    }
    for (int kind = 0; kind < 4; ++kind) {
        struct builder builder;
        struct cnnvp_graph graph;
        (void)onnx_case_node(&builder, 2, "MatMul", "w");
        Onnx__TensorProto *w = builder_floats(&builder, "w", 2, dims, values);
        if (kind == 1) {
            w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
            w->raw_data = (ProtobufCBinaryData){sizeof doubles, (uint8_t *)doubles};
        } else if (kind == 2) {
            w->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
            w->has_raw_data = 0;
            w->int32_data = typed_halves;
            w->n_int32_data = 6;
        } else if (kind == 3) {
            w->has_raw_data = 0;
            w->float_data = builder_alloc(&builder, sizeof values);
            memcpy(w->float_data, values, sizeof values);
            w->n_float_data = 6;
        }
        onnx_case_must_import(&builder, &graph);
        onnx_case_run(&graph, &y[kind]);
        assert_memory_equal(&y[kind], &y[0], sizeof y[0]);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
    assert_true(fabsf(y[0] + 98256.9f) < 1.0f);
}

/* The same numbers in every type, raw and in the field that ONNX has for it. */
static void all_types_hold_numbers(void **state)
{
    static const struct {
        int32_t type;
        size_t size;
        uint16_t three; /* a 3 of a short float, or 0 */
        int field;      /* 0: int32_data, 1: uint64_data */
    } cases[] = {
        {ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 1, 0, 0},        {ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 1, 0, 0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__UINT16, 2, 0, 0},       {ONNX__TENSOR_PROTO__DATA_TYPE__INT16, 2, 0, 0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__UINT32, 4, 0, 1},       {ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 4, 0, 0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__UINT64, 8, 0, 1},       {ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, 1, 0, 0},
        {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, 2, 0x4200, 0}, {ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, 2, 0x4040, 0},
    };
    static const int64_t one[1] = {1};
    static const float none = 0.0f;
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; ++i) {
        const size_t c = i / 2;
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        uint64_t raw = cases[c].three != 0 ? cases[c].three : 3;
        int32_t narrow = (int32_t)raw;
        builder_init(&b, 13);
        builder_input(&b, "x", 2, flat2);
        builder_output(&b, "y");
        Onnx__TensorProto *w = builder_floats(&b, "w", 1, one, &none);
        w->data_type = cases[c].type;
        w->has_raw_data = i % 2;
        if (i % 2 != 0) {
            w->raw_data = (ProtobufCBinaryData){cases[c].size, (uint8_t *)&raw};
        } else if (cases[c].field == 1) {
            w->uint64_data = &raw;
            w->n_uint64_data = 1;
        } else {
            w->int32_data = &narrow;
            w->n_int32_data = 1;
        }
        builder_int(&b, builder_node(&b, "Cast", "f", "w", NULL, NULL, NULL), "to", 1);
        (void)builder_node(&b, "Add", "y", "x", "f", NULL, NULL);
        onnx_case_must_import(&b, &graph);
        onnx_case_run(&graph, y);
        assert_float_equal(y[0], 3.25f, 0);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

static void initializers_may_be_inputs(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    onnx_case_parse(&builder, 13, "float[N, 6] x float[6, 3] w = {} float[6, 3] w y = MatMul(x, w)");
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.tensors[graph.outputs[0].tensor].channels, 3);
    cnnvp_graph_clear(&graph);
    builder_parse(&builder, "float[6, 3] z");
    onnx_case_must_import(&builder, &graph); /* which nothing reads */
    assert_int_equal(cnnvp_graph_inputs(&graph), 1);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

/* Of a further input without values: what is read as weights alone, which timing needs no values of. */
static void weights_may_lack_values(void **state)
{
    static const struct {
        const char *nodes, *refusal;
    } cases[] = {
        {"float[6, 6] w y = MatMul(x, w)", NULL},
        {"float[6, 6] w y = Gemm(x, w)", NULL},
        {"float[1, 6] w y = Add(x, w)", NULL},
        {"float[1, 1] w y = Mul(x, w)", NULL},
        {"float[N, 6] w y = MatMul(x, w)",
         "input \"w\" is a parameter without values (the first input is the image); dimension 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        onnx_case_parse(&b, 13, "float[N, 6] x");
        builder_parse(&b, cases[i].nodes);
        const cnnvp_result result = onnx_case_import(&b, 1, &graph, &error);
        assert_int_equal(result, cases[i].refusal == NULL ? CNNVP_DONE : CNNVP_BAD_INPUT);
        if (cases[i].refusal == NULL) {
            cnnvp_graph_clear(&graph);
            onnx_case_must_fail(&b, "weight \"w\" has no values: `cnnvp train` gives them");
        } else if (strstr(error.text, cases[i].refusal) == NULL) {
            fail_msg("\"%s\" is not in: %s", cases[i].refusal, error.text);
        }
        builder_free(&b);
    }
}

static void nodes_need_an_operator(void **state)
{
    struct builder b;
    (void)state;
    for (int inputs = 1; inputs <= 2; ++inputs) {
        onnx_case_parse(&b, 14,
                        inputs == 2 ? "float[N, 6] x float[N, 6] w y = Add(x, w)" : "float[N, 6] x y = Add(x, w)");
        b.graph.node[0]->op_type = NULL;
        onnx_case_refused(&b, "a node needs an operator and an output");
    }
}

/* More weights than are read at a time, in raw bytes and in the typed field. */
static void one_weight_that_is_not_finite_is_found_among_many(void **state)
{
    (void)state;
    static const size_t places[] = {0, 4095, 4096, 9999};
    static const float numbers[] = {NAN, INFINITY, -INFINITY, NAN};
    const int64_t input[4] = {-1, 100, 2, 2};
    const int64_t weights[4] = {100, 100, 1, 1};
    for (size_t i = 0; i < 2 * sizeof places / sizeof places[0]; ++i) {
        struct builder b;
        onnx_case_begin(&b, "x", 4, input);
        Onnx__TensorProto *w = builder_random(&b, "w", 4, weights, 1.0f);
        (void)builder_node(&b, "Conv", "y", "x", "w", NULL, NULL);
        float *values = builder_alloc(&b, w->raw_data.len);
        memcpy(values, w->raw_data.data, w->raw_data.len);
        if (i % 2 != 0) {
            w->has_raw_data = 0;
            w->n_float_data = 10000;
            w->float_data = values;
        } else {
            w->raw_data.data = (uint8_t *)values;
        }
        struct cnnvp_graph graph;
        struct cnnvp_error error = {""};
        char text[100];
        assert_int_equal(onnx_case_import(&b, 0, &graph, &error), CNNVP_DONE);
        assert_memory_equal(graph.layers[0].weights, values, 10000 * sizeof *values);
        cnnvp_graph_clear(&graph);
        values[places[i / 2]] = numbers[i / 2];
        assert_int_equal(onnx_case_import(&b, 0, &graph, &error), CNNVP_BAD_INPUT);
        (void)snprintf(text, sizeof text, "element %zu of tensor \"w\" is not a finite number", places[i / 2]);
        assert_non_null(strstr(error.text, text));
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(data_types_are_converted),
        cmocka_unit_test(initializers_may_be_inputs),
        cmocka_unit_test(all_types_hold_numbers),
        cmocka_unit_test(weights_may_lack_values),
        cmocka_unit_test(nodes_need_an_operator),
        cmocka_unit_test(each_weight_may_have_its_file),
        cmocka_unit_test(one_weight_that_is_not_finite_is_found_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
