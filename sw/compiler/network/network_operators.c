/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which of a file's operators run where (`cnnvp check NETWORK.onnx`). A layer counts for the operator of the
 * node that it was made from. A node without a layer became part of another layer, says how existing words are read, or
 * was computed when the file was read. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "network.h"
#include "onnx.h"

enum { UNITS = 16, COLUMN = 12 };

/* The instances that layers run on. */
struct columns {
    const char *names[UNITS];
    size_t count;
};

static const char *unit_of(const struct cnnvp_network *network, size_t layer)
{
    return network->back_end == &cnnvp_inference
               ? cnnvp_plan_unit(&network->build.layers[layer], &network->target.limits)
               : "engine";
}

static void find_columns(const struct cnnvp_network *network, struct columns *columns)
{
    for (size_t i = 0; i < network->graph.layer_count; ++i) {
        const char *unit = unit_of(network, i);
        size_t at = 0;
        while (at < columns->count && strcmp(columns->names[at], unit) != 0)
            ++at;
        if (at == columns->count && columns->count < UNITS)
            columns->names[columns->count++] = unit;
    }
}

static void print_number(FILE *stream, size_t number)
{
    if (number != 0)
        (void)fprintf(stream, " %*zu", COLUMN, number);
    else
        (void)fprintf(stream, " %*s", COLUMN, "-");
}

static void print_operator(const struct cnnvp_network *network, const struct columns *columns,
                           const struct cnnvp_onnx_operator *operator, FILE * stream)
{
    (void)fprintf(stream, "%-24s %6zu", operator->op_type, operator->nodes);
    for (size_t column = 0; column < columns->count; ++column) {
        size_t layers = 0;
        for (size_t i = 0; i < network->graph.layer_count; ++i)
            layers += operator->known && strcmp(network->graph.layers[i].op_type, operator->op_type) == 0 &&
                      strcmp(unit_of(network, i), columns->names[column]) == 0;
        print_number(stream, layers);
    }
    (void)fprintf(stream, "%s\n", operator->known ? "" : "  not supported");
}

static void print_table(const struct cnnvp_network *network, const struct cnnvp_onnx_operators *operators, FILE *stream)
{
    struct columns columns = {.count = 0};
    if (network != NULL)
        find_columns(network, &columns);
    (void)fprintf(stream, "%-24s %6s", "operator", "nodes");
    for (size_t i = 0; i < columns.count; ++i)
        (void)fprintf(stream, " %*s", COLUMN, columns.names[i]);
    (void)fprintf(stream, "\n");
    for (size_t i = 0; i < operators->count; ++i)
        print_operator(network, &columns, &operators->all[i], stream);
    if (network == NULL)
        return;
    uint64_t macs = 0;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        macs += cnnvp_graph_macs(&network->graph, &network->graph.layers[i]);
    (void)fprintf(stream,
                  "\n%zu layers, %llu MACs an image. Nodes without a layer are part of another one, or say how "
                  "words are read,\nor were computed when the file was read.\n",
                  network->graph.layer_count, (unsigned long long)macs);
}

cnnvp_result cnnvp_network_operators(const char *onnx_file, const cnnvp_config *config,
                                     const struct cnnvp_network_options *options, char **text,
                                     struct cnnvp_error *error)
{
    char file[PATH_MAX];
    struct cnnvp_onnx_operators operators;
    struct cnnvp_printed printed;
    cnnvp_network *network = NULL;
    *text = NULL;
    CNNVP_TRY(cnnvp_network_find(onnx_file, file, sizeof file, error));
    CNNVP_TRY(cnnvp_compiler_in_file(cnnvp_onnx_operators(file, &operators, error), file, error));
    cnnvp_result result = cnnvp_network_new(file, config, options, &network, error);
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream != NULL) {
        print_table(network, &operators, stream);
        *text = cnnvp_print_end(&printed);
    }
    if (*text == NULL)
        result = cnnvp_compiler_no_memory(error);
    cnnvp_network_free(network);
    cnnvp_onnx_operators_clear(&operators);
    return result;
}
