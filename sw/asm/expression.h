/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and expressions of the assembler. */
#pragma once

#include <stdint.h>

#include "lexer.h"

enum asm_kind { ASM_LABEL, ASM_NUMBER, ASM_BASE };

struct asm_symbol {
    struct asm_name name; /* in the source text */
    enum asm_kind kind;
    int64_t value;   /* word number, number, or first register */
    unsigned opcode; /* only for a base: its instruction */
    size_t line;     /* where it is defined */
};

struct asm_symbols {
    void *tree; /* tree of tsearch() */
};

/* The value of an expression. `labels`: number of added labels minus subtracted labels. 1: an address; 0: a number. */
struct asm_value {
    int64_t value;
    int labels;
    int wide; /* 1: contains a number above INT64_MAX that no & or >> has made smaller */
};

const struct asm_symbol *cnnvp_asm_find_symbol(const struct asm_symbols *symbols, struct asm_name name);
/* Fails if the name exists. `symbol->name` must outlive the table. */
CNNVP_MUST_USE cnnvp_result cnnvp_asm_define(struct asm_symbols *symbols, const struct asm_lexer *lexer,
                                             const struct asm_symbol *symbol);
void cnnvp_asm_free_symbols(struct asm_symbols *symbols);

/* Parses an expression of numbers (decimal, 0x, 0b), names, ( ), and these operators by decreasing precedence: unary -
 * ~, * / %, + -, << >>, &, ^, |. */
CNNVP_MUST_USE cnnvp_result cnnvp_asm_expression(struct asm_lexer *lexer, const struct asm_symbols *symbols,
                                                 struct asm_value *value);
