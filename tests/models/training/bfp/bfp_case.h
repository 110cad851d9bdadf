/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference that the tests share: binary64 holds every scaled binary32 and every scaled 32-bit sum exactly, so
 * trunc, floor and rint of the C library give the mantissa.
 */
#ifndef CNNVP_TESTS_BFP_CASE_H
#define CNNVP_TESTS_BFP_CASE_H

#include "test.h"

#include "cnnvp_bfp.h"

uint32_t bfp_random(void);

float bfp_float_of(uint32_t bits);

/* Any bit pattern, subnormals and values near each other more often than their share. */
float bfp_random_float(void);

/* A mantissa of `bits` bits. */
int32_t bfp_clipped(double mantissa, uint32_t bits, uint64_t *saturated);

/* The mantissa by the definition; stochastic by way of the fraction. */
int32_t bfp_expected(double value, int8_t exponent, const struct cnnvp_bfp_format *format, uint64_t index,
                     struct cnnvp_bfp_counts *counts);

int8_t bfp_expected_exponent(const float *values, size_t n, struct cnnvp_bfp_counts *counts);

void bfp_check_counts(const struct cnnvp_bfp_counts *a, const struct cnnvp_bfp_counts *b);

#endif
