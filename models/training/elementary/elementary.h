/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exponential and natural logarithm in binary64 from additions, multiplications and divisions in a fixed order: the
 * same bits on every host and compiler (without contraction), which a C library's are not. Within 2 units in the
 * last place.
 */
#ifndef CNNVP_ELEMENTARY_H
#define CNNVP_ELEMENTARY_H

/* e^x. Below about -708 it is 0 (no subnormal results), above about 709 infinite; NaN stays. */
double cnnvp_elementary_exp(double x);

/* ln x of a finite x > 0 (subnormal as well); 0 gives minus infinity, a negative x or NaN a NaN, infinity itself. */
double cnnvp_elementary_ln(double x);

#endif
