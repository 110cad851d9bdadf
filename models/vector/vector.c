/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector unit beside a PE array.
 *
 * Modelled: S003's data calculation element (c3, c4, c5): in each lane a multiplier or MAC, an adder, a subtractor, a
 * divider and a comparator (Part B 3-1), each with its own register, accumulation by the status field (3-3), output
 * selection (vout); the ALU stage that S002 lacks (2-2): division for average pooling, piecewise-linear activation;
 * S000's mean-update, variance-update and normalise-and-reconstruct units (A4) and its activation unit (A3); pooling
 * and convolution (vpool, vconv) for what the PE array does not take: results by the arithmetic of the PE arrays
 * (models/fx16), time and words at the ports by the lanes.
 * Not modelled: the single stages of the pipeline; reuse of window inputs from lane to lane.
 *
 * Instructions and their cost are defined in vector.h. A tile is one access on the link to a buffer for each operand.
 */
#include "vector_internal.h"

#include <string.h>

#include "cnnvp_buffer.h"

#define UNIT_DEF "vector/vector.def"
#include "unit/unit_enums.inc"

struct vector {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct vector_shape shape;
    uint64_t clock_mhz;
    int timing_only;
    cnnvp_time busy_until;
    cnnvp_time track_end;
    struct vector_registers registers;
    struct cnnvp_fx16_unit links; /* of vpool and vconv */
};

_Static_assert((int)PORT_input == (int)CNNVP_FX16_PORT_input && (int)PORT_weight == (int)CNNVP_FX16_PORT_weight &&
                   (int)PORT_output == (int)CNNVP_FX16_PORT_output,
               "windows reach the buffers through the links of the PE arrays");

/* ---- helpers ---- */

static int refuse(struct vector *vector, const struct cnnvp_command *command, int status, const char *why)
{
    return cnnvp_fx16_refuse(&vector->links, command, status, why);
}

static cnnvp_time after(const struct vector *vector, cnnvp_time time, uint64_t cycles)
{
    return cnnvp_edge_time(vector->clock_mhz, cnnvp_edge_at_or_after(vector->clock_mhz, time) + cycles);
}

static struct cnnvp_access link_access(const struct cnnvp_command *command, const struct vector_operand *operand,
                                       enum cnnvp_op op)
{
    return (struct cnnvp_access){
        .op = op,
        .tag = command->tag,
        .flow = command->sequence,
        .address = cnnvp_buffer_address(operand->half, (uint32_t)operand->low),
        .size = (uint64_t)(operand->high - operand->low),
        .words = operand->words,
    };
}

/* Borrows an operand's range. *delay: the longest so far. */
static int borrow(struct vector *vector, const struct cnnvp_command *command, struct vector_operand *operand,
                  enum cnnvp_op op, uint64_t feature_words, uint64_t cycles, cnnvp_time *delay)
{
    if (!operand->used)
        return CNNVP_OK;
    struct cnnvp_access access = link_access(command, operand, op);
    const cnnvp_time now = vector->ops->now(vector->host);
    access.cycles = cycles;
    access.delay = after(vector, now, cycles) - now;
    access.mode = op == CNNVP_BORROW_READ ? cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL)
                                          : cnnvp_buffer_write_mode(feature_words);
    const int status = vector->ops->access(vector->host, PORT_input + operand->buffer, &access);
    if (status != CNNVP_OK)
        return status;
    if (access.delay > *delay)
        *delay = access.delay;
    if (vector->timing_only)
        return CNNVP_OK;
    if (access.data == NULL)
        return CNNVP_E_STATE;
    operand->data = (uint8_t *)access.data + (operand->base - operand->low);
    return CNNVP_OK;
}

/* Looks at a table without counting: its length is data, and counts do not depend on data. */
static int check_table(struct vector *vector, const struct cnnvp_command *command, const struct vector_operand *table)
{
    struct cnnvp_access access = link_access(command, table, CNNVP_BORROW_READ);
    uint64_t bytes = 0;
    access.flags = CNNVP_DEBUG;
    int status = vector->ops->access(vector->host, PORT_input + table->buffer, &access);
    if (status != CNNVP_OK || access.data == NULL)
        return refuse(vector, command, status == CNNVP_OK ? CNNVP_E_STATE : status, "the table leaves the half");
    const char *error = vector_check_table(access.data, &bytes);
    if (error != NULL)
        return refuse(vector, command, CNNVP_E_INVAL, error);
    access.size = bytes;
    status = vector->ops->access(vector->host, PORT_input + table->buffer, &access);
    return status == CNNVP_OK ? status : refuse(vector, command, status, "the table leaves the half");
}

/* Feature values among the results: vectors of one word a channel are parameters. */
static uint64_t feature_words(const struct vector_job *job)
{
    return job->opcode == VECTOR_OP_vmean || job->opcode == VECTOR_OP_vvar ? 0 : job->count * job->repeat;
}

static void count_command(struct vector *vector, const struct cnnvp_command *command, const struct vector_cost *cost,
                          uint64_t busy)
{
    static const uint32_t operations[VECTOR_OPERATORS] = {
        STAT_mac_operations, STAT_add_operations, STAT_sub_operations, STAT_div_operations, STAT_cmp_operations};
    const struct cnnvp_host_ops *ops = vector->ops;
    ops->count(vector->host, STAT_commands, command->tag, 1);
    ops->count(vector->host, STAT_busy_cycles, command->tag, busy);
    ops->count(vector->host, STAT_beats, command->tag, cost->beats);
    ops->count(vector->host, STAT_elements, command->tag, cost->elements);
    if (busy > cost->cycles)
        ops->count(vector->host, STAT_port_cycles, command->tag, busy - cost->cycles);
    for (uint32_t o = 0; o < VECTOR_OPERATORS; ++o)
        if (cost->operations[o] != 0)
            ops->count(vector->host, operations[o], command->tag, cost->operations[o]);
}

static void count_clipped(struct vector *vector, const struct cnnvp_command *command, uint64_t clipped)
{
    if (clipped != 0)
        vector->ops->count(vector->host, STAT_saturations, command->tag, clipped);
}

/* Name of an instruction, for the trace. */
static const char *name_of(uint32_t opcode)
{
    switch (opcode) {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    case code:                                                                            \
        return #mnemonic;
#include "instruction/opcodes.def"
    default:
        return "";
    }
}

/* The unit works on the command for so many cycles after those before it: counts, delay, span. */
static void occupy(struct vector *vector, const struct cnnvp_command *command, const struct vector_cost *cost,
                   uint64_t busy, cnnvp_time *delay)
{
    const cnnvp_time now = vector->ops->now(vector->host);
    const cnnvp_time begin = after(vector, vector->busy_until > now ? vector->busy_until : now, 0);
    const cnnvp_time end = after(vector, begin, busy);
    vector->busy_until = end;
    *delay += end - now;
    count_command(vector, command, cost, busy);
    /* a command from before a reset may still be drawn */
    const cnnvp_time drawn_from = begin > vector->track_end ? begin : vector->track_end;
    vector->track_end = end > drawn_from ? end : drawn_from;
    vector->ops->span(vector->host, 0, name_of(command->opcode), command->tag, command->sequence, drawn_from,
                      vector->track_end);
}

/* ---- commands ---- */

static int execute_elements(struct vector *vector, const struct cnnvp_command *command, cnnvp_time *delay)
{
    struct vector_job job;
    struct vector_cost cost;
    const char *error = vector_decode(command, vector->shape.lanes, &job);
    if (error != NULL)
        return refuse(vector, command, CNNVP_E_INVAL, error);
    vector_cost(&job, &vector->shape, &cost);
    if (job.opcode == VECTOR_OP_vact && !vector->timing_only) {
        const int status = check_table(vector, command, &job.b);
        if (status != CNNVP_OK)
            return status;
    }
    const uint64_t streaming = cost.cycles - vector->shape.pipeline;
    cnnvp_time longest = 0;
    int status = borrow(vector, command, &job.a, CNNVP_BORROW_READ, 0, streaming, &longest);
    if (status == CNNVP_OK)
        status = borrow(vector, command, &job.b, CNNVP_BORROW_READ, 0, streaming, &longest);
    if (status == CNNVP_OK)
        status = borrow(vector, command, &job.c, CNNVP_BORROW_READ, 0, streaming, &longest);
    if (status == CNNVP_OK)
        status = borrow(vector, command, &job.out, CNNVP_BORROW_WRITE, feature_words(&job), streaming, &longest);
    if (status != CNNVP_OK)
        return refuse(vector, command, status, "an operand does not lie in its buffer's half");

    /* by the slowest port */
    const uint64_t streamed = cnnvp_delay_cycles(vector->clock_mhz, vector->ops->now(vector->host), longest);
    const uint64_t busy = cost.cycles + (streamed > streaming ? streamed - streaming : 0);
    occupy(vector, command, &cost, busy, delay);
    if (!vector->timing_only) {
        const uint64_t clipped = vector_execute(&job, vector->shape.lanes, &vector->registers);
        count_clipped(vector, command, clipped);
    }
    return CNNVP_OK;
}

static uint64_t longest_stall(const struct cnnvp_fx16_stalls *stalls)
{
    const uint64_t reading = stalls->input > stalls->weight ? stalls->input : stalls->weight;
    return reading > stalls->output ? reading : stalls->output;
}

static int execute_window(struct vector *vector, const struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_fx16_tile tile;
    struct vector_cost cost;
    struct cnnvp_fx16_traffic traffic;
    struct cnnvp_fx16_data data = {0};
    struct cnnvp_fx16_stalls stalls = {0};
    uint64_t clipped = 0;
    const char *error = vector_window_decode(command, &tile);
    if (error != NULL)
        return refuse(vector, command, CNNVP_E_INVAL, error);
    vector_window_cost(&tile, &vector->shape, &cost, &traffic);
    if (cost.cycles > CNNVP_FX16_MAX_CYCLES)
        return refuse(vector, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    int status = cnnvp_fx16_fetch(&vector->links, command, &tile, &traffic, &data, &stalls);
    if (status == CNNVP_OK && !vector->timing_only)
        status = cnnvp_fx16_compute(VECTOR_REGISTER_BITS, &tile, &data, &vector->links.scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(&vector->links, command, &tile, &traffic, &data, &stalls, &clipped);
    if (status != CNNVP_OK)
        return refuse(vector, command, status, NULL);
    occupy(vector, command, &cost, cost.cycles + longest_stall(&stalls), delay);
    count_clipped(vector, command, clipped);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int vector_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = access->data;
    (void)port;
    if (access->op != CNNVP_COMMAND || command == NULL || access->size < sizeof *command)
        return CNNVP_E_ACCESS;
    if (access->flags & CNNVP_DEBUG)
        return CNNVP_OK;
    return vector_is_window(command->opcode) ? execute_window(self, command, &access->delay)
                                             : execute_elements(self, command, &access->delay);
}

static int vector_init(void *self, const struct cnnvp_init *init)
{
    struct vector *vector = self;
    vector->host = init->host;
    vector->ops = init->ops;
    vector->shape = (struct vector_shape){
        .lanes = init->ops->param(init->host, PARAM_lanes),
        .units = init->ops->param(init->host, PARAM_units),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
        .div_cycles = init->ops->param(init->host, PARAM_div_cycles),
    };
    vector->timing_only = init->ops->timing_only(init->host);
    vector->links = (struct cnnvp_fx16_unit){
        .host = init->host,
        .ops = init->ops,
        .acc_bits = VECTOR_REGISTER_BITS,
        .timing_only = vector->timing_only != 0,
        .rejected_stat = STAT_rejected,
    };
    return CNNVP_OK;
}

static void vector_fini(void *self)
{
    struct vector *vector = self;
    cnnvp_fx16_unit_free(&vector->links);
}

static void vector_reset(void *self)
{
    struct vector *vector = self;
    vector->clock_mhz = vector->ops->clock_mhz(vector->host);
    vector->busy_until = 0;
    memset(&vector->registers, 0, sizeof vector->registers);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_vector = {
    UNIT_TABLES,
    .kind = "vector",
    .version = "1.0",
    .summary = "lanes of MAC, add, subtract, divide, compare: activation, normalisation, softmax, pooling, convolution",
    .instance_size = sizeof(struct vector),
    .init = vector_init,
    .fini = vector_fini,
    .reset = vector_reset,
    .access = vector_access,
};
