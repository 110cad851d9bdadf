/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and checks the options of commands, as the table options.def describes them. */
#include "command_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "value.h"

enum {
    RUN = 1,
    TRAIN = 2,
    EXEC = 4,
    CHECK = 8,
    MEMORY = 16,
    SWEEPS = 32,
    DIFF = 64,
    REPORT = 128,
    ASM = 256,
    DISASM = 512,
    COMPILE = 1024,
    SWEEP = 2048
};

const struct cnnvp_command_option cnnvp_command_option_table[] = {
#define CNNVP_OPTION(name, letter, commands, type, default_value, min, max, choices, schedule, argument, group, help) \
    {#name,                                                                                                           \
     letter,                                                                                                          \
     commands,                                                                                                        \
     CNNVP_OPTION_##type,                                                                                             \
     default_value,                                                                                                   \
     min,                                                                                                             \
     max,                                                                                                             \
     choices,                                                                                                         \
     schedule,                                                                                                        \
     argument,                                                                                                        \
     group,                                                                                                           \
     help,                                                                                                            \
     offsetof(struct cnnvp_options, name)},
#include "options.def"
};
enum { OPTIONS = sizeof cnnvp_command_option_table / sizeof *cnnvp_command_option_table };
const size_t cnnvp_command_option_count = OPTIONS;
_Static_assert(OPTIONS <= sizeof((struct cnnvp_options *)0)->given, "each option has a place");

static const char *const commands[] = {
    "run", "train", "exec", "check", "memory", "sweep", "diff", "report", "asm", "disasm", "compile", NULL};

/* Index of a command in `commands`; the index of NULL if there is no such command. */
static unsigned place_of(const char *command)
{
    unsigned place = 0;
    while (commands[place] != NULL && strcmp(command, commands[place]) != 0)
        ++place;
    return place;
}

static unsigned mask_of(const char *command)
{
    const unsigned place = place_of(command);
    return commands[place] != NULL ? 1u << place : 0;
}

int cnnvp_command_option_is_of(const struct cnnvp_command_option *option, const char *command, int sweep)
{
    return (option->commands & mask_of(command)) != 0 && (!sweep || (option->commands & SWEEP) != 0);
}

/* Compares names; `-` and `_` count as the same. */
static int same_name(const char *a, const char *b)
{
    for (; *a && (*a == *b || (strchr("-_", *a) != NULL && *b && strchr("-_", *b) != NULL)); ++a)
        ++b;
    return *a == *b;
}

const struct cnnvp_command_option *cnnvp_command_option_find(const char *command, const char *name)
{
    for (size_t i = 0; i < OPTIONS; ++i)
        if (same_name(cnnvp_command_option_table[i].name, name) &&
            cnnvp_command_option_is_of(&cnnvp_command_option_table[i], command, 0))
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
        scale /= 10; /* digits below a picosecond are dropped */
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
        (void)snprintf(reason, reason_size, "%.390s", refused.text + strlen(*text ? "--shape " : "--shape : "));
        return -1;
    }
    default:
        return 0;
    }
}

/* ---- a command's options ---- */

static int append(struct cnnvp_option_list *list, const char *text)
{
    const char **texts = realloc(list->texts, (list->count + 1u) * sizeof *texts);
    if (texts == NULL)
        return -1;
    texts[list->count++] = text;
    list->texts = texts;
    return 0;
}

static cnnvp_result set(struct cnnvp_options *options, const struct cnnvp_command_option *option, const char *text,
                        struct cnnvp_error *error)
{
    char *at = (char *)options + option->offset, reason[400] = "", word[64];
    uint64_t number;
    double real;
    if (cnnvp_command_option_parse(option, text, 0, &number, &real, reason, sizeof reason) != 0)
        return cnnvp_compiler_error(error, "--%s: %s", cnnvp_command_option_word(option, word), reason);
    const int whole = (int)number + (option->type == CNNVP_OPTION_CHOICE && !*option->default_value);
    switch (option->type) {
    case CNNVP_OPTION_CHOICE:
    case CNNVP_OPTION_FLAG:
        memcpy(at, &whole, sizeof whole);
        break;
    case CNNVP_OPTION_NUMBER:
    case CNNVP_OPTION_TIME:
        memcpy(at, &number, sizeof number);
        break;
    case CNNVP_OPTION_REAL:
    case CNNVP_OPTION_POSITIVE:
        memcpy(at, &real, sizeof real);
        break;
    case CNNVP_OPTION_COUNT:
        ++*(int *)(void *)at;
        break;
    case CNNVP_OPTION_TEXTS:
    case CNNVP_OPTION_SHAPE:
    case CNNVP_OPTION_INPUTS:
    case CNNVP_OPTION_OUTS:
        return append((struct cnnvp_option_list *)(void *)at, text) == 0 ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
    case CNNVP_OPTION_TEXT:
    case CNNVP_OPTION_FILE:
    case CNNVP_OPTION_OUT:
    case CNNVP_OPTION_DATASET:
        memcpy(at, &text, sizeof text);
        break;
    }
    return CNNVP_DONE;
}

void cnnvp_options_init(struct cnnvp_options *options, const char *command)
{
    struct cnnvp_error unused;
    *options = (struct cnnvp_options){.command = commands[place_of(command)]};
    for (size_t i = 0; i < OPTIONS; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        if (*option->default_value && cnnvp_command_option_is_of(option, command, 0))
            (void)(set(options, option, option->default_value, &unused) == CNNVP_DONE);
    }
}

void cnnvp_options_clear(struct cnnvp_options *options)
{
    free(options->set.texts);
    free(options->shape.texts);
    free(options->output.texts);
    free(options->until.texts);
    free(options->from.texts);
    free(options->input.texts);
    options->set = options->shape = options->output = options->until = options->from = options->input =
        (struct cnnvp_option_list){NULL, 0};
}

cnnvp_options *cnnvp_options_new(const char *command)
{
    struct cnnvp_options *options = mask_of(command) != 0 ? malloc(sizeof *options) : NULL;
    if (options != NULL)
        cnnvp_options_init(options, command);
    return options;
}

void cnnvp_options_free(cnnvp_options *options)
{
    if (options != NULL)
        cnnvp_options_clear(options);
    free(options);
}

cnnvp_result cnnvp_options_set(cnnvp_options *options, const char *name, const char *value, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    const struct cnnvp_command_option *option = cnnvp_command_option_find(options->command, name);
    struct cnnvp_suggest suggest;
    if (option != NULL && value == NULL)
        return cnnvp_compiler_error(error, "--%s: no value is given", name);
    if (option != NULL) {
        unsigned char *given = &options->given[option - cnnvp_command_option_table];
        if (option->type == CNNVP_OPTION_OUTS && *given && strcmp(options->command, "run") != 0)
            return cnnvp_compiler_error(error, "--%s: one file is taken; %s is a second", name, value);
        CNNVP_TRY(set(options, option, value, error));
        *given = 1;
        return CNNVP_DONE;
    }
    cnnvp_suggest_begin(&suggest, name);
    for (size_t i = 0; i < OPTIONS; ++i)
        if (cnnvp_command_option_is_of(&cnnvp_command_option_table[i], options->command, 0))
            cnnvp_suggest_offer(&suggest, cnnvp_command_option_table[i].name);
    return cnnvp_compiler_error(error, "%s is no option of %s%s", cnnvp_config_show(name).text, options->command,
                                cnnvp_suggest_text(&suggest, "there are"));
}

const char *cnnvp_options_text(const struct cnnvp_options *options, const struct cnnvp_command_option *option,
                               size_t index)
{
    const char *at = (const char *)options + option->offset;
    if (option->type == CNNVP_OPTION_OUTS || option->type == CNNVP_OPTION_INPUTS) {
        const struct cnnvp_option_list *list = (const struct cnnvp_option_list *)(const void *)at;
        return index < list->count ? list->texts[index] : NULL;
    }
    return index == 0 ? *(const char *const *)(const void *)at : NULL;
}

/* ---- the echo in the statistics ---- */

static const char *list_text(const struct cnnvp_option_list *list, struct cnnvp_arena *arena)
{
    const char *text = list->count != 0 ? cnnvp_arena_text(arena, list->texts[0]) : "";
    for (size_t i = 1; i < list->count && text != NULL; ++i)
        text = cnnvp_arena_printf(arena, "%s,%s", text, list->texts[i]);
    return text;
}

/* The value as on a command line; "": none. NULL: out of memory. */
static const char *value_text(const struct cnnvp_options *options, const struct cnnvp_command_option *option,
                              struct cnnvp_arena *arena)
{
    const void *at = (const char *)options + option->offset;
    const int absent = option->type == CNNVP_OPTION_CHOICE && !*option->default_value;
    size_t length = 0;
    switch (option->type) {
    case CNNVP_OPTION_CHOICE: {
        const char *choice = absent && *(const int *)at == 0
                                 ? ""
                                 : cnnvp_value_choice(option->choices, (uint64_t)(*(const int *)at - absent), &length);
        return cnnvp_arena_printf(arena, "%.*s", (int)length, choice);
    }
    case CNNVP_OPTION_FLAG:
        return *(const int *)at ? "true" : "false";
    case CNNVP_OPTION_NUMBER:
        return cnnvp_arena_printf(arena, "%" PRIu64, *(const uint64_t *)at);
    case CNNVP_OPTION_REAL:
    case CNNVP_OPTION_POSITIVE:
        return cnnvp_arena_printf(arena, "%.7g", *(const double *)at);
    case CNNVP_OPTION_TEXTS:
    case CNNVP_OPTION_SHAPE:
        return list_text(at, arena);
    case CNNVP_OPTION_FILE: /* without its folder */
        return *(const char *const *)at != NULL ? cnnvp_arena_text(arena, cnnvp_base_name(*(const char *const *)at))
                                                : "";
    default:
        return "";
    }
}

cnnvp_result cnnvp_options_echo(const struct cnnvp_options *options, const struct cnnvp_options *defaults,
                                struct cnnvp_arena *arena, struct cnnvp_option_echo *echo, struct cnnvp_error *error)
{
    struct cnnvp_option_info *all = cnnvp_arena_array(arena, OPTIONS, sizeof *all);
    *echo = (struct cnnvp_option_echo){all, 0};
    for (size_t i = 0; i < OPTIONS && all != NULL; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        if (!cnnvp_command_option_is_of(option, options->command, 1))
            continue;
        const char *value = value_text(options, option, arena), *usual = value_text(defaults, option, arena);
        CNNVP_TRY_MEMORY(value != NULL && usual != NULL, error);
        if (strcmp(value, usual) != 0)
            all[echo->count++] = (struct cnnvp_option_info){option->name, value};
    }
    return all != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

/* ---- options that exclude each other ---- */

static cnnvp_result check_schedule(const struct cnnvp_options *options, const struct cnnvp_command_option *option,
                                   struct cnnvp_error *error)
{
    size_t length = 0;
    char word[64];
    const char *of_run =
        cnnvp_value_choice(cnnvp_command_option_find("run", "schedule")->choices, (uint64_t)options->schedule, &length);
    if (option->schedule == NULL ||
        (of_run != NULL && length == strlen(option->schedule) && memcmp(of_run, option->schedule, length) == 0))
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "--%s changes nothing without --schedule %s", cnnvp_command_option_word(option, word), option->schedule);
}

static const char *clash_of(const struct cnnvp_options *o, unsigned command)
{
#define CNNVP_OPTION(...)
#define CNNVP_CLASH(commands, condition, text)           \
    if ((command & (unsigned)(commands)) && (condition)) \
        return text;
#define CNNVP_NETWORK_CLASH(condition, text) CNNVP_CLASH(RUN | COMPILE, condition, text)
#include "options.def"
    return NULL;
}

cnnvp_result cnnvp_options_check(const cnnvp_options *options, struct cnnvp_error *error)
{
    const char *clash = clash_of(options, mask_of(options->command));
    for (size_t i = 0; i < OPTIONS; ++i)
        if (options->given[i] && check_schedule(options, &cnnvp_command_option_table[i], error) != CNNVP_DONE)
            return CNNVP_BAD_INPUT;
    return clash != NULL ? cnnvp_compiler_error(error, "%s", clash) : CNNVP_DONE;
}
