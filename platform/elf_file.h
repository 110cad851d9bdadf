/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads RV32 little-endian executables (System V ABI, chapter 4; RISC-V ELF psABI). All contents of the file are
 * checked before use; errors say what is wrong. Plain C, no SystemC.
 */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "cnnvp.h"

/* A loaded segment: `file_size` bytes of data, followed by zeros up to `memory_size`. */
struct cnnvp_elf_segment {
    uint32_t address; /* physical address of the bytes */
    uint32_t memory_size;
    uint32_t file_size;
    const uint8_t *data;
};

struct cnnvp_elf {
    uint8_t *data; /* the whole file */
    size_t size;
    Elf32_Ehdr header;
    struct cnnvp_elf_segment *segments;
    size_t segment_count;
    const uint8_t *symbols;
    size_t symbol_count;
    const char *names; /* names of the symbols */
    size_t names_size;
};

/* Free with cnnvp_elf_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_elf_read(const char *file, struct cnnvp_elf **elf, struct cnnvp_error *error);
/* The same from memory of malloc, which it takes over in any case; `name` is for messages. */
CNNVP_MUST_USE cnnvp_result cnnvp_elf_take(const char *name, uint8_t *data, size_t size, struct cnnvp_elf **elf,
                                           struct cnnvp_error *error);
void cnnvp_elf_free(struct cnnvp_elf *elf);

/* Returns 1 with name and address if the symbol of this index names code: a function, or a label of assembler
 * source. */
int cnnvp_elf_function(const struct cnnvp_elf *elf, size_t index, const char **name, uint32_t *address);
/* Returns 1 with address and size if the symbol of this index names a variable, an array or a constant. */
int cnnvp_elf_object(const struct cnnvp_elf *elf, size_t index, uint32_t *address, uint32_t *size);
/* Returns 1 with the value if the symbol exists, otherwise 0. */
int cnnvp_elf_symbol(const struct cnnvp_elf *elf, const char *name, uint32_t *value);
