/* SPDX-License-Identifier: Apache-2.0 */
/* The accelerator's instruction set as C: opcodes, status fields, descriptors; from the one table
 * (models/instruction/opcodes.def, descriptors.def). For software on both sides: the guest's and the host's. */
#ifndef CNNVP_INSTRUCTION_SET_H
#define CNNVP_INSTRUCTION_SET_H

#include <stdint.h>

enum cnnvp_opcode {
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help) CNNVP_OPCODE_##mnemonic = code,
#define CNNVP_STATUS(mnemonic, name, lsb, width, help)
#include "instruction/opcodes.def"
};

/* Position of each status field, as CNNVP_STATUS_<mnemonic>_<name>. */
enum cnnvp_status_lsb {
#define CNNVP_OPCODE(mnemonic, code, class, format, unit, descriptor, mask, help)
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) CNNVP_STATUS_##mnemonic##_##name = lsb,
#include "instruction/opcodes.def"
};

#include "instruction/descriptors.def"

/* Descriptors as structs of 32-bit registers, in the order of the element's registers. */
#define CNNVP_DESCRIPTOR_MEMBER(name, help) uint32_t name;
#define CNNVP_DESCRIPTOR_STRUCT(form, name)              \
    struct cnnvp_##name {                                \
        CNNVP_DESCRIPTOR_##form(CNNVP_DESCRIPTOR_MEMBER) \
    };
CNNVP_DESCRIPTORS(CNNVP_DESCRIPTOR_STRUCT)
#undef CNNVP_DESCRIPTOR_STRUCT
#undef CNNVP_DESCRIPTOR_MEMBER

/* Two 16-bit values of a packed register. */
static inline uint32_t cnnvp_pack(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

#endif
