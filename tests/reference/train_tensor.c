/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of the training reference (train_tensor.h). */
#include "train_tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *train_room(uint64_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        (void)fprintf(stderr, "train_reference: no memory\n");
        exit(1);
    }
    return memory;
}

static uint64_t blocks_of(const struct train_tensor *tensor, uint64_t images)
{
    return tensor->block == TRAIN_BY_IMAGE ? images : tensor->block == TRAIN_BY_CHANNEL ? tensor->channels : 1;
}

static uint64_t block_of(const struct train_tensor *tensor, uint64_t image, uint64_t channel)
{
    return tensor->block == TRAIN_BY_IMAGE ? image : tensor->block == TRAIN_BY_CHANNEL ? channel : 0;
}

struct train_tensor *train_tensor_new(uint32_t bits, int numbers, enum train_block block, uint64_t images,
                                      uint32_t channels, uint64_t plane)
{
    const uint64_t count = images * channels * plane;
    struct train_tensor *tensor = train_room(1, sizeof *tensor);
    tensor->block = block;
    tensor->channels = channels;
    tensor->plane = plane;
    if (bits == 0 || numbers)
        tensor->numbers = train_room(count, sizeof(double));
    if (bits != 0) {
        tensor->mantissas = train_room(count, sizeof(int32_t));
        tensor->exponents = train_room(blocks_of(tensor, images), sizeof(int));
    }
    return tensor;
}

void train_tensor_free(struct train_tensor *tensor)
{
    free(tensor->mantissas);
    free(tensor->exponents);
    free(tensor->numbers);
    free(tensor);
}

uint64_t train_hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int train_log2(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return exponent - 1;
}

int train_tensor_exponent(const struct train_tensor *tensor, uint64_t image, uint64_t channel)
{
    return tensor->exponents[block_of(tensor, image, channel)];
}

static int exponent_at(const struct train_tensor *tensor, uint64_t i)
{
    return train_tensor_exponent(tensor, i / tensor->plane / tensor->channels, i / tensor->plane % tensor->channels);
}

double train_tensor_value(const struct train_tensor *tensor, uint32_t bits, uint64_t i)
{
    return bits == 0 ? tensor->numbers[i]
                     : ldexp((double)tensor->mantissas[i], exponent_at(tensor, i) - ((int)bits - 2));
}

void train_tensor_numbers(struct train_tensor *tensor, uint32_t bits, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        tensor->numbers[i] = train_tensor_value(tensor, bits, i);
}

/* The mantissa of binary32 number x for an exponent: x / 2^(exponent - (bits - 2)), rounded. */
static int32_t mantissa_of(uint32_t bits, enum train_rounding rounding, double x, int exponent, uint64_t random,
                           uint64_t *saturated)
{
    const int32_t limit = (int32_t)((1u << (bits - 1)) - 1u);
    /* x is m * 2^power with an integer m below 2^24: the 24 significant bits, or fewer for subnormal numbers. */
    const int power = x < 0 || x > 0 ? (train_log2(x) > -126 ? train_log2(x) : -126) - 23 : 0;
    const uint64_t whole = (uint64_t)fabs(ldexp(x, -power));
    const int shift = exponent - ((int)bits - 2) - power;
    uint64_t kept;
    uint64_t lost = 0;
    if (shift <= 0) {
        kept = -shift > 30 ? (whole != 0 ? UINT64_MAX : 0) : whole << -shift;
    } else {
        kept = shift > 60 ? 0 : whole >> shift;
        lost = shift > 60 ? whole : whole - (kept << shift);
        const uint64_t unit = shift > 60 ? 0 : UINT64_C(1) << shift;
        if (rounding == TRAIN_NEAREST && unit != 0)
            kept += lost * 2 > unit || (lost * 2 == unit && kept % 2 == 1) ? 1 : 0;
        else if (rounding == TRAIN_STOCHASTIC && shift <= 55)
            kept += lost > random % unit ? 1 : 0;
        else if (rounding == TRAIN_FLOOR && x < 0)
            kept += lost != 0 ? 1 : 0;
    }
    const uint64_t most = (uint64_t)limit + (x < 0 ? 1 : 0);
    if (kept > most) {
        ++*saturated;
        kept = most;
    }
    return x < 0 ? -(int32_t)kept : (int32_t)kept;
}

/* Rounds to nearest, adding what earlier values of the map have lost. Remainders count 1/65536 of a unit, as integers
 * in binary64, so all steps are exact. */
static int32_t carried(uint32_t bits, double x, int exponent, double *remainder, uint64_t *saturated)
{
    const double parts = 65536;
    const double limit = ldexp(1, (int)bits - 1);
    const double sum = nearbyint(ldexp(x, (int)bits - 2 - exponent) * parts) + *remainder;
    const double mantissa = floor(sum / parts + 0.5);
    *remainder = sum - mantissa * parts;
    if (mantissa >= -limit && mantissa < limit)
        return (int32_t)mantissa;
    ++*saturated;
    *remainder = 0;
    return (int32_t)(mantissa > 0 ? limit - 1 : -limit);
}

void train_tensor_round(struct train_tensor *tensor, uint32_t bits, enum train_rounding rounding, uint64_t seed,
                        const double *x, uint64_t n, uint64_t *saturated)
{
    double remainder = 0;
    for (uint64_t i = 0; i < n; ++i) {
        const int exponent = exponent_at(tensor, i);
        remainder = i % tensor->plane == 0 ? 0 : remainder;
        tensor->mantissas[i] =
            rounding == TRAIN_CARRIED ? carried(bits, x[i], exponent, &remainder, saturated)
                                      : mantissa_of(bits, rounding, x[i], exponent, train_hash(seed, i), saturated);
    }
}

void train_tensor_quantise(struct train_tensor *tensor, uint32_t bits, enum train_rounding rounding, uint64_t seed,
                           const double *x, uint64_t n, uint64_t *saturated)
{
    if (bits == 0) {
        memcpy(tensor->numbers, x, n * sizeof *x);
        return;
    }
    const uint64_t images = n / tensor->plane / tensor->channels;
    const uint64_t blocks = blocks_of(tensor, images);
    double *max = train_room(blocks, sizeof *max);
    for (uint64_t i = 0; i < n; ++i) {
        double *of = &max[block_of(tensor, i / tensor->plane / tensor->channels, i / tensor->plane % tensor->channels)];
        *of = fabs(x[i]) > *of ? fabs(x[i]) : *of;
    }
    for (uint64_t b = 0; b < blocks; ++b) {
        const int exponent = max[b] > 0 ? train_log2(max[b]) : -128;
        tensor->exponents[b] = exponent < -128 ? -128 : exponent;
    }
    free(max);
    train_tensor_round(tensor, bits, rounding, seed, x, n, saturated);
}
