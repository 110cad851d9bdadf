/* SPDX-License-Identifier: Apache-2.0 */
/* Folds text for a terminal: lines of more than 100 columns continue below the start of their last column. */
#include <string.h>

#include "cli.h"

enum { COLUMNS = 100, DEEPEST = 64 };

/* The position of the last column of a line: after its last gap of two spaces. */
static size_t text_at(const char *line, size_t length)
{
    size_t at = strspn(line, " ");
    for (size_t i = at; i + 2 < length && i < DEEPEST; ++i)
        if (line[i] == ' ' && line[i + 1] == ' ')
            at = i + 1 + strspn(line + i + 1, " ");
    return at;
}

/* Counts the bytes that take no column: those of escape sequences, and of a character in UTF-8 all but the first. */
static size_t hidden_bytes(const char *line, size_t length)
{
    size_t bytes = 0;
    for (size_t i = 0; i < length; ++i)
        if (line[i] == '\033')
            bytes += strcspn(line + i, "m") + 1u;
        else
            bytes += ((unsigned char)line[i] & 0xC0u) == 0x80u;
    return bytes;
}

static void print_line(const char *line, size_t length, FILE *stream)
{
    const size_t indent = text_at(line, length);
    size_t room = COLUMNS + hidden_bytes(line, length);
    for (int further = 0; length > room; ++further) {
        size_t end = room;
        while (end > (further ? 0 : indent) && line[end] != ' ')
            --end;
        if (line[end] != ' ') /* a word that is longer than a line */
            end = room + strcspn(line + room, " \n");
        if (end >= length)
            break;
        (void)fprintf(stream, "%.*s\n%*s", (int)end, line, (int)indent, "");
        end += strspn(line + end, " ");
        line += end;
        length -= end;
        room = COLUMNS - indent;
    }
    (void)fprintf(stream, "%.*s\n", (int)length, line);
}

static void print_lines(const char *text, int with_titles, FILE *stream)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const int is_title = with_titles && length > 0 && *text != ' ';
        (void)fputs(is_title ? cli_style(CLI_BOLD) : "", stream);
        print_line(text, length, stream);
        (void)fputs(is_title ? cli_style(CLI_PLAIN) : "", stream);
        text += length + (text[length] == '\n');
    }
}

void cli_print_folded(const char *text, FILE *stream)
{
    print_lines(text, 0, stream);
}

void cli_print_sections(const char *text, FILE *stream)
{
    print_lines(text, 1, stream);
}
