/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding of S003's instruction words: opcode, status field, operands (c8). Which units and buffer halves an
 * instruction occupies is the rule that opcodes.def states at each group.
 */
#include "isa.h"

#define REGISTER(name, help, fields) {#name, help},
#define FORM(form, name) static const struct isa_register registers_of_##name[] = {CNNVP_DESCRIPTOR_##form(REGISTER)};
CNNVP_DESCRIPTORS(FORM)
#undef FORM
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { /* registers of each descriptor form */
       DESCRIPTOR_NONE = 0,
#define FORM(form, name) DESCRIPTOR_##form = COUNT(registers_of_##name),
       CNNVP_DESCRIPTORS(FORM)
#undef FORM
};

const struct isa_form_text cnnvp_isa_forms[ISA_FORM_COUNT] = {
#define FORM(form, name) [ISA_FORM_##form] = {#name, registers_of_##name, DESCRIPTOR_##form},
    CNNVP_DESCRIPTORS(FORM)
#undef FORM
};

#define FORM(form, name) \
    _Static_assert((int)DESCRIPTOR_##form <= (int)CNNVP_DESCRIPTOR_MAX, "a command carries every descriptor form");
CNNVP_DESCRIPTORS(FORM)
#undef FORM

/* Status fields as masks. */
enum {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) ISA_STATUS_##mnemonic##_##name = ((1 << (width)) - 1) << (lsb),
#include "isa/opcodes.def"
};

static const struct isa_opcode opcodes[256] = {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help)   \
    [code] = {#mnemonic,       help,          ISA_CLASS_##class_,      ISA_FORMAT_##format, \
              ISA_UNIT_##unit, (status_mask), DESCRIPTOR_##descriptor, ISA_FORM_##descriptor},
#include "isa/opcodes.def"
};

const uint64_t cnnvp_isa_operand_masks[ISA_FORMAT_COUNT] = {
#define CNNVP_FORMAT(format, operand_mask) [ISA_FORMAT_##format] = (operand_mask),
#include "isa/opcodes.def"
};

const struct isa_status cnnvp_isa_statuses[] = {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) {ISA_##mnemonic, #name, help, lsb, width},
#include "isa/opcodes.def"
    {0}};

const struct isa_executor cnnvp_isa_executors[ISA_UNIT_COUNT] = {
    {"", "", ISA_UNIT_none},
#define CNNVP_EXECUTOR(unit, stand_in, help) {#unit, help, ISA_UNIT_##stand_in},
#include "isa/opcodes.def"
};

enum isa_unit cnnvp_isa_stand_in(enum isa_unit unit)
{
    return cnnvp_isa_executors[unit].stand_in;
}

const struct isa_opcode *cnnvp_isa_opcode(uint32_t code)
{
    return code < 256u && opcodes[code].mnemonic != NULL ? &opcodes[code] : NULL;
}

int cnnvp_isa_legal(uint64_t word)
{
    const struct isa_opcode *op = cnnvp_isa_opcode(cnnvp_word_read(word).opcode);
    if (op == NULL)
        return 0;
    const uint64_t allowed = (uint64_t)op->status_mask << CNNVP_WORD_STATUS | cnnvp_isa_operand_masks[op->format];
    return (word & UINT64_C(0x00ffffffffffffff) & ~allowed) == 0;
}

/* The half of buffer 0 input, 1 weight, 2 output that the instruction names; nothing for 3. */
static uint32_t half_of(const struct cnnvp_word_parts *fields, uint32_t buffer)
{
    if (buffer > 2u)
        return 0;
    return (uint32_t)ISA_USE_INPUT << (2u * buffer + ((fields->halves >> buffer) & 1u));
}

static uint32_t cause_of(uint32_t buffer)
{
    return buffer > 2u ? 0u : 1u << ((uint32_t)ISA_CAUSE_INPUT + buffer);
}

static uint32_t array_resources(const struct cnnvp_word_parts *fields)
{
    const uint32_t weights = fields->opcode == ISA_pool ? 0u : half_of(fields, 1);
    const int training = fields->opcode >= ISA_tforward && fields->opcode <= ISA_touter;
    const int bias = training && (fields->status & ISA_STATUS_tforward_bias) != 0; /* at the same place in all */
    return ISA_USE_ARRAY | (bias ? 0u : half_of(fields, 0)) | half_of(fields, 2) | weights;
}

/* The multi-function module: the working half of the intermediate buffer, and the idle one where the instruction says.
 */
static uint32_t multi_function_resources(const struct cnnvp_word_parts *fields)
{
    const uint32_t both = half_of(fields, 2) | (uint32_t)ISA_USE_OUTPUT << (~fields->halves >> 2 & 1u);
    uint32_t two_halves = 0;
    switch (fields->opcode) {
    case ISA_tcoef:
    case ISA_tbnupdate:
    case ISA_tclear:
        return ISA_USE_VECTOR;
    case ISA_tpost:
        two_halves = fields->status & ISA_STATUS_tpost_park;
        break;
    case ISA_tpostback:
        two_halves = fields->status & ISA_STATUS_tpostback_idle;
        break;
    case ISA_tupdate:
        two_halves = fields->status & ISA_STATUS_tupdate_idle;
        break;
    default:
        break;
    }
    return ISA_USE_VECTOR | (two_halves ? both : half_of(fields, 2));
}

static uint32_t vector_resources(const struct cnnvp_word_parts *fields)
{
    const uint32_t a = fields->status & 3u;
    const uint32_t b = fields->status >> 2 & 3u;
    uint32_t used = ISA_USE_VECTOR;
    if (fields->opcode >= ISA_tstat)
        return multi_function_resources(fields);
    if (fields->opcode == ISA_vout)
        return used | half_of(fields, 2);
    if (fields->opcode == ISA_vpool || fields->opcode == ISA_vconv)
        return used | half_of(fields, 0) | half_of(fields, 2) | (fields->opcode == ISA_vconv ? half_of(fields, 1) : 0u);
    used |= half_of(fields, a == 3u ? 2u : a); /* 3: output as 64-bit slots */
    const struct isa_opcode *op = cnnvp_isa_opcode(fields->opcode);
    if ((op->status_mask & 0x0cu) != 0)
        used |= half_of(fields, b);                     /* 3: immediate, no buffer */
    const uint32_t store_bit = op->status_mask & 0x20u; /* without one the result is always stored */
    if (!store_bit || (fields->status & store_bit))
        used |= half_of(fields, 2);
    return used;
}

static void dma_usage(const struct cnnvp_word_parts *fields, uint32_t *resources, uint32_t *causes)
{
    const uint32_t buffer = fields->status & 3u;
    *causes = cause_of(buffer);
    switch (fields->opcode) {
    case ISA_request:
        *resources = 0;
        break;
    case ISA_receive:
        *resources = ISA_USE_DMA_READ | half_of(fields, buffer);
        break;
    case ISA_store:
        *resources = ISA_USE_DMA_WRITE | half_of(fields, buffer);
        *causes = 1u << ISA_CAUSE_OUTPUT;
        break;
    case ISA_move: {
        const uint32_t source = fields->status >> 2 & 3u;
        *resources = half_of(fields, buffer) | half_of(fields, source);
        if (source == 2u)
            *causes |= 1u << ISA_CAUSE_OUTPUT;
        break;
    }
    case ISA_fill:
    case ISA_live:
        *resources = half_of(fields, buffer);
        break;
    default: /* the DMA refuses it */
        *resources = 0;
        break;
    }
}

void cnnvp_isa_usage(const struct cnnvp_word_parts *fields, uint32_t *resources, uint32_t *causes)
{
    *resources = 0;
    *causes = 0;
    switch (cnnvp_isa_stand_in(opcodes[fields->opcode & 0xffu].unit)) {
    case ISA_UNIT_array:
        *resources = array_resources(fields);
        break;
    case ISA_UNIT_vector:
        *resources = vector_resources(fields);
        *causes = 1u << ISA_CAUSE_VECTOR;
        break;
    case ISA_UNIT_dma:
        dma_usage(fields, resources, causes);
        break;
    default:
        break;
    }
}

int cnnvp_isa_redirects(uint32_t opcode)
{
    switch (opcode) {
    case ISA_jump:
    case ISA_beq:
    case ISA_bne:
    case ISA_blt:
    case ISA_bge:
    case ISA_loop:
    case ISA_halt:
        return 1;
    default:
        return 0;
    }
}
