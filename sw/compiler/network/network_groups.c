/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of a network: the plan that it is to run by, and the plan that it ran by, for the statistics or a file. */
#include <string.h>

#include "network.h"

static cnnvp_result rounds_by_chance(struct cnnvp_error *error)
{
    return cnnvp_compiler_error(
        error, "--rounding stochastic draws numbers layer by layer, and a fused group calculates some "
               "results twice: use nearest or truncate, or --schedule layer");
}

/* Refuses --tune and --objective if the plan cuts every layer, because nothing is left to choose. */
static cnnvp_result check_choice(const struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                 struct cnnvp_error *error)
{
    size_t cut = 0;
    while (cut < network->graph.layer_count && network->plan.cuts[cut].group_out != 0)
        ++cut;
    if (cut < network->graph.layer_count || (!options->tune && options->objective == CNNVP_OBJECTIVE_TIME))
        return CNNVP_DONE;
    return cnnvp_compiler_error(error,
                                "%s: the plan has the cuts of all layers, which leaves --%s no choice: use one of the "
                                "two, or leave out the cuts of some layers",
                                network->plan.file, options->tune ? "tune" : "objective");
}

/* Refuses what a plan has beside a schedule that chooses it: schedules choose groups, tiles and places, and take only
 * halo or order from the file. The chains of a plan are those of the depth-first schedule. */
static cnnvp_result check_schedule(const struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                   struct cnnvp_error *error)
{
    const struct cnnvp_plan *plan = &network->plan;
    const int depth = options->schedule == CNNVP_SCHEDULE_DEPTH_FIRST;
    const int layer = options->schedule == CNNVP_SCHEDULE_LAYER;
    if (plan->halo_place != NULL && (layer || depth))
        return cnnvp_config_error(error, plan->halo_place,
                                  "halo is that of groups which --schedule fused or auto makes; groups of a plan have "
                                  "their own");
    if (plan->order_place != NULL && !depth)
        return cnnvp_config_error(error, plan->order_place,
                                  "order is that of blocks: use it with --schedule "
                                  "depth-first");
    if (plan->choice_place != NULL && !layer && !(depth && plan->block != 0))
        return cnnvp_config_error(error, plan->choice_place,
                                  "--schedule chooses groups, cuts and what stays on chip: use a plan of them without "
                                  "it, or one that has %s alone",
                                  depth ? "order" : "halo");
    return CNNVP_DONE;
}

/* Makes a run whose plan has chains a depth-first one. */
static cnnvp_result take_chains(struct cnnvp_network *network, struct cnnvp_network_options *options,
                                struct cnnvp_error *error)
{
    options->schedule = CNNVP_SCHEDULE_DEPTH_FIRST;
    options->block = network->block = network->plan.block;
    network->schedule = NULL;
    const char *clash = cnnvp_network_clash(options);
    return clash == NULL ? CNNVP_DONE
                         : cnnvp_config_error(error, network->plan.choice_place, "depth-first groups: %s", clash);
}

cnnvp_result cnnvp_network_take_plan(struct cnnvp_network *network, struct cnnvp_network_options *options,
                                     struct cnnvp_error *error)
{
    const int fuse = options->schedule == CNNVP_SCHEDULE_FUSED || options->schedule == CNNVP_SCHEDULE_AUTO;
    if (options->plan == NULL && !fuse)
        return CNNVP_DONE;
    if (fuse && options->rounding == CNNVP_ROUND_STOCHASTIC)
        return rounds_by_chance(error);
    if (options->schedule != CNNVP_SCHEDULE_DEPTH_FIRST)
        network->schedule = !fuse ? "plan" : options->schedule == CNNVP_SCHEDULE_FUSED ? "fused" : "auto";
    if (options->plan == NULL)
        return cnnvp_plan_new(&network->graph, &network->plan, error);
    CNNVP_TRY(cnnvp_plan_read(&network->graph, options->plan, &network->plan, error));
    CNNVP_TRY(check_schedule(network, options, error));
    if (network->plan.run_count != 0 && options->rounding == CNNVP_ROUND_STOCHASTIC)
        return rounds_by_chance(error);
    if (network->plan.block != 0)
        CNNVP_TRY(take_chains(network, options, error));
    return check_choice(network, options, error);
}

static int is_given(const struct cnnvp_options *options, const char *name)
{
    const struct cnnvp_command_option *option = cnnvp_command_option_find(options->command, name);
    return option != NULL && options->given[option - cnnvp_command_option_table];
}

int cnnvp_network_runs_blocks(const cnnvp_network *network)
{
    return network->block != 0;
}

cnnvp_result cnnvp_network_check_layers(const cnnvp_network *network, const struct cnnvp_options *options,
                                        struct cnnvp_error *error)
{
    const struct cnnvp_plan *plan = &network->plan;
    if (options->plan == NULL)
        return CNNVP_DONE;
    if (plan->block != 0 && is_given(options, "block"))
        return cnnvp_config_error(error, plan->choice_place, "the plan's groups have their block: leave out --block");
    if (!is_given(options, "schedule") || options->schedule != CNNVP_SCHEDULE_LAYER ||
        (plan->run_count == 0 && plan->block == 0))
        return CNNVP_DONE;
    return cnnvp_config_error(error, network->plan.choice_place,
                              "the plan's groups run tile by tile, not layer by layer: leave out --schedule layer, or "
                              "the groups");
}

/* ---- for the statistics ---- */

cnnvp_result cnnvp_network_groups(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                  struct cnnvp_work_info *work, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_binary_describe_groups(&network->build, arena, work, error));
    if (network->schedule == NULL)
        return CNNVP_DONE;
    const struct cnnvp_residents *kept = network->build.residents;
    const size_t count = kept != NULL ? kept->count : 0;
    struct cnnvp_resident_info *residents = cnnvp_arena_array(arena, count, sizeof *residents);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    work->residents = residents;
    work->schedule = network->schedule;
    for (size_t i = 0; i < count; ++i) {
        const struct cnnvp_life *life = &kept->all[i];
        residents[work->resident_count++] = (struct cnnvp_resident_info){
            .tensor = network->graph.tensors[life->tensor].name,
            .first_layer = life->first,
            .last_layer = life->last,
            .half = life->place.half,
            .bytes = life->place.bytes,
        };
    }
    return CNNVP_DONE;
}

/* ---- as a file ---- */

/* Puts the chains of a depth-first run into its plan, as they are after those that did not fit have been cut. */
static void put_chains(const struct cnnvp_network *network, struct cnnvp_plan *plan)
{
    const struct cnnvp_layer *layers = network->build.layers;
    const struct cnnvp_graph *graph = &network->graph;
    for (size_t i = 0; i < graph->layer_count && network->block != 0; ++i) {
        if (layers[i].group == 0)
            continue;
        const int32_t next = graph->layers[i].chained;
        const int goes_on = next != CNNVP_GRAPH_NONE && layers[next].group == layers[i].group;
        plan->block = network->block;
        plan->chain_places[i] = graph->layers[i].name;
        plan->chained[i] = goes_on ? next : CNNVP_GRAPH_NONE;
        plan->cuts[i] = (struct cnnvp_plan_cut){.unit = plan->cuts[i].unit, .function = plan->cuts[i].function};
    }
    plan->order = network->plan.order;
}

cnnvp_result cnnvp_network_plan(const cnnvp_network *network, const char *file, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_plan_clear) struct cnnvp_plan plan = {.run_count = 0};
    const struct cnnvp_graph *graph = &network->graph;
    if (network->back_end != &cnnvp_inference)
        return cnnvp_compiler_error(error,
                                    "%s: a plan says what is fused, cut and kept of layers that run on the PE "
                                    "array; the training engine has none",
                                    file != NULL ? file : graph->file);
    if (network->on_chip || network->target.limits.batch > 1)
        return cnnvp_compiler_error(
            error, "%s: a plan does not say %s, or leave out --plan-out", file != NULL ? file : graph->file,
            network->on_chip ? "that weights stay on chip from the start: leave out --on-chip"
                             : "how many images go through a layer together: use --batch 1");
    if (file == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_plan_new(graph, &plan, error));
    for (size_t i = 0; i < graph->layer_count; ++i)
        plan.cuts[i] = cnnvp_plan_cut_of(&network->build.layers[i]);
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        plan.on_chip[i] = graph->tensors[i].base == CNNVP_GRAPH_NONE && network->build.tensors[i].on_chip != 0;
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && !cnnvp_binary_is_inside(graph, &network->build, (int32_t)i))
            plan.blocks[i] = network->build.tensors[i].column_stride;
    }
    if (network->plan.run_count != 0)
        memcpy(plan.runs, network->plan.runs, network->plan.run_count * sizeof *plan.runs);
    plan.run_count = network->plan.run_count;
    put_chains(network, &plan);
    return cnnvp_plan_write(graph, &plan, file, error);
}
