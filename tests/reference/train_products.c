/* SPDX-License-Identifier: Apache-2.0 */
/* The three products of a layer, by plain loops (train_products.h). */
#include "train_products.h"

#include <math.h>
#include <stdlib.h>

uint32_t train_out_side(const struct train_layer *layer, uint32_t side)
{
    return layer->connected ? 1 : side + 2 * layer->pad - layer->side + 1;
}

double train_narrow(const struct train_net *net, double x)
{
    return net->options.bits == 0 ? x : (double)(float)x;
}

/* ---- sums of products ---- */

/* An accumulator for rows of sums: integers, or binary64 if bits is 0. */
struct sums {
    int64_t *whole;
    double *numbers;
};

static struct sums new_sums(const struct train_net *net, uint64_t n)
{
    struct sums sums = {NULL, NULL};
    if (net->options.bits == 0)
        sums.numbers = train_room(n, sizeof(double));
    else
        sums.whole = train_room(n, sizeof(int64_t));
    return sums;
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

/* One row of products of a convolution: n values of an input row and an output row that meet at a tap. rows_of returns
 * n; 0: none. */
struct row {
    uint64_t in, out, weight, n;
};

static uint64_t rows_of(const struct train_layer *layer, uint32_t image, uint32_t o, uint32_t i, uint32_t t, uint32_t y,
                        struct row *row)
{
    const int64_t out_w = train_out_side(layer, layer->width);
    const int64_t out_h = train_out_side(layer, layer->height);
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

/* The images, outputs and inputs that are summed together: terms with different exponents are in different parts. */
struct range {
    uint32_t first, end;
};

struct part {
    struct range image, out, in;
};

/* The three convolutions of a layer: outputs from inputs and weights, errors of the input, gradients of the weights. */
static void convolve(const struct train_layer *layer, enum train_pass pass, const struct part *part, struct sums *sums)
{
    struct row row;
    for (uint32_t image = part->image.first; image < part->image.end; ++image)
        for (uint32_t o = part->out.first; o < part->out.end; ++o)
            for (uint32_t i = part->in.first; i < part->in.end; ++i)
                for (uint32_t t = 0; t < layer->side * layer->side; ++t)
                    for (uint32_t y = 0; y < train_out_side(layer, layer->height); ++y) {
                        if (rows_of(layer, image, o, i, t, y, &row) == 0)
                            continue;
                        if (pass == TRAIN_PASS_FORWARD)
                            scale_row(sums, row.out, layer->kernel, row.weight, layer->in, row.in, row.n);
                        else if (pass == TRAIN_PASS_ERROR)
                            scale_row(sums, row.in, layer->kernel, row.weight, layer->error, row.out, row.n);
                        else
                            dot_row(sums, row.weight, layer->in, row.in, layer->error, row.out, row.n);
                    }
}

static void connect(const struct train_layer *layer, enum train_pass pass, const struct part *part, struct sums *sums)
{
    const uint64_t inputs = layer->inputs;
    for (uint32_t image = part->image.first; image < part->image.end; ++image)
        for (uint64_t o = part->out.first; o < part->out.end; ++o) {
            const uint64_t out = image * layer->outputs + o;
            if (pass == TRAIN_PASS_FORWARD)
                dot_row(sums, out, layer->in, image * inputs, layer->kernel, o * inputs, inputs);
            else if (pass == TRAIN_PASS_ERROR)
                scale_row(sums, image * inputs, layer->error, out, layer->kernel, o * inputs, inputs);
            else
                scale_row(sums, o * inputs, layer->error, out, layer->in, image * inputs, inputs);
        }
}

/* The exponent (power of 2) of one unit of result i. */
static int power_of(const struct train_net *net, const struct train_layer *layer, enum train_pass pass,
                    const struct part *part, uint64_t i)
{
    const uint64_t taps = layer->connected ? 1 : (uint64_t)layer->side * layer->side;
    const uint64_t area = layer->connected ? 1 : (uint64_t)layer->height * layer->width;
    const uint64_t plane = train_plane(layer);
    uint64_t image = part->image.first;
    uint64_t out = part->out.first;
    uint64_t in = part->in.first;
    if (pass == TRAIN_PASS_FORWARD) {
        image = i / plane / layer->outputs;
        out = i / plane % layer->outputs;
    } else if (pass == TRAIN_PASS_ERROR) {
        image = i / area / layer->inputs;
        in = i / area % layer->inputs;
    } else {
        out = i / taps / layer->inputs;
        in = i / taps % layer->inputs;
    }
    const int of_in = train_tensor_exponent(layer->in, image, layer->connected ? 0 : in);
    const int of_kernel = train_tensor_exponent(layer->kernel, 0, out);
    const int of_error = train_tensor_exponent(layer->error, image, out);
    const int both = pass == TRAIN_PASS_FORWARD ? of_in + of_kernel
                     : pass == TRAIN_PASS_ERROR ? of_error + of_kernel
                                                : of_in + of_error;
    return both - 2 * ((int)net->options.bits - 2);
}

static void finish_part(const struct train_net *net, const struct train_layer *layer, enum train_pass pass,
                        const struct part *part, struct sums *sums, uint64_t n, int added, double *to)
{
    for (uint64_t i = 0; i < n; ++i) {
        const double value =
            net->options.bits == 0
                ? sums->numbers[i]
                : train_narrow(net, ldexp((double)sums->whole[i], power_of(net, layer, pass, part, i)));
        to[i] = added ? train_narrow(net, to[i] + value) : value;
    }
    free(sums->whole);
    free(sums->numbers);
}

/* Part p of a pass. Returns 0 if there are no more. Terms of one exponent are summed exactly, the parts in binary32
 * (Part B 1-14). Parts are input channels (forward), output channels (errors) or images (gradients). */
static int next_part(const struct train_net *net, const struct train_layer *layer, enum train_pass pass,
                     uint32_t images, uint32_t p, struct part *part)
{
    const enum train_block block =
        net->options.bits == 0     ? TRAIN_BY_TENSOR
        : pass == TRAIN_PASS_ERROR ? layer->kernel->block
                                   : layer->in->block;
    struct range *const of =
        pass == TRAIN_PASS_FORWARD ? &part->in
        : pass == TRAIN_PASS_ERROR ? &part->out
                                   : &part->image;
    *part = (struct part){{0, images}, {0, layer->outputs}, {0, layer->inputs}};
    if (block != (pass == TRAIN_PASS_GRADIENT ? TRAIN_BY_IMAGE : TRAIN_BY_CHANNEL))
        return p == 0;
    const int is_one = p < of->end;
    *of = (struct range){p, p + 1};
    return is_one;
}

void train_products(const struct train_net *net, const struct train_layer *layer, enum train_pass pass, uint32_t images,
                    uint64_t n, double *to)
{
    struct part part;
    for (uint32_t p = 0; next_part(net, layer, pass, images, p, &part); ++p) {
        struct sums sums = new_sums(net, n);
        if (layer->connected)
            connect(layer, pass, &part, &sums);
        else
            convolve(layer, pass, &part, &sums);
        finish_part(net, layer, pass, &part, &sums, n, p > 0, to);
    }
}
