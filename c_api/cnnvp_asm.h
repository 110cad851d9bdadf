/* SPDX-License-Identifier: Apache-2.0 */
/* The accelerator's instruction set as text. */
#ifndef CNNVP_ASM_H
#define CNNVP_ASM_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Assembles text (named `file` in messages) into 64-bit words. Free words with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_assemble(const char *file, const char *text, uint64_t **words, size_t *count,
                                           struct cnnvp_error *error);
/* Text that assembles to the same words. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_disassemble(const char *file, const uint8_t *bytes, size_t size, char **text,
                                              struct cnnvp_error *error);

#ifdef __cplusplus
}
#endif

#endif
