/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The final choice of --schedule auto. The planner fuses layers by estimated bounds. Here the platform runs the layers
 * of the groups one by one, then the groups, to measure what they really take. Of groups that are alike only the first
 * is tried. The groups stay that gain most by the objective. If the network is too long to run whole with the plans for
 * all objectives, the groups that the planner finds for the other objectives are tried here, too. A short network runs
 * whole, and once more with the groups that stay, because DRAM refreshes that fall into other layers are a large part
 * of its time.
 */
#include <stdlib.h>
#include <string.h>

#include "network.h"

/* A network is short if the bounds of its layers add up to less. */
#define SHORT_PS 1e9

struct group {
    struct cnnvp_plan_run run;
    struct cnnvp_plan_cut *cuts; /* of its layers */
    double gain;                 /* score of its layers by themselves, less that of the group */
};

struct trials {
    struct cnnvp_network *network;
    const cnnvp_config *config;
    const struct cnnvp_network_options *watched; /* gets the progress of the trials */
    double done;                                 /* share of the trials that is done */
    double ps;                                   /* sum of all layers' bounds, layer by layer */
    double power;                                /* mean power of the layers that ran first, in pJ per ps */
    struct cnnvp_binary_options options;         /* options of builds that plan nothing again */
    struct cnnvp_layer *planned;                 /* layers as cut for single layers */
    unsigned char *tried;                        /* 1: the layer runs in the next trial */
    unsigned char *known;                        /* 1: `alone` is known */
    struct cnnvp_plan_taken *alone, *fused;      /* measured for each layer: by itself, and in the last trial */
    struct cnnvp_arena *arena;                   /* of the groups */
    struct group *groups;                        /* all that were tried, of the objectives one after the other */
    size_t group_count;
};

static struct cnnvp_plan_taken sum_of(const struct cnnvp_plan_taken *taken, size_t first, size_t count)
{
    struct cnnvp_plan_taken sum = {0};
    for (size_t i = first; i < first + count; ++i)
        cnnvp_plan_add(&sum, &taken[i]);
    return sum;
}

/* What the layers that were in the last trial gain by the objective. */
static double gain_of(const struct trials *trials, size_t first, size_t count)
{
    const enum cnnvp_plan_objective objective = trials->network->target.limits.objective;
    const struct cnnvp_plan_taken alone = sum_of(trials->alone, first, count);
    const struct cnnvp_plan_taken fused = sum_of(trials->fused, first, count);
    return cnnvp_plan_part_score(objective, trials->power, &alone) -
           cnnvp_plan_part_score(objective, trials->power, &fused);
}

/* ---- trials ---- */

static cnnvp_result try_layers(struct trials *trials, const struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    struct cnnvp_binary_options options = trials->options;
    options.plan = plan;
    const cnnvp_result result = cnnvp_network_try(
        trials->network, &options, trials->config, trials->watched, trials->done, trials->tried, trials->fused, error);
    trials->done += CNNVP_NETWORK_TRY;
    return result;
}

/* Runs the layers to be tried by themselves, except those that are known. */
static cnnvp_result try_alone(struct trials *trials, struct cnnvp_error *error)
{
    const size_t layers = trials->network->graph.layer_count;
    size_t count = 0;
    for (size_t i = 0; i < layers; ++i) {
        trials->tried[i] &= (unsigned char)!trials->known[i];
        count += trials->tried[i];
    }
    if (count == 0)
        return CNNVP_DONE;
    CNNVP_TRY(try_layers(trials, NULL, error));
    for (size_t i = 0; i < layers; ++i)
        if (trials->tried[i]) {
            trials->alone[i] = trials->fused[i];
            trials->known[i] = 1;
        }
    const struct cnnvp_plan_taken all = sum_of(trials->alone, 0, layers);
    if (trials->power == 0 && all.ps > 0)
        trials->power = all.pj / all.ps;
    return CNNVP_DONE;
}

/* The group that was tried before with the same layers and tiles; NULL: none. */
static const struct group *find(const struct trials *trials, const struct cnnvp_plan_run *run,
                                const struct cnnvp_plan_cut *cuts)
{
    for (size_t g = 0; g < trials->group_count; ++g) {
        const struct group *group = &trials->groups[g];
        if (group->run.first == run->first && group->run.count == run->count && group->run.tile_h == run->tile_h &&
            group->run.tile_w == run->tile_w && group->run.halo == run->halo &&
            memcmp(group->cuts, cuts, run->count * sizeof *cuts) == 0)
            return group;
    }
    return NULL;
}

/* Marks the layers that run to try these groups. Returns how many groups do: not those that are like an earlier one,
 * and not those that were tried. */
static size_t choose_layers(const struct trials *trials, const struct cnnvp_plan *plan, const size_t *alike)
{
    size_t count = 0;
    memset(trials->tried, trials->ps < SHORT_PS, trials->network->graph.layer_count);
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run *run = &plan->runs[g];
        if (alike[g] != g || find(trials, run, &plan->cuts[run->first]) != NULL)
            continue;
        memset(trials->tried + run->first, 1, run->count);
        ++count;
    }
    return count;
}

/* Keeps the groups with what they gain in the trials. Those that are alike gain the same. */
static cnnvp_result keep(struct trials *trials, const struct cnnvp_plan *plan, const size_t *alike,
                         struct cnnvp_error *error)
{
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run *run = &plan->runs[g];
        const struct cnnvp_plan_run *as = &plan->runs[alike[g]];
        const struct group *known = find(trials, as, &plan->cuts[as->first]);
        struct group *group = &trials->groups[trials->group_count];
        if (known != NULL && alike[g] == g)
            continue;
        group->run = *run;
        group->gain = known != NULL ? known->gain : gain_of(trials, run->first, run->count);
        group->cuts = cnnvp_arena_array(trials->arena, run->count, sizeof *group->cuts);
        CNNVP_TRY_MEMORY(group->cuts != NULL, error);
        memcpy(group->cuts, &plan->cuts[run->first], run->count * sizeof *group->cuts);
        ++trials->group_count;
    }
    return CNNVP_DONE;
}

/* Tries the groups of a plan, which are those of the build. */
static cnnvp_result try_plan(struct trials *trials, const struct cnnvp_build *build, const struct cnnvp_plan *plan,
                             struct cnnvp_error *error)
{
    CNNVP_FREED size_t *alike = calloc(plan->run_count + 1, sizeof *alike);
    CNNVP_TRY_MEMORY(alike != NULL, error);
    for (size_t g = 0; g < plan->run_count; ++g)
        while (alike[g] < g && !cnnvp_binary_groups_alike(build, alike[g], g))
            ++alike[g];
    if (choose_layers(trials, plan, alike) != 0) {
        CNNVP_TRY(try_alone(trials, error));
        (void)choose_layers(trials, plan, alike);
        CNNVP_TRY(try_layers(trials, plan, error));
    }
    return keep(trials, plan, alike, error);
}

/* Tries the groups of the plan for another objective. BAD_INPUT: it does not fit. */
static cnnvp_result try_objective(struct trials *trials, enum cnnvp_plan_objective objective, struct cnnvp_error *error)
{
    struct cnnvp_network *network = trials->network;
    struct cnnvp_plan_limits *limits = &network->target.limits;
    const enum cnnvp_plan_objective own = limits->objective;
    struct cnnvp_binary_options options = trials->options;
    CNNVP_SCOPED(cnnvp_plan_clear) struct cnnvp_plan plan = {.run_count = 0};
    CNNVP_SCOPED(cnnvp_binary_clear) struct cnnvp_build build = {.end = 0};
    CNNVP_TRY(cnnvp_plan_new(&network->graph, &plan, error));
    options.planned = NULL;
    options.plan = NULL;
    options.made = &plan;
    limits->objective = objective;
    const cnnvp_result result = cnnvp_binary_build(&network->graph, &network->target, &options, &build, error);
    limits->objective = own;
    return result == CNNVP_DONE ? try_plan(trials, &build, &plan, error) : result;
}

/* ---- choice ---- */

/* Takes the groups that together gain most; each layer is in at most one. *changed: 1 if others were in the plan. */
static cnnvp_result choose(const struct trials *trials, int *changed, struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &trials->network->plan;
    const size_t layers = trials->network->graph.layer_count;
    CNNVP_FREED double *most = calloc(layers + 1, sizeof *most); /* gain of the layers before this one */
    CNNVP_FREED const struct group **last = calloc(layers + 1, sizeof *last);
    CNNVP_TRY_MEMORY(most != NULL && last != NULL, error);
    for (size_t end = 1; end <= layers; ++end) {
        most[end] = most[end - 1];
        for (size_t g = 0; g < trials->group_count; ++g) {
            const struct group *group = &trials->groups[g];
            if (group->run.first + group->run.count != end || most[group->run.first] + group->gain <= most[end])
                continue;
            most[end] = most[group->run.first] + group->gain;
            last[end] = group;
        }
    }
    memset(plan->cuts, 0, layers * sizeof *plan->cuts);
    size_t at = layers; /* the runs come last first, at the end of the array */
    for (size_t end = layers; end != 0; end = last[end] != NULL ? last[end]->run.first : end - 1) {
        if (last[end] == NULL)
            continue;
        *changed |= last[end] >= trials->groups + plan->run_count; /* those of the plan were tried first */
        plan->runs[--at] = last[end]->run;
        memcpy(&plan->cuts[last[end]->run.first], last[end]->cuts, last[end]->run.count * sizeof *plan->cuts);
    }
    *changed |= layers - at != plan->run_count;
    plan->run_count = layers - at;
    memmove(plan->runs, plan->runs + at, plan->run_count * sizeof *plan->runs);
    return CNNVP_DONE;
}

static cnnvp_result try_all(struct trials *trials, int *changed, struct cnnvp_error *error)
{
    struct cnnvp_plan *plan = &trials->network->plan;
    const enum cnnvp_plan_objective own = trials->network->target.limits.objective;
    struct cnnvp_error lost;
    CNNVP_TRY(try_plan(trials, &trials->network->build, plan, error));
    for (unsigned i = 0; trials->ps >= CNNVP_NETWORK_WHOLE_PS && i < CNNVP_PLAN_OBJECTIVES; ++i) {
        const cnnvp_result result = i != own ? try_objective(trials, i, &lost) : CNNVP_DONE;
        if (result == CNNVP_FAILED)
            *error = lost;
        CNNVP_TRY(result == CNNVP_BAD_INPUT ? CNNVP_DONE : result);
    }
    CNNVP_TRY(choose(trials, changed, error));
    if (plan->run_count == 0 || trials->ps >= SHORT_PS)
        return CNNVP_DONE;
    memset(trials->tried, 1, trials->network->graph.layer_count);
    CNNVP_TRY(try_layers(trials, plan, error));
    if (gain_of(trials, 0, trials->network->graph.layer_count) <= 0) {
        plan->run_count = 0;
        memset(plan->cuts, 0, trials->network->graph.layer_count * sizeof *plan->cuts);
        *changed = 1;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config,
                                  const struct cnnvp_network_options *watched, struct cnnvp_error *error)
{
    const size_t layers = network->graph.layer_count;
    int changed = 0;
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct trials trials = {
        .network = network,
        .config = config,
        .watched = watched,
        .options = network->binary_options,
        .planned = cnnvp_arena_array(&arena, layers, sizeof *trials.planned),
        .tried = cnnvp_arena_array(&arena, layers, 1),
        .known = cnnvp_arena_array(&arena, layers, 1),
        .alone = cnnvp_arena_array(&arena, layers, sizeof *trials.alone),
        .fused = cnnvp_arena_array(&arena, layers, sizeof *trials.fused),
        .arena = &arena,
        .groups = cnnvp_arena_array(&arena, layers, CNNVP_PLAN_OBJECTIVES * sizeof *trials.groups),
    };
    CNNVP_TRY_MEMORY(!arena.failed, error);
    trials.options.planned = trials.planned;
    for (size_t i = 0; i < layers; ++i) {
        trials.planned[i] = network->build.layers[i];
        cnnvp_plan_cut_layer(&trials.planned[i], network->build.finalists[i].all[0].cut);
        trials.ps += network->build.finalists[i].all[0].taken.ps;
    }
    CNNVP_TRY(try_all(&trials, &changed, error));
    return changed ? cnnvp_network_build_again(network, trials.planned, error) : CNNVP_DONE;
}
