/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops of the float pass and of quantisation: each variant gives exactly the documented numbers. */
#include <math.h>

#include "test.h"

#include "numbers.h"
#include "onnx_builder.h"

static float number(struct builder *random)
{
    return (float)(int32_t)(uint32_t)builder_next(random) * 0x1p-31f;
}

static float *numbers(struct builder *random, size_t count)
{
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; ++i)
        values[i] = number(random);
    return values;
}

static void dot_products_keep_the_order(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 32);
    for (size_t count = 0; count < 100; ++count) {
        float *a = numbers(&random, count + 1);
        float *b = numbers(&random, count + 1);
        volatile float lanes[CNNVP_DOT_LANES] = {0};
        for (size_t i = 0; i < count; ++i) {
            const volatile float product = a[i] * b[i];
            lanes[i % CNNVP_DOT_LANES] = lanes[i % CNNVP_DOT_LANES] + product;
        }
        for (size_t half = CNNVP_DOT_LANES / 2; half > 0; half /= 2)
            for (size_t lane = 0; lane < half; ++lane)
                lanes[lane] = lanes[lane] + lanes[lane + half];
        const float wanted = lanes[0];
        const struct cnnvp_float_kernels *kernels;
        for (size_t v = 0; (kernels = cnnvp_float_kernels_variant(v)) != NULL; ++v) {
            const float got = kernels->dot(a, b, count);
            assert_memory_equal(&got, &wanted, sizeof wanted);
        }
        free(a);
        free(b);
    }
    builder_free(&random);
}

static void words_are_those_of_single_numbers(void **state)
{
    (void)state;
    const float special[] = {
        0.0f,     -0.0f,     0.5f, 1.5f,   -0.5f,   -1.5f,   32766.5f, 32767.5f,    -32767.5f, -32768.5f,
        INFINITY, -INFINITY, NAN,  1e-44f, -1e-44f, 3.4e38f, -3.4e38f, 0.49999997f, 8388609.0f};
    enum { SPECIAL = sizeof special / sizeof special[0], COUNT = 1000 };
    struct builder random;
    builder_init(&random, 33);
    for (int32_t frac = CNNVP_FRAC_MIN; frac <= CNNVP_FRAC_MAX; ++frac) {
        float *values = numbers(&random, COUNT);
        for (size_t i = 0; i < COUNT; ++i) /* around the words that there are, and halves between them */
            values[i] = i < SPECIAL  ? special[i]
                        : i % 2 != 0 ? values[i] * ldexpf(40000.0f, -frac)
                                     : ldexpf(rintf(values[i] * 70000.0f), -frac - 1);
        const struct cnnvp_float_kernels *kernels;
        for (size_t v = 0; (kernels = cnnvp_float_kernels_variant(v)) != NULL; ++v) {
            int16_t words[COUNT];
            kernels->quantise(values, COUNT, ldexpf(1.0f, frac), words);
            for (size_t i = 0; i < COUNT; ++i)
                if (words[i] != cnnvp_quantise(values[i], frac))
                    fail_msg("%s, frac %d: %a becomes %d, not %d", kernels->name, (int)frac, (double)values[i],
                             words[i], cnnvp_quantise(values[i], frac));
        }
        free(values);
    }
    builder_free(&random);
}

static void magnitudes_leave_out_nan(void **state)
{
    (void)state;
    float values[37];
    const struct cnnvp_float_kernels *kernels;
    for (size_t v = 0; (kernels = cnnvp_float_kernels_variant(v)) != NULL; ++v) {
        for (size_t i = 0; i < 37; ++i)
            values[i] = i % 2 != 0 ? -(float)i : (float)i;
        assert_true(kernels->largest(values, 0) == 0.0f);
        assert_true(kernels->largest(values, 36) == 35.0f);
        values[3] = NAN;
        assert_true(kernels->largest(values, 37) == 36.0f);
        values[20] = -INFINITY;
        assert_true(isinf(kernels->largest(values, 37)) != 0 && kernels->largest(values, 37) > 0.0f);
        float doubled[37];
        kernels->scale(values, 2.0f, 37, doubled);
        assert_true(doubled[5] == -10.0f && isnan(doubled[3]) && doubled[36] == 72.0f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_products_keep_the_order),
        cmocka_unit_test(words_are_those_of_single_numbers),
        cmocka_unit_test(magnitudes_leave_out_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
