/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the commands (options.def). The command, a sweep's point and C set them here; defaults, limits and
 * what cannot be together are known here alone. */
#ifndef CNNVP_COMMAND_OPTIONS_H
#define CNNVP_COMMAND_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cnnvp_network.h"

struct cnnvp_option_list {
    const char **texts;
    size_t count;
};

/* Types of options, and of their members in struct cnnvp_options. OUT names a file that is written, INPUTS some that
 * may have NAME= in front. TEXTS, SHAPE, INPUTS and OUTS are lists; COUNT counts how often it is given. */
#define CNNVP_OPTION_TYPES(TYPE)           \
    TYPE(CHOICE, int)                      \
    TYPE(NUMBER, uint64_t)                 \
    TYPE(REAL, double)                     \
    TYPE(POSITIVE, double)                 \
    TYPE(FLAG, int)                        \
    TYPE(COUNT, int)                       \
    TYPE(TIME, uint64_t)                   \
    TYPE(TEXT, const char *)               \
    TYPE(FILE, const char *)               \
    TYPE(INPUTS, struct cnnvp_option_list) \
    TYPE(OUT, const char *)                \
    TYPE(DATASET, const char *)            \
    TYPE(TEXTS, struct cnnvp_option_list)  \
    TYPE(SHAPE, struct cnnvp_option_list)  \
    TYPE(OUTS, struct cnnvp_option_list)

enum cnnvp_option_type {
#define CNNVP_TYPE(type, in_c) CNNVP_OPTION_##type,
    CNNVP_OPTION_TYPES(CNNVP_TYPE)
#undef CNNVP_TYPE
};
#define CNNVP_TYPE(type, in_c) typedef in_c cnnvp_option_##type;
CNNVP_OPTION_TYPES(CNNVP_TYPE)
#undef CNNVP_TYPE

struct cnnvp_command_option {
    const char *name; /* `-` is written `_` */
    char letter;      /* 0: none */
    unsigned commands;
    enum cnnvp_option_type type;
    const char *default_value; /* "": none */
    uint64_t min, max;
    const char *choices;
    const char *schedule; /* NULL, or the one with which it changes something */
    const char *argument; /* for the help; NULL: it has none */
    int group;
    const char *help;
    size_t offset; /* in struct cnnvp_options */
};
extern const struct cnnvp_command_option cnnvp_command_option_table[];
extern const size_t cnnvp_command_option_count;

/* 1: the command has it; with `sweep`, one that a sweep takes, because it decides a result. */
int cnnvp_command_option_is_of(const struct cnnvp_command_option *option, const char *command, int sweep);
/* NULL: the command has no such option. */
const struct cnnvp_command_option *cnnvp_command_option_find(const char *command, const char *name);
/* As it is written on a command line, without its dashes; returns `word`. */
const char *cnnvp_command_option_word(const struct cnnvp_command_option *option, char word[64]);
/* What a text says: the number of a choice, a number, 0 or 1 of a flag, picoseconds; *real of a REAL or POSITIVE one.
 * Not 0: `reason` says what would be right. Files and data sets are not looked at. */
CNNVP_MUST_USE int cnnvp_command_option_parse(const struct cnnvp_command_option *option, const char *text, int quoted,
                                              uint64_t *number, double *real, char *reason, size_t reason_size);

/* A command's options as members: numbers, 0 where there is no default; of a choice its number, from 1 on where there
 * is no default; picoseconds; texts, NULL where they are not given. */
struct cnnvp_options {
    const char *command;
#define CNNVP_OPTION(name, letter, commands, type, ...) cnnvp_option_##type name;
#define CNNVP_OPTION_ALSO(...)
#include "options.def"
    unsigned char given[96]; /* by place in the table */
};

/* The last one that was given; NULL: none was. */
static inline const char *cnnvp_option_last(const struct cnnvp_option_list *list)
{
    return list->count > 0 ? list->texts[list->count - 1u] : NULL;
}

void cnnvp_options_init(struct cnnvp_options *options, const char *command);
void cnnvp_options_clear(struct cnnvp_options *options);
/* The index-th file that an option of type TEXT, FILE, INPUTS, OUT, OUTS or DATASET names; NULL: it names no more. */
const char *cnnvp_options_text(const struct cnnvp_options *options, const struct cnnvp_command_option *option,
                               size_t index);

/* Fills a client's struct, which says its size, from one of this library's. */
static inline void cnnvp_fill_client(void *theirs, const void *own, size_t size)
{
    const uint32_t given = *(const uint32_t *)theirs;
    memset(theirs, 0, given);
    memcpy(theirs, own, given < size ? given : size);
    *(uint32_t *)theirs = given;
}

/* NAME_of for programs of before library 1.6, which got the struct by value: as it was then, to the member `last`. */
#define CNNVP_BY_VALUE(name, last)                                                           \
    struct name##_then {                                                                     \
        unsigned char bytes[offsetof(struct name, last) + sizeof(((struct name *)0)->last)]; \
    };                                                                                       \
    __attribute__((visibility("default"))) struct name##_then name##_then(                   \
        const struct cnnvp_options *options) __asm__(#name "_of");                           \
    struct name##_then name##_then(const struct cnnvp_options *options)                      \
    {                                                                                        \
        struct name##_then then;                                                             \
        struct name members = {.struct_size = sizeof then};                                  \
        name##_get(options, &members);                                                       \
        memcpy(&then, &members, sizeof then);                                                \
        return then;                                                                         \
    }

#endif
