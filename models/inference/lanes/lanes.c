/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units made of lanes, beside a PE array (lanes.h defines the instructions and their cost).
 *
 * Modelled: S003's data calculation element (c3, c4, c5): each lane has a multiplier or MAC, an adder, a subtractor, a
 * divider and a comparator (Part B 3-1), each with its own register; accumulation by the status field (3-3) and output
 * selection (vout). The ALU stage that S002 lacks (2-2): division for average pooling, piecewise-linear activation.
 * S000's mean-update, variance-update and normalise-and-reconstruct units (A4) and its activation unit (A3). Pooling
 * and convolution (vpool, vconv) for layers that the PE array does not take: results by the arithmetic of the PE arrays
 * (models/inference/fx16), time and words at the ports by the lanes. Not modelled: the single stages of the pipeline;
 * reuse of window inputs between lanes.
 *
 * A command makes one access to a buffer for each operand.
 */
#include "lanes_internal.h"

#include <string.h>

#include "cnnvp_buffer.h"
#include "cnnvp_integer.h"
#include "inference/write_out/write_out.h"
#include "isa/isa.h"

#define UNIT_DEF "inference/lanes/lanes.def"
#include "unit/unit_enums.inc"

_Static_assert((int)PORT_input == (int)CNNVP_FX16_PORT_input && (int)PORT_weight == (int)CNNVP_FX16_PORT_weight &&
                   (int)PORT_output == (int)CNNVP_FX16_PORT_output,
               "windows reach the buffers through the links of the PE arrays");

/* ---- helpers ---- */

static int refuse(struct lanes *lanes, const struct cnnvp_command *command, int status, const char *why)
{
    return cnnvp_fx16_refuse(&lanes->links, command, status, why);
}

static cnnvp_time after(const struct lanes *lanes, cnnvp_time time, uint64_t cycles)
{
    return cnnvp_edge_time(lanes->clock_mhz, cnnvp_edge_at_or_after(lanes->clock_mhz, time) + cycles);
}

static struct cnnvp_access link_access(const struct cnnvp_command *command, const struct lanes_operand *operand,
                                       enum cnnvp_op op)
{
    return (struct cnnvp_access){
        .op = op,
        .tag = command->tag,
        .flow = command->sequence,
        .address = cnnvp_buffer_address(operand->half, (uint32_t)operand->low),
        .size = (uint64_t)(operand->high - operand->low),
        .words = operand->words,
        .word_bytes = operand->bytes == 1u ? 1u : 2u,
    };
}

/* What a command's accesses take at the port of a buffer: 16-bit words, and cycles by which they are late, together and
 * at most. */
struct crossing {
    uint64_t accesses, words, late, latest;
};

/* Cycles by which the port of the busiest buffer lengthens a command that has `cycles` for its words. */
static uint64_t stall_of(const struct lanes *lanes, const struct crossing crossings[LANES_BUFFERS], uint64_t cycles)
{
    uint64_t shared = 0, busiest = 0;
    for (uint32_t b = 0; b < LANES_BUFFERS; ++b) {
        const struct crossing *crossing = &crossings[b];
        if (crossing->accesses < 2u && crossing->late == 0)
            continue;
        const struct cnnvp_buffer_shape shape = cnnvp_fx16_buffer(&lanes->links, PORT_input + b);
        const uint64_t taken = cnnvp_fx16_crossing(&lanes->links, &shape, crossing->words, shape.width_words);
        const uint64_t late = cnnvp_maximum(crossing->latest, taken > cycles ? taken - cycles : 0);
        shared += shape.shared ? crossing->late : 0;
        busiest = cnnvp_maximum(busiest, shape.shared ? shared : late);
    }
    return busiest;
}

/* Borrows an operand's range, and adds what it takes at its port. */
static int borrow(struct lanes *lanes, const struct cnnvp_command *command, struct lanes_operand *operand,
                  enum cnnvp_op op, uint64_t feature_words, uint64_t cycles, struct crossing *crossings)
{
    if (!operand->used)
        return CNNVP_OK;
    struct cnnvp_access access = link_access(command, operand, op);
    access.clocks = operand->clocks;
    access.clock_count = operand->clock_count;
    const cnnvp_time now = lanes->ops->now(lanes->host);
    access.cycles = cycles;
    access.delay = after(lanes, now, cycles) - now;
    access.mode = op == CNNVP_BORROW_READ ? cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL)
                                          : cnnvp_buffer_write_mode(feature_words);
    const int status = lanes->ops->access(lanes->host, PORT_input + operand->buffer, &access);
    if (status != CNNVP_OK)
        return status;
    const uint64_t taken = cnnvp_delay_cycles(lanes->clock_mhz, now, access.delay);
    const uint64_t late = taken > cycles ? taken - cycles : 0;
    struct crossing *crossing = &crossings[operand->buffer];
    ++crossing->accesses;
    crossing->words += (access.words * access.word_bytes + 1u) / 2u;
    crossing->late += late;
    crossing->latest = cnnvp_maximum(crossing->latest, late);
    if (lanes->timing_only)
        return CNNVP_OK;
    if (access.data == NULL)
        return CNNVP_E_STATE;
    operand->data = (uint8_t *)access.data + (operand->base - operand->low);
    return CNNVP_OK;
}

/* Checks that the table lies in the half. Uses debug accesses, which are not counted: the table's length is data, and
 * counts do not depend on data. */
static int check_table(struct lanes *lanes, const struct cnnvp_command *command, const struct lanes_operand *table)
{
    struct cnnvp_access access = link_access(command, table, CNNVP_BORROW_READ);
    access.flags = CNNVP_DEBUG;
    int status = lanes->ops->access(lanes->host, PORT_input + table->buffer, &access);
    if (status != CNNVP_OK || access.data == NULL)
        return refuse(lanes, command, status == CNNVP_OK ? CNNVP_E_STATE : status, "the table leaves the half");
    access.size = cnnvp_table_bytes(access.data);
    if (access.size == 0)
        return refuse(lanes, command, CNNVP_E_INVAL, "the table's header is malformed");
    status = lanes->ops->access(lanes->host, PORT_input + table->buffer, &access);
    return status == CNNVP_OK ? status : refuse(lanes, command, status, "the table leaves the half");
}

/* Feature values among the results. The results of vmean and vvar, one word a channel, are parameters. */
static uint64_t feature_words(const struct lanes_job *job)
{
    return job->opcode == CNNVP_OPCODE_vmean || job->opcode == CNNVP_OPCODE_vvar ? 0 : job->count * job->repeat;
}

static void count_command(struct lanes *lanes, const struct cnnvp_command *command, const struct lanes_cost *cost,
                          uint64_t busy)
{
    static const uint32_t operations[LANES_OPERATORS] = {
        STAT_mac_operations, STAT_add_operations, STAT_sub_operations, STAT_div_operations, STAT_cmp_operations};
    const struct cnnvp_host_ops *ops = lanes->ops;
    ops->count(lanes->host, STAT_commands, command->tag, 1);
    ops->count(lanes->host, STAT_busy_cycles, command->tag, busy);
    ops->count(lanes->host, STAT_beats, command->tag, cost->beats);
    ops->count(lanes->host, STAT_elements, command->tag, cost->elements);
    if (busy > cost->cycles)
        ops->count(lanes->host, STAT_port_cycles, command->tag, busy - cost->cycles);
    if (cost->fp32 != 0)
        ops->count(lanes->host, STAT_fp32_mac_operations, command->tag, cost->fp32);
    if (command->opcode == CNNVP_OPCODE_vconv && cost->operations[LANES_mac] != 0)
        ops->count(lanes->host, cost->narrow ? STAT_int8_macs : STAT_macs, command->tag, cost->operations[LANES_mac]);
    for (uint32_t o = 0; o < LANES_OPERATORS; ++o)
        if (cost->operations[o] != 0)
            ops->count(lanes->host, o == LANES_mac && cost->narrow ? STAT_int8_mac_operations : operations[o],
                       command->tag, cost->operations[o]);
}

static void count_clipped(struct lanes *lanes, const struct cnnvp_command *command, uint64_t clipped)
{
    if (clipped != 0)
        lanes->ops->count(lanes->host, STAT_saturations, command->tag, clipped);
}

/* Occupies the unit for `busy` cycles after the commands before: counts, delay, span. */
static void occupy(struct lanes *lanes, const struct cnnvp_command *command, const struct lanes_cost *cost,
                   uint64_t busy, cnnvp_time *delay)
{
    const cnnvp_time now = lanes->ops->now(lanes->host);
    const cnnvp_time begin = after(lanes, lanes->busy_until > now ? lanes->busy_until : now, 0);
    const cnnvp_time end = after(lanes, begin, busy);
    lanes->busy_until = end;
    *delay += end - now;
    count_command(lanes, command, cost, busy);
    /* the span of a command from before a reset may reach beyond `begin` */
    const cnnvp_time drawn_from = begin > lanes->track_end ? begin : lanes->track_end;
    lanes->track_end = end > drawn_from ? end : drawn_from;
    lanes->ops->span(lanes->host, 0, cnnvp_isa_opcode(command->opcode)->mnemonic, command->tag, command->sequence,
                     drawn_from, lanes->track_end);
}

/* 1 if the operand lies in its half. A debug access is not counted. */
static int is_there(const struct lanes *lanes, const struct cnnvp_command *command, const struct lanes_operand *operand)
{
    struct cnnvp_access access = link_access(command, operand, CNNVP_BORROW_READ);
    access.flags = CNNVP_DEBUG;
    return !operand->used || lanes->ops->access(lanes->host, PORT_input + operand->buffer, &access) == CNNVP_OK;
}

/* Borrows all operands, beginning with one that is missing: if it is refused, the others are not counted. */
static int borrow_all(struct lanes *lanes, const struct cnnvp_command *command, struct lanes_job *job, uint64_t cycles,
                      struct crossing *crossings)
{
    struct lanes_operand *const operands[] = {&job->a, &job->b, &job->c, &job->out};
    enum { OPERANDS = sizeof operands / sizeof operands[0], OUT = OPERANDS - 1 };
    int first = 0, status = CNNVP_OK;
    while (first < OPERANDS && is_there(lanes, command, operands[first]))
        ++first;
    for (int i = 0; i < OPERANDS && status == CNNVP_OK; ++i) {
        const int at = (first + i) % OPERANDS;
        status = borrow(lanes, command, operands[at], at == OUT ? CNNVP_BORROW_WRITE : CNNVP_BORROW_READ,
                        at == OUT ? feature_words(job) : 0, cycles, crossings);
    }
    return status;
}

/* ---- commands ---- */

static int execute_elements(struct lanes *lanes, const struct cnnvp_command *command, cnnvp_time *delay)
{
    struct lanes_job job;
    struct lanes_cost cost;
    const char *error = lanes_decode(command, lanes->shape.lanes, &job);
    if (error != NULL)
        return refuse(lanes, command, CNNVP_E_INVAL, error);
    lanes_cost(&job, &lanes->shape, &cost);
    if (job.opcode == CNNVP_OPCODE_vact && !lanes->timing_only) {
        const int status = check_table(lanes, command, &job.b);
        if (status != CNNVP_OK)
            return status;
    }
    const uint64_t streaming = cost.cycles - lanes_latency(&job, &lanes->shape);
    lanes_clocks(&lanes->shape, &cost, &job);
    struct crossing crossings[LANES_BUFFERS] = {0};
    const int status = borrow_all(lanes, command, &job, streaming, crossings);
    if (status != CNNVP_OK)
        return refuse(lanes, command, status, "an operand is outside its half of the buffer");

    const uint64_t busy = cost.cycles + stall_of(lanes, crossings, streaming);
    occupy(lanes, command, &cost, busy, delay);
    if (!lanes->timing_only) {
        const uint64_t clipped = lanes_execute(&job, lanes->shape.lanes, &lanes->registers);
        count_clipped(lanes, command, clipped);
    }
    return CNNVP_OK;
}

static int execute_window(struct lanes *lanes, const struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_fx16_tile tile;
    struct lanes_cost cost;
    struct cnnvp_fx16_traffic traffic;
    struct cnnvp_fx16_data data = {0};
    struct cnnvp_fx16_stalls stalls = {.at_once = 1};
    uint64_t clipped = 0;
    const char *error = lanes_window_decode(command, &tile);
    if (error != NULL)
        return refuse(lanes, command, CNNVP_E_INVAL, error);
    lanes_window_cost(&tile, &lanes->shape, &cost, &traffic);
    if (cost.cycles > CNNVP_FX16_MAX_CYCLES)
        return refuse(lanes, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    int status = cnnvp_fx16_fetch(&lanes->links, command, &tile, &traffic, &data, &stalls);
    if (status == CNNVP_OK && !lanes->timing_only)
        status = cnnvp_fx16_compute(LANES_REGISTER_BITS, &tile, &data, &lanes->links.scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(&lanes->links, command, &tile, &traffic, &data, &stalls, &clipped);
    if (status != CNNVP_OK)
        return refuse(lanes, command, status, NULL);
    const struct crossing crossings[LANES_BUFFERS] = {
        [LANES_INPUT] = {1u, 0, stalls.input, stalls.input},
        [LANES_WEIGHT] = {1u, 0, stalls.weight, stalls.weight},
        [LANES_OUTPUT] = {1u, 0, stalls.output, stalls.output}};
    occupy(lanes, command, &cost, cost.cycles + stall_of(lanes, crossings, cost.cycles), delay);
    count_clipped(lanes, command, clipped);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

/* Returns NULL if the unit takes the command. */
static const char *refusal(const struct lanes *lanes, const struct cnnvp_command *command)
{
    if (lanes->opcode != 0 && command->opcode != lanes->opcode)
        return lanes->refusal;
    if (lanes->opcode == CNNVP_OPCODE_vnorm && (command->status >> CNNVP_STATUS_vnorm_store & 1u) == 0)
        return "the normalise-and-reconstruct unit stores what it calculates: vnorm.store";
    if ((command->status >> CNNVP_STATUS_vmac_clip & 1u) != 0 && !lanes->links.clips)
        return "its write-out is round: it has no limits";
    if (lanes_scales(command) && lanes->shape.write_out < CNNVP_WRITE_OUT_SCALES)
        return "its write-out does not scale";
    return NULL;
}

int lanes_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct lanes *lanes = self;
    const struct cnnvp_command *command;
    struct cnnvp_fx16_tile tile;
    (void)port;
    const int status = cnnvp_fx16_layer(&lanes->links, access, &command, &tile, tiling);
    tiling->pes = lanes->shape.lanes * lanes->shape.units;
    return status;
}

int lanes_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct lanes *lanes = self;
    const struct cnnvp_command *command = access->data;
    (void)port;
    if (access->op != CNNVP_COMMAND || command == NULL || access->size < sizeof *command)
        return CNNVP_E_ACCESS;
    if (access->flags & CNNVP_DEBUG)
        return CNNVP_OK;
    const char *error = refusal(lanes, command);
    if (error != NULL)
        return refuse(lanes, command, CNNVP_E_INVAL, error);
    return lanes_is_window(command->opcode) ? execute_window(lanes, command, &access->delay)
                                            : execute_elements(lanes, command, &access->delay);
}

void lanes_init(struct lanes *lanes, const struct cnnvp_init *init, const struct lanes_shape *shape, uint32_t opcode,
                const char *refusal)
{
    lanes->host = init->host;
    lanes->ops = init->ops;
    lanes->shape = *shape;
    lanes->opcode = opcode;
    lanes->refusal = refusal;
    lanes->timing_only = init->ops->timing_only(init->host) != 0;
    lanes->links = (struct cnnvp_fx16_unit){
        .host = init->host,
        .ops = init->ops,
        .acc_bits = LANES_REGISTER_BITS,
        .timing_only = lanes->timing_only,
        .clips = shape->write_out >= CNNVP_WRITE_OUT_CLIPS,
        .precision = CNNVP_FX16_BOTH,
        .rejected_stat = STAT_rejected,
    };
}

void lanes_fini(void *self)
{
    struct lanes *lanes = self;
    cnnvp_fx16_unit_free(&lanes->links);
}

void lanes_reset(void *self)
{
    struct lanes *lanes = self;
    lanes->clock_mhz = lanes->ops->clock_mhz(lanes->host);
    lanes->busy_until = 0;
    memset(&lanes->registers, 0, sizeof lanes->registers);
}
