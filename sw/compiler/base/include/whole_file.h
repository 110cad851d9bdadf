/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear under their name only when they are complete. */
#ifndef CNNVP_COMPILER_WHOLE_FILE_H
#define CNNVP_COMPILER_WHOLE_FILE_H

#include <stdio.h>

#include "compiler.h"

struct cnnvp_whole_file {
    const char *name; /* the caller's */
    FILE *stream;
    char *temporary; /* empty: written in place, where the name stands for a device, a pipe or a link */
};

CNNVP_MUST_USE cnnvp_result cnnvp_whole_open(const char *name, struct cnnvp_whole_file *file,
                                             struct cnnvp_error *error);
/* Gives the file its name if `complete` and nothing went wrong with writing, removes it otherwise; DONE in the first
 * case. If `complete` is 0 the error is left as it is. */
CNNVP_MUST_USE cnnvp_result cnnvp_whole_close(struct cnnvp_whole_file *file, int complete, struct cnnvp_error *error);

#endif
