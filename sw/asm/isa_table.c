/* SPDX-License-Identifier: Apache-2.0 */
#include "isa_table.h"

#include <string.h>

#include "instruction/descriptors.def"

const struct asm_opcode cnnvp_asm_opcodes[256] = {
#define CNNVP_OPCODE(name_, code, class_, format_, unit, descriptor_, mask_, help)                                     \
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

/* Offsets: place of the name in its list. */
enum window_register {
#define ENTRY(name, help) WINDOW_##name,
    CNNVP_DESCRIPTOR_WINDOW(ENTRY)
#undef ENTRY
};
enum matmul_register {
#define ENTRY(name, help) MATMUL_##name,
    CNNVP_DESCRIPTOR_MATMUL(ENTRY)
#undef ENTRY
};
enum vector_register {
#define ENTRY(name, help) VECTOR_##name,
    CNNVP_DESCRIPTOR_VECTOR(ENTRY)
#undef ENTRY
};
enum transfer_register {
#define ENTRY(name, help) TRANSFER_##name,
    CNNVP_DESCRIPTOR_TRANSFER(ENTRY)
#undef ENTRY
};

static const struct asm_register registers[] = {
#define ENTRY(name, help) {"WINDOW", #name, WINDOW_##name},
    CNNVP_DESCRIPTOR_WINDOW(ENTRY)
#undef ENTRY
#define ENTRY(name, help) {"MATMUL", #name, MATMUL_##name},
    CNNVP_DESCRIPTOR_MATMUL(ENTRY)
#undef ENTRY
#define ENTRY(name, help) {"VECTOR", #name, VECTOR_##name},
    CNNVP_DESCRIPTOR_VECTOR(ENTRY)
#undef ENTRY
#define ENTRY(name, help) {"TRANSFER", #name, TRANSFER_##name},
    CNNVP_DESCRIPTOR_TRANSFER(ENTRY)
#undef ENTRY
};

static int same(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

int cnnvp_asm_find_opcode(const char *name, size_t length)
{
    for (int code = 0; code < 256; ++code)
        if (cnnvp_asm_opcodes[code].mnemonic && same(cnnvp_asm_opcodes[code].mnemonic, name, length))
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
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; ++i)
        if (strcmp(registers[i].descriptor, descriptor) == 0 && same(registers[i].name, name, length))
            return (int)registers[i].offset;
    return -1;
}
