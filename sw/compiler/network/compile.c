/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a network, from its file to words in memory, in five stages one after the other:
 *
 *   onnx      the file becomes a graph
 *   graph     layers that can be merged are merged; depth first: layers that form chains are found
 *   plan      chooses what is fused, how each layer is cut and where everything lies, by what the units say, and by
 *             trial if the options ask for it. What does not fit is refused here, before images are made and computed
 *             in float, which can take any time and memory. A plan does not depend on number formats.
 *   numbers   the float model runs; the formats follow from its values
 *   emit      the planned layers get these formats; cnnvp_binary_write writes them
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "numbers.h"
#include "onnx.h"

/* ---- onnx and graph ---- */

/* Moves the network to `base`; all memory from there on is the network's. */
static cnnvp_result move_target(struct cnnvp_target *target, uint64_t base, struct cnnvp_error *error)
{
    if (base % CNNVP_BINARY_ALIGNMENT != 0)
        return cnnvp_compiler_error(
            error, "--base: 0x%llx is no multiple of %u", (unsigned long long)base, CNNVP_BINARY_ALIGNMENT);
    if (base > UINT32_MAX)
        return cnnvp_compiler_error(error, "--base: 0x%llx is beyond 32-bit addresses", (unsigned long long)base);
    target->moved = base - CNNVP_BINARY_ADDRESS;
    target->memory_base = base;
    target->memory_size = cnnvp_minimum(target->memory_size, (UINT64_C(1) << 32) - base);
    return CNNVP_DONE;
}

static cnnvp_result read_target(struct cnnvp_network *network, const cnnvp_config *config, uint64_t base,
                                struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_target_read(config, &network->target, error));
    network->target.memory = network->memory;
    cnnvp_plan_memory_listen(&network->target);
    if (base != 0)
        CNNVP_TRY(move_target(&network->target, base, error));
    CNNVP_TRY(cnnvp_target_wiring(config, CNNVP_TARGET_INFERENCE, error));
    return cnnvp_target_driven(config, CNNVP_TARGET_INFERENCE, error);
}

static cnnvp_result make_graph(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                               struct cnnvp_error *error)
{
    struct cnnvp_onnx_sizes sizes = cnnvp_network_sizes(options);
    if (options->rounding == CNNVP_ROUND_NEAREST)
        CNNVP_TRY(cnnvp_plan_scales_operands(&network->target.limits, &sizes.joins_steps, error));
    CNNVP_TRY(cnnvp_onnx_import_sized(network->file, &sizes, options->timing_only, &network->graph, error));
    CNNVP_TRY(cnnvp_graph_simplify(&network->graph, error));
    if (options->base == 0) /* another core supplies ordinary numbers */
        cnnvp_graph_quantise_inputs(&network->graph);
    return CNNVP_DONE;
}

/* ---- plan ---- */

/* Sets how many images go through a layer together. If a layer takes statistics of the batch, the default is all
 * images, otherwise one. */
static cnnvp_result take_batch(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                               struct cnnvp_error *error)
{
    const int mixes = cnnvp_graph_mixes_images(&network->graph);
    const uint32_t asked = options->batch == 0 && mixes ? network->images : cnnvp_maximum32(options->batch, 1);
    /* At most so many that each accelerator gets some images. */
    const uint32_t most =
        mixes ? network->images : cnnvp_divide_up32(network->images, network->target.accelerator_count);
    network->target.limits.batch = cnnvp_minimum32(asked, most);
    if (network->target.limits.batch > 1 && options->batch == 0 &&
        (options->schedule != CNNVP_SCHEDULE_LAYER || options->on_chip || options->plan != NULL))
        return cnnvp_compiler_error(
            error,
            "%s: batch norm with training_mode=1 is over all images: use --schedule layer, maps through memory, "
            "or --batch 1",
            network->graph.file);
    return CNNVP_DONE;
}

/* Refuses products that an array with 8 bits alone cannot do: those of a quantised file whose words have more bits. */
static cnnvp_result check_words(const struct cnnvp_graph *graph, int scales, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        if (layer->op != CNNVP_OP_FC || in->whole == 0 || (in->narrow != 0 && layer->narrow_weights != 0))
            continue;
        return cnnvp_compiler_error(
            error, "%s: node \"%s\": %s", graph->file, layer->name,
            !scales ? "words of 8 bits of a quantised network need an array that scales its results: use -s "
                      "pe_array.write_out=scale, or -s pe_array.precision=both"
                    : "its weights less their zero point have more than 8 bits, or it is no product of whole numbers "
                      "alone: use -s pe_array.precision=both, or quantise weights with zero points of 0 in int8 or 128 "
                      "in uint8");
    }
    return CNNVP_DONE;
}

/* Chooses the size of words: the one that is asked for, or 16 bits if the array has them, except for quantised networks
 * on an array that scales. A plan depends on it. */
static cnnvp_result choose_words(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                 struct cnnvp_error *error)
{
    const enum cnnvp_precision asked = options->precision;
    const struct cnnvp_plan_limits *limits = &network->target.limits;
    struct cnnvp_error said[2];
    int scales = 0;
    const int takes[] = {cnnvp_plan_takes(limits, 0, &scales, &said[0]) == CNNVP_DONE,
                         cnnvp_plan_takes(limits, 1, &scales, &said[1]) == CNNVP_DONE};
    scales = scales && network->target.acc_bits >= 32u;
    /* if the unit takes neither, the planner reports it for a layer */
    const int narrow = asked == CNNVP_PRECISION_INT8 ||
                       (asked == CNNVP_PRECISION_AUTO && takes[1] &&
                        (!takes[0] || (scales && cnnvp_words_are_quantised(&network->graph))));
    if (asked != CNNVP_PRECISION_AUTO && !takes[narrow])
        return cnnvp_compiler_error(
            error, "--precision %s: %s", narrow ? CNNVP_BYTE_FORMAT : CNNVP_WORD_FORMAT, said[narrow].text);
    /* Memory behind a binary for another core is zero, including frames. */
    const struct cnnvp_words_options words = {narrow, scales, scales && options->base == 0, !takes[0]};
    cnnvp_words_choose(&network->graph, &words);
    return !takes[0] && narrow ? check_words(&network->graph, scales, error) : CNNVP_DONE;
}

/* 1: each layer may divide the scratchpad for itself, because nothing stays on chip longer than one layer. */
static int divides(const struct cnnvp_network *network, const struct cnnvp_network_options *options)
{
    const struct cnnvp_plan *plan = &network->plan;
    if (options->schedule != CNNVP_SCHEDULE_LAYER || options->on_chip || options->issue == CNNVP_ISSUE_LIST)
        return 0;
    for (size_t i = 0; options->plan != NULL && i < network->graph.tensor_count; ++i)
        if (plan->on_chip[i])
            return 0;
    return options->plan == NULL || plan->run_count == 0;
}

static struct cnnvp_binary_options binary_options_of(struct cnnvp_network *network,
                                                     const struct cnnvp_network_options *options)
{
    return (struct cnnvp_binary_options){
        .rounding = (uint32_t)options->rounding,
        .seed = (uint32_t)(options->seed ^ options->seed >> 32),
        .images = network->images,
        .on_chip = options->on_chip,
        .block = network->block,
        .order = network->plan.order.name != NULL ? &network->plan.order : NULL,
        .issue = options->issue,
        .divides = divides(network, options),
        .plan = options->plan != NULL && (options->schedule == CNNVP_SCHEDULE_LAYER || network->plan.block != 0)
                    ? &network->plan
                    : NULL,
        .halo = network->plan.halo,
        .made = options->schedule == CNNVP_SCHEDULE_FUSED || options->schedule == CNNVP_SCHEDULE_AUTO
                    ? &network->plan
                    : NULL,
    };
}

/* Plans by bounds, without trials. */
static cnnvp_result plan_by_bounds(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                   struct cnnvp_error *error)
{
    struct cnnvp_binary_options *build = &network->binary_options;
    if (options->plan == NULL)
        network->plan.run_count = 0;
    *build = binary_options_of(network, options);
    if (build->made != NULL) {
        build->made->run_count = 0;
        memset(build->made->cuts, 0, network->graph.layer_count * sizeof *build->made->cuts);
    }
    CNNVP_TRY(cnnvp_binary_build(&network->graph, &network->target, build, &network->build, error));
    if (build->made != NULL)
        build->plan = build->made;
    build->made = NULL;
    return CNNVP_DONE;
}

static cnnvp_result plan_by_trial(struct cnnvp_network *network, const cnnvp_config *config,
                                  const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    if (options->schedule == CNNVP_SCHEDULE_AUTO)
        CNNVP_TRY(cnnvp_network_settle(network, config, options, error));
    return options->tune ? cnnvp_network_tune(network, config, options, error) : CNNVP_DONE;
}

static int is_short(const struct cnnvp_network *network)
{
    const struct cnnvp_plan_finalists *finalists = network->build.finalists;
    double ps = 0;
    for (size_t i = 0; finalists != NULL && i < network->graph.layer_count; ++i)
        ps += finalists[i].count != 0 ? finalists[i].all[0].taken.ps : 0;
    return finalists != NULL && ps < CNNVP_NETWORK_WHOLE_PS;
}

/* The part of all trials that one plan of plan_by_each takes. */
struct share {
    const struct cnnvp_network_options *options;
    unsigned number, count; /* of plans */
};

static void show_share(void *context, double part)
{
    const struct share *share = context;
    share->options->tuning(share->options->tuning_context, (share->number + part) / share->count);
}

/* Makes the groups of the best build those of the plan, with the cuts of their layers, in case the network is built
 * again. */
static void keep_groups(struct cnnvp_network *network, const struct cnnvp_plan_run *runs, size_t run_count)
{
    struct cnnvp_plan *plan = &network->plan;
    plan->run_count = run_count;
    for (size_t g = 0; g < run_count; ++g) {
        plan->runs[g] = runs[g];
        for (size_t i = runs[g].first; i < runs[g].first + runs[g].count; ++i)
            plan->cuts[i] = cnnvp_plan_cut_of(&network->build.layers[i]);
    }
}

/* Settles by trials what the bounds have planned. *taken: what the whole network then takes. */
static cnnvp_result take_by_trial(struct cnnvp_network *network, const cnnvp_config *config,
                                  const struct cnnvp_network_options *options, struct cnnvp_plan_taken *taken,
                                  struct cnnvp_error *error)
{
    CNNVP_TRY(plan_by_trial(network, config, options, error));
    return cnnvp_network_take(network, config, taken, error);
}

/* Another plan has to be better than the objective's own by 1 / BETTER_PART: one that saves the core a cycle can leave
 * the units much more to do, as is seen when the core gets faster. */
#define BETTER_PART 1024.0

/* Bounds and trials of single layers can give a plan for one objective that is worse, over the whole network, than the
 * plan for another, than one without groups, or than those of another's groups that are better by this one. So a short
 * network runs by all of these plans, and the plan with the best score by the requested objective is taken. */
static cnnvp_result plan_by_each(struct cnnvp_network *network, const cnnvp_config *config,
                                 const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    enum cnnvp_plan_objective *objective = &network->target.limits.objective;
    const enum cnnvp_plan_objective own = *objective;
    const int fuses = options->schedule == CNNVP_SCHEDULE_AUTO;
    struct cnnvp_network_options tried = *options;
    struct share share = {options, 0, fuses ? 3u * CNNVP_PLAN_OBJECTIVES - 1u : CNNVP_PLAN_OBJECTIVES};
    struct cnnvp_build best = {.end = 0};
    struct cnnvp_binary_options best_options = network->binary_options;
    CNNVP_FREED struct cnnvp_plan_run *runs = calloc(network->graph.layer_count + 1, sizeof *runs);
    size_t run_count = 0;
    double least = INFINITY;
    cnnvp_result result = runs != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
    tried.tuning = options->tuning != NULL ? show_share : NULL;
    tried.tuning_context = &share;
    for (; share.number < share.count && result == CNNVP_DONE; ++share.number) {
        struct cnnvp_plan_taken taken = {0};
        *objective = (own + share.number) % CNNVP_PLAN_OBJECTIVES;
        const int by_layers = share.number / CNNVP_PLAN_OBJECTIVES == 1;
        const int mixed = share.number / CNNVP_PLAN_OBJECTIVES == 2;
        if (mixed)
            *objective = (*objective + 1) % CNNVP_PLAN_OBJECTIVES; /* another's, as its own has been tried */
        tried.schedule = by_layers ? CNNVP_SCHEDULE_LAYER : options->schedule;
        tried.plan = by_layers ? NULL : options->plan;
        if (share.number != 0)
            result = plan_by_bounds(network, &tried, error);
        if (mixed)
            *objective = own;
        if (result == CNNVP_DONE)
            result = take_by_trial(network, config, &tried, &taken, error);
        const double score = cnnvp_plan_score(own, &taken);
        if (result == CNNVP_DONE && score < least * (1 - (share.number != 0) / BETTER_PART)) {
            const struct cnnvp_build other = best;
            best = network->build;
            best_options = network->binary_options;
            network->build = other;
            least = score;
            run_count = network->plan.run_count;
            for (size_t i = 0; i < run_count; ++i)
                runs[i] = network->plan.runs[i];
        } else if (result == CNNVP_BAD_INPUT && share.number != 0) {
            result = CNNVP_DONE; /* this plan does not fit */
        }
        cnnvp_binary_clear(&network->build);
    }
    *objective = own;
    network->build = best;
    network->binary_options = best_options;
    keep_groups(network, runs, run_count);
    return result;
}

/* Groups need scratchpad regions that are the same for all layers. If layers by themselves, each of which divides the
 * scratchpad for itself, are as good, their plan is taken. */
static cnnvp_result plan_divided(struct cnnvp_network *network, const cnnvp_config *config,
                                 const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    const enum cnnvp_plan_objective objective = network->target.limits.objective;
    const struct cnnvp_binary_options fused_options = network->binary_options;
    struct cnnvp_network_options layered = *options;
    const size_t fused_runs = network->plan.run_count;
    struct cnnvp_build fused_build = network->build;
    struct cnnvp_plan_taken fused = {0}, divided = {0};
    layered.schedule = CNNVP_SCHEDULE_LAYER;
    layered.tuning = NULL;
    if (options->schedule != CNNVP_SCHEDULE_AUTO || network->target.limits.scratchpad_bytes == 0 ||
        !divides(network, &layered))
        return CNNVP_DONE;
    cnnvp_result result = cnnvp_network_take(network, config, &fused, error);
    if (result != CNNVP_DONE)
        return result == CNNVP_BAD_INPUT ? CNNVP_DONE : result; /* the groups cannot be built again from their tiles */
    network->build = (struct cnnvp_build){.end = 0};
    result = plan_by_bounds(network, &layered, error);
    if (result == CNNVP_DONE)
        result = take_by_trial(network, config, &layered, &divided, error);
    if (result == CNNVP_DONE && cnnvp_plan_score(objective, &divided) <= cnnvp_plan_score(objective, &fused)) {
        cnnvp_binary_clear(&fused_build);
        return CNNVP_DONE;
    }
    cnnvp_binary_clear(&network->build);
    network->build = fused_build;
    network->binary_options = fused_options;
    network->plan.run_count = fused_runs;
    return result == CNNVP_BAD_INPUT ? CNNVP_DONE : result;
}

static cnnvp_result plan_schedule(struct cnnvp_network *network, const cnnvp_config *config,
                                  const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    CNNVP_TRY(plan_by_bounds(network, options, error));
    if ((options->schedule == CNNVP_SCHEDULE_AUTO || options->tune) && is_short(network))
        return plan_by_each(network, config, options, error);
    CNNVP_TRY(plan_by_trial(network, config, options, error));
    return plan_divided(network, config, options, error);
}

static cnnvp_result plan(struct cnnvp_network *network, const cnnvp_config *config,
                         const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    network->target.limits.objective =
        options->schedule == CNNVP_SCHEDULE_FUSED ? CNNVP_OBJECTIVE_TRAFFIC : options->objective;
    CNNVP_TRY(choose_words(network, options, error));
    CNNVP_TRY(cnnvp_network_count_images(
        network, options, cnnvp_graph_word_bytes(&network->graph, network->graph.input), network->target.memory_size,
        error));
    CNNVP_TRY(take_batch(network, options, error));
    return plan_schedule(network, config, options, error);
}

/* ---- numbers ---- */

/* Most taps of all pools and images. Windows of pools take no bytes of the file, so a small file could run for hours;
 * it is refused. */
#define POOL_TAPS_MAX (UINT64_C(1) << 37)

static cnnvp_result check_pools(const struct cnnvp_graph *graph, uint64_t images, struct cnnvp_error *error)
{
    uint64_t taps = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->op != CNNVP_OP_POOL)
            continue;
        /* There are fewer than 2^31 results with 2^30 taps each, so the product does not overflow. */
        taps += cnnvp_graph_words(&graph->tensors[layer->out]) * ((uint64_t)layer->kx * layer->ky);
        if (taps > POOL_TAPS_MAX / images)
            return cnnvp_compiler_error(error,
                                        "%s: node \"%s\" (%s): windows of %u x %u at this many places are more than "
                                        "2^37 comparisons or additions; use --timing-only or fewer images",
                                        graph->file, layer->name, layer->op_type, layer->ky, layer->kx);
    }
    return CNNVP_DONE;
}

/* Chooses the number formats. In timing-only they are those of unknown values. */
static cnnvp_result choose_numbers(struct cnnvp_network *network, const struct cnnvp_network_options *options,
                                   struct cnnvp_error *error)
{
    if (!options->timing_only)
        CNNVP_TRY(check_pools(&network->graph, network->images, error));
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        network->graph.layers[i].scaled = network->build.layers[i].bias == CNNVP_SCALE_WORDS;
    if (options->base == 0) { /* memory behind a binary for another core is zero, including frames */
        cnnvp_words_shift(&network->graph);
        cnnvp_binary_take_zeros(&network->graph, &network->build);
    }
    CNNVP_TRY(cnnvp_network_bring_images(network, options, error));
    CNNVP_TRY(cnnvp_network_calibrate(network, options, error));
    cnnvp_formats_choose(&network->graph, network->target.acc_bits);
    CNNVP_TRY_MEMORY(!network->graph.arena.failed, error);
    return network->block != 0 && !options->timing_only ? cnnvp_network_compare_blocks(network, error) : CNNVP_DONE;
}

/* ---- the compilation ---- */

cnnvp_result cnnvp_network_compile(struct cnnvp_network *network, const cnnvp_config *config,
                                   const struct cnnvp_network_options *options, struct cnnvp_error *error)
{
    CNNVP_TRY(read_target(network, config, options->base, error));
    CNNVP_TRY(make_graph(network, options, error));
    struct cnnvp_network_options by_plan = *options;
    CNNVP_TRY(cnnvp_network_take_plan(network, &by_plan, error));
    options = &by_plan;
    if (network->block != 0)
        CNNVP_TRY(cnnvp_depth_find(&network->graph, network->block, &network->plan, error));
    CNNVP_TRY(plan(network, config, options, error));
    CNNVP_TRY(choose_numbers(network, options, error));
    return cnnvp_binary_take_formats(&network->graph, network->binary_options.rounding, &network->build, error);
}
