/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of functions for the vector unit: piecewise-linear, step functions and LeakyRelu. */
#include "numbers.h"

#include <math.h>

#include "tables.h"
#include "training/elementary/elementary.h"

#define SELU_ALPHA 1.67326319217681884765625 /* ONNX's default */
#define SQRT_HALF 0x1.6a09e667f3bcdp-1       /* sqrt(1 / 2) */
#define SQRT_2_PI 0x1.9884533d43651p-1       /* sqrt(2 / pi) */

/* The exponential of larger exponents overflows a float. */
#define EXPONENT_MAX 88.0
/* So far below the exponent of the largest word, an exponential is less than half a step. */
#define EXPONENT_LEAST 12.0
#define LN_2 0x1.62e42fefa39efp-1
/* Logarithms and powers of smaller numbers are those of the least positive float. */
#define LEAST 0x1p-149

#define STEP_SEGMENTS 3
/* Segments for functions without straight ends: with its header and some biases a table takes 2 KiB. */
#define MORE_SEGMENTS 480

/* Segments for a function of quantised numbers: no function has a smaller table. */
#define QUANTISED_SEGMENTS 256

/* The pieces of a function's table (functions.def). */
struct pieces {
    size_t segments;
    double range; /* 0: as far as the values reach, and an exponential as far as it is not 0 */
    int positive; /* above 0 only */
};

static struct pieces pieces_of(const struct cnnvp_graph_post *post)
{
    static const struct pieces pieces[] = {
#define CNNVP_FUNCTION(name, operator, import, value, segments, range, positive, ...) \
    [CNNVP_GRAPH_##name] = {segments, range, positive},
#define CNNVP_STEP(name, ...) [CNNVP_GRAPH_##name] = {STEP_SEGMENTS, CNNVP_PWL_RANGE, 0},
#include "functions.def"
    };
    if (post->kind == CNNVP_GRAPH_LOG && post->value > 0.0f)
        return (struct pieces){CNNVP_PWL_SEGMENTS, 1.0, 0};
    return pieces[post->kind];
}

/* How many times as wide as with the parameter 1 the function is bent. */
static double widening_of(const struct cnnvp_graph_post *post)
{
    const double value = fabs((double)post->value);
    if (post->kind == CNNVP_GRAPH_CELU)
        return value > 1.0 ? value : 1.0;
    return post->kind == CNNVP_GRAPH_SWISH && value < 1.0 ? 1.0 / (value > LEAST ? value : LEAST) : 1.0;
}

uint32_t cnnvp_post_table_words(const struct cnnvp_graph_post *post)
{
    return CNNVP_PWL_WORDS((uint32_t)pieces_of(post).segments);
}

static double bounded(double x, double limit)
{
    return x < -limit ? -limit : x > limit ? limit : x;
}

static double logarithm(double x)
{
    return cnnvp_elementary_ln(x < LEAST ? LEAST : x);
}

static double softplus(double x)
{
    return (x > 0.0 ? x : 0.0) + cnnvp_elementary_ln(1.0 + cnnvp_elementary_exp(x > 0.0 ? -x : x));
}

static int is_step(enum cnnvp_graph_post_kind kind)
{
    return kind >= CNNVP_GRAPH_SIGN;
}

static int16_t step_at(enum cnnvp_graph_post_kind kind, double x, double value)
{
    static const int16_t steps[][3] = {
#define CNNVP_FUNCTION(...)
#define CNNVP_STEP(name, ...) [CNNVP_GRAPH_##name - CNNVP_GRAPH_SIGN] = {__VA_ARGS__},
#include "functions.def"
    };
    return steps[kind - CNNVP_GRAPH_SIGN][x < value ? 0 : x > value ? 2 : 1];
}

double cnnvp_post_function(const struct cnnvp_graph_post *post, double x)
{
    const double value = (double)post->value;
    switch (post->kind) {
#define CNNVP_FUNCTION(name, operator, import, otherwise, segments, range, positive, reaches, function) \
    case CNNVP_GRAPH_##name:                                                                            \
        return function;
#include "functions.def"
    default:
        return is_step(post->kind) ? (double)step_at(post->kind, x, value) : x;
    }
}

/* A function limited to the range of its results' format, so that values out of it cost no precision. */
struct limited {
    const struct cnnvp_graph_post *post;
    double limit;
};

static double call_function(const void *context, double x)
{
    const struct limited *limited = context;
    return bounded(cnnvp_post_function(limited->post, x), limited->limit);
}

/* A step function: segments of one word each around the step's value; the last one extends to all words above. */
static int step(const struct cnnvp_graph_post *post, int32_t in_frac, int32_t out_frac, int16_t *words)
{
    const double value = ldexp((double)post->value, in_frac);
    const double at = floor(value);
    const double first = at - 1.0 < (double)INT16_MIN   ? (double)INT16_MIN
                         : at - 1.0 > (double)INT16_MAX ? (double)INT16_MAX
                                                        : at - 1.0;
    words[0] = (int16_t)first;
    words[1] = 0;
    words[2] = STEP_SEGMENTS;
    words[3] = 0;
    for (int i = 0; i < STEP_SEGMENTS; ++i) {
        const double word = first + (double)i;
        words[4 + 2 * i] = 0;
        words[5 + 2 * i] = cnnvp_quantise((float)step_at(post->kind, word, value), out_frac);
    }
    return 0;
}

/*
 * Two lines that meet at 0 (vact, models/inference/lanes/lanes.h): x0 = -2^15 and two segments of 2^15 words. Slopes
 * have 14 fraction bits; the right one is 1. The returned shift converts between the formats.
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

float cnnvp_quantised_function(const struct cnnvp_graph_layer *layer, float number)
{
    const float x = number * layer->steps.in;
    float y = rintf((float)cnnvp_post_function(&layer->posts[0], (double)x) / layer->steps.out);
    for (uint32_t i = 1; i < layer->post_count; ++i)
        y = layer->posts[i].kind == CNNVP_GRAPH_MAX ? fmaxf(y, layer->posts[i].value) : fminf(y, layer->posts[i].value);
    return y;
}

void cnnvp_quantised_table(const struct cnnvp_graph_layer *layer, int32_t in_zero, int32_t out_zero, int16_t *words)
{
    words[0] = (int16_t)(layer->least + in_zero);
    words[1] = 0;
    words[2] = QUANTISED_SEGMENTS;
    words[3] = 0;
    for (int32_t i = 0; i < QUANTISED_SEGMENTS; ++i) {
        words[4 + 2 * i] = 0;
        words[5 + 2 * i] =
            cnnvp_quantise(cnnvp_quantised_function(layer, (float)(layer->least + i)) + (float)out_zero, 0);
    }
}

cnnvp_result cnnvp_post_table(const struct cnnvp_graph_post *post, float largest, int32_t in_frac, int32_t out_frac,
                              uint32_t rounding, int16_t *words, uint32_t *format, struct cnnvp_error *error)
{
    int shift = 0;
    const struct pieces pieces = pieces_of(post);
    size_t count = CNNVP_PWL_WORDS(pieces.segments);
    if (post->kind == CNNVP_GRAPH_LEAKY_RELU) {
        shift = leaky_relu(post->value, in_frac, out_frac, words);
    } else if (is_step(post->kind)) {
        shift = step(post, in_frac, out_frac, words);
    } else {
        const struct limited limited = {post, pieces.segments == MORE_SEGMENTS ? ldexp(1.0, 15 - out_frac) : 0x1p126};
        /* Where all arguments were 0, the pieces lie around 0 and have two words each. */
        const double reach = largest > 0.0f ? (double)largest * CNNVP_FORMAT_MARGIN : ldexp(256.0, -in_frac);
        const double most = reach > pieces.range ? reach : pieces.range;
        const double range = pieces.range > 0.0 ? bounded(pieces.range * widening_of(post), most) : reach;
        const double top = (15 - out_frac) * LN_2; /* the exponent of the largest word */
        const int exponential = post->kind == CNNVP_GRAPH_EXP && top > -range;
        const double high = exponential ? fmin(range, top) : range;
        const double low = pieces.positive ? 0.0 : exponential ? fmax(-range, high - EXPONENT_LEAST) : -range;
        if (cnnvp_pwl_table_of(call_function, &limited, low, high, in_frac, out_frac, pieces.segments, words, &count,
                               &shift) != 0)
            return cnnvp_compiler_error(
                error, "the function of values with %d fraction bits has no table with results of %d", (int)in_frac,
                (int)out_frac);
    }
    *format = ((uint32_t)shift & 0xffu) | rounding << 16;
    return CNNVP_DONE;
}
