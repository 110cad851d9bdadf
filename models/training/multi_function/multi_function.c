/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multi-function module of S001: the command target behind the PE module. See multi_function.h.
 *
 * Modelled: one set of blocks behind each storage block (Part B 1-28), all working on a tile in parallel; what a tile
 * needs is checked in all blocks before anything changes. Not modelled: single values between blocks (a tile takes the
 * time of its slowest block, plus all pipelines); slower operand traffic for blocks that take less than one value a
 * clock; single sums on conversion (done a tile at a time).
 */
#include "multi_function.h"
#include "unit/command.h"
#include "unit/parts.h"

#include "cnnvp_buffer.h"
#include "job.h"
#include "training/stage/stage.h"

#include <string.h>

#define UNIT_DEF "training/multi_function/multi_function.def"
#include "unit/unit_enums.inc"

struct multi_function {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint32_t sets, lanes;
    uint64_t pipeline;
    bool timing_only;
    struct cnnvp_job_scratch scratch;
};

/* A command in progress. */
struct work {
    const struct cnnvp_command *command;
    struct cnnvp_job job;
    uint64_t port_stalls;
    uint64_t saturated;
};

/* ---- ports ---- */

/* True if the operand holds feature values that the command writes: activations and their errors, but not weights or
 * matrices. */
static bool leaves_features(const struct cnnvp_job *job, const struct cnnvp_job_operand *operand)
{
    const bool through =
        job->tile.kind == CNNVP_TILE_STATISTICS || job->tile.kind == CNNVP_TILE_BACKWARD ||
        (job->tile.kind == CNNVP_TILE_FORWARD && (job->tile.flags & (CNNVP_TILE_NORM | CNNVP_TILE_RELU)) != 0);
    return through && operand == &job->operands[CNNVP_JOB_OUT];
}

/* Records the stalls of an access. Buffers work in parallel, so the slowest one counts. */
static void note_stalls(const struct multi_function *module, struct work *work, cnnvp_time delay)
{
    const uint64_t stalls = cnnvp_command_stalls(module->host, module->ops, delay);
    work->port_stalls = stalls > work->port_stalls ? stalls : work->port_stalls;
}

/* Borrows an operand's range, extended to the even addresses that buffers require. */
static int borrow(const struct multi_function *module, struct work *work, struct cnnvp_job_operand *operand,
                  enum cnnvp_op op, uint32_t flags)
{
    const uint64_t begin = operand->address & ~UINT64_C(1);
    const uint64_t end = (operand->address + cnnvp_job_span(operand) + 1u) & ~UINT64_C(1);
    const struct cnnvp_buffer_clocks clocks = cnnvp_stage_clocks(
        operand->held ? 1u : cnnvp_stage_streams(&work->job.tile), 1u, operand->words, work->job.beats);
    struct cnnvp_access access = {
        .op = (uint32_t)op,
        .flags = flags,
        .tag = work->command->tag,
        .flow = work->command->sequence,
        .address = begin | (uint64_t)operand->half << 31,
        .size = end - begin,
        .words = operand->words,
        .cycles = work->job.beats,
        .clocks = &clocks,
        .clock_count = 1u,
        .word_bytes = operand->bytes,
        .mode = op == CNNVP_BORROW_WRITE && leaves_features(&work->job, operand)
                    ? cnnvp_buffer_write_mode(operand->words)
                    : 0,
    };
    const uint32_t port = operand->held ? PORT_max_min_buffer : PORT_output;
    const int status = module->ops->access(module->host, port, &access);
    operand->data = status == CNNVP_OK && access.data != NULL ? (char *)access.data + (operand->address - begin) : NULL;
    note_stalls(module, work, access.delay);
    return status;
}

static int borrow_operands(const struct multi_function *module, struct work *work, uint32_t flags)
{
    int status = CNNVP_OK;
    for (unsigned i = 0; i < CNNVP_JOB_PLACES && status == CNNVP_OK; ++i) {
        struct cnnvp_job_operand *operand = &work->job.operands[i];
        if (operand->used && operand->read)
            status = borrow(module, work, operand, CNNVP_BORROW_READ, flags);
        if (operand->used && operand->written && status == CNNVP_OK)
            status = borrow(module, work, operand, CNNVP_BORROW_WRITE, flags);
        if (operand->used && operand->data == NULL && status == CNNVP_OK && !module->timing_only)
            status = CNNVP_E_STATE;
    }
    return status;
}

/* Sets the tile's pointers to the borrowed operands. */
static void point_tile(struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    struct cnnvp_job_operand *operands = job->operands;
    tile->results = operands[CNNVP_JOB_OUT].data;
    tile->results_image_stride = operands[CNNVP_JOB_OUT].stride;
    tile->inputs = operands[CNNVP_JOB_X].data;
    tile->mask = operands[CNNVP_JOB_MASK].data;
    tile->positions = operands[CNNVP_JOB_POSITIONS].data;
    tile->labels = operands[CNNVP_JOB_LABELS].data;
    tile->exponents = operands[CNNVP_JOB_EXPONENTS].data;
    tile->exponents_out = operands[CNNVP_JOB_EXPONENTS].data;
}

static int send(const struct multi_function *module, const struct work *work, uint32_t port, uint32_t flags,
                struct cnnvp_tile *tile, uint64_t words, uint32_t word_bytes)
{
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND,
        .flags = flags,
        .tag = work->command->tag,
        .flow = work->command->sequence,
        .data = tile,
        .size = sizeof *tile,
        .words = words,
        .word_bytes = word_bytes,
    };
    const int status = module->ops->access(module->host, port, &access);
    if (access.delay != 0) /* delay of the connections between blocks */
        tile->fill += cnnvp_command_stalls(module->host, module->ops, access.delay);
    return status;
}

/* Sends a tile of errors; its matrices come in first. */
static int send_backward(const struct multi_function *module, const struct work *work, uint32_t flags,
                         struct cnnvp_tile *tile)
{
    const struct cnnvp_job_operand *operands = work->job.operands;
    int status = CNNVP_OK;
    if ((tile->flags & (CNNVP_TILE_RELU | CNNVP_TILE_POOL)) != 0) {
        tile->kind = CNNVP_TILE_UNPACK;
        status = send(module, work, PORT_encode, flags, tile,
                      operands[CNNVP_JOB_MASK].words + operands[CNNVP_JOB_POSITIONS].words, 1u);
        tile->kind = CNNVP_TILE_BACKWARD;
    }
    return status == CNNVP_OK ? send(module, work, PORT_max_pool_back, flags, tile, operands[CNNVP_JOB_IN].words, 4u)
                              : status;
}

/* Sends the tile to its first block; with CNNVP_DEBUG only asks whether the blocks can take it. */
static int stream(const struct multi_function *module, struct work *work, uint32_t flags)
{
    struct cnnvp_tile *tile = &work->job.tile;
    const struct cnnvp_job_operand *operands = work->job.operands;
    const uint64_t values = operands[CNNVP_JOB_IN].words;
    switch (tile->kind) {
    case CNNVP_TILE_STATISTICS:
    case CNNVP_TILE_SQUARES:
        return send(module, work, PORT_statistics, flags, tile, values, 4u);
    case CNNVP_TILE_COEFFICIENTS:
    case CNNVP_TILE_COEFFICIENTS_BACK:
        return send(module, work, PORT_batch_norm, flags, tile, 1u, 4u);
    case CNNVP_TILE_EXPONENTS:
        return send(module, work, PORT_quantise, flags, tile, 1u, 4u);
    case CNNVP_TILE_FORWARD:
        return send(module, work, PORT_batch_norm, flags, tile, values, 4u);
    case CNNVP_TILE_BACKWARD:
        return send_backward(module, work, flags, tile);
    case CNNVP_TILE_SOFTMAX:
        return send(module, work, PORT_softmax, flags, tile, values, 4u);
    case CNNVP_TILE_UPDATE:
        return send(module, work, PORT_update, flags, tile,
                    values + operands[CNNVP_JOB_WEIGHTS].words + operands[CNNVP_JOB_VELOCITIES].words, 4u);
    default:
        return send(module, work, PORT_bn_update, flags, tile, 1u, 4u);
    }
}

/* ---- the three kinds of work ---- */

static bool is_held(const struct cnnvp_job *job)
{
    return job->opcode == CNNVP_OPCODE_tload || job->opcode == CNNVP_OPCODE_tsave || job->opcode == CNNVP_OPCODE_tclear;
}

static int borrow_held(const struct multi_function *module, struct work *work, uint32_t flags, void **data)
{
    const struct cnnvp_job *job = &work->job;
    const struct cnnvp_buffer_clocks clocks = cnnvp_stage_clocks(1u, 1u, job->held_words, job->beats);
    struct cnnvp_access access = {
        .op = job->opcode == CNNVP_OPCODE_tsave ? CNNVP_BORROW_READ : CNNVP_BORROW_WRITE,
        .flags = flags,
        .tag = work->command->tag,
        .flow = work->command->sequence,
        .address = job->offset,
        .size = job->size,
        .words = job->held_words,
        .clocks = &clocks,
        .clock_count = 1u,
        .word_bytes = 4u,
        .cycles = job->beats,
    };
    const int status = module->ops->access(module->host, PORT_max_min_buffer + job->buffer, &access);
    note_stalls(module, work, access.delay);
    *data = status == CNNVP_OK ? access.data : NULL;
    return status == CNNVP_OK && *data == NULL && !module->timing_only ? CNNVP_E_STATE : status;
}

static void clear(const struct cnnvp_job *job, void *data)
{
    const struct cnnvp_extremes none = {.min = __builtin_inff(), .max = -__builtin_inff()};
    struct cnnvp_extremes *entries = data;
    if (job->buffer != 0) {
        memset(data, 0, job->size);
        return;
    }
    for (uint32_t i = 0; i < job->size / sizeof none; ++i)
        entries[i] = none;
}

/* Executes tload, tsave and tclear. */
static int move_held(const struct multi_function *module, struct work *work)
{
    const struct cnnvp_job *job = &work->job;
    struct cnnvp_job_operand *memory = &work->job.operands[CNNVP_JOB_IN];
    void *data;
    int status = borrow_operands(module, work, CNNVP_DEBUG);
    if (status == CNNVP_OK)
        status = borrow_held(module, work, 0, &data);
    if (status == CNNVP_OK)
        status = borrow_operands(module, work, 0);
    if (status != CNNVP_OK || module->timing_only)
        return status;
    if (job->opcode == CNNVP_OPCODE_tclear)
        clear(job, data);
    else if (job->opcode == CNNVP_OPCODE_tload)
        memcpy(data, memory->data, job->size);
    else
        memcpy(memory->data, data, job->size);
    return CNNVP_OK;
}

static int decode_mantissas(struct multi_function *module, struct work *work)
{
    int status = borrow_operands(module, work, CNNVP_DEBUG);
    if (status == CNNVP_OK && !module->timing_only)
        status = cnnvp_job_reserve(&work->job, &module->scratch);
    if (status == CNNVP_OK)
        status = borrow_operands(module, work, 0);
    if (status == CNNVP_OK && !module->timing_only)
        cnnvp_job_expand(&work->job);
    return status;
}

/* Executes all other commands: a tile through the blocks. */
static int run_tile(struct multi_function *module, struct work *work)
{
    struct cnnvp_job *job = &work->job;
    int status = borrow_operands(module, work, CNNVP_DEBUG);
    point_tile(job);
    if (status == CNNVP_OK)
        status = stream(module, work, CNNVP_DEBUG);
    if (status == CNNVP_OK && !module->timing_only)
        status = cnnvp_job_reserve(job, &module->scratch);
    if (status == CNNVP_OK)
        status = borrow_operands(module, work, 0);
    if (status != CNNVP_OK)
        return status;
    point_tile(job);
    if (!module->timing_only && job->operands[CNNVP_JOB_IN].used) {
        cnnvp_job_place(job);
        work->saturated = cnnvp_job_gather(job);
    }
    status = stream(module, work, 0);
    if (status == CNNVP_OK && !module->timing_only)
        cnnvp_job_scatter(job);
    return status;
}

/* ---- commands ---- */

static int refuse(const struct multi_function *module, const struct cnnvp_command *command, int status,
                  const char *reason)
{
    return cnnvp_command_refuse(module->host, module->ops, STAT_rejected, command, status, reason);
}

/* Explains a refusal by a buffer or block to the user. */
static const char *failure(int status)
{
    switch (status) {
    case CNNVP_E_ADDR:
        return "the tile leaves a buffer: of the half, or entries or matrices of a buffer of the module";
    case CNNVP_E_NOMEM:
        return "out of memory";
    case CNNVP_E_INVAL:
        return "a label is no class, or a block does not know the tile";
    default:
        return "a buffer or block refused the access";
    }
}

static void count_command(const struct multi_function *module, const struct work *work, uint64_t busy)
{
    const struct cnnvp_job *job = &work->job;
    const struct cnnvp_job_operand *in = &job->operands[CNNVP_JOB_IN];
    const bool converts = in->used && !job->fp32 && !is_held(job);
    const struct cnnvp_command_count counts[] = {
        {STAT_commands, 1u},
        {STAT_busy_cycles, busy},
        {STAT_port_cycles, work->port_stalls},
        {STAT_fill_cycles, job->tile.fill},
        {STAT_values, in->words},
        {STAT_converted, converts ? in->words : 0},
        {STAT_saturations, work->saturated},
    };
    cnnvp_command_count(module->host, module->ops, work->command->tag, counts, sizeof counts / sizeof counts[0]);
}

/* Sets the words that cross the ports, and the cycles over which they cross. */
static void cross(struct cnnvp_job *job)
{
    for (unsigned i = 0; i < CNNVP_JOB_PLACES; ++i)
        job->operands[i].words = job->operands[i].rows * job->operands[i].row_values;
    job->held_words = job->size / 4u;
    job->beats = cnnvp_tile_beats(&job->tile, job->tile.channels * job->tile.plane);
}

static int execute(struct multi_function *module, struct cnnvp_access *access, const struct cnnvp_command *command)
{
    struct work work = {.command = command};
    struct cnnvp_tile *tile = &work.job.tile;
    const char *reason = "";
    int status = cnnvp_job_decode(command, &work.job, &reason);
    if (status != CNNVP_OK)
        return refuse(module, command, status, reason);
    tile->sets = work.job.shared ? 1u : module->sets;
    tile->lanes = work.job.shared ? module->sets * module->lanes : module->lanes;
    cross(&work.job);
    tile->fill = work.job.operands[CNNVP_JOB_IN].used ? module->pipeline : 0;
    if (is_held(&work.job))
        status = move_held(module, &work);
    else if (work.job.opcode == CNNVP_OPCODE_tdecode)
        status = decode_mantissas(module, &work);
    else
        status = run_tile(module, &work);
    if (status != CNNVP_OK)
        return refuse(module, command, status, failure(status));
    if (is_held(&work.job) || work.job.opcode == CNNVP_OPCODE_tdecode)
        tile->cycles = work.job.beats;

    if (tile->waiting_cycles > tile->cycles)
        work.port_stalls += tile->waiting_cycles - tile->cycles;

    const uint64_t busy = tile->cycles + tile->fill + work.port_stalls;
    cnnvp_command_occupy(module->host, module->ops, TRACK_work, work.job.name, command, busy, access);
    count_command(module, &work, busy);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int multi_function_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_command_of(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

static int multi_function_init(void *self, const struct cnnvp_init *init)
{
    struct multi_function *module = self;
    module->host = init->host;
    module->ops = init->ops;
    module->sets = (uint32_t)init->ops->param(init->host, PARAM_sets);
    module->lanes = (uint32_t)init->ops->param(init->host, PARAM_lanes);
    module->pipeline = init->ops->param(init->host, PARAM_pipeline);
    module->timing_only = init->ops->timing_only(init->host) != 0;
    return CNNVP_OK;
}

static void multi_function_fini(void *self)
{
    struct multi_function *module = self;
    cnnvp_job_scratch_free(&module->scratch);
}

static void multi_function_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_sets] * params[PARAM_lanes];
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 32u, lanes, "sums to binary32: shifted and rounded");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, (params[PARAM_pipeline] + 1u) * lanes, "values");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_multi_function = {
    UNIT_TABLES,
    .kind = "multi_function",
    .version = "1.0",
    .summary = "S001's multi-function module: streams tiles through statistics, batch norm, ReLU, pool, update and "
               "others",
    .instance_size = sizeof(struct multi_function),
    .init = multi_function_init,
    .fini = multi_function_fini,
    .access = multi_function_access,
    .costs = multi_function_costs,
};
