/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The softmax module of S001 (kind `softmax`) with cross-entropy and its gradient, and its arithmetic, independent of
 * any host (S001 C10, Part B 1-17). For each image
 *
 *   p[c] = e^(x[c] - max x) / sum,   loss = ln sum - (x[label] - max x),   gradient[c] = (p[c] - (c == label)) * factor
 *
 * in binary64 with cnnvp_elementary_exp and cnnvp_elementary_ln. Sums are in the order of classes, and results are
 * rounded to binary32 once. A factor of 1 / batch makes gradients means. An infinite x is taken as the largest binary32
 * of its sign, NaN as the most negative.
 */
#ifndef CNNVP_SOFTMAX_H
#define CNNVP_SOFTMAX_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_softmax;

/* Result of an image's classification. */
struct cnnvp_softmax_result {
    double loss;
    uint32_t predicted; /* class of the largest x; the first of equal ones */
    uint32_t nonfinite; /* values of x that were not finite */
};

/* Classifies images. x, p and gradient are [images][classes]; either p or gradient may be x. `gradient` and `labels`
 * may be NULL (without labels the loss is 0). Returns CNNVP_E_INVAL, with nothing written, if a label is not a
 * class. */
CNNVP_MUST_USE int cnnvp_softmax_classify(uint64_t images, uint32_t classes, const float *x, const uint32_t *labels,
                                          double factor, float *p, float *gradient,
                                          struct cnnvp_softmax_result *results);

#endif
