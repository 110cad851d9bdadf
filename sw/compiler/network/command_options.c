/* SPDX-License-Identifier: Apache-2.0 */
#include "command_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "value.h"

const struct cnnvp_command_option cnnvp_command_option_table[] = {
#define CNNVP_OPTION(name, run, train, exec, type, default_value, min, max, choices, schedules) \
    {#name, run, train, exec, CNNVP_OPTION_##type, default_value, min, max, choices, schedules},
#include "options.def"
};
const size_t cnnvp_command_option_count = sizeof cnnvp_command_option_table / sizeof *cnnvp_command_option_table;

int cnnvp_command_option_is_of(const struct cnnvp_command_option *option, const char *command)
{
    if (strcmp(command, "exec") == 0)
        return option->exec;
    return strcmp(command, "train") == 0 ? option->train : option->run;
}

/* With `-` and `_` the same. */
static int same_name(const char *a, const char *b)
{
    for (; *a && (*a == *b || (strchr("-_", *a) != NULL && *b && strchr("-_", *b) != NULL)); ++a)
        ++b;
    return *a == *b;
}

const struct cnnvp_command_option *cnnvp_command_option_find(const char *command, const char *name)
{
    for (size_t i = 0; i < cnnvp_command_option_count; ++i)
        if (same_name(cnnvp_command_option_table[i].name, name) &&
            cnnvp_command_option_is_of(&cnnvp_command_option_table[i], command))
            return &cnnvp_command_option_table[i];
    return NULL;
}

const char *cnnvp_command_option_word(const struct cnnvp_command_option *option, char word[64])
{
    (void)snprintf(word, 64, "%s", option->name);
    for (char *at = word; *at; ++at)
        *at = *at == '_' ? '-' : *at;
    return word;
}

const char *cnnvp_command_platform(const char *command)
{
    return strcmp(command, "train") == 0 ? "trainer" : "nfu";
}

/* ---- values ---- */

uint64_t cnnvp_time_parse(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {{"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", UINT64_C(1000000000000)}};
    const size_t whole = strspn(text, "0123456789");
    const size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    const char *unit = text + whole + (fraction ? fraction + 1 : 0);
    uint64_t scale = 0, value = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
        if (strcmp(unit, units[i].name) == 0)
            scale = units[i].ps;
    if (whole == 0 || scale == 0)
        return 0;
    for (size_t i = 0; i < whole; ++i) {
        const uint64_t digit = (uint64_t)(text[i] - '0') * scale;
        if (value > (UINT64_MAX - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    for (size_t i = 0; i < fraction; ++i) {
        scale /= 10; /* what is finer than a picosecond is left out */
        const uint64_t digit = (uint64_t)(text[whole + 1 + i] - '0') * scale;
        if (value > UINT64_MAX - digit)
            return 0;
        value += digit;
    }
    return value;
}

static int parse_real(const struct cnnvp_command_option *option, const char *text, int quoted, double *real,
                      char *reason, size_t size)
{
    const double min = (double)option->min, max = (double)option->max;
    const int open = option->type == CNNVP_OPTION_POSITIVE;
    char *end = NULL;
    const int written = *text && strspn(text, "0123456789+-.eE") == strlen(text) && !quoted;
    *real = written ? strtod(text, &end) : 0;
    if (written && *end == '\0' && (open ? *real > min && (float)*real > 0 : *real >= min) && *real < max)
        return 0;
    (void)snprintf(reason, size, "%s is not a number %s %g and below %g", cnnvp_config_show(text).text,
                   open ? "above" : "from", min, max);
    return -1;
}

int cnnvp_command_option_parse(const struct cnnvp_command_option *option, const char *text, int quoted,
                               uint64_t *number, double *real, char *reason, size_t reason_size)
{
    const struct cnnvp_param choice = {.name = option->name, .type = CNNVP_PARAM_ENUM, .choices = option->choices};
    *number = 0;
    *real = 0;
    switch (option->type) {
    case CNNVP_OPTION_CHOICE:
        return cnnvp_value_parse(&choice, text, quoted, number, reason, reason_size);
    case CNNVP_OPTION_NUMBER:
        return cnnvp_value_number(text, quoted, option->min, option->max, 0, number, reason, reason_size);
    case CNNVP_OPTION_REAL:
    case CNNVP_OPTION_POSITIVE:
        return parse_real(option, text, quoted, real, reason, reason_size);
    case CNNVP_OPTION_FLAG:
        *number = strcmp(text, "true") == 0;
        if (!quoted && (*number || strcmp(text, "false") == 0))
            return 0;
        (void)snprintf(reason, reason_size, "true or false is expected");
        return -1;
    case CNNVP_OPTION_TIME:
        *number = cnnvp_time_parse(text);
        if (*number)
            return 0;
        (void)snprintf(reason, reason_size, "%s is not a time above 0, such as 2s, 1.5ms, 300us, 20ns or 5ps",
                       cnnvp_config_show(text).text);
        return -1;
    case CNNVP_OPTION_SHAPE: {
        struct cnnvp_error refused = {""};
        if (cnnvp_shape_check(text, &refused) == CNNVP_DONE)
            return 0;
        (void)snprintf(reason, reason_size, "%s", refused.text);
        return -1;
    }
    case CNNVP_OPTION_FILE:
    case CNNVP_OPTION_DATASET:
        return 0;
    }
    return -1;
}

/* ---- into a struct ---- */

static void set_member(const struct cnnvp_option_member *member, void *options, const char *text, uint64_t number,
                       double real)
{
    char *at = (char *)options + member->offset;
    const int whole = member->first + (int)number;
    const uint32_t small = (uint32_t)number;
    const float single = (float)real;
    switch (member->type) {
    case CNNVP_MEMBER_INT:
        memcpy(at, &whole, sizeof whole);
        break;
    case CNNVP_MEMBER_U32:
        memcpy(at, &small, sizeof small);
        break;
    case CNNVP_MEMBER_U64:
        memcpy(at, &number, sizeof number);
        break;
    case CNNVP_MEMBER_FLOAT:
        memcpy(at, &single, sizeof single);
        break;
    case CNNVP_MEMBER_TEXT:
        memcpy(at, &text, sizeof text);
        break;
    }
}

static cnnvp_result set(const struct cnnvp_command_option *option, const struct cnnvp_option_member *members,
                        size_t count, void *options, const char *value, struct cnnvp_error *error)
{
    char reason[400] = "";
    uint64_t number;
    double real;
    if (cnnvp_command_option_parse(option, value, 0, &number, &real, reason, sizeof reason) != 0) {
        char name[64];
        return cnnvp_compiler_error(error, "--%s: %s", cnnvp_command_option_word(option, name), reason);
    }
    for (size_t i = 0; i < count; ++i)
        if (strcmp(members[i].name, option->name) == 0)
            set_member(&members[i], options, value, number, real);
    return CNNVP_DONE;
}

static int has_member(const struct cnnvp_option_member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i)
        if (same_name(members[i].name, name))
            return 1;
    return 0;
}

cnnvp_result cnnvp_command_option_set(const char *command, const struct cnnvp_option_member *members, size_t count,
                                      void *options, const char *name, const char *value, struct cnnvp_error *error)
{
    const struct cnnvp_command_option *option =
        has_member(members, count, name) ? cnnvp_command_option_find(command, name) : NULL;
    struct cnnvp_suggest suggest;
    if (option != NULL)
        return set(option, members, count, options, value, error);
    cnnvp_suggest_begin(&suggest, name);
    for (size_t i = 0; i < count; ++i)
        cnnvp_suggest_offer(&suggest, members[i].name);
    return cnnvp_compiler_error(error, "%s is no option of %s%s", cnnvp_config_show(name).text, command,
                                cnnvp_suggest_text(&suggest, "there are"));
}

void cnnvp_command_option_defaults(const char *command, const struct cnnvp_option_member *members, size_t count,
                                   void *options)
{
    struct cnnvp_error unused;
    for (size_t i = 0; i < cnnvp_command_option_count; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        if (cnnvp_command_option_is_of(option, command) && *option->default_value)
            (void)(set(option, members, count, options, option->default_value, &unused) == CNNVP_DONE);
    }
}
