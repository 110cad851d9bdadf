/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of the training engine's PE module, by opcodes_train.def and descriptors_train.def. n is an image, i
 * a channel of the first operand, o a channel of the result (in gradients of the errors). Positions outside a map are
 * 0.
 *
 *   forward   [n][o][y][x] = sum over i, ky, kx of in[n][i][y * sy + ky - py][x * sx + kx - px] * w[o][i][ky][kx]
 *   error     [n][o][y][x] = sum over i, ky, kx of e[n][i][(y + py - ky) / sy][(x + px - kx) / sx] * w[i][o][ky][kx],
 *             without terms whose quotients are not integers
 *   gradient  [o][i][ky][kx] = sum over n, y, x of e[n][o][y][x] * in[n][i][y * sy + ky - py][x * sx + kx - px]
 *
 * A fully connected layer has maps and kernels of 1x1. Sums are exact and enter the output buffer clipped to 32 bits
 * (64 with mantissas of 4 bytes). With .fp32 they enter in binary32; terms with different exponents are then added
 * separately, in their order.
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
    uint32_t in_w, in_h, out_w, out_h; /* gradient: size of the error map */
    uint32_t kx, ky, sx, sy, px, py;
    uint64_t in_row, in_channel, in_image, error_row, error_channel, error_image, out_channel, out_image;
    uint64_t in_group, error_group; /* size of a map's group of three zones; 0: no zones */
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

/* A register by the name that it has in one descriptor or the other. */
static uint32_t reg(const struct training *t, const char *name, const char *other, uint32_t missing)
{
    return reference_register(t->command, name, reference_register(t->command, other, missing));
}

/* Registers that a fully connected layer does not have get the values for maps and kernels of 1x1. */
static void decode(const struct cnnvp_reference *reference, const struct cnnvp_command *command, struct training *t)
{
    const uint32_t opcode = command->opcode, one = 0x10001;
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
    const uint32_t in_size = reg(t, "in_size", "", one), out_size = reg(t, "out_size", "error_size", one);
    const uint32_t kernel = reg(t, "kernel", "", one), stride = reg(t, "stride", "", one), pad = reg(t, "pad", "", 0);
    const uint32_t in_exps = reg(t, "in_exp_strides", "in_exp_stride", 0);
    const uint32_t second_exps =
        reg(t, "weight_exp_strides", "error_exp_strides", reg(t, "error_exp_stride", "", 0) << 16);
    t->in_w = low(in_size), t->in_h = high(in_size), t->out_w = low(out_size), t->out_h = high(out_size);
    t->kx = low(kernel), t->ky = high(kernel), t->sx = low(stride), t->sy = high(stride);
    t->px = low(pad), t->py = high(pad);
    t->images = reg(t, "images", "", 1);
    t->ins = reg(t, "in_channels", "inputs", 1), t->outs = reg(t, "out_channels", "outputs", 1);
    t->in_addr = reg(t, "in_addr", "", 0), t->in_row = reg(t, "in_row_stride", "", 1);
    t->in_channel = reg(t, "in_channel_stride", "", 1), t->in_image = reg(t, "in_image_stride", "", 0);
    t->second_addr = reg(t, "weight_addr", "error_addr", 0), t->error_row = reg(t, "error_row_stride", "", 1);
    t->error_channel = reg(t, "error_channel_stride", "", 1), t->error_image = reg(t, "error_image_stride", "", 0);
    t->out_addr = reg(t, "out_addr", "", 0), t->out_channel = reg(t, "out_channel_stride", "out_stride", 1);
    t->out_image = reg(t, "out_image_stride", "", 0);
    t->in_exp_addr = reg(t, "in_exp_addr", "", 0), t->out_exp_addr = reg(t, "out_exp_addr", "", 0);
    t->in_exp_image = t->bias ? 0 : low(in_exps), t->in_exp_channel = t->bias ? 0 : high(in_exps);
    t->second_exp_addr = reg(t, "weight_exp_addr", "error_exp_addr", 0);
    t->second_exp_out = low(second_exps), t->second_exp_part = high(second_exps);
    if (reference->zones && (opcode == CNNVP_OPCODE_tforward || opcode == CNNVP_OPCODE_terror))
        t->in_group = t->in_image;
    if (reference->zones && opcode == CNNVP_OPCODE_tgradient)
        t->in_group = t->in_channel, t->error_group = t->error_channel;
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
    const uint32_t bytes = is_wide(t) ? 4 : 1;
    return reference_read(place(t, buffer, base, index, bytes), bytes);
}

static uint64_t row_at(uint64_t row, uint64_t stride, uint64_t group)
{
    return group == 0 ? row * stride : row % 3 * (group / 3) + row / 3 * stride;
}

static int64_t input(struct training *t, uint64_t n, uint64_t i, int64_t row, int64_t column)
{
    if (row < 0 || column < 0 || row >= t->in_h || column >= t->in_w)
        return 0;
    if (t->bias)
        return INT64_C(1) << (t->reference->mantissa_bits - 2);
    return mantissa(
        t, CNNVP_REFERENCE_INPUT, t->in_addr,
        n * t->in_image + i * t->in_channel + row_at((uint64_t)row, t->in_row, t->in_group) + (uint64_t)column);
}

static int64_t weight(struct training *t, uint64_t o, uint64_t i, uint64_t ky, uint64_t kx)
{
    const uint64_t kernel = t->kind == ERROR ? i * t->outs + o : o * t->ins + i;
    return mantissa(t, CNNVP_REFERENCE_WEIGHT, t->second_addr, (kernel * t->ky + ky) * t->kx + kx);
}

/* ---- sums: terms `part` to `end` - 1 of the channels, in gradients of the images ---- */

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
                sum +=
                    input(t, n, i, row, column) *
                    mantissa(t, CNNVP_REFERENCE_WEIGHT, t->second_addr,
                             n * t->error_image + o * t->error_channel + row_at(y, t->error_row, t->error_group) + x);
            }
    return sum;
}

/* Scale of result o of image `own` (in gradients of input channel `own`): value = sum * 2^scale. */
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

float reference_float(int64_t sum, int scale)
{
    const float value = (float)ldexp((double)sum, scale);
    return isinf(value) ? copysignf(FLT_MAX, value) : value;
}

static void store(struct training *t, uint64_t index, int64_t sum, int scale, int add)
{
    const uint32_t bytes = result_bytes(t);
    uint8_t *at = place(t, CNNVP_REFERENCE_OUTPUT, t->out_addr, index, bytes);
    float value = reference_float(sum, scale), before;
    if (t->wrong != NULL)
        return;
    if (t->fp32) {
        memcpy(&before, at, sizeof before);
        value = add ? before + value : value;
        memcpy(at, &value, sizeof value);
        return;
    }
    const reference_wide limit = bytes == 8 ? INT64_MAX : INT32_MAX;
    const reference_wide all = (reference_wide)sum + (add ? reference_read(at, bytes) : 0);
    reference_write(at, (int64_t)(all > limit ? limit : all < -limit - 1 ? -limit - 1 : all), bytes);
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

/* Numbers of scales in the two dimensions of the results; 1 if the exponents of a dimension are shared. */
static void scale_counts(const struct training *t, uint64_t *owns, uint64_t *outs)
{
    const int gradient = t->kind == GRADIENT;
    const uint32_t own = gradient ? t->in_exp_channel : t->in_exp_image;
    *owns = t->fp32 ? 0 : own == 0 ? 1 : gradient ? t->ins : t->images;
    *outs = t->second_exp_out == 0 ? 1 : t->outs;
}

static void write_scales(struct training *t)
{
    uint64_t owns, outs;
    scale_counts(t, &owns, &outs);
    const uint32_t buffer = t->out_exp_addr & CNNVP_TILE_HELD ? CNNVP_REFERENCE_MAX_MIN : CNNVP_REFERENCE_OUTPUT;
    for (uint64_t own = 0; own < owns && t->wrong == NULL; ++own)
        for (uint64_t o = 0; o < outs && t->wrong == NULL; ++o) {
            const uint64_t index = t->kind == GRADIENT ? o * owns + own : own * outs + o;
            const int scale = scale_of(t, own, o, 0);
            reference_write(place(t, buffer, t->out_exp_addr & ~CNNVP_TILE_HELD, index, 2), scale, 2);
        }
}

const char *reference_training(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    struct training t;
    decode(reference, command, &t);
    t.reference = reference;
    if (t.sx == 0 || t.sy == 0 || t.kx == 0 || t.ky == 0)
        return "kernel or stride is 0";
    calculate(&t);
    if (t.wrong == NULL)
        write_scales(&t);
    return t.wrong;
}

int reference_training_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                               uint32_t index, struct cnnvp_reference_results *results)
{
    struct cnnvp_reference of = *reference;
    struct training t;
    uint64_t owns, outs;
    decode(reference, command, &t);
    t.reference = &of;
    const int gradient = t.kind == GRADIENT;
    scale_counts(&t, &owns, &outs);
    if (index == 1) {
        results->kind = CNNVP_REFERENCE_OF_LIST;
        memcpy(results->what, "scale", sizeof "scale");
        results->outer = 1;
        results->inner = owns * outs;
        results->bytes = 2;
        results->base = t.out_exp_addr & ~CNNVP_TILE_HELD;
        if ((t.out_exp_addr & CNNVP_TILE_HELD) != 0)
            results->buffer = CNNVP_REFERENCE_MAX_MIN, results->half = 0;
        return 1;
    }
    results->kind = gradient ? CNNVP_REFERENCE_OF_GRADIENT : CNNVP_REFERENCE_OF_IMAGES;
    results->columns = gradient ? t.kx * t.ky : t.out_w;
    results->groups = gradient ? 1 : t.images;
    results->group_stride = (int64_t)t.out_image;
    results->outer = t.outs;
    results->stride = (int64_t)t.out_channel;
    results->inner = gradient ? (uint64_t)t.ins * t.kx * t.ky : (uint64_t)t.out_w * t.out_h;
    results->base = t.out_addr;
    results->bytes = result_bytes(&t);
    results->sums = !t.fp32;
    results->floating = t.fp32;
    return index == 0;
}
