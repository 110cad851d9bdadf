/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NFU (S002, unit kind `nfu`): an array of PEs, each with three data inputs, FIFO-H and FIFO-V, with a row input, a
 * column input and a weight input. It executes conv, pool, matmul and step.
 *
 * Modelled: results exact modulo 2^acc_bits; cycles, words on each port, FIFO traffic and operations of every command,
 * by closed forms (detail: fast) or by stepping (detail: cycle); Part B 2-1 to 2-10. The vector unit does division and
 * piecewise-linear functions (2-2). Not modelled: a 16-bit P that rounds at every step; with acc_bits 16 it wraps
 * instead (2-7).
 *
 * How commands, operands and results cross the ports: cnnvp_fx16.h. The delay of a command is its compute, bias, fill
 * and write-out cycles plus the stalls at the buffers' ports.
 */
#include "units.h"
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
    struct cnnvp_nfu_array array; /* used by detail: cycle */
    struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS];
};

/* ---- commands ---- */

static void say_port_cycles(struct cnnvp_fx16_work *work)
{
    work->traffic.weight_cycles = work->cost.compute_cycles + work->cost.bias_cycles;
    work->traffic.output_cycles = work->cost.writeout_cycles;
}

static const char *cost_of(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                           struct cnnvp_fx16_work *work)
{
    const struct nfu *nfu = (const struct nfu *)(const void *)unit;
    (void)command;
    cnnvp_nfu_cost(&nfu->shape, &work->tile, &work->cost);
    say_port_cycles(work);
    if (unit->engine->step == NULL)
        cnnvp_nfu_clocks(&nfu->shape, &work->tile, &work->traffic);
    return NULL;
}

/* Number of a port's words that fit in 16 bits. */
static uint32_t narrow_words(const struct cnnvp_fx16_tile *tile, unsigned port)
{
    static const enum cnnvp_narrow operands[] = {CNNVP_NARROW_A, CNNVP_NARROW_B, CNNVP_NARROW_OUT};
    const bool sums = port == CNNVP_NFU_OUTPUT && (tile->partial || cnnvp_fx16_finds_sums(tile));
    return sums ? 1u : 2u / cnnvp_fx16_bytes(tile, operands[port]);
}

/* Steps the command. Traffic and cost are counted while stepping; the port stalls follow from the addresses that were
 * stepped. */
static int step(struct cnnvp_fx16_unit *unit, struct cnnvp_fx16_work *work)
{
    struct nfu *nfu = (struct nfu *)(void *)unit;
    struct cnnvp_fx16_clocks *const clocks[] = {&work->traffic.input, &work->traffic.weight, &work->traffic.output};
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i) {
        struct cnnvp_buffer_shape *shape = &nfu->ports[i].shape;
        const uint32_t more = narrow_words(&work->tile, i);
        *shape = cnnvp_fx16_buffer(unit, CNNVP_FX16_PORT_input + i);
        shape->width_words *= more;
        shape->line_words *= more;
    }
    const int status = cnnvp_nfu_cycle(&nfu->shape, &work->tile, &work->data, &nfu->array, &work->cost, nfu->ports);
    say_port_cycles(work);
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i) {
        clocks[i]->count = 1u;
        clocks[i]->classes[0] = (struct cnnvp_buffer_clocks){.times = nfu->ports[i].late, .late = 1u};
    }
    return status;
}

#include "inference/fx16/fx16_counts.inc"

static const struct cnnvp_fx16_engine engines[] = {
    [DETAIL_fast] = ENGINE(cost_of, NULL),
    [DETAIL_cycle] = ENGINE(cost_of, step),
};

/* ---- callbacks ---- */

/* Tiles take whole PE tiles. A fully connected layer uses all PEs in one direction; the other is cut to the same
 * size. */
static int nfu_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct nfu *nfu = self;
    const struct cnnvp_command *command;
    const uint32_t pes = nfu->shape.rows * nfu->shape.cols;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_layer(&nfu->unit, access, &command, &tile, tiling);
    if (status != CNNVP_OK)
        return status;
    tiling->pes = pes;
    tiling->limits = cnnvp_fx16_limits(&nfu->unit);
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
    static const uint32_t pieces[] = {0, 3}; /* values of the parameter kernel_piece */
    struct nfu *nfu = self;
    nfu->shape = (struct cnnvp_nfu_shape){
        .rows = (uint32_t)init->ops->param(init->host, PARAM_rows),
        .cols = (uint32_t)init->ops->param(init->host, PARAM_cols),
        .kernel_piece = pieces[init->ops->param(init->host, PARAM_kernel_piece) & 1u],
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .pipeline = (uint32_t)init->ops->param(init->host, PARAM_pipeline),
        .fifo_stride = (uint32_t)init->ops->param(init->host, PARAM_fifo_stride),
        .propagation = init->ops->param(init->host, PARAM_propagation) != 0,
        .single_neuron = init->ops->param(init->host, PARAM_fc_mapping) != 0,
        .extended_fifo_v = init->ops->param(init->host, PARAM_fifo_v) != 0,
    };
    nfu->unit = unit_of(&engines[init->ops->param(init->host, PARAM_detail)], init, nfu->shape.acc_bits,
                        init->ops->param(init->host, PARAM_write_out), (uint64_t)nfu->shape.rows * nfu->shape.cols,
                        init->ops->param(init->host, PARAM_precision));
    return CNNVP_OK;
}

static void nfu_fini(void *self)
{
    struct nfu *nfu = self;
    cnnvp_fx16_unit_free(self);
    cnnvp_nfu_array_free(&nfu->array);
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i)
        cnnvp_nfu_beat_free(&nfu->ports[i]);
}

static void nfu_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t pes = params[PARAM_rows] * params[PARAM_cols];
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits], stride = (uint32_t)params[PARAM_fifo_stride];
    const uint32_t word = params[PARAM_precision] == CNNVP_FX16_INT8 ? 8u : 16u;
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, word, pes, "multiplier of a PE");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, pes, "adder");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, word, pes, "comparator");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, word * (3u + stride + stride * stride), pes,
                   "operands, FIFO-H and FIFO-V (Part B 2-4)");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 2u * word + acc_bits, pes, "product and partial sum");
    cnnvp_write_out_parts(
        costs, params[PARAM_write_out], acc_bits, pes, params[PARAM_pipeline] >= CNNVP_NFU_REGISTER_STAGE ? pes : 0,
        params[PARAM_precision] != CNNVP_FX16_ONLY);
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
    .access = cnnvp_fx16_access,
    .tiling = nfu_tiling,
    .costs = nfu_costs,
};
