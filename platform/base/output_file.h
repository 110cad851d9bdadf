/* SPDX-License-Identifier: Apache-2.0 */
/* An output file that appears under its name only when it is complete. */
#pragma once

#include "cnnvp.h"

typedef struct cnnvp_output cnnvp_output;

/* 1 for an existing object that is neither a plain file nor a folder: a terminal, a pipe, /dev/null, or a link (such as
 * /dev/stdout) to anything but a folder. It is written in place. */
int cnnvp_output_is_special(const char *file);
/* The folder of an existing or future file. NULL: out of memory. Free with free(). */
char *cnnvp_output_folder(const char *file);
/* Refuses a name that cnnvp_output_new could not write: the folder is missing or not writable, or the name is a
 * folder. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_check(const char *file, struct cnnvp_error *error);

CNNVP_MUST_USE cnnvp_result cnnvp_output_new(const char *file, cnnvp_output **output, struct cnnvp_error *error);
/* Buffered. The first error is kept for cnnvp_output_finish; later data is dropped. */
void cnnvp_output_write(cnnvp_output *output, const void *data, size_t size);
/* The same for a formatted text of at most 128 KiB. */
void cnnvp_output_printf(cnnvp_output *output, const char *format, ...) CNNVP_PRINTF(2, 3);
/* Returns room for `size` bytes, at most 4096, to be filled at once; cnnvp_output_filled tells how many were filled. */
unsigned char *cnnvp_output_room(cnnvp_output *output, size_t size);
void cnnvp_output_filled(cnnvp_output *output, size_t size);
/* Completes the file under its name, or reports the first error and leaves no file. Frees `output`. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_finish(cnnvp_output *output, struct cnnvp_error *error);
/* Writes a whole file. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_whole(const char *file, const void *data, size_t size,
                                               struct cnnvp_error *error);
/* Discards the output without a trace. NULL is allowed. */
void cnnvp_output_discard(cnnvp_output *output);
