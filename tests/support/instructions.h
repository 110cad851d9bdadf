/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction set, for tests that build commands themselves: OP_<mnemonic>, ST_<mnemonic>_<field>, and the
 * registers of a descriptor, struct machine_<form>.
 */
#ifndef CNNVP_TEST_INSTRUCTIONS_H
#define CNNVP_TEST_INSTRUCTIONS_H

#include <stdint.h>

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) OP_##mnemonic = (code),
#include "isa/opcodes.def"
};

/* The lowest bit of each status field; for a field of one bit, the whole field. */
enum {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) ST_##mnemonic##_##name = 1 << (lsb),
#include "isa/opcodes.def"
};

#include "isa/descriptors.def"
#define MACHINE_MEMBER(name, help, fields) uint32_t name;
#define MACHINE_STRUCT(form, name)              \
    struct machine_##name {                     \
        CNNVP_DESCRIPTOR_##form(MACHINE_MEMBER) \
    };
CNNVP_DESCRIPTORS(MACHINE_STRUCT)
#undef MACHINE_STRUCT
#undef MACHINE_MEMBER

#endif
