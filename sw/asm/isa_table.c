/* SPDX-License-Identifier: Apache-2.0 */
#include "isa_table.h"

#include <string.h>

#include "cnnvp_model.h"
#include "instruction/descriptors.def"

const struct asm_opcode cnnvp_asm_opcodes[256] = {
#define CNNVP_OPCODE(name_, code, class_, format_, unit, descriptor_, mask_, help) \
    [code] = {#name_, ASM_FORMAT_##format_, (mask_), #descriptor_},
#include "instruction/opcodes.def"
};

enum {
#define CNNVP_OPCODE(name_, code, class_, format_, unit, descriptor_, mask_, help) CODE_##name_ = (code),
#include "instruction/opcodes.def"
};

const struct asm_status cnnvp_asm_statuses[] = {
#define CNNVP_STATUS(opcode_, name_, lsb_, width_, help) {CODE_##opcode_, #name_, (lsb_), (width_)},
#include "instruction/opcodes.def"
};
const size_t cnnvp_asm_status_count = sizeof cnnvp_asm_statuses / sizeof cnnvp_asm_statuses[0];

const uint64_t cnnvp_asm_operand_masks[ASM_FORMAT_COUNT] = {
#define CNNVP_FORMAT(format, operand_mask) [ASM_FORMAT_##format] = (operand_mask),
#include "instruction/opcodes.def"
};

/* Registers of each form: the offset is the place of the name in its list. */
#define NAME(name, help, fields) #name,
#define FORM(form, name) static const char *const names_of_##name[] = {CNNVP_DESCRIPTOR_##form(NAME)};
CNNVP_DESCRIPTORS(FORM)
#undef FORM
#undef NAME

static const struct {
    const char *descriptor;
    const char *const *names;
    size_t count;
} forms[] = {
#define FORM(form, name) {#form, names_of_##name, sizeof names_of_##name / sizeof names_of_##name[0]},
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
};

static int same(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

int cnnvp_asm_find_opcode(const char *name, size_t length)
{
    for (int code = 0; code < 256; ++code)
        if (cnnvp_asm_opcodes[code].mnemonic != NULL && same(cnnvp_asm_opcodes[code].mnemonic, name, length))
            return code;
    return -1;
}

const struct asm_status *cnnvp_asm_find_status(uint32_t opcode, const char *name, size_t length)
{
    for (size_t i = 0; i < cnnvp_asm_status_count; ++i)
        if (cnnvp_asm_statuses[i].opcode == opcode && same(cnnvp_asm_statuses[i].name, name, length))
            return &cnnvp_asm_statuses[i];
    return NULL;
}

int cnnvp_asm_find_register(const char *descriptor, const char *name, size_t length)
{
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; ++f)
        for (size_t i = 0; strcmp(forms[f].descriptor, descriptor) == 0 && i < forms[f].count; ++i)
            if (same(forms[f].names[i], name, length))
                return (int)i;
    return -1;
}
