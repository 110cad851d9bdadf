/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads RV32 little-endian executables (System V ABI, chapter 4; RISC-V ELF psABI). Everything in the file is checked
 * before it is used; a wrong file is an error that says what is wrong. Plain C, no SystemC.
 */
#ifndef CNNVP_PLATFORM_ELF_H
#define CNNVP_PLATFORM_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece that is loaded: `file_size` bytes of data, then zeros up to `memory_size`. */
struct cnnvp_elf_segment {
    uint32_t address; /* physical: where the bytes go */
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
    const char *names; /* of the symbols */
    size_t names_size;
};

/* Free with cnnvp_elf_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_elf_read(const char *file, struct cnnvp_elf **elf, struct cnnvp_error *error);
/* The same from memory; `name` is for messages, `data` is copied. */
CNNVP_MUST_USE cnnvp_result cnnvp_elf_parse(const char *name, const void *data, size_t size, struct cnnvp_elf **elf,
                                            struct cnnvp_error *error);
void cnnvp_elf_free(struct cnnvp_elf *elf);

/* 1, name and address if the symbol with this index names code: a function, or a label of an assembler source. */
int cnnvp_elf_function(const struct cnnvp_elf *elf, size_t index, const char **name, uint32_t *address);
/* 1, address and size if the symbol with this index names a variable, an array or a constant. */
int cnnvp_elf_object(const struct cnnvp_elf *elf, size_t index, uint32_t *address, uint32_t *size);
/* 1 and the value where the symbol is there, otherwise 0. */
int cnnvp_elf_symbol(const struct cnnvp_elf *elf, const char *name, uint32_t *value);

#ifdef __cplusplus
}
#endif

#endif
