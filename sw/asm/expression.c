/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions with 64-bit two's-complement arithmetic that wraps. The user of a value checks its range. */
#define _GNU_SOURCE /* tdestroy */
#include "expression.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum { MAX_NESTED = 64 }; /* nested parentheses and signs, since the parser is recursive */

/* ---- symbols ---- */

static int compare(const void *a, const void *b)
{
    const struct asm_name *x = a, *y = b; /* the first member of each symbol */
    const size_t length = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->text, y->text, length);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

const struct asm_symbol *cnnvp_asm_find_symbol(const struct asm_symbols *symbols, struct asm_name name)
{
    const struct asm_symbol *const *found = tfind(&name, &symbols->tree, compare);
    return found != NULL ? *found : NULL;
}

cnnvp_result cnnvp_asm_define(struct asm_symbols *symbols, const struct asm_lexer *lexer,
                              const struct asm_symbol *symbol)
{
    const struct asm_symbol *known = cnnvp_asm_find_symbol(symbols, symbol->name);
    if (known != NULL)
        return cnnvp_asm_fail(lexer, symbol->name.text, "'%.*s' is defined already, in line %zu",
                              (int)symbol->name.length, symbol->name.text, known->line);
    struct asm_symbol *made = malloc(sizeof *made);
    if (made != NULL) {
        *made = *symbol;
        made->line = lexer->number;
    }
    if (made != NULL && tsearch(made, &symbols->tree, compare) != NULL)
        return CNNVP_DONE;
    free(made);
    return cnnvp_asm_fail(lexer, symbol->name.text, "out of memory");
}

void cnnvp_asm_free_symbols(struct asm_symbols *symbols)
{
    tdestroy(symbols->tree, free);
    symbols->tree = NULL;
}

/* ---- expressions ---- */

struct parser {
    struct asm_lexer *lexer;
    const struct asm_symbols *symbols;
    unsigned depth;
};

/* Binary operators by increasing precedence. */
static const char *const levels[][4] = {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

static cnnvp_result parse_level(struct parser *parser, unsigned level, struct asm_value *value);

static int digit_of(char c)
{
    const int hex = cnnvp_hex_digit(c);
    return hex < 0 && (c == '_' || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z')) ? 99 : hex;
}

static cnnvp_result parse_number(struct asm_lexer *lexer, struct asm_value *value)
{
    const char *start = lexer->at;
    uint64_t base = 10, number = 0;
    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X' || start[1] == 'b' || start[1] == 'B')) {
        base = start[1] == 'x' || start[1] == 'X' ? 16u : 2u;
        lexer->at += 2;
    }
    const char *digits = lexer->at;
    for (int digit; (digit = digit_of(*lexer->at)) >= 0; ++lexer->at) {
        if ((uint64_t)digit >= base)
            return cnnvp_asm_fail(lexer, lexer->at, "'%c' is not a digit of this number; write 12, 0x1f or 0b101",
                                  *lexer->at);
        if (number > (UINT64_MAX - (uint64_t)digit) / base)
            return cnnvp_asm_fail(lexer, start, "the number does not fit 64 bits");
        number = number * base + (uint64_t)digit;
    }
    if (lexer->at == digits)
        return cnnvp_asm_fail(lexer, lexer->at, "digits are missing");
    *value = (struct asm_value){(int64_t)number, 0, number > INT64_MAX};
    return CNNVP_DONE;
}

static cnnvp_result parse_name(struct parser *parser, struct asm_value *value)
{
    struct asm_lexer *lexer = parser->lexer;
    const struct asm_name name = cnnvp_asm_name(lexer);
    const struct asm_symbol *symbol = cnnvp_asm_find_symbol(parser->symbols, name);
    if (symbol == NULL)
        return cnnvp_asm_fail(
            lexer, name.text, "'%.*s' is not defined; .equ defines numbers (before their use), 'name:' labels",
            (int)name.length, name.text);
    if (symbol->kind == ASM_BASE)
        return cnnvp_asm_fail(lexer, name.text, "'%.*s' is a descriptor base, a number is needed here",
                              (int)name.length, name.text);
    *value = (struct asm_value){symbol->value, symbol->kind == ASM_LABEL, 0};
    return CNNVP_DONE;
}

static cnnvp_result parse_primary(struct parser *parser, struct asm_value *value)
{
    struct asm_lexer *lexer = parser->lexer;
    cnnvp_asm_blanks(lexer);
    const char *start = lexer->at;
    const char c = *start;
    if (parser->depth == MAX_NESTED)
        return cnnvp_asm_fail(lexer, start, "the expression is nested more than %d deep", MAX_NESTED);
    if (c >= '0' && c <= '9')
        return parse_number(lexer, value);
    if (digit_of(c) >= 0)
        return parse_name(parser, value);
    if (c != '(' && c != '-' && c != '~')
        return cnnvp_asm_fail(lexer, start, "a number, a name or an expression is missing");
    ++lexer->at;
    ++parser->depth;
    const cnnvp_result result = c == '(' ? parse_level(parser, 0, value) : parse_primary(parser, value);
    --parser->depth;
    if (result != CNNVP_DONE)
        return result;
    if (c == '(')
        return cnnvp_asm_take(lexer, ')') ? CNNVP_DONE : cnnvp_asm_fail(lexer, lexer->at, "')' is missing");
    if (c == '~' && value->labels)
        return cnnvp_asm_fail(lexer, start, "'~' needs a number, not a label");
    value->value = (int64_t)(c == '-' ? 0u - (uint64_t)value->value : ~(uint64_t)value->value);
    value->labels = -value->labels;
    return CNNVP_DONE;
}

/* Consumes and returns an operator of this level; NULL: there is none. */
static const char *take_operator(struct asm_lexer *lexer, unsigned level)
{
    if (cnnvp_asm_line_done(lexer))
        return NULL;
    for (unsigned i = 0; i < 4 && levels[level][i] != NULL; ++i) {
        const size_t length = strlen(levels[level][i]);
        if (strncmp(lexer->at, levels[level][i], length) == 0) {
            lexer->at += length;
            return levels[level][i];
        }
    }
    return NULL;
}

static cnnvp_result apply(const struct asm_lexer *lexer, const char *at, const char *operator, struct asm_value * left,
                          const struct asm_value *right)
{
    const uint64_t a = (uint64_t)left->value;
    const uint64_t b = (uint64_t)right->value;
    const char op = *operator;
    if (op != '+' && op != '-' && (left->labels || right->labels))
        return cnnvp_asm_fail(lexer, at,
                              "'%s' needs numbers, not labels; a difference of labels is a number", operator);
    if ((op == '/' || op == '%') && !b)
        return cnnvp_asm_fail(lexer, at, "division by 0");
    if ((op == '/' || op == '%') && (left->wide || right->wide))
        return cnnvp_asm_fail(lexer, at, "'%s' needs numbers that fit 63 bits and a sign", operator);
    if ((op == '<' || op == '>') && b > 63u)
        return cnnvp_asm_fail(lexer, at, "a shift by %lld; 0 to 63 is possible", (long long)right->value);
    left->labels += op == '-' ? -right->labels : right->labels;
    left->wide |= right->wide;
    uint64_t result = 0;
    switch (op) {
    case '|':
        result = a | b;
        break;
    case '^':
        result = a ^ b;
        break;
    case '&':
        result = a & b;
        break;
    case '<':
        result = a << b;
        break;
    case '>':
        result = a >> b;
        break;
    case '+':
        result = a + b;
        break;
    case '-':
        result = a - b;
        break;
    case '*':
        result = a * b;
        break;
    default: /* INT64_MIN / -1 wraps, as with the other operators */
        if (right->value == -1)
            result = op == '/' ? 0u - a : 0u;
        else
            result = (uint64_t)(op == '/' ? left->value / right->value : left->value % right->value);
        break;
    }
    left->value = (int64_t)result;
    if ((op == '&' || op == '>') && left->value >= 0)
        left->wide = 0; /* what did not fit is gone */
    return CNNVP_DONE;
}

static cnnvp_result parse_level(struct parser *parser, unsigned level, struct asm_value *value)
{
    if (level == LEVELS)
        return parse_primary(parser, value);
    CNNVP_TRY(parse_level(parser, level + 1u, value));
    for (;;) {
        cnnvp_asm_blanks(parser->lexer);
        const char *at = parser->lexer->at;
        const char *operator= take_operator(parser->lexer, level);
        if (operator== NULL)
            return CNNVP_DONE;
        struct asm_value right;
        CNNVP_TRY(parse_level(parser, level + 1u, &right));
        CNNVP_TRY(apply(parser->lexer, at, operator, value, &right));
    }
}

cnnvp_result cnnvp_asm_expression(struct asm_lexer *lexer, const struct asm_symbols *symbols, struct asm_value *value)
{
    struct parser parser = {lexer, symbols, 0};
    return parse_level(&parser, 0, value);
}
