/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic of the lanes beyond C's operators. It gives the same results on every machine. */
#include "lanes_internal.h"

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
}

/* Continues a division by `bits` bits: returns quotient * 2^bits + floor(*rest * 2^bits / divisor), saturated at 2^63,
 * and leaves the remainder in *rest. rest < divisor < 2^63. */
static uint64_t long_divide(uint64_t quotient, uint64_t *rest, uint64_t divisor, uint32_t bits)
{
    const uint64_t limit = UINT64_C(1) << 63;
    for (uint32_t bit = 0; bit < bits; ++bit) {
        if (quotient >= limit / 2u) {
            *rest = 0;
            return limit;
        }
        quotient *= 2u;
        *rest *= 2u;
        if (*rest >= divisor) {
            *rest -= divisor;
            ++quotient;
        }
    }
    return quotient;
}

/* Returns 1 if the fraction (rest * 2^shift + low) / (divisor * 2^shift), which is below 1, rounds the magnitude
 * `quotient` up. */
static int rounds_up(uint64_t quotient, int negative, uint64_t rest, uint64_t low, uint32_t shift, uint64_t divisor,
                     uint32_t rounding, uint64_t random)
{
    if (rounding == CNNVP_ROUNDING_TRUNCATE)
        return 0;
    if (rounding == CNNVP_ROUNDING_FLOOR)
        return negative && (rest != 0 || low != 0);
    if (rounding == CNNVP_ROUNDING_NEAREST) {
        /* compares twice the fraction with 1; first in whole units of the divisor: divisor - 2 rest is <= 0, 1, or
         * more */
        if (2u * rest >= divisor)
            return 2u * rest > divisor || low != 0 || (quotient & 1u) != 0;
        if (divisor - 2u * rest > 1u || shift == 0)
            return 0;
        const uint64_t half = UINT64_C(1) << (shift - 1u);
        return low > half || (low == half && (quotient & 1u) != 0);
    }
    uint64_t fraction_rest = rest;
    uint64_t fraction = long_divide(0, &fraction_rest, divisor, 32u);
    if (shift != 0) {
        /* add the first 32 bits of low / 2^shift, with the carry of the division */
        const uint64_t low_bits = shift >= 32u ? low >> (shift - 32u) : low << (32u - shift);
        fraction += (fraction_rest + low_bits) / divisor;
    }
    return fraction > (random & UINT32_MAX);
}

int64_t lanes_divide(int64_t numerator, int64_t denominator, int32_t shift, uint32_t rounding, uint64_t random)
{
    const int negative = (numerator < 0) != (denominator < 0);
    const uint64_t divisor = magnitude(denominator);
    const uint32_t right = shift > 0 ? (uint32_t)shift : 0;
    const uint64_t whole = magnitude(numerator) >> right;
    const uint64_t low = magnitude(numerator) & ((UINT64_C(1) << right) - 1u);
    uint64_t rest = whole % divisor;
    uint64_t quotient = whole / divisor;
    if (shift < 0)
        quotient = long_divide(quotient, &rest, divisor, (uint32_t)-shift);
    quotient += (uint64_t)rounds_up(quotient, negative, rest, low, right, divisor, rounding, random);
    if (quotient > (uint64_t)INT64_MAX)
        quotient = (uint64_t)INT64_MAX;
    return negative ? -(int64_t)quotient : (int64_t)quotient;
}

/* floor(sqrt(value)), value < 2^62 */
static uint64_t integer_root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

int16_t lanes_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int32_t exponent, uint32_t rounding)
{
    /* (2 * word)^2 = 4 * 2^(2 exponent) * count / (sum + count * epsilon). The integer root of the integer part is the
     * integer part of the root, so everything below is exact. */
    const uint64_t divisor = sum + count * epsilon;
    const int32_t bits = 2 * exponent + 2;
    const uint64_t largest = 2u * (uint64_t)INT16_MAX;
    if (divisor == 0)
        return INT16_MAX;
    uint64_t square;
    if (bits < 0) {
        square = bits > -64 ? (count >> -bits) / divisor : 0;
    } else {
        uint64_t rest = count % divisor;
        square = long_divide(count / divisor, &rest, divisor, (uint32_t)bits);
    }
    if (square > (largest + 1u) * (largest + 1u))
        return INT16_MAX;
    const uint64_t twice = integer_root(square);
    const uint64_t word =
        (twice + (rounding == CNNVP_ROUNDING_TRUNCATE || rounding == CNNVP_ROUNDING_FLOOR ? 0u : 1u)) / 2u;
    return word > (uint64_t)INT16_MAX ? INT16_MAX : (int16_t)word;
}

/* round(2^30 * 2^(-i / 64)), i = 0 .. 64 */
static const uint32_t powers[65] = {
    1073741824, 1062175491, 1050733751, 1039415261, 1028218693, 1017142735, 1006186087, 995347464, 984625594, 974019220,
    963527098,  953147997,  942880699,  932724001,  922676710,  912737649,  902905651,  893179563, 883558244, 874040567,
    864625413,  855311680,  846098274,  836984114,  827968132,  819049271,  810226483,  801498734, 792865000, 784324269,
    775875538,  767517817,  759250125,  751071493,  742980960,  734977579,  727060411,  719228525, 711481005, 703816941,
    696235434,  688735596,  681316545,  673977412,  666717336,  659535466,  652430958,  645402981, 638450708, 631573326,
    624770026,  618040012,  611382493,  604796689,  598281827,  591837143,  585461881,  579155293, 572916640, 566745190,
    560640218,  554601009,  548626854,  542717053,  536870912,
};

uint64_t lanes_exp(uint64_t d, int32_t fraction)
{
    const uint64_t log2_e = 1549082005; /* round(2^30 / ln 2) */
    const uint32_t right = fraction > 0 ? (uint32_t)fraction : 0;
    const uint32_t left = fraction < 0 ? (uint32_t)-fraction : 0;
    const uint64_t most = UINT64_C(32) << right; /* e^-32 is below 2^-31 */
    d = (d > most ? most : d) << left;
    d = d > most ? most : d;
    const uint64_t t = d * log2_e >> right; /* 30 fraction bits; d * log2_e < 2^(5 + 24 + 31) */
    const uint64_t whole = t >> 30;
    const uint64_t index = t >> 24 & 63u;
    const uint64_t between = t & 0xffffffu; /* fraction of a segment, of 2^24 */
    if (whole >= 31u)
        return 0;
    const uint64_t fall = (powers[index] - powers[index + 1u]) * between >> 24;
    return (powers[index] - fall) >> whole;
}
