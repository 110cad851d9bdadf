/* SPDX-License-Identifier: Apache-2.0 */
/* What Gemm scales and transposes, and whose statistics a normalisation takes. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static void gemm_scales_and_transposes(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    float y[2];
    onnx_case_import_text(13,
                          "float[N, 6] x float[2, 6] w = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2} float[1] b = {10} "
                          "y = Gemm <transB = 1, alpha = 4.0, beta = 0.5> (x, w, b)",
                          &graph);
    onnx_case_run(&graph, y);
    assert_true(fabsf(y[0] - (4 * 0.25f + 5)) < 1e-6f);
    assert_true(fabsf(y[1] - (4 * 2 * 1.5f + 5)) < 1e-6f);
    cnnvp_graph_clear(&graph);
}

/* Each operator set has its own way to say whose statistics are meant. */
static void whose_statistics_are_taken(void **state)
{
    static const struct {
        int64_t opset;
        const char *outputs, *attribute;
        enum cnnvp_layer_norm_kind norm;
    } cases[] = {
        {6, "", "is_test = 1", CNNVP_NORM_STORED},
        {6, "", "is_test = 0", CNNVP_NORM_BATCH},
        {6, ", m, v, sm, sv", "consumed_inputs = 0", CNNVP_NORM_BATCH},
        {7, "", "is_test = 0", CNNVP_NORM_STORED},
        {9, "", "training_mode = 1", CNNVP_NORM_STORED},
        {7, ", m, v, sm, sv", "spatial = 1", CNNVP_NORM_BATCH},
        {9, ", m, v, sm, sv", "training_mode = 0", CNNVP_NORM_BATCH},
        {13, ", m, v, sm, sv", "training_mode = 0", CNNVP_NORM_BATCH},
        {14, ", m, v", "training_mode = 0", CNNVP_NORM_STORED},
        {14, ", m, v", "training_mode = 1", CNNVP_NORM_BATCH},
        {15, "", "training_mode = 1", CNNVP_NORM_BATCH},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct cnnvp_graph graph;
        char network[200];
        (void)snprintf(network, sizeof network,
                       "float[N, 4, 6, 6] x float[4] k = {0.5, 1, 2, 3} y%s = BatchNormalization <%s> (x, k, k, k, k)",
                       cases[i].outputs, cases[i].attribute);
        onnx_case_import_text(cases[i].opset, network, &graph);
        assert_int_equal(graph.layers[0].norm, cases[i].norm);
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_scales_and_transposes),
        cmocka_unit_test(whose_statistics_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
