/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler and disassembler of the accelerator's instruction set. */
#ifndef CNNVP_ASM_H
#define CNNVP_ASM_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Assembles text into 64-bit words. `file` names the text in messages. `custom`: instructions that units add, as from
 * cnnvp_config_instructions; NULL: only the built-in ones. Free *words with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_assemble(const char *file, const char *text,
                                           const struct cnnvp_instruction *const *custom, uint64_t **words,
                                           size_t *count, struct cnnvp_error *error);
/* Disassembles into text that assembles to the same words. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_disassemble(const char *file, const uint8_t *bytes, size_t size,
                                              const struct cnnvp_instruction *const *custom, char **text,
                                              struct cnnvp_error *error);

/* Loads `size` bytes of assembled words together with a guest program (found as for cnnvp_network_load). The guest lets
 * the instruction element execute the words, then ends: with code 0, or with code 1 and an explanation if the element
 * stopped with an error. Program and words start at 0x80000000; the data of the words may lie after them. `config` is
 * the platform's. BAD_INPUT: no instruction element, interrupt controller or memory, too many words, or no whole ones.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_load_words(cnnvp_platform *platform, const cnnvp_config *config, const uint8_t *bytes,
                                             size_t size, struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
