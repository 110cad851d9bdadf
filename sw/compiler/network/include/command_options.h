/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the commands (options.def). The command line, points of a sweep and the C API all set options here.
 * Only this file knows defaults, limits and options that exclude each other. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base.h"
#include "cnnvp_network.h"
#include "plan_memory.h"

struct cnnvp_option_list {
    const char **texts;
    size_t count;
};

/* Types of options, and of their members in struct cnnvp_options. OUT names a file to write. INPUTS names files,
 * possibly with NAME= in front. TEXTS, SHAPE, INPUTS and OUTS are lists. COUNT counts how often the option is given. */
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
    const char *name; /* with `_` in place of `-` */
    char letter;      /* 0: none */
    unsigned commands;
    enum cnnvp_option_type type;
    const char *default_value; /* "": none */
    uint64_t min, max;
    const char *choices;
    const char *schedule; /* the schedule with which the option has an effect; NULL: all */
    const char *argument; /* name of the argument in the help; NULL: no argument */
    int group;
    const char *help;
    size_t offset; /* in struct cnnvp_options */
};
extern const struct cnnvp_command_option cnnvp_command_option_table[];
extern const size_t cnnvp_command_option_count;

/* 1: the command has the option; with `sweep`, only options that decide a result, which a sweep takes, count. */
int cnnvp_command_option_is_of(const struct cnnvp_command_option *option, const char *command, int sweep);
/* NULL: the command has no such option. */
const struct cnnvp_command_option *cnnvp_command_option_find(const char *command, const char *name);
/* Writes the option's name with `-`, as on a command line but without the dashes in front. Returns `word`. */
const char *cnnvp_command_option_word(const struct cnnvp_command_option *option, char word[64]);
/* Parses a value: *number is the number of a choice, a number, 0 or 1 of a flag, or picoseconds; *real is a REAL or
 * POSITIVE value. Returns not 0 on failure; `reason` then says what would be right. Files and data sets are not
 * checked. */
CNNVP_MUST_USE int cnnvp_command_option_parse(const struct cnnvp_command_option *option, const char *text, int quoted,
                                              uint64_t *number, double *real, char *reason, size_t reason_size);

/* A command's options as members. Numbers without a default are 0. A choice is its number, from 0 if it has a default,
 * else from 1. Times are picoseconds. Texts are NULL if not given. */
struct cnnvp_options {
    const char *command;
#define CNNVP_OPTION(name, letter, commands, type, ...) cnnvp_option_##type name;
#define CNNVP_OPTION_ALSO(...)
#include "options.def"
    unsigned char given[96]; /* by index in the table */
};

/* The last text of a list; NULL: it is empty. */
static inline const char *cnnvp_option_last(const struct cnnvp_option_list *list)
{
    return list->count > 0 ? list->texts[list->count - 1u] : NULL;
}

void cnnvp_options_init(struct cnnvp_options *options, const char *command);
void cnnvp_options_clear(struct cnnvp_options *options);
/* The index-th text of an option of type TEXT, FILE, INPUTS, OUT, OUTS or DATASET; NULL: it has no more. */
const char *cnnvp_options_text(const struct cnnvp_options *options, const struct cnnvp_command_option *option,
                               size_t index);

/* Those of the command's options that decide a result and differ from `defaults`, as the statistics show them. */
struct cnnvp_option_echo {
    const struct cnnvp_option_info *options;
    size_t count;
};
CNNVP_MUST_USE cnnvp_result cnnvp_options_echo(const struct cnnvp_options *options,
                                               const struct cnnvp_options *defaults, struct cnnvp_arena *arena,
                                               struct cnnvp_option_echo *echo, struct cnnvp_error *error);

/* BAD_INPUT: the options say --schedule layer, or a block, beside a plan with groups, which the network has. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_check_layers(const cnnvp_network *network,
                                                       const struct cnnvp_options *options, struct cnnvp_error *error);
/* 1: the network runs depth first, by an option or by its plan. */
int cnnvp_network_runs_blocks(const cnnvp_network *network);

/* The same as cnnvp_network_new, with a memory of plans, which has to live as long as the network; NULL: none. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_new_again(
    const char *onnx_file, const cnnvp_config *config, const struct cnnvp_network_options *options,
    struct cnnvp_plan_memory *memory, cnnvp_network **network, struct cnnvp_error *error);

/* Copies one of this library's structs to a client's struct, as many bytes as the client's size member says. */
static inline void cnnvp_fill_client(void *theirs, const void *own, size_t size)
{
    const uint32_t given = *(const uint32_t *)theirs;
    memset(theirs, 0, given);
    memcpy(theirs, own, given < size ? given : size);
    *(uint32_t *)theirs = given;
}

/* NAME_of for programs built before library 1.6, which get the struct by value, with members up to `last`. */
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
