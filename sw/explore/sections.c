/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a stats.json text. Most of it (the platform, units, links, tensors) is not looked at where many points are
 * gone through, and reading JSON takes most of the time then: only members that are wanted become objects, the rest is
 * skipped character by character.
 */
#include <stdlib.h>
#include <string.h>

#include "explore.h"

/* After a string that begins at `at`; NULL: it does not end. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; ++at)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : NULL;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* After a value: at the comma or brace of the object that it is a member of. NULL: there is none. */
static const char *skip_value(const char *at)
{
    for (unsigned depth = 0; at != NULL && *at;) {
        at += strcspn(at, "\"{}[],");
        if (depth == 0 && (*at == ',' || *at == '}'))
            return at;
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= (*at == '}' || *at == ']') && depth;
        at += *at != '\0';
    }
    return NULL;
}

/* Copies the wanted members; NULL: this is no object. */
static char *filter(const char *text, int (*is_wanted)(const void *, const char *, size_t), const void *context)
{
    const char *at = skip_space(text);
    char *kept = *at == '{' ? malloc(strlen(at) + 3) : NULL, *end = kept;
    if (kept == NULL)
        return NULL;
    *end++ = '{';
    for (at = skip_space(at + 1); *at == '"'; at = *at == ',' ? skip_space(at + 1) : at) {
        const char *name = at, *behind = skip_string(at), *value = behind != NULL ? skip_value(behind) : NULL;
        if (value == NULL)
            break;
        if (is_wanted(context, name + 1, (size_t)(behind - name - 2))) {
            if (end != kept + 1)
                *end++ = ',';
            memcpy(end, name, (size_t)(value - name));
            end += value - name;
        }
        at = value;
    }
    memcpy(end, "}", 2);
    if (*at == '}')
        return kept;
    free(kept);
    return NULL;
}

json_t *cnnvp_stats_sections(const char *text, int (*is_wanted)(const void *, const char *, size_t),
                             const void *context)
{
    char *kept = filter(text, is_wanted, context);
    json_t *stats = kept != NULL ? json_loads(kept, JSON_ALLOW_NUL, NULL) : NULL;
    free(kept);
    return stats;
}

int cnnvp_section_is(const char *section, size_t length, const char *path)
{
    return strncmp(path, section, length) == 0 && (path[length] == '.' || path[length] == '\0');
}
