/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct cnnvp_stat cpu_stats[] = {{"instructions", "instructions", NULL, "instruction", ""}};
static const struct cnnvp_stat element_stats[] = {
    {"instructions", "instructions", NULL, NULL, ""}, {"idle_cycles", "cycles", NULL, NULL, ""}};
static const char *const element_tracks[] = {"issue"};
static const struct cnnvp_stat array_stats[] = {
    {"compute_cycles", "cycles", "compute_cycles", NULL, ""},
    {"bias_cycles", "cycles", "stall_cycles.bias", NULL, ""},
    {"fill_cycles", "cycles", "stall_cycles.fill", NULL, ""},
    {"writeout_cycles", "cycles", "stall_cycles.writeout", NULL, ""},
    {"vector_cycles", "cycles", "stall_cycles.vector", NULL, ""},
    {"input_port_cycles", "cycles", "stall_cycles.input_port", NULL, ""},
    {"weight_port_cycles", "cycles", "stall_cycles.weight_port", NULL, ""},
    {"output_port_cycles", "cycles", "stall_cycles.output_port", NULL, ""},
    {"input_cycles", "cycles", "stall_cycles.input", NULL, ""},
    {"weight_cycles", "cycles", "stall_cycles.weight", NULL, ""},
    {"output_cycles", "cycles", "stall_cycles.output", NULL, ""},
    {"instruction_cycles", "cycles", "stall_cycles.instruction", NULL, ""},
    {"host_cycles", "cycles", "stall_cycles.host", NULL, ""},
    {"input_words", "words", "input_words", NULL, ""},
    {"weight_words", "words", "weight_words", NULL, ""},
    {"output_words", "words", "output_words", NULL, ""},
    {"macs", "operations", "macs", "int16_mac", ""},
    {"saturations", "values", "values.saturations", NULL, ""}};
static const char *const array_tracks[] = {"conv", "vector unit"};
static const struct cnnvp_port array_ports[] = {
    {"mem", CNNVP_PORT_MEM_INITIATOR, 0, 0, 0, ""}, {"irq", CNNVP_PORT_IRQ_OUT, 0, 0, 0, ""}};
static const struct cnnvp_param array_params[] = {
    {"rows", CNNVP_PARAM_UINT, "", "8", 1, 64, NULL, ""},
    {"limit", CNNVP_PARAM_UINT, "", "0", 0, UINT64_MAX, NULL, ""},
    {"detail", CNNVP_PARAM_ENUM, "", "fast", 0, 0, "fast|cycle", ""}};
static const struct cnnvp_stat buffer_stats[] = {
    {"words", "words", NULL, "sram_word", ""}, {"conflicts", "cycles", NULL, NULL, ""}};
static const struct cnnvp_counter buffer_counters[] = {
    {"features", "feature_words"}, {"feature_bytes", "feature_bytes"}};
static const struct cnnvp_param buffer_params[] = {{"size", CNNVP_PARAM_SIZE, "bytes", "8KiB", 1, 1 << 20, NULL, ""}};
static const struct cnnvp_stat dram_stats[] = {
    {"read_bytes", "bytes", "dram_read_bytes", "dram_byte", ""},
    {"write_bytes", "bytes", "dram_write_bytes", "dram_byte", ""},
    {"bursts", "bursts", NULL, NULL, ""},
    {"row_hits", "bursts", NULL, NULL, ""},
    {"reads", "requests", NULL, NULL, ""},
    {"read_latency_ps", "ps", NULL, NULL, ""},
    {"late_bytes", "bytes", "dram_read_bytes", NULL, ""},
    {"bus_bytes_per_s", "bytes/s", NULL, NULL, ""}};
static const struct cnnvp_counter dram_counters[] = {
    {"queue", "requests"}, {"bandwidth", "bytes/s"}, {"functions", "function"}};
static const struct cnnvp_port dram_ports[] = {{"port", CNNVP_PORT_MEM_TARGET, 0, 0, 0, ""}};

static void array_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const struct cnnvp_part part = {
        .kind = CNNVP_PART_MULTIPLIER, .bits = 16, .count = params[0] * params[0], .what = "multipliers"};
    costs->part(costs->context, &part);
}

static const struct cnnvp_unit cpu = {.kind = "rv32", .stats = cpu_stats, .stat_count = COUNT(cpu_stats)};
static const struct cnnvp_unit element = {
    .kind = "instruction",
    .stats = element_stats,
    .stat_count = COUNT(element_stats),
    .tracks = element_tracks,
    .track_count = COUNT(element_tracks)};
static const struct cnnvp_unit array = {
    .kind = "nfu",
    .params = array_params,
    .param_count = COUNT(array_params),
    .ports = array_ports,
    .port_count = COUNT(array_ports),
    .stats = array_stats,
    .stat_count = COUNT(array_stats),
    .tracks = array_tracks,
    .track_count = COUNT(array_tracks),
    .costs = array_costs};
static const struct cnnvp_unit buffer = {
    .kind = "buffer",
    .params = buffer_params,
    .param_count = COUNT(buffer_params),
    .stats = buffer_stats,
    .stat_count = COUNT(buffer_stats),
    .counters = buffer_counters,
    .counter_count = COUNT(buffer_counters)};
static const struct cnnvp_unit dram = {
    .kind = "dram",
    .ports = dram_ports,
    .port_count = COUNT(dram_ports),
    .stats = dram_stats,
    .stat_count = COUNT(dram_stats),
    .counters = dram_counters,
    .counter_count = COUNT(dram_counters)};

static uint64_t array_values[] = {8, UINT64_MAX, 0};
static const char *array_texts[] = {"8", "18446744073709551615", "fast"};
static uint64_t small_values[] = {8192};
static uint64_t large_values[] = {32768};
static const char *size_texts[] = {""};

static struct cnnvp_instance instances[INSTANCES + 1] = {
    [CPU] = {.name = "cpu", .model = "rv32", .unit = &cpu},
    [BUS] = {.name = "bus", .model = "bus"},
    [ELEMENT] = {.name = "instruction", .model = "instruction", .unit = &element, .on_bus = 1, .base = 0x10000000},
    [ARRAY] = {.name = "pe_array", .model = "nfu", .unit = &array, .values = array_values, .texts = array_texts},
    [BUFFER_A] =
        {.name = "input_buffer", .model = "buffer", .unit = &buffer, .values = small_values, .texts = size_texts},
    [BUFFER_B] =
        {.name = "output_buffer", .model = "buffer", .unit = &buffer, .values = large_values, .texts = size_texts},
    [DRAM] = {.name = "dram", .model = "dram", .unit = &dram}};

static struct cnnvp_resolved platform = {"test platform", instances, INSTANCES, NULL};

const struct cnnvp_resolved *machine(void)
{
    platform.instance_count = INSTANCES;
    return &platform;
}

static const struct cnnvp_resolved *with_extra(const char *layer, const char *energy,
                                               void (*costs)(const uint64_t *params, const struct cnnvp_costs *costs))
{
    static struct cnnvp_stat stat;
    static struct cnnvp_unit unit;

    stat = (struct cnnvp_stat){"odd", "", layer, energy, ""};
    unit = (struct cnnvp_unit){.kind = "foreign", .stats = &stat, .stat_count = 1, .costs = costs};
    instances[INSTANCES] = (struct cnnvp_instance){.name = "extra", .model = "./libx.so:foreign", .unit = &unit};
    platform.instance_count = INSTANCES + 1;
    return &platform;
}

const struct cnnvp_resolved *machine_with(const char *layer, const char *energy)
{
    return with_extra(layer, energy, NULL);
}

const struct cnnvp_resolved *machine_that(void (*costs)(const uint64_t *params, const struct cnnvp_costs *costs))
{
    return with_extra(NULL, NULL, costs);
}
