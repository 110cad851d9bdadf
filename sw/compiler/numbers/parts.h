/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joined words of several formats. Layers that only copy words need not know what they stand for, so a tensor that is
 * read by such layers, by the host, or part by part, may have several formats: those of the layers that calculate its
 * words. Detectors join boxes in pixels with scores, as channels or as columns, and may take them apart again.
 *
 * Words of such a tensor are marked with their source, and the marks are copied as the words are. A source is a tensor,
 * or a copy of one that other layers read, too: it may have fewer fraction bits. What a layer calculates with has one
 * format, and so have words of an output at the same channel, row or column, whichever loses fewest bits by it.
 */
#pragma once

#include "graph.h"

struct cnnvp_parts {
    struct cnnvp_graph *graph;
    float **marks;    /* of each tensor with several formats: 1 + the source of each word; 0: the word is 0 */
    int32_t *parents; /* of each source, tensors before layers: another one with the same format, or itself */
    int32_t *fracs;   /* of each layer that is a source */
    int32_t *reads;   /* of each layer: the source of the words that it copies from such a tensor; else the input */
    int32_t *writes;  /* of each layer: the source of the words that it copies to such a tensor; else the output */
};

/* Finds these tensors: sets `format` and allocates `fracs`. Of a weightless graph it finds none. Failed: out of memory.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_parts_find(struct cnnvp_graph *graph, struct cnnvp_parts *parts);
/* Gives tensors that have the same format the largest magnitude of all. */
void cnnvp_parts_take_sizes(const struct cnnvp_parts *parts);
/* Chooses the dimension for formats of each of these tensors. Sources with the same format get the smallest frac of
 * those that were not always 0. *again: 1: it marks further tensors that one format serves better, as they lose more
 * bits for others; then all formats are to be chosen again. */
CNNVP_MUST_USE cnnvp_result cnnvp_parts_choose(struct cnnvp_parts *parts, int *again);
/* The frac of what the layer reads first, and of what it writes. */
int32_t *cnnvp_parts_in(const struct cnnvp_parts *parts, size_t layer);
int32_t *cnnvp_parts_out(const struct cnnvp_parts *parts, size_t layer);
/* 1: a copy of the tensor drops bits rather than the tensor, which other layers read, too, or read what a layer makes
 * it from that gives both the same format, such as ReLU. */
int cnnvp_parts_keep_bits(const struct cnnvp_graph *graph, int32_t tensor);
/* Sets `fracs` from those of the sources. Words that are always 0 have the least. If all are equal, the tensor has one
 * format: `fracs` becomes NULL. */
void cnnvp_parts_give(const struct cnnvp_parts *parts);
void cnnvp_parts_clear(struct cnnvp_parts *parts);
