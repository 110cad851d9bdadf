/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and reads files that users supply. */
#pragma once

#include "cnnvp.h"

/* Message for a file of Git LFS that was not fetched: a few lines of text in place of its bytes. */
#define CNNVP_LFS_POINTER "a Git LFS pointer: git lfs pull"
/* Returns 1 if the open file is such a pointer. Keeps the file position. */
int cnnvp_input_is_lfs(int descriptor);

/* Reads a whole file of at most `limit` bytes and appends a zero byte. Free *text with free(). `size` may be NULL. */
CNNVP_MUST_USE cnnvp_result cnnvp_input_text(const char *file, size_t limit, char **text, size_t *size,
                                             struct cnnvp_error *error);

/* Opens a regular file. Anything else, such as a pipe without a writer, is refused instead of waited for. Returns the
 * descriptor and *size, or -1 with a message such as "NAME: not a regular file; WHAT is needed". */
CNNVP_MUST_USE int cnnvp_input_open(const char *name, const char *what, size_t *size, struct cnnvp_error *error);
