/* SPDX-License-Identifier: Apache-2.0 */
/* Files and texts that the parts of the exploration read and write. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "explore.h"
#include "output_file.h"

char *cnnvp_text_join(const char *a, const char *b, const char *c)
{
    size_t lengths[3] = {strlen(a), strlen(b), strlen(c)};
    char *joined = malloc(lengths[0] + lengths[1] + lengths[2] + 1);
    if (joined == NULL)
        return NULL;
    memcpy(joined, a, lengths[0]);
    memcpy(joined + lengths[0], b, lengths[1]);
    memcpy(joined + lengths[0] + lengths[1], c, lengths[2] + 1);
    return joined;
}

cnnvp_result cnnvp_hash_file(const char *file, char hash[CNNVP_KEY_BYTES], struct cnnvp_error *error)
{
    char buffer[65536];
    size_t got;
    FILE *stream = fopen(file, "rb");
    XXH3_state_t *state = XXH3_createState();
    if (stream == NULL || state == NULL || XXH3_128bits_reset(state) != XXH_OK) {
        int reason = errno;
        if (stream != NULL)
            (void)fclose(stream);
        (void)XXH3_freeState(state);
        return cnnvp_config_error(
            error, NULL, "%.1000s: cannot be read: %s", file, stream != NULL ? "out of memory" : strerror(reason));
    }
    while ((got = fread(buffer, 1, sizeof buffer, stream)) > 0)
        (void)XXH3_128bits_update(state, buffer, got);
    int failed = ferror(stream), reason = errno;
    XXH128_hash_t value = XXH3_128bits_digest(state);
    (void)fclose(stream);
    (void)XXH3_freeState(state);
    if (failed)
        return cnnvp_config_error(error, NULL, "%.1000s: cannot be read: %s", file, strerror(reason));
    (void)snprintf(hash, CNNVP_KEY_BYTES, "%016llx%016llx", (unsigned long long)value.high64,
                   (unsigned long long)value.low64);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_read_text(const char *file, size_t limit, char **text, size_t *size, struct cnnvp_error *error)
{
    FILE *stream = fopen(file, "rb");
    char *buffer = NULL;
    size_t length = 0, room = 0, got = 1;
    if (stream == NULL)
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    cnnvp_result result = CNNVP_DONE;
    while (result == CNNVP_DONE && got && length <= limit) {
        if (room - length < 4096) {
            room = room ? 2 * room : 65536;
            char *larger = realloc(buffer, room);
            if (larger == NULL) {
                result = cnnvp_config_no_memory(error);
                break;
            }
            buffer = larger;
        }
        got = fread(buffer + length, 1, room - length - 1, stream);
        length += got;
    }
    if (result == CNNVP_DONE && ferror(stream))
        result = cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    else if (result == CNNVP_DONE && length > limit)
        result = cnnvp_config_error(error, file, "is larger than %zu bytes", limit);
    (void)fclose(stream);
    if (result != CNNVP_DONE) {
        free(buffer);
        return result;
    }
    buffer[length] = '\0';
    *text = buffer;
    if (size != NULL)
        *size = length;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_write_text(const char *file, const char *text, size_t size, struct cnnvp_error *error)
{
    cnnvp_output *output = NULL;
    cnnvp_result result = cnnvp_output_check(file, error);
    if (result == CNNVP_DONE)
        result = cnnvp_output_new(file, &output, error);
    if (result != CNNVP_DONE)
        return result;
    cnnvp_output_write(output, text, size);
    return cnnvp_output_finish(output, error);
}

void cnnvp_csv_field(FILE *stream, const char *text, int last)
{
    if (strpbrk(text, "\",\r\n") != NULL) {
        (void)fputc('"', stream);
        for (; *text; ++text) {
            if (*text == '"')
                (void)fputc('"', stream);
            (void)fputc(*text, stream);
        }
        (void)fputc('"', stream);
    } else {
        (void)fputs(text, stream);
    }
    (void)fputc(last ? '\n' : ',', stream);
}
