/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction set as text sees it; everything comes from opcodes.def and descriptors.def. */
#ifndef CNNVP_ASM_ISA_TABLE_H
#define CNNVP_ASM_ISA_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum asm_format {
#define CNNVP_FORMAT(format, operand_mask) ASM_FORMAT_##format,
#include "instruction/opcodes.def"
    ASM_FORMAT_COUNT
};

struct asm_opcode {
    const char *mnemonic; /* NULL: no such opcode */
    enum asm_format format;
    uint32_t status_mask;
    const char *descriptor; /* name of its form, "NONE" */
};

struct asm_status {
    uint32_t opcode;
    const char *name;
    uint32_t lsb;
    uint32_t width;
};

extern const struct asm_opcode cnnvp_asm_opcodes[256];
extern const struct asm_status cnnvp_asm_statuses[];
extern const size_t cnnvp_asm_status_count;
extern const uint64_t cnnvp_asm_operand_masks[ASM_FORMAT_COUNT];

/* The opcode of a name of `length` characters; -1 if there is none. */
int cnnvp_asm_find_opcode(const char *name, size_t length);
/* The status field of an opcode; NULL if there is none. */
const struct asm_status *cnnvp_asm_find_status(uint32_t opcode, const char *name, size_t length);
/* Offset of a register in the form `descriptor`; -1 if there is none. */
int cnnvp_asm_find_register(const char *descriptor, const char *name, size_t length);

#endif
