/* SPDX-License-Identifier: Apache-2.0 */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

int cnnvp_input_is_lfs(int descriptor)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    char bytes[sizeof begin - 1];
    return pread(descriptor, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
           memcmp(bytes, begin, sizeof bytes) == 0;
}

static void close_stream(FILE **stream)
{
    if (*stream != NULL)
        (void)fclose(*stream);
}

cnnvp_result cnnvp_input_text(const char *file, size_t limit, char **text, size_t *size, struct cnnvp_error *error)
{
    enum { MIB = 1 << 20 };
    CNNVP_SCOPED(close_stream) FILE *stream = fopen(file, "rb");
    CNNVP_FREED char *buffer = NULL;
    size_t length = 0, room = 0, got = 1;
    if (stream == NULL)
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    while (got && length <= limit) {
        if (room - length < 4096) {
            room = room ? 2 * room : 65536;
            char *larger = realloc(buffer, room);
            CNNVP_TRY_MEMORY(larger != NULL, error);
            buffer = larger;
        }
        got = fread(buffer + length, 1, room - length - 1, stream);
        length += got;
    }
    if (ferror(stream))
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    if (length > limit)
        return cnnvp_config_error(
            error, file, "is larger than %zu %s", limit % MIB ? limit : limit / MIB, limit % MIB ? "bytes" : "MiB");
    buffer[length] = '\0';
    *text = buffer;
    buffer = NULL;
    if (size != NULL)
        *size = length;
    return CNNVP_DONE;
}

int cnnvp_input_open(const char *name, const char *what, size_t *size, struct cnnvp_error *error)
{
    struct stat status;
    /* O_NONBLOCK has no effect on a regular file. */
    const int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        (void)cnnvp_config_error(error, name, "%s", strerror(errno));
        return -1;
    }
    const int regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && !cnnvp_input_is_lfs(descriptor)) {
        *size = (size_t)status.st_size;
        return descriptor;
    }
    if (regular)
        (void)cnnvp_config_error(error, name, "%s", CNNVP_LFS_POINTER);
    else
        (void)cnnvp_config_error(error, name, "not a regular file; %s is needed", what);
    (void)close(descriptor);
    return -1;
}
