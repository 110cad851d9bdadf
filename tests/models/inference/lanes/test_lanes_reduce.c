/* SPDX-License-Identifier: Apache-2.0 */
/* * Activation tables, mean, variance, softmax, and S000's batch normalisation out of them. Words are checked exactly
 * against 128-bit or double arithmetic of this file, and the functions against libm within their tolerance. */
#include "vector_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

__extension__ typedef __int128 wide;

static void test_mean(void **state)
{
    struct bench bench;
    uint32_t seed = 3;
    uint64_t clipped = 0;
    (void)state;
    bench_open(&bench, 16, 0);
    for (int n = 0; n < 300; ++n) {
        int16_t *const in = bench_data(&bench, IN, 0);
        const uint32_t count = 1u + bench_random(&seed) % 1000u;
        const int shift = (int)(bench_random(&seed) % 12u) - 8;
        for (uint32_t i = 0; i < 3u * count; ++i)
            in[i] = (int16_t)((int32_t)(bench_random(&seed) % 4096u) - 1000);
        const struct vector_tile t = {
            .count = count,
            .repeat = 3,
            .a_stride = 1,
            .a_repeat = (int32_t)count,
            .out_repeat = 2,
            .format = FORMAT(shift, 0, 1)};
        assert_true(bench_run(&bench, OP_vmean, A(IN), 0, &t) > 0);
        for (uint32_t o = 0; o < 3; ++o) {
            int64_t sum = 0;
            for (uint32_t i = 0; i < count; ++i)
                sum += in[o * count + i];
            /* sum * 2^-shift / count, both sides scaled to whole numbers */
            const int64_t numerator = (sum < 0 ? -sum : sum) * (shift < 0 ? 1 << -shift : 1);
            const int64_t denominator = (int64_t)count * (shift < 0 ? 1 : 1 << shift);
            int64_t word = numerator / denominator;
            const int64_t rest = numerator % denominator;
            word += 2 * rest > denominator || (2 * rest == denominator && word % 2);
            word = sum < 0 ? -word : word;
            clipped += word > 32767 || word < -32768;
            word = word > 32767 ? 32767 : word < -32768 ? -32768 : word;
            assert_int_equal(((int16_t *)bench_data(&bench, OUT, 0))[2u * o], word);
        }
    }
    assert_int_equal(fake_counter(bench.buffers[OUT], "feature_words"), 0);
    assert_true(clipped > 0);
    assert_int_equal(fake_count(bench.vector, "saturations"), clipped);
    bench_close(&bench);
}

/* 1 if w is round(2^k / sqrt(S / n + eps)): (2 w - 1)^2 (S + n eps) <= 4 n 2^2k < (2 w + 1)^2 (S + n eps). */
static int is_inverse_root(int64_t w, int64_t squares, int64_t n, int64_t eps, int k)
{
    const wide divisor = (wide)squares + (wide)n * eps;
    wide left = (wide)(2 * w - 1) * (2 * w - 1) * divisor;
    wide right = (wide)(2 * w + 1) * (2 * w + 1) * divisor;
    wide middle = 4 * (wide)n;
    if (k >= 0) {
        middle *= (wide)1 << (2 * k);
    } else {
        left *= (wide)1 << (-2 * k);
        right *= (wide)1 << (-2 * k);
    }
    return (w == 0 || left <= middle) && (w == 32767 || middle < right);
}

static void test_variance(void **state)
{
    struct bench bench;
    uint32_t seed = 9;
    int saturated = 0;
    (void)state;
    bench_open(&bench, 16, 0);
    for (int n = 0; n < 500; ++n) {
        int16_t *const in = bench_data(&bench, IN, 0);
        int16_t *const mean = (int16_t *)bench_data(&bench, WT, 0);
        int16_t *const out = bench_data(&bench, OUT, 0);
        const int64_t count = 1 + bench_random(&seed) % 500u;
        const int extra = (int)(bench_random(&seed) % 4u);
        const int shift = -(int)(bench_random(&seed) % 26u);
        const int32_t eps = (int32_t)(bench_random(&seed) % 3u * (bench_random(&seed) % 1000u));
        const uint32_t spread = 1u << (1u + bench_random(&seed) % 12u);
        int64_t squares = 0;
        mean[0] = (int16_t)((int32_t)(bench_random(&seed) % 200u) - 100);
        for (int64_t i = 0; i < count; ++i) {
            in[i] = (int16_t)((int32_t)(bench_random(&seed) % spread) - (int32_t)spread / 2);
            const int64_t d = in[i] * (1 << extra) - mean[0];
            squares += d * d;
        }
        const struct vector_tile t = {
            .count = (uint32_t)count, .repeat = 1, .a_stride = 1, .immediate = eps, .format = FORMAT(shift, extra, 1)};
        assert_true(bench_run(&bench, OP_vvar, A(IN) | B(WT), 0, &t) > 0);
        if (squares + count * eps == 0)
            assert_int_equal(out[0], 32767);
        else
            assert_true(is_inverse_root(out[0], squares, count, eps, extra - shift));
        saturated += out[0] == 32767;
        const struct vector_tile down = {
            .count = (uint32_t)count,
            .repeat = 1,
            .a_stride = 1,
            .out_addr = 2,
            .immediate = eps,
            .format = FORMAT(shift, extra, 0)};
        assert_true(bench_run(&bench, OP_vvar, A(IN) | B(WT), 0, &down) > 0);
        assert_true(out[1] == out[0] || out[1] == out[0] - 1);
    }
    assert_in_range(saturated, 5, 400);
    bench_close(&bench);
}

/* Mean and 1 / sigma of elements, and of the sums of their parts, as a PE array leaves them: the same words. */
static void test_sums_of_parts(void **state)
{
    enum { SUMS = 0x1000, SQUARES = 0x2000 };
    struct bench bench;
    uint32_t seed = 23;
    (void)state;
    bench_open(&bench, 16, 0);
    for (int n = 0; n < 500; ++n) {
        int16_t *const in = bench_data(&bench, IN, 0);
        int16_t *const out = bench_data(&bench, OUT, 0);
        int64_t *const sums = (int64_t *)(void *)((char *)bench_data(&bench, OUT, 0) + SUMS);
        int64_t *const squares = (int64_t *)(void *)((char *)bench_data(&bench, OUT, 0) + SQUARES);
        const uint32_t parts = 1u + bench_random(&seed) % 20u;
        const uint32_t taps = 1u + bench_random(&seed) % 12u;
        const uint32_t channels = 1u + bench_random(&seed) % 4u;
        const uint32_t spread = 1u << (1u + bench_random(&seed) % 15u);
        const int extra = (int)(bench_random(&seed) % 4u);
        const uint32_t format = FORMAT(-(int)(bench_random(&seed) % 20u), extra, bench_random(&seed) % 4u);
        for (uint32_t p = 0; p < channels * parts; ++p) {
            sums[p] = squares[p] = 0;
            for (uint32_t i = p * taps; i < (p + 1u) * taps; ++i) {
                in[i] = (int16_t)((int32_t)(bench_random(&seed) % spread) - (int32_t)spread / 2);
                sums[p] += in[i];
                squares[p] += (int64_t)in[i] * in[i];
            }
        }
        struct vector_tile t = {
            .count = parts * taps,
            .repeat = channels,
            .a_stride = 1,
            .a_repeat = (int32_t)(parts * taps),
            .b_repeat = 1,
            .out_repeat = 1,
            .format = format,
            .seed = bench_random(&seed)};
        struct vector_tile of_sums = t;
        of_sums.a_addr = SUMS;
        of_sums.count = parts;
        of_sums.a_repeat = of_sums.c_repeat = (int32_t)parts;
        of_sums.immediate = (int32_t)(parts * taps);
        of_sums.out_addr = 16;
        assert_true(bench_run(&bench, OP_vmean, A(IN), 0, &t) > 0);
        assert_true(bench_run(&bench, OP_vmean, A(WIDE) | 1u << 4, 0, &of_sums) > 0);
        assert_memory_equal(out, out + 8, channels * sizeof *out);
        t.immediate = of_sums.immediate = (int32_t)(bench_random(&seed) % 100u);
        t.out_addr = 32;
        of_sums.out_addr = 48;
        of_sums.c_addr = SQUARES;
        of_sums.b_stride = (int32_t)(parts * taps);
        assert_true(bench_run(&bench, OP_vvar, A(IN) | B(OUT), 0, &t) > 0);
        assert_true(bench_run(&bench, OP_vvar, A(WIDE) | B(OUT) | 1u << 4, 0, &of_sums) > 0);
        assert_memory_equal(out + 16, out + 24, channels * sizeof *out);
    }
    const struct vector_tile none = {.count = 1, .repeat = 1, .a_stride = 1};
    assert_int_equal(bench_run(&bench, OP_vmean, A(WIDE) | 1u << 4, 0, &none), CNNVP_E_INVAL);
    assert_int_equal(bench_run(&bench, OP_vvar, A(IN) | B(OUT) | 1u << 4, 0, &none), CNNVP_E_INVAL);
    bench_close(&bench);
}

static void test_softmax(void **state)
{
    struct bench bench;
    uint32_t seed = 21;
    (void)state;
    bench_open(&bench, 16, 0);
    for (int n = 0; n < 400; ++n) {
        int16_t *const in = bench_data(&bench, IN, 0);
        int16_t *const out = bench_data(&bench, OUT, 0);
        const uint32_t count = 1u + bench_random(&seed) % 100u;
        const int fraction = (int)(bench_random(&seed) % 33u) - 16;
        const uint32_t spread = 1u << (1u + bench_random(&seed) % 16u);
        const int shift = -(int)(bench_random(&seed) % 16u);
        for (uint32_t i = 0; i < 2u * count; ++i)
            in[i] = (int16_t)((int32_t)(bench_random(&seed) % spread) - (int32_t)(spread / 2u));
        const struct vector_tile t = {
            .count = count,
            .repeat = 2,
            .a_stride = 1,
            .a_repeat = (int32_t)count,
            .out_repeat = (int32_t)count,
            .format = FORMAT(shift, fraction, 1)};
        assert_true(bench_run(&bench, OP_vsoftmax, A(IN), 0, &t) > 0);
        for (uint32_t i = 0; i < 2u * count; ++i) {
            const int16_t *const row = in + i / count * count;
            double exact = 0.0; /* 1 / sum of e^(other - this): cannot underflow */
            for (uint32_t k = 0; k < count; ++k)
                exact += exp(ldexp(row[k] - in[i], -fraction));
            exact = 1.0 / exact;
            const double one = ldexp(32768.0, -shift), highest = 32767.0 / one;
            assert_true(fabs(out[i] / one - (exact > highest ? highest : exact)) <
                        0.5 / one + 1e-4 * exact + ldexp(2, -30));
        }
        /* in place */
        int16_t *const words = bench_data(&bench, OUT, 1);
        memcpy(words, in, 4u * count);
        assert_true(bench_run(&bench, OP_vsoftmax, A(OUT), 4, &t) > 0);
        assert_memory_equal(words, out, 4u * count);
    }
    bench_close(&bench);
}

/* Eight equal elements, each result a word ahead of its operand: from the second on operands are results, above the
 * largest of the first sweep. E is above 1 then, and its share of the sum beyond the largest word. */
static void test_softmax_overtakes(void **state)
{
    enum { COUNT = 8 };
    struct bench bench;
    (void)state;
    bench_open(&bench, 16, 0);
    int16_t *const words = bench_data(&bench, OUT, 0);
    memset(words, 0, (COUNT + 1u) * sizeof *words);
    const struct vector_tile t = {
        .count = COUNT, .repeat = 1, .a_stride = 1, .out_addr = 2, .format = FORMAT(-15, 0, 1)};
    assert_true(bench_run(&bench, OP_vsoftmax, A(OUT), 0, &t) > 0);
    for (int i = 1; i <= COUNT; ++i)
        assert_int_equal(words[i], INT16_MAX);
    bench_close(&bench);
}

static void test_batch_normalisation(void **state)
{
    enum { CHANNELS = 6, LENGTH = 700, FRACTION = 10, GAMMA = 12, MEAN = 2, SIGMA = 22 };
    /* in the output half: mean, 1 / sigma, scale, offset */
    enum { AT_MEAN = 60000, AT_INVERSE = 60100, AT_SCALE = 60200, AT_OFFSET = 60300, AT_PRODUCT = 60400 };
    struct bench bench;
    uint32_t seed = 77;
    double gamma[CHANNELS];
    double beta[CHANNELS];
    (void)state;
    bench_open(&bench, 16, 0);
    int16_t *const in = bench_data(&bench, IN, 0);
    int16_t *const parameters = bench_data(&bench, WT, 0); /* gamma, then beta */
    for (int c = 0; c < CHANNELS; ++c) {
        gamma[c] = 0.5 + c * 0.25;
        beta[c] = c - 2.5;
        parameters[c] = (int16_t)lround(ldexp(gamma[c], GAMMA));
        parameters[CHANNELS + c] = (int16_t)lround(ldexp(beta[c], GAMMA));
        for (int i = 0; i < LENGTH; ++i) {
            const int32_t noise = (int32_t)(bench_random(&seed) % 2048u + bench_random(&seed) % 2048u) - 2048;
            in[c * LENGTH + i] = (int16_t)(noise * (c + 2) / 3 + 300 * c);
        }
    }
    const struct vector_tile sweep = {.count = LENGTH, .repeat = CHANNELS, .a_stride = 1, .a_repeat = LENGTH};
    /* mean with MEAN more fraction bits; 1 / sigma with SIGMA - FRACTION fraction bits */
    struct vector_tile t = sweep;
    t.out_addr = AT_MEAN;
    t.out_repeat = 1;
    t.format = FORMAT(-MEAN, 0, 1);
    assert_true(bench_run(&bench, OP_vmean, A(IN), 0, &t) > 0);
    t.b_addr = AT_MEAN;
    t.b_repeat = 1;
    t.out_addr = AT_INVERSE;
    t.immediate = 160; /* 1e-5 in units of 2^-(2 * (FRACTION + MEAN)) */
    t.format = FORMAT(-SIGMA, MEAN, 1);
    assert_true(bench_run(&bench, OP_vvar, A(IN) | B(OUT), 0, &t) > 0);
    /* scale = gamma / sigma, 12 bits; product = mean * scale; offset = beta - product, 12 bits */
    struct vector_tile v = {.count = CHANNELS, .repeat = 1, .a_stride = 1, .b_stride = 1};
    v.a_addr = AT_INVERSE;
    v.out_addr = AT_SCALE;
    v.format = FORMAT(SIGMA - FRACTION + GAMMA - 12, 0, 1);
    assert_true(bench_run(&bench, OP_vmac, A(OUT) | B(WT) | STORE, 0, &v) > 0);
    v.a_addr = AT_MEAN;
    v.b_addr = AT_SCALE;
    v.out_addr = AT_PRODUCT;
    v.format = FORMAT(FRACTION + MEAN + 12 - 12, 0, 1);
    assert_true(bench_run(&bench, OP_vmac, A(OUT) | B(OUT) | STORE, 0, &v) > 0);
    v.a_addr = 2 * CHANNELS;
    v.b_addr = AT_PRODUCT;
    v.out_addr = AT_OFFSET;
    v.format = FORMAT(0, 0, 1);
    assert_true(bench_run(&bench, OP_vsub, A(WT) | B(OUT) | STORE, 0, &v) > 0);
    t = sweep;
    t.b_addr = AT_SCALE;
    t.c_addr = AT_OFFSET;
    t.b_repeat = 1;
    t.c_repeat = 1;
    t.out_repeat = LENGTH;
    t.format = FORMAT(12, FRACTION, 1); /* result has FRACTION bits */
    assert_true(bench_run(&bench, OP_vnorm, A(IN) | B(OUT) | STORE, 0, &t) > 0);
    const int16_t *const out = bench_data(&bench, OUT, 0);
    for (int c = 0; c < CHANNELS; ++c) {
        double mean = 0.0;
        double variance = 0.0;
        for (int i = 0; i < LENGTH; ++i)
            mean += ldexp(in[c * LENGTH + i], -FRACTION) / LENGTH;
        for (int i = 0; i < LENGTH; ++i)
            variance += pow(ldexp(in[c * LENGTH + i], -FRACTION) - mean, 2.0) / LENGTH;
        for (int i = 0; i < LENGTH; ++i) {
            const double x = (ldexp(in[c * LENGTH + i], -FRACTION) - mean) / sqrt(variance + 1e-5);
            assert_true(fabs(ldexp(out[c * LENGTH + i], -FRACTION) - (gamma[c] * x + beta[c])) < 0.004);
        }
    }
    bench_close(&bench);
}

/* A sum of 64 bits with 12 more is 2^64 away from a mean of 0: squares saturate at 2^62, so the word is 2^40 / 2^31. */
static void test_far_values(void **state)
{
    struct bench bench;
    const int64_t far = INT64_C(1) << 52;
    const struct vector_tile t = {.count = 1, .repeat = 1, .b_addr = 64, .out_addr = 128, .format = FORMAT(-28, 12, 1)};
    (void)state;
    bench_open(&bench, 16, 0);
    memcpy(bench_data(&bench, OUT, 0), &far, sizeof far);
    assert_true(bench_run(&bench, OP_vvar, A(WIDE) | B(OUT), 0, &t) > 0);
    assert_int_equal(((int16_t *)bench_data(&bench, OUT, 0))[64], 512);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_values),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_variance),
        cmocka_unit_test(test_sums_of_parts),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_overtakes),
        cmocka_unit_test(test_batch_normalisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
