/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exponential and natural logarithm in binary64, made of additions, multiplications and divisions in a fixed order.
 * Unlike a C library's, the results have the same bits on every host and compiler (without contraction). Errors are at
 * most 2 units in the last place.
 */
#pragma once

/* e^x. 0 below about -708 (no subnormal results), infinite above about 709; NaN gives NaN. */
double cnnvp_elementary_exp(double x);

/* ln x of a finite x > 0, subnormal or not. 0 gives minus infinity, a negative x or NaN gives NaN, infinity gives
 * infinity. */
double cnnvp_elementary_ln(double x);
