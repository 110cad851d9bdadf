/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that work on a repetition as a whole: mean, variance, softmax. */
#include "lanes_internal.h"

/* Sums of squares saturate here, so that adding epsilon cannot overflow. */
#define MAX_SQUARES (UINT64_C(1) << 62)

__extension__ typedef __int128 wide; /* for sums of 64 bits shifted left by 15, squares of 62 by 30 */

static uint64_t shorter(uint64_t left)
{
    return left < LANES_CHUNK ? left : LANES_CHUNK;
}

static int16_t clip(int64_t value, uint32_t word_bytes, uint64_t *clipped)
{
    const int64_t most = word_bytes == 1u ? INT8_MAX : INT16_MAX;
    if (value > most || value < -most - 1) {
        ++*clipped;
        return (int16_t)(value > 0 ? most : -most - 1);
    }
    return (int16_t)value;
}

static int64_t sum_of(const struct lanes_job *job, const struct lanes_operand *operand, uint64_t o)
{
    int64_t values[LANES_CHUNK];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < job->count; i += LANES_CHUNK) {
        const uint64_t n = shorter(job->count - i);
        lanes_load(operand, o, i, n, values);
        for (uint64_t k = 0; k < n; ++k)
            sum += (uint64_t)values[k];
    }
    return (int64_t)sum;
}

static uint64_t squares_of(const struct lanes_job *job, uint64_t o, int64_t mean)
{
    const wide unit = (wide)1 << job->bias_shift;
    int64_t values[LANES_CHUNK];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < job->count; i += LANES_CHUNK) {
        const uint64_t n = shorter(job->count - i);
        lanes_load(&job->a, o, i, n, values);
        for (uint64_t k = 0; k < n; ++k) {
            const wide d = values[k] * unit - mean;
            const wide distance = d < 0 ? -d : d;
            const uint64_t square = distance >> 31 != 0 ? MAX_SQUARES : (uint64_t)(distance * distance);
            sum = sum + square < MAX_SQUARES ? sum + square : MAX_SQUARES;
        }
    }
    return sum;
}

/* The same sum of squared distances, calculated from the sums of the elements and of their squares. */
static uint64_t squares_from_sums(const struct lanes_job *job, uint64_t o, int64_t mean)
{
    const wide unit = (wide)1 << job->bias_shift;
    const wide elements = sum_of(job, &job->a, o) * unit;
    const wide squares = sum_of(job, &job->c, o) * unit * unit;
    const wide all = squares - 2 * mean * elements + (wide)job->divisor * mean * mean;
    if (all < 0)
        return 0; /* the sums are not those of any elements */
    return all < (wide)MAX_SQUARES ? (uint64_t)all : MAX_SQUARES;
}

static int64_t largest_of(const struct lanes_job *job, uint64_t o)
{
    int64_t values[LANES_CHUNK];
    int64_t largest = INT64_MIN;
    for (uint64_t i = 0; i < job->count; i += LANES_CHUNK) {
        const uint64_t n = shorter(job->count - i);
        lanes_load(&job->a, o, i, n, values);
        for (uint64_t k = 0; k < n; ++k)
            largest = values[k] > largest ? values[k] : largest;
    }
    return largest;
}

static uint64_t exponential(int64_t largest, int64_t value, int32_t fraction)
{
    return lanes_exp((uint64_t)largest - (uint64_t)value, fraction);
}

/* The last sweep goes element by element, because results may overlap operands. */
static void softmax(const struct lanes_job *job, uint64_t o)
{
    const int32_t fraction = job->bias_shift;
    const int64_t largest = largest_of(job, o);
    const uint32_t bits = (job->out.bytes == 1u ? 7u : 15u) - (uint32_t)job->shift;
    const uint64_t most = job->out.bytes == 1u ? INT8_MAX : INT16_MAX;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < job->count; ++i) {
        int64_t value;
        lanes_load(&job->a, o, i, 1, &value);
        sum += exponential(largest, value, fraction);
    }
    for (uint64_t i = 0; i < job->count; ++i) {
        int64_t value;
        lanes_load(&job->a, o, i, 1, &value);
        /* An operand above the largest is a result that overtook the first sweep. The others' exponentials are at most
         * 2^30, and part of the sum. */
        const uint64_t twice =
            value > largest ? 2u * most : (exponential(largest, value, fraction) << (bits + 1u)) / sum;
        const uint64_t word = (twice + 1u) / 2u;
        const int16_t result = (int16_t)(word > most ? most : word);
        lanes_put(&job->out, o, i, 1, &result);
    }
}

uint64_t lanes_reduce(const struct lanes_job *job)
{
    uint64_t clipped = 0;
    for (uint64_t o = 0; o < job->repeat; ++o) {
        int16_t word;
        if (job->opcode == CNNVP_OPCODE_vsoftmax) {
            softmax(job, o);
            continue;
        }
        if (job->opcode == CNNVP_OPCODE_vmean) {
            word = clip(lanes_divide(sum_of(job, &job->a, o), (int64_t)job->divisor, job->shift, job->rounding,
                                     cnnvp_round_random(job->seed, o)),
                        job->out.bytes, &clipped);
        } else {
            int64_t mean;
            lanes_load(&job->b, o, 0, 1, &mean);
            word =
                lanes_inverse_root(job->sums ? squares_from_sums(job, o, mean) : squares_of(job, o, mean), job->divisor,
                                   (uint64_t)job->immediate, job->bias_shift - job->shift, job->rounding);
            word = clip(word, job->out.bytes, &clipped);
        }
        lanes_put(&job->out, o, 0, 1, &word);
    }
    return clipped;
}
