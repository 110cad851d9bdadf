/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of random sizes, resized: the imported layers give in float what the definitions of ONNX give in binary64. */
#include <math.h>
#include <unistd.h>

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
static cnnvp_result import_resize(const struct resized *resized, struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    struct builder b;
    char name[64];
    size_t size;
    const int64_t input[4] = {-1, CHANNELS, resized->in[0], resized->in[1]};
    const int64_t sizes[4] = {1, CHANNELS, resized->out[0], resized->out[1]};
    builder_init(&b, 13);
    builder_input(&b, "x", 4, input);
    builder_output(&b, "y");
    const float scales[4] = {1.0f, 1.0f, resized->scale[0], resized->scale[1]};
    const int by_scales = resized->scale[0] > 0.0f;
    Onnx__NodeProto *node = builder_node(&b, "Resize", "y", "x", "", by_scales ? "s" : "", by_scales ? NULL : "s");
    builder_string(&b, node, "mode", resized->mode);
    builder_string(&b, node, "coordinate_transformation_mode", resized->transform);
    if (resized->nearest != NULL)
        builder_string(&b, node, "nearest_mode", resized->nearest);
    const int64_t four[1] = {4};
    if (by_scales)
        (void)builder_floats(&b, "s", 1, four, scales);
    else
        (void)builder_int64s(&b, "s", 4, sizes);
    uint8_t *bytes = builder_pack(&b, &size);
    builder_write(bytes, size, name);
    cnnvp_result result = cnnvp_onnx_import_sized(name, NULL, 0, graph, error);
    if (result == CNNVP_DONE) {
        result = cnnvp_graph_simplify(graph, error);
        if (result != CNNVP_DONE)
            cnnvp_graph_clear(graph);
    }
    (void)unlink(name);
    free(bytes);
    builder_free(&b);
    return result;
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
    if (import_resize(resized, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
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
            resized.out[axis] = (int64_t)floor((double)resized.in[axis] * (double)resized.scale[axis]);
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

static const int64_t maps[4] = {-1, 4, 6, 6};

/* x - Resize - y by such scales. */
static void resize_must_fail(const char *attribute, const char *value, const float scales[4], const char *text)
{
    struct builder b;
    const int64_t dims[1] = {4};
    onnx_case_begin(&b, "x", 4, maps);
    Onnx__NodeProto *node = builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    (void)builder_floats(&b, "s", 1, dims, scales);
    builder_string(&b, node, "mode", "linear");
    if (attribute != NULL)
        builder_string(&b, node, attribute, value);
    onnx_case_refused(&b, text);
}

static void resized_maps(void **state)
{
    (void)state;
    static const float twice[4] = {1, 1, 2, 2};
    resize_must_fail("coordinate_transformation_mode", "tf_crop_and_resize", twice,
                     "coordinate_transformation_mode is none of half_pixel,");
    resize_must_fail("keep_aspect_ratio_policy", "not_larger", twice,
                     "keep_aspect_ratio_policy is supported as stretch only");
    resize_must_fail("nearest_mode", "down", twice, "nearest_mode is none of");
    resize_must_fail(NULL, NULL, (const float[4]){2, 1, 2, 2}, "the batch cannot be resized");
    resize_must_fail(NULL, NULL, (const float[4]){1, 2, 2, 2}, "channels cannot be resized");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 0, 2}, "0 of 6 elements: 1 to 1048576 are possible");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 1, NAN}, "input 2: ");
    resize_must_fail(NULL, NULL, (const float[4]){1, 1, 1, 3e5f}, "of 6 elements: 1 to 1048576 are possible");
    struct builder b;
    const int64_t dims[1] = {4};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    (void)builder_floats(&b, "s", 1, dims, (const float[4]){1, 1, 1, 200});
    onnx_case_refused(
        &b, "1200 of 6 elements by the nearest one take 1195 copies; 1024 are possible, or a whole factor up to");
    const int64_t wide[4] = {-1, 1, 2, 64};
    onnx_case_begin(&b, "x", 4, wide);
    Onnx__NodeProto *node = builder_node(&b, "Resize", "y", "x", "", "s", NULL);
    builder_string(&b, node, "mode", "cubic");
    (void)builder_floats(&b, "s", 1, dims, (const float[4]){1, 1, 1, 8192});
    onnx_case_refused(&b, "524288 of 64 elements take a matrix of more than 16777216 weights");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear_maps), cmocka_unit_test(corners_by_scales),
                                       cmocka_unit_test(nearest_elements), cmocka_unit_test(resized_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
