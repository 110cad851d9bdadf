/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes S003's instruction words: opcode, status field, operands (c8). It also computes the units and buffer halves
 * that an instruction occupies; the comment at each group of opcodes.def states the rule.
 */
#include "isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER(name, help, fields) {#name, help},
#define FORM(form, name) \
    static const struct cnnvp_instruction_register registers_of_##name[] = {CNNVP_DESCRIPTOR_##form(REGISTER)};
CNNVP_DESCRIPTORS(FORM)
#undef FORM
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { /* number of registers of each descriptor form */
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
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    [code] = {#mnemonic,                                                                  \
              help,                                                                       \
              ISA_CLASS_##class_,                                                         \
              ISA_FORMAT_##format,                                                        \
              ISA_UNIT_##unit,                                                            \
              (status_mask),                                                              \
              DESCRIPTOR_##descriptor,                                                    \
              ISA_FORM_##descriptor,                                                      \
              NULL},
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

const struct isa_opcode *cnnvp_isa_decode(const struct isa_extension *extension, uint64_t word)
{
    const struct isa_opcode *op = cnnvp_isa_find(extension, cnnvp_word_read(word).opcode);
    if (op == NULL)
        return NULL;
    const uint64_t allowed = (uint64_t)op->status_mask << CNNVP_WORD_STATUS | cnnvp_isa_operand_masks[op->format];
    return (word & UINT64_C(0x00ffffffffffffff) & ~allowed) == 0 ? op : NULL;
}

/* ---- instructions of custom units ---- */

const struct isa_opcode *cnnvp_isa_find(const struct isa_extension *extension, uint32_t code)
{
    const struct isa_opcode *op = cnnvp_isa_opcode(code);
    if (op != NULL || extension == NULL || code < CNNVP_CUSTOM_OPCODE_FIRST || code > CNNVP_CUSTOM_OPCODE_LAST)
        return op;
    op = &extension->opcodes[code - CNNVP_CUSTOM_OPCODE_FIRST];
    return op->mnemonic != NULL ? op : NULL;
}

static const struct isa_status *status_in(const struct isa_status *statuses, uint32_t code)
{
    while (statuses->name != NULL && statuses->opcode != code)
        ++statuses;
    return statuses->name != NULL ? statuses : NULL;
}

const struct isa_status *cnnvp_isa_status(const struct isa_extension *extension, uint32_t code)
{
    const struct isa_status *status = status_in(cnnvp_isa_statuses, code);
    return status != NULL || extension == NULL ? status : status_in(extension->statuses, code);
}

const struct isa_status *cnnvp_isa_next_status(const struct isa_status *status)
{
    return status[1].name != NULL && status[1].opcode == status->opcode ? status + 1 : NULL;
}

struct isa_form_text cnnvp_isa_form(const struct isa_opcode *op)
{
    if (op->custom == NULL)
        return cnnvp_isa_forms[op->form];
    return (struct isa_form_text){op->mnemonic, op->custom->registers, op->descriptor_count};
}

CNNVP_PRINTF(3, 4)
static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, size, format, args);
    va_end(args);
    return -1;
}

/* Names must be valid for the assembler and as C identifiers. */
static int is_name(const char *text)
{
    enum { LONGEST = 32 };
    return text != NULL && text[0] >= 'a' && text[0] <= 'z' && strlen(text) <= LONGEST &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

int cnnvp_isa_is_keyword(const char *name)
{
    static const char *const words[] = {
        "auto",   "break",    "case",     "char",     "const", "continue", "default", "do",     "double",
        "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline", "int",
        "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static", "struct",
        "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while"};
    size_t i = 0;
    while (i < sizeof words / sizeof words[0] && strcmp(name, words[i]) != 0)
        ++i;
    return i < sizeof words / sizeof words[0];
}

static const char *taken_by(const struct isa_extension *extension, const struct cnnvp_instruction *instruction)
{
    for (uint32_t code = 0; code < COUNT(opcodes); ++code) {
        const struct isa_opcode *op = cnnvp_isa_find(extension, code);
        if (op != NULL && (code == instruction->opcode || strcmp(op->mnemonic, instruction->mnemonic) == 0))
            return op->custom != NULL ? "an instruction of another unit, or another one of this" : "the built-in one";
    }
    return NULL;
}

static int check_statuses(const struct cnnvp_instruction *instruction, uint32_t *mask, char *why, size_t size)
{
    *mask = 0;
    if (instruction->status_count > ISA_STATUS_BITS || (instruction->status_count && instruction->statuses == NULL))
        return refuse(why, size, "%s: its statuses are missing, or are more than 8", instruction->mnemonic);
    for (size_t i = 0; i < instruction->status_count; ++i) {
        const struct cnnvp_instruction_status *status = &instruction->statuses[i];
        if (!is_name(status->name) || status->help == NULL)
            return refuse(why, size, "%s: status %zu has no help, or no name of lower case letters, digits and _",
                          instruction->mnemonic, i);
        if (status->width < 1u || status->width > ISA_STATUS_BITS || status->lsb > ISA_STATUS_BITS - status->width)
            return refuse(why, size, "%s: status %s lies outside the 8 bits", instruction->mnemonic, status->name);
        const uint32_t bits = ((1u << status->width) - 1u) << status->lsb;
        if (*mask & bits)
            return refuse(why, size, "%s: status %s shares a bit with one before", instruction->mnemonic, status->name);
        *mask |= bits;
        for (size_t j = 0; j < i; ++j)
            if (strcmp(status->name, instruction->statuses[j].name) == 0)
                return refuse(why, size, "%s: two statuses are named %s", instruction->mnemonic, status->name);
    }
    return 0;
}

static int check_registers(const struct cnnvp_instruction *instruction, char *why, size_t size)
{
    if (instruction->register_count > CNNVP_DESCRIPTOR_MAX ||
        (instruction->register_count && instruction->registers == NULL))
        return refuse(why, size, "%s: the registers of its descriptor are missing, or are more than %u",
                      instruction->mnemonic, CNNVP_DESCRIPTOR_MAX);
    for (size_t i = 0; i < instruction->register_count; ++i) {
        const struct cnnvp_instruction_register *reg = &instruction->registers[i];
        if (!is_name(reg->name) || reg->help == NULL)
            return refuse(why, size, "%s: register %zu has no help, or no name of lower case letters, digits and _",
                          instruction->mnemonic, i);
        if (cnnvp_isa_is_keyword(reg->name))
            return refuse(why, size, "%s: register %s: a keyword of C cannot be a member of the header's descriptor",
                          instruction->mnemonic, reg->name);
        for (size_t j = 0; j < i; ++j)
            if (strcmp(reg->name, instruction->registers[j].name) == 0)
                return refuse(why, size, "%s: two registers are named %s", instruction->mnemonic, reg->name);
    }
    return 0;
}

int cnnvp_isa_extend(struct isa_extension *extension, const struct cnnvp_instruction *instruction, enum isa_unit unit,
                     char *why, size_t why_size)
{
    const uint32_t code = instruction->opcode, all = CNNVP_HALF_INPUT | CNNVP_HALF_WEIGHT | CNNVP_HALF_OUTPUT;
    uint32_t mask;
    if (!is_name(instruction->mnemonic) || instruction->help == NULL)
        return refuse(why, why_size,
                      "instruction 0x%02x has no help, or no name of up to 32 lower case letters, digits and _",
                      (unsigned)code);
    if (code < CNNVP_CUSTOM_OPCODE_FIRST || code > CNNVP_CUSTOM_OPCODE_LAST)
        return refuse(why, why_size, "%s: opcode 0x%x is not one of 0x%x to 0x%x", instruction->mnemonic,
                      (unsigned)code, CNNVP_CUSTOM_OPCODE_FIRST, CNNVP_CUSTOM_OPCODE_LAST);
    if (instruction->buffers & ~all)
        return refuse(why, why_size, "%s: buffers 0x%x are more than those of enum cnnvp_half", instruction->mnemonic,
                      (unsigned)instruction->buffers);
    const char *other = taken_by(extension, instruction);
    if (other != NULL)
        return refuse(why, why_size, "%s, opcode 0x%02x: %s has this opcode or name", instruction->mnemonic,
                      (unsigned)code, other);
    if (check_statuses(instruction, &mask, why, why_size) || check_registers(instruction, why, why_size))
        return -1;
    for (size_t i = 0; i < instruction->status_count; ++i) {
        const struct cnnvp_instruction_status *status = &instruction->statuses[i];
        extension->statuses[extension->status_count++] =
            (struct isa_status){code, status->name, status->help, status->lsb, status->width};
    }
    extension->opcodes[code - CNNVP_CUSTOM_OPCODE_FIRST] = (struct isa_opcode){
        .mnemonic = instruction->mnemonic,
        .help = instruction->help,
        .class_ = ISA_CLASS_calc,
        .format = ISA_FORMAT_TILE,
        .unit = (uint8_t)unit,
        .status_mask = (uint8_t)mask,
        .descriptor_count = (uint8_t)instruction->register_count,
        .form = ISA_FORM_NONE,
        .custom = instruction};
    return 0;
}

struct isa_extension *cnnvp_isa_extension(const struct cnnvp_instruction *const *list, char *why, size_t why_size)
{
    struct isa_extension *extension = calloc(1, sizeof *extension);
    if (extension == NULL)
        (void)refuse(why, why_size, "out of memory");
    for (size_t i = 0; extension != NULL && list != NULL && list[i] != NULL; ++i)
        if (cnnvp_isa_extend(extension, list[i], ISA_UNIT_custom_0, why, why_size)) {
            free(extension);
            return NULL;
        }
    return extension;
}

/* ---- what an instruction occupies ---- */

/* The half that the instruction names of buffer 0 (input), 1 (weight) or 2 (output); 0 for buffer 3. */
static uint32_t half_of(const struct cnnvp_word_parts *fields, uint32_t buffer)
{
    if (buffer > 2u)
        return 0;
    return (uint32_t)ISA_USE_INPUT << (2u * buffer + ((fields->halves >> buffer) & 1u));
}

/* The half of a buffer that a calculation reads, or overwrites with its results (output). */
static uint32_t operand_of(const struct cnnvp_word_parts *fields, uint32_t buffer)
{
    return half_of(fields, buffer) << (buffer == 1u ? ISA_READ_SHIFT : 0);
}

static uint32_t cause_of(uint32_t buffer)
{
    return buffer > 2u ? 0u : 1u << ((uint32_t)ISA_CAUSE_INPUT + buffer);
}

static uint32_t array_resources(const struct cnnvp_word_parts *fields)
{
    const uint32_t weights = fields->opcode == ISA_pool ? 0u : operand_of(fields, 1);
    const int training = fields->opcode >= ISA_tforward && fields->opcode <= ISA_touter;
    const int bias = training && (fields->status & ISA_STATUS_tforward_bias) != 0; /* one bit in all training opcodes */
    return ISA_USE_ARRAY | (bias ? 0u : operand_of(fields, 0)) | operand_of(fields, 2) | weights;
}

/* Resources of a multi-function instruction: the working half of the intermediate buffer, and the idle half if the
 * status says so. */
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
        return used | operand_of(fields, 0) | operand_of(fields, 2) |
               (fields->opcode == ISA_vconv ? operand_of(fields, 1) : 0u);
    used |= operand_of(fields, a == 3u ? 2u : a); /* 3: partial sums in the output buffer */
    const struct isa_opcode *op = cnnvp_isa_opcode(fields->opcode);
    if ((op->status_mask & 0x0cu) != 0)
        used |= operand_of(fields, b);                  /* 3: immediate, no buffer */
    const uint32_t store_bit = op->status_mask & 0x20u; /* without this bit the result is always stored */
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
    default: /* refused by the DMA */
        *resources = 0;
        break;
    }
}

/* The instruction's unit (of a DMA both channels) and the buffer halves that it declares. */
static uint32_t custom_resources(const struct isa_opcode *op, enum isa_unit unit, const struct cnnvp_word_parts *fields)
{
    uint32_t used = unit == ISA_UNIT_array    ? (uint32_t)ISA_USE_ARRAY
                    : unit == ISA_UNIT_vector ? (uint32_t)ISA_USE_VECTOR
                    : unit == ISA_UNIT_dma    ? (uint32_t)(ISA_USE_DMA_READ | ISA_USE_DMA_WRITE)
                                              : (uint32_t)ISA_USE_CUSTOM << (unit - ISA_UNIT_custom_0);
    for (uint32_t buffer = 0; buffer < 3u; ++buffer)
        used |= op->custom->buffers >> buffer & 1u ? half_of(fields, buffer) : 0u;
    return used;
}

void cnnvp_isa_usage(const struct isa_opcode *op, const struct cnnvp_word_parts *fields, uint32_t *resources,
                     uint32_t *causes)
{
    const enum isa_unit unit = cnnvp_isa_stand_in(op->unit);
    *resources = 0;
    *causes = 0;
    if (op->custom != NULL) {
        *resources = custom_resources(op, unit, fields);
        *causes = unit == ISA_UNIT_array ? 0u : 1u << ISA_CAUSE_VECTOR;
        return;
    }
    switch (unit) {
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

uint32_t cnnvp_isa_excludes(uint32_t resources)
{
    const uint32_t alone = resources & ISA_USE_BUFFERS;
    return (resources & ISA_USE_UNITS) | alone | alone << ISA_READ_SHIFT |
           (resources >> ISA_READ_SHIFT & ISA_USE_BUFFERS);
}

#define NUMBER_OF(form, name) ((uint8_t)(offsetof(struct cnnvp_##form, name) / sizeof(uint32_t)))

uint32_t cnnvp_isa_operand(const struct cnnvp_word_parts *fields, uint32_t buffer)
{
    static const uint8_t array[ISA_FORM_COUNT][2] = {
        [ISA_FORM_WINDOW] = {NUMBER_OF(window, in_addr), NUMBER_OF(window, weight_addr)},
        [ISA_FORM_MATMUL] = {NUMBER_OF(matmul, in_addr), NUMBER_OF(matmul, weight_addr)},
        [ISA_FORM_TCONV] = {NUMBER_OF(tconv, in_addr), NUMBER_OF(tconv, weight_addr)},
        [ISA_FORM_TGRADIENT] = {NUMBER_OF(tgradient, in_addr), NUMBER_OF(tgradient, error_addr)},
        [ISA_FORM_TMATMUL] = {NUMBER_OF(tmatmul, in_addr), NUMBER_OF(tmatmul, weight_addr)},
        [ISA_FORM_TOUTER] = {NUMBER_OF(touter, in_addr), NUMBER_OF(touter, error_addr)}};
    const struct isa_opcode *op = cnnvp_isa_opcode(fields->opcode);
    uint32_t resources, causes;
    if (op == NULL || buffer > 1u)
        return UINT32_MAX;
    cnnvp_isa_usage(op, fields, &resources, &causes);
    if ((resources & (ISA_USE_ARRAY | ISA_USE_VECTOR)) == 0 || (resources & operand_of(fields, buffer)) == 0)
        return UINT32_MAX;
    if (op->form == ISA_FORM_VECTOR)
        return (fields->status & 3u) == buffer ? NUMBER_OF(vector, a_addr) : NUMBER_OF(vector, b_addr);
    return array[op->form][0] != array[op->form][1] ? array[op->form][buffer] : UINT32_MAX;
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
