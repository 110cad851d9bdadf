/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one number that an exporter has decomposed: GELU with its erf or tanh, x * sigmoid(alpha * x), mish,
 * hard swish, and the sigmoid with its exponential. From a product or quotient, the nodes are followed back as long as
 * they are functions of single numbers. What they compute of a tensor before them is evaluated at some numbers, and
 * compared with these functions, whatever the order of the nodes is.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "onnx_node.h"

/* ---- what a node computes ---- */

struct operation {
    const char *op_type;
    unsigned operands; /* the others are constants */
    double (*of)(const double *numbers);
};

static double sum(const double *n)
{
    return n[0] + n[1];
}

static double difference(const double *n)
{
    return n[0] - n[1];
}

static double product(const double *n)
{
    return n[0] * n[1];
}

static double quotient(const double *n)
{
    return n[0] / n[1];
}

static double power(const double *n)
{
    return pow(n[0], n[1]);
}

static double negative(const double *n)
{
    return -n[0];
}

static double reciprocal(const double *n)
{
    return 1.0 / n[0];
}

static double exponential(const double *n)
{
    return exp(n[0]);
}

static double logarithm(const double *n)
{
    return log(n[0]);
}

static double error_function(const double *n)
{
    return erf(n[0]);
}

static double tangent(const double *n)
{
    return tanh(n[0]);
}

static double sigmoid(const double *n)
{
    return 1.0 / (1.0 + exp(-n[0]));
}

static double softplus(const double *n)
{
    return log1p(exp(n[0]));
}

static double limited(const double *n)
{
    return fmin(fmax(n[0], n[1]), n[2]);
}

static double ramp(const double *n)
{
    return fmin(fmax(n[1] * n[0] + n[2], 0.0), 1.0);
}

static const struct operation operations[] = {
    {"Add", 2, sum},           {"Sub", 2, difference},     {"Mul", 2, product},           {"Div", 2, quotient},
    {"Pow", 2, power},         {"Neg", 1, negative},       {"Reciprocal", 1, reciprocal}, {"Exp", 1, exponential},
    {"Log", 1, logarithm},     {"Erf", 1, error_function}, {"Tanh", 1, tangent},          {"Sigmoid", 1, sigmoid},
    {"Softplus", 1, softplus}, {"Clip", 1, limited},       {"HardSigmoid", 1, ramp},
};

/* ---- functions that the graph has ---- */

static double gelu(double x, double value)
{
    const double cubic = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + (value > 0.0 ? tanh(cubic) : erf(x * 0.7071067811865476)));
}

static double swish(double x, double value)
{
    return x * sigmoid(&(double){value * x});
}

static double mish(double x, double value)
{
    (void)value;
    return x * tanh(softplus(&x));
}

static double hard_swish(double x, double value)
{
    (void)value;
    return x * fmin(fmax(x + 3.0, 0.0), 6.0) / 6.0;
}

static double plain_sigmoid(double x, double value)
{
    (void)value;
    return sigmoid(&x);
}

static double plain_softplus(double x, double value)
{
    (void)value;
    return softplus(&x);
}

static const struct {
    enum cnnvp_graph_post_kind kind;
    double value;
    double (*of)(double x, double value);
    int mirrors; /* 1: functions of -x are looked for, too */
} functions[] = {
    {CNNVP_GRAPH_GELU, 0.0, gelu, 0},
    {CNNVP_GRAPH_GELU, 1.0, gelu, 0},
    {CNNVP_GRAPH_SWISH, 0.0, swish, 0},
    {CNNVP_GRAPH_MISH, 0.0, mish, 0},
    {CNNVP_GRAPH_HARD_SWISH, 0.0, hard_swish, 0},
    {CNNVP_GRAPH_SIGMOID, 0.0, plain_sigmoid, 1},
    {CNNVP_GRAPH_SOFTPLUS, 0.0, plain_softplus, 1},
};

/* Numbers at which functions are compared. They differ by more than NEAR of a result's size at one of them. */
static const double places[] = {-7.0, -4.5, -3.1, -2.2, -1.3, -0.6, -0.2, 0.3, 0.9, 1.6, 2.4, 3.3, 5.2, 7.5};

#define PLACES (sizeof places / sizeof places[0])
#define NEAR 2e-5

/* ---- nodes before a node ---- */

enum { MOST_NODES = 20, MOST_NUMBERS = 3 };

/* A value: of a node, of a constant (no operation), or another tensor (no operation, NaN). */
struct part {
    const char *name;
    const struct operation *operation;
    double number;
    double numbers[MOST_NUMBERS]; /* of the node, where no operand is */
    size_t operands[2];
};

struct parts {
    struct part all[MOST_NODES];
    size_t count;
};

static int is_number(const struct cnnvp_import *import, const char *name, double *number)
{
    struct cnnvp_error why;
    float value;
    const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, name);
    if (constant == NULL || cnnvp_onnx_elements(constant) != 1 ||
        cnnvp_onnx_number(&import->onnx, constant, &value, &why) != CNNVP_DONE)
        return 0;
    *number = (double)value;
    return 1;
}

/* A number that is an attribute, or since operator set 11 an input. 0: it is neither. */
static int attribute(const struct cnnvp_import *import, const Onnx__NodeProto *node, const char *name, size_t input,
                     double otherwise, double *number)
{
    *number = (double)cnnvp_onnx_float(node, name, (float)otherwise);
    if (input == 0 || input >= node->n_input || node->input[input][0] == '\0')
        return 1;
    return is_number(import, node->input[input], number);
}

static int read_numbers(const struct cnnvp_import *import, const Onnx__NodeProto *node, struct part *part)
{
    if (part->operation->of == limited)
        return attribute(import, node, "min", 1, -FLT_MAX, &part->numbers[1]) &&
               attribute(import, node, "max", 2, FLT_MAX, &part->numbers[2]);
    if (part->operation->of == ramp)
        return attribute(import, node, "alpha", 0, 0.2, &part->numbers[1]) &&
               attribute(import, node, "beta", 0, 0.5, &part->numbers[2]);
    return 1;
}

static const struct operation *operation_of(const Onnx__NodeProto *node)
{
    for (size_t i = 0; node != NULL && node->op_type != NULL && i < sizeof operations / sizeof operations[0]; ++i)
        if (strcmp(node->op_type, operations[i].op_type) == 0 && node->n_input >= operations[i].operands)
            return &operations[i];
    return NULL;
}

/* Adds a value and all those before it; returns its index, or MOST_NODES if there are too many. */
static size_t add_part(const struct cnnvp_import *import, struct parts *parts, const char *name,
                       const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < parts->count; ++i)
        if (strcmp(parts->all[i].name, name) == 0)
            return i;
    if (parts->count == MOST_NODES)
        return MOST_NODES;
    const size_t at = parts->count++;
    struct part *part = &parts->all[at];
    *part = (struct part){.name = name, .number = NAN};
    if (is_number(import, name, &part->number))
        return at;
    node = node != NULL ? node : cnnvp_import_maker(import, name, NULL);
    part->operation = operation_of(node);
    if (part->operation == NULL || !read_numbers(import, node, part)) {
        part->operation = NULL;
        return at;
    }
    for (unsigned i = 0; i < part->operation->operands; ++i) {
        part->operands[i] = add_part(import, parts, node->input[i], NULL);
        if (part->operands[i] == MOST_NODES)
            return MOST_NODES;
    }
    return at;
}

/* Numbers of parts so far. */
struct evaluation {
    double numbers[MOST_NODES];
    int known[MOST_NODES];
};

/* The number of a part; NaN if it depends on tensors without a number. */
static double evaluate(const struct parts *parts, size_t at, struct evaluation *evaluation)
{
    const struct part *part = &parts->all[at];
    double numbers[MOST_NUMBERS];
    if (evaluation->known[at])
        return evaluation->numbers[at];
    memcpy(numbers, part->numbers, sizeof numbers);
    for (unsigned i = 0; part->operation != NULL && i < part->operation->operands; ++i)
        numbers[i] = evaluate(parts, part->operands[i], evaluation);
    evaluation->known[at] = 1;
    evaluation->numbers[at] = part->operation != NULL ? part->operation->of(numbers) : part->number;
    return evaluation->numbers[at];
}

/* The number of part 0 where that of part `source` is x. */
static double number_at(const struct parts *parts, size_t source, double x)
{
    struct evaluation evaluation = {.known = {0}};
    evaluation.known[source] = 1;
    evaluation.numbers[source] = x;
    return evaluate(parts, 0, &evaluation);
}

/* Finds the alpha of x * sigmoid(alpha * x) from one result. 0: it is none that functions have. */
static int is_alpha(double x, double result, double *alpha)
{
    const double part = result / x;
    *alpha = (double)(float)(log(part / (1.0 - part)) / x);
    *alpha = fabs(*alpha - 1.0) < NEAR ? 1.0 : *alpha;
    return *alpha >= 1.0 / 16.0 && *alpha <= 16.0;
}

/* What part 0 is of a part x: scale * function(x), or of -x. */
struct composite {
    struct cnnvp_graph_post function; /* kind CNNVP_GRAPH_MAX: none */
    double scale;
    int mirrored;
};

/* 1: the results are those of the composite, whose scale follows from one of them. */
static int has_results(const double results[PLACES], double (*of)(double x, double value), struct composite *composite)
{
    const double sign = composite->mirrored ? -1.0 : 1.0, value = (double)composite->function.value;
    const size_t middle = PLACES / 2;
    composite->scale = results[middle] / of(sign * places[middle], value);
    if (fabs(composite->scale - 1.0) < NEAR)
        composite->scale = 1.0;
    for (size_t i = 0; i < PLACES; ++i) {
        const double off = results[i] - composite->scale * of(sign * places[i], value);
        if (!(fabs(off) <= NEAR * (1.0 + fabs(places[i])) * fmin(1.0, fabs(composite->scale))))
            return 0;
    }
    return 1;
}

/* What part 0 is of the part `source`. `plain`: neither scaled nor mirrored. A product is never scaled: it may be that
 * of a function by a constant. */
static struct composite composite_of(const struct parts *parts, size_t source, int plain)
{
    double results[PLACES];
    const int scales = !plain && parts->all[0].operation->of != product;
    for (size_t i = 0; i < PLACES; ++i)
        results[i] = number_at(parts, source, places[i]);
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        double value = functions[f].value;
        if (functions[f].of == swish && !is_alpha(places[PLACES / 2], results[PLACES / 2], &value))
            continue;
        for (int mirrored = 0; mirrored <= (plain ? 0 : functions[f].mirrors); ++mirrored) {
            struct composite composite = {{functions[f].kind, (float)value}, 1.0, mirrored};
            const int is_it = has_results(results, functions[f].of, &composite);
            if (is_it && (fabs(composite.scale - 1.0) < NEAR || scales))
                return composite;
        }
    }
    return (struct composite){.function = {CNNVP_GRAPH_MAX, 0.0f}};
}

/* The joint shape of the node's inputs from number `input` on, as tensors have it. 0: it is not that of `source`, but
 * for dimensions of 1 in front, or `source` has no floats. */
static uint32_t shape_of(struct cnnvp_import *import, const struct cnnvp_onnx_value *source, size_t input,
                         int64_t dims[CNNVP_ONNX_RANK])
{
    const size_t front = import->single != 0;
    size_t rank = 0, other_rank;
    int64_t other[CNNVP_ONNX_RANK];
    if (source == NULL || source->tensor == CNNVP_GRAPH_NONE || source->kind != CNNVP_KIND_REAL)
        return 0;
    for (size_t i = input; i < import->node->n_input; ++i)
        if (cnnvp_import_dims_of(import, i, &other_rank, other) != CNNVP_DONE ||
            !cnnvp_import_join_dims(&rank, dims, other_rank, other))
            return 0;
    if (rank + front > CNNVP_ONNX_RANK)
        return 0;
    memmove(dims + front, dims, rank * sizeof dims[0]);
    dims[0] = front != 0 ? 1 : dims[0];
    rank += front;
    const size_t own = cnnvp_import_all_dims(import, source->tensor, other);
    for (size_t i = 1; i < rank || i < own; ++i)
        if ((i < rank ? dims[rank - i] : 1) != (i < own ? other[own - i] : 1))
            return 0;
    return (uint32_t)rank;
}

/* Applies the function to `in`, which as many others read as `others` says. `inner`: to an intermediate result. */
static cnnvp_result apply(struct cnnvp_import *import, int32_t in, size_t others, const struct composite *composite,
                          int inner, int32_t *out)
{
    const int scales = composite->scale < 1.0 || composite->scale > 1.0;
    const struct cnnvp_graph_post *function = &composite->function;
    struct cnnvp_graph_layer *layer;
    if (composite->mirrored) {
        CNNVP_TRY(cnnvp_import_scale(import, in, -1.0f, 0.0f, 1, &layer));
        in = layer->out;
    }
    if (!scales && !inner)
        return cnnvp_import_apply(import, in, others + 1, function->kind, function->value);
    CNNVP_TRY(cnnvp_import_post(import, in, function->kind, function->value, 1, out));
    if (!scales)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_scale(import, *out, (float)composite->scale, 0.0f, inner, &layer));
    *out = layer->out;
    return CNNVP_DONE;
}

/* Imports part 0 as a function of one of the parts after `first`, if it is one. Its shape is that of the node's inputs
 * from number `input` on. */
static cnnvp_result join(struct cnnvp_import *import, const struct parts *parts, size_t first, size_t input, int inner,
                         int32_t *out, int *done)
{
    const size_t candidates = parts->count - first;
    for (size_t c = 0; c < 2u * candidates; ++c) {
        const size_t i = first + c % candidates;
        const struct cnnvp_onnx_value *source = cnnvp_import_known(import, parts->all[i].name);
        const struct composite composite = composite_of(parts, i, c < candidates);
        int64_t dims[CNNVP_ONNX_RANK];
        const uint32_t rank = composite.function.kind != CNNVP_GRAPH_MAX ? shape_of(import, source, input, dims) : 0;
        if (rank == 0)
            continue;
        size_t others = cnnvp_import_readers(import, parts->all[i].name);
        for (size_t p = 0; p < parts->count; ++p)
            for (unsigned o = 0; parts->all[p].operation != NULL && o < parts->all[p].operation->operands; ++o)
                others -= parts->all[p].operands[o] == i;
        int32_t in;
        *done = 1;
        CNNVP_TRY(cnnvp_import_shaped(import, parts->all[i].name, source->tensor, rank, dims, &in));
        return apply(import, in, others, &composite, inner, out);
    }
    return CNNVP_DONE;
}

/* x / (1 + exp(-z)) is x * sigmoid(z): words do not hold the exponentials of large numbers. */
static cnnvp_result join_divisor(struct cnnvp_import *import, int *done)
{
    static const struct operation inverse = {"", 1, reciprocal};
    const Onnx__NodeProto *node = import->node;
    const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, node->input[0]);
    struct parts parts = {.count = 1};
    int32_t factor = CNNVP_GRAPH_NONE;
    int32_t out;
    parts.all[0] = (struct part){.name = "", .operation = &inverse};
    parts.all[0].operands[0] = add_part(import, &parts, node->input[1], NULL);
    if (parts.all[0].operands[0] == MOST_NODES)
        return CNNVP_DONE;
    CNNVP_TRY(join(import, &parts, 2, 1, 1, &factor, done));
    if (!*done)
        return CNNVP_DONE;
    const uint32_t rank = import->graph->tensors[factor].rank;
    *done = constant == NULL || constant->n_dims + (import->single != 0) <= rank;
    if (!*done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_operand_tensor(import, 0, rank, &out));
    return cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, out, factor, 0, &out);
}

cnnvp_result cnnvp_import_composite(struct cnnvp_import *import, int *done)
{
    struct parts parts = {.count = 0};
    const Onnx__NodeProto *node = import->node;
    int32_t out;
    *done = 0;
    if (import->training)
        return CNNVP_DONE;
    if (add_part(import, &parts, node->output[0], node) != MOST_NODES && parts.all[0].operation != NULL)
        CNNVP_TRY(join(import, &parts, 1, 0, 0, &out, done));
    return *done || strcmp(node->op_type, "Div") != 0 ? CNNVP_DONE : join_divisor(import, done);
}
