/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places tensors in memory. Each tensor has a place of its own for each image of a batch, so that all of them can be
 * inspected after a run. The network's inputs and outputs have a place for every image. A tensor that padded layers
 * read lies in a frame of zeros as wide as the widest padding ("next-layer storage parameters", Part B 0-6).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "binary_internal.h"
#include "cnnvp_integer.h"

/* Positions beyond the end of the input that the windows along one axis read. */
static uint32_t overhang(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride, uint32_t dilation,
                         uint32_t before)
{
    const int64_t last = (int64_t)(out - 1u) * stride + (int64_t)(kernel - 1u) * dilation - before;
    return last >= in ? (uint32_t)(last - in + 1) : 0;
}

static void widen_border(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                         struct cnnvp_tensor *base)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    base->border_top = cnnvp_maximum32(base->border_top, layer->pad_top);
    base->border_left = cnnvp_maximum32(base->border_left, layer->pad_left);
    base->border_bottom = cnnvp_maximum32(
        base->border_bottom, overhang(in->height, out->height, layer->ky, layer->sy, layer->dy, layer->pad_top));
    base->border_right = cnnvp_maximum32(
        base->border_right, overhang(in->width, out->width, layer->kx, layer->sx, layer->dx, layer->pad_left));
}

uint64_t cnnvp_binary_frame_bytes(const struct cnnvp_tensor *tensor)
{
    return (uint64_t)tensor->channels * tensor->channel_stride << tensor->word_shift;
}

uint64_t cnnvp_binary_frame_lead(const struct cnnvp_tensor *tensor)
{
    return ((uint64_t)tensor->border_top * tensor->row_stride + tensor->border_left * tensor->column_stride)
           << tensor->word_shift;
}

void cnnvp_binary_frame(struct cnnvp_tensor *tensor)
{
    tensor->row_stride = tensor->border_left + tensor->width + tensor->border_right;
    tensor->channel_stride = tensor->row_stride * (tensor->border_top + tensor->height + tensor->border_bottom);
}

void cnnvp_binary_put_on_chip(struct cnnvp_tensor *tensor, uint32_t as, const struct cnnvp_place *place)
{
    tensor->on_chip = as;
    tensor->chip_half = place->half;
    tensor->chip_address = (uint32_t)place->address;
}

/* A view with its base's rows and columns has its base's frame. For other views, neither tensor has a frame. */
static void shape_view(const struct cnnvp_graph *graph, struct cnnvp_build *build, int32_t tensor)
{
    struct cnnvp_tensor *view = &build->tensors[tensor];
    const struct cnnvp_tensor *base = &build->tensors[cnnvp_graph_base(graph, tensor)];
    if (view->height == base->height && view->width == base->width) {
        view->row_stride = base->row_stride;
        view->channel_stride =
            base->channel_stride * (graph->tensors[tensor].channel_step > 1 ? graph->tensors[tensor].channel_step : 1u);
        view->border_top = base->border_top;
        view->border_left = base->border_left;
        view->border_bottom = base->border_bottom;
        view->border_right = base->border_right;
        return;
    }
    cnnvp_binary_frame(view);
}

struct cnnvp_tensor cnnvp_binary_shape(const struct cnnvp_graph *graph, int32_t tensor)
{
    const struct cnnvp_graph_tensor *from = &graph->tensors[tensor];
    return (struct cnnvp_tensor){
        .channels = from->channels,
        .height = from->height,
        .width = from->width,
        .column_stride = 1,
        .word_shift = cnnvp_graph_word_bytes(graph, tensor) - 1u,
        .zero = cnnvp_graph_word_zero(graph, tensor)};
}

void cnnvp_binary_shape_tensors(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    for (size_t i = 0; i < graph->tensor_count; ++i)
        build->tensors[i] = cnnvp_binary_shape(graph, (int32_t)i);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)
            widen_border(graph, layer, &build->tensors[cnnvp_graph_base(graph, layer->in)]);
    }
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE)
            cnnvp_binary_frame(&build->tensors[i]);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (graph->tensors[i].base != CNNVP_GRAPH_NONE)
            shape_view(graph, build, (int32_t)i);
}

uint64_t cnnvp_binary_view_offset(const struct cnnvp_graph *graph, const struct cnnvp_build *build, int32_t tensor)
{
    const struct cnnvp_tensor *base = &build->tensors[cnnvp_graph_base(graph, tensor)];
    const uint64_t words = cnnvp_graph_offset(graph, tensor);
    const uint64_t plane = (uint64_t)base->height * base->width;
    return (words / plane * base->channel_stride + words % plane) << base->word_shift;
}

static int is_used(const struct cnnvp_graph *graph, int32_t base)
{
    if (cnnvp_graph_is_input(graph, base) || cnnvp_graph_is_output(graph, base))
        return 1;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_reads(graph, layer, base) || cnnvp_graph_base(graph, layer->out) == base)
            return 1;
    }
    return 0;
}

/* Places of a tensor between layers: one for each image of a batch on each accelerator. */
static uint32_t places_of(const struct cnnvp_build *build)
{
    return build->header->batch * build->shares.count;
}

/* Places a base tensor. `images`: number of places; 0: places_of(build). */
static void place(struct cnnvp_build *build, int32_t tensor, uint32_t images)
{
    struct cnnvp_tensor *base = &build->tensors[tensor];
    const uint64_t bytes = cnnvp_binary_align(cnnvp_binary_frame_bytes(base));
    const uint32_t places = places_of(build);
    base->address = (uint32_t)(build->end + cnnvp_binary_frame_lead(base));
    base->image_stride = images != 0 ? (uint32_t)bytes : 0;
    base->batch_stride = images == 0 && places > 1 ? (uint32_t)bytes : 0;
    build->end += bytes * (images != 0 ? images : places);
}

uint64_t cnnvp_binary_image_address(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor, uint32_t image)
{
    return tensor->address + (uint64_t)image * tensor->image_stride +
           (uint64_t)(image % places_of(build)) * tensor->batch_stride;
}

uint64_t cnnvp_binary_tensor_bytes(const struct cnnvp_build *build, const struct cnnvp_tensor *tensor)
{
    if (tensor->image_stride != 0)
        return (uint64_t)tensor->image_stride * build->header->images;
    return tensor->batch_stride != 0 ? (uint64_t)tensor->batch_stride * places_of(build)
                                     : cnnvp_binary_frame_bytes(tensor);
}

/* A text that grows as far as there is room. */
struct sentence {
    char *text;
    size_t size;
};

static void say(struct sentence *sentence, const char *format, ...) CNNVP_PRINTF(2, 3);

static void say(struct sentence *sentence, const char *format, ...)
{
    const size_t length = strlen(sentence->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sentence->text + length, sentence->size - length, format, args);
    va_end(args);
}

/* Adds a buffer whose half has too few bytes, and the setting that helps. `need` 0: it is large enough. */
static void say_buffer(const struct cnnvp_plan_limits *limits, enum cnnvp_plan_buffer buffer, uint64_t need,
                       uint64_t have, struct sentence *what, struct sentence *settings)
{
    const struct cnnvp_plan_size size = cnnvp_plan_size(limits, buffer, need);
    if (need == 0)
        return;
    say(what, "%s a half of %s has %llu bytes, %llu are needed", *what->text ? ";" : "", size.instance,
        (unsigned long long)have, (unsigned long long)need);
    say(settings, size.bytes % 1024u == 0 ? " -s %s.size=%lluKiB" : " -s %s.size=%llu", size.instance,
        (unsigned long long)(size.bytes % 1024u == 0 ? size.bytes / 1024u : size.bytes));
}

/* The error that names everything that is too small, and the settings that help. */
static cnnvp_result too_small(const struct cnnvp_graph *graph, const struct cnnvp_target *target, uint32_t images,
                              const struct cnnvp_build *build, uint64_t need, struct cnnvp_error *error)
{
    const struct cnnvp_plan_limits *limits = &target->limits;
    const struct cnnvp_shortage *shortage = &build->shortage;
    const int memory = need > target->memory_size;
    char layers[512] = "", text[512] = "", places[512] = "";
    struct sentence what = {text, sizeof text}, settings = {places, sizeof places};
    if (shortage->layers == 1)
        (void)snprintf(layers, sizeof layers, "layer \"%s\" does not fit:", shortage->first);
    else if (shortage->layers > 1)
        (void)snprintf(layers, sizeof layers, "%zu layers, the first \"%s\", do not fit:", shortage->layers,
                       shortage->first);
    const struct cnnvp_plan_use *needed = &shortage->need;
    say_buffer(limits, CNNVP_PLAN_INPUT, shortage->joint, limits->joint_bytes, &what, &settings);
    say_buffer(limits, CNNVP_PLAN_INPUT, needed->input_bytes, limits->input_bytes, &what, &settings);
    say_buffer(limits, CNNVP_PLAN_WEIGHTS, needed->weight_bytes, limits->weight_bytes, &what, &settings);
    say_buffer(limits, CNNVP_PLAN_OUTPUT, needed->output_bytes, limits->output_bytes, &what, &settings);
    if (memory) {
        say(&what, "%sprogram, network and %u image%s%s need %llu bytes of memory, dram has %llu", *text ? "; " : "",
            images, images == 1 ? "" : "s", places_of(build) > 1 ? ", with maps of all images at work," : "",
            (unsigned long long)need, (unsigned long long)target->memory_size);
        say(&settings, " -s dram.size=%lluMiB", (unsigned long long)((need + 0xfffffu) >> 20));
    }
    const int fewer = memory && images > 1;
    const int smaller = build->header->batch > 1 && (memory || shortage->by_batch);
    return cnnvp_compiler_error(
        error, "%s: %s%s; use%s%s%s%s%s", graph->file, layers, text, fewer ? " fewer images" : "",
        fewer && smaller ? "," : "", smaller ? " a smaller --batch" : "", fewer || smaller ? " or" : "", places);
}

cnnvp_result cnnvp_binary_place_tensors(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                        uint32_t images, struct cnnvp_build *build, struct cnnvp_error *error)
{
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && !cnnvp_graph_is_input(graph, i) &&
            !cnnvp_graph_is_output(graph, i) && is_used(graph, i))
            place(build, i, 0);
    for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i)
        place(build, cnnvp_graph_base(graph, cnnvp_graph_input(graph, i)), images);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && cnnvp_graph_is_output(graph, i))
            place(build, i, images);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_tensor *base = &build->tensors[cnnvp_graph_base(graph, i)];
        build->tensors[i].address = base->address + (uint32_t)cnnvp_binary_view_offset(graph, build, i);
        build->tensors[i].image_stride = base->image_stride;
        build->tensors[i].batch_stride = base->batch_stride;
    }
    const uint64_t need = build->end - target->memory_base;
    const uint64_t most = (UINT64_C(1) << 32) - target->memory_base;
    if (need > most)
        return cnnvp_compiler_error(
            error,
            "%s: program, network and %u images need %llu bytes of memory, and 32-bit addresses have room for %llu; "
            "use "
            "fewer images%s",
            graph->file, images, (unsigned long long)need, (unsigned long long)most,
            build->header->batch > 1 ? " or a smaller --batch" : "");
    return build->shortage.layers > 0 || need > target->memory_size
               ? too_small(graph, target, images, build, need, error)
               : CNNVP_DONE;
}

void cnnvp_binary_place_list(const struct cnnvp_target *target, struct cnnvp_build *build)
{
    const uint64_t start = cnnvp_binary_align(build->end);
    const uint64_t end = cnnvp_minimum(target->memory_base + target->memory_size, UINT32_MAX);
    const uint64_t bytes = end > start ? (end - start) / build->shares.count : 0;
    build->header->list = (uint32_t)start;
    build->header->list_bytes = (uint32_t)(bytes - bytes % CNNVP_BINARY_ALIGNMENT);
}
