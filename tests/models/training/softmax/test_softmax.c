/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax against the C library, its gradient against finite differences of the loss, and values that are not
 * finite. */
#include "block_rig.h"
#include "random.h"
#include "training/softmax/softmax.h"

#include <float.h>
#include <math.h>

#include "test.h"

enum { IMAGES = 5, CLASSES = 10 };

static double reference_loss(const double *x, uint32_t label)
{
    double sum = 0, max = x[0];
    for (int c = 1; c < CLASSES; ++c)
        max = fmax(max, x[c]);
    for (int c = 0; c < CLASSES; ++c)
        sum += exp(x[c] - max);
    return log(sum) + max - x[label];
}

static void test_values(void **state)
{
    const double factor = 1.0 / IMAGES;
    const double h = 1e-6;
    uint64_t random = 6;
    float x[IMAGES * CLASSES], p[IMAGES * CLASSES], g[IMAGES * CLASSES];
    uint32_t labels[IMAGES];
    struct cnnvp_softmax_result results[IMAGES];
    (void)state;
    for (int i = 0; i < IMAGES * CLASSES; ++i)
        x[i] = 5.0f * next_float(&random);
    for (int n = 0; n < IMAGES; ++n)
        labels[n] = next_bits(&random) % CLASSES;
    assert_int_equal(cnnvp_softmax_classify(IMAGES, CLASSES, x, labels, factor, p, g, results), CNNVP_OK);
    for (int n = 0; n < IMAGES; ++n) {
        double values[CLASSES], total = 0, whole = 0;
        uint32_t best = 0;
        for (int c = 0; c < CLASSES; ++c) {
            values[c] = (double)x[n * CLASSES + c];
            total += exp(values[c]);
            best = values[c] > values[best] ? (uint32_t)c : best;
        }
        assert_int_equal(results[n].predicted, best);
        assert_true(fabs(results[n].loss - reference_loss(values, labels[n])) < 1e-13);
        for (int c = 0; c < CLASSES; ++c) {
            assert_true(fabs((double)p[n * CLASSES + c] - exp(values[c]) / total) < 6e-8);
            whole += (double)p[n * CLASSES + c];
            const double kept = values[c];
            values[c] = kept + h;
            const double above = reference_loss(values, labels[n]);
            values[c] = kept - h;
            const double below = reference_loss(values, labels[n]);
            values[c] = kept;
            assert_true(fabs((double)g[n * CLASSES + c] - factor * (above - below) / (2 * h)) < 1e-8);
        }
        assert_true(fabs(whole - 1.0) < 1e-6);
    }
    /* in place, without labels */
    float in_place[IMAGES * CLASSES];
    memcpy(in_place, x, sizeof x);
    assert_int_equal(cnnvp_softmax_classify(IMAGES, CLASSES, in_place, NULL, 1.0, in_place, NULL, results), CNNVP_OK);
    assert_memory_equal(in_place, p, sizeof p);
    assert_true(results[0].loss == 0.0);
}

static void test_special(void **state)
{
    const float x[] = {(float)INFINITY, 1.0f, (float)NAN, -(float)INFINITY};
    const float same[] = {2.0f, 2.0f, 2.0f, 2.0f};
    const uint32_t label = 1, wrong = 4;
    struct cnnvp_softmax_result result;
    float p[4] = {7.0f}, g[4];
    (void)state;
    assert_int_equal(cnnvp_softmax_classify(1, 4, x, &label, 1.0, p, g, &result), CNNVP_OK);
    assert_int_equal(result.nonfinite, 3);
    assert_int_equal(result.predicted, 0);
    assert_true(p[0] == 1.0f && p[1] == 0.0f && p[2] == 0.0f && p[3] == 0.0f);
    assert_true(isfinite(result.loss) && result.loss > 1e38);
    assert_int_equal(cnnvp_softmax_classify(1, 4, same, &label, 1.0, p, g, &result), CNNVP_OK);
    assert_int_equal(result.predicted, 0);
    assert_true(p[3] == 0.25f && g[1] == -0.75f);
    p[0] = 7.0f;
    assert_int_equal(cnnvp_softmax_classify(1, 4, same, &wrong, 1.0, p, g, &result), CNNVP_E_INVAL);
    assert_true(p[0] == 7.0f);
    assert_int_equal(cnnvp_softmax_classify(1, 0, same, NULL, 1.0, p, g, &result), CNNVP_E_INVAL);
}

static void test_refused(void **state)
{
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_softmax, 1u << CNNVP_TILE_SOFTMAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_special), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
