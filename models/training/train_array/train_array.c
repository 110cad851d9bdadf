/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PE module of the training engine (S001, unit kind `train_array`): four arrays of 32 columns of three PEs that
 * execute tforward, terror, tgradient, tmatmul, tback and touter (opcodes_train.def).
 *
 * Modelled: exact mantissa sums, clipped to the intermediate buffer's 32 bits and counted; exponents; cycles, words on
 * each port and operations of every command, by closed forms; Part B 1-1, 1-4, 1-5, 1-7, 1-11, 1-14, 1-18, 1-19. Not
 * modelled: the widths inside PEs (a sum is exact within a command).
 *
 * A command accesses its first operand, its second operand, the exponents of both, and the results. Its delay is
 * compute, fill and write-out cycles plus the stalls at the buffers' ports. The `words` of an access are mantissas of 1
 * byte (4 with wide mantissas) on `input` and `weight`, and sums of 4 bytes (8) on `output`; `word_bytes` says which.
 * Addresses and sizes are even.
 */
#include "units.h"
#include "unit/command.h"
#include "unit/parts.h"

#include "cnnvp_buffer.h"

#include "cnnvp_tile.h"
#include "train_tile.h"

#include <stdlib.h>

#define UNIT_DEF "training/train_array/train_array.def"
#include "unit/unit_enums.inc"

struct train_array {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_train_shape shape;
    bool timing_only;
    struct cnnvp_train_scratch scratch;
    void *ones; /* a row of mantissas with value 1, for biases */
    uint64_t ones_count;
};

/* Cycles for which a command waits at the buffers' ports. */
struct port_stalls {
    uint64_t input;
    uint64_t weight;
    uint64_t output;
};

/* A command in progress. */
struct work {
    const struct cnnvp_command *command;
    struct cnnvp_train_tile tile;
    struct cnnvp_train_cost cost;
    struct cnnvp_train_port_clocks clocks;
    struct cnnvp_train_data data;
    int16_t *scales;
    struct port_stalls stalls;
};

/* ---- ports ---- */

/* A range of a buffer half that a command uses. */
struct piece {
    uint32_t port;
    uint32_t half;
    uint32_t address; /* bytes */
    uint64_t count;   /* values */
    uint32_t bytes;   /* bytes of a value */
    uint64_t words;   /* values that cross the port */
    uint64_t cycles;
    uint32_t mode;
    const struct cnnvp_train_clocks *clocks; /* NULL: words are spread evenly */
};

/* Borrows a piece, extended to the even addresses that buffers require. `data` is NULL in timing-only. */
static int borrow(const struct train_array *array, const struct work *work, uint32_t op, uint32_t flags,
                  const struct piece *piece, void **data, uint64_t *stalls)
{
    const uint64_t begin = piece->address & ~UINT64_C(1);
    const uint64_t end = (piece->address + piece->count * piece->bytes + 1u) & ~UINT64_C(1);
    struct cnnvp_access access = {
        .op = op,
        .flags = flags,
        .tag = work->command->tag,
        .flow = work->command->sequence,
        .address = begin | (uint64_t)piece->half << 31,
        .size = end - begin,
        .words = piece->words,
        .cycles = piece->cycles,
        .mode = piece->mode,
        .clocks = piece->clocks != NULL ? piece->clocks->classes : NULL,
        .clock_count = piece->clocks != NULL ? piece->clocks->count : 0,
        .word_bytes = piece->bytes,
    };
    const int status = array->ops->access(array->host, piece->port, &access);
    *data = access.data != NULL ? (char *)access.data + (piece->address - begin) : NULL;
    *stalls = cnnvp_command_stalls(array->host, array->ops, access.delay);
    return status;
}

static uint32_t mantissa_bytes(const struct train_array *array)
{
    return cnnvp_train_is_wide(&array->shape) ? 4u : 1u;
}

static struct piece results_piece(const struct train_array *array, const struct work *work)
{
    const struct cnnvp_train_tile *tile = &work->tile;
    /* sums of activations and errors are feature values, gradients are not */
    const uint64_t features =
        tile->kind == CNNVP_TRAIN_GRADIENT ? 0
                                           : (uint64_t)tile->images * tile->out_channels * tile->out_h * tile->out_w;
    return (struct piece){
        .port = PORT_output,
        .half = tile->out_half,
        .address = tile->out_addr,
        .count = tile->out_span,
        .bytes = cnnvp_train_is_wide(&array->shape) && !tile->to_float ? 8u : 4u,
        .words = work->cost.output_words,
        .cycles = work->cost.compute_cycles + work->cost.writeout_cycles,
        .mode = cnnvp_buffer_write_mode(features),
        .clocks = &work->clocks.output};
}

static struct piece scales_piece(const struct work *work)
{
    const struct cnnvp_train_tile *tile = &work->tile;
    const bool held = (tile->out_exp_addr & CNNVP_TILE_HELD) != 0;
    return (struct piece){
        .port = held ? PORT_scales : PORT_output,
        .half = held ? 0 : tile->out_half,
        .address = tile->out_exp_addr & ~CNNVP_TILE_HELD,
        .count = tile->out_exps,
        .bytes = 2u,
        .words = tile->out_exps};
}

/* Checks that results and scales fit into the output half, before anything is done. */
static int check_output(const struct train_array *array, const struct work *work)
{
    const struct piece results = results_piece(array, work);
    const struct piece scales = scales_piece(work);
    void *data;
    uint64_t stalls;
    int status = borrow(array, work, CNNVP_BORROW_WRITE, CNNVP_DEBUG, &results, &data, &stalls);
    if (status == CNNVP_OK && scales.count != 0)
        status = borrow(array, work, CNNVP_BORROW_WRITE, CNNVP_DEBUG, &scales, &data, &stalls);
    return status;
}

/* Makes a row of ones as wide as the map. */
static int make_ones(struct train_array *array, struct work *work)
{
    static const int8_t exponent = 0;
    const uint64_t count = work->tile.in_w;
    if (array->ones_count < count) {
        free(array->ones);
        array->ones = malloc((size_t)(count * mantissa_bytes(array)));
        array->ones_count = array->ones == NULL ? 0 : count;
        if (array->ones == NULL)
            return CNNVP_E_NOMEM;
        const int32_t one = INT32_C(1) << (array->shape.mantissa_bits - 2u);
        for (uint64_t i = 0; i < count; ++i)
            if (cnnvp_train_is_wide(&array->shape))
                ((int32_t *)array->ones)[i] = one;
            else
                ((int8_t *)array->ones)[i] = (int8_t)one;
    }
    work->data.input = array->ones;
    work->data.in_exps = &exponent;
    return CNNVP_OK;
}

static int borrow_operands(struct train_array *array, struct work *work)
{
    const struct cnnvp_train_tile *tile = &work->tile;
    const struct cnnvp_train_cost *cost = &work->cost;
    const uint32_t bytes = mantissa_bytes(array);
    const uint32_t rotating = tile->connected ? CNNVP_READ_SEQUENTIAL : CNNVP_READ_ROTATING;
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const struct piece pieces[] = {
        {PORT_input, tile->in_half, tile->in_addr, tile->in_span, bytes, cost->input_words, cost->compute_cycles,
         rotating, &work->clocks.input},
        {PORT_weight, tile->second_half, tile->second_addr, tile->second_span, bytes, cost->weight_words,
         cost->compute_cycles, gradient ? rotating : CNNVP_READ_SEQUENTIAL, &work->clocks.weight},
        {PORT_input, tile->in_half, tile->in_exp_addr, tile->in_exps, 1u, tile->in_exps, 0, CNNVP_READ_SEQUENTIAL,
         NULL},
        {PORT_weight, tile->second_half, tile->second_exp_addr, tile->second_exps, 1u, tile->second_exps, 0,
         CNNVP_READ_SEQUENTIAL, NULL},
    };
    void *data[4] = {NULL};
    uint64_t stalls[4] = {0};
    /* begins with one that is missing: if it is refused, the others are not counted */
    size_t first = 0;
    while (first < 4u && ((tile->bias && pieces[first].port == PORT_input) ||
                          borrow(array, work, CNNVP_BORROW_READ, CNNVP_DEBUG, &pieces[first], &data[first],
                                 &stalls[first]) == CNNVP_OK))
        ++first;
    for (size_t i = 0; i < 4u; ++i) {
        const size_t at = (first + i) % 4u;
        if (tile->bias && pieces[at].port == PORT_input)
            continue;
        const int status = borrow(array, work, CNNVP_BORROW_READ, 0, &pieces[at], &data[at], &stalls[at]);
        if (status != CNNVP_OK)
            return status;
    }
    work->data.input = data[0];
    work->data.second = data[1];
    work->data.in_exps = data[2];
    work->data.second_exps = data[3];
    work->stalls.input = stalls[0];
    work->stalls.weight = stalls[1];
    if (tile->bias)
        return make_ones(array, work);
    return CNNVP_OK;
}

/* Borrows the results. Sums are read and written during the whole command, each on its own port. */
static int borrow_results(const struct train_array *array, struct work *work)
{
    const struct piece scales = scales_piece(work);
    struct piece results = results_piece(array, work);
    void *data = NULL;
    uint64_t read_stalls = 0;
    uint64_t write_stalls = 0;
    uint64_t none;
    int status = CNNVP_OK;
    if (work->cost.partial_words != 0) {
        results.words = work->cost.partial_words;
        results.mode = CNNVP_READ_SEQUENTIAL;
        status = borrow(array, work, CNNVP_BORROW_READ, 0, &results, &data, &read_stalls);
        results = results_piece(array, work);
    }
    if (status == CNNVP_OK)
        status = borrow(array, work, CNNVP_BORROW_WRITE, 0, &results, &work->data.results, &write_stalls);
    if (status == CNNVP_OK && scales.count != 0) {
        status = borrow(array, work, CNNVP_BORROW_WRITE, 0, &scales, &data, &none);
        work->scales = data;
    }
    work->stalls.output = read_stalls > write_stalls ? read_stalls : write_stalls;
    return status;
}

/* ---- commands ---- */

static int compute(struct train_array *array, struct work *work, uint64_t *saturated)
{
    const struct cnnvp_train_data *data = &work->data;
    if (data->input == NULL || data->second == NULL || data->results == NULL || data->in_exps == NULL ||
        data->second_exps == NULL)
        return CNNVP_E_STATE;
    const int status = cnnvp_train_compute(&array->shape, &work->tile, data, &array->scratch, saturated);
    if (status == CNNVP_OK && work->scales != NULL)
        cnnvp_train_scales(&array->shape, &work->tile, data, work->scales);
    return status;
}

/* The statistic of multiplications that has the energy of their width. */
static uint32_t operations_of(const struct train_array *array)
{
    const uint32_t bits = array->shape.mantissa_bits;
    return bits <= 8u ? STAT_int8_mac_operations : bits <= 16u ? STAT_int16_mac_operations : STAT_int32_mac_operations;
}

static void count_command(const struct train_array *array, const struct work *work, uint64_t busy, uint64_t saturated)
{
    const struct cnnvp_command_count counts[] = {
        {STAT_commands, 1u},
        {STAT_busy_cycles, busy},
        {work->tile.bias ? STAT_bias_cycles : STAT_compute_cycles, work->cost.compute_cycles},
        {STAT_fill_cycles, work->cost.fill_cycles},
        {STAT_writeout_cycles, work->cost.writeout_cycles},
        {STAT_input_port_cycles, work->stalls.input},
        {STAT_weight_port_cycles, work->stalls.weight},
        {STAT_output_port_cycles, work->stalls.output},
        {STAT_input_words, work->tile.bias ? 0 : work->cost.input_words},
        {STAT_weight_words, work->cost.weight_words},
        {STAT_output_words, work->cost.output_words},
        {STAT_partial_words, work->cost.partial_words},
        {STAT_exponents, (work->tile.bias ? 0 : work->tile.in_exps) + work->tile.second_exps + work->tile.out_exps},
        {work->tile.bias ? STAT_bias_macs : STAT_macs, work->cost.macs},
        {operations_of(array), work->cost.macs},
        {STAT_saturations, saturated},
    };
    cnnvp_command_count(array->host, array->ops, work->command->tag, counts, sizeof counts / sizeof counts[0]);
}

static int refuse(const struct train_array *array, const struct cnnvp_command *command, int status, const char *reason)
{
    return cnnvp_command_refuse(array->host, array->ops, STAT_rejected, command, status, reason);
}

/* Explains a failed access or computation to the user. */
static const char *failure(int status)
{
    switch (status) {
    case CNNVP_E_ADDR:
        return "the tile leaves a buffer half";
    case CNNVP_E_NOMEM:
        return "out of memory";
    default:
        return "a buffer refused the access";
    }
}

static int execute(struct train_array *array, struct cnnvp_access *access, const struct cnnvp_command *command)
{
    struct work work = {.command = command};
    const char *reason = "";
    uint64_t saturated = 0;
    int status = cnnvp_train_decode(&array->shape, command, &work.tile, &reason);
    if (status != CNNVP_OK)
        return refuse(array, command, status, reason);
    cnnvp_train_cost(&array->shape, &work.tile, &work.cost);
    cnnvp_train_clocks(&array->shape, &work.tile, &work.clocks);
    if (work.cost.compute_cycles > CNNVP_TRAIN_MAX_CYCLES || work.cost.writeout_cycles > CNNVP_TRAIN_MAX_CYCLES)
        return refuse(array, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    status = check_output(array, &work);
    if (status == CNNVP_OK)
        status = borrow_operands(array, &work);
    if (status == CNNVP_OK)
        status = borrow_results(array, &work);
    if (status == CNNVP_OK && !array->timing_only)
        status = compute(array, &work, &saturated);
    if (status != CNNVP_OK)
        return refuse(array, command, status, failure(status));

    const uint64_t busy = work.cost.compute_cycles + work.cost.fill_cycles + work.cost.writeout_cycles +
                          work.stalls.input + work.stalls.weight + work.stalls.output;
    cnnvp_command_occupy(array->host, array->ops, TRACK_array, work.tile.name, command, busy, access);
    count_command(array, &work, busy, saturated);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int train_array_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_command_of(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

static uint32_t param(const struct cnnvp_init *init, uint32_t index)
{
    return (uint32_t)init->ops->param(init->host, index);
}

static int train_array_init(void *self, const struct cnnvp_init *init)
{
    struct train_array *array = self;
    array->host = init->host;
    array->ops = init->ops;
    array->shape = (struct cnnvp_train_shape){
        .arrays = param(init, PARAM_arrays),
        .cols = param(init, PARAM_cols),
        .rows = param(init, PARAM_rows),
        .pipeline = param(init, PARAM_pipeline),
        .mantissa_bits = param(init, PARAM_mantissa_bits),
        .fc_all_rows = param(init, PARAM_fc_rows) != 0,
        .zones = param(init, PARAM_layout) != 0,
        .gradient_adder = param(init, PARAM_gradient) != 0,
    };
    array->timing_only = init->ops->timing_only(init->host) != 0;
    if (array->shape.fc_all_rows && array->shape.rows != 3u)
        return init->ops->config_error(
            init->host, PARAM_fc_rows, "fc_rows 3 takes columns of three PEs (rows: 3), not of %u",
            (unsigned)array->shape.rows);
    return CNNVP_OK;
}

static void train_array_fini(void *self)
{
    struct train_array *array = self;
    cnnvp_train_scratch_free(&array->scratch);
    free(array->ones);
}

static void train_array_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t columns = params[PARAM_arrays] * params[PARAM_cols];
    const uint64_t pes = columns * params[PARAM_rows];
    const uint32_t bits = (uint32_t)params[PARAM_mantissa_bits];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, bits, pes, "multiplier of a PE");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, pes, "adder");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, columns, "column adders");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 3u * bits + 64u, pes, "operands, product, partial sum");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_train_array = {
    UNIT_TABLES,
    .kind = "train_array",
    .version = "1.0",
    .summary = "4 x 32 x 3 PEs on block floating point: forward, error and gradient of convolution and fully connected",
    .instance_size = sizeof(struct train_array),
    .init = train_array_init,
    .fini = train_array_fini,
    .access = train_array_access,
    .costs = train_array_costs,
};
