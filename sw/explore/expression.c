/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of a sweep (constraints, derived parameters) over names, numbers and texts.
 *
 *   or:      and { ("or" | "||") and }
 *   and:     not { ("and" | "&&") not }
 *   not:     { "not" | "!" } compare
 *   compare: sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
 *   sum:     product { ("+" | "-") product }
 *   product: sign { ("*" | "/" | "%") sign }
 *   sign:    [ "-" | "+" ] sign | number [KiB|MiB|GiB] | 'text' | "text" | name | "(" or ")"
 *
 * Numbers are doubles, so whole numbers are exact up to 2^53. Texts can only be compared with texts, by == and !=.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

enum op {
    OP_NUMBER,
    OP_TEXT,
    OP_NAME,
    OP_NEGATE,
    OP_NOT,
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD
};

struct node {
    enum op op;
    struct node *a;
    struct node *b;
    double number;
    const char *text; /* the text or the name */
    uint32_t index;   /* only for a name */
    size_t offset;    /* in the expression's text */
};

struct cnnvp_expression {
    const char *text;
    const char *place;
    struct node *root;
};

enum { DEPTH = 64 };

struct parser {
    struct cnnvp_arena *arena;
    struct cnnvp_expression *expression;
    const char *at;
    cnnvp_name_fn name;
    cnnvp_offer_fn offer;
    void *context;
    struct cnnvp_error *error;
    int depth;
    int failed;
};

/* Reports an error at an offset of the expression. The column is exact unless a line break comes before the offset. */
static void refuse(const struct cnnvp_expression *expression, size_t offset, const char *message,
                   struct cnnvp_error *error)
{
    const char *colon = strrchr(expression->place, ':');
    char place[1200];
    if (colon != NULL && memchr(expression->text, '\n', offset) == NULL)
        (void)snprintf(place, sizeof place, "%.*s:%ld", (int)(colon - expression->place), expression->place,
                       strtol(colon + 1, NULL, 10) + (long)offset);
    else
        (void)snprintf(place, sizeof place, "%s", expression->place);
    (void)cnnvp_config_error(error, place, "%s", message);
}

static struct node *fail(struct parser *parser, const char *at, const char *message)
{
    if (!parser->failed)
        refuse(parser->expression, (size_t)(at - parser->expression->text), message, parser->error);
    parser->failed = 1;
    return NULL;
}

static void skip_space(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t\r\n");
}

static int is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Consumes a word or operator if it comes next. */
static int take(struct parser *parser, const char *token)
{
    size_t length = strlen(token);
    skip_space(parser);
    if (strncmp(parser->at, token, length) != 0 || (is_name_byte(*token) && is_name_byte(parser->at[length])))
        return 0;
    parser->at += length;
    return 1;
}

static struct node *make(struct parser *parser, enum op op, struct node *a, struct node *b, const char *at)
{
    struct node *node = parser->failed ? NULL : cnnvp_arena_alloc(parser->arena, sizeof *node);
    if (node == NULL) {
        if (!parser->failed)
            (void)cnnvp_config_no_memory(parser->error);
        parser->failed = 1;
        return NULL;
    }
    *node = (struct node){.op = op, .a = a, .b = b, .offset = (size_t)(at - parser->expression->text)};
    return node;
}

static struct node *parse_level(struct parser *parser, unsigned level);

static struct node *parse_number(struct parser *parser)
{
    static const struct {
        const char *name;
        double factor;
    } suffixes[] = {{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    const char *start = parser->at;
    char *end = NULL;
    double number = strtod(start, &end);
    parser->at = end;
    int known = !is_name_byte(*end);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; ++i) {
        if (take(parser, suffixes[i].name)) {
            number *= suffixes[i].factor;
            known = 1;
            break;
        }
    }
    if (end == start || !known)
        return fail(parser, start, "this is no number; a text goes in quotes");
    struct node *node = make(parser, OP_NUMBER, NULL, NULL, start);
    if (node != NULL)
        node->number = number;
    return node;
}

static struct node *parse_name(struct parser *parser)
{
    const char *start = parser->at;
    size_t length = 0;
    while (is_name_byte(start[length]))
        ++length;
    parser->at += length;
    char *name = cnnvp_arena_copy(parser->arena, start, length);
    struct node *node = make(parser, OP_NAME, NULL, NULL, start);
    if (node == NULL || name == NULL)
        return node != NULL ? fail(parser, start, "out of memory") : NULL;
    node->text = name;
    node->index = parser->name(parser->context, name);
    if (node->index == UINT32_MAX) {
        char message[400];
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, name);
        parser->offer(parser->context, &suggest);
        const char *similar = strstr(cnnvp_suggest_text(&suggest, "among"), "; did you mean");
        (void)snprintf(message, sizeof message, "there is no parameter %s%s", cnnvp_config_show(name).text,
                       similar != NULL ? similar : "; texts go in quotes");
        return fail(parser, start, message);
    }
    return node;
}

static struct node *parse_text(struct parser *parser)
{
    const char *start = parser->at;
    const char *end = strchr(start + 1, *start);
    if (end == NULL)
        return fail(parser, start, "a quote that is never closed");
    struct node *node = make(parser, OP_TEXT, NULL, NULL, start);
    if (node != NULL)
        node->text = cnnvp_arena_copy(parser->arena, start + 1, (size_t)(end - start - 1));
    parser->at = end + 1;
    return node != NULL && node->text != NULL ? node : fail(parser, start, "out of memory");
}

static struct node *parse_sign(struct parser *parser)
{
    skip_space(parser);
    const char *start = parser->at;
    struct node *node = NULL;
    if (++parser->depth > DEPTH)
        return fail(parser, start, "nested too deep");
    if (take(parser, "-")) {
        node = parse_sign(parser);
        node = node != NULL ? make(parser, OP_NEGATE, node, NULL, start) : NULL;
    } else if (take(parser, "+")) {
        node = parse_sign(parser);
    } else if (take(parser, "(")) {
        node = parse_level(parser, 0);
        if (node != NULL && !take(parser, ")"))
            node = fail(parser, parser->at, "a closing parenthesis is expected");
    } else if (*start == '"' || *start == '\'') {
        node = parse_text(parser);
    } else if (*start >= '0' && *start <= '9') {
        node = parse_number(parser);
    } else if (is_name_byte(*start) && *start != '.') {
        node = parse_name(parser);
    } else {
        node = fail(
            parser, start,
            *start ? "a number, a name, a text or a parenthesis is expected here" : "something is missing at the end");
    }
    --parser->depth;
    return node;
}

/* Binary operators in order of increasing precedence. They are left-associative; comparisons do not chain. */
enum level { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVELS };
static const struct {
    enum level level;
    const char *token;
    enum op op;
} operators[] = {{LEVEL_OR, "or", OP_OR},      {LEVEL_OR, "||", OP_OR},      {LEVEL_AND, "and", OP_AND},
                 {LEVEL_AND, "&&", OP_AND},    {LEVEL_COMPARE, "==", OP_EQ}, {LEVEL_COMPARE, "!=", OP_NE},
                 {LEVEL_COMPARE, "<=", OP_LE}, {LEVEL_COMPARE, ">=", OP_GE}, {LEVEL_COMPARE, "<", OP_LT},
                 {LEVEL_COMPARE, ">", OP_GT},  {LEVEL_SUM, "+", OP_ADD},     {LEVEL_SUM, "-", OP_SUB},
                 {LEVEL_PRODUCT, "*", OP_MUL}, {LEVEL_PRODUCT, "/", OP_DIV}, {LEVEL_PRODUCT, "%", OP_MOD}};

static struct node *parse_not(struct parser *parser)
{
    skip_space(parser);
    const char *start = parser->at;
    if (take(parser, "not") || (*start == '!' && start[1] != '=' && take(parser, "!"))) {
        if (++parser->depth > DEPTH)
            return fail(parser, start, "nested too deep");
        struct node *node = parse_not(parser);
        --parser->depth;
        return node != NULL ? make(parser, OP_NOT, node, NULL, start) : NULL;
    }
    return parse_level(parser, LEVEL_COMPARE);
}

static struct node *parse_level(struct parser *parser, unsigned level)
{
    if (level == LEVEL_NOT || level == LEVELS)
        return level == LEVELS ? parse_sign(parser) : parse_not(parser);
    struct node *left = parse_level(parser, level + 1u);
    for (int again = 1; left != NULL && again;) {
        again = 0;
        skip_space(parser);
        const char *start = parser->at;
        for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
            if (operators[i].level != level || !take(parser, operators[i].token))
                continue;
            struct node *right = parse_level(parser, level + 1u);
            left = right != NULL ? make(parser, operators[i].op, left, right, start) : NULL;
            again = level != LEVEL_COMPARE;
            break;
        }
    }
    return left;
}

cnnvp_result cnnvp_expression_new(struct cnnvp_arena *arena, const char *text, const char *place, cnnvp_name_fn name,
                                  cnnvp_offer_fn offer, void *context, struct cnnvp_expression **expression,
                                  struct cnnvp_error *error)
{
    struct cnnvp_expression *made = cnnvp_arena_alloc(arena, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    *made = (struct cnnvp_expression){.text = text, .place = place};
    struct parser parser = {
        .arena = arena,
        .expression = made,
        .at = text,
        .name = name,
        .offer = offer,
        .context = context,
        .error = error};
    made->root = parse_level(&parser, 0);
    skip_space(&parser);
    if (made->root != NULL && *parser.at)
        (void)fail(&parser, parser.at,
                   *parser.at == '=' && parser.at[1] != '=' ? "two values are compared by =="
                                                            : "an operator is expected here; comparisons do not chain");
    *expression = made;
    return parser.failed ? CNNVP_BAD_INPUT : CNNVP_DONE;
}

cnnvp_result cnnvp_expression_condition(const struct cnnvp_expression *expression, struct cnnvp_error *error)
{
    const enum op op = expression->root->op;
    if (op >= OP_NOT && op <= OP_GE)
        return CNNVP_DONE;
    refuse(expression, expression->root->offset,
           "this is a value and no condition; a comparison is expected, such as a >= b", error);
    return CNNVP_BAD_INPUT;
}

/* ---- values ---- */

struct evaluation {
    const struct cnnvp_expression *expression;
    cnnvp_value_fn value;
    const void *context;
    struct cnnvp_error *error;
    int failed;
};

static struct cnnvp_operand wrong(struct evaluation *evaluation, const struct node *node, const char *message)
{
    if (!evaluation->failed)
        refuse(evaluation->expression, node->offset, message, evaluation->error);
    evaluation->failed = 1;
    return (struct cnnvp_operand){NULL, 0};
}

static struct cnnvp_operand truth(int holds)
{
    return (struct cnnvp_operand){NULL, holds ? 1.0 : 0.0};
}

static struct cnnvp_operand arithmetic(struct evaluation *evaluation, const struct node *node, double a, double b)
{
    switch (node->op) {
    case OP_EQ:
        return truth(a >= b && a <= b);
    case OP_NE:
        return truth(a < b || a > b);
    case OP_LT:
        return truth(a < b);
    case OP_LE:
        return truth(a <= b);
    case OP_GT:
        return truth(a > b);
    case OP_GE:
        return truth(a >= b);
    case OP_ADD:
        return (struct cnnvp_operand){NULL, a + b};
    case OP_SUB:
        return (struct cnnvp_operand){NULL, a - b};
    case OP_MUL:
        return (struct cnnvp_operand){NULL, a * b};
    default: /* division and its remainder */
        if (!(b < 0) && !(b > 0))
            return wrong(evaluation, node, "division by zero");
        return (struct cnnvp_operand){NULL, node->op == OP_DIV ? a / b : fmod(a, b)};
    }
}

static struct cnnvp_operand evaluate(struct evaluation *evaluation, const struct node *node);

static int is_true(struct evaluation *evaluation, const struct node *node)
{
    struct cnnvp_operand value = evaluate(evaluation, node);
    if (value.text != NULL)
        (void)wrong(evaluation, node, "a text is neither true nor false");
    return value.number < 0 || value.number > 0;
}

static struct cnnvp_operand two_sided(struct evaluation *evaluation, const struct node *node)
{
    struct cnnvp_operand a = evaluate(evaluation, node->a);
    struct cnnvp_operand b = evaluate(evaluation, node->b);
    if (evaluation->failed || (a.text == NULL && b.text == NULL))
        return evaluation->failed ? a : arithmetic(evaluation, node, a.number, b.number);
    if (a.text == NULL || b.text == NULL)
        return wrong(evaluation, node, "a text and a number");
    if (node->op != OP_EQ && node->op != OP_NE)
        return wrong(evaluation, node, "texts can be compared by == and != only");
    return truth((strcmp(a.text, b.text) == 0) == (node->op == OP_EQ));
}

static struct cnnvp_operand evaluate(struct evaluation *evaluation, const struct node *node)
{
    if (evaluation->failed)
        return truth(0);
    switch (node->op) {
    case OP_NUMBER:
        return (struct cnnvp_operand){NULL, node->number};
    case OP_TEXT:
        return (struct cnnvp_operand){node->text, 0};
    case OP_NAME:
        return evaluation->value(evaluation->context, node->index);
    case OP_NEGATE: {
        struct cnnvp_operand value = evaluate(evaluation, node->a);
        if (value.text != NULL)
            return wrong(evaluation, node, "a text has no sign");
        return (struct cnnvp_operand){NULL, -value.number};
    }
    case OP_NOT:
        return truth(!is_true(evaluation, node->a));
    case OP_OR:
        return truth(is_true(evaluation, node->a) || is_true(evaluation, node->b));
    case OP_AND:
        return truth(is_true(evaluation, node->a) && is_true(evaluation, node->b));
    default:
        return two_sided(evaluation, node);
    }
}

cnnvp_result cnnvp_expression_holds(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                    const void *context, int *holds, struct cnnvp_error *error)
{
    struct evaluation evaluation = {expression, value, context, error, 0};
    *holds = is_true(&evaluation, expression->root);
    return evaluation.failed ? CNNVP_BAD_INPUT : CNNVP_DONE;
}

cnnvp_result cnnvp_expression_number(const struct cnnvp_expression *expression, cnnvp_value_fn value,
                                     const void *context, double *number, struct cnnvp_error *error)
{
    struct evaluation evaluation = {expression, value, context, error, 0};
    const struct cnnvp_operand operand = evaluate(&evaluation, expression->root);
    if (!evaluation.failed && operand.text != NULL)
        (void)wrong(&evaluation, expression->root, "a number is expected");
    *number = operand.number;
    return evaluation.failed ? CNNVP_BAD_INPUT : CNNVP_DONE;
}
