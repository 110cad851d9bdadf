/* SPDX-License-Identifier: Apache-2.0 */
#include "train_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static bool connected(const struct train_case *c)
{
    return c->opcode >= T_MATMUL;
}

static bool is_gradient(const struct train_case *c)
{
    return c->opcode == T_GRADIENT || c->opcode == T_OUTER;
}

static bool is_error(const struct train_case *c)
{
    return c->opcode == T_ERROR || c->opcode == T_BACK;
}

static void *allocate(uint64_t bytes)
{
    void *memory = calloc(bytes != 0 ? bytes : 1u, 1u);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- layout: [image][channel][y][x] with gaps ---- */

struct map {
    uint64_t row, channel, image;
};

static struct map map_of(const struct train_case *c, uint32_t channels, uint32_t h, uint32_t w)
{
    struct map map;
    map.row = connected(c) ? 1u : w + c->gap;
    map.channel = connected(c) ? 1u : h * map.row + c->gap;
    map.image = channels * map.channel + c->gap;
    return map;
}

static struct map in_map(const struct train_case *c)
{
    return map_of(c, c->cin, c->h, c->w);
}

static struct map error_map(const struct train_case *c)
{
    return map_of(c, c->cout, c->oh, c->ow);
}

/* Result words from one channel, and image, to the next. */
static void result_strides(const struct train_case *c, uint64_t *channel, uint64_t *image)
{
    const uint64_t kernel = (uint64_t)c->kx * c->ky;
    *image = 0;
    if (is_gradient(c)) {
        *channel = c->cin * kernel + c->gap;
        return;
    }
    const uint64_t area = is_error(c) ? (uint64_t)c->h * c->w : (uint64_t)c->oh * c->ow;
    *channel = connected(c) ? 1u : area + c->gap;
    *image = (is_error(c) ? c->cin : c->cout) * *channel + c->gap;
}

/* ---- the three computations ---- */

static int64_t *sums_new(const struct train_case *c)
{
    return allocate(c->results * sizeof(int64_t));
}

static uint64_t weight_at(const struct train_case *c, uint32_t co, uint32_t ci, uint32_t ky, uint32_t kx)
{
    return (((uint64_t)co * c->cin + ci) * c->ky + ky) * c->kx + kx;
}

/*
 * Every product of the layer, with input channel or image `part` alone where it is not negative: y, x of the output,
 * input position ys, xs. Each of the three computations takes the product of two of (input, weight, error) to the
 * third's place.
 */
static void add_products(const struct train_case *c, int64_t part, int64_t *sums)
{
    const struct map im = in_map(c);
    const struct map em = error_map(c);
    uint64_t channel, image;
    result_strides(c, &channel, &image);
    for (uint32_t n = 0; n < c->images; ++n)
        for (uint32_t co = 0; co < c->cout; ++co)
            for (uint32_t ci = 0; ci < c->cin; ++ci) {
                const uint32_t own = is_gradient(c) ? n : is_error(c) ? co : ci;
                if (part >= 0 && own != part)
                    continue;
                for (uint32_t y = 0; y < c->oh; ++y)
                    for (uint32_t x = 0; x < c->ow; ++x)
                        for (uint32_t ky = 0; ky < c->ky; ++ky)
                            for (uint32_t kx = 0; kx < c->kx; ++kx) {
                                const int64_t ys = (int64_t)y * c->sy + ky - c->py;
                                const int64_t xs = (int64_t)x * c->sx + kx - c->px;
                                if (ys < 0 || xs < 0 || ys >= c->h || xs >= c->w)
                                    continue;
                                const uint64_t i =
                                    n * im.image + ci * im.channel + (uint64_t)ys * im.row + (uint64_t)xs;
                                const uint64_t e = n * em.image + co * em.channel + y * em.row + x;
                                const uint64_t w = weight_at(c, co, ci, ky, kx);
                                if (is_gradient(c))
                                    sums[co * channel + ((uint64_t)ci * c->ky + ky) * c->kx + kx] +=
                                        (int64_t)c->in[i] * c->second[e];
                                else if (is_error(c))
                                    sums[n * image + ci * channel + (uint64_t)ys * c->w + (uint64_t)xs] +=
                                        (int64_t)c->in[e] * c->second[w];
                                else
                                    sums[n * image + co * channel + (uint64_t)y * c->ow + x] +=
                                        (int64_t)c->in[i] * c->second[w];
                            }
            }
}

/* Exponents of the result word (outer, o) in part `part`: outer is the image, in gradients the input channel. */
static int scale_of(const struct train_case *c, uint32_t outer, uint32_t o, uint32_t part)
{
    const uint64_t channels = is_error(c) ? c->cout : c->cin; /* of the first operand */
    const uint64_t image_step = c->in_exp_image ? (c->in_exp_channel ? channels : 1u) : 0;
    const uint64_t channel_step = c->in_exp_channel ? 1u : 0;
    const uint64_t outs = is_error(c) ? c->cin : c->cout;
    const uint64_t part_step = c->second_exp_part ? (c->second_exp_out ? outs : 1u) : 0;
    const uint64_t n = is_gradient(c) ? part : outer;
    const uint64_t ch = is_gradient(c) ? outer : part;
    const int in = c->in_exps[n * image_step + ch * channel_step];
    const int second = c->second_exps[o * (c->second_exp_out ? 1u : 0) + part * part_step];
    return in + second - 2 * ((int)c->bits - 2);
}

static float to_float(int64_t sum, int scale)
{
    const double value = ldexp((double)sum, scale);
    const double largest = ldexp(16777215.0, 104);
    return (float)(value > largest ? largest : value < -largest ? -largest : value);
}

static void bring_in(struct train_case *c, const int64_t *sums, uint64_t i, int scale, bool add)
{
    if (c->to_float) {
        float *out = (float *)c->after + i;
        const float value = to_float(sums[i], scale);
        *out = add ? *out + value : value;
    } else if (c->bits > 8u) {
        int64_t *out = (int64_t *)c->after + i;
        *out = add ? *out + sums[i] : sums[i];
    } else {
        int32_t *out = (int32_t *)c->after + i;
        const int64_t sum = add ? *out + sums[i] : sums[i];
        c->saturated += sum > INT32_MAX || sum < INT32_MIN;
        *out = (int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    }
}

static void expect(struct train_case *c)
{
    const bool gradient = is_gradient(c);
    const uint32_t outs = is_error(c) ? c->cin : c->cout;
    const uint32_t outer = gradient ? c->cin : c->images;
    const uint64_t words = gradient      ? (uint64_t)c->kx * c->ky
                           : is_error(c) ? (uint64_t)c->h * c->w
                                         : (uint64_t)c->oh * c->ow;
    const bool own = c->to_float && (c->second_exp_part || (gradient ? c->in_exp_image : c->in_exp_channel));
    const uint32_t parts = !own ? 1u : gradient ? c->images : is_error(c) ? c->cout : c->cin;
    uint64_t channel, image;
    result_strides(c, &channel, &image);
    for (uint32_t part = 0; part < parts; ++part) {
        int64_t *sums = sums_new(c);
        add_products(c, own ? (int64_t)part : -1, sums);
        for (uint32_t i = 0; i < outer; ++i)
            for (uint32_t o = 0; o < outs; ++o)
                for (uint64_t p = 0; p < words; ++p)
                    bring_in(c, sums, o * channel + (gradient ? i * words : i * image) + p,
                             c->to_float ? scale_of(c, i, o, part) : 0, c->accumulate || part != 0);
        free(sums);
    }
}

/* ---- commands ---- */

static uint32_t pair(uint64_t low, uint64_t high)
{
    return (uint32_t)(low | high << 16);
}

static uint64_t value_bytes(const struct train_case *c)
{
    return c->bits > 8u ? 4u : 1u;
}

uint32_t train_case_in_exp_addr(const struct train_case *c)
{
    return (uint32_t)(TRAIN_IN + c->in_values * value_bytes(c));
}

uint32_t train_case_second_exp_addr(const struct train_case *c)
{
    return (uint32_t)(TRAIN_SECOND + c->second_values * value_bytes(c));
}

uint32_t train_case_out_exp_addr(const struct train_case *c)
{
    return (uint32_t)(TRAIN_OUT + c->result_bytes);
}

static void make_command(struct train_case *c)
{
    const struct map im = is_error(c) ? error_map(c) : in_map(c);
    const struct map em = error_map(c);
    const uint64_t channels = is_error(c) ? c->cout : c->cin;
    const uint64_t outs = is_error(c) ? c->cin : c->cout;
    uint64_t channel, image;
    result_strides(c, &channel, &image);
    const uint64_t in_image = c->in_exp_image ? (c->in_exp_channel ? channels : 1u) : 0;
    const uint64_t part = c->second_exp_part ? (c->second_exp_out ? outs : 1u) : 0;
    const uint32_t in_exp = train_case_in_exp_addr(c);
    const uint32_t second_exp = train_case_second_exp_addr(c);
    const uint32_t out_exp = train_case_out_exp_addr(c);
    const uint32_t in_size = is_error(c) ? pair(c->ow, c->oh) : pair(c->w, c->h);
    const uint32_t out_size = is_error(c) ? pair(c->w, c->h) : pair(c->ow, c->oh);
    struct cnnvp_command command = {
        .opcode = c->opcode, .status = c->accumulate | (uint32_t)c->to_float << 1, .tag = 3, .sequence = 7};
    const uint32_t conv[] = {
        TRAIN_IN,
        (uint32_t)im.row,
        (uint32_t)im.channel,
        (uint32_t)im.image,
        in_size,
        c->images,
        (uint32_t)channels,
        (uint32_t)outs,
        out_size,
        pair(c->kx, c->ky),
        pair(c->sx, c->sy),
        pair(c->px, c->py),
        TRAIN_SECOND,
        TRAIN_OUT,
        (uint32_t)channel,
        (uint32_t)image,
        in_exp,
        pair(in_image, c->in_exp_channel),
        second_exp,
        pair(c->second_exp_out, part),
        out_exp};
    const uint32_t gradient[] = {
        TRAIN_IN,
        (uint32_t)im.row,
        (uint32_t)im.channel,
        (uint32_t)im.image,
        in_size,
        c->images,
        c->cin,
        c->cout,
        TRAIN_SECOND,
        (uint32_t)em.row,
        (uint32_t)em.channel,
        (uint32_t)em.image,
        pair(c->ow, c->oh),
        pair(c->kx, c->ky),
        pair(c->sx, c->sy),
        pair(c->px, c->py),
        TRAIN_OUT,
        (uint32_t)channel,
        in_exp,
        pair(in_image, c->in_exp_channel),
        second_exp,
        pair(c->second_exp_out, part),
        out_exp};
    const uint32_t matmul[] = {
        TRAIN_IN,  (uint32_t)im.image, c->images, (uint32_t)channels, (uint32_t)outs, TRAIN_SECOND,
        TRAIN_OUT, (uint32_t)image,    in_exp,    (uint32_t)in_image, second_exp,     pair(c->second_exp_out, part),
        out_exp};
    const uint32_t outer[] = {
        TRAIN_IN,
        (uint32_t)im.image,
        c->images,
        c->cin,
        c->cout,
        TRAIN_SECOND,
        (uint32_t)em.image,
        TRAIN_OUT,
        (uint32_t)channel,
        in_exp,
        (uint32_t)in_image,
        second_exp,
        (uint32_t)part,
        out_exp};
    const uint32_t *from = !connected(c) ? (is_gradient(c) ? gradient : conv) : is_gradient(c) ? outer : matmul;
    const size_t bytes = !connected(c)    ? (is_gradient(c) ? sizeof gradient : sizeof conv)
                         : is_gradient(c) ? sizeof outer
                                          : sizeof matmul;
    memcpy(command.descriptor, from, bytes);
    command.count = (uint32_t)(bytes / 4u);
    c->command = command;
}

/* ---- layers ---- */

struct train_case train_case_same(uint32_t opcode, uint32_t images, uint32_t cin, uint32_t cout, uint32_t h, uint32_t w,
                                  uint32_t side)
{
    return (struct train_case){
        .opcode = opcode,
        .bits = 8,
        .images = images,
        .cin = cin,
        .cout = cout,
        .h = h,
        .w = w,
        .oh = h,
        .ow = w,
        .kx = side,
        .ky = side,
        .sx = 1,
        .sy = 1,
        .px = side / 2,
        .py = side / 2};
}

void train_case_random(struct train_case *c, uint64_t *random, uint32_t bits)
{
    *c = (struct train_case){.opcode = T_FORWARD + between(random, 0, 5), .bits = bits};
    c->accumulate = between(random, 0, 1) != 0;
    c->to_float = between(random, 0, 2) == 0;
    c->images = between(random, 1, 5);
    c->cin = between(random, 1, 7);
    c->cout = between(random, 1, 15);
    c->gap = between(random, 0, 1) * between(random, 0, 3);
    c->h = c->w = c->oh = c->ow = c->kx = c->ky = c->sx = c->sy = 1;
    if (!connected(c)) {
        c->kx = between(random, 1, 5);
        c->ky = between(random, 1, 5);
        c->sx = between(random, 1, 2);
        c->sy = between(random, 1, 2);
        c->px = between(random, 0, c->kx - 1u);
        c->py = between(random, 0, c->ky - 1u);
        c->w = between(random, c->kx > c->px ? c->kx - c->px : 1u, 9);
        c->h = between(random, c->ky > c->py ? c->ky - c->py : 1u, 9);
        /* padding on the right and below as the layer's output asks */
        c->ow = (c->w + c->px - c->kx + between(random, 0, 1) * c->px) / c->sx + 1u;
        c->oh = (c->h + c->py - c->ky + between(random, 0, 1) * c->py) / c->sy + 1u;
    } else {
        c->cin = between(random, 1, 40);
        c->cout = between(random, 1, 40);
    }
    const bool gradient = is_gradient(c);
    c->in_exp_image = gradient && !c->to_float ? 0 : between(random, 0, 1);
    c->in_exp_channel = connected(c) || (!gradient && !c->to_float) ? 0 : between(random, 0, 1);
    c->second_exp_out = c->opcode == T_OUTER ? 0 : between(random, 0, 1);
    c->second_exp_part = c->to_float ? between(random, 0, 1) : 0;
    train_case_fill(c, random, between(random, 0, 9) == 0, true);
}

static void random_values(const struct train_case *c, uint64_t *random, uint64_t n, bool extreme, int32_t *values,
                          void *raw)
{
    const int32_t half = (int32_t)(1u << (c->bits - 1u));
    for (uint64_t i = 0; i < n; ++i) {
        values[i] = extreme ? -half : (int32_t)below(random, 2u * (uint32_t)half) - half;
        if (c->bits > 8u)
            ((int32_t *)raw)[i] = values[i];
        else
            ((int8_t *)raw)[i] = (int8_t)values[i];
    }
}

static void random_results(struct train_case *c, uint64_t *random)
{
    for (uint64_t i = 0; i < c->results; ++i) {
        const int64_t value = (int64_t)((uint64_t)next_bits(random) << 32 | next_bits(random));
        if (c->to_float)
            ((float *)c->before)[i] = (float)(value % 1000000) / 1024.0f;
        else if (c->bits > 8u)
            ((int64_t *)c->before)[i] = value / 4;
        else /* often near the limits */
            ((int32_t *)c->before)[i] =
                value % 3 == 0   ? INT32_MAX - (int32_t)(value & 0xffff)
                : value % 3 == 1 ? INT32_MIN + (int32_t)(value & 0xffff)
                                 : (int32_t)(value % INT32_MAX);
    }
}

void train_case_fill(struct train_case *c, uint64_t *random, bool extreme, bool expected)
{
    const struct map im = in_map(c);
    const struct map em = error_map(c);
    const uint64_t inputs = c->images * im.image;
    const uint64_t errors = c->images * em.image;
    const uint64_t weights = (uint64_t)c->cout * c->cin * c->kx * c->ky;
    const uint64_t channels = is_error(c) ? c->cout : c->cin;
    const uint64_t outs = is_error(c) ? c->cin : c->cout;
    uint64_t channel, image;
    result_strides(c, &channel, &image);
    c->in_values = is_error(c) ? errors : inputs;
    c->second_values = is_gradient(c) ? errors : weights;
    c->results = is_gradient(c) ? c->cout * channel : c->images * image;
    c->result_bytes = c->results * (c->to_float || c->bits <= 8u ? 4u : 8u);
    c->in_exp_count = c->images * channels;
    c->second_exp_count = outs * (is_gradient(c) ? c->images : channels);
    c->in = allocate(c->in_values * 4u);
    c->second = allocate(c->second_values * 4u);
    c->in_raw = allocate(c->in_values * value_bytes(c));
    c->second_raw = allocate(c->second_values * value_bytes(c));
    c->in_exps = allocate(c->in_exp_count);
    c->second_exps = allocate(c->second_exp_count);
    c->before = allocate(c->result_bytes);
    c->after = allocate(c->result_bytes);
    random_values(c, random, c->in_values, extreme, c->in, c->in_raw);
    random_values(c, random, c->second_values, extreme, c->second, c->second_raw);
    for (uint64_t i = 0; i < c->in_exp_count; ++i)
        c->in_exps[i] = (int8_t)((int)between(random, 0, 20) - 10);
    for (uint64_t i = 0; i < c->second_exp_count; ++i)
        c->second_exps[i] = (int8_t)((int)between(random, 0, 20) - 10);
    random_results(c, random);
    memcpy(c->after, c->before, c->result_bytes);
    make_command(c);
    c->saturated = 0;
    if (expected)
        expect(c);
}

void train_case_free(struct train_case *c)
{
    void *const pieces[] = {
        c->in, c->second, c->in_raw, c->second_raw, c->in_exps, c->second_exps, c->before, c->after};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; ++i)
        free(pieces[i]);
}
