/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels and beside the float model's. */
#ifndef CNNVP_CLI_ACCURACY_H
#define CNNVP_CLI_ACCURACY_H

#include <stdio.h>

#include "cnnvp.h"

/* Labels are whole numbers, one for each image: [N] or [N, 1]. `file` is for the message. */
CNNVP_MUST_USE cnnvp_result accuracy_check_labels(const char *file, const struct cnnvp_array *labels);
/* One label for each image of the outputs. */
CNNVP_MUST_USE cnnvp_result accuracy_check(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                           const struct cnnvp_array *labels);
/* Top-1 of the output and of the float model; for arrays that passed accuracy_check. */
void accuracy_print(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                    const struct cnnvp_array *labels, FILE *stream);
/* The largest difference from the float model, relative to its largest magnitude. */
void accuracy_print_difference(const struct cnnvp_array *output, const struct cnnvp_array *reference, FILE *stream);

#endif
