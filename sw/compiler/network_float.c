/* SPDX-License-Identifier: Apache-2.0 */
/* A network's images in float: for the choice of formats, and as the reference beside the platform's results. */
#include <stdlib.h>
#include <string.h>

#include "floatref.h"
#include "network.h"

static void keep_largest(const struct cnnvp_floatref *run, struct cnnvp_graph *graph)
{
    for (size_t t = 0; t < graph->tensor_count; ++t) {
        struct cnnvp_graph_tensor *tensor = &graph->tensors[t];
        const float largest =
            tensor->base == CNNVP_GRAPH_NONE ? run->kernels->largest(run->data[t], cnnvp_graph_words(tensor)) : 0.0f;
        tensor->max_abs = largest > tensor->max_abs ? largest : tensor->max_abs;
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        layer->pre_max_abs = run->pre_max[i] > layer->pre_max_abs ? run->pre_max[i] : layer->pre_max_abs;
        layer->inverse_max = run->norm_max[i].inverse; /* over all images so far */
        layer->scale_max = run->norm_max[i].scale;
        layer->offset_max = run->norm_max[i].offset;
    }
}

/* What is wanted of images besides; either may be NULL. */
struct wanted {
    struct cnnvp_graph *calibrated; /* the same graph: its largest magnitudes */
    float *outputs;
    int (*stopped)(void);
};

static cnnvp_result run_images(const struct cnnvp_graph *graph, int ordinary, const float *images, uint64_t count,
                               const struct wanted *wanted, struct cnnvp_error *error)
{
    struct cnnvp_floatref run;
    cnnvp_result result = cnnvp_floatref_new(graph, &run, error);
    if (result != CNNVP_DONE)
        return result;
    const size_t in_words = cnnvp_graph_words(&graph->tensors[graph->input]);
    const size_t out_words = cnnvp_graph_words(&graph->tensors[graph->output]);
    run.ordinary = ordinary;
    run.stopped = wanted->stopped;
    for (uint64_t image = 0; image < count && result == CNNVP_DONE; ++image) {
        cnnvp_floatref_image(&run, images + image * in_words);
        if (wanted->stopped != NULL && wanted->stopped()) {
            (void)cnnvp_compiler_error(error, "%s: interrupted", graph->file);
            result = CNNVP_FAILED;
            break;
        }
        if (wanted->calibrated != NULL)
            keep_largest(&run, wanted->calibrated);
        if (wanted->outputs != NULL)
            memcpy(wanted->outputs + image * out_words, run.data[graph->output], out_words * sizeof(float));
    }
    cnnvp_floatref_clear(&run);
    return result;
}

/* Which of network->float_outputs: without chains, both are one. */
static int kept_as(const struct cnnvp_network *network, int ordinary)
{
    return ordinary || network->block == 0;
}

/* Calibrates with the images to run, whose outputs are the reference at once. */
static cnnvp_result calibrate_by_input(struct cnnvp_network *network, int (*stopped)(void), struct cnnvp_error *error)
{
    struct cnnvp_graph *graph = &network->graph;
    struct cnnvp_array *outputs = &network->float_outputs[kept_as(network, 0)];
    const cnnvp_result result = cnnvp_network_array(network, graph->output, network->images, outputs, error);
    if (result != CNNVP_DONE)
        return result;
    const struct wanted wanted = {graph, outputs->data, stopped};
    return run_images(graph, 0, network->input, network->images, &wanted, error);
}

cnnvp_result cnnvp_network_calibrate(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                     struct cnnvp_error *error)
{
    if (options->calibration == NULL)
        return options->timing_only ? CNNVP_DONE : calibrate_by_input(network, options->stopped, error);
    const char *name = options->calibration_name != NULL ? options->calibration_name : "the calibration";
    uint64_t count = 0;
    float *images = NULL;
    cnnvp_result result = cnnvp_network_images(&network->graph, options->calibration, name, 0,
                                               options->timing_only ? NULL : &images, &count, error);
    const struct wanted wanted = {&network->graph, NULL, options->stopped};
    if (result == CNNVP_DONE && !options->timing_only)
        result = run_images(&network->graph, 0, images, count, &wanted, error);
    free(images);
    return result;
}

/* The float model's output, `ordinary` as in struct cnnvp_floatref. */
static cnnvp_result float_output(const struct cnnvp_network *network, int ordinary, struct cnnvp_array *output,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const float *kept = network->float_outputs[kept_as(network, ordinary)].data;
    memset(output, 0, sizeof *output);
    if (network->timing_only)
        return cnnvp_network_no_values("reference", error);
    cnnvp_result result = cnnvp_network_array(network, graph->output, network->images, output, error);
    if (result != CNNVP_DONE)
        return result;
    if (kept != NULL) {
        const size_t words = cnnvp_graph_words(&graph->tensors[graph->output]);
        memcpy(output->data, kept, network->images * words * sizeof(float));
        return CNNVP_DONE;
    }
    const struct wanted wanted = {NULL, output->data, NULL};
    result = run_images(graph, ordinary, network->input, network->images, &wanted, error);
    if (result != CNNVP_DONE)
        cnnvp_array_clear(output);
    return result;
}

cnnvp_result cnnvp_network_reference(const cnnvp_network *network, struct cnnvp_array *output,
                                     struct cnnvp_error *error)
{
    return float_output(network, 1, output, error);
}

cnnvp_result cnnvp_network_block_reference(const cnnvp_network *network, struct cnnvp_array *output,
                                           struct cnnvp_error *error)
{
    return float_output(network, 0, output, error);
}

/* Calculates both outputs unless they are kept already. */
static cnnvp_result keep_outputs(struct cnnvp_network *network, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;
    for (int ordinary = 0; ordinary < 2 && result == CNNVP_DONE; ++ordinary)
        if (network->float_outputs[ordinary].data == NULL)
            result = float_output(network, ordinary, &network->float_outputs[ordinary], error);
    return result;
}

cnnvp_result cnnvp_network_compare_blocks(struct cnnvp_network *network, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const cnnvp_result result = keep_outputs(network, error);
    if (result != CNNVP_DONE)
        return result;
    const float *blocks = network->float_outputs[0].data;
    const float *ordinary = network->float_outputs[1].data;
    const size_t count = network->images * cnnvp_graph_words(&graph->tensors[graph->output]);
    for (size_t i = 0; i < count; ++i) {
        const double value = ordinary[i];
        const double difference = value - blocks[i];
        const double size = value < 0 ? -value : value;
        const double distance = difference < 0 ? -difference : difference;
        network->block_difference = distance > network->block_difference ? distance : network->block_difference;
        network->block_magnitude = size > network->block_magnitude ? size : network->block_magnitude;
    }
    return CNNVP_DONE;
}
