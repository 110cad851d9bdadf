/* SPDX-License-Identifier: Apache-2.0 */
/* Files: read whole; written without a name, or beside theirs where the file system cannot do that, and named when
 * complete. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 for something that is there and not a plain file: a terminal, a pipe, /dev/null, a link (such as /dev/stdout) to
 * anything but a folder. It is written in place: renaming would put a plain file there. */
static int is_special(const char *file)
{
    struct stat status, target;
    return lstat(file, &status) == 0 && !S_ISREG(status.st_mode) && stat(file, &target) == 0 &&
           !S_ISDIR(target.st_mode);
}

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash != NULL ? (size_t)(slash - file) + (slash == file) : 1;
    char *folder = malloc(length + 1);
    if (folder != NULL) {
        memcpy(folder, slash != NULL ? file : ".", length);
        folder[length] = '\0';
    }
    return folder;
}

cnnvp_result cli_check_output(const char *option, const char *file)
{
    struct stat status;
    if (file == NULL || is_special(file))
        return CNNVP_DONE;
    if (!*file)
        return cli_bad("%s: the name of a file is expected", option);
    if (stat(file, &status) == 0 && S_ISDIR(status.st_mode))
        return cli_bad("%s: %s is a folder", option, file);
    char *folder = folder_of(file);
    int reachable = folder != NULL && access(folder, W_OK | X_OK) == 0;
    int reason = errno;
    free(folder);
    if (!reachable)
        return cli_bad("%s: %s cannot be written: %s", option, file, strerror(reason));
    return CNNVP_DONE;
}

static const char *name_in_folder(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* One name in one folder, which may be written in two ways. */
static int is_same_place(const char *a, const char *b)
{
    char *a_folder = folder_of(a), *b_folder = folder_of(b);
    struct stat a_status, b_status;
    const int same = a_folder != NULL && b_folder != NULL && stat(a_folder, &a_status) == 0 &&
                     stat(b_folder, &b_status) == 0 && a_status.st_dev == b_status.st_dev &&
                     a_status.st_ino == b_status.st_ino && strcmp(name_in_folder(a), name_in_folder(b)) == 0;
    free(a_folder);
    free(b_folder);
    return same;
}

/* Links and devices may be named twice: each write is theirs to order. */
static int is_same_file(const char *a, const char *b)
{
    struct stat a_status, b_status;
    if (lstat(a, &a_status) != 0 || lstat(b, &b_status) != 0)
        return is_same_place(a, b);
    return S_ISREG(a_status.st_mode) && a_status.st_dev == b_status.st_dev && a_status.st_ino == b_status.st_ino;
}

cnnvp_result cli_check_files(const struct cli_named_file *files, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (files[i].is_output && cli_check_output(files[i].option, files[i].file) != CNNVP_DONE)
            return CNNVP_BAD_INPUT;
    for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j) {
            const struct cli_named_file *output = &files[i], *other = &files[j];
            if (i == j || !output->is_output || output->file == NULL || other->file == NULL)
                continue;
            if (is_same_file(output->file, other->file))
                return cli_bad("%s: %s is also %s%s, which would be lost", output->option, output->file,
                               *other->option ? "the file of " : "an input", other->option);
        }
    return CNNVP_DONE;
}

/* A file without a name, in the folder of `file`: nothing is left of it if the program is killed. -1: the file system
 * has none, or none that could get a name. */
static int open_nameless(const char *file)
{
    char path[40];
    char *folder = folder_of(file);
    int descriptor = folder != NULL ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(folder);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor >= 0 && access(path, F_OK) != 0) {
        (void)close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/* A file of the name in output->temporary, whose end becomes one that is not there yet. */
static int open_temporary(const struct cli_output *output)
{
    int descriptor = mkstemp(output->temporary);
    mode_t mask = umask(0);
    (void)umask(mask);
    if (descriptor >= 0 && fchmod(descriptor, 0666 & ~mask) != 0) {
        (void)close(descriptor);
        (void)unlink(output->temporary);
        descriptor = -1;
    }
    return descriptor;
}

/* Gives a nameless file its name; one of that name is replaced, over a second name. */
static int give_name(const struct cli_output *output, int descriptor)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (linkat(AT_FDCWD, path, AT_FDCWD, output->name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    int reserved = errno == EEXIST ? mkstemp(output->temporary) : -1;
    if (reserved < 0)
        return -1;
    (void)close(reserved);
    if (unlink(output->temporary) != 0 || linkat(AT_FDCWD, path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) != 0)
        return -1;
    if (rename(output->temporary, output->name) == 0)
        return 0;
    int reason = errno;
    (void)unlink(output->temporary);
    errno = reason;
    return -1;
}

cnnvp_result cli_output_open(struct cli_output *output, const char *file)
{
    static const char suffix[] = ".part-XXXXXX";
    memset(output, 0, sizeof *output);
    size_t length = strlen(file);
    output->name = malloc(length + 1);
    output->temporary = malloc(length + sizeof suffix);
    if (output->name != NULL && output->temporary != NULL) {
        memcpy(output->name, file, length + 1);
        memcpy(output->temporary, file, length);
        memcpy(output->temporary + length, suffix, sizeof suffix);
        if (is_special(file)) {
            free(output->temporary);
            output->temporary = NULL;
            output->stream = fopen(file, "wb");
        } else {
            int descriptor = open_nameless(file);
            output->nameless = descriptor >= 0;
            if (!output->nameless)
                descriptor = open_temporary(output);
            if (descriptor >= 0)
                output->stream = fdopen(descriptor, "wb");
            if (descriptor >= 0 && output->stream == NULL) {
                (void)close(descriptor);
                if (!output->nameless)
                    (void)unlink(output->temporary);
            }
        }
    }
    if (output->stream != NULL)
        return CNNVP_DONE;
    cli_message("%s: cannot be written: %s", file, strerror(errno));
    free(output->name);
    free(output->temporary);
    return CNNVP_FAILED;
}

cnnvp_result cli_output_close(struct cli_output *output, int complete)
{
    int failed = ferror(output->stream);
    int kept = output->nameless ? dup(fileno(output->stream)) : -1;
    failed |= output->nameless && kept < 0;
    failed |= fclose(output->stream) != 0;
    if (output->temporary != NULL && complete && !failed)
        failed = (output->nameless ? give_name(output, kept) : rename(output->temporary, output->name)) != 0;
    cnnvp_result result = failed ? CNNVP_FAILED : CNNVP_DONE;
    if (result != CNNVP_DONE)
        cli_message("%s: cannot be written: %s", output->name, strerror(errno));
    if (kept >= 0)
        (void)close(kept);
    if (output->temporary != NULL && !output->nameless && (result != CNNVP_DONE || !complete))
        (void)unlink(output->temporary);
    free(output->name);
    free(output->temporary);
    return result;
}

cnnvp_result cli_write_file(const char *file, const void *data, size_t size)
{
    struct cli_output output;
    cnnvp_result result = cli_output_open(&output, file);
    if (result != CNNVP_DONE)
        return result;
    /* A short write leaves the stream's error set, which closing reports. */
    (void)fwrite(data, 1, size, output.stream);
    return cli_output_close(&output, 1);
}

cnnvp_result cli_read_file(const char *file, size_t limit, char **data, size_t *size)
{
    enum { STEP = 64 * 1024 };
    FILE *stream = fopen(file, "rb");
    if (stream == NULL)
        return cli_bad("%s: cannot be read: %s", file, strerror(errno));
    char *buffer = NULL;
    size_t length = 0, room = 0, got;
    cnnvp_result result = CNNVP_DONE;
    do {
        if (room - length < STEP + 1) {
            room = room ? 2 * room : 2 * STEP;
            char *larger = realloc(buffer, room);
            if (larger == NULL) {
                cli_message("out of memory");
                result = CNNVP_FAILED;
                break;
            }
            buffer = larger;
        }
        got = fread(buffer + length, 1, STEP, stream);
        length += got;
    } while (got && length <= limit);
    if (result == CNNVP_DONE && ferror(stream))
        result = cli_bad("%s: cannot be read: %s", file, strerror(errno));
    else if (result == CNNVP_DONE && length > limit)
        result = cli_bad("%s: is larger than %zu bytes", file, limit);
    (void)fclose(stream);
    if (result != CNNVP_DONE) {
        free(buffer);
        return result;
    }
    buffer[length] = '\0';
    *data = buffer;
    *size = length;
    return CNNVP_DONE;
}
