/* SPDX-License-Identifier: Apache-2.0 */
/* A file that appears under its name only when it is complete: written under a name of its own, then renamed. */
#ifndef CNNVP_PLATFORM_OUTPUT_FILE_H
#define CNNVP_PLATFORM_OUTPUT_FILE_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cnnvp_output cnnvp_output;

/* 1 for something that is there and not a plain file or a folder: a terminal, a pipe, /dev/null, a link (such as
 * /dev/stdout) to anything but a folder. It is written in place. */
int cnnvp_output_is_special(const char *file);
/* The folder that a file is or would be in. NULL: out of memory. Free with free(). */
char *cnnvp_output_folder(const char *file);
/* Refuses a name that cnnvp_output_new could not write: its folder is missing or closed, or it is a folder itself. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_check(const char *file, struct cnnvp_error *error);

CNNVP_MUST_USE cnnvp_result cnnvp_output_new(const char *file, cnnvp_output **output, struct cnnvp_error *error);
/* Buffered. The first error is kept for cnnvp_output_finish, what follows it is dropped. */
void cnnvp_output_write(cnnvp_output *output, const void *data, size_t size);
/* The same of a text, of at most 128 KiB. */
void cnnvp_output_printf(cnnvp_output *output, const char *format, ...) CNNVP_PRINTF(2, 3);
/* Room for `size` bytes, at most 4096, to be filled at once; cnnvp_output_filled says how many were. */
unsigned char *cnnvp_output_room(cnnvp_output *output, size_t size);
void cnnvp_output_filled(cnnvp_output *output, size_t size);
/* Closes and renames, or removes what was written. Frees `output`. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_finish(cnnvp_output *output, struct cnnvp_error *error);
/* All of a file. */
CNNVP_MUST_USE cnnvp_result cnnvp_output_whole(const char *file, const void *data, size_t size,
                                               struct cnnvp_error *error);
/* Gives up: nothing stays. NULL is allowed. */
void cnnvp_output_discard(cnnvp_output *output);

#ifdef __cplusplus
}
#endif

#endif
