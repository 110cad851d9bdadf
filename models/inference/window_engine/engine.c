/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S000's units that sweep windows; each executes one instruction. Convolution unit, kind `window` (A1): 3x3 multipliers
 * for each pair of input_para and output_para channels, and an adder tree for each output channel. Pooling unit (A2): a
 * window of 3x3 values for each of input_para channels, followed by a tree of comparators or adders. Fully connected
 * unit (A5): fc_para multipliers share an input, and each computes a neuron (Part B 0-12). Inputs come through the
 * rotating read of the input buffer; results use the output buffer's update modes.
 *
 * Modelled: results exact modulo 2^acc_bits, as on every FX16 array; cycles, words on each port and operations of every
 * command by closed forms (window_cost.c); Part B 0-1 to 0-5, 0-8, 0-9, 0-12, 0-13. A command of more than one pass
 * keeps its partial sums at acc_addr while it runs. The vector unit divides (0-5). Not modelled: a second set of kernel
 * registers that would hide loads.
 *
 * How commands, operands and results cross the ports: cnnvp_fx16.h. The delay of a command is its compute, bias and
 * fill cycles plus the stalls at the buffers' ports.
 */
#include "cnnvp_fx16.h"
#include "cnnvp_isa.h"
#include "inference/write_out/write_out.h"
#include "unit/kinds.h"
#include "unit/parts.h"
#include "window_tile.h"

#define UNIT_DEF "inference/window_engine/engine.def"
#include "unit/unit_enums.inc"
#include "unit/unit_tables.inc"

struct window_unit {
    struct cnnvp_fx16_unit unit;
    struct cnnvp_window_shape shape;
};

/* ---- commands ---- */

static const char *cost_of(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                           struct cnnvp_fx16_work *work)
{
    const struct window_unit *window = (const struct window_unit *)(const void *)unit;
    const struct cnnvp_fx16_tile *tile = &work->tile;
    struct cnnvp_fx16_cost *cost = &work->cost;
    (void)command;
    cnnvp_window_cost(&window->shape, tile, cost);
    cnnvp_window_clocks(&window->shape, tile, cost, &work->traffic);
    /* Kernel pieces are loaded while nothing is computed; fully connected weights are read in every cycle. */
    work->traffic.output_cycles = cost->compute_cycles + cost->bias_cycles;
    work->traffic.weight_cycles =
        tile->kind == CNNVP_FX16_MATMUL ? work->traffic.output_cycles : cost->load_cycles + cost->bias_loads;
    work->traffic.input_mode = CNNVP_READ_ROTATING;
    return cost->passes > 1u && (tile->acc_addr % 2u != 0 || tile->acc_addr >> 31 != 0)
               ? "acc_addr, where several passes keep their sums, is even and below 2^31"
               : NULL;
}

#include "inference/fx16/fx16_counts.inc"

static const struct cnnvp_fx16_engine engine = ENGINE(cost_of, NULL);

/* ---- callbacks ---- */

/* Tiles take whole groups of channels. A command of more than one pass (window_cost.c) keeps its partial sums in the
 * output buffer. */
static int window_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct window_unit *window = self;
    const struct cnnvp_window_shape *shape = &window->shape;
    const struct cnnvp_command *command;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_layer(&window->unit, access, &command, &tile, tiling);
    if (status != CNNVP_OK)
        return status;
    if (command->opcode != window->unit.opcode)
        return cnnvp_fx16_refuse(&window->unit, command, CNNVP_E_INVAL, window->unit.refusal);
    tiling->result_bytes = cnnvp_sum_bytes(shape->acc_bits);
    tiling->limits = cnnvp_fx16_limits(&window->unit);
    if (tile.kind == CNNVP_FX16_MATMUL) {
        tiling->pes = shape->fc_para;
        tiling->in = shape->fc_para;
        tiling->out = shape->fc_para;
        return CNNVP_OK;
    }
    tiling->pes = (uint64_t)CNNVP_WINDOW_TAPS * shape->input_para * (tile.uses_k ? shape->output_para : 1u);
    tiling->side = CNNVP_WINDOW_SIDE;
    if (!tile.uses_k) {
        tiling->out = shape->input_para;
    } else if (tile.per_channel) {
        tiling->out = shape->input_para < shape->output_para ? shape->input_para : shape->output_para;
        tiling->in = tiling->out;
    } else {
        tiling->in = shape->input_para;
        tiling->out = shape->output_para;
    }
    const bool one_piece = tile.kx <= CNNVP_WINDOW_SIDE && tile.ky <= CNNVP_WINDOW_SIDE;
    if (one_piece && !tile.bias && (tile.per_channel || tile.in_channels <= shape->input_para))
        tiling->result_bytes = tiling->word_bytes;
    return CNNVP_OK;
}

static struct cnnvp_window_shape shape_of(const struct cnnvp_unit *unit, const uint64_t *values)
{
    return (struct cnnvp_window_shape){
        .input_para = (uint32_t)cnnvp_kind_value(unit, values, "input_para", 1u),
        .output_para = (uint32_t)cnnvp_kind_value(unit, values, "output_para", 1u),
        .fc_para = (uint32_t)cnnvp_kind_value(unit, values, "fc_para", 1u),
        .acc_bits = (uint32_t)cnnvp_kind_value(unit, values, "acc_bits", 0),
        .pipeline = (uint32_t)cnnvp_kind_value(unit, values, "pipeline", 0),
        .write_out = (uint32_t)cnnvp_kind_value(unit, values, "write_out", 0),
        .word_bits = cnnvp_kind_value(unit, values, "precision", 0) == CNNVP_FX16_INT8 ? 8u : 16u,
        .precision = (uint32_t)cnnvp_kind_value(unit, values, "precision", CNNVP_FX16_ONLY),
    };
}

static int start(const struct cnnvp_unit *unit, void *self, const struct cnnvp_init *init, uint32_t opcode,
                 const char *refusal)
{
    struct window_unit *window = self;
    uint64_t values[CNNVP_KIND_PARAMS];
    cnnvp_kind_values(unit, init, values);
    window->shape = shape_of(unit, values);
    window->unit = unit_of(&engine, init, window->shape.acc_bits, window->shape.write_out, window->shape.output_para,
                           window->shape.precision);
    window->unit.opcode = opcode;
    window->unit.refusal = refusal;
    return CNNVP_OK;
}

static void window_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    const uint64_t channels = shape->input_para;
    const uint64_t trees = shape->output_para;
    const uint64_t taps = CNNVP_WINDOW_TAPS * channels * trees;
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, shape->word_bits, taps,
                   "a multiplier for each tap of each channel pair");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 2u * shape->word_bits + 4u, taps, "adder trees");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, trees, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, shape->word_bits, CNNVP_WINDOW_TAPS * channels,
                   "shift registers of the windows");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, shape->word_bits, taps, "kernels");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 2u * shape->word_bits + 4u, 2u * taps,
                   "stages of multipliers and trees");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, trees, trees, shape->precision != CNNVP_FX16_ONLY);
}

static void pooling_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    const uint64_t taps = (uint64_t)CNNVP_WINDOW_TAPS * shape->input_para;
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->word_bits + 4u, taps, "tree of comparators and adders");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, shape->input_para, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, shape->word_bits + 4u, 2u * taps, "windows and stages of the tree");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, shape->input_para, shape->input_para, 0);
}

static void fully_connected_parts(const struct cnnvp_window_shape *shape, const struct cnnvp_costs *costs)
{
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, shape->word_bits, shape->fc_para, "a multiplier for each lane");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, shape->acc_bits, shape->fc_para, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 3u * shape->word_bits + shape->acc_bits, shape->fc_para,
                   "weight, product, sum");
    cnnvp_write_out_parts(costs, shape->write_out, shape->acc_bits, shape->fc_para, shape->fc_para, 0);
}

/* ---- tables ---- */

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

/* refusal: the message for instructions other than `opcode_`. */
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
        .instance_size = sizeof(struct window_unit),                                    \
        .init = kind_##_init,                                                           \
        .fini = cnnvp_fx16_unit_free,                                                   \
        .access = cnnvp_fx16_access,                                                    \
        .tiling = window_tiling,                                                        \
        .costs = kind_##_costs,                                                         \
    };

ENGINE_UNIT(window, params, conv,
            "the convolution unit takes conv alone: pool is for a unit pooling, matmul for fully_connected",
            "convolution unit: a window of 3x3 multipliers for each pair of channels")
ENGINE_UNIT(pooling, pooling_params, pool, "a pooling unit takes pool alone",
            "pooling unit: a window of 3x3 values for each channel, maximum or sum")
ENGINE_UNIT(fully_connected, fully_connected_params, matmul, "a fully connected unit takes matmul alone",
            "fully connected unit: lanes of one multiplier that share an input")
