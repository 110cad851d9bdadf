/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_node.h"

/* The sizes that --shape gives for an input. */
struct given {
    const char *text; /* NULL: none given */
    size_t rank;
    int64_t dims[CNNVP_ONNX_RANK];
};

/* The sizes after "NAME="; the name may itself contain "=". */
static const char *sizes_of(const char *text)
{
    const char *equals = strrchr(text, '=');
    return equals != NULL ? equals + 1 : text;
}

static cnnvp_result read_shape(const char *text, struct given *given, struct cnnvp_error *error)
{
    const char *at = sizes_of(text);
    given->text = text;
    for (given->rank = 0; given->rank < CNNVP_ONNX_RANK; ++at) {
        char *end;
        const long long size = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : 0;
        if (size < 1 || size > CNNVP_ONNX_DIMENSION_MAX || (*end != 'x' && *end != '\0'))
            return cnnvp_compiler_error(error,
                                        "--shape %s: \"%.*s\" is not a size; sizes are numbers from 1 to %d with x in "
                                        "between, such as 1x3x320x320",
                                        text, (int)strcspn(at, "x"), at, CNNVP_ONNX_DIMENSION_MAX);
        given->dims[given->rank++] = size;
        at = end;
        if (*at == '\0')
            return CNNVP_DONE;
    }
    return cnnvp_compiler_error(error, "--shape %s: more than %u sizes", text, CNNVP_ONNX_RANK);
}

cnnvp_result cnnvp_shape_check(const char *text, struct cnnvp_error *error)
{
    struct given given;
    return read_shape(text, &given, error);
}

static int names_input(const char *text, const char *name)
{
    const size_t length = (size_t)(sizes_of(text) - text);
    return length == 0 || (strlen(name) == length - 1 && strncmp(text, name, length - 1) == 0);
}

/* ---- shapes as text ---- */

static const char *symbol_of(const Onnx__TensorShapeProto__Dimension *dimension)
{
    const int named = dimension->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                      dimension->dim_param != NULL && dimension->dim_param[0] != '\0';
    return named ? dimension->dim_param : "?";
}

/* The size; 0 for a symbol, which some exporters write as 0 or -1. */
static int64_t number_of(const Onnx__TensorShapeProto__Dimension *dimension)
{
    return dimension->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dimension->dim_value > 0
               ? dimension->dim_value
               : 0;
}

/* Prints a shape such as "[batch,3,height,width]". */
static void print_shape(const Onnx__TensorShapeProto *shape, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (size_t i = 0; i < shape->n_dim && used + 32 < room; ++i) {
        const int64_t number = number_of(shape->dim[i]);
        const char *comma = i == 0 ? "" : ",";
        used += (size_t)(number != 0 ? snprintf(text + used, room - used, "%s%lld", comma, (long long)number)
                                     : snprintf(text + used, room - used, "%s%.20s", comma, symbol_of(shape->dim[i])));
    }
    (void)snprintf(text + used, room - used, "]");
}

/* Prints an example for --shape, such as "x=1x3xHxW": known sizes, 1 for the batch, and letters for the other sizes. */
static void print_wanted(const char *name, const Onnx__TensorShapeProto *shape, char *text, size_t room)
{
    static const char *const letters[5][4] = {{""}, {"N"}, {"N", "F"}, {"N", "C", "W"}, {"N", "C", "H", "W"}};
    const size_t rank = shape != NULL ? shape->n_dim : 4;
    size_t used = (size_t)snprintf(text, room, "%.60s=", name);
    for (size_t i = 0; i < rank && used + 24 < room; ++i) {
        const int64_t number = shape != NULL ? number_of(shape->dim[i]) : 0;
        const char *x = i == 0 ? "" : "x";
        if (number != 0 || i == 0)
            used += (size_t)snprintf(text + used, room - used, "%s%lld", x, number != 0 ? (long long)number : 1LL);
        else if (rank <= 4)
            used += (size_t)snprintf(text + used, room - used, "%s%s", x, letters[rank][i]);
        else
            used += (size_t)snprintf(text + used, room - used, "%sD%zu", x, i);
    }
}

static cnnvp_result ask(struct cnnvp_import *import, const char *name, const Onnx__TensorShapeProto *shape, size_t axis)
{
    char have[256], wanted[256];
    const char *file = import->onnx.name;
    const char *images = import->training ? "" : ", or with images of that size, -i FILE.npy";
    print_wanted(name, shape, wanted, sizeof wanted);
    if (shape == NULL)
        return cnnvp_compiler_error(import->error,
                                    "%s: input \"%s\" has no shape: give it, such as --shape %s with "
                                    "numbers for the letters",
                                    file, name, wanted);
    print_shape(shape, have, sizeof have);
    return cnnvp_compiler_error(import->error,
                                "%s: symbolic size \"%s\" in input \"%s\" %s: give it with --shape %s, numbers for the "
                                "letters%s",
                                file, symbol_of(shape->dim[axis]), name, have, wanted, images);
}

/* ---- choosing sizes ---- */

/* Checks that the name in `said`, "[NAME=]VALUE", is an input of the network. */
static cnnvp_result check_name(struct cnnvp_import *import, const char *option, const char *said, const char *value)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    const char *first = NULL;
    size_t inputs = 0;
    for (size_t i = 0; i < graph->n_input; ++i) {
        uint32_t number;
        const char *name = graph->input[i]->name;
        if (name == NULL || cnnvp_names_get(&import->names, name, &number))
            continue;
        if (names_input(said, name))
            return CNNVP_DONE;
        first = first == NULL ? name : first;
        ++inputs;
    }
    return cnnvp_compiler_error(
        import->error, "%s: %s %s%s: the network has no input of that name; its %sinput is \"%s\"", import->onnx.name,
        option, said, value, inputs > 1 ? "first " : "", first != NULL ? first : "");
}

cnnvp_result cnnvp_import_check_names(struct cnnvp_import *import)
{
    const struct cnnvp_onnx_sizes *sizes = import->sizes;
    for (size_t i = 0; sizes != NULL && i < sizes->shape_count; ++i)
        CNNVP_TRY(check_name(import, "--shape", sizes->shapes[i], ""));
    for (size_t i = 0; sizes != NULL && i < sizes->named_count; ++i) {
        char said[256];
        const struct cnnvp_named_array *named = &sizes->named[i];
        (void)snprintf(said, sizeof said, "%.250s=", named->name != NULL ? named->name : "");
        CNNVP_TRY(named->name == NULL ? CNNVP_DONE
                                      : check_name(import, "--input", said, named->file != NULL ? named->file : ""));
    }
    return CNNVP_DONE;
}

/* Finds the --shape of an input. One without a name applies to the first input. */
static cnnvp_result find_given(struct cnnvp_import *import, const char *name, int first, struct given *given)
{
    const struct cnnvp_onnx_sizes *sizes = import->sizes;
    *given = (struct given){.text = NULL};
    for (size_t i = 0; sizes != NULL && i < sizes->shape_count; ++i) {
        const char *text = sizes->shapes[i];
        const char *before = given->text;
        if (!names_input(text, name) || (!first && sizes_of(text) == text))
            continue;
        CNNVP_TRY(read_shape(text, given, import->error));
        if (before != NULL)
            return cnnvp_compiler_error(
                import->error, "--shape %s: input \"%s\" has a shape already, of --shape %s", text, name, before);
    }
    return CNNVP_DONE;
}

static cnnvp_result compare(struct cnnvp_import *import, const char *name, const Onnx__TensorShapeProto *shape,
                            const struct given *given)
{
    char have[256];
    print_shape(shape, have, sizeof have);
    if (given->rank != shape->n_dim)
        return cnnvp_compiler_error(import->error, "%s: --shape %s: input \"%s\" %s has %zu sizes, not %zu",
                                    import->onnx.name, given->text, name, have, shape->n_dim, given->rank);
    for (size_t i = 0; i < shape->n_dim; ++i) {
        const int64_t number = number_of(shape->dim[i]);
        if (number != 0 && number != given->dims[i])
            return cnnvp_compiler_error(
                import->error, "%s: --shape %s: size %zu of input \"%s\" %s is %lld, not %lld", import->onnx.name,
                given->text, i + 1, name, have, (long long)number, (long long)given->dims[i]);
    }
    return CNNVP_DONE;
}

/* All sizes with the same symbol must be equal, except the batch. */
static cnnvp_result compare_symbols(struct cnnvp_import *import, const char *name, const Onnx__TensorShapeProto *shape,
                                    const int64_t *dims)
{
    for (size_t i = 1; i < shape->n_dim; ++i)
        for (size_t j = 1; j < i; ++j) {
            const char *symbol = symbol_of(shape->dim[i]);
            if (number_of(shape->dim[i]) == 0 && number_of(shape->dim[j]) == 0 && dims[i] != dims[j] &&
                strcmp(symbol, "?") != 0 && strcmp(symbol, symbol_of(shape->dim[j])) == 0)
                return cnnvp_compiler_error(import->error, "%s: symbol \"%s\" in input \"%s\" would be %lld and %lld",
                                            import->onnx.name, symbol, name, (long long)dims[j], (long long)dims[i]);
        }
    return CNNVP_DONE;
}

static const struct cnnvp_array *images_of(const struct cnnvp_import *import, const char *name, int first)
{
    const struct cnnvp_onnx_sizes *sizes = import->sizes;
    for (size_t i = 0; sizes != NULL && i < sizes->named_count; ++i)
        if (sizes->named[i].name == NULL ? first : strcmp(sizes->named[i].name, name) == 0)
            return sizes->named[i].array;
    return sizes != NULL && first ? sizes->images : NULL;
}

/* The images' size along an axis of the input, aligned at the last axis, as images may lack the batch. 0: they do not
 * have it. If the whole input is one image (`single`), the batch is the images' first size, or 1 if they lack it. */
static int64_t size_of_images(const struct cnnvp_array *images, size_t rank, size_t axis, int single)
{
    const size_t after = rank - axis;
    if (images == NULL || images->rank > rank || images->rank < after || (axis == 0 && !single))
        return axis == 0 && single;
    const size_t size = images->shape[images->rank - after];
    return size <= CNNVP_ONNX_DIMENSION_MAX ? (int64_t)size : 0;
}

/* `single`: the first input's batch where it is the same symbol; 1 otherwise. */
static int64_t batch_of_first(const struct cnnvp_import *import, const Onnx__TensorShapeProto *shape)
{
    int64_t dims[CNNVP_ONNX_RANK];
    const int32_t first = import->graph->input;
    const Onnx__TypeProto *type = cnnvp_import_type(import, import->graph->tensors[first].name);
    const Onnx__TensorShapeProto *other =
        type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type->shape : NULL;
    if (shape == NULL || other == NULL || other->n_dim == 0 || number_of(other->dim[0]) != 0 ||
        strcmp(symbol_of(shape->dim[0]), "?") == 0 || strcmp(symbol_of(shape->dim[0]), symbol_of(other->dim[0])) != 0)
        return 1;
    (void)cnnvp_import_all_dims(import, first, dims);
    return dims[1];
}

cnnvp_result cnnvp_import_sizes(struct cnnvp_import *import, const Onnx__ValueInfoProto *info, int first, size_t *rank,
                                int64_t dims[CNNVP_ONNX_RANK])
{
    struct given given;
    const char *file = import->onnx.name;
    if (info->type == NULL || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return cnnvp_compiler_error(import->error,
                                    "%s: input \"%s\" is no tensor; one of (N, C, H, W) or "
                                    "(N, features) is needed",
                                    file, info->name);
    const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
    CNNVP_TRY(find_given(import, info->name, first, &given));
    if (shape == NULL && given.text == NULL)
        return ask(import, info->name, NULL, 0);
    if (shape != NULL && given.text != NULL)
        CNNVP_TRY(compare(import, info->name, shape, &given));
    *rank = shape != NULL ? shape->n_dim : given.rank;
    for (size_t i = 0; i < *rank && i < CNNVP_ONNX_RANK; ++i) {
        dims[i] = given.text != NULL ? given.dims[i] : number_of(shape->dim[i]);
        if (dims[i] == 0)
            dims[i] = size_of_images(images_of(import, info->name, first), *rank, i, import->single);
        if (given.text == NULL && i == 0 && import->single && !first && number_of(shape->dim[0]) == 0 &&
            images_of(import, info->name, first) == NULL)
            dims[i] = batch_of_first(import, shape);
        if (dims[i] == 0 && i != 0)
            return ask(import, info->name, shape, i);
        if (dims[i] > CNNVP_ONNX_DIMENSION_MAX)
            return cnnvp_compiler_error(import->error, "%s: input \"%s\": size %zu is %lld; 1 to %d are possible", file,
                                        info->name, i + 1, (long long)dims[i], CNNVP_ONNX_DIMENSION_MAX);
    }
    return shape != NULL && *rank <= CNNVP_ONNX_RANK ? compare_symbols(import, info->name, shape, dims) : CNNVP_DONE;
}
