/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE array of your own: atomic_k cells that each make a dot product of atomic_c inputs and weights per cycle, as in
 * NVDLA's convolution core. All cells share the inputs, atomic_c channels of one position at one tap of the kernel. A
 * cell has the weights of one output channel.
 *
 * A set of weights is atomic_c x atomic_k. It stays for a stripe of output positions, whose sums wait in accumulators
 * until all sets of their output channels have been used. The next stripe loads all sets again. A set takes atomic_k
 * cycles to load for a stripe, which preload: double hides behind the previous stripe if that is long enough, and one
 * cycle per position for the dot products. Each command adds the stages of multiplier, adder tree and accumulator. A
 * fully connected layer has one position.
 *
 * Pools, depthwise convolution and `step` are refused, since they have no sum over channels. Networks then run them on
 * the vector unit.
 */
#include <cnnvp_fx16.h>
#include <cnnvp_integer.h>
#include <cnnvp_isa.h>

enum { PARAM_atomic_c, PARAM_atomic_k, PARAM_clock_mhz, PARAM_stripe, PARAM_preload, PARAM_acc_bits, PARAM_COUNT };
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
    STAT_sum_words,
    STAT_saturations,
    STAT_COUNT
};

struct dot_product {
    struct cnnvp_fx16_unit unit;
    uint64_t atomic_c, atomic_k, stripe;
    bool hides; /* preload: double hides loads of weights */
};

/* ---- what a command costs ---- */

struct cost {
    uint64_t compute_cycles, fill_cycles, macs, sum_words;
    struct cnnvp_fx16_traffic traffic;
};

/* Cycles of a load that a stripe with this number of positions does not hide. */
static uint64_t shown(const struct dot_product *array, uint64_t positions)
{
    return !array->hides ? array->atomic_k : array->atomic_k > positions ? array->atomic_k - positions : 0;
}

/* Pipeline stages: multiplier, adder tree, accumulator. */
static uint64_t stages(const struct dot_product *array)
{
    uint64_t levels = 0;
    while ((UINT64_C(1) << levels) < array->atomic_c)
        ++levels;
    return levels + 2u;
}

static struct cost cost_of(const struct dot_product *array, const struct cnnvp_fx16_tile *tile)
{
    const bool dense = tile->kind == CNNVP_FX16_MATMUL;
    const uint64_t taps = dense ? 1u : (uint64_t)tile->kx * tile->ky;
    const uint64_t channels = dense ? tile->inputs : tile->in_channels;
    const uint64_t n = dense ? tile->outputs : tile->out_channels;
    const uint64_t positions = dense ? 1u : (uint64_t)tile->out_h * tile->out_w;
    const uint64_t groups = cnnvp_divide_up(n, array->atomic_k); /* groups of output channels */
    const uint64_t sets = cnnvp_divide_up(channels, array->atomic_c) * taps * groups;
    const uint64_t stripes = cnnvp_divide_up(positions, array->stripe), whole = positions / array->stripe;
    const uint64_t rest = positions % array->stripe, last = rest != 0 ? rest : array->stripe;
    const uint64_t load =
        array->atomic_k + sets * (whole * shown(array, array->stripe) + (stripes - whole) * shown(array, rest)) -
        shown(array, last);
    const uint64_t results = tile->planes * tile->plane_words;
    const uint32_t at_once = (uint32_t)cnnvp_minimum(array->atomic_k, n);
    const uint32_t inputs = (uint32_t)cnnvp_minimum(array->atomic_c, channels);
    struct cost cost = {
        .compute_cycles = sets * positions,
        .fill_cycles = load + stages(array),
        .macs = channels * taps * n * positions,
        .sum_words = 2u * (sets / groups - 1u) * n * positions * cnnvp_sum_words(array->unit.acc_bits),
        .traffic = {.input_words = channels * taps * groups * positions,
                    .input_cycles = sets * positions,
                    .weight_words = channels * taps * n * stripes + (tile->bias ? n : 0),
                    .weight_cycles = sets * stripes * array->atomic_k,
                    .output_words = results * (tile->partial ? cnnvp_sum_words(array->unit.acc_bits) : 1u),
                    .output_cycles = groups * positions,
                    .passes = 1},
    };
    /* Port accesses per clock. Inputs: a word of each channel, from separate banks (fully connected: side by side).
     * Weights: those of one cell. Outputs: a result of each cell. */
    cnnvp_fx16_add(&cost.traffic.input,
                   (struct cnnvp_buffer_clocks){
                       .times = cost.compute_cycles, .maps = dense ? 1u : inputs, .columns = dense ? inputs : 1u});
    cnnvp_fx16_add(&cost.traffic.weight,
                   (struct cnnvp_buffer_clocks){.times = sets * stripes * array->atomic_k, .columns = inputs});
    cnnvp_fx16_add(&cost.traffic.output,
                   (struct cnnvp_buffer_clocks){
                       .times = groups * positions,
                       .columns = at_once * (tile->partial ? cnnvp_sum_words(array->unit.acc_bits) : 1u)});
    return cost;
}

/* ---- commands ---- */

static int execute(struct dot_product *array, struct cnnvp_access *access, const struct cnnvp_command *command)
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
                                 "an array of dot products has convolutions over all input channels, and matmul");
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
        [STAT_sum_words] = cost.sum_words,
        [STAT_saturations] = saturated,
    };
    for (uint32_t i = 0; i < STAT_COUNT; ++i)
        if (counts[i] != 0)
            unit->ops->count(unit->host, i, command->tag, counts[i]);
    cnnvp_fx16_occupy(unit, command, tile.name, busy, access);
    return CNNVP_OK;
}

/* ---- callbacks ---- */

static int dot_product_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_fx16_command(access, &command);
    (void)port;
    return status == CNNVP_OK ? execute(self, access, command) : status;
}

/* Tiles should have whole sets of weights. Positions may be cut anywhere. */
static int dot_product_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling)
{
    const struct dot_product *array = self;
    const struct cnnvp_command *command = NULL;
    struct cnnvp_fx16_tile layer;
    (void)port;
    const int status = cnnvp_fx16_command(access, &command);
    if (status != CNNVP_OK)
        return status;
    cnnvp_fx16_describe(command, &layer);
    tiling->pes = array->atomic_c * array->atomic_k;
    tiling->in = (uint32_t)array->atomic_c;
    tiling->out = (uint32_t)array->atomic_k;
    return CNNVP_OK;
}

static int dot_product_init(void *self, const struct cnnvp_init *init)
{
    struct dot_product *array = self;
    array->atomic_c = init->ops->param(init->host, PARAM_atomic_c);
    array->atomic_k = init->ops->param(init->host, PARAM_atomic_k);
    array->stripe = init->ops->param(init->host, PARAM_stripe);
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

/* ---- tables ---- */

static const struct cnnvp_param params[PARAM_COUNT] = {
    [PARAM_atomic_c] = {"atomic_c", CNNVP_PARAM_UINT, "channels", "16", 1, 1024, NULL, "inputs of a dot product"},
    [PARAM_atomic_k] = {"atomic_k", CNNVP_PARAM_UINT, "channels", "16", 1, 1024, NULL, "cells: output channels"},
    [PARAM_clock_mhz] = {"clock_mhz", CNNVP_PARAM_UINT, "MHz", "1000", 1, 100000, NULL, "clock of the accelerator"},
    [PARAM_stripe] = {"stripe", CNNVP_PARAM_UINT, "positions", "32", 1, 65536, NULL,
                      "positions of a set of weights: sums of a cell"},
    [PARAM_preload] = {"preload", CNNVP_PARAM_ENUM, "", "double", 0, 0, "single|double",
                       "double: weights are loaded while the set before is used"},
    [PARAM_acc_bits] = {"acc_bits", CNNVP_PARAM_UINT, "bits", "48", 16, 64, NULL, "width of the accumulators"},
};

static const struct cnnvp_stat stats[STAT_COUNT] = {
    [STAT_commands] = {"commands", "commands", NULL, NULL, "commands carried out"},
    [STAT_rejected] = {"rejected", "commands", NULL, NULL, "commands refused"},
    [STAT_busy_cycles] = {"busy_cycles", "cycles", NULL, NULL, "cycles of all commands: compute and what follows"},
    [STAT_compute_cycles] = {"compute_cycles", "cycles", "compute_cycles", NULL, "inputs stream"},
    [STAT_fill_cycles] = {"fill_cycles", "cycles", "stall_cycles.fill", NULL, "weights load, the last sum is made"},
    [STAT_input_port_cycles] = {"input_port_cycles", "cycles", "stall_cycles.input_port", NULL, "input buffer's port"},
    [STAT_weight_port_cycles] = {"weight_port_cycles", "cycles", "stall_cycles.weight_port", NULL,
                                 "weight buffer's port"},
    [STAT_output_port_cycles] = {"output_port_cycles", "cycles", "stall_cycles.output_port", NULL,
                                 "output buffer's port"},
    [STAT_input_words] = {"input_words", "words", "input_words", NULL, "read from the input buffer"},
    [STAT_weight_words] = {"weight_words", "words", "weight_words", NULL, "read from the weight buffer"},
    [STAT_output_words] = {"output_words", "words", "output_words", NULL, "written to the output buffer"},
    [STAT_macs] = {"macs", "operations", "macs", "int16_mac", "multiplications, padding included"},
    [STAT_sum_words] = {"sum_words", "words", NULL, "sram_word",
                        "16-bit words of sums read and written in accumulators"},
    [STAT_saturations] = {"saturations", "words", "values.saturations", NULL, "results clipped at write-out"},
};

/* The parts of the array. Its area, leakage and clock power follow from them and the platform's technology. */
static void dot_product_costs(const uint64_t *values, const struct cnnvp_costs *costs)
{
    const uint64_t cells = values[PARAM_atomic_k], pes = values[PARAM_atomic_c] * cells;
    const uint32_t sets = values[PARAM_preload] == PRELOAD_double ? 2u : 1u; /* sets of weights */
    const uint32_t bits = (uint32_t)values[PARAM_acc_bits];
    const struct cnnvp_part parts[] = {
        {CNNVP_PART_MULTIPLIER, 16, pes, 0, "multiplier"},
        {CNNVP_PART_ADDER, 36, pes, 0, "adder trees"},
        {CNNVP_PART_ADDER, bits, cells, 0, "accumulator of a cell"},
        {CNNVP_PART_REGISTER, 16 * sets, pes, 0, "weights"},
        {CNNVP_PART_REGISTER, 36, 2 * pes, 0, "stages of multipliers and trees"},
        {CNNVP_PART_REGISTER, 16, values[PARAM_atomic_c], 0, "inputs"},
        {CNNVP_PART_SRAM, bits, cells, values[PARAM_stripe] * cnnvp_divide_up(bits, 8), "sums of a stripe"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        costs->part(costs->context, &parts[i]);
}

static const struct cnnvp_unit dot_product = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "dot_product",
    .version = "1.0",
    .summary = "cells of a dot product each: convolution over all input channels, matrix multiply",
    .instance_size = sizeof(struct dot_product),
    .params = params,
    .param_count = PARAM_COUNT,
    .ports = cnnvp_fx16_ports,
    .port_count = CNNVP_FX16_PORTS,
    .stats = stats,
    .stat_count = STAT_COUNT,
    .tracks = cnnvp_fx16_tracks,
    .track_count = 1,
    .init = dot_product_init,
    .fini = cnnvp_fx16_unit_free,
    .access = dot_product_access,
    .tiling = dot_product_tiling,
    .costs = dot_product_costs,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &dot_product : NULL;
}
