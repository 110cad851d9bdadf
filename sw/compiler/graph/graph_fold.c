/* SPDX-License-Identifier: Apache-2.0 */
/* Folds layers into the layer before them, and scales of quantised tensors also into the layer after them. */
#include <math.h>
#include <string.h>

#include "float_kernels.h"
#include "graph_edit.h"

/* ---- normalisations ---- */

/* Number of weights of each output. */
static size_t weights_each(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    if (layer->op == CNNVP_OP_NORM)
        return 1;
    return (size_t)(cnnvp_graph_macs(graph, layer) / cnnvp_graph_words(&graph->tensors[layer->out]));
}

/* Scales the steps of quantised weights with the weights. The bias is a float from then on. Factors near 0 count as
 * 1e-12: the weights become 0 with any step. Returns 0 if out of memory. */
static int scale_steps(struct cnnvp_graph *graph, struct cnnvp_graph_layer *before,
                       const struct cnnvp_graph_layer *norm)
{
    const uint32_t outputs = graph->tensors[before->out].channels;
    struct cnnvp_graph_steps *steps = &before->steps;
    float *scaled = cnnvp_arena_array(&graph->arena, outputs, sizeof *scaled);
    if (scaled == NULL)
        return 0;
    for (uint32_t o = 0; o < outputs; ++o) {
        const float factor = norm->uniform != 0.0f ? norm->uniform : graph->weightless ? 1.0f : norm->weights[o];
        scaled[o] = steps->weights[steps->weight_count == 1 ? 0 : o] * fmaxf(fabsf(factor), 1e-12f);
    }
    *steps = (struct cnnvp_graph_steps){.weights = scaled, .weight_count = outputs, .narrow = steps->narrow};
    return 1;
}

/* Folds the channel-wise x * scale + offset of `norm` into the convolution, fully connected layer or normalisation
 * before it. No other layer shares its weights, so they can change. */
static int fold_norm(struct cnnvp_graph *graph, struct cnnvp_graph_layer *before, const struct cnnvp_graph_layer *norm)
{
    const uint32_t outputs = graph->tensors[before->out].channels;
    const int known = before->steps.weights != NULL && !(before->steps.in > 0.0f);
    if (known && !(before->steps.out > 0.0f || norm->steps.out > 0.0f || norm->steps.in > 0.0f)) {
        if (!scale_steps(graph, before, norm))
            return 0;
    } else if (before->steps.out > 0.0f || !(norm->steps.out > 0.0f) || norm->steps.in > 0.0f)
        before->steps = (struct cnnvp_graph_steps){.in = 0.0f}; /* other scales are folded in: steps are unknown */
    before->steps.out = norm->steps.out;
    for (uint32_t i = 0; i < before->post_count; ++i)
        before->posts[i].value *= norm->uniform;
    before->uniform *= norm->uniform;
    before->adds &= norm->adds;
    before->bias_to = norm->bias_to;
    before->nearest = norm->nearest;
    before->has_bias = before->has_bias != 0 || before->op == CNNVP_OP_NORM || norm->uniform == 0.0f;
    if (before->has_bias != 0 && before->bias == NULL && !graph->weightless) {
        before->bias = cnnvp_arena_array(&graph->arena, outputs, sizeof *before->bias);
        if (before->bias == NULL)
            return 0;
    }
    const size_t each = weights_each(graph, before);
    for (uint32_t o = 0; o < outputs && !graph->weightless; ++o) {
        const int uniform = norm->uniform != 0.0f; /* then norm->weights may have another number of channels */
        const float factor = uniform ? norm->uniform : norm->weights[o];
        cnnvp_float_kernels()->scale(before->weights + o * each, factor, each, before->weights + o * each);
        if (before->bias != NULL)
            before->bias[o] = before->bias[o] * factor + (uniform ? 0.0f : norm->bias[o]);
    }
    return 1;
}

static int can_fold_norm(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *before,
                         const struct cnnvp_graph_layer *norm)
{
    if (before->op != CNNVP_OP_CONV && before->op != CNNVP_OP_FC && before->op != CNNVP_OP_NORM)
        return 0;
    if (norm->norm != CNNVP_NORM_STORED || before->product != 0)
        return 0;
    /* Whole numbers have been rounded before the norm. Limits can be scaled, other posts cannot. */
    if (graph->tensors[cnnvp_graph_base(graph, before->out)].whole != 0 ||
        (before->post_count != 0 && (!(norm->uniform > 0.0f) || cnnvp_graph_has_table(before))))
        return 0;
    /* If a view with other channels lies between, only a uniform scale can be folded. */
    return graph->tensors[before->out].channels == graph->tensors[norm->in].channels || norm->uniform != 0.0f;
}

/* ---- activations ---- */

/* 1: a copy that changes the place of words. Nothing is folded into it, and it is folded into nothing. */
static int is_copy(const struct cnnvp_graph_layer *layer)
{
    return layer->placed != 0 || layer->concat != 0 || layer->permuted != 0 || layer->cropped != 0;
}

/* Consecutive limits, combined into one lower and one upper limit. */
struct limits {
    float low;
    float high;
};

static void narrow(struct limits *limits, const struct cnnvp_graph_post *post)
{
    if (post->kind == CNNVP_GRAPH_MAX) {
        limits->low = fmaxf(limits->low, post->value);
        limits->high = fmaxf(limits->high, post->value);
    } else {
        limits->low = fminf(limits->low, post->value);
        limits->high = fminf(limits->high, post->value);
    }
}

static void flush(struct limits *limits, struct cnnvp_graph_post *posts, uint32_t *count)
{
    if (limits->low > -INFINITY)
        posts[(*count)++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, limits->low};
    if (limits->high < INFINITY)
        posts[(*count)++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, limits->high};
    *limits = (struct limits){-INFINITY, INFINITY};
}

/* Joins the posts of both layers, with combined limits. Returns how many there are. */
static uint32_t join_posts(const struct cnnvp_graph_layer *before, const struct cnnvp_graph_layer *after,
                           struct cnnvp_graph_post posts[2 * CNNVP_GRAPH_POSTS])
{
    uint32_t count = 0;
    struct limits limits = {-INFINITY, INFINITY};
    for (uint32_t i = 0; i < before->post_count + after->post_count; ++i) {
        const struct cnnvp_graph_post *post =
            i < before->post_count ? &before->posts[i] : &after->posts[i - before->post_count];
        if (!cnnvp_graph_is_table(post->kind)) {
            narrow(&limits, post);
            continue;
        }
        flush(&limits, posts, &count);
        posts[count++] = *post;
    }
    flush(&limits, posts, &count);
    return count;
}

static int can_fold_posts(const struct cnnvp_graph_layer *before, const struct cnnvp_graph_layer *after)
{
    struct cnnvp_graph_post posts[2 * CNNVP_GRAPH_POSTS];
    /* The weights of a product are words of a tensor, so no table can follow them. */
    if (before->op == CNNVP_OP_SOFTMAX || is_copy(before) || is_copy(after) ||
        (before->product != 0 && cnnvp_graph_has_table(after)))
        return 0;
    return join_posts(before, after, posts) <= CNNVP_GRAPH_POSTS &&
           !(cnnvp_graph_has_table(before) && cnnvp_graph_has_table(after));
}

/* Merges the layer at `index` into `before`. The result has the later tensor's name. */
static void merge(struct cnnvp_graph *graph, struct cnnvp_graph_layer *before, size_t index)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    struct cnnvp_graph_post posts[2 * CNNVP_GRAPH_POSTS];
    before->post_count = join_posts(before, layer, posts);
    for (uint32_t i = 0; i < before->post_count; ++i)
        before->posts[i] = posts[i];
    struct cnnvp_graph_tensor *old = &graph->tensors[before->out];
    const struct cnnvp_graph_tensor *new = &graph->tensors[layer->out];
    if (cnnvp_graph_words(old) == cnnvp_graph_words(new) && old->channels == new->channels &&
        old->height == new->height) {
        before->out = layer->out;
    } else {
        /* Activation of a flattened tensor: `before` keeps its output's shape, and the flat tensor becomes a view. */
        cnnvp_graph_set_whole(graph, before->out, new);
        graph->tensors[layer->out].base = before->out;
    }
    cnnvp_graph_remove(graph, index);
}

static cnnvp_result fold_into_before(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const ptrdiff_t at = cnnvp_graph_producer(graph, layer->in);
        if (at < 0 || cnnvp_graph_readers(graph, layer->in) != 1 ||
            cnnvp_graph_words(&graph->tensors[layer->in]) !=
                cnnvp_graph_words(&graph->tensors[graph->layers[at].out]) ||
            !can_fold_posts(&graph->layers[at], layer)) {
            ++i;
            continue;
        }
        struct cnnvp_graph_layer *before = &graph->layers[at];
        if (layer->op == CNNVP_OP_NORM && can_fold_norm(graph, before, layer)) {
            CNNVP_TRY_MEMORY(fold_norm(graph, before, layer), error);
        } else if (layer->op != CNNVP_OP_ACTIVATION) {
            ++i;
            continue;
        }
        merge(graph, before, i);
    }
    return CNNVP_DONE;
}

/* ---- scales of whole numbers ---- */

/* The scale's input tensor in the shape of `view`, a view of its output. */
static int32_t unscaled(struct cnnvp_graph *graph, const struct cnnvp_graph_layer *scale, int32_t view)
{
    return view == scale->out ? scale->in : cnnvp_graph_view_like(graph, scale->in, &graph->tensors[view]);
}

/* 1: `scale` is (q - zero) * scale with one scale for all channels, and `view` shows all of its output. */
static int is_scale(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *scale, int32_t view)
{
    return scale->op == CNNVP_OP_NORM && scale->uniform != 0.0f && scale->post_count == 0 &&
           graph->tensors[cnnvp_graph_base(graph, scale->in)].whole != 0 &&
           cnnvp_graph_words(&graph->tensors[scale->out]) == cnnvp_graph_words(&graph->tensors[view]);
}

int cnnvp_graph_spread_scale(struct cnnvp_graph *graph, struct cnnvp_graph_layer *norm, uint32_t channels)
{
    if (graph->weightless)
        return 1;
    norm->weights = cnnvp_arena_array(&graph->arena, channels, sizeof *norm->weights);
    norm->bias = cnnvp_arena_array(&graph->arena, channels, sizeof *norm->bias);
    for (uint32_t c = 0; c < channels && norm->weights != NULL; ++c)
        norm->weights[c] = norm->uniform;
    return norm->weights != NULL && norm->bias != NULL;
}

/* Inserts a copy of the scale after the layer at `index`, which then makes `whole`. 0: out of memory. */
static int add_scale(struct cnnvp_graph *graph, size_t index, const struct cnnvp_graph_layer *scale, int32_t whole)
{
    struct cnnvp_graph_layer after = *scale;
    after.in = whole;
    after.out = graph->layers[index].out;
    if (!cnnvp_graph_spread_scale(graph, &after, graph->tensors[whole].channels))
        return 0;
    graph->layers[index].out = whole;
    return cnnvp_graph_insert(graph, index + 1, &after, graph->tensors[after.out].name) != NULL;
}

static int has_weights(const struct cnnvp_graph_layer *layer)
{
    return (layer->op == CNNVP_OP_CONV && layer->product == 0) || layer->op == CNNVP_OP_FC;
}

/* 1: the layer can take up a scale in front of it. */
static int takes_scale(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    return has_weights(layer) || (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_STORED) ||
           (layer->op == CNNVP_OP_ADD && graph->joins_steps);
}

/* 1: the scale costs no layer behind the one at `index`: it leaves its place before that, or is taken up. Weights
 * without steps make words of 16 bits of the whole numbers that they multiply, for all layers that read these. */
static int can_follow(const struct cnnvp_graph *graph, size_t index, const struct cnnvp_graph_layer *scale)
{
    const int32_t made = graph->layers[index].out;
    int taken = cnnvp_graph_readers(graph, scale->out) == 1;
    if (taken && cnnvp_graph_readers(graph, scale->in) == 1)
        return 1;
    for (size_t i = index + 1; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!cnnvp_graph_reads(graph, layer, made))
            continue;
        if (has_weights(layer) && layer->steps.weights == NULL)
            return 0;
        taken |= takes_scale(graph, layer);
    }
    return taken;
}

/* Moves scales from before a maximum pool or a permutation to after it, so that it reads and makes whole numbers. */
static cnnvp_result pass_scales(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer pool = graph->layers[i];
        const int is_maximum = pool.op == CNNVP_OP_POOL && pool.pool == CNNVP_POOL_MAX && pool.post_count == 0;
        const ptrdiff_t at = is_maximum || pool.permuted != 0 ? cnnvp_graph_producer(graph, pool.in) : -1;
        if (at < 0 || !is_scale(graph, &graph->layers[at], pool.in) || !(graph->layers[at].uniform > 0.0f) ||
            (pool.permuted != 0 && !can_follow(graph, i, &graph->layers[at])))
            continue;
        const struct cnnvp_graph_layer scale = graph->layers[at];
        const struct cnnvp_graph_tensor out = graph->tensors[pool.out];
        const int32_t in = unscaled(graph, &scale, pool.in);
        const int32_t whole = cnnvp_graph_tensor_like(graph, pool.out, "whole", &out);
        CNNVP_TRY_MEMORY(in != CNNVP_GRAPH_NONE && whole != CNNVP_GRAPH_NONE, error);
        cnnvp_graph_set_whole(graph, whole, &graph->tensors[cnnvp_graph_base(graph, in)]);
        graph->layers[i].in = in;
        CNNVP_TRY_MEMORY(add_scale(graph, i, &scale, whole), error);
    }
    cnnvp_graph_drop_unused(graph);
    return fold_into_before(graph, error);
}

/* The scale in front of an operand of a product of two tensors if the product can read its whole numbers instead: they
 * have no zero point, which only known weights could take into account, and nothing else reads scaled weights. 1.0f:
 * there is none; then *words stays. */
static float product_scale(struct cnnvp_graph *graph, int32_t operand, int weights, int32_t *words)
{
    const ptrdiff_t at = cnnvp_graph_producer(graph, operand);
    const struct cnnvp_graph_layer *scale = at >= 0 ? &graph->layers[at] : NULL;
    if (scale == NULL || !is_scale(graph, scale, operand) || !(scale->uniform > 0.0f))
        return 1.0f;
    const struct cnnvp_graph_tensor *base = &graph->tensors[cnnvp_graph_base(graph, scale->in)];
    if (base->zero != 0 || base->word_zero != 0 || (weights && cnnvp_graph_readers(graph, scale->out) != 1))
        return 1.0f;
    const float factor = scale->uniform;
    *words = unscaled(graph, scale, operand);
    return factor;
}

/* 1: the tensor is a permuted copy for one reader. */
static int is_own_turn(const struct cnnvp_graph *graph, int32_t tensor)
{
    const ptrdiff_t copy = cnnvp_graph_producer(graph, tensor);
    return copy >= 0 && graph->layers[copy].permuted != 0 && cnnvp_graph_readers(graph, tensor) == 1;
}

/* Moves scales from before products of two tensors to after them. Weights are copied unless they are a copy. */
static cnnvp_result scale_products(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer product = graph->layers[i];
        if (product.product == 0)
            continue;
        const float first = product_scale(graph, product.in, 0, &product.in);
        const float second = product_scale(graph, product.in2, 1, &product.in2);
        if (product.in == CNNVP_GRAPH_NONE || product.in2 == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
        if (product.in == graph->layers[i].in && product.in2 == graph->layers[i].in2)
            continue;
        const struct cnnvp_graph_layer scale = {
            .op = CNNVP_OP_NORM,
            .op_type = product.op_type,
            .in2 = CNNVP_GRAPH_NONE,
            CNNVP_ONE_TAP,
            .groups = 1,
            .norm = CNNVP_NORM_STORED,
            .uniform = first * second};
        const int32_t sums = cnnvp_graph_tensor_like(graph, product.out, "whole", &graph->tensors[product.out]);
        if (product.in2 != graph->layers[i].in2 && !is_own_turn(graph, product.in2)) {
            product.in2 = cnnvp_graph_insert_copy(graph, i, product.in2);
            CNNVP_TRY_MEMORY(product.in2 != CNNVP_GRAPH_NONE, error);
            ++i;
        }
        graph->layers[i] = product;
        if (sums == CNNVP_GRAPH_NONE || !add_scale(graph, i, &scale, sums))
            return cnnvp_compiler_no_memory(error);
    }
    cnnvp_graph_drop_unused(graph);
    return fold_into_before(graph, error);
}

/* 1: the layer that makes the tensor limits its words by no less than these limits, possibly before copies. */
static int has_limits(const struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_layer *limits)
{
    const ptrdiff_t at = cnnvp_graph_producer(graph, tensor);
    const struct cnnvp_graph_layer *maker = at >= 0 ? &graph->layers[at] : NULL;
    uint32_t found = 0;
    if (maker == NULL || maker->out != cnnvp_graph_base(graph, tensor) || maker->placed != 0)
        return 0;
    if (maker->permuted != 0)
        return has_limits(graph, maker->in, limits);
    for (uint32_t i = 0; i < limits->post_count; ++i)
        for (uint32_t k = 0; k < maker->post_count; ++k)
            if (limits->posts[i].kind == maker->posts[k].kind &&
                (limits->posts[i].kind == CNNVP_GRAPH_MAX ? limits->posts[i].value <= maker->posts[k].value
                                                          : limits->posts[i].value >= maker->posts[k].value)) {
                ++found;
                break;
            }
    return found == limits->post_count && !cnnvp_graph_has_table(limits);
}

/* 1: the tensor is, or becomes part of, a result that has a place of its own: the network's, or a concatenation's. */
static int is_joined(const struct cnnvp_graph *graph, int32_t tensor)
{
    int joined = cnnvp_graph_is_output(graph, tensor);
    for (size_t i = 0; i < graph->layer_count && !joined; ++i)
        joined = graph->layers[i].concat != 0 && cnnvp_graph_base(graph, graph->layers[i].in) == tensor;
    return joined;
}

/* A rescaling with equal steps and zero points changes nothing: only its limits stay, as an activation, unless the
 * words have been limited before. */
static cnnvp_result drop_rescaling(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        const struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
        if (layer->op != CNNVP_OP_NORM || layer->uniform == 0.0f || in->whole == 0 || out->whole == 0 ||
            in->word_zero != out->word_zero || !(layer->steps.in > 0.0f) || layer->steps.in < layer->steps.out ||
            layer->steps.in > layer->steps.out)
            continue;
        const ptrdiff_t at = cnnvp_graph_producer(graph, layer->in);
        const int folds = at >= 0 && !is_copy(&graph->layers[at]) && cnnvp_graph_readers(graph, layer->in) == 1;
        if (!folds && graph->tensors[layer->out].base == CNNVP_GRAPH_NONE && !is_joined(graph, layer->out) &&
            has_limits(graph, layer->in, layer)) {
            graph->tensors[layer->out].base = layer->in;
            cnnvp_graph_remove(graph, i--);
            continue;
        }
        layer->op = CNNVP_OP_ACTIVATION;
        layer->weights = layer->bias = NULL;
        layer->has_bias = 0;
        layer->uniform = 0.0f;
        layer->steps = (struct cnnvp_graph_steps){.in = 0.0f};
    }
    return fold_into_before(graph, error);
}

/* Folds (q - zero) * scale before a layer with weights into the weights, so that the layer reads whole numbers. */
static cnnvp_result absorb_scales(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        const ptrdiff_t at = has_weights(layer) ? cnnvp_graph_producer(graph, layer->in) : -1;
        if (at < 0)
            continue;
        const struct cnnvp_graph_layer *scale = &graph->layers[at];
        if (!is_scale(graph, scale, layer->in))
            continue;
        const size_t weights = graph->weightless ? 0 : graph->tensors[layer->out].channels * weights_each(graph, layer);
        if (weights != 0)
            cnnvp_float_kernels()->scale(layer->weights, scale->uniform, weights, layer->weights);
        layer->steps.in = scale->steps.in;
        layer->in = unscaled(graph, scale, layer->in);
        CNNVP_TRY_MEMORY(layer->in != CNNVP_GRAPH_NONE, error);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

int cnnvp_graph_only_quantises(const struct cnnvp_graph_layer *layer)
{
    const float factor = 1.0f / layer->steps.out;
    return layer->op == CNNVP_OP_NORM && layer->steps.out > 0.0f && !(layer->steps.in > 0.0f) &&
           !(layer->uniform < factor || layer->uniform > factor) && !cnnvp_graph_has_table(layer);
}

/* 1: the layer can scale and quantise by itself: a sum, difference or product of two tensors, or an average of maps. */
static int can_join(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in], *out = &graph->tensors[layer->out];
    if (layer->op == CNNVP_OP_ADD)
        return layer->arithmetic <= CNNVP_ARITHMETIC_MUL && !cnnvp_graph_has_table(layer);
    return layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE && layer->by_position == 0 &&
           layer->kx == in->width && layer->ky == in->height && out->width == 1 && out->height == 1 &&
           layer->post_count == 0;
}

/* The layer that quantises the layer's result and can be joined with it; -1: there is none. */
static ptrdiff_t quantiser_of(const struct cnnvp_graph *graph, size_t index)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    struct cnnvp_graph_post posts[2 * CNNVP_GRAPH_POSTS];
    size_t i = index + 1;
    if (!can_join(graph, layer) || cnnvp_graph_readers(graph, layer->out) != 1)
        return -1;
    while (i < graph->layer_count && graph->layers[i].in != layer->out)
        ++i;
    return i < graph->layer_count && cnnvp_graph_only_quantises(&graph->layers[i]) &&
                   join_posts(layer, &graph->layers[i], posts) <= CNNVP_GRAPH_POSTS
               ? (ptrdiff_t)i
               : -1;
}

/* The zero point that onnxruntime adds before it rounds. It does so in operators that it runs as one: QLinear ones, and
 * sums and products of unsigned bytes without limits. 0 for others. */
static int32_t centre_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *add,
                         const struct cnnvp_graph_layer *quantiser)
{
    const struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, quantiser->out)];
    const int is_unsigned = out->word_zero != out->zero;
    const int is_one = strncmp(add->op_type, "QLinear", 7) == 0 || (is_unsigned && add->post_count == 0);
    return is_one && add->arithmetic != CNNVP_ARITHMETIC_SUB ? out->zero : 0;
}

/* The step of an operand that is (q - zero) * scale, and the tensor of its whole numbers; 0: it is not. */
static float join_operand(struct cnnvp_graph *graph, int32_t operand, int32_t *words)
{
    const ptrdiff_t at = operand != CNNVP_GRAPH_NONE ? cnnvp_graph_producer(graph, operand) : -1;
    if (at < 0 || !is_scale(graph, &graph->layers[at], operand))
        return 0.0f;
    *words = unscaled(graph, &graph->layers[at], operand);
    return graph->layers[at].steps.in;
}

/* Joins (q - zero) * scale before a layer and the quantisation after it with the layer. */
static cnnvp_result join_steps(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const ptrdiff_t last = quantiser_of(graph, i);
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        int32_t in = CNNVP_GRAPH_NONE, in2 = CNNVP_GRAPH_NONE;
        const float step = last >= 0 ? join_operand(graph, layer->in, &in) : 0.0f;
        const float step2 = step > 0.0f ? join_operand(graph, layer->in2, &in2) : 0.0f;
        if (!(step > 0.0f) || (layer->op == CNNVP_OP_ADD && !(step2 > 0.0f)))
            continue;
        CNNVP_TRY_MEMORY(in != CNNVP_GRAPH_NONE && (layer->op != CNNVP_OP_ADD || in2 != CNNVP_GRAPH_NONE), error);
        const struct cnnvp_graph_layer *quantiser = &graph->layers[last];
        layer->steps = (struct cnnvp_graph_steps){
            .in = step, .in2 = step2, .out = quantiser->steps.out, .centre = centre_of(graph, layer, quantiser)};
        layer->in = in;
        layer->in2 = in2;
        for (uint32_t p = 0; p < layer->post_count; ++p)
            layer->posts[p].value *= quantiser->uniform;
        merge(graph, layer, (size_t)last);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* The scale that makes the argument of the layer's function: in the layer itself, or the one in front of it. NULL: it
 * is no function of one quantised tensor. */
static const struct cnnvp_graph_layer *scale_of_function(const struct cnnvp_graph *graph,
                                                         const struct cnnvp_graph_layer *layer)
{
    if (layer->post_count != 1 || !cnnvp_graph_is_table(layer->posts[0].kind) ||
        layer->posts[0].kind >= CNNVP_GRAPH_SIGN || is_copy(layer))
        return NULL;
    /* The importer subtracts whole turns in front of functions with a period; they make no difference. */
    const int is_periodic = layer->op == CNNVP_OP_ADD &&
                            (layer->posts[0].kind == CNNVP_GRAPH_SIN || layer->posts[0].kind == CNNVP_GRAPH_COS);
    const int has_own = layer->op == CNNVP_OP_ACTIVATION || is_periodic;
    const ptrdiff_t at = has_own ? cnnvp_graph_producer(graph, layer->in) : -1;
    if (at >= 0 && is_scale(graph, &graph->layers[at], layer->in) && graph->layers[at].steps.in > 0.0f)
        return &graph->layers[at];
    return layer->op == CNNVP_OP_NORM && layer->uniform != 0.0f && layer->steps.in > 0.0f &&
                   graph->tensors[cnnvp_graph_base(graph, layer->in)].whole != 0
               ? layer
               : NULL;
}

/* A function between two quantisations has 256 arguments: one table has all results, quantised. */
static cnnvp_result join_functions(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer layer = graph->layers[i];
        const struct cnnvp_graph_layer *scale = scale_of_function(graph, &layer);
        size_t at = i + 1;
        while (at < graph->layer_count && graph->layers[at].in != layer.out)
            ++at;
        if (scale == NULL || at == graph->layer_count || cnnvp_graph_readers(graph, layer.out) != 1 ||
            !cnnvp_graph_only_quantises(&graph->layers[at]))
            continue;
        const float step = scale->steps.in;
        layer.in = scale->out == layer.out ? layer.in : unscaled(graph, scale, layer.in);
        if (layer.in == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
        const struct cnnvp_graph_tensor *numbers = &graph->tensors[cnnvp_graph_base(graph, layer.in)];
        layer.op = CNNVP_OP_ACTIVATION;
        layer.in2 = CNNVP_GRAPH_NONE;
        layer.weights = layer.bias = NULL;
        layer.has_bias = 0;
        layer.uniform = 0.0f;
        layer.least = -128 - numbers->word_zero;
        layer.steps = (struct cnnvp_graph_steps){.in = step, .out = graph->layers[at].steps.out};
        graph->layers[i] = layer;
        merge(graph, &graph->layers[i], at);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* Only layers that read whole numbers keep the steps of their weights. */
static void forget_steps(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->steps.weights != NULL && !(layer->steps.in > 0.0f))
            layer->steps = (struct cnnvp_graph_steps){.in = 0.0f};
    }
}

cnnvp_result cnnvp_graph_fold(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    CNNVP_TRY(fold_into_before(graph, error));
    CNNVP_TRY(pass_scales(graph, error));
    CNNVP_TRY(scale_products(graph, error));
    CNNVP_TRY(drop_rescaling(graph, error));
    CNNVP_TRY(join_functions(graph, error));
    CNNVP_TRY(absorb_scales(graph, error));
    forget_steps(graph);
    return graph->joins_steps ? join_steps(graph, error) : CNNVP_DONE;
}

/* ---- inputs ---- */

void cnnvp_graph_quantise_inputs(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
        struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
        if (!cnnvp_graph_only_quantises(layer) || !cnnvp_graph_is_input(graph, layer->in) ||
            in->base != CNNVP_GRAPH_NONE || out->base != CNNVP_GRAPH_NONE || cnnvp_graph_is_output(graph, layer->out) ||
            cnnvp_graph_readers(graph, layer->in) != 1 || in->height != out->height || in->width != out->width) {
            ++i;
            continue;
        }
        cnnvp_graph_set_whole(graph, layer->in, out);
        in->step = layer->steps.out;
        in->low = -INFINITY;
        in->high = INFINITY;
        for (uint32_t p = 0; p < layer->post_count; ++p)
            *(layer->posts[p].kind == CNNVP_GRAPH_MAX ? &in->low : &in->high) = layer->posts[p].value;
        out->base = layer->in;
        cnnvp_graph_remove(graph, i);
    }
}

float cnnvp_graph_input_number(const struct cnnvp_graph_tensor *input, float number)
{
    return input->step > 0.0f ? fmaxf(input->low, fminf(input->high, rintf(number / input->step)))
                              : number - (float)input->zero;
}
