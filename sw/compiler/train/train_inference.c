/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference on the training engine: the forward pass with stored batch norm values, in groups of as many images as the
 * engine has arrays (the last one may be shorter), then softmax into the output data buffer. Number formats follow from
 * the data.
 */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp_bfp.h"
#include "cnnvp_command.h"
#include "onnx.h"
#include "trainer.h"

struct inference {
    struct cnnvp_graph graph; /* with separate batch norms; network->graph is the float model's */
    struct cnnvp_train_net net;
    struct cnnvp_train_target target;
    struct cnnvp_train_build build;
};

static struct inference *inference_of(const struct cnnvp_network *network)
{
    return network->own;
}

/* ---- make ---- */

static cnnvp_result check_options(const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    if (options->schedule != CNNVP_SCHEDULE_LAYER)
        return cnnvp_compiler_error(error, "the training engine runs layer by layer; use --schedule layer");
    if (options->plan != NULL)
        return cnnvp_compiler_error(error, "the training engine runs layer by layer: plans are the NFU's");
    if (options->on_chip)
        return cnnvp_compiler_error(error, "the training engine's maps go through memory; on-chip maps are the NFU's");
    if (options->objective != CNNVP_OBJECTIVE_TIME)
        return cnnvp_compiler_error(error, "the training engine's tiles are chosen by time; leave --objective out");
    if (options->batch > 1)
        return cnnvp_compiler_error(
            error, "the training engine takes as many images together as it has arrays; leave --batch out");
    return CNNVP_DONE;
}

/* The engine's forward pass outside of training has stored statistics alone. */
static cnnvp_result check_norms(const struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].op == CNNVP_OP_NORM && graph->layers[i].norm == CNNVP_NORM_BATCH)
            return cnnvp_compiler_error(
                error,
                "%s: node \"%s\" (%s): it takes the statistics of the images, and the training engine runs with "
                "stored ones; use training_mode=0, as files of `cnnvp train -o` have it",
                graph->file, graph->layers[i].name, graph->layers[i].op_type);
    return CNNVP_DONE;
}

static cnnvp_result build(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                          struct cnnvp_error *error)
{
    struct inference *train = inference_of(network);
    const uint32_t arrays = train->target.arrays;
    const struct cnnvp_train_build_options build_options = {
        .plan = {.block = CNNVP_TRAIN_BY_TENSOR, .images = network->images < arrays ? network->images : arrays},
        .flags = CNNVP_TRAIN_INFERENCE,
        .rounding = (uint32_t)options->rounding,
        .seed = options->seed,
        .evaluation = network->images,
    };
    return cnnvp_train_build(&train->graph, &train->net, &train->target, &build_options, &train->build, error);
}

static cnnvp_result make(struct cnnvp_network *network, const cnnvp_config *config,
                         const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    const struct cnnvp_onnx_sizes sizes = cnnvp_network_sizes(options);
    const struct cnnvp_train_import_options import = {
        .seed = options->seed, .weightless = options->timing_only, .sizes = &sizes};
    struct inference *train = calloc(1, sizeof *train);
    network->own = train;
    CNNVP_TRY_MEMORY(train != NULL, error);
    CNNVP_TRY(check_options(options, error));
    CNNVP_TRY(cnnvp_train_target_read(config, &train->target, error));
    CNNVP_TRY(cnnvp_target_wiring(config, CNNVP_TARGET_TRAINING, error));
    CNNVP_TRY(cnnvp_target_driven(config, CNNVP_TARGET_TRAINING, error));
    CNNVP_TRY(cnnvp_onnx_import_sized(network->file, &sizes, options->timing_only, &network->graph, error));
    if (cnnvp_graph_inputs(&network->graph) != 1 || network->graph.output_count != 1)
        return cnnvp_compiler_error(error,
                                    "%s: the network has %zu inputs and %zu outputs; the training engine takes one "
                                    "and gives one",
                                    network->file, cnnvp_graph_inputs(&network->graph), network->graph.output_count);
    CNNVP_TRY(check_norms(&network->graph, error));
    CNNVP_TRY(cnnvp_onnx_import_training(network->file, &import, &train->graph, error));
    CNNVP_TRY(cnnvp_train_net_make(&train->graph, &train->net, error));
    CNNVP_TRY(cnnvp_graph_simplify(&network->graph, error));
    CNNVP_TRY(cnnvp_network_count_images(network, options, 1, train->target.map.memory_size, error));
    CNNVP_TRY(cnnvp_network_bring_images(network, options, error));
    return build(network, options, error);
}

static void forget(struct cnnvp_network *network)
{
    struct inference *train = inference_of(network);
    if (train == NULL)
        return;
    cnnvp_train_build_clear(&train->build);
    cnnvp_train_target_clear(&train->target);
    cnnvp_graph_clear(&train->graph);
    free(train);
}

/* ---- load ---- */

static void read_floats(void *context, uint64_t index, float *values)
{
    const struct cnnvp_network *network = context;
    const size_t words = cnnvp_graph_words(&network->graph.tensors[network->graph.input]);
    memcpy(values, network->input + index * words, words * sizeof *values);
}

static cnnvp_result load(const struct cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error)
{
    const struct inference *train = inference_of(network);
    const struct cnnvp_train_source source = {
        .graph = &train->graph, .net = &train->net, .target = &train->target, .build = &train->build};
    union {
        const struct cnnvp_network *given;
        void *context;
    } reads = {.given = network};
    const struct cnnvp_train_reader reader = {reads.context, read_floats, network->images, train->net.channels,
                                              (uint64_t)train->net.height * train->net.width};
    const struct cnnvp_work_info work = {
        .struct_size = sizeof work,
        .command = "run",
        .network = cnnvp_base_name(network->file),
        .seed = network->seed,
        .images = network->images,
    };
    CNNVP_TRY(cnnvp_train_build_hold(&train->build, platform, error));
    CNNVP_TRY(cnnvp_guest_load(network->guest, platform, error));
    CNNVP_TRY(cnnvp_train_build_load(&train->build, platform, error));
    if (!network->timing_only)
        CNNVP_TRY(cnnvp_train_put_weights(&source, platform, error));
    if (!network->timing_only)
        CNNVP_TRY(cnnvp_train_put_images(
            &source, &train->build.header.evaluation, train->build.layers[0].block, &reader, platform, error));
    return cnnvp_train_describe(&source, work, 0, platform, error);
}

/* ---- output ---- */

/* Reads the only output of an image: its record if there is a softmax, else the last layer's sums. */
static cnnvp_result read_output(const struct cnnvp_network *network, cnnvp_platform *platform, size_t number,
                                uint32_t image, float *values, struct cnnvp_error *error)
{
    (void)number;
    const struct inference *train = inference_of(network);
    const struct cnnvp_train_images *images = &train->build.header.evaluation;
    const uint32_t classes = train->net.classes;
    uint64_t address = images->outputs + (uint64_t)image * classes * sizeof *values;
    if (train->net.softmax)
        address =
            images->results + (uint64_t)image * cnnvp_train_record_bytes(classes) + sizeof(struct cnnvp_train_result);
    if (cnnvp_platform_read(platform, address, values, classes * sizeof *values) == CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "the output cannot be read at 0x%llx", (unsigned long long)address);
}

/* ---- maps ---- */

/* Place in memory of a tensor of the last image. */
struct held {
    uint64_t mantissas; /* 0: `values` has binary32 values instead */
    uint64_t exponent;
    uint64_t values;
};

/* Finds a tensor in memory. Memory has the network's input, what each layer reads from the layer before, the outputs,
 * and the sums before a softmax. Returns 0 for other tensors. */
static int find_held(const struct cnnvp_network *network, int32_t tensor, struct held *held)
{
    const struct inference *train = inference_of(network);
    const struct cnnvp_train_binary *header = &train->build.header;
    const struct cnnvp_graph *graph = &network->graph;
    const char *name = graph->tensors[tensor].name;
    const uint64_t image = network->images - 1u;
    const uint64_t place = image % header->batch;
    const struct cnnvp_train_layer *last = &train->build.layers[train->net.count - 1u];
    const uint64_t bytes = cnnvp_graph_words(&graph->tensors[tensor]) * header->value_bytes;
    *held = (struct held){0};
    if (tensor == graph->input) {
        *held = (struct held){header->evaluation.mantissas + image * bytes, header->evaluation.exponents, 0};
        return 1;
    }
    for (size_t i = 1; i < train->net.count; ++i) {
        const struct cnnvp_train_bfp *in = &train->build.layers[i].in;
        const int32_t from = cnnvp_graph_base(&train->graph, train->graph.layers[train->net.nodes[i].layer].in);
        if (strcmp(train->graph.tensors[from].name, name) == 0) {
            *held = (struct held){in->mantissas + place * bytes, in->exponents, 0};
            return 1;
        }
    }
    const int32_t out = train->graph.layers[train->net.nodes[train->net.count - 1u].layer].out;
    held->values = last->sums + place * train->net.classes * sizeof(float);
    return tensor == graph->outputs[0].tensor || strcmp(train->graph.tensors[out].name, name) == 0;
}

static int holds(const struct cnnvp_network *network, int32_t tensor)
{
    struct held held;
    return find_held(network, tensor, &held);
}

static cnnvp_result read_mantissas(const struct cnnvp_network *network, cnnvp_platform *platform,
                                   const struct held *held, size_t count, float *values, int32_t *frac,
                                   struct cnnvp_error *error)
{
    const struct cnnvp_train_binary *header = &inference_of(network)->build.header;
    int8_t exponent = 0;
    CNNVP_FREED void *mantissas = malloc(count * header->value_bytes);
    CNNVP_TRY_MEMORY(mantissas != NULL, error);
    cnnvp_result result = cnnvp_platform_read(platform, held->mantissas, mantissas, count * header->value_bytes);
    if (result == CNNVP_DONE)
        result = cnnvp_platform_read(platform, held->exponent, &exponent, sizeof exponent);
    if (result != CNNVP_DONE)
        (void)cnnvp_compiler_error(error, "a map cannot be read at 0x%llx", (unsigned long long)held->mantissas);
    else
        cnnvp_bfp_dequantise(header->mantissa_bits, exponent, mantissas, count, values);
    *frac = (int32_t)header->mantissa_bits - 2 - exponent;
    return result;
}

static cnnvp_result read_map(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor,
                             float *values, int32_t *frac, struct cnnvp_error *error)
{
    struct held held;
    const size_t count = cnnvp_graph_words(&network->graph.tensors[tensor]);
    *frac = CNNVP_NETWORK_FLOAT;
    if (!find_held(network, tensor, &held))
        return cnnvp_compiler_error(error, "tensor \"%s\" is not in memory", network->graph.tensors[tensor].name);
    if (held.mantissas != 0)
        return read_mantissas(network, platform, &held, count, values, frac, error);
    if (tensor == network->graph.outputs[0].tensor)
        return read_output(network, platform, 0, network->images - 1u, values, error);
    if (cnnvp_platform_read(platform, held.values, values, count * sizeof *values) == CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "sums cannot be read at 0x%llx", (unsigned long long)held.values);
}

/* ---- */

static cnnvp_result check(const cnnvp_config *config, struct cnnvp_error *error)
{
    struct cnnvp_train_target target;
    const cnnvp_result result = cnnvp_train_target_read(config, &target, error);
    cnnvp_train_target_clear(&target);
    return result == CNNVP_DONE ? cnnvp_target_complete(config, CNNVP_TARGET_TRAINING, error) : result;
}

const struct cnnvp_back_end cnnvp_training_engine = {
    .is_for = cnnvp_train_target_is,
    .software = CNNVP_TARGET_TRAINING,
    .check = check,
    .make = make,
    .free = forget,
    .load = load,
    .output = read_output,
    .holds = holds,
    .tensor = read_map,
};
