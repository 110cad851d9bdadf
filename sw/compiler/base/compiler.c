/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

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

static struct cnnvp_name *slot_of(const struct cnnvp_names *names, const char *name)
{
    size_t at = (size_t)XXH3_64bits(name, strlen(name)) & (names->capacity - 1);
    while (names->slots[at].name != NULL && strcmp(names->slots[at].name, name) != 0)
        at = (at + 1) & (names->capacity - 1);
    return &names->slots[at];
}

static int grow(struct cnnvp_names *names)
{
    struct cnnvp_names larger = {.capacity = names->capacity == 0 ? 64 : names->capacity * 2, .count = names->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return 0;
    for (size_t i = 0; i < names->capacity; ++i)
        if (names->slots[i].name != NULL)
            *slot_of(&larger, names->slots[i].name) = names->slots[i];
    free(names->slots);
    *names = larger;
    return 1;
}

int cnnvp_names_set(struct cnnvp_names *names, const char *name, uint32_t value)
{
    if (names->count * 2 >= names->capacity && !grow(names))
        return 0;
    struct cnnvp_name *slot = slot_of(names, name);
    if (slot->name == NULL) {
        slot->name = name;
        ++names->count;
    }
    slot->value = value;
    return 1;
}

int cnnvp_names_get(const struct cnnvp_names *names, const char *name, uint32_t *value)
{
    if (names->capacity == 0)
        return 0;
    const struct cnnvp_name *slot = slot_of(names, name);
    if (slot->name == NULL)
        return 0;
    *value = slot->value;
    return 1;
}

void cnnvp_names_clear(struct cnnvp_names *names)
{
    free(names->slots);
    memset(names, 0, sizeof *names);
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
