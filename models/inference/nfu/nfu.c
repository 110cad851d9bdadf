/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NFU (S002, unit kind `nfu`): an array of PEs with three data inputs, FIFO-H and FIFO-V each, row input, column
 * input and weight input, that carries out conv, pool, matmul and step of the instruction set.
 *
 * Modelled: results exact modulo 2^acc_bits; cycles, words on each port, FIFO traffic and operations of every command,
 * by closed forms (detail: fast) or by stepping (detail: cycle); Part B 2-1 to 2-10. Division and piecewise-linear
 * functions are the vector unit's (2-2). Not modelled: a 16-bit P that rounds at every step; acc_bits 16 wraps instead
 * (2-7).
 *
 * How commands, operands and results cross the links: cnnvp_fx16.h. The answer's delay is compute, bias, fill and
 * write-out cycles and what the buffers' ports add.
 */
#include "units.h"
#include "unit/command.h"
#include "unit/parts.h"

#include "cnnvp_fx16.h"
#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"
#include "nfu_cycle.h"
#include "nfu_tile.h"

#define UNIT_DEF "inference/nfu/nfu.def"
#include "unit/unit_enums.inc"

enum { DETAIL_fast, DETAIL_cycle };

struct nfu {
    struct cnnvp_fx16_unit unit;
    struct cnnvp_nfu_shape shape;
    bool stepped;
    struct cnnvp_nfu_array array; /* of detail: cycle */
    struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS];
};

/* ---- commands ---- */

static struct cnnvp_fx16_traffic traffic_of(const struct cnnvp_nfu_cost *cost)
{
    return (struct cnnvp_fx16_traffic){
        .input_words = cost->input_words,
        .input_cycles = cost->compute_cycles,
        .weight_words = cost->weight_words,
        .weight_cycles = cost->compute_cycles + cost->bias_cycles,
        .output_words = cost->output_words,
        .output_cycles = cost->writeout_cycles,
        .passes = 1,
    };
}

/* Steps the command: traffic and cost are as counted, and the ports are late as their addresses were. */
static int step(struct nfu *nfu, const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_data *data,
                struct cnnvp_nfu_cost *cost, struct cnnvp_fx16_traffic *traffic)
{
    struct cnnvp_fx16_clocks *const clocks[] = {&traffic->input, &traffic->weight, &traffic->output};
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i)
        nfu->ports[i].shape = cnnvp_fx16_buffer(&nfu->unit, CNNVP_FX16_PORT_input + i);
    const int status = cnnvp_nfu_cycle(&nfu->shape, tile, data, &nfu->array, cost, nfu->ports);
    *traffic = traffic_of(cost);
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i) {
        clocks[i]->count = 1u;
        clocks[i]->classes[0] = (struct cnnvp_buffer_clocks){.times = nfu->ports[i].late, .late = 1u};
    }
    return status;
}

static void count_command(const struct nfu *nfu, uint32_t tag, const struct cnnvp_fx16_tile *tile,
                          const struct cnnvp_nfu_cost *cost, const struct cnnvp_fx16_stalls *stalls, uint64_t busy,
                          uint64_t saturated)
{
    const struct cnnvp_command_count counts[] = {
        {STAT_commands, 1u},
        {STAT_busy_cycles, busy},
        {STAT_compute_cycles, cost->compute_cycles},
        {STAT_bias_cycles, cost->bias_cycles},
        {STAT_fill_cycles, cost->fill_cycles},
        {STAT_writeout_cycles, cost->writeout_cycles},
        {STAT_input_port_cycles, stalls->input},
        {STAT_weight_port_cycles, stalls->weight},
        {STAT_output_port_cycles, stalls->output},
        {STAT_input_words, cost->input_words},
        {STAT_weight_words, cost->weight_words},
        {STAT_bias_words, cost->bias_words},
        {STAT_output_words, cost->output_words},
        {STAT_macs, cost->macs},
        {STAT_fifo_h_pushes, cost->fifo_h_pushes},
        {STAT_fifo_v_pushes, cost->fifo_v_pushes},
        {STAT_limited_words, cnnvp_fx16_limited_words(tile)},
        {STAT_saturations, saturated},
    };
    cnnvp_command_count(nfu->unit.host, nfu->unit.ops, tag, counts, sizeof counts / sizeof counts[0]);
}

static int execute(struct nfu *nfu, struct cnnvp_access *access, const struct cnnvp_command *command)
{
    struct cnnvp_fx16_tile tile;
    struct cnnvp_nfu_cost cost;
    struct cnnvp_fx16_data data = {0};
    struct cnnvp_fx16_stalls stalls = {0};
    uint64_t saturated = 0;
    const char *reason = "";
    int status = cnnvp_fx16_decode(command, &tile, &reason);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(&nfu->unit, command, status, reason);
    cnnvp_nfu_cost(&nfu->shape, &tile, &cost);
    if (cost.compute_cycles + cost.writeout_cycles > CNNVP_FX16_MAX_CYCLES)
        return cnnvp_fx16_refuse(&nfu->unit, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    struct cnnvp_fx16_traffic traffic = traffic_of(&cost);
    if (!nfu->stepped)
        cnnvp_nfu_clocks(&nfu->shape, &tile, &traffic);
    else if (cnnvp_fx16_look(&nfu->unit, command, &tile, &traffic, &data) == CNNVP_OK)
        status = step(nfu, &tile, &data, &cost, &traffic);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_fetch(&nfu->unit, command, &tile, &traffic, &data, &stalls);
    if (status == CNNVP_OK && !nfu->stepped && !nfu->unit.timing_only)
        status = cnnvp_fx16_compute(nfu->shape.acc_bits, &tile, &data, &nfu->unit.scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(&nfu->unit, command, &tile, &traffic, &data, &stalls, &saturated);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(&nfu->unit, command, status, NULL);

    const uint64_t busy = cost.compute_cycles + cost.bias_cycles + cost.fill_cycles + cost.writeout_cycles +
                          stalls.input + stalls.weight + stalls.output;
    count_command(nfu, command->tag, &tile, &cost, &stalls, busy, saturated);
    cnnvp_fx16_occupy(&nfu->unit, command, tile.name, busy, access);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int nfu_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_fx16_command(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

/* Whole PE tiles; a fully connected layer lays one direction out on the array, and is cut there in the other as well.
 */
static int nfu_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct nfu *nfu = self;
    const struct cnnvp_command *command = NULL;
    const uint32_t pes = nfu->shape.rows * nfu->shape.cols;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_command(access, &command);
    if (status != CNNVP_OK)
        return status;
    cnnvp_fx16_describe(command, &tile);
    tiling->pes = pes;
    tiling->limits = nfu->unit.clips;
    if (tile.kind == CNNVP_FX16_MATMUL) {
        tiling->in = pes;
        tiling->out = pes;
        return CNNVP_OK;
    }
    tiling->rows = nfu->shape.rows;
    tiling->cols = nfu->shape.cols;
    tiling->side = nfu->shape.kernel_piece != 0 ? nfu->shape.kernel_piece : 1u;
    return CNNVP_OK;
}

static int nfu_init(void *self, const struct cnnvp_init *init)
{
    static const uint32_t pieces[] = {0, 3}; /* choices of kernel_piece */
    struct nfu *nfu = self;
    nfu->shape = (struct cnnvp_nfu_shape){
        .rows = (uint32_t)init->ops->param(init->host, PARAM_rows),
        .cols = (uint32_t)init->ops->param(init->host, PARAM_cols),
        .kernel_piece = pieces[init->ops->param(init->host, PARAM_kernel_piece) & 1u],
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .pipeline = (uint32_t)init->ops->param(init->host, PARAM_pipeline),
        .propagation = init->ops->param(init->host, PARAM_propagation) != 0,
        .single_neuron = init->ops->param(init->host, PARAM_fc_mapping) != 0,
        .extended_fifo_v = init->ops->param(init->host, PARAM_fifo_v) != 0,
    };
    nfu->stepped = init->ops->param(init->host, PARAM_detail) == DETAIL_cycle;
    nfu->unit = (struct cnnvp_fx16_unit){
        .host = init->host,
        .ops = init->ops,
        .acc_bits = nfu->shape.acc_bits,
        .timing_only = init->ops->timing_only(init->host) != 0,
        .clips = init->ops->param(init->host, PARAM_write_out) == CNNVP_WRITE_OUT_CLIPS,
        .rejected_stat = STAT_rejected,
    };
    return CNNVP_OK;
}

static void nfu_fini(void *self)
{
    struct nfu *nfu = self;
    cnnvp_fx16_unit_free(&nfu->unit);
    cnnvp_nfu_array_free(&nfu->array);
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i)
        cnnvp_nfu_beat_free(&nfu->ports[i]);
}

/* FIFOs for strides up to this in both directions (Part B 2-4). */
#define FIFO_STRIDE 4u

static void nfu_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t pes = params[PARAM_rows] * params[PARAM_cols];
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, pes, "multiplier of a PE");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, pes, "adder");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 16u, pes, "comparator");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u * (3u + FIFO_STRIDE + FIFO_STRIDE * FIFO_STRIDE), pes,
                   "operands, FIFO-H and FIFO-V");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u + acc_bits, pes, "product and partial sum");
    cnnvp_write_out_parts(costs, params[PARAM_write_out], acc_bits, pes,
                          params[PARAM_pipeline] >= CNNVP_NFU_REGISTER_STAGE ? pes : 0);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_nfu = {
    UNIT_TABLES,
    .kind = "nfu",
    .version = "1.0",
    .summary = "8x8 PE array with neighbour propagation (NFU): convolution, pooling, matrix multiply, PE operations",
    .instance_size = sizeof(struct nfu),
    .init = nfu_init,
    .fini = nfu_fini,
    .access = nfu_access,
    .tiling = nfu_tiling,
    .costs = nfu_costs,
};
