/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resize and Upsample of rows and columns, one axis after the other. Nearest: copies of runs of elements, or
 * interleaved copies for an enlargement by an integer factor. Linear by an integer factor: one short convolution per
 * phase of the output positions, on maps with repeated borders. Other linear and all cubic cases: a product with the
 * matrix of interpolation weights. When maps shrink, antialias widens the interpolation kernel.
 */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

/* Limits: integer factor with one layer per phase, copies of runs of elements, elements of a matrix. */
#define PHASES_MAX 64
#define COPIES_MAX 1024
#define MATRIX_MAX (1 << 24)
/* Limit on multiplications to resize a constant. */
#define EFFORT_MAX ((size_t)1 << 34)

enum transform { HALF_PIXEL, PYTORCH_HALF_PIXEL, HALF_PIXEL_SYMMETRIC, ALIGN_CORNERS, ASYMMETRIC, TF_HALF_PIXEL };

struct resize {
    enum { NEAREST, LINEAR, CUBIC } mode;
    double cubic; /* coefficient a of the cubic kernel */
    int inside;   /* exclude_outside: elements outside of the input get weight 0, instead of the border's value */
    int antialias;
    enum transform transform;
    enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL } rounding;
};

/* One dimension. */
struct line {
    int64_t in, out;
    double scale; /* as given; `out` may be rounded down from it */
};

/* The position in the input of an output element (ONNX, Resize: coordinate_transformation_mode). align_corners follows
 * PyTorch and onnxruntime; ONNX's reference code divides by scale * in - 1, which need not be an integer. */
static double place_of(const struct resize *resize, const struct line *line, int64_t out)
{
    const double x = (double)out;
    const double centre = (double)line->in / 2.0;
    const double full = line->scale * (double)line->in;
    switch (resize->transform) {
    case PYTORCH_HALF_PIXEL:
        return line->out > 1 ? (x + 0.5) / line->scale - 0.5 : 0.0;
    case HALF_PIXEL_SYMMETRIC:
        return centre * (1.0 - (double)line->out / full) + (x + 0.5) / line->scale - 0.5;
    case ALIGN_CORNERS: /* the last element maps to the last one, even if `out` was rounded */
        return line->out > 1 ? x * (double)(line->in - 1) / (double)(line->out - 1) : 0.0;
    case ASYMMETRIC:
        return x / line->scale;
    case TF_HALF_PIXEL:
        return (x + 0.5) / line->scale;
    case HALF_PIXEL:
        break;
    }
    return (x + 0.5) / line->scale - 0.5;
}

static int64_t within(double place, int64_t size)
{
    return place < 0.0 ? 0 : place > (double)(size - 1) ? size - 1 : (int64_t)place;
}

static int64_t nearest(const struct resize *resize, const struct line *line, int64_t out)
{
    const double place = place_of(resize, line, out);
    const double whole =
        resize->rounding == ROUND_FLOOR  ? floor(place)
        : resize->rounding == ROUND_CEIL ? ceil(place)
        : resize->rounding == ROUND_PREFER_CEIL
            ? floor(place + 0.5)
            : ceil(place - 0.5);
    return within(whole, line->in);
}

/* ---- attributes ---- */

static cnnvp_result read_modes(struct cnnvp_import *import, struct resize *resize)
{
    const int first = import->onnx.opset < 11; /* Upsample, and Resize of operator set 10 */
    int mode = NEAREST;
    int transform = first ? ASYMMETRIC : HALF_PIXEL;
    int rounding = first ? ROUND_FLOOR : ROUND_PREFER_FLOOR;
    CNNVP_TRY(cnnvp_import_choice(import, "mode", "nearest, linear, cubic", &mode));
    CNNVP_TRY(cnnvp_import_choice(import, "coordinate_transformation_mode",
                                  "half_pixel, pytorch_half_pixel, half_pixel_symmetric, align_corners, asymmetric, "
                                  "tf_half_pixel_for_nn",
                                  &transform));
    CNNVP_TRY(
        cnnvp_import_choice(import, "nearest_mode", "round_prefer_floor, round_prefer_ceil, floor, ceil", &rounding));
    if (cnnvp_onnx_attribute(import->node, "keep_aspect_ratio_policy") != NULL &&
        !cnnvp_onnx_is(import->node, "keep_aspect_ratio_policy", "stretch"))
        return cnnvp_import_error(import, "keep_aspect_ratio_policy is supported as stretch only");
    *resize = (struct resize){
        .mode = (unsigned)mode,
        .cubic = (double)cnnvp_onnx_float(import->node, "cubic_coeff_a", -0.75f),
        .inside = cnnvp_onnx_int(import->node, "exclude_outside", 0) != 0,
        .antialias = cnnvp_onnx_int(import->node, "antialias", 0) != 0,
        .transform = (enum transform)transform,
        .rounding = (unsigned)rounding};
    return CNNVP_DONE;
}

/* Reads input `index`, which must have `count` values: one for each dimension, or for each that `axes` names. */
static cnnvp_result read_numbers(struct cnnvp_import *import, size_t index, size_t count, float numbers[4])
{
    const Onnx__TensorProto *constant;
    struct cnnvp_error why = {""};
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    if (cnnvp_onnx_elements(constant) != count)
        return cnnvp_import_error(
            import, "input %zu has %zu numbers; %zu are needed", index, cnnvp_onnx_elements(constant), count);
    if (cnnvp_onnx_floats(&import->onnx, constant, numbers, count, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "input %zu: %s", index, why.text);
    return CNNVP_DONE;
}

/* Reads the scales, from an attribute (Upsample) or an input, or the sizes. */
static cnnvp_result read_factors(struct cnnvp_import *import, size_t count, float scales[4], int *are_sizes)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(import->node, "scales");
    const size_t index = import->onnx.opset < 11 ? 1 : 2;
    const Onnx__TensorProto *constant = NULL;
    *are_sizes = cnnvp_import_has(import, 3);
    if (*are_sizes)
        return read_numbers(import, 3, count, scales);
    if (attribute == NULL) {
        CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
        return read_numbers(import, index, count, scales);
    }
    if (attribute->n_floats != count)
        return cnnvp_import_error(
            import, "attribute scales has %zu numbers; %zu are needed", attribute->n_floats, count);
    for (size_t i = 0; i < count; ++i)
        scales[i] = attribute->floats[i];
    return CNNVP_DONE;
}

static cnnvp_result read_line(struct cnnvp_import *import, float number, int is_size, struct line *line)
{
    /* The product is a float, as in ONNX's shape inference and onnxruntime: 0.7 of 10 elements are 7. */
    const double out = (double)(is_size ? number : floorf((float)line->in * number));
    if (!(out >= 1.0 && out <= CNNVP_ONNX_DIMENSION_MAX))
        return cnnvp_import_error(import, "%g of %lld elements: 1 to %d are possible", (double)number,
                                  (long long)line->in, CNNVP_ONNX_DIMENSION_MAX);
    line->out = (int64_t)out;
    line->scale = is_size ? out / (double)line->in : (double)number;
    return CNNVP_DONE;
}

/* *last: 1: the maps have their channels last. NULL: these are not possible. */
static cnnvp_result read_lines(struct cnnvp_import *import, uint32_t rank, const int64_t dims[4], int64_t images,
                               struct line lines[4], int *last)
{
    float numbers[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    int64_t axes[4] = {0, 1, 2, 3};
    size_t count = 0;
    int are_sizes = 0;
    CNNVP_TRY(cnnvp_import_list(import, "axes", SIZE_MAX, 4, axes, &count));
    count = count == 0 ? rank : count;
    CNNVP_TRY(read_factors(import, count, numbers, &are_sizes));
    for (uint32_t i = 0; i < 4; ++i)
        lines[i] = (struct line){i < rank ? dims[i] : 1, i < rank ? dims[i] : 1, 1.0};
    for (size_t i = 0; i < count; ++i) {
        const int64_t axis = axes[i] + (axes[i] < 0 ? rank : 0);
        if (axis < 0 || axis >= (int64_t)rank)
            return cnnvp_import_error(import, "axis %lld is outside of %u dimensions", (long long)axes[i], rank);
        if (axis > 0)
            CNNVP_TRY(read_line(import, numbers[i], are_sizes, &lines[axis]));
        else if (are_sizes ? images != 0 && (int64_t)numbers[i] != images : numbers[i] < 1.0f || numbers[i] > 1.0f)
            return cnnvp_import_error(import, "the batch cannot be resized");
    }
    const int first = lines[1].out == dims[1];
    if (last != NULL)
        *last = !first;
    if (!first && (last == NULL || rank != 4 || lines[3].out != dims[3]))
        return cnnvp_import_error(import, "channels cannot be resized");
    return CNNVP_DONE;
}

/* ---- the nearest element ---- */

static cnnvp_result resize_nearest(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                   int64_t axis, int32_t *tensor)
{
    const int64_t factor = line->out / line->in;
    int is_whole = line->out % line->in == 0 && factor <= PHASES_MAX;
    int64_t copies = 0;
    int64_t *indices;
    int32_t parts[PHASES_MAX];
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, (size_t)line->out, &indices));
    for (int64_t i = 0; i < line->out; ++i) {
        indices[i] = nearest(resize, line, i);
        copies += i == 0 || indices[i] != indices[i - 1] + 1;
        is_whole &= is_whole && indices[i] == i / factor;
    }
    if (!is_whole && copies > COPIES_MAX)
        return cnnvp_import_error(import,
                                  "%lld of %lld elements by the nearest one take %lld copies; %d are possible, "
                                  "or a whole factor up to %d",
                                  (long long)line->out, (long long)line->in, (long long)copies, COPIES_MAX, PHASES_MAX);
    if (!is_whole)
        return cnnvp_import_gather(import, *tensor, axis, indices, (size_t)line->out, tensor);
    for (int64_t i = 0; i < factor; ++i)
        parts[i] = *tensor;
    return cnnvp_import_weave(import, parts, (size_t)factor, axis, tensor);
}

/* ---- linear interpolation ---- */

/* Convolves each channel with the same `count` weights along the axis. */
static cnnvp_result weigh_neighbours(struct cnnvp_import *import, int32_t in, int64_t axis, const float *weights,
                                     uint32_t count, int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const int columns = axis == (int64_t)input.rank - 1;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_CONV, in, 1, input.channels, columns ? input.height : input.height - count + 1,
        columns ? input.width - count + 1 : input.width, &layer));
    layer->kx = columns ? count : 1;
    layer->ky = columns ? 1 : count;
    layer->groups = input.channels;
    layer->depthwise = input.channels > 1;
    *out = layer->out;
    CNNVP_TRY(cnnvp_import_repeat(import, (size_t)input.channels * count, 0.0f, &layer->weights));
    for (size_t i = 0; i < (size_t)input.channels * count && layer->weights != NULL; ++i)
        layer->weights[i] = weights[i % count];
    return CNNVP_DONE;
}

/* Interpolates between two neighbours. The border is repeated by one element, so that both always exist. */
static cnnvp_result resize_by_phases(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                     int64_t axis, int32_t *tensor)
{
    const int64_t factor = line->out / line->in;
    int32_t parts[PHASES_MAX];
    int32_t in = *tensor;
    CNNVP_TRY(cnnvp_import_repeat_border(import, &in, axis == (int64_t)import->graph->tensors[in].rank - 1, 1, 1));
    for (int64_t i = 0; i < factor; ++i) {
        const double place = place_of(resize, line, i);
        const double before = floor(place); /* -1 or 0 */
        float weights[3] = {0.0f, 0.0f, 0.0f};
        weights[1 + (int)before] = (float)(1.0 - (place - before));
        weights[2 + (int)before] = (float)(place - before);
        CNNVP_TRY(weigh_neighbours(import, in, axis, weights, 3, &parts[i]));
    }
    return cnnvp_import_weave(import, parts, (size_t)factor, axis, tensor);
}

/* The interpolation weight of an element at distance d. */
static double weight_at(const struct resize *resize, double d)
{
    const double a = resize->cubic;
    if (resize->mode == LINEAR)
        return d < 1.0 ? 1.0 - d : 0.0;
    if (d < 1.0)
        return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

/* Adds the weights of the elements around a position: two for linear, four for cubic, more for antialias when maps
 * shrink. */
static void fill_row(const struct resize *resize, const struct line *line, double place, float *row)
{
    const int stretched = resize->antialias && line->scale < 1.0;
    const double step = stretched ? line->scale : 1.0;
    const double reach = (resize->mode == LINEAR ? 1.0 : 2.0) / step;
    const int inside = resize->inside && (stretched || resize->mode == CUBIC);
    const int64_t first = (int64_t)ceil(place - reach), last = (int64_t)floor(place + reach);
    double sum = 0.0;
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t at = first; at <= last; ++at) {
            const double distance = fabs((double)at - place) * step;
            const double weight = inside && (at < 0 || at >= line->in) ? 0.0 : weight_at(resize, distance);
            if (pass == 0)
                sum += weight;
            else
                row[within((double)at, line->in)] += (float)(weight / sum);
        }
}

static cnnvp_result fill_matrix(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                float **matrix)
{
    CNNVP_TRY(cnnvp_import_repeat(import, (size_t)(line->out * line->in), 0.0f, matrix));
    for (int64_t i = 0; i < line->out && *matrix != NULL; ++i)
        fill_row(resize, line, place_of(resize, line, i), *matrix + i * line->in);
    return CNNVP_DONE;
}

/* Moves the axis to the channels, multiplies with a 1x1 convolution, and moves it back. */
static cnnvp_result resize_by_matrix(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                     int64_t axis, int32_t *tensor)
{
    static const uint32_t from[2][3] = {{1, 0, 2}, {2, 0, 1}};
    static const uint32_t back[2][3] = {{1, 0, 2}, {1, 2, 0}};
    const struct cnnvp_graph_tensor input = import->graph->tensors[*tensor];
    const int columns = axis == (int64_t)input.rank - 1;
    const uint32_t sizes[3] = {input.channels, input.height, input.width};
    struct cnnvp_graph_layer *layer;
    int32_t turned;
    float *matrix;
    if (line->out > MATRIX_MAX / line->in)
        return cnnvp_import_error(import, "%lld of %lld elements take a matrix of more than %d weights",
                                  (long long)line->out, (long long)line->in, MATRIX_MAX);
    CNNVP_TRY(fill_matrix(import, resize, line, &matrix));
    CNNVP_TRY(cnnvp_import_permute(import, *tensor, sizes, from[columns], &turned));
    const uint32_t rows = import->graph->tensors[turned].height, width = import->graph->tensors[turned].width;
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_CONV, turned, 1, (uint32_t)line->out, rows, width, &layer));
    layer->weights = matrix;
    const uint32_t made[3] = {(uint32_t)line->out, rows, width};
    CNNVP_TRY(cnnvp_import_permute(import, layer->out, made, back[columns], tensor));
    const int64_t dims[4] = {0, input.channels, columns && input.rank == 4 ? (int64_t)input.height : line->out,
                             columns ? line->out : (int64_t)input.width};
    return input.rank == 3 ? cnnvp_import_shaped(import, input.name, *tensor, 3, dims, tensor) : CNNVP_DONE;
}

/* 1: all output positions of a phase have the same weights, and none lies more than one element outside of the
 * input. */
static int has_phases(const struct resize *resize, const struct line *line)
{
    const double factor = (double)line->out / (double)line->in;
    return resize->mode == LINEAR && line->out % line->in == 0 && factor <= PHASES_MAX && line->scale >= factor &&
           line->scale <= factor && resize->transform != ALIGN_CORNERS && resize->transform != TF_HALF_PIXEL;
}

static cnnvp_result resize_line(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                int64_t axis, int32_t *tensor)
{
    if (line->in == line->out && line->scale >= 1.0 && line->scale <= 1.0)
        return CNNVP_DONE;
    if (resize->mode == NEAREST || line->in == 1)
        return resize_nearest(import, resize, line, axis, tensor);
    return has_phases(resize, line) ? resize_by_phases(import, resize, line, axis, tensor)
                                    : resize_by_matrix(import, resize, line, axis, tensor);
}

/* Repeats single elements along all dimensions that grow from 1, at once. */
static cnnvp_result spread(struct cnnvp_import *import, struct line lines[4], int32_t *tensor)
{
    int64_t dims[4];
    int wider = 0;
    const uint32_t rank = cnnvp_import_dims(import, *tensor, dims);
    for (uint32_t i = 2; i < rank; ++i) {
        wider |= dims[i] == 1 && lines[i].out > 1;
        dims[i] = dims[i] == 1 ? lines[i].out : dims[i];
    }
    if (!wider)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_spread(import, *tensor, rank, dims, tensor));
    for (uint32_t i = 2; i < rank; ++i)
        lines[i] = lines[i].in == 1 ? (struct line){lines[i].out, lines[i].out, 1.0} : lines[i];
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_resize(struct cnnvp_import *import)
{
    static const uint32_t to_front[3] = {2, 0, 1}, to_back[3] = {1, 2, 0};
    int32_t tensor;
    int64_t dims[4];
    int last;
    struct resize resize = {.mode = NEAREST};
    struct line lines[4];
    CNNVP_TRY(cnnvp_import_tensor(import, 0, 0, &tensor));
    const uint32_t rank = cnnvp_import_dims(import, tensor, dims);
    CNNVP_TRY(read_modes(import, &resize));
    CNNVP_TRY(read_lines(import, rank, dims, import->graph->single ? import->images : import->batch, lines, &last));
    if (last) {
        const uint32_t sizes[3] = {(uint32_t)dims[1], (uint32_t)dims[2], (uint32_t)dims[3]};
        CNNVP_TRY(cnnvp_import_permute(import, tensor, sizes, to_front, &tensor));
    }
    if (last)
        memmove(&lines[2], &lines[1], 2 * sizeof *lines);
    CNNVP_TRY(spread(import, lines, &tensor));
    for (uint32_t axis = rank; axis-- > 2;)
        CNNVP_TRY(resize_line(import, &resize, &lines[axis], axis, &tensor));
    if (!last)
        return cnnvp_import_alias(import, import->node->output[0], tensor);
    const uint32_t sizes[3] = {(uint32_t)dims[3], (uint32_t)lines[2].out, (uint32_t)lines[3].out};
    const int64_t made[4] = {dims[0], lines[2].out, lines[3].out, dims[3]};
    CNNVP_TRY(cnnvp_import_permute(import, tensor, sizes, to_back, &tensor));
    return cnnvp_import_view(import, tensor, rank, made);
}

static void add_weighted(const float *weights, size_t count, const float *lines, size_t length, float *sums)
{
    for (size_t i = 0; i < length; ++i) {
        double sum = 0.0;
        for (size_t k = 0; k < count; ++k)
            sum += (double)weights[k] * (double)lines[k * length + i];
        sums[i] = (float)sum;
    }
}

/* Resizes a constant along one axis: each line is multiplied by the matrix. */
static cnnvp_result resize_constant(struct cnnvp_import *import, const struct resize *resize, const struct line *line,
                                    size_t axis, struct cnnvp_constant *data)
{
    struct cnnvp_constant made = *data;
    made.bytes = 0;
    made.dims[axis] = line->out;
    if (line->out > MATRIX_MAX / line->in || data->count > EFFORT_MAX / (size_t)line->out)
        return cnnvp_import_error(import, "%lld of %lld elements of a constant with %zu are too many to be computed",
                                  (long long)line->out, (long long)line->in, data->count);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(data)));
    float *row;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, (size_t)line->in, &row));
    const size_t inner = (size_t)cnnvp_onnx_product(data->dims, axis + 1, data->rank);
    const size_t in = (size_t)line->in, out = (size_t)line->out;
    for (size_t j = 0; j < out && made.floats != NULL; ++j) {
        memset(row, 0, in * sizeof *row);
        if (resize->mode == NEAREST || in == 1)
            row[nearest(resize, line, (int64_t)j)] = 1.0f;
        else
            fill_row(resize, line, place_of(resize, line, (int64_t)j), row);
        for (size_t outer = 0; outer < data->count / (in * inner); ++outer)
            add_weighted(row, in, data->floats + outer * in * inner, inner, made.floats + (outer * out + j) * inner);
    }
    *data = made;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_resized(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct resize resize = {.mode = NEAREST};
    struct line lines[4];
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    if (data.rank < 3 || data.rank > 4 || data.whole || data.count == 0)
        return cnnvp_import_error(
            import,
            "a constant of %zu dimensions, without elements or of integers: 3 and 4 dimensions of floats are supported",
            data.rank);
    CNNVP_TRY(read_modes(import, &resize));
    CNNVP_TRY(read_lines(import, (uint32_t)data.rank, data.dims, data.dims[0], lines, NULL));
    for (size_t axis = data.rank; axis-- > 2;)
        CNNVP_TRY(resize_constant(import, &resize, &lines[axis], axis, &data));
    return cnnvp_constant_define(import, &data);
}
