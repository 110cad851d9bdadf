/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images for a network: float32, int16, int64, or uint8, which means x / 255 unless the input has integers. Their shape
 * is that of the network's input with the batch in front; one image may omit the batch. A dimension of one channel may
 * be left out, too. If the network's whole input is one image, its shape is that of one image, and several images have
 * one more dimension in front. Images with fewer rows or columns (N, C, H, W) are centred among zeros. Each of several
 * inputs has its own images, all equally many.
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

static int ends_with(const struct cnnvp_array *array, const size_t *dims, size_t count)
{
    if (array->rank < count || array->rank > count + 1)
        return 0;
    for (size_t i = 0; i < count; ++i)
        if (array->shape[array->rank - count + i] != dims[i])
            return 0;
    return 1;
}

static void print_shape(char *text, size_t room, const size_t *dims, size_t count, const char *batch)
{
    size_t used = (size_t)snprintf(text, room, "(%s", batch);
    for (size_t i = 0; i < count && used < room; ++i)
        used += (size_t)snprintf(text + used, room - used, "%s%zu", i == 0 && batch[0] == '\0' ? "" : ", ", dims[i]);
    if (used < room)
        (void)snprintf(text + used, room - used, ")");
}

static int is_smaller(const struct cnnvp_graph *graph, const struct cnnvp_array *array, const size_t *dims,
                      size_t count)
{
    return !graph->single && count == 3 && array->rank == 4 && array->shape[1] == dims[0] && array->shape[2] >= 1 &&
           array->shape[2] <= dims[1] && array->shape[3] >= 1 && array->shape[3] <= dims[2];
}

static cnnvp_result count_images(const struct cnnvp_graph *graph, size_t input, const struct cnnvp_array *array,
                                 const char *what, uint64_t *images, struct cnnvp_error *error)
{
    size_t dims[CNNVP_GRAPH_RANK] = {0};
    const size_t count = cnnvp_graph_dims(&graph->tensors[cnnvp_graph_input(graph, input)], dims);
    size_t fitting = SIZE_MAX;
    if (array->rank > sizeof array->shape / sizeof *array->shape || (unsigned)array->type > CNNVP_ARRAY_I16)
        return cnnvp_compiler_error(error, "%s: the array's type or rank has no such value", what);
    if (ends_with(array, dims, count) || is_smaller(graph, array, dims, count))
        fitting = count;
    else if ((graph->single || count == 3) && count > 1 && dims[0] == 1 && ends_with(array, dims + 1, count - 1))
        fitting = count - 1;
    *images = fitting < array->rank ? array->shape[0] : 1;
    if (fitting != SIZE_MAX && *images >= 1 && *images <= INT32_MAX)
        return CNNVP_DONE;
    char have[256], want[128];
    print_shape(have, sizeof have, array->shape, array->rank, "");
    print_shape(want, sizeof want, dims, count, graph->single ? "" : "N");
    return cnnvp_compiler_error(error, "%s has shape %s; network %s takes %s%s", what, have, graph->file, want,
                                graph->single ? ", and as many of them as one more dimension in front says"
                                : count == 3  ? ", or fewer rows and columns, with N at least 1"
                                              : " with N at least 1");
}

/* Bytes mean x / 255 unless the network's own input has bytes or other integers. Other whole numbers, such as indices,
 * keep their values. */
static float number_of(const struct cnnvp_array *array, int as_bytes, size_t i)
{
    switch (array->type) {
    case CNNVP_ARRAY_U8:
        return (float)((const uint8_t *)array->data)[i] / (as_bytes ? 1.0f : 255.0f);
    case CNNVP_ARRAY_I64:
        return (float)((const int64_t *)array->data)[i];
    case CNNVP_ARRAY_I16:
        return (float)((const int16_t *)array->data)[i];
    default:
        return ((const float *)array->data)[i];
    }
}

cnnvp_result cnnvp_network_images(const struct cnnvp_graph *graph, size_t input, const struct cnnvp_named_array *from,
                                  uint64_t limit, float *data, size_t stride, uint64_t *images,
                                  struct cnnvp_error *error)
{
    const struct cnnvp_array *array = from->array;
    const struct cnnvp_graph_tensor *tensor = &graph->tensors[cnnvp_graph_input(graph, input)];
    const char *what = from->file != NULL ? from->file : tensor->name;
    const cnnvp_result result = count_images(graph, input, array, what, images, error);
    if (result == CNNVP_DONE && limit > *images)
        return cnnvp_compiler_error(error, "%s has %llu images, %llu are asked for", what, (unsigned long long)*images,
                                    (unsigned long long)limit);
    if (limit != 0)
        *images = limit;
    if (result != CNNVP_DONE || data == NULL)
        return result;
    size_t dims[CNNVP_GRAPH_RANK] = {0};
    const int smaller = is_smaller(graph, array, dims, cnnvp_graph_dims(tensor, dims));
    const size_t width = smaller ? array->shape[3] : cnnvp_graph_words(tensor);
    const size_t height = smaller ? array->shape[2] : 1;
    const size_t rows = smaller ? tensor->channels * height : 1; /* rows per image */
    for (size_t row = 0; row < (size_t)*images * rows; ++row) {
        const size_t line = row % rows / height * tensor->height + (tensor->height - height) / 2 + row % height;
        float *to = data + row / rows * stride + (smaller ? line * tensor->width + (tensor->width - width) / 2 : 0);
        for (size_t i = row * width; i < (row + 1) * width; ++i, ++to) {
            *to = number_of(array, tensor->integer != 0 || (tensor->whole != 0 && !(tensor->step > 0.0f)), i);
            if (!(*to >= -FLT_MAX && *to <= FLT_MAX))
                return cnnvp_compiler_error(error, "%s: element %zu is not a finite number", what, i);
            *to = cnnvp_graph_input_number(tensor, *to);
        }
    }
    return CNNVP_DONE;
}

static cnnvp_result make_images(const struct cnnvp_graph *graph, uint64_t seed, uint64_t images, float **data,
                                struct cnnvp_error *error)
{
    const size_t each = cnnvp_graph_input_words(graph, cnnvp_graph_inputs(graph));
    if (images < 1 || images > INT32_MAX || images > SIZE_MAX / sizeof **data / each)
        return cnnvp_compiler_error(error, "%llu images; 1 to %d are possible", (unsigned long long)images, INT32_MAX);
    if (data == NULL)
        return CNNVP_DONE;
    const size_t words = (size_t)images * each;
    *data = malloc(words * sizeof **data);
    CNNVP_TRY_MEMORY(*data != NULL, error);
    size_t i = 0;
    while (i < words)
        for (size_t input = 0; input < cnnvp_graph_inputs(graph); ++input) {
            const struct cnnvp_graph_tensor *tensor = &graph->tensors[cnnvp_graph_input(graph, input)];
            for (const size_t end = i + cnnvp_graph_words(tensor); i < end; ++i)
                (*data)[i] = tensor->integer != 0 ? (float)(cnnvp_normal(seed, i) > 0.0f)
                                                  : cnnvp_graph_input_number(tensor, cnnvp_normal(seed, i));
        }
    return CNNVP_DONE;
}

/* The images that the options have for an input. No array: none. */
static struct cnnvp_named_array given(const struct cnnvp_graph *graph, const struct cnnvp_network_options *options,
                                      size_t input)
{
    const char *name = graph->tensors[cnnvp_graph_input(graph, input)].name;
    struct cnnvp_named_array found = {.name = name};
    if (input == 0)
        found = (struct cnnvp_named_array){
            name, options->input, options->input_name != NULL ? options->input_name : "the input"};
    for (size_t i = 0; i < options->input_count; ++i)
        if (options->inputs[i].name == NULL ? input == 0 : strcmp(options->inputs[i].name, name) == 0)
            found = options->inputs[i];
    return found;
}

/* Checks that each name is that of an input, and that no input has two files. Without a name the first input is
 * meant. */
static cnnvp_result check_names(const struct cnnvp_graph *graph, const struct cnnvp_network_options *options,
                                struct cnnvp_error *error)
{
    const char *first = graph->tensors[graph->input].name;
    for (size_t i = 0; i < options->input_count; ++i) {
        const char *name = options->inputs[i].name != NULL ? options->inputs[i].name : first;
        size_t input = 0;
        while (input < cnnvp_graph_inputs(graph) &&
               strcmp(name, graph->tensors[cnnvp_graph_input(graph, input)].name) != 0)
            ++input;
        if (input == cnnvp_graph_inputs(graph))
            return cnnvp_compiler_error(error, "%s: --input %s=%s: nothing needs that input", graph->file, name,
                                        options->inputs[i].file != NULL ? options->inputs[i].file : "");
        int again = input == 0 && options->input != NULL;
        for (size_t j = 0; j < i; ++j)
            again |= strcmp(name, options->inputs[j].name != NULL ? options->inputs[j].name : first) == 0;
        if (again)
            return cnnvp_compiler_error(error, "--input: input \"%s\" has images already; %s is a second %s", name,
                                        options->inputs[i].file != NULL ? options->inputs[i].file : name,
                                        options->inputs[i].file != NULL ? "file" : "array");
    }
    return CNNVP_DONE;
}

/* Brings the images of all inputs. `data` NULL: only checks and counts them. */
static cnnvp_result bring(const struct cnnvp_graph *graph, const struct cnnvp_network_options *options, float **data,
                          uint64_t *images, struct cnnvp_error *error)
{
    const size_t count = cnnvp_graph_inputs(graph);
    const size_t words = cnnvp_graph_input_words(graph, count);
    size_t there = 0;
    CNNVP_TRY(check_names(graph, options, error));
    for (size_t i = 0; i < count; ++i)
        there += given(graph, options, i).array != NULL;
    if (there == 0)
        return make_images(graph, options->seed, *images, data, error);
    for (size_t i = 0; i < count; ++i) {
        const struct cnnvp_named_array from = given(graph, options, i);
        uint64_t own = 0;
        if (from.array == NULL)
            return cnnvp_compiler_error(
                error, "%s: input \"%s\" has no images: -i %s=FILE.npy gives them, as to others", graph->file,
                from.name, from.name);
        CNNVP_TRY(cnnvp_network_images(graph, i, &from, options->input_images, NULL, words, &own, error));
        if (i != 0 && own != *images)
            return cnnvp_compiler_error(error, "%s: input \"%s\" has %llu images, those before it %llu", graph->file,
                                        from.name, (unsigned long long)own, (unsigned long long)*images);
        *images = own;
    }
    if (data == NULL)
        return CNNVP_DONE;
    *data = calloc((size_t)*images, words * sizeof **data);
    CNNVP_TRY_MEMORY(*data != NULL, error);
    for (size_t i = 0; i < count; ++i) {
        const struct cnnvp_named_array from = given(graph, options, i);
        CNNVP_TRY(cnnvp_network_images(
            graph, i, &from, options->input_images, *data + cnnvp_graph_input_words(graph, i), words, images, error));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_count_images(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                        uint64_t word_bytes, uint64_t memory_bytes, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const uint64_t words = cnnvp_graph_input_words(graph, cnnvp_graph_inputs(graph));
    uint64_t images = options->images;
    CNNVP_TRY(bring(graph, options, NULL, &images, error));
    network->images = (uint32_t)images;
    if (images <= memory_bytes / (words * word_bytes))
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error,
        "%s: %llu images of %llu words do not fit into dram's %llu bytes; use fewer images "
        "or a larger dram.size",
        graph->file, (unsigned long long)images, (unsigned long long)words, (unsigned long long)memory_bytes);
}

cnnvp_result cnnvp_network_bring_images(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                        struct cnnvp_error *error)
{
    uint64_t images = network->images;
    return bring(&network->graph, options, options->timing_only ? NULL : &network->input, &images, error);
}

size_t cnnvp_network_input_shape(const cnnvp_network *network, size_t shape[8])
{
    return cnnvp_graph_dims(&network->graph.tensors[network->graph.input], shape);
}

const char *cnnvp_network_input_name(const cnnvp_network *network)
{
    return network->graph.tensors[network->graph.input].name;
}
