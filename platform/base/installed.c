/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the installed files that users name by a bare word: presets and networks. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

int cnnvp_share_path(unsigned index, const char *name, char *path, size_t room)
{
    /* The installation folder, then the build folder, for programs that link the library from elsewhere. */
    static const char *const fixed[] = {CNNVP_SHARE_FOLDERS};
    *path = '\0';
    if (index == 0) {
        if (cnnvp_installed_file(name, path, room) != 0)
            *path = '\0';
        return 0;
    }
    if (index > sizeof fixed / sizeof *fixed)
        return -1;
    const int size = snprintf(path, room, "%s/%s", fixed[index - 1], name);
    if (size < 0 || (size_t)size >= room)
        *path = '\0';
    return 0;
}

/* The index-th folder to search; the one from the environment comes first. -1: there are no more. */
static int folder_at(const struct cnnvp_installed *files, unsigned index, char *path, size_t room)
{
    const char *named = files->variable != NULL ? getenv(files->variable) : NULL;
    if (named == NULL || !*named)
        return cnnvp_share_path(index, files->folder, path, room);
    if (index > 0)
        return cnnvp_share_path(index - 1, files->folder, path, room);
    const int size = snprintf(path, room, "%s", named);
    if (size < 0 || (size_t)size >= room)
        *path = '\0';
    return 0;
}

int cnnvp_is_bare_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(name);
}

char *cnnvp_installed_find(struct cnnvp_arena *arena, const struct cnnvp_installed *files, const char *name)
{
    char folder[PATH_MAX];
    for (unsigned i = 0; cnnvp_is_bare_name(name) && folder_at(files, i, folder, sizeof folder) == 0; ++i) {
        char *path = cnnvp_arena_printf(arena, "%s/%s%s", folder, name, files->suffix);
        if (path != NULL && access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void cnnvp_installed_offer(struct cnnvp_arena *arena, const struct cnnvp_installed *files,
                           struct cnnvp_suggest *suggest)
{
    enum { MOST = 64 };
    char *names[MOST] = {NULL}, folder[PATH_MAX];
    size_t count = 0;
    for (unsigned i = 0; folder_at(files, i, folder, sizeof folder) == 0; ++i) {
        DIR *stream = opendir(folder);
        const struct dirent *entry;
        while (stream != NULL && count < MOST && (entry = readdir(stream)) != NULL) {
            const size_t length = cnnvp_before_ending(entry->d_name, files->suffix);
            if (length == 0)
                continue;
            names[count] = cnnvp_arena_copy(arena, entry->d_name, length);
            count += names[count] != NULL;
        }
        if (stream != NULL)
            (void)closedir(stream);
    }
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; ++i)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            cnnvp_suggest_offer(suggest, names[i]);
}
