/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files with zlib, which passes uncompressed files through unchanged. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset.h"
#include "input_file.h"

/* Initial size of a growing buffer, and maximum size of one zlib call. */
#define FIRST_BYTES ((size_t)1 << 16)
#define CALL_BYTES ((size_t)1 << 20)

cnnvp_result cnnvp_data_open(const char *name, struct cnnvp_data_file *file, struct cnnvp_error *error)
{
    struct stat status;
    *file = (struct cnnvp_data_file){.name = name, .error = error};
    if (*name == '\0')
        return cnnvp_config_error(error, NULL, "the name of a file is empty");
    const int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return cnnvp_config_error(error, NULL, "%s: %s", name, strerror(errno));
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        (void)close(descriptor);
        return cnnvp_config_error(error, NULL, "%s: a folder; a file is needed", name);
    }
    if (cnnvp_input_is_lfs(descriptor)) {
        (void)close(descriptor);
        return cnnvp_config_error(error, NULL, "%s: " CNNVP_LFS_POINTER, name);
    }
    file->stream = gzdopen(descriptor, "rb");
    if (file->stream != NULL)
        return CNNVP_DONE;
    (void)close(descriptor);
    return cnnvp_config_no_memory(error);
}

void cnnvp_data_close(struct cnnvp_data_file *file)
{
    if (file->stream != NULL)
        (void)gzclose_r(file->stream);
    file->stream = NULL;
}

cnnvp_result cnnvp_data_some(struct cnnvp_data_file *file, void *data, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        const size_t part = size - *got < CALL_BYTES ? size - *got : CALL_BYTES;
        const int count = gzread(file->stream, (uint8_t *)data + *got, (unsigned)part);
        int code = Z_OK;
        const char *why = gzerror(file->stream, &code);
        if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
            return cnnvp_config_error(
                file->error, NULL, "%s: %s", file->name,
                code == Z_ERRNO        ? strerror(errno)
                : code == Z_BUF_ERROR  ? "the gzip file is cut off"
                : code == Z_DATA_ERROR ? "the gzip file is damaged"
                                       : why);
        if (count == 0)
            return CNNVP_DONE;
        *got += (size_t)count;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_data_append(struct cnnvp_data_file *file, uint8_t **buffer, size_t used, size_t size, size_t *got)
{
    size_t room = *got = 0;
    while (*got < size) {
        size_t grown = room == 0 ? FIRST_BYTES : room * 2;
        grown = grown < size ? grown : size;
        uint8_t *larger = realloc(*buffer, used + grown);
        CNNVP_TRY_MEMORY(larger != NULL, file->error);
        *buffer = larger;
        room = grown;
        size_t part;
        const cnnvp_result result = cnnvp_data_some(file, *buffer + used + *got, room - *got, &part);
        *got += part;
        if (result != CNNVP_DONE || *got < room)
            return result;
    }
    return CNNVP_DONE;
}
