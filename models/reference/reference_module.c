/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of the training engine's multi-function module, by multi_function.h and its tables, the headers of
 * the blocks that it names, cnnvp_tile.h and cnnvp_bfp.h. A tile is [images n][channels c][plane]; a tile without
 * images has one image, and a tile without maps has planes of one row.
 *
 * Exponentials and logarithms are specified to a few units in the last place of binary64, and the order of factors in
 * the constants of a channel is not specified. If the unit's value is within that error, the reference takes it;
 * everything computed from it is exact again.
 */
#include "reference_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 0x1p-49 /* relative error of binary64 constants that take a few operations */

/* Value (n, c, i) is at base + bytes * (n * image + c * channel + i). */
struct place {
    uint32_t buffer, half, bytes;
    uint64_t base, image, channel;
};

struct module {
    struct cnnvp_reference *reference;
    const struct cnnvp_command *command;
    const char *wrong;
    struct { /* status bits, and fields of one bit */
        int fp32, convert, squares, back, map, relu, each, norm, pool, keep, whole, measure, park, reduce, idle;
        int gradient, momentum;
    } is;
    uint32_t opcode, bits, rounding, seed;
    uint32_t width, height, kx, ky, sx, sy;
    uint64_t images, channels, plane, columns, pooled; /* columns: width of the pooled plane */
    uint64_t first_value, map;                         /* numbering of a channel's values */
    int numbered;                                      /* the positions of extremes are defined */
    struct place in, scales, out, park, x, mask, ids, exponents, labels, weights, velocities, memory;
    struct place relu, id, staged, held;                              /* places in the module's buffers */
    struct place extremes, inputs, sums, norms, heads, probabilities; /* inputs: extremes of batch norm's inputs */
    void *pieces[4];
    uint32_t before; /* places that precede the requested one */
    struct cnnvp_reference_results *results;
};

/* ---- descriptors ---- */

static int has(const struct module *m, const char *status)
{
    return reference_status(m->command, status, 0) != 0;
}

static uint32_t reg(const struct module *m, const char *name, uint32_t missing)
{
    return reference_register(m->command, name, missing);
}

static float number(const struct module *m, const char *name)
{
    const uint32_t bits = reg(m, name, 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct place in_output(const struct module *m, const char *name, uint32_t bytes, uint64_t image,
                              uint64_t channel, int idle)
{
    const uint32_t address = reg(m, name, 0), half = m->command->halves >> CNNVP_REFERENCE_OUTPUT & 1u;
    if ((address & CNNVP_TILE_HELD) != 0)
        return (struct place){CNNVP_REFERENCE_MAX_MIN, 0, bytes, address & ~CNNVP_TILE_HELD, image, channel};
    return (struct place){CNNVP_REFERENCE_OUTPUT, half ^ (idle ? 1u : 0u), bytes, address, image, channel};
}

/* `strides` packs the strides of an image and of a channel. */
static struct place strided(const struct module *m, const char *name, uint32_t bytes, uint32_t strides)
{
    return in_output(m, name, bytes, strides & 0xffffu, strides >> 16, 0);
}

static struct place entries(uint32_t buffer, uint64_t bytes, uint64_t first, uint32_t strides)
{
    return (struct place){buffer, 0, (uint32_t)bytes, first * bytes, strides & 0xffffu, strides >> 16};
}

static uint64_t packed(uint64_t values, uint32_t bits)
{
    return (values * bits + 15) / 16 * 2;
}

static uint32_t position_bits(const struct module *m)
{
    uint32_t bits = 1;
    while (1u << bits < m->kx * m->ky)
        ++bits;
    return bits;
}

static void decode_shape(struct module *m)
{
    const uint32_t size = reg(m, "size", 0x10001), format = reg(m, "format", 0);
    m->is.fp32 = has(m, "fp32"), m->is.convert = has(m, "convert"), m->is.squares = has(m, "squares");
    m->is.back = has(m, "back"), m->is.map = has(m, "map"), m->is.relu = has(m, "relu"), m->is.each = has(m, "each");
    m->is.norm = has(m, "norm"), m->is.pool = has(m, "pool"), m->is.keep = has(m, "keep");
    m->is.whole = has(m, "float"), m->is.measure = has(m, "measure"), m->is.park = has(m, "park");
    m->is.reduce = has(m, "reduce"), m->is.idle = has(m, "idle"), m->is.gradient = has(m, "gradient");
    m->is.momentum = has(m, "momentum");
    const uint32_t window = m->is.pool ? reg(m, "pool", 0) : 0x1010101;
    m->images = reg(m, "images", 1);
    m->channels = reg(m, "channels", reg(m, "classes", 1));
    m->width = reg(m, "values", size & 0xffffu), m->height = size >> 16;
    m->plane = (uint64_t)m->width * m->height;
    m->kx = window & 0xffu, m->ky = window >> 8 & 0xffu, m->sx = window >> 16 & 0xffu, m->sy = window >> 24;
    if (m->sx == 0 || m->sy == 0 || m->kx > m->width || m->ky > m->height)
        m->wrong = "the pool has no place in the map";
    else
        m->columns = (m->width - m->kx) / m->sx + 1;
    m->pooled = m->columns != 0 ? m->columns * ((m->height - m->ky) / m->sy + 1) : 0;
    m->bits = format >> 8 != 0 ? format >> 8 : 8;
    m->rounding = format & 7u;
    m->seed = reg(m, "seed", 0);
}

static void decode_places(struct module *m)
{
    const int decodes = m->opcode == CNNVP_OPCODE_tdecode, stat = m->opcode == CNNVP_OPCODE_tstat, idle = m->is.idle;
    const int back = m->opcode == CNNVP_OPCODE_tpostback,
              floats = m->opcode == CNNVP_OPCODE_tsoftmax || decodes || stat;
    const uint32_t mantissa = m->bits > 8 ? 4 : 1, sum = m->bits > 8 && !m->is.fp32 ? 8 : 4;
    const uint64_t of_in = back ? m->pooled : m->plane, of_out = back && !m->is.convert ? m->plane : m->pooled;
    const uint64_t mask = packed(m->plane, 1), ids = packed(m->pooled, position_bits(m));
    m->in = in_output(m, "in_addr", decodes ? mantissa : sum, reg(m, "in_image_stride", 0),
                      reg(m, "in_stride", (uint32_t)of_in), 0);
    m->scales = strided(m, "scale_addr", 2, reg(m, "scale_strides", reg(m, "scale_stride", 0) << 16));
    m->out = in_output(m, "out_addr", floats || m->is.whole || m->is.convert ? 4 : mantissa,
                       reg(m, "out_image_stride", 0), reg(m, "out_stride", (uint32_t)of_out), 0);
    m->park = in_output(m, "park_addr", 4, m->in.image, m->plane, 1);
    m->x = in_output(m, "x_addr", 4, reg(m, "x_image_stride", 0), m->plane, idle);
    m->mask = in_output(m, "mask_addr", 1, reg(m, "mask_image_stride", 0), mask, idle);
    m->ids = in_output(m, "id_addr", 1, reg(m, "id_image_stride", 0), ids, idle);
    m->exponents =
        strided(m, decodes ? "exp_addr" : "block", 1, reg(m, "block_strides", reg(m, "exp_stride", 0) << 16));
    m->labels = in_output(m, "label_addr", 4, 1, 0, 0);
    m->weights = in_output(m, "value_addr", 4, 0, reg(m, "value_stride", 0), idle);
    m->velocities = in_output(m, "velocity_addr", 4, 0, m->weights.channel, idle);
    m->memory = in_output(m, "address", 1, 0, 0, 0);
    m->held = entries(CNNVP_REFERENCE_MAX_MIN + reference_status(m->command, "buffer", 0), 1, reg(m, "offset", 0), 0);
    m->relu = (struct place){CNNVP_REFERENCE_RELU, 0, 1, 0, m->channels * mask, mask};
    m->id = (struct place){CNNVP_REFERENCE_ID, 0, 1, 0, m->channels * ids, ids};
    m->staged = m->id;
    m->staged.buffer = CNNVP_REFERENCE_RELU;
    m->staged.base = m->is.relu ? m->images * m->relu.image : 0;
}

static void decode_entries(struct module *m)
{
    const uint64_t record = sizeof(struct cnnvp_class_result) + m->channels * sizeof(float);
    const uint32_t entry = reg(m, "entry", reg(m, "block", 0)), norm = reg(m, "norm_entry", entry), each = 1u << 16;
    const uint32_t shared = reg(m, "entry_image_stride", reg(m, "entry_stride", 0) << 16);
    const uint32_t strides = reg(m, "entry_strides", reg(m, "block_strides", shared));
    m->extremes = entries(CNNVP_REFERENCE_MAX_MIN, sizeof(struct cnnvp_extremes), entry, strides);
    m->sums = entries(CNNVP_REFERENCE_SUM, sizeof(struct cnnvp_sums), entry, strides);
    m->inputs = entries(CNNVP_REFERENCE_MAX_MIN, sizeof(struct cnnvp_extremes), norm, each);
    m->norms = entries(CNNVP_REFERENCE_NORM, sizeof(struct cnnvp_norm), norm, each);
    m->heads = entries(CNNVP_REFERENCE_CLASSES, record, reg(m, "result", 0), 1);
    m->probabilities =
        (struct place){CNNVP_REFERENCE_CLASSES, 0, 4, m->heads.base + sizeof(struct cnnvp_class_result), record / 4, 1};
    m->numbered = (m->opcode == CNNVP_OPCODE_tstat || m->opcode == CNNVP_OPCODE_tpostback) &&
                  (m->extremes.channel != 0 || m->channels == 1);
    m->first_value = reg(m, "first_value", m->opcode == CNNVP_OPCODE_tstat ? reg(m, "first", 0) : 0);
    m->map = reg(m, "map", (uint32_t)m->plane);
}

/* ---- operands ---- */

static void *place_in(const struct cnnvp_reference_buffer *buffers, const struct place *place, uint64_t n, uint64_t c,
                      uint64_t i)
{
    const reference_wide index = (reference_wide)n * place->image + (reference_wide)c * place->channel + i;
    return reference_half(&buffers[place->buffer], place->half, place->base + index * place->bytes, place->bytes);
}

static void *at(struct module *m, const struct place *place, uint64_t n, uint64_t c, uint64_t i)
{
    static struct cnnvp_norm nowhere; /* the largest type that is accessed at once */
    void *found = place_in(m->reference->buffers, place, n, c, i);
    if (found == NULL)
        m->wrong = "an operand leaves its buffer";
    return found != NULL ? found : memset(&nowhere, 0, sizeof nowhere);
}

/* The same place in the unit's own results. */
static const void *made_at(struct module *m, const struct place *place, uint64_t n, uint64_t c, uint64_t i)
{
    const void *found = place_in(m->reference->made, place, n, c, i);
    return found != NULL ? found : at(m, place, n, c, i);
}

/* A binary32 value. */
static float *value(struct module *m, const struct place *place, uint64_t n, uint64_t c, uint64_t i)
{
    return at(m, place, n, c, i);
}

/* A value of the tile on input: a binary32, a sum or a mantissa, converted to binary32. */
static float incoming(struct module *m, uint64_t n, uint64_t c, uint64_t i)
{
    const void *from = at(m, &m->in, n, c, i);
    if (m->is.fp32)
        return *(const float *)from;
    const int scale = m->opcode == CNNVP_OPCODE_tdecode
                          ? *(const int8_t *)at(m, &m->exponents, n, c, 0) - ((int)m->bits - 2)
                          : *(const int16_t *)at(m, &m->scales, n, c, 0);
    return reference_float(reference_read(from, m->in.bytes), scale);
}

/* Allocates n items of `size` bytes. Returns NULL and sets `wrong` if memory runs out. */
static void *room(struct module *m, uint64_t n, size_t size)
{
    unsigned i = 0;
    while (m->pieces[i] != NULL)
        ++i;
    m->pieces[i] = calloc(n, size);
    if (m->pieces[i] == NULL)
        m->wrong = "there is no memory for the reference";
    return m->pieces[i];
}

/* Reads the tile in binary32, with planes of `plane` values. */
static float *read_tile(struct module *m, uint64_t plane)
{
    float *values = room(m, m->images * m->channels * plane, sizeof *values), *to = values;
    for (uint64_t n = 0; n < m->images && m->wrong == NULL; ++n)
        for (uint64_t c = 0; c < m->channels; ++c)
            for (uint64_t i = 0; i < plane; ++i)
                *to++ = incoming(m, n, c, i);
    return values;
}

/* Writes a plane of binary32 values. */
static void put_plane(struct module *m, const struct place *place, uint64_t n, uint64_t c, const float *x,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i)
        *value(m, place, n, c, i) = x[i];
}

/* The unit's value if it is within the tolerance; otherwise the reference's own. */
static float accept(double own, float made, double tolerance)
{
    return made >= (float)(own - tolerance) && made <= (float)(own + tolerance) ? made : (float)own;
}

/* ---- statistics ---- */

/* `apart`: the values at these two positions do not count; may be NULL. */
static void add_extremes(struct module *m, uint64_t n, uint64_t c, const float *x, const struct cnnvp_extremes *apart)
{
    struct cnnvp_extremes *found = at(m, &m->extremes, n, c, 0);
    const struct cnnvp_extremes *made = made_at(m, &m->extremes, n, c, 0);
    for (uint64_t i = 0; i < m->plane; ++i) {
        const uint32_t place = (uint32_t)(m->first_value + n * m->map + i);
        if (!isfinite(x[i]) || (apart != NULL && (place == apart->min_at || place == apart->max_at)))
            continue;
        if (x[i] < found->min || (x[i] <= found->min && place < found->min_at))
            found->min = x[i], found->min_at = place;
        if (x[i] > found->max || (x[i] >= found->max && place < found->max_at))
            found->max = x[i], found->max_at = place;
    }
    if (!m->numbered && made->min >= found->min && made->min <= found->min)
        found->min = made->min, found->min_at = made->min_at;
    if (!m->numbered && made->max >= found->max && made->max <= found->max)
        found->max = made->max, found->max_at = made->max_at;
}

enum moment { VALUES, SQUARES, ERRORS, PRODUCTS };

/* Sum of x, of (x - mean)^2 (both without values that are not finite), of dy, or of dy * (x - mean), in eight partial
 * sums. */
static double sum_of(enum moment moment, const float *dy, const float *x, double mean, uint64_t n)
{
    double part[8] = {0};
    for (uint64_t i = 0; i < n; ++i)
        if (moment == ERRORS)
            part[i % 8] += (double)dy[i];
        else if (moment == PRODUCTS)
            part[i % 8] += (double)dy[i] * ((double)x[i] - mean);
        else if (isfinite(x[i]))
            part[i % 8] += moment == VALUES ? (double)x[i] : ((double)x[i] - mean) * ((double)x[i] - mean);
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static double mean_of(const struct cnnvp_sums *sums)
{
    return sums->count != 0 ? sums->sum / sums->count : 0;
}

static void add_sums(struct module *m, struct cnnvp_sums *sums, const float *x)
{
    uint32_t finite = 0;
    if (m->is.squares) {
        sums->squares += sum_of(SQUARES, NULL, x, mean_of(sums), m->plane);
        return;
    }
    for (uint64_t i = 0; i < m->plane; ++i)
        finite += isfinite(x[i]) ? 1 : 0;
    sums->sum += sum_of(VALUES, NULL, x, 0, m->plane);
    sums->count += finite;
    sums->nonfinite += (uint32_t)m->plane - finite;
}

static void run_tstat(struct module *m)
{
    const float *x = read_tile(m, m->plane);
    for (uint64_t n = 0; n < m->images && m->wrong == NULL; ++n)
        for (uint64_t c = 0; c < m->channels; ++c, x += m->plane) {
            if (!m->is.squares)
                add_extremes(m, n, c, x, NULL);
            add_sums(m, at(m, &m->sums, n, c, 0), x);
            if (m->is.convert)
                put_plane(m, &m->out, n, c, x, m->plane);
        }
}

/* ---- coefficients ---- */

static double range_factor(double n)
{
    return n > 1 ? 0.54 / sqrt(2 * log(n)) : 0.54;
}

/* Sigma of the form range or standard. */
static double batch_sigma(uint32_t form, double epsilon, const struct cnnvp_extremes *extremes,
                          const struct cnnvp_sums *sums, double made)
{
    const double range = extremes->min <= extremes->max ? (double)extremes->max - (double)extremes->min : 0;
    const double sigma = range_factor(sums->count) * range + epsilon;
    if (form == CNNVP_NORM_RANGE)
        return fabs(made - sigma) <= sigma * TOLERANCE ? made : sigma;
    return sqrt(sums->squares / fmax(sums->count, 1) + epsilon);
}

/* Updates a running value; a weight of 0 leaves it unchanged. */
static void average(float *running, double batch, float weight)
{
    if (weight < 0 || weight > 0)
        *running = (float)((double)*running + (double)weight * (batch - (double)*running));
}

static void coefficients(const struct module *m, uint32_t form, const struct cnnvp_extremes *extremes,
                         const struct cnnvp_sums *sums, const struct cnnvp_norm *made, struct cnnvp_norm *norm)
{
    const float running = number(m, "running");
    norm->mean = form == CNNVP_NORM_STORED ? (double)norm->running_mean : 0;
    norm->sigma = form == CNNVP_NORM_STORED ? (double)norm->running_sigma : 1;
    if (form == CNNVP_NORM_RANGE || form == CNNVP_NORM_STANDARD) {
        norm->mean = mean_of(sums);
        norm->sigma = batch_sigma(form, (double)number(m, "epsilon"), extremes, sums, made->sigma);
        average(&norm->running_mean, norm->mean, running);
        average(&norm->running_sigma, norm->sigma, running);
    }
    const double scale = form == CNNVP_NORM_NONE ? 1 : (double)norm->gamma / norm->sigma;
    norm->scale = (float)scale;
    norm->offset = (float)((double)norm->beta - scale * norm->mean);
    norm->count = sums->count;
    norm->dgamma = norm->dbeta = 0;
    norm->dy_at_min = norm->dy_at_max = 0;
}

static void coefficients_back(uint32_t form, const struct cnnvp_norm *made, struct cnnvp_norm *norm)
{
    const double n = fmax(norm->count, 1);
    const double scale = form == CNNVP_NORM_NONE ? 1 : (double)norm->gamma / norm->sigma;
    const double dbeta = scale * norm->dbeta / n;
    norm->dgamma = form == CNNVP_NORM_NONE ? 0 : norm->dgamma / norm->sigma;
    norm->dy_scale = (float)scale;
    norm->x_scale = norm->dy_offset = norm->extreme = 0;
    if (form == CNNVP_NORM_STANDARD) {
        const double slope = -scale * norm->dgamma / n / norm->sigma, shift = slope * norm->mean;
        norm->x_scale = accept(slope, made->x_scale, fabs(slope) * TOLERANCE);
        norm->dy_offset = accept(-dbeta - shift, made->dy_offset, (fabs(dbeta) + fabs(shift)) * TOLERANCE);
    } else if (form == CNNVP_NORM_RANGE) {
        const double extreme = -scale * norm->dgamma * range_factor(norm->count);
        norm->dy_offset = accept(-dbeta, made->dy_offset, fabs(dbeta) * TOLERANCE);
        norm->extreme = accept(extreme, made->extreme, fabs(extreme) * TOLERANCE);
    }
}

static void run_tcoef(struct module *m)
{
    const uint32_t form = reference_status(m->command, "form", 0);
    for (uint64_t c = 0; c < m->channels; ++c)
        if (m->is.back)
            coefficients_back(form, made_at(m, &m->norms, 0, c, 0), at(m, &m->norms, 0, c, 0));
        else
            coefficients(m, form, at(m, &m->inputs, 0, c, 0), at(m, &m->sums, 0, 0, c), made_at(m, &m->norms, 0, c, 0),
                         at(m, &m->norms, 0, c, 0));
}

/* velocity = momentum * velocity + gradient; weight -= rate * velocity. Without momentum, the gradient is used instead
 * of the velocity. */
static void descend(const struct module *m, float gradient, float *velocity, float *weight)
{
    if (m->is.momentum)
        gradient = *velocity = number(m, "momentum") * *velocity + gradient;
    *weight -= number(m, "rate") * gradient;
}

static void run_tbnupdate(struct module *m)
{
    for (uint64_t c = 0; c < m->channels; ++c) {
        struct cnnvp_norm *norm = at(m, &m->norms, 0, c, 0);
        descend(m, (float)norm->dgamma, &norm->gamma_velocity, &norm->gamma);
        descend(m, (float)norm->dbeta, &norm->beta_velocity, &norm->beta);
    }
}

static void run_tupdate(struct module *m)
{
    float *weights = room(m, m->plane, sizeof *weights), unused;
    for (uint64_t c = 0; c < m->channels && m->wrong == NULL; ++c) {
        for (uint64_t i = 0; i < m->plane; ++i) {
            float *weight = value(m, &m->weights, 0, c, i);
            descend(m, incoming(m, 0, c, i), m->is.momentum ? value(m, &m->velocities, 0, c, i) : &unused, weight);
            weights[i] = *weight;
        }
        add_extremes(m, 0, c, weights, NULL);
    }
}

/* ---- exponents ---- */

/* floor(log2 x); -128 for 0 and for values that are not finite. */
static int exponent_of(float x)
{
    const int exponent = x > 0 && isfinite(x) ? ilogbf(x) : -128;
    return exponent < -128 ? -128 : exponent > 127 ? 127 : exponent;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static float magnitude(const struct module *m, const struct cnnvp_extremes *extremes, const struct cnnvp_norm *norm)
{
    const float scale = m->is.back ? norm->dy_scale : norm->scale;
    const float offset = m->is.back ? norm->dy_offset : norm->offset;
    float low = extremes->min, high = extremes->max, largest = 0;
    if (low <= high) {
        if (m->is.map || m->is.back)
            low = scale * low + offset, high = scale * high + offset;
        largest = m->is.relu ? larger(larger(low, high), 0) : larger(fabsf(low), fabsf(high));
    }
    if (m->is.back)
        largest = larger(largest, larger(fabsf(scale * norm->dy_at_max + offset + norm->extreme),
                                         fabsf(scale * norm->dy_at_min + offset - norm->extreme)));
    return largest;
}

static void run_texp(struct module *m)
{
    const struct cnnvp_norm none = {0};
    float largest = 0;
    for (uint64_t c = 0; c < m->channels; ++c) {
        const int mapped = m->is.map || m->is.back;
        const float one = magnitude(m, at(m, &m->extremes, 0, 0, c), mapped ? at(m, &m->norms, 0, c, 0) : &none);
        largest = larger(one, m->is.each ? 0 : largest);
        *(int8_t *)at(m, &m->out, 0, 0, m->is.each ? c : 0) = (int8_t)exponent_of(largest);
    }
}

/* ---- quantiser ---- */

/* Rounds `units` (at least 0, with `places` fraction bits) by the rounding mode. */
static double round_units(const struct module *m, double units, int places, int negative, uint64_t index)
{
    const double whole = floor(units), rest = units - whole;
    const uint64_t random = cnnvp_reference_random(m->seed, index);
    int up = 0;
    if (m->rounding == 1)
        up = rest > 0.5 || (rest >= 0.5 && fmod(whole, 2) > 0);
    else if (m->rounding == 2)
        up = places > 0 && places <= 55 && ldexp(rest, places) > (double)(random & ((UINT64_C(1) << places) - 1));
    else if (m->rounding == 3)
        up = negative && rest > 0;
    return whole + up;
}

/* `lost`: the remainder that rounding the map's previous values has left, in 2^-16 of a unit. */
static int32_t quantise(const struct module *m, float x, int exponent, uint64_t index, double *lost)
{
    const int scale = (int)m->bits - 2 - exponent, carried = m->rounding == 4;
    const double least = -ldexp(1, (int)m->bits - 1), most = -least - 1;
    if (!isfinite(x))
        return isnan(x) ? 0 : (int32_t)(x > 0 ? most : least);
    const double units = ldexp((double)x, scale), parts = nearbyint(units * 65536) + *lost;
    const int last = (fabsf(x) >= FLT_MIN ? ilogbf(x) : -126) - 23; /* exponent of x's last bit */
    const double rounded = carried ? floor(parts / 65536 + 0.5)
                                   : copysign(round_units(m, fabs(units), -(last + scale), x < 0, index), (double)x);
    const int clipped = rounded < least || rounded > most;
    *lost = carried && !clipped ? parts - rounded * 65536 : 0;
    return (int32_t)fmin(fmax(rounded, least), most);
}

static void quantise_plane(struct module *m, uint64_t n, uint64_t c, const float *x, int32_t *mantissas)
{
    const int exponent = *(const int8_t *)at(m, &m->exponents, n, c, 0);
    const uint64_t first = reg(m, "first", 0) + n * reg(m, "tensor_image_stride", 0) + c * m->plane;
    double lost = 0;
    for (uint64_t i = 0; i < m->plane; ++i)
        mantissas[i] = quantise(m, x[i], exponent, first + i, &lost);
}

static void put_mantissa(struct module *m, uint64_t n, uint64_t c, uint64_t i, int32_t mantissa)
{
    reference_write(at(m, &m->out, n, c, i), mantissa, m->out.bytes);
}

/* ---- matrices ---- */

static void copy_bytes(struct module *m, const struct place *from, const struct place *to, uint64_t bytes)
{
    for (uint64_t n = 0; n < m->images; ++n)
        for (uint64_t i = 0; i < bytes; ++i)
            *(uint8_t *)at(m, to, n, 0, i) = *(const uint8_t *)at(m, from, n, 0, i);
}

/* Moves the matrices between the module's buffers and the output buffer. */
static void move_matrices(struct module *m, int into_module)
{
    if (m->is.relu)
        copy_bytes(m, into_module ? &m->mask : &m->relu, into_module ? &m->relu : &m->mask, m->relu.image);
    if (m->is.pool)
        copy_bytes(m, into_module ? &m->ids : &m->id, into_module ? &m->id : &m->ids, m->id.image);
    if (m->is.pool && m->reference->staged)
        copy_bytes(m, &m->id, &m->staged, m->id.image);
}

/* Value i of a packed plane, with `bits` bits a value. */
static uint32_t unpack(struct module *m, const struct place *from, uint64_t n, uint64_t c, uint64_t i, uint32_t bits)
{
    uint32_t found = 0;
    for (uint64_t b = 0, k = i * bits; b < bits; ++b, ++k)
        found |= (*(const uint8_t *)at(m, from, n, c, k / 8) >> k % 8 & 1u) << b;
    return found;
}

/* Packs a plane's values into one of the module's buffers, padded with zeros. */
static void pack(struct module *m, const struct place *to, uint64_t n, uint64_t c, const uint8_t *values,
                 uint64_t count, uint32_t bits)
{
    for (uint64_t i = 0; i < to->channel; ++i)
        *(uint8_t *)at(m, to, n, c, i) = 0;
    for (uint64_t k = 0; k < count * bits; ++k)
        *(uint8_t *)at(m, to, n, c, k / 8) |= (uint8_t)((values[k / bits] >> k % bits & 1) << k % 8);
}

/* ---- forward ---- */

/* The maximum of window i, and its position in the window. */
static int32_t pool_one(const struct module *m, const int32_t *mantissas, uint64_t i, uint8_t *id)
{
    const int32_t *corner = mantissas + i / m->columns * m->sy * m->width + i % m->columns * m->sx;
    int32_t best = *corner;
    *id = 0;
    for (uint32_t k = 1; k < m->kx * m->ky; ++k) {
        const int32_t one = corner[(uint64_t)(k / m->kx) * m->width + k % m->kx];
        if (one > best)
            best = one, *id = (uint8_t)k;
    }
    return best;
}

static void activate(struct module *m, uint64_t c, float *x, uint8_t *positive)
{
    const struct cnnvp_norm *norm = m->is.norm ? at(m, &m->norms, 0, c, 0) : NULL;
    for (uint64_t i = 0; i < m->plane; ++i) {
        if (norm != NULL)
            x[i] = norm->scale * x[i] + norm->offset;
        positive[i] = x[i] > 0;
        if (m->is.relu && !positive[i])
            x[i] = 0;
    }
}

static void deliver(struct module *m, uint64_t n, uint64_t c, const float *x, int32_t *mantissas, uint8_t *ids)
{
    if (m->is.measure) {
        add_extremes(m, n, c, x, NULL);
        return;
    }
    if (m->is.whole) {
        put_plane(m, &m->out, n, c, x, m->plane);
        return;
    }
    quantise_plane(m, n, c, x, mantissas);
    for (uint64_t i = 0; i < m->pooled; ++i)
        put_mantissa(m, n, c, i, pool_one(m, mantissas, i, &ids[i]));
}

static void run_tpost(struct module *m)
{
    float *x = read_tile(m, m->plane);
    int32_t *mantissas = room(m, m->plane, sizeof *mantissas);
    uint8_t *positive = room(m, m->plane, 1), *ids = room(m, m->plane, 1);
    for (uint64_t n = 0; n < m->images && m->wrong == NULL; ++n)
        for (uint64_t c = 0; c < m->channels; ++c, x += m->plane) {
            if (m->is.park)
                put_plane(m, &m->park, n, c, x, m->plane);
            activate(m, c, x, positive);
            deliver(m, n, c, x, mantissas, ids);
            if (m->is.keep && m->is.relu)
                pack(m, &m->relu, n, c, positive, m->plane, 1);
            if (m->is.keep && m->is.pool)
                pack(m, &m->id, n, c, ids, m->pooled, position_bits(m));
        }
    if (m->is.keep && m->wrong == NULL)
        move_matrices(m, 0);
}

/* ---- backward ---- */

/* Computes the errors before pool and ReLU. A position outside its window clears the plane. */
static void restore(struct module *m, uint64_t n, uint64_t c, const float *from, float *dy)
{
    int stray = 0;
    for (uint64_t i = 0; i < m->plane; ++i)
        dy[i] = m->is.pool ? 0 : from[i];
    for (uint64_t i = 0; i < m->pooled && m->is.pool; ++i) {
        const uint32_t id = unpack(m, &m->id, n, c, i, position_bits(m));
        if (id >= m->kx * m->ky)
            stray = 1;
        else
            dy[(i / m->columns * m->sy + id / m->kx) * m->width + i % m->columns * m->sx + id % m->kx] += from[i];
    }
    for (uint64_t i = 0; i < m->plane; ++i)
        if (stray || (m->is.relu && unpack(m, &m->relu, n, c, i, 1) == 0))
            dy[i] = 0;
}

static void reduce(struct module *m, uint64_t n, uint64_t c, const float *x, const float *dy)
{
    const struct cnnvp_extremes *inputs = at(m, &m->inputs, 0, c, 0);
    struct cnnvp_norm *norm = at(m, &m->norms, 0, c, 0);
    for (uint64_t i = 0; i < m->plane; ++i) {
        const uint64_t place = m->first_value + n * m->map + i;
        if (place == inputs->min_at)
            norm->dy_at_min = dy[i];
        if (place == inputs->max_at)
            norm->dy_at_max = dy[i];
    }
    norm->dbeta += sum_of(ERRORS, dy, x, 0, m->plane);
    norm->dgamma += sum_of(PRODUCTS, dy, x, norm->mean, m->plane);
    add_extremes(m, n, c, dy, inputs);
}

static void normalise_back(struct module *m, uint64_t n, uint64_t c, const float *x, float *dy)
{
    const struct cnnvp_extremes *inputs = at(m, &m->inputs, 0, c, 0);
    const struct cnnvp_norm *norm = at(m, &m->norms, 0, c, 0);
    const int apart = !(norm->extreme <= 0 && norm->extreme >= 0);
    for (uint64_t i = 0; i < m->plane; ++i) {
        const uint64_t place = m->first_value + n * m->map + i;
        dy[i] = norm->dy_scale * dy[i] + norm->x_scale * x[i] + norm->dy_offset;
        if (apart && place == inputs->max_at)
            dy[i] += norm->extreme;
        if (apart && place == inputs->min_at)
            dy[i] -= norm->extreme;
    }
}

static void leave_errors(struct module *m, uint64_t n, uint64_t c, const float *x, float *dy, int32_t *mantissas)
{
    if (m->is.reduce && m->is.norm) {
        reduce(m, n, c, x, dy);
        return;
    }
    if (m->is.norm)
        normalise_back(m, n, c, x, dy);
    if (m->is.reduce || m->is.measure) {
        add_extremes(m, n, c, dy, NULL);
        return;
    }
    quantise_plane(m, n, c, dy, mantissas);
    for (uint64_t i = 0; i < m->plane; ++i)
        put_mantissa(m, n, c, i, mantissas[i]);
}

static void run_tpostback(struct module *m)
{
    const float *from = read_tile(m, m->pooled);
    const uint64_t image = m->channels * m->plane;
    float *x = room(m, m->images * image, sizeof *x), *dy = room(m, m->plane, sizeof *dy);
    int32_t *mantissas = room(m, m->plane, sizeof *mantissas);
    for (uint64_t i = 0; i < m->images * image && m->wrong == NULL && m->is.norm; ++i)
        x[i] = *value(m, &m->x, i / image, 0, i % image);
    if (m->wrong == NULL)
        move_matrices(m, 1);
    for (uint64_t n = 0; n < m->images && m->wrong == NULL; ++n)
        for (uint64_t c = 0; c < m->channels; ++c, x += m->plane, from += m->pooled) {
            if (m->is.convert)
                put_plane(m, &m->out, n, c, from, m->pooled);
            restore(m, n, c, from, dy);
            leave_errors(m, n, c, x, dy, mantissas);
        }
}

/* ---- softmax ---- */

static float bounded(float x)
{
    return isnan(x) ? -FLT_MAX : fmaxf(-FLT_MAX, fminf(x, FLT_MAX));
}

/* Writes the probabilities of an image whose exponentials add up to `sum`; replaces x by the gradient. */
static void share_out(struct module *m, uint64_t n, float *x, float largest, double sum, uint64_t label)
{
    const double factor = (double)number(m, "factor"), error = ((double)m->channels + 16) * DBL_EPSILON;
    for (uint64_t c = 0; c < m->channels; ++c) {
        const double p = exp((double)x[c] - (double)largest) / sum, right = c == label;
        const float *made = made_at(m, &m->probabilities, n, 0, c);
        *value(m, &m->probabilities, n, 0, c) = accept(p, *made, p * error);
        if (!m->is.gradient)
            continue;
        made = made_at(m, &m->out, n, c, 0);
        x[c] = accept((p - right) * factor, *made, (p + right) * error * fabs(factor));
        *value(m, &m->out, n, c, 0) = x[c];
        add_extremes(m, n, c, x + c, NULL);
    }
}

static void classify(struct module *m, uint64_t n, float *x)
{
    const uint64_t label = m->is.gradient ? *(const uint32_t *)at(m, &m->labels, n, 0, 0) : UINT64_MAX;
    const struct cnnvp_class_result *made = made_at(m, &m->heads, n, 0, 0);
    struct cnnvp_class_result *head = at(m, &m->heads, n, 0, 0);
    uint32_t best = 0, nonfinite = 0;
    double sum = 0;
    for (uint32_t c = 0; c < m->channels; ++c) {
        nonfinite += isfinite(x[c]) ? 0 : 1;
        x[c] = bounded(x[c]);
        best = x[c] > x[best] ? c : best;
    }
    for (uint64_t c = 0; c < m->channels; ++c)
        sum += exp((double)x[c] - (double)x[best]);
    const double known = label < m->channels ? (double)x[label] - (double)x[best] : 0;
    const double error = (1 + log(sum) - known) * ((double)m->channels + 16) * DBL_EPSILON;
    const float loss = m->is.gradient ? accept(log(sum) - known, made->loss, error) : 0;
    *head = (struct cnnvp_class_result){best, label == best, loss, nonfinite};
    share_out(m, n, x, x[best], sum, label);
}

static void run_tsoftmax(struct module *m)
{
    float *x = read_tile(m, 1);
    for (uint64_t n = 0; n < m->images && m->wrong == NULL; ++n)
        classify(m, n, x + n * m->channels);
}

/* ---- moves ---- */

static void run_tdecode(struct module *m)
{
    const float *x = read_tile(m, m->plane);
    for (uint64_t c = 0; c < m->channels && m->wrong == NULL; ++c)
        put_plane(m, &m->out, 0, c, x + c * m->plane, m->plane);
}

static void run_move(struct module *m)
{
    const int saves = m->opcode == CNNVP_OPCODE_tsave;
    copy_bytes(m, saves ? &m->held : &m->memory, saves ? &m->memory : &m->held, reg(m, "bytes", 0));
}

static void run_tclear(struct module *m)
{
    const struct cnnvp_extremes none = {.min = INFINITY, .max = -INFINITY};
    const uint64_t bytes = reg(m, "bytes", 0);
    for (uint64_t i = 0; i < bytes; ++i)
        *(uint8_t *)at(m, &m->held, 0, 0, i) =
            m->held.buffer == CNNVP_REFERENCE_MAX_MIN ? ((const uint8_t *)&none)[i % sizeof none] : 0;
}

/* ---- locations of results ---- */

/* Adds a place if the command has it. A stride of 0 means that images or channels share it: it counts once. */
static void offer(struct module *m, int when, enum cnnvp_reference_kind kind, const char *what, int floating,
                  const struct place *place, uint64_t inner, uint64_t columns)
{
    if (!when || m->before-- != 0)
        return;
    *m->results = (struct cnnvp_reference_results){
        .kind = kind,
        .buffer = place->buffer,
        .half = place->half,
        .groups = place->image != 0 ? m->images : 1,
        .outer = place->channel != 0 ? m->channels : 1,
        .inner = inner,
        .base = (int64_t)place->base,
        .group_stride = (int64_t)place->image,
        .stride = (int64_t)place->channel,
        .bytes = place->bytes,
        .columns = (uint32_t)columns,
        .floating = floating};
    (void)snprintf(m->results->what, sizeof m->results->what, "%s", what);
}

/* Adds a place for each member of entries. `members` lists them in order, each preceded by its type: f binary32, d
 * binary64, u integer. */
static void offer_entries(struct module *m, int when, const struct place *entries, const char *members)
{
    struct place member = *entries;
    char type, name[24];
    for (int length = 0; sscanf(members, " %c %23s%n", &type, name, &length) == 2; members += length) {
        member.bytes = type == 'd' ? 8 : 4;
        member.image = entries->image * entries->bytes / member.bytes;
        member.channel = entries->channel * entries->bytes / member.bytes;
        offer(m, when, CNNVP_REFERENCE_OF_ENTRIES, name, type != 'u', &member, 1, entries->bytes);
        member.base += member.bytes;
    }
}

static void offer_matrix(struct module *m, int when, const char *what, const struct place *place)
{
    offer(m, when, CNNVP_REFERENCE_OF_BYTES, what, 0, place, place->channel, 1);
}

static void offer_all(struct module *m)
{
    const uint32_t opcode = m->opcode;
    const int post = opcode == CNNVP_OPCODE_tpost, back = opcode == CNNVP_OPCODE_tpostback;
    const int stat = opcode == CNNVP_OPCODE_tstat, softmax = opcode == CNNVP_OPCODE_tsoftmax;
    const int update = opcode == CNNVP_OPCODE_tupdate, decodes = opcode == CNNVP_OPCODE_tdecode;
    const int packs = post && m->is.keep, moves = packs || back, measures = m->is.measure || m->is.reduce;
    const int before_pool = back && !m->is.convert;
    const struct place exponent = {m->out.buffer, m->out.half, 1, m->out.base, 0, 0};
    offer(m, m->is.park, CNNVP_REFERENCE_OF_IMAGES, "input of batch norm", 1, &m->park, m->plane, m->width);
    offer(m, m->is.convert || m->is.gradient || ((post || back) && !measures), CNNVP_REFERENCE_OF_IMAGES, "",
          m->is.convert || m->is.gradient || m->is.whole, &m->out, before_pool ? m->plane : m->pooled,
          before_pool ? m->width : m->columns);
    offer_matrix(m, moves && m->is.relu, "0/1 matrix", &m->relu);
    offer_matrix(m, packs && m->is.relu, "0/1 matrix", &m->mask);
    offer_matrix(m, moves && m->is.pool, "position matrix", &m->id);
    offer_matrix(m, packs && m->is.pool, "position matrix", &m->ids);
    offer_matrix(m, moves && m->is.pool && m->reference->staged, "position matrix", &m->staged);
    offer(m, decodes, CNNVP_REFERENCE_OF_VALUES, "", 1, &m->out, m->plane, 1);
    offer(m, opcode == CNNVP_OPCODE_texp, CNNVP_REFERENCE_OF_LIST, "exponent", 0, &exponent,
          m->is.each ? m->channels : 1, 1);
    offer(m, update, CNNVP_REFERENCE_OF_VALUES, "weight", 1, &m->weights, m->plane, 1);
    offer(m, update && m->is.momentum, CNNVP_REFERENCE_OF_VALUES, "velocity", 1, &m->velocities, m->plane, 1);
    offer_entries(m, softmax, &m->heads, "u predicted u correct f loss u nonfinite");
    offer(m, softmax, CNNVP_REFERENCE_OF_IMAGES, "probability", 1, &m->probabilities, 1, 1);
    offer_entries(
        m, opcode == CNNVP_OPCODE_tcoef || opcode == CNNVP_OPCODE_tbnupdate || (m->is.reduce && m->is.norm), &m->norms,
        "f gamma f beta f gamma_velocity f beta_velocity f running_mean f running_sigma f scale f offset "
        "d mean d sigma d dgamma d dbeta f dy_scale f x_scale f dy_offset f extreme f dy_at_min f dy_at_max "
        "u count");
    offer_entries(m, (stat && !m->is.squares) || measures || m->is.gradient || update, &m->extremes,
                  "f min f max u min_at u max_at");
    offer_entries(m, stat, &m->sums, "d sum d squares u count u nonfinite");
    offer(m, opcode >= CNNVP_OPCODE_tload, CNNVP_REFERENCE_OF_LIST, "byte", 0,
          opcode == CNNVP_OPCODE_tsave ? &m->memory : &m->held, reg(m, "bytes", 0), 1);
}

/* ---- commands ---- */

static void decode(struct cnnvp_reference *reference, const struct cnnvp_command *command, struct module *m)
{
    *m = (struct module){.reference = reference, .command = command, .opcode = command->opcode};
    decode_shape(m);
    decode_places(m);
    decode_entries(m);
}

const char *reference_module(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    static void (*const runs[])(struct module *) = {
        run_tstat,   run_tcoef,     run_texp,    run_tpost, run_tpostback, run_tsoftmax,
        run_tupdate, run_tbnupdate, run_tdecode, run_move,  run_move,      run_tclear};
    struct module m;
    decode(reference, command, &m);
    if (m.wrong == NULL)
        runs[command->opcode - CNNVP_OPCODE_tstat](&m);
    for (size_t i = 0; i < sizeof m.pieces / sizeof m.pieces[0]; ++i)
        free(m.pieces[i]);
    return m.wrong;
}

int reference_module_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                             uint32_t index, struct cnnvp_reference_results *results)
{
    struct cnnvp_reference of = *reference;
    struct module m;
    decode(&of, command, &m);
    m.before = index;
    m.results = results;
    results->bytes = 0;
    offer_all(&m);
    return results->bytes != 0;
}
