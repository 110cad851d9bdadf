/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --schedule auto runs at last. The planner fuses by bounds; the platform says what groups really take: the
 * network runs with all of them and layer by layer, then with those whose cycles were less than their layers'. The
 * fastest of the three is taken.
 */
#include <stdlib.h>
#include <string.h>

#include "network.h"

struct trials {
    uint64_t *alone, *fused; /* cycles of each layer */
    uint64_t ps[3];          /* layer by layer, all groups, those that are left */
};

static uint64_t sum(const uint64_t *cycles, const struct cnnvp_plan_run *run)
{
    uint64_t all = 0;
    for (size_t i = run->first; i < run->first + run->count; ++i)
        all += cycles[i];
    return all;
}

/* Keeps the runs that were faster. */
static void keep_faster(const struct trials *trials, struct cnnvp_plan *plan)
{
    size_t kept = 0;
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run run = plan->runs[g];
        if (sum(trials->fused, &run) < sum(trials->alone, &run))
            plan->runs[kept++] = run;
        else
            for (size_t i = run.first; i < run.first + run.count; ++i)
                plan->cuts[i] = (struct cnnvp_plan_cut){0};
    }
    plan->run_count = kept;
}

static cnnvp_result try_all(struct cnnvp_network *network, const cnnvp_config *config, struct trials *trials,
                            struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &network->plan;
    struct cnnvp_binary_options layer = network->binary_options;
    const size_t count = plan->run_count;
    struct cnnvp_plan_run *all = malloc(count * sizeof *all);
    layer.plan = NULL;
    cnnvp_result result = all != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_time(network, &layer, config, trials->alone, &trials->ps[0], error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_time(network, &network->binary_options, config, trials->fused, &trials->ps[1], error);
    if (result != CNNVP_DONE) {
        free(all);
        return result;
    }
    memcpy(all, plan->runs, count * sizeof *all);
    trials->ps[2] = trials->ps[1];
    keep_faster(trials, plan);
    if (plan->run_count != 0 && plan->run_count != count)
        result = cnnvp_network_time(network, &network->binary_options, config, NULL, &trials->ps[2], error);
    const int none = plan->run_count == 0;
    if (!none && trials->ps[1] < trials->ps[2]) {
        memcpy(plan->runs, all, count * sizeof *all);
        plan->run_count = count;
        trials->ps[2] = trials->ps[1];
    }
    if (none || trials->ps[0] <= trials->ps[2])
        plan->run_count = 0;
    free(all);
    return result;
}

cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config, struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &network->plan;
    struct trials trials = {0};
    const size_t layers = network->graph.layer_count;
    const size_t before = plan->run_count;
    if (before == 0)
        return CNNVP_DONE;
    trials.alone = calloc(layers, sizeof *trials.alone);
    trials.fused = calloc(layers, sizeof *trials.fused);
    cnnvp_result result = trials.alone != NULL && trials.fused != NULL ? try_all(network, config, &trials, error)
                                                                       : cnnvp_compiler_no_memory(error);
    free(trials.alone);
    free(trials.fused);
    if (result != CNNVP_DONE || plan->run_count == before)
        return result;
    if (plan->run_count == 0)
        memset(plan->cuts, 0, layers * sizeof *plan->cuts);
    cnnvp_binary_clear(&network->build, layers);
    return cnnvp_binary_build(&network->graph, &network->target, &network->binary_options, &network->build, error);
}
