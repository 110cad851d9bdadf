/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `run`, `train` and `exec` that decide a result (options.def): the command, a sweep's point and C set them
 * here, and have their defaults from here. */
#ifndef CNNVP_COMMAND_OPTIONS_H
#define CNNVP_COMMAND_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_network.h"

enum cnnvp_option_type {
    CNNVP_OPTION_CHOICE,
    CNNVP_OPTION_NUMBER,
    CNNVP_OPTION_REAL,
    CNNVP_OPTION_POSITIVE,
    CNNVP_OPTION_FLAG,
    CNNVP_OPTION_TIME,
    CNNVP_OPTION_FILE,
    CNNVP_OPTION_DATASET,
    CNNVP_OPTION_SHAPE
};

/* A long option of a command; `-` is written `_`. */
struct cnnvp_command_option {
    const char *name;
    int run;   /* 1: cnnvp run has it */
    int train; /* 1: cnnvp train has it */
    int exec;  /* 1: cnnvp exec has it */
    enum cnnvp_option_type type;
    const char *default_value; /* "": none */
    uint64_t min;
    uint64_t max;
    const char *choices;
    const char *schedules; /* NULL, or those with which it changes something: "a|b" */
};
extern const struct cnnvp_command_option cnnvp_command_option_table[];
extern const size_t cnnvp_command_option_count;

int cnnvp_command_option_is_of(const struct cnnvp_command_option *option, const char *command);
/* NULL: the command has no such option. */
const struct cnnvp_command_option *cnnvp_command_option_find(const char *command, const char *name);
/* As it is written on a command line, without its dashes; returns `word`. */
const char *cnnvp_command_option_word(const struct cnnvp_command_option *option, char word[64]);
/* What a text says: the number of a choice, a number, 0 or 1 of a flag, picoseconds; *real of a REAL or POSITIVE one.
 * Not 0: `reason` says what would be right. Files and data sets are not looked at. */
CNNVP_MUST_USE int cnnvp_command_option_parse(const struct cnnvp_command_option *option, const char *text, int quoted,
                                              uint64_t *number, double *real, char *reason, size_t reason_size);

/* Where a struct keeps an option. */
struct cnnvp_option_member {
    const char *name;
    enum { CNNVP_MEMBER_INT, CNNVP_MEMBER_U32, CNNVP_MEMBER_U64, CNNVP_MEMBER_FLOAT, CNNVP_MEMBER_TEXT } type;
    int first; /* of a choice: the value of the first one */
    size_t offset;
};

/* Sets the members of one option in `options`; of a FILE the text itself is kept. BAD_INPUT with a message. */
CNNVP_MUST_USE cnnvp_result cnnvp_command_option_set(const char *command, const struct cnnvp_option_member *members,
                                                     size_t count, void *options, const char *name, const char *value,
                                                     struct cnnvp_error *error);
/* Sets all that have a default. */
void cnnvp_command_option_defaults(const char *command, const struct cnnvp_option_member *members, size_t count,
                                   void *options);

#endif
