/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a resolved platform as a C header for programs that run on it: bus windows, interrupts, registers and their
 * fields, custom instructions, and frequencies. An assembler can include it too and then gets only the definitions.
 * Also prints the registers as a CMSIS-SVD file (schema 1.3) for debuggers and code generators.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config_internal.h"
#include "base.h"

/* Prints the name of an instance, unit or register with letters, digits and _ only. */
static void print_upper(FILE *stream, const char *name)
{
    for (; *name; ++name)
        (void)fputc(isalnum((unsigned char)*name) ? toupper((unsigned char)*name) : '_', stream);
}

/* Prints a unit's text so that it stays within one comment line: without control characters, and without those that
 * would begin or end a comment with the one before. */
static void print_comment(FILE *stream, const char *text)
{
    char before = ' ';
    for (; text != NULL && *text; ++text) {
        if ((unsigned char)*text < 0x20 || (before == '*' && *text == '/') || (before == '/' && *text == '*'))
            continue;
        (void)fputc(*text, stream);
        before = *text;
    }
}

/* Prints #define INSTANCE_NAME_SUFFIX value with its explanation. */
static void define(FILE *stream, const char *const *words, const char *suffix, uint64_t value, const char *help)
{
    (void)fputs("#define ", stream);
    for (; *words; ++words) {
        print_upper(stream, *words);
        (void)fputc('_', stream);
    }
    (void)fprintf(stream, "%s 0x%" PRIx64, suffix, value);
    if (help != NULL && *help) {
        (void)fputs(" /* ", stream);
        print_comment(stream, help);
        (void)fputs(" */", stream);
    }
    (void)fputc('\n', stream);
}

static void print_registers(FILE *stream, const struct cnnvp_instance *instance)
{
    const struct cnnvp_unit *unit = instance->unit;
    for (size_t i = 0; i < unit->register_count; ++i) {
        const struct cnnvp_register *reg = &unit->registers[i];
        const char *const name[] = {instance->name, reg->name, NULL};
        define(stream, name, "OFFSET", reg->offset, reg->help);
        for (size_t j = 0; j < unit->field_count; ++j) {
            const struct cnnvp_field *field = &unit->fields[j];
            const char *const part[] = {instance->name, reg->name, field->name, NULL};
            if (strcmp(field->reg, reg->name) != 0)
                continue;
            uint64_t ones = (UINT64_C(1) << field->width) - 1;
            define(stream, part, "LSB", field->lsb, NULL);
            define(stream, part, "MASK", (ones << field->lsb) & UINT32_MAX, field->help);
        }
    }
}

static void print_instance(FILE *stream, const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance)
{
    const char *const name[] = {instance->name, NULL};
    const struct cnnvp_binding *irq = NULL;
    uint32_t line = cnnvp_instance_irq(resolved, instance, &irq);
    (void)fprintf(stream, "\n/* %s, %s %s: ", instance->name, instance->unit->kind, instance->unit->version);
    print_comment(stream, instance->unit->summary);
    (void)fputs(" */\n", stream);
    define(stream, name, "BASE", instance->base, NULL);
    define(stream, name, "BYTES", instance->size, NULL);
    if (line) {
        (void)fputs("#define ", stream);
        print_upper(stream, instance->name);
        (void)fprintf(stream, "_IRQ %" PRIu32 " /* source of the interrupt controller */\n", line);
    }
    if (instance->bus_port == instance->unit->register_port)
        print_registers(stream, instance);
}

/* Prints the opcode, and the descriptor as `struct cnnvp_custom_NAME`; an assembler gets the numbers only. */
static void print_instruction(FILE *stream, const struct cnnvp_instruction *instruction)
{
    (void)fprintf(stream, "\n/* %s: ", instruction->mnemonic);
    print_comment(stream, instruction->help);
    (void)fprintf(stream, " */\n#define CNNVP_OPCODE_%s 0x%02" PRIx32 "\n", instruction->mnemonic, instruction->opcode);
    for (size_t i = 0; i < instruction->status_count; ++i) {
        const struct cnnvp_instruction_status *status = &instruction->statuses[i];
        (void)fprintf(stream, "#define CNNVP_STATUS_%s_%s %" PRIu32 " /* lowest bit; ", instruction->mnemonic,
                      status->name, status->lsb);
        print_comment(stream, status->help);
        (void)fprintf(stream, " */\n#define CNNVP_STATUS_WIDTH_%s_%s %" PRIu32 "\n", instruction->mnemonic,
                      status->name, status->width);
    }
    if (instruction->register_count == 0)
        return;
    (void)fprintf(stream, "#ifndef __ASSEMBLER__\nstruct cnnvp_custom_%s {\n", instruction->mnemonic);
    for (size_t i = 0; i < instruction->register_count; ++i) {
        (void)fprintf(stream, "    uint32_t %s; /* ", instruction->registers[i].name);
        print_comment(stream, instruction->registers[i].help);
        (void)fputs(" */\n", stream);
    }
    (void)fputs("};\n#endif\n", stream);
}

/* Prints the instructions of each kind of unit once. */
static void print_instructions(FILE *stream, const struct cnnvp_resolved *resolved)
{
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_unit *unit = resolved->instances[i].unit;
        size_t before = 0;
        while (before < i && resolved->instances[before].unit != unit)
            ++before;
        for (size_t n = 0; unit != NULL && before == i && n < unit->instruction_count; ++n) {
            if (n == 0)
                (void)fputs("\n#ifndef __ASSEMBLER__\n#include <stdint.h>\n#endif\n", stream);
            print_instruction(stream, &unit->instructions[n]);
        }
    }
}

static void print_frequencies(FILE *stream, const struct cnnvp_instance *instance)
{
    for (size_t i = 0; instance->unit != NULL && i < instance->unit->param_count; ++i) {
        const struct cnnvp_param *param = &instance->unit->params[i];
        if (param->unit == NULL || strcmp(param->unit, "MHz") != 0)
            continue;
        (void)fputs("#define ", stream);
        print_upper(stream, instance->name);
        (void)fputc('_', stream);
        print_upper(stream, param->name);
        (void)fprintf(stream, " %" PRIu64 " /* ", instance->values[i]);
        print_comment(stream, param->help);
        (void)fputs(" */\n", stream);
    }
}

cnnvp_result cnnvp_box_header(const struct cnnvp_box *box, char **header)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    struct cnnvp_printed printed;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return CNNVP_FAILED;
    (void)fputs("/*\n * What programs for the platform ", stream);
    print_comment(stream, resolved->platform_name);
    (void)fputs(" need to know of it.\n"
                " * Made by `cnnvp check --header`: make it again where the platform changes.\n */\n"
                "#ifndef CNNVP_PLATFORM_MAP_H\n#define CNNVP_PLATFORM_MAP_H\n",
                stream);
    for (size_t i = 0; i < resolved->instance_count; ++i)
        if (resolved->instances[i].on_bus)
            print_instance(stream, resolved, &resolved->instances[i]);
    print_instructions(stream, resolved);
    (void)fputs("\n/* Frequencies, in MHz. */\n", stream);
    for (size_t i = 0; i < resolved->instance_count; ++i)
        print_frequencies(stream, &resolved->instances[i]);
    (void)fputs("\n#endif\n", stream);
    *header = cnnvp_print_end(&printed);
    return *header != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

/* ---- SVD ---- */

/* Prints <name>text</name> with the text of a unit escaped. */
static void element(FILE *stream, const char *name, const char *text)
{
    (void)fprintf(stream, "<%s>", name);
    for (; text != NULL && *text; ++text) {
        if (strchr("<>&", *text) != NULL)
            (void)fprintf(stream, "&#%d;", *text);
        else if ((unsigned char)*text >= 0x20)
            (void)fputc(*text, stream);
    }
    (void)fprintf(stream, "</%s>\n", name);
}

static void print_svd_register(FILE *stream, const struct cnnvp_unit *unit, const struct cnnvp_register *reg)
{
    static const char *const access[] = {
        [CNNVP_REG_RO] = "read-only",
        [CNNVP_REG_RW] = "read-write",
        [CNNVP_REG_WO] = "write-only",
        [CNNVP_REG_W1C] = "read-write",
        [CNNVP_REG_RWE] = "read-write"};
    int fields = 0;
    (void)fputs("<register>\n", stream);
    element(stream, "name", reg->name);
    element(stream, "description", reg->help);
    (void)fprintf(stream,
                  "<addressOffset>0x%" PRIx32 "</addressOffset>\n<access>%s</access>\n<resetValue>0x%" PRIx32
                  "</resetValue>\n%s%s",
                  reg->offset, access[reg->access], reg->reset,
                  reg->access == CNNVP_REG_W1C ? "<modifiedWriteValues>oneToClear</modifiedWriteValues>\n" : "",
                  reg->access == CNNVP_REG_RWE ? "<readAction>modifyExternal</readAction>\n" : "");
    for (size_t i = 0; i < unit->field_count; ++i) {
        const struct cnnvp_field *field = &unit->fields[i];
        if (strcmp(field->reg, reg->name) != 0)
            continue;
        (void)fputs(fields++ == 0 ? "<fields>\n<field>\n" : "<field>\n", stream);
        element(stream, "name", field->name);
        element(stream, "description", field->help);
        (void)fprintf(stream, "<bitOffset>%" PRIu32 "</bitOffset>\n<bitWidth>%" PRIu32 "</bitWidth>\n</field>\n",
                      field->lsb, field->width);
    }
    (void)fputs(fields != 0 ? "</fields>\n</register>\n" : "</register>\n", stream);
}

static void print_peripheral(FILE *stream, const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance)
{
    const struct cnnvp_unit *unit = instance->unit;
    const struct cnnvp_binding *irq = NULL;
    const uint32_t line = cnnvp_instance_irq(resolved, instance, &irq);
    (void)fputs("<peripheral>\n", stream);
    element(stream, "name", instance->name);
    element(stream, "version", unit->version);
    element(stream, "description", unit->summary);
    (void)fprintf(stream,
                  "<baseAddress>0x%" PRIx64 "</baseAddress>\n<addressBlock>\n<offset>0</offset>\n<size>0x%" PRIx64
                  "</size>\n<usage>registers</usage>\n</addressBlock>\n",
                  instance->base, instance->size);
    if (line) {
        (void)fputs("<interrupt>\n", stream);
        element(stream, "name", instance->name);
        (void)fprintf(stream, "<value>%" PRIu32 "</value>\n</interrupt>\n", line);
    }
    (void)fputs("<registers>\n", stream);
    for (size_t i = 0; i < unit->register_count; ++i)
        print_svd_register(stream, unit, &unit->registers[i]);
    (void)fputs("</registers>\n</peripheral>\n", stream);
}

cnnvp_result cnnvp_box_svd(const struct cnnvp_box *box, char **svd)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    struct cnnvp_printed printed;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return CNNVP_FAILED;
    (void)fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<device schemaVersion=\"1.3\">\n", stream);
    element(stream, "name", *resolved->platform_name ? resolved->platform_name : "platform");
    (void)fputs("<version>1</version>\n<description>Made by cnnvp check --svd</description>\n"
                "<addressUnitBits>8</addressUnitBits>\n<width>32</width>\n<size>32</size>\n<peripherals>\n",
                stream);
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *instance = &resolved->instances[i];
        if (instance->on_bus && instance->unit->register_count && instance->bus_port == instance->unit->register_port)
            print_peripheral(stream, resolved, instance);
    }
    (void)fputs("</peripherals>\n</device>\n", stream);
    *svd = cnnvp_print_end(&printed);
    return *svd != NULL ? CNNVP_DONE : CNNVP_FAILED;
}
