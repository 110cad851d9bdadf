/* SPDX-License-Identifier: Apache-2.0 */
#include "fx16_reference.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

#include "binary/network_binary.h"

struct run {
    const struct test_fx16_memory *memory;
    const struct cnnvp_binary *binary;
    const struct cnnvp_layer *layer;
    uint32_t number;     /* the current image */
    uint32_t first, end; /* images of its batch */
    uint32_t acc_bits;
    int32_t shift; /* fields of the layer's register `format` */
    int32_t bias_shift;
    uint32_t rounding;
    int16_t *weights; /* [out][in][ky][kx]; depthwise: [channel][ky][kx]; fully connected: [out][in] */
    int16_t *biases;
    const int16_t *table;
    const char *wrong;
};

/* ---- memory ---- */

static void *at(struct run *run, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - CNNVP_MEMORY_BASE;
    if (address < CNNVP_MEMORY_BASE || offset > run->memory->size || bytes > run->memory->size - offset) {
        run->wrong = "the image points outside of memory";
        return NULL;
    }
    return run->memory->bytes + offset;
}

/* The location of a word of a tensor; positions may lie in the frame around it. */
static uint8_t *place(struct run *run, const struct cnnvp_tensor *tensor, int64_t c, int64_t y, int64_t x)
{
    static uint8_t nowhere[2];
    const int64_t together = tensor->column_stride, block = c / together;
    const int64_t words =
        block * together * tensor->channel_stride + y * (int64_t)tensor->row_stride + x * together + c % together;
    const int64_t bytes = tensor->word_shift == 0 ? 1 : 2;
    const int64_t address = (int64_t)tensor->address + (int64_t)run->number * tensor->image_stride +
                            (int64_t)(run->number % run->binary->batch) * tensor->batch_stride + words * bytes;
    uint8_t *found = at(run, (uint64_t)address, (uint64_t)bytes);
    return found != NULL ? found : nowhere;
}

/* A signed word of one byte, or of two bytes in little-endian order. */
static int16_t read_word(const uint8_t *from, int is_byte)
{
    return (int16_t)(is_byte ? (int8_t)from[0] : (int16_t)(from[0] | from[1] << 8));
}

static int16_t word(struct run *run, const struct cnnvp_tensor *tensor, int64_t c, int64_t y, int64_t x)
{
    return read_word(place(run, tensor, c, y, x), tensor->word_shift == 0);
}

/* The bits of register `format` for 8-bit results and for 8-bit weights. */
static int gives_bytes(uint32_t format)
{
    return (format >> 31 & 1u) != 0;
}

static int has_byte_weights(uint32_t format)
{
    return (format >> 30 & 1u) != 0;
}

/* A result in the word size of `format`; the zero point is added to 8-bit words. */
static int16_t fit(int16_t value, uint32_t format)
{
    const int moved = value + (int8_t)(format >> 21 & 0xffu);
    if (gives_bytes(format))
        return (int16_t)(moved > 127 ? 127 : moved < -128 ? -128 : moved);
    return value;
}

/* Weight tile `number` of the layer, which must have `words` words. */
static const int16_t *weight_tile(struct run *run, uint32_t number, uint64_t words)
{
    const struct cnnvp_layer *layer = run->layer;
    const struct cnnvp_weight_tile *weight_tiles =
        at(run, run->binary->weight_tiles + (uint64_t)layer->first_weight_tile * sizeof *weight_tiles,
           layer->weight_tile_count * sizeof *weight_tiles);
    if (weight_tiles == NULL || number >= layer->weight_tile_count || weight_tiles[number].bytes != words * 2) {
        run->wrong = "a weight tile is missing or has another size than its slice";
        return NULL;
    }
    return at(run, weight_tiles[number].address, words * 2);
}

static uint32_t table_words(const struct cnnvp_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind == CNNVP_POST_TABLE)
            return layer->posts[i].table_words;
    return 0;
}

/* ---- weights from weight tiles ---- */

struct shape {
    uint32_t outputs;
    uint32_t inputs; /* inputs that contribute to one output */
    uint32_t taps;
};

static struct shape shape_of(const struct cnnvp_layer *layer)
{
    if (layer->op == CNNVP_OP_FC)
        return (struct shape){layer->out.channels, layer->in.channels * layer->in.height * layer->in.width, 1};
    return (struct shape){layer->out.channels, layer->depthwise ? 1 : layer->in.channels, layer->kx * layer->ky};
}

/* Reads one weight tile: [out][in][tap], or [in][out] for fully connected layers. Biases and table follow in the last
 * input slice. */
static void read_slice(struct run *run, uint32_t number, uint32_t out, uint32_t outputs, uint32_t in, uint32_t inputs)
{
    const struct cnnvp_layer *layer = run->layer;
    const struct shape s = shape_of(layer);
    const int last = in + inputs == s.inputs;
    const int bytes = has_byte_weights(layer->format);
    const uint64_t weights = (uint64_t)outputs * inputs * s.taps;
    uint64_t words = bytes ? (weights + 1) / 2 : weights;
    if (last)
        words += (uint64_t)layer->bias * outputs + table_words(layer);
    const int16_t *from = weight_tile(run, number, words);
    if (from == NULL)
        return;
    const uint8_t *first = (const uint8_t *)from;
    for (uint32_t o = 0; o < outputs; ++o)
        for (uint32_t i = 0; i < inputs; ++i)
            for (uint32_t tap = 0; tap < s.taps; ++tap) {
                const uint64_t source =
                    layer->op == CNNVP_OP_FC ? (uint64_t)i * outputs + o : ((uint64_t)o * inputs + i) * s.taps + tap;
                run->weights[((uint64_t)(out + o) * s.inputs + in + i) * s.taps + tap] =
                    read_word(first + source * (bytes ? 1 : 2), bytes);
            }
    from += bytes ? (weights + 1) / 2 : weights;
    for (uint32_t o = 0; o < outputs * layer->bias && last; ++o)
        run->biases[out * layer->bias + o] = *from++;
    if (last)
        run->table = from;
}

static void read_weights(struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    const struct shape s = shape_of(layer);
    uint32_t number = 0;
    run->weights = calloc((size_t)s.outputs * s.inputs * s.taps, sizeof *run->weights);
    run->biases = calloc(s.outputs, 4 * sizeof *run->biases);
    if (run->weights == NULL || run->biases == NULL) {
        run->wrong = "out of memory";
        return;
    }
    for (uint32_t o = 0; o < s.outputs && layer->product; ++o)
        for (uint32_t i = 0; i < s.inputs; ++i)
            run->weights[(uint64_t)o * s.inputs + i] = word(run, &layer->in2, o, 0, i);
    if (layer->product)
        return;
    for (uint32_t group = 0; group < s.outputs; group += layer->group_out) {
        const uint32_t outputs = cnnvp_minimum32(layer->group_out, s.outputs - group);
        const uint32_t step = layer->depthwise ? 1 : layer->tile_in;
        for (uint32_t in = 0; in < s.inputs; in += step)
            for (uint32_t out = 0; out < outputs; out += layer->tile_out)
                read_slice(run, number++, group + out, cnnvp_minimum32(layer->tile_out, outputs - out), in,
                           cnnvp_minimum32(step, s.inputs - in));
    }
    if (number != layer->weight_tile_count)
        run->wrong = "a layer has another number of weight tiles than slices";
}

/* ---- layers ---- */

static int16_t finish(struct run *run, int16_t value)
{
    if (run->layer->op != CNNVP_OP_ACTIVATION)
        value = fit(value, run->layer->format);
    for (uint32_t i = 0; i < run->layer->post_count; ++i) {
        const struct cnnvp_layer_post *post = &run->layer->posts[i];
        if (post->kind == CNNVP_POST_MAX)
            value = value < post->value ? (int16_t)post->value : value;
        else if (post->kind == CNNVP_POST_MIN)
            value = value > post->value ? (int16_t)post->value : value;
        else if (post->kind == CNNVP_POST_TABLE)
            value = fit(cnnvp_reference_table(run->table, value, post->format), post->format);
        if (post->kind != CNNVP_POST_TABLE) /* a copy may drop fraction bits */
            value = cnnvp_reference_round(value, (int8_t)(post->format & 0xffu), run->rounding, 0);
    }
    return value;
}

static void put(struct run *run, uint32_t c, uint32_t y, uint32_t x, int16_t value)
{
    uint8_t *to = place(run, &run->layer->out, c, y, x);
    const uint16_t bits = (uint16_t)finish(run, value);
    to[0] = (uint8_t)bits;
    if (run->layer->out.word_shift != 0)
        to[1] = (uint8_t)(bits >> 8);
}

/* 1: both positions of an axis are in the same block. */
static int in_one_block(const struct run *run, uint32_t side, uint32_t output, int64_t input)
{
    const int64_t block = run->memory->block < side ? run->memory->block : side;
    return input >= 0 && input < side && input / block == output / block;
}

static int is_padded_by_blocks(const struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    return run->memory->block != 0 && layer->sx == 1 && layer->sy == 1 && layer->in.height == layer->out.height &&
           layer->in.width == layer->out.width;
}

static int64_t window_sum(struct run *run, uint32_t o, uint32_t y, uint32_t x)
{
    const struct cnnvp_layer *layer = run->layer;
    const int by_blocks = is_padded_by_blocks(run);
    const uint32_t inputs = layer->depthwise ? 1 : layer->in.channels;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < inputs; ++i)
        for (uint32_t ky = 0; ky < layer->ky; ++ky)
            for (uint32_t kx = 0; kx < layer->kx; ++kx) {
                const int64_t row = (int64_t)y * layer->sy + (int64_t)ky * layer->dy - layer->pad_top;
                const int64_t column = (int64_t)x * layer->sx + (int64_t)kx * layer->dx - layer->pad_left;
                const int64_t weight = run->weights[((uint64_t)(o * inputs + i) * layer->ky + ky) * layer->kx + kx];
                const int padding =
                    by_blocks &&
                    (!in_one_block(run, layer->in.height, y, row) || !in_one_block(run, layer->in.width, x, column));
                const int64_t value =
                    padding ? layer->in.zero : word(run, &layer->in, layer->depthwise ? o : i, row, column);
                sum += (uint64_t)(value * weight);
            }
    return (int64_t)sum;
}

/* Adds the bias, wraps to the accumulator's width, and rounds or scales. */
static int16_t write_out(struct run *run, int64_t sum, uint32_t o)
{
    if (run->layer->bias == 4)
        return cnnvp_reference_scale(
            cnnvp_reference_wrap(sum, run->acc_bits), run->biases + 4 * o, run->shift, run->rounding, 0);
    if (run->layer->bias)
        sum = (int64_t)((uint64_t)sum + (uint64_t)cnnvp_reference_shift(run->biases[o], run->bias_shift));
    return cnnvp_reference_round(cnnvp_reference_wrap(sum, run->acc_bits), run->shift, run->rounding, 0);
}

static void run_conv(struct run *run)
{
    const struct cnnvp_tensor *out = &run->layer->out;
    for (uint32_t o = 0; o < out->channels && run->wrong == NULL; ++o)
        for (uint32_t y = 0; y < out->height; ++y)
            for (uint32_t x = 0; x < out->width; ++x)
                put(run, o, y, x, write_out(run, window_sum(run, o, y, x), o));
}

static void run_fc(struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    const uint32_t inputs = layer->in.channels * layer->in.height * layer->in.width;
    for (uint32_t o = 0; o < layer->out.channels && run->wrong == NULL; ++o) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < inputs; ++i)
            sum += (uint64_t)((int64_t)word(run, &layer->in, 0, 0, i) * run->weights[(uint64_t)o * inputs + i]);
        put(run, o, 0, 0, write_out(run, (int64_t)sum, o));
    }
}

/* Number of window positions that count for the divisor. */
static int64_t window_area(const struct cnnvp_layer *layer, uint32_t y, uint32_t x)
{
    int64_t area = 0;
    for (uint32_t ky = 0; ky < layer->ky; ++ky)
        for (uint32_t kx = 0; kx < layer->kx; ++kx) {
            const int64_t row = (int64_t)y * layer->sy + ky - layer->pad_top;
            const int64_t column = (int64_t)x * layer->sx + kx - layer->pad_left;
            area += row >= layer->count_top && row < layer->count_bottom && column >= layer->count_left &&
                    column < layer->count_right;
        }
    return area;
}

static int16_t pool_window(struct run *run, uint32_t c, uint32_t y, uint32_t x)
{
    const struct cnnvp_layer *layer = run->layer;
    int64_t sum = 0;
    int16_t largest = -32768;
    for (uint32_t ky = 0; ky < layer->ky; ++ky)
        for (uint32_t kx = 0; kx < layer->kx; ++kx) {
            const int64_t row = (int64_t)y * layer->sy + (int64_t)ky * layer->dy - layer->pad_top;
            const int64_t column = (int64_t)x * layer->sx + (int64_t)kx * layer->dx - layer->pad_left;
            if (row < 0 || column < 0 || row >= layer->in.height || column >= layer->in.width)
                continue;
            const int16_t value = word(run, &layer->in, c, row, column);
            sum += value;
            largest = value > largest ? value : largest;
        }
    if (layer->pool == CNNVP_POOL_MAX)
        return largest;
    const int64_t area = layer->by_position ? window_area(layer, y, x) : layer->pool_area;
    return cnnvp_reference_divide(cnnvp_reference_wrap(sum, run->acc_bits), area, run->shift, run->rounding, 0);
}

/* A word of an operand; dimensions of 1 are broadcast. */
static int64_t operand(struct run *run, const struct cnnvp_tensor *tensor, uint32_t c, uint32_t y, uint32_t x)
{
    return word(run, tensor, tensor->channels == 1 ? 0 : c, tensor->height == 1 ? 0 : y, tensor->width == 1 ? 0 : x);
}

static int16_t combine(struct run *run, int64_t a, int64_t b)
{
    const int64_t shifted = cnnvp_reference_shift(b, run->bias_shift > 0 ? run->bias_shift : 0);
    const int64_t first = cnnvp_reference_shift(a, run->bias_shift < 0 ? -run->bias_shift : 0);
    switch (run->layer->arithmetic) {
    case CNNVP_ARITHMETIC_ADD:
        return cnnvp_reference_round(first + shifted, run->shift, run->rounding, 0);
    case CNNVP_ARITHMETIC_SUB:
        return cnnvp_reference_round(first - shifted, run->shift, run->rounding, 0);
    case CNNVP_ARITHMETIC_MUL:
        return cnnvp_reference_round(a * b, run->shift, run->rounding, 0);
    case CNNVP_ARITHMETIC_DIV:
        return cnnvp_reference_divide(a, b, run->shift, run->rounding, 0);
    case CNNVP_ARITHMETIC_MAX:
        return cnnvp_reference_round(first > shifted ? first : shifted, run->shift, run->rounding, 0);
    case CNNVP_ARITHMETIC_MIN:
        return cnnvp_reference_round(first < shifted ? first : shifted, run->shift, run->rounding, 0);
    default:
        run->wrong = "an operation on two tensors is not known";
        return 0;
    }
}

static int16_t elementwise(struct run *run, const int16_t *parameters, uint32_t c, uint32_t y, uint32_t x)
{
    const struct cnnvp_layer *layer = run->layer;
    if (layer->permuted) {
        uint32_t at[3] = {0, 0, 0};
        at[layer->from[0] % 3] = c;
        at[layer->from[1] % 3] = y;
        at[layer->from[2] % 3] = x;
        return word(run, &layer->in, at[0], at[1], at[2]);
    }
    const int64_t a = layer->op == CNNVP_OP_ADD ? operand(run, &layer->in, c, y, x) : word(run, &layer->in, c, y, x);
    int64_t b = 0;
    switch (layer->op) {
    case CNNVP_OP_ADD:
        return combine(run, a, operand(run, &layer->in2, c, y, x));
    case CNNVP_OP_NORM:
        b = cnnvp_reference_shift(parameters[layer->in.channels + c], run->bias_shift);
        return cnnvp_reference_round(
            (int64_t)((uint64_t)((a - layer->in.zero) * parameters[c]) + (uint64_t)b), run->shift, run->rounding, 0);
    case CNNVP_OP_POOL:
        return pool_window(run, c, y, x);
    default:
        return (int16_t)a;
    }
}

static void run_elementwise(struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    const int16_t *parameters = NULL;
    const uint32_t norm_words = layer->op == CNNVP_OP_NORM ? 2 * layer->in.channels : 0;
    const uint32_t words = norm_words + table_words(layer);
    if (words != 0) {
        parameters = weight_tile(run, 0, words);
        if (parameters == NULL)
            return;
        run->table = parameters + norm_words;
    }
    for (uint32_t c = 0; c < layer->out.channels && run->wrong == NULL; ++c)
        for (uint32_t y = 0; y < layer->out.height; ++y)
            for (uint32_t x = 0; x < layer->out.width; ++x)
                put(run, c, y, x, elementwise(run, parameters, c, y, x));
}

static uint32_t part_of(uint32_t all, int summed)
{
    return summed ? 1 : all;
}

static void run_softmax(struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    const struct cnnvp_tensor *in = &layer->in;
    const int position = in->height == 1 && in->width == 1;
    const int channels = layer->axis == CNNVP_AXIS_CHANNELS || (layer->axis == CNNVP_AXIS_LAST && position);
    const int rows = layer->axis == CNNVP_AXIS_ROWS;
    const int columns = !channels && !rows;
    const uint32_t count = channels ? in->channels : rows ? in->height : in->width;
    struct cnnvp_reference_softmax of;
    int64_t *x = calloc(count, sizeof *x);
    if (x == NULL) {
        run->wrong = "out of memory";
        return;
    }
    for (uint32_t c = 0; c < part_of(in->channels, channels); ++c)
        for (uint32_t row = 0; row < part_of(in->height, rows); ++row)
            for (uint32_t column = 0; column < part_of(in->width, columns); ++column) {
                for (uint32_t i = 0; i < count; ++i)
                    x[i] = word(run, in, channels ? i : c, rows ? i : row, columns ? i : column);
                cnnvp_reference_softmax_begin(&of, x, count, run->bias_shift);
                for (uint32_t i = 0; i < count; ++i)
                    put(run, channels ? i : c, rows ? i : row, columns ? i : column,
                        cnnvp_reference_softmax_word(&of, x[i], gives_bytes(layer->format) ? 8 : 16, run->shift));
            }
    free(x);
}

/* Rounds to the number format in the low byte, as packed in descriptors. */
static int16_t rounded(struct run *run, int64_t value, uint32_t format)
{
    return cnnvp_reference_round(value, (int8_t)(format & 0xffu), run->rounding, 0);
}

/* Sum over one channel of the current image, or of all images of its batch: of the words, or of the squares of their
 * distances from *mean. */
static int64_t add_up(struct run *run, uint32_t c, const int64_t *mean)
{
    const struct cnnvp_tensor *in = &run->layer->in;
    const uint32_t image = run->number;
    const int whole = run->layer->norm == CNNVP_NORM_BATCH;
    uint64_t sum = 0;
    for (run->number = whole ? run->first : image; run->number < (whole ? run->end : image + 1); ++run->number)
        for (uint32_t y = 0; y < in->height; ++y)
            for (uint32_t x = 0; x < in->width; ++x) {
                const int64_t value = word(run, in, c, y, x);
                sum += (uint64_t)(mean != NULL ? (value - *mean) * (value - *mean) : value);
            }
    run->number = image;
    return (int64_t)sum;
}

/* Computes mean and inverse deviation of one channel and normalises it with gamma and beta. */
static void normalise_channel(struct run *run, uint32_t c, int64_t gamma, int64_t beta)
{
    const struct cnnvp_layer *layer = run->layer;
    const struct cnnvp_layer_norm_data *formats = &layer->norm_data;
    const int64_t images = layer->norm == CNNVP_NORM_BATCH ? run->end - run->first : 1;
    const int64_t count = (int64_t)layer->in.height * layer->in.width * images;
    const int64_t mean =
        cnnvp_reference_divide(add_up(run, c, NULL), count, (int8_t)(formats->mean & 0xffu), run->rounding, 0);
    const uint64_t squares = (uint64_t)add_up(run, c, &mean);
    const int64_t inverse = cnnvp_reference_inverse_root(
        squares, (uint64_t)count, formats->epsilon, -(int8_t)(formats->inverse & 0xffu), run->rounding);
    const int64_t scale = rounded(run, gamma * inverse, formats->scale);
    const int64_t product = rounded(run, mean * scale, formats->product);
    const int64_t offset = rounded(run, beta - product, formats->offset);
    for (uint32_t y = 0; y < layer->in.height; ++y)
        for (uint32_t x = 0; x < layer->in.width; ++x) {
            const int64_t value =
                word(run, &layer->in, c, y, x) * scale + cnnvp_reference_shift(offset, run->bias_shift);
            put(run, c, y, x, cnnvp_reference_round(value, run->shift, run->rounding, 0));
        }
}

static void run_norm_data(struct run *run)
{
    const uint32_t channels = run->layer->in.channels;
    const int16_t *parameters = weight_tile(run, 0, 2 * channels + table_words(run->layer));
    if (parameters == NULL)
        return;
    run->table = parameters + 2 * channels;
    for (uint32_t c = 0; c < channels && run->wrong == NULL; ++c)
        normalise_channel(run, c, parameters[c], parameters[channels + c]);
}

static void run_layer(struct run *run)
{
    const struct cnnvp_layer *layer = run->layer;
    run->shift = (int8_t)(layer->format & 0xffu);
    run->bias_shift = (int8_t)(layer->format >> 8 & 0xffu);
    run->rounding = layer->format >> 16 & 3u;
    run->weights = NULL;
    run->biases = NULL;
    run->table = NULL;
    if (run->rounding == 2)
        run->wrong = "stochastic rounding has no reference";
    else if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC)
        read_weights(run);
    if (run->wrong == NULL) {
        if (layer->op == CNNVP_OP_CONV)
            run_conv(run);
        else if (layer->op == CNNVP_OP_FC)
            run_fc(run);
        else if (layer->op == CNNVP_OP_SOFTMAX)
            run_softmax(run);
        else if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
            run_norm_data(run);
        else
            run_elementwise(run);
    }
    free(run->weights);
    free(run->biases);
}

int test_fx16_run(const struct test_fx16_memory *memory, uint32_t acc_bits, const char **wrong)
{
    struct run run = {.memory = memory, .acc_bits = acc_bits};
    run.binary = at(&run, CNNVP_BINARY_ADDRESS, sizeof *run.binary);
    const struct cnnvp_binary_layer *layers = NULL;
    if (run.binary != NULL && (run.binary->magic != CNNVP_BINARY_MAGIC || run.binary->version != CNNVP_BINARY_VERSION))
        run.wrong = "there is no image";
    if (run.wrong == NULL)
        layers = at(&run, run.binary->layers, (uint64_t)run.binary->layer_count * sizeof *layers);
    for (run.first = 0; run.wrong == NULL && run.first < run.binary->images; run.first = run.end) {
        run.end =
            run.binary->images - run.first < run.binary->batch ? run.binary->images : run.first + run.binary->batch;
        for (uint32_t i = 0; run.wrong == NULL && i < run.binary->layer_count; ++i) {
            run.layer = &layers[i].plan;
            for (run.number = run.first; run.wrong == NULL && run.number < run.end; ++run.number)
                run_layer(&run);
        }
    }
    *wrong = run.wrong;
    return run.wrong == NULL ? 0 : -1;
}
