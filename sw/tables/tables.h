/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for the vector unit's instruction vact (models/inference/lanes/lanes.h), and the functions behind them.
 * Everything here uses additions, multiplications, divisions and scaling by powers of two in a fixed order, so that its
 * results are the same on every machine.
 */
#ifndef CNNVP_TABLES_H
#define CNNVP_TABLES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CNNVP_MUST_USE
#if defined(__GNUC__)
#define CNNVP_MUST_USE __attribute__((warn_unused_result))
#else
#define CNNVP_MUST_USE
#endif
#endif

/* Segments that keep sigmoid and tanh within 5e-4 of the exact value (beside the rounding of the result). */
#define CNNVP_PWL_SEGMENTS 256u
/* Largest magnitude of an argument beyond which sigmoid and tanh are straight to within that. */
#define CNNVP_PWL_RANGE 8.0
/* Words of a table with this many segments. */
#define CNNVP_PWL_WORDS(segments) (4u + 2u * (segments))

/* Functions of one variable. Relative error below 1e-14. */
double cnnvp_exp(double x);
double cnnvp_sigmoid(double x);
double cnnvp_tanh(double x);
double cnnvp_erf(double x);
/* x > 0 */
double cnnvp_log(double x);

/*
 * Fills `table` for a function of words with `in_frac` fraction bits whose results have `out_frac`. The straight
 * pieces lie between -range and range; the first and the last go on to the ends of the 16-bit words, and are fitted to
 * them. `positive`: the pieces lie between 0 and range, and one has all words below 0.
 *
 * segments: 2 .. 8192, even. Where words within the range are fewer, the table has fewer.
 * *words: in: room in `table`, CNNVP_PWL_WORDS(segments) is enough; out: words of the table.
 * *shift: out: bits 7:0 of the register `format` of vact.
 * Returns 0, or -1 where an argument is out of range, the room is too small, or the function's slopes or values do not
 * fit the format (and then writes nothing). in_frac, out_frac: -16 .. 60.
 */
CNNVP_MUST_USE int cnnvp_pwl_table_of(double (*function)(const void *context, double x), const void *context,
                                      double range, int positive, int in_frac, int out_frac, size_t segments,
                                      int16_t *table, size_t *words, int *shift);

#ifdef __cplusplus
}
#endif

#endif
