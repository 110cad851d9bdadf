/* SPDX-License-Identifier: Apache-2.0 */
/* Which single change of the platform or of the options would help a run most, by its objective: each parameter is
 * doubled and halved, memories take each other part, and the network runs again, timing only. */
#ifndef CNNVP_CLI_ADVISE_H
#define CNNVP_CLI_ADVISE_H

#include <stdio.h>

#include "run.h"
#include "try.h"

/* `config` is resolved; the run has been planned with it. Prints a table of what helps, and writes it into `file`, for
 * the run's page; NULL: it has none. */
CNNVP_MUST_USE cnnvp_result advise(const struct cnnvp_run *run, const cnnvp_config *config, const char *file,
                                   FILE *stream, struct cnnvp_error *error);
/* Of a run with these statistics that was short: batches and maps on chip are tried, timing only. A line says which of
 * them is best by the objective, and what it gains; none, if nothing does. */
CNNVP_MUST_USE cnnvp_result advise_way(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics,
                                       FILE *stream, struct cnnvp_error *error);

#endif
