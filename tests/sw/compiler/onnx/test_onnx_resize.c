/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of random sizes, resized: the imported layers give in float what the definitions of ONNX give in binary64. */
#include <math.h>

#include "test.h"

#include "numbers.h"
#include "onnx_builder.h"
#include "onnx_case.h"

#define CHANNELS 2
#define SIDE_MAX 64 /* of a result */

struct resized {
    const char *mode, *transform, *nearest;
    int64_t in[2], out[2]; /* rows, columns */
    float scale[2];        /* 0: out says it */
};

/* By sizes, or by scales of which the sizes are the whole parts. */
static void import_resize(const struct resized *resized, struct cnnvp_graph *graph)
{
    char network[400], nearest[60] = "", size[100];
    const int by_scales = resized->scale[0] > 0.0f;
    if (resized->nearest != NULL)
        (void)snprintf(nearest, sizeof nearest, ", nearest_mode = \"%s\"", resized->nearest);
    if (by_scales)
        (void)snprintf(size, sizeof size, "float[4] s = {1, 1, %.9g, %.9g}", (double)resized->scale[0],
                       (double)resized->scale[1]);
    else
        (void)snprintf(size, sizeof size, "int64[4] s = {1, %d, %lld, %lld}", CHANNELS, (long long)resized->out[0],
                       (long long)resized->out[1]);
    (void)snprintf(network, sizeof network,
                   "float[N, %d, %lld, %lld] x %s "
                   "y = Resize <mode = \"%s\", coordinate_transformation_mode = \"%s\"%s> (x, , %s)",
                   CHANNELS, (long long)resized->in[0], (long long)resized->in[1], size, resized->mode,
                   resized->transform, nearest, by_scales ? "s" : ", s");
    onnx_case_import_text(13, network, graph);
}

/* Where an output position lies in the input. */
static double place(const char *transform, int64_t out, int64_t ins, int64_t outs)
{
    if (strcmp(transform, "asymmetric") == 0)
        return (double)(out * ins) / (double)outs;
    if (strcmp(transform, "align_corners") == 0)
        return outs > 1 ? (double)(out * (ins - 1)) / (double)(outs - 1) : 0.0;
    return (double)((2 * out + 1) * ins) / (double)(2 * outs) - 0.5;
}

static int64_t inside(int64_t at, int64_t size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

/* Weights of two neighbours for an output position. */
static void neighbours(const struct resized *resized, int axis, int64_t out, int64_t at[2], double weight[2])
{
    const int64_t ins = resized->in[axis];
    const double x = place(resized->transform, out, ins, resized->out[axis]);
    if (strcmp(resized->mode, "nearest") == 0) {
        const int64_t near = (int64_t)(strcmp(resized->nearest, "floor") == 0 ? floor(x) : ceil(x - 0.5));
        at[0] = at[1] = inside(near, ins);
        weight[0] = 1.0;
        weight[1] = 0.0;
        return;
    }
    const double low = floor(x);
    at[0] = inside((int64_t)low, ins);
    at[1] = inside((int64_t)low + 1, ins);
    weight[1] = x - low;
    weight[0] = 1.0 - weight[1];
}

static double expected(const struct resized *resized, const float *plane, int64_t row, int64_t column)
{
    int64_t rows[2], columns[2];
    double by_row[2], by_column[2], sum = 0.0;
    neighbours(resized, 0, row, rows, by_row);
    neighbours(resized, 1, column, columns, by_column);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            sum += by_row[i] * by_column[j] * (double)plane[rows[i] * resized->in[1] + columns[j]];
    return sum;
}

static void check(const struct resized *resized, struct builder *random)
{
    float input[CHANNELS * SIDE_MAX * SIDE_MAX];
    struct cnnvp_graph graph;
    struct cnnvp_floatref run;
    struct cnnvp_error error = {""};
    import_resize(resized, &graph);
    const struct cnnvp_graph_tensor *result = &graph.tensors[graph.outputs[0].tensor];
    assert_int_equal(result->height, resized->out[0]);
    assert_int_equal(result->width, resized->out[1]);
    const int64_t words = resized->in[0] * resized->in[1];
    for (int64_t i = 0; i < CHANNELS * words; ++i)
        input[i] = (float)(builder_next(random) >> 40) / (float)(1 << 23) - 1.0f;
    assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &run, &error), CNNVP_DONE);
    cnnvp_floatref_images(&run, 1, input);
    const float *y = run.data[graph.outputs[0].tensor];
    for (int64_t c = 0; c < CHANNELS; ++c)
        for (int64_t r = 0; r < resized->out[0]; ++r)
            for (int64_t k = 0; k < resized->out[1]; ++k, ++y) {
                const double right = expected(resized, input + c * words, r, k);
                if (!(fabs((double)*y - right) < 1e-5))
                    fail_msg("%s, %s, %lld x %lld to %lld x %lld: (%lld, %lld) is %g, not %g", resized->mode,
                             resized->transform, (long long)resized->in[0], (long long)resized->in[1],
                             (long long)resized->out[0], (long long)resized->out[1], (long long)r, (long long)k,
                             (double)*y, right);
            }
    cnnvp_floatref_clear(&run);
    cnnvp_graph_clear(&graph);
}

static int64_t draw(struct builder *random, int64_t from, int64_t to)
{
    return from + (int64_t)(builder_next(random) >> 33) % (to - from + 1);
}

static void linear_maps(void **state)
{
    (void)state;
    static const char *const transforms[] = {"half_pixel", "asymmetric", "align_corners"};
    struct builder random;
    builder_init(&random, 13);
    for (int i = 0; i < 300; ++i) {
        const struct resized resized = {
            .mode = "linear",
            .transform = transforms[i % 3],
            .in = {draw(&random, 1, 9), draw(&random, 1, 9)},
            .out = {draw(&random, 1, 20), draw(&random, 1, 20)}};
        check(&resized, &random);
    }
    builder_free(&random);
}

/* align_corners by scales that give no whole size: the last element lies on the last one, as in PyTorch. */
static void corners_by_scales(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    for (int i = 0; i < 100; ++i) {
        struct resized resized = {
            .mode = "linear", .transform = "align_corners", .in = {draw(&random, 2, 9), draw(&random, 2, 9)}};
        for (int axis = 0; axis < 2; ++axis) {
            resized.scale[axis] = (float)draw(&random, 6, 37) / 10.0f;
            resized.out[axis] = (int64_t)floorf((float)resized.in[axis] * resized.scale[axis]);
        }
        check(&resized, &random);
    }
    builder_free(&random);
}

/* By whole factors no place is a tie. */
static void nearest_elements(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    for (int i = 0; i < 200; ++i) {
        struct resized resized = {.mode = "nearest",
                                  .transform = i % 2 == 0 ? "half_pixel" : "asymmetric",
                                  .nearest = i % 2 == 0 ? "round_prefer_floor" : "floor",
                                  .in = {draw(&random, 1, 8), draw(&random, 1, 8)}};
        for (int axis = 0; axis < 2; ++axis)
            resized.out[axis] = resized.in[axis] * draw(&random, 1, 5);
        check(&resized, &random);
    }
    builder_free(&random);
}

/* Single elements become whole maps by one sum with zeros: not by a copy for each row and column, and without a zero
 * for each word of all maps. */
static void single_elements_fill_maps(void **state)
{
    (void)state;
    static const char *const networks[] = {
        "float[N, 2, 1, 1] x int64[4] s = {1, 2, 5, 7} y = Resize <mode = \"linear\"> (x, , , s)",
        "float[N, 2, 1, 1] x float[4] s = {1, 1, 5, 7} y = Resize <mode = \"nearest\"> (x, , s)",
        "float[N, 2, 1, 1] x int64[4] s = {1, 1, 5, 7} e = Expand(x, s) y = Identity(e)",
        ("float[N, 1, 1, 2] x int64[4] s = {1, 5, 7, 2} r = Resize <mode = \"linear\"> (x, , , s) "
         "y = Transpose <perm = [0, 3, 1, 2]> (r)"),
    };
    for (size_t n = 0; n < sizeof networks / sizeof networks[0]; ++n) {
        float y[70];
        struct cnnvp_graph graph;
        onnx_case_import_text(13, networks[n], &graph);
        assert_int_equal(graph.layer_count, 2);
        assert_int_equal(cnnvp_graph_words(&graph.tensors[graph.layers[0].out]), 35);
        assert_int_equal(graph.layers[1].op, CNNVP_OP_ADD);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 70; ++k)
            assert_true(fabs((double)y[k] - (k < 35 ? 0.25 : 0.5)) < 1e-6);
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_maps),
        cmocka_unit_test(corners_by_scales),
        cmocka_unit_test(nearest_elements),
        cmocka_unit_test(single_elements_fill_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
