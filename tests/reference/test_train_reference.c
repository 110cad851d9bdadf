/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several training steps of a small network through the units, against tests/reference/train_reference.c, bit by bit:
 * losses, gradients, weights, running statistics. Both batch norms, three roundings, 8 bits of mantissa and 24. With 24
 * bits the reference also agrees with the same formulas in binary64.
 */
#include "cnnvp_bfp.h"
#include "stage/pool.h"
#include "train_numbers.h"
#include "relu/relu.h"
#include "relu_back/relu_back.h"
#include "softmax/softmax.h"
#include "train_array/train_tile.h"
#include "train_reference.h"
#include "stage/momentum.h"
#include "train_whole.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 6, SIDE = 8, STEPS = 3, MOST = IMAGES * 6 * SIDE * SIDE };

/* conv 3x3 + BN + ReLU + pool, 5x5 + BN + ReLU, 3x3 + ReLU + pool, fully connected + ReLU, fully connected. */
static const struct train_layer shapes[] = {
    {.inputs = 2,
     .height = SIDE,
     .width = SIDE,
     .outputs = 6,
     .side = 3,
     .pad = 1,
     .norm = 1,
     .relu = 1,
     .pool = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 6,
     .height = 4,
     .width = 4,
     .outputs = 5,
     .side = 5,
     .pad = 2,
     .norm = 1,
     .relu = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 5, .height = 4, .width = 4, .outputs = 4, .side = 3, .pad = 1, .relu = 1, .pool = 1},
    {.connected = 1, .inputs = 16, .height = 1, .width = 1, .outputs = 7, .relu = 1},
    {.connected = 1, .inputs = 7, .height = 1, .width = 1, .outputs = 3},
};
enum { LAYERS = sizeof shapes / sizeof *shapes };

static uint64_t seed_of(uint64_t seed, uint64_t step, uint32_t layer, enum train_what what)
{
    return ((seed * 1009u + step) * 1013u + layer) * 1019u + (uint64_t)what;
}

/* ---- the network through the units ---- */

/* Mantissas of either width and their exponent. */
struct tensor {
    int8_t narrow[MOST];
    int32_t wide[MOST];
    int8_t exponent;
};

struct unit_layer {
    struct tensor in, kernel, error;
    float weights[MOST], weight_velocity[MOST], gradient[MOST];
    float gamma[8], beta[8], gamma_velocity[8], beta_velocity[8];
    float mean[8], sigma[8];
    float sums[MOST];
    uint8_t positive[MOST], ids[MOST];
    struct channel channels[8];
};

struct engine {
    const struct train_options *options;
    struct unit_layer *layers;
    uint64_t step;
    struct cnnvp_bfp_counts counts;
};

static const void *mantissas(const struct engine *engine, const struct tensor *tensor)
{
    return engine->options->bits > 8 ? (const void *)tensor->wide : (const void *)tensor->narrow;
}

static void encode(struct engine *engine, const float *values, uint64_t n, uint32_t rounding, uint64_t seed,
                   struct tensor *to)
{
    const struct cnnvp_bfp_format format = {engine->options->bits, rounding, seed};
    const struct cnnvp_bfp_layout layout = {1, 1, n, CNNVP_BFP_BLOCK_TENSOR};
    assert_true(n <= MOST);
    if (engine->options->bits > 8)
        assert_int_equal(cnnvp_bfp_encode_wide(&format, &layout, values, to->wide, &to->exponent, &engine->counts),
                         CNNVP_OK);
    else
        assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, to->narrow, &to->exponent, &engine->counts),
                         CNNVP_OK);
}

static struct cnnvp_train_tile tile_of(const struct train_layer *l, enum cnnvp_train_kind kind)
{
    const uint32_t side = l->connected ? 1 : l->side;
    const uint32_t area = l->height * l->width;
    const uint32_t out_h = l->height + 2 * l->pad - side + 1;
    const uint32_t out_w = l->width + 2 * l->pad - side + 1;
    const uint32_t taps = side * side;
    const int error = kind == CNNVP_TRAIN_ERROR;
    struct cnnvp_train_tile tile = {
        .kind = kind,
        .connected = l->connected,
        .images = IMAGES,
        .in_channels = l->inputs,
        .out_channels = l->outputs,
        .in_h = l->height,
        .in_w = l->width,
        .out_h = out_h,
        .out_w = out_w,
        .kx = side,
        .ky = side,
        .sx = 1,
        .sy = 1,
        .px = l->pad,
        .py = l->pad,
        .in_row_stride = l->width,
        .in_channel_stride = area,
        .in_image_stride = l->inputs * area,
        .w_out_stride = l->inputs * taps,
        .w_in_stride = taps,
        .error_row_stride = out_w,
        .error_channel_stride = out_h * out_w,
        .error_image_stride = l->outputs * out_h * out_w,
        .out_channel_stride = out_h * out_w,
        .out_image_stride = l->outputs * out_h * out_w};
    if (kind == CNNVP_TRAIN_GRADIENT)
        tile.out_channel_stride = l->inputs * taps;
    if (!error)
        return tile;
    tile.in_channels = l->outputs;
    tile.out_channels = l->inputs;
    tile.in_h = out_h;
    tile.in_w = out_w;
    tile.out_h = l->height;
    tile.out_w = l->width;
    tile.in_row_stride = out_w;
    tile.in_channel_stride = out_h * out_w;
    tile.in_image_stride = l->outputs * out_h * out_w;
    tile.w_out_stride = taps;
    tile.w_in_stride = l->inputs * taps;
    tile.out_channel_stride = area;
    tile.out_image_stride = l->inputs * area;
    return tile;
}

static void run(struct engine *engine, const struct train_layer *shape, enum cnnvp_train_kind kind,
                const struct tensor *first, const struct tensor *second, uint64_t n, float *results)
{
    static int64_t wide[MOST];
    static int32_t narrow[MOST];
    const struct cnnvp_train_shape array = {
        .arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = engine->options->bits};
    const struct cnnvp_train_tile tile = tile_of(shape, kind);
    struct cnnvp_train_scratch scratch = {0};
    int16_t scale;
    uint64_t saturated = 0;
    const int is_wide = engine->options->bits > 8;
    const struct cnnvp_train_data data = {mantissas(engine, first), mantissas(engine, second),
                                          is_wide ? (void *)wide : (void *)narrow, &first->exponent, &second->exponent};
    assert_int_equal(cnnvp_train_compute(&array, &tile, &data, &scratch, &saturated), CNNVP_OK);
    cnnvp_train_scales(&array, &tile, &data, &scale);
    if (is_wide)
        cnnvp_bfp_wide_to_float(scale, wide, n, results, &engine->counts);
    else
        cnnvp_bfp_sums_to_float(scale, narrow, n, results, &engine->counts);
    assert_int_equal(saturated, 0);
    cnnvp_train_scratch_free(&scratch);
}

static uint64_t outputs_of(const struct train_layer *shape)
{
    return (uint64_t)IMAGES * shape->outputs * train_plane(shape);
}

static struct cnnvp_max_pool pool_of(const struct train_layer *shape)
{
    return (struct cnnvp_max_pool){shape->height, shape->width, 2, 2, 2, 2};
}

static void forward(struct engine *engine, uint32_t l)
{
    const struct train_layer *shape = &shapes[l];
    struct unit_layer *layer = &engine->layers[l];
    const uint64_t n = outputs_of(shape);
    const struct tensor_shape size = {IMAGES, shape->outputs, train_plane(shape)};
    static float values[MOST];
    static struct tensor quantised;
    run(engine, shape, CNNVP_TRAIN_FORWARD, &layer->in, &layer->kernel, n, layer->sums);
    if (l + 1 == LAYERS)
        return;
    memcpy(values, layer->sums, n * sizeof *values);
    if (shape->norm) {
        whole_clear(layer->channels, shape->outputs);
        whole_statistics(&size, 0, layer->sums, layer->channels);
        whole_forward(&size, engine->options->range, (float)shape->epsilon, layer->sums, layer->gamma, layer->beta,
                      layer->channels, values);
        for (uint32_t c = 0; c < shape->outputs; ++c) {
            const double m = engine->options->bn_momentum;
            layer->mean[c] =
                (float)((double)layer->mean[c] + m * (layer->channels[c].norm.mean - (double)layer->mean[c]));
            layer->sigma[c] =
                (float)((double)layer->sigma[c] + m * (layer->channels[c].norm.sigma - (double)layer->sigma[c]));
        }
    }
    cnnvp_relu_forward_keep(values, n, layer->positive);
    struct tensor *next = &engine->layers[l + 1].in;
    encode(engine, values, n, engine->options->rounding,
           seed_of(engine->options->seed, engine->step, l, TRAIN_OF_ACTIVATION), shape->pool ? &quantised : next);
    if (!shape->pool)
        return;
    const struct cnnvp_max_pool pool = pool_of(shape);
    next->exponent = quantised.exponent;
    const uint64_t area = (uint64_t)shape->height * shape->width;
    for (uint64_t m = 0; m < (uint64_t)IMAGES * shape->outputs; ++m) /* windows of 2x2 */
        if (engine->options->bits > 8)
            cnnvp_max_pool_forward_wide(
                &pool, quantised.wide + m * area, next->wide + m * area / 4, layer->ids + m * area / 4);
        else
            cnnvp_max_pool_forward(
                &pool, quantised.narrow + m * area, next->narrow + m * area / 4, layer->ids + m * area / 4);
}

/* `errors`: loss by the layer's output; on return by its input. */
static void backward(struct engine *engine, uint32_t l, float *errors)
{
    const struct train_layer *shape = &shapes[l];
    struct unit_layer *layer = &engine->layers[l];
    const uint64_t n = outputs_of(shape);
    const struct tensor_shape size = {IMAGES, shape->outputs, train_plane(shape)};
    static float chain[MOST];
    memcpy(chain, errors, n * sizeof *chain);
    if (shape->pool) {
        const struct cnnvp_max_pool pool = pool_of(shape);
        const uint64_t area = (uint64_t)shape->height * shape->width;
        for (uint64_t m = 0; m < (uint64_t)IMAGES * shape->outputs; ++m)
            assert_int_equal(
                cnnvp_max_pool_backward(&pool, errors + m * area / 4, layer->ids + m * area / 4, chain + m * area),
                CNNVP_OK);
    }
    if (shape->relu)
        cnnvp_relu_backward(layer->positive, n, chain);
    if (shape->norm)
        whole_backward(&size, engine->options->range, layer->sums, chain, layer->channels, chain);
    encode(engine, chain, n, engine->options->rounding, seed_of(engine->options->seed, engine->step, l, TRAIN_OF_ERROR),
           &layer->error);
    run(engine, shape, CNNVP_TRAIN_GRADIENT, &layer->in, &layer->error, train_weight_count(shape), layer->gradient);
    if (l > 0)
        run(engine, shape, CNNVP_TRAIN_ERROR, &layer->error, &layer->kernel,
            (uint64_t)IMAGES * shape->inputs * shape->height * shape->width, errors);
}

static void update(struct engine *engine, uint32_t l)
{
    const struct train_layer *shape = &shapes[l];
    struct unit_layer *layer = &engine->layers[l];
    const float rate = (float)engine->options->rate;
    const float momentum = (float)engine->options->momentum;
    float dgamma[8] = {0};
    float dbeta[8] = {0};
    cnnvp_update_values(rate, momentum, layer->gradient, train_weight_count(shape), layer->weight_velocity,
                        layer->weights);
    for (uint32_t c = 0; shape->norm && c < shape->outputs; ++c) {
        dgamma[c] = (float)layer->channels[c].norm.dgamma;
        dbeta[c] = (float)layer->channels[c].norm.dbeta;
    }
    if (shape->norm) {
        cnnvp_update_values(rate, momentum, dgamma, shape->outputs, layer->gamma_velocity, layer->gamma);
        cnnvp_update_values(rate, momentum, dbeta, shape->outputs, layer->beta_velocity, layer->beta);
    }
}

static void quantise_weights(struct engine *engine, uint32_t l)
{
    encode(engine, engine->layers[l].weights, train_weight_count(&shapes[l]), engine->options->rounding,
           seed_of(engine->options->seed, engine->step, l, TRAIN_OF_WEIGHT), &engine->layers[l].kernel);
}

static struct train_result step(struct engine *engine, const uint8_t *images, const uint8_t *labels)
{
    const struct train_layer *last = &shapes[LAYERS - 1];
    static float errors[MOST];
    float probabilities[IMAGES * 8];
    uint32_t classes[IMAGES];
    struct cnnvp_softmax_result softmax[IMAGES];
    struct train_result result = {0, 0};
    const uint64_t inputs = (uint64_t)IMAGES * shapes[0].inputs * SIDE * SIDE;
    for (uint64_t i = 0; i < inputs; ++i)
        errors[i] = (float)images[i] / 255.0f;
    const enum train_rounding rounding = engine->options->rounding;
    encode(engine, errors, inputs, rounding == TRAIN_STOCHASTIC ? TRAIN_NEAREST : rounding, 0, &engine->layers[0].in);
    for (uint32_t l = 0; l < LAYERS; ++l)
        forward(engine, l);
    for (uint32_t i = 0; i < IMAGES; ++i)
        classes[i] = labels[i];
    assert_int_equal(cnnvp_softmax_classify(IMAGES, last->outputs, engine->layers[LAYERS - 1].sums, classes,
                                            1.0 / IMAGES, probabilities, errors, softmax),
                     CNNVP_OK);
    for (uint32_t i = 0; i < IMAGES; ++i) {
        result.loss += softmax[i].loss / IMAGES;
        result.correct += softmax[i].predicted == labels[i];
    }
    for (uint32_t l = LAYERS; l-- > 0;)
        backward(engine, l, errors);
    for (uint32_t l = 0; l < LAYERS; ++l)
        update(engine, l);
    ++engine->step;
    for (uint32_t l = 0; l < LAYERS; ++l)
        quantise_weights(engine, l);
    return result;
}

/* ---- comparison ---- */

/* Bit by bit: zeros have signs. */
static int same_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float)) == 0;
}

static void same(const char *what, uint32_t layer, const double *want, const float *have, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        if (!same_bits(&have[i], &(float){(float)want[i]}))
            fail_msg("%s %llu of layer %u: %.9g, the reference has %.9g", what, (unsigned long long)i, layer,
                     (double)have[i], want[i]);
}

static void compare(const struct engine *engine, const struct train_net *net)
{
    for (uint32_t l = 0; l < LAYERS; ++l) {
        const struct unit_layer *have = &engine->layers[l];
        const struct train_layer *want = &net->layers[l];
        same("sum", l, want->sums, have->sums, outputs_of(&shapes[l]));
        same("gradient", l, want->gradient, have->gradient, train_weight_count(&shapes[l]));
        same("weight", l, want->weights, have->weights, train_weight_count(&shapes[l]));
        if (!shapes[l].norm)
            continue;
        same("gamma", l, want->gamma, have->gamma, shapes[l].outputs);
        same("beta", l, want->beta, have->beta, shapes[l].outputs);
        same("mean", l, want->mean, have->mean, shapes[l].outputs);
        same("sigma", l, want->sigma, have->sigma, shapes[l].outputs);
    }
}

/* Images, labels and weights of a run, from its seed. */
struct problem {
    uint8_t images[IMAGES * 2 * SIDE * SIDE];
    uint8_t labels[IMAGES];
    float weights[LAYERS][MOST];
};

static void make_problem(uint64_t seed, struct problem *problem)
{
    uint64_t random = seed;
    for (size_t i = 0; i < sizeof problem->images; ++i)
        problem->images[i] = (uint8_t)(next_bits(&random) >> 20);
    for (size_t i = 0; i < IMAGES; ++i)
        problem->labels[i] = (uint8_t)(next_bits(&random) % 3);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        const uint64_t weights = train_weight_count(&shapes[l]);
        const float scale = sqrtf(6.0f * (float)shapes[l].outputs / (float)weights);
        for (uint64_t i = 0; i < weights; ++i)
            problem->weights[l][i] = next_float(&random) * scale;
    }
}

static void start_reference(struct train_net *net, const struct problem *problem, const struct train_options *options)
{
    train_net_new(net, shapes, LAYERS, IMAGES, options);
    for (uint32_t l = 0; l < LAYERS; ++l)
        for (uint64_t i = 0; i < train_weight_count(&shapes[l]); ++i)
            net->layers[l].weights[i] = (double)problem->weights[l][i];
    train_net_start(net);
}

static void start_engine(struct engine *engine, const struct problem *problem, const struct train_options *options)
{
    *engine = (struct engine){.options = options, .layers = calloc(LAYERS, sizeof *engine->layers)};
    assert_non_null(engine->layers);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        memcpy(engine->layers[l].weights, problem->weights[l], train_weight_count(&shapes[l]) * sizeof(float));
        for (uint32_t c = 0; c < 8; ++c)
            engine->layers[l].gamma[c] = engine->layers[l].sigma[c] = 1;
        quantise_weights(engine, l);
    }
}

static struct problem problem;

static void check_run(const struct train_options *options)
{
    struct engine engine;
    struct train_net net;
    start_reference(&net, &problem, options);
    start_engine(&engine, &problem, options);
    for (int i = 0; i < STEPS; ++i) {
        const struct train_result want = train_net_step(&net, problem.images, problem.labels, IMAGES);
        const struct train_result have = step(&engine, problem.images, problem.labels);
        assert_int_equal(want.correct, have.correct);
        assert_true(fabs(want.loss - have.loss) < 1e-12 * (1 + want.loss));
        compare(&engine, &net);
    }
    train_net_free(&net);
    free(engine.layers);
}

static const struct train_options usual = {
    .rate = (double)0.05f, .momentum = (double)0.9f, .bn_momentum = (double)0.1f, .seed_of = seed_of};

static void units_train_as_the_reference(void **state)
{
    (void)state;
    static const uint32_t widths[] = {8, 5, 24};
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        make_problem(seed, &problem);
        for (int range = 0; range < 2; ++range)
            for (size_t w = 0; w < 3; ++w)
                for (uint32_t rounding = 0; rounding < 3; ++rounding) {
                    struct train_options options = usual;
                    options.range = range;
                    options.bits = widths[w];
                    options.rounding = (enum train_rounding)rounding;
                    options.seed = seed;
                    check_run(&options);
                }
    }
}

/* Cosine of the angle between gradients, and their largest distance against their size. */
static double cosine(const double *a, const double *b, uint64_t n, double *distance)
{
    double ab = 0;
    double aa = 0;
    double bb = 0;
    double apart = 0;
    for (uint64_t i = 0; i < n; ++i) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        apart += (a[i] - b[i]) * (a[i] - b[i]);
    }
    *distance = sqrt(apart / aa);
    return ab / sqrt(aa * bb);
}

/* The first step's gradients in `bits` of mantissa and in binary64. */
static void check_gradients(uint64_t seed, int range, uint32_t bits, double least_cosine, double most_distance)
{
    struct train_net exact;
    struct train_net net;
    struct train_options options = usual;
    make_problem(seed, &problem);
    options.range = range;
    options.rounding = TRAIN_NEAREST;
    start_reference(&exact, &problem, &options);
    options.bits = bits;
    start_reference(&net, &problem, &options);
    (void)train_net_step(&exact, problem.images, problem.labels, IMAGES);
    (void)train_net_step(&net, problem.images, problem.labels, IMAGES);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        double distance;
        const double angle =
            cosine(exact.layers[l].gradient, net.layers[l].gradient, train_weight_count(&shapes[l]), &distance);
        if (angle < least_cosine || distance > most_distance)
            fail_msg("seed %llu, %u bits, layer %u: cosine %.9f, distance %.3g", (unsigned long long)seed, bits, l,
                     angle, distance);
    }
    train_net_free(&exact);
    train_net_free(&net);
}

static void wide_mantissas_hide_no_error_of_formula(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed)
        for (int range = 0; range < 2; ++range)
            check_gradients(seed, range, 24, 1 - 1e-9, 3e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_train_as_the_reference),
        cmocka_unit_test(wide_mantissas_hide_no_error_of_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
