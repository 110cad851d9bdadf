/* SPDX-License-Identifier: Apache-2.0 */
/* Files that people hand over, opened for reading. */
#ifndef CNNVP_PLATFORM_INPUT_FILE_H
#define CNNVP_PLATFORM_INPUT_FILE_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a file of Git LFS is called that was not fetched: a few lines of text in place of its bytes. */
#define CNNVP_LFS_POINTER "a Git LFS pointer: git lfs pull"
/* 1: the open file is one. Its position stays as it is. */
int cnnvp_input_is_lfs(int descriptor);

/* A whole file of at most `limit` bytes, to be given back with free(); a zero byte is added. `size` may be NULL. */
CNNVP_MUST_USE cnnvp_result cnnvp_input_text(const char *file, size_t limit, char **text, size_t *size,
                                             struct cnnvp_error *error);

/* Opens a regular file; what is none, such as a pipe that nobody writes to, is refused and not waited for. Returns the
 * descriptor and *size, or -1 and the message "NAME: not a regular file; WHAT is needed" or its like. */
CNNVP_MUST_USE int cnnvp_input_open(const char *name, const char *what, size_t *size, struct cnnvp_error *error);

#ifdef __cplusplus
}
#endif

#endif
