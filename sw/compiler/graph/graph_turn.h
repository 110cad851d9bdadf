/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with permuted dimensions, here called turns. For graph_turn.c, graph_undo.c and graph_undo_parts.c. */
#pragma once

#include "graph_edit.h"
#include "permutation.h"

/* What is found before anything is changed. */
struct cnnvp_look {
    int left;  /* how many more layers are looked at */
    int turns; /* that would be undone */
};

struct cnnvp_turn {
    struct cnnvp_permutation order;  /* of the channels, rows and columns that it reads */
    struct cnnvp_graph_tensor shape; /* of its result */
    int depth;                       /* layers between it and what is undone */
    struct cnnvp_look *look;         /* NULL: the layers are changed */
};

/* A turn of the tensor, with a result of four dimensions. */
struct cnnvp_turn cnnvp_turn_of(const struct cnnvp_graph_tensor *tensor, const uint32_t from[3]);

/*
 * Finds what the turn would make of the tensor, if turns that this one undoes have made that, possibly through layers
 * of single words, copies of parts, pools and turns that become one with it. Layers on the way then work on what was
 * turned, and are turned instead. CNNVP_GRAPH_NONE: out of memory.
 * With turn->look nothing is changed, and the result is CNNVP_GRAPH_NONE if it is not so; else the tensor or, if one
 * turn alone makes it, what that reads.
 */
int32_t cnnvp_graph_undo(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn);
/* Only looks, as with turn->look. *turns becomes the number of turns that would be undone. */
int32_t cnnvp_graph_can_undo(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn, int *turns);
/* The same for what makes the tensor that the turn would read, which may have other sizes. */
int32_t cnnvp_graph_undo_other(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn);
/* The same for the result of a turn that becomes one with this turn: the permutation `order` of its source, of two or
 * three dimensions. */
int32_t cnnvp_graph_undo_turn(struct cnnvp_graph *graph, int32_t tensor, int32_t source,
                              const struct cnnvp_permutation *order, const struct cnnvp_turn *turn);
/* The same for a tensor that copies of parts make, and for some channels of a tensor. */
int32_t cnnvp_graph_undo_copies(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn);
int32_t cnnvp_graph_undo_part(struct cnnvp_graph *graph, int32_t tensor, int32_t whole, uint32_t first,
                              const struct cnnvp_turn *turn);

/* The only layer that makes the tensor's words, if the tensor shows all of them; -1: there is no such layer. */
ptrdiff_t cnnvp_graph_maker(const struct cnnvp_graph *graph, int32_t tensor);
/* 1: all words of the layer's result are 0. */
int cnnvp_graph_is_zero(const struct cnnvp_graph_layer *layer);
/* 1: the copy's words are all 0. */
int cnnvp_graph_copies_zeros(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* The tensor of which a copy of a part copies some words; CNNVP_GRAPH_NONE: the layer is no such copy. */
int32_t cnnvp_graph_copied(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer);
/* Adds the place of a view of some channels, and goes on to what it shows. */
int32_t cnnvp_graph_whole_of(const struct cnnvp_graph *graph, int32_t tensor, uint32_t *first);

static inline int cnnvp_graph_has_sizes(const struct cnnvp_graph_tensor *tensor, const uint32_t sizes[3])
{
    return tensor->channels == sizes[0] && tensor->height == sizes[1] && tensor->width == sizes[2];
}
/* Numbers for each dimension in the order of the turn's result. */
void cnnvp_turn_reorder(const struct cnnvp_turn *turn, uint32_t numbers[3]);
/* Inserts a layer at `index` that makes `old` by turning `made` back. 0: out of memory. */
int cnnvp_graph_turn_back(struct cnnvp_graph *graph, size_t index, const struct cnnvp_graph_layer *layer, int32_t made,
                          int32_t old, const struct cnnvp_turn *turn);
/* The index behind the last layer that makes some of the tensor's words. */
size_t cnnvp_graph_after_makers(const struct cnnvp_graph *graph, int32_t tensor);
