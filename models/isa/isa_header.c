/* SPDX-License-Identifier: Apache-2.0 */
/* Writes cnnvp_isa.h: the instruction set and the element's registers for C programs and the guest software, generated
 * from opcodes.def, descriptors.def and instruction.def. The build runs it. */
#include <stdio.h>

#include "isa/descriptors.def"

static void write_opcodes(void)
{
    puts("/* Opcodes: bits 63:56 of an instruction. */\nenum cnnvp_opcode {");
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help)                                     \
    printf("    CNNVP_OPCODE_%s = 0x%02x, /* %s%s%s */\n", #mnemonic, (unsigned)(code), #unit[0] != 'n' ? #unit : "", \
           #unit[0] != 'n' ? ": " : "", help);
#include "isa/opcodes.def"
    puts("};\n\n/* Bits of the status field, 55:48, that may be set. */\nenum cnnvp_status_mask {");
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help) \
    printf("    CNNVP_STATUS_MASK_%s = 0x%02x,\n", #mnemonic, (unsigned)(mask));
#include "isa/opcodes.def"
    puts("};\n");
}

static void write_statuses(void)
{
    puts("/* Lowest bit of each field in the status, and how many bits it has. */\nenum cnnvp_status_field {");
#define CNNVP_STATUS(mnemonic, name, lsb, width, help)                                          \
    printf("    CNNVP_STATUS_%s = %u, /* %s */\n", #mnemonic "_" #name, (unsigned)(lsb), help); \
    printf("    CNNVP_STATUS_WIDTH_%s = %u,\n", #mnemonic "_" #name, (unsigned)(width));
#include "isa/opcodes.def"
    puts("};\n");
}

static void write_descriptors(void)
{
    puts("/* Descriptors: the registers from an instruction's base register on; struct cnnvp_command::descriptor. */");
#define MEMBER(name, help, fields) printf("    uint32_t %s; /* %s */\n", #name, help);
#define FORM(form, name)              \
    puts("struct cnnvp_" #name " {"); \
    CNNVP_DESCRIPTOR_##form(MEMBER);  \
    puts("};\n");
    CNNVP_DESCRIPTORS(FORM)
}

static void write_element(void)
{
    puts("/* Registers of the instruction element, from its base on. */\nenum cnnvp_element_register {");
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) \
    printf("    CNNVP_ELEMENT_%s = 0x%02x, /* %s */\n", #name, (unsigned)(offset), help);
#include "control/instruction/instruction.def"
    puts("};\n\n/* Their fields, as masks. */\nenum cnnvp_element_field {");
#define CNNVP_FIELD(reg, name, lsb, width, help) \
    printf("    CNNVP_ELEMENT_%s = 0x%x, /* %s */\n", #reg "_" #name, ((1u << (width)) - 1u) << (lsb), help);
#include "control/instruction/instruction.def"
    printf("};\n\n/* Values of ERROR_CAUSE: X(name, value, what it means). */\n#define CNNVP_ELEMENT_ERRORS(X)");
#define CNNVP_ERROR_CAUSE(name, value, help) printf(" \\\n    X(%s, %u, \"%s\")", #name, (unsigned)(value), help);
#include "control/instruction/instruction.def"
    puts("\n");
}

int main(void)
{
    puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
         "/* The accelerator's instruction set and the registers of the instruction element: made from the table that\n"
         " * the element and the assembler are made from. */\n"
         "#ifndef CNNVP_ISA_H\n#define CNNVP_ISA_H\n\n#include <stdint.h>\n");
    write_opcodes();
    write_statuses();
    write_descriptors();
    puts("/* Two 16-bit values of a packed register. */\n"
         "static inline uint32_t cnnvp_pack(uint32_t low, uint32_t high)\n{\n    return low | high << 16;\n}\n\n"
         "/* Where the parts of an instruction word lie, each of 8 bits; the immediate is in the low 32. */\n"
         "enum cnnvp_word_part {\n"
         "    CNNVP_WORD_C = 24, /* third register */\n"
         "    CNNVP_WORD_B = 32, /* second one; of a tile instruction the halves */\n"
         "    CNNVP_WORD_A = 40, /* first one; of a tile instruction the base */\n"
         "    CNNVP_WORD_STATUS = 48,\n"
         "    CNNVP_WORD_OPCODE = 56\n};\n\n"
         "/* What a word says; which parts it has depends on its format. */\n"
         "struct cnnvp_word_parts {\n    uint32_t opcode, status, a, b, c, halves, immediate;\n};\n\n"
         "static inline struct cnnvp_word_parts cnnvp_word_read(uint64_t word)\n{\n"
         "    const struct cnnvp_word_parts parts = {(uint32_t)(word >> CNNVP_WORD_OPCODE),\n"
         "                                           (uint32_t)(word >> CNNVP_WORD_STATUS) & 0xffu,\n"
         "                                           (uint32_t)(word >> CNNVP_WORD_A) & 0xffu,\n"
         "                                           (uint32_t)(word >> CNNVP_WORD_B) & 0xffu,\n"
         "                                           (uint32_t)(word >> CNNVP_WORD_C) & 0xffu,\n"
         "                                           (uint32_t)(word >> CNNVP_WORD_B) & 0x7u,\n"
         "                                           (uint32_t)word};\n"
         "    return parts;\n}\n\n"
         "/* The high 32 bits of a word; those below are its immediate. */\n"
         "static inline uint32_t cnnvp_word_high(uint32_t opcode, uint32_t status, uint32_t a, uint32_t b)\n"
         "{\n    return opcode << (CNNVP_WORD_OPCODE - 32) | status << (CNNVP_WORD_STATUS - 32) |\n"
         "           a << (CNNVP_WORD_A - 32) | b << (CNNVP_WORD_B - 32);\n}\n");
    write_element();
    puts("#endif");
    return ferror(stdout) != 0;
}
