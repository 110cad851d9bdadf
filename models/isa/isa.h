/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of opcodes.def and descriptors.def, and decoding of instruction words by these tables. Independent of any
 * host: the instruction element, the assembler and the compiler use it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_command.h"
#include "cnnvp_isa.h"
#include "isa/descriptors.def"

enum isa_class { ISA_CLASS_control, ISA_CLASS_data, ISA_CLASS_calc };
enum isa_unit {
    ISA_UNIT_none,
#define CNNVP_EXECUTOR(unit, stand_in, help) ISA_UNIT_##unit,
#include "isa/opcodes.def"
    ISA_UNIT_COUNT
};

enum isa_format {
#define CNNVP_FORMAT(format, operand_mask) ISA_FORMAT_##format,
#include "isa/opcodes.def"
    ISA_FORMAT_COUNT
};

enum isa_form {
    ISA_FORM_NONE,
#define FORM(form, name) ISA_FORM_##form,
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
        ISA_FORM_COUNT
};

enum isa_code {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) ISA_##mnemonic = (code),
#include "isa/opcodes.def"
};

/* Resources that an instruction occupies while it runs. Calculations share a weight half, which they only read (bits of
 * ISA_USE_BUFFERS << ISA_READ_SHIFT); any other use of a half (bits of ISA_USE_BUFFERS) is of one instruction alone. */
enum isa_resource {
    ISA_USE_ARRAY = 1u << 0,
    ISA_USE_VECTOR = 1u << 1,
    ISA_USE_DMA_READ = 1u << 2,
    ISA_USE_DMA_WRITE = 1u << 3,
    ISA_USE_INPUT = 1u << 4, /* first half of the buffer; the next bit is its second half */
    ISA_USE_WEIGHT = 1u << 6,
    ISA_USE_OUTPUT = 1u << 8,
    ISA_USE_CUSTOM = 1u << 10, /* custom_0; the next bits are custom_1 to custom_3 */
    ISA_USE_UNITS = 0x3c0fu,
    ISA_USE_BUFFERS = 0x3f0u
};
enum { ISA_READ_SHIFT = 12 };

/* What the PE array waits for while this instruction runs (models/documents.md, Accounting). In order of precedence. */
enum isa_cause { ISA_CAUSE_VECTOR, ISA_CAUSE_INPUT, ISA_CAUSE_WEIGHT, ISA_CAUSE_OUTPUT, ISA_CAUSE_COUNT };

struct isa_opcode {
    const char *mnemonic; /* NULL: no such opcode */
    const char *help;
    uint8_t class_;
    uint8_t format;
    uint8_t unit;
    uint8_t status_mask;
    uint8_t descriptor_count;               /* number of registers of the descriptor */
    uint8_t form;                           /* form of the descriptor */
    const struct cnnvp_instruction *custom; /* of a custom unit, which has no form; NULL: built in */
};

struct isa_status {
    uint32_t opcode;
    const char *name, *help;
    uint32_t lsb, width;
};
extern const struct isa_status
    cnnvp_isa_statuses[]; /* the entries of an opcode are consecutive; the last one has no name */

/* The instructions of custom units. */
enum { ISA_CUSTOM_COUNT = CNNVP_CUSTOM_OPCODE_LAST - CNNVP_CUSTOM_OPCODE_FIRST + 1u, ISA_STATUS_BITS = 8 };
struct isa_extension {
    struct isa_opcode opcodes[ISA_CUSTOM_COUNT];
    struct isa_status statuses[ISA_CUSTOM_COUNT * ISA_STATUS_BITS + 1]; /* laid out as cnnvp_isa_statuses */
    uint32_t status_count;
};

/* A unit that executes instructions. */
struct isa_executor {
    const char *name, *help;
    enum isa_unit stand_in;
};
extern const struct isa_executor cnnvp_isa_executors[ISA_UNIT_COUNT]; /* the first entry, "", is no unit */

struct isa_form_text {
    const char *name; /* lower case; NULL: no descriptor */
    const struct cnnvp_instruction_register *registers;
    uint32_t count;
};
extern const struct isa_form_text cnnvp_isa_forms[ISA_FORM_COUNT];

extern const uint64_t cnnvp_isa_operand_masks[ISA_FORMAT_COUNT];

/* Returns the unit that stands in for `unit`: the array, vector unit, DMA or custom unit that executes its commands if
 * the port of `unit` is unconnected. Units with the same stand-in run one at a time. */
enum isa_unit cnnvp_isa_stand_in(enum isa_unit unit);

/* Returns NULL if the built-in table has no such opcode. */
const struct isa_opcode *cnnvp_isa_opcode(uint32_t code);

/* Where a function below looks instructions up, `extension` may be NULL: only the built-in ones exist then. */

/* 1: `name` is a keyword of C, which an identifier of a generated header cannot be. */
int cnnvp_isa_is_keyword(const char *name);

/* Adds an instruction of the unit `unit`. Returns 0, or -1 and the reason in `why`. */
int cnnvp_isa_extend(struct isa_extension *extension, const struct cnnvp_instruction *instruction, enum isa_unit unit,
                     char *why, size_t why_size);

/* Makes an extension for custom_0 from a list that ends with NULL; `list` may be NULL. Free it with free(). Returns
 * NULL and the reason in `why` if an instruction is malformed. */
struct isa_extension *cnnvp_isa_extension(const struct cnnvp_instruction *const *list, char *why, size_t why_size);

/* Returns NULL if the opcode is unknown. */
const struct isa_opcode *cnnvp_isa_find(const struct isa_extension *extension, uint32_t code);

/* The first status field of an opcode, and the next one of the same opcode. NULL: there is none. */
const struct isa_status *cnnvp_isa_status(const struct isa_extension *extension, uint32_t code);
const struct isa_status *cnnvp_isa_next_status(const struct isa_status *status);

/* The registers of an instruction's descriptor. */
struct isa_form_text cnnvp_isa_form(const struct isa_opcode *op);

/* Returns NULL if the opcode is unknown, or if status bits or operand bits are set that it does not define. */
const struct isa_opcode *cnnvp_isa_decode(const struct isa_extension *extension, uint64_t word);

/* Gets the resources of a legal instruction, and the causes (bits 1 << enum isa_cause) under which the PE array's
 * waiting for it is counted. Both are 0 for an instruction without a unit. */
void cnnvp_isa_usage(const struct isa_opcode *op, const struct cnnvp_word_parts *fields, uint32_t *resources,
                     uint32_t *causes);

/* The resources of other instructions for which an instruction with these resources waits. */
uint32_t cnnvp_isa_excludes(uint32_t resources);

/* Returns the number of the descriptor register with the address at which a legal instruction reads buffer 0 (input) or
 * 1 (weight). UINT32_MAX: no register, or the instruction is one of a custom unit. */
uint32_t cnnvp_isa_operand(const struct cnnvp_word_parts *fields, uint32_t buffer);

/* Returns 1 for the instructions after which fetch waits: jump, branches, loop, halt. */
int cnnvp_isa_redirects(uint32_t opcode);
