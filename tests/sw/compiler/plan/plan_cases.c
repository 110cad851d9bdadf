/* SPDX-License-Identifier: Apache-2.0 */

#include "test.h"

#include "plan_cases.h"

uint32_t cases_between(struct builder *random, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(builder_next(random) % (high - low + 1u));
}

static void random_window(struct builder *random, struct cnnvp_layer *layer)
{
    layer->kx = cases_between(random, 1, 5);
    layer->ky = cases_between(random, 1, 5);
    layer->sx = cases_between(random, 1, 3);
    layer->sy = cases_between(random, 1, 3);
    layer->dx = cases_between(random, 1, 2);
    layer->dy = cases_between(random, 1, 2);
    layer->in.width = (layer->out.width - 1) * layer->sx + (layer->kx - 1) * layer->dx + 1;
    layer->in.height = (layer->out.height - 1) * layer->sy + (layer->ky - 1) * layer->dy + 1;
}

cnnvp_result cases_plan(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                        struct cnnvp_error *error)
{
    return cases_plan_on(layer, name, limits, CNNVP_PLAN_ANY_UNIT, error);
}

cnnvp_result cases_plan_on(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                           uint32_t unit, struct cnnvp_error *error)
{
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest;
    const struct cnnvp_plan_cut wanted = {.unit = unit};
    cnnvp_result result = cnnvp_plan_choose_unit(layer, name, limits, &wanted, 0, NULL, error);
    if (result == CNNVP_DONE)
        result = cnnvp_plan_layer(layer, name, limits, &finalists, &smallest, error);
    if (result == CNNVP_DONE && finalists.count == 0)
        return CNNVP_BAD_INPUT;
    if (result == CNNVP_DONE)
        cnnvp_plan_cut_layer(layer, finalists.all[0].cut);
    return result;
}

struct cnnvp_tiling cases_tiling(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_tiling tiling;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_plan_tiling(layer, "L", limits, &tiling, &error), CNNVP_DONE);
    return tiling;
}

struct cnnvp_layer cases_layer(struct builder *random)
{
    struct cnnvp_layer layer = {CNNVP_ONE_TAP};
    layer.out.column_stride = layer.out.word_shift = 1;
    layer.op = cases_between(random, CNNVP_OP_CONV, CNNVP_OP_SOFTMAX);
    layer.out.channels = cases_between(random, 1, cases_between(random, 1, 600));
    layer.out.height = cases_between(random, 1, 70);
    layer.out.width = cases_between(random, 1, 70);
    layer.in = layer.out;
    layer.bias = cases_between(random, 0, 1);
    layer.pool = cases_between(random, 0, 1);
    if (layer.op == CNNVP_OP_CONV || layer.op == CNNVP_OP_POOL)
        random_window(random, &layer);
    if (layer.op == CNNVP_OP_CONV) {
        layer.depthwise = cases_between(random, 0, 3) == 0;
        layer.in.channels = layer.depthwise ? layer.out.channels : cases_between(random, 1, 600);
    }
    if (layer.op == CNNVP_OP_FC) {
        layer.out.height = layer.out.width = layer.in.height = layer.in.width = 1;
        layer.in.channels = cases_between(random, 1, 5000);
    }
    if (cases_between(random, 0, 3) == 0 && layer.op != CNNVP_OP_SOFTMAX) {
        layer.post_count = 1;
        layer.posts[0] = (struct cnnvp_layer_post){.kind = CNNVP_POST_TABLE, .table_words = 516};
    }
    if (layer.op == CNNVP_OP_ADD)
        layer.in2 = layer.in;
    return layer;
}

struct fake_config cases_config(struct builder *random)
{
    const int is_nfu = cases_between(random, 0, 1) != 0;
    struct fake_config config = is_nfu ? fake_nfu() : fake_window();
    if (is_nfu) {
        config.rows = cases_between(random, 1, 16);
        config.cols = cases_between(random, 1, 16);
        config.fc_mapping = cases_between(random, 0, 1) != 0 ? "broadcast" : "single-neuron";
    } else {
        config.input_para = cases_between(random, 1, 16);
        config.output_para = cases_between(random, 1, 16);
        config.fc_para = cases_between(random, 1, 32);
    }
    config.pingpong = cases_between(random, 0, 1);
    config.input_bytes = UINT64_C(32768) << cases_between(random, 0, 5);
    config.weight_bytes = UINT64_C(32768) << cases_between(random, 0, 5);
    config.output_bytes = UINT64_C(32768) << cases_between(random, 0, 5);
    return config;
}

struct cnnvp_target cases_target(const struct fake_config *config)
{
    struct cnnvp_target target;
    struct cnnvp_error error = {""};
    cnnvp_config *made = fake_config_new(config);
    assert_int_equal(cnnvp_target_read(made, &target, &error), CNNVP_DONE);
    cnnvp_config_free(made);
    return target;
}

void cases_check_fits(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, cases_tiling(layer, limits).result_bytes);
    assert_true(use.input_bytes <= limits->input_bytes);
    assert_true(use.weight_bytes <= limits->weight_bytes);
    assert_true(use.output_bytes <= limits->output_bytes);
    /* What the guest brings at least, by network_binary.h, not by the planner's
     * own count. */
    const int weighted = layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
    const uint64_t plane = (uint64_t)layer->tile_h * layer->tile_w;
    const uint32_t depth = layer->in.channels * (layer->op == CNNVP_OP_FC ? layer->in.height * layer->in.width : 1);
    const int sliced = weighted && !layer->depthwise && layer->tile_in < depth;
    const int average = layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE;
    const uint32_t sum = layer->unit == CNNVP_UNIT_VECTOR ? 8 : 6; /* of 64 bits, and of 48 */
    assert_true(limits->output_bytes >= layer->group_out * plane * (sliced || average ? sum : 2));
    const uint64_t rows = (layer->tile_h - 1) * layer->sy + (layer->ky - 1) * layer->dy + 1;
    const uint64_t cols = (layer->tile_w - 1) * layer->sx + (layer->kx - 1) * layer->dx + 1;
    const uint64_t operands = layer->op == CNNVP_OP_ADD ? 2 : 1;
    assert_true(limits->input_bytes >= 2 * operands * layer->tile_in * rows * cols);
}
