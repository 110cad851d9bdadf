/* SPDX-License-Identifier: Apache-2.0 */
/* A network's plans: which there are, trials of them, and the choice. */
#include <stdlib.h>
#include <string.h>

#include "network.h"

/* The second image follows the first one as all further ones do. */
#define TRIAL_IMAGES 2u

size_t cnnvp_network_plans(const cnnvp_network *network)
{
    return network->build.rivals != NULL ? network->build.rivals->count : 1u;
}

/* Another build of the network, with the tiles of a plan. */
static cnnvp_result build_plan(const struct cnnvp_network *network, size_t plan,
                               const struct cnnvp_image_options *options, struct cnnvp_build *build,
                               struct cnnvp_error *error)
{
    const struct cnnvp_plan_rivals *rivals = network->build.rivals;
    const size_t count = network->graph.layer_count;
    if (rivals == NULL || plan >= rivals->count)
        return cnnvp_compiler_error(error, "plan %zu: the network has %zu", plan, cnnvp_network_plans(network));
    struct cnnvp_image_layer *layers = calloc(count, sizeof *layers);
    if (layers == NULL)
        return cnnvp_compiler_no_memory(error);
    memcpy(layers, network->build.layers, count * sizeof *layers);
    const struct cnnvp_plan_cut *cut = &rivals->cuts[plan * rivals->layers];
    for (size_t i = 0; i < count; ++i)
        if (layers[i].chain == 0)
            cnnvp_plan_cut_layer(&layers[i], cut++);
    struct cnnvp_image_options with_plan = *options;
    with_plan.planned = layers;
    const cnnvp_result result = cnnvp_image_build(&network->graph, &network->target, &with_plan, build, error);
    free(layers);
    return result;
}

cnnvp_result cnnvp_network_choose(cnnvp_network *network, size_t plan, struct cnnvp_error *error)
{
    struct cnnvp_build build;
    if (plan == 0 && cnnvp_network_plans(network) == 1)
        return CNNVP_DONE;
    const cnnvp_result result = build_plan(network, plan, &network->image_options, &build, error);
    if (result != CNNVP_DONE)
        return result;
    cnnvp_image_take_rivals(&build, &network->build);
    cnnvp_image_clear(&network->build, network->graph.layer_count);
    network->build = build;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_load_trial(const cnnvp_network *network, size_t plan, cnnvp_platform *platform,
                                      struct cnnvp_error *error)
{
    struct cnnvp_network trial = *network;
    trial.images = network->images < TRIAL_IMAGES ? network->images : TRIAL_IMAGES;
    trial.image_options.images = trial.images;
    trial.timing_only = 1;
    trial.cpu_host = 0;
    trial.graph.weightless = 1;
    cnnvp_result result = build_plan(&trial, plan, &trial.image_options, &trial.build, error);
    if (result != CNNVP_DONE)
        return result;
    result = cnnvp_network_load(&trial, platform, error);
    cnnvp_image_clear(&trial.build, trial.graph.layer_count);
    return result;
}
