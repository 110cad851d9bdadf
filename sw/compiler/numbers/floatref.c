/* SPDX-License-Identifier: Apache-2.0 */
/* The float reference model: all layers but convolutions (float_conv.c). */
#include "float_conv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "training/elementary/elementary.h"

static size_t block_area(const struct cnnvp_graph_layer *layer)
{
    return (size_t)layer->block_height * layer->block_width;
}

/* Floats for a block of a layer's input and one of its output, for the layer that needs most. */
static size_t block_words(const struct cnnvp_graph *graph)
{
    size_t most = 1;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const size_t channels = (size_t)graph->tensors[layer->in].channels + graph->tensors[layer->out].channels;
        const size_t words = channels * block_area(layer) + 2 * CNNVP_FLOAT_SLACK;
        most = words > most ? words : most;
    }
    return most;
}

/* Allocates one image's tensors. 0: out of memory. */
static int make_maps(const struct cnnvp_graph *graph, float **maps)
{
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        if (graph->tensors[i].base != CNNVP_GRAPH_NONE)
            continue;
        maps[i] = calloc(cnnvp_graph_words(&graph->tensors[i]) + CNNVP_FLOAT_SLACK, sizeof **maps);
        if (maps[i] == NULL)
            return 0;
    }
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (graph->tensors[i].base != CNNVP_GRAPH_NONE)
            maps[i] = maps[cnnvp_graph_base(graph, (int32_t)i)] + cnnvp_graph_offset(graph, (int32_t)i);
    return 1;
}

cnnvp_result cnnvp_floatref_new_batch(const struct cnnvp_graph *graph, size_t images, struct cnnvp_floatref *run,
                                      struct cnnvp_error *error)
{
    *run = (struct cnnvp_floatref){.graph = graph, .images = images, .kernels = cnnvp_float_kernels()};
    run->maps = images <= SIZE_MAX / (graph->tensor_count + 1u)
                    ? calloc(images * graph->tensor_count + 1u, sizeof *run->maps)
                    : NULL;
    run->data = run->maps;
    run->pre_max = calloc(graph->layer_count + 1, sizeof *run->pre_max);
    run->norm_max = calloc(graph->layer_count + 1, sizeof *run->norm_max);
    run->block = calloc(block_words(graph), sizeof *run->block);
    int done = run->maps != NULL && run->pre_max != NULL && run->norm_max != NULL && run->block != NULL &&
               cnnvp_float_scratch_new(graph, &run->scratch);
    run->scratch.pool = done ? cnnvp_pool_new() : NULL;
    for (size_t n = 0; n < images && done; ++n)
        done = make_maps(graph, run->maps + n * graph->tensor_count);
    if (done)
        return CNNVP_DONE;
    cnnvp_floatref_clear(run);
    return cnnvp_compiler_no_memory(error);
}

void cnnvp_floatref_clear(struct cnnvp_floatref *run)
{
    const size_t tensors = run->maps != NULL ? run->images * run->graph->tensor_count : 0;
    for (size_t i = 0; i < tensors; ++i)
        if (run->graph->tensors[i % run->graph->tensor_count].base == CNNVP_GRAPH_NONE)
            free(run->maps[i]);
    free(run->maps);
    free(run->pre_max);
    free(run->norm_max);
    free(run->block);
    cnnvp_pool_free(run->scratch.pool);
    cnnvp_float_scratch_free(&run->scratch);
    *run = (struct cnnvp_floatref){0};
}

void cnnvp_floatref_use(struct cnnvp_floatref *run, size_t image)
{
    run->data = run->maps + image * run->graph->tensor_count;
}

struct shapes {
    const struct cnnvp_graph_tensor *in;
    const struct cnnvp_graph_tensor *out;
    const float *x;
    float *y;
};

/* Output positions [first, end) whose tap lies inside the input: position * stride + offset in [0, size). */
static void valid_range(uint32_t size, uint32_t outputs, uint32_t stride, int64_t offset, uint32_t *first,
                        uint32_t *end)
{
    const int64_t begin = offset < 0 ? (-offset + stride - 1) / stride : 0;
    const int64_t last = (int64_t)size - 1 - offset;
    const int64_t stop = last < 0 ? 0 : last / stride + 1;
    *end = (uint32_t)(stop < outputs ? stop : outputs);
    *first = begin < *end ? (uint32_t)begin : *end;
}

static void add_row(float *restrict y, const float *restrict x, uint32_t count, uint32_t stride)
{
    for (uint32_t i = 0; i < count; ++i)
        y[i] += x[(size_t)i * stride];
}

static void max_row(float *restrict y, const float *restrict x, uint32_t count, uint32_t stride)
{
    for (uint32_t i = 0; i < count; ++i) {
        const float value = x[(size_t)i * stride];
        y[i] = value > y[i] ? value : y[i];
    }
}

/* Applies one tap of an input plane to an output plane: adds, or takes the maximum. */
static void sweep_tap(const struct cnnvp_graph_layer *layer, const struct shapes *s, const float *x, float *y,
                      uint32_t tap_y, uint32_t tap_x, int average)
{
    uint32_t first_y, end_y, first_x, end_x;
    const int64_t offset_y = (int64_t)tap_y * layer->dy - layer->pad_top;
    const int64_t offset_x = (int64_t)tap_x * layer->dx - layer->pad_left;
    valid_range(s->in->height, s->out->height, layer->sy, offset_y, &first_y, &end_y);
    valid_range(s->in->width, s->out->width, layer->sx, offset_x, &first_x, &end_x);
    if (first_x == end_x)
        return;
    for (uint32_t row = first_y; row < end_y; ++row) {
        const float *from =
            x + ((int64_t)row * layer->sy + offset_y) * s->in->width + ((int64_t)first_x * layer->sx + offset_x);
        float *to = y + (size_t)row * s->out->width + first_x;
        if (average)
            add_row(to, from, end_x - first_x, layer->sx);
        else
            max_row(to, from, end_x - first_x, layer->sx);
    }
}

static void fill(float *y, size_t count, float value)
{
    for (size_t i = 0; i < count; ++i)
        y[i] = value;
}

/* Distance of the tensor's channels. */
static size_t step_of(const struct cnnvp_graph_tensor *tensor)
{
    return tensor->channel_step > 1 ? tensor->channel_step : 1;
}

/* Number of taps along one axis within [low, high). */
static int64_t counted(int64_t first, uint32_t kernel, int32_t low, int32_t high)
{
    const int64_t begin = first < low ? low : first;
    const int64_t end = first + kernel > high ? high : first + kernel;
    return end > begin ? end - begin : 0;
}

static float pool_area(const struct cnnvp_graph_layer *layer, uint32_t row, uint32_t column)
{
    if (layer->by_position == 0)
        return (float)layer->kx * (float)layer->ky;
    const int64_t rows =
        counted((int64_t)row * layer->sy - layer->pad_top, layer->ky, layer->count_top, layer->count_bottom);
    const int64_t columns =
        counted((int64_t)column * layer->sx - layer->pad_left, layer->kx, layer->count_left, layer->count_right);
    return (float)(rows * columns);
}

static void run_pool(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t in_plane = (size_t)s->in->height * s->in->width;
    const size_t out_plane = (size_t)s->out->height * s->out->width;
    const int average = layer->pool == CNNVP_POOL_AVERAGE;
    for (uint32_t c = 0; c < s->out->channels; ++c) {
        float *y = s->y + c * out_plane;
        fill(y, out_plane, average ? 0.0f : -FLT_MAX);
        for (uint32_t ky = 0; ky < layer->ky; ++ky)
            for (uint32_t kx = 0; kx < layer->kx; ++kx)
                sweep_tap(layer, s, s->x + c * in_plane, y, ky, kx, average);
        for (size_t i = 0; i < out_plane && average; ++i)
            y[i] /= pool_area(layer, (uint32_t)(i / s->out->width), (uint32_t)(i % s->out->width));
    }
}

/* A fully connected layer. A part of the work is FC_PART outputs. */
struct fc {
    const struct cnnvp_float_kernels *kernels;
    const struct cnnvp_graph_layer *layer;
    const struct shapes *shapes;
};

#define FC_PART 32u
#define SHARED_WEIGHTS (1u << 17) /* for layers with fewer weights other threads are not worth waking */

static void run_fc_part(void *context, size_t part)
{
    const struct fc *fc = context;
    const struct shapes *s = fc->shapes;
    const struct cnnvp_graph_layer *layer = fc->layer;
    const size_t inputs = cnnvp_graph_words(s->in);
    const size_t end = (part + 1u) * FC_PART;
    for (size_t o = part * FC_PART; o < end && o < s->out->channels; ++o)
        s->y[o] =
            fc->kernels->dot(layer->weights + o * inputs, s->x, inputs) + (layer->has_bias ? layer->bias[o] : 0.0f);
}

static void run_fc(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    struct fc fc = {run->kernels, layer, s};
    const size_t weights = cnnvp_graph_words(s->in) * s->out->channels;
    cnnvp_pool_run(weights >= SHARED_WEIGHTS ? run->scratch.pool : NULL, run_fc_part, &fc,
                   (s->out->channels + FC_PART - 1u) / FC_PART);
}

static void run_norm(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t plane = (size_t)s->in->height * s->in->width;
    for (size_t c = 0; c < s->in->channels; ++c)
        for (size_t i = c * plane; i < (c + 1) * plane; ++i)
            s->y[i] = s->x[i] * layer->weights[c] + layer->bias[c];
}

static float maximum(float a, float b)
{
    return a > b ? a : b;
}

/* Images [first, end) of a batch. */
struct images {
    size_t first, end;
};

/* Mean and variance over the images of the channel whose first word is number `at`. about_zero: the mean counts as 0.
 */
static void statistics(struct cnnvp_floatref *run, struct images images, int32_t tensor, size_t at, int about_zero,
                       double *mean, double *variance)
{
    const struct cnnvp_graph_tensor *in = &run->graph->tensors[tensor];
    const size_t plane = (size_t)in->height * in->width;
    const double count = (double)plane * (double)(images.end - images.first);
    double sum = 0.0, squares = 0.0;
    for (size_t n = images.first; n < images.end; ++n) {
        cnnvp_floatref_use(run, n);
        for (size_t i = at; i < at + plane; ++i)
            sum += (double)run->data[tensor][i];
    }
    *mean = about_zero ? 0.0 : sum / count;
    for (size_t n = images.first; n < images.end; ++n) {
        cnnvp_floatref_use(run, n);
        for (size_t i = at; i < at + plane; ++i)
            squares += ((double)run->data[tensor][i] - *mean) * ((double)run->data[tensor][i] - *mean);
    }
    *variance = squares / count;
}

/* The magnitude below which the tensor's format makes values 0. */
static double vanishing(struct cnnvp_floatref *run, int32_t tensor, struct images images)
{
    float largest = 0.0f;
    for (size_t n = images.first; n < images.end; ++n) {
        cnnvp_floatref_use(run, n);
        largest =
            maximum(largest, run->kernels->largest(run->data[tensor], cnnvp_graph_words(&run->graph->tensors[tensor])));
    }
    return (double)largest * 0x1p-16;
}

/* Normalises these images with their own statistics, and updates the largest 1 / sigma, scale and offset. Channels
 * whose words are all 0 do not count: a format for their 1 / sqrt(epsilon) would leave too few bits for the others. */
static void run_norm_data(struct cnnvp_floatref *run, size_t index, struct images images)
{
    const struct cnnvp_graph_layer *layer = &run->graph->layers[index];
    const struct cnnvp_graph_tensor *in = &run->graph->tensors[layer->in];
    const size_t plane = (size_t)in->height * in->width;
    struct cnnvp_norm_max *max = &run->norm_max[index];
    const double least = vanishing(run, layer->in, images);
    for (size_t c = 0; c < in->channels; ++c) {
        double mean, variance;
        statistics(run, images, layer->in, c * plane, layer->about_zero != 0, &mean, &variance);
        const double deviation = sqrt(variance + (double)layer->epsilon);
        const double scale = (double)layer->weights[c] / deviation;
        const double product = mean * scale;
        const double offset = (double)layer->bias[c] - product;
        for (size_t n = images.first; n < images.end; ++n) {
            cnnvp_floatref_use(run, n);
            for (size_t i = c * plane; i < (c + 1) * plane; ++i)
                run->data[layer->out][i] = (float)((double)run->data[layer->in][i] * scale + offset);
        }
        if (least > 0.0 && sqrt(variance + mean * mean) < least)
            continue;
        max->inverse = maximum(max->inverse, (float)(1.0 / deviation));
        max->scale = maximum(max->scale, (float)fabs(scale));
        max->offset = maximum(maximum(max->offset, (float)fabs(offset)), (float)fabs(product));
    }
}

static float combine(enum cnnvp_layer_arithmetic arithmetic, float a, float b)
{
    switch (arithmetic) {
    case CNNVP_ARITHMETIC_SUB:
        return a - b;
    case CNNVP_ARITHMETIC_MUL:
        return a * b;
    case CNNVP_ARITHMETIC_DIV:
        /* The vector unit gives the largest word where a number is divided by 0. Here it is 0, which widens no format.
         */
        return b < 0.0f || b > 0.0f ? a / b : 0.0f;
    case CNNVP_ARITHMETIC_MAX:
        return a > b ? a : b;
    case CNNVP_ARITHMETIC_MIN:
        return a < b ? a : b;
    default:
        return a + b;
    }
}

static void run_arithmetic(const struct cnnvp_graph_layer *layer, const struct shapes *s,
                           const struct cnnvp_graph_tensor *second, const float *b)
{
    const int scales = layer->steps.in2 > 0.0f;
    const float of_x = scales ? layer->steps.in : 1.0f, of_b = scales ? layer->steps.in2 : 1.0f;
    const float step = scales ? layer->steps.out : 1.0f;
    float *to = s->y;
    for (size_t c = 0; c < s->out->channels; ++c)
        for (size_t y = 0; y < s->out->height; ++y)
            for (size_t x = 0; x < s->out->width; ++x)
                *to++ = combine(layer->arithmetic, s->x[cnnvp_graph_spread(s->in, c, y, x)] * of_x,
                                b[cnnvp_graph_spread(second, c, y, x)] * of_b) /
                        step;
}

static void run_permuted(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t strides[3] = {(size_t)s->in->height * s->in->width, s->in->width, 1};
    float *to = s->y;
    for (size_t c = 0; c < s->out->channels; ++c)
        for (size_t y = 0; y < s->out->height; ++y)
            for (size_t x = 0; x < s->out->width; ++x)
                *to++ = s->x[c * strides[layer->from[0]] + y * strides[layer->from[1]] + x * strides[layer->from[2]]];
}

/* Copies a part of each map to its place in the result. */
static void run_moved(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t height = layer->cropped != 0 ? layer->crop_height : s->in->height;
    const size_t width = layer->cropped != 0 ? layer->crop_width : s->in->width;
    for (size_t c = 0; c < s->in->channels; ++c)
        for (size_t y = 0; y < height; ++y) {
            const size_t from = (c * s->in->height + layer->crop_row + y) * s->in->width + layer->crop_column;
            const size_t to = (c * s->out->height + layer->place_row + y) * s->out->width + layer->place_column;
            memcpy(s->y + to, s->x + from, width * sizeof *s->y);
        }
}

static void run_copy(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    if (layer->placed != 0 || layer->cropped != 0)
        run_moved(layer, s);
    else if (layer->permuted != 0)
        run_permuted(layer, s);
    else
        memcpy(s->y, s->x, cnnvp_graph_words(s->out) * sizeof *s->y);
}

void cnnvp_floatref_copy(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, const float *in,
                         float *out)
{
    run_copy(layer, &(struct shapes){&graph->tensors[layer->in], &graph->tensors[layer->out], in, out});
}

/* Softmax of `count` numbers at distance `step`. */
static void softmax(const float *x, float *y, size_t count, size_t step)
{
    float largest = x[0];
    double sum = 0.0;
    for (size_t i = 0; i < count * step; i += step)
        largest = x[i] > largest ? x[i] : largest;
    for (size_t i = 0; i < count * step; i += step)
        sum += cnnvp_elementary_exp((double)x[i] - (double)largest);
    for (size_t i = 0; i < count * step; i += step)
        y[i] = (float)(cnnvp_elementary_exp((double)x[i] - (double)largest) / sum);
}

/* exp(-16) is 1e-7, which is 0 in the 15 fraction bits of softmax's results. */
#define FAR_BELOW 16.0f
/* Floats of this size have no fraction. */
#define NO_FRACTION 0x1p24f

static void run_softmax(const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t words = cnnvp_graph_words(s->in);
    size_t count = s->out->width, step = 1;
    const float *x = layer->permuted != 0 ? s->y : s->x;
    if (layer->permuted != 0)
        run_permuted(layer, s);
    else
        cnnvp_graph_line(layer, s->in, &count, &step);
    for (size_t block = 0; block < words; block += count * step)
        for (size_t at = block; at < block + step; ++at)
            softmax(x + at, s->y + at, count, step);
}

static float scores_of_lines(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &run->graph->tensors[layer->in];
    const float *x = run->data[layer->in];
    const size_t words = cnnvp_graph_words(in);
    float counted = 0.0f;
    size_t count, step;
    cnnvp_graph_line(layer, in, &count, &step);
    for (size_t line = 0; line < words / count; ++line) {
        const size_t begin = line / step * count * step + line % step;
        float largest = x[begin], least = x[begin];
        for (size_t i = begin; i < begin + count * step; i += step) {
            largest = x[i] > largest ? x[i] : largest;
            least = x[i] < least ? x[i] : least;
        }
        if (largest < -NO_FRACTION || (largest < -FAR_BELOW && !(least < largest)))
            continue; /* all is masked, and equal once it saturates */
        for (size_t i = begin; i < begin + count * step; i += step)
            counted = maximum(counted, fabsf(x[i] < largest - FAR_BELOW ? largest - FAR_BELOW : x[i]));
    }
    return counted;
}

/* How large an operand `own` has to be, for a result beyond -limit to reach that. `other`: the other operand. */
static float reach(enum cnnvp_layer_arithmetic arithmetic, float own, float other, float limit)
{
    const int is_product = arithmetic == CNNVP_ARITHMETIC_MUL;
    const float result = is_product ? own * other : own + other;
    if (is_product && !(other < 0.0f || other > 0.0f))
        return 0.0f;
    if (result >= -limit)
        return fabsf(own);
    if (is_product)
        return fminf(fabsf(own), limit / fabsf(other));
    if (own <= other)
        return fminf(fabsf(own), fmaxf(other, -limit) + limit);
    return fabsf(fmaxf(own, -limit));
}

/* As cnnvp_floatref_scores, for arithmetic. */
static float scores_of_operand(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, int second,
                               float limit)
{
    const struct cnnvp_graph_tensor *tensors = run->graph->tensors, *out = &tensors[layer->out];
    const int32_t mine = second ? layer->in2 : layer->in, others = second ? layer->in : layer->in2;
    const float sign = layer->arithmetic == CNNVP_ARITHMETIC_SUB ? -1.0f : 1.0f;
    float counted = 0.0f;
    for (size_t c = 0; c < out->channels; ++c)
        for (size_t y = 0; y < out->height; ++y)
            for (size_t x = 0; x < out->width; ++x) {
                const float own = run->data[mine][cnnvp_graph_spread(&tensors[mine], c, y, x)];
                const float other = sign * run->data[others][cnnvp_graph_spread(&tensors[others], c, y, x)];
                counted = maximum(counted, reach(layer->arithmetic, own, other, limit));
            }
    return counted;
}

static float scores_of_scaled(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, float limit)
{
    const struct cnnvp_graph_tensor *in = &run->graph->tensors[layer->in];
    const size_t plane = (size_t)in->height * in->width;
    const float *result = run->data[layer->out];
    float counted = 0.0f;
    for (size_t c = 0; c < in->channels; ++c)
        for (size_t i = c * plane; i < (c + 1) * plane; ++i) {
            const float own = fabsf(run->data[layer->in][i]);
            const float enough = fmaxf(limit + layer->bias[c], 0.0f) / fmaxf(fabsf(layer->weights[c]), FLT_MIN);
            counted = maximum(counted, result[i] < -limit ? fminf(own, enough) : own);
        }
    return counted;
}

/* Twice the largest number that is not beyond the comparison's: what masks reach is told from it by their word. */
static float scores_of_comparison(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer)
{
    const size_t words = cnnvp_graph_words(&run->graph->tensors[layer->in]);
    float counted = 0.0f;
    for (size_t i = 0; i < words; ++i) {
        const float size = fabsf(run->data[layer->in][i]);
        counted = size < CNNVP_GRAPH_INFINITE ? maximum(counted, size) : counted;
    }
    return 2.0f * counted;
}

float cnnvp_floatref_scores(const struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, int second)
{
    const float limit = run->graph->tensors[cnnvp_graph_base(run->graph, layer->out)].max_abs;
    switch (layer->op) {
    case CNNVP_OP_SOFTMAX:
        return scores_of_lines(run, layer);
    case CNNVP_OP_ADD:
        return scores_of_operand(run, layer, second, limit);
    case CNNVP_OP_NORM:
        return scores_of_scaled(run, layer, limit);
    default: /* a copy or a maximum */
        return cnnvp_graph_asks_infinity(layer) ? scores_of_comparison(run, layer) : limit;
    }
}

static void run_post(const struct cnnvp_graph_post *post, float *y, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const float x = y[i];
        switch (post->kind) {
        case CNNVP_GRAPH_MAX:
            y[i] = x > post->value ? x : post->value;
            break;
        case CNNVP_GRAPH_MIN:
            y[i] = x < post->value ? x : post->value;
            break;
        case CNNVP_GRAPH_LEAKY_RELU:
            y[i] = x < 0.0f ? x * post->value : x;
            break;
        default:
            y[i] = (float)cnnvp_post_function(post, (double)x);
            break;
        }
    }
}

/* Rounds to the nearest whole number, ties to even. */
static void round_all(float *y, size_t count)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: the sum has no fraction bits */
    for (size_t i = 0; i < count; ++i)
        if (y[i] > -4194304.0f && y[i] < 4194304.0f)
            y[i] = (y[i] + magic) - magic;
}

/* Applies the layer's posts and rounding to a part of its results. */
static void finish(struct cnnvp_floatref *run, size_t index, float *y, size_t count)
{
    const struct cnnvp_graph *graph = run->graph;
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    run->pre_max[index] = maximum(run->pre_max[index], run->kernels->largest(y, count));
    const int quantised = cnnvp_graph_is_quantised_function(layer);
    for (size_t i = 0; i < count && quantised; ++i)
        y[i] = cnnvp_quantised_function(layer, y[i]);
    for (uint32_t i = 0; i < layer->post_count && !quantised; ++i)
        run_post(&layer->posts[i], y, count);
    if (graph->tensors[cnnvp_graph_base(graph, layer->out)].whole != 0)
        round_all(y, count);
}

/* Copies a block of each channel to a map of the block's size, or back. */
static void copy_block(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *tensor, float *map,
                       size_t channel_words, float *block, int back)
{
    for (size_t c = 0; c < tensor->channels; ++c)
        for (size_t y = 0; y < layer->block_height; ++y) {
            float *row = map + c * channel_words + y * tensor->width;
            float *part = block + c * block_area(layer) + y * layer->block_width;
            memcpy(back ? row : part, back ? part : row, layer->block_width * sizeof *row);
        }
}

/* Runs a convolution that is padded block by block: each block is a map of its own. */
static void run_blocks(struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    const size_t plane = (size_t)s->in->height * s->in->width;
    struct cnnvp_graph_tensor maps[2] = {*s->in, *s->out};
    struct cnnvp_graph_layer conv = *layer;
    const struct cnnvp_graph graph = {.tensors = maps, .tensor_count = 2, .layers = &conv, .layer_count = 1};
    float *in = run->block;
    float *out = in + s->in->channels * block_area(layer) + CNNVP_FLOAT_SLACK;
    maps[0].height = maps[1].height = layer->block_height;
    maps[0].width = maps[1].width = layer->block_width;
    maps[1].channel_step = 0;
    conv.in = 0;
    conv.out = 1;
    for (size_t y = 0; y < s->in->height; y += layer->block_height)
        for (size_t x = 0; x < s->in->width; x += layer->block_width) {
            const size_t at = y * s->in->width + x;
            copy_block(layer, s->in, run->data[layer->in] + at, plane, in, 0);
            cnnvp_float_conv(run->kernels, &graph, &conv, in, out, &run->scratch);
            copy_block(layer, s->out, s->y + at, plane * step_of(s->out), out, 1);
        }
}

/* Runs a convolution whose weights are another tensor. */
static void run_product(struct cnnvp_floatref *run, const struct cnnvp_graph_layer *layer, const struct shapes *s)
{
    struct cnnvp_graph_layer conv = *layer;
    conv.weights = run->data[layer->in2];
    cnnvp_float_conv(run->kernels, run->graph, &conv, s->x, s->y, &run->scratch);
}

/* Runs a layer on one image, without its posts. */
static void run_layer(struct cnnvp_floatref *run, size_t index)
{
    const struct cnnvp_graph *graph = run->graph;
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    const struct shapes s = {
        &graph->tensors[layer->in], &graph->tensors[layer->out], run->data[layer->in], run->data[layer->out]};
    const size_t words = cnnvp_graph_words(s.out);
    switch (layer->op) {
    case CNNVP_OP_CONV:
        if (layer->product != 0)
            run_product(run, layer, &s);
        else if (layer->block_height != 0 && !run->ordinary)
            run_blocks(run, layer, &s);
        else
            cnnvp_float_conv(run->kernels, graph, layer, s.x, s.y, &run->scratch);
        break;
    case CNNVP_OP_POOL:
        run_pool(layer, &s);
        for (size_t i = 0; layer->steps.out > 0.0f && i < words; ++i)
            s.y[i] *= layer->steps.in / layer->steps.out;
        break;
    case CNNVP_OP_FC:
        run_fc(run, layer, &s);
        break;
    case CNNVP_OP_ACTIVATION:
        run_copy(layer, &s);
        break;
    case CNNVP_OP_NORM:
        run_norm(layer, &s);
        break;
    case CNNVP_OP_ADD:
        run_arithmetic(layer, &s, &graph->tensors[layer->in2], run->data[layer->in2]);
        break;
    case CNNVP_OP_SOFTMAX:
        run_softmax(layer, &s);
        break;
    }
}

/* Finishes a layer; channels that are not adjacent are finished one by one. */
static void finish_layer(struct cnnvp_floatref *run, size_t index)
{
    const int32_t number = run->graph->layers[index].out;
    const struct cnnvp_graph_tensor *out = &run->graph->tensors[number];
    const size_t words = cnnvp_graph_words(out);
    const size_t step = step_of(out);
    const size_t block = step > 1 ? (size_t)out->height * out->width : words;
    for (size_t i = 0; i < words / block; ++i)
        finish(run, index, run->data[number] + i * block * step, block);
}

/* Runs one layer on all images of a batch. */
static void run_batch(struct cnnvp_floatref *run, size_t index, size_t count)
{
    const struct cnnvp_graph_layer *layer = &run->graph->layers[index];
    const enum cnnvp_layer_norm_kind norm = layer->op == CNNVP_OP_NORM ? layer->norm : CNNVP_NORM_STORED;
    run->pre_max[index] = 0.0f;
    if (norm == CNNVP_NORM_BATCH)
        run_norm_data(run, index, (struct images){0, count});
    for (size_t n = 0; n < count; ++n) {
        cnnvp_floatref_use(run, n);
        if (norm == CNNVP_NORM_DATA)
            run_norm_data(run, index, (struct images){n, n + 1});
        else if (norm == CNNVP_NORM_STORED)
            run_layer(run, index);
        finish_layer(run, index);
    }
}

void cnnvp_floatref_images(struct cnnvp_floatref *run, size_t count, const float *inputs)
{
    const struct cnnvp_graph *graph = run->graph;
    for (size_t n = 0; n < count; ++n)
        for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i) {
            const size_t tensor = (size_t)cnnvp_graph_input(graph, i);
            const size_t words = cnnvp_graph_words(&graph->tensors[tensor]);
            memcpy(run->maps[n * graph->tensor_count + tensor], inputs, words * sizeof *inputs);
            inputs += words;
        }
    for (size_t i = 0; i < graph->layer_count && (run->stopped == NULL || !run->stopped()); ++i) {
        if (run->begins != NULL)
            run->begins(run->context, i);
        run_batch(run, i, count);
    }
}
