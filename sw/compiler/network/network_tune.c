/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of tiles by trial (--tune), in timing-only runs on the platform itself. The first run tries the tilings
 * with the best bounds: each layer as often as it has candidates, one after the other, at its tensors' places. Layers
 * that are alike are tried once. For each layer the tiling with the fewest cycles is taken. Then the whole network runs
 * with these tiles and with the tiles of the best bounds, and the faster choice stays, because a layer's cycles do not
 * say how far it lets the core run ahead. With an objective other than time, the objective decides in both places.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_integer.h"
#include "network.h"

/* Tilings with at least this many times the best score are not tried. */
#define FAR 2.0

/* Two, because the second batch follows the first as all later batches follow each other. */
#define TRIAL_BATCHES 2u
/* Rough share of the tilings' trials in the time of a tuning, for its progress; the rest is runs of whole networks. */
#define TRIALS_SHARE 0.7

/* A tiling that is slower by less than 1 / SLOWER_PART is preferred if its traffic is less by 1 / TRAFFIC_PART. */
#define SLOWER_PART 1024u
#define TRAFFIC_PART 16.0

/* Plans of the whole network, in the order in which they run. Of equal plans the first is taken. */
enum { BY_BOUND, BY_CYCLES, BY_CYCLES_AND_CORE, PLANS };

struct trial {
    size_t layer;  /* layer of the network */
    size_t number; /* index of its finalist */
    uint64_t cycles;
    double bytes;  /* bytes of bursts */
    double score;  /* score by the objective */
    uint64_t core; /* cycles of the core */
};

struct trials {
    const struct cnnvp_build *build;
    const struct cnnvp_network *network;
    struct trial *all;
    size_t count;
    struct cnnvp_build tables;
};

/* 1: the planner chose the layer's tiles: it is in no group, and no plan cuts it. */
static int is_planned(const struct cnnvp_build *build, size_t layer)
{
    return build->layers[layer].group == 0 && build->finalists[layer].count != 0;
}

/* The first layer whose tiles serve this one, too. */
static size_t first_alike(const struct cnnvp_target *target, const struct cnnvp_build *build, size_t layer)
{
    for (size_t i = 0; i < layer; ++i)
        if (is_planned(build, i) && cnnvp_binary_planned_alike(target, build, i, layer))
            return i;
    return layer;
}

/* Number of a layer's finalists that may be the best. */
static size_t tries_of(const struct cnnvp_plan_finalists *finalists)
{
    size_t count = 1;
    while (count < finalists->count && finalists->all[count].score < FAR * finalists->all[0].score)
        ++count;
    return count;
}

static cnnvp_result choose_trials(const struct cnnvp_network *network, struct trials *trials, struct cnnvp_error *error)
{
    const size_t layers = network->graph.layer_count;
    const struct cnnvp_build *build = trials->build;
    trials->all = calloc(layers * CNNVP_PLAN_FINALISTS + 1, sizeof *trials->all);
    CNNVP_TRY_MEMORY(trials->all != NULL, error);
    for (size_t i = 0; i < layers; ++i) {
        const size_t tries =
            is_planned(build, i) && first_alike(&network->target, build, i) == i ? tries_of(&build->finalists[i]) : 1;
        for (size_t n = 0; tries > 1 && n < tries; ++n)
            trials->all[trials->count++] = (struct trial){
                .layer = i, .number = n, .core = build->finalists[i].all[n].core / network->target.cycle_ps};
    }
    CNNVP_FREED struct cnnvp_binary_trial *list = calloc(trials->count + 1, sizeof *list);
    CNNVP_TRY_MEMORY(list != NULL, error);
    for (size_t i = 0; i < trials->count; ++i)
        list[i] = (struct cnnvp_binary_trial){
            trials->all[i].layer, &build->finalists[trials->all[i].layer].all[trials->all[i].number].cut};
    return cnnvp_binary_build_trials(build, list, trials->count, &trials->tables) == CNNVP_DONE
               ? CNNVP_DONE
               : cnnvp_compiler_no_memory(error);
}

/* A platform for trials. */
struct bench {
    cnnvp_config *config;
    double more_power; /* static power in addition to that of the network's platform, in pJ per ps: of memory for the
                          tables */
};

/* Changes the trials' configuration if the run's parameter has this value. */
static cnnvp_result set_instead(const cnnvp_config *config, cnnvp_config *trials, const char *parameter,
                                const char *of_run, const char *assignment, struct cnnvp_error *error)
{
    const char *text;
    if (cnnvp_config_get(config, parameter, NULL, &text) != CNNVP_DONE || strcmp(text, of_run) != 0)
        return CNNVP_DONE;
    return cnnvp_config_set(trials, assignment, error);
}

/* Plans are made for the hardware without speedup. */
static cnnvp_result slow_down(const cnnvp_config *config, cnnvp_config *trials, struct cnnvp_error *error)
{
    struct cnnvp_config_instance instance;
    char assignment[128];
    for (size_t i = 0; cnnvp_config_instance(config, i, &instance) == CNNVP_DONE; ++i) {
        (void)snprintf(assignment, sizeof assignment, "%s.speedup=1", instance.name);
        CNNVP_TRY(cnnvp_config_set(trials, assignment, error));
    }
    return CNNVP_DONE;
}

static cnnvp_result make_bench(const struct cnnvp_target *target, const cnnvp_config *config, int of_tilings,
                               struct bench *bench, struct cnnvp_error *error)
{
    double power = 0;
    *bench = (struct bench){.config = cnnvp_config_copy(config)};
    CNNVP_TRY_MEMORY(bench->config != NULL, error);
    /* The tables of tilings' trials are larger than the network's, but must be read as fast. */
    if (of_tilings)
        CNNVP_TRY(set_instead(config, bench->config, "cpu.memory", "tcm", "cpu.tcm_size=256MiB", error));
    /* These change no plan: the fast model of the array takes the same cycles, and the core takes time even if the run
     * asks what a core without time would bring. */
    CNNVP_TRY(set_instead(config, bench->config, "pe_array.detail", "cycle", "pe_array.detail=fast", error));
    CNNVP_TRY(set_instead(config, bench->config, "cpu.timing", "off", "cpu.timing=on", error));
    CNNVP_TRY(slow_down(config, bench->config, error));
    CNNVP_TRY(cnnvp_config_resolve(bench->config, error));
    CNNVP_TRY(cnnvp_target_power(bench->config, &power, error));
    bench->more_power = power - target->limits.energy.ps;
    return CNNVP_DONE;
}

static void clear_bench(struct bench *bench)
{
    cnnvp_config_free(bench->config);
}

static cnnvp_result open_platform(const cnnvp_config *config, cnnvp_platform **platform, struct cnnvp_error *error)
{
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options, .timing_only = 1, .verbosity = -1, .console = cnnvp_no_console};
    return cnnvp_platform_new(config, &options, platform, error);
}

/* A run of a tuning: its progress goes from `first` to `first` + `size` of the whole. */
struct part {
    const struct cnnvp_network_options *options;
    double first;
    double size;
    size_t layers; /* number of layers that it runs */
};

static void watch_part(void *context, const struct cnnvp_progress *now)
{
    const struct part *part = context;
    const double share = (double)now->layers / (double)part->layers;
    part->options->tuning(part->options->tuning_context, part->first + part->size * share);
}

static cnnvp_result run_platform(cnnvp_platform *platform, struct part part, uint64_t *ps, struct cnnvp_error *error)
{
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    const cnnvp_result result =
        part.options->tuning != NULL ? cnnvp_platform_run_watched(platform, watch_part, &part, &end)
                                     : cnnvp_platform_run(platform, &end);
    *ps = end.time_ps;
    if (result == CNNVP_DONE)
        return result;
    (void)snprintf(error->text, sizeof error->text, "a trial of tiles did not come to its end: %s", end.reason);
    return CNNVP_FAILED;
}

/* Reads what a layer of the platform's work has taken. *cycles may be NULL. */
static cnnvp_result layer_taken(const struct cnnvp_target *target, const struct bench *bench, cnnvp_platform *platform,
                                size_t layer, struct cnnvp_plan_taken *taken, uint64_t *cycles)
{
    struct cnnvp_layer_result sums = {0};
    const cnnvp_result result = cnnvp_platform_layer(platform, layer, &sums);
    const double ps = (double)sums.cycles * target->cycle_ps;
    *taken = (struct cnnvp_plan_taken){ps, sums.energy_pj - ps * bench->more_power, (double)sums.dram_burst_bytes};
    if (cycles != NULL)
        *cycles = sums.cycles;
    return result;
}

/* Runs all trials of tilings and records their cycles, bytes and scores. */
static cnnvp_result run_trials(struct trials *trials, const struct bench *bench,
                               const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    struct cnnvp_network network = *trials->network;
    uint64_t ps;
    CNNVP_SCOPED(cnnvp_platform_drop) cnnvp_platform *platform = NULL;
    network.build = trials->tables;
    network.graph.weightless = 1;
    CNNVP_TRY(open_platform(bench->config, &platform, error));
    CNNVP_TRY(cnnvp_platform_hold(platform, CNNVP_BINARY_ADDRESS, trials->tables.table_bytes));
    CNNVP_TRY(cnnvp_guest_load(network.guest, platform, error));
    CNNVP_TRY(cnnvp_network_put_binary(&network, platform, error));
    CNNVP_TRY(run_platform(platform, (struct part){options, 0, TRIALS_SHARE, trials->count}, &ps, error));
    for (size_t i = 0; i < trials->count; ++i) {
        struct cnnvp_plan_taken taken;
        CNNVP_TRY(layer_taken(&trials->network->target, bench, platform, i, &taken, &trials->all[i].cycles));
        trials->all[i].bytes = taken.bytes;
        trials->all[i].score =
            cnnvp_plan_part_score(trials->network->target.limits.objective, trials->build->power, &taken);
    }
    return CNNVP_DONE;
}

/* Cycles that a tiling is chosen by: its own, or those of the core if they are more. */
static uint64_t cycles_of(const struct trial *trial, int with_core)
{
    return with_core && trial->core > trial->cycles ? trial->core : trial->cycles;
}

static int is_faster(const struct trial *trial, const struct trial *than, int with_core)
{
    const uint64_t cycles = cycles_of(trial, with_core);
    const uint64_t others = cycles_of(than, with_core);
    if (cycles < others)
        return !(others - cycles < others / SLOWER_PART && than->bytes + than->bytes / TRAFFIC_PART < trial->bytes);
    return cycles - others < others / SLOWER_PART && trial->bytes + trial->bytes / TRAFFIC_PART < than->bytes;
}

static int is_better(const struct trials *trials, const struct trial *trial, const struct trial *than, int with_core)
{
    if (trials->network->target.limits.objective == CNNVP_OBJECTIVE_TIME)
        return is_faster(trial, than, with_core);
    return trial->score < than->score;
}

static void take_best(const struct trials *trials, int with_core, struct cnnvp_build *build, size_t layers)
{
    for (size_t i = 0; i < trials->count;) {
        const struct trial *best = &trials->all[i];
        const size_t layer = best->layer;
        for (; i < trials->count && trials->all[i].layer == layer; ++i)
            if (is_better(trials, &trials->all[i], best, with_core))
                best = &trials->all[i];
        cnnvp_plan_cut_layer(&build->layers[layer], build->finalists[layer].all[best->number].cut);
    }
    for (size_t i = 0; i < layers; ++i) {
        const size_t as = is_planned(build, i) ? first_alike(&trials->network->target, build, i) : i;
        cnnvp_plan_cut_layer(&build->layers[i], cnnvp_plan_cut_of(&build->layers[as]));
    }
}

/* Makes a timing-only platform and loads the network, built with these options. */
static cnnvp_result open_trial(const struct cnnvp_network *network, const struct cnnvp_binary_options *options,
                               const struct bench *bench, const unsigned char *tried, cnnvp_platform **platform,
                               struct cnnvp_error *error)
{
    struct cnnvp_network trial = *network;
    trial.binary_options = *options;
    trial.binary_options.images = cnnvp_minimum32(
        network->images, TRIAL_BATCHES * network->target.limits.batch * network->target.accelerator_count);
    trial.graph.weightless = 1;
    CNNVP_SCOPED(cnnvp_binary_clear) struct cnnvp_build build = {.end = 0};
    CNNVP_TRY(cnnvp_binary_build(&trial.graph, &trial.target, &trial.binary_options, &build, error));
    if (tried != NULL)
        cnnvp_binary_leave_out(&build, tried);
    trial.build = build;
    CNNVP_TRY(open_platform(bench->config, platform, error));
    CNNVP_TRY(cnnvp_network_hold_tables(&trial, *platform, error));
    CNNVP_TRY(cnnvp_guest_load(trial.guest, *platform, error));
    return cnnvp_network_put_binary(&trial, *platform, error);
}

/* Runs the network, or the layers that are marked in `tried`. *layers: what each layer takes; *none, which may be NULL:
 * what belongs to no layer; *ps: time of the run. */
static cnnvp_result run_trial(const struct cnnvp_network *network, const struct cnnvp_binary_options *options,
                              const struct bench *bench, struct part part, const unsigned char *tried,
                              struct cnnvp_plan_taken *layers, struct cnnvp_plan_taken *none, uint64_t *ps,
                              struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_platform_drop) cnnvp_platform *platform = NULL;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        part.layers += tried == NULL || tried[i];
    CNNVP_TRY(open_trial(network, options, bench, tried, &platform, error));
    CNNVP_TRY(run_platform(platform, part, ps, error));
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        if (layer_taken(&network->target, bench, platform, i, &layers[i], NULL) != CNNVP_DONE)
            layers[i] = (struct cnnvp_plan_taken){0}; /* the layer did not run */
    if (none != NULL)
        (void)layer_taken(&network->target, bench, platform, SIZE_MAX, none, NULL);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_try(const struct cnnvp_network *network, const struct cnnvp_binary_options *options,
                               const cnnvp_config *config, const struct cnnvp_network_options *watched, double first,
                               const unsigned char *tried, struct cnnvp_plan_taken *layers, struct cnnvp_error *error)
{
    const struct part part = {watched, first, CNNVP_NETWORK_TRY, 0};
    CNNVP_SCOPED(clear_bench) struct bench bench = {.config = NULL};
    uint64_t ps;
    CNNVP_TRY(make_bench(&network->target, config, 0, &bench, error));
    return run_trial(network, options, &bench, part, tried, layers, NULL, &ps, error);
}

/* Runs the network as it is built. *all: the run's time, and bytes and energy of everything. */
static cnnvp_result run_whole(const struct cnnvp_network *network, const struct bench *bench, struct part part,
                              struct cnnvp_plan_taken *all, struct cnnvp_error *error)
{
    const size_t layers = network->graph.layer_count;
    struct cnnvp_binary_options planned = network->binary_options;
    uint64_t ps = 0;
    CNNVP_FREED struct cnnvp_plan_taken *taken = malloc(layers * sizeof *taken);
    CNNVP_TRY_MEMORY(taken != NULL, error);
    planned.planned = network->build.layers;
    CNNVP_TRY(run_trial(network, &planned, bench, part, NULL, taken, all, &ps, error));
    for (size_t i = 0; i < layers; ++i)
        cnnvp_plan_add(all, &taken[i]);
    const uint32_t at_work = cnnvp_minimum32(network->target.accelerator_count, network->images);
    all->pj += ((double)ps - all->ps / at_work) * network->target.limits.energy.ps;
    all->ps = (double)ps;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_network_take(const struct cnnvp_network *network, const cnnvp_config *config,
                                struct cnnvp_plan_taken *all, struct cnnvp_error *error)
{
    static const struct cnnvp_network_options unwatched = {0};
    CNNVP_SCOPED(clear_bench) struct bench bench = {.config = NULL};
    CNNVP_TRY(make_bench(&network->target, config, 0, &bench, error));
    return run_whole(network, &bench, (struct part){.options = &unwatched}, all, error);
}

/* Takes the tiles with which the whole network is best. */
static cnnvp_result choose(const struct cnnvp_network *network, const struct trials *trials, const struct bench *bench,
                           const struct cnnvp_network_options *options, struct cnnvp_build *build,
                           struct cnnvp_error *error)
{
    const size_t layers = network->graph.layer_count;
    double best_score = INFINITY;
    CNNVP_FREED struct cnnvp_layer *best = malloc(layers * sizeof *best);
    CNNVP_TRY_MEMORY(best != NULL, error);
    for (int plan = 0; plan < PLANS; ++plan) {
        const double size = (1 - TRIALS_SHARE) / PLANS;
        const struct part part = {options, TRIALS_SHARE + size * plan, size, 0};
        struct cnnvp_plan_taken all;
        if (plan != BY_BOUND)
            take_best(trials, plan == BY_CYCLES_AND_CORE, build, layers);
        CNNVP_TRY(run_whole(network, bench, part, &all, error));
        const double score = cnnvp_plan_score(network->target.limits.objective, &all);
        if (score >= best_score)
            continue;
        best_score = score;
        memcpy(best, build->layers, layers * sizeof *best);
    }
    memcpy(build->layers, best, layers * sizeof *best);
    return CNNVP_DONE;
}

static cnnvp_result try_all(const struct cnnvp_network *network, struct trials *trials, const cnnvp_config *config,
                            const struct cnnvp_network_options *options, struct cnnvp_build *build,
                            struct cnnvp_error *error)
{
    CNNVP_SCOPED(clear_bench) struct bench of_tilings = {.config = NULL};
    CNNVP_SCOPED(clear_bench) struct bench of_networks = {.config = NULL};
    CNNVP_TRY(make_bench(&network->target, config, 1, &of_tilings, error));
    CNNVP_TRY(make_bench(&network->target, config, 0, &of_networks, error));
    CNNVP_TRY(run_trials(trials, &of_tilings, options, error));
    return choose(network, trials, &of_networks, options, build, error);
}

cnnvp_result cnnvp_network_build_again(struct cnnvp_network *network, const struct cnnvp_layer *planned,
                                       struct cnnvp_error *error)
{
    struct cnnvp_build before = network->build;
    struct cnnvp_binary_options options = network->binary_options;
    options.planned = planned;
    const cnnvp_result result = cnnvp_binary_build(&network->graph, &network->target, &options, &network->build, error);
    struct cnnvp_arena *arena = &network->build.arena;
    const size_t layers = network->graph.layer_count;
    if (result == CNNVP_DONE)
        network->build.finalists = cnnvp_arena_array(arena, layers, sizeof *before.finalists);
    if (result == CNNVP_DONE && !arena->failed)
        memcpy(network->build.finalists, before.finalists, layers * sizeof *before.finalists);
    cnnvp_binary_clear(&before);
    return result == CNNVP_DONE && arena->failed ? cnnvp_compiler_no_memory(error) : result;
}

static void clear_trials(struct trials *trials)
{
    free(trials->all);
    cnnvp_binary_clear(&trials->tables);
}

cnnvp_result cnnvp_network_tune(struct cnnvp_network *network, const cnnvp_config *config,
                                const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    struct cnnvp_build *build = &network->build;
    CNNVP_SCOPED(clear_trials) struct trials trials = {.build = build, .network = network};
    if (build->finalists == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(choose_trials(network, &trials, error));
    network->trials += trials.count;
    if (CNNVP_BINARY_ADDRESS + trials.tables.table_bytes > network->target.memory_base + network->target.memory_size)
        return cnnvp_compiler_error(error, "--tune: the trials' tables do not fit into memory; use a larger dram.size");
    if (trials.count != 0)
        CNNVP_TRY(try_all(network, &trials, config, options, build, error));
    return cnnvp_network_build_again(network, build->layers, error);
}
