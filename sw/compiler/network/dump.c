/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --dump: writes each tensor that a layer makes, and the network's inputs, as TENSOR.npy (the platform's values) and
 * TENSOR.float.npy (the float model's), and the table sqnr.txt / sqnr.csv. Tensors between layers have one place for
 * all images, so the last image is shown, also of the network's inputs and outputs. Of the training engine the dump
 * shows what its memory has: block floating point, whose fraction bits follow from the exponent, or binary32.
 *
 * SQNR is that of cnnvp_sqnr. Below the table stand the layers that lose most: whose results are furthest below the
 * worst of their operands.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "numbers.h"
#include "network.h"
#include "output_file.h"

/* Number of layers named as losing most, the least loss of such a layer in dB, and the SQNR of words without error in
 * dB. */
#define LOSERS 3
#define LEAST_LOSS 3.0
#define EXACT_DB 90.0

struct dump {
    const struct cnnvp_network *network;
    cnnvp_platform *platform;
    const char *folder;
    struct cnnvp_floatref reference;
    cnnvp_output *text;
    cnnvp_output *csv;
    double *decibels; /* SQNR of each tensor; NaN: unknown */
    double *noise;    /* noise of each tensor */
    struct cnnvp_error *error;
};

/* Makes the path FOLDER/NUMBER_NAMEend. Characters of the name that do not suit a file name become _. */
static void make_path(const struct dump *dump, size_t number, const char *name, const char *end, char *path,
                      size_t room)
{
    size_t used = (size_t)snprintf(path, room, "%s/%03zu_", dump->folder, number);
    for (; *name != '\0' && used + strlen(end) + 1 < room && used < strlen(dump->folder) + 128; ++name) {
        const char c = *name;
        const int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_';
        path[used++] = plain ? c : '_';
    }
    if (used < room)
        (void)snprintf(path + used, room - used, "%s", end);
}

/* Writes the fraction bits, of parts the least and the most. */
static void name_format(const struct cnnvp_graph_tensor *tensor, int32_t frac, char *format, size_t room)
{
    const uint32_t sizes[] = {tensor->channels, tensor->height, tensor->width};
    int32_t least = frac, most = frac;
    for (uint32_t i = 0; tensor->fracs != NULL && i < sizes[tensor->fracs_by]; ++i) {
        least = i == 0 || tensor->fracs[i] < least ? tensor->fracs[i] : least;
        most = i == 0 || tensor->fracs[i] > most ? tensor->fracs[i] : most;
    }
    if (frac == CNNVP_NETWORK_FLOAT)
        (void)snprintf(format, room, "float");
    else if (least != most)
        (void)snprintf(format, room, "%d..%d", (int)least, (int)most);
    else
        (void)snprintf(format, room, "%d", (int)least);
}

static void print_row(struct dump *dump, const struct cnnvp_graph_tensor *tensor, int32_t frac,
                      const struct cnnvp_difference *difference)
{
    const char *name = tensor->name;
    char sqnr[32];
    const double decibels = cnnvp_sqnr(difference);
    (void)snprintf(sqnr, sizeof sqnr, "%.2f", decibels);
    const char *text = !(difference->noise > 0.0) ? "exact" : difference->signal > 0.0 ? sqnr : "float is 0";
    char format[32];
    name_format(tensor, frac, format, sizeof format);
    cnnvp_output_printf(dump->text, "%-32s %5s %12.6g %12.6g %10s\n", name, format, difference->magnitude,
                        difference->largest, text);
    cnnvp_output_printf(dump->csv, "\"");
    for (const char *c = name; *c != '\0'; ++c)
        cnnvp_output_printf(dump->csv, *c == '"' ? "\"\"" : "%c", *c);
    cnnvp_output_printf(dump->csv, "\",%s,%.9g,%.9g,%s\n", format, difference->magnitude, difference->largest, sqnr);
}

/* Undoes equalisation: in memory, the channels of equalised layers are scaled by powers of two. Channels lie `step`
 * planes apart. */
static void take_powers(const struct cnnvp_graph_tensor *tensor, size_t step, float *values)
{
    const size_t plane = (size_t)tensor->height * tensor->width;
    for (size_t i = 0; tensor->powers != NULL && i < cnnvp_graph_words(tensor); ++i) {
        float *value = &values[i / plane * step * plane + i % plane];
        *value = ldexpf(*value, -tensor->powers[i / plane]);
    }
}

/* Copies channels that lie `step` planes apart to dense ones. */
static void gather(const struct cnnvp_graph_tensor *tensor, size_t step, const float *from, float *to)
{
    const size_t plane = (size_t)tensor->height * tensor->width;
    for (size_t c = 0; c < tensor->channels; ++c)
        memcpy(to + c * plane, from + c * step * plane, plane * sizeof *to);
}

static cnnvp_result read_values(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor,
                                struct cnnvp_array *array, int32_t *frac, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_network_array(network, tensor, 1, array, error));
    CNNVP_TRY(network->back_end->tensor(network, platform, tensor, array->data, frac, error));
    take_powers(&network->graph.tensors[tensor], 1, array->data);
    return CNNVP_DONE;
}

/* Cuts off what the tensor's format leaves out on purpose: what lies beyond it makes no difference to its readers. */
static void saturate(const struct cnnvp_graph *graph, int32_t tensor, int32_t frac, struct cnnvp_array *array)
{
    const struct cnnvp_graph_tensor *base = &graph->tensors[cnnvp_graph_format_base(graph, tensor)];
    const float most = cnnvp_graph_word_bytes(graph, tensor) == 1u ? INT8_MAX : INT16_MAX;
    float *values = array->data;
    if (frac == CNNVP_NETWORK_FLOAT || graph->tensors[tensor].powers != NULL || graph->tensors[tensor].fracs != NULL ||
        (base->saturates == 0 && base->scores == 0))
        return;
    for (size_t i = 0; i < cnnvp_graph_words(&graph->tensors[tensor]); ++i) {
        values[i] = fmaxf(values[i], ldexpf(-most - 1.0f, -frac));
        values[i] = base->saturates != 0 ? fminf(values[i], ldexpf(most, -frac)) : values[i];
    }
}

static cnnvp_result dump_tensor(struct dump *dump, size_t number, int32_t tensor)
{
    const struct cnnvp_network *network = dump->network;
    const struct cnnvp_graph_tensor *shape = &network->graph.tensors[tensor];
    char path[4096];
    const size_t step = shape->channel_step > 1 ? shape->channel_step : 1;
    CNNVP_SCOPED(cnnvp_array_clear) struct cnnvp_array array = {.data = NULL};
    CNNVP_SCOPED(cnnvp_array_clear) struct cnnvp_array reference = {.data = NULL};
    struct cnnvp_difference difference;
    int32_t frac;
    CNNVP_TRY(read_values(network, dump->platform, tensor, &array, &frac, dump->error));
    CNNVP_TRY(cnnvp_network_array(network, tensor, 1, &reference, dump->error));
    take_powers(shape, step, dump->reference.data[tensor]);
    gather(shape, step, dump->reference.data[tensor], reference.data);
    make_path(dump, number, shape->name, ".float.npy", path, sizeof path);
    CNNVP_TRY(cnnvp_npy_write(path, &reference, dump->error));
    saturate(&network->graph, tensor, frac, &reference);
    CNNVP_TRY(cnnvp_compare(&array, &reference, &difference, dump->error));
    print_row(dump, shape, frac, &difference);
    dump->noise[tensor] = difference.noise;
    dump->decibels[tensor] = fmin(cnnvp_sqnr(&difference), EXACT_DB);
    make_path(dump, number, shape->name, ".npy", path, sizeof path);
    return cnnvp_npy_write(path, &array, dump->error);
}

static double power_of(const struct cnnvp_graph_tensor *tensor, size_t channel)
{
    return tensor->powers != NULL ? ldexp(1.0, tensor->powers[channel]) : 1.0;
}

/* Noise of a convolution's result, in the scale of the network's file, that rounding of weights alone makes. */
static double noise_of_weights(const struct dump *dump, const struct cnnvp_graph_layer *conv)
{
    const struct cnnvp_graph_tensor *in = &dump->network->graph.tensors[conv->in];
    const struct cnnvp_graph_tensor *out = &dump->network->graph.tensors[conv->out];
    const size_t plane = (size_t)in->height * in->width, taps = (size_t)conv->kx * conv->ky;
    const size_t depth = in->channels / conv->groups, group = out->channels / conv->groups;
    const float *weights = conv->weights;
    double noise = 0;
    for (size_t o = 0; o < out->channels; ++o) {
        const double more = power_of(out, o);
        double word = 0;
        for (size_t i = 0; i < depth; ++i, weights += taps) {
            const size_t channel = o / group * depth + i;
            const float *values = dump->reference.data[conv->in] + channel * plane;
            double errors = 0, squares = 0;
            for (size_t t = 0; t < taps; ++t)
                errors +=
                    pow((double)weights[t] -
                            (double)cnnvp_dequantise(cnnvp_quantise(weights[t], conv->weight_frac), conv->weight_frac),
                        2);
            for (size_t v = 0; v < plane && errors > 0.0; ++v)
                squares += (double)values[v] * (double)values[v];
            word += errors * squares / (double)plane * pow(power_of(in, channel) / more, 2);
        }
        noise += word;
    }
    return noise * out->height * out->width;
}

/* Advice that would give a layer's weights or words more bits, or "". Weights must make half of the noise, 3 dB. */
static const char *help_for(const struct dump *dump, size_t layer)
{
    const struct cnnvp_network *network = dump->network;
    const struct cnnvp_graph_layer *loser = &network->graph.layers[layer];
    if (network->build.layers == NULL)
        return "";
    if (network->graph.tensors[loser->out].narrow != 0)
        return "; words of 16 bits would help: --precision fx16, if the array has them";
    return loser->op == CNNVP_OP_CONV && loser->product == 0 && loser->scaled == 0 &&
                   noise_of_weights(dump, loser) >= 0.5 * dump->noise[loser->out]
               ? "; a format for each channel of its weights would help: -s pe_array.write_out=scale"
               : "";
}

/* Distance in dB of a layer's SQNR below the worst of its operands; NaN if one of them is unknown. */
static double loss_of(const struct dump *dump, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph *graph = &dump->network->graph;
    const double first = dump->decibels[cnnvp_graph_base(graph, layer->in)];
    const int32_t in2 = cnnvp_graph_base(graph, layer->in2);
    const double second = in2 != CNNVP_GRAPH_NONE ? dump->decibels[in2] : first;
    return (second < first ? second : first) - dump->decibels[layer->out];
}

static void print_losers(struct dump *dump)
{
    const struct cnnvp_graph *graph = &dump->network->graph;
    double last = INFINITY;
    size_t last_layer = SIZE_MAX; /* layers of infinite loss come after none */
    for (int place = 0; place < LOSERS; ++place) {
        double most = LEAST_LOSS;
        size_t loser = graph->layer_count;
        for (size_t i = 0; i < graph->layer_count; ++i) {
            const double loss = loss_of(dump, &graph->layers[i]);
            const int comes_after = loss < last || (loss <= last && i > last_layer);
            if (loss > most && comes_after) {
                most = loss;
                loser = i;
            }
        }
        if (loser == graph->layer_count)
            return;
        last = most;
        last_layer = loser;
        cnnvp_output_printf(dump->text, "%s %s: %.2f dB%s\n", place == 0 ? "loses most:" : "then",
                            graph->tensors[graph->layers[loser].out].name, most, help_for(dump, loser));
    }
}

/* 1: a layer before this one has the same output, as the copies that fill a tensor have. */
static int is_known(const struct cnnvp_graph *graph, size_t layer)
{
    size_t i = 0;
    while (graph->layers[i].out != graph->layers[layer].out)
        ++i;
    return i < layer;
}

static cnnvp_result dump_all(struct dump *dump)
{
    const struct cnnvp_network *network = dump->network;
    const struct cnnvp_graph *graph = &network->graph;
    cnnvp_output_printf(dump->text, "image %u of %u\n%-32s %5s %12s %12s %10s\n", network->images, network->images,
                        "tensor", "frac", "largest", "worst error", "SQNR dB");
    cnnvp_output_printf(dump->csv, "tensor,frac,largest,worst_error,sqnr_db\n");
    for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i)
        CNNVP_TRY(dump_tensor(dump, 0, cnnvp_graph_input(graph, i)));
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const int32_t out = graph->layers[i].out;
        if (is_known(graph, i))
            continue;
        if (!network->back_end->holds(network, out))
            cnnvp_output_printf(dump->text, "%-32s stays on chip\n", graph->tensors[out].name);
        else
            CNNVP_TRY(dump_tensor(dump, i + 1, out));
    }
    print_losers(dump);
    return CNNVP_DONE;
}

static cnnvp_result open_table(const char *folder, const char *name, cnnvp_output **table, struct cnnvp_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return cnnvp_output_new(path, table, error);
}

static cnnvp_result close_table(cnnvp_output *table, cnnvp_result result, struct cnnvp_error *error)
{
    if (table != NULL && result == CNNVP_DONE)
        return cnnvp_output_finish(table, error);
    cnnvp_output_discard(table);
    return result;
}

/* Runs the last image in float, with the others of its batch if a layer mixes them. */
static cnnvp_result run_last(const struct cnnvp_network *network, struct cnnvp_floatref *run, struct cnnvp_error *error)
{
    const uint32_t batch = cnnvp_graph_mixes_images(&network->graph) ? network->target.limits.batch : 1u;
    const uint32_t first = (network->images - 1u) / batch * batch;
    const uint32_t count = network->images - first;
    const size_t words = cnnvp_graph_input_words(&network->graph, cnnvp_graph_inputs(&network->graph));
    CNNVP_TRY(cnnvp_floatref_new_batch(&network->graph, count, run, error));
    cnnvp_floatref_images(run, count, network->input + first * words);
    cnnvp_floatref_use(run, count - 1u);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_dump(const cnnvp_network *network, cnnvp_platform *platform, const char *folder,
                                struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    if (network->timing_only)
        return cnnvp_compiler_error(error, "a timing-only network has no values to dump");
    if (strlen(folder) > 3072)
        return cnnvp_compiler_error(error, "the name of the folder for --dump is too long");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cnnvp_compiler_error(error, "%s: %s", folder, strerror(errno));
    struct dump dump = {.network = network, .platform = platform, .folder = folder, .error = error};
    CNNVP_FREED double *decibels = calloc(network->graph.tensor_count, sizeof *decibels);
    CNNVP_FREED double *noise = calloc(network->graph.tensor_count, sizeof *noise);
    CNNVP_TRY_MEMORY(decibels != NULL && noise != NULL, error);
    for (size_t i = 0; i < network->graph.tensor_count; ++i)
        decibels[i] = NAN;
    dump.decibels = decibels;
    dump.noise = noise;
    CNNVP_TRY(run_last(network, &dump.reference, error));
    cnnvp_result result = open_table(folder, "sqnr.txt", &dump.text, error);
    if (result == CNNVP_DONE)
        result = open_table(folder, "sqnr.csv", &dump.csv, error);
    if (result == CNNVP_DONE)
        result = dump_all(&dump);
    result = close_table(dump.text, result, error);
    result = close_table(dump.csv, result, error);
    cnnvp_floatref_clear(&dump.reference);
    return result;
}

cnnvp_result cnnvp_network_tensor(const cnnvp_network *network, cnnvp_platform *platform, const char *name,
                                  struct cnnvp_array *array, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    *array = (struct cnnvp_array){.data = NULL};
    for (size_t i = graph->layer_count; i-- > 0 && !network->timing_only;) {
        const int32_t out = graph->layers[i].out;
        int32_t frac;
        if (strcmp(graph->tensors[out].name, name) != 0 || !network->back_end->holds(network, out))
            continue;
        const cnnvp_result result = read_values(network, platform, out, array, &frac, error);
        if (result != CNNVP_DONE)
            cnnvp_array_clear(array);
        return result;
    }
    return cnnvp_compiler_error(error, "%s: no layer has a result \"%s\" in memory%s", graph->file, name,
                                network->timing_only ? ": the network is timing-only" : "");
}
