/* SPDX-License-Identifier: Apache-2.0 */
/* Writes cnnvp_isa.h: the instruction set and the element's registers for C programs and the guest software, generated
 * from opcodes.def, descriptors.def and instruction.def. The build runs it. */
#include <stdint.h>
#include <stdio.h>

#include "isa/descriptors.def"

struct opcode {
    const char *mnemonic, *unit, *help;
    unsigned code, mask;
};

struct status {
    const char *mnemonic, *name, *help;
    unsigned lsb, width;
};

struct reg {
    const char *name, *help;
    unsigned offset;
};

struct field {
    const char *reg, *name, *help;
    unsigned lsb, width;
};

struct cause {
    const char *name, *help;
    unsigned value;
};

struct member {
    const char *name, *help; /* NULL: `name` is a form; its members follow */
};

static const struct opcode opcodes[] = {
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help) {#mnemonic, #unit, help, code, mask},
#include "isa/opcodes.def"
};

static const struct status statuses[] = {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) {#mnemonic, #name, help, lsb, width},
#include "isa/opcodes.def"
};

static const struct reg registers[] = {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) {#name, help, offset},
#include "control/instruction/instruction.def"
};

static const struct field fields[] = {
#define CNNVP_FIELD(reg, name, lsb, width, help) {#reg, #name, help, lsb, width},
#include "control/instruction/instruction.def"
};

static const struct cause causes[] = {
#define CNNVP_ERROR_CAUSE(name, value, help) {#name, help, value},
#include "control/instruction/instruction.def"
};

/* Each form, followed by its members. */
#define MEMBER(name, help, fields) {#name, help},
#define FORM(form, name) {#name, NULL}, CNNVP_DESCRIPTOR_##form(MEMBER)
static const struct member members[] = {CNNVP_DESCRIPTORS(FORM)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void write_opcodes(void)
{
    puts("/* Opcodes: bits 63:56 of an instruction. */\nenum cnnvp_opcode {");
    for (size_t i = 0; i < COUNT(opcodes); ++i)
        printf("    CNNVP_OPCODE_%s = 0x%02x%s /* %s%s%s */\n", opcodes[i].mnemonic, opcodes[i].code,
               i + 1 < COUNT(opcodes) ? "," : "", opcodes[i].unit[0] != 'n' ? opcodes[i].unit : "",
               opcodes[i].unit[0] != 'n' ? ": " : "", opcodes[i].help);
    puts("};\n\n/* Bits of the status field, 55:48, that may be set. */\nenum cnnvp_status_mask {");
    for (size_t i = 0; i < COUNT(opcodes); ++i)
        printf("    CNNVP_STATUS_MASK_%s = 0x%02x%s\n", opcodes[i].mnemonic, opcodes[i].mask,
               i + 1 < COUNT(opcodes) ? "," : "");
    puts("};\n");
}

static void write_statuses(void)
{
    puts("/* Lowest bit of each field in the status, and how many bits it has. */\nenum cnnvp_status_field {");
    for (size_t i = 0; i < COUNT(statuses); ++i)
        printf("    CNNVP_STATUS_%s_%s = %u, /* %s */\n    CNNVP_STATUS_WIDTH_%s_%s = %u%s\n", statuses[i].mnemonic,
               statuses[i].name, statuses[i].lsb, statuses[i].help, statuses[i].mnemonic, statuses[i].name,
               statuses[i].width, i + 1 < COUNT(statuses) ? "," : "");
    puts("};\n");
}

static void write_descriptors(void)
{
    puts("/* Descriptors: the registers from an instruction's base register on; struct cnnvp_command::descriptor. */");
    for (size_t i = 0; i < COUNT(members); ++i) {
        if (members[i].help == NULL)
            printf("struct cnnvp_%s {\n", members[i].name);
        else
            printf("    uint32_t %s; /* %s */\n", members[i].name, members[i].help);
        if (i + 1 == COUNT(members) || members[i + 1].help == NULL)
            puts("};\n");
    }
}

static void write_element(void)
{
    puts("/* Registers of the instruction element, from its base on. */\nenum cnnvp_element_register {");
    for (size_t i = 0; i < COUNT(registers); ++i)
        printf("    CNNVP_ELEMENT_%s = 0x%02x%s /* %s */\n", registers[i].name, registers[i].offset,
               i + 1 < COUNT(registers) ? "," : "", registers[i].help);
    puts("};\n\n/* Their fields, as masks. */\nenum cnnvp_element_field {");
    for (size_t i = 0; i < COUNT(fields); ++i)
        printf("    CNNVP_ELEMENT_%s_%s = 0x%x%s /* %s */\n", fields[i].reg, fields[i].name,
               ((1u << fields[i].width) - 1u) << fields[i].lsb, i + 1 < COUNT(fields) ? "," : "", fields[i].help);
    printf("};\n\n/* Values of ERROR_CAUSE: X(name, value, what it means). */\n#define CNNVP_ELEMENT_ERRORS(X)");
    for (size_t i = 0; i < COUNT(causes); ++i)
        printf(" \\\n    X(%s, %u, \"%s\")", causes[i].name, causes[i].value, causes[i].help);
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
