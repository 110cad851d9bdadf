/* SPDX-License-Identifier: Apache-2.0 */
/* Reads assembler text line by line, and reports errors with their position. */
#pragma once

#include <stddef.h>

#include "cnnvp.h"
#include "isa/isa.h"

struct asm_lexer {
    const char *file;
    const char *line; /* start of the current line */
    const char *at;   /* next character */
    size_t number;    /* line number, from 1 */
    struct cnnvp_error *error;
};

/* A name in the source text. */
struct asm_name {
    const char *text; /* NULL: none */
    size_t length;
};

/* Skips blanks, but no comment or line end. */
void cnnvp_asm_blanks(struct asm_lexer *lexer);
/* 1: the rest of the line is only blanks and a comment. */
int cnnvp_asm_line_done(struct asm_lexer *lexer);
/* Goes to the start of the next line; 0 at the end of the text. */
int cnnvp_asm_next_line(struct asm_lexer *lexer);
/* Consumes a name [A-Za-z_][A-Za-z0-9_]*; text is NULL if there is none. */
struct asm_name cnnvp_asm_name(struct asm_lexer *lexer);
/* Skips blanks and consumes the character `c`; 0: another one comes next. */
int cnnvp_asm_take(struct asm_lexer *lexer, char c);
/* Reports an error at `at` as "FILE:LINE:COLUMN: message"; returns CNNVP_BAD_INPUT. */
CNNVP_MUST_USE cnnvp_result cnnvp_asm_fail(const struct asm_lexer *lexer, const char *at, const char *format, ...)
    CNNVP_PRINTF(3, 4);

/* The number of register operands of a format. They fill the operand bits of the word from the top. */
static inline unsigned cnnvp_asm_registers(enum isa_format format)
{
    static const unsigned char registers[ISA_FORMAT_COUNT] = {
        [ISA_FORMAT_RI] = 1,  [ISA_FORMAT_RR] = 2,     [ISA_FORMAT_RRI] = 2,
        [ISA_FORMAT_RRR] = 3, [ISA_FORMAT_BRANCH] = 2, [ISA_FORMAT_TILE] = 1};
    return registers[format];
}
