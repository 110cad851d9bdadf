/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside labels and beside the float model's. */
#ifndef CNNVP_CLI_ACCURACY_H
#define CNNVP_CLI_ACCURACY_H

#include <stdio.h>

#include "cnnvp_explore.h"

/* Top-1 of the output and of the float model. */
void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream);
/* The largest difference from the float model, relative to its largest magnitude. `name`, of one of several outputs,
 * may be NULL. */
void accuracy_print_difference(const char *name, const struct cnnvp_array *output, const struct cnnvp_array *reference,
                               FILE *stream);

#endif
