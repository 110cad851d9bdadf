/* SPDX-License-Identifier: Apache-2.0 */
/* Writes cnnvp_isa.h, the instruction set for C programs outside of the tree, from the one table (opcodes.def,
 * descriptors.def). Run by the build. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "instruction/descriptors.def"

struct opcode {
    const char *mnemonic, *unit, *help;
    unsigned code, mask;
};

struct status {
    const char *mnemonic, *name, *help;
    unsigned lsb, width;
};

struct member {
    const char *form, *name, *help;
};

static const struct opcode opcodes[] = {
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help) {#mnemonic, #unit, help, code, mask},
#include "instruction/opcodes.def"
};

static const struct status statuses[] = {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) {#mnemonic, #name, help, lsb, width},
#include "instruction/opcodes.def"
};

#define MEMBERS(form, name) CNNVP_DESCRIPTOR_##form(MEMBER_##form)
#define MEMBER_WINDOW(name, help) {"window", #name, help},
#define MEMBER_MATMUL(name, help) {"matmul", #name, help},
#define MEMBER_VECTOR(name, help) {"vector", #name, help},
#define MEMBER_TRANSFER(name, help) {"transfer", #name, help},
#define MEMBER_TCONV(name, help) {"tconv", #name, help},
#define MEMBER_TGRADIENT(name, help) {"tgradient", #name, help},
#define MEMBER_TMATMUL(name, help) {"tmatmul", #name, help},
#define MEMBER_TOUTER(name, help) {"touter", #name, help},
#define MEMBER_TSTAT(name, help) {"tstat", #name, help},
#define MEMBER_TCOEF(name, help) {"tcoef", #name, help},
#define MEMBER_TEXP(name, help) {"texp", #name, help},
#define MEMBER_TPOST(name, help) {"tpost", #name, help},
#define MEMBER_TPOSTBACK(name, help) {"tpostback", #name, help},
#define MEMBER_TSOFTMAX(name, help) {"tsoftmax", #name, help},
#define MEMBER_TUPDATE(name, help) {"tupdate", #name, help},
#define MEMBER_TBNUPDATE(name, help) {"tbnupdate", #name, help},
#define MEMBER_TDECODE(name, help) {"tdecode", #name, help},
#define MEMBER_THELD(name, help) {"theld", #name, help},

static const struct member members[] = {CNNVP_DESCRIPTORS(MEMBERS)};

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
        if (i == 0 || strcmp(members[i].form, members[i - 1].form) != 0)
            printf("struct cnnvp_%s {\n", members[i].form);
        printf("    uint32_t %s; /* %s */\n", members[i].name, members[i].help);
        if (i + 1 == COUNT(members) || strcmp(members[i].form, members[i + 1].form) != 0)
            puts("};\n");
    }
}

int main(void)
{
    puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
         "/* The accelerator's instruction set: made from the table that the instruction element, the assembler and "
         "the\n"
         " * guest software are made from. */\n"
         "#ifndef CNNVP_ISA_H\n#define CNNVP_ISA_H\n\n#include <stdint.h>\n");
    write_opcodes();
    write_statuses();
    write_descriptors();
    puts("#endif");
    return ferror(stdout) != 0;
}
