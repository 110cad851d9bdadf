/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE array of one's own: weight-stationary and systolic. Each PE holds one weight; inputs run along the rows, sums
 * down the columns. A convolution is a product of matrices: K = input channels x kernel taps along the rows, N = output
 * channels along the columns, one output position after the other. A fully connected layer has one position.
 *
 * A set of weights is rows x cols of K x N. Of each set the array takes
 *   rows cycles              to load the weights; preload: double hides them behind the set before while that lasts
 *   positions cycles         to stream the inputs
 * and rows + cols - 2 cycles once a command until the last sum has left. Sums wait in accumulators below the columns,
 * so results go to the output buffer once; biases wait there from the beginning.
 *
 * Not modelled: the accumulators' size. Refused: pools, depthwise convolution and `step`, which share no weights
 * between columns: networks have them on the vector unit.
 */
#include <cnnvp_fx16.h>
#include <cnnvp_integer.h>
#include <cnnvp_isa.h>

enum { PARAM_rows, PARAM_cols, PARAM_clock_mhz, PARAM_preload, PARAM_acc_bits, PARAM_COUNT };
enum { PRELOAD_single, PRELOAD_double };

enum {
    STAT_commands,
    STAT_rejected,
    STAT_busy_cycles,
    STAT_compute_cycles,
    STAT_fill_cycles,
    STAT_input_port_cycles,
    STAT_weight_port_cycles,
    STAT_output_port_cycles,
    STAT_input_words,
    STAT_weight_words,
    STAT_output_words,
    STAT_macs,
    STAT_saturations,
    STAT_COUNT
};

struct systolic {
    struct cnnvp_fx16_unit unit;
    uint64_t rows, cols;
    bool hides; /* preload: double */
};

/* ---- what a command costs ---- */

struct cost {
    uint64_t compute_cycles, fill_cycles, macs;
    struct cnnvp_fx16_traffic traffic;
};

static struct cost cost_of(const struct systolic *array, const struct cnnvp_fx16_tile *tile)
{
    const bool dense = tile->kind == CNNVP_FX16_MATMUL;
    const uint64_t k = dense ? tile->inputs : (uint64_t)tile->in_channels * tile->kx * tile->ky;
    const uint64_t n = dense ? tile->outputs : tile->out_channels;
    const uint64_t positions = dense ? 1u : (uint64_t)tile->out_h * tile->out_w;
    const uint64_t columns = cnnvp_divide_up(n, array->cols); /* sets side by side */
    const uint64_t sets = cnnvp_divide_up(k, array->rows) * columns;
    const uint64_t shown = !array->hides ? array->rows : array->rows > positions ? array->rows - positions : 0;
    const uint64_t load = array->rows + (sets - 1u) * shown;
    const uint64_t results = tile->planes * tile->plane_words;
    struct cost cost = {
        .compute_cycles = sets * positions,
        .fill_cycles = load + array->rows + array->cols - 2u,
        .macs = k * n * positions,
        .traffic = {.input_words = k * columns * positions,
                    .input_cycles = sets * positions,
                    .weight_words = k * n + (tile->bias ? n : 0),
                    .weight_cycles = sets * array->rows,
                    .output_words = results * (tile->partial ? 4u : 1u),
                    .output_cycles = columns * positions,
                    .passes = 1},
    };
    /* In a clock a word for each row of PEs, a row of weights, a result of each column: words that follow each other.
     */
    const uint32_t at_once = (uint32_t)cnnvp_minimum(array->cols, n);
    cnnvp_fx16_add(
        &cost.traffic.input,
        (struct cnnvp_buffer_clocks){.times = cost.compute_cycles, .columns = (uint32_t)cnnvp_minimum(array->rows, k)});
    cnnvp_fx16_add(&cost.traffic.weight, (struct cnnvp_buffer_clocks){.times = sets * array->rows, .columns = at_once});
    cnnvp_fx16_add(
        &cost.traffic.output,
        (struct cnnvp_buffer_clocks){.times = columns * positions, .columns = at_once * (tile->partial ? 4u : 1u)});
    return cost;
}

/* ---- commands ---- */

static int execute(struct systolic *array, struct cnnvp_access *access, const struct cnnvp_command *command)
{
    struct cnnvp_fx16_unit *unit = &array->unit;
    struct cnnvp_fx16_tile tile;
    struct cnnvp_fx16_data data = {0};
    struct cnnvp_fx16_stalls stalls = {0};
    uint64_t saturated = 0;
    const char *reason = "";
    int status = cnnvp_fx16_decode(command, &tile, &reason);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(unit, command, status, reason);
    if (tile.kind == CNNVP_FX16_WINDOW && tile.per_channel)
        return cnnvp_fx16_refuse(unit, command, CNNVP_E_INVAL,
                                 "a weight-stationary array has convolutions over all input channels, and matmul");
    const struct cost cost = cost_of(array, &tile);
    if (cost.compute_cycles + cost.fill_cycles > CNNVP_FX16_MAX_CYCLES)
        return cnnvp_fx16_refuse(unit, command, CNNVP_E_INVAL, "a command takes at most 2^40 cycles");
    status = cnnvp_fx16_fetch(unit, command, &tile, &cost.traffic, &data, &stalls);
    if (status == CNNVP_OK && !unit->timing_only)
        status = cnnvp_fx16_compute(unit->acc_bits, &tile, &data, &unit->scratch);
    if (status == CNNVP_OK)
        status = cnnvp_fx16_deliver(unit, command, &tile, &cost.traffic, &data, &stalls, &saturated);
    if (status != CNNVP_OK)
        return cnnvp_fx16_refuse(unit, command, status, NULL);

    const uint64_t busy = cost.compute_cycles + cost.fill_cycles + stalls.input + stalls.weight + stalls.output;
    const uint64_t counts[STAT_COUNT] = {
        [STAT_commands] = 1,
        [STAT_busy_cycles] = busy,
        [STAT_compute_cycles] = cost.compute_cycles,
        [STAT_fill_cycles] = cost.fill_cycles,
        [STAT_input_port_cycles] = stalls.input,
        [STAT_weight_port_cycles] = stalls.weight,
        [STAT_output_port_cycles] = stalls.output,
        [STAT_input_words] = cost.traffic.input_words,
        [STAT_weight_words] = cost.traffic.weight_words,
        [STAT_output_words] = cost.traffic.output_words,
        [STAT_macs] = cost.macs,
        [STAT_saturations] = saturated,
    };
    for (uint32_t i = 0; i < STAT_COUNT; ++i)
        if (counts[i] != 0)
            unit->ops->count(unit->host, i, command->tag, counts[i]);
    cnnvp_fx16_occupy(unit, command, tile.name, busy, access);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int systolic_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_fx16_command(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

/* Whole sets of weights: rows of K, columns of N. Positions may be cut anywhere. */
static int systolic_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct systolic *array = self;
    const struct cnnvp_command *command = NULL;
    struct cnnvp_fx16_tile layer;
    (void)port;
    const int status = cnnvp_fx16_command(access, &command);
    if (status != CNNVP_OK)
        return status;
    cnnvp_fx16_describe(command, &layer);
    const uint64_t taps = layer.kind == CNNVP_FX16_MATMUL ? 1u : (uint64_t)layer.kx * layer.ky;
    tiling->pes = array->rows * array->cols;
    tiling->in = (uint32_t)cnnvp_divide_up(array->rows, taps);
    tiling->out = (uint32_t)array->cols;
    return CNNVP_OK;
}

static int systolic_init(void *self, const struct cnnvp_init *init)
{
    struct systolic *array = self;
    array->rows = init->ops->param(init->host, PARAM_rows);
    array->cols = init->ops->param(init->host, PARAM_cols);
    array->hides = init->ops->param(init->host, PARAM_preload) == PRELOAD_double;
    array->unit = (struct cnnvp_fx16_unit){
        .host = init->host,
        .ops = init->ops,
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .timing_only = init->ops->timing_only(init->host) != 0,
        .rejected_stat = STAT_rejected,
    };
    return CNNVP_OK;
}

static void systolic_fini(void *self)
{
    struct systolic *array = self;
    cnnvp_fx16_unit_free(&array->unit);
}

/* ---- tables ---- */

static const struct cnnvp_param params[PARAM_COUNT] = {
    [PARAM_rows] = {"rows", CNNVP_PARAM_UINT, "PEs", "16", 1, 1024, NULL, "rows of PEs: input channels and taps"},
    [PARAM_cols] = {"cols", CNNVP_PARAM_UINT, "PEs", "16", 1, 1024, NULL, "columns of PEs: output channels"},
    [PARAM_clock_mhz] = {"clock_mhz", CNNVP_PARAM_UINT, "MHz", "1000", 1, 100000, NULL, "clock of the accelerator"},
    [PARAM_preload] = {"preload", CNNVP_PARAM_ENUM, "", "double", 0, 0, "single|double",
                       "double: weights are loaded while the set before streams"},
    [PARAM_acc_bits] = {"acc_bits", CNNVP_PARAM_UINT, "bits", "48", 16, 64, NULL, "width of the accumulators"},
};

static const struct cnnvp_stat stats[STAT_COUNT] = {
    [STAT_commands] = {"commands", "commands", NULL, NULL, "commands carried out"},
    [STAT_rejected] = {"rejected", "commands", NULL, NULL, "commands refused"},
    [STAT_busy_cycles] = {"busy_cycles", "cycles", NULL, NULL, "cycles of all commands: compute and what follows"},
    [STAT_compute_cycles] = {"compute_cycles", "cycles", "compute_cycles", NULL, "inputs stream"},
    [STAT_fill_cycles] = {"fill_cycles", "cycles", "stall_cycles.fill", NULL, "weights load, the last sums leave"},
    [STAT_input_port_cycles] = {"input_port_cycles", "cycles", "stall_cycles.input_port", NULL, "input buffer's port"},
    [STAT_weight_port_cycles] = {"weight_port_cycles", "cycles", "stall_cycles.weight_port", NULL,
                                 "weight buffer's port"},
    [STAT_output_port_cycles] = {"output_port_cycles", "cycles", "stall_cycles.output_port", NULL,
                                 "output buffer's port"},
    [STAT_input_words] = {"input_words", "words", "input_words", NULL, "read from the input buffer"},
    [STAT_weight_words] = {"weight_words", "words", "weight_words", NULL, "read from the weight buffer"},
    [STAT_output_words] = {"output_words", "words", "output_words", NULL, "written to the output buffer"},
    [STAT_macs] = {"macs", "operations", "macs", "int16_mac", "multiplications, padding included"},
    [STAT_saturations] = {"saturations", "words", "values.saturations", NULL, "results clipped at write-out"},
};

/* What it is made of: area, leakage and the clock of registers follow from the platform's technology. */
static void systolic_costs(const uint64_t *values, const struct cnnvp_costs *costs)
{
    const uint64_t pes = values[PARAM_rows] * values[PARAM_cols];
    const uint32_t sets = values[PARAM_preload] == PRELOAD_double ? 2u : 1u; /* of weights */
    const struct cnnvp_part parts[] = {
        {CNNVP_PART_MULTIPLIER, 16, pes, 0, "multiplier of a PE"},
        {CNNVP_PART_ADDER, (uint32_t)values[PARAM_acc_bits], pes, 0, "adder"},
        {CNNVP_PART_REGISTER, 16 + 16 * sets + (uint32_t)values[PARAM_acc_bits], pes, 0, "input, weights, sum"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        costs->part(costs->context, &parts[i]);
}

static const struct cnnvp_unit systolic = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "systolic",
    .version = "1.0",
    .summary = "weight-stationary systolic array: convolution over all input channels, matrix multiply",
    .instance_size = sizeof(struct systolic),
    .params = params,
    .param_count = PARAM_COUNT,
    .ports = cnnvp_fx16_ports,
    .port_count = CNNVP_FX16_PORTS,
    .stats = stats,
    .stat_count = STAT_COUNT,
    .tracks = cnnvp_fx16_tracks,
    .track_count = 1,
    .init = systolic_init,
    .fini = systolic_fini,
    .access = systolic_access,
    .tiling = systolic_tiling,
    .costs = systolic_costs,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &systolic : NULL;
}
