/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a PE array on FX16: windows (conv, pool, step; vconv and vpool are the same as conv and pool) and
 * matmul. Computes one result after the other by the rules of descriptors.def, then updates the output buffer with the
 * sums (cnnvp_command.h).
 */
#include "reference_internal.h"

#include <stdlib.h>

/* P of a comparison before the first value. */
#define SMALLEST (-32768)
/* Words of a table with 256 segments. */
#define TABLE_WORDS 516

struct window {
    uint32_t in_row_stride, in_channel_stride, in_channels, out_channels, out_h, out_w;
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t row_first, row_end, column_first, column_end; /* positions that take part */
    int each;                                              /* output channel c reads input channel c only */
    int ones;
    int compare, from_k;
    uint32_t product; /* 0 A, 1 K * A, 2 A * A */
    int weights;
    uint32_t a_bytes, k_bytes; /* bytes of a word */
};

/* The sums of a command, and how the output buffer is updated with them. */
struct sums {
    int64_t *values;
    uint64_t planes, plane;
    const uint8_t *biases; /* one for each plane; for matmul, one for each value; NULL: none */
    int bias_each, scaled; /* scaled: `biases` holds records of four words */
    const int16_t *table;  /* table that words go through; NULL: none */
    int table_shift;
    const struct reference_format *addition; /* of results to the words at their place; NULL: none */
    int swapped;                             /* 1: the result is the second operand */
    const uint8_t *operands;                 /* how the addition's operands are scaled; NULL: they are not */
    uint32_t acc_bits;
};

static void decode(const struct cnnvp_command *command, const struct reference_format *format, struct window *w)
{
    const struct cnnvp_window *d = (const void *)command->descriptor;
    const int pool = command->opcode == CNNVP_OPCODE_pool || command->opcode == CNNVP_OPCODE_vpool;
    const int step = command->opcode == CNNVP_OPCODE_step;
    *w = (struct window){
        .in_row_stride = d->in_row_stride,
        .in_channel_stride = d->in_channel_stride,
        .in_channels = d->in_channels,
        .out_h = d->out_h,
        .out_w = d->out_w,
        .kx = d->kernel & 0xffffu,
        .ky = d->kernel >> 16,
        .sx = d->stride & 0xffffu,
        .sy = d->stride >> 16,
        .dx = d->dilation & 0xffffu,
        .dy = d->dilation >> 16,
        .row_end = UINT32_MAX,
        .column_end = UINT32_MAX,
        .each = pool || step || reference_status(command, "depthwise", 0) != 0,
        .ones = reference_status(command, "ones", 0) != 0,
        .compare = pool ? reference_status(command, "sum", 0) == 0 : reference_status(command, "compare", 0) != 0,
        .from_k = reference_status(command, "from_k", 0) != 0,
        .product = pool ? 0 : reference_status(command, "multiply", 1),
        .a_bytes = format->a_bytes,
        .k_bytes = format->b_bytes,
    };
    w->out_channels = w->each ? w->in_channels : d->out_channels;
    w->weights = !w->compare && (w->product == 1 || w->from_k);
    if (pool) {
        w->row_first = d->valid_rows & 0xffffu;
        w->row_end = d->valid_rows >> 16;
        w->column_first = d->valid_cols & 0xffffu;
        w->column_end = d->valid_cols >> 16;
    }
}

/* S002's PE: P = compare ? max{P, A} : (from_k ? K : P) + product. */
static int64_t pe(const struct window *w, int64_t p, int64_t k, int64_t a)
{
    if (w->compare)
        return p > a ? p : a;
    const int64_t product = w->product == 0 ? a : w->product == 1 ? k * a : a * a;
    return (int64_t)((uint64_t)(w->from_k ? k : p) + (uint64_t)product);
}

/* One tap of a convolution. This is nearly all of the work, so it has its own loop. */
static void multiply(const struct window *w, const uint8_t *plane, uint32_t ky, uint32_t kx, int64_t k, int64_t *sums)
{
    for (uint32_t y = 0; y < w->out_h; ++y)
        for (uint32_t x = 0; x < w->out_w; ++x) {
            const uint64_t row = (uint64_t)y * w->sy + (uint64_t)ky * w->dy;
            const uint64_t column = (uint64_t)x * w->sx + (uint64_t)kx * w->dx;
            sums[(uint64_t)y * w->out_w + x] +=
                k * reference_read(plane + w->a_bytes * (row * w->in_row_stride + column), w->a_bytes);
        }
}

/* One tap of any window instruction, at all positions of a map. */
static void tap(const struct window *w, const uint8_t *plane, uint32_t ky, uint32_t kx, int64_t k, int64_t *sums)
{
    for (uint32_t y = 0; y < w->out_h; ++y) {
        const uint64_t row = (uint64_t)y * w->sy + (uint64_t)ky * w->dy;
        if (row < w->row_first || row >= w->row_end)
            continue;
        for (uint32_t x = 0; x < w->out_w; ++x) {
            const uint64_t column = (uint64_t)x * w->sx + (uint64_t)kx * w->dx;
            if (column < w->column_first || column >= w->column_end)
                continue;
            const int64_t a =
                w->ones ? 1 : reference_read(plane + w->a_bytes * (row * w->in_row_stride + column), w->a_bytes);
            int64_t *p = &sums[(uint64_t)y * w->out_w + x];
            *p = pe(w, *p, k, a);
        }
    }
}

static void windows(const struct window *w, const uint8_t *input, const uint8_t *weights, int64_t *sums)
{
    const uint64_t plane = (uint64_t)w->out_h * w->out_w;
    const int is_conv = w->product == 1 && !w->compare && !w->from_k && !w->ones && w->row_end == UINT32_MAX;
    for (uint32_t o = 0; o < w->out_channels; ++o)
        for (uint32_t c = w->each ? o : 0; c < (w->each ? o + 1 : w->in_channels); ++c)
            for (uint32_t ky = 0; ky < w->ky; ++ky)
                for (uint32_t kx = 0; kx < w->kx; ++kx) {
                    const int64_t k = w->weights ? reference_read(weights, w->k_bytes) : 0;
                    weights += w->weights ? w->k_bytes : 0;
                    if (is_conv)
                        multiply(w, input + w->a_bytes * (uint64_t)c * w->in_channel_stride, ky, kx, k,
                                 sums + o * plane);
                    else
                        tap(w, w->ones ? input : input + w->a_bytes * (uint64_t)c * w->in_channel_stride, ky, kx, k,
                            sums + o * plane);
                }
}

/* The word of a complete sum. `there`: the word at its place. */
static int64_t word_of(const struct sums *sums, const struct reference_format *format, int64_t value, uint64_t index,
                       uint64_t of, int64_t there)
{
    struct reference_format before = *format, after = *format;
    int64_t word;
    if (sums->table != NULL) {
        before.out_bytes = 2;
        after.low = SMALLEST;
        after.high = -SMALLEST - 1;
    }
    if (sums->addition != NULL) {
        before.low = SMALLEST;
        before.high = -SMALLEST - 1;
    }
    word = sums->scaled ? reference_scaled(&before, value, sums->biases + 8 * of, index)
                        : reference_word(&before, value, format->shift, index);
    if (sums->addition != NULL) {
        const int64_t a = sums->swapped ? there : word, b = sums->swapped ? word : there;
        const int s = sums->addition->addend_shift;
        const int64_t first = cnnvp_reference_shift(a, s < 0 ? -s : 0),
                      second = cnnvp_reference_shift(b, s > 0 ? s : 0);
        struct reference_operands by = {0};
        if (sums->operands != NULL)
            memcpy(&by, sums->operands, sizeof by);
        const int64_t sum = sums->operands != NULL ? reference_combined(CNNVP_OPCODE_vadd, by, a, b)
                                                   : (int64_t)((uint64_t)first + (uint64_t)second);
        word = reference_word(sums->addition, sum, sums->addition->shift, index);
    }
    if (sums->table != NULL)
        word = reference_word(&after, cnnvp_reference_line(sums->table, word), sums->table_shift, index);
    return word;
}

/* Adds the bias, wraps, updates, and writes the partial sum or the word. */
static const char *update(struct cnnvp_reference *reference, const struct cnnvp_command *command,
                          const struct sums *sums, const struct reference_format *format, uint32_t acc_addr)
{
    const uint32_t mode = reference_update(command);
    const int of_words = mode == 0 && reference_status(command, "update", 0) == CNNVP_UPDATE_MAXIMISE;
    const uint64_t count = sums->planes * sums->plane;
    const uint32_t slot = reference_sum_bytes(reference, command);
    struct cnnvp_reference_results results;
    (void)cnnvp_reference_locate(reference, command, 0, &results);
    const reference_wide span = (reference_wide)(results.outer - 1) * results.stride + (reference_wide)results.inner;
    uint8_t *out = reference_at(reference, command, CNNVP_REFERENCE_OUTPUT, results.base, results.bytes * span);
    uint8_t *kept = reference_at(reference, command, CNNVP_REFERENCE_OUTPUT, acc_addr, slot * (reference_wide)count);
    if (out == NULL || (mode != CNNVP_UPDATE_INITIALISE && kept == NULL))
        return "results leave the output buffer's half";
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t plane = i / sums->plane;
        uint64_t sum = (uint64_t)sums->values[i];
        const uint64_t of = sums->bias_each ? i : plane;
        if (sums->biases != NULL && !sums->scaled)
            sum += (uint64_t)cnnvp_reference_shift(reference_read(sums->biases + 2 * of, 2), format->addend_shift);
        int64_t value = cnnvp_reference_wrap((int64_t)sum, sums->acc_bits);
        const int64_t before = mode != CNNVP_UPDATE_INITIALISE ? reference_read(kept + slot * i, slot) : 0;
        if (mode == CNNVP_UPDATE_ACCUMULATE)
            value = (int64_t)((uint64_t)before + (uint64_t)value);
        else if (mode == CNNVP_UPDATE_MAXIMISE)
            value = before > value ? before : value;
        value = cnnvp_reference_wrap(value, sums->acc_bits);
        uint8_t *at = out + results.bytes * (plane * (uint64_t)results.stride + i % sums->plane);
        if (!results.sums)
            value = word_of(sums, format, value, i, of, reference_read(at, results.bytes));
        if (of_words && reference_read(at, results.bytes) > value)
            value = reference_read(at, results.bytes);
        reference_write(at, value, results.bytes);
    }
    return NULL;
}

/* Allocates sums, at most as many as a half of the output buffer has bytes. */
static int64_t *make_sums(const struct cnnvp_reference *reference, reference_wide count, int64_t first)
{
    const uint64_t most = reference->buffers[CNNVP_REFERENCE_OUTPUT].half_bytes;
    int64_t *sums = count > 0 && count <= (reference_wide)most ? malloc((size_t)count * sizeof *sums) : NULL;
    for (reference_wide i = 0; sums != NULL && i < count; ++i)
        sums[i] = first;
    return sums;
}

static const char *run_window(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    const struct cnnvp_window *d = (const void *)command->descriptor;
    const struct reference_format format = reference_format_of(command, d->format, d->seed, d->limits);
    struct window w;
    decode(command, &format, &w);
    if (w.kx == 0 || w.ky == 0)
        return "the window has no taps";
    const reference_wide taps = (reference_wide)w.kx * w.ky;
    const reference_wide rows = (reference_wide)(w.out_h - 1u) * w.sy + (reference_wide)(w.ky - 1u) * w.dy;
    const reference_wide columns = (reference_wide)(w.out_w - 1u) * w.sx + (reference_wide)(w.kx - 1u) * w.dx;
    const reference_wide words =
        (reference_wide)(w.in_channels - 1u) * w.in_channel_stride + rows * w.in_row_stride + columns + 1;
    const reference_wide weight_words = w.weights ? taps * w.out_channels * (w.each ? 1u : w.in_channels) : 0;
    const int scaled = reference_status(command, "scale", 0) != 0;
    const int bias = scaled || reference_status(command, "bias", 0) != 0;
    const uint8_t *input =
        reference_at(reference, command, CNNVP_REFERENCE_INPUT, d->in_addr, w.ones ? 0 : w.a_bytes * words);
    const uint8_t *weights =
        reference_at(reference, command, CNNVP_REFERENCE_WEIGHT, d->weight_addr, w.k_bytes * weight_words);
    const uint8_t *biases = reference_at(
        reference, command, CNNVP_REFERENCE_WEIGHT, d->bias_addr, (scaled ? 8 : 2) * (reference_wide)w.out_channels);
    if ((input == NULL && !w.ones) || (w.weights && weights == NULL) || (bias && biases == NULL))
        return "operands leave a buffer's half";
    struct sums sums = {
        .planes = w.out_channels,
        .plane = (uint64_t)w.out_h * w.out_w,
        .biases = bias ? biases : NULL,
        .scaled = scaled,
        .acc_bits =
            command->opcode == CNNVP_OPCODE_vconv || command->opcode == CNNVP_OPCODE_vpool ? 64u : reference->acc_bits};
    int16_t table[TABLE_WORDS];
    if (d->format >> 18 & 1u && reference_status(command, "partial", 0) == 0) {
        const uint32_t words = 4u + 2u * (d->valid_cols & 0xffffu);
        const uint8_t *at =
            reference_at(reference, command, CNNVP_REFERENCE_WEIGHT, d->valid_rows, 2 * (reference_wide)words);
        if (at == NULL || words > TABLE_WORDS)
            return "the table leaves the weight buffer's half, or has more than 256 segments";
        memcpy(table, at, 2 * (size_t)words);
        sums.table = table;
        sums.table_shift = (int16_t)(d->valid_cols >> 16);
    }
    struct reference_format addition = reference_format_of(command, d->seed, 0, d->limits);
    addition.out_bytes = format.out_bytes;
    sums.addition = d->format >> 19 & 1u ? &addition : NULL;
    sums.swapped = (d->seed >> 18 & 1u) != 0;
    if (sums.addition != NULL && d->seed >> 19 & 1u) {
        const reference_wide after = (reference_wide)d->bias_addr + (scaled ? 8u : bias ? 2u : 0u) * w.out_channels;
        sums.operands =
            after <= UINT32_MAX ? reference_at(reference, command, CNNVP_REFERENCE_WEIGHT, (uint32_t)after, 16) : NULL;
        if (sums.operands == NULL)
            return "multipliers of the addition leave the weight buffer's half";
    }
    sums.values = make_sums(reference, (reference_wide)sums.planes * sums.plane, w.compare ? SMALLEST : 0);
    if (sums.values == NULL)
        return "results leave the output buffer's half";
    windows(&w, input, weights, sums.values);
    const char *wrong = update(reference, command, &sums, &format, d->acc_addr);
    free(sums.values);
    return wrong;
}

static const char *run_matmul(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    const struct cnnvp_matmul *d = (const void *)command->descriptor;
    const struct reference_format format = reference_format_of(command, d->format, d->seed, d->limits);
    const uint64_t inputs = d->inputs, outputs = d->outputs;
    const int scaled = reference_status(command, "scale", 0) != 0;
    const int bias = scaled || reference_status(command, "bias", 0) != 0;
    const uint32_t a = format.a_bytes, k = format.b_bytes;
    const uint8_t *input = reference_at(reference, command, CNNVP_REFERENCE_INPUT, d->in_addr, a * inputs);
    const uint8_t *weights =
        reference_at(reference, command, CNNVP_REFERENCE_WEIGHT, d->weight_addr, k * (reference_wide)inputs * outputs);
    const uint8_t *biases =
        reference_at(reference, command, CNNVP_REFERENCE_WEIGHT, d->bias_addr, (scaled ? 8 : 2) * outputs);
    if (input == NULL || weights == NULL || (bias && biases == NULL))
        return "operands leave a buffer's half";
    struct sums sums = {
        .planes = 1,
        .plane = outputs,
        .biases = bias ? biases : NULL,
        .bias_each = 1,
        .scaled = scaled,
        .acc_bits = reference->acc_bits};
    sums.values = make_sums(reference, outputs, 0);
    if (sums.values == NULL)
        return "results leave the output buffer's half";
    for (uint64_t i = 0; i < inputs; ++i)
        for (uint64_t o = 0; o < outputs; ++o)
            sums.values[o] += reference_read(input + a * i, a) * reference_read(weights + k * (i * outputs + o), k);
    const char *wrong = update(reference, command, &sums, &format, d->acc_addr);
    free(sums.values);
    return wrong;
}

const char *reference_array(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    return command->opcode == CNNVP_OPCODE_matmul ? run_matmul(reference, command) : run_window(reference, command);
}
