/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels and beside the float model's. */
#ifndef CNNVP_CLI_ACCURACY_H
#define CNNVP_CLI_ACCURACY_H

#include <stdio.h>

#include "run.h"

/* Top-1 of the output and of the float model. */
void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream);
/* In words: SQNR, the largest difference relative to the largest magnitude, agreement of a classifier's top-1. `name`,
 * of one of several outputs, may be NULL. */
void accuracy_print_difference(const char *name, const struct cnnvp_difference *difference, FILE *stream);

/* An output with less than this is warned of. */
enum { ACCURACY_DECIBELS = 20 };
/* To standard error, where there is reason to. */
void accuracy_warn(const char *name, const struct cnnvp_difference *difference);

#endif
