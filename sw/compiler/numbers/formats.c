/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the number formats of tensors, weights and biases by the rules in numbers.h. */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_words.h"
#include "float_kernels.h"
#include "parts.h"

#define MARGIN CNNVP_FORMAT_MARGIN
/* For 8-bit words: the few largest values may saturate a little, which leaves more precision for the others. */
#define BYTE_MARGIN 0.85

/* Most fraction bits of the input of softmax and of normalisation with statistics of the data: the vector unit cannot
 * shift by more. */
#define STATISTICS_FRAC_MAX 24

/* Fraction bits of softmax's results without a shift, and how many more the vector unit's largest shift gives. */
#define SOFTMAX_FRAC(bytes) ((int32_t)(bytes)*8 - 1)
#define SOFTMAX_FRAC_MORE 15

/* Largest difference between the fraction bits of the operands of an addition. */
#define OPERANDS_APART 40

/* Rounding an operand to so many bits more than the sum, and then the sum, adds 0.1 dB more noise than to round once.
 * One bit: 2.4 dB, two: 0.8 dB. A word with few bits that are cut off is often in the middle of two others. */
#define ROUNDED_TWICE 3

/* Limits of shifts at write-out. Sums already become 0, or saturate, at these limits. */
#define SHIFT_MIN (-48)
#define SHIFT_MAX 63

/* Largest bias in steps of the sums: an offset of 32 bits. */
#define BIAS_MAX 2.1e9f

enum { QUANTISED = 512 }; /* words quantised at a time */

static int32_t minimum(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

int32_t cnnvp_frac_for(float largest, double margin, uint32_t word_bytes)
{
    const double most = word_bytes == 1u ? INT8_MAX : INT16_MAX;
    int32_t frac = CNNVP_FRAC_MAX;
    while (frac > CNNVP_FRAC_MIN && !(ldexp((double)largest * margin, frac) <= most))
        --frac;
    return frac;
}

int16_t cnnvp_quantise(float value, int32_t frac)
{
    const double scaled = ldexp((double)value, frac);
    if (scaled >= 32767.0)
        return INT16_MAX;
    if (scaled <= -32768.0)
        return INT16_MIN;
    if (!(scaled > -32768.0))
        return 0; /* NaN */
    int32_t word = (int32_t)scaled;
    if ((double)word > scaled)
        --word; /* floor */
    const double rest = scaled - (double)word;
    if (rest > 0.5 || (rest >= 0.5 && (word & 1) != 0))
        ++word;
    return (int16_t)word;
}

static void quantise_all(const float *values, size_t count, int32_t frac, int16_t *words)
{
    cnnvp_float_kernels()->quantise(values, count, (float)ldexp(1.0, frac), words);
}

void cnnvp_quantise_to(const float *values, size_t count, int32_t frac, int32_t zero, uint32_t word_bytes, uint8_t *at)
{
    int16_t words[QUANTISED];
    for (size_t i = 0, n; i < count; i += n, at += n * word_bytes) {
        n = count - i < QUANTISED ? count - i : QUANTISED;
        quantise_all(values + i, n, frac, words);
        for (size_t k = 0; k < n && word_bytes == 1u; ++k) {
            const int32_t word = words[k] + zero;
            words[k] = (int16_t)(word > INT8_MAX ? INT8_MAX : word < INT8_MIN ? INT8_MIN : word);
        }
        cnnvp_put_words(at, words, n, word_bytes);
    }
}

float cnnvp_dequantise(int16_t word, int32_t frac)
{
    return (float)ldexp((double)word, -frac);
}

static float maximum(float a, float b)
{
    return a > b ? a : b;
}

/* 1: only softmax reads the layer's results. Sums beyond their format may saturate: softmax's results stay the same. */
static int gives_scores(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    return graph->tensors[cnnvp_graph_format_base(graph, layer->out)].scores != 0 && cnnvp_graph_passes(layer);
}

uint32_t cnnvp_formats_epsilon(float epsilon, int32_t frac)
{
    const double units = ldexp((double)epsilon, 2 * frac);
    return units < 2147483647.0 ? (uint32_t)(units + 0.5) : INT32_MAX;
}

/* Gives tensors that must share a format the smallest frac of all. A copy of what others read, too, may have fewer
 * bits: so what is joined with larger numbers keeps its precision for them. Operands of additions get at most
 * OPERANDS_APART more than the other one; fixed formats never differ as much. Each round lowers at least one frac, so
 * it ends. */
static void unify(struct cnnvp_graph *graph, const struct cnnvp_parts *parts)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < graph->layer_count; ++i) {
            const struct cnnvp_graph_layer *layer = &graph->layers[i];
            int32_t *in = cnnvp_parts_in(parts, i), *out = cnnvp_parts_out(parts, i);
            int32_t *lower = NULL;
            int32_t to = 0;
            if (cnnvp_graph_moves(layer) && cnnvp_graph_has_fixed_format(graph, layer->in)) {
                changed |= !cnnvp_graph_has_table(layer) && *out != *in;
                *out = cnnvp_graph_has_table(layer) ? *out : *in;
            } else if (cnnvp_graph_moves(layer) && !cnnvp_graph_has_table(layer) && *in != *out &&
                       !(*in > *out && cnnvp_graph_converts(layer) && cnnvp_parts_keep_bits(graph, layer->in))) {
                lower = *in > *out ? in : out;
                to = minimum(*in, *out);
            } else if (cnnvp_graph_aligns_operands(layer)) {
                int32_t *in2 = &graph->tensors[cnnvp_graph_format_base(graph, layer->in2)].frac;
                to = minimum(*in, *in2) + OPERANDS_APART;
                lower = *in > to ? in : *in2 > to ? in2 : NULL;
            }
            if (lower != NULL) {
                *lower = to;
                changed = 1;
            }
        }
    }
}

/* 1: one layer reads the tensor, and one copy each what it is a copy of. */
static int has_one_reader(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    int one = cnnvp_graph_readers(graph, tensor) == 1u && cnnvp_graph_format_base(graph, tensor) == base &&
              graph->tensors[tensor].fracs == NULL && !cnnvp_graph_has_fixed_format(graph, tensor);
    for (size_t i = 0; i < graph->layer_count && one; ++i)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base && cnnvp_graph_moves(&graph->layers[i]))
            one = cnnvp_graph_has_table(&graph->layers[i]) || has_one_reader(graph, graph->layers[i].in);
    return one;
}

/* Lowers the frac of an operand to that of the sum if only the sum reads it and the other one has no more. Then the sum
 * is exact, and what was rounded to few more bits than it has is not rounded again. */
static void round_once(struct cnnvp_graph *graph)
{
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!cnnvp_graph_aligns_operands(layer) || cnnvp_graph_has_table(layer))
            continue;
        const int32_t sum = graph->tensors[cnnvp_graph_format_base(graph, layer->out)].frac;
        int32_t *const first = &graph->tensors[cnnvp_graph_format_base(graph, layer->in)].frac;
        int32_t *const second = &graph->tensors[cnnvp_graph_format_base(graph, layer->in2)].frac;
        if (*first > sum && *first <= sum + ROUNDED_TWICE && *second <= sum && has_one_reader(graph, layer->in))
            *first = sum;
        if (*second > sum && *second <= sum + ROUNDED_TWICE && *first <= sum && has_one_reader(graph, layer->in2))
            *second = sum;
    }
}

/* Most fraction bits at which epsilon, in units of 2^(-2 frac), fits 32 bits. */
static int32_t statistics_frac_max(float epsilon)
{
    int32_t frac = STATISTICS_FRAC_MAX;
    while (frac > CNNVP_FRAC_MIN && ldexp((double)epsilon, 2 * frac) >= (double)INT32_MAX)
        --frac;
    return frac;
}

static void limit_statistics(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_format_base(graph, layer->in)];
        if (layer->op == CNNVP_OP_SOFTMAX)
            in->frac = minimum(in->frac, STATISTICS_FRAC_MAX);
        if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
            in->frac = minimum(in->frac, statistics_frac_max(layer->epsilon));
    }
}

/* If one of two tensors that share a format was always 0, it is assumed to be as large as the other. 1: it was. */
static int take_size(struct cnnvp_graph *graph, int32_t one, int32_t other)
{
    struct cnnvp_graph_tensor *a = &graph->tensors[cnnvp_graph_format_base(graph, one)];
    struct cnnvp_graph_tensor *b = &graph->tensors[cnnvp_graph_format_base(graph, other)];
    const float size = maximum(a->max_abs, b->max_abs);
    const int taken = size > 0.0f && !(a->max_abs > 0.0f && b->max_abs > 0.0f) &&
                      !cnnvp_graph_has_fixed_format(graph, one) && !cnnvp_graph_has_fixed_format(graph, other);
    if (taken)
        a->max_abs = b->max_abs = size;
    return taken;
}

/* Applies take_size until nothing changes. Without it, the default format of a tensor that was always 0 would spread to
 * all tensors that it is copied or added to. */
static void take_sizes(struct cnnvp_graph *graph)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < graph->layer_count; ++i) {
            const struct cnnvp_graph_layer *layer = &graph->layers[i];
            if (graph->tensors[layer->in].fracs != NULL || graph->tensors[layer->out].fracs != NULL)
                continue;
            if (cnnvp_graph_moves(layer) && !cnnvp_graph_has_table(layer))
                changed |= take_size(graph, layer->in, layer->out);
            else if (cnnvp_graph_aligns_operands(layer))
                changed |= take_size(graph, layer->in, layer->in2);
        }
    }
}

/* The largest magnitude of the arguments of the layer's function that counts: from 12 on, or 4, its results are
 * constant but for 1e-5. */
static float largest_argument(const struct cnnvp_graph_layer *layer)
{
    const enum cnnvp_graph_post_kind kind = layer->post_count != 0 ? layer->posts[0].kind : CNNVP_GRAPH_MAX;
    return kind == CNNVP_GRAPH_SIGMOID || kind == CNNVP_GRAPH_TANH ? 12.0f : kind == CNNVP_GRAPH_ERF ? 4.0f : INFINITY;
}

/* Operands that only a maximum or minimum reads may saturate beyond its results: what lies there is not among them.
 * So may what only a copy reads beyond the copy's values, or only a function where it is constant. Exporters give
 * states that begin at -1e38. */
static void limit_extremes(struct cnnvp_graph *graph)
{
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int extreme = layer->op == CNNVP_OP_ADD &&
                            (layer->arithmetic == CNNVP_ARITHMETIC_MAX || layer->arithmetic == CNNVP_ARITHMETIC_MIN);
        const float argument = largest_argument(layer);
        const int copy = cnnvp_graph_moves(layer) && (cnnvp_graph_passes(layer) || argument < INFINITY);
        const float most = cnnvp_graph_has_table(layer)
                               ? fminf(argument, layer->pre_max_abs)
                               : graph->tensors[cnnvp_graph_format_base(graph, layer->out)].max_abs;
        const int32_t operands[2] = {layer->in, layer->in2};
        for (int k = 0; k < (extreme ? 2 : copy ? 1 : 0); ++k) {
            const int32_t format = cnnvp_graph_format_base(graph, operands[k]);
            struct cnnvp_graph_tensor *operand = &graph->tensors[format];
            if (format == cnnvp_graph_base(graph, operands[k]) && cnnvp_graph_readers(graph, operands[k]) == 1u &&
                operand->max_abs > most) {
                operand->max_abs = most;
                operand->saturates = 1;
            }
        }
    }
}

/* Sets the format of softmax's results. 8-bit words get more fraction bits if all results of the calibration are small,
 * as those of long lines are. */
static void set_shares(struct cnnvp_graph *graph, int32_t out)
{
    struct cnnvp_graph_tensor *shares = &graph->tensors[cnnvp_graph_format_base(graph, out)];
    const uint32_t bytes = cnnvp_graph_word_bytes(graph, out);
    const int32_t least = SOFTMAX_FRAC(bytes);
    const int32_t frac = shares->max_abs > 0.0f ? cnnvp_frac_for(shares->max_abs, MARGIN, bytes) : least;
    shares->frac = bytes == 1u && frac > least ? minimum(frac, least + SOFTMAX_FRAC_MORE) : least;
}

/* Room that a format keeps above the largest magnitude. Bytes give some of it up for finer steps, but not where each
 * value can be exact, such as those of masks, places and comparisons. */
static double margin_of(const struct cnnvp_graph *graph, int32_t tensor)
{
    const struct cnnvp_graph_tensor *shape = &graph->tensors[tensor];
    if (cnnvp_graph_word_bytes(graph, tensor) != 1u)
        return MARGIN;
    return shape->fractions == 0 && shape->max_abs <= (float)INT8_MAX ? 1.0 : BYTE_MARGIN;
}

/* The most fraction bits at which the tensor's values fit. Words with a zero point have more room above it. */
static int32_t frac_of(const struct cnnvp_graph *graph, int32_t tensor)
{
    const float room = (float)(INT8_MAX - cnnvp_graph_word_zero(graph, tensor)) / INT8_MAX;
    return cnnvp_frac_for(graph->tensors[tensor].max_abs / room, margin_of(graph, tensor),
                          cnnvp_graph_word_bytes(graph, tensor));
}

static cnnvp_result try_tensors(struct cnnvp_graph *graph, struct cnnvp_parts *parts, int *again)
{
    CNNVP_TRY(cnnvp_parts_find(graph, parts));
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_format_base(graph, layer->out)];
        for (uint32_t p = 0; p < layer->post_count; ++p) {
            static const unsigned char reaches_one[] = {
#define CNNVP_FUNCTION(name, operator, import, value, segments, range, positive, reaches, function) \
    [CNNVP_GRAPH_##name] = (reaches),
#define CNNVP_STEP(name, ...) [CNNVP_GRAPH_##name] = 1,
#include "functions.def"
            };
            if (reaches_one[layer->posts[p].kind])
                out->max_abs = maximum(out->max_abs, 1.0f);
        }
    }
    limit_extremes(graph);
    take_sizes(graph);
    cnnvp_parts_take_sizes(parts);
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *tensor = &graph->tensors[i];
        const uint32_t word_bytes = cnnvp_graph_word_bytes(graph, (int32_t)i);
        tensor->frac =
            tensor->max_abs > 0.0f ? frac_of(graph, (int32_t)i) : CNNVP_FRAC_UNKNOWN - (word_bytes == 1u ? 8 : 0);
    }
    limit_statistics(graph);
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].op == CNNVP_OP_SOFTMAX)
            set_shares(graph, graph->layers[i].out);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (graph->tensors[i].whole != 0)
            graph->tensors[i].frac = 0;
    return cnnvp_parts_choose(parts, again);
}

static cnnvp_result choose_tensors(struct cnnvp_graph *graph, struct cnnvp_parts *parts)
{
    CNNVP_FREED struct cnnvp_graph_tensor *given = calloc(graph->tensor_count + 1, sizeof *given);
    CNNVP_TRY(given != NULL ? CNNVP_DONE : CNNVP_FAILED);
    memcpy(given, graph->tensors, graph->tensor_count * sizeof *given);
    for (int again = 1; again;) {
        for (size_t i = 0; i < graph->tensor_count; ++i) {
            given[i].alike = graph->tensors[i].alike;
            graph->tensors[i] = given[i];
        }
        cnnvp_parts_clear(parts);
        CNNVP_TRY(try_tensors(graph, parts, &again));
    }
    unify(graph, parts);
    round_once(graph);
    unify(graph, parts);
    for (size_t i = 0; i < graph->layer_count; ++i)
        graph->layers[i].dropped =
            cnnvp_graph_converts(&graph->layers[i]) ? *cnnvp_parts_in(parts, i) - *cnnvp_parts_out(parts, i) : 0;
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].frac = graph->tensors[cnnvp_graph_format_base(graph, (int32_t)i)].frac;
    cnnvp_parts_give(parts);
    return CNNVP_DONE;
}

/* The largest magnitude of parameters; 0 for a weightless graph. */
static float largest_of(const struct cnnvp_graph *graph, const float *values, size_t count)
{
    return values != NULL && !graph->weightless ? cnnvp_float_kernels()->largest(values, count) : 0.0f;
}

static int32_t frac_up_to(float largest, double margin, int32_t most)
{
    return largest > 0.0f ? minimum(cnnvp_frac_for(largest, margin, 2u), most) : CNNVP_FRAC_UNKNOWN;
}

/* Formats of normalisation with statistics of the data. bias_shift gives the betas the format of the offsets. */
static void choose_norm(const struct cnnvp_graph *graph, struct cnnvp_graph_layer *layer)
{
    const int32_t data = graph->tensors[layer->in].frac;
    const uint32_t channels = graph->tensors[layer->in].channels;
    const int32_t most = STATISTICS_FRAC_MAX - minimum(data, 0); /* shifts are by the sum with that of the data */
    const float gamma = largest_of(graph, layer->weights, channels);
    const float offset = maximum(layer->offset_max, largest_of(graph, layer->bias, channels));
    layer->weight_frac = frac_up_to(gamma, 1.0, STATISTICS_FRAC_MAX);
    layer->inverse_frac = frac_up_to(layer->inverse_max, MARGIN, most);
    layer->scale_frac = frac_up_to(layer->scale_max, MARGIN, most);
    layer->offset_frac = frac_up_to(offset, MARGIN, STATISTICS_FRAC_MAX);
    layer->bias_shift = data + layer->weight_frac - layer->offset_frac;
}

/* The sum of magnitudes. */
static float total_of(const float *values, size_t count)
{
    double total = 0.0;
    for (size_t i = 0; i < count; ++i)
        total += fabs((double)values[i]);
    return (float)total;
}

/* Chooses a step for the weights of each output, for a write-out that scales. The sums, of up to `sum_max`, must be
 * below 2^(acc_bits - 1) steps. */
static void choose_steps(struct cnnvp_graph *graph, struct cnnvp_graph_layer *layer, size_t each, float sum_max,
                         uint32_t acc_bits)
{
    const float word = cnnvp_graph_word_bytes(graph, layer->in) == 1u ? -(float)INT8_MIN : -(float)INT16_MIN;
    const float sums = (float)ldexp(1.0, (int32_t)acc_bits - 1);
    const size_t outputs = graph->tensors[layer->out].channels;
    const float most = layer->narrow_weights != 0 ? INT8_MAX : INT16_MAX;
    /* What the zero point adds to the bias: of weights of 8 bits, see cnnvp_words_shift. */
    const float of_zero = cnnvp_graph_word_zero(graph, layer->in) != 0 ? (float)each * INT8_MAX * word : 0.0f;
    float *steps = cnnvp_arena_array(&graph->arena, outputs, sizeof *steps);
    int64_t *bias = cnnvp_arena_array(&graph->arena, outputs, sizeof *bias);
    if (steps == NULL || bias == NULL) /* the arena has noted it */
        return;
    layer->steps = (struct cnnvp_graph_steps){
        .in = (float)ldexp(1.0, -graph->tensors[layer->in].frac),
        .out = (float)ldexp(1.0, -layer->pre_frac),
        .weights = steps,
        .weight_count = outputs,
        .bias = layer->has_bias ? bias : NULL,
        .bias_count = layer->has_bias ? outputs : 0};
    for (size_t o = 0; o < outputs; ++o) {
        const float largest = cnnvp_float_kernels()->largest(layer->weights + o * each, each);
        const float offset = layer->has_bias ? fabsf(layer->bias[o]) / layer->steps.in : 0.0f;
        const float all = total_of(layer->weights + o * each, each) * word + offset;
        /* A large bias makes the step larger, so that the bias in steps fits 32 bits; so do large sums. */
        steps[o] = maximum(largest / most, offset / (BIAS_MAX - of_zero));
        steps[o] = maximum(steps[o], fminf(all, sum_max * (float)MARGIN / layer->steps.in) / sums);
        steps[o] = steps[o] > 0.0f ? steps[o] : 1.0f;
        bias[o] = layer->has_bias ? llrint((double)layer->bias[o] / ((double)layer->steps.in * (double)steps[o])) : 0;
    }
}

/* A float bias is rounded to a whole number of steps of the sums. If weights use few of their bits, smaller steps make
 * that rounding finer. If the bias is too large, larger steps make it fit; then weights near 0 lose precision. */
static void refine_steps(struct cnnvp_graph *graph, struct cnnvp_graph_layer *layer, size_t each)
{
    const size_t outputs = graph->tensors[layer->out].channels;
    struct cnnvp_graph_steps *steps = &layer->steps;
    float *refined = cnnvp_arena_array(&graph->arena, outputs, sizeof *refined);
    for (size_t o = 0; refined != NULL && o < outputs; ++o) {
        const float step = cnnvp_graph_weight_step(graph, layer, o);
        const float largest = cnnvp_float_kernels()->largest(layer->weights + o * each, each) / step;
        const float offset = fabsf(layer->bias[o]) / step;
        float parts = offset > BIAS_MAX / 2.0f ? BIAS_MAX / 2.0f / offset : 1.0f;
        while (parts < INT8_MAX && 2.0f * parts * largest <= INT8_MAX && 4.0f * parts * offset <= BIAS_MAX)
            parts *= 2.0f;
        refined[o] = steps->weights[steps->weight_count == 1 ? 0 : o] / parts;
    }
    steps->weights = refined != NULL ? refined : steps->weights; /* NULL: the arena has noted it */
    steps->weight_count = refined != NULL ? outputs : steps->weight_count;
}

static void choose_weights(struct cnnvp_graph *graph, struct cnnvp_graph_layer *layer, uint32_t acc_bits)
{
    const uint32_t outputs = graph->tensors[layer->out].channels;
    size_t weights = outputs;
    if (layer->op != CNNVP_OP_NORM)
        weights = (size_t)(cnnvp_graph_macs(graph, layer) /
                           ((size_t)graph->tensors[layer->out].height * graph->tensors[layer->out].width));
    const int32_t in_frac = graph->tensors[layer->in].frac;
    if (layer->product != 0) {
        layer->weight_frac = graph->tensors[layer->in2].frac;
        layer->bias_shift = 0;
        return;
    }
    const float weight_max = largest_of(graph, layer->weights, weights);
    const int has_bias = layer->has_bias || layer->op == CNNVP_OP_NORM;
    float bias_max = has_bias ? largest_of(graph, layer->bias, outputs) : 0.0f;
    float sum_max = layer->pre_max_abs;
    const float counted = graph->tensors[cnnvp_graph_format_base(graph, layer->out)].max_abs;
    const int is_constant = !(weight_max > 0.0f) && cnnvp_graph_passes(layer);
    /* Masks, and constants of maxima, are far below all numbers that count, so they are cut off. */
    if (gives_scores(graph, layer) || (is_constant && sum_max > counted)) {
        bias_max = bias_max > 4.0f * counted ? 4.0f * counted : bias_max;
        sum_max = sum_max > counted + bias_max ? counted + bias_max : sum_max;
    }
    layer->weight_frac =
        weight_max > 0.0f ? cnnvp_frac_for(weight_max, 1.0, layer->narrow_weights != 0 ? 1u : 2u)
        : bias_max > 0.0f ? minimum(cnnvp_frac_for(bias_max, 1.0, 2u) - in_frac, CNNVP_FRAC_MAX) /* constants */
                          : CNNVP_FRAC_UNKNOWN;
    /* Accumulators are exact modulo 2^acc_bits: only the final sum has to fit. */
    const double limit = ldexp(1.0, (int32_t)acc_bits - 1);
    while (layer->weight_frac > -CNNVP_FRAC_MAX &&
           !(ldexp((double)sum_max * MARGIN, in_frac + layer->weight_frac) < limit))
        --layer->weight_frac;
    layer->bias_shift = 0;
    while (layer->bias_shift < 63 &&
           !(ldexp((double)bias_max, in_frac + layer->weight_frac - layer->bias_shift) <= 32767.0))
        ++layer->bias_shift;
    if (!cnnvp_graph_is_scaled(graph, layer) || graph->weightless)
        return;
    if (layer->steps.weights == NULL) {
        choose_steps(graph, layer, weights / outputs, sum_max, acc_bits);
        return;
    }
    if (layer->steps.bias == NULL && layer->bias != NULL)
        refine_steps(graph, layer, weights / outputs);
    if (graph->tensors[cnnvp_graph_format_base(graph, layer->out)].whole == 0)
        layer->steps.out = (float)ldexp(1.0, -layer->pre_frac); /* the output is not quantised: step of its format */
}

void cnnvp_formats_choose(struct cnnvp_graph *graph, uint32_t acc_bits)
{
    CNNVP_SCOPED(cnnvp_parts_clear) struct cnnvp_parts parts = {.graph = NULL};
    if (choose_tensors(graph, &parts) != CNNVP_DONE) {
        graph->arena.failed = 1;
        return;
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!cnnvp_graph_has_table(layer))
            layer->pre_frac = graph->tensors[layer->out].frac;
        else if (layer->op == CNNVP_OP_ACTIVATION || cnnvp_graph_moves(layer))
            layer->pre_frac = graph->tensors[layer->in].frac;
        else
            layer->pre_frac = frac_up_to(fminf(layer->pre_max_abs, largest_argument(layer)), MARGIN, CNNVP_FRAC_MAX);
        if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
            choose_norm(graph, layer);
        else if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC || layer->op == CNNVP_OP_NORM)
            choose_weights(graph, layer, acc_bits);
    }
}

int32_t cnnvp_formats_shift(int32_t shift)
{
    return shift < SHIFT_MIN ? SHIFT_MIN : minimum(shift, SHIFT_MAX);
}

void cnnvp_formats_shifts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t *shift,
                          int32_t *bias_shift)
{
    const int32_t in_frac = graph->tensors[layer->in].frac;
    *bias_shift = 0;
    *shift = in_frac - layer->pre_frac;
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_FC:
    case CNNVP_OP_NORM:
        *shift = in_frac + layer->weight_frac - layer->pre_frac;
        *bias_shift = layer->bias_shift;
        if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED) {
            *shift = in_frac + layer->scale_frac - layer->pre_frac;
            *bias_shift = in_frac + layer->scale_frac - layer->offset_frac;
        }
        break;
    case CNNVP_OP_ADD:
        if (cnnvp_graph_aligns_operands(layer)) {
            *bias_shift = in_frac - graph->tensors[layer->in2].frac;
            *shift -= minimum(*bias_shift, 0); /* then the first operand is shifted to the second one's format */
        } else if (layer->arithmetic == CNNVP_ARITHMETIC_MUL)
            *shift += graph->tensors[layer->in2].frac;
        else
            *shift -= graph->tensors[layer->in2].frac;
        break;
    case CNNVP_OP_SOFTMAX:
        *shift = SOFTMAX_FRAC(cnnvp_graph_word_bytes(graph, layer->out)) - graph->tensors[layer->out].frac;
        *bias_shift = in_frac;
        break;
    case CNNVP_OP_POOL:
        *shift = layer->pool == CNNVP_POOL_AVERAGE ? *shift : 0;
        break;
    case CNNVP_OP_ACTIVATION:
        *shift = 0;
        break;
    }
    *shift = cnnvp_formats_shift(*shift);
}
