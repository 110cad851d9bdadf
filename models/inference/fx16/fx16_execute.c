/* SPDX-License-Identifier: Apache-2.0 */
/* Executes commands for every FX16 engine. The engine supplies the cost of the command; everything else is done
 * here. */
#include "cnnvp_fx16.h"

#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"

static uint64_t cycles_of(const struct cnnvp_fx16_cost *cost)
{
    return cost->compute_cycles + cost->bias_cycles + cost->fill_cycles + cost->writeout_cycles +
           cost->accumulator_cycles;
}

/* Adds the time and words of loading the write-out's constants: those of an addition, then a table. They are loaded
 * before the first weight, at the weight buffer's sequential rate. */
static void load_constants(const struct cnnvp_fx16_unit *unit, struct cnnvp_fx16_work *work)
{
    const uint64_t span = work->tile.table_span + work->tile.operand_span;
    if (span == 0)
        return;
    const struct cnnvp_buffer_shape shape = cnnvp_fx16_buffer(unit, CNNVP_FX16_PORT_weight);
    const uint64_t lines = shape.banks * shape.column_step; /* per clock */
    const uint64_t words = cnnvp_minimum(shape.width_words, lines * shape.line_words);
    const uint64_t cycles = cnnvp_fx16_crossing(unit, &shape, span, words != 0 ? words : 1u);
    work->cost.fill_cycles += cycles;
    work->cost.bias_words += span;
    work->cost.weight_words += span;
    work->traffic.weight_cycles += cycles;
}

/* Derives the port traffic from the cost. */
static void cross(const struct cnnvp_fx16_unit *unit, struct cnnvp_fx16_work *work)
{
    const struct cnnvp_fx16_cost *cost = &work->cost;
    struct cnnvp_fx16_traffic *traffic = &work->traffic;
    load_constants(unit, work);
    work->cost.fill_cycles += work->tile.table_span != 0 ? CNNVP_WRITE_OUT_TABLE_STAGES : 0;
    work->cost.fill_cycles += work->tile.added != 0 ? CNNVP_WRITE_OUT_ADD_STAGES : 0;
    work->cost.fill_cycles += work->tile.operand_span != 0 ? CNNVP_OPERAND_SCALE_STAGES : 0;
    traffic->input_words = cost->input_words - cost->ones_words;
    traffic->input_cycles = cycles_of(cost); /* a port that all operands share is theirs for the whole command */
    traffic->ones_words = cost->ones_words;
    traffic->ones_cycles = cost->bias_cycles;
    traffic->weight_words = cost->weight_words;
    traffic->bias_words = cost->bias_words;
    traffic->output_words = cost->output_words;
    traffic->passes = cost->passes != 0 ? (uint32_t)cost->passes : 1u;
}

/* Returns NULL if the unit's write-out can do what the tile asks for. */
static const char *wrong_write_out(const struct cnnvp_fx16_unit *unit, const struct cnnvp_fx16_tile *tile)
{
    if (tile->limited && !unit->clips)
        return "write_out is round: it has no limits";
    if (tile->table_span != 0 && unit->tables == 0)
        return "write_out: it is neither table nor all, and the command has a table";
    if (tile->added != 0 && !unit->adds)
        return "write_out: it is neither add nor all, and the command adds results to words";
    return tile->scaled && !unit->scales ? "write_out: it is not scale, and the command scales" : NULL;
}

/* Returns NULL if the unit's multipliers and paths support the tile's word sizes. */
static const char *wrong_precision(const struct cnnvp_fx16_unit *unit, const struct cnnvp_fx16_tile *tile)
{
    const uint32_t operands = (uint32_t)CNNVP_NARROW_A | (tile->uses_k ? (uint32_t)CNNVP_NARROW_B : 0u);
    if (unit->precision == CNNVP_FX16_ONLY && tile->narrow != 0)
        return "precision is fx16: all words have 16 bits; both, or int8, takes words of 8";
    if (unit->precision == CNNVP_FX16_ONLY && tile->operand_span != 0)
        return "precision is fx16: operands that are scaled have 8 bits; both, or int8, takes words of 8";
    if (unit->precision == CNNVP_FX16_INT8 && (tile->narrow & operands) != operands)
        return "precision is int8: inputs and weights have 8 bits; both, or fx16, takes words of 16";
    return NULL;
}

/* Checks the command and computes its cost. Returns NULL, or why the command is refused. */
static const char *prepare(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                           struct cnnvp_fx16_work *work)
{
    const char *reason = "";
    if (unit->opcode != 0 && command->opcode != unit->opcode)
        return unit->refusal;
    if (cnnvp_fx16_decode(command, &work->tile, &reason) != CNNVP_OK)
        return reason;
    reason = wrong_precision(unit, &work->tile);
    if (reason == NULL)
        reason = unit->engine->cost(unit, command, work);
    if (reason == NULL && cycles_of(&work->cost) > CNNVP_FX16_MAX_CYCLES)
        reason = "a command takes at most 2^40 cycles";
    return reason;
}

static uint64_t busy_cycles_of(const struct cnnvp_fx16_cost *cost)
{
    return cycles_of(cost) + cost->input_port_cycles + cost->weight_port_cycles + cost->output_port_cycles;
}

/* Biases that an array reads where the weight buffer's port has room wait if there is too little. */
static void wait_for_biases(const struct cnnvp_fx16_unit *unit, const struct cnnvp_fx16_tile *tile,
                            struct cnnvp_fx16_cost *cost)
{
    const uint64_t words =
        cost->bias_words + cnnvp_fx16_words(tile, CNNVP_NARROW_B, cost->weight_words - cost->bias_words);
    const uint64_t busy = busy_cycles_of(cost);
    if (words <= busy)
        return;
    const struct cnnvp_buffer_shape shape = cnnvp_fx16_buffer(unit, CNNVP_FX16_PORT_weight);
    const uint64_t taken = cnnvp_fx16_crossing(unit, &shape, words, shape.width_words);
    cost->weight_port_cycles += taken > busy ? taken - busy : 0;
}

static int carry_out(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, struct cnnvp_fx16_work *work)
{
    struct cnnvp_fx16_stalls stalls = {0};
    const bool steps = unit->engine->step != NULL;
    int status = CNNVP_OK;
    cross(unit, work);
    if (steps && cnnvp_fx16_look(unit, command, &work->tile, &work->traffic, &work->data) == CNNVP_OK) {
        status = unit->engine->step(unit, work);
        cross(unit, work);
    }
    if (status == CNNVP_OK)
        status = cnnvp_fx16_fetch(unit, command, &work->tile, &work->traffic, &work->data, &stalls);
    if (status == CNNVP_OK && !steps && !unit->timing_only)
        status = cnnvp_fx16_compute(unit->acc_bits, &work->tile, &work->data, &unit->scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(
            unit, command, &work->tile, &work->traffic, &work->data, &stalls, &work->cost.saturations);
    work->cost.input_port_cycles = stalls.input;
    work->cost.weight_port_cycles = stalls.weight;
    work->cost.output_port_cycles = stalls.output;
    wait_for_biases(unit, &work->tile, &work->cost);
    return status;
}

/* Converts words of 8 bits to the units in which statistics count words. */
static void take_words(const struct cnnvp_fx16_tile *tile, struct cnnvp_fx16_cost *cost)
{
    const uint32_t both = (uint32_t)CNNVP_NARROW_A | (uint32_t)CNNVP_NARROW_B;
    const uint64_t results = tile->partial ? 0 : tile->planes * tile->plane_words;
    if (tile->narrow == 0)
        return;
    cost->input_words = cost->ones_words + cnnvp_fx16_words(tile, CNNVP_NARROW_A, cost->input_words - cost->ones_words);
    cost->reused_words = cnnvp_fx16_words(tile, CNNVP_NARROW_A, cost->reused_words);
    cost->fifo_h_pushes = cnnvp_fx16_words(tile, CNNVP_NARROW_A, cost->fifo_h_pushes);
    cost->fifo_v_pushes = cnnvp_fx16_words(tile, CNNVP_NARROW_A, cost->fifo_v_pushes);
    cost->weight_words =
        cost->bias_words + cnnvp_fx16_words(tile, CNNVP_NARROW_B, cost->weight_words - cost->bias_words);
    cost->output_words = cost->output_words - results + cnnvp_fx16_words(tile, CNNVP_NARROW_OUT, results);
    if ((tile->narrow & both) == both) {
        cost->int8_macs = cost->macs;
        cost->macs = 0;
    }
}

static void count(const struct cnnvp_fx16_unit *unit, uint32_t tag, const struct cnnvp_fx16_cost *cost)
{
    for (uint32_t i = 0; i < unit->engine->stat_count; ++i) {
        const uint64_t n = *(const uint64_t *)(const void *)((const char *)cost + unit->engine->counts[i]);
        if (n != 0)
            unit->ops->count(unit->host, i, tag, n);
    }
}

int cnnvp_fx16_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct cnnvp_fx16_unit *unit = self;
    const struct cnnvp_command *command = NULL;
    struct cnnvp_fx16_work work = {0};
    struct cnnvp_fx16_cost *cost = &work.cost;
    int status = cnnvp_fx16_command(access, &command);
    (void)port;
    if (status != CNNVP_OK)
        return status;
    const char *reason = prepare(unit, command, &work);
    if (reason != NULL)
        return cnnvp_fx16_refuse(unit, command, CNNVP_E_INVAL, reason);
    reason = wrong_write_out(unit, &work.tile);
    if (reason != NULL)
        return cnnvp_fx16_refuse(unit, command, CNNVP_E_NOSUP, reason);
    status = carry_out(unit, command, &work);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(unit, command, status, NULL);
    cost->commands = 1u;
    cost->scaled_words = cnnvp_fx16_scaled_words(&work.tile);
    cost->tabled_words = cnnvp_fx16_tabled_words(&work.tile);
    cost->table_words = 2u * cost->tabled_words + work.tile.table_span * unit->tables;
    cost->added_words = cnnvp_fx16_added_words(&work.tile);
    cost->scaled_words += work.tile.operand_span != 0 ? 2u * cost->added_words : 0;
    cost->limited_words = cnnvp_fx16_limited_words(&work.tile);
    cost->busy_cycles = busy_cycles_of(cost);
    take_words(&work.tile, cost);
    count(unit, command->tag, cost);
    cnnvp_fx16_occupy(unit, command, work.tile.name, cost->busy_cycles, access);
    return CNNVP_OK;
}

int cnnvp_fx16_layer(const struct cnnvp_fx16_unit *unit, const struct cnnvp_access *access,
                     const struct cnnvp_command **command, struct cnnvp_fx16_tile *layer, struct cnnvp_tiling *tiling)
{
    const int status = cnnvp_fx16_command(access, command);
    if (status != CNNVP_OK)
        return status;
    cnnvp_fx16_describe(*command, layer);
    const char *reason = wrong_precision(unit, layer);
    if (reason != NULL)
        return cnnvp_fx16_refuse(unit, *command, CNNVP_E_INVAL, reason);
    if ((layer->narrow & CNNVP_NARROW_A) != 0) {
        tiling->word_bytes = 1;
        tiling->format = "int8";
    }
    return CNNVP_OK;
}
