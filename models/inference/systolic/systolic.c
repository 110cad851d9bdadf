/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A systolic array (unit kind `systolic`): rows x cols PEs that pass operands to their neighbours, weight-, output- or
 * input-stationary, with accumulators below the columns and the write-out stage behind them. Sources: H. Kung, Why
 * systolic architectures?, 1982; N. Jouppi et al., TPU, ISCA 2017; A. Samajdar et al., SCALE-Sim, ISPASS 2020.
 *
 * Modelled: conv (also depthwise) and matmul; results exact modulo 2^acc_bits; cycles, words on each port, accumulator
 * accesses and operations of every command by closed forms (systolic_cost.c). Refused: pool and step, which are no sums
 * of products; networks run them on the vector unit. Not modelled: how weights are brought into the order of the PEs,
 * and the wires to each PE for `depthwise: column`.
 *
 * How commands, operands and results cross the ports: cnnvp_fx16.h. The delay of a command is its compute, fill and
 * accumulator cycles plus the stalls at the buffers' ports.
 */
#include "units.h"
#include "unit/parts.h"

#include "cnnvp_integer.h"
#include "cnnvp_isa.h"
#include "inference/write_out/write_out.h"
#include "systolic_tile.h"

#define UNIT_DEF "inference/systolic/systolic.def"
#include "unit/unit_enums.inc"

enum { DEPTHWISE_vector, DEPTHWISE_column };

struct systolic {
    struct cnnvp_fx16_unit unit;
    struct cnnvp_systolic_shape shape;
    bool depthwise;
};

/* ---- commands ---- */

/* Why the array cannot execute a command; NULL: it can. */
static const char *refusal_of(const struct systolic *array, const struct cnnvp_command *command,
                              const struct cnnvp_fx16_tile *tile)
{
    if (command->opcode != CNNVP_OPCODE_conv && command->opcode != CNNVP_OPCODE_matmul)
        return "a systolic array takes conv and matmul: pool and step have no sum of products";
    return tile->per_channel && !array->depthwise
               ? "depthwise is vector: convolutions over all input channels alone"
               : NULL;
}

static const char *cost_of(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                           struct cnnvp_fx16_work *work)
{
    const struct systolic *array = (const struct systolic *)(const void *)unit;
    const char *reason = refusal_of(array, command, &work->tile);
    if (reason == NULL)
        cnnvp_systolic_cost(&array->shape, &work->tile, &work->cost, &work->traffic);
    return reason;
}

#include "inference/fx16/fx16_counts.inc"

static const struct cnnvp_fx16_engine engine = ENGINE(cost_of, NULL);

/* ---- callbacks ---- */

/* Tiles take whole folds of channels. Positions may be cut anywhere. */
static int systolic_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct systolic *array = self;
    const struct cnnvp_systolic_shape *shape = &array->shape;
    const struct cnnvp_command *command;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_layer(&array->unit, access, &command, &tile, tiling);
    if (status != CNNVP_OK)
        return status;
    const char *reason = refusal_of(array, command, &tile);
    if (reason != NULL)
        return cnnvp_fx16_refuse(&array->unit, command, CNNVP_E_INVAL, reason);
    const uint64_t taps = tile.kind == CNNVP_FX16_MATMUL ? 1u : cnnvp_maximum((uint64_t)tile.kx * tile.ky, 1u);
    tiling->pes = (uint64_t)shape->rows * shape->cols;
    tiling->limits = cnnvp_fx16_limits(&array->unit);
    if (shape->dataflow != CNNVP_SYSTOLIC_IS)
        tiling->out = shape->cols;
    if (tile.per_channel)
        tiling->in = tiling->out;
    else if (shape->dataflow != CNNVP_SYSTOLIC_OS)
        tiling->in = (uint32_t)cnnvp_divide_up(shape->rows, taps);
    return CNNVP_OK;
}

/* Sums that the accumulators of one column hold. */
static uint64_t depth_of(uint64_t size, uint64_t cols, uint64_t acc_bits)
{
    return size / cols / cnnvp_divide_up(acc_bits, 8u);
}

static int systolic_init(void *self, const struct cnnvp_init *init)
{
    struct systolic *array = self;
    uint64_t values[PARAM_COUNT];
    for (uint32_t i = 0; i < PARAM_COUNT; ++i)
        values[i] = init->ops->param(init->host, i);
    array->shape = (struct cnnvp_systolic_shape){
        .rows = (uint32_t)values[PARAM_rows],
        .cols = (uint32_t)values[PARAM_cols],
        .dataflow = (uint32_t)values[PARAM_dataflow],
        .folds = (uint32_t)values[PARAM_folds],
        .pipeline = (uint32_t)values[PARAM_pipeline],
        .sum_words = cnnvp_sum_words((uint32_t)values[PARAM_acc_bits]),
        .depth = depth_of(values[PARAM_accumulator_size], values[PARAM_cols], values[PARAM_acc_bits]),
        .one_at_a_time = values[PARAM_accumulator_banks] == 1u && values[PARAM_accumulator_ports] == 1u,
    };
    array->depthwise = values[PARAM_depthwise] == DEPTHWISE_column;
    const unsigned long long least =
        values[PARAM_accumulator_banks] * values[PARAM_cols] * cnnvp_divide_up(values[PARAM_acc_bits], 8u);
    if (array->shape.depth < values[PARAM_accumulator_banks] && array->shape.dataflow != CNNVP_SYSTOLIC_OS)
        return init->ops->config_error(
            init->host, PARAM_accumulator_size,
            "accumulators of %llu bytes at least have a sum in each bank of each column", least);
    array->unit = unit_of(&engine, init, values[PARAM_acc_bits], values[PARAM_write_out], values[PARAM_cols],
                          values[PARAM_precision]);
    return CNNVP_OK;
}

static void systolic_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t rows = params[PARAM_rows], cols = params[PARAM_cols], pes = rows * cols;
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits];
    const uint32_t held = params[PARAM_folds] == CNNVP_SYSTOLIC_SINGLE ? 1u : 2u; /* stationary operands of a PE */
    const bool sums_stay = params[PARAM_dataflow] == CNNVP_SYSTOLIC_OS;
    const uint64_t depth = depth_of(params[PARAM_accumulator_size], cols, acc_bits);
    const uint64_t banks = params[PARAM_accumulator_banks];
    const uint32_t word = params[PARAM_precision] == CNNVP_FX16_INT8 ? 8u : 16u;
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, word, pes, "multiplier of a PE");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, pes, "adder");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, sums_stay ? word : word * held, pes, "weight or input of a PE");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, word, pes, "operand on its way along the row");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, sums_stay ? acc_bits * held : acc_bits, pes, "sum");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, word,
                   rows * (rows - 1u) / 2u + (sums_stay ? cols * (cols - 1u) / 2u : 0), "skew of the operands");
    if (params[PARAM_depthwise] == DEPTHWISE_column && params[PARAM_dataflow] != CNNVP_SYSTOLIC_IS)
        cnnvp_say_part(costs, CNNVP_PART_ADDER, word / 2u, pes, "depthwise: a multiplexer, as half an adder");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, cols, "accumulators, bias");
    if (!sums_stay && depth >= banks)
        cnnvp_say_sram(costs, acc_bits, depth / banks * cnnvp_divide_up(acc_bits, 8u),
                       cols * banks * params[PARAM_accumulator_ports], "accumulators; two ports as two banks");
    cnnvp_write_out_parts(costs, params[PARAM_write_out], acc_bits, cols, cols,
                          params[PARAM_precision] != CNNVP_FX16_ONLY);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_systolic = {
    UNIT_TABLES,
    .kind = "systolic",
    .version = "1.0",
    .summary =
        "systolic array: convolution and matrix multiply, weight-, output- or input-stationary, with accumulators",
    .instance_size = sizeof(struct systolic),
    .init = systolic_init,
    .fini = cnnvp_fx16_unit_free,
    .access = cnnvp_fx16_access,
    .tiling = systolic_tiling,
    .costs = systolic_costs,
};
