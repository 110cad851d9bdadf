/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides each half of a scratchpad into three regions: inputs from address 0 on, then weights, then results. A change
 * of the regions between layers waits until all units are idle. So consecutive layers share regions, the largest that
 * any of them needs, as long as these fit. If data stay on chip for longer than a layer, the division is fixed.
 */
#include "binary_internal.h"

#include "cnnvp_integer.h"

static struct cnnvp_plan_use most_of(const struct cnnvp_plan_use *a, const struct cnnvp_plan_use *b)
{
    return (struct cnnvp_plan_use){
        cnnvp_maximum(a->input_bytes, b->input_bytes), cnnvp_maximum(a->weight_bytes, b->weight_bytes),
        cnnvp_maximum(a->output_bytes, b->output_bytes)};
}

static struct cnnvp_binary_regions regions_of(const struct cnnvp_plan_use *use)
{
    const uint64_t input = cnnvp_plan_region(use->input_bytes);
    return (struct cnnvp_binary_regions){(uint32_t)input, (uint32_t)(input + cnnvp_plan_region(use->weight_bytes))};
}

static struct cnnvp_plan_use use_of(const struct cnnvp_build *build, size_t layer)
{
    return cnnvp_plan_use_of(&build->layers[layer], build->result_bytes[layer]);
}

/* Gives as many layers as possible from `first` on the same regions. Returns the first layer after them. */
static size_t divide_row(const struct cnnvp_build *build, size_t first, size_t count, uint64_t half_bytes)
{
    struct cnnvp_plan_use most = use_of(build, first);
    size_t end = first + 1u;
    for (; end < count; ++end) {
        const struct cnnvp_plan_use use = use_of(build, end), both = most_of(&most, &use);
        if (cnnvp_plan_joint_bytes(&both) > half_bytes)
            break;
        most = both;
    }
    for (size_t i = first; i < end; ++i)
        build->regions[i] = regions_of(&most);
    return end;
}

cnnvp_result cnnvp_binary_divide(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                 struct cnnvp_build *build, struct cnnvp_error *error)
{
    const struct cnnvp_plan_limits *limits = &target->limits;
    const struct cnnvp_plan_use parts = {limits->input_bytes, limits->weight_bytes, limits->output_bytes};
    if (limits->scratchpad_bytes == 0)
        return CNNVP_DONE;
    build->regions = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->regions);
    build->result_bytes = cnnvp_arena_array(&build->arena, graph->layer_count, sizeof *build->result_bytes);
    CNNVP_TRY_MEMORY(build->regions != NULL && build->result_bytes != NULL, error);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_tiling tiling;
        CNNVP_TRY(cnnvp_plan_tiling(&build->layers[i], graph->layers[i].name, limits, &tiling, error));
        build->result_bytes[i] = tiling.result_bytes;
        build->regions[i] = regions_of(&parts);
    }
    for (size_t i = 0; build->divides && build->shortage.layers == 0 && i < graph->layer_count;)
        i = divide_row(build, i, graph->layer_count, limits->scratchpad_bytes);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_binary_divide_trials(const struct cnnvp_build *build, const struct cnnvp_binary_trial *all,
                                        size_t count, struct cnnvp_build *trials)
{
    if (build->regions == NULL)
        return CNNVP_DONE;
    trials->regions = cnnvp_arena_array(&trials->arena, count, sizeof *trials->regions);
    if (trials->regions == NULL)
        return CNNVP_FAILED;
    for (size_t i = 0; i < count; ++i) {
        struct cnnvp_layer layer = build->layers[all[i].layer];
        cnnvp_plan_cut_layer(&layer, *all[i].cut);
        const struct cnnvp_plan_use use = cnnvp_plan_use_of(&layer, build->result_bytes[all[i].layer]);
        trials->regions[i] = build->divides ? regions_of(&use) : build->regions[all[i].layer];
    }
    return CNNVP_DONE;
}
