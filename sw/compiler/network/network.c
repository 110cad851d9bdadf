/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp_network_* of cnnvp_network.h: calls the back end that fits the platform. */
#include "network.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "platform_ready.h"

/* The first back end that is for a configuration is taken. */
static const struct cnnvp_back_end *const back_ends[] = {&cnnvp_training_engine, &cnnvp_inference};

static const struct cnnvp_back_end *back_end_of(const cnnvp_config *config)
{
    size_t i = 0;
    while (!back_ends[i]->is_for(config))
        ++i;
    return back_ends[i];
}

cnnvp_result cnnvp_network_check(const cnnvp_config *config, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_target_resolved(config, error));
    const struct cnnvp_back_end *back_end = back_end_of(config);
    if (back_end->check(config, error) != CNNVP_DONE)
        return CNNVP_FAILED;
    CNNVP_TRY(cnnvp_target_wiring(config, back_end->software, error));
    return cnnvp_target_driven(config, back_end->software, error) == CNNVP_DONE ? CNNVP_DONE : CNNVP_FAILED;
}

static cnnvp_result check_options(const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    const char *clash = cnnvp_network_clash(options);
    if (clash != NULL)
        return cnnvp_compiler_error(error, "%s", clash);
    if ((unsigned)options->schedule > CNNVP_SCHEDULE_AUTO || (unsigned)options->issue > CNNVP_ISSUE_LIST ||
        (unsigned)options->precision > CNNVP_PRECISION_INT8)
        return cnnvp_compiler_error(error, "schedule, issue or precision has no value of its enum");
    if ((unsigned)options->objective > CNNVP_OBJECTIVE_TRAFFIC)
        return cnnvp_compiler_error(
            error, "objective %d: plans are chosen by time, energy, edp or traffic", (int)options->objective);
    if ((unsigned)options->rounding > CNNVP_ROUND_FLOOR)
        return cnnvp_compiler_error(
            error, "rounding %d: results round by truncate, nearest, stochastic or floor", (int)options->rounding);
    return options->schedule == CNNVP_SCHEDULE_DEPTH_FIRST
               ? cnnvp_depth_check_block(options->block, error)
               : CNNVP_DONE;
}

CNNVP_DROP(cnnvp_network)

cnnvp_result cnnvp_network_new(const char *onnx_file, const cnnvp_config *config,
                               const struct cnnvp_network_options *options, cnnvp_network **network,
                               struct cnnvp_error *error)
{
    return cnnvp_network_new_again(onnx_file, config, options, NULL, network, error);
}

cnnvp_result cnnvp_network_new_again(const char *onnx_file, const cnnvp_config *config,
                                     const struct cnnvp_network_options *theirs, struct cnnvp_plan_memory *memory,
                                     cnnvp_network **network, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    *network = NULL;
    char file[PATH_MAX];
    struct cnnvp_network_options own;
    const struct cnnvp_network_options *options = &own;
    CNNVP_TRY(cnnvp_client_struct(&own, sizeof own, theirs, "cnnvp_network_options", error));
    CNNVP_TRY(check_options(options, error));
    CNNVP_TRY(cnnvp_target_resolved(config, error));
    CNNVP_TRY(cnnvp_network_find(onnx_file, file, sizeof file, error));
    CNNVP_SCOPED(cnnvp_network_drop) cnnvp_network *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL && (made->file = strdup(file)) != NULL, error);
    made->memory = memory;
    made->seed = options->seed;
    made->on_chip = options->on_chip;
    made->timing_only = options->timing_only;
    made->guest = options->guest;
    made->block = options->schedule == CNNVP_SCHEDULE_DEPTH_FIRST ? options->block : 0;
    made->back_end = back_end_of(config);
    CNNVP_TRY(made->back_end->make(made, config, options, error));
    CNNVP_TRY(cnnvp_network_echo(options, &made->graph.arena, &made->echo, error));
    *network = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_network_free(cnnvp_network *network)
{
    if (network == NULL)
        return;
    if (network->back_end != NULL)
        network->back_end->free(network);
    cnnvp_graph_clear(&network->graph);
    free(network->float_outputs[0]);
    free(network->float_outputs[1]);
    free(network->input);
    free(network->file);
    free(network);
}

cnnvp_result cnnvp_network_load(const cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_platform_ready(platform, network->timing_only, error));
    if (network->target.moved != 0)
        return cnnvp_compiler_error(error,
                                    "%s: the network has an address of its own (base), where the platform's guest "
                                    "program does not look for it; cnnvp_network_make_image gives it to another core",
                                    network->file);
    return network->back_end->load(network, platform, error);
}

int cnnvp_network_is_widened(const cnnvp_network *network)
{
    int whole = 0, narrow = 0;
    for (size_t i = 0; i < network->graph.tensor_count; ++i) {
        whole |= network->graph.tensors[i].whole != 0;
        narrow |= network->graph.tensors[i].narrow != 0;
    }
    return whole && !narrow;
}

size_t cnnvp_network_trials(const cnnvp_network *network)
{
    return network->trials;
}

size_t cnnvp_network_outputs(const cnnvp_network *network)
{
    return network->graph.output_count;
}

const char *cnnvp_network_output_name(const cnnvp_network *network, size_t output)
{
    return output < network->graph.output_count ? network->graph.outputs[output].name : NULL;
}

cnnvp_result cnnvp_network_check_output(const cnnvp_network *network, const char *what, size_t output,
                                        struct cnnvp_error *error)
{
    const size_t count = network->graph.output_count;
    if (network->timing_only)
        return cnnvp_compiler_error(error, "a timing-only network has no %s", what);
    if (output < count)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "%s: there is no output %zu; the network has %zu, counted from 0", network->graph.file, output, count);
}

cnnvp_result cnnvp_network_output(const cnnvp_network *network, cnnvp_platform *platform, size_t output,
                                  struct cnnvp_array *array, struct cnnvp_error *error)
{
    memset(array, 0, sizeof *array);
    CNNVP_TRY(cnnvp_network_check_output(network, "output", output, error));
    const int32_t tensor = network->graph.outputs[output].tensor;
    const size_t words = cnnvp_graph_words(&network->graph.tensors[tensor]);
    cnnvp_result result = cnnvp_network_array(network, tensor, network->images, array, error);
    for (uint32_t image = 0; image < network->images && result == CNNVP_DONE; ++image)
        result =
            network->back_end->output(network, platform, output, image, (float *)array->data + image * words, error);
    if (result != CNNVP_DONE)
        cnnvp_array_clear(array);
    return result;
}
