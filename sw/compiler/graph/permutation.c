/* SPDX-License-Identifier: Apache-2.0 */
#include "permutation.h"

#include <string.h>

struct cnnvp_permutation cnnvp_permutation_of(const struct cnnvp_graph_tensor *tensor, const uint32_t from[3])
{
    return (struct cnnvp_permutation){
        3, {tensor->channels, tensor->height, tensor->width}, {from[0], from[1], from[2]}};
}

struct cnnvp_permutation cnnvp_permutation_inverse(const struct cnnvp_permutation *order)
{
    struct cnnvp_permutation inverse = {.count = order->count};
    for (uint32_t i = 0; i < order->count; ++i) {
        inverse.sizes[i] = order->sizes[order->from[i]];
        inverse.from[order->from[i]] = i;
    }
    return inverse;
}

void cnnvp_permutation_reduce(struct cnnvp_permutation *order)
{
    uint32_t *sizes = order->sizes, *from = order->from;
    for (uint32_t i = 0; i < order->count;) {
        const uint32_t gone = from[i];
        const int follows = i > 0 && gone == from[i - 1] + 1;
        if (sizes[gone] != 1 && !follows) {
            ++i;
            continue;
        }
        if (follows)
            sizes[gone - 1] *= sizes[gone];
        --order->count;
        memmove(sizes + gone, sizes + gone + 1, (order->count - gone) * sizeof *sizes);
        memmove(from + i, from + i + 1, (order->count - i) * sizeof *from);
        for (uint32_t k = 0; k < order->count; ++k)
            from[k] -= from[k] > gone;
        i = 0;
    }
}

int cnnvp_permutation_join(const struct cnnvp_permutation *first, const struct cnnvp_permutation *second,
                           struct cnnvp_permutation *both)
{
    uint32_t sizes[CNNVP_GRAPH_RANK], of_first[CNNVP_GRAPH_RANK], of_second[CNNVP_GRAPH_RANK];
    uint32_t places[CNNVP_GRAPH_RANK], parts = 0, i = 0, k = 0, left = 1, other = 1, made = 0;
    for (;; ++parts) {
        while (left == 1 && i < first->count)
            left = first->sizes[first->from[i++]];
        while (other == 1 && k < second->count)
            other = second->sizes[k++];
        if (left == 1 || other == 1)
            break;
        const uint32_t size = left < other ? left : other;
        if (left % size != 0 || other % size != 0 || parts == CNNVP_GRAPH_RANK)
            return 0;
        sizes[parts] = size;
        of_first[parts] = first->from[i - 1];
        of_second[parts] = k - 1;
        left /= size;
        other /= size;
    }
    both->count = parts;
    for (uint32_t d = 0; d < first->count; ++d)
        for (uint32_t p = 0; p < parts; ++p)
            if (of_first[p] == d) {
                both->sizes[made] = sizes[p];
                places[p] = made++;
            }
    made = 0;
    for (uint32_t d = 0; d < second->count; ++d)
        for (uint32_t p = 0; p < parts; ++p)
            if (of_second[p] == second->from[d])
                both->from[made++] = places[p];
    return left == other;
}

int cnnvp_graph_is_turn(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->permuted != 0 && layer->placed == 0 && layer->concat == 0 &&
           layer->cropped == 0 && cnnvp_graph_passes(layer);
}

const struct cnnvp_graph_layer *cnnvp_graph_turning(const struct cnnvp_graph *graph, int32_t in)
{
    const int32_t base = cnnvp_graph_base(graph, in);
    const struct cnnvp_graph_layer *layer = NULL;
    for (size_t i = graph->layer_count; i-- > 0 && layer == NULL;)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base)
            layer = &graph->layers[i];
    const int turns = layer != NULL && layer->out == base && cnnvp_graph_is_turn(layer);
    return turns && cnnvp_graph_words(&graph->tensors[in]) == cnnvp_graph_words(&graph->tensors[base]) ? layer : NULL;
}

int32_t cnnvp_graph_see_through(const struct cnnvp_graph *graph, int32_t in, const struct cnnvp_permutation *order,
                                struct cnnvp_permutation *both)
{
    const struct cnnvp_graph_layer *layer = cnnvp_graph_turning(graph, in);
    if (layer == NULL)
        return CNNVP_GRAPH_NONE;
    const struct cnnvp_permutation first = cnnvp_permutation_of(&graph->tensors[layer->in], layer->from);
    return cnnvp_permutation_join(&first, order, both) ? layer->in : CNNVP_GRAPH_NONE;
}
