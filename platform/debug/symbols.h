/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps addresses of the core's program to functions (symbol table) and to source lines (DWARF debugging information,
 * read by elfutils' libdw). Plain C, no SystemC.
 */
#pragma once

#include "elf_file.h"

struct cnnvp_symbols;

/* `elf` is not needed afterwards. with_lines 0: source lines are not read. NULL: out of memory. */
struct cnnvp_symbols *cnnvp_symbols_new(const struct cnnvp_elf *elf, int with_lines);
void cnnvp_symbols_free(struct cnnvp_symbols *symbols);

/* Name and start of the function at or before an address; NULL if there is none. */
const char *cnnvp_symbols_function(const struct cnnvp_symbols *symbols, uint32_t address, uint32_t *begin);

/* Number of sorted elements at or before an address. Each element begins with its address, a uint32_t. */
size_t cnnvp_symbols_before(const void *elements, size_t count, size_t size, uint32_t address);

/* Source line and file of an address; 0 and NULL if unknown. */
uint32_t cnnvp_symbols_line(const struct cnnvp_symbols *symbols, uint32_t address, const char **file);
