/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S000's units that sweep windows, each with one instruction. The convolution unit, kind `window` (A1): for each pair
 * of input_para and output_para channels a window of 3x3 multipliers, an adder tree for each output channel. The
 * pooling unit (A2): a window of 3x3 values for each of input_para channels, with a tree of comparators or adders
 * behind it. The fully connected unit (A5): fc_para multipliers share an input, each has a neuron (Part B 0-12).
 * Results, cycles and words, and what is modelled: engine.c and window_cost.c.
 */
#include "unit/kinds.h"
#include "unit/parts.h"
#include "inference/window_engine/engine.h"
#include "inference/write_out/write_out.h"

#define UNIT_DEF "inference/window_engine/engine.def"
#include "unit/unit_enums.inc"
#include "unit/unit_tables.inc"

#define ENGINE_POOLING
static const struct cnnvp_param pooling_params[] = {
#define CNNVP_PARAM UNIT_PARAM
#include UNIT_DEF
    {0}};

#define ENGINE_MATMUL
static const struct cnnvp_param fully_connected_params[] = {
#define CNNVP_PARAM UNIT_PARAM
#include UNIT_DEF
    {0}};

static struct cnnvp_window_shape shape_of(const struct cnnvp_unit *unit, const uint64_t *values)
{
    return (struct cnnvp_window_shape){
        .input_para = (uint32_t)cnnvp_kind_value(unit, values, "input_para", 1u),
        .output_para = (uint32_t)cnnvp_kind_value(unit, values, "output_para", 1u),
        .fc_para = (uint32_t)cnnvp_kind_value(unit, values, "fc_para", 1u),
        .acc_bits = (uint32_t)cnnvp_kind_value(unit, values, "acc_bits", 0),
        .pipeline = (uint32_t)cnnvp_kind_value(unit, values, "pipeline", 0),
        .write_out = (uint32_t)cnnvp_kind_value(unit, values, "write_out", 0),
    };
}

static int start(const struct cnnvp_unit *unit, void *self, const struct cnnvp_init *init, uint32_t opcode,
                 const char *refusal)
{
    uint64_t values[CNNVP_KIND_PARAMS];
    cnnvp_kind_values(unit, init, values);
    const struct cnnvp_window_shape shape = shape_of(unit, values);
    cnnvp_window_init(self, init, &shape, opcode, refusal);
    return CNNVP_OK;
}

static void window_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    const uint64_t channels = shape->input_para;
    const uint64_t trees = shape->output_para;
    const uint64_t taps = CNNVP_WINDOW_TAPS * channels * trees;
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, taps, "a multiplier for each tap of each channel pair");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 36u, taps, "adder trees");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, trees, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, CNNVP_WINDOW_TAPS * channels, "shift registers of the windows");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, taps, "kernels");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 36u, 2u * taps, "stages of multipliers and trees");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, trees, trees);
}

static void pooling_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    const uint64_t taps = (uint64_t)CNNVP_WINDOW_TAPS * shape->input_para;
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 20u, taps, "tree of comparators and adders");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, shape->input_para, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 20u, 2u * taps, "windows and stages of the tree");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, shape->input_para, shape->input_para);
}

static void fully_connected_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, shape->fc_para, "a multiplier for each lane");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, shape->fc_para, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u + 32u + shape->acc_bits, shape->fc_para, "weight, product, sum");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, shape->fc_para, shape->fc_para);
}

/* refusal: what the unit says of other instructions than `opcode_`. */
#define ENGINE_UNIT(kind_, params_, opcode_, refusal, summary_)                         \
    extern const struct cnnvp_unit cnnvp_unit_##kind_;                                  \
    static int kind_##_init(void *self, const struct cnnvp_init *init)                  \
    {                                                                                   \
        return start(&cnnvp_unit_##kind_, self, init, CNNVP_OPCODE_##opcode_, refusal); \
    }                                                                                   \
    static void kind_##_costs(const uint64_t *values, const struct cnnvp_costs *costs)  \
    {                                                                                   \
        const struct cnnvp_window_shape shape = shape_of(&cnnvp_unit_##kind_, values);  \
        kind_##_parts(&shape, costs);                                                   \
    }                                                                                   \
    const struct cnnvp_unit cnnvp_unit_##kind_ = {                                      \
        UNIT_TABLES_WITH(params_),                                                      \
        .kind = #kind_,                                                                 \
        .version = "1.0",                                                               \
        .summary = summary_,                                                            \
        .instance_size = sizeof(struct cnnvp_window_unit),                              \
        .init = kind_##_init,                                                           \
        .fini = cnnvp_window_fini,                                                      \
        .access = cnnvp_window_access,                                                  \
        .tiling = cnnvp_window_tiling,                                                  \
        .costs = kind_##_costs,                                                         \
    };

ENGINE_UNIT(window, params, conv,
            "the convolution unit takes conv alone: pool is for a unit pooling, matmul for fully_connected",
            "convolution unit: a window of 3x3 multipliers for each pair of channels")
ENGINE_UNIT(pooling, pooling_params, pool, "a pooling unit takes pool alone",
            "pooling unit: a window of 3x3 values for each channel, maximum or sum")
ENGINE_UNIT(fully_connected, fully_connected_params, matmul, "a fully connected unit takes matmul alone",
            "fully connected unit: lanes of one multiplier that share an input")
