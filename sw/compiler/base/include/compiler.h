/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all parts of the compiler: error messages, a map of names, random numbers, platform memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_network.h"

/* Writes the message (if error is not NULL) and returns CNNVP_BAD_INPUT. */
#define cnnvp_compiler_error(error, ...) cnnvp_config_error(error, NULL, __VA_ARGS__)
/* Writes that memory ran out and returns CNNVP_FAILED. */
#define cnnvp_compiler_no_memory(error) cnnvp_config_no_memory(error)
/* Prefixes the message of CNNVP_BAD_INPUT with the file's name unless it begins with it. Returns `result`. */
CNNVP_MUST_USE cnnvp_result cnnvp_compiler_in_file(cnnvp_result result, const char *file, struct cnnvp_error *error);

/* The window members of a layer without a window. */
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

/* A console callback that drops its data. */
void cnnvp_no_console(void *context, const void *data, size_t size);

/* ---- names ---- */

/* A map from names to numbers. The names must live as long as the map. */
struct cnnvp_name {
    const char *name;
    uint32_t value;
};
struct cnnvp_names {
    void *tree; /* of tsearch() */
};

/* Adds a name, or changes its value. 0: out of memory. */
CNNVP_MUST_USE int cnnvp_names_set(struct cnnvp_names *names, const char *name, uint32_t value);
/* 0: the map does not have the name. */
int cnnvp_names_get(const struct cnnvp_names *names, const char *name, uint32_t *value);
void cnnvp_names_clear(struct cnnvp_names *names);

/* ---- random numbers ---- */

/*
 * Sample `index` of a seeded, approximately normal distribution: the sum of twelve uniform numbers, each 24 bits of one
 * cnnvp_round_random, less 6 (mean 0, variance 1, between -6 and 6). Integer arithmetic and one exact conversion, so
 * the result is the same on every host.
 */
float cnnvp_normal(uint64_t seed, uint64_t index);

/* ---- memory of a platform ---- */

/* A range of a platform's memory to be written: the memory itself if the platform gives direct access, else a copy. */
struct cnnvp_staged {
    cnnvp_platform *platform;
    uint64_t address;
    size_t bytes;
    const char *what; /* what the bytes are, for messages */
    void *data;
    void *copy; /* NULL: `data` is the memory */
};

/* Begins a write. The caller fills `data`, whose initial bytes are undefined. */
CNNVP_MUST_USE cnnvp_result cnnvp_stage(cnnvp_platform *platform, uint64_t address, uint64_t bytes, const char *what,
                                        struct cnnvp_staged *staged, struct cnnvp_error *error);
/* Ends the write: all bytes are in the platform's memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_unstage(struct cnnvp_staged *staged, struct cnnvp_error *error);
static inline void cnnvp_staged_clear(struct cnnvp_staged *staged)
{
    free(staged->copy);
}
#define CNNVP_STAGED CNNVP_SCOPED(cnnvp_staged_clear) struct cnnvp_staged
