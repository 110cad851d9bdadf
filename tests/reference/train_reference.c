/* SPDX-License-Identifier: Apache-2.0 */
/* See train_reference.h. */
#include "train_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor as the arithmetic sees it: mantissas and one exponent, or plain numbers (bits 0). */
struct train_tensor {
    int32_t *mantissas;
    int exponent;
    double *numbers;
};

static void *room(uint64_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        (void)fprintf(stderr, "train_reference: no memory\n");
        exit(1);
    }
    return memory;
}

static struct train_tensor *new_tensor(uint64_t count, uint32_t bits)
{
    struct train_tensor *tensor = room(1, sizeof *tensor);
    if (bits == 0)
        tensor->numbers = room(count, sizeof(double));
    else
        tensor->mantissas = room(count, sizeof(int32_t));
    return tensor;
}

static void free_tensor(struct train_tensor *tensor)
{
    free(tensor->mantissas);
    free(tensor->numbers);
    free(tensor);
}

/* ---- shapes ---- */

static uint32_t out_side(const struct train_layer *layer, uint32_t side)
{
    return layer->connected ? 1 : side + 2 * layer->pad - layer->side + 1;
}

uint32_t train_plane(const struct train_layer *layer)
{
    return out_side(layer, layer->height) * out_side(layer, layer->width);
}

uint32_t train_pooled_plane(const struct train_layer *layer)
{
    return layer->pool ? (out_side(layer, layer->height) / 2) * (out_side(layer, layer->width) / 2) : train_plane(layer);
}

uint64_t train_weight_count(const struct train_layer *layer)
{
    return (uint64_t)layer->outputs * layer->inputs * (layer->connected ? 1 : layer->side * layer->side);
}

static uint64_t input_size(const struct train_layer *layer)
{
    return (uint64_t)layer->inputs * (layer->connected ? 1 : layer->height * layer->width);
}

/* ---- rounding ---- */

/* What the arithmetic behind the sums is done in. */
static double narrow(const struct train_net *net, double x)
{
    return net->options.bits == 0 ? x : (double)(float)x;
}

static uint64_t hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t seed_of(const struct train_net *net, uint64_t step, uint32_t layer, enum train_what what)
{
    if (net->options.seed_of != NULL)
        return net->options.seed_of(net->options.seed, step, layer, what);
    return hash(hash(net->options.seed, step), (uint64_t)layer * 4 + (uint64_t)what);
}

/* floor(log2 |x|) by the exponent of the number; x not 0. */
static int log2_of(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return exponent - 1;
}

/* The mantissa of binary32 number x under an exponent: x / 2^(exponent - (bits - 2)), rounded. */
static int32_t mantissa_of(const struct train_options *options, double x, int exponent, uint64_t random, uint64_t *saturated)
{
    const int32_t limit = (int32_t)((1u << (options->bits - 1)) - 1u);
    /* x is m * 2^power with a whole m below 2^24: its own 24 bits, or fewer at the lower end of binary32. */
    const int power = x < 0 || x > 0 ? (log2_of(x) > -126 ? log2_of(x) : -126) - 23 : 0;
    const uint64_t whole = (uint64_t)fabs(ldexp(x, -power));
    const int shift = exponent - ((int)options->bits - 2) - power;
    uint64_t kept;
    uint64_t lost = 0;
    if (shift <= 0) {
        kept = -shift > 30 ? (whole != 0 ? UINT64_MAX : 0) : whole << -shift;
    } else {
        kept = shift > 60 ? 0 : whole >> shift;
        lost = shift > 60 ? whole : whole - (kept << shift);
        const uint64_t unit = shift > 60 ? 0 : UINT64_C(1) << shift;
        if (options->rounding == TRAIN_NEAREST && unit != 0)
            kept += lost * 2 > unit || (lost * 2 == unit && kept % 2 == 1) ? 1 : 0;
        else if (options->rounding == TRAIN_STOCHASTIC && shift <= 55)
            kept += lost > random % unit ? 1 : 0;
    }
    const uint64_t most = (uint64_t)limit + (x < 0 ? 1 : 0);
    if (kept > most) {
        ++*saturated;
        kept = most;
    }
    return x < 0 ? -(int32_t)kept : (int32_t)kept;
}

/* n numbers into a tensor; the block is the tensor. */
static void quantise(const struct train_net *net, const double *x, uint64_t n, uint64_t seed, struct train_tensor *to,
                     uint64_t *saturated)
{
    if (net->options.bits == 0) {
        memcpy(to->numbers, x, n * sizeof *x);
        return;
    }
    double max = 0;
    for (uint64_t i = 0; i < n; ++i)
        max = fabs(x[i]) > max ? fabs(x[i]) : max;
    to->exponent = max > 0 ? log2_of(max) : -128;
    to->exponent = to->exponent < -128 ? -128 : to->exponent;
    for (uint64_t i = 0; i < n; ++i)
        to->mantissas[i] = mantissa_of(&net->options, x[i], to->exponent, hash(seed, i), saturated);
}

/* What one unit of a product of two tensors' mantissas is worth. */
static int product_power(const struct train_net *net, const struct train_tensor *a, const struct train_tensor *b)
{
    return a->exponent + b->exponent - 2 * ((int)net->options.bits - 2);
}

static double value_at(const struct train_net *net, const struct train_tensor *tensor, uint64_t i)
{
    return net->options.bits == 0 ? tensor->numbers[i]
                                  : ldexp((double)tensor->mantissas[i], tensor->exponent - ((int)net->options.bits - 2));
}

/* ---- sums of products ---- */

/* An accumulator for rows: whole numbers, or binary64. */
struct sums {
    int64_t *whole;
    double *numbers;
};

static struct sums new_sums(const struct train_net *net, uint64_t n)
{
    struct sums sums = {NULL, NULL};
    if (net->options.bits == 0)
        sums.numbers = room(n, sizeof(double));
    else
        sums.whole = room(n, sizeof(int64_t));
    return sums;
}

static void finish_sums(const struct train_net *net, struct sums *sums, int power, uint64_t n, double *to)
{
    for (uint64_t i = 0; i < n; ++i)
        to[i] = net->options.bits == 0 ? sums->numbers[i] : narrow(net, ldexp((double)sums->whole[i], power));
    free(sums->whole);
    free(sums->numbers);
}

/* sums[to + i] += a[at] * b[from + i] */
static void scale_row(struct sums *sums, uint64_t to, const struct train_tensor *a, uint64_t at,
                      const struct train_tensor *b, uint64_t from, uint64_t n)
{
    if (sums->whole != NULL) {
        const int64_t factor = a->mantissas[at];
        int64_t *restrict row = sums->whole + to;
        const int32_t *restrict values = b->mantissas + from;
        for (uint64_t i = 0; i < n; ++i)
            row[i] += factor * values[i];
    } else {
        const double factor = a->numbers[at];
        double *restrict row = sums->numbers + to;
        const double *restrict values = b->numbers + from;
        for (uint64_t i = 0; i < n; ++i)
            row[i] += factor * values[i];
    }
}

/* sums[to] += sum of a[at + i] * b[from + i] */
static void dot_row(struct sums *sums, uint64_t to, const struct train_tensor *a, uint64_t at,
                    const struct train_tensor *b, uint64_t from, uint64_t n)
{
    if (sums->whole != NULL) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < n; ++i)
            sum += (int64_t)a->mantissas[at + i] * b->mantissas[from + i];
        sums->whole[to] += sum;
    } else {
        for (uint64_t i = 0; i < n; ++i)
            sums->numbers[to] += a->numbers[at + i] * b->numbers[from + i];
    }
}

/* Calls back for each row of products of a convolution: output row `out` (+ n values) and input row `in` meet at a tap. */
struct row {
    uint64_t in, out, weight, n;
};

static uint64_t rows_of(const struct train_layer *layer, uint32_t image, uint32_t o, uint32_t i, uint32_t t, uint32_t y,
                        struct row *row)
{
    const int64_t out_w = out_side(layer, layer->width);
    const int64_t out_h = out_side(layer, layer->height);
    const int64_t dy = (int64_t)(t / layer->side) - layer->pad;
    const int64_t dx = (int64_t)(t % layer->side) - layer->pad;
    const int64_t first = dx < 0 ? -dx : 0;
    const int64_t last = out_w < (int64_t)layer->width - dx ? out_w : (int64_t)layer->width - dx;
    if (y + dy < 0 || y + dy >= layer->height || last <= first)
        return 0;
    row->n = (uint64_t)(last - first);
    row->in = (uint64_t)((((int64_t)image * layer->inputs + i) * layer->height + y + dy) * layer->width + first + dx);
    row->out = (uint64_t)((((int64_t)image * layer->outputs + o) * out_h + y) * out_w + first);
    row->weight = ((uint64_t)o * layer->inputs + i) * layer->side * layer->side + t;
    return row->n;
}

enum pass { FORWARD, ERROR, GRADIENT };

/* The three convolutions of a layer: sums from inputs and weights, errors of the input, gradients of the weights. */
static void convolve(const struct train_layer *layer, enum pass pass, uint32_t images, struct sums *sums)
{
    struct row row;
    for (uint32_t image = 0; image < images; ++image)
        for (uint32_t o = 0; o < layer->outputs; ++o)
            for (uint32_t i = 0; i < layer->inputs; ++i)
                for (uint32_t t = 0; t < layer->side * layer->side; ++t)
                    for (uint32_t y = 0; y < out_side(layer, layer->height); ++y) {
                        if (rows_of(layer, image, o, i, t, y, &row) == 0)
                            continue;
                        if (pass == FORWARD)
                            scale_row(sums, row.out, layer->kernel, row.weight, layer->in, row.in, row.n);
                        else if (pass == ERROR)
                            scale_row(sums, row.in, layer->kernel, row.weight, layer->error, row.out, row.n);
                        else
                            dot_row(sums, row.weight, layer->in, row.in, layer->error, row.out, row.n);
                    }
}

static void connect(const struct train_layer *layer, enum pass pass, uint32_t images, struct sums *sums)
{
    const uint64_t inputs = layer->inputs;
    for (uint32_t image = 0; image < images; ++image)
        for (uint64_t o = 0; o < layer->outputs; ++o) {
            const uint64_t out = image * layer->outputs + o;
            if (pass == FORWARD)
                dot_row(sums, out, layer->in, image * inputs, layer->kernel, o * inputs, inputs);
            else if (pass == ERROR)
                scale_row(sums, image * inputs, layer->error, out, layer->kernel, o * inputs, inputs);
            else
                scale_row(sums, o * inputs, layer->error, out, layer->in, image * inputs, inputs);
        }
}

static void products(const struct train_net *net, const struct train_layer *layer, enum pass pass, uint32_t images,
                     uint64_t n, double *to)
{
    struct sums sums = new_sums(net, n);
    if (layer->connected)
        connect(layer, pass, images, &sums);
    else
        convolve(layer, pass, images, &sums);
    const struct train_tensor *a = pass == GRADIENT ? layer->in : layer->kernel;
    const struct train_tensor *b = pass == FORWARD ? layer->in : layer->error;
    finish_sums(net, &sums, net->options.bits == 0 ? 0 : product_power(net, a, b), n, to);
}

/* ---- batch norm ---- */

/* Sums of a channel are binary64 in eight parts, value i of a plane in part i mod 8, planes in order of the images. */
enum { PARTS = 8 };

static double gather(const double part[PARTS])
{
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

enum moment { SUM, SQUARES, PRODUCTS };

/* Over a channel c of all images: x, (x - mean)^2, or e * (x - mean). */
static double channel_sum(const struct train_layer *layer, uint32_t images, uint32_t c, enum moment moment,
                          const double *x, const double *e, double mean)
{
    const uint64_t plane = train_plane(layer);
    double sum = 0;
    for (uint32_t image = 0; image < images; ++image) {
        double part[PARTS] = {0};
        for (uint64_t i = 0; i < plane; ++i) {
            const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
            const double d = x[at] - mean;
            part[i % PARTS] += moment == SUM ? x[at] : moment == SQUARES ? d * d : e[at] * d;
        }
        sum += gather(part);
    }
    return sum;
}

static double range_factor(double n)
{
    return n > 1 ? 0.54 / sqrt(2 * log(n)) : 0.54;
}

static void find_extremes(struct train_layer *layer, uint32_t images, uint32_t c, double *min, double *max)
{
    const uint64_t plane = train_plane(layer);
    int first = 1;
    for (uint32_t image = 0; image < images; ++image)
        for (uint64_t i = 0; i < plane; ++i) {
            const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
            if (first || layer->sums[at] > *max) {
                *max = layer->sums[at];
                layer->max_at[c] = at;
            }
            if (first || layer->sums[at] < *min) {
                *min = layer->sums[at];
                layer->min_at[c] = at;
            }
            first = 0;
        }
}

static void normalise(struct train_net *net, struct train_layer *layer, uint32_t images, int stored)
{
    const uint64_t plane = train_plane(layer);
    const double n = (double)images * (double)plane;
    for (uint32_t c = 0; c < layer->outputs; ++c) {
        double mean = layer->mean[c];
        double sigma = layer->sigma[c];
        double min = 0;
        double max = 0;
        if (!stored) {
            find_extremes(layer, images, c, &min, &max);
            mean = channel_sum(layer, images, c, SUM, layer->sums, NULL, 0) / n;
            sigma = net->options.range
                        ? range_factor(n) * (max - min) + layer->epsilon
                        : sqrt(channel_sum(layer, images, c, SQUARES, layer->sums, NULL, mean) / n + layer->epsilon);
            const double m = net->options.bn_momentum;
            layer->mean[c] = narrow(net, layer->mean[c] + m * (mean - layer->mean[c]));
            layer->sigma[c] = narrow(net, layer->sigma[c] + m * (sigma - layer->sigma[c]));
        }
        layer->norm_mean[c] = mean;
        layer->norm_sigma[c] = sigma;
        layer->norm_scale[c] = layer->gamma[c] / sigma;
        const double scale = narrow(net, layer->norm_scale[c]);
        const double offset = narrow(net, layer->beta[c] - layer->norm_scale[c] * mean);
        for (uint32_t image = 0; image < images; ++image)
            for (uint64_t i = 0; i < plane; ++i) {
                const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
                layer->values[at] = narrow(net, narrow(net, scale * layer->sums[at]) + offset);
            }
    }
}

/* layer->chain: loss by batch norm's output; becomes loss by the sums. */
static void normalise_back(struct train_net *net, struct train_layer *layer, uint32_t images)
{
    const uint64_t plane = train_plane(layer);
    const double n = (double)images * (double)plane;
    for (uint32_t c = 0; c < layer->outputs; ++c) {
        const double sigma = layer->norm_sigma[c];
        const double scale = layer->gamma[c] / sigma;
        layer->dbeta[c] = channel_sum(layer, images, c, SUM, layer->chain, NULL, 0);
        layer->dgamma[c] =
            channel_sum(layer, images, c, PRODUCTS, layer->sums, layer->chain, layer->norm_mean[c]) / sigma;
        const double slope = net->options.range ? 0 : -scale * layer->dgamma[c] / n / sigma;
        const double by_error = narrow(net, scale);
        const double by_value = narrow(net, slope);
        const double offset = narrow(net, -scale * layer->dbeta[c] / n - slope * layer->norm_mean[c]);
        for (uint32_t image = 0; image < images; ++image)
            for (uint64_t i = 0; i < plane; ++i) {
                const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
                layer->chain[at] = narrow(
                    net, narrow(net, narrow(net, by_error * layer->chain[at]) + narrow(net, by_value * layer->sums[at])) +
                             offset);
            }
        if (net->options.range) {
            const double extreme = narrow(net, -scale * layer->dgamma[c] * range_factor(n));
            layer->chain[layer->max_at[c]] = narrow(net, layer->chain[layer->max_at[c]] + extreme);
            layer->chain[layer->min_at[c]] = narrow(net, layer->chain[layer->min_at[c]] - extreme);
        }
    }
}

/* ---- ReLU, pool, softmax ---- */

static void rectify(struct train_layer *layer, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i) {
        layer->positive[i] = !layer->relu || layer->values[i] > 0;
        layer->values[i] = layer->positive[i] ? layer->values[i] : 0;
    }
}

/* Quantised values `from` of a layer become the next one's input, through the pool. */
static void pool(const struct train_net *net, struct train_layer *layer, uint32_t images, const struct train_tensor *from,
                 struct train_tensor *to)
{
    const uint64_t width = out_side(layer, layer->width);
    const uint64_t out_w = layer->pool ? width / 2 : width;
    const uint64_t plane = train_plane(layer);
    const uint64_t pooled = train_pooled_plane(layer);
    to->exponent = from->exponent;
    for (uint64_t map = 0; map < (uint64_t)images * layer->outputs; ++map)
        for (uint64_t i = 0; i < pooled; ++i) {
            uint64_t best = map * plane + (layer->pool ? i / out_w * 2 * width + i % out_w * 2 : i);
            layer->place[map * pooled + i] = 0;
            for (uint64_t t = 1; layer->pool && t < 4; ++t) {
                const uint64_t at = map * plane + (i / out_w * 2 + t / 2) * width + i % out_w * 2 + t % 2;
                const int larger = net->options.bits == 0 ? from->numbers[at] > from->numbers[best]
                                                          : from->mantissas[at] > from->mantissas[best];
                if (larger) {
                    best = at;
                    layer->place[map * pooled + i] = (uint8_t)t;
                }
            }
            if (net->options.bits == 0)
                to->numbers[map * pooled + i] = from->numbers[best];
            else
                to->mantissas[map * pooled + i] = from->mantissas[best];
        }
}

/* `from`: loss by the pooled output. layer->chain becomes loss by what ReLU gave, then by what it took. */
static void pool_and_relu_back(struct train_layer *layer, uint32_t images, const double *from)
{
    const uint64_t width = out_side(layer, layer->width);
    const uint64_t plane = train_plane(layer);
    const uint64_t pooled = train_pooled_plane(layer);
    const uint64_t maps = (uint64_t)images * layer->outputs;
    for (uint64_t i = 0; i < maps * plane; ++i)
        layer->chain[i] = layer->pool ? 0 : from[i];
    for (uint64_t map = 0; layer->pool && map < maps; ++map)
        for (uint64_t i = 0; i < pooled; ++i) {
            const uint64_t t = layer->place[map * pooled + i];
            const uint64_t y = i / (width / 2) * 2 + t / 2;
            const uint64_t x = i % (width / 2) * 2 + t % 2;
            layer->chain[map * plane + y * width + x] = from[map * pooled + i];
        }
    for (uint64_t i = 0; i < maps * plane; ++i)
        layer->chain[i] = layer->positive[i] ? layer->chain[i] : 0;
}

/* layer->values: the network's output. layer->chain: loss by it. */
static struct train_result classify(const struct train_net *net, struct train_layer *layer, const uint8_t *labels,
                                    uint32_t images)
{
    struct train_result result = {0, 0};
    for (uint32_t image = 0; image < images; ++image) {
        const double *x = layer->values + (uint64_t)image * layer->outputs;
        uint32_t best = 0;
        double sum = 0; /* 1 at least in the end: the largest output's term */
        for (uint32_t c = 1; c < layer->outputs; ++c)
            best = x[c] > x[best] ? c : best;
        for (uint32_t c = 0; c < layer->outputs; ++c)
            sum += exp(x[c] - x[best]);
        for (uint32_t c = 0; c < layer->outputs; ++c)
            layer->chain[(uint64_t)image * layer->outputs + c] =
                narrow(net, (exp(x[c] - x[best]) / sum - (c == labels[image] ? 1 : 0)) * (1.0 / images));
        /* cppcheck-suppress invalidFunctionArg */
        result.loss += (log(sum) - (x[labels[image]] - x[best])) / images;
        result.correct += best == labels[image];
    }
    return result;
}

/* ---- steps ---- */

static void forward(struct train_net *net, uint32_t images, int stored, struct train_tensor *scratch)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        const uint64_t n = (uint64_t)images * layer->outputs * train_plane(layer);
        products(net, layer, FORWARD, images, n, layer->sums);
        memcpy(layer->values, layer->sums, n * sizeof *layer->sums);
        if (layer->norm)
            normalise(net, layer, images, stored);
        for (uint64_t i = 0; !layer->norm && layer->bias && i < n; ++i)
            layer->values[i] = narrow(net, layer->values[i] +
                                               value_at(net, layer->bias_copy, i / train_plane(layer) % layer->outputs));
        if (l + 1 == net->layer_count)
            return;
        rectify(layer, n);
        quantise(net, layer->values, n, seed_of(net, stored ? UINT32_MAX : net->step, l, TRAIN_OF_ACTIVATION), scratch,
                 &layer->saturated);
        pool(net, layer, images, scratch, net->layers[l + 1].in);
    }
}

static void backward(struct train_net *net, uint32_t images)
{
    double *errors = NULL;
    for (uint32_t l = net->layer_count; l-- > 0;) {
        struct train_layer *layer = &net->layers[l];
        const uint64_t n = (uint64_t)images * layer->outputs * train_plane(layer);
        if (l + 1 < net->layer_count) {
            pool_and_relu_back(layer, images, errors);
            if (layer->norm)
                normalise_back(net, layer, images);
        }
        free(errors);
        errors = NULL;
        quantise(net, layer->chain, n, seed_of(net, net->step, l, TRAIN_OF_ERROR), layer->error, &layer->saturated);
        for (uint64_t i = 0; i < n; ++i)
            layer->errors[i] = value_at(net, layer->error, i);
        for (uint32_t c = 0; !layer->norm && c < layer->outputs; ++c) {
            double sum = 0; /* exact: mantissas of one exponent */
            for (uint64_t i = 0; i < n; ++i)
                sum += i / train_plane(layer) % layer->outputs == c ? layer->errors[i] : 0;
            layer->dbeta[c] = narrow(net, sum);
        }
        products(net, layer, GRADIENT, images, train_weight_count(layer), layer->gradient);
        if (l > 0) {
            errors = room(images * input_size(layer), sizeof *errors);
            products(net, layer, ERROR, images, images * input_size(layer), errors);
        }
    }
}

static void update_all(const struct train_net *net, const double *gradient, uint64_t n, double *velocity, double *values)
{
    for (uint64_t i = 0; i < n; ++i) {
        const double g = narrow(net, gradient[i]);
        velocity[i] = narrow(net, narrow(net, net->options.momentum * velocity[i]) + g);
        values[i] = narrow(net, values[i] - narrow(net, net->options.rate * velocity[i]));
    }
}

static void quantise_weights(struct train_net *net)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        quantise(net, layer->weights, train_weight_count(layer), seed_of(net, net->step, l, TRAIN_OF_WEIGHT), layer->kernel,
                 &layer->saturated);
        quantise(net, layer->biases, layer->outputs, seed_of(net, net->step, l, TRAIN_OF_BIAS), layer->bias_copy,
                 &layer->saturated);
    }
}

static void update(struct train_net *net)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        update_all(net, layer->gradient, train_weight_count(layer), layer->weight_velocity, layer->weights);
        if (layer->norm) {
            update_all(net, layer->dgamma, layer->outputs, layer->gamma_velocity, layer->gamma);
            update_all(net, layer->dbeta, layer->outputs, layer->beta_velocity, layer->beta);
        } else if (layer->bias) {
            update_all(net, layer->dbeta, layer->outputs, layer->bias_velocity, layer->biases);
        }
    }
}

/* Images always round to nearest: the same mantissas in every epoch. */
static void take_images(struct train_net *net, const uint8_t *images, uint32_t count)
{
    const uint64_t n = count * input_size(&net->layers[0]);
    struct train_tensor *in = net->layers[0].in;
    const struct train_options options = {.bits = net->options.bits, .rounding = TRAIN_NEAREST};
    uint64_t saturated = 0;
    in->exponent = log2_of((double)((float)(net->brightest != 0 ? net->brightest : 255) / 255.0f));
    for (uint64_t i = 0; i < n; ++i) {
        if (net->options.bits == 0)
            in->numbers[i] = images[i] / 255.0;
        else
            in->mantissas[i] = mantissa_of(&options, (double)((float)images[i] / 255.0f), in->exponent, 0, &saturated);
    }
}

static uint64_t scratch_size(const struct train_net *net)
{
    uint64_t most = 0;
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        const uint64_t size = (uint64_t)net->images_max * net->layers[l].outputs * train_plane(&net->layers[l]);
        most = size > most ? size : most;
    }
    return most;
}

static struct train_result run(struct train_net *net, const uint8_t *images, const uint8_t *labels, uint32_t count,
                               int stored)
{
    struct train_tensor *scratch = new_tensor(scratch_size(net), net->options.bits);
    take_images(net, images, count);
    forward(net, count, stored, scratch);
    free_tensor(scratch);
    return classify(net, &net->layers[net->layer_count - 1], labels, count);
}

struct train_result train_net_step(struct train_net *net, const uint8_t *images, const uint8_t *labels, uint32_t count)
{
    const struct train_result result = run(net, images, labels, count, 0);
    backward(net, count);
    update(net);
    ++net->step;
    quantise_weights(net);
    return result;
}

struct train_result train_net_evaluate(struct train_net *net, const uint8_t *images, const uint8_t *labels,
                                       uint32_t count)
{
    struct train_result result = {0, 0};
    for (uint32_t first = 0; first < count; first += net->images_max) {
        const uint32_t part = count - first < net->images_max ? count - first : net->images_max;
        const struct train_result one =
            run(net, images + first * input_size(&net->layers[0]), labels + first, part, 1);
        result.loss += one.loss * part / count;
        result.correct += one.correct;
    }
    return result;
}

void train_net_start(struct train_net *net)
{
    quantise_weights(net);
}

/* ---- memory ---- */

static double *ones(uint64_t n)
{
    double *values = room(n, sizeof *values);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = 1;
    return values;
}

static void new_layer(struct train_layer *layer, uint32_t images, uint32_t bits)
{
    const uint64_t channels = layer->outputs;
    const uint64_t weights = train_weight_count(layer);
    const uint64_t outputs = images * channels * train_plane(layer);
    double **const per_weight[] = {&layer->weights, &layer->weight_velocity, &layer->gradient};
    double **const per_channel[] = {&layer->biases, &layer->bias_velocity, &layer->gamma_velocity, &layer->beta,
                                    &layer->beta_velocity, &layer->mean, &layer->dgamma, &layer->dbeta,
                                    &layer->norm_scale, &layer->norm_mean, &layer->norm_sigma};
    double **const per_output[] = {&layer->sums, &layer->errors, &layer->values, &layer->chain};
    for (size_t i = 0; i < sizeof per_weight / sizeof *per_weight; ++i)
        *per_weight[i] = room(weights, sizeof(double));
    for (size_t i = 0; i < sizeof per_channel / sizeof *per_channel; ++i)
        *per_channel[i] = room(channels, sizeof(double));
    for (size_t i = 0; i < sizeof per_output / sizeof *per_output; ++i)
        *per_output[i] = room(outputs, sizeof(double));
    layer->gamma = ones(channels);
    layer->sigma = ones(channels);
    layer->positive = room(outputs, 1);
    layer->place = room(outputs, 1);
    layer->max_at = room(channels, sizeof *layer->max_at);
    layer->min_at = room(channels, sizeof *layer->min_at);
    layer->in = new_tensor(images * input_size(layer), bits);
    layer->kernel = new_tensor(weights, bits);
    layer->bias_copy = new_tensor(channels, bits);
    layer->error = new_tensor(outputs, bits);
}

void train_net_new(struct train_net *net, const struct train_layer *layers, uint32_t count, uint32_t images_max,
                   const struct train_options *options)
{
    *net = (struct train_net){.options = *options, .layer_count = count, .images_max = images_max};
    net->layers = room(count, sizeof *net->layers);
    memcpy(net->layers, layers, count * sizeof *layers);
    for (uint32_t l = 0; l < count; ++l)
        new_layer(&net->layers[l], images_max, options->bits);
}

void train_net_free(struct train_net *net)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        void *const pieces[] = {layer->weights, layer->weight_velocity, layer->gradient, layer->biases,
                                layer->bias_velocity, layer->gamma, layer->gamma_velocity, layer->beta,
                                layer->beta_velocity, layer->mean, layer->sigma, layer->dgamma, layer->dbeta,
                                layer->norm_scale, layer->norm_mean, layer->norm_sigma, layer->sums, layer->errors,
                                layer->values, layer->chain, layer->positive, layer->place, layer->max_at,
                                layer->min_at};
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
            free(pieces[i]);
        free_tensor(layer->in);
        free_tensor(layer->kernel);
        free_tensor(layer->bias_copy);
        free_tensor(layer->error);
    }
    free(net->layers);
}
