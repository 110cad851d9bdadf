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
        return value > 0 ? log(fmin(1, fmax(value, x))) : log(fmax(x, 0x1p-149));
    case CNNVP_GRAPH_MISH:
        return x * tanh(log1p(exp(x)));
    case CNNVP_GRAPH_SWISH:
        return x / (1 + exp(-value * x));
    case CNNVP_GRAPH_CELU:
        return x < 0 ? value * expm1(x / value) : x;
    case CNNVP_GRAPH_EXP:
        return exp(x);
    case CNNVP_GRAPH_POWER:
        return x > 0 ? pow(x, value) : 0;
    case CNNVP_GRAPH_SIN:
        return sin(x);
    case CNNVP_GRAPH_COS:
        return cos(x);
    case CNNVP_GRAPH_ATAN:
        return atan(x);
    case CNNVP_GRAPH_ASIN:
        return asin(fmin(1, fmax(-1, x)));
    case CNNVP_GRAPH_ACOS:
        return acos(fmin(1, fmax(-1, x)));
    case CNNVP_GRAPH_SINH:
        return sinh(x);
    case CNNVP_GRAPH_COSH:
        return cosh(x);
    case CNNVP_GRAPH_ASINH:
        return asinh(x);
    case CNNVP_GRAPH_ATANH:
        return atanh(fmin(1 - 0x1p-24, fmax(0x1p-24 - 1, x)));
    case CNNVP_GRAPH_SIGN:
        return (x > value) - (x < value);
    case CNNVP_GRAPH_ABOVE:
        return x > value;
    case CNNVP_GRAPH_NOT_BELOW:
        return x >= value;
    case CNNVP_GRAPH_BELOW:
        return x < value;
    case CNNVP_GRAPH_NOT_ABOVE:
        return x <= value;
    case CNNVP_GRAPH_EQUAL:
        return !(x < value || x > value);
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
        {CNNVP_GRAPH_LOG, 0},        {CNNVP_GRAPH_MISH, 0},     {CNNVP_GRAPH_SWISH, 1.5f},
        {CNNVP_GRAPH_CELU, 0.5f},    {CNNVP_GRAPH_EXP, 0},      {CNNVP_GRAPH_POWER, 0.5f},
        {CNNVP_GRAPH_POWER, 2.25f},  {CNNVP_GRAPH_SIN, 0},      {CNNVP_GRAPH_COS, 0},
        {CNNVP_GRAPH_ATAN, 0},       {CNNVP_GRAPH_ASIN, 0},     {CNNVP_GRAPH_ACOS, 0},
        {CNNVP_GRAPH_SINH, 0},       {CNNVP_GRAPH_COSH, 0},     {CNNVP_GRAPH_ASINH, 0},
        {CNNVP_GRAPH_ATANH, 0},      {CNNVP_GRAPH_SIGN, 0},     {CNNVP_GRAPH_ABOVE, 0.25f},
        {CNNVP_GRAPH_BELOW, -2},     {CNNVP_GRAPH_EQUAL, 1},    {CNNVP_GRAPH_MAX, 0}};
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
            assert_true(cnnvp_post_table_words(&posts[p]) <= 1024);
            if (cnnvp_post_table(&posts[p], 0, in_frac, out_frac, 1, words, &format, &error) != CNNVP_DONE)
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

/* Within a part of the largest result, for arguments up to `largest`; 0: around 0 alone. */
static void tables_reach_as_far_as_their_values(void **state)
{
    (void)state;
    static const struct {
        struct cnnvp_graph_post post;
        float largest;
        int32_t in_frac, out_frac;
        double low, high, limit; /* arguments that are looked at */
    } cases[] = {
        {{CNNVP_GRAPH_EXP, 0}, 8, 11, 2, -9, 8.9, 1e-3},
        {{CNNVP_GRAPH_EXP, 0}, 1.95f, 14, 12, -1.9, 1.9, 1e-3},
        {{CNNVP_GRAPH_EXP, 0}, 500, 6, 14, -512, 0.6, 1e-3},
        {{CNNVP_GRAPH_EXP, 0}, 500, 6, 20, -512, -4, 1e-4},
        {{CNNVP_GRAPH_POWER, 0.5f}, 1500, 4, 9, 10, 1680, 1e-3},
        {{CNNVP_GRAPH_POWER, 1.75f}, 15, 11, 7, 0, 15, 1e-3},
        {{CNNVP_GRAPH_LOG, 0}, 12, 11, 11, 0.1, 13, 1e-2},
        {{CNNVP_GRAPH_SIN, 0}, 15, 11, 14, -16, 16, 1e-2},
        {{CNNVP_GRAPH_COS, 0}, 6, 12, 14, -6, 6, 1e-3},
        {{CNNVP_GRAPH_ATAN, 0}, 60, 9, 14, -60, 60, 1e-2},
        {{CNNVP_GRAPH_ASIN, 0}, 1, 14, 14, -0.95, 0.95, 2e-3},
        {{CNNVP_GRAPH_ATANH, 0}, 1, 14, 12, -0.95, 0.95, 2e-3},
        {{CNNVP_GRAPH_SINH, 0}, 7, 12, 4, -7, 7, 1e-3},
        {{CNNVP_GRAPH_ASINH, 0}, 28, 10, 12, -28, 28, 1e-3},
        {{CNNVP_GRAPH_SOFTSIGN, 0}, 0, 10, 14, -31, 31, 1e-2},
        {{CNNVP_GRAPH_EXP, 0}, 0, 8, 14, -0.01, 0.01, 1e-3},
        {{CNNVP_GRAPH_COS, 0}, 0, 8, 14, -0.01, 0.01, 1e-3},
        {{CNNVP_GRAPH_POWER, 0.5f}, 0, 8, 8, 0, 0.01, 4e-3},
        {{CNNVP_GRAPH_SINH, 0}, 0, 8, 8, -0.01, 0.01, 4e-3},
        {{CNNVP_GRAPH_CELU, 16}, 100, 8, 8, -100, 100, 1e-3},
        {{CNNVP_GRAPH_CELU, 16}, 1, 14, 14, -1, 1, 1e-3},
        {{CNNVP_GRAPH_SWISH, 0.1f}, 100, 8, 8, -100, 100, 1e-3},
        {{CNNVP_GRAPH_SWISH, -0.01f}, 100, 8, 8, -100, 100, 1e-3},
        {{CNNVP_GRAPH_SWISH, 0}, 0, 8, 8, -100, 100, 1e-3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int16_t words[1024];
        uint32_t format;
        struct cnnvp_error error = {""};
        const struct cnnvp_graph_post *post = &cases[i].post;
        assert_true(cnnvp_post_table_words(post) <= 1024);
        if (cnnvp_post_table(post, cases[i].largest, cases[i].in_frac, cases[i].out_frac, 1, words, &format, &error) !=
            CNNVP_DONE)
            fail_msg("%s", error.text);
        const double largest = fmin(ldexp(1, 15 - cases[i].out_frac),
                                    fmax(fabs(by_libm(post, cases[i].low)), fabs(by_libm(post, cases[i].high))));
        for (int32_t x = -32768; x < 32768; x += 3) {
            const double value = ldexp(x, -cases[i].in_frac);
            const double got = ldexp(cnnvp_reference_table(words, (int16_t)x, format), -cases[i].out_frac);
            if (value >= cases[i].low && value <= cases[i].high &&
                fabs(got - by_libm(post, value)) > cases[i].limit * fmax(1, largest))
                fail_msg("case %zu, x = %g: %g in place of %g", i, value, got, by_libm(post, value));
        }
    }
}

/* Every word, for values that are words, lie between two, and are no words. */
static void steps_are_exact(void **state)
{
    (void)state;
    static const float values[] = {0.0f, 0.25f, 0.3f, -0.3f, -7.99f, -8.0f, -8.5f, 7.999755859375f, 8.0f, 1e9f, -1e9f};
    for (int kind = CNNVP_GRAPH_SIGN; kind <= CNNVP_GRAPH_EQUAL; ++kind)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; ++v) {
            const struct cnnvp_graph_post post = {(enum cnnvp_graph_post_kind)kind, values[v]};
            int16_t words[10];
            uint32_t format;
            struct cnnvp_error error = {""};
            assert_int_equal(cnnvp_post_table_words(&post), 10);
            assert_int_equal(cnnvp_post_table(&post, 0, 12, 14, 1, words, &format, &error), CNNVP_DONE);
            for (int32_t x = -32768; x < 32768; ++x) {
                const double wanted = ldexp(by_libm(&post, ldexp(x, -12)), 14);
                const int16_t got = cnnvp_reference_table(words, (int16_t)x, format);
                if ((double)got < wanted || (double)got > wanted)
                    fail_msg("kind %d of %g, word %d: %d", kind, (double)values[v], (int)x, (int)got);
            }
        }
}

/* Functions of bytes, to bytes: each of 256 results is the nearest one, whatever the zero points. */
static void functions_of_bytes_are_exact(void **state)
{
    (void)state;
    static const enum cnnvp_graph_post_kind kinds[] = {
        CNNVP_GRAPH_SIGMOID, CNNVP_GRAPH_TANH, CNNVP_GRAPH_EXP, CNNVP_GRAPH_SIN, CNNVP_GRAPH_COS, CNNVP_GRAPH_GELU};
    static const int32_t firsts[] = {-128, 0, -100, -255};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (int f = 0; f < 4; ++f) {
            const int32_t in_zero = f % 2 == 0 ? 0 : -128 - firsts[f], out_zero = f < 2 ? -128 : 7;
            const struct cnnvp_graph_layer layer = {
                .op = CNNVP_OP_ACTIVATION,
                .steps = {.in = 0.043f, .out = 0.0077f},
                .least = firsts[f],
                .post_count = 3,
                .posts = {{kinds[k], 0}, {CNNVP_GRAPH_MAX, -100}, {CNNVP_GRAPH_MIN, 120}}};
            int16_t words[CNNVP_PWL_WORDS(256)];
            assert_true(cnnvp_post_table_words(&layer.posts[0]) >= CNNVP_PWL_WORDS(256));
            cnnvp_quantised_table(&layer, in_zero, out_zero, words);
            for (int32_t n = firsts[f]; n < firsts[f] + 256; ++n) {
                const double steps = by_libm(&layer.posts[0], (double)((float)n * 0.043f)) / (double)0.0077f;
                const double wanted = fmin(120, fmax(-100, nearbyint(steps))) + out_zero;
                const int16_t got = cnnvp_reference_table(words, (int16_t)(n + in_zero), 0);
                const int is_tie = fabs(steps - floor(steps) - 0.5) < 1e-4;
                if (!is_tie && ((double)got < wanted || (double)got > wanted))
                    fail_msg("kind %d of %d: %d, not %g", (int)kinds[k], (int)n, (int)got, wanted);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_libm),         cmocka_unit_test(tables_follow_their_functions),
        cmocka_unit_test(tables_reach_as_far_as_their_values), cmocka_unit_test(steps_are_exact),
        cmocka_unit_test(functions_of_bytes_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
