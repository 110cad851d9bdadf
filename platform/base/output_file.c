/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear only when complete. Writing is buffered and goes to a nameless file, which vanishes if the
 * process is killed and gets its name at the end. If the file system has no nameless files, it goes to
 * FILE.PROCESS-NUMBER.tmp, which no other process writes and which is renamed at the end. After an error nothing is
 * left. Devices, pipes and links are written in place, because renaming would replace them by a plain file. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

#define BUFFER_BYTES (128u * 1024u)
#define MODE 0666 /* reduced by the umask, as with fopen */

struct cnnvp_output {
    int descriptor;
    int error; /* errno of the first failure; 0: none */
    char *name;
    int nameless;    /* 1: the open file has no name yet */
    char *temporary; /* NULL: written in place, or nameless */
    size_t used;
    unsigned char buffer[BUFFER_BYTES];
};

static cnnvp_result cannot(struct cnnvp_error *error, const char *file, int reason)
{
    (void)cnnvp_config_error(error, file, "cannot be written: %s", strerror(reason));
    return CNNVP_FAILED;
}

int cnnvp_output_is_special(const char *file)
{
    struct stat status, target;

    return lstat(file, &status) == 0 && !S_ISREG(status.st_mode) && stat(file, &target) == 0 &&
           !S_ISDIR(target.st_mode);
}

char *cnnvp_output_folder(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
}

cnnvp_result cnnvp_output_check(const char *file, struct cnnvp_error *error)
{
    struct stat status;

    if (cnnvp_output_is_special(file) && access(file, W_OK) == 0)
        return CNNVP_DONE;
    if (stat(file, &status) == 0 && S_ISDIR(status.st_mode))
        return cnnvp_config_error(error, file, "is a folder, not a file to write");
    CNNVP_FREED char *folder = cnnvp_output_folder(file);
    if (folder == NULL)
        return cannot(error, file, ENOMEM);
    int closed = access(folder, W_OK | X_OK) != 0 ? errno : 0;
    if (!closed && stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        closed = ENOTDIR;
    if (closed && error != NULL)
        snprintf(error->text, sizeof error->text, "%.1000s: cannot write into folder %.900s: %s", file, folder,
                 strerror(closed));
    return closed ? CNNVP_BAD_INPUT : CNNVP_DONE;
}

/* Path under which the kernel shows an open file, for linking a name to it. */
static void file_of(int descriptor, char *path, size_t size)
{
    snprintf(path, size, "/proc/self/fd/%d", descriptor);
}

/* Returns -1 if the file system has no nameless files, or cannot give them a name. */
static int open_nameless(const char *file)
{
    CNNVP_FREED char *folder = cnnvp_output_folder(file);
    char path[40];
    int descriptor = folder != NULL ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE) : -1;

    file_of(descriptor, path, sizeof path);
    if (descriptor >= 0 && access(path, F_OK) != 0) {
        (void)close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/* Creates an unused temporary name, for a new file or for the open file `linked`. Two runs with the same output do not
 * collide, nor do they touch leftovers of a killed run. Returns a descriptor, 0 for a link, or -1. */
static int make_temporary(cnnvp_output *output, int linked)
{
    enum { MOST = 1000 };
    const size_t room = strlen(output->name) + sizeof ".18446744073709551615-1000.tmp";

    output->temporary = malloc(room);
    if (output->temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int number = 0; number < MOST; ++number) {
        snprintf(output->temporary, room, "%s.%lld-%d.tmp", output->name, (long long)getpid(), number);
        char path[40];
        int made;

        file_of(linked, path, sizeof path);
        if (linked >= 0)
            made = linkat(AT_FDCWD, path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW);
        else
            made = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
        if (made >= 0 || errno != EEXIST)
            return made;
    }
    return -1;
}

/* Gives a nameless file its name. An existing file is replaced by a rename from a temporary name, because linkat does
 * not replace. */
static int give_name(cnnvp_output *output, int descriptor)
{
    char path[40];

    file_of(descriptor, path, sizeof path);
    if (linkat(AT_FDCWD, path, AT_FDCWD, output->name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST || make_temporary(output, descriptor) < 0)
        return -1;
    return rename(output->temporary, output->name);
}

cnnvp_result cnnvp_output_new(const char *file, cnnvp_output **output, struct cnnvp_error *error)
{
    cnnvp_output *made = calloc(1, sizeof *made);

    *output = NULL;
    if (made == NULL)
        return cannot(error, file, ENOMEM);
    made->descriptor = -1;
    made->name = strdup(file);
    if (made->name == NULL)
        errno = ENOMEM;
    else if (cnnvp_output_is_special(file))
        made->descriptor = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
    else if ((made->descriptor = open_nameless(file)) >= 0)
        made->nameless = 1;
    else
        made->descriptor = make_temporary(made, -1);
    if (made->descriptor < 0) {
        cnnvp_result result = cannot(error, file, errno);

        free(made->temporary);
        free(made->name);
        free(made);
        return result;
    }
    *output = made;
    return CNNVP_DONE;
}

static void flush(cnnvp_output *output)
{
    size_t done = 0;

    while (!output->error && done < output->used) {
        ssize_t written = write(output->descriptor, output->buffer + done, output->used - done);

        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EINTR)
            output->error = errno;
    }
    output->used = 0;
}

void cnnvp_output_write(cnnvp_output *output, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    while (size) {
        size_t part = BUFFER_BYTES - output->used;

        if (part > size)
            part = size;
        memcpy(output->buffer + output->used, bytes, part);
        output->used += part;
        bytes += part;
        size -= part;
        if (output->used == BUFFER_BYTES)
            flush(output);
    }
}

void cnnvp_output_printf(cnnvp_output *output, const char *format, ...)
{
    for (int again = 0; again < 2; ++again) {
        const size_t room = BUFFER_BYTES - output->used;
        va_list args;
        va_start(args, format);
        const int length = vsnprintf((char *)output->buffer + output->used, room, format, args);
        va_end(args);
        if (length >= 0 && (size_t)length < room) {
            output->used += (size_t)length;
            return;
        }
        flush(output);
    }
    output->error = output->error ? output->error : EOVERFLOW;
}

unsigned char *cnnvp_output_room(cnnvp_output *output, size_t size)
{
    if (BUFFER_BYTES - output->used < size)
        flush(output);
    return output->buffer + output->used;
}

void cnnvp_output_filled(cnnvp_output *output, size_t size)
{
    output->used += size;
}

static void destroy(cnnvp_output *output)
{
    if (output->descriptor >= 0)
        (void)close(output->descriptor);
    free(output->temporary);
    free(output->name);
    free(output);
}

cnnvp_result cnnvp_output_finish(cnnvp_output *output, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;

    flush(output);
    int kept = output->nameless && !output->error ? dup(output->descriptor) : -1;
    if (output->nameless && kept < 0 && !output->error)
        output->error = errno;
    /* A full disk may be reported only here. */
    if (close(output->descriptor) != 0 && !output->error)
        output->error = errno;
    output->descriptor = -1;
    if (!output->error && (output->nameless || output->temporary != NULL) &&
        (output->nameless ? give_name(output, kept) : rename(output->temporary, output->name)) != 0)
        output->error = errno;
    if (kept >= 0)
        (void)close(kept);
    if (output->error) {
        result = cannot(error, output->name, output->error);
        if (output->temporary != NULL)
            (void)unlink(output->temporary);
    }
    destroy(output);
    return result;
}

cnnvp_result cnnvp_output_whole(const char *file, const void *data, size_t size, struct cnnvp_error *error)
{
    cnnvp_output *output = NULL;
    CNNVP_TRY(cnnvp_output_new(file, &output, error));
    cnnvp_output_write(output, data, size);
    return cnnvp_output_finish(output, error);
}

void cnnvp_output_discard(cnnvp_output *output)
{
    if (output == NULL)
        return;
    if (output->temporary != NULL)
        (void)unlink(output->temporary);
    destroy(output);
}
