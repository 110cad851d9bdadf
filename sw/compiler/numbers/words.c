/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the word size of each tensor and of each layer's weights: 8 or 16 bits. */
#include <math.h>

#include "numbers.h"

/* Most weights of an output for which the sum of zero point times weight always fits 32 bits. */
#define WEIGHTS_OF_ZEROS 32768u

/* 1: all numbers within the layer's limits, plus the result's zero point, fit 8 bits. */
static int has_room(const struct cnnvp_graph_layer *maker, int32_t zero)
{
    float low = INT16_MIN, high = INT16_MAX;
    for (uint32_t i = 0; i < maker->post_count; ++i) {
        low = maker->posts[i].kind == CNNVP_GRAPH_MAX ? maker->posts[i].value : low;
        high = maker->posts[i].kind == CNNVP_GRAPH_MIN ? maker->posts[i].value : high;
    }
    return low + (float)zero >= INT8_MIN && high + (float)zero <= INT8_MAX;
}

static int is_product(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

static size_t weights_each(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    return (size_t)(cnnvp_graph_macs(graph, layer) / ((size_t)out->height * out->width * out->channels));
}

/* 1: the layer can read words with a zero point: it copies them, its table knows it, or the vector unit or the
 * write-out subtracts it. */
static int takes_zero(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    return cnnvp_graph_moves(layer) || layer->op == CNNVP_OP_ACTIVATION || layer->op == CNNVP_OP_NORM ||
           layer->op == CNNVP_OP_ADD || (layer->op == CNNVP_OP_POOL && layer->steps.out > 0.0f) ||
           (cnnvp_graph_is_scaled(graph, layer) && weights_each(graph, layer) <= WEIGHTS_OF_ZEROS);
}

/* Removes the zero point: words are then the numbers themselves. An input that had one gets 16 bits. */
static void drop_zero(struct cnnvp_graph *graph, int32_t tensor)
{
    struct cnnvp_graph_tensor *base = &graph->tensors[cnnvp_graph_base(graph, tensor)];
    if (base->word_zero != 0 && cnnvp_graph_is_input(graph, tensor))
        base->narrow = 0;
    base->word_zero = 0;
}

/* Resolves conflicts: layers that copy words need the same kind of words on both sides, and results need room for what
 * their layer makes. Returns 1 if anything changed. */
static int settle(struct cnnvp_graph *graph)
{
    int changed = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
        const int moves = cnnvp_graph_moves(layer);
        if (moves && in->word_zero != out->word_zero) {
            drop_zero(graph, layer->in);
            drop_zero(graph, layer->out);
            changed = 1;
        }
        if (moves ? in->narrow != out->narrow
                  : out->narrow != 0 && out->whole != 0 && !has_room(layer, out->word_zero)) {
            in->narrow = moves ? 0 : in->narrow;
            out->narrow = 0;
            changed = 1;
        }
    }
    return changed;
}

/* Flags of `readers`: layers that read the tensor, directly or through copies (SUM: also that make it); BEFORE_PRODUCT:
 * a product depends on it; OF_VECTOR: the vector unit computes or reads it; DENSE: a fully connected layer, which the
 * vector unit cannot do. */
enum { PRODUCT = 1, SUM = 2, STATISTICS = 4, LONG_SUM = 8, BEFORE_PRODUCT = 16, OF_VECTOR = 32, DENSE = 64 };

static uint32_t reader_of(const struct cnnvp_graph_layer *layer)
{
    if (is_product(layer))
        return layer->op == CNNVP_OP_FC ? PRODUCT | DENSE : PRODUCT;
    if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
        return STATISTICS;
    return cnnvp_graph_aligns_operands(layer) ? SUM : 0;
}

/* Tensors that are copies of each other have the same word size, so they share their flags. */
static void share_readers(struct cnnvp_graph *graph)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = graph->layer_count; i-- > 0;) {
            uint32_t *in = &graph->tensors[cnnvp_graph_base(graph, graph->layers[i].in)].readers;
            uint32_t *out = &graph->tensors[cnnvp_graph_base(graph, graph->layers[i].out)].readers;
            if (!cnnvp_graph_moves(&graph->layers[i]) || *in == *out)
                continue;
            *in = *out = *in | *out;
            changed = 1;
        }
    }
}

/* Finds sums that continue from addition to addition and that normalisations read, such as the residual stream of a
 * transformer. Their terms differ much in size, so with 8 bits the smaller ones would lose most of their bits. */
static void find_long_sums(struct cnnvp_graph *graph)
{
    struct cnnvp_graph_tensor *tensors = graph->tensors;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const uint32_t reader = reader_of(layer);
        tensors[cnnvp_graph_base(graph, layer->in)].readers |= reader;
        tensors[cnnvp_graph_base(graph, layer->out)].readers |= reader & SUM;
        if (layer->in2 != CNNVP_GRAPH_NONE)
            tensors[cnnvp_graph_base(graph, layer->in2)].readers |= reader;
    }
    share_readers(graph);
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const struct cnnvp_graph_tensor *out = &tensors[cnnvp_graph_base(graph, layer->out)];
        if (reader_of(layer) != SUM || (out->readers & (STATISTICS | LONG_SUM)) == 0)
            continue;
        tensors[cnnvp_graph_base(graph, layer->in)].readers |= LONG_SUM;
        tensors[cnnvp_graph_base(graph, layer->in2)].readers |= LONG_SUM;
        tensors[cnnvp_graph_base(graph, layer->out)].readers |= LONG_SUM;
        share_readers(graph);
    }
}

/* Finds tensors on which a product depends, through any layers, and those that the vector unit computes or reads. */
static void find_products(struct cnnvp_graph *graph)
{
    struct cnnvp_graph_tensor *tensors = graph->tensors;
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        uint32_t *out = &tensors[cnnvp_graph_base(graph, layer->out)].readers;
        const uint32_t before = is_product(layer) ? BEFORE_PRODUCT : *out & BEFORE_PRODUCT;
        const uint32_t of_vector =
            is_product(layer) || (cnnvp_graph_moves(layer) && cnnvp_graph_passes(layer)) ? 0 : OF_VECTOR;
        tensors[cnnvp_graph_base(graph, layer->in)].readers |= before | of_vector;
        if (layer->in2 != CNNVP_GRAPH_NONE)
            tensors[cnnvp_graph_base(graph, layer->in2)].readers |= before | of_vector;
        *out |= of_vector;
    }
    share_readers(graph);
}

/* 1: the layer's results are 0 or more. */
static int is_positive(const struct cnnvp_graph_layer *layer)
{
    float low = -INFINITY;
    for (uint32_t i = 0; i < layer->post_count; ++i)
        low = layer->posts[i].kind == CNNVP_GRAPH_MAX ? fmaxf(low, layer->posts[i].value)
              : layer->posts[i].kind == CNNVP_GRAPH_MIN
                  ? fminf(low, layer->posts[i].value)
                  : -INFINITY;
    return low >= 0.0f;
}

/* 1: the tensor has 8-bit words that the compiler chooses: they are neither numbers of a file nor seen by the host. */
static int is_inner(const struct cnnvp_graph *graph, int32_t tensor)
{
    const struct cnnvp_graph_tensor *base = &graph->tensors[cnnvp_graph_base(graph, tensor)];
    return base->narrow != 0 && base->whole == 0 && base->scores == 0 && !cnnvp_graph_is_input(graph, tensor) &&
           !cnnvp_graph_is_output(graph, tensor);
}

void cnnvp_words_shift(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && is_inner(graph, (int32_t)i))
            graph->tensors[i].word_zero = INT8_MIN;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int maximum = layer->op == CNNVP_OP_POOL && cnnvp_graph_moves(layer) && cnnvp_graph_passes(layer);
        const int scaled = is_product(layer) && layer->scaled != 0 && layer->narrow_weights != 0;
        const int32_t operands[] = {layer->in, layer->in2, layer->out};
        const int takes[] = {maximum || (scaled && weights_each(graph, layer) <= WEIGHTS_OF_ZEROS), 0,
                             maximum || (scaled && is_positive(layer))};
        for (int k = 0; k < 3; ++k)
            if (operands[k] != CNNVP_GRAPH_NONE && !takes[k] && is_inner(graph, operands[k]))
                drop_zero(graph, operands[k]);
    }
    while (settle(graph))
        ;
}

int cnnvp_words_are_quantised(const struct cnnvp_graph *graph)
{
    int products = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        if (!is_product(&graph->layers[i]) || graph->layers[i].constant != 0 || graph->layers[i].product != 0)
            continue;
        if (graph->tensors[cnnvp_graph_base(graph, graph->layers[i].in)].whole == 0)
            return 0;
        products = 1;
    }
    return products;
}

/* Gives unquantised tensors 16 bits if 8 are too few: what a quantised file computes in float, long sums and
 * places that no product reads, and, after the last product, a classifier's outputs and results of the vector unit,
 * such as a detector's boxes. */
static void keep_wide(struct cnnvp_graph *graph)
{
    const int quantised = cnnvp_words_are_quantised(graph);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].readers = 0;
    find_long_sums(graph);
    find_products(graph);
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *tensor = &graph->tensors[i];
        const int long_sum = (tensor->readers & (PRODUCT | LONG_SUM)) == LONG_SUM;
        const int last = (tensor->readers & OF_VECTOR) != 0 || tensor->height * tensor->width == 1;
        const int count = tensor->counts != 0 && (tensor->readers & PRODUCT) == 0;
        const int wide = quantised && (tensor->readers & PRODUCT) == 0; /* products read words of 0 for constants */
        if (tensor->whole == 0 && (wide || count || long_sum || (last && (tensor->readers & BEFORE_PRODUCT) == 0)))
            tensor->narrow = 0;
    }
}

void cnnvp_words_choose(struct cnnvp_graph *graph, const struct cnnvp_words_options *options)
{
    const int narrow = options->narrow;
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].narrow = narrow != 0;
    keep_wide(graph);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (!narrow || !options->zeros || cnnvp_graph_is_output(graph, (int32_t)i))
            drop_zero(graph, (int32_t)i);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
        const int quantised = in->whole != 0 || out->whole != 0;
        layer->narrow_weights =
            narrow && is_product(layer) &&
            (!quantised || (options->scales && cnnvp_graph_is_scaled(graph, layer) && layer->steps.narrow) ||
             (options->only && layer->op == CNNVP_OP_FC && in->whole == 0));
        /* Between quantised and unquantised numbers, the unquantised ones keep 16 bits, unless a fully connected
         * layer on an array that takes only 8 reads them: only the file's own rounding counts. */
        struct cnnvp_graph_tensor *unquantised =
            &graph->tensors[cnnvp_graph_base(graph, in->whole != 0 ? layer->out : layer->in)];
        if (in->whole != out->whole && !(options->only && (unquantised->readers & DENSE) != 0))
            unquantised->narrow = 0;
        if (in->whole != 0 &&
            (!takes_zero(graph, layer) || (options->only && is_product(layer) && layer->narrow_weights == 0)))
            drop_zero(graph, layer->in);
    }
    while (settle(graph))
        ;
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].word_zero = graph->tensors[i].narrow != 0 ? graph->tensors[i].word_zero : 0;
}
