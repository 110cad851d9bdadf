/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm: forward against binary64 by the formulas, backward against finite differences of a
 * forward that shares nothing with the model, in both forms; groups of images; the same bits whatever the grouping.
 */
#include "block_rig.h"
#include "random.h"
#include "train_whole.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 4, PLANE = 11, ALL = IMAGES * CHANNELS * PLANE, COUNT = IMAGES * PLANE };

static const struct tensor_shape shape = {IMAGES, CHANNELS, PLANE};
static const float epsilon = 1e-5f;

struct data {
    float x[ALL], y[ALL], dy[ALL], dx[ALL];
    float gamma[CHANNELS], beta[CHANNELS];
    struct channel channels[CHANNELS];
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
    whole_clear(d->channels, CHANNELS);
    whole_statistics(&shape, 0, d->x, d->channels);
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
    const double sigma =
        range ? 0.54 / sqrt(2.0 * log(COUNT)) * (max - min) + (double)epsilon : sqrt(squares + (double)epsilon);
    for (int i = 0; i < COUNT; ++i)
        y[i] = (x[i] - mean) / sigma;
}

static void channel_of(const struct data *d, int c, double *x)
{
    for (int i = 0; i < COUNT; ++i)
        x[i] = (double)d->x[at(c, i)];
}

static void test_forward(void **state)
{
    (void)state;
    for (int range = 0; range < 2; ++range) {
        struct data d;
        make(&d, 4);
        whole_forward(&shape, range != 0, epsilon, d.x, d.gamma, d.beta, d.channels, d.y);
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
        whole_forward(&shape, range != 0, epsilon, d.x, d.gamma, d.beta, d.channels, d.y);
        whole_backward(&shape, range != 0, d.x, d.dy, d.channels, d.dx);
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
            const double by_gamma =
                (loss(&d, c, x, gamma + h, beta, range != 0) - loss(&d, c, x, gamma - h, beta, range != 0)) / (2 * h);
            const double by_beta =
                (loss(&d, c, x, gamma, beta + h, range != 0) - loss(&d, c, x, gamma, beta - h, range != 0)) / (2 * h);
            assert_true(fabs(by_gamma - d.channels[c].norm.dgamma) < 1e-7);
            assert_true(fabs(by_beta - d.channels[c].norm.dbeta) < 1e-7);
        }
    }
}

/* The multiply-add form to the bit, forward and backward. */
static void test_bits(void **state)
{
    (void)state;
    for (int range = 0; range < 2; ++range) {
        struct data d;
        make(&d, 6);
        whole_forward(&shape, range != 0, epsilon, d.x, d.gamma, d.beta, d.channels, d.y);
        whole_backward(&shape, range != 0, d.x, d.dy, d.channels, d.dx);
        for (int c = 0; c < CHANNELS; ++c) {
            const struct cnnvp_norm *k = &d.channels[c].norm;
            for (int i = 0; i < COUNT; ++i) {
                const float x = d.x[at(c, i)];
                const volatile float product = k->scale * x;
                const volatile float y = product + k->offset;
                const volatile float by_error = k->dy_scale * d.dy[at(c, i)];
                const volatile float by_value = k->x_scale * x;
                const volatile float sum = by_error + by_value;
                volatile float dx = sum + k->dy_offset;
                if ((uint32_t)i == d.channels[c].extremes.max_at)
                    dx = dx + k->extreme;
                if ((uint32_t)i == d.channels[c].extremes.min_at)
                    dx = dx - k->extreme;
                assert_true(y == d.y[at(c, i)] && dx == d.dx[at(c, i)]);
            }
            assert_true(range != 0 ? k->extreme != 0.0f && k->x_scale == 0.0f : k->extreme == 0.0f);
        }
    }
    assert_true(fabs(cnnvp_norm_range_factor(1000) - 0.54 / sqrt(2.0 * log(1000.0))) < 1e-15);
    assert_true(cnnvp_norm_range_factor(1) == 0.54);
}

/* Running statistics, and the forms that use no statistics of the batch. */
static void test_forms(void **state)
{
    const struct cnnvp_extremes extremes = {-1.0f, 3.0f, 4, 7};
    const struct cnnvp_sums sums = {.sum = 20.0, .squares = 40.0, .count = 10};
    struct cnnvp_norm norm = {.gamma = 3.0f, .beta = 0.25f, .running_mean = 1.0f, .running_sigma = 2.0f};
    (void)state;
    cnnvp_norm_coefficients(CNNVP_NORM_STANDARD, 0.0f, 0.25f, &extremes, &sums, &norm);
    assert_true(norm.mean == 2.0 && norm.sigma == 2.0 && norm.running_mean == 1.25f && norm.running_sigma == 2.0f);
    cnnvp_norm_coefficients(CNNVP_NORM_STORED, 9.0f, 0.25f, &extremes, &sums, &norm);
    assert_true(norm.mean == 1.25 && norm.sigma == 2.0 && norm.scale == 1.5f && norm.offset == -1.625f);
    assert_true(norm.running_mean == 1.25f);
    cnnvp_norm_coefficients(CNNVP_NORM_NONE, 9.0f, 0.25f, &extremes, &sums, &norm);
    assert_true(norm.scale == 1.0f && norm.offset == 0.25f && norm.count == 10);
    norm.dgamma = 5.0;
    norm.dbeta = 6.0;
    cnnvp_norm_coefficients_back(CNNVP_NORM_NONE, &norm);
    assert_true(norm.dy_scale == 1.0f && norm.x_scale == 0.0f && norm.dy_offset == 0.0f && norm.extreme == 0.0f);
    assert_true(norm.dgamma == 0.0 && norm.dbeta == 6.0);
    /* nothing came in: no division by 0 */
    const struct cnnvp_extremes none = no_extremes();
    const struct cnnvp_sums empty = {0};
    cnnvp_norm_coefficients(CNNVP_NORM_RANGE, 0.5f, 0.0f, &none, &empty, &norm);
    assert_true(norm.mean == 0.0 && norm.sigma == 0.5);
    assert_true(cnnvp_extremes_magnitude(&none) == 0.0f);
}

/* Reducing ends at the statistics module, which takes the extremes of the errors, with batch norm and without. */
static void test_reduce_is_measured(void **state)
{
    (void)state;
    for (int norms = 0; norms < 2; ++norms) {
        float errors[] = {1.0f, -2.0f};
        const float inputs[] = {3.0f, 4.0f};
        struct block_rig rig;
        struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, 1, 1, 1, 2);
        tile.flags = CNNVP_TILE_REDUCE | (norms != 0 ? CNNVP_TILE_NORM : 0);
        tile.values = errors;
        tile.inputs = inputs;
        block_rig_begin(&rig, &cnnvp_unit_batch_norm, 0);
        block_rig_start(&rig);
        assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
        block_rig_expect_next(&rig, &tile, 2, 4);
        assert_int_equal(rig.next_kind, CNNVP_TILE_EXTREMES);
        assert_int_equal(tile.kind, CNNVP_TILE_BACKWARD);
        assert_int_equal(tile.flags & CNNVP_TILE_APART, 0);
        assert_true(((struct cnnvp_norm *)block_rig_data(&rig, "buffer"))->dbeta == (norms != 0 ? -1.0 : 0.0));
        block_rig_end(&rig);
    }
}

static void test_refused(void **state)
{
    (void)state;
    block_rig_check_refusals(
        &cnnvp_unit_batch_norm, 1u << CNNVP_TILE_COEFFICIENTS | 1u << CNNVP_TILE_COEFFICIENTS_BACK |
                                    1u << CNNVP_TILE_FORWARD | 1u << CNNVP_TILE_BACKWARD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),           cmocka_unit_test(test_bits),
        cmocka_unit_test(test_forms),   cmocka_unit_test(test_reduce_is_measured), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
