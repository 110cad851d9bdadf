/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of single words: rounding, division, tables, softmax. */
#include <math.h>

#include "reference_internal.h"

__extension__ typedef unsigned __int128 wide;

static int16_t saturate(int64_t value)
{
    if (value > 32767)
        return 32767;
    return value < -32768 ? (int16_t)-32768 : (int16_t)value;
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
}

uint64_t cnnvp_reference_random(uint64_t seed, uint64_t index)
{
    /* counter-based random number: the finaliser of splitmix64 */
    uint64_t z = seed + (index + 1) * 11400714819323198485u;
    z = (z ^ z / 1073741824u) * 13787848793156543929u;
    z = (z ^ z / 134217728u) * 10723151780598845931u;
    return z ^ z / 2147483648u;
}

int64_t cnnvp_reference_wrap(int64_t sum, uint32_t bits)
{
    uint64_t value = (uint64_t)sum;
    if (bits < 64) {
        value &= (UINT64_C(1) << bits) - 1;
        if (value >> (bits - 1) != 0)
            value |= ~((UINT64_C(1) << bits) - 1);
    }
    return (int64_t)value;
}

int64_t cnnvp_reference_shift(int64_t value, int shift)
{
    for (; shift > 0; --shift)
        value = (int64_t)((uint64_t)value * 2u);
    for (; shift < 0; ++shift)
        value = value >= 0 ? value / 2 : -((-(value + 1)) / 2) - 1;
    return value;
}

int16_t cnnvp_reference_round(int64_t sum, int shift, uint32_t rounding, uint64_t random)
{
    for (; shift < 0; ++shift) {
        if (sum > 32767 || sum < -32768)
            return saturate(sum);
        sum *= 2;
    }
    if (rounding == 2) {
        const uint64_t below = (UINT64_C(1) << shift) - 1;
        return saturate(cnnvp_reference_shift(sum, -shift) + (((uint64_t)sum & below) > (random & below)));
    }
    /* Shifts bit by bit. `half` is the last bit shifted out, `rest` tells whether any bit before it was set. */
    const int negative = sum < 0;
    uint64_t magnitude = magnitude_of(sum);
    int half = 0;
    int rest = 0;
    for (; shift > 0; --shift) {
        rest |= half;
        half = (int)(magnitude & 1u);
        magnitude >>= 1;
    }
    if ((rounding == 1 && half && (rest || (magnitude & 1u) != 0)) || (rounding == 3 && negative && (half || rest)))
        ++magnitude;
    if (magnitude > 65536)
        magnitude = 65536;
    return saturate(negative ? -(int64_t)magnitude : (int64_t)magnitude);
}

/* Rounds value * 2^exponent to 24 bits and to a multiple of the smallest binary32. */
static wide to_binary32(wide value, int *exponent)
{
    wide unit = 1;
    while (value / unit >= 1u << 24 || (*exponent < -149 && unit <= value)) {
        unit *= 2u;
        ++*exponent;
    }
    const wide rest = value % unit;
    value /= unit;
    if (*exponent >= -149 && (rest * 2u > unit || (rest * 2u == unit && value % 2u == 1u)))
        ++value;
    if (value < 1u << 24)
        return value;
    ++*exponent;
    return value / 2u;
}

int16_t cnnvp_reference_scale(int64_t sum, const int16_t record[4], int shift, uint32_t rounding, uint64_t random)
{
    const uint32_t offset = (uint16_t)record[0] + 65536u * (uint16_t)record[1];
    const uint32_t multiplier = (uint16_t)record[2] + 65536u * (uint16_t)record[3];
    const int power = (int)(multiplier / 8388608u % 256u);
    const int64_t moved = (int64_t)((uint64_t)sum + offset - (offset >= 1u << 31 ? UINT64_C(1) << 32 : 0));
    const int negative = (moved < 0) != (multiplier >= 1u << 31);
    int first = 0, last;
    wide value = to_binary32(magnitude_of(moved), &first);
    last = first + (power != 0 ? power : 1) - 150;
    value = to_binary32(value * (multiplier % 8388608u + (power != 0 ? 8388608u : 0)), &last);
    if (power == 255 || (value != 0 && last > 104))
        return 0;
    shift -= last;
    shift = shift > 63 ? 63 : shift < -48 ? -48 : shift;
    return cnnvp_reference_round(negative ? -(int64_t)value : (int64_t)value, shift, rounding, random);
}

int64_t cnnvp_reference_quotient(int64_t sum, int64_t divisor, int shift, uint32_t rounding, uint64_t random)
{
    if (divisor == 0)
        return sum > 0 ? 32767 : sum < 0 ? -32768 : 0;
    const int negative = (sum < 0) != (divisor < 0);
    wide top = magnitude_of(sum);
    wide bottom = magnitude_of(divisor);
    for (; shift < 0; ++shift)
        top *= 2;
    for (; shift > 0; --shift)
        bottom *= 2;
    wide quotient = top / bottom;
    wide rest = top % bottom;
    if (rounding == 1 && (2 * rest > bottom || (2 * rest == bottom && quotient % 2 != 0)))
        ++quotient;
    if (rounding == 3 && negative && rest != 0)
        ++quotient;
    if (rounding == 2) {
        uint64_t fraction = 0;
        for (int bit = 0; bit < 32; ++bit) {
            rest *= 2;
            fraction = 2 * fraction + (rest >= bottom);
            rest %= bottom;
        }
        quotient += fraction > (random & 0xffffffffu);
    }
    if (quotient > INT64_MAX)
        quotient = INT64_MAX;
    return negative ? -(int64_t)quotient : (int64_t)quotient;
}

int16_t cnnvp_reference_divide(int64_t sum, int64_t divisor, int shift, uint32_t rounding, uint64_t random)
{
    return saturate(cnnvp_reference_quotient(sum, divisor, shift, rounding, random));
}

int16_t cnnvp_reference_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int exponent, uint32_t rounding)
{
    /* The largest word with word^2 * variance <= 4^exponent, or with word - 1/2 instead of word when rounding to
     * nearest. Both sides are multiplied by 4 * count. The scaling stops at 2^100, since one side then decides. */
    const wide enough = (wide)1 << 100;
    wide left = (wide)sum + (wide)count * epsilon;
    wide right = (wide)count * 4u;
    for (; exponent > 0 && right < enough; --exponent)
        right *= 4u;
    for (; exponent < 0 && left < enough; ++exponent)
        left *= 4u;
    uint64_t word = 0;
    while (word < 32767) {
        const uint64_t twice = 2 * (word + 1) - (rounding == 0 || rounding == 3 ? 0 : 1);
        if (left * twice * twice > right)
            break;
        ++word;
    }
    return (int16_t)word;
}

int64_t cnnvp_reference_line(const int16_t *table, int64_t x)
{
    const int64_t last = table[2] - 1;
    int64_t segment = cnnvp_reference_shift((int64_t)((uint64_t)x - (uint64_t)(int64_t)table[0]), -table[1]);
    segment = segment < 0 ? 0 : segment > last ? last : segment;
    const int64_t slope = table[4 + 2 * segment];
    const int64_t intercept = cnnvp_reference_shift(table[5 + 2 * segment], table[3]);
    return (int64_t)((uint64_t)slope * (uint64_t)x + (uint64_t)intercept);
}

int16_t cnnvp_reference_table(const int16_t *table, int16_t x, uint32_t format)
{
    return cnnvp_reference_round(cnnvp_reference_line(table, x), (int8_t)(format & 0xffu), format >> 16 & 3u, 0);
}

/* e^-d with 30 fraction bits, where d has `fraction` fraction bits: 2^(-d / ln 2), interpolated linearly between 64
 * points. */
static uint64_t falling_exponential(const struct cnnvp_reference_softmax *softmax, uint64_t d)
{
    int fraction = softmax->fraction;
    for (; fraction < 0 && d <= 32; ++fraction)
        d *= 2;
    fraction = fraction < 0 ? 0 : fraction;
    if (d > UINT64_C(32) << fraction)
        d = UINT64_C(32) << fraction;
    const uint64_t exponent = d * softmax->log2_e / (UINT64_C(1) << fraction);
    const uint64_t whole = exponent / (UINT64_C(1) << 30);
    const uint64_t point = exponent / (UINT64_C(1) << 24) % 64;
    const uint64_t between = exponent % (UINT64_C(1) << 24);
    const uint64_t here = softmax->points[point];
    const uint64_t next = softmax->points[point + 1];
    return whole >= 31 ? 0 : (here - (here - next) * between / (UINT64_C(1) << 24)) >> whole;
}

void cnnvp_reference_softmax_begin(struct cnnvp_reference_softmax *softmax, const int64_t *x, size_t count,
                                   int fraction)
{
    *softmax = (struct cnnvp_reference_softmax){.largest = x[0], .fraction = fraction};
    softmax->log2_e = (uint64_t)llroundl(1073741824.0L / logl(2.0L));
    for (int point = 0; point < 65; ++point)
        softmax->points[point] = (uint64_t)llroundl(1073741824.0L * exp2l(-(long double)point / 64.0L));
    for (size_t i = 0; i < count; ++i)
        softmax->largest = x[i] > softmax->largest ? x[i] : softmax->largest;
    for (size_t i = 0; i < count; ++i)
        softmax->sum += falling_exponential(softmax, (uint64_t)softmax->largest - (uint64_t)x[i]);
}

int16_t cnnvp_reference_softmax_word(const struct cnnvp_reference_softmax *softmax, int64_t x, uint32_t bits,
                                     int32_t shift)
{
    const uint64_t most = (UINT64_C(1) << (bits - 1u)) - 1u;
    if (x > softmax->largest) /* a result has overwritten an operand with a larger value */
        return (int16_t)most;
    const uint64_t e = falling_exponential(softmax, (uint64_t)softmax->largest - (uint64_t)x);
    const uint64_t twice = (e << ((int32_t)bits - shift)) + softmax->sum;
    const uint64_t word = twice / (2 * softmax->sum);
    return (int16_t)(word > most ? most : word);
}

static float binary32_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double scaled_operand(int64_t number, uint32_t scale)
{
    const int64_t within = number > 255 ? 255 : number < -256 ? -256 : number;
    return (double)(float)((double)within * (double)binary32_of(scale));
}

/* Each step is rounded to binary32 once, because binary64 has more than twice its bits. */
int64_t reference_combined(uint32_t opcode, struct reference_operands by, int64_t a, int64_t b)
{
    const int zero = (int16_t)(by.zeros >> 16);
    const double x = scaled_operand(a - (int8_t)(by.zeros & 0xffu), by.a);
    const double y = scaled_operand(b - (int8_t)(by.zeros >> 8 & 0xffu), by.b);
    const float z = (float)(opcode == CNNVP_OPCODE_vmac ? x * y : opcode == CNNVP_OPCODE_vadd ? x + y : x - y);
    double quotient = (float)((double)z / (double)binary32_of(by.divisor));
    quotient = quotient > 65536.0 ? 65536.0 : quotient < -65536.0 ? -65536.0 : quotient;
    const double centred = (float)(quotient + zero);
    const int64_t below = (int64_t)(centred + 131072.0) - 131072;
    const double rest = centred - (double)below;
    return below + (rest > 0.5 || (rest >= 0.5 && below % 2 != 0)) - zero;
}
