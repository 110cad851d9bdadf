/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_case.h"

#include <unistd.h>

#include "test.h"

#include "numbers.h"

cnnvp_result onnx_case_import_bytes(const uint8_t *bytes, size_t size, int weightless, struct cnnvp_graph *graph,
                                    struct cnnvp_error *error)
{
    char name[64];
    builder_write(bytes, size, name);
    cnnvp_result result = cnnvp_onnx_import_sized(name, NULL, weightless, graph, error);
    if (result == CNNVP_DONE) {
        result = cnnvp_graph_simplify(graph, error);
        if (result != CNNVP_DONE)
            cnnvp_graph_clear(graph);
    }
    (void)unlink(name);
    return result;
}

cnnvp_result onnx_case_import(struct builder *builder, int weightless, struct cnnvp_graph *graph,
                              struct cnnvp_error *error)
{
    size_t size;
    uint8_t *bytes = builder_pack(builder, &size);
    const cnnvp_result result = onnx_case_import_bytes(bytes, size, weightless, graph, error);
    free(bytes);
    return result;
}

void onnx_case_must_import(struct builder *builder, struct cnnvp_graph *graph)
{
    struct cnnvp_error error = {""};
    if (onnx_case_import(builder, 0, graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

static void must_fail(struct builder *builder, int weightless, const char *text)
{
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    const cnnvp_result result = onnx_case_import(builder, weightless, &graph, &error);
    if (result == CNNVP_DONE)
        cnnvp_graph_clear(&graph);
    assert_int_equal(result, CNNVP_BAD_INPUT);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in: %s", text, error.text);
}

void onnx_case_must_fail(struct builder *builder, const char *text)
{
    must_fail(builder, 0, text);
}

void onnx_case_refused(struct builder *builder, const char *text)
{
    must_fail(builder, 0, text);
    must_fail(builder, 1, text);
    builder_free(builder);
}

void onnx_case_begin(struct builder *builder, const char *input, size_t rank, const int64_t *dims)
{
    builder_init(builder, 14);
    builder_input(builder, input, rank, dims);
    builder_output(builder, "y");
}

Onnx__NodeProto *onnx_case_node(struct builder *builder, size_t rank, const char *op_type, const char *weights)
{
    const int64_t maps[4] = {-1, 2, 6, 6}, vector[2] = {-1, 6};
    builder_init(builder, 13);
    builder_input(builder, "x", rank, rank == 4 ? maps : vector);
    Onnx__NodeProto *node = builder_node(builder, op_type, "y", "x", weights, NULL, NULL);
    builder_output(builder, "y");
    return node;
}

void onnx_case_parse(struct builder *builder, int64_t opset, const char *network)
{
    builder_init(builder, opset);
    builder_parse(builder, network);
    builder_output(builder, "y");
}

void onnx_case_import_text(int64_t opset, const char *network, struct cnnvp_graph *graph)
{
    struct builder builder;
    onnx_case_parse(&builder, opset, network);
    onnx_case_must_import(&builder, graph);
    builder_free(&builder);
}

void onnx_case_refused_text(int64_t opset, const char *network, const char *text)
{
    struct builder builder;
    onnx_case_parse(&builder, opset, network);
    onnx_case_refused(&builder, text);
}

void onnx_case_run(const struct cnnvp_graph *graph, float *output)
{
    struct cnnvp_floatref run;
    struct cnnvp_error error = {""};
    size_t words = 0;
    for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i)
        words += cnnvp_graph_words(&graph->tensors[cnnvp_graph_input(graph, i)]);
    float *input = malloc(words * sizeof *input);
    for (size_t i = 0; i < words; ++i)
        input[i] = 0.25f * (float)(i + 1);
    assert_int_equal(cnnvp_floatref_new_batch(graph, 1, &run, &error), CNNVP_DONE);
    cnnvp_floatref_images(&run, 1, input);
    memcpy(output, run.data[graph->outputs[0].tensor],
           cnnvp_graph_words(&graph->tensors[graph->outputs[0].tensor]) * sizeof *output);
    cnnvp_floatref_clear(&run);
    free(input);
}
