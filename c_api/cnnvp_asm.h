/* SPDX-License-Identifier: Apache-2.0 */
/* The accelerator's instruction set as text. */
#ifndef CNNVP_ASM_H
#define CNNVP_ASM_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Assembles text (named `file` in messages) into 64-bit words. Free words with free(). `custom`:
 * instructions that units bring, as cnnvp_config_instructions says them; NULL: the built-in ones alone. */
CNNVP_MUST_USE cnnvp_result cnnvp_assemble(const char *file, const char *text,
                                           const struct cnnvp_instruction *const *custom, uint64_t **words,
                                           size_t *count, struct cnnvp_error *error);
/* Text that assembles to the same words. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_disassemble(const char *file, const uint8_t *bytes, size_t size,
                                              const struct cnnvp_instruction *const *custom, char **text,
                                              struct cnnvp_error *error);

/* Loads assembled words, `size` bytes, and the guest program (as cnnvp_network_load finds it) that has the instruction
 * element read them and ends when they have: with code 0, or 1 after an explanation where the element has stopped. The
 * program and the words lie from 0x80000000 on; data of the words may lie after them. `config` is the platform's.
 * BAD_INPUT: no instruction element, interrupt controller or memory, or too many words. */
CNNVP_MUST_USE cnnvp_result cnnvp_load_words(cnnvp_platform *platform, const cnnvp_config *config, const uint8_t *bytes,
                                             size_t size, struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
