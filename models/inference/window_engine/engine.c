/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What S000's units that sweep windows have in common: the rotating read of the input buffer in front, the output
 * buffer's update modes at the end, and how a command is carried out between them.
 *
 * Modelled: results exact modulo 2^acc_bits, the same as on every FX16 array; cycles, words on each port and
 * operations of every command, by closed forms (window_cost.c); Part B 0-1 to 0-5, 0-8, 0-9, 0-12, 0-13. A command that
 * takes more than one pass keeps its partial sums at acc_addr while it runs. Division (0-5) is the vector unit's. Not
 * modelled: a second set of kernel registers that would hide loads.
 *
 * How commands, operands and results cross the links: cnnvp_fx16.h. The answer's delay is compute, bias and fill
 * cycles and what the buffers' ports add.
 */
#include "inference/window_engine/engine.h"

#include "inference/write_out/write_out.h"
#include "unit/command.h"

#define UNIT_DEF "inference/window_engine/engine.def"
#include "unit/unit_enums.inc"

#define SLOT_BYTES 8u /* of a partial sum in the output buffer */

/* ---- commands ---- */

static void count_command(const struct cnnvp_window_unit *window, uint32_t tag, const struct cnnvp_fx16_tile *tile,
                          const struct cnnvp_window_cost *cost, const struct cnnvp_fx16_stalls *stalls, uint64_t busy,
                          uint64_t saturated)
{
    const struct cnnvp_command_count counts[] = {
        {STAT_commands, 1u},
        {STAT_busy_cycles, busy},
        {STAT_compute_cycles, cost->compute_cycles},
        {STAT_bias_cycles, cost->bias_cycles},
        {STAT_fill_cycles, cost->load_cycles + cost->pipeline_cycles},
        {STAT_input_port_cycles, stalls->input},
        {STAT_weight_port_cycles, stalls->weight},
        {STAT_output_port_cycles, stalls->output},
        {STAT_input_words, cost->input_words},
        {STAT_reused_words, cost->reused_words},
        {STAT_weight_words, cost->weight_words},
        {STAT_bias_words, cost->bias_words},
        {STAT_kernel_loads, cost->kernel_loads},
        {STAT_output_words, cost->output_words},
        {STAT_macs, cost->macs},
        {STAT_limited_words, cnnvp_fx16_limited_words(tile)},
        {STAT_saturations, saturated},
    };
    cnnvp_command_count(window->unit.host, window->unit.ops, tag, counts, sizeof counts / sizeof counts[0]);
}

/* Kernel pieces come while nothing is computed, fully connected weights with every cycle. */
static struct cnnvp_fx16_traffic traffic_of(const struct cnnvp_fx16_tile *tile, const struct cnnvp_window_cost *cost)
{
    const uint64_t sweeping = cost->compute_cycles + cost->bias_cycles;
    return (struct cnnvp_fx16_traffic){
        .input_words = cost->input_words - cost->ones_words,
        .input_cycles = cost->compute_cycles,
        .ones_words = cost->ones_words,
        .ones_cycles = cost->bias_cycles,
        .weight_words = cost->weight_words,
        .weight_cycles = tile->kind == CNNVP_FX16_MATMUL ? sweeping : cost->load_cycles + cost->bias_loads,
        .output_words = cost->output_words,
        .output_cycles = sweeping,
        .passes = (uint32_t)cost->passes,
        .input_mode = CNNVP_READ_ROTATING,
    };
}

static int execute(struct cnnvp_window_unit *window, struct cnnvp_access *access, const struct cnnvp_command *command)
{
    struct cnnvp_fx16_tile tile;
    struct cnnvp_window_cost cost;
    struct cnnvp_fx16_data data = {0};
    struct cnnvp_fx16_stalls stalls = {0};
    uint64_t saturated = 0;
    const char *reason = "";
    if (command->opcode != window->opcode)
        return cnnvp_fx16_refuse(&window->unit, command, CNNVP_E_INVAL, window->refusal);
    int status = cnnvp_fx16_decode(command, &tile, &reason);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(&window->unit, command, status, reason);
    cnnvp_window_cost(&window->shape, &tile, &cost);
    const uint64_t cycles = cost.compute_cycles + cost.bias_cycles + cost.load_cycles + cost.pipeline_cycles;
    if (cycles > CNNVP_FX16_MAX_CYCLES)
        return cnnvp_fx16_refuse(&window->unit, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    if (cost.passes > 1u && (tile.acc_addr % 8u != 0 || tile.acc_addr >> 31 != 0))
        return cnnvp_fx16_refuse(&window->unit, command, CNNVP_E_INVAL,
                                 "acc_addr, where several passes keep their sums, is a multiple of 8 below 2^31");
    struct cnnvp_fx16_traffic traffic = traffic_of(&tile, &cost);
    cnnvp_window_clocks(&window->shape, &tile, &cost, &traffic);
    status = cnnvp_fx16_fetch(&window->unit, command, &tile, &traffic, &data, &stalls);
    if (status == CNNVP_OK && !window->unit.timing_only)
        status = cnnvp_fx16_compute(window->shape.acc_bits, &tile, &data, &window->unit.scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(&window->unit, command, &tile, &traffic, &data, &stalls, &saturated);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(&window->unit, command, status, NULL);

    const uint64_t busy = cycles + stalls.input + stalls.weight + stalls.output;
    count_command(window, command->tag, &tile, &cost, &stalls, busy, saturated);
    cnnvp_fx16_occupy(&window->unit, command, tile.name, busy, access);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

int cnnvp_window_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_fx16_command(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

/* Whole groups of channels. A command of more than one pass (window_cost.c) keeps its sums in the output buffer. */
int cnnvp_window_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct cnnvp_window_unit *window = self;
    const struct cnnvp_window_shape *shape = &window->shape;
    const struct cnnvp_command *command = NULL;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_command(access, &command);
    if (status != CNNVP_OK)
        return status;
    cnnvp_fx16_describe(command, &tile);
    if (command->opcode != window->opcode)
        return cnnvp_fx16_refuse(&window->unit, command, CNNVP_E_INVAL, window->refusal);
    tiling->result_bytes = SLOT_BYTES;
    tiling->limits = window->unit.clips;
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

void cnnvp_window_init(struct cnnvp_window_unit *window, const struct cnnvp_init *init,
                       const struct cnnvp_window_shape *shape, uint32_t opcode, const char *refusal)
{
    window->shape = *shape;
    window->opcode = opcode;
    window->refusal = refusal;
    window->unit = (struct cnnvp_fx16_unit){
        .host = init->host,
        .ops = init->ops,
        .acc_bits = shape->acc_bits,
        .timing_only = init->ops->timing_only(init->host) != 0,
        .clips = shape->write_out == CNNVP_WRITE_OUT_CLIPS,
        .rejected_stat = STAT_rejected,
    };
}

void cnnvp_window_fini(void *self)
{
    struct cnnvp_window_unit *window = self;
    cnnvp_fx16_unit_free(&window->unit);
}
