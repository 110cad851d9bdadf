/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes numpy's .npy files: versions 1.0 and 2.0, types '<f4', '|u1', '<i8' and '<i2', C order. Reads
 * '<i4' and '|b1' as int64, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input_file.h"
#include "compiler.h"
#include "output_file.h"

/* Headers that numpy writes for these types are shorter. */
#define HEADER_MAX 65536u
#define RANK_MAX 8u

static const struct {
    const char *descr;
    int type;
    size_t size;
} types[] = {
    {"<f4", CNNVP_ARRAY_F32, 4}, {"|u1", CNNVP_ARRAY_U8, 1},  {"<i8", CNNVP_ARRAY_I64, 8},
    {"<i2", CNNVP_ARRAY_I16, 2}, {"<i4", CNNVP_ARRAY_I64, 4}, {"|b1", CNNVP_ARRAY_I64, 1},
};

#define TYPES (sizeof types / sizeof types[0])

void cnnvp_array_clear(struct cnnvp_array *array)
{
    free(array->data);
    memset(array, 0, sizeof *array);
}

/* ---- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), } ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        ++at;
    return at;
}

static const char *skip_text(const char *at, const char *text)
{
    at = skip_blanks(at);
    const size_t length = strlen(text);
    return strncmp(at, text, length) == 0 ? at + length : NULL;
}

/* Skips 'key': or "key":. NULL: it is not there. */
static const char *skip_key(const char *at, const char *key)
{
    at = skip_blanks(at);
    const char quote = *at;
    if (quote != '\'' && quote != '"')
        return NULL;
    const size_t length = strlen(key);
    if (strncmp(at + 1, key, length) != 0 || at[1 + length] != quote)
        return NULL;
    return skip_text(at + length + 2, ":");
}

static const char *read_descr(const char *at, struct cnnvp_array *array, size_t *size)
{
    at = skip_blanks(at);
    const char quote = *at;
    if (quote != '\'' && quote != '"')
        return NULL;
    for (size_t i = 0; i < TYPES; ++i) {
        if (strncmp(at + 1, types[i].descr, 3) == 0 && at[4] == quote) {
            memcpy(&array->type, &types[i].type, sizeof types[i].type);
            *size = types[i].size;
            return at + 5;
        }
    }
    return NULL;
}

static const char *read_shape(const char *at, struct cnnvp_array *array)
{
    at = skip_text(at, "(");
    array->rank = 0;
    while (at != NULL) {
        at = skip_blanks(at);
        if (*at == ')')
            return at + 1;
        uint64_t value = 0;
        if (*at < '0' || *at > '9' || array->rank == RANK_MAX)
            return NULL;
        for (; *at >= '0' && *at <= '9'; ++at) {
            if (value > (UINT64_C(1) << 56))
                return NULL;
            value = value * 10 + (uint64_t)(*at - '0');
        }
        array->shape[array->rank++] = (size_t)value;
        at = skip_blanks(at);
        if (*at == ',')
            ++at;
        else if (*at != ')')
            return NULL;
    }
    return NULL;
}

/* Returns what is wrong with the header; NULL: nothing. */
static const char *parse_header(const char *header, struct cnnvp_array *array, size_t *size)
{
    const char *at = skip_text(header, "{");
    int seen_descr = 0, seen_order = 0, seen_shape = 0;
    while (at != NULL && *skip_blanks(at) != '}') {
        const char *value;
        if ((value = skip_key(at, "descr")) != NULL) {
            at = read_descr(value, array, size);
            if (at == NULL)
                return "its elements are none of '<f4' (float32), '|u1' (uint8), '<i8' (int64), '<i4' (int32), '<i2' "
                       "(int16), "
                       "'|b1' (bool); numpy's astype makes them that";
            seen_descr = 1;
        } else if ((value = skip_key(at, "fortran_order")) != NULL) {
            at = skip_text(value, "False");
            if (at == NULL)
                return "it is in Fortran order; C order is needed (numpy.ascontiguousarray)";
            seen_order = 1;
        } else if ((value = skip_key(at, "shape")) != NULL) {
            at = read_shape(value, array);
            if (at == NULL)
                return "its shape is not a tuple of at most 8 numbers";
            seen_shape = 1;
        } else {
            return "its header is damaged";
        }
        at = skip_blanks(at);
        if (*at == ',')
            ++at;
        else if (*at != '}')
            at = NULL;
    }
    return at != NULL && seen_descr && seen_order && seen_shape ? NULL : "its header is damaged";
}

/* Number of elements. *valid: 0 if there are more than `most`. */
static size_t count_elements(const struct cnnvp_array *array, size_t most, int *valid)
{
    size_t count = 1;
    *valid = 1;
    for (size_t i = 0; i < array->rank; ++i)
        if (array->shape[i] == 0)
            return 0;
    for (size_t i = 0; i < array->rank; ++i) {
        if (count > most / array->shape[i]) {
            *valid = 0;
            return 0;
        }
        count *= array->shape[i];
    }
    return count;
}

/* Reads magic, version and header. Returns what is wrong; NULL: nothing. */
static const char *read_header(FILE *stream, struct cnnvp_array *array, size_t *size)
{
    unsigned char start[8];
    unsigned char length_bytes[4] = {0, 0, 0, 0};
    if (fread(start, 1, sizeof start, stream) != sizeof start || memcmp(start, "\x93NUMPY", 6) != 0)
        return "it is not a npy file";
    if (start[6] != 1 && start[6] != 2)
        return "its version is neither 1.0 nor 2.0";
    const size_t length_size = start[6] == 1 ? 2 : 4;
    if (fread(length_bytes, 1, length_size, stream) != length_size)
        return "it is cut off";
    const uint32_t length = (uint32_t)length_bytes[0] | (uint32_t)length_bytes[1] << 8 |
                            (uint32_t)length_bytes[2] << 16 | (uint32_t)length_bytes[3] << 24;
    if (length > HEADER_MAX)
        return "its header is too long";
    char *header = malloc((size_t)length + 1);
    if (header == NULL)
        return "there is no memory for it";
    const char *wrong = "it is cut off";
    if (fread(header, 1, length, stream) == length) {
        header[length] = '\0';
        wrong = parse_header(header, array, size);
    }
    free(header);
    return wrong;
}

/* Makes 64-bit integers of those in the file. Returns 0 if there is no memory. */
static int widen(struct cnnvp_array *array, size_t count, size_t size)
{
    const char *from = array->data;
    int64_t *numbers = count <= SIZE_MAX / sizeof *numbers - 1 ? malloc((count + 1) * sizeof *numbers) : NULL;
    for (size_t i = 0; i < count && numbers != NULL; ++i) {
        int32_t number = 0;
        if (size == sizeof number)
            memcpy(&number, from + i * size, sizeof number);
        else
            number = from[i] != 0;
        numbers[i] = number;
    }
    if (numbers == NULL)
        return 0;
    free(array->data);
    array->data = numbers;
    return 1;
}

static const char *read_data(FILE *stream, size_t bytes, struct cnnvp_array *array, size_t size)
{
    const long at = ftell(stream);
    const size_t have = at >= 0 && bytes > (size_t)at ? bytes - (size_t)at : 0;
    int valid;
    const size_t count = count_elements(array, have / size, &valid);
    if (!valid)
        return "it is cut off: its shape says more elements than it holds";
    array->data = malloc(count * size + 1);
    if (array->data == NULL)
        return "there is no memory for it";
    if (fread(array->data, size, count, stream) != count) {
        cnnvp_array_clear(array);
        return "it is cut off";
    }
    if (array->type == CNNVP_ARRAY_I64 && size != sizeof(int64_t) && !widen(array, count, size))
        return "there is no memory for it";
    return NULL;
}

cnnvp_result cnnvp_npy_read(const char *file, struct cnnvp_array *array, struct cnnvp_error *error)
{
    memset(array, 0, sizeof *array);
    size_t bytes = 0, size = 0;
    const int descriptor = cnnvp_input_open(file, "an array (.npy)", &bytes, error);
    if (descriptor < 0)
        return CNNVP_BAD_INPUT;
    FILE *stream = fdopen(descriptor, "rb");
    if (stream == NULL) {
        (void)close(descriptor);
        return cnnvp_compiler_no_memory(error);
    }
    const char *wrong = read_header(stream, array, &size);
    if (wrong == NULL)
        wrong = read_data(stream, bytes, array, size);
    (void)fclose(stream);
    if (wrong == NULL)
        return CNNVP_DONE;
    cnnvp_array_clear(array);
    return cnnvp_compiler_error(error, "%s: cannot be read as an array: %s", file, wrong);
}

/* ---- writing ---- */

/* Writes a header of version 1.0, which ends in a newline, padded to a multiple of 64 bytes. Returns its length. */
static size_t make_header(const struct cnnvp_array *array, size_t type, char *header, size_t room)
{
    size_t used = (size_t)snprintf(header + 10, room - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                   types[type].descr) +
                  10;
    for (size_t i = 0; i < array->rank; ++i)
        used += (size_t)snprintf(header + used, room - used, i == 0 ? "%zu" : ", %zu", array->shape[i]);
    used += (size_t)snprintf(header + used, room - used, array->rank == 1 ? ",), }" : "), }");
    while ((used + 1) % 64 != 0)
        header[used++] = ' ';
    header[used++] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((used - 10) & 0xffu);
    header[9] = (char)((used - 10) >> 8);
    return used;
}

cnnvp_result cnnvp_npy_write(const char *file, const struct cnnvp_array *array, struct cnnvp_error *error)
{
    size_t type = 0;
    while (type < TYPES && types[type].type != (int)array->type)
        ++type;
    if (type == TYPES || array->rank > RANK_MAX)
        return cnnvp_compiler_error(error, "%s: the array's type or rank cannot be written", file);
    char header[512];
    const size_t header_size = make_header(array, type, header, sizeof header);
    int valid;
    const size_t count = count_elements(array, SIZE_MAX / 8, &valid);
    cnnvp_output *out = NULL;
    CNNVP_TRY(cnnvp_output_new(file, &out, error));
    cnnvp_output_write(out, header, header_size);
    cnnvp_output_write(out, array->data, types[type].size * count);
    return cnnvp_output_finish(out, error);
}
