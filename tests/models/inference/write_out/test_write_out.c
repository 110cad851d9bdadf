/* SPDX-License-Identifier: Apache-2.0 */
/* Words written in bulk are those of cnnvp_round_fx16 one by one, in every rounding and for every shift, with limits
 * and without. */
#include "inference/write_out/write_out.h"
#include "random.h"
#include "reference/reference.h"

#include "test.h"

enum { MOST = 40, SEED = 77 };

/* The largest and smallest sums, sums half-way between two words and next to it, and any. */
static int64_t random_sum(uint64_t *random, int32_t shift)
{
    const uint64_t bits = (uint64_t)next_bits(random) << 32 | next_bits(random);
    const uint64_t half = shift > 0 ? UINT64_C(1) << (shift - 1) : 0;
    switch (bits % 5u) {
    case 0:
        return INT64_MAX;
    case 1:
        return INT64_MIN;
    case 2:
        return (int64_t)((bits | half) & ~(half - 1u)) >> (bits >> 8 & 3u);
    case 3:
        return (int64_t)(bits % 7u) - 3;
    default:
        return (int64_t)bits >> (bits >> 8 & 63u);
    }
}

static void test_words(void **state)
{
    uint64_t random = 16;
    uint64_t all_clipped = 0, limited = 0;
    (void)state;
    for (int32_t shift = -48; shift <= 63; ++shift)
        for (uint32_t rounding = CNNVP_ROUNDING_TRUNCATE; rounding <= CNNVP_ROUNDING_FLOOR; ++rounding)
            for (uint64_t count = 1; count <= MOST; count += 3) {
                int64_t sums[MOST];
                int16_t words[MOST + 1] = {0};
                uint64_t clipped = 0;
                words[count] = 0x5a5a;
                for (uint64_t i = 0; i < count; ++i)
                    sums[i] = random_sum(&random, shift);
                const int16_t low = (int16_t)next_bits(&random), span = (int16_t)(next_bits(&random) & 0x7fffu);
                const struct cnnvp_write_out stage = {
                    .shift = shift,
                    .rounding = rounding,
                    .seed = SEED,
                    .clips = next_bits(&random) & 1u,
                    .low = low,
                    .high = (int16_t)(low > INT16_MAX - span ? INT16_MAX : low + span)};
                const uint64_t got = cnnvp_write_out(&stage, sums, count, count, words);
                for (uint64_t i = 0; i < count; ++i) {
                    int16_t word =
                        cnnvp_round_fx16(sums[i], shift, rounding, cnnvp_round_random(SEED, count + i), &clipped);
                    const int16_t rounded = word;
                    if (stage.clips && word > stage.high)
                        word = stage.high;
                    if (stage.clips && word < stage.low)
                        word = stage.low;
                    assert_int_equal(words[i], word);
                    limited += word != rounded;
                }
                assert_int_equal(got, clipped);
                assert_int_equal(words[count], 0x5a5a);
                all_clipped += clipped;
            }
    assert_true(all_clipped > 0 && limited > 0);
}

/* ---- scales ---- */

/* Any binary32, or one near what networks have. */
static uint32_t random_multiplier(uint64_t *random)
{
    const uint32_t bits = next_bits(random);
    switch (next_bits(random) % 6u) {
    case 0:
        return bits;
    case 1: /* infinite, none, 0 and the smallest ones */
        return (bits & 0x80000000u) | (bits & 1u ? 0x7f800000u : 0) | (bits & 2u ? bits >> 29 : 0);
    case 2: /* powers of two: ties */
        return 0x3f800000u - (bits % 40u << 23);
    default:
        return 0x3f800000u - (bits % 30u << 23) + (bits >> 9);
    }
}

/* By the reference's whole numbers of 128 bits, where the stage has the host's binary32. */
static void test_scales(void **state)
{
    uint64_t random = 46;
    uint64_t all_clipped = 0, whole = 0;
    (void)state;
    for (uint32_t n = 0; n < 60000u; ++n) {
        int64_t sums[MOST];
        int16_t words[MOST + 1] = {0}, records[2 * MOST][4];
        const uint64_t count = 1u + next_bits(&random) % MOST, each = 1u + next_bits(&random) % (MOST / 2u);
        const uint64_t first = next_bits(&random) % each;
        const uint32_t rounding = next_bits(&random) % 4u;
        const int32_t shift = next_bits(&random) % 3u != 0 ? 0 : (int32_t)(next_bits(&random) % 112u) - 48;
        uint64_t clipped = 0;
        words[count] = 0x5a5a;
        for (uint64_t i = 0; i < 2u * MOST; ++i) {
            const uint32_t parts[2] = {next_bits(&random) >> (next_bits(&random) & 31u), random_multiplier(&random)};
            memcpy(records[i], parts, sizeof parts);
        }
        for (uint64_t i = 0; i < count; ++i)
            sums[i] = random_sum(&random, (int32_t)(next_bits(&random) % 40u));
        const struct cnnvp_write_out stage = {
            .shift = shift,
            .rounding = rounding,
            .seed = SEED,
            .clips = 1,
            .low = -200,
            .high = INT16_MAX,
            .scales = records[0],
            .scale_sums = each};
        const uint64_t got = cnnvp_write_out(&stage, sums, count, first, words);
        for (uint64_t i = 0; i < count; ++i) {
            const int16_t word = cnnvp_reference_scale(
                sums[i], records[(first + i) / each], shift, rounding, cnnvp_reference_random(SEED, first + i));
            assert_int_equal(words[i], word < -200 ? -200 : word);
            clipped += word == INT16_MAX || word == INT16_MIN;
            whole += word != 0 && word != INT16_MAX && word != INT16_MIN;
        }
        assert_true(got <= clipped); /* the largest word may be a result */
        assert_int_equal(words[count], 0x5a5a);
        all_clipped += got;
    }
    assert_true(all_clipped > 0 && whole > 10000u);
}

/* Worked out by hand: 2^24 + 1 is no binary32, and 0.1 is 13421773 * 2^-27. */
static void test_scales_by_hand(void **state)
{
    static const struct {
        int64_t sum;
        int32_t offset;
        float multiplier;
        int16_t word;
    } known[] = {
        {5, 0, 0.5f, 2},        {7, 0, 0.5f, 4},           {-5, 0, 0.5f, -2},      {16777217, 0, 0.5f / 16777216.0f, 0},
        {25, 0, 0.1f, 2},       {35, 0, 0.1f, 4},          {1000, -1000, 1.0f, 0}, {-40000, 0, 1.0f, INT16_MIN},
        {10, 2147483647, 0, 0}, {-1, INT32_MIN, 1e-9f, -2}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        struct cnnvp_scale record = {known[i].offset, known[i].multiplier};
        int16_t scales[4], word = 0;
        memcpy(scales, &record, sizeof scales);
        const struct cnnvp_write_out stage = {.rounding = CNNVP_ROUNDING_NEAREST, .scales = scales, .scale_sums = 1};
        (void)cnnvp_write_out(&stage, &known[i].sum, 1, 0, &word);
        if (word != known[i].word)
            fail_msg("case %zu: %d, not %d", i, word, known[i].word);
    }
}

/* Rounded, then the zero point, then 8 bits, then limits; whole numbers that are ties go to the even one before. */
static void test_zero_points(void **state)
{
    const int64_t sums[] = {5, 7, -5, 300, -300, 40000, 20};
    const int16_t expected[] = {5, 7, 1, 127, -100, 127, 13};
    int16_t words[7];
    (void)state;
    const struct cnnvp_write_out stage = {
        .shift = 1,
        .rounding = CNNVP_ROUNDING_NEAREST,
        .clips = 1,
        .low = -100,
        .high = INT16_MAX,
        .word_bytes = 1,
        .zero = 3};
    assert_int_equal(cnnvp_write_out(&stage, sums, 7, 0, words), 3);
    assert_memory_equal(words, expected, sizeof expected);
}

/* A word of 16 bits within limits, then the table's function, rounded anew, then the zero point and 8 bits. */
static void test_tables(void **state)
{
    enum { SEGMENTS = 5 };
    uint64_t random = 90;
    uint64_t narrowed = 0, inner = 0;
    (void)state;
    for (uint32_t n = 0; n < 20000u; ++n) {
        int16_t words[2 * MOST + 1] = {0}, table[4 + 2 * SEGMENTS];
        int64_t sums[2 * MOST];
        const uint64_t count = 1u + next_bits(&random) % (2u * MOST);
        const int32_t shift = (int32_t)(next_bits(&random) % 30u);
        const uint32_t word_bytes = 1u + next_bits(&random) % 2u, rounding = next_bits(&random) % 4u;
        for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
            table[i] = (int16_t)next_bits(&random);
        table[1] = (int16_t)(next_bits(&random) % 16u);
        table[2] = SEGMENTS;
        table[3] = (int16_t)(next_bits(&random) % 20u);
        words[count] = 0x5a5a;
        for (uint64_t i = 0; i < count; ++i)
            sums[i] = random_sum(&random, shift) >> 24;
        const struct cnnvp_write_out stage = {
            .shift = shift,
            .rounding = rounding,
            .seed = SEED,
            .clips = n & 1u,
            .low = -3000,
            .high = 9000,
            .word_bytes = word_bytes,
            .zero = word_bytes == 1u ? 5 : 0,
            .table = table,
            .table_shift = (int32_t)(next_bits(&random) % 24u)};
        (void)cnnvp_write_out(&stage, sums, count, n, words);
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t chance = cnnvp_reference_random(SEED, n + i);
            int x = cnnvp_reference_round(sums[i], shift, rounding, chance);
            x = stage.clips && x < -3000 ? -3000 : stage.clips && x > 9000 ? 9000 : x;
            int word = cnnvp_reference_round(cnnvp_reference_line(table, x), stage.table_shift, rounding, chance);
            inner += word != INT16_MAX && word != INT16_MIN;
            if (word_bytes == 1u)
                word = word + 5 > 127 ? 127 : word + 5 < -128 ? -128 : word + 5;
            narrowed += word_bytes == 1u && word != 127 && word != -128;
            assert_int_equal(words[i], word);
        }
        assert_int_equal(words[count], 0x5a5a);
    }
    assert_true(narrowed > 10000u && inner > 100000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_scales), cmocka_unit_test(test_scales_by_hand),
        cmocka_unit_test(test_zero_points), cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
