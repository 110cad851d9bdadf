/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a network's images in float, to choose formats and as the reference of the platform's results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_integer.h"
#include "numbers.h"
#include "network.h"

static void note_fractions(const float *values, struct cnnvp_graph_tensor *tensor)
{
    const size_t count = cnnvp_graph_words(tensor);
    for (size_t i = 0; i < count && tensor->fractions == 0; ++i)
        tensor->fractions = rintf(values[i]) < values[i] || rintf(values[i]) > values[i];
}

static void keep_largest(const struct cnnvp_floatref *run, struct cnnvp_graph *graph)
{
    for (size_t t = 0; t < graph->tensor_count; ++t) {
        struct cnnvp_graph_tensor *tensor = &graph->tensors[t];
        const size_t plane = (size_t)tensor->height * tensor->width;
        const float largest = tensor->base == CNNVP_GRAPH_NONE && tensor->scores == 0
                                  ? run->kernels->largest(run->data[t], cnnvp_graph_words(tensor))
                                  : 0.0f;
        for (size_t c = 0; tensor->channel_max != NULL && c < tensor->channels; ++c)
            tensor->channel_max[c] =
                fmaxf(tensor->channel_max[c], run->kernels->largest(run->data[t] + c * plane, plane));
        tensor->max_abs = largest > tensor->max_abs ? largest : tensor->max_abs;
    }
    for (size_t t = 0; t < graph->tensor_count; ++t)
        if (graph->tensors[t].base == CNNVP_GRAPH_NONE)
            note_fractions(run->data[t], &graph->tensors[t]);
    for (size_t i = 0; i < graph->layer_count; ++i) { /* joined parts */
        struct cnnvp_graph_tensor *part = &graph->tensors[graph->layers[i].out];
        if (part->base == CNNVP_GRAPH_NONE || part->channel_step > 1)
            continue;
        const float *values = run->data[graph->layers[i].out];
        part->max_abs = fmaxf(part->max_abs, run->kernels->largest(values, cnnvp_graph_words(part)));
        note_fractions(values, part);
    }
    for (size_t i = graph->layer_count; i-- > 0;) { /* copies after the layers that read them */
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        for (int second = 0; second < (layer->op == CNNVP_OP_ADD ? 2 : 1); ++second) {
            struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, second ? layer->in2 : layer->in)];
            if (in->scores != 0)
                in->max_abs = fmaxf(in->max_abs, cnnvp_floatref_scores(run, layer, second));
        }
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        layer->pre_max_abs = run->pre_max[i] > layer->pre_max_abs ? run->pre_max[i] : layer->pre_max_abs;
        layer->inverse_max = run->norm_max[i].inverse; /* maximum of all images so far */
        layer->scale_max = run->norm_max[i].scale;
        layer->offset_max = run->norm_max[i].offset;
    }
}

/* What to keep of the images that run. Both of the first two may be NULL. */
struct wanted {
    struct cnnvp_graph *calibrated; /* the run's graph, whose largest magnitudes are updated */
    float *outputs;
    const struct cnnvp_network_options *options; /* callbacks that stop the run and get its progress; NULL: none */
};

/* Progress of a run of images. */
struct place {
    const struct cnnvp_network_options *options;
    double images; /* images done */
    double some;   /* images in progress */
    double all;
    double layers;
};

static void tell(void *context, size_t layer)
{
    const struct place *place = context;
    const double done = place->images + place->some * (double)layer / place->layers;
    place->options->computing(place->options->tuning_context, done / place->all);
}

/* Keeps the outputs of an image. All images of an output follow one another. */
static void keep_outputs(const struct cnnvp_floatref *run, uint64_t image, uint64_t images, float *outputs)
{
    const struct cnnvp_graph *graph = run->graph;
    for (size_t i = 0; i < graph->output_count; ++i) {
        const int32_t tensor = graph->outputs[i].tensor;
        const size_t words = cnnvp_graph_words(&graph->tensors[tensor]);
        float *first = outputs + images * cnnvp_graph_output_words(graph, i);
        memcpy(first + image * words, run->data[tensor], words * sizeof *first);
    }
}

/* Keeps what is wanted of a batch that has run. `first`: its first image, of `all`. */
static void keep(struct cnnvp_floatref *run, uint64_t first, uint64_t count, uint64_t all, const struct wanted *wanted)
{
    for (uint64_t image = 0; image < count; ++image) {
        cnnvp_floatref_use(run, image);
        if (wanted->calibrated != NULL)
            keep_largest(run, wanted->calibrated);
        if (wanted->outputs != NULL)
            keep_outputs(run, first + image, all, wanted->outputs);
    }
}

static cnnvp_result run_images(const struct cnnvp_network *network, int ordinary, const float *images, uint64_t count,
                               const struct wanted *wanted, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const uint64_t together = cnnvp_graph_mixes_images(graph) ? network->target.limits.batch : 1u;
    CNNVP_SCOPED(cnnvp_floatref_clear) struct cnnvp_floatref run = {.graph = graph};
    CNNVP_TRY(cnnvp_floatref_new_batch(graph, cnnvp_minimum(together, count), &run, error));
    const size_t in_words = cnnvp_graph_input_words(graph, cnnvp_graph_inputs(graph));
    struct place place = {.options = wanted->options, .all = (double)count, .layers = (double)graph->layer_count};
    int (*const stopped)(void) = wanted->options != NULL ? wanted->options->stopped : NULL;
    run.ordinary = ordinary;
    run.stopped = stopped;
    run.begins = wanted->options != NULL && wanted->options->computing != NULL ? tell : NULL;
    run.context = &place;
    for (uint64_t first = 0; first < count; first += together) {
        const uint64_t some = cnnvp_minimum(together, count - first);
        place.images = (double)first;
        place.some = (double)some;
        cnnvp_floatref_images(&run, some, images + first * in_words);
        if (stopped != NULL && stopped()) {
            (void)cnnvp_compiler_error(error, "%s: interrupted", graph->file);
            return CNNVP_FAILED;
        }
        keep(&run, first, some, count, wanted);
    }
    return CNNVP_DONE;
}

/* Index in network->float_outputs. Without chains, both paddings are the same. */
static int kept_as(const struct cnnvp_network *network, int ordinary)
{
    return ordinary || network->block == 0;
}

/* Allocates memory for the outputs of all images. */
static cnnvp_result make_outputs(const struct cnnvp_network *network, float **outputs, struct cnnvp_error *error)
{
    const size_t words = cnnvp_graph_output_words(&network->graph, network->graph.output_count);
    *outputs =
        words <= SIZE_MAX / sizeof(float) / network->images ? malloc(network->images * words * sizeof **outputs) : NULL;
    return *outputs != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

/* Calibrates with the images to run. Their outputs also become the reference. */
static cnnvp_result calibrate_by_input(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                       struct cnnvp_error *error)
{
    float **outputs = &network->float_outputs[kept_as(network, 0)];
    CNNVP_TRY(*outputs != NULL ? CNNVP_DONE : make_outputs(network, outputs, error));
    const struct wanted wanted = {&network->graph, *outputs, options};
    return run_images(network, 0, network->input, network->images, &wanted, error);
}

static cnnvp_result calibrate(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                              struct cnnvp_error *error)
{
    if (options->calibration == NULL)
        return options->timing_only ? CNNVP_DONE : calibrate_by_input(network, options, error);
    const struct cnnvp_named_array from = {
        NULL, options->calibration, options->calibration_name != NULL ? options->calibration_name : "the calibration"};
    const size_t words = cnnvp_graph_words(&network->graph.tensors[network->graph.input]);
    uint64_t count = 0;
    if (cnnvp_graph_inputs(&network->graph) != 1)
        return cnnvp_compiler_error(error,
                                    "%s: the network has several inputs, which calibrate it themselves: there "
                                    "can be no %s",
                                    network->graph.file, from.file);
    CNNVP_TRY(cnnvp_network_images(&network->graph, 0, &from, 0, NULL, words, &count, error));
    if (options->timing_only)
        return CNNVP_DONE;
    CNNVP_FREED float *images = calloc(count, words * sizeof *images);
    CNNVP_TRY_MEMORY(images != NULL, error);
    const struct wanted wanted = {&network->graph, NULL, options};
    CNNVP_TRY(cnnvp_network_images(&network->graph, 0, &from, 0, images, words, &count, error));
    return run_images(network, 0, images, count, &wanted, error);
}

/* Resets the largest magnitudes. */
static void forget_largest(struct cnnvp_graph *graph)
{
    for (size_t t = 0; t < graph->tensor_count; ++t)
        graph->tensors[t].max_abs = 0.0f;
    for (size_t i = 0; i < graph->layer_count; ++i)
        graph->layers[i].pre_max_abs = 0.0f;
}

cnnvp_result cnnvp_network_calibrate(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                     struct cnnvp_error *error)
{
    int changed = 0;
    if (!options->timing_only)
        CNNVP_TRY(cnnvp_equalise_watch(&network->graph, error));
    CNNVP_TRY(calibrate(network, options, error));
    if (!options->timing_only)
        CNNVP_TRY(cnnvp_equalise(&network->graph, &changed, error));
    if (!changed)
        return CNNVP_DONE;
    forget_largest(&network->graph);
    return calibrate(network, options, error);
}

/* Returns the float model's outputs: the kept ones, or new ones in *made, to be given back with free(). */
static cnnvp_result find_outputs(const struct cnnvp_network *network, int ordinary, const float **outputs, float **made,
                                 struct cnnvp_error *error)
{
    *made = NULL;
    *outputs = network->float_outputs[kept_as(network, ordinary)];
    if (*outputs != NULL)
        return CNNVP_DONE;
    cnnvp_result result = make_outputs(network, made, error);
    const struct wanted wanted = {NULL, *made, NULL};
    if (result == CNNVP_DONE)
        result = run_images(network, ordinary, network->input, network->images, &wanted, error);
    *outputs = *made;
    return result;
}

static cnnvp_result float_output(const struct cnnvp_network *network, int ordinary, size_t output,
                                 struct cnnvp_array *array, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const float *outputs;
    CNNVP_FREED float *made = NULL;
    memset(array, 0, sizeof *array);
    CNNVP_TRY(cnnvp_network_check_output(network, "reference", output, error));
    const int32_t tensor = graph->outputs[output].tensor;
    CNNVP_TRY(find_outputs(network, ordinary, &outputs, &made, error));
    CNNVP_TRY(cnnvp_network_array(network, tensor, network->images, array, error));
    memcpy(array->data, outputs + network->images * cnnvp_graph_output_words(graph, output),
           network->images * cnnvp_graph_words(&graph->tensors[tensor]) * sizeof *outputs);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_reference(const cnnvp_network *network, size_t output, struct cnnvp_array *array,
                                     struct cnnvp_error *error)
{
    return float_output(network, 1, output, array, error);
}

cnnvp_result cnnvp_network_block_reference(const cnnvp_network *network, size_t output, struct cnnvp_array *array,
                                           struct cnnvp_error *error)
{
    return float_output(network, 0, output, array, error);
}

cnnvp_result cnnvp_network_compare_blocks(struct cnnvp_network *network, struct cnnvp_error *error)
{
    const size_t count = network->images * cnnvp_graph_output_words(&network->graph, network->graph.output_count);
    struct cnnvp_array all[2];
    struct cnnvp_difference difference;
    for (int ordinary = 0; ordinary < 2; ++ordinary) {
        const float *outputs;
        float *made;
        const cnnvp_result result = find_outputs(network, ordinary, &outputs, &made, error);
        if (made != NULL)
            network->float_outputs[ordinary] = made;
        CNNVP_TRY(result);
        all[ordinary] = (struct cnnvp_array){
            .type = CNNVP_ARRAY_F32, .rank = 1, .shape = {count}, .data = network->float_outputs[ordinary]};
    }
    CNNVP_TRY(cnnvp_compare(&all[0], &all[1], &difference, error));
    network->block_difference = difference.largest;
    network->block_magnitude = difference.magnitude;
    return CNNVP_DONE;
}
