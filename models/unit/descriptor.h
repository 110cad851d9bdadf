/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the words of a command's descriptor into a unit's own struct. The table descriptors.def says where each field
 * lies and which values it may have. Before it includes this file, a unit defines CNNVP_FIELDS: a struct with a member
 * of 4 or 8 bytes for each field of its descriptors.
 */
#pragma once

#include "cnnvp_command.h"
#include "cnnvp_isa.h"
#include "isa/descriptors.def"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Value of a field of a command's status. */
#define CNNVP_STATUS_OF(command, mnemonic, name) \
    ((command)->status >> CNNVP_STATUS_##mnemonic##_##name & ((1u << CNNVP_STATUS_WIDTH_##mnemonic##_##name) - 1u))

/* Parts of its descriptor that a command uses. The bounds of a field are checked only if the command uses it. */
enum cnnvp_field_use {
    CNNVP_USES_ALWAYS = 0,
    CNNVP_USES_WEIGHTS = 1u << 0,
    CNNVP_USES_BIAS = 1u << 1,
    CNNVP_USES_RESULTS = 1u << 2,
    CNNVP_USES_SUMS = 1u << 3,         /* partial sums at acc_addr, read or written */
    CNNVP_USES_ALL_CHANNELS = 1u << 4, /* each output channel reads all input channels */
    CNNVP_USES_INPUT = 1u << 5,
    CNNVP_USES_SCALES = 1u << 6,
    CNNVP_USES_POOL = 1u << 7,
    CNNVP_USES_REPETITIONS = 1u << 8
};

struct cnnvp_bits {
    const char *name;
    int64_t minimum, maximum;
    uint32_t multiple, when; /* `multiple` is a power of two; `when` is of enum cnnvp_field_use */
    uint16_t offset;         /* of the member in CNNVP_FIELDS */
    uint8_t size, lsb, width;
};

struct cnnvp_descriptor {
    const char *const *registers;
    const struct cnnvp_bits *fields, *end;
    uint32_t count; /* number of registers */
};

/* Size of a member. Does not compile if the size is neither 4 nor 8 bytes. */
#define CNNVP_SIZE_OF(member) (sizeof(member) / (sizeof(member) == 4u || sizeof(member) == 8u))
#define CNNVP_BITS(name, lsb, width, minimum, maximum, multiple, when) \
    {#name,                                                            \
     minimum,                                                          \
     maximum,                                                          \
     multiple,                                                         \
     CNNVP_USES_##when,                                                \
     (uint16_t)offsetof(CNNVP_FIELDS, name),                           \
     CNNVP_SIZE_OF(((CNNVP_FIELDS *)0)->name),                         \
     lsb,                                                              \
     width},
#define CNNVP_NAME_OF(name, help, fields) #name,
#define CNNVP_FIELDS_OF(name, help, fields) fields
/* Defines the constant `name`: the descriptor of a form. */
#define CNNVP_DESCRIPTOR(form, name)                                                                     \
    static const char *const name##_registers[] = {CNNVP_DESCRIPTOR_##form(CNNVP_NAME_OF)};              \
    static const struct cnnvp_bits name##_fields[] = {CNNVP_DESCRIPTOR_##form(CNNVP_FIELDS_OF)};         \
    static const struct cnnvp_descriptor name = {                                                        \
        name##_registers, name##_fields, name##_fields + sizeof name##_fields / sizeof name##_fields[0], \
        sizeof name##_registers / sizeof name##_registers[0]}

static inline const char *cnnvp_field_refuse(const struct cnnvp_descriptor *descriptor, uint32_t index,
                                             const struct cnnvp_bits *field, int64_t value, char *text)
{
    const int part = field->width < 32u;
    char multiple[32] = "", range[64];
    if (field->multiple > 1u)
        (void)snprintf(multiple, sizeof multiple, "a multiple of %u, ", (unsigned)field->multiple);
    (void)snprintf(range, sizeof range, field->maximum == UINT32_MAX ? "at least %lld" : "%lld to %lld",
                   (long long)field->minimum, (long long)field->maximum);
    (void)snprintf(text, CNNVP_REFUSAL_SIZE, "%s%s%s is %lld: it must be %s%s", descriptor->registers[index],
                   part ? "." : "", part ? field->name : "", (long long)value, multiple, range);
    return text;
}

/* Reads a command whose descriptor has this form into *fields, a CNNVP_FIELDS. `mask` holds the status bits that the
 * instruction defines, `uses` is of enum cnnvp_field_use. Returns NULL, or why the command is refused; that message may
 * lie in `text`. */
static inline const char *cnnvp_descriptor_read(const struct cnnvp_descriptor *descriptor,
                                                const struct cnnvp_command *command, uint32_t mask, uint32_t uses,
                                                void *fields, char text[CNNVP_REFUSAL_SIZE])
{
    const uint32_t *words = command->descriptor;
    const char *refusal = NULL;
    if ((command->status & ~mask) != 0)
        return "only the status bits of the instruction set";
    if (command->count != descriptor->count)
        return "the descriptor is not that of the opcode";
    for (const struct cnnvp_bits *field = descriptor->fields; field < descriptor->end; ++field) {
        words += field->lsb == 0 && field != descriptor->fields;
        const uint32_t bits = *words << (32u - field->width - field->lsb) >> (32u - field->width);
        const int64_t value = field->minimum < 0 ? cnnvp_wrap(bits, field->width) : (int64_t)bits;
        if ((value < field->minimum || value > field->maximum || (bits & (field->multiple - 1u)) != 0) &&
            (field->when & ~uses) == 0 && refusal == NULL)
            refusal = cnnvp_field_refuse(descriptor, (uint32_t)(words - command->descriptor), field, value, text);
        const uint32_t low = (uint32_t)value;
        if (field->size == sizeof low)
            memcpy((char *)fields + field->offset, &low, sizeof low);
        else
            memcpy((char *)fields + field->offset, &value, sizeof value);
    }
    return refusal;
}
