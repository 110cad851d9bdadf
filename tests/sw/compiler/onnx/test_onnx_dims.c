/* SPDX-License-Identifier: Apache-2.0 */
/* How many dimensions inputs have, and what takes images one by one. */

#include "test.h"

#include "onnx_case.h"

static void dimensions_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t nine[9] = {-1, 2, 3, 4, 5, 1, 1, 1, 1};
    onnx_case_begin(&b, "x", 9, nine);
    (void)builder_node(&b, "Relu", "y", "x", NULL, NULL, NULL);
    onnx_case_refused(
        &b, "input \"x\" has 9 dimensions; 2 to 8 are supported, such as (N, C, H, W), (N, C, W) or (N, features)");

    onnx_case_begin(&b, "x", 8, nine + 1);
    builder_int(&b, builder_node(&b, "Softmax", "y", "x", NULL, NULL, NULL), "axis", 0);
    onnx_case_refused(&b, "input \"x\" has 8 dimensions; 2 to 8 are supported");
}

/* The whole input is one image: what takes images one by one has limits. */
static void single_images_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t many[4] = {65, 4, 6, 6};
    const int64_t vector[1] = {12};
    onnx_case_begin(&b, "x", 4, many);
    builder_int(&b, builder_node(&b, "Softmax", "s", "x", NULL, NULL, NULL), "axis", 0);
    (void)builder_node(&b, "GlobalMaxPool", "y", "s", NULL, NULL, NULL);
    onnx_case_refused(
        &b, "node \"y\" (GlobalMaxPool): it takes images one by one, and the whole input of this network is one");

    onnx_case_begin(&b, "x", 1, vector);
    (void)builder_node(&b, "GlobalMaxPool", "y", "x", NULL, NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (GlobalMaxPool): it takes images one by one");

    /* The reading that came further has the word. */
    onnx_case_begin(&b, "x", 3, many + 1);
    builder_int(&b, builder_node(&b, "Softmax", "s", "x", NULL, NULL, NULL), "axis", 0);
    (void)builder_node(&b, "LSTM", "y", "s", NULL, NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (LSTM): it repeats with a state: this operator is no accelerator's business");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_have_limits),
        cmocka_unit_test(single_images_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
