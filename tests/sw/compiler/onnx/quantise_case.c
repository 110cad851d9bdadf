/* SPDX-License-Identifier: Apache-2.0 */
#include "quantise_case.h"

void integers(struct builder *b, const char *name, size_t rank, const int64_t *dims, int is_signed, const int *values)
{
    static const float none[OUTPUTS * CHANNELS];
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
        count *= (size_t)dims[i];
    assert_true(count <= sizeof none / sizeof none[0]);
    Onnx__TensorProto *tensor = builder_floats(b, name, rank, dims, none);
    uint8_t *bytes = builder_alloc(b, count);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = (uint8_t)values[i];
    tensor->data_type = is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    tensor->raw_data.data = bytes;
    tensor->raw_data.len = count;
}

void run(struct builder *b, const float *input, float *output, size_t words)
{
    struct cnnvp_graph graph;
    struct cnnvp_floatref reference;
    struct cnnvp_error error = {""};
    onnx_case_must_import(b, &graph);
    assert_int_equal(cnnvp_graph_words(&graph.tensors[graph.outputs[0].tensor]), words);
    assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &reference, &error), CNNVP_DONE);
    cnnvp_floatref_images(&reference, 1, input);
    memcpy(output, reference.data[graph.outputs[0].tensor], words * sizeof *output);
    cnnvp_floatref_clear(&reference);
    cnnvp_graph_clear(&graph);
    builder_free(b);
}

void begin(struct builder *b, float input[WORDS], uint64_t seed)
{
    builder_init(b, 13);
    builder_input(b, "x", 4, maps);
    builder_output(b, "y");
    b->random += seed;
    for (size_t i = 0; i < WORDS; ++i)
        input[i] = ((float)(builder_next(b) >> 40) / (float)(1 << 23) - 1.0f) * 10.0f;
}
