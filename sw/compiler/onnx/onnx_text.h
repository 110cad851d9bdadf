/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to write rules of onnx_rewrite.c that depend on the shapes of a node's inputs. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "onnx_node.h"

/* Most inputs of an operator that a rule replaces. */
#define CNNVP_RULE_INPUTS 22

struct cnnvp_text {
    char rule[4096];
    size_t used;
};

static inline void say(struct cnnvp_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void say(struct cnnvp_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = text->used < sizeof text->rule ? sizeof text->rule - text->used : 0;
    const int length = vsnprintf(text->rule + (room != 0 ? text->used : 0), room, format, arguments);
    va_end(arguments);
    text->used += length > 0 ? (size_t)length : 0;
}

/* Appends ", NUMBER" for numbers[begin .. end - 1]. */
static inline void say_numbers(struct cnnvp_text *text, const int64_t *numbers, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i)
        say(text, ", %lld", (long long)numbers[i]);
}

/* Appends "NAME = Reshape(NUMBERS, [-1, 1, ...])" with `after` ones: a vector along one dimension. */
static inline void say_along(struct cnnvp_text *text, const char *name, const char *numbers, size_t after)
{
    say(text, "%s = Reshape(%s, [-1", name, numbers);
    for (size_t i = 0; i < after; ++i)
        say(text, ", 1");
    say(text, "]);");
}

static inline cnnvp_result rewrite(struct cnnvp_import *import, const struct cnnvp_text *text)
{
    return text->used < sizeof text->rule ? cnnvp_import_rewrite(import, text->rule)
                                          : cnnvp_import_error(import, "it would become too many nodes");
}

/* The index of an axis that the operator works along; axis 0 of a batch is refused. */
static inline cnnvp_result find_counted(struct cnnvp_import *import, int64_t named, size_t rank, size_t *axis)
{
    CNNVP_TRY(cnnvp_import_axis_of(import, named, rank, axis));
    return *axis != 0 || import->single ? CNNVP_DONE : cnnvp_import_mixes(import, "axis 0");
}
