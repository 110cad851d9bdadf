/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics, batch norm and ReLU: forward against binary64 by the formulas, backward against finite differences of a
 * forward that shares nothing with the model, in both forms; groups of images; the same bits whatever the grouping.
 */
#include "batch_norm/batch_norm.h"
#include "relu/relu.h"
#include "numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 3, CHANNELS = 4, PLANE = 11, ALL = IMAGES * CHANNELS * PLANE, COUNT = IMAGES * PLANE };

static const struct cnnvp_tensor_shape shape = {IMAGES, CHANNELS, PLANE};
static const double epsilon = 1e-5;

struct data {
    float x[ALL], y[ALL], dy[ALL], dx[ALL];
    float gamma[CHANNELS], beta[CHANNELS];
    struct cnnvp_channel_statistics statistics[CHANNELS];
    struct cnnvp_batch_norm_channel channels[CHANNELS];
};

static void make(struct data *d, uint64_t seed)
{
    for (int i = 0; i < ALL; ++i) {
        d->x[i] = 3.0f * next_float(&seed) + 0.5f;
        d->dy[i] = next_float(&seed);
    }
    for (int c = 0; c < CHANNELS; ++c) {
        d->gamma[c] = 1.0f + 0.5f * next_float(&seed);
        d->beta[c] = next_float(&seed);
    }
    cnnvp_statistics_clear(d->statistics, CHANNELS);
    cnnvp_statistics_add(&shape, d->x, d->statistics);
}

static int at(int c, int i)
{
    return (i / PLANE * CHANNELS + c) * PLANE + i % PLANE;
}

/* Normalised values of one channel in binary64; `range`: sigma from the extremes. */
static void reference(const double *x, bool range, double *y)
{
    double mean = 0, squares = 0, min = x[0], max = x[0];
    for (int i = 0; i < COUNT; ++i) {
        mean += x[i] / COUNT;
        min = fmin(min, x[i]);
        max = fmax(max, x[i]);
    }
    for (int i = 0; i < COUNT; ++i)
        squares += (x[i] - mean) * (x[i] - mean) / COUNT;
    const double sigma = range ? 0.54 / sqrt(2.0 * log(COUNT)) * (max - min) + epsilon : sqrt(squares + epsilon);
    for (int i = 0; i < COUNT; ++i)
        y[i] = (x[i] - mean) / sigma;
}

static void channel_of(const struct data *d, int c, double *x)
{
    for (int i = 0; i < COUNT; ++i)
        x[i] = (double)d->x[at(c, i)];
}

static void test_statistics(void **state)
{
    struct data d;
    struct cnnvp_channel_statistics parts[CHANNELS];
    const struct cnnvp_tensor_shape first = {1, CHANNELS, PLANE};
    const struct cnnvp_tensor_shape rest = {IMAGES - 1, CHANNELS, PLANE};
    (void)state;
    make(&d, 3);
    d.x[at(1, 5)] = d.x[at(1, 20)] = 9.0f; /* the first of equal ones */
    d.x[at(2, 7)] = (float)NAN;
    d.x[at(2, 0)] = (float)INFINITY;
    cnnvp_statistics_clear(d.statistics, CHANNELS);
    cnnvp_statistics_add(&shape, d.x, d.statistics);
    cnnvp_statistics_clear(parts, CHANNELS);
    cnnvp_statistics_add(&first, d.x, parts);
    cnnvp_statistics_add(&rest, d.x + CHANNELS * PLANE, parts);
    for (int c = 0; c < CHANNELS; ++c) {
        double sum = 0;
        float min = 1e9f, max = -1e9f;
        int min_at = 0, max_at = 0, finite = 0;
        for (int i = 0; i < COUNT; ++i) {
            const float x = d.x[at(c, i)];
            if (!isfinite(x))
                continue;
            ++finite;
            sum += (double)x;
            if (x < min) {
                min = x;
                min_at = i;
            }
            if (x > max) {
                max = x;
                max_at = i;
            }
        }
        assert_true(fabs(d.statistics[c].sum - sum) < 1e-12);
        assert_true(d.statistics[c].min == min && d.statistics[c].max == max);
        assert_int_equal(d.statistics[c].min_at, min_at);
        assert_int_equal(d.statistics[c].max_at, max_at);
        assert_int_equal(d.statistics[c].finite, finite);
        assert_int_equal(d.statistics[c].count, COUNT);
        assert_true(parts[c].sum == d.statistics[c].sum && parts[c].max_at == d.statistics[c].max_at);
    }
    assert_int_equal(d.statistics[1].max_at, 5);
    assert_int_equal(d.statistics[2].finite, COUNT - 2);
}

static void test_forward(void **state)
{
    (void)state;
    for (int range = 0; range < 2; ++range) {
        struct data d;
        make(&d, 4);
        cnnvp_batch_norm_forward(&shape, range != 0, epsilon, d.x, d.statistics, d.gamma, d.beta, d.channels, d.y);
        for (int c = 0; c < CHANNELS; ++c) {
            double x[COUNT], y[COUNT];
            channel_of(&d, c, x);
            reference(x, range != 0, y);
            for (int i = 0; i < COUNT; ++i)
                assert_true(fabs((double)d.y[at(c, i)] - (y[i] * (double)d.gamma[c] + (double)d.beta[c])) < 2e-6);
        }
    }
}

/* Loss = sum of dy * y: its derivative by each x, gamma and beta. */
static double loss(const struct data *d, int c, const double *x, double gamma, double beta, bool range)
{
    double y[COUNT];
    double sum = 0;
    reference(x, range, y);
    for (int i = 0; i < COUNT; ++i)
        sum += (double)d->dy[at(c, i)] * (gamma * y[i] + beta);
    return sum;
}

static void test_backward(void **state)
{
    const double h = 1e-5;
    (void)state;
    for (int range = 0; range < 2; ++range) {
        struct data d;
        make(&d, 5);
        cnnvp_batch_norm_forward(&shape, range != 0, epsilon, d.x, d.statistics, d.gamma, d.beta, d.channels, d.y);
        cnnvp_batch_norm_backward(&shape, range != 0, d.x, d.dy, d.statistics, d.gamma, d.channels, d.dx);
        for (int c = 0; c < CHANNELS; ++c) {
            const double gamma = (double)d.gamma[c];
            const double beta = (double)d.beta[c];
            double x[COUNT];
            channel_of(&d, c, x);
            for (int i = 0; i < COUNT; ++i) {
                const double kept = x[i];
                x[i] = kept + h;
                const double above = loss(&d, c, x, gamma, beta, range != 0);
                x[i] = kept - h;
                const double below = loss(&d, c, x, gamma, beta, range != 0);
                x[i] = kept;
                assert_true(fabs((above - below) / (2 * h) - (double)d.dx[at(c, i)]) < 2e-6);
            }
            const double by_gamma = (loss(&d, c, x, gamma + h, beta, range != 0) -
                                     loss(&d, c, x, gamma - h, beta, range != 0)) / (2 * h);
            const double by_beta = (loss(&d, c, x, gamma, beta + h, range != 0) -
                                    loss(&d, c, x, gamma, beta - h, range != 0)) / (2 * h);
            assert_true(fabs(by_gamma - d.channels[c].dgamma) < 1e-7);
            assert_true(fabs(by_beta - d.channels[c].dbeta) < 1e-7);
        }
    }
}

/* The multiply-add form to the bit, and in place. */
static void test_bits(void **state)
{
    struct data d;
    float in_place[ALL];
    (void)state;
    make(&d, 6);
    cnnvp_batch_norm_forward(&shape, true, epsilon, d.x, d.statistics, d.gamma, d.beta, d.channels, d.y);
    for (int c = 0; c < CHANNELS; ++c)
        for (int i = 0; i < COUNT; ++i) {
            const volatile float product = d.channels[c].scale * d.x[at(c, i)];
            const volatile float sum = product + d.channels[c].offset;
            assert_true(sum == d.y[at(c, i)]);
        }
    cnnvp_batch_norm_backward(&shape, true, d.x, d.dy, d.statistics, d.gamma, d.channels, d.dx);
    memcpy(in_place, d.dy, sizeof in_place);
    cnnvp_batch_norm_backward(&shape, true, d.x, in_place, d.statistics, d.gamma, d.channels, in_place);
    assert_memory_equal(in_place, d.dx, sizeof in_place);
    assert_true(fabs(cnnvp_batch_norm_range_factor(1000) - 0.54 / sqrt(2.0 * log(1000.0))) < 1e-15);
    assert_true(cnnvp_batch_norm_range_factor(1) == 0.54);
}

static void test_relu(void **state)
{
    const float x[] = {1.5f, -2.0f, 0.0f, -0.0f, (float)NAN, 1e-30f};
    const float want[] = {1.5f, 0.0f, 0.0f, 0.0f, 0.0f, 1e-30f};
    const uint8_t matrix[] = {1, 0, 0, 0, 0, 1};
    const float dy[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, -6.0f};
    const float back[] = {1.0f, 0.0f, 0.0f, 0.0f, 0.0f, -6.0f};
    float y[6], dx[6];
    uint8_t positive[6];
    (void)state;
    cnnvp_relu_forward(x, 6, y, positive);
    assert_memory_equal(y, want, sizeof y);
    assert_memory_equal(positive, matrix, sizeof positive);
    cnnvp_relu_backward(dy, positive, 6, dx);
    assert_memory_equal(dx, back, sizeof dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_relu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
