/* SPDX-License-Identifier: Apache-2.0 */
/* Words written in bulk are those of cnnvp_round_fx16 one by one, in every rounding and for every shift, with limits
 * and without. */
#include "inference/write_out/write_out.h"
#include "random.h"

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
        for (uint32_t rounding = CNNVP_ROUNDING_TRUNCATE; rounding <= CNNVP_ROUNDING_STOCHASTIC; ++rounding)
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
