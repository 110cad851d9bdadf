/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembler of the accelerator's instruction set. A line is
 *
 *   [label:] [instruction | directive] [comment]        comments start with ; or # or //
 *
 *   MNEMONIC[.status[=value]]...  operands     by the format in opcodes.def:
 *     IMM     value                            jump: a label, or words from this instruction
 *     RI      rd, value                        loop: the label after the body, or its length in words
 *     RR      rd, ra
 *     RRI     rd, ra, value
 *     RRR     rd, ra, rb
 *     BRANCH  ra, rb, target                   a label, or words from this instruction
 *     TILE    base[, halves][, value]          halves: any of i0 i1 w0 w1 o0 o1, else first ones; value: else 0
 *   .equ NAME, value                           NAME stands for the value in the lines that follow
 *   .base NAME, rN, MNEMONIC                   NAME stands for rN, NAME.register for that register of the
 *                                              descriptor of MNEMONIC: .base cv, r16, conv / set cv.in_addr, 0
 *   .word value                                64 bits, unchanged
 *
 * Registers are r0 to r255. The value of a label is the number of its word. Except as a target, only differences of
 * labels are allowed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_asm.h"
#include "expression.h"
#include "isa/isa.h"
#include "lexer.h"

struct assembler {
    struct asm_lexer lexer;
    struct asm_symbols symbols;
    const struct isa_extension *extension;
    uint64_t *words;
    size_t count;
};

/* The number of r0 to r255; 256 if it is larger, -1 if the name has another form. */
static int register_number(struct asm_name name)
{
    int number = 0;
    if (name.length < 2 || name.text[0] != 'r' || (name.length > 2 && name.text[1] == '0'))
        return -1;
    for (size_t i = 1; i < name.length; ++i) {
        if (name.text[i] < '0' || name.text[i] > '9')
            return -1;
        number = number * 10 + (name.text[i] - '0');
        if (number > 255)
            number = 256;
    }
    return number;
}

/* A buffer half: the buffer's bit in bits 2:0, the half in the same bit from bit 8 on (i1 is 0x101). 0: none. */
static uint32_t half_of(struct asm_name name)
{
    static const char letters[] = "iwo";
    if (name.length != 2 || (name.text[1] != '0' && name.text[1] != '1'))
        return 0;
    const char *letter = strchr(letters, name.text[0]);
    if (letter == NULL)
        return 0;
    const uint32_t bit = 1u << (letter - letters);
    return bit | (name.text[1] == '1' ? bit << 8 : 0u);
}

static cnnvp_result define(struct assembler *self, struct asm_name name, enum asm_kind kind, int64_t value,
                           unsigned opcode)
{
    const struct asm_symbol symbol = {name, kind, value, opcode, 0};
    if (register_number(name) >= 0 || half_of(name))
        return cnnvp_asm_fail(&self->lexer, name.text, "'%.*s' is the name of a register or a buffer half",
                              (int)name.length, name.text);
    return cnnvp_asm_define(&self->symbols, &self->lexer, &symbol);
}

/* ---- operands ---- */

static cnnvp_result comma(struct asm_lexer *lexer, const char *what)
{
    return cnnvp_asm_take(lexer, ',') ? CNNVP_DONE : cnnvp_asm_fail(lexer, lexer->at, "', %s' is missing", what);
}

static int same(const char *known, struct asm_name name)
{
    return name.text != NULL && strlen(known) == name.length && memcmp(known, name.text, name.length) == 0;
}

static const struct isa_opcode *opcode_of(const struct assembler *self, unsigned code)
{
    return cnnvp_isa_find(self->extension, code);
}

/* The opcode of a mnemonic, and the index of a register in a descriptor; -1: not found. */
static int find_opcode(const struct assembler *self, struct asm_name name)
{
    for (uint32_t code = 0; code < 256u; ++code)
        if (opcode_of(self, code) != NULL && same(opcode_of(self, code)->mnemonic, name))
            return (int)code;
    return -1;
}

static int find_register(const struct isa_form_text *form, struct asm_name name)
{
    for (uint32_t i = 0; i < form->count; ++i)
        if (same(form->registers[i].name, name))
            return (int)i;
    return -1;
}

static const struct isa_status *find_status(const struct assembler *self, uint32_t opcode, struct asm_name name)
{
    const struct isa_status *status = cnnvp_isa_status(self->extension, opcode);
    while (status != NULL && !same(status->name, name))
        status = cnnvp_isa_next_status(status);
    return status;
}

static cnnvp_result parse_register(struct assembler *self, uint32_t *number)
{
    struct asm_lexer *lexer = &self->lexer;
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    const struct asm_name name = cnnvp_asm_name(lexer);
    if (name.text == NULL)
        return cnnvp_asm_fail(lexer, start, "a register is missing: r0 to r255, or NAME.register of a .base");
    const int plain = register_number(name);
    if (plain > 255)
        return cnnvp_asm_fail(lexer, start, "there are registers r0 to r255");
    if (plain >= 0) {
        *number = (uint32_t)plain;
        return CNNVP_DONE;
    }
    const struct asm_symbol *symbol = cnnvp_asm_find_symbol(&self->symbols, name);
    if (symbol == NULL || symbol->kind != ASM_BASE)
        return cnnvp_asm_fail(lexer, start, "'%.*s' is no register: r0 to r255, or NAME.register of a .base",
                              (int)name.length, name.text);
    int offset = 0;
    if (*lexer->at == '.') {
        ++lexer->at;
        const char *at = lexer->at;
        const struct asm_name field = cnnvp_asm_name(lexer);
        const struct isa_form_text form = cnnvp_isa_form(opcode_of(self, symbol->opcode));
        offset = find_register(&form, field);
        if (offset < 0)
            return cnnvp_asm_fail(lexer, at, "the %s descriptor has no register of this name, see `cnnvp models isa`",
                                  form.name);
    }
    *number = (uint32_t)(symbol->value + offset);
    return *number < 256u ? CNNVP_DONE : cnnvp_asm_fail(lexer, start, "this is r%u; the last one is r255", *number);
}

static cnnvp_result parse_value(struct assembler *self, int64_t low, int64_t high, uint64_t *value)
{
    struct asm_lexer *lexer = &self->lexer;
    struct asm_value parsed;
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    CNNVP_TRY(cnnvp_asm_expression(lexer, &self->symbols, &parsed));
    if (parsed.labels)
        return cnnvp_asm_fail(lexer, start, "a number is needed here; of labels only differences are numbers");
    if (parsed.wide || parsed.value < low || parsed.value > high)
        return cnnvp_asm_fail(lexer, start, "the value must be from %lld to %lld", (long long)low, (long long)high);
    *value = (uint64_t)parsed.value;
    return CNNVP_DONE;
}

/* Parses an immediate that fits the low 32 bits of `mask`. It may be negative if all 32 bits are used. */
static cnnvp_result parse_immediate(struct assembler *self, uint64_t mask, uint64_t *word)
{
    uint64_t value = 0;
    const uint32_t most = (uint32_t)mask;
    const cnnvp_result result = parse_value(self, most == UINT32_MAX ? INT32_MIN : 0, most, &value);
    *word |= value & most;
    return result;
}

/* Parses a label or a number of words: counted from this instruction for a branch (`from` 0), from the next one for a
 * loop (`from` 1). */
static cnnvp_result parse_target(struct assembler *self, int from, uint64_t *word)
{
    struct asm_lexer *lexer = &self->lexer;
    struct asm_value value;
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    CNNVP_TRY(cnnvp_asm_expression(lexer, &self->symbols, &value));
    if (value.labels != 0 && value.labels != 1)
        return cnnvp_asm_fail(lexer, start, "a label or a number of words is needed here");
    if (value.labels)
        value.value -= (int64_t)self->count + from;
    const int64_t low = from ? 0 : INT32_MIN;
    const int64_t high = from ? (int64_t)UINT32_MAX : INT32_MAX;
    if (value.wide || value.value < low || value.value > high)
        return cnnvp_asm_fail(lexer, start, "the target is %lld words away, it must be from %lld to %lld",
                              (long long)value.value, (long long)low, (long long)high);
    *word |= (uint64_t)value.value & UINT32_MAX;
    return CNNVP_DONE;
}

/* Parses buffer halves; there may be none. */
static cnnvp_result parse_halves(struct assembler *self, uint64_t *word)
{
    struct asm_lexer *lexer = &self->lexer;
    uint32_t seen = 0;
    for (;;) {
        cnnvp_asm_blanks(lexer);
        const char *start = lexer->at;
        const uint32_t half = half_of(cnnvp_asm_name(lexer));
        if (!half) {
            lexer->at = start;
            return CNNVP_DONE;
        }
        if (seen & half & 7u)
            return cnnvp_asm_fail(lexer, start, "the half of this buffer is given twice");
        seen |= half;
        *word |= (uint64_t)(half >> 8) << 32;
    }
}

static cnnvp_result parse_tile(struct assembler *self, uint64_t *word)
{
    struct asm_lexer *lexer = &self->lexer;
    uint32_t base = 0;
    cnnvp_result result = parse_register(self, &base);
    *word |= (uint64_t)base << 40;
    if (result != CNNVP_DONE || !cnnvp_asm_take(lexer, ','))
        return result;
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    result = parse_halves(self, word);
    if (result != CNNVP_DONE || (lexer->at != start && !cnnvp_asm_take(lexer, ',')))
        return result;
    return parse_immediate(self, cnnvp_isa_operand_masks[ISA_FORMAT_TILE], word);
}

/* Parses `count` registers, separated by commas. */
static cnnvp_result parse_registers(struct assembler *self, unsigned count, uint64_t *word)
{
    for (unsigned i = 0; i < count; ++i) {
        uint32_t number = 0;
        if (i)
            CNNVP_TRY(comma(&self->lexer, "register"));
        CNNVP_TRY(parse_register(self, &number));
        *word |= (uint64_t)number << (CNNVP_WORD_A - 8u * i);
    }
    return CNNVP_DONE;
}

static cnnvp_result parse_operands(struct assembler *self, int code, uint64_t *word)
{
    const struct isa_opcode *op = opcode_of(self, (unsigned)code);
    if (op->format == ISA_FORMAT_TILE)
        return parse_tile(self, word);
    const unsigned registers = cnnvp_asm_registers(op->format);
    CNNVP_TRY(parse_registers(self, registers, word));
    if (!(cnnvp_isa_operand_masks[op->format] & 1u)) /* no immediate */
        return CNNVP_DONE;
    if (registers != 0)
        CNNVP_TRY(comma(&self->lexer, "value"));
    if (op->format == ISA_FORMAT_BRANCH || strcmp(op->mnemonic, "jump") == 0)
        return parse_target(self, 0, word);
    if (strcmp(op->mnemonic, "loop") == 0)
        return parse_target(self, 1, word);
    return parse_immediate(self, cnnvp_isa_operand_masks[op->format], word);
}

/* ---- statements ---- */

static void suggest_for(struct asm_name name, char wanted[100], struct cnnvp_suggest *suggest)
{
    (void)snprintf(wanted, 100, "%.*s", (int)name.length, name.text != NULL ? name.text : "");
    cnnvp_suggest_begin(suggest, wanted);
}

static cnnvp_result unknown_opcode(const struct assembler *self, struct asm_name name)
{
    char wanted[100];
    struct cnnvp_suggest suggest;
    suggest_for(name, wanted, &suggest);
    for (unsigned code = 0; code < 256u; ++code)
        if (opcode_of(self, code) != NULL)
            cnnvp_suggest_offer(&suggest, opcode_of(self, code)->mnemonic);
    return cnnvp_asm_fail(&self->lexer, name.text, "there is no instruction '%s'%s", wanted,
                          cnnvp_suggest_text(&suggest, "there are"));
}

static cnnvp_result unknown_status(const struct assembler *self, int code, const char *at, struct asm_name name)
{
    char wanted[100];
    struct cnnvp_suggest suggest;
    suggest_for(name, wanted, &suggest);
    for (const struct isa_status *known = cnnvp_isa_status(self->extension, (uint32_t)code); known != NULL;
         known = cnnvp_isa_next_status(known))
        cnnvp_suggest_offer(&suggest, known->name);
    return cnnvp_asm_fail(&self->lexer, at, "%s has no such status%s", opcode_of(self, (unsigned)code)->mnemonic,
                          suggest.list_length != 0 ? cnnvp_suggest_text(&suggest, "there are") : "; there is none");
}

static cnnvp_result parse_statuses(struct assembler *self, int code, uint64_t *word)
{
    struct asm_lexer *lexer = &self->lexer;
    uint32_t seen = 0;
    while (*lexer->at == '.') {
        const char *start = lexer->at++;
        const struct asm_name name = cnnvp_asm_name(lexer);
        const struct isa_status *status = find_status(self, (uint32_t)code, name);
        uint64_t value = 1;
        if (status == NULL)
            return unknown_status(self, code, start, name);
        const uint32_t most = (1u << status->width) - 1u;
        if (seen & most << status->lsb)
            return cnnvp_asm_fail(lexer, start, "this status is given twice");
        seen |= most << status->lsb;
        if (*lexer->at == '=') {
            ++lexer->at;
            struct asm_value parsed = {0, 0, 0};
            const char *at = lexer->at;
            CNNVP_TRY(cnnvp_asm_expression(lexer, &self->symbols, &parsed));
            if (parsed.labels || parsed.wide || parsed.value < 0 || parsed.value > (int64_t)most)
                return cnnvp_asm_fail(lexer, at, "status %s of %s is from 0 to %u", status->name,
                                      opcode_of(self, (unsigned)code)->mnemonic, most);
            value = (uint64_t)parsed.value;
        } else if (status->width > 1u) {
            return cnnvp_asm_fail(lexer, lexer->at, "status %s needs a value, .%s=0 to .%s=%u", status->name,
                                  status->name, status->name, most);
        }
        *word |= value << (CNNVP_WORD_STATUS + status->lsb);
    }
    return CNNVP_DONE;
}

static cnnvp_result instruction(struct assembler *self, struct asm_name name)
{
    const int code = find_opcode(self, name);
    if (code < 0)
        return unknown_opcode(self, name);
    uint64_t word = (uint64_t)code << CNNVP_WORD_OPCODE;
    CNNVP_TRY(parse_statuses(self, code, &word));
    CNNVP_TRY(parse_operands(self, code, &word));
    self->words[self->count++] = word;
    return CNNVP_DONE;
}

static cnnvp_result directive_word(struct assembler *self)
{
    struct asm_value value = {0, 0, 0};
    cnnvp_asm_blanks(&self->lexer);
    const char *start = self->lexer.at;
    const cnnvp_result result = cnnvp_asm_expression(&self->lexer, &self->symbols, &value);
    if (result == CNNVP_DONE && value.labels)
        return cnnvp_asm_fail(&self->lexer, start, "a number is needed here; of labels only differences are numbers");
    self->words[self->count++] = (uint64_t)value.value;
    return result;
}

static cnnvp_result directive_base(struct assembler *self, struct asm_name name)
{
    struct asm_lexer *lexer = &self->lexer;
    uint32_t number = 0;
    uint64_t value = 0;
    cnnvp_asm_blanks(lexer);
    struct asm_lexer ahead = *lexer;
    const int is_register = register_number(cnnvp_asm_name(&ahead)) >= 0;
    CNNVP_TRY(is_register ? parse_register(self, &number) : parse_value(self, 0, 255, &value));
    CNNVP_TRY(comma(lexer, "instruction"));
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    const struct asm_name mnemonic = cnnvp_asm_name(lexer);
    const int code = find_opcode(self, mnemonic);
    if (code < 0 || opcode_of(self, (unsigned)code)->descriptor_count == 0)
        return cnnvp_asm_fail(lexer, start, "an instruction with a descriptor is needed here, such as conv");
    return define(self, name, ASM_BASE, (int64_t)(number + value), (unsigned)code);
}

static cnnvp_result directive(struct assembler *self)
{
    struct asm_lexer *lexer = &self->lexer;
    const char *start = lexer->at++;
    const struct asm_name name = cnnvp_asm_name(lexer);
    const int is_equ = name.length == 3 && memcmp(name.text, "equ", 3) == 0;
    const int is_base = name.length == 4 && memcmp(name.text, "base", 4) == 0;
    if (name.length == 4 && memcmp(name.text, "word", 4) == 0)
        return directive_word(self);
    if (!is_equ && !is_base)
        return cnnvp_asm_fail(lexer, start, "there is no such directive; there are .equ .base .word");
    cnnvp_asm_blanks(lexer);
    const struct asm_name symbol = cnnvp_asm_name(lexer);
    if (symbol.text == NULL)
        return cnnvp_asm_fail(lexer, lexer->at, "a name is missing");
    CNNVP_TRY(comma(lexer, is_equ ? "value" : "register"));
    if (is_base)
        return directive_base(self, symbol);
    struct asm_value value = {0, 0, 0};
    cnnvp_asm_blanks(lexer);
    const char *at = lexer->at;
    CNNVP_TRY(cnnvp_asm_expression(lexer, &self->symbols, &value));
    if (value.labels || value.wide)
        return cnnvp_asm_fail(lexer, at, "a number that fits 63 bits and a sign is needed here");
    return define(self, symbol, ASM_NUMBER, value.value, 0);
}

/* Parses the labels at the start of a line. The first pass defines them, and the second one skips them. */
static cnnvp_result labels(struct assembler *self, int first_pass)
{
    struct asm_lexer *lexer = &self->lexer;
    for (;;) {
        cnnvp_asm_blanks(lexer);
        const char *start = lexer->at;
        const struct asm_name name = cnnvp_asm_name(lexer);
        if (name.text == NULL || !cnnvp_asm_take(lexer, ':')) {
            lexer->at = start;
            return CNNVP_DONE;
        }
        if (!first_pass)
            continue;
        CNNVP_TRY(define(self, name, ASM_LABEL, (int64_t)self->count, 0));
    }
}

static cnnvp_result statement(struct assembler *self)
{
    struct asm_lexer *lexer = &self->lexer;
    CNNVP_TRY(labels(self, 0));
    if (cnnvp_asm_line_done(lexer))
        return CNNVP_DONE;
    const char *start = lexer->at;
    const struct asm_name name = cnnvp_asm_name(lexer);
    if (name.text != NULL)
        CNNVP_TRY(instruction(self, name));
    else if (*start == '.')
        CNNVP_TRY(directive(self));
    else
        return cnnvp_asm_fail(lexer, start, "a label, an instruction or a directive is needed here");
    return cnnvp_asm_line_done(lexer)
               ? CNNVP_DONE
               : cnnvp_asm_fail(lexer, lexer->at, "the statement should end here; comments start with ; or # or //");
}

/* The first pass: defines the labels. Each instruction and each .word takes one word, whatever its operands are. */
static cnnvp_result find_labels(struct assembler *self)
{
    struct asm_lexer *lexer = &self->lexer;
    do {
        CNNVP_TRY(labels(self, 1));
        if (!cnnvp_asm_line_done(lexer) && (*lexer->at != '.' || strncmp(lexer->at, ".word", 5) == 0))
            ++self->count;
    } while (cnnvp_asm_next_line(lexer));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_assemble(const char *file, const char *text, const struct cnnvp_instruction *const *custom,
                            uint64_t **words, size_t *count, struct cnnvp_error *error)
{
    struct cnnvp_error unwanted;
    char why[200] = "";
    CNNVP_FREED struct isa_extension *extension = cnnvp_isa_extension(custom, why, sizeof why);
    const struct asm_lexer start = {file, text, text, 1, error != NULL ? error : &unwanted};
    struct assembler self = {start, {NULL}, extension, NULL, 0};
    cnnvp_result result =
        extension != NULL ? find_labels(&self) : cnnvp_asm_fail(&self.lexer, self.lexer.at, "%s", why);
    if (result == CNNVP_DONE) {
        self.words = malloc((self.count ? self.count : 1u) * sizeof *self.words);
        if (self.words == NULL)
            result = cnnvp_asm_fail(&self.lexer, self.lexer.at, "out of memory");
    }
    self.lexer = start;
    self.count = 0;
    while (result == CNNVP_DONE) {
        result = statement(&self);
        if (result != CNNVP_DONE || !cnnvp_asm_next_line(&self.lexer))
            break;
    }
    cnnvp_asm_free_symbols(&self.symbols);
    if (result != CNNVP_DONE) {
        free(self.words);
        return result;
    }
    *words = self.words;
    *count = self.count;
    return CNNVP_DONE;
}
