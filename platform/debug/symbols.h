/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at an address of the core's program: its function, by the symbol table, and the line of a source, by the
 * debugging information (DWARF, read by elfutils' libdw). Plain C, no SystemC.
 */
#ifndef CNNVP_PLATFORM_SYMBOLS_H
#define CNNVP_PLATFORM_SYMBOLS_H

#include "elf_file.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_symbols;

/* The program is not needed any more afterwards. with_lines 0: no line is known. NULL without memory. */
struct cnnvp_symbols *cnnvp_symbols_new(const struct cnnvp_elf *elf, int with_lines);
void cnnvp_symbols_free(struct cnnvp_symbols *symbols);

/* Name of the function at or before an address, and where it begins; NULL if there is none. */
const char *cnnvp_symbols_function(const struct cnnvp_symbols *symbols, uint32_t address, uint32_t *begin);

/* How many of sorted elements lie at or before an address; each begins with its address, a uint32_t. */
size_t cnnvp_symbols_before(const void *elements, size_t count, size_t size, uint32_t address);

/* Line and file of the source, 0 and NULL where nothing says so. */
uint32_t cnnvp_symbols_line(const struct cnnvp_symbols *symbols, uint32_t address, const char **file);

#ifdef __cplusplus
}
#endif

#endif
