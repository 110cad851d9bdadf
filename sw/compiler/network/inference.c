/* SPDX-License-Identifier: Apache-2.0 */
/* The back end for PE arrays with fixed point. Once a network is compiled (compile.c), it is written into a platform's
 * memory, and results are read back as numbers. */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "binary_tables.h"
#include "cnnvp_words.h"
#include "cnnvp_integer.h"
#include "numbers.h"

/* ---- load ---- */

/* If the platform's memory gives no direct access, the binary goes through a buffer. */
cnnvp_result cnnvp_network_put_binary(const struct cnnvp_network *network, cnnvp_platform *platform,
                                      struct cnnvp_error *error)
{
    const struct cnnvp_build *build = &network->build;
    const size_t bytes = cnnvp_binary_bytes(&network->graph, build);
    CNNVP_STAGED binary = {0};
    CNNVP_TRY(cnnvp_stage(platform, CNNVP_BINARY_ADDRESS, bytes, "the network", &binary, error));
    if (binary.copy == NULL)
        cnnvp_huge_pages(binary.data, bytes);
    cnnvp_binary_write(&network->graph, build, binary.data);
    return cnnvp_unstage(&binary, error);
}

/* Quantises one image of input number `input` into the frame at `to`, the address of channel 0, row 0, column 0 of the
 * interior. */
static void put_input(const struct cnnvp_network *network, size_t input, size_t image, uint8_t *to)
{
    const struct cnnvp_graph *graph = &network->graph;
    const int32_t number = cnnvp_graph_input(graph, input);
    const struct cnnvp_tensor *tensor = &network->build.tensors[number];
    const int32_t frac = graph->tensors[number].frac;
    const float *from = network->input + image * cnnvp_graph_input_words(graph, cnnvp_graph_inputs(graph)) +
                        cnnvp_graph_input_words(graph, input);
    for (size_t c = 0; c < tensor->channels; ++c) {
        for (size_t y = 0; y < tensor->height; ++y) {
            const size_t words = c * tensor->channel_stride + y * tensor->row_stride;
            cnnvp_quantise_to(from, tensor->width, frac, tensor->zero, 1u << tensor->word_shift,
                              to + (words << tensor->word_shift));
            from += tensor->width;
        }
    }
}

static cnnvp_result put_images(const struct cnnvp_network *network, size_t input, cnnvp_platform *platform,
                               struct cnnvp_error *error)
{
    const struct cnnvp_tensor *tensor = &network->build.tensors[cnnvp_graph_input(&network->graph, input)];
    const uint64_t lead = cnnvp_binary_frame_lead(tensor);
    for (size_t image = 0; image < network->images; ++image) {
        CNNVP_STAGED frame = {0};
        CNNVP_TRY(cnnvp_stage(platform, tensor->address - lead + image * tensor->image_stride, tensor->image_stride,
                              "the images", &frame, error));
        memset(frame.data, tensor->zero, frame.bytes);
        put_input(network, input, image, (uint8_t *)frame.data + lead);
        CNNVP_TRY(cnnvp_unstage(&frame, error));
    }
    return CNNVP_DONE;
}

/* 1: layers fill parts of the tensor, and the rest must be zero. */
static int has_parts(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].placed != 0 && cnnvp_graph_base(graph, graph->layers[i].out) == tensor)
            return 1;
    return 0;
}

/* Writes the zero points around tensors that padded layers read, and between parts. */
static cnnvp_result clear_frames(const struct cnnvp_network *network, cnnvp_platform *platform,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_tensor *tensor = &network->build.tensors[i];
        if (graph->tensors[i].base != CNNVP_GRAPH_NONE || tensor->address == 0 ||
            (tensor->channel_stride == tensor->height * tensor->width && !has_parts(graph, i)))
            continue;
        CNNVP_STAGED frame = {0};
        CNNVP_TRY(cnnvp_stage(platform, tensor->address - cnnvp_binary_frame_lead(tensor),
                              cnnvp_binary_tensor_bytes(&network->build, tensor), "a tensor", &frame, error));
        memset(frame.data, tensor->zero, frame.bytes); /* byte by byte: the zero point of 16-bit words is 0 */
        if (cnnvp_unstage(&frame, NULL) != CNNVP_DONE)
            return cnnvp_compiler_error(error, "the platform has no memory for tensor \"%s\"", graph->tensors[i].name);
    }
    return CNNVP_DONE;
}

/* Multiplications per cycle of the unit that runs a layer, as the unit says; 1 for a unit that does not multiply. */
static cnnvp_result layer_pes(const struct cnnvp_network *network, size_t layer, uint64_t *pes,
                              struct cnnvp_error *error)
{
    struct cnnvp_tiling tiling;
    const cnnvp_result result = cnnvp_plan_tiling(
        &network->build.layers[layer], network->graph.layers[layer].name, &network->target.limits, &tiling, error);
    *pes = tiling.pes;
    return result;
}

static cnnvp_result describe_layers(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                    struct cnnvp_arena *arena, struct cnnvp_work_info *work, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    struct cnnvp_layer_info *layers = cnnvp_arena_array(arena, graph->layer_count, sizeof *layers);
    CNNVP_TRY_MEMORY(layers != NULL, error);
    work->layers = layers;
    work->layer_count = graph->layer_count;
    const char **better = cnnvp_arena_array(arena, graph->layer_count, sizeof *better);
    CNNVP_TRY_MEMORY(better != NULL, error);
    work->better_units = better;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_layer_info *layer = &layers[i];
        if (network->build.better != NULL && network->build.better[i])
            better[i] = cnnvp_plan_unit_name(network->build.layers[i].unit ^ 1u);
        *layer = (struct cnnvp_layer_info){
            .name = graph->layers[i].name,
            .op = cnnvp_graph_op_name(&graph->layers[i]),
            .phase = "forward",
            .macs = cnnvp_graph_macs(graph, &graph->layers[i]),
            .least_dram_bytes = cnnvp_network_layer_bound(network, needs, i)};
        CNNVP_TRY(layer_pes(network, i, &layer->pes, error));
        work->pes = cnnvp_maximum(work->pes, layer->pes);
        if (layer->pes == 1)
            layer->pes = 0;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work,
                                 struct cnnvp_error *error)
{
    return cnnvp_platform_describe_work(platform, work) == CNNVP_DONE
               ? CNNVP_DONE
               : cnnvp_compiler_error(error, "the platform refused the description of the work");
}

static cnnvp_result describe(const struct cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct cnnvp_network_needs needs = {0};
    struct cnnvp_work_info work = {
        .struct_size = sizeof work,
        .command = "run",
        .network = cnnvp_base_name(network->file),
        .network_hash = network->graph.file_hash,
        .seed = network->seed,
        .images = network->images,
        .pes = 1,
        .block = network->block,
        .order = network->plan.order.name != NULL ? "table" : "morton",
        .block_difference = network->block_difference,
        .block_magnitude = network->block_magnitude,
        .options = network->echo.options,
        .option_count = network->echo.count,
    };
    CNNVP_TRY(cnnvp_network_needs_find(&network->graph, &arena, &needs, error));
    CNNVP_TRY(describe_layers(network, &needs, &arena, &work, error));
    CNNVP_TRY(cnnvp_network_tensors(network, &needs, &arena, &work, error));
    work.least_dram_bytes = cnnvp_network_bound(network, work.tensors, work.tensor_count);
    CNNVP_TRY(cnnvp_network_places(network, &arena, &work, error));
    CNNVP_TRY(cnnvp_network_groups(network, &arena, &work, error));
    return cnnvp_describe_work(platform, &work, error);
}

static cnnvp_result hold_always(void *context, uint32_t accelerator, uint32_t step, uint64_t address, uint64_t bytes)
{
    (void)accelerator;
    (void)step;
    return cnnvp_platform_hold(context, address, bytes);
}

static cnnvp_result hold_step(void *context, uint32_t accelerator, uint32_t step, uint64_t address, uint64_t bytes)
{
    return cnnvp_platform_hold_step(context, accelerator, step, address, bytes);
}

cnnvp_result cnnvp_network_hold_tables(const struct cnnvp_network *network, cnnvp_platform *platform,
                                       struct cnnvp_error *error)
{
    cnnvp_result result = cnnvp_binary_list_held(&network->build, hold_always, platform);
    if (result == CNNVP_DONE)
        result = cnnvp_binary_list_steps(&network->build, hold_step, platform);
    return result == CNNVP_DONE ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

static cnnvp_result load(const struct cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_network_hold_tables(network, platform, error));
    CNNVP_TRY(cnnvp_guest_load(network->guest, platform, error));
    CNNVP_TRY(cnnvp_network_put_binary(network, platform, error));
    if (!network->timing_only)
        CNNVP_TRY(clear_frames(network, platform, error));
    for (size_t i = 0; i < cnnvp_graph_inputs(&network->graph) && !network->timing_only; ++i)
        CNNVP_TRY(put_images(network, i, platform, error));
    return describe(network, platform, error);
}

/* ---- results ---- */

cnnvp_result cnnvp_network_array(const struct cnnvp_network *network, int32_t tensor, size_t images,
                                 struct cnnvp_array *array, struct cnnvp_error *error)
{
    const struct cnnvp_graph_tensor *shape = &network->graph.tensors[tensor];
    size_t dims[CNNVP_GRAPH_RANK];
    const size_t count = cnnvp_graph_dims(shape, dims);
    const size_t front = network->graph.single && images == 1 ? 0 : 1; /* dimensions in front: the batch */
    *array = (struct cnnvp_array){.type = CNNVP_ARRAY_F32, .rank = count + front};
    array->shape[0] = images;
    for (size_t i = 0; i < count; ++i)
        array->shape[i + front] = dims[i];
    array->data = calloc(images, cnnvp_graph_words(shape) * sizeof(float));
    return array->data != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

/* Reads a tensor of one image from the platform's memory as dense float values, channels x height x width. */
static cnnvp_result read_tensor(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor,
                                uint32_t image, float *values, struct cnnvp_error *error)
{
    const struct cnnvp_tensor *place = &network->build.tensors[tensor];
    const struct cnnvp_graph_tensor *of = &network->graph.tensors[tensor];
    const size_t span =
        (size_t)cnnvp_tensor_word(place, place->channels - 1u, place->height - 1u, place->width - 1u) + 1u;
    CNNVP_FREED uint8_t *words = malloc(span << place->word_shift);
    CNNVP_TRY_MEMORY(words != NULL, error);
    const uint64_t address = cnnvp_binary_image_address(&network->build, place, image);
    const cnnvp_result result = cnnvp_platform_read(platform, address, words, span << place->word_shift);
    if (result == CNNVP_FAILED)
        (void)cnnvp_compiler_error(error, "tensor \"%s\" cannot be read in this thread: another one has the platform",
                                   network->graph.tensors[tensor].name);
    else if (result != CNNVP_DONE)
        (void)cnnvp_compiler_error(error, "tensor \"%s\" cannot be read at 0x%llx", network->graph.tensors[tensor].name,
                                   (unsigned long long)address);
    for (uint32_t c = 0; c < place->channels && result == CNNVP_DONE; ++c)
        for (uint32_t y = 0; y < place->height; ++y)
            for (uint32_t x = 0; x < place->width; ++x) {
                const size_t at = (size_t)cnnvp_tensor_word(place, c, y, x) << place->word_shift;
                const int32_t word = cnnvp_word_at(words + at, 1u << place->word_shift);
                *values++ = cnnvp_dequantise((int16_t)(word - place->zero), cnnvp_graph_frac(of, c, y, x));
            }
    return result;
}

static cnnvp_result read_output(const struct cnnvp_network *network, cnnvp_platform *platform, size_t output,
                                uint32_t image, float *values, struct cnnvp_error *error)
{
    return read_tensor(network, platform, network->graph.outputs[output].tensor, image, values, error);
}

static int holds(const struct cnnvp_network *network, int32_t tensor)
{
    return !cnnvp_network_stays_on_chip(network, tensor);
}

static cnnvp_result read_map(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor,
                             float *values, int32_t *frac, struct cnnvp_error *error)
{
    *frac = network->graph.tensors[tensor].frac;
    return read_tensor(network, platform, tensor, network->images - 1u, values, error);
}

/* ---- */

/* The back end for all configurations that no other back end takes. */
static int is_for(const cnnvp_config *config)
{
    (void)config;
    return 1;
}

static cnnvp_result check(const cnnvp_config *config, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_target_clear) struct cnnvp_target target;
    CNNVP_TRY(cnnvp_target_read(config, &target, error));
    return cnnvp_target_complete(config, CNNVP_TARGET_INFERENCE, error);
}

static void forget(struct cnnvp_network *network)
{
    cnnvp_binary_clear(&network->build);
    cnnvp_target_clear(&network->target);
    cnnvp_plan_clear(&network->plan);
}

const struct cnnvp_back_end cnnvp_inference = {
    .is_for = is_for,
    .software = CNNVP_TARGET_INFERENCE,
    .check = check,
    .make = cnnvp_network_compile,
    .free = forget,
    .load = load,
    .output = read_output,
    .holds = holds,
    .tensor = read_map,
};
