/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter values: conversion from text, with checks against the unit's table, and back. Whole numbers are decimal or
 * 0x hexadecimal. A leading zero is refused, since YAML 1.1 reads it as octal and YAML 1.2 as decimal. Sizes may end in
 * KiB, MiB or GiB, directly or after one space. Switches (off|on) also accept the booleans of YAML 1.1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "value.h"

struct suffix {
    const char *name;
    unsigned shift;
};

static const struct suffix suffixes[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

/* Reads the digits at `*text` and moves past them; returns 1 if the number does not fit into 64 bits. */
static int read_digits(const char **text, unsigned base, uint64_t *value)
{
    int overflow = 0;
    for (*value = 0; (unsigned)cnnvp_hex_digit(**text) < base; (*text)++) {
        unsigned digit = (unsigned)cnnvp_hex_digit(**text);
        overflow |= *value > (UINT64_MAX - digit) / base;
        *value = *value * base + digit;
    }
    return overflow;
}

static const char *format_size(char *buffer, size_t size, uint64_t value)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; ++i) {
        uint64_t unit = UINT64_C(1) << suffixes[i].shift;
        if (value && value % unit == 0) {
            (void)snprintf(buffer, size, "%" PRIu64 "%s", value >> suffixes[i].shift, suffixes[i].name);
            return buffer;
        }
    }
    (void)snprintf(buffer, size, "%" PRIu64, value);
    return buffer;
}

/* `form` is the type of a number: CNNVP_PARAM_UINT, SIZE or ADDR. */
static const char *format_number(char *buffer, size_t size, enum cnnvp_param_type form, uint64_t value)
{
    if (form == CNNVP_PARAM_SIZE)
        return format_size(buffer, size, value);
    (void)snprintf(buffer, size, form == CNNVP_PARAM_ADDR ? "0x%" PRIx64 : "%" PRIu64, value);
    return buffer;
}

/* The suffix that a misspelt rest such as "KB", "k" or " mb" probably means; NULL: none. */
static const char *meant_suffix(const char *rest)
{
    const char *word = rest + (*rest == ' ');
    for (size_t i = 0; *word && i < sizeof suffixes / sizeof *suffixes; ++i)
        if (strncasecmp(word, suffixes[i].name, 1) == 0 &&
            (word[1] == '\0' || strcasecmp(word + 1, "b") == 0 || strcasecmp(word + 1, "ib") == 0))
            return suffixes[i].name;
    return NULL;
}

/* Explains why a text is not a whole number. `rest` follows its digits. */
static int refuse_number(const char *text, const char *rest, enum cnnvp_param_type form, char *reason, size_t size)
{
    struct cnnvp_shown shown = cnnvp_config_show(text);
    const char *suffix = form == CNNVP_PARAM_SIZE ? meant_suffix(rest) : NULL;
    const char *expected = form == CNNVP_PARAM_SIZE ? "a size in bytes, such as 65536 or 64KiB, is expected"
                                                    : "a whole number is expected";
    if (rest == text)
        (void)snprintf(reason, size, "%s where %s", shown.text, expected);
    else if (*rest == '.' || ((*rest == 'e' || *rest == 'E') && rest[1]))
        (void)snprintf(reason, size, "%s is not a whole number; %s", shown.text, expected);
    else if (suffix != NULL)
        (void)snprintf(reason, size, "%s has an unknown suffix; did you mean \"%.*s%s\"? KiB, MiB and GiB are possible",
                       shown.text, (int)(rest - text), text, suffix);
    else if (form == CNNVP_PARAM_SIZE)
        (void)snprintf(reason, size, "%s has an unknown suffix; KiB, MiB and GiB are possible", shown.text);
    else
        (void)snprintf(reason, size, "%s has a suffix; a plain whole number is expected", shown.text);
    return -1;
}

static int refuse_range(const char *text, enum cnnvp_param_type form, uint64_t min, uint64_t max, char *reason,
                        size_t size)
{
    char low[32], high[32];
    (void)snprintf(reason, size, "%s is out of range: %s to %s", cnnvp_config_show(text).text,
                   format_number(low, sizeof low, form, min), format_number(high, sizeof high, form, max));
    return -1;
}

static int parse_number(const char *text, int quoted, enum cnnvp_param_type form, uint64_t min, uint64_t max,
                        uint64_t *value, char *reason, size_t size)
{
    const char *at = text;
    if (quoted) {
        (void)snprintf(reason, size, "%s is a text in quotes; a number is written without",
                       cnnvp_config_show(text).text);
        return -1;
    }
    if (*at == '-' && (unsigned)cnnvp_hex_digit(at[1]) < 10)
        return refuse_range(text, form, min, max, reason, size);
    int hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && (unsigned)cnnvp_hex_digit(at[2]) < 16;
    if (hexadecimal)
        at += 2;
    else if (at[0] == '0' && (unsigned)cnnvp_hex_digit(at[1]) < 10) {
        (void)snprintf(reason, size,
                       "%s begins with 0, which some read as octal; write it without, or 0x for hexadecimal",
                       cnnvp_config_show(text).text);
        return -1;
    }
    const char *digits = at;
    uint64_t number = 0;
    int overflow = read_digits(&at, hexadecimal ? 16 : 10, &number);
    if (at == digits)
        return refuse_number(text, text, form, reason, size);
    if (*at && form == CNNVP_PARAM_SIZE) {
        const char *word = at + (*at == ' ');
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; ++i) {
            if (strcmp(word, suffixes[i].name) != 0)
                continue;
            overflow |= number > UINT64_MAX >> suffixes[i].shift;
            number <<= suffixes[i].shift;
            at = word + strlen(word);
            break;
        }
    }
    if (*at)
        return refuse_number(text, at, form, reason, size);
    if (overflow || number < min || number > max)
        return refuse_range(text, form, min, max, reason, size);
    *value = number;
    return 0;
}

int cnnvp_value_number(const char *text, int quoted, uint64_t min, uint64_t max, int hexadecimal, uint64_t *value,
                       char *reason, size_t reason_size)
{
    return parse_number(text, quoted, hexadecimal ? CNNVP_PARAM_ADDR : CNNVP_PARAM_UINT, min, max, value, reason,
                        reason_size);
}

const char *cnnvp_value_choice(const char *choices, uint64_t index, size_t *length)
{
    const char *at = choices;
    while (at != NULL && index--) {
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return NULL;
    *length = strcspn(at, "|");
    return at;
}

/* Translates a YAML boolean to the word of a switch. */
static const char *switch_word(const char *text)
{
    static const char *const words[][2] = {
        {"true", "on"}, {"yes", "on"}, {"on", "on"}, {"false", "off"}, {"no", "off"}, {"off", "off"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strcasecmp(text, words[i][0]) == 0)
            return words[i][1];
    return text;
}

/* Message for an invalid choice: all choices, and the nearest one. */
static void offer_choice(const char *text, const char *choices, char *reason, size_t size)
{
    char names[16][40];
    size_t length = 0;
    const char *choice;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, text);
    for (uint64_t i = 0; i < 16 && (choice = cnnvp_value_choice(choices, i, &length)) != NULL; ++i) {
        (void)snprintf(names[i], sizeof names[i], "%.*s", (int)length, choice);
        cnnvp_suggest_offer(&suggest, names[i]);
    }
    suggest.list_length = 0; /* the message already lists them */
    (void)snprintf(reason, size, "%s is not one of %s%s", cnnvp_config_show(text).text, choices,
                   cnnvp_suggest_text(&suggest, ""));
}

static int parse_choice(const struct cnnvp_param *param, const char *text, uint64_t *value, char *reason, size_t size)
{
    const char *choices = param->choices != NULL ? param->choices : "";
    const char *word = text;
    if (strcmp(choices, "off|on") == 0 || strcmp(choices, "on|off") == 0)
        word = switch_word(text);
    size_t length = 0;
    const char *choice;
    for (uint64_t i = 0; (choice = cnnvp_value_choice(choices, i, &length)) != NULL; ++i) {
        if (strlen(word) == length && memcmp(word, choice, length) == 0) {
            *value = i;
            return 0;
        }
    }
    offer_choice(text, choices, reason, size);
    return -1;
}

int cnnvp_value_parse(const struct cnnvp_param *param, const char *text, int quoted, uint64_t *value, char *reason,
                      size_t reason_size)
{
    *value = 0;
    switch (param->type) {
    case CNNVP_PARAM_UINT:
    case CNNVP_PARAM_SIZE:
    case CNNVP_PARAM_ADDR:
        return parse_number(text, quoted, param->type, param->min, param->max, value, reason, reason_size);
    case CNNVP_PARAM_ENUM:
        return parse_choice(param, text, value, reason, reason_size);
    case CNNVP_PARAM_TEXT:
        if (strlen(text) <= CNNVP_VALUE_TEXT_BYTES)
            return 0;
        (void)snprintf(reason, reason_size, "is longer than %d bytes", CNNVP_VALUE_TEXT_BYTES);
        return -1;
    }
    (void)snprintf(reason, reason_size, "the unit's table gives it the unknown type %d", (int)param->type);
    return -1;
}

const char *cnnvp_value_text(struct cnnvp_arena *arena, const struct cnnvp_param *param, uint64_t value,
                             const char *written)
{
    char buffer[32];
    size_t length = 0;
    const char *choice;
    switch (param->type) {
    case CNNVP_PARAM_ENUM:
        choice = cnnvp_value_choice(param->choices, value, &length);
        return choice != NULL ? cnnvp_arena_copy(arena, choice, length) : NULL;
    case CNNVP_PARAM_TEXT:
        return cnnvp_arena_text(arena, written);
    default:
        return cnnvp_arena_text(arena, format_number(buffer, sizeof buffer, param->type, value));
    }
}
