/* SPDX-License-Identifier: Apache-2.0 */
/* Plans a training binary: tiles of all layers, and places in memory; see train_build.h. */
#include "train_build.h"

#include "train_price.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN UINT64_C(64)
#define SUM_BYTES UINT64_C(4)
#define LAYER_PLACES 9u /* most places per layer that traces tell apart */

struct builder {
    const struct cnnvp_graph *graph;
    const struct cnnvp_train_net *net;
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_build_options *options;
    struct cnnvp_train_build *build;
    uint64_t shared; /* bytes of the one `back` region that all layers share */
    struct cnnvp_error *error;
};

/* Places `bytes` in memory. Addresses may exceed 32 bits here; check_memory then refuses the build. */
static uint32_t place(struct builder *b, uint64_t bytes)
{
    const uint64_t address = b->build->end;
    b->build->end += (bytes + ALIGN - 1u) / ALIGN * ALIGN;
    return (uint32_t)address;
}

/* The same for channels of `bytes` each, which traces tell apart. `images` 0: weights. */
static uint32_t place_channels(struct builder *b, const char *tensor, const char *kind, uint64_t images,
                               uint64_t channels, uint64_t bytes)
{
    struct cnnvp_place_info *info = &b->build->places[b->build->place_count++];
    *info = (struct cnnvp_place_info){
        .tensor = tensor,
        .kind = kind,
        .address = b->build->end,
        .size = (images != 0 ? images : 1u) * channels * bytes,
        .image_stride = images != 0 ? channels * bytes : 0,
        .channel_stride = bytes};
    return place(b, info->size);
}

static cnnvp_result check_memory(const struct builder *b)
{
    const uint64_t room = b->target->map.memory_size;
    const uint64_t used = b->build->end - b->target->map.memory_base;
    if (used <= room)
        return CNNVP_DONE;
    char larger[48] = "";
    if (used <= (UINT64_C(1) << 32) - b->target->map.memory_base)
        (void)snprintf(larger, sizeof larger, " or -s dram.size=%lluMiB",
                       (unsigned long long)((used + 0xfffffu) >> 20));
    return cnnvp_compiler_error(
        b->error,
        "%s: weights, maps, images and their order take %llu bytes of memory, dram has %llu; "
        "use %s%s",
        b->graph->file, (unsigned long long)used, (unsigned long long)room,
        b->options->plan.learns ? "a smaller batch, fewer images (--limit), fewer epochs" : "fewer images", larger);
}

/* ---- layers ---- */

static struct cnnvp_train_bfp place_bfp(struct builder *b, const char *layer, const char *kind, uint64_t images,
                                        uint64_t channels, uint64_t values, uint64_t exponents)
{
    struct cnnvp_train_bfp bfp;
    bfp.mantissas = place_channels(b, layer, kind, images, channels, values * b->target->value_bytes);
    bfp.exponents = place(b, exponents);
    return bfp;
}

static void place_weights(struct builder *b, const struct cnnvp_train_node *node, struct cnnvp_train_layer *layer)
{
    const uint64_t weights = cnnvp_train_net_weights(node) / node->co;
    const int learns = b->options->plan.learns;
    const char *name = b->graph->layers[node->layer].name;
    const uint64_t exponents = b->options->plan.block == CNNVP_TRAIN_BY_CHANNEL ? node->co : 1u;
    layer->weights = place_bfp(b, name, "weights", 0, node->co, weights, exponents);
    if (learns && !b->options->plan.narrow)
        layer->master.values = place_channels(b, name, "wide weights", 0, node->co, weights * SUM_BYTES);
    if (learns)
        layer->master.velocity = place_channels(b, name, "velocities", 0, node->co, weights * SUM_BYTES);
    if (layer->bias) {
        layer->biases = place_bfp(b, name, "biases", 0, node->co, 1, 1);
        layer->bias_master.values = learns ? place(b, node->co * SUM_BYTES) : 0;
        layer->bias_master.velocity = learns ? place(b, node->co * SUM_BYTES) : 0;
    }
    if (layer->norm) {
        layer->norm_entries = place(b, (uint64_t)node->co * CNNVP_TRAIN_NORM_BYTES);
        layer->extreme_entries = learns ? place(b, (uint64_t)node->co * CNNVP_TRAIN_EXTREME_BYTES) : 0;
    }
}

static void place_maps(struct builder *b, const struct cnnvp_train_node *node, int first,
                       struct cnnvp_train_layer *layer)
{
    const struct cnnvp_train_plan_options *plan = &b->options->plan;
    const uint64_t images = plan->images;
    const uint64_t plane = (uint64_t)node->ho * node->wo;
    const uint64_t pooled = (uint64_t)node->ph * node->pw;
    const uint64_t shared = images * node->co * pooled * SUM_BYTES;
    const char *name = b->graph->layers[node->layer].name;
    if (!first)
        layer->in = place_bfp(b, name, "activations", images, node->ci, (uint64_t)node->hi * node->wi,
                              cnnvp_train_plan_exponents(plan, node, images, node->ci));
    layer->sums = place_channels(b, name, "sums", images, node->co, plane * SUM_BYTES);
    if (!plan->learns)
        return;
    if (node->relu)
        layer->positive = place_channels(b, name, "0/1 matrix", images, node->co, cnnvp_train_plan_packed(plane, 1));
    if (node->pool)
        layer->positions =
            place_channels(b, name, "position matrix", images, node->co, cnnvp_train_plan_packed(pooled, 2));
    layer->error =
        place_bfp(b, name, "errors", images, node->co, plane, cnnvp_train_plan_exponents(plan, node, images, node->co));
    b->shared = shared > b->shared ? shared : b->shared;
}

static cnnvp_result plan_layers(struct builder *b)
{
    struct cnnvp_train_pricer *pricer = cnnvp_train_pricer_new(b->target, &b->options->plan);
    cnnvp_result result = pricer != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(b->error);
    for (size_t i = 0; i < b->net->count && result == CNNVP_DONE; ++i) {
        const struct cnnvp_train_node *node = &b->net->nodes[i];
        struct cnnvp_train_layer *layer = &b->build->layers[i];
        result = cnnvp_train_plan(b->graph, node, b->target, &b->options->plan, i == 0, pricer, layer, b->error);
        if (layer->norm)
            layer->epsilon = cnnvp_float_bits(b->graph->layers[node->norm].epsilon);
        if (i != 0)
            layer[-1].out_block = layer->block;
    }
    cnnvp_train_pricer_free(pricer);
    return result;
}

/* Numbers the tags in the order of a step: forward, softmax, backward, gradient. */
static void number_layers(struct builder *b)
{
    const uint32_t count = (uint32_t)b->net->count;
    const int softmax = b->options->plan.learns || b->net->softmax;
    b->build->header.tag_softmax = softmax ? count + 1u : 0;
    const uint32_t behind = count + (softmax ? 1u : 0u);
    for (uint32_t i = 0; i < count; ++i) {
        struct cnnvp_train_layer *layer = &b->build->layers[i];
        layer->tag_forward = i + 1u;
        layer->tag_backward = behind + count - i;
        layer->tag_gradient = behind + 2u * count - i;
    }
}

static void place_layers(struct builder *b)
{
    uint64_t scratch = 0;
    for (size_t i = 0; i < b->net->count; ++i) {
        place_weights(b, &b->net->nodes[i], &b->build->layers[i]);
        place_maps(b, &b->net->nodes[i], i == 0, &b->build->layers[i]);
        const uint64_t bytes = cnnvp_train_net_weights(&b->net->nodes[i]) * SUM_BYTES;
        scratch = bytes > scratch ? bytes : scratch;
    }
    if (!b->options->plan.learns)
        return;
    const uint32_t back = place(b, b->shared);
    const uint32_t values = b->options->plan.narrow ? place(b, scratch) : 0;
    for (size_t i = 0; i < b->net->count; ++i) {
        b->build->layers[i].back = back;
        if (b->options->plan.narrow)
            b->build->layers[i].master.values = values;
    }
}

/* ---- the module's max-min buffer: entries, then exponents and scales ---- */

static cnnvp_result place_held(struct builder *b)
{
    const struct cnnvp_train_plan_options *plan = &b->options->plan;
    uint64_t entries = 0, exponents = 0;
    for (size_t i = 0; i < b->net->count; ++i) {
        const struct cnnvp_train_node *node = &b->net->nodes[i];
        const uint64_t needed = cnnvp_train_plan_entries(plan, node);
        /* Weights may have blocks by channel, even if the maps of a fully connected layer do not. */
        const uint64_t held = plan->block == CNNVP_TRAIN_BY_CHANNEL
                                  ? node->co
                                  : cnnvp_train_plan_exponents(plan, node, plan->images, node->co);
        entries = needed > entries ? needed : entries;
        exponents = held > exponents ? held : exponents;
    }
    const uint64_t room = b->target->max_min / 4u * 4u;
    const uint64_t held = (exponents + 3u) / 4u * 4u + 8u;
    const unsigned long long needed_bytes = entries * CNNVP_TRAIN_EXTREME_BYTES + held;
    if (needed_bytes > room)
        return cnnvp_compiler_error(
            b->error,
            "%s: %llu extremes and %llu exponents at once do not fit into max_min_buffer; use "
            "max_min_buffer.size=%llu or more",
            b->graph->file, (unsigned long long)entries, (unsigned long long)exponents, needed_bytes);
    struct cnnvp_train_binary *header = &b->build->header;
    header->held_scale = (uint32_t)(room - held);
    header->held_back = header->held_scale + 4u;
    header->held_exponents = header->held_back + 4u;
    if ((uint64_t)b->target->arrays * cnnvp_train_record_bytes(b->net->classes) > b->target->output_data)
        return cnnvp_compiler_error(b->error, "%s: the class results of %u images do not fit into output_data_buffer",
                                    b->graph->file, b->target->arrays);
    return CNNVP_DONE;
}

/* The images that the engine classifies together must lie in a half of the intermediate buffer. */
static cnnvp_result check_classes(const struct builder *b)
{
    const uint32_t images = cnnvp_minimum32(b->options->plan.images, b->target->arrays);
    const struct cnnvp_train_class_places places = cnnvp_train_class_places(images, b->net->classes);
    const uint32_t bytes = b->build->header.tag_softmax != 0 ? places.end : places.labels;
    if (bytes <= b->target->output_half)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        b->error,
        "%s: the %u classes of %u images do not fit into intermediate_buffer; use "
        "intermediate_buffer.size=%u or more",
        b->graph->file, b->net->classes, images, (bytes + 15u) / 16u * 16u * b->target->output_halves);
}

/* ---- images ---- */

static void place_images(struct builder *b, uint64_t count, int training, struct cnnvp_train_images *images)
{
    const struct cnnvp_train_net *net = b->net;
    const uint64_t bytes = (uint64_t)net->height * net->width * b->target->value_bytes;
    const uint64_t records = training ? b->options->plan.images : count;
    const int softmax = b->build->header.tag_softmax != 0;
    *images = (struct cnnvp_train_images){.count = (uint32_t)count};
    if (count == 0)
        return;
    images->mantissas = place_channels(b, training ? "training" : "evaluation", "images", count, net->channels, bytes);
    images->exponents = place(b, cnnvp_train_plan_exponents(&b->options->plan, &net->nodes[0], count, net->channels));
    if (training || b->options->labels)
        images->labels = place(b, count * 4u);
    if (softmax)
        images->results = place(b, records * cnnvp_train_record_bytes(net->classes));
    else
        images->outputs = place(b, records * net->classes * SUM_BYTES);
}

static void fill_header(struct builder *b)
{
    const struct cnnvp_train_build_options *options = b->options;
    const struct cnnvp_train_target *target = b->target;
    struct cnnvp_train_binary *header = &b->build->header;
    const uint64_t batch = options->plan.images;
    const uint64_t steps = options->images != 0 ? (options->images + batch - 1u) / batch : 0;
    const uint64_t rest = steps != 0 ? options->images - (steps - 1u) * batch : 0;
    header->magic = CNNVP_TRAIN_BINARY_MAGIC;
    header->version = CNNVP_TRAIN_BINARY_VERSION;
    header->flags = options->flags;
    header->layer_count = (uint32_t)b->net->count;
    header->element = target->map.accelerators[0].element;
    header->plic = target->map.plic;
    header->element_irq = target->map.accelerators[0].element_irq;
    cnnvp_train_target_describe(target, header);
    header->classes = b->net->classes;
    header->block = options->plan.block;
    header->rounding = options->rounding;
    header->error_rounding = options->error_rounding;
    header->seed_low = (uint32_t)options->seed;
    header->seed_high = (uint32_t)(options->seed >> 32);
    header->rate = cnnvp_float_bits(options->rate);
    header->momentum = cnnvp_float_bits(options->momentum);
    header->bn_momentum = cnnvp_float_bits(options->bn_momentum);
    header->batch = (uint32_t)batch;
    header->factor = cnnvp_float_bits((float)(1.0 / (double)batch));
    header->factor_last = rest != 0 ? cnnvp_float_bits((float)(1.0 / (double)rest)) : header->factor;
    header->steps_per_epoch = (uint32_t)steps;
    header->steps = (uint32_t)(steps * options->epochs);
}

static cnnvp_result build_all(struct builder *b)
{
    struct cnnvp_train_binary *header = &b->build->header;
    CNNVP_TRY(place_held(b));
    CNNVP_TRY(plan_layers(b));
    fill_header(b);
    number_layers(b);
    CNNVP_TRY(check_classes(b));
    b->build->end = CNNVP_BINARY_ADDRESS;
    header->bytes = (uint32_t)(sizeof *header + b->net->count * sizeof *b->build->layers);
    header->layers = place(b, header->bytes) + (uint32_t)sizeof *header;
    place_layers(b);
    header->order = place(b, b->options->images * b->options->epochs * 4u);
    place_images(b, b->options->images, 1, &header->training);
    place_images(b, b->options->evaluation, 0, &header->evaluation);
    return check_memory(b);
}

cnnvp_result cnnvp_train_build(const struct cnnvp_graph *graph, const struct cnnvp_train_net *net,
                               const struct cnnvp_train_target *target, const struct cnnvp_train_build_options *options,
                               struct cnnvp_train_build *build, struct cnnvp_error *error)
{
    struct builder b = {
        .graph = graph, .net = net, .target = target, .options = options, .build = build, .error = error};
    *build = (struct cnnvp_train_build){.layer_count = net->count};
    build->layers = calloc(net->count, sizeof *build->layers);
    build->places = calloc(net->count * LAYER_PLACES + 2u, sizeof *build->places);
    if (build->layers == NULL || build->places == NULL) {
        cnnvp_train_build_clear(build);
        return cnnvp_compiler_no_memory(error);
    }
    const cnnvp_result result = build_all(&b);
    if (result != CNNVP_DONE)
        cnnvp_train_build_clear(build);
    return result;
}

void cnnvp_train_build_clear(struct cnnvp_train_build *build)
{
    free(build->layers);
    free(build->places);
    build->layers = NULL;
    build->places = NULL;
    build->layer_count = build->place_count = 0;
}

cnnvp_result cnnvp_train_build_load(const struct cnnvp_train_build *build, cnnvp_platform *platform,
                                    struct cnnvp_error *error)
{
    cnnvp_result result = cnnvp_platform_write(platform, CNNVP_BINARY_ADDRESS, &build->header, sizeof build->header);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_write(
            platform, build->header.layers, build->layers, build->layer_count * sizeof *build->layers);
    if (result != CNNVP_DONE)
        return cnnvp_compiler_error(
            error, "the platform has no memory for the network at 0x%x", (unsigned)CNNVP_BINARY_ADDRESS);
    return CNNVP_DONE;
}

static cnnvp_result hold_layer(const struct cnnvp_train_build *build, cnnvp_platform *platform, size_t step,
                               size_t layer)
{
    const size_t bytes = sizeof *build->layers;
    return cnnvp_platform_hold_step(platform, 0, (uint32_t)step, build->header.layers + layer * bytes, bytes);
}

/* The guest reads the layers once forward and, in training, twice backward: errors, then gradients. */
cnnvp_result cnnvp_train_build_hold(const struct cnnvp_train_build *build, cnnvp_platform *platform,
                                    struct cnnvp_error *error)
{
    const size_t count = build->layer_count;
    const size_t sweeps = (build->header.flags & CNNVP_TRAIN_INFERENCE) != 0 ? 1 : 3;
    cnnvp_result result = cnnvp_platform_hold(platform, CNNVP_BINARY_ADDRESS, sizeof build->header);
    for (size_t step = 0; step < sweeps * count && result == CNNVP_DONE; ++step) {
        const size_t number = step % count;
        result = hold_layer(build, platform, step, step < count ? number : count - 1u - number);
    }
    return result == CNNVP_DONE ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}
