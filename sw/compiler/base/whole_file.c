/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cnnvp_result cannot(const char *name, int why, struct cnnvp_error *error)
{
    (void)cnnvp_compiler_error(error, "%s: cannot be written: %s", name, strerror(why));
    return CNNVP_FAILED;
}

/* Renaming would put a plain file into the place of a device, a pipe or a link. */
static int is_special(const char *name)
{
    struct stat status;
    return lstat(name, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

cnnvp_result cnnvp_whole_open(const char *name, struct cnnvp_whole_file *file, struct cnnvp_error *error)
{
    const size_t size = strlen(name) + 8;
    *file = (struct cnnvp_whole_file){.name = name, .temporary = malloc(size)};
    if (file->temporary == NULL)
        return cnnvp_compiler_no_memory(error);
    if (is_special(name)) {
        *file->temporary = '\0';
        file->stream = fopen(name, "wb");
    } else {
        (void)snprintf(file->temporary, size, "%s.XXXXXX", name);
        const int descriptor = mkstemp(file->temporary);
        file->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
        if (file->stream == NULL && descriptor >= 0) {
            (void)close(descriptor);
            (void)unlink(file->temporary);
        }
    }
    if (file->stream != NULL)
        return CNNVP_DONE;
    const int why = errno;
    free(file->temporary);
    file->temporary = NULL;
    return cannot(name, why, error);
}

cnnvp_result cnnvp_whole_close(struct cnnvp_whole_file *file, int complete, struct cnnvp_error *error)
{
    int done = complete && fflush(file->stream) == 0 && !ferror(file->stream);
    int why = errno;
    if (fclose(file->stream) != 0 && done) {
        done = 0;
        why = errno;
    }
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (done && *file->temporary &&
        (chmod(file->temporary, 0666 & ~mask) != 0 || rename(file->temporary, file->name) != 0)) {
        done = 0;
        why = errno;
    }
    if (!done && *file->temporary)
        (void)unlink(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    if (done)
        return CNNVP_DONE;
    return complete ? cannot(file->name, why, error) : CNNVP_FAILED;
}
