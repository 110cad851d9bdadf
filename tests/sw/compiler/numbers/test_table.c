/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one number: their values beside libm's, and the tables that stand for them on the vector unit. */
#include <math.h>

#include "test.h"

#include "reference/reference.h"
#include "numbers.h"
#include "tables.h"

static double selu(double x, double scale)
{
    return scale * (x < 0 ? 1.67326319217681884765625 * expm1(x) : x);
}

static double gelu(double x, double approximate)
{
    return x / 2 * (1 + (approximate > 0 ? tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)) : erf(x / sqrt(2))));
}

static double by_libm(const struct cnnvp_graph_post *post, double x)
{
    const double value = (double)post->value;
    switch (post->kind) {
    case CNNVP_GRAPH_SIGMOID:
        return 1 / (1 + exp(-x));
    case CNNVP_GRAPH_TANH:
        return tanh(x);
    case CNNVP_GRAPH_LEAKY_RELU:
        return x < 0 ? value * x : x;
    case CNNVP_GRAPH_HARD_SWISH:
        return x * fmin(1, fmax(0, x / 6 + 0.5));
    case CNNVP_GRAPH_ELU:
        return x < 0 ? value * expm1(x) : x;
    case CNNVP_GRAPH_SELU:
        return selu(x, value);
    case CNNVP_GRAPH_SOFTPLUS:
        return log1p(exp(x));
    case CNNVP_GRAPH_LOG:
        return log(fmin(1, fmax(value, x)));
    case CNNVP_GRAPH_SOFTSIGN:
        return x / (1 + fabs(x));
    case CNNVP_GRAPH_ERF:
        return erf(x);
    case CNNVP_GRAPH_GELU:
        return gelu(x, value);
    default:
        return x;
    }
}

static void functions_are_those_of_libm(void **state)
{
    (void)state;
    static const struct cnnvp_graph_post posts[] = {
        {CNNVP_GRAPH_SIGMOID, 0},    {CNNVP_GRAPH_TANH, 0},     {CNNVP_GRAPH_LEAKY_RELU, 0.1f},
        {CNNVP_GRAPH_HARD_SWISH, 0}, {CNNVP_GRAPH_ELU, 0.75f},  {CNNVP_GRAPH_SELU, 1.0507f},
        {CNNVP_GRAPH_SOFTPLUS, 0},   {CNNVP_GRAPH_SOFTSIGN, 0}, {CNNVP_GRAPH_LOG, 0.001f},
        {CNNVP_GRAPH_ERF, 0},        {CNNVP_GRAPH_GELU, 0},     {CNNVP_GRAPH_GELU, 1},
        {CNNVP_GRAPH_MAX, 0}};
    for (size_t p = 0; p < sizeof posts / sizeof posts[0]; ++p)
        for (int i = -192; i <= 192; ++i) {
            const double x = i / 16.0;
            const double exact = by_libm(&posts[p], x);
            const double got = cnnvp_post_function(&posts[p], x);
            if (!(fabs(got - exact) <= 1e-12 * fmax(1, fabs(exact))))
                fail_msg("kind %d of %g: %.17g, not %.17g", (int)posts[p].kind, x, got, exact);
        }
}

static void tables_follow_their_functions(void **state)
{
    (void)state;
    static const struct cnnvp_graph_post posts[] = {
        {CNNVP_GRAPH_SIGMOID, 0.0f},
        {CNNVP_GRAPH_TANH, 0.0f},
        {CNNVP_GRAPH_LEAKY_RELU, 0.1f},
        {CNNVP_GRAPH_LEAKY_RELU, -0.5f}};
    for (size_t p = 0; p < 4; ++p) {
        for (int32_t in_frac = 4; in_frac <= 16; in_frac += 3) {
            int16_t words[1024];
            uint32_t format;
            struct cnnvp_error error = {""};
            const int32_t out_frac = p < 2 ? 14 : in_frac - 1;
            assert_true(cnnvp_post_table_words() <= 1024);
            if (cnnvp_post_table(&posts[p], in_frac, out_frac, 1, words, &format, &error) != CNNVP_DONE)
                fail_msg("%s", error.text);
            for (int32_t x = -32768; x < 32768; x += 7) {
                const double value = ldexp(x, -in_frac);
                double exact = value < 0 ? value * (double)posts[p].value : value;
                if (p < 2)
                    exact = p == 0 ? cnnvp_sigmoid(value) : cnnvp_tanh(value);
                const double got = ldexp(cnnvp_reference_table(words, (int16_t)x, format), -out_frac);
                /* half a step of the result, and of alpha's 2^-14 */
                const double limit = p < 2 ? 6e-4 : ldexp(0.51, -out_frac) + fabs(value) * ldexp(0.5, -14);
                if (fabs(got - exact) > limit)
                    fail_msg("post %zu, %d fraction bits, x = %g: %g in place of %g", p, (int)in_frac, value, got,
                             exact);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_libm),
        cmocka_unit_test(tables_follow_their_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
