/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --schedule auto runs at last. The planner fuses by bounds; the platform says what groups really take: the
 * network runs with all of them and layer by layer, then with those that were better than their layers by the
 * objective. The best of the three is taken.
 */
#include <stdlib.h>
#include <string.h>

#include "network.h"

struct trials {
    struct cnnvp_binary_options options;    /* of builds in which nothing is planned again */
    struct cnnvp_binary_layer *planned;     /* cut as layers by themselves */
    struct cnnvp_plan_taken *alone, *fused; /* of each layer */
    double score[3];                        /* layer by layer, all groups, those that are left */
};

static double score_of(const struct cnnvp_network *network, const struct cnnvp_plan_taken *layers,
                       const struct cnnvp_plan_run *run)
{
    struct cnnvp_plan_taken all = {0};
    for (size_t i = run->first; i < run->first + run->count; ++i)
        cnnvp_plan_add(&all, &layers[i]);
    return cnnvp_plan_score(network->target.limits.objective, &all);
}

/* Keeps the runs that were better. */
static void keep_better(struct cnnvp_network *network, const struct trials *trials)
{
    struct cnnvp_plan *plan = &network->plan;
    size_t kept = 0;
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run run = plan->runs[g];
        if (score_of(network, trials->fused, &run) < score_of(network, trials->alone, &run))
            plan->runs[kept++] = run;
    }
    plan->run_count = kept;
}

static cnnvp_result try_plan(struct cnnvp_network *network, const struct cnnvp_binary_options *options,
                             const cnnvp_config *config, struct cnnvp_plan_taken *layers, double *score,
                             struct cnnvp_error *error)
{
    struct cnnvp_plan_taken all = {0};
    const cnnvp_result result = cnnvp_network_try(network, options, config, layers, &all, error);
    network->tried += CNNVP_NETWORK_TRY;
    *score = cnnvp_plan_score(network->target.limits.objective, &all);
    return result;
}

static cnnvp_result try_all(struct cnnvp_network *network, const cnnvp_config *config, struct trials *trials,
                            struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &network->plan;
    struct cnnvp_binary_options layer = trials->options;
    const size_t count = plan->run_count;
    struct cnnvp_plan_run *all = malloc(count * sizeof *all);
    layer.plan = NULL;
    cnnvp_result result = all != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
    if (result == CNNVP_DONE)
        result = try_plan(network, &layer, config, trials->alone, &trials->score[0], error);
    if (result == CNNVP_DONE)
        result = try_plan(network, &trials->options, config, trials->fused, &trials->score[1], error);
    if (result != CNNVP_DONE) {
        free(all);
        return result;
    }
    memcpy(all, plan->runs, count * sizeof *all);
    trials->score[2] = trials->score[1];
    keep_better(network, trials);
    if (plan->run_count != 0 && plan->run_count != count)
        result = try_plan(network, &trials->options, config, NULL, &trials->score[2], error);
    const int none = plan->run_count == 0;
    if (!none && trials->score[1] < trials->score[2]) {
        memcpy(plan->runs, all, count * sizeof *all);
        plan->run_count = count;
        trials->score[2] = trials->score[1];
    }
    if (none || trials->score[0] <= trials->score[2])
        plan->run_count = 0;
    free(all);
    return result;
}

/* The network as it is to run. */
static cnnvp_result build_again(struct cnnvp_network *network, const struct trials *trials, struct cnnvp_error *error)
{
    struct cnnvp_build before = network->build;
    const cnnvp_result result =
        cnnvp_binary_build(&network->graph, &network->target, &trials->options, &network->build, error);
    if (result == CNNVP_DONE) {
        network->build.finalists = before.finalists;
        before.finalists = NULL;
    }
    cnnvp_binary_clear(&before, network->graph.layer_count);
    return result;
}

cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config, struct cnnvp_error *error)
{
    const struct cnnvp_build *build = &network->build;
    struct trials trials = {.options = network->binary_options};
    const size_t layers = network->graph.layer_count;
    const size_t before = network->plan.run_count;
    if (before == 0)
        return CNNVP_DONE;
    trials.planned = calloc(layers, sizeof *trials.planned);
    trials.alone = calloc(layers, sizeof *trials.alone);
    trials.fused = calloc(layers, sizeof *trials.fused);
    trials.options.planned = trials.planned;
    for (size_t i = 0; trials.planned != NULL && i < layers; ++i)
        cnnvp_plan_cut_layer(&trials.planned[i], &build->finalists[i].all[0].cut);
    cnnvp_result result = trials.planned != NULL && trials.alone != NULL && trials.fused != NULL
                              ? try_all(network, config, &trials, error)
                              : cnnvp_compiler_no_memory(error);
    if (result == CNNVP_DONE && network->plan.run_count != before)
        result = build_again(network, &trials, error);
    free(trials.planned);
    free(trials.alone);
    free(trials.fused);
    return result;
}
