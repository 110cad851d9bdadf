/* SPDX-License-Identifier: Apache-2.0 */
/* One line of assembler text after the other, and messages with their place. */
#ifndef CNNVP_ASM_LEXER_H
#define CNNVP_ASM_LEXER_H

#include <stddef.h>

#include "cnnvp.h"
#include "isa/isa.h"

struct asm_lexer {
    const char *file;
    const char *line; /* start of the present line */
    const char *at;   /* next character */
    size_t number;    /* of the line, from 1 */
    struct cnnvp_error *error;
};

/* A piece of the text. */
struct asm_name {
    const char *text; /* NULL: none */
    size_t length;
};

/* Skips blanks; at a comment or the end of the line it stays. */
void cnnvp_asm_blanks(struct asm_lexer *lexer);
/* 1 if nothing but blanks and a comment is left of the line. */
int cnnvp_asm_line_done(struct asm_lexer *lexer);
/* Goes to the start of the next line; 0 at the end of the text. */
int cnnvp_asm_next_line(struct asm_lexer *lexer);
/* A name [A-Za-z_][A-Za-z0-9_]* at the present place, taken; text NULL if there is none. */
struct asm_name cnnvp_asm_name(struct asm_lexer *lexer);
/* Takes the character `c` after blanks; 0 if something else is there. */
int cnnvp_asm_take(struct asm_lexer *lexer, char c);
/* BAD_INPUT, with "FILE:LINE:COLUMN: " of `at` in front of the message. */
CNNVP_MUST_USE cnnvp_result cnnvp_asm_fail(const struct asm_lexer *lexer, const char *at, const char *format, ...)
    CNNVP_PRINTF(3, 4);

/* Registers among an instruction's operands, from the top of a word's operand bits on. */
static inline unsigned cnnvp_asm_registers(enum isa_format format)
{
    static const unsigned char registers[ISA_FORMAT_COUNT] = {
        [ISA_FORMAT_RI] = 1,  [ISA_FORMAT_RR] = 2,     [ISA_FORMAT_RRI] = 2,
        [ISA_FORMAT_RRR] = 3, [ISA_FORMAT_BRANCH] = 2, [ISA_FORMAT_TILE] = 1};
    return registers[format];
}

#endif
