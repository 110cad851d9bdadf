/* SPDX-License-Identifier: Apache-2.0 */
/* A pool's threads do each part of a run once, however many parts and threads there are, and float results do not
 * depend on them. */
#include <stdatomic.h>

#include "test.h"

#include "float_conv.h"
#include "onnx_builder.h"
#include "parallel.h"

#define PARTS_MAX 300u

struct counts {
    atomic_uint of[PARTS_MAX];
};

static void count(void *context, size_t part)
{
    struct counts *counts = context;
    (void)atomic_fetch_add(&counts->of[part], 1u);
}

static void each_part_runs_once(void **state)
{
    (void)state;
    struct cnnvp_pool *const pools[] = {cnnvp_pool_new(), NULL};
    for (size_t p = 0; p < 2; ++p) {
        for (size_t parts = 0; parts < PARTS_MAX; ++parts) {
            struct counts counts = {0};
            cnnvp_pool_run(pools[p], count, &counts, parts);
            for (size_t i = 0; i < PARTS_MAX; ++i)
                assert_int_equal(atomic_load(&counts.of[i]), i < parts);
        }
    }
    cnnvp_pool_free(pools[0]);
    cnnvp_pool_free(pools[1]);
}

static float *numbers(struct builder *random, size_t words)
{
    float *values = malloc(words * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < words; ++i)
        values[i] = (float)(int32_t)(uint32_t)builder_next(random) * 0x1p-31f;
    return values;
}

/* Large enough for threads to be woken; the last part has fewer channels. */
static void threads_change_no_result(void **state)
{
    (void)state;
    enum { INPUTS = 24, OUTPUTS = 61, SIDE = 20, TAPS = 9, RUNS = 20 };
    struct cnnvp_graph_tensor tensors[2] = {{.rank = 4, .channels = INPUTS, .height = SIDE, .width = SIDE},
                                            {.rank = 4, .channels = OUTPUTS, .height = SIDE, .width = SIDE}};
    struct cnnvp_graph_layer layer = {
        .op = CNNVP_OP_CONV,
        .in = 0,
        .in2 = CNNVP_GRAPH_NONE,
        .out = 1,
        .kx = 3,
        .ky = 3,
        .sx = 1,
        .sy = 1,
        .dx = 1,
        .dy = 1,
        .pad_top = 1,
        .pad_left = 1,
        .groups = 1,
        .has_bias = 1};
    const struct cnnvp_graph graph = {.tensors = tensors, .tensor_count = 2, .layers = &layer, .layer_count = 1};
    static float alone[OUTPUTS * SIDE * SIDE];
    static float together[OUTPUTS * SIDE * SIDE];
    struct cnnvp_float_scratch scratch;
    struct builder random;
    builder_init(&random, 5);
    layer.weights = numbers(&random, OUTPUTS * INPUTS * TAPS);
    layer.bias = numbers(&random, OUTPUTS);
    float *x = numbers(&random, INPUTS * SIDE * SIDE + CNNVP_FLOAT_SLACK);
    assert_true(cnnvp_float_scratch_new(&graph, &scratch));
    cnnvp_float_conv(cnnvp_float_kernels(), &graph, &layer, x, alone, &scratch);
    struct cnnvp_pool *pool = cnnvp_pool_new();
    scratch.pool = pool;
    for (int run = 0; run < RUNS; ++run) {
        memset(together, 0xff, sizeof together);
        cnnvp_float_conv(cnnvp_float_kernels(), &graph, &layer, x, together, &scratch);
        assert_memory_equal(together, alone, sizeof alone);
    }
    cnnvp_pool_free(pool);
    cnnvp_float_scratch_free(&scratch);
    free(layer.weights);
    free(layer.bias);
    free(x);
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_runs_once),
        cmocka_unit_test(threads_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
