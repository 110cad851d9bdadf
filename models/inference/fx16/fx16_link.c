/* SPDX-License-Identifier: Apache-2.0 */
/* Port accesses of a PE array on FX16: commands, operands from the buffers, results to the output buffer. See
 * cnnvp_fx16.h. */
#include "cnnvp_fx16.h"
#include "cnnvp_buffer.h"
#include "cnnvp_integer.h"
#include "cnnvp_words.h"

#include <stdlib.h>

#include "unit/command.h"

enum { TRACK_array };

/* ---- helpers ---- */

static struct cnnvp_access link_access(uint32_t op, const struct cnnvp_command *command)
{
    return (struct cnnvp_access){.op = op, .tag = command->tag, .flow = command->sequence};
}

static void take_clocks(struct cnnvp_access *access, const struct cnnvp_fx16_clocks *clocks)
{
    access->clocks = clocks->classes;
    access->clock_count = clocks->count;
}

/* Accesses a buffer. Adds to *cycles those by which its port lengthens the command. */
static int access_buffer(const struct cnnvp_fx16_unit *unit, uint32_t port, struct cnnvp_access *access,
                         struct cnnvp_fx16_stalls *stalls, uint64_t *cycles)
{
    const cnnvp_time before = stalls->at_once ? 0 : stalls->until;
    access->delay = before;
    const int status = unit->ops->access(unit->host, port, access);
    stalls->until = access->delay;
    *cycles += cnnvp_command_stalls(unit->host, unit->ops, access->delay) -
               cnnvp_command_stalls(unit->host, unit->ops, before);
    return status;
}

/* Checks that these words of the output half exist, without accessing them. */
static int check_range(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                       const struct cnnvp_fx16_tile *tile, uint32_t address, uint64_t words, uint32_t word_bytes)
{
    struct cnnvp_access access = link_access(CNNVP_BORROW_WRITE, command);
    access.flags = CNNVP_DEBUG;
    access.address = cnnvp_buffer_address(tile->out_half, address);
    access.size = words * word_bytes;
    access.word_bytes = word_bytes;
    return unit->ops->access(unit->host, CNNVP_FX16_PORT_output, &access);
}

/* Checks that results and partial sums fit into the output half. */
static int check_output(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                        const struct cnnvp_fx16_tile *tile, uint32_t passes)
{
    const bool sums = passes > 1u || tile->partial || cnnvp_fx16_finds_sums(tile);
    int status = CNNVP_OK;
    if (!tile->partial)
        status = check_range(
            unit, command, tile, tile->out_addr, (tile->planes - 1u) * tile->plane_stride + tile->plane_words,
            cnnvp_fx16_bytes(tile, CNNVP_NARROW_OUT));
    if (status == CNNVP_OK && sums)
        status = check_range(unit, command, tile, tile->acc_addr, tile->planes * tile->plane_words,
                             cnnvp_sum_bytes(unit->acc_bits));
    return status;
}

static int borrow_input(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                        const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                        struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls)
{
    struct cnnvp_access access = link_access(CNNVP_BORROW_READ, command);
    const uint32_t bytes = cnnvp_fx16_bytes(tile, CNNVP_NARROW_A);
    access.address = cnnvp_buffer_address(tile->in_half, tile->in_addr);
    access.size = tile->in_span * bytes;
    access.word_bytes = bytes;
    access.flags = traffic->flags;
    access.words = traffic->input_words;
    access.cycles = traffic->input_cycles;
    take_clocks(&access, &traffic->input);
    access.mode = tile->ones                        ? CNNVP_READ_ONES
                  : tile->kind == CNNVP_FX16_WINDOW ? traffic->input_mode
                                                    : CNNVP_READ_SEQUENTIAL;
    const int status = access_buffer(unit, CNNVP_FX16_PORT_input, &access, stalls, &stalls->input);
    data->input = access.data;
    return status;
}

/* Borrows the input of the bias layer (A1 L14): the buffer answers with ones at every address. */
static int borrow_ones(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                       const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                       struct cnnvp_fx16_stalls *stalls)
{
    if (traffic->ones_words == 0)
        return CNNVP_OK;
    struct cnnvp_access access = link_access(CNNVP_BORROW_READ, command);
    access.address = cnnvp_buffer_address(tile->in_half, tile->in_addr);
    access.size = sizeof(int16_t);
    access.flags = traffic->flags;
    access.words = traffic->ones_words;
    access.cycles = traffic->ones_cycles;
    access.mode = CNNVP_READ_ONES;
    return access_buffer(unit, CNNVP_FX16_PORT_input, &access, stalls, &stalls->input);
}

/* Extends a byte range by `bytes` bytes at an address; no change if `bytes` is 0. */
static void include(uint64_t range[2], uint32_t address, uint64_t bytes)
{
    range[0] = bytes != 0 ? cnnvp_minimum(range[0], address) : range[0];
    range[1] = bytes != 0 ? cnnvp_maximum(range[1], address + bytes) : range[1];
}

/* Borrows weights, biases and table in one access, from the lowest address to the highest. */
static int borrow_weights(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                          const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                          struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls)
{
    const uint32_t bytes = cnnvp_fx16_bytes(tile, CNNVP_NARROW_B);
    uint64_t range[2] = {UINT64_MAX, 0};
    include(range, tile->weight_addr, tile->weight_span * bytes);
    include(range, tile->bias_addr, (tile->bias_span + tile->operand_span) * 2u);
    include(range, tile->table_addr, tile->table_span * 2u);
    if (range[1] == 0)
        return CNNVP_OK;
    const uint64_t begin = range[0];
    struct cnnvp_access access = link_access(CNNVP_BORROW_READ, command);
    access.address = cnnvp_buffer_address(tile->weight_half, (uint32_t)begin);
    access.size = range[1] - begin;
    access.flags = traffic->flags;
    access.words = traffic->weight_words + (2u / bytes - 1u) * traffic->bias_words;
    access.word_bytes = bytes;
    access.cycles = traffic->weight_cycles;
    take_clocks(&access, &traffic->weight);
    access.mode = CNNVP_READ_SEQUENTIAL;
    const int status = access_buffer(unit, CNNVP_FX16_PORT_weight, &access, stalls, &stalls->weight);
    if (status == CNNVP_OK && access.data != NULL) {
        const uint8_t *words = access.data;
        data->weights = tile->weight_span != 0 ? (const void *)(words + (tile->weight_addr - begin)) : NULL;
        data->bias = tile->bias_span != 0 ? (const void *)(words + (tile->bias_addr - begin)) : NULL;
        data->operands = tile->operand_span != 0
                             ? (const int16_t *)(const void *)(words + (tile->bias_addr - begin)) + tile->bias_span
                             : NULL;
        data->table = tile->table_span != 0 ? (const void *)(words + (tile->table_addr - begin)) : NULL;
    }
    return status;
}

/* Widens 8-bit words to the 16-bit words that the kernels take. NULL: out of memory. */
static const int16_t *widen(struct cnnvp_fx16_unit *unit, unsigned operand, const void *bytes, uint64_t count)
{
    if (count > unit->widened_words[operand]) {
        free(unit->widened[operand]);
        unit->widened[operand] = calloc(count, sizeof *unit->widened[operand]);
        unit->widened_words[operand] = unit->widened[operand] != NULL ? count : 0;
    }
    if (unit->widened[operand] != NULL)
        cnnvp_get_words(bytes, count, 1u, unit->widened[operand]);
    return unit->widened[operand];
}

static int widen_operands(struct cnnvp_fx16_unit *unit, const struct cnnvp_fx16_tile *tile,
                          struct cnnvp_fx16_data *data)
{
    if ((tile->narrow & CNNVP_NARROW_A) != 0 && (data->input = widen(unit, 0, data->input, tile->in_span)) == NULL)
        return CNNVP_E_NOMEM;
    if ((tile->narrow & CNNVP_NARROW_B) != 0 && tile->uses_k &&
        (data->weights = widen(unit, 1u, data->weights, tile->weight_span)) == NULL)
        return CNNVP_E_NOMEM;
    return CNNVP_OK;
}

static int64_t *reserve_sums(struct cnnvp_fx16_unit *unit, uint64_t count)
{
    if (count > unit->sums_size) {
        free(unit->sums);
        unit->sums = calloc(count, sizeof *unit->sums);
        unit->sums_size = unit->sums != NULL ? count : 0;
    }
    return unit->sums;
}

/* Explains a failed access or computation to the user. */
static const char *failure(int status)
{
    switch (status) {
    case CNNVP_E_ADDR:
        return "the tile leaves a buffer half";
    case CNNVP_E_NOMEM:
        return "out of memory";
    case CNNVP_E_FATAL:
        return "the array found its own state broken";
    case CNNVP_E_NOSUP:
        return "the unit lacks what the command asks for: limits, scales, a table or an addition (write_out), words of "
               "its size (precision)";
    case CNNVP_E_INVAL:
        return "a buffer refused the access; or the table's header is malformed, or says more segments than the "
               "command; or "
               "multipliers or divisor of an addition are not 2^-100 to 2^100";
    default:
        return "a buffer refused the access";
    }
}

/* ---- for engines ---- */

struct cnnvp_buffer_shape cnnvp_fx16_buffer(const struct cnnvp_fx16_unit *unit, enum cnnvp_fx16_port port)
{
    struct cnnvp_buffer_shape shape = {0};
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .flags = CNNVP_DEBUG, .mode = CNNVP_BUFFER_ASKS, .data = &shape, .size = sizeof shape};
    const int status = unit->ops->access(unit->host, port, &access);
    return status == CNNVP_OK ? shape : (struct cnnvp_buffer_shape){0};
}

uint64_t cnnvp_fx16_crossing(const struct cnnvp_fx16_unit *unit, const struct cnnvp_buffer_shape *shape, uint64_t words,
                             uint64_t width)
{
    const uint64_t clocks = width != 0 ? cnnvp_divide_up(words, width) : 0;
    return shape->clock_mhz != 0 ? cnnvp_divide_up(clocks * unit->ops->clock_mhz(unit->host), shape->clock_mhz)
                                 : clocks;
}

void cnnvp_fx16_unit_free(void *self)
{
    struct cnnvp_fx16_unit *unit = self;
    free(unit->sums);
    unit->sums = NULL;
    unit->sums_size = 0;
    for (unsigned i = 0; i < 2u; ++i) {
        free(unit->widened[i]);
        unit->widened[i] = NULL;
        unit->widened_words[i] = 0;
    }
    cnnvp_fx16_scratch_free(&unit->scratch);
}

int cnnvp_fx16_command(const struct cnnvp_access *access, const struct cnnvp_command **command)
{
    return cnnvp_command_of(access, command);
}

int cnnvp_fx16_refuse(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, int status,
                      const char *reason)
{
    return cnnvp_command_refuse(
        unit->host, unit->ops, unit->rejected_stat, command, status, reason != NULL ? reason : failure(status));
}

/* Refuses weights that do not exist before anything is read that would be counted. */
static int check_weights(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                         const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic)
{
    struct cnnvp_fx16_traffic look = *traffic;
    struct cnnvp_fx16_data unwanted;
    struct cnnvp_fx16_stalls none = {.at_once = 0};
    look.flags |= CNNVP_DEBUG;
    const int status = borrow_weights(unit, command, tile, &look, &unwanted, &none);
    return status == CNNVP_OK ? status : borrow_weights(unit, command, tile, traffic, &unwanted, &none);
}

int cnnvp_fx16_fetch(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                     const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                     struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls)
{
    const bool lacks = (tile->limited && !unit->clips) || (tile->scaled && !unit->scales) ||
                       (tile->table_span != 0 && unit->tables == 0) || (tile->added != 0 && !unit->adds) ||
                       ((tile->narrow != 0 || tile->operand_span != 0) && unit->precision == CNNVP_FX16_ONLY);
    int status = lacks ? CNNVP_E_NOSUP : check_output(unit, command, tile, traffic->passes);
    if (status == CNNVP_OK)
        status = check_weights(unit, command, tile, traffic);
    if (status == CNNVP_OK)
        status = borrow_input(unit, command, tile, traffic, data, stalls);
    if (status == CNNVP_OK)
        status = borrow_ones(unit, command, tile, traffic, stalls);
    if (status == CNNVP_OK)
        status = borrow_weights(unit, command, tile, traffic, data, stalls);
    if (status != CNNVP_OK || unit->timing_only)
        return status;
    if (data->input == NULL || (tile->uses_k && data->weights == NULL) ||
        (tile->bias_words != 0 && data->bias == NULL) || (tile->table_span != 0 && data->table == NULL) ||
        (tile->operand_span != 0 && data->operands == NULL))
        return CNNVP_E_STATE;
    if (tile->table_span != 0 && cnnvp_table_bytes(data->table) - 1u >= tile->table_span * 2u)
        return CNNVP_E_INVAL;
    if (widen_operands(unit, tile, data) != CNNVP_OK)
        return CNNVP_E_NOMEM;
    data->sums = reserve_sums(unit, tile->planes * tile->plane_words);
    return data->sums != NULL ? CNNVP_OK : CNNVP_E_NOMEM;
}

int cnnvp_fx16_look(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                    const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                    struct cnnvp_fx16_data *data)
{
    struct cnnvp_fx16_traffic look = *traffic;
    struct cnnvp_fx16_stalls none = {0};
    look.flags = CNNVP_DEBUG;
    return cnnvp_fx16_fetch(unit, command, tile, &look, data, &none);
}

int cnnvp_fx16_deliver(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                       const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                       const struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls, uint64_t *saturated)
{
    struct cnnvp_update update = {
        .sums = data->sums,
        .planes = tile->planes,
        .plane_words = tile->plane_words,
        .plane_stride = tile->plane_stride,
        .half = tile->out_half,
        .mode = tile->update,
        .partial = tile->partial,
        .acc_bits = unit->acc_bits,
        .out_address = tile->out_addr,
        .acc_address = tile->acc_addr,
        .shift = tile->shift,
        .rounding = tile->rounding,
        .seed = tile->seed,
        .passes = traffic->passes,
        .of_words = tile->of_words,
        .clip = tile->limited,
        .low = (int16_t)tile->low,
        .high = (int16_t)tile->high,
        .scales = tile->scaled ? data->bias : NULL,
        .scale_sums = tile->kind == CNNVP_FX16_MATMUL ? 1u : tile->plane_words,
        .word_bytes = cnnvp_fx16_bytes(tile, CNNVP_NARROW_OUT),
        .zero = tile->zero,
        .table = data->table,
        .table_shift = tile->table_shift,
        .added = tile->added,
        .addition = tile->addition,
        .operands = data->operands,
    };
    /* If sums and 8-bit results cross the port together, access.words counts in units of 16 bits. */
    const bool alone = !tile->partial && !cnnvp_fx16_finds_sums(tile) && traffic->passes <= 1u;
    const uint64_t results = tile->partial ? 0 : tile->planes * tile->plane_words;
    struct cnnvp_access access = link_access(CNNVP_COMMAND, command);
    access.data = &update;
    access.size = sizeof update;
    access.word_bytes = alone ? update.word_bytes : 2u;
    access.words = alone ? traffic->output_words
                         : traffic->output_words - results + cnnvp_fx16_words(tile, CNNVP_NARROW_OUT, results);
    access.cycles = traffic->output_cycles;
    take_clocks(&access, &traffic->output);
    const int status = access_buffer(unit, CNNVP_FX16_PORT_output, &access, stalls, &stalls->output);
    *saturated = status == CNNVP_OK ? update.saturated : 0;
    return status;
}

void cnnvp_fx16_occupy(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, const char *name,
                       uint64_t cycles, struct cnnvp_access *access)
{
    cnnvp_command_occupy(unit->host, unit->ops, TRACK_array, name, command, cycles, access);
}

/* ---- tables ---- */

const struct cnnvp_port cnnvp_fx16_ports[] = {
#define CNNVP_UNIT_PORT(name, kind, flags, window, lines, help) \
    [CNNVP_FX16_PORT_##name] = {#name, CNNVP_PORT_##kind, flags, window, lines, help},
#define CNNVP_TRACK(name)
#include "fx16_ports.inc"
#undef CNNVP_UNIT_PORT
#undef CNNVP_TRACK
};

const char *const cnnvp_fx16_tracks[] = {
#define CNNVP_UNIT_PORT(name, kind, flags, window, lines, help)
#define CNNVP_TRACK(name) [TRACK_##name] = #name,
#include "fx16_ports.inc"
};
