/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes tables for the vector unit's instruction vact (models/inference/lanes/lanes.h), and computes the functions
 * behind them. The code only adds, multiplies, divides and scales by powers of two in a fixed order, so that results
 * are the same on every machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

/* With this many segments, sigmoid and tanh are within 5e-4 of the exact value before the result is rounded. */
#define CNNVP_PWL_SEGMENTS 256u
/* Beyond this magnitude of the argument, sigmoid and tanh are straight within the same error. */
#define CNNVP_PWL_RANGE 8.0
/* Number of words of a table with this many segments. */
#define CNNVP_PWL_WORDS(segments) (4u + 2u * (segments))

/* Functions of one variable, with a relative error below 1e-14. */
double cnnvp_sigmoid(double x);
double cnnvp_tanh(double x);
double cnnvp_erf(double x);

/*
 * Fills `table` for a function whose input words have `in_frac` fraction bits and whose results have `out_frac`. The
 * segments lie between `low` and `high`. The first and the last one extend to the ends of the 16-bit words, and are
 * fitted to them. Unless low is -high, another one has all words below `low`.
 *
 * segments: 2 .. 8192, even. The table has fewer if the range has fewer words.
 * *words: in: size of `table`, CNNVP_PWL_WORDS(segments) is enough; out: number of words of the table.
 * *shift: out: bits 7:0 of the register `format` of vact.
 * Returns 0, or -1 if an argument is out of range, the table is too small, or the function's slopes or values do not
 * fit the format; it then writes nothing. in_frac, out_frac: -16 .. 60.
 */
CNNVP_MUST_USE int cnnvp_pwl_table_of(double (*function)(const void *context, double x), const void *context,
                                      double low, double high, int in_frac, int out_frac, size_t segments,
                                      int16_t *table, size_t *words, int *shift);
