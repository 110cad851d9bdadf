/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The final choice of --schedule auto. The planner fuses layers by estimated bounds. Here the platform runs the layers
 * of the groups one by one, then the groups, to measure what they really take. Of groups that are alike only the first
 * is tried. Groups that are better than their layers by the objective stay. A short network runs whole, and once more
 * with the groups that stay, because DRAM refreshes that fall into other layers are a large part of its time.
 */
#include <string.h>

#include "network.h"

/* A network is short if the bounds of its layers add up to less. */
#define SHORT_PS 1e9

struct trials {
    struct cnnvp_network *network;
    const cnnvp_config *config;
    const struct cnnvp_network_options *watched; /* gets the progress of the trials */
    double done;                                 /* share of the trials that is done */
    struct cnnvp_plan_taken bounds;              /* sum of all layers' bounds, layer by layer */
    struct cnnvp_binary_options options;         /* options of builds that plan nothing again */
    struct cnnvp_layer *planned;                 /* layers as cut for single layers */
    unsigned char *tried;                        /* 1: the layer runs in the trials */
    unsigned char *kept;                         /* 1: the group stays */
    struct cnnvp_plan_taken *alone, *fused;      /* measured for each layer: by itself, and in its group */
};

static size_t first_alike(const struct cnnvp_network *network, size_t group)
{
    size_t as = 0;
    while (as < group && !cnnvp_binary_groups_alike(&network->build, as, group))
        ++as;
    return as;
}

static void choose_layers(const struct trials *trials)
{
    const struct cnnvp_network *network = trials->network;
    memset(trials->tried, trials->bounds.ps < SHORT_PS, network->graph.layer_count);
    for (size_t g = 0; g < network->plan.run_count; ++g)
        if (first_alike(network, g) == g)
            memset(trials->tried + network->plan.runs[g].first, 1, network->plan.runs[g].count);
}

/* Compares the scores of the whole network with these layers fused and by themselves. */
static int is_better(const struct trials *trials, size_t first, size_t count)
{
    const enum cnnvp_plan_objective objective = trials->network->target.limits.objective;
    struct cnnvp_plan_taken alone = trials->bounds;
    struct cnnvp_plan_taken fused = trials->bounds;
    for (size_t i = first; i < first + count; ++i) {
        cnnvp_plan_add(&alone, &trials->alone[i]);
        cnnvp_plan_add(&fused, &trials->fused[i]);
    }
    return cnnvp_plan_score(objective, &fused) < cnnvp_plan_score(objective, &alone);
}

/* Removes the groups that are worse. Groups that are alike share the result of the first one. */
static void keep_better(const struct trials *trials)
{
    struct cnnvp_plan *plan = &trials->network->plan;
    size_t kept = 0;
    for (size_t g = 0; g < plan->run_count; ++g) {
        const size_t as = first_alike(trials->network, g);
        trials->kept[g] =
            as < g ? trials->kept[as] : (unsigned char)is_better(trials, plan->runs[g].first, plan->runs[g].count);
    }
    for (size_t g = 0; g < plan->run_count; ++g)
        if (trials->kept[g])
            plan->runs[kept++] = plan->runs[g];
    plan->run_count = kept;
}

static cnnvp_result try_layers(struct trials *trials, const struct cnnvp_plan *plan, struct cnnvp_plan_taken *taken,
                               struct cnnvp_error *error)
{
    struct cnnvp_binary_options options = trials->options;
    options.plan = plan;
    const cnnvp_result result = cnnvp_network_try(
        trials->network, &options, trials->config, trials->watched, trials->done, trials->tried, taken, error);
    trials->done += CNNVP_NETWORK_TRY;
    return result;
}

static cnnvp_result try_all(struct trials *trials, struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &trials->network->plan;
    choose_layers(trials);
    CNNVP_TRY(try_layers(trials, NULL, trials->alone, error));
    CNNVP_TRY(try_layers(trials, plan, trials->fused, error));
    keep_better(trials);
    if (plan->run_count == 0 || trials->bounds.ps >= SHORT_PS)
        return CNNVP_DONE;
    cnnvp_result result = try_layers(trials, plan, trials->fused, error);
    if (result == CNNVP_DONE && !is_better(trials, 0, trials->network->graph.layer_count))
        plan->run_count = 0;
    return result;
}

cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config,
                                  const struct cnnvp_network_options *watched, struct cnnvp_error *error)
{
    const size_t layers = network->graph.layer_count;
    const size_t before = network->plan.run_count;
    if (before == 0)
        return CNNVP_DONE;
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct trials trials = {
        .network = network,
        .config = config,
        .watched = watched,
        .options = network->binary_options,
        .planned = cnnvp_arena_array(&arena, layers, sizeof *trials.planned),
        .tried = cnnvp_arena_array(&arena, layers, 1),
        .kept = cnnvp_arena_array(&arena, before, 1),
        .alone = cnnvp_arena_array(&arena, layers, sizeof *trials.alone),
        .fused = cnnvp_arena_array(&arena, layers, sizeof *trials.fused),
    };
    CNNVP_TRY_MEMORY(!arena.failed, error);
    trials.options.planned = trials.planned;
    for (size_t i = 0; i < layers; ++i) {
        trials.planned[i] = network->build.layers[i];
        cnnvp_plan_cut_layer(&trials.planned[i], network->build.finalists[i].all[0].cut);
        cnnvp_plan_add(&trials.bounds, &network->build.finalists[i].all[0].taken);
    }
    CNNVP_TRY(try_all(&trials, error));
    return network->plan.run_count != before ? cnnvp_network_build_again(network, trials.planned, error) : CNNVP_DONE;
}
