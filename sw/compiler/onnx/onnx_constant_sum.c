/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that run over dimensions of constants: reductions, softmax, running sums, ArgMax, and matrix products. Sums
 * of floats are in binary64. */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

/* Most multiplications for one node: they take some seconds. */
#define PRODUCTS_MAX ((double)(UINT64_C(1) << 32))

enum reduction { MEAN, SUM, LARGEST, SMALLEST, PRODUCT, LENGTH_1, LENGTH_2, SQUARES, LOG_SUM, LOG_SUM_EXP };

/* ---- reductions ---- */

/* A view of the kept dimensions, and a view of the reduced ones, which starts at each element of the first. */
struct reduced {
    struct cnnvp_constant_view kept;
    struct cnnvp_constant_view lost;
    size_t rank; /* of the result */
    int64_t dims[CNNVP_CONSTANT_RANK];
};

static cnnvp_result read_reduced(struct cnnvp_import *import, const struct cnnvp_constant *data, int keep,
                                 const int64_t *axes, size_t count, struct reduced *reduced)
{
    const struct cnnvp_constant_view all = cnnvp_constant_whole_view(data);
    int marked[CNNVP_CONSTANT_RANK] = {0};
    *reduced = (struct reduced){.rank = 0};
    for (size_t i = 0; i < count; ++i) {
        size_t axis = 0;
        CNNVP_TRY(cnnvp_import_axis_of(import, axes[i], data->rank, &axis));
        marked[axis] = 1;
    }
    for (size_t d = 0; d < data->rank; ++d) {
        struct cnnvp_constant_view *view = marked[d] ? &reduced->lost : &reduced->kept;
        view->dims[view->rank] = all.dims[d];
        view->steps[view->rank++] = all.steps[d];
        if (!marked[d] || keep)
            reduced->dims[reduced->rank++] = marked[d] ? 1 : all.dims[d];
    }
    return CNNVP_DONE;
}

static double largest_of(const struct cnnvp_constant *data, const struct cnnvp_constant_view *lost, size_t count)
{
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(lost);
    double largest = -INFINITY;
    for (size_t i = 0; i < count; ++i)
        largest = cnnvp_constant_larger(largest, (double)data->floats[cnnvp_constant_next(&walk)]);
    return largest;
}

static double reduce_floats(enum reduction reduction, const struct cnnvp_constant *data,
                            const struct cnnvp_constant_view *lost, size_t count)
{
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(lost);
    const double largest = reduction == LOG_SUM_EXP ? largest_of(data, lost, count) : 0.0;
    double made = reduction == PRODUCT    ? 1.0
                  : reduction == LARGEST  ? -INFINITY
                  : reduction == SMALLEST ? INFINITY
                                          : 0.0;
    if (isinf(largest))
        return largest;
    for (size_t i = 0; i < count; ++i) {
        const double x = (double)data->floats[cnnvp_constant_next(&walk)];
        switch (reduction) {
        case LARGEST:
            made = cnnvp_constant_larger(made, x);
            break;
        case SMALLEST:
            made = -cnnvp_constant_larger(-made, -x);
            break;
        case PRODUCT:
            made *= x;
            break;
        case LENGTH_1:
            made += fabs(x);
            break;
        case LENGTH_2:
        case SQUARES:
            made += x * x;
            break;
        case LOG_SUM_EXP:
            made += exp(x - largest);
            break;
        default:
            made += x;
        }
    }
    return reduction == MEAN          ? made / (double)count
           : reduction == LENGTH_2    ? sqrt(made)
           : reduction == LOG_SUM     ? log(made)
           : reduction == LOG_SUM_EXP ? log(made) + largest
                                      : made;
}

/* Returns 0 if the result is not an integer or does not fit in 64 bits. */
static int reduce_ints(enum reduction reduction, const struct cnnvp_constant *data,
                       const struct cnnvp_constant_view *lost, size_t count, int64_t *made)
{
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(lost);
    *made = reduction == PRODUCT ? 1 : reduction == LARGEST ? INT64_MIN : reduction == SMALLEST ? INT64_MAX : 0;
    for (size_t i = 0; i < count; ++i) {
        int64_t x = data->ints[cnnvp_constant_next(&walk)];
        if ((reduction == LENGTH_1 && x < 0 && __builtin_sub_overflow(0, x, &x)) ||
            (reduction == SQUARES && __builtin_mul_overflow(x, x, &x)))
            return 0;
        if (reduction == LARGEST || reduction == SMALLEST)
            *made = (reduction == LARGEST) == (x > *made) ? x : *made;
        else if (reduction == PRODUCT ? __builtin_mul_overflow(*made, x, made) : __builtin_add_overflow(*made, x, made))
            return 0;
    }
    if (reduction == MEAN && count != 0)
        *made /= (int64_t)count;
    return (reduction <= LENGTH_1 || reduction == SQUARES) && (reduction != MEAN || count != 0);
}

static cnnvp_result fold_reduction(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct reduced reduced;
    int64_t axes[CNNVP_CONSTANT_RANK];
    size_t count = 0;
    const enum reduction reduction = (enum reduction)import->kind;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 1, CNNVP_CONSTANT_RANK, axes, &count));
    if (count == 0 && cnnvp_onnx_int(import->node, "noop_with_empty_axes", 0) == 0)
        for (; count < data.rank; ++count)
            axes[count] = (int64_t)count;
    CNNVP_TRY(read_reduced(import, &data, cnnvp_onnx_int(import->node, "keepdims", 1) != 0, axes, count, &reduced));
    struct cnnvp_constant made = {.rank = reduced.rank, .whole = data.whole};
    made.bytes = data.whole || reduction == LARGEST || reduction == SMALLEST ? data.bytes : 0;
    memcpy(made.dims, reduced.dims, sizeof made.dims);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(&reduced.kept);
    const size_t each = (size_t)cnnvp_onnx_product(reduced.lost.dims, 0, reduced.lost.rank);
    for (size_t i = 0; i < made.count && cnnvp_constant_known(&made); ++i) {
        reduced.lost.first = (int64_t)cnnvp_constant_next(&walk);
        if (!made.whole)
            made.floats[i] = (float)reduce_floats(reduction, &data, &reduced.lost, each);
        else if (!reduce_ints(reduction, &data, &reduced.lost, each, &made.ints[i]))
            CNNVP_TRY(cnnvp_import_error(import, "the integers overflow, or their result is none"));
    }
    return cnnvp_constant_define(import, &made);
}

/* ---- along one axis ---- */

/* The lines along one axis: a view of their first elements, the number of elements in a line, and their distance. */
struct lines {
    struct cnnvp_constant_view starts;
    size_t count;
    size_t step;
};

static cnnvp_result read_lines(struct cnnvp_import *import, const struct cnnvp_constant *data, int64_t named,
                               size_t *axis, struct lines *lines)
{
    CNNVP_TRY(cnnvp_import_axis_of(import, named, data->rank, axis));
    lines->starts = cnnvp_constant_whole_view(data);
    lines->count = (size_t)data->dims[*axis];
    lines->step = (size_t)lines->starts.steps[*axis];
    lines->starts.dims[*axis] = lines->count != 0;
    return CNNVP_DONE;
}

enum place { OF_LARGEST, OF_SMALLEST };

/* 1: the new element replaces the best one. Of equal elements the first one wins, or with `last` the last one. */
static int is_better(const struct cnnvp_constant *data, size_t at, size_t best, int smallest, int last)
{
    const size_t more = smallest ? best : at, less = smallest ? at : best;
    if (data->whole)
        return last ? data->ints[more] >= data->ints[less] : data->ints[more] > data->ints[less];
    return last ? data->floats[more] >= data->floats[less] : data->floats[more] > data->floats[less];
}

static cnnvp_result fold_place(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct lines lines;
    size_t axis = 0;
    const int last = cnnvp_onnx_int(import->node, "select_last_index", 0) != 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(read_lines(import, &data, cnnvp_onnx_int(import->node, "axis", 0), &axis, &lines));
    struct cnnvp_constant made = {.whole = 1};
    for (size_t d = 0; d < data.rank; ++d)
        if (d != axis || cnnvp_onnx_int(import->node, "keepdims", 1) != 0)
            made.dims[made.rank++] = d != axis ? data.dims[d] : 1;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(&lines.starts);
    for (size_t i = 0; i < made.count && made.ints != NULL && lines.count != 0; ++i) {
        const size_t start = cnnvp_constant_next(&walk);
        for (size_t k = 1; k < lines.count; ++k)
            if (is_better(&data, start + k * lines.step, start + (size_t)made.ints[i] * lines.step,
                          import->kind == OF_SMALLEST, last))
                made.ints[i] = (int64_t)k;
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_running_sum(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct cnnvp_constant along = {0};
    struct lines lines;
    size_t axis = 0;
    const int exclusive = cnnvp_onnx_int(import->node, "exclusive", 0) != 0;
    const int reverse = cnnvp_onnx_int(import->node, "reverse", 0) != 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &along));
    if (!along.whole || along.count != 1)
        CNNVP_TRY(cnnvp_import_error(import, "the axis is not one integer"));
    CNNVP_TRY(read_lines(import, &data, along.ints[0], &axis, &lines));
    struct cnnvp_constant made = data;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(&lines.starts);
    const size_t starts = lines.count != 0 && cnnvp_constant_known(&made) ? made.count / lines.count : 0;
    for (size_t i = 0; i < starts; ++i) {
        const size_t start = cnnvp_constant_next(&walk);
        double sum = 0.0;
        int64_t whole = 0;
        for (size_t k = 0; k < lines.count; ++k) {
            const size_t at = start + (reverse ? lines.count - 1 - k : k) * lines.step;
            const double before = sum;
            const int64_t whole_before = whole;
            if (made.whole && __builtin_add_overflow(whole, data.ints[at], &whole))
                return cnnvp_import_error(import, "the integers overflow");
            sum += made.whole ? 0.0 : (double)data.floats[at];
            if (made.whole)
                made.ints[at] = exclusive ? whole_before : whole;
            else
                made.floats[at] = (float)(exclusive ? before : sum);
        }
    }
    return cnnvp_constant_define(import, &made);
}

enum softmax { SHARES, LOGARITHMS };

/* Before operator set 13, softmax runs over all dimensions from the axis on, as one. */
static cnnvp_result fold_softmax(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct lines lines;
    size_t axis = 0;
    const int flat = import->onnx.opset < 13;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    if (data.whole || data.bytes != 0)
        CNNVP_TRY(cnnvp_import_error(import, "the constant has integers; floats are needed"));
    CNNVP_TRY(read_lines(import, &data, cnnvp_onnx_int(import->node, "axis", flat ? 1 : -1), &axis, &lines));
    for (size_t d = axis + 1; d < data.rank && flat; ++d) {
        lines.count *= (size_t)data.dims[d];
        lines.starts.dims[d] = 1;
        lines.step = 1;
    }
    struct cnnvp_constant made = data;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(&lines.starts);
    const size_t starts = lines.count != 0 && made.floats != NULL ? made.count / lines.count : 0;
    for (size_t i = 0; i < starts; ++i) {
        struct cnnvp_constant_view line = {.rank = 1, .dims = {(int64_t)lines.count}, .steps = {(int64_t)lines.step}};
        line.first = (int64_t)cnnvp_constant_next(&walk);
        const double sum = reduce_floats(LOG_SUM_EXP, &data, &line, lines.count);
        for (size_t k = 0, at = (size_t)line.first; k < lines.count; ++k, at += lines.step) {
            const double x = (double)data.floats[at] - sum;
            made.floats[at] = (float)(import->kind == SHARES ? exp(x) : x);
        }
    }
    return cnnvp_constant_define(import, &made);
}

/* ---- products of matrices ---- */

struct product {
    size_t rows, columns, inner;
};

static void multiply(const struct product *p, const float *a, const float *b, float *out)
{
    for (size_t r = 0; r < p->rows; ++r)
        for (size_t c = 0; c < p->columns; ++c) {
            double sum = 0.0;
            for (size_t k = 0; k < p->inner; ++k)
                sum += (double)a[r * p->inner + k] * (double)b[k * p->columns + c];
            *out++ = (float)sum;
        }
}

static cnnvp_result check_product(struct cnnvp_import *import, const struct cnnvp_constant *a,
                                  const struct cnnvp_constant *b, int64_t inner_a, int64_t inner_b)
{
    char shapes[2][CNNVP_ONNX_SHAPE_TEXT];
    cnnvp_onnx_shape_text(a->rank, a->dims, shapes[0]);
    cnnvp_onnx_shape_text(b->rank, b->dims, shapes[1]);
    if (a->whole || b->whole)
        return cnnvp_import_error(import, "a constant has integers; floats are needed");
    return inner_a == inner_b
               ? CNNVP_DONE
               : cnnvp_import_error(import, "the shapes %s and %s do not fit to each other", shapes[0], shapes[1]);
}

/* Dimensions before the last two count the matrices and are broadcast. A vector is a row on the left and a column on
 * the right. */
static cnnvp_result fold_matmul(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[2];
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operands[0]));
    CNNVP_TRY(cnnvp_constant_read(import, 1, &operands[1]));
    struct cnnvp_constant a = operands[0];
    struct cnnvp_constant b = operands[1];
    const int vector_a = a.rank == 1;
    const int vector_b = b.rank == 1;
    if (a.rank == 0 || b.rank == 0)
        return cnnvp_import_error(import, "an operand is one number; a matrix is needed");
    if (vector_a) {
        a.dims[1] = a.dims[0];
        a.dims[0] = 1;
        a.rank = 2;
    }
    if (vector_b) {
        b.dims[1] = 1;
        b.rank = 2;
    }
    CNNVP_TRY(check_product(import, &operands[0], &operands[1], a.dims[a.rank - 1], b.dims[b.rank - 2]));
    const struct product p = {(size_t)a.dims[a.rank - 2], (size_t)b.dims[b.rank - 1], (size_t)a.dims[a.rank - 1]};
    a.rank -= 2; /* from here on, the rank counts only the dimensions of matrices */
    b.rank -= 2;
    struct cnnvp_constant made = {.rank = a.rank};
    memcpy(made.dims, a.dims, sizeof made.dims);
    if (!cnnvp_import_join_dims(&made.rank, made.dims, b.rank, b.dims))
        return check_product(import, &operands[0], &operands[1], 0, 1);
    struct cnnvp_constant_view views[2] = {
        cnnvp_constant_spread(&a, made.rank, made.dims), cnnvp_constant_spread(&b, made.rank, made.dims)};
    const size_t matrices = (size_t)cnnvp_onnx_product(views[0].dims, 0, views[0].rank);
    if (!vector_a)
        made.dims[made.rank++] = (int64_t)p.rows;
    if (!vector_b)
        made.dims[made.rank++] = (int64_t)p.columns;
    CNNVP_TRY(cnnvp_constant_allocate(
        import, &made, cnnvp_constant_known(&operands[0]) && cnnvp_constant_known(&operands[1])));
    if (made.floats != NULL && (double)made.count * (double)p.inner > PRODUCTS_MAX)
        return cnnvp_import_error(import, "it takes more than 2^32 products of constants");
    struct cnnvp_constant_walk walks[2] = {cnnvp_constant_begin(&views[0]), cnnvp_constant_begin(&views[1])};
    for (size_t i = 0; i < matrices && made.count != 0 && made.floats != NULL; ++i)
        multiply(&p, a.floats + cnnvp_constant_next(&walks[0]) * p.rows * p.inner,
                 b.floats + cnnvp_constant_next(&walks[1]) * p.inner * p.columns, made.floats + i * p.rows * p.columns);
    return cnnvp_constant_define(import, &made);
}

static const struct cnnvp_constant_operator operators[] = {
    {"ReduceMean", fold_reduction, MEAN},      {"ReduceSum", fold_reduction, SUM},
    {"ReduceMax", fold_reduction, LARGEST},    {"ReduceMin", fold_reduction, SMALLEST},
    {"ReduceProd", fold_reduction, PRODUCT},   {"ReduceL1", fold_reduction, LENGTH_1},
    {"ReduceL2", fold_reduction, LENGTH_2},    {"ReduceSumSquare", fold_reduction, SQUARES},
    {"ReduceLogSum", fold_reduction, LOG_SUM}, {"ReduceLogSumExp", fold_reduction, LOG_SUM_EXP},
    {"ArgMax", fold_place, OF_LARGEST},        {"ArgMin", fold_place, OF_SMALLEST},
    {"CumSum", fold_running_sum, 0},           {"Softmax", fold_softmax, SHARES},
    {"LogSoftmax", fold_softmax, LOGARITHMS},  {"MatMul", fold_matmul, 0},
    {"Gemm", cnnvp_import_gemm_apart, 0},
};

const struct cnnvp_constant_operators cnnvp_constant_sums = {operators, sizeof operators / sizeof operators[0]};
