/* SPDX-License-Identifier: Apache-2.0 */
/* Finds tensors whose words have several formats (parts.h). */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"

static size_t source_count(const struct cnnvp_parts *parts)
{
    return parts->graph->tensor_count + parts->graph->layer_count;
}

static int32_t find(const struct cnnvp_parts *parts, int32_t source)
{
    while (parts->parents[source] != source)
        source = parts->parents[source] = parts->parents[parts->parents[source]];
    return source;
}

static int32_t *frac_of(const struct cnnvp_parts *parts, int32_t source)
{
    const size_t tensors = parts->graph->tensor_count, at = (size_t)find(parts, source);
    return at < tensors ? &parts->graph->tensors[at].frac : &parts->fracs[at - tensors];
}

/* Gives two sources the same format. One of them may be CNNVP_GRAPH_NONE. Returns the one that stands for both: a
 * tensor if there is one. */
static int32_t unite(const struct cnnvp_parts *parts, int32_t one, int32_t other)
{
    if (one == CNNVP_GRAPH_NONE || other == CNNVP_GRAPH_NONE)
        return one == CNNVP_GRAPH_NONE ? other : one;
    one = find(parts, one);
    other = find(parts, other);
    const int32_t first = one < other ? one : other;
    parts->parents[one] = parts->parents[other] = first;
    return first;
}

static int32_t marked(float mark)
{
    return (int32_t)mark - 1;
}

/* 1: the layer copies words as they are, whatever they stand for. */
static int is_copy(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
    const struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
    return layer->op == CNNVP_OP_ACTIVATION && cnnvp_graph_passes(layer) && !cnnvp_graph_is_quantised_function(layer) &&
           in->narrow == out->narrow && in->word_zero == out->word_zero && in->whole == out->whole && out->scores == 0;
}

static int shows_all(const struct cnnvp_graph *graph, int32_t tensor)
{
    return cnnvp_graph_words(&graph->tensors[tensor]) ==
           cnnvp_graph_words(&graph->tensors[cnnvp_graph_base(graph, tensor)]);
}

static float *marks_of(const struct cnnvp_parts *parts, int32_t tensor)
{
    return tensor != CNNVP_GRAPH_NONE ? parts->marks[cnnvp_graph_base(parts->graph, tensor)] : NULL;
}

/* The marks of a channel. */
static float *plane_of(const struct cnnvp_parts *parts, int32_t tensor, size_t channel)
{
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    const size_t step = of->channel_step > 1 ? of->channel_step : 1;
    return marks_of(parts, tensor) + cnnvp_graph_offset(parts->graph, tensor) + channel * step * of->height * of->width;
}

static void drop_marks(const struct cnnvp_parts *parts, int32_t tensor)
{
    float **marks = &parts->marks[cnnvp_graph_base(parts->graph, tensor)];
    free(*marks);
    *marks = NULL;
}

/* 1: an operand of the layer, or its result, must have one format. */
static int needs_one(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t tensor)
{
    const int copies = is_copy(graph, layer);
    return tensor != CNNVP_GRAPH_NONE &&
           (copies ? tensor == layer->out && cnnvp_graph_has_fixed_format(graph, layer->in)
                   : shows_all(graph, tensor) ||
                         (tensor == layer->out && cnnvp_graph_has_fixed_format(graph, layer->out)));
}

/* Allocates marks for all tensors that may have several formats: some layer writes a part of it, or copies all. */
static cnnvp_result make_marks(struct cnnvp_parts *parts)
{
    const struct cnnvp_graph *graph = parts->graph;
    for (size_t i = 0; i < graph->layer_count && !graph->weightless; ++i) {
        const int32_t base = cnnvp_graph_base(graph, graph->layers[i].out);
        const struct cnnvp_graph_tensor *tensor = &graph->tensors[base];
        if (parts->marks[base] != NULL || tensor->alike != 0 || tensor->whole != 0 || tensor->scores != 0 ||
            cnnvp_graph_is_input(graph, base))
            continue;
        int alike = 0;
        for (size_t k = 0; k < graph->layer_count && !alike; ++k) {
            const struct cnnvp_graph_layer *layer = &graph->layers[k];
            const int32_t operands[] = {layer->in, layer->in2, layer->out};
            for (int n = 0; n < 3; ++n)
                alike |= cnnvp_graph_base(graph, operands[n]) == base && needs_one(graph, layer, operands[n]);
        }
        if (!alike)
            parts->marks[base] = calloc(cnnvp_graph_words(tensor), sizeof **parts->marks);
        if (!alike && parts->marks[base] == NULL)
            return CNNVP_FAILED;
    }
    return CNNVP_DONE;
}

/* Gives all words that a layer reads the same format, and the tensor that shows them. */
static void unite_words(const struct cnnvp_parts *parts, int32_t tensor)
{
    if (marks_of(parts, tensor) == NULL)
        return;
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    for (size_t c = 0; c < of->channels; ++c) {
        const float *plane = plane_of(parts, tensor, c);
        for (size_t i = 0; i < (size_t)of->height * of->width; ++i)
            (void)unite(parts, tensor, marked(plane[i]));
    }
}

/* Marks the results of a layer that calculates. Channels that lie apart count as their base's. */
static void mark_results(const struct cnnvp_parts *parts, int32_t out)
{
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[out];
    const int32_t from = of->channel_step > 1 ? cnnvp_graph_base(parts->graph, out) : out;
    for (size_t c = 0; c < of->channels; ++c) {
        float *plane = plane_of(parts, out, c);
        for (size_t i = 0; i < (size_t)of->height * of->width; ++i)
            plane[i] = (float)from + 1.0f;
    }
}

int cnnvp_parts_keep_bits(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (;;) {
        if (cnnvp_graph_readers(graph, tensor) > 1u)
            return 1;
        const ptrdiff_t producer = cnnvp_graph_producer(graph, tensor);
        const struct cnnvp_graph_layer *layer = producer >= 0 ? &graph->layers[producer] : NULL;
        if (layer == NULL || !cnnvp_graph_moves(layer) || cnnvp_graph_has_table(layer) || cnnvp_graph_converts(layer))
            return 0;
        tensor = cnnvp_graph_base(graph, layer->in);
    }
}

/* The source of the words that a layer copies from a tensor with one format. */
static int32_t source_of(const struct cnnvp_parts *parts, size_t index)
{
    const struct cnnvp_graph *graph = parts->graph;
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    const int32_t from = cnnvp_graph_base(graph, layer->in);
    return cnnvp_graph_converts(layer) && cnnvp_parts_keep_bits(graph, from) && graph->tensors[from].max_abs > 0.0f
               ? (int32_t)(graph->tensor_count + index)
               : from;
}

/* Copies marks as the layer copies words. Words that come to a tensor with one format have the same. */
static cnnvp_result copy_marks(const struct cnnvp_parts *parts, size_t index)
{
    const struct cnnvp_graph *graph = parts->graph;
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    const size_t in_words = cnnvp_graph_words(&graph->tensors[layer->in]);
    const size_t out_words = cnnvp_graph_words(&graph->tensors[layer->out]);
    const int reads = marks_of(parts, layer->in) != NULL, writes = marks_of(parts, layer->out) != NULL;
    if (!reads && !writes)
        return CNNVP_DONE;
    CNNVP_FREED float *made_in = reads ? NULL : calloc(in_words, sizeof *made_in);
    CNNVP_FREED float *made_out = writes ? NULL : calloc(out_words, sizeof *made_out);
    CNNVP_TRY(made_in != NULL || reads ? CNNVP_DONE : CNNVP_FAILED);
    CNNVP_TRY(made_out != NULL || writes ? CNNVP_DONE : CNNVP_FAILED);
    const int32_t source = reads ? layer->in : source_of(parts, index);
    for (size_t i = 0; !reads && i < in_words; ++i)
        made_in[i] = (float)source + 1.0f;
    cnnvp_floatref_copy(graph, layer, reads ? plane_of(parts, layer->in, 0) : made_in,
                        writes ? plane_of(parts, layer->out, 0) : made_out);
    if (writes) { /* copies from one such tensor to another change no words: both have the same source */
        parts->reads[index] = reads ? source : parts->reads[index];
        parts->writes[index] = source;
        return CNNVP_DONE;
    }
    int32_t all = CNNVP_GRAPH_NONE;
    for (size_t i = 0; i < out_words; ++i)
        all = unite(parts, all, marked(made_out[i]));
    parts->reads[index] = all != CNNVP_GRAPH_NONE ? all : layer->out;
    return CNNVP_DONE;
}

static cnnvp_result mark_all(const struct cnnvp_parts *parts)
{
    const struct cnnvp_graph *graph = parts->graph;
    for (size_t i = 0; i < source_count(parts); ++i)
        parts->parents[i] = (int32_t)i;
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (parts->marks[i] != NULL)
            memset(parts->marks[i], 0, cnnvp_graph_words(&graph->tensors[i]) * sizeof **parts->marks);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        parts->reads[i] = parts->writes[i] = CNNVP_GRAPH_NONE;
        if (is_copy(graph, layer)) {
            CNNVP_TRY(copy_marks(parts, i));
            continue;
        }
        unite_words(parts, layer->in);
        unite_words(parts, layer->in2);
        if (marks_of(parts, layer->out) != NULL)
            mark_results(parts, layer->out);
    }
    return CNNVP_DONE;
}

/* Counts the formats of the words that a tensor shows, up to 2. *one: the tensor that stands for one of them. */
static int formats_of(const struct cnnvp_parts *parts, int32_t tensor, int32_t *one)
{
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    *one = CNNVP_GRAPH_NONE;
    for (size_t c = 0; c < of->channels; ++c) {
        const float *plane = plane_of(parts, tensor, c);
        for (size_t i = 0; i < (size_t)of->height * of->width; ++i) {
            const int32_t mark = marked(plane[i]);
            if (mark != CNNVP_GRAPH_NONE && *one != CNNVP_GRAPH_NONE && find(parts, mark) != *one)
                return 2;
            *one = mark != CNNVP_GRAPH_NONE && *one == CNNVP_GRAPH_NONE ? find(parts, mark) : *one;
        }
    }
    return *one != CNNVP_GRAPH_NONE;
}

/* Tensors with the same format have that of the one that stands for them. */
static void set_formats(const struct cnnvp_parts *parts)
{
    for (size_t i = 0; i < parts->graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *tensor = &parts->graph->tensors[i];
        const int32_t own = find(parts, (int32_t)i);
        if (own != (int32_t)i)
            tensor->format = own;
    }
}

/* Sets the format of a tensor that shows words with marks. */
static cnnvp_result set_format(const struct cnnvp_parts *parts, int32_t tensor)
{
    int32_t format;
    if (marks_of(parts, tensor) == NULL)
        return CNNVP_DONE;
    struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    const uint32_t most = of->height > of->width ? of->height : of->width;
    if (formats_of(parts, tensor, &format) < 2) {
        of->format = unite(parts, tensor, format);
        return CNNVP_DONE;
    }
    if (of->fracs == NULL)
        of->fracs =
            cnnvp_arena_array(&parts->graph->arena, of->channels > most ? of->channels : most, sizeof *of->fracs);
    return of->fracs != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

static cnnvp_result find_parts(struct cnnvp_parts *parts)
{
    struct cnnvp_graph *graph = parts->graph;
    int32_t one;
    CNNVP_TRY(make_marks(parts));
    for (int changed = 1; changed;) { /* what has one format is no longer marked */
        changed = 0;
        CNNVP_TRY(mark_all(parts));
        for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
            if (parts->marks[i] != NULL && formats_of(parts, i, &one) < 2) {
                drop_marks(parts, i);
                changed = 1;
            }
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        CNNVP_TRY(set_format(parts, graph->layers[i].in));
        CNNVP_TRY(set_format(parts, graph->layers[i].in2));
        CNNVP_TRY(set_format(parts, graph->layers[i].out));
    }
    for (size_t i = 0; i < graph->output_count; ++i)
        CNNVP_TRY(set_format(parts, graph->outputs[i].tensor));
    set_formats(parts);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_parts_find(struct cnnvp_graph *graph, struct cnnvp_parts *parts)
{
    const size_t layers = graph->layer_count + 1;
    *parts = (struct cnnvp_parts){
        .graph = graph,
        .marks = calloc(graph->tensor_count + 1, sizeof *parts->marks),
        .parents = calloc(graph->tensor_count + layers, sizeof *parts->parents),
        .fracs = calloc(layers, sizeof *parts->fracs),
        .reads = calloc(layers, sizeof *parts->reads),
        .writes = calloc(layers, sizeof *parts->writes)};
    if (parts->marks != NULL && parts->parents != NULL && parts->fracs != NULL && parts->reads != NULL &&
        parts->writes != NULL)
        return find_parts(parts);
    return CNNVP_FAILED;
}

void cnnvp_parts_clear(struct cnnvp_parts *parts)
{
    for (size_t i = 0; parts->marks != NULL && i < parts->graph->tensor_count; ++i)
        free(parts->marks[i]);
    free(parts->marks);
    free(parts->parents);
    free(parts->fracs);
    free(parts->reads);
    free(parts->writes);
    *parts = (struct cnnvp_parts){.graph = NULL};
}

void cnnvp_parts_take_sizes(const struct cnnvp_parts *parts)
{
    struct cnnvp_graph_tensor *tensors = parts->graph->tensors;
    for (size_t i = 0; i < parts->graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *all = &tensors[find(parts, (int32_t)i)];
        all->max_abs = tensors[i].max_abs > all->max_abs ? tensors[i].max_abs : all->max_abs;
        all->fractions |= tensors[i].fractions;
    }
}

/* Tensors that were always 0 take the frac of the others. */
static void take_fracs(const struct cnnvp_parts *parts)
{
    const struct cnnvp_graph *graph = parts->graph;
    struct cnnvp_graph_tensor *tensors = graph->tensors;
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *all = &tensors[find(parts, i)];
        if (!(tensors[i].max_abs > 0.0f))
            continue;
        all->frac = all->max_abs > 0.0f && all->frac < tensors[i].frac ? all->frac : tensors[i].frac;
        all->max_abs = tensors[i].max_abs > all->max_abs ? tensors[i].max_abs : all->max_abs;
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const int32_t source = (int32_t)(graph->tensor_count + i);
        const struct cnnvp_graph_tensor *in = &tensors[cnnvp_graph_format_base(graph, graph->layers[i].in)];
        if (parts->writes[i] != source)
            continue;
        const size_t at = (size_t)find(parts, source);
        struct cnnvp_graph_tensor *all = at < graph->tensor_count ? &tensors[at] : NULL;
        int32_t *frac = frac_of(parts, source);
        *frac = (all == NULL || all->max_abs > 0.0f) && *frac < in->frac ? *frac : in->frac;
        if (all != NULL)
            all->max_abs = in->max_abs > all->max_abs ? in->max_abs : all->max_abs;
    }
}

/* Gives words at the same place of a dimension the same format. `fracs` becomes a source of each place, or, of zeros
 * alone, CNNVP_GRAPH_NONE. */
static void unite_along(const struct cnnvp_parts *parts, int32_t tensor, enum cnnvp_graph_dimension dimension)
{
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    const uint32_t sizes[CNNVP_GRAPH_DIMENSIONS] = {of->channels, of->height, of->width};
    int32_t *sources = of->fracs;
    for (uint32_t i = 0; i < sizes[dimension]; ++i)
        sources[i] = CNNVP_GRAPH_NONE;
    for (uint32_t c = 0; c < of->channels; ++c) {
        const float *mark = plane_of(parts, tensor, c);
        for (uint32_t y = 0; y < of->height; ++y)
            for (uint32_t x = 0; x < of->width; ++x, ++mark) {
                const uint32_t at[CNNVP_GRAPH_DIMENSIONS] = {c, y, x};
                sources[at[dimension]] = unite(parts, sources[at[dimension]], marked(*mark));
            }
    }
}

static size_t count_formats(const struct cnnvp_parts *parts)
{
    size_t count = 0;
    for (size_t i = 0; i < source_count(parts); ++i)
        count += parts->parents[i] == (int32_t)i;
    return count;
}

/* 0: what has this format was always 0. */
static int is_known(const struct cnnvp_parts *parts, int32_t source)
{
    const size_t at = (size_t)find(parts, source);
    return at >= parts->graph->tensor_count || parts->graph->tensors[at].max_abs > 0.0f;
}

/* The bits that the tensor's words lose if they have the formats of another way to unite them. */
static uint64_t lost_bits(const struct cnnvp_parts *parts, const struct cnnvp_parts *other, int32_t tensor,
                          int32_t *least)
{
    const struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    uint64_t lost = 0;
    for (size_t i = 0; i < source_count(parts); ++i)
        least[i] = INT32_MAX;
    for (int32_t i = 0; i < (int32_t)source_count(parts); ++i) {
        int32_t *all = &least[find(other, i)];
        *all = is_known(parts, i) && *frac_of(parts, i) < *all ? *frac_of(parts, i) : *all;
    }
    int32_t last = CNNVP_GRAPH_NONE;
    uint64_t bits = 0; /* that a word with the last mark loses */
    for (size_t c = 0; c < of->channels; ++c) {
        const float *plane = plane_of(parts, tensor, c);
        for (size_t i = 0; i < (size_t)of->height * of->width; ++i) {
            const int32_t mark = marked(plane[i]);
            if (mark != last)
                bits = mark != CNNVP_GRAPH_NONE && is_known(parts, mark)
                           ? (uint64_t)(*frac_of(parts, mark) - least[find(other, mark)])
                           : 0;
            last = mark;
            lost += bits;
        }
    }
    return lost;
}

static cnnvp_result choose_dimension(struct cnnvp_parts *parts, int32_t tensor)
{
    struct cnnvp_graph_tensor *of = &parts->graph->tensors[tensor];
    const size_t count = source_count(parts);
    CNNVP_FREED int32_t *parents = calloc(count, sizeof *parents);
    CNNVP_FREED int32_t *least = calloc(count, sizeof *least);
    struct cnnvp_parts trial = *parts;
    uint64_t fewest = UINT64_MAX;
    size_t formats = 0;
    if (parents == NULL || least == NULL)
        return CNNVP_FAILED;
    trial.parents = parents;
    for (int i = 0; i < CNNVP_GRAPH_DIMENSIONS; ++i) {
        memcpy(parents, parts->parents, count * sizeof *parents);
        unite_along(&trial, tensor, (enum cnnvp_graph_dimension)i);
        const uint64_t lost = lost_bits(parts, &trial, tensor, least);
        if (lost > fewest || (lost == fewest && count_formats(&trial) <= formats))
            continue;
        of->fracs_by = (enum cnnvp_graph_dimension)i;
        fewest = lost;
        formats = count_formats(&trial);
    }
    unite_along(parts, tensor, of->fracs_by);
    take_fracs(parts);
    return CNNVP_DONE;
}

/* 1: all words of the tensor have at most the frac that the largest of them would have alone, and some have less. Then
 * one format serves better: a copy drops bits, which what other layers read keeps. `own`: the fracs before words of
 * other tensors had the same. */
static int is_better_alike(const struct cnnvp_parts *parts, int32_t base, const int32_t *own)
{
    const size_t words = cnnvp_graph_words(&parts->graph->tensors[base]);
    int32_t least = INT32_MAX, now = INT32_MAX, most = INT32_MIN;
    for (size_t i = 0; i < words; ++i) {
        const int32_t mark = marked(parts->marks[base][i]);
        if (mark == CNNVP_GRAPH_NONE || !is_known(parts, mark))
            continue;
        const int32_t frac = *frac_of(parts, mark);
        least = own[mark] < least ? own[mark] : least;
        now = frac < now ? frac : now;
        most = frac > most ? frac : most;
    }
    return now < least && most <= least;
}

cnnvp_result cnnvp_parts_choose(struct cnnvp_parts *parts, int *again)
{
    struct cnnvp_graph *graph = parts->graph;
    CNNVP_FREED int32_t *own = calloc(source_count(parts) + 1, sizeof *own);
    CNNVP_TRY(own != NULL ? CNNVP_DONE : CNNVP_FAILED);
    for (size_t i = 0; i < graph->layer_count; ++i)
        parts->fracs[i] = INT32_MAX;
    take_fracs(parts);
    for (size_t i = 0; i < source_count(parts); ++i)
        own[i] = *frac_of(parts, (int32_t)i);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (graph->tensors[i].fracs != NULL)
            CNNVP_TRY(choose_dimension(parts, i));
    *again = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int32_t base = cnnvp_graph_base(graph, layer->in);
        if (is_copy(graph, layer) && parts->marks[base] != NULL && marks_of(parts, layer->out) != NULL &&
            graph->tensors[base].alike == 0 && is_better_alike(parts, base, own))
            *again = graph->tensors[base].alike = 1;
    }
    set_formats(parts);
    return CNNVP_DONE;
}

int32_t *cnnvp_parts_in(const struct cnnvp_parts *parts, size_t layer)
{
    return frac_of(parts, parts->reads[layer] != CNNVP_GRAPH_NONE
                              ? parts->reads[layer]
                              : cnnvp_graph_format_base(parts->graph, parts->graph->layers[layer].in));
}

int32_t *cnnvp_parts_out(const struct cnnvp_parts *parts, size_t layer)
{
    return frac_of(parts, parts->writes[layer] != CNNVP_GRAPH_NONE
                              ? parts->writes[layer]
                              : cnnvp_graph_format_base(parts->graph, parts->graph->layers[layer].out));
}

void cnnvp_parts_give(const struct cnnvp_parts *parts)
{
    for (size_t i = 0; i < parts->graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *of = &parts->graph->tensors[i];
        if (of->fracs == NULL)
            continue;
        const uint32_t sizes[CNNVP_GRAPH_DIMENSIONS] = {of->channels, of->height, of->width};
        const uint32_t size = sizes[of->fracs_by];
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (uint32_t k = 0; k < size; ++k) {
            if (of->fracs[k] == CNNVP_GRAPH_NONE)
                continue;
            const int32_t frac = *frac_of(parts, of->fracs[k]);
            least = frac < least ? frac : least;
            most = frac > most ? frac : most;
        }
        for (uint32_t k = 0; k < size; ++k)
            of->fracs[k] = of->fracs[k] != CNNVP_GRAPH_NONE ? *frac_of(parts, of->fracs[k]) : least;
        if (least == most) {
            of->frac = least;
            of->fracs = NULL;
        }
    }
}
