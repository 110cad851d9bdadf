/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the reference of the instruction set (`cnnvp models isa`) from the instruction element's tables. */
#include <stdio.h>

#include "cnnvp.h"
#include "base.h"
#include "isa/isa.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Operands of each format in assembler syntax, with an example. */
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
                 {3u * ISA_USE_OUTPUT, "output half"},
                 {0xfu * ISA_USE_CUSTOM, "its unit"}};
    const char *separator = label;
    for (size_t i = 0; i < COUNT(names); ++i) {
        if (((resources | (resources >> ISA_READ_SHIFT & ISA_USE_BUFFERS)) & names[i].bits) == 0)
            continue;
        fprintf(stream, "%s%s", separator, names[i].name);
        separator = ", ";
    }
}

static const char *const classes[] = {
    [ISA_CLASS_control] = "control", [ISA_CLASS_data] = "data", [ISA_CLASS_calc] = "calc"};

/* Prints what an instruction waits for: always, and depending on its status. */
static void print_waits(FILE *stream, uint32_t code, const struct isa_opcode *opcode)
{
    uint32_t always = UINT32_MAX, sometimes = 0;
    for (uint32_t status = 0; status < 256u; ++status) {
        const struct cnnvp_word_parts fields = {.opcode = code, .status = status};
        uint32_t resources, causes;
        if ((status & ~opcode->status_mask) != 0)
            continue;
        cnnvp_isa_usage(opcode, &fields, &resources, &causes);
        always &= resources;
        sometimes |= resources;
    }
    if (code == ISA_sync || code == ISA_irq || code == ISA_halt)
        fputs("    waits for   everything before it", stream);
    else
        print_uses(stream, "    waits for   ", always);
    print_uses(stream, always != 0 ? "; by its status " : "    waits for   by its status ", sometimes & ~always);
    if (sometimes != 0 || code == ISA_sync || code == ISA_irq || code == ISA_halt)
        fputc('\n', stream);
}

static void print_statuses(FILE *stream, const struct isa_extension *extension, uint32_t code)
{
    const char *label = "status";
    for (const struct isa_status *status = cnnvp_isa_status(extension, code); status != NULL;
         status = cnnvp_isa_next_status(status)) {
        fprintf(stream, "    %-10s  .%s%s, bit%s %u", label, status->name, status->width > 1 ? "=value" : "",
                status->width > 1 ? "s" : "", (unsigned)(CNNVP_WORD_STATUS + status->lsb));
        if (status->width > 1)
            fprintf(stream, " to %u", (unsigned)(CNNVP_WORD_STATUS + status->lsb + status->width - 1u));
        fprintf(stream, ": %s\n", status->help);
        label = "";
    }
}

/* Chooses a flag if there is one: a multi-bit value may require a second field. */
static const struct isa_status *example_status(const struct isa_extension *extension, uint32_t code)
{
    const struct isa_status *chosen = NULL;
    for (const struct isa_status *status = cnnvp_isa_status(extension, code); status != NULL;
         status = cnnvp_isa_next_status(status))
        if (chosen == NULL || (chosen->width > 1 && status->width == 1))
            chosen = status;
    return chosen;
}

static void print_opcode(FILE *stream, const struct isa_extension *extension, uint32_t code)
{
    const struct isa_opcode *opcode = cnnvp_isa_find(extension, code);
    fprintf(stream, "  %s  0x%02x, %s%s%s\n    %s\n", opcode->mnemonic, (unsigned)code, classes[opcode->class_],
            opcode->unit != ISA_UNIT_none ? ", executed by " : "",
            opcode->custom != NULL ? "a unit of the platform" : cnnvp_isa_executors[opcode->unit].name, opcode->help);
    fprintf(stream, "    %-10s  %s%s%s\n", "operands", opcode->mnemonic, *formats[opcode->format].operands ? " " : "",
            formats[opcode->format].operands);
    print_statuses(stream, extension, code);
    if (opcode->descriptor_count != 0)
        fprintf(stream, "    %-10s  %s, from register base on\n", "descriptor", cnnvp_isa_form(opcode).name);
    print_waits(stream, code, opcode);
    const struct isa_status *status = example_status(extension, code);
    fprintf(stream, "    %-10s  %s%s%s%s%s%s\n\n", "example", opcode->mnemonic, status != NULL ? "." : "",
            status != NULL ? status->name : "", status != NULL && status->width > 1 ? "=1" : "",
            *formats[opcode->format].example ? " " : "", formats[opcode->format].example);
}

static void print_descriptor(FILE *stream, const struct isa_form_text *text)
{
    fprintf(stream, "\n  %s\n", text->name);
    for (uint32_t i = 0; i < text->count; ++i)
        fprintf(stream, "    base + %-3u %-20s  %s\n", (unsigned)i, text->registers[i].name, text->registers[i].help);
}

static void print_descriptors(FILE *stream, const struct isa_extension *extension)
{
    fputs("descriptors: registers of 32 bits, counted from the base register; addresses are bytes in the half that the "
          "instruction names, strides 16-bit words unless said otherwise, packed values low | high << 16\n",
          stream);
    for (unsigned form = ISA_FORM_NONE + 1; form < ISA_FORM_COUNT; ++form)
        print_descriptor(stream, &cnnvp_isa_forms[form]);
    for (uint32_t code = CNNVP_CUSTOM_OPCODE_FIRST; code <= CNNVP_CUSTOM_OPCODE_LAST; ++code) {
        const struct isa_opcode *opcode = cnnvp_isa_find(extension, code);
        const struct isa_form_text text =
            opcode != NULL ? cnnvp_isa_form(opcode) : (struct isa_form_text){NULL, NULL, 0};
        if (opcode != NULL && opcode->custom != NULL && text.count)
            print_descriptor(stream, &text);
    }
}

static void print_isa(FILE *stream, const struct isa_extension *extension)
{
    fputs("The instruction set (S003). A word has 64 bits: opcode 63 to 56, status 55 to 48, operands 47 to 0; unused "
          "bits are 0. rd is in bits 47 to 40, ra 39 to 32, rb 31 to 24, value 31 to 0 (of layer 15 to 0); of a "
          "branch ra 47 to 40, rb 39 to 32; of a tile the base register 47 to 40, halves 34 to 32 (output, weight, "
          "input; 1: the second). Registers r0 to r255 have 32 bits. Calculations of several units may read a weight "
          "half "
          "at a time; any other use of a half is of one instruction alone.\n"
          "Labels, .equ and .base: `cnnvp asm`. `cnnvp exec` runs what it writes.\n\nunits\n",
          stream);
    for (unsigned unit = ISA_UNIT_none + 1; unit < ISA_UNIT_COUNT; ++unit) {
        const struct isa_executor *executor = &cnnvp_isa_executors[unit];
        const int other = executor->stand_in != unit;
        fprintf(stream, "  %-16s  %s%s%s\n", executor->name, executor->help, other ? "; without it: " : "",
                other ? cnnvp_isa_executors[executor->stand_in].name : "");
    }
    fputs("\ninstructions\n", stream);
    for (uint32_t code = 0; code < 256u; ++code)
        if (cnnvp_isa_find(extension, code) != NULL)
            print_opcode(stream, extension, code);
    print_descriptors(stream, extension);
}

cnnvp_result cnnvp_isa_text(const cnnvp_config *config, char **text)
{
    struct cnnvp_printed printed;
    char why[200];
    CNNVP_FREED const struct cnnvp_instruction **custom = config != NULL ? cnnvp_config_instructions(config) : NULL;
    CNNVP_FREED struct isa_extension *extension = cnnvp_isa_extension(custom, why, sizeof why);
    if (extension == NULL)
        return CNNVP_FAILED;
    if (cnnvp_print_begin(&printed) != NULL)
        print_isa(printed.stream, extension);
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? CNNVP_DONE : CNNVP_FAILED;
}
