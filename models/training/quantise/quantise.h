/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantiser of S001 (kind `quantise`) and how it finds exponents, free of any host: block floating point
 * (cnnvp_bfp.h) whose exponent comes from the max-min buffer, without another sweep over the data (S001 C7, Part B
 * 1-25): extremes of a channel before batch norm are mapped through it and through ReLU, both of which are monotone
 * also in binary32, and the largest magnitude gives the exponent. In backward the same for errors, in range form and
 * without batch norm; in standard form inputs take part, and a sweep is needed.
 */
#ifndef CNNVP_QUANTISE_H
#define CNNVP_QUANTISE_H

#include "cnnvp_tile.h"

#include <stdbool.h>

extern const struct cnnvp_unit cnnvp_unit_quantise;

#endif
