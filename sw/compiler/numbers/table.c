/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers.h"

#include "tables.h"

/* All tables have room for this many segments: their size is the same whatever the formats are. */
#define SEGMENTS CNNVP_PWL_SEGMENTS

#define SELU_ALPHA 1.67326319217681884765625 /* ONNX's default */
#define SQRT_HALF 0x1.6a09e667f3bcdp-1       /* sqrt(1 / 2) */
#define SQRT_2_PI 0x1.9884533d43651p-1       /* sqrt(2 / pi) */

uint32_t cnnvp_post_table_words(void)
{
    return CNNVP_PWL_WORDS(SEGMENTS);
}

double cnnvp_post_function(const struct cnnvp_graph_post *post, double x)
{
    const double value = (double)post->value;
    switch (post->kind) {
    case CNNVP_GRAPH_SIGMOID:
        return cnnvp_sigmoid(x);
    case CNNVP_GRAPH_TANH:
        return cnnvp_tanh(x);
    case CNNVP_GRAPH_LEAKY_RELU:
        return x < 0.0 ? value * x : x;
    case CNNVP_GRAPH_HARD_SWISH:
        return x <= -3.0 ? 0.0 : x >= 3.0 ? x : x * (x + 3.0) / 6.0;
    case CNNVP_GRAPH_ELU:
        return x < 0.0 ? value * (cnnvp_exp(x) - 1.0) : x;
    case CNNVP_GRAPH_SELU:
        return value * (x < 0.0 ? SELU_ALPHA * (cnnvp_exp(x) - 1.0) : x);
    case CNNVP_GRAPH_SOFTPLUS:
        return (x > 0.0 ? x : 0.0) + cnnvp_log(1.0 + cnnvp_exp(x > 0.0 ? -x : x));
    case CNNVP_GRAPH_LOG:
        return cnnvp_log(x < value ? value : x > 1.0 ? 1.0 : x);
    case CNNVP_GRAPH_SOFTSIGN:
        return x / (1.0 + (x < 0.0 ? -x : x));
    case CNNVP_GRAPH_ERF:
        return cnnvp_erf(x);
    case CNNVP_GRAPH_GELU:
        return 0.5 * x *
               (1.0 + (value > 0.0 ? cnnvp_tanh(SQRT_2_PI * (x + 0.044715 * x * x * x)) : cnnvp_erf(x * SQRT_HALF)));
    default:
        return x;
    }
}

static double call_function(const void *context, double x)
{
    return cnnvp_post_function(context, x);
}

/*
 * Two lines that meet at 0 (vact, models/inference/lanes/lanes.h): x0 = -2^15 and segments of 2^15 words. The slope of
 * the right one is 1 with 14 fraction bits and the change of format in the shift.
 */
static int leaky_relu(float alpha, int32_t in_frac, int32_t out_frac, int16_t *words)
{
    words[0] = INT16_MIN;
    words[1] = 15;
    words[2] = 2;
    words[3] = 0;
    words[4] = cnnvp_quantise(alpha, 14);
    words[5] = 0;
    words[6] = 1 << 14;
    words[7] = 0;
    return cnnvp_formats_shift(14 + in_frac - out_frac);
}

cnnvp_result cnnvp_post_table(const struct cnnvp_graph_post *post, int32_t in_frac, int32_t out_frac, uint32_t rounding,
                              int16_t *words, uint32_t *format, struct cnnvp_error *error)
{
    int shift = 0;
    size_t count = cnnvp_post_table_words();
    if (post->kind == CNNVP_GRAPH_LEAKY_RELU) {
        shift = leaky_relu(post->value, in_frac, out_frac, words);
    } else {
        /* Softsign's tails fall like 1 / x; the logarithm ends at 1, erf is 1 but for 2e-8 from 4 on. */
        const double range =
            post->kind == CNNVP_GRAPH_SOFTSIGN ? 4.0 * CNNVP_PWL_RANGE
            : post->kind == CNNVP_GRAPH_LOG    ? 1.0
            : post->kind == CNNVP_GRAPH_ERF    ? CNNVP_PWL_RANGE / 2.0
                                               : CNNVP_PWL_RANGE;
        if (cnnvp_pwl_table_of(call_function, post, range, in_frac, out_frac, SEGMENTS, words, &count, &shift) != 0)
            return cnnvp_compiler_error(
                error, "the function of values with %d fraction bits has no table with results of %d", (int)in_frac,
                (int)out_frac);
    }
    *format = ((uint32_t)shift & 0xffu) | rounding << 16;
    return CNNVP_DONE;
}
