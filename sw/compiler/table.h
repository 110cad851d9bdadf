/* SPDX-License-Identifier: Apache-2.0 */
/* Piecewise-linear tables of post-operations, as vact reads them. */
#ifndef CNNVP_COMPILER_TABLE_H
#define CNNVP_COMPILER_TABLE_H

#include "graph.h"

/* The function that a post with a table stands for, in double. */
double cnnvp_post_function(const struct cnnvp_graph_post *post, double x);

/* Words of the table of any such post; they do not depend on formats. */
uint32_t cnnvp_post_table_words(void);

/* Fills the words for x with in_frac fraction bits and results with out_frac; *format is vact's descriptor register. */
CNNVP_MUST_USE cnnvp_result cnnvp_post_table(const struct cnnvp_graph_post *post, int32_t in_frac, int32_t out_frac,
                                             uint32_t rounding, int16_t *words, uint32_t *format,
                                             struct cnnvp_error *error);

#endif
