/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resolved platform as a C header for programs that run on it: where each instance lies on the bus, its interrupt,
 * its registers and their fields, instructions of units of one's own, and all frequencies. Definitions alone for an
 * assembler, which can include it too.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_internal.h"
#include "base.h"

/* Of instances, units and registers: letters, digits and _. */
static void print_upper(FILE *stream, const char *name)
{
    for (; *name; ++name)
        (void)fputc(isalnum((unsigned char)*name) ? toupper((unsigned char)*name) : '_', stream);
}

/* One line of a comment, whatever a unit says. */
static void print_comment(FILE *stream, const char *text)
{
    for (; text != NULL && *text; ++text)
        if ((unsigned char)*text >= 0x20 && !(text[0] == '*' && text[1] == '/'))
            (void)fputc(*text, stream);
}

/* #define INSTANCE_NAME_SUFFIX value, and what it is. */
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

/* `struct cnnvp_custom_NAME`: the descriptor. An assembler takes the numbers alone. */
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

/* Each once. */
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
