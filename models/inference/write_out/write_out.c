/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the write-out stage, see write_out.h. Area: yosys maps a 48-bit shifter, rounding, saturation and a
 * 16-bit register to 744 um2 of Nangate45 cells; the parts reported below are 712 um2. tests/rtl/write_out.sv, which
 * scales, has 9.2 times the transistors of tests/rtl/nfu_output.sv, which does not; by the parts it is 7.9 times. */
#include "write_out.h"

#include <string.h>

#include "cnnvp_fx16.h"
#include "unit/parts.h"

/* Saturates to 16 bits, and counts values that this changes. */
static inline int16_t clip(int64_t value, uint64_t *clipped)
{
    *clipped += (value > INT16_MAX ? 1u : 0u) + (value < INT16_MIN ? 1u : 0u);
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/* Rounds with ties to even, for shift 1 .. 62. This is the usual case, in a form that compilers vectorise. */
static uint64_t round_nearest(const int64_t *sums, uint64_t count, uint32_t shift, int16_t *words)
{
    const uint64_t mask = (UINT64_C(1) << shift) - 1u;
    const uint64_t half = (mask + 1u) >> 1;
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t negative = sums[i] < 0 ? UINT64_MAX : 0;
        /* floor(sum / 2^shift): an arithmetic right shift */
        const uint64_t floor = (((uint64_t)sums[i] ^ negative) >> shift) ^ negative;
        const uint64_t rest = (uint64_t)sums[i] & mask;
        words[i] = clip((int64_t)(floor + (rest + (floor & 1u) > half ? 1u : 0u)), &clipped);
    }
    return clipped;
}

static uint64_t clip_words(const int64_t *sums, uint64_t count, int16_t *words)
{
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i)
        words[i] = clip(sums[i], &clipped);
    return clipped;
}

static uint64_t round_words(const struct cnnvp_write_out *stage, const int64_t *sums, uint64_t count, uint64_t first,
                            int16_t *words)
{
    const int32_t shift = stage->shift;
    if (stage->rounding == CNNVP_ROUNDING_NEAREST && shift >= 1 && shift <= 62)
        return round_nearest(sums, count, (uint32_t)shift, words);
    if (shift == 0)
        return clip_words(sums, count, words);
    uint64_t clipped = 0;
    if (stage->rounding == CNNVP_ROUNDING_STOCHASTIC)
        for (uint64_t i = 0; i < count; ++i)
            words[i] = cnnvp_round_fx16(
                sums[i], shift, CNNVP_ROUNDING_STOCHASTIC, cnnvp_round_random(stage->seed, first + i), &clipped);
    else
        for (uint64_t i = 0; i < count; ++i)
            words[i] = cnnvp_round_fx16(sums[i], shift, stage->rounding, 0, &clipped);
    return clipped;
}

/* Adds the zero point to words and saturates them to 8 bits. Returns how many saturate, including those that were
 * already saturated to 16 bits. */
static uint64_t narrow_words(int16_t *words, uint64_t count, int16_t zero)
{
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const int32_t value = words[i] + zero;
        const int32_t word = value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value;
        clipped += word != value;
        words[i] = (int16_t)word;
    }
    return clipped;
}

static struct cnnvp_scale scale_of(const struct cnnvp_write_out *stage, uint64_t sum)
{
    struct cnnvp_scale scale;
    memcpy(&scale, stage->scales + sum / stage->scale_sums * CNNVP_SCALE_WORDS, sizeof scale);
    return scale;
}

/* True if no product with a 64-bit sum is infinite or NaN. */
static int is_small(float multiplier)
{
    return multiplier > -1e18f && multiplier < 1e18f;
}

/* Rounds to nearest without a shift, the usual case. Adding and subtracting 1.5 * 2^23 rounds to an integer, because
 * binary32 numbers of that size have no fraction bits. */
static uint64_t scale_nearest(const struct cnnvp_scale *scale, const int64_t *sums, uint64_t count, int16_t *words)
{
    const float whole = 12582912.0f, most = 65536.0f;
    const uint64_t offset = (uint64_t)(int64_t)scale->offset;
    uint64_t clipped = 0;
    for (uint64_t i = 0; i < count; ++i) {
        float value = (float)(int64_t)((uint64_t)sums[i] + offset) * scale->multiplier;
        value = value > most ? most : value < -most ? -most : value;
        words[i] = clip((int32_t)((value + whole) - whole), &clipped);
    }
    return clipped;
}

static uint64_t scale_words(const struct cnnvp_write_out *stage, const int64_t *sums, uint64_t count, uint64_t first,
                            int16_t *words)
{
    uint64_t clipped = 0;
    for (uint64_t i = 0, end; i < count; i = end) {
        const struct cnnvp_scale scale = scale_of(stage, first + i);
        end = i + stage->scale_sums - (first + i) % stage->scale_sums;
        end = end < count ? end : count;
        if (stage->rounding == CNNVP_ROUNDING_NEAREST && stage->shift == 0 && is_small(scale.multiplier)) {
            clipped += scale_nearest(&scale, sums + i, end - i, words + i);
            continue;
        }
        for (uint64_t k = i; k < end; ++k) {
            int32_t shift;
            const int64_t sum = cnnvp_scaled(sums[k], &scale, &shift);
            shift += stage->shift;
            shift = shift > 63 ? 63 : shift < -48 ? -48 : shift;
            words[k] =
                cnnvp_round_fx16(sum, shift, stage->rounding, cnnvp_round_random(stage->seed, first + k), &clipped);
        }
    }
    return clipped;
}

static int16_t table_word(const uint8_t *table, uint64_t index)
{
    int16_t word;
    memcpy(&word, table + 2u * index, sizeof word);
    return word;
}

void cnnvp_table_lines(const void *table, const int64_t *values, uint64_t count, int64_t *lines)
{
    const int64_t x0 = table_word(table, 0);
    const int32_t x_shift = table_word(table, 1);
    const int64_t last = table_word(table, 2) - 1;
    const int32_t intercept_shift = table_word(table, 3);
    for (uint64_t i = 0; i < count; ++i) {
        const int64_t distance = (int64_t)((uint64_t)values[i] - (uint64_t)x0);
        int64_t index = distance < 0 ? 0 : distance >> x_shift;
        index = index > last ? last : index;
        const int64_t slope = table_word(table, 4u + 2u * (uint64_t)index);
        const int64_t intercept = table_word(table, 5u + 2u * (uint64_t)index);
        lines[i] = (int64_t)((uint64_t)slope * (uint64_t)values[i] + ((uint64_t)intercept << intercept_shift));
    }
}

static float number_of(int64_t word, int32_t zero, float scale)
{
    const int32_t number = (int32_t)word - zero;
    return (float)(number > 255 ? 255 : number < -256 ? -256 : number) * scale;
}

/* Adding and subtracting 1.5 * 2^23 rounds to an integer, because binary32 numbers of that size have no fraction
 * bits. */
void cnnvp_combine_scaled(const struct cnnvp_operand_scales *scales, int multiplies, const int64_t *a, const int64_t *b,
                          uint64_t count, int64_t *results)
{
    const float whole = 12582912.0f, most = 65536.0f;
    const float centre = (float)scales->centre;
    for (uint64_t i = 0; i < count; ++i) {
        const float x = number_of(a[i], scales->a_zero, scales->a);
        const float y = number_of(b[i], scales->b_zero, scales->b);
        float value = (multiplies ? x * y : x + y) / scales->divisor;
        value = value > most ? most : value < -most ? -most : value;
        results[i] = (int32_t)((value + centre) + whole - whole) - scales->centre;
    }
}

static int is_scale(float scale)
{
    return scale >= 0x1p-100f && scale <= 0x1p100f;
}

int cnnvp_read_operand_scales(const void *words, struct cnnvp_operand_scales *scales)
{
    float multipliers[3];
    uint32_t zeros;
    memcpy(multipliers, words, sizeof multipliers);
    memcpy(&zeros, (const unsigned char *)words + sizeof multipliers, sizeof zeros);
    *scales = (struct cnnvp_operand_scales){
        .a = multipliers[0],
        .b = multipliers[1],
        .divisor = multipliers[2],
        .a_zero = (int8_t)(zeros & 0xffu),
        .b_zero = (int8_t)(zeros >> 8 & 0xffu),
        .centre = (int16_t)(zeros >> 16)};
    return is_scale(scales->a) && is_scale(scales->b) && is_scale(scales->divisor);
}

enum { AT_ONCE = 64 };

static void combine_words(const struct cnnvp_operand_scales *scales, const int16_t *a, const int16_t *b, uint64_t count,
                          int64_t *sums)
{
    int64_t wide[2][AT_ONCE];
    for (uint64_t k = 0; k < count; ++k) {
        wide[0][k] = a[k];
        wide[1][k] = b[k];
    }
    cnnvp_combine_scaled(scales, 0, wide[0], wide[1], count, sums);
}

/* Adds the words that were at the place of the results, in place. */
static uint64_t add_words(const struct cnnvp_write_out *stage, uint64_t count, int16_t *words)
{
    const struct cnnvp_addition *addition = &stage->addition;
    const struct cnnvp_write_out after = {.shift = addition->shift, .rounding = addition->rounding};
    struct cnnvp_operand_scales scales;
    int64_t sums[AT_ONCE];
    uint64_t saturated = 0;
    const uint32_t a_shift = addition->b_shift < 0 ? (uint32_t)-addition->b_shift : 0;
    const uint32_t b_shift = addition->b_shift > 0 ? (uint32_t)addition->b_shift : 0;
    const int scaled = addition->scaled != 0 && cnnvp_read_operand_scales(stage->operands, &scales);
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        const uint64_t n = count - i < AT_ONCE ? count - i : AT_ONCE;
        const int16_t *const a = (addition->swapped ? stage->added : words) + i;
        const int16_t *const b = (addition->swapped ? words : stage->added) + i;
        for (uint64_t k = 0; k < n; ++k)
            sums[k] = (int64_t)(((uint64_t)a[k] << a_shift) + ((uint64_t)b[k] << b_shift));
        if (scaled)
            combine_words(&scales, a, b, n, sums);
        saturated += round_words(&after, sums, n, 0, words + i);
    }
    return saturated;
}

/* Takes 16-bit words through the table, in place. */
static uint64_t look_up(const struct cnnvp_write_out *stage, uint64_t count, uint64_t first, int16_t *words)
{
    struct cnnvp_write_out after = *stage;
    int64_t lines[AT_ONCE];
    uint64_t saturated = 0;
    after.shift = stage->table_shift;
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        const uint64_t n = count - i < AT_ONCE ? count - i : AT_ONCE;
        for (uint64_t k = 0; k < n; ++k)
            lines[k] = words[i + k];
        cnnvp_table_lines(stage->table, lines, n, lines);
        saturated += round_words(&after, lines, n, first + i, words + i);
    }
    return saturated;
}

uint64_t cnnvp_write_out(const struct cnnvp_write_out *stage, const int64_t *sums, uint64_t count, uint64_t first,
                         int16_t *words)
{
    const int16_t low = stage->low;
    const int16_t high = stage->high;
    uint64_t saturated = stage->scales != NULL ? scale_words(stage, sums, count, first, words)
                                               : round_words(stage, sums, count, first, words);
    if (stage->word_bytes == 1u && stage->table == NULL)
        saturated = narrow_words(words, count, stage->zero);
    if (stage->added != NULL) {
        const uint64_t beyond = add_words(stage, count, words);
        saturated += stage->word_bytes == 1u ? narrow_words(words, count, (int16_t)stage->addition.zero) : beyond;
    }
    for (uint64_t i = 0; stage->clips && i < count; ++i)
        words[i] = words[i] < low ? low : words[i] > high ? high : words[i];
    if (stage->table == NULL)
        return saturated;
    const uint64_t beyond = look_up(stage, count, first, words);
    return saturated + (stage->word_bytes == 1u ? narrow_words(words, count, stage->zero) : beyond);
}

void cnnvp_table_parts(const struct cnnvp_costs *costs, uint64_t lanes)
{
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "table: slope");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 2u * lanes, "table: segment and intercept");
}

/* A quotient has few integer bits: one multiplier estimates it with 12 bits of the divisor's inverse, another one
 * computes the remainder, which decides the rounding. vdiv has the time of a division and uses the two in turn. */
void cnnvp_operand_scale_parts(const struct cnnvp_costs *costs, uint64_t lanes, uint64_t sets)
{
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 15u, 3u * lanes,
                   "scale: multipliers of operands, and of the quotient, 9 by 24 bits");
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 17u, lanes,
                   "scale: multiplier by the divisor's inverse, 12 by 24 bits");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 9u, 3u * lanes, "scale: zero points");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 24u, 10u * lanes,
                   "scale: shifters as two adders, sums, rounding of each step");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 48u, CNNVP_OPERAND_SCALE_STAGES * lanes, "scale: stages");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 136u, sets, "scale: multipliers, divisor and its inverse, zero points");
}

void cnnvp_write_out_parts(const struct cnnvp_costs *costs, uint64_t has, uint32_t bits, uint64_t lanes,
                           uint64_t registers, int narrow)
{
    cnnvp_say_part(costs, CNNVP_PART_ADDER, bits, 3u * lanes, "write-out: rounding, and a shifter as two adders");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, registers, "write-out: a word");
    if (has >= CNNVP_WRITE_OUT_CLIPS)
        cnnvp_say_part(costs, CNNVP_PART_ADDER, 16u, 2u * lanes, "write-out: comparators with the limits");
    if (has < CNNVP_WRITE_OUT_SCALES)
        return;
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, lanes, "write-out: offset of a channel");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, bits, 2u * lanes, "write-out: shifter to 24 bits, as two adders");
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 24u, lanes, "write-out: multiplier of a channel");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 24u, 2u * lanes, "write-out: rounding before and after the multiplier");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 16u, lanes, "write-out: zero point");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, lanes, "write-out: offset and multiplier");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 48u, CNNVP_WRITE_OUT_SCALE_STAGES * lanes, "write-out: stages");
    if (has >= CNNVP_WRITE_OUT_ADDS) {
        cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 6u * lanes,
                       "write-out: addition, its rounding, and shifters as two adders");
        cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, CNNVP_WRITE_OUT_ADD_STAGES * lanes,
                       "write-out: stages of an addition");
        if (narrow)
            cnnvp_operand_scale_parts(costs, lanes, 1u);
    }
    if (!cnnvp_write_out_tables(has))
        return;
    cnnvp_table_parts(costs, lanes);
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 3u * lanes, "table: rounding, and a shifter as two adders");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 48u, CNNVP_WRITE_OUT_TABLE_STAGES * lanes, "table: stages");
    cnnvp_say_sram(costs, 32u, 4u * CNNVP_WRITE_OUT_TABLE_SEGMENTS, lanes, "table: segments of a lane");
}
