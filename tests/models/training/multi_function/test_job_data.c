/* SPDX-License-Identifier: Apache-2.0 */
/* Data on their way through the blocks, and what is counted of them; every byte of any: test_reference.c. */
#include "function_case.h"
#include "random.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scales), cmocka_unit_test(test_classify)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
