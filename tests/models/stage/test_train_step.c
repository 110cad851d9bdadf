/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole training step of a small network through the units, with mantissas of 24 bits so that no error of a
 * formula can hide behind quantisation: convolution, batch norm, ReLU, quantiser, max pool, fully connected layer,
 * softmax, and back. Its gradients against finite differences of the same network in binary64.
 */
#include "cnnvp_bfp.h"
#include "stage/pool.h"
#include "train_numbers.h"
#include "relu/relu.h"
#include "relu_back/relu_back.h"
#include "softmax/softmax.h"
#include "train_array/train_tile.h"
#include "train_whole.h"

#include <math.h>

#include "test.h"

enum {
    IMAGES = 2,
    CIN = 2,
    COUT = 3,
    SIDE = 6,
    AREA = SIDE * SIDE,
    HALF = SIDE / 2,
    POOLED = COUT * HALF * HALF,
    CLASSES = 4,
    X = IMAGES * CIN * AREA,
    Z = IMAGES * COUT * AREA,
    W = COUT * CIN * 9,
    P = IMAGES * POOLED,
    V = CLASSES * POOLED,
    L = IMAGES * CLASSES
};

static const float epsilon = 1e-3f;
static const uint32_t labels[IMAGES] = {3, 1};

struct network {
    float x[X], w[W], gamma[COUT], beta[COUT], v[V];
    bool range;
};

/* Parameters in binary64, for finite differences. */
struct parameters {
    double w[W], gamma[COUT], beta[COUT], v[V];
};

/* ---- the network in binary64 ---- */

static void reference_conv(const struct network *net, const struct parameters *p, double *z)
{
    for (int n = 0; n < IMAGES; ++n)
        for (int co = 0; co < COUT; ++co)
            for (int i = 0; i < AREA; ++i) {
                double sum = 0;
                for (int ci = 0; ci < CIN; ++ci)
                    for (int t = 0; t < 9; ++t) {
                        const int y = i / SIDE + t / 3 - 1;
                        const int x = i % SIDE + t % 3 - 1;
                        if (y >= 0 && x >= 0 && y < SIDE && x < SIDE)
                            sum += p->w[(co * CIN + ci) * 9 + t] * (double)net->x[(n * CIN + ci) * AREA + y * SIDE + x];
                    }
                z[(n * COUT + co) * AREA + i] = sum;
            }
}

static void reference_norm(const struct network *net, const struct parameters *p, double *z)
{
    const int count = IMAGES * AREA;
    for (int c = 0; c < COUT; ++c) {
        double mean = 0, squares = 0, min = 1e9, max = -1e9;
        for (int i = 0; i < count; ++i)
            mean += z[(i / AREA * COUT + c) * AREA + i % AREA] / count;
        for (int i = 0; i < count; ++i) {
            const double value = z[(i / AREA * COUT + c) * AREA + i % AREA];
            squares += (value - mean) * (value - mean) / count;
            min = fmin(min, value);
            max = fmax(max, value);
        }
        const double sigma =
            net->range ? 0.54 / sqrt(2 * log(count)) * (max - min) + (double)epsilon : sqrt(squares + (double)epsilon);
        for (int i = 0; i < count; ++i) {
            double *value = &z[(i / AREA * COUT + c) * AREA + i % AREA];
            *value = fmax(0, p->gamma[c] * (*value - mean) / sigma + p->beta[c]);
        }
    }
}

static double reference_loss(const struct network *net, const struct parameters *p)
{
    double z[Z], loss = 0;
    reference_conv(net, p, z);
    reference_norm(net, p, z);
    for (int n = 0; n < IMAGES; ++n) {
        double logits[CLASSES] = {0}, total = 0;
        for (int i = 0; i < POOLED; ++i) {
            const int map = n * COUT + i / (HALF * HALF);
            const double *corner = z + map * AREA + i / HALF % HALF * 2 * SIDE + i % HALF * 2;
            const double max = fmax(fmax(corner[0], corner[1]), fmax(corner[SIDE], corner[SIDE + 1]));
            for (int k = 0; k < CLASSES; ++k)
                logits[k] += p->v[k * POOLED + i] * max;
        }
        for (int k = 0; k < CLASSES; ++k)
            total += exp(logits[k]);
        loss += (log(total) - logits[labels[n]]) / IMAGES;
    }
    return loss;
}

/* ---- the network through the units ---- */

static const struct cnnvp_train_shape engine = {.arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = 24};
static const struct cnnvp_bfp_format format = {24, CNNVP_ROUNDING_NEAREST, 0};

static int8_t encode(const float *values, uint64_t n, int32_t *mantissas)
{
    const struct cnnvp_bfp_layout layout = {1, 1, n, CNNVP_BFP_BLOCK_TENSOR};
    struct cnnvp_bfp_counts counts = {0};
    int8_t exponent;
    assert_int_equal(cnnvp_bfp_encode_wide(&format, &layout, values, mantissas, &exponent, &counts), CNNVP_OK);
    return exponent;
}

static void run(const struct cnnvp_train_tile *tile, const int32_t *in, int8_t in_exp, const int32_t *second,
                int8_t second_exp, uint64_t n, float *results)
{
    struct cnnvp_train_scratch scratch = {0};
    struct cnnvp_bfp_counts counts = {0};
    int64_t sums[256];
    int16_t scale;
    uint64_t saturated = 0;
    const struct cnnvp_train_data data = {in, second, sums, &in_exp, &second_exp};
    assert_true(n <= 256);
    assert_int_equal(cnnvp_train_compute(&engine, tile, &data, &scratch, &saturated), CNNVP_OK);
    cnnvp_train_scales(&engine, tile, &data, &scale);
    cnnvp_bfp_wide_to_float(scale, sums, n, results, &counts);
    assert_int_equal(saturated + counts.saturated, 0);
    cnnvp_train_scratch_free(&scratch);
}

static struct cnnvp_train_tile convolution(enum cnnvp_train_kind kind)
{
    return (struct cnnvp_train_tile){
        .kind = kind,
        .images = IMAGES,
        .in_channels = CIN,
        .out_channels = COUT,
        .in_h = SIDE,
        .in_w = SIDE,
        .out_h = SIDE,
        .out_w = SIDE,
        .kx = 3,
        .ky = 3,
        .sx = 1,
        .sy = 1,
        .px = 1,
        .py = 1,
        .in_row_stride = SIDE,
        .in_channel_stride = AREA,
        .in_image_stride = CIN * AREA,
        .w_out_stride = CIN * 9,
        .w_in_stride = 9,
        .error_row_stride = SIDE,
        .error_channel_stride = AREA,
        .error_image_stride = COUT * AREA,
        .out_channel_stride = kind == CNNVP_TRAIN_GRADIENT ? CIN * 9 : AREA,
        .out_image_stride = COUT * AREA};
}

static struct cnnvp_train_tile connected(enum cnnvp_train_kind kind, uint32_t in, uint32_t out)
{
    const bool error = kind == CNNVP_TRAIN_ERROR;
    return (struct cnnvp_train_tile){
        .kind = kind,
        .connected = true,
        .images = IMAGES,
        .in_channels = in,
        .out_channels = out,
        .in_h = 1,
        .in_w = 1,
        .out_h = 1,
        .out_w = 1,
        .kx = 1,
        .ky = 1,
        .sx = 1,
        .sy = 1,
        .in_row_stride = 1,
        .in_channel_stride = 1,
        .in_image_stride = in,
        .w_out_stride = error ? 1 : in,
        .w_in_stride = error ? out : 1,
        .error_row_stride = 1,
        .error_channel_stride = 1,
        .error_image_stride = out,
        .out_channel_stride = kind == CNNVP_TRAIN_GRADIENT ? in : 1,
        .out_image_stride = out};
}

/* Forward and backward; the gradients of all parameters, and the loss. */
static double step(const struct network *net, float *dw, double *dgamma, double *dbeta, float *dv)
{
    const struct tensor_shape shape = {IMAGES, COUT, AREA};
    const struct cnnvp_max_pool pool = {SIDE, SIDE, 2, 2, 2, 2};
    const struct cnnvp_train_tile forward = convolution(CNNVP_TRAIN_FORWARD);
    const struct cnnvp_train_tile gradient = convolution(CNNVP_TRAIN_GRADIENT);
    const struct cnnvp_train_tile matmul = connected(CNNVP_TRAIN_FORWARD, POOLED, CLASSES);
    const struct cnnvp_train_tile back = connected(CNNVP_TRAIN_ERROR, CLASSES, POOLED);
    const struct cnnvp_train_tile outer = connected(CNNVP_TRAIN_GRADIENT, POOLED, CLASSES);
    struct channel channels[COUT];
    struct cnnvp_softmax_result results[IMAGES];
    int32_t xm[X], wm[W], am[Z], pm[P], vm[V], gm[L], dzm[Z];
    float z[Z], a[Z], da[Z], dp[P], logits[L], probabilities[L], g[L];
    uint8_t positive[(Z + 15) / 8], ids[P];

    const int8_t xe = encode(net->x, X, xm);
    const int8_t we = encode(net->w, W, wm);
    const int8_t ve = encode(net->v, V, vm);
    run(&forward, xm, xe, wm, we, Z, z);
    whole_clear(channels, COUT);
    whole_statistics(&shape, 0, z, channels);
    whole_forward(&shape, net->range, epsilon, z, net->gamma, net->beta, channels, a);
    cnnvp_relu_forward_keep(a, Z, positive);
    const int8_t ae = encode(a, Z, am);
    for (int m = 0; m < IMAGES * COUT; ++m)
        cnnvp_max_pool_forward_wide(&pool, am + m * AREA, pm + m * HALF * HALF, ids + m * HALF * HALF);
    run(&matmul, pm, ae, vm, ve, L, logits);
    assert_int_equal(cnnvp_softmax_classify(IMAGES, CLASSES, logits, labels, 1.0 / IMAGES, probabilities, g, results),
                     CNNVP_OK);
    const int8_t ge = encode(g, L, gm);
    run(&outer, pm, ae, gm, ge, V, dv);
    run(&back, gm, ge, vm, ve, P, dp);
    for (int m = 0; m < IMAGES * COUT; ++m)
        assert_int_equal(cnnvp_max_pool_backward(&pool, dp + m * HALF * HALF, ids + m * HALF * HALF, da + m * AREA),
                         CNNVP_OK);
    cnnvp_relu_backward(positive, Z, da);
    whole_backward(&shape, net->range, z, da, channels, da);
    const int8_t dze = encode(da, Z, dzm);
    run(&gradient, xm, xe, dzm, dze, W, dw);
    for (int c = 0; c < COUT; ++c) {
        dgamma[c] = channels[c].norm.dgamma;
        dbeta[c] = channels[c].norm.dbeta;
    }
    return (results[0].loss + results[1].loss) / IMAGES;
}

static void check(const struct network *net, struct parameters *p, double *parameter, double got)
{
    const double h = 1e-6;
    const double kept = *parameter;
    *parameter = kept + h;
    const double above = reference_loss(net, p);
    *parameter = kept - h;
    const double below = reference_loss(net, p);
    *parameter = kept;
    const double want = (above - below) / (2 * h);
    if (fabs(got - want) > 2e-6)
        print_error("%g instead of %g\n", got, want);
    assert_true(fabs(got - want) <= 2e-6);
}

static void test_step(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        uint64_t random = seed;
        struct network net = {.range = seed % 2 != 0};
        struct parameters p;
        float dw[W], dv[V];
        double dgamma[COUT], dbeta[COUT];
        for (int i = 0; i < X; ++i)
            net.x[i] = next_float(&random);
        for (int i = 0; i < W; ++i)
            p.w[i] = (double)(net.w[i] = next_float(&random));
        for (int i = 0; i < V; ++i)
            p.v[i] = (double)(net.v[i] = next_float(&random));
        for (int c = 0; c < COUT; ++c) {
            p.gamma[c] = (double)(net.gamma[c] = 1.0f + 0.5f * next_float(&random));
            p.beta[c] = (double)(net.beta[c] = 0.5f * next_float(&random));
        }
        const double loss = step(&net, dw, dgamma, dbeta, dv);
        assert_true(fabs(loss - reference_loss(&net, &p)) < 2e-6);
        for (int i = 0; i < W; ++i)
            check(&net, &p, &p.w[i], (double)dw[i]);
        for (int i = 0; i < V; ++i)
            check(&net, &p, &p.v[i], (double)dv[i]);
        for (int c = 0; c < COUT; ++c) {
            check(&net, &p, &p.gamma[c], dgamma[c]);
            check(&net, &p, &p.beta[c], dbeta[c]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
