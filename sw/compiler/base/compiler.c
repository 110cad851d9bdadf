/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy */
#include "compiler.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_command.h"

void cnnvp_no_console(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
}

cnnvp_result cnnvp_compiler_in_file(cnnvp_result result, const char *file, struct cnnvp_error *error)
{
    if (result == CNNVP_BAD_INPUT && error != NULL && strncmp(error->text, file, strlen(file)) != 0) {
        const struct cnnvp_error inner = *error;
        (void)snprintf(error->text, sizeof error->text, "%.1000s: %.1000s", file, inner.text);
    }
    return result;
}

static int compare(const void *a, const void *b)
{
    const struct cnnvp_name *one = a, *other = b;
    return strcmp(one->name, other->name);
}

int cnnvp_names_set(struct cnnvp_names *names, const char *name, uint32_t value)
{
    struct cnnvp_name *made = malloc(sizeof *made);
    if (made == NULL)
        return 0;
    *made = (struct cnnvp_name){name, value};
    struct cnnvp_name *const *there = tsearch(made, &names->tree, compare);
    if (there == NULL || *there != made)
        free(made);
    if (there != NULL)
        (*there)->value = value;
    return there != NULL;
}

int cnnvp_names_get(const struct cnnvp_names *names, const char *name, uint32_t *value)
{
    const struct cnnvp_name wanted = {.name = name};
    struct cnnvp_name *const *there = tfind(&wanted, &names->tree, compare);
    if (there != NULL)
        *value = (*there)->value;
    return there != NULL;
}

void cnnvp_names_clear(struct cnnvp_names *names)
{
    tdestroy(names->tree, free);
    names->tree = NULL;
}

float cnnvp_normal(uint64_t seed, uint64_t index)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 12; ++i)
        sum += cnnvp_round_random(seed, index * 12 + i) >> 40; /* 24 bits each */
    const int64_t centred = (int64_t)sum - INT64_C(6) * (1 << 24);
    return (float)centred / 16777216.0f;
}

cnnvp_result cnnvp_stage(cnnvp_platform *platform, uint64_t address, uint64_t bytes, const char *what,
                         struct cnnvp_staged *staged, struct cnnvp_error *error)
{
    *staged = (struct cnnvp_staged){.platform = platform, .address = address, .bytes = (size_t)bytes, .what = what};
    if (cnnvp_platform_map(platform, address, staged->bytes, &staged->data) == CNNVP_DONE)
        return CNNVP_DONE;
    staged->data = staged->copy = malloc(staged->bytes);
    return staged->copy != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

cnnvp_result cnnvp_unstage(struct cnnvp_staged *staged, struct cnnvp_error *error)
{
    if (staged->copy == NULL ||
        cnnvp_platform_write(staged->platform, staged->address, staged->copy, staged->bytes) == CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "the platform has no memory for %s at 0x%llx", staged->what, (unsigned long long)staged->address);
}
