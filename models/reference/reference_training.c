/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of the training engine's PE module, by opcodes_train.def and descriptors_train.def. n is an image, i
 * a channel of the first operand, o one of the result, in gradients of the errors; positions outside of a map are 0.
 *
 *   forward   [n][o][y][x] = sum over i, ky, kx of in[n][i][y * sy + ky - py][x * sx + kx - px] * w[o][i][ky][kx]
 *   error     [n][o][y][x] = sum over i, ky, kx of e[n][i][(y + py - ky) / sy][(x + px - kx) / sx] * w[i][o][ky][kx],
 * where these are whole gradient  [o][i][ky][kx] = sum over n, y, x of e[n][o][y][x] * in[n][i][y * sy + ky - py][x *
 * sx + kx - px]
 *
 * A fully connected layer has maps and kernels of 1x1. Sums are exact and enter the output buffer clipped to 32 bits
 * (64 with mantissas of 4 bytes), or in binary32 (.fp32), then apart for each term of another exponent, in their order.
 */
#include "reference_internal.h"

#include <float.h>
#include <math.h>

enum kind { FORWARD, ERROR, GRADIENT };

struct training {
    struct cnnvp_reference *reference;
    const struct cnnvp_command *command;
    enum kind kind;
    int accumulate, fp32, bias;
    uint32_t images, ins, outs;
    uint32_t in_w, in_h, out_w, out_h; /* of a gradient: the error's */
    uint32_t kx, ky, sx, sy, px, py;
    uint64_t in_row, in_channel, in_image, error_row, error_channel, error_image, out_channel, out_image;
    uint32_t in_exp_image, in_exp_channel, second_exp_out, second_exp_part;
    uint32_t in_addr, second_addr, out_addr, in_exp_addr, second_exp_addr, out_exp_addr;
    const char *wrong;
};

static uint32_t low(uint32_t packed)
{
    return packed & 0xffffu;
}

static uint32_t high(uint32_t packed)
{
    return packed >> 16;
}

/* ---- descriptors ---- */

static void decode_conv(const struct cnnvp_tconv *d, struct training *t)
{
    t->in_addr = d->in_addr, t->in_row = d->in_row_stride;
    t->in_channel = d->in_channel_stride, t->in_image = d->in_image_stride;
    t->in_w = low(d->in_size), t->in_h = high(d->in_size);
    t->images = d->images, t->ins = d->in_channels, t->outs = d->out_channels;
    t->out_w = low(d->out_size), t->out_h = high(d->out_size);
    t->kx = low(d->kernel), t->ky = high(d->kernel);
    t->sx = low(d->stride), t->sy = high(d->stride);
    t->px = low(d->pad), t->py = high(d->pad);
    t->second_addr = d->weight_addr, t->out_addr = d->out_addr;
    t->out_channel = d->out_channel_stride, t->out_image = d->out_image_stride;
    t->in_exp_addr = d->in_exp_addr;
    t->in_exp_image = low(d->in_exp_strides), t->in_exp_channel = high(d->in_exp_strides);
    t->second_exp_addr = d->weight_exp_addr;
    t->second_exp_out = low(d->weight_exp_strides), t->second_exp_part = high(d->weight_exp_strides);
    t->out_exp_addr = d->out_exp_addr;
}

static void decode_gradient(const struct cnnvp_tgradient *d, struct training *t)
{
    t->in_addr = d->in_addr, t->in_row = d->in_row_stride;
    t->in_channel = d->in_channel_stride, t->in_image = d->in_image_stride;
    t->in_w = low(d->in_size), t->in_h = high(d->in_size);
    t->images = d->images, t->ins = d->in_channels, t->outs = d->out_channels;
    t->second_addr = d->error_addr, t->error_row = d->error_row_stride;
    t->error_channel = d->error_channel_stride, t->error_image = d->error_image_stride;
    t->out_w = low(d->error_size), t->out_h = high(d->error_size);
    t->kx = low(d->kernel), t->ky = high(d->kernel);
    t->sx = low(d->stride), t->sy = high(d->stride);
    t->px = low(d->pad), t->py = high(d->pad);
    t->out_addr = d->out_addr, t->out_channel = d->out_channel_stride;
    t->in_exp_addr = d->in_exp_addr;
    t->in_exp_image = low(d->in_exp_strides), t->in_exp_channel = high(d->in_exp_strides);
    t->second_exp_addr = d->error_exp_addr;
    t->second_exp_out = low(d->error_exp_strides), t->second_exp_part = high(d->error_exp_strides);
    t->out_exp_addr = d->out_exp_addr;
}

static void decode_matmul(const struct cnnvp_tmatmul *d, struct training *t)
{
    t->in_addr = d->in_addr, t->in_image = d->in_image_stride;
    t->images = d->images, t->ins = d->inputs, t->outs = d->outputs;
    t->second_addr = d->weight_addr, t->out_addr = d->out_addr;
    t->out_channel = 1, t->out_image = d->out_image_stride;
    t->in_exp_addr = d->in_exp_addr, t->in_exp_image = d->in_exp_stride;
    t->second_exp_addr = d->weight_exp_addr;
    t->second_exp_out = low(d->weight_exp_strides), t->second_exp_part = high(d->weight_exp_strides);
    t->out_exp_addr = d->out_exp_addr;
}

static void decode_outer(const struct cnnvp_touter *d, struct training *t)
{
    t->in_addr = d->in_addr, t->in_image = d->in_image_stride;
    t->images = d->images, t->ins = d->inputs, t->outs = d->outputs;
    t->second_addr = d->error_addr, t->error_image = d->error_image_stride;
    t->out_addr = d->out_addr, t->out_channel = d->out_stride;
    t->in_exp_addr = d->in_exp_addr, t->in_exp_image = d->in_exp_stride;
    t->second_exp_addr = d->error_exp_addr, t->second_exp_part = d->error_exp_stride;
    t->out_exp_addr = d->out_exp_addr;
}

static void decode(const struct cnnvp_command *command, struct training *t)
{
    const uint32_t opcode = command->opcode;
    *t = (struct training){
        .command = command,
        .kind = opcode == CNNVP_OPCODE_tgradient || opcode == CNNVP_OPCODE_touter ? GRADIENT
                : opcode == CNNVP_OPCODE_terror || opcode == CNNVP_OPCODE_tback
                    ? ERROR
                    : FORWARD,
        .accumulate = reference_status(command, "accumulate", 0) != 0,
        .fp32 = reference_status(command, "fp32", 0) != 0,
        .bias = reference_status(command, "bias", 0) != 0,
    };
    /* what a fully connected layer has */
    t->in_w = t->in_h = t->out_w = t->out_h = t->kx = t->ky = t->sx = t->sy = 1;
    t->in_row = t->in_channel = t->error_row = t->error_channel = 1;
    if (opcode == CNNVP_OPCODE_tgradient)
        decode_gradient((const void *)command->descriptor, t);
    else if (opcode == CNNVP_OPCODE_tmatmul || opcode == CNNVP_OPCODE_tback)
        decode_matmul((const void *)command->descriptor, t);
    else if (opcode == CNNVP_OPCODE_touter)
        decode_outer((const void *)command->descriptor, t);
    else
        decode_conv((const void *)command->descriptor, t);
    if (t->bias)
        t->in_exp_image = t->in_exp_channel = 0;
}

/* ---- operands ---- */

static int is_wide(const struct training *t)
{
    return t->reference->mantissa_bits > 8;
}

static uint32_t result_bytes(const struct training *t)
{
    return t->fp32 || !is_wide(t) ? 4 : 8;
}

static uint8_t *place(struct training *t, uint32_t buffer, uint64_t base, uint64_t index, uint32_t bytes)
{
    static uint8_t nowhere[8];
    uint8_t *at = reference_at(t->reference, t->command, buffer, base + (reference_wide)index * bytes, bytes);
    if (at == NULL)
        t->wrong = "an operand leaves its buffer's half";
    return at != NULL ? at : nowhere;
}

static int64_t mantissa(struct training *t, uint32_t buffer, uint64_t base, uint64_t index)
{
    int32_t wide;
    const uint8_t *at = place(t, buffer, base, index, is_wide(t) ? 4 : 1);
    if (!is_wide(t))
        return (int8_t)*at;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static int64_t input(struct training *t, uint64_t n, uint64_t i, int64_t row, int64_t column)
{
    if (row < 0 || column < 0 || row >= t->in_h || column >= t->in_w)
        return 0;
    if (t->bias)
        return INT64_C(1) << (t->reference->mantissa_bits - 2);
    return mantissa(t, CNNVP_REFERENCE_INPUT, t->in_addr,
                    n * t->in_image + i * t->in_channel + (uint64_t)row * t->in_row + (uint64_t)column);
}

static int64_t weight(struct training *t, uint64_t o, uint64_t i, uint64_t ky, uint64_t kx)
{
    const uint64_t kernel = t->kind == ERROR ? i * t->outs + o : o * t->ins + i;
    return mantissa(t, CNNVP_REFERENCE_WEIGHT, t->second_addr, (kernel * t->ky + ky) * t->kx + kx);
}

/* ---- sums; terms of `part` to `end` - 1 of the channels, in gradients of the images ---- */

static int64_t position_sum(struct training *t, uint64_t n, uint64_t o, uint64_t at, uint64_t part, uint64_t end)
{
    const int64_t y = (int64_t)(at / t->out_w), x = (int64_t)(at % t->out_w);
    int64_t sum = 0;
    for (uint64_t i = part; i < end; ++i)
        for (uint32_t ky = 0; ky < t->ky; ++ky)
            for (uint32_t kx = 0; kx < t->kx; ++kx) {
                int64_t row = y * t->sy + ky - t->py, column = x * t->sx + kx - t->px;
                if (t->kind == ERROR) {
                    row = y + t->py - ky, column = x + t->px - kx;
                    if (row % t->sy != 0 || column % t->sx != 0)
                        continue;
                    row /= t->sy, column /= t->sx;
                }
                sum += input(t, n, i, row, column) * weight(t, o, i, ky, kx);
            }
    return sum;
}

static int64_t gradient_sum(struct training *t, uint64_t o, uint64_t i, uint64_t tap, uint64_t part, uint64_t end)
{
    int64_t sum = 0;
    for (uint64_t n = part; n < end; ++n)
        for (uint32_t y = 0; y < t->out_h; ++y)
            for (uint32_t x = 0; x < t->out_w; ++x) {
                const int64_t row = (int64_t)y * t->sy + (int64_t)(tap / t->kx) - t->py;
                const int64_t column = (int64_t)x * t->sx + (int64_t)(tap % t->kx) - t->px;
                sum += input(t, n, i, row, column) *
                       mantissa(t, CNNVP_REFERENCE_WEIGHT, t->second_addr,
                                n * t->error_image + o * t->error_channel + y * t->error_row + x);
            }
    return sum;
}

/* Of result o of image `own`, in gradients of input channel `own`: value = sum * 2^scale. */
static int scale_of(struct training *t, uint64_t own, uint64_t o, uint64_t part)
{
    const uint64_t in = t->kind == GRADIENT ? own * t->in_exp_channel + part * t->in_exp_image
                                            : own * t->in_exp_image + part * t->in_exp_channel;
    const int first = t->bias ? 0 : (int8_t)*place(t, CNNVP_REFERENCE_INPUT, t->in_exp_addr, in, 1);
    const int second = (int8_t)*place(
        t, CNNVP_REFERENCE_WEIGHT, t->second_exp_addr, o * t->second_exp_out + part * t->second_exp_part, 1);
    return first + second - 2 * ((int)t->reference->mantissa_bits - 2);
}

/* ---- results ---- */

static float as_float(int64_t sum, int scale)
{
    const float value = (float)ldexp((double)sum, scale);
    return isinf(value) ? copysignf(FLT_MAX, value) : value;
}

static void store(struct training *t, uint64_t index, int64_t sum, int scale, int add)
{
    const uint32_t bytes = result_bytes(t);
    uint8_t *at = place(t, CNNVP_REFERENCE_OUTPUT, t->out_addr, index, bytes);
    float value = as_float(sum, scale), before_float;
    int32_t narrow;
    int64_t before;
    if (t->wrong != NULL)
        return;
    if (t->fp32) {
        memcpy(&before_float, at, sizeof before_float);
        value = add ? before_float + value : value;
        memcpy(at, &value, sizeof value);
        return;
    }
    memcpy(&narrow, at, sizeof narrow);
    before = narrow;
    if (bytes == 8)
        memcpy(&before, at, sizeof before);
    const reference_wide limit = bytes == 8 ? INT64_MAX : INT32_MAX;
    reference_wide all = (reference_wide)sum + (add ? before : 0);
    all = all > limit ? limit : all < -limit - 1 ? -limit - 1 : all;
    before = (int64_t)all;
    narrow = (int32_t)before;
    if (bytes == 8)
        memcpy(at, &before, sizeof before);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static void calculate(struct training *t)
{
    const int gradient = t->kind == GRADIENT;
    const uint32_t taps = t->kx * t->ky;
    const uint64_t terms = gradient ? t->images : t->ins;
    const int apart = t->fp32 && (t->second_exp_part != 0 || (gradient ? t->in_exp_image : t->in_exp_channel) != 0);
    const uint64_t step = apart ? 1 : terms;
    const uint64_t outer = gradient ? t->ins : t->images;
    const uint64_t inner = gradient ? taps : (uint64_t)t->out_w * t->out_h;
    for (uint64_t own = 0; own < outer; ++own)
        for (uint64_t o = 0; o < t->outs; ++o)
            for (uint64_t at = 0; at < inner; ++at)
                for (uint64_t part = 0; part < terms && t->wrong == NULL; part += step) {
                    const int64_t sum = gradient ? gradient_sum(t, o, own, at, part, part + step)
                                                 : position_sum(t, own, o, at, part, part + step);
                    const uint64_t first = gradient ? own * taps : own * t->out_image;
                    store(t, first + o * t->out_channel + at, sum, t->fp32 ? scale_of(t, own, o, part) : 0,
                          t->accumulate || part != 0);
                }
}

/* How many exponents of its own each side gives to the results. */
static void scale_counts(const struct training *t, uint64_t *owns, uint64_t *outs)
{
    const int gradient = t->kind == GRADIENT;
    const uint32_t own = gradient ? t->in_exp_channel : t->in_exp_image;
    *owns = t->fp32 ? 0 : own == 0 ? 1 : gradient ? t->ins : t->images;
    *outs = t->second_exp_out == 0 ? 1 : t->outs;
}

#define HELD (UINT32_C(1) << 30) /* in out_exp_addr: in the max-min buffer */

static void write_scales(struct training *t)
{
    uint64_t owns, outs;
    scale_counts(t, &owns, &outs);
    const uint32_t buffer = t->out_exp_addr & HELD ? CNNVP_REFERENCE_SCALES : CNNVP_REFERENCE_OUTPUT;
    for (uint64_t own = 0; own < owns && t->wrong == NULL; ++own)
        for (uint64_t o = 0; o < outs && t->wrong == NULL; ++o) {
            const uint64_t index = t->kind == GRADIENT ? o * owns + own : own * outs + o;
            const int scale = scale_of(t, own, o, 0);
            reference_write(place(t, buffer, t->out_exp_addr & ~HELD, index, 2), scale, 2);
        }
}

const char *reference_training(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    struct training t;
    decode(command, &t);
    t.reference = reference;
    if (t.sx == 0 || t.sy == 0 || t.kx == 0 || t.ky == 0)
        return "kernel or stride is 0";
    calculate(&t);
    if (t.wrong == NULL)
        write_scales(&t);
    return t.wrong;
}

void reference_training_results(const struct cnnvp_command *command, uint32_t mantissa_bits,
                                struct cnnvp_reference_results *results)
{
    struct cnnvp_reference reference = {.mantissa_bits = mantissa_bits};
    struct training t;
    uint64_t owns, outs;
    decode(command, &t);
    t.reference = &reference;
    const int gradient = t.kind == GRADIENT;
    results->kind = gradient ? CNNVP_REFERENCE_OF_GRADIENT : CNNVP_REFERENCE_OF_IMAGES;
    results->columns = gradient ? t.kx * t.ky : t.out_w;
    results->groups = gradient ? 1 : t.images;
    results->group_stride = (int64_t)t.out_image;
    results->outer = t.outs;
    results->stride = (int64_t)t.out_channel;
    results->inner = gradient ? (uint64_t)t.ins * t.kx * t.ky : (uint64_t)t.out_w * t.out_h;
    results->base = t.out_addr;
    results->bytes = result_bytes(&t);
    results->binary32 = t.fp32;
    scale_counts(&t, &owns, &outs);
    results->scales = t.out_exp_addr;
    results->scales_end = t.out_exp_addr & HELD ? results->scales : results->scales + 2 * owns * outs;
}
