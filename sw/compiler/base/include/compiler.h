/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the compiler share: errors with text, a map from names, random numbers. */
#ifndef CNNVP_COMPILER_H
#define CNNVP_COMPILER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_network.h"

/* Writes the message (if error is not NULL) and returns CNNVP_BAD_INPUT; says that memory ran out, returns
 * CNNVP_FAILED. */
#define cnnvp_compiler_error(error, ...) cnnvp_config_error(error, NULL, __VA_ARGS__)
#define cnnvp_compiler_no_memory(error) cnnvp_config_no_memory(error)
/* Puts the file in front of the message of bad input where that does not begin with it; returns `result`. */
CNNVP_MUST_USE cnnvp_result cnnvp_compiler_in_file(cnnvp_result result, const char *file, struct cnnvp_error *error);

/* The window of a layer that has none. */
#define CNNVP_ONE_TAP .kx = 1, .ky = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1

/* Elements of an array. */
static inline size_t cnnvp_array_count(const struct cnnvp_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->rank; ++i)
        count *= array->shape[i];
    return count;
}

static inline uint32_t cnnvp_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A console that nobody reads. */
void cnnvp_no_console(void *context, const void *data, size_t size);

/* ---- names ---- */

/* Name to number. The names must live as long as the map. */
struct cnnvp_names {
    struct cnnvp_name {
        const char *name;
        uint32_t value;
    } * slots;
    size_t capacity;
    size_t count;
};

/* Sets a name's value, new or not. 0: no memory. */
CNNVP_MUST_USE int cnnvp_names_set(struct cnnvp_names *names, const char *name, uint32_t value);
/* 0: not there. */
int cnnvp_names_get(const struct cnnvp_names *names, const char *name, uint32_t *value);
void cnnvp_names_clear(struct cnnvp_names *names);

/* ---- random numbers ---- */

/*
 * Sample `index` of the seeded normal distribution: the sum of twelve uniform numbers less 6 (mean 0, variance 1,
 * between -6 and 6), each 24 bits of one cnnvp_round_random. Integer arithmetic and one exact conversion: the
 * same everywhere.
 */
float cnnvp_normal(uint64_t seed, uint64_t index);

/* Bytes of a platform's memory that are written as a whole: there, where it gives direct memory, otherwise in a copy.
 */
struct cnnvp_staged {
    cnnvp_platform *platform;
    uint64_t address;
    size_t bytes;
    const char *what; /* they are, for messages */
    void *data;
    void *copy; /* NULL: `data` is the memory */
};

/* `data` is for the caller to fill; its bytes may be of any value. */
CNNVP_MUST_USE cnnvp_result cnnvp_stage(cnnvp_platform *platform, uint64_t address, uint64_t bytes, const char *what,
                                        struct cnnvp_staged *staged, struct cnnvp_error *error);
/* They are there. */
CNNVP_MUST_USE cnnvp_result cnnvp_unstage(struct cnnvp_staged *staged, struct cnnvp_error *error);
static inline void cnnvp_staged_clear(struct cnnvp_staged *staged)
{
    free(staged->copy);
}
#define CNNVP_STAGED CNNVP_SCOPED(cnnvp_staged_clear) struct cnnvp_staged

#endif
