/* SPDX-License-Identifier: Apache-2.0 */
/* Data on their way through the blocks. */
#include "function_case.h"
#include "random.h"

/* Each image and each channel with an exponent of its own, against rounding in binary64; the inputs parked. */
static void test_blocks_and_park(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        struct machine_tpost d = post();
        machine_begin(&m, &plain);
        fill(&m, 5);
        d.block_strides = CHANNELS | 1u << 16;
        d.park_addr = 0x800;
        d.format = 1u | (wide != 0 ? 20u : 8u) << 8;
        const int power = wide != 0 ? 18 : 6;
        int8_t *exponents = machine_at(&m, M_INTERMEDIATE, 0, 0x3000);
        for (int b = 0; b < IMAGES * CHANNELS; ++b)
            exponents[b] = (int8_t)(4 - b % 3); /* some are too small: saturation */
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_park, d);
        const float *x = floats_at(&m, 0, 0);
        const int8_t *narrow = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        const int32_t *mantissas = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        uint64_t saturated = 0;
        for (int i = 0; i < ALL; ++i) {
            const double limit = ldexp(1.0, power + 1);
            double want = rint(ldexp((double)x[i], power - (4 - i / PLANE % 3)));
            saturated += want > limit - 1 || want < -limit;
            want = want > limit - 1 ? limit - 1 : want < -limit ? -limit : want;
            assert_int_equal(wide != 0 ? mantissas[i] : narrow[i], (int)want);
        }
        assert_true(saturated > 0);
        assert_int_equal(fake_count(m.units[M_QUANTISE], "saturations"), saturated);
        assert_memory_equal(floats_at(&m, 1, 0x800), x, ALL * sizeof *x);
        machine_end(&m);
    }
}

/* Remainders carried along each map, which begins with none: a map's mantissas add up to its values, to half a unit. */
static void test_carried(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        struct machine_tpost d = post();
        machine_begin(&m, &plain);
        float *x = floats_at(&m, 0, 0);
        for (int i = 0; i < ALL; ++i)
            x[i] = ldexpf((float)(i * 37 % 101), wide != 0 ? -27 : -14); /* below 0.4 units */
        d.format = 4u | (wide != 0 ? 20u : 8u) << 8;
        *(int8_t *)machine_at(&m, M_INTERMEDIATE, 0, 0x3000) = 0;
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d);
        const int8_t *narrow = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        const int32_t *mantissas = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        int64_t total = 0;
        for (int map = 0; map < IMAGES * CHANNELS; ++map) {
            double sum = 0;
            int64_t kept = 0;
            for (int i = map * PLANE; i < (map + 1) * PLANE; ++i) {
                sum += ldexp((double)x[i], wide != 0 ? 18 : 6);
                kept += wide != 0 ? mantissas[i] : narrow[i];
                assert_true(fabs(sum - (double)kept) <= 0.5 + 1e-3);
            }
            total += kept;
        }
        assert_true(total > IMAGES * CHANNELS);
        machine_end(&m);
    }
}

/* float and measure; extremes of an image each. */
static void test_float_and_measure(void **state)
{
    struct machine m;
    struct machine_tpost d = post();
    (void)state;
    machine_begin(&m, &plain);
    fill(&m, 6);
    struct cnnvp_norm *norms = machine_at(&m, M_NORMS, 0, 0);
    for (int c = 0; c < CHANNELS; ++c)
        norms[2 + c] = (struct cnnvp_norm){.scale = 0.5f + (float)c, .offset = -1.0f};
    d.norm_entry = 2;
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_float, d);
    const float *x = floats_at(&m, 0, 0);
    const float *y = floats_at(&m, 0, 0x4000);
    float most[IMAGES] = {0};
    for (int i = 0; i < ALL; ++i) {
        const int c = i / PLANE % CHANNELS;
        const volatile float product = (0.5f + (float)c) * x[i];
        const volatile float sum = product - 1.0f;
        assert_true(y[i] == (sum > 0 ? sum : 0.0f));
        most[i / PLANE / CHANNELS] = fmaxf(most[i / PLANE / CHANNELS], y[i]);
    }
    const struct machine_theld clear = {0, 16 * 40, 16 * IMAGES};
    MACHINE_DO(&m, OP_tclear, 0, clear);
    d.block = 40;
    d.block_strides = 1; /* an entry an image */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_measure, d);
    const struct cnnvp_extremes *entries = machine_at(&m, M_MAX_MIN, 0, 0);
    for (int n = 0; n < IMAGES; ++n)
        assert_true(entries[40 + n].max == most[n] && entries[40 + n].min == 0.0f);
    const struct machine_texp each = {.entry = 40, .channels = IMAGES, .out_addr = 0x6000};
    MACHINE_DO(&m, OP_texp, ST_texp_each, each);
    const int8_t *exponents = machine_at(&m, M_INTERMEDIATE, 0, 0x6000);
    for (int n = 0; n < IMAGES; ++n)
        assert_int_equal(exponents[n], ilogbf(most[n]));
    machine_end(&m);
}

/* Sums of several scales become binary32, narrow and wide; beyond the largest they saturate and are counted. */
static void test_scales(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        machine_begin(&m, &plain);
        int16_t *scales = machine_at(&m, M_MAX_MIN, 0, 0x8000);
        int64_t sums[ALL];
        uint64_t random = 7;
        for (int i = 0; i < IMAGES * CHANNELS; ++i)
            scales[i] = (int16_t)(i == 7 ? 120 : i == 8 ? INT16_MIN : i - 20);
        for (int i = 0; i < ALL; ++i) {
            sums[i] = (int32_t)next_bits(&random);
            if (wide != 0)
                sums[i] *= 1 << 20;
            ((int32_t *)machine_at(&m, M_INTERMEDIATE, 0, 0))[i * (wide != 0 ? 2 : 1)] = (int32_t)sums[i];
            if (wide != 0)
                memcpy((char *)machine_at(&m, M_INTERMEDIATE, 0, 0) + i * 8, &sums[i], 8);
        }
        const struct machine_tstat d = {
            .in_image_stride = CHANNELS * PLANE,
            .images = IMAGES,
            .channels = CHANNELS,
            .size = W | H << 16,
            .scale_addr = CNNVP_TILE_HELD | 0x8000,
            .scale_strides = CHANNELS | 1u << 16,
            .format = (wide != 0 ? 20u : 0u) << 8,
            .out_image_stride = CHANNELS * PLANE,
            .entry_strides = 1u << 16,
            .map = PLANE};
        MACHINE_DO(&m, OP_tstat, ST_tstat_convert, d);
        const float *x = floats_at(&m, 0, 0);
        uint64_t saturated = 0;
        for (int i = 0; i < ALL; ++i) {
            const double exact = ldexp((double)sums[i], scales[i / PLANE]);
            const float most = (float)(exact < 0 ? -3.402823466e38 : 3.402823466e38);
            const float want = fabs(exact) > 3.4028235677973362e38 ? most : (float)exact;
            saturated += fabs(exact) > 3.4028235677973362e38;
            assert_true(x[i] == want);
        }
        assert_true(saturated > 0);
        assert_int_equal(fake_count(m.units[M_MODULE], "saturations"), saturated);
        machine_end(&m);
    }
}

/* Weights in 8 bits alone: decoded, updated, quantised again. */
static void test_decode(void **state)
{
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    int8_t *mantissas = (int8_t *)machine_at(&m, M_INTERMEDIATE, 0, 0x100) + 1;
    int8_t *exponents = machine_at(&m, M_MAX_MIN, 0, 0x9000);
    for (int i = 0; i < 50; ++i)
        mantissas[i] = (int8_t)(i * 5 - 128);
    exponents[0] = 3;
    exponents[2] = -100;
    const struct machine_tdecode d = {
        .in_addr = 0x101,
        .in_stride = 25,
        .channels = 2,
        .values = 20,
        .exp_addr = CNNVP_TILE_HELD | 0x9000,
        .exp_stride = 2,
        .out_addr = 0x400,
        .out_stride = 30};
    MACHINE_DO(&m, OP_tdecode, 0, d);
    const float *x = floats_at(&m, 0, 0x400);
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 20; ++i)
            assert_true((double)x[c * 30 + i] == ldexp(mantissas[c * 25 + i], c == 0 ? 3 - 6 : -100 - 6));
    machine_end(&m);
}

/* Without labels: probabilities and the predicted class alone. */
static void test_classify(void **state)
{
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    float *x = floats_at(&m, 0, 0);
    for (int i = 0; i < 12; ++i)
        x[i] = (float)(i * 7 % 5);
    x[5] = (float)NAN;
    const struct machine_tsoftmax d = {.in_image_stride = 6, .images = 2, .classes = 6, .result = 3};
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32, d);
    for (int n = 0; n < 2; ++n) {
        const char *record = machine_at(&m, M_OUTPUT, 0, (3u + (uint32_t)n) * 40u);
        struct cnnvp_class_result result;
        float p[6];
        double sum = 0;
        memcpy(&result, record, sizeof result);
        memcpy(p, record + sizeof result, sizeof p);
        uint32_t best = 0;
        for (uint32_t c = 0; c < 6; ++c) {
            sum += (double)p[c];
            best = p[c] > p[best] ? c : best;
        }
        assert_int_equal(result.predicted, best);
        assert_int_equal(result.correct, 0);
        assert_true(result.loss == 0.0f && fabs(sum - 1.0) < 1e-6);
        assert_int_equal(result.nonfinite, n == 0);
    }
    assert_int_equal(fake_count(m.units[M_SOFTMAX], "nonfinite"), 1);
    machine_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_and_park), cmocka_unit_test(test_float_and_measure),
        cmocka_unit_test(test_scales),          cmocka_unit_test(test_decode),
        cmocka_unit_test(test_classify),        cmocka_unit_test(test_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
