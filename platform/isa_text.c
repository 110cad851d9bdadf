/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of the instruction set, `cnnvp models isa`: from the tables that the instruction element is made from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp.h"
#include "instruction/descriptors.def"
#include "instruction/isa.h"

static const struct opcode {
    const char *mnemonic, *class_, *unit, *form, *help;
    uint32_t code;
    enum isa_format format;
    uint32_t mask;
} opcodes[] = {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    {#mnemonic, #class_, #unit, #descriptor, help, code, ISA_FORMAT_##format, status_mask},
#include "instruction/opcodes.def"
};

static const struct status {
    const char *mnemonic, *name, *help;
    uint32_t lsb, width;
} statuses[] = {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) {#mnemonic, #name, help, lsb, width},
#include "instruction/opcodes.def"
};

static const struct executor {
    const char *unit, *stand_in, *help;
} executors[] = {
#define CNNVP_EXECUTOR(unit, stand_in, help) {#unit, #stand_in, help},
#include "instruction/opcodes.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Operands of each format as the assembler takes them, and an example. */
static const struct {
    const char *operands, *example;
} formats[ISA_FORMAT_COUNT] = {
    [ISA_FORMAT_NONE] = {"", ""},
    [ISA_FORMAT_IMM] = {"value", "1"},
    [ISA_FORMAT_TAG] = {"value", "1"},
    [ISA_FORMAT_RI] = {"rd, value", "r1, 4"},
    [ISA_FORMAT_RR] = {"rd, ra", "r1, r2"},
    [ISA_FORMAT_RRI] = {"rd, ra, value", "r1, r2, -1"},
    [ISA_FORMAT_RRR] = {"rd, ra, rb", "r1, r2, r3"},
    [ISA_FORMAT_BRANCH] = {"ra, rb, target", "r1, r2, 1"},
    [ISA_FORMAT_TILE] = {"base[, halves][, value]", "r16, i0 w0 o1, 0"},
};

static void print_uses(FILE *stream, const char *label, uint32_t resources)
{
    static const struct {
        uint32_t bits;
        const char *name;
    } names[] = {{ISA_USE_ARRAY, "array"},
                 {ISA_USE_VECTOR, "vector"},
                 {ISA_USE_DMA_READ, "DMA read channel"},
                 {ISA_USE_DMA_WRITE, "DMA write channel"},
                 {3u * ISA_USE_INPUT, "input half"},
                 {3u * ISA_USE_WEIGHT, "weight half"},
                 {3u * ISA_USE_OUTPUT, "output half"}};
    const char *separator = label;
    for (size_t i = 0; i < COUNT(names); ++i) {
        if ((resources & names[i].bits) == 0)
            continue;
        fprintf(stream, "%s%s", separator, names[i].name);
        separator = ", ";
    }
}

/* What an instruction waits for: whatever its status, and by its status. */
static void print_waits(FILE *stream, const struct opcode *opcode)
{
    uint32_t always = UINT32_MAX, sometimes = 0;
    for (uint32_t status = 0; status < 256u; ++status) {
        const struct cnnvp_word_parts fields = {.opcode = opcode->code, .status = status};
        uint32_t resources, causes;
        if ((status & ~opcode->mask) != 0)
            continue;
        cnnvp_isa_usage(&fields, &resources, &causes);
        always &= resources;
        sometimes |= resources;
    }
    if (opcode->code == ISA_sync || opcode->code == ISA_irq || opcode->code == ISA_halt)
        fputs("    waits for   everything before it", stream);
    else
        print_uses(stream, "    waits for   ", always);
    print_uses(stream, always != 0 ? "; by its status " : "    waits for   by its status ", sometimes & ~always);
    if (sometimes != 0 || opcode->code == ISA_sync || opcode->code == ISA_irq || opcode->code == ISA_halt)
        fputc('\n', stream);
}

static void print_statuses(FILE *stream, const char *mnemonic)
{
    const char *label = "status";
    for (size_t i = 0; i < COUNT(statuses); ++i) {
        const struct status *status = &statuses[i];
        if (strcmp(status->mnemonic, mnemonic) != 0)
            continue;
        fprintf(stream, "    %-10s  .%s%s, bit%s %u", label, status->name, status->width > 1 ? "=value" : "",
                status->width > 1 ? "s" : "", (unsigned)(CNNVP_WORD_STATUS + status->lsb));
        if (status->width > 1)
            fprintf(stream, " to %u", (unsigned)(CNNVP_WORD_STATUS + status->lsb + status->width - 1u));
        fprintf(stream, ": %s\n", status->help);
        label = "";
    }
}

/* A value may need a second field beside it; a flag does not. */
static const struct status *example_status(const char *mnemonic)
{
    const struct status *chosen = NULL;
    for (size_t i = 0; i < COUNT(statuses); ++i)
        if (strcmp(statuses[i].mnemonic, mnemonic) == 0 &&
            (chosen == NULL || (chosen->width > 1 && statuses[i].width == 1)))
            chosen = &statuses[i];
    return chosen;
}

static const char *form_name(const char *form)
{
#define FORM(form_, name)          \
    if (strcmp(form, #form_) == 0) \
        return #name;
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
    return NULL;
}

static void print_opcode(FILE *stream, const struct opcode *opcode)
{
    fprintf(stream, "  %s  0x%02x, %s%s%s\n    %s\n", opcode->mnemonic, (unsigned)opcode->code, opcode->class_,
            strcmp(opcode->unit, "none") != 0 ? ", executed by " : "",
            strcmp(opcode->unit, "none") != 0 ? opcode->unit : "", opcode->help);
    fprintf(stream, "    %-10s  %s%s%s\n", "operands", opcode->mnemonic, *formats[opcode->format].operands ? " " : "",
            formats[opcode->format].operands);
    print_statuses(stream, opcode->mnemonic);
    if (form_name(opcode->form) != NULL)
        fprintf(stream, "    %-10s  %s, from register base on\n", "descriptor", form_name(opcode->form));
    print_waits(stream, opcode);
    const struct status *status = example_status(opcode->mnemonic);
    fprintf(stream, "    %-10s  %s%s%s%s%s%s\n\n", "example", opcode->mnemonic, status != NULL ? "." : "",
            status != NULL ? status->name : "", status != NULL && status->width > 1 ? "=1" : "",
            *formats[opcode->format].example ? " " : "", formats[opcode->format].example);
}

static void print_descriptors(FILE *stream)
{
    uint32_t at;
    fputs("descriptors: registers of 32 bits, counted from the base register; addresses are bytes in the half that the "
          "instruction names, strides 16-bit words unless said otherwise, packed values low | high << 16\n",
          stream);
#define MEMBER(name, help, fields) fprintf(stream, "    base + %-3u %-20s  %s\n", (unsigned)at++, #name, help);
#define FORM(form, name)                \
    fprintf(stream, "\n  %s\n", #name); \
    at = 0;                             \
    CNNVP_DESCRIPTOR_##form(MEMBER)
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
#undef MEMBER
}

static void print_isa(FILE *stream)
{
    fputs("The instruction set (S003). A word has 64 bits: opcode 63 to 56, status 55 to 48, operands 47 to 0; unused "
          "bits are 0. rd is in bits 47 to 40, ra 39 to 32, rb 31 to 24, value 31 to 0 (of layer 15 to 0); of a "
          "branch ra 47 to 40, rb 39 to 32; of a tile the base register 47 to 40, halves 34 to 32 (output, weight, "
          "input; 1: the second). Registers r0 to r255 have 32 bits.\n"
          "Labels, .equ and .base: `cnnvp asm`. `cnnvp exec` runs what it writes.\n\nunits\n",
          stream);
    for (size_t i = 0; i < COUNT(executors); ++i)
        fprintf(stream, "  %-16s  %s%s%s\n", executors[i].unit, executors[i].help,
                strcmp(executors[i].unit, executors[i].stand_in) != 0 ? "; without it: " : "",
                strcmp(executors[i].unit, executors[i].stand_in) != 0 ? executors[i].stand_in : "");
    fputs("\ninstructions\n", stream);
    for (size_t i = 0; i < COUNT(opcodes); ++i)
        print_opcode(stream, &opcodes[i]);
    print_descriptors(stream);
}

cnnvp_result cnnvp_isa_text(char **text)
{
    size_t size = 0;
    FILE *stream = open_memstream(text, &size);
    if (stream == NULL)
        return CNNVP_FAILED;
    print_isa(stream);
    const int bad = ferror(stream);
    if (fclose(stream) == 0 && !bad)
        return CNNVP_DONE;
    free(*text);
    *text = NULL;
    return CNNVP_FAILED;
}
