/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads onnx.proto's ModelProto as libonnx-dev installs it: IR version 3 and later, operator sets 6 to 26 of the
 * default domain. Sparse tensors are not read.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "onnx_read.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "input_file.h"

#define OPSET_FIRST 6
#define OPSET_LAST 26
#define IR_FIRST 3

/* `what` names the file that is expected, for messages. */
static cnnvp_result map_file(const char *name, const char *what, uint8_t **data, size_t *size,
                             struct cnnvp_error *error)
{
    const int descriptor = cnnvp_input_open(name, what, size, error);
    if (descriptor < 0)
        return CNNVP_BAD_INPUT;
    if (*size == 0) {
        (void)close(descriptor);
        return cnnvp_compiler_error(error, "%s: the file is empty; %s is needed", name, what);
    }
    void *file = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int why = errno;
    (void)close(descriptor);
    if (file == MAP_FAILED)
        return cnnvp_compiler_error(error, "%s: %s", name, strerror(why));
    /* No read-ahead, so weights that are not needed are not read. A system that ignores the advice only reads more. */
    (void)posix_madvise(file, *size, POSIX_MADV_RANDOM);
    *data = file;
    return CNNVP_DONE;
}

int cnnvp_onnx_knows(int64_t opset)
{
    return opset >= OPSET_FIRST && opset <= OPSET_LAST;
}

static cnnvp_result check_model(struct cnnvp_onnx *onnx, struct cnnvp_error *error)
{
    const Onnx__ModelProto *model = onnx->model;
    if (!model->has_ir_version || model->graph == NULL)
        return cnnvp_compiler_error(error, "%s: not an ONNX file: it has no IR version or no graph", onnx->name);
    if (model->ir_version < IR_FIRST)
        return cnnvp_compiler_error(error, "%s: IR version %lld; version %d or later is needed", onnx->name,
                                    (long long)model->ir_version, IR_FIRST);
    int found = 0;
    for (size_t i = 0; i < model->n_opset_import; ++i) {
        const Onnx__OperatorSetIdProto *set = model->opset_import[i];
        if (set->domain != NULL && set->domain[0] != '\0' && strcmp(set->domain, "ai.onnx") != 0)
            continue;
        found = 1;
        if (!cnnvp_onnx_knows(set->version))
            return cnnvp_compiler_error(error, "%s: operator set %lld; sets %d to %d are supported", onnx->name,
                                        (long long)set->version, OPSET_FIRST, OPSET_LAST);
        onnx->opset = (uint64_t)set->version;
    }
    if (!found)
        return cnnvp_compiler_error(
            error, "%s: it names no operator set; one of %d to %d is needed", onnx->name, OPSET_FIRST, OPSET_LAST);
    if (model->graph->n_node == 0)
        return cnnvp_compiler_error(error, "%s: the graph has no node", onnx->name);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_open(const char *file, struct cnnvp_onnx *onnx, struct cnnvp_error *error)
{
    memset(onnx, 0, sizeof *onnx);
    onnx->name = file;
    uint8_t *skeleton = NULL;
    size_t size = 0;
    uint8_t *mapped = NULL;
    cnnvp_result result = map_file(file, "an ONNX file", &mapped, &onnx->size, error);
    onnx->file = mapped;
    onnx->files = calloc(CNNVP_ONNX_FILES, sizeof *onnx->files);
    if (result == CNNVP_DONE && onnx->files == NULL)
        result = cnnvp_compiler_no_memory(error);
    if (result == CNNVP_DONE)
        result = cnnvp_onnx_scan(file, onnx->file, onnx->size, &skeleton, &size, &onnx->hash, error);
    if (result == CNNVP_DONE) {
        onnx->model = onnx__model_proto__unpack(NULL, size, skeleton);
        free(skeleton);
        if (onnx->model == NULL)
            result = cnnvp_compiler_error(error, "%s: not an ONNX file", file);
    }
    if (result == CNNVP_DONE)
        result = check_model(onnx, error);
    if (result != CNNVP_DONE)
        cnnvp_onnx_close(onnx);
    return result;
}

void cnnvp_onnx_close(struct cnnvp_onnx *onnx)
{
    if (onnx->model != NULL)
        onnx__model_proto__free_unpacked(onnx->model, NULL);
    if (onnx->file != NULL)
        (void)munmap((void *)(uintptr_t)onnx->file, onnx->size);
    for (size_t i = 0; onnx->files != NULL && i < CNNVP_ONNX_FILES && onnx->files[i].location != NULL; ++i) {
        (void)munmap(onnx->files[i].data, onnx->files[i].size);
        free(onnx->files[i].location);
    }
    free(onnx->files);
    memset(onnx, 0, sizeof *onnx);
}

/* ---- tensors ---- */

size_t cnnvp_onnx_elements(const Onnx__TensorProto *tensor)
{
    int64_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; ++i) {
        if (tensor->dims[i] <= 0 || tensor->dims[i] > INT32_MAX / count)
            return 0;
        count *= tensor->dims[i];
    }
    return (size_t)count;
}

int cnnvp_onnx_is_empty(const Onnx__TensorProto *tensor)
{
    int empty = 0;
    for (size_t i = 0; i < tensor->n_dims; ++i) {
        if (tensor->dims[i] < 0)
            return 0;
        empty = empty || tensor->dims[i] == 0;
    }
    return empty;
}

void cnnvp_onnx_shape_text(size_t rank, const int64_t *dims, char text[CNNVP_ONNX_SHAPE_TEXT])
{
    size_t used = 1;
    text[0] = '[';
    for (size_t i = 0; i < rank && used + 24 < CNNVP_ONNX_SHAPE_TEXT; ++i)
        used += (size_t)snprintf(
            text + used, CNNVP_ONNX_SHAPE_TEXT - used, "%s%lld", i == 0 ? "" : ",", (long long)dims[i]);
    text[used] = ']';
    text[used + 1] = '\0';
}

/* Converts from IEEE half precision, exactly. */
static float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 31u;
    const uint32_t fraction = half & 0x3ffu;
    float value;
    uint32_t bits;
    if (exponent == 0) {
        value = (float)fraction / 16777216.0f; /* 2^-24 */
        return sign != 0 ? -value : value;
    }
    bits = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A bfloat16 is the upper half of a float. */
static float bfloat_to_float(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Element types: name, C type of raw data, field of typed data, and conversion to float. */
#define AS_IT_IS(value) (float)(value)
#define OF_HALF(value) half_to_float((uint16_t)(value))
#define OF_BFLOAT(value) bfloat_to_float((uint16_t)(value))
#define ELEMENTS(E)                            \
    E(FLOAT, float, float_data, AS_IT_IS)      \
    E(DOUBLE, double, double_data, AS_IT_IS)   \
    E(INT64, int64_t, int64_data, AS_IT_IS)    \
    E(INT32, int32_t, int32_data, AS_IT_IS)    \
    E(INT16, int16_t, int32_data, AS_IT_IS)    \
    E(INT8, int8_t, int32_data, AS_IT_IS)      \
    E(UINT64, uint64_t, uint64_data, AS_IT_IS) \
    E(UINT32, uint32_t, uint64_data, AS_IT_IS) \
    E(UINT16, uint16_t, int32_data, AS_IT_IS)  \
    E(UINT8, uint8_t, int32_data, AS_IT_IS)    \
    E(BOOL, uint8_t, int32_data, AS_IT_IS)     \
    E(FLOAT16, uint16_t, int32_data, OF_HALF)  \
    E(BFLOAT16, uint16_t, int32_data, OF_BFLOAT)
#define ELEMENT_CASE(name) case ONNX__TENSOR_PROTO__DATA_TYPE__##name:

/* 0: the type is not supported. */
static size_t element_size(int32_t type)
{
    switch (type) {
#define E(name, raw_type, field, float_of) ELEMENT_CASE(name) return sizeof(raw_type);
        ELEMENTS(E) /* NOLINT(bugprone-branch-clone): rows of a table */
#undef E
    default:
        return 0;
    }
}

/* Raw data are little-endian; only little-endian hosts are supported. */
static float raw_float(int32_t type, const uint8_t *raw, size_t index)
{
    switch (type) {
#define E(name, raw_type, field, float_of)                        \
    ELEMENT_CASE(name)                                            \
    {                                                             \
        raw_type value;                                           \
        memcpy(&value, raw + index * sizeof value, sizeof value); \
        return float_of(value);                                   \
    }
        ELEMENTS(E) /* NOLINT(bugprone-branch-clone): rows of a table */
#undef E
    default:
        return 0.0f;
    }
}

static float typed_float(const Onnx__TensorProto *tensor, size_t index)
{
    switch (tensor->data_type) {
#define E(name, raw_type, field, float_of) ELEMENT_CASE(name) return float_of(tensor->field[index]);
        ELEMENTS(E) /* NOLINT(bugprone-branch-clone): rows of a table */
#undef E
    default:
        return 0.0f;
    }
}

static size_t typed_count(const Onnx__TensorProto *tensor)
{
    switch (tensor->data_type) {
#define E(name, raw_type, field, float_of) ELEMENT_CASE(name) return tensor->n_##field;
        ELEMENTS(E) /* NOLINT(bugprone-branch-clone): rows of a table */
#undef E
    default:
        return 0;
    }
}

/* ---- external data ---- */

int cnnvp_onnx_is_external(const Onnx__TensorProto *tensor)
{
    return tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static const char *external_entry(const Onnx__TensorProto *tensor, const char *key)
{
    for (size_t i = 0; i < tensor->n_external_data; ++i)
        if (tensor->external_data[i]->key != NULL && strcmp(tensor->external_data[i]->key, key) == 0)
            return tensor->external_data[i]->value;
    return NULL;
}

/* Reads a number of bytes. Returns 0 if the entry is not a number; *number stays if there is no entry. */
static int external_number(const Onnx__TensorProto *tensor, const char *key, uint64_t *number)
{
    const char *text = external_entry(tensor, key);
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return text == NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* 1: the path does not leave the network's folder. */
static int stays_inside(const char *location)
{
    if (location[0] == '\0' || location[0] == '/')
        return 0;
    for (const char *part = location; part != NULL; part = strchr(part, '/')) {
        part += *part == '/' ? 1 : 0;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return 0;
    }
    return 1;
}

/* Refuses links, of the file or of a folder on the way, that leave the network's folder. */
static cnnvp_result check_links(const char *folder, const char *name, struct cnnvp_error *error)
{
    CNNVP_FREED char *inside = realpath(folder, NULL);
    CNNVP_FREED char *path = realpath(name, NULL);
    const size_t length = inside != NULL ? strlen(inside) : 0;
    if (inside == NULL || path == NULL)
        return cnnvp_compiler_error(error, "%s: %s", name, strerror(errno));
    if (length > 1 && (strncmp(path, inside, length) != 0 || path[length] != '/'))
        return cnnvp_compiler_error(
            error, "%s: a link to \"%.300s\"; a file in the network's folder is needed", name, path);
    return CNNVP_DONE;
}

static cnnvp_result map_external(const char *network, const char *location, struct cnnvp_onnx_file *file,
                                 struct cnnvp_error *error)
{
    const char *slash = strrchr(network, '/');
    const size_t folder = slash != NULL ? (size_t)(slash - network) + 1 : 0;
    const size_t size = folder + strlen(location) + 3;
    CNNVP_FREED char *name = malloc(size);
    CNNVP_FREED char *inside = malloc(folder + 3);
    CNNVP_TRY_MEMORY(name != NULL && inside != NULL, error);
    (void)snprintf(inside, folder + 3, "%.*s", folder != 0 ? (int)folder : 2, folder != 0 ? network : "./");
    (void)snprintf(name, size, "%.*s%s", (int)folder, network, location);
    CNNVP_TRY(check_links(inside, name, error));
    return map_file(name, "a file with the data of tensors", &file->data, &file->size, error);
}

static cnnvp_result open_external(const struct cnnvp_onnx *onnx, const char *location,
                                  const struct cnnvp_onnx_file **file, struct cnnvp_error *error)
{
    size_t i = 0;
    while (i < CNNVP_ONNX_FILES && onnx->files[i].location != NULL && strcmp(onnx->files[i].location, location) != 0)
        ++i;
    if (i == CNNVP_ONNX_FILES)
        return cnnvp_compiler_error(error, "its data are in more than %d files", CNNVP_ONNX_FILES);
    struct cnnvp_onnx_file *found = &onnx->files[i];
    *file = found;
    if (found->location != NULL)
        return CNNVP_DONE;
    CNNVP_FREED char *copy = strdup(location);
    CNNVP_TRY_MEMORY(copy != NULL, error);
    CNNVP_TRY(map_external(onnx->name, location, found, error));
    found->location = copy;
    copy = NULL;
    return CNNVP_DONE;
}

static cnnvp_result locate_external(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, size_t bytes,
                                    const uint8_t **raw, struct cnnvp_error *error)
{
    const char *name = tensor->name != NULL ? tensor->name : "";
    const char *location = external_entry(tensor, "location");
    const struct cnnvp_onnx_file *file = NULL;
    uint64_t offset = 0;
    uint64_t length = bytes;
    if (location == NULL || !stays_inside(location))
        return cnnvp_compiler_error(error,
                                    "tensor \"%s\" is in file \"%.200s\"; a file in the network's folder is "
                                    "needed",
                                    name, location != NULL ? location : "");
    if (!external_number(tensor, "offset", &offset) || !external_number(tensor, "length", &length) || length != bytes)
        return cnnvp_compiler_error(error,
                                    "tensor \"%s\": offset or length in file \"%.200s\" is no number, or is not "
                                    "%zu bytes as its shape says",
                                    name, location, bytes);
    CNNVP_TRY(open_external(onnx, location, &file, error));
    if (offset > file->size || bytes > file->size - offset)
        return cnnvp_compiler_error(error, "tensor \"%s\": file \"%.200s\" ends before its data", name, location);
    *raw = file->data + offset;
    return CNNVP_DONE;
}

/* Finds a tensor's raw bytes; *raw is NULL if the data are in the typed fields. */
static cnnvp_result locate(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, size_t count,
                           const uint8_t **raw, struct cnnvp_error *error)
{
    const char *name = tensor->name != NULL ? tensor->name : "";
    *raw = NULL;
    if (element_size(tensor->data_type) == 0)
        return cnnvp_compiler_error(
            error,
            "tensor \"%s\" has data type %d; float, float16, bfloat16, double, bool and integers of "
            "8 to 64 bits are supported",
            name, (int)tensor->data_type);
    if (cnnvp_onnx_is_external(tensor) && count != 0)
        return locate_external(onnx, tensor, count * element_size(tensor->data_type), raw, error);
    size_t have = typed_count(tensor);
    if (tensor->has_raw_data) {
        uint64_t place[2];
        if (tensor->raw_data.len != sizeof place)
            return cnnvp_compiler_error(error, "tensor \"%s\" is damaged", name);
        memcpy(place, tensor->raw_data.data, sizeof place);
        *raw = onnx->file + place[0];
        have = (size_t)place[1] / element_size(tensor->data_type);
        if (place[1] % element_size(tensor->data_type) != 0)
            have = 0;
    }
    if (count == 0 || have != count)
        return cnnvp_compiler_error(
            error, "tensor \"%s\" has %zu elements where its shape says %zu", name, have, count);
    return CNNVP_DONE;
}

int cnnvp_onnx_has_values(const Onnx__TensorProto *tensor)
{
    return tensor->has_raw_data || cnnvp_onnx_is_external(tensor) ||
           tensor->n_float_data + tensor->n_double_data + tensor->n_int64_data + tensor->n_int32_data +
                   tensor->n_uint64_data !=
               0;
}

cnnvp_result cnnvp_onnx_check(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, size_t count,
                              struct cnnvp_error *error)
{
    const uint8_t *raw;
    return locate(onnx, tensor, count, &raw, error);
}

/* Allows read-ahead for data of a mapped file that are read completely. */
static void announce(const uint8_t *raw, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (uintptr_t)raw % page;
    if (raw != NULL && bytes > page)
        (void)posix_madvise((void *)((uintptr_t)raw - before), before + bytes, POSIX_MADV_NORMAL);
}

/* Converts elements first .. first + count - 1 of a tensor whose data `locate` has found. */
static void convert(const Onnx__TensorProto *tensor, const uint8_t *raw, size_t first, size_t count, float *out)
{
    if (raw != NULL && tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)
        memcpy(out, raw + first * sizeof *out, count * sizeof *out);
    else
        for (size_t i = 0; i < count; ++i)
            out[i] = raw != NULL ? raw_float(tensor->data_type, raw, first + i) : typed_float(tensor, first + i);
}

/* 1: no infinity or NaN. Their exponent is all ones, so adding 1 to it carries into the sign bit. The loop has no exit,
 * so that compilers vectorise it. */
static int all_finite(const float *values, size_t count)
{
    const uint32_t exponent = 0x7f800000u;
    const uint32_t one = 0x00800000u;
    uint32_t carried = 0;
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        carried |= (bits & exponent) + one;
    }
    return (carried >> 31) == 0;
}

/* Elements that are converted and then checked while they are in the first-level cache. */
#define PIECE ((size_t)4096)

cnnvp_result cnnvp_onnx_floats(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, float *out, size_t count,
                               struct cnnvp_error *error)
{
    const uint8_t *raw;
    CNNVP_TRY(locate(onnx, tensor, count, &raw, error));
    announce(raw, count * element_size(tensor->data_type));
    for (size_t first = 0; first < count; first += PIECE) {
        const size_t piece = count - first < PIECE ? count - first : PIECE;
        convert(tensor, raw, first, piece, out + first);
        if (all_finite(out + first, piece))
            continue;
        size_t i = first;
        while (all_finite(out + i, 1))
            ++i;
        return cnnvp_compiler_error(
            error, "element %zu of tensor \"%s\" is not a finite number", i, tensor->name != NULL ? tensor->name : "");
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_numbers(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, float *out,
                                size_t count, struct cnnvp_error *error)
{
    const uint8_t *raw;
    CNNVP_TRY(locate(onnx, tensor, count, &raw, error));
    announce(raw, count * element_size(tensor->data_type));
    convert(tensor, raw, 0, count, out);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_number(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, float *number,
                               struct cnnvp_error *error)
{
    float read = 0.0f;
    const uint8_t *raw;
    CNNVP_TRY(locate(onnx, tensor, 1, &raw, error));
    convert(tensor, raw, 0, 1, &read);
    if (read != read)
        return cnnvp_compiler_error(error, "tensor \"%s\" is no number", tensor->name != NULL ? tensor->name : "");
    *number = read < -FLT_MAX ? -FLT_MAX : read > FLT_MAX ? FLT_MAX : read;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_ints(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor, int64_t *out, size_t count,
                             struct cnnvp_error *error)
{
    const uint8_t *raw;
    CNNVP_TRY(locate(onnx, tensor, count, &raw, error));
    const int wide = tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    const int boolean = tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    if (!wide && !boolean && tensor->data_type != ONNX__TENSOR_PROTO__DATA_TYPE__INT32)
        return cnnvp_compiler_error(error, "tensor \"%s\" has data type %d where integers are needed",
                                    tensor->name != NULL ? tensor->name : "", (int)tensor->data_type);
    for (size_t i = 0; i < count; ++i) {
        int32_t narrow = 0;
        if (raw == NULL)
            out[i] = wide ? tensor->int64_data[i] : tensor->int32_data[i];
        else if (boolean)
            out[i] = raw[i];
        else if (wide)
            memcpy(&out[i], raw + i * sizeof out[i], sizeof out[i]);
        else
            memcpy(&narrow, raw + i * sizeof narrow, sizeof narrow), out[i] = narrow;
    }
    return CNNVP_DONE;
}

/* ---- a hash of external data ---- */

static void open_tensor(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor)
{
    const char *location = tensor != NULL && cnnvp_onnx_is_external(tensor) ? external_entry(tensor, "location") : NULL;
    const struct cnnvp_onnx_file *file;
    struct cnnvp_error unwanted; /* a run that needs the file reports it */
    if (location != NULL && stays_inside(location))
        (void)(open_external(onnx, location, &file, &unwanted) == CNNVP_DONE);
}

static void open_graph(const struct cnnvp_onnx *onnx, const Onnx__GraphProto *graph);

static void open_nodes(const struct cnnvp_onnx *onnx, Onnx__NodeProto *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < nodes[i]->n_attribute; ++k) {
            open_tensor(onnx, nodes[i]->attribute[k]->t);
            open_graph(onnx, nodes[i]->attribute[k]->g);
        }
}

static void open_graph(const struct cnnvp_onnx *onnx, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; graph != NULL && i < graph->n_initializer; ++i)
        open_tensor(onnx, graph->initializer[i]);
    if (graph != NULL)
        open_nodes(onnx, graph->node, graph->n_node);
}

uint64_t cnnvp_onnx_data_hash(const char *file)
{
    struct cnnvp_onnx onnx;
    struct cnnvp_error unwanted;
    uint64_t hash = 0;
    if (cnnvp_onnx_open(file, &onnx, &unwanted) != CNNVP_DONE)
        return 0;
    open_graph(&onnx, onnx.model->graph);
    for (size_t i = 0; i < onnx.model->n_functions; ++i)
        open_nodes(&onnx, onnx.model->functions[i]->node, onnx.model->functions[i]->n_node);
    for (size_t i = 0; i < CNNVP_ONNX_FILES && onnx.files[i].location != NULL; ++i) {
        announce(onnx.files[i].data, onnx.files[i].size);
        hash = XXH3_64bits_withSeed(onnx.files[i].data, onnx.files[i].size, hash);
    }
    cnnvp_onnx_close(&onnx);
    return hash;
}

/* ---- attributes ---- */

const Onnx__AttributeProto *cnnvp_onnx_attribute(const Onnx__NodeProto *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; ++i)
        if (node->attribute[i]->name != NULL && strcmp(node->attribute[i]->name, name) == 0)
            return node->attribute[i];
    return NULL;
}

int64_t cnnvp_onnx_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(node, name);
    return attribute != NULL && attribute->has_i ? attribute->i : otherwise;
}

float cnnvp_onnx_float(const Onnx__NodeProto *node, const char *name, float otherwise)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(node, name);
    return attribute != NULL && attribute->has_f ? attribute->f : otherwise;
}

int cnnvp_onnx_is(const Onnx__NodeProto *node, const char *name, const char *text)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(node, name);
    return attribute != NULL && attribute->has_s && attribute->s.len == strlen(text) &&
           memcmp(attribute->s.data, text, attribute->s.len) == 0;
}
