/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the NFU's tests: see nfu_case.h. */
#include "nfu_case.h"

#include "random.h"
#include "test.h"

static int per_channel(const struct nfu_case *c)
{
    return c->opcode == OP_POOL || c->opcode == OP_STEP || (c->opcode == OP_CONV && (c->status & 0x20u) != 0);
}

uint32_t nfu_case_channels(const struct nfu_case *c)
{
    return per_channel(c) ? c->in_channels : c->out_channels;
}

static int16_t *words(uint64_t count)
{
    int16_t *data = malloc((count != 0 ? count : 1u) * sizeof *data);
    if (data == NULL)
        abort();
    return data;
}

/* kind 0: small values, 1: the whole range, 2: only extremes */
static void fill(int16_t *data, uint64_t count, uint64_t *random, uint32_t kind)
{
    for (uint64_t i = 0; i < count; ++i) {
        const int32_t value = (int32_t)(next_bits(random) >> 16) - 32768;
        data[i] = (int16_t)(kind == 0 ? value / 256 : kind == 1 ? value : value < 20000 ? INT16_MIN : INT16_MAX);
    }
}

void nfu_case_data(struct nfu_case *c, uint64_t *random)
{
    const uint32_t channels = nfu_case_channels(c);
    if (c->opcode == OP_MATMUL) {
        c->input_words = c->in_channels;
        c->weight_words = (uint64_t)c->in_channels * c->out_channels;
        c->bias_words = c->out_channels;
        c->results = c->out_channels;
    } else {
        const uint32_t cols = (c->out_w - 1u) * c->sx + (c->kx - 1u) * c->dx + 1u;
        const uint32_t rows = (c->out_h - 1u) * c->sy + (c->ky - 1u) * c->dy + 1u;
        if (c->in_row_stride == 0)
            c->in_row_stride = cols;
        if (c->in_channel_stride == 0)
            c->in_channel_stride = rows * c->in_row_stride;
        c->input_words =
            (uint64_t)(c->in_channels - 1u) * c->in_channel_stride + (uint64_t)(rows - 1u) * c->in_row_stride + cols;
        c->weight_words = (uint64_t)channels * (per_channel(c) ? 1u : c->in_channels) * c->kx * c->ky;
        c->bias_words = channels;
        c->results = (uint64_t)channels * c->out_h * c->out_w;
    }
    c->input = words(c->input_words);
    c->weights = words(c->weight_words);
    c->bias = words(c->bias_words);
    c->sums = calloc(c->results, sizeof *c->sums);
    if (c->sums == NULL)
        abort();
    const uint32_t kind = between(random, 0, 5);
    fill(c->input, c->input_words, random, kind < 2 ? kind : 1);
    fill(c->weights, c->weight_words, random, kind == 5 ? 2 : kind == 0 ? 0 : 1);
    fill(c->bias, c->bias_words, random, 1);
    if (kind == 5)
        fill(c->input, c->input_words, random, 2);
}

void nfu_case_free(struct nfu_case *c)
{
    free(c->input);
    free(c->weights);
    free(c->bias);
    free(c->sums);
    *c = (struct nfu_case){0};
}

/* ---- definition ---- */

/* value modulo 2^bits, as a signed number, by the definition. */
static int64_t modulo(int64_t value, uint32_t bits)
{
    uint64_t low = (uint64_t)value;
    if (bits < 64u) {
        low %= UINT64_C(1) << bits;
        if (low >= UINT64_C(1) << (bits - 1u))
            low -= UINT64_C(1) << bits;
    }
    return (int64_t)low;
}

/* bias * 2^shift, toward minus infinity where bits are lost. */
static int64_t aligned_bias(const struct nfu_case *c, uint64_t index)
{
    int32_t shift = (int32_t)(c->format >> 8 & 0xffu);
    int64_t bias = c->bias[index];
    if (shift >= 128)
        shift -= 256;
    uint64_t moved = (uint64_t)bias;
    for (; shift > 0; --shift)
        moved *= 2u;
    bias = (int64_t)moved;
    for (; shift < 0; ++shift)
        bias = (bias - (bias & 1)) / 2;
    return bias;
}

static int16_t input_at(const struct nfu_case *c, uint32_t channel, uint32_t y, uint32_t x)
{
    if (c->opcode == OP_CONV && (c->status & 0x10u) != 0)
        return 1;
    return c->input[(uint64_t)channel * c->in_channel_stride + (uint64_t)y * c->in_row_stride + x];
}

static int valid(const struct nfu_case *c, uint32_t y, uint32_t x)
{
    return y >= (c->valid_rows & 0xffffu) && y < c->valid_rows >> 16 && x >= (c->valid_cols & 0xffffu) &&
           x < c->valid_cols >> 16;
}

static int64_t expect_conv(const struct nfu_case *c, uint32_t channel, uint32_t y, uint32_t x)
{
    uint64_t sum = 0;
    const int depthwise = per_channel(c);
    const uint32_t first = depthwise ? channel : 0;
    const uint32_t end = depthwise ? channel + 1u : c->in_channels;
    for (uint32_t in = first; in < end; ++in)
        for (uint32_t ky = 0; ky < c->ky; ++ky)
            for (uint32_t kx = 0; kx < c->kx; ++kx) {
                const uint64_t connection = depthwise ? channel : (uint64_t)channel * c->in_channels + in;
                const int64_t k = c->weights[(connection * c->ky + ky) * c->kx + kx];
                sum += (uint64_t)(k * input_at(c, in, y * c->sy + ky * c->dy, x * c->sx + kx * c->dx));
            }
    if ((c->status & 8u) != 0)
        sum += (uint64_t)aligned_bias(c, channel);
    return (int64_t)sum;
}

static int64_t expect_pool(const struct nfu_case *c, uint32_t channel, uint32_t y, uint32_t x)
{
    int64_t sum = 0;
    int64_t largest = -32768;
    for (uint32_t ky = 0; ky < c->ky; ++ky)
        for (uint32_t kx = 0; kx < c->kx; ++kx) {
            const uint32_t row = y * c->sy + ky * c->dy;
            const uint32_t col = x * c->sx + kx * c->dx;
            if (!valid(c, row, col))
                continue;
            const int16_t a = input_at(c, channel, row, col);
            sum += a;
            if (a > largest)
                largest = a;
        }
    return (c->status & 4u) != 0 ? sum : largest;
}

static int64_t expect_step(const struct nfu_case *c, uint32_t channel, uint32_t y, uint32_t x)
{
    const uint32_t multiply = c->status & 3u;
    const int from_k = (c->status & 4u) != 0;
    const int compare = (c->status & 8u) != 0;
    int64_t p = compare ? -32768 : 0;
    for (uint32_t ky = 0; ky < c->ky; ++ky)
        for (uint32_t kx = 0; kx < c->kx; ++kx) {
            const int64_t a = input_at(c, channel, y * c->sy + ky * c->dy, x * c->sx + kx * c->dx);
            const int64_t k = c->weights[((uint64_t)channel * c->ky + ky) * c->kx + kx];
            const int64_t product = multiply == 0 ? a : multiply == 1 ? k * a : a * a;
            if (compare)
                p = a > p ? a : p;
            else
                p = (from_k ? k : p) + product;
        }
    return p;
}

static int64_t expect_matmul(const struct nfu_case *c, uint32_t out)
{
    uint64_t sum = 0;
    for (uint32_t in = 0; in < c->in_channels; ++in) {
        const int64_t k = c->weights[(uint64_t)in * c->out_channels + out];
        sum += (uint64_t)(k * c->input[in]);
    }
    if ((c->status & 8u) != 0)
        sum += (uint64_t)aligned_bias(c, out);
    return (int64_t)sum;
}

void nfu_case_expect(struct nfu_case *c, uint32_t acc_bits)
{
    uint64_t i = 0;
    if (c->opcode == OP_MATMUL) {
        for (uint32_t out = 0; out < c->out_channels; ++out)
            c->sums[i++] = modulo(expect_matmul(c, out), acc_bits);
        return;
    }
    for (uint32_t channel = 0; channel < nfu_case_channels(c); ++channel)
        for (uint32_t y = 0; y < c->out_h; ++y)
            for (uint32_t x = 0; x < c->out_w; ++x)
                c->sums[i++] = modulo(c->opcode == OP_CONV   ? expect_conv(c, channel, y, x)
                                      : c->opcode == OP_POOL ? expect_pool(c, channel, y, x)
                                                             : expect_step(c, channel, y, x),
                                      acc_bits);
}

static void describe(const struct nfu_case *c, const char *array, const char *what)
{
    print_error("%s: opcode %02x status %02x channels %u->%u out %ux%u kernel %ux%u stride %ux%u dilation %ux%u; %s\n",
                what, c->opcode, c->status, c->in_channels, c->out_channels, c->out_w, c->out_h, c->kx, c->ky, c->sx,
                c->sy, c->dx, c->dy, array);
}

void nfu_case_check_sums(const struct nfu_case *c, const char *array, const char *what, const int64_t *sums)
{
    if (memcmp(sums, c->sums, c->results * sizeof *sums) == 0)
        return;
    describe(c, array, what);
    assert_memory_equal(sums, c->sums, c->results * sizeof *sums);
}

void nfu_case_check_cost(const struct nfu_case *c, const char *array, const void *closed, const void *counted,
                         size_t size)
{
    if (memcmp(closed, counted, size) == 0)
        return;
    describe(c, array, "cost");
    for (size_t i = 0; i < size / sizeof(uint64_t); ++i)
        if (((const uint64_t *)closed)[i] != ((const uint64_t *)counted)[i])
            fail_msg("word %zu of the cost: closed form %llu, counted %llu", i,
                     (unsigned long long)((const uint64_t *)closed)[i],
                     (unsigned long long)((const uint64_t *)counted)[i]);
}

/* ---- commands and random cases ---- */

struct cnnvp_command nfu_case_command(const struct nfu_case *c)
{
    struct cnnvp_command command = {.opcode = c->opcode, .status = c->status, .tag = 1, .sequence = 1};
    if (c->opcode == OP_MATMUL) {
        const uint32_t matmul[] = {0, c->in_channels, c->out_channels, 0, 0, 0, 0, c->format, 0, c->limits};
        command.count = sizeof matmul / sizeof matmul[0];
        for (uint32_t i = 0; i < command.count; ++i)
            command.descriptor[i] = matmul[i];
        return command;
    }
    const uint32_t window[] = {
        0,
        c->in_row_stride,
        c->in_channel_stride,
        c->in_channels,
        c->out_channels,
        c->out_h,
        c->out_w,
        c->kx | c->ky << 16,
        c->sx | c->sy << 16,
        c->dx | c->dy << 16,
        0,
        0,
        0,
        0,
        c->out_h * c->out_w,
        c->format,
        c->valid_rows,
        c->valid_cols,
        0,
        c->limits};
    command.count = sizeof window / sizeof window[0];
    for (uint32_t i = 0; i < command.count; ++i)
        command.descriptor[i] = window[i];
    return command;
}

struct cnnvp_command nfu_case_garbage(uint64_t *random)
{
    struct nfu_case c;
    nfu_case_random(&c, random);
    if (between(random, 0, 3) == 0)
        nfu_case_scale(&c, random);
    struct cnnvp_command command = nfu_case_command(&c);
    nfu_case_free(&c);
    for (uint32_t change = between(random, 0, 3); change > 0; --change) {
        const uint32_t at = between(random, 0, CNNVP_DESCRIPTOR_MAX - 1u);
        const uint32_t bits = next_bits(random);
        command.descriptor[at] = bits >> between(random, 0, 31);
    }
    return command;
}

static uint32_t random_status(uint32_t opcode, uint64_t *random)
{
    const uint32_t update = between(random, 0, 2);
    switch (opcode) {
    case OP_CONV: {
        uint32_t status = update | between(random, 0, 15) << 2;
        if (between(random, 0, 3) != 0)
            status &= ~0x10u; /* ones: now and then */
        if (between(random, 0, 1) != 0)
            status &= ~0x20u;
        return status;
    }
    case OP_POOL: {
        const uint32_t sum = between(random, 0, 1);
        return (sum == 0 && update == 1u ? 2u : update) | sum << 2; /* maxima do not accumulate */
    }
    case OP_MATMUL:
        return update | between(random, 0, 3) << 2;
    default:
        return between(random, 0, 2) | between(random, 0, 7) << 2 | update << 5;
    }
}

void nfu_case_random(struct nfu_case *c, uint64_t *random)
{
    *c = (struct nfu_case){0};
    c->opcode = OP_CONV + between(random, 0, 3);
    c->status = random_status(c->opcode, random);
    c->format = between(random, 0, 40) | (uint32_t)(uint8_t)(int8_t)((int32_t)between(random, 0, 60) - 20) << 8;
    if (c->opcode == OP_MATMUL) {
        c->in_channels = between(random, 1, 70);
        c->out_channels = between(random, 1, 70);
    } else {
        const uint32_t largest = between(random, 0, 7) == 0 ? 11u : 4u;
        c->in_channels = between(random, 1, 4);
        c->out_channels = between(random, 1, 6);
        c->out_h = between(random, 1, 9);
        c->out_w = between(random, 1, between(random, 0, 15) == 0 ? 40 : 9);
        c->kx = between(random, 1, largest);
        c->ky = between(random, 1, largest);
        c->sx = between(random, 1, 4);
        c->sy = between(random, 1, 4);
        c->dx = between(random, 0, 3) == 0 ? between(random, 1, 3) : 1;
        c->dy = between(random, 0, 3) == 0 ? between(random, 1, 3) : 1;
        const uint32_t cols = (c->out_w - 1u) * c->sx + (c->kx - 1u) * c->dx + 1u;
        const uint32_t rows = (c->out_h - 1u) * c->sy + (c->ky - 1u) * c->dy + 1u;
        c->in_row_stride = cols + between(random, 0, 3);
        c->in_channel_stride = rows * c->in_row_stride + between(random, 0, 5);
        c->valid_rows = between(random, 0, 3) | (3u + between(random, 0, rows)) << 16;
        c->valid_cols = between(random, 0, 3) | (3u + between(random, 0, cols)) << 16;
    }
    nfu_case_data(c, random);
}

uint32_t nfu_case_bias_words(const struct nfu_case *c)
{
    const int conv = c->opcode == OP_CONV || c->opcode == OP_MATMUL;
    return !conv ? 0 : (c->status & SCALE) != 0 ? 4u : (c->status & 8u) != 0;
}

void nfu_case_scale(struct nfu_case *c, uint64_t *random)
{
    if (c->opcode != OP_CONV && c->opcode != OP_MATMUL)
        return;
    c->status = (c->status & ~0xcu) | SCALE;
    free(c->bias);
    c->bias_words = 4u * (uint64_t)nfu_case_channels(c);
    c->bias = words(c->bias_words);
    for (uint64_t i = 0; i < c->bias_words; i += 4u) {
        const uint32_t record[2] = {
            next_bits(random) & 0xfffffu, (110u + next_bits(random) % 16u) << 23 | next_bits(random) >> 9};
        memcpy(c->bias + i, record, sizeof record);
    }
}

struct nfu_case nfu_case_lenet_c3(void)
{
    return (struct nfu_case){
        .opcode = OP_CONV,
        .status = 8u,
        .in_channels = 6,
        .out_channels = 16,
        .out_h = 10,
        .out_w = 10,
        .kx = 5,
        .ky = 5,
        .sx = 1,
        .sy = 1,
        .dx = 1,
        .dy = 1,
        .format = 12u | 6u << 8 | 1u << 16};
}

struct nfu_case nfu_case_window(uint32_t opcode, uint32_t in, uint32_t out, uint32_t w, uint32_t h, uint32_t kx,
                                uint32_t ky, uint32_t sx, uint32_t sy)
{
    return (struct nfu_case){
        .opcode = opcode,
        .in_channels = in,
        .out_channels = out,
        .out_w = w,
        .out_h = h,
        .kx = kx,
        .ky = ky,
        .sx = sx,
        .sy = sy,
        .dx = 1,
        .dy = 1,
        .in_row_stride = (w - 1u) * sx + kx,
        .in_channel_stride = 1u << 12,
        .valid_rows = 0xffff0000u,
        .valid_cols = 0xffff0000u};
}

struct cnnvp_fx16_tile nfu_case_tile(const struct nfu_case *c)
{
    struct cnnvp_fx16_tile tile;
    const char *reason = NULL;
    const struct cnnvp_command command = nfu_case_command(c);
    if (cnnvp_fx16_decode(&command, &tile, &reason) != CNNVP_OK)
        fail_msg("%s", reason);
    return tile;
}
