/* SPDX-License-Identifier: Apache-2.0 */
#include "lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void cnnvp_asm_blanks(struct asm_lexer *lexer)
{
    while (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\r')
        ++lexer->at;
}

int cnnvp_asm_line_done(struct asm_lexer *lexer)
{
    cnnvp_asm_blanks(lexer);
    const char c = *lexer->at;
    return c == '\0' || c == '\n' || c == ';' || c == '#' || (c == '/' && lexer->at[1] == '/');
}

int cnnvp_asm_next_line(struct asm_lexer *lexer)
{
    const char *end = strchr(lexer->at, '\n');
    if (end == NULL)
        return 0;
    lexer->line = end + 1;
    lexer->at = end + 1;
    ++lexer->number;
    return 1;
}

struct asm_name cnnvp_asm_name(struct asm_lexer *lexer)
{
    struct asm_name name = {NULL, 0};
    if (!is_letter(*lexer->at))
        return name;
    name.text = lexer->at;
    while (is_letter(*lexer->at) || (*lexer->at >= '0' && *lexer->at <= '9'))
        ++lexer->at;
    name.length = (size_t)(lexer->at - name.text);
    return name;
}

int cnnvp_asm_take(struct asm_lexer *lexer, char c)
{
    cnnvp_asm_blanks(lexer);
    if (*lexer->at != c)
        return 0;
    ++lexer->at;
    return 1;
}

cnnvp_result cnnvp_asm_fail(const struct asm_lexer *lexer, const char *at, const char *format, ...)
{
    char message[1536];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(lexer->error->text, sizeof lexer->error->text, "%.400s:%zu:%zu: %s", lexer->file, lexer->number,
                   (size_t)(at - lexer->line) + 1u, message);
    return CNNVP_BAD_INPUT;
}
