/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes piecewise-linear tables. Each piece has the slope of its chord, rounded, and the intercept that minimises its
 * largest error (exact for convex and concave pieces).
 *
 * In integers, with sf the fraction bits of a slope: y * 2^-out_frac = f(x * 2^-in_frac), y = (slope * x + intercept)
 * >> shift, slope = f' * 2^sf, intercept has sf + in_frac fraction bits, shift = sf + in_frac - out_frac.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>

#define MAX_SEGMENTS 8192u
#define SAMPLES 257 /* per piece, ends included */
#define FRAC_MAX 60
#define SHIFT_MAX 47 /* largest shift of an intercept */
#define WORD_MIN (-32768)
#define WORD_MAX 32767

struct pwl {
    double (*function)(const void *context, double x);
    const void *context;
    double unit; /* value of 1 in an input word */
    int x_shift;
    int32_t x0;
    int32_t segments;
};

/* First and last input word of a segment. */
static void ends_of(const struct pwl *pwl, int32_t segment, int32_t *first, int32_t *last)
{
    *first = segment == 0 ? WORD_MIN : pwl->x0 + segment * (INT32_C(1) << pwl->x_shift);
    *last = segment == pwl->segments - 1 ? WORD_MAX : pwl->x0 + (segment + 1) * (INT32_C(1) << pwl->x_shift) - 1;
}

static double at(const struct pwl *pwl, double word)
{
    return pwl->function(pwl->context, word * pwl->unit);
}

/* The slope of the segment's chord. It reaches to the next segment's first word, so that segments of one word have a
 * slope, too. */
static double slope_of(const struct pwl *pwl, int32_t segment)
{
    int32_t first, last;
    ends_of(pwl, segment, &first, &last);
    const double end = last == WORD_MAX ? (double)last : (double)last + 1.0;
    if (end <= (double)first)
        return 0.0;
    return (at(pwl, end) - at(pwl, (double)first)) / ((end - (double)first) * pwl->unit);
}

/* The intercept for a slope: the middle of the range of f(x) - slope * x over the segment's words. */
static double intercept_of(const struct pwl *pwl, int32_t segment, double slope)
{
    int32_t first, last;
    double low = 0.0, high = 0.0;
    ends_of(pwl, segment, &first, &last);
    const int count = last - first < SAMPLES - 1 ? last - first + 1 : SAMPLES;
    for (int n = 0; n < count; ++n) {
        const double word =
            count == 1 ? (double)first : floor((double)first + ((double)last - (double)first) * n / (count - 1));
        const double left = at(pwl, word) - slope * (word * pwl->unit);
        low = n == 0 || left < low ? left : low;
        high = n == 0 || left > high ? left : high;
    }
    return (low + high) / 2.0;
}

/* The largest number of fraction bits, at most `most`, with which `value` still fits a word. */
static int fraction_bits(double value, int most)
{
    int bits = most;
    while (bits > -64 && ldexp(value, bits) > (double)WORD_MAX)
        --bits;
    return bits;
}

/* The word of an argument, rounded by `rounded` and limited. */
static double word_at(double x, int in_frac, double (*rounded)(double))
{
    return fmin(fmax(rounded(ldexp(x, in_frac)), (double)WORD_MIN), -(double)WORD_MIN);
}

/* Places the segments between two arguments. Unless they are symmetric to 0, the first segment has all words below. */
static int place(double low, double high, int in_frac, size_t segments, struct pwl *pwl)
{
    if (!(low < high) || segments < 2u || segments > MAX_SEGMENTS || segments % 2u != 0 || in_frac < -16 ||
        in_frac > FRAC_MAX)
        return -1;
    const int symmetric = low >= -high && low <= -high;
    const double end = word_at(high, in_frac, ceil);
    const double begin = symmetric ? -end : word_at(low, in_frac, floor);
    const double most = (double)segments - (symmetric ? 0.0 : 1.0);
    int32_t first, last;
    pwl->unit = ldexp(1.0, -in_frac);
    for (pwl->x_shift = 0;; ++pwl->x_shift) {
        first = (int32_t)floor(ldexp(begin, -pwl->x_shift));
        last = (int32_t)ceil(ldexp(end, -pwl->x_shift));
        if ((double)last - (double)first <= most)
            break;
    }
    last = last > first ? last : first + 1;
    if (!symmetric && (first - 1) * (INT32_C(1) << pwl->x_shift) >= WORD_MIN)
        --first;
    pwl->segments = last - first;
    pwl->x0 = first * (INT32_C(1) << pwl->x_shift);
    return 0;
}

/* The line of a segment. It is converted to words later, when the formats of all lines are known. */
struct line {
    double slope;     /* rounded to the slopes' format */
    double intercept; /* in units of f */
};

/* Computes the lines. *slope_bits is the limit of the slopes' fraction bits, and gets the actual number. -1: a slope or
 * an intercept is too large for any format. */
static int lines_of(const struct pwl *pwl, struct line *lines, int *slope_bits, double *most_intercept)
{
    double most_slope = 0.0;
    *most_intercept = 0.0;
    for (int32_t s = 0; s < pwl->segments; ++s) {
        lines[s].slope = slope_of(pwl, s);
        if (!(fabs(lines[s].slope) < 0x1p60))
            return -1;
        most_slope = fmax(most_slope, fabs(lines[s].slope));
    }
    *slope_bits = fraction_bits(most_slope, *slope_bits);
    for (int32_t s = 0; s < pwl->segments; ++s) {
        lines[s].slope = ldexp(floor(ldexp(lines[s].slope, *slope_bits) + 0.5), -*slope_bits);
        lines[s].intercept = intercept_of(pwl, s, lines[s].slope);
        if (!(fabs(lines[s].intercept) < 0x1p60))
            return -1;
        *most_intercept = fmax(*most_intercept, fabs(lines[s].intercept));
    }
    return 0;
}

/* Converts `value` to a word with `bits` fraction bits. Rounding may exceed WORD_MAX by one, so it is limited. */
static int16_t word_of(double value, int bits)
{
    const double word = floor(ldexp(value, bits) + 0.5);
    return (int16_t)(word > WORD_MAX ? WORD_MAX : word);
}

static int fill(const struct pwl *pwl, struct line *lines, int in_frac, int out_frac, int16_t *table, int *shift)
{
    int slope_bits = 30;
    int intercept_bits;
    double most_intercept;
    /* The intercept's shift must be 0 to 47, so intercepts have slope_bits + in_frac - 47 to slope_bits + in_frac
     * fraction bits. If large intercepts allow only fewer, the slopes get fewer bits as well. */
    for (;;) {
        if (lines_of(pwl, lines, &slope_bits, &most_intercept) != 0)
            return -1;
        intercept_bits = fraction_bits(most_intercept, slope_bits + in_frac);
        if (slope_bits + in_frac - intercept_bits <= SHIFT_MAX)
            break;
        slope_bits = SHIFT_MAX + intercept_bits - in_frac;
    }
    const int intercept_shift = slope_bits + in_frac - intercept_bits;
    const int result_shift = slope_bits + in_frac - out_frac;
    if (result_shift < -48 || result_shift > 63)
        return -1;
    table[0] = (int16_t)pwl->x0;
    table[1] = (int16_t)pwl->x_shift;
    table[2] = (int16_t)pwl->segments;
    table[3] = (int16_t)intercept_shift;
    for (int32_t s = 0; s < pwl->segments; ++s) {
        table[4 + 2 * s] = word_of(lines[s].slope, slope_bits);
        table[5 + 2 * s] = word_of(lines[s].intercept, intercept_bits);
    }
    *shift = result_shift;
    return 0;
}

int cnnvp_pwl_table_of(double (*function)(const void *context, double x), const void *context, double low, double high,
                       int in_frac, int out_frac, size_t segments, int16_t *table, size_t *words, int *shift)
{
    struct pwl pwl = {.function = function, .context = context};
    if (place(low, high, in_frac, segments, &pwl) != 0 || out_frac < -16 || out_frac > FRAC_MAX ||
        *words < CNNVP_PWL_WORDS((size_t)pwl.segments))
        return -1;
    struct line *lines = malloc((size_t)pwl.segments * sizeof *lines);
    const int status = lines != NULL ? fill(&pwl, lines, in_frac, out_frac, table, shift) : -1;
    free(lines);
    if (status == 0)
        *words = CNNVP_PWL_WORDS((size_t)pwl.segments);
    return status;
}
