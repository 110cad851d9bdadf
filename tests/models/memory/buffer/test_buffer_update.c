/* SPDX-License-Identifier: Apache-2.0 */
/* Updates: results, partial sums, what is compacted. */
#include "buffer_case.h"
#include "random.h"

static int64_t random_sum(uint64_t *seed)
{
    const uint64_t bits = next_state(seed);
    const int64_t wide = (int64_t)(bits ^ (bits >> 29));
    const uint32_t narrow = (uint32_t)(bits >> 58); /* 0 .. 63 */
    return wide / (int64_t)(UINT64_C(1) << (narrow > 62 ? 62 : narrow));
}

/* The value a 128-bit machine would give: wrap to bits, shift, round, clip. */
static int16_t expected_word(int64_t sum, int32_t shift, uint32_t rounding, uint64_t random, uint64_t *clipped)
{
    __extension__ typedef __int128 wide;
    wide value = sum;
    if (shift <= 0) {
        value *= (wide)1 << -shift;
    } else {
        const wide unit = (wide)1 << shift;
        wide quotient = value / unit;
        wide rest = value % unit;
        if (rest < 0) {
            rest += unit;
            quotient -= 1;
        }
        if (rounding == CNNVP_ROUNDING_TRUNCATE)
            value = quotient + (value < 0 && rest != 0);
        else if (rounding == CNNVP_ROUNDING_NEAREST)
            value = quotient + (2 * rest > unit || (2 * rest == unit && quotient % 2 != 0));
        else if (rounding == CNNVP_ROUNDING_STOCHASTIC)
            value = quotient + (rest > (wide)random % unit);
        else
            value = quotient;
    }
    if (value > 32767 || value < -32768) {
        ++*clipped;
        value = value > 0 ? 32767 : -32768;
    }
    return (int16_t)value;
}

static int64_t expected_wrap(int64_t sum, uint32_t bits)
{
    if (bits == 64)
        return sum;
    const int64_t unit = (int64_t)(UINT64_C(1) << (bits - 1u));
    int64_t low = sum % unit; /* -unit < low < unit */
    const int odd = (sum / unit) % 2 != 0;
    if (odd)
        low += low >= 0 ? -unit : unit;
    if (low == unit)
        low = -unit;
    return low;
}

static void test_write_out(void **state)
{
    static const int32_t shifts[] = {-48, -3, 0, 1, 2, 8, 15, 31, 47, 62, 63};
    static const uint32_t widths[] = {16, 33, 48, 63, 64};
    enum { PLANES = 3, WORDS = 301 };
    static int64_t sums[PLANES * WORDS];
    uint64_t seed = 7;
    (void)state;
    for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; ++s)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; ++w)
            for (uint32_t rounding = 0; rounding < 4; ++rounding) {
                struct fixture f;
                open_buffer(&f, 0, 1);
                for (size_t i = 0; i < PLANES * WORDS; ++i)
                    sums[i] = random_sum(&seed);
                sums[0] = INT64_MIN;
                sums[1] = INT64_MAX;
                sums[2] = 3; /* a tie at shift 1 */
                sums[3] = -3;
                struct cnnvp_update u = plain_update(sums, PLANES, WORDS);
                u.half = 1;
                u.plane_stride = WORDS + 5;
                u.out_address = 10;
                u.acc_bits = widths[w];
                u.shift = shifts[s];
                u.rounding = rounding;
                u.seed = 99;
                assert_int_equal(update(&f, &u), CNNVP_OK);
                uint64_t clipped = 0;
                for (uint64_t p = 0; p < PLANES; ++p)
                    for (uint64_t i = 0; i < WORDS; ++i) {
                        const uint64_t n = p * WORDS + i;
                        const int16_t expected = expected_word(expected_wrap(sums[n], widths[w]), shifts[s], rounding,
                                                               cnnvp_round_random(99, n), &clipped);
                        const uint32_t at = (uint32_t)(10u + 2u * (p * (WORDS + 5u) + i));
                        assert_int_equal(*borrow(&f, 1, at, 2), expected);
                    }
                assert_int_equal(u.saturated, clipped);
                assert_int_equal(fake_count(f.host, "write_words"), PLANES * WORDS);
                fake_sim_free(&f.sim);
            }
}

/* Three updates: initialise, accumulate and maximise partial sums, then a write-out on top of them. */
static void test_partial_sums(void **state)
{
    static const int64_t first[] = {10, -20, 1000, -1000};
    static const int64_t second[] = {5, 5, -2000, 900};
    static const int64_t third[] = {100, -100, 0, -99};
    static const int64_t fourth[] = {1, 1, 1, 1};
    /* 15 -15 -1000 -100 | max: 100 -15 0 -99 | + 1: 101 -14 1 -98, / 4 ties to even: 25.25 -3.5 0.25 -24.5 */
    static const int16_t expected[] = {25, -4, 0, -24};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(first, 2, 2);
    u.acc_address = 64;
    u.partial = 1;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.sums = second;
    u.mode = CNNVP_UPDATE_ACCUMULATE;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.sums = third;
    u.mode = CNNVP_UPDATE_MAXIMISE;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_int_equal(fake_counter(f.host, "feature_bytes"), 24);
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 3 * 12 + 2 * 12); /* sums that were there, too */
    /* 48 bits each */
    static const uint8_t kept[] = {
        100, 0, 0, 0, 0, 0, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x9d, 0xff, 0xff, 0xff, 0xff, 0xff};
    assert_memory_equal(borrow(&f, 0, 64, sizeof kept), kept, sizeof kept);
    u.sums = fourth;
    u.mode = CNNVP_UPDATE_ACCUMULATE;
    u.partial = 0;
    u.shift = 2;
    u.out_address = 64; /* in place: compaction */
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_memory_equal(borrow(&f, 0, 64, 8), expected, sizeof expected);
    assert_int_equal(fake_counter(f.host, "feature_words"), 4);
    assert_int_equal(fake_counter(f.host, "feature_bytes"), 8);
    assert_int_equal(fake_count(f.host, "updates_initialise"), 4);
    assert_int_equal(fake_count(f.host, "updates_accumulate"), 8);
    assert_int_equal(fake_count(f.host, "updates_maximise"), 4);
    assert_int_equal(fake_count(f.host, "partial_write_words"), 3 * 12);
    assert_int_equal(fake_count(f.host, "partial_read_words"), 3 * 12);
    assert_int_equal(fake_count(f.host, "write_words"), 4);
    fake_sim_free(&f.sim);
}

/* Results are added to the 8-bit words at their place, whose partial sums lie elsewhere. */
static void test_added_words(void **state)
{
    static const int64_t sums[] = {40, -400, 7, 1 << 20};
    static const int8_t there[] = {5, -100, 0, 127};
    /* A quarter, to nearest even: 10, -100, 2, and 127 at most. The sum with twice the word there, plus 3: 23, -297,
     * 5, 384. */
    static const int8_t expected[] = {23, -128, 5, 127};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(sums, 2, 2);
    u.shift = 2;
    u.word_bytes = 1;
    u.plane_stride = 2;
    u.out_address = 64;
    u.added = 1;
    u.addition = (struct cnnvp_addition){.b_shift = 1, .rounding = CNNVP_ROUNDING_NEAREST, .zero = 3};
    memcpy(borrow(&f, 0, 64, 4), there, 4);
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_memory_equal(borrow(&f, 0, 64, 4), expected, 4);
    assert_int_equal(u.saturated, 1 + 2); /* 2^18, and two sums */
    assert_int_equal(fake_count(f.host, "partial_read_words"), 2);
    assert_int_equal(fake_count(f.host, "write_words"), 2);
    u.passes = 2; /* sums that are kept in between would overwrite the words */
    u.acc_address = 64 - 8;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.acc_address = 68;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.addition.rounding = CNNVP_ROUNDING_STOCHASTIC;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    fake_sim_free(&f.sim);
}

/* Words with the steps 1/2 (zero point 4) and 1/4 (-2) in steps of 1 (zero point -1), ties to even: 7.5 and 1.75 make
 * 9.25, -62 and -24.5 make -86.5, 1.5 and 0.5 make 2, 61.5 and 32.25 make 93.75. With `swapped` the steps change
 * places. */
static void test_added_scaled(void **state)
{
    static const int64_t sums[] = {19, -120, 7, 127};
    static const int8_t there[] = {5, -100, 0, 127};
    static const int8_t expected[] = {8, -88, 1, 93};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(sums, 1, 4);
    u.shift = 0;
    u.word_bytes = 1;
    u.out_address = 64;
    u.added = 1;
    u.addition = (struct cnnvp_addition){.rounding = CNNVP_ROUNDING_NEAREST, .zero = -1, .scaled = 1};
    for (uint32_t swapped = 0; swapped < 2; ++swapped) {
        const float steps[] = {swapped ? 0.25f : 0.5f, swapped ? 0.5f : 0.25f, 1};
        const uint32_t zeros = (swapped ? 0x04feu : 0xfe04u) | 0xffff0000u;
        unsigned char words[2u * CNNVP_OPERAND_WORDS];
        memcpy(words, steps, sizeof steps);
        memcpy(words + sizeof steps, &zeros, sizeof zeros);
        u.addition.swapped = swapped;
        u.operands = (const int16_t *)(const void *)words;
        memcpy(borrow(&f, 0, 64, 4), there, 4);
        assert_int_equal(update(&f, &u), CNNVP_OK);
        assert_memory_equal(borrow(&f, 0, 64, 4), expected, 4);
    }
    u.addition.b_shift = 1;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.addition.b_shift = 0;
    static const float without[4] = {0.5f, 0, 1, 0};
    u.operands = (const int16_t *)(const void *)without;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.operands = NULL;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    fake_sim_free(&f.sim);
}

/* Words are maximised where they are, whatever the sums' width; those of several passes keep their sums elsewhere. */
static void test_maxima_of_words(void **state)
{
    static const int64_t first[] = {40, -400, 7, 1 << 20};
    static const int64_t second[] = {39, -44, 9, 3};
    static const int16_t expected[] = {10, -11, 2, 32767}; /* a quarter, to nearest even: 9.75, -11, 2.25; clipped */
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(first, 2, 2);
    u.shift = 2;
    u.plane_stride = 3;
    u.out_address = 16;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_int_equal(u.saturated, 1);
    u.sums = second;
    u.mode = CNNVP_UPDATE_MAXIMISE;
    u.of_words = 1;
    u.acc_address = HALF; /* not used */
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_memory_equal(borrow(&f, 0, 16, 4), expected, 4);
    assert_memory_equal(borrow(&f, 0, 22, 4), expected + 2, 4);
    assert_int_equal(fake_count(f.host, "updates_maximise"), 4);
    assert_int_equal(fake_count(f.host, "partial_read_words"), 4);
    assert_int_equal(fake_count(f.host, "read_bytes"), 8);
    assert_int_equal(fake_count(f.host, "write_words"), 8);
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 3 * 4);
    assert_int_equal(fake_counter(f.host, "feature_words"), 4);
    u.passes = 2;
    u.acc_address = 24; /* the words end at 26 */
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.acc_address = 32;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.partial = 1;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.partial = 0;
    u.mode = CNNVP_UPDATE_ACCUMULATE;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    fake_sim_free(&f.sim);
}

/* The slot of a sum is the 16-bit words that its bits need, in bytes, counts and ranges; the widest sums of each width
 * stay what they are, and nothing beside them is touched. */
static void test_slots(void **state)
{
    (void)state;
    for (uint32_t bits = 16; bits <= 64; ++bits) {
        const int64_t widest = (int64_t)(UINT64_MAX >> (65u - bits));
        const int64_t sums[] = {widest, -widest - 1, -1, 1};
        static const int64_t none[4] = {0};
        const uint32_t slot = bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 48 ? 6 : 8;
        struct fixture f;
        open_buffer(&f, 0, 1);
        memset(borrow(&f, 0, 60, 60), 0x55, 60);
        struct cnnvp_update u = plain_update(sums, 1, 4);
        u.acc_bits = bits;
        u.acc_address = 62;
        u.partial = 1;
        assert_int_equal(update(&f, &u), CNNVP_OK);
        const uint8_t *at = (const uint8_t *)borrow(&f, 0, 60, 60);
        assert_int_equal(at[1], 0x55);
        assert_int_equal(at[2 + 4 * slot], 0x55);
        for (uint32_t i = 0; i < 4; ++i)
            assert_memory_equal(at + 2 + i * slot, &sums[i], slot);
        assert_int_equal(fake_count(f.host, "partial_write_words"), 4 * slot / 2);
        assert_int_equal(fake_counter(f.host, "feature_bytes"), 4 * slot);
        for (int32_t shift = 0; shift < (int32_t)bits; shift += (int32_t)bits - 1) {
            uint64_t clipped = 0;
            u.sums = none;
            u.mode = CNNVP_UPDATE_ACCUMULATE;
            u.partial = 0;
            u.shift = shift;
            u.out_address = 1000;
            u.rounding = CNNVP_ROUNDING_NEAREST;
            assert_int_equal(update(&f, &u), CNNVP_OK);
            for (uint32_t i = 0; i < 4; ++i)
                assert_int_equal(*borrow(&f, 0, 1000 + 2 * i, 2),
                                 expected_word(sums[i], shift, CNNVP_ROUNDING_NEAREST, 0, &clipped));
        }
        assert_int_equal(fake_count(f.host, "partial_read_words"), 2 * 4 * slot / 2);
        fake_sim_free(&f.sim);
    }
}

/* Compaction of more sums than one chunk, and with gaps between the planes of the result. */
static void test_compaction(void **state)
{
    enum { PLANES = 2, WORDS = 250 };
    static int64_t sums[PLANES * WORDS];
    static int64_t zero[PLANES * WORDS];
    (void)state;
    for (uint64_t stride = WORDS; stride <= 2u * WORDS; stride += WORDS) {
        struct fixture f;
        open_buffer(&f, 0, 1);
        for (int i = 0; i < PLANES * WORDS; ++i)
            sums[i] = 16 * (i - 77);
        struct cnnvp_update u = plain_update(sums, PLANES, WORDS);
        u.partial = 1;
        assert_int_equal(update(&f, &u), CNNVP_OK);
        u.sums = zero;
        u.mode = CNNVP_UPDATE_ACCUMULATE;
        u.partial = 0;
        u.plane_stride = stride;
        assert_int_equal(update(&f, &u), CNNVP_OK);
        for (uint64_t p = 0; p < PLANES; ++p)
            for (uint64_t i = 0; i < WORDS; ++i)
                assert_int_equal(*borrow(&f, 0, (uint32_t)(2u * (p * stride + i)), 2), (int)(p * WORDS + i) - 77);
        fake_sim_free(&f.sim);
    }
}

static void test_bad_updates(void **state)
{
    static const int64_t sums[16] = {0};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    const struct cnnvp_update good = plain_update(sums, 4, 4);
    struct {
        struct cnnvp_update u;
        int status;
    } cases[14];
    for (size_t c = 0; c < 14; ++c) {
        cases[c].u = good;
        cases[c].status = CNNVP_E_INVAL;
    }
    cases[0].u.planes = 0;
    cases[1].u.plane_words = 0;
    cases[2].u.mode = 3;
    cases[3].u.acc_bits = 15;
    cases[4].u.shift = 64;
    cases[5].u.rounding = 4;
    cases[6].u.plane_stride = 3;
    cases[7].u.mode = CNNVP_UPDATE_ACCUMULATE; /* results would run over sums that are still to be read */
    cases[7].u.acc_address = 8;
    cases[7].u.out_address = 24;
    cases[8].u.sums = NULL;
    cases[9].u.half = 2;
    cases[9].status = CNNVP_E_ADDR;
    cases[10].u.out_address = HALF - 30u;
    cases[10].status = CNNVP_E_ADDR;
    cases[11].u.planes = UINT64_C(1) << 62;
    cases[11].u.plane_words = UINT64_C(1) << 62;
    cases[11].u.plane_stride = UINT64_C(1) << 62;
    cases[11].status = CNNVP_E_ADDR;
    cases[12].u.plane_stride = UINT64_MAX / 2u;
    cases[12].status = CNNVP_E_ADDR;
    cases[13].u.partial = 1;
    cases[13].u.acc_address = 13;
    cases[13].status = CNNVP_E_ACCESS;
    for (size_t c = 0; c < 14; ++c)
        assert_int_equal(update(&f, &cases[c].u), cases[c].status);
    struct cnnvp_update u = good;
    u.partial = 1;
    u.acc_address = HALF - 94u;
    assert_int_equal(update(&f, &u), CNNVP_E_ADDR);
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &u, .size = 8};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_INVAL);
    u = good;
    u.out_address = HALF - 32u;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    /* the last of several passes reads the sums of the others: the first word ends at the second sum, or behind it */
    u.passes = 2;
    u.acc_address = 8;
    u.out_address = 12;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.out_address = 14;
    assert_int_equal(update(&f, &u), CNNVP_E_INVAL);
    u.passes = 0;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    /* initialise does not look at acc_address */
    u.acc_address = 0xffffffffu;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    fake_sim_free(&f.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_out),   cmocka_unit_test(test_partial_sums), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_added_words), cmocka_unit_test(test_added_scaled), cmocka_unit_test(test_maxima_of_words),
        cmocka_unit_test(test_compaction),  cmocka_unit_test(test_bad_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
