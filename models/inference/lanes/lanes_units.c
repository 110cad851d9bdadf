/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units made of lanes: `vector`, S003's data calculation element; and S000's mean-update, variance-update,
 * normalise-and-reconstruct (A4) and activation unit (A3), which have fc_para lanes for each of input_para channels
 * (Part B 0-11) and take one instruction each. What they do and what is modelled: lanes.c.
 */
#include "inference/lanes/lanes.h"
#include "inference/write_out/write_out.h"
#include "unit/kinds.h"
#include "unit/parts.h"
#include "cnnvp_integer.h"

#define LANES_VECTOR
#define LANES_DIVIDE
#define UNIT_DEF "inference/lanes/lanes.def"
#include "unit/unit_enums.inc"
#include "unit/unit_tables.inc"

#undef LANES_VECTOR
static const struct cnnvp_param dividing_params[] = {
#define CNNVP_PARAM UNIT_PARAM
#include UNIT_DEF
    {0}};

#undef LANES_DIVIDE
static const struct cnnvp_param other_params[] = {
#define CNNVP_PARAM UNIT_PARAM
#include UNIT_DEF
    {0}};

/* Items that a kind's parts are counted by: lanes, or sets of lanes. */
enum { OF_LANES, OF_SETS };

static const struct cnnvp_parts_row vector_parts[] = {
    {CNNVP_PART_MULTIPLIER, 16u, 1u, OF_LANES, "multipliers"},
    {CNNVP_PART_ADDER, 64u, 3u, OF_LANES, "adders, subtractors, comparators"},
    {CNNVP_PART_DIVIDER, 32u, 1u, OF_LANES, "dividers"},
    {CNNVP_PART_REGISTER, 64u, LANES_OPERATORS, OF_LANES, "a register for each operator"},
    {CNNVP_PART_REGISTER, 48u, 1u, OF_LANES, "operands"},
};
static const struct cnnvp_parts_row mean_parts[] = {
    {CNNVP_PART_ADDER, 32u, 2u, OF_LANES, "sums and their tree"},
    {CNNVP_PART_DIVIDER, 32u, 1u, OF_SETS, "division by the count"},
    {CNNVP_PART_REGISTER, 48u, 1u, OF_LANES, "operands and sums"},
};
static const struct cnnvp_parts_row variance_parts[] = {
    {CNNVP_PART_ADDER, 32u, 3u, OF_LANES, "differences, sums and their tree"},
    {CNNVP_PART_MULTIPLIER, 16u, 1u, OF_LANES, "squares"},
    {CNNVP_PART_DIVIDER, 32u, 2u, OF_SETS, "division and root"},
    {CNNVP_PART_REGISTER, 80u, 1u, OF_LANES, "operands and sums"},
};
static const struct cnnvp_parts_row normalise_parts[] = {
    {CNNVP_PART_MULTIPLIER, 16u, 1u, OF_LANES, "scale"},
    {CNNVP_PART_ADDER, 32u, 1u, OF_LANES, "offset"},
    {CNNVP_PART_REGISTER, 80u, 1u, OF_LANES, "operands and results"},
};
static const struct cnnvp_parts_row activation_parts[] = {
    {CNNVP_PART_REGISTER, 96u, 1u, OF_LANES, "operands and results"},
};

static struct lanes_shape shape_of(const struct cnnvp_unit *unit, const uint64_t *values)
{
    const uint64_t sets = cnnvp_kind_value(unit, values, "input_para", 1u);
    const uint64_t lanes = cnnvp_kind_value(unit, values, "fc_para", 1u);
    return (struct lanes_shape){
        .lanes = cnnvp_kind_value(unit, values, "lanes", lanes),
        .units = cnnvp_kind_value(unit, values, "units", sets),
        .pipeline = cnnvp_kind_value(unit, values, "pipeline", 0),
        .div_cycles = cnnvp_kind_value(unit, values, "div_cycles", 0),
        .write_out = cnnvp_kind_value(unit, values, "write_out", CNNVP_WRITE_OUT_ROUNDS),
    };
}

static int start(const struct cnnvp_unit *unit, void *self, const struct cnnvp_init *init, uint32_t opcode,
                 const char *refusal)
{
    uint64_t values[CNNVP_KIND_PARAMS];
    cnnvp_kind_values(unit, init, values);
    const struct lanes_shape shape = shape_of(unit, values);
    lanes_init(self, init, &shape, opcode, refusal);
    return CNNVP_OK;
}

static void say(const struct cnnvp_unit *unit, const uint64_t *values, const struct cnnvp_costs *costs,
                const struct cnnvp_parts_row *parts, size_t count)
{
    const struct lanes_shape shape = shape_of(unit, values);
    if (parts == activation_parts)
        cnnvp_table_parts(costs, shape.units * shape.lanes);
    const uint64_t numbers[] = {[OF_LANES] = shape.units * shape.lanes, [OF_SETS] = shape.units};
    cnnvp_say_parts(costs, parts, count, numbers);
    if (cnnvp_kind_value(unit, values, "lanes", 0) == 0)
        return;
    const uint64_t limits = cnnvp_minimum(shape.write_out, CNNVP_WRITE_OUT_CLIPS);
    cnnvp_write_out_parts(costs, limits, 64u, shape.units * shape.lanes, shape.units * shape.lanes, 0);
    if (shape.write_out == CNNVP_WRITE_OUT_SCALES)
        cnnvp_operand_scale_parts(costs, shape.units * shape.lanes, shape.units);
}

/* opcode_: the only instruction that the unit takes, 0: all that lanes execute; refusal: its message for other
 * instructions. */
#define LANES_UNIT(kind_, params_, opcode_, refusal, summary_)                                                  \
    extern const struct cnnvp_unit cnnvp_unit_##kind_;                                                          \
    static int kind_##_init(void *self, const struct cnnvp_init *init)                                          \
    {                                                                                                           \
        return start(&cnnvp_unit_##kind_, self, init, (opcode_), refusal);                                      \
    }                                                                                                           \
    static void kind_##_costs(const uint64_t *values, const struct cnnvp_costs *costs)                          \
    {                                                                                                           \
        say(&cnnvp_unit_##kind_, values, costs, kind_##_parts, sizeof kind_##_parts / sizeof kind_##_parts[0]); \
    }                                                                                                           \
    const struct cnnvp_unit cnnvp_unit_##kind_ = {                                                              \
        UNIT_TABLES_WITH(params_),                                                                              \
        .kind = #kind_,                                                                                         \
        .version = "1.0",                                                                                       \
        .summary = summary_,                                                                                    \
        .instance_size = sizeof(struct lanes),                                                                  \
        .init = kind_##_init,                                                                                   \
        .tiling = lanes_tiling,                                                                                 \
        .fini = lanes_fini,                                                                                     \
        .reset = lanes_reset,                                                                                   \
        .access = lanes_access,                                                                                 \
        .costs = kind_##_costs,                                                                                 \
    };

LANES_UNIT(vector, params, 0, "",
           "lanes of MAC, add, subtract, divide, compare: activation, normalisation, softmax, pooling, convolution")
LANES_UNIT(mean, dividing_params, CNNVP_OPCODE_vmean, "a mean-update unit takes vmean alone",
           "mean-update unit (S000 A4 L7-L11): means of channels")
LANES_UNIT(variance, dividing_params, CNNVP_OPCODE_vvar, "a variance-update unit takes vvar alone",
           "variance-update unit (S000 A4 L12-L16): inverse standard deviations of channels")
LANES_UNIT(normalise, other_params, CNNVP_OPCODE_vnorm, "a normalise-and-reconstruct unit takes vnorm alone",
           "normalise-and-reconstruct unit (S000 A4 L17-L21): scale and offset of each channel")
LANES_UNIT(activation, other_params, CNNVP_OPCODE_vact, "an activation unit takes vact alone",
           "activation unit (S000 A3): piecewise-linear functions of feature values")
