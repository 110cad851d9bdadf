/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of training (train_reference.h). */
#include "train_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train_products.h"

/* ---- shapes ---- */

uint32_t train_plane(const struct train_layer *layer)
{
    return train_out_side(layer, layer->height) * train_out_side(layer, layer->width);
}

uint32_t train_pooled_plane(const struct train_layer *layer)
{
    return layer->pool ? (train_out_side(layer, layer->height) / 2) * (train_out_side(layer, layer->width) / 2)
                       : train_plane(layer);
}

uint64_t train_weight_count(const struct train_layer *layer)
{
    return (uint64_t)layer->outputs * layer->inputs * (layer->connected ? 1 : layer->side * layer->side);
}

static uint64_t input_size(const struct train_layer *layer)
{
    return (uint64_t)layer->inputs * (layer->connected ? 1 : layer->height * layer->width);
}

/* Fully connected layers have no channels, so exponents by channel become exponents by tensor. */
static enum train_block block_of(const struct train_options *options, const struct train_layer *layer)
{
    return layer->connected && options->block == TRAIN_BY_CHANNEL ? TRAIN_BY_TENSOR : options->block;
}

/* ---- rounding ---- */

static uint64_t seed_of(const struct train_net *net, uint64_t step, uint32_t layer, enum train_what what)
{
    if (net->options.seed_of != NULL)
        return net->options.seed_of(net->options.seed, step, layer, what);
    return train_hash(train_hash(net->options.seed, step), (uint64_t)layer * 4 + (uint64_t)what);
}

static double value_at(const struct train_net *net, const struct train_tensor *tensor, uint64_t i)
{
    return train_tensor_value(tensor, net->options.bits, i);
}

/* ---- batch norm ---- */

/* Sums over a channel are binary64 in eight partial sums: value i of a plane goes to part i mod 8. Planes are added in
 * the images' order. */
enum { PARTS = 8 };

static double gather(const double part[PARTS])
{
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

enum moment { SUM, SQUARES, PRODUCTS };

/* Sum over channel c of all images: of x, of (x - mean)^2, or of e * (x - mean). */
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
            layer->mean[c] = train_narrow(net, layer->mean[c] + m * (mean - layer->mean[c]));
            layer->sigma[c] = train_narrow(net, layer->sigma[c] + m * (sigma - layer->sigma[c]));
        }
        layer->norm_mean[c] = mean;
        layer->norm_sigma[c] = sigma;
        layer->norm_scale[c] = layer->gamma[c] / sigma;
        const double scale = train_narrow(net, layer->norm_scale[c]);
        const double offset = train_narrow(net, layer->beta[c] - layer->norm_scale[c] * mean);
        for (uint32_t image = 0; image < images; ++image)
            for (uint64_t i = 0; i < plane; ++i) {
                const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
                layer->values[at] = train_narrow(net, train_narrow(net, scale * layer->sums[at]) + offset);
            }
    }
}

/* On entry, layer->chain is the derivative of the loss by the output of batch norm; on return, by the sums. */
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
        const double by_error = train_narrow(net, scale);
        const double by_value = train_narrow(net, slope);
        const double offset = train_narrow(net, -scale * layer->dbeta[c] / n - slope * layer->norm_mean[c]);
        for (uint32_t image = 0; image < images; ++image)
            for (uint64_t i = 0; i < plane; ++i) {
                const uint64_t at = ((uint64_t)image * layer->outputs + c) * plane + i;
                const double of_error = train_narrow(net, by_error * layer->chain[at]);
                const double of_value = train_narrow(net, by_value * layer->sums[at]);
                layer->chain[at] = train_narrow(net, train_narrow(net, of_error + of_value) + offset);
            }
        if (net->options.range) {
            const double extreme = train_narrow(net, -scale * layer->dgamma[c] * range_factor(n));
            layer->chain[layer->max_at[c]] = train_narrow(net, layer->chain[layer->max_at[c]] + extreme);
            layer->chain[layer->min_at[c]] = train_narrow(net, layer->chain[layer->min_at[c]] - extreme);
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

/* Pools the quantised values `from` of a layer into the next layer's input. */
static void pool(const struct train_net *net, struct train_layer *layer, uint32_t images,
                 const struct train_tensor *from, struct train_tensor *to)
{
    const uint64_t width = train_out_side(layer, layer->width);
    const uint64_t out_w = layer->pool ? width / 2 : width;
    const uint64_t plane = train_plane(layer);
    const uint64_t pooled = train_pooled_plane(layer);
    for (uint32_t b = 0; net->options.bits != 0 && b < (from->block == TRAIN_BY_IMAGE ? images : from->channels); ++b)
        if (from->block != TRAIN_BY_TENSOR || b == 0)
            to->exponents[b] = from->exponents[b];
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

/* `from` is the derivative of the loss by the pooled output. Sets layer->chain to the derivative by the input of
 * ReLU. */
static void pool_and_relu_back(struct train_layer *layer, uint32_t images, const double *from)
{
    const uint64_t width = train_out_side(layer, layer->width);
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

/* layer->values is the network's output. Sets layer->chain to the derivative of the loss by it. */
static struct train_result classify(const struct train_net *net, struct train_layer *layer, const uint8_t *labels,
                                    uint32_t images)
{
    struct train_result result = {0, 0};
    for (uint32_t image = 0; image < images; ++image) {
        const double *x = layer->values + (uint64_t)image * layer->outputs;
        uint32_t best = 0;
        double sum = 0; /* at least 1 after the loop: the largest output's term */
        for (uint32_t c = 1; c < layer->outputs; ++c)
            best = x[c] > x[best] ? c : best;
        for (uint32_t c = 0; c < layer->outputs; ++c)
            sum += exp(x[c] - x[best]);
        for (uint32_t c = 0; c < layer->outputs; ++c)
            layer->chain[(uint64_t)image * layer->outputs + c] =
                train_narrow(net, (exp(x[c] - x[best]) / sum - (c == labels[image] ? 1 : 0)) * (1.0 / images));
        /* cppcheck-suppress invalidFunctionArg */
        result.loss += (log(sum) - (x[labels[image]] - x[best])) / images;
        result.correct += best == labels[image];
    }
    return result;
}

/* ---- steps ---- */

static void forward(struct train_net *net, uint32_t images, int stored)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        const uint64_t n = (uint64_t)images * layer->outputs * train_plane(layer);
        train_products(net, layer, TRAIN_PASS_FORWARD, images, n, layer->sums);
        memcpy(layer->values, layer->sums, n * sizeof *layer->sums);
        if (layer->norm)
            normalise(net, layer, images, stored);
        for (uint64_t i = 0; !layer->norm && layer->bias && i < n; ++i)
            layer->values[i] = train_narrow(
                net, layer->values[i] + value_at(net, layer->bias_copy, i / train_plane(layer) % layer->outputs));
        if (l + 1 == net->layer_count)
            return;
        rectify(layer, n);
        train_tensor_quantise(
            layer->out, net->options.bits, net->options.rounding,
            seed_of(net, stored ? UINT32_MAX : net->step, l, TRAIN_OF_ACTIVATION), layer->values, n, &layer->saturated);
        pool(net, layer, images, layer->out, net->layers[l + 1].in);
    }
}

/* Gradients of biases. Errors with one exponent are summed exactly; errors with an exponent for each image are added in
 * binary32. */
static void sum_errors(const struct train_net *net, struct train_layer *layer, uint32_t images)
{
    const uint64_t plane = train_plane(layer);
    const int apart = net->options.bits != 0 && layer->error->block == TRAIN_BY_IMAGE;
    for (uint32_t c = 0; c < layer->outputs; ++c) {
        double all = 0;
        for (uint32_t image = 0; image < images; ++image) {
            double sum = 0;
            for (uint64_t i = 0; i < plane; ++i)
                sum += layer->errors[((uint64_t)image * layer->outputs + c) * plane + i];
            all = apart ? train_narrow(net, all + train_narrow(net, sum)) : all + sum;
        }
        layer->dbeta[c] = train_narrow(net, all);
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
        train_tensor_quantise(
            layer->error, net->options.bits, net->options.carried ? TRAIN_CARRIED : net->options.rounding,
            seed_of(net, net->step, l, TRAIN_OF_ERROR), layer->chain, n, &layer->saturated);
        for (uint64_t i = 0; i < n; ++i)
            layer->errors[i] = value_at(net, layer->error, i);
        if (!layer->norm)
            sum_errors(net, layer, images);
        train_products(net, layer, TRAIN_PASS_GRADIENT, images, train_weight_count(layer), layer->gradient);
        if (l > 0) {
            errors = train_room(images * input_size(layer), sizeof *errors);
            train_products(net, layer, TRAIN_PASS_ERROR, images, images * input_size(layer), errors);
        }
    }
}

static void update_all(const struct train_net *net, const double *gradient, uint64_t n, double *velocity,
                       double *values)
{
    for (uint64_t i = 0; i < n; ++i) {
        const double g = train_narrow(net, gradient[i]);
        velocity[i] = train_narrow(net, train_narrow(net, net->options.momentum * velocity[i]) + g);
        values[i] = train_narrow(net, values[i] - train_narrow(net, net->options.rate * velocity[i]));
    }
}

static void quantise_weights(struct train_net *net)
{
    const struct train_options *options = &net->options;
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        const uint64_t weights = train_weight_count(layer);
        train_tensor_quantise(layer->kernel, options->bits, options->rounding,
                              seed_of(net, net->step, l, TRAIN_OF_WEIGHT), layer->weights, weights, &layer->saturated);
        train_tensor_quantise(
            layer->bias_copy, options->bits, options->rounding, seed_of(net, net->step, l, TRAIN_OF_BIAS),
            layer->biases, layer->outputs, &layer->saturated);
        for (uint64_t i = 0; options->no_master && i < weights; ++i)
            layer->weights[i] = value_at(net, layer->kernel, i);
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

static float of_byte(uint32_t byte)
{
    return (float)byte / 255.0f;
}

/* The largest byte of a block of images: one image, the whole data set, or one channel of the data set. */
static uint8_t brightest_of(const struct train_net *net, const uint8_t *images, uint64_t image, uint32_t channel)
{
    const struct train_layer *first = &net->layers[0];
    const uint64_t size = input_size(first);
    uint8_t most = 0;
    for (uint64_t i = 0; first->in->block == TRAIN_BY_IMAGE && i < size; ++i)
        most = images[image * size + i] > most ? images[image * size + i] : most;
    if (first->in->block == TRAIN_BY_IMAGE)
        return most;
    if (net->brightest == NULL)
        return 255;
    for (uint32_t c = 0; c < first->inputs; ++c)
        if (first->in->block == TRAIN_BY_TENSOR || c == channel)
            most = net->brightest[c] > most ? net->brightest[c] : most;
    return most;
}

/* Images are never rounded stochastically, so that their mantissas are the same in every epoch. */
static void take_images(struct train_net *net, const uint8_t *images, uint32_t count)
{
    const uint64_t n = count * input_size(&net->layers[0]);
    struct train_tensor *in = net->layers[0].in;
    const uint32_t blocks = in->block == TRAIN_BY_IMAGE ? count : in->block == TRAIN_BY_CHANNEL ? in->channels : 1;
    uint64_t saturated = 0;
    double *values = train_room(n, sizeof *values);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = net->options.bits == 0 ? images[i] / 255.0 : (double)of_byte(images[i]);
    for (uint32_t b = 0; net->options.bits != 0 && b < blocks; ++b) {
        const float most = of_byte(brightest_of(net, images, b, b));
        in->exponents[b] = most > 0 ? train_log2((double)most) : -128;
    }
    if (net->options.bits == 0)
        memcpy(in->numbers, values, n * sizeof *values);
    else
        train_tensor_round(in, net->options.bits,
                           net->options.rounding == TRAIN_STOCHASTIC ? TRAIN_NEAREST : net->options.rounding, 0, values,
                           n, &saturated);
    free(values);
}

static struct train_result run(struct train_net *net, const uint8_t *images, const uint8_t *labels, uint32_t count,
                               int stored)
{
    take_images(net, images, count);
    forward(net, count, stored);
    return classify(net, &net->layers[net->layer_count - 1], labels, count);
}

/* A backward pass in binary64 after a forward pass in block floating point: it uses the values of the mantissas and the
 * maxima that the forward pass chose. */
static void float_backward(struct train_net *net, uint32_t images)
{
    const uint32_t bits = net->options.bits;
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        train_tensor_numbers(layer->in, bits, images * input_size(layer));
        train_tensor_numbers(layer->kernel, bits, train_weight_count(layer));
    }
    net->options.bits = 0;
    backward(net, images);
    net->options.bits = bits;
}

struct train_result train_net_step(struct train_net *net, const uint8_t *images, const uint8_t *labels, uint32_t count)
{
    const struct train_result result = run(net, images, labels, count, 0);
    if (net->options.float_backward && net->options.bits != 0)
        float_backward(net, count);
    else
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
        const struct train_result one = run(net, images + first * input_size(&net->layers[0]), labels + first, part, 1);
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
    double *values = train_room(n, sizeof *values);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = 1;
    return values;
}

static void new_tensors(struct train_layer *layer, uint32_t images, const struct train_options *options,
                        enum train_block of_out)
{
    const uint64_t weights = train_weight_count(layer);
    const enum train_block of_kernel = options->block == TRAIN_BY_CHANNEL ? TRAIN_BY_CHANNEL : TRAIN_BY_TENSOR;
    const enum train_block block = block_of(options, layer);
    const uint32_t in_channels = layer->connected ? 1 : layer->inputs;
    const uint32_t bits = options->bits;
    const int also = options->float_backward;
    layer->in = train_tensor_new(bits, also, block, images, in_channels, input_size(layer) / in_channels);
    layer->out = train_tensor_new(bits, 0, of_out, images, layer->outputs, train_plane(layer));
    layer->error = train_tensor_new(bits, also, block, images, layer->outputs, train_plane(layer));
    layer->kernel = train_tensor_new(bits, also, of_kernel, 1, layer->outputs, weights / layer->outputs);
    layer->bias_copy = train_tensor_new(bits, 0, TRAIN_BY_TENSOR, 1, 1, layer->outputs);
}

static void new_layer(struct train_layer *layer, uint32_t images)
{
    const uint64_t channels = layer->outputs;
    const uint64_t weights = train_weight_count(layer);
    const uint64_t outputs = images * channels * train_plane(layer);
    double **const per_weight[] = {&layer->weights, &layer->weight_velocity, &layer->gradient};
    double **const per_channel[] = {&layer->biases,        &layer->bias_velocity, &layer->gamma_velocity, &layer->beta,
                                    &layer->beta_velocity, &layer->mean,          &layer->dgamma,         &layer->dbeta,
                                    &layer->norm_scale,    &layer->norm_mean,     &layer->norm_sigma};
    double **const per_output[] = {&layer->sums, &layer->errors, &layer->values, &layer->chain};
    for (size_t i = 0; i < sizeof per_weight / sizeof *per_weight; ++i)
        *per_weight[i] = train_room(weights, sizeof(double));
    for (size_t i = 0; i < sizeof per_channel / sizeof *per_channel; ++i)
        *per_channel[i] = train_room(channels, sizeof(double));
    for (size_t i = 0; i < sizeof per_output / sizeof *per_output; ++i)
        *per_output[i] = train_room(outputs, sizeof(double));
    layer->gamma = ones(channels);
    layer->sigma = ones(channels);
    layer->positive = train_room(outputs, 1);
    layer->place = train_room(outputs, 1);
    layer->max_at = train_room(channels, sizeof *layer->max_at);
    layer->min_at = train_room(channels, sizeof *layer->min_at);
}

void train_net_new(struct train_net *net, const struct train_layer *layers, uint32_t count, uint32_t images_max,
                   const struct train_options *options)
{
    *net = (struct train_net){.options = *options, .layer_count = count, .images_max = images_max};
    net->layers = train_room(count, sizeof *net->layers);
    memcpy(net->layers, layers, count * sizeof *layers);
    for (uint32_t l = 0; l < count; ++l) {
        const enum train_block of_out = l + 1 < count ? block_of(options, &net->layers[l + 1]) : TRAIN_BY_TENSOR;
        new_layer(&net->layers[l], images_max);
        new_tensors(&net->layers[l], images_max, options, of_out);
    }
}

void train_net_free(struct train_net *net)
{
    for (uint32_t l = 0; l < net->layer_count; ++l) {
        struct train_layer *layer = &net->layers[l];
        void *const pieces[] = {
            layer->weights,        layer->weight_velocity,
            layer->gradient,       layer->biases,
            layer->bias_velocity,  layer->gamma,
            layer->gamma_velocity, layer->beta,
            layer->beta_velocity,  layer->mean,
            layer->sigma,          layer->dgamma,
            layer->dbeta,          layer->norm_scale,
            layer->norm_mean,      layer->norm_sigma,
            layer->sums,           layer->errors,
            layer->values,         layer->chain,
            layer->positive,       layer->place,
            layer->max_at,         layer->min_at};
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
            free(pieces[i]);
        train_tensor_free(layer->in);
        train_tensor_free(layer->out);
        train_tensor_free(layer->kernel);
        train_tensor_free(layer->bias_copy);
        train_tensor_free(layer->error);
    }
    free(net->layers);
}
